"""Progress of one call: strictly rising, at a bearable rate, nothing after the answer.

In: what a tool reports, from any thread. Out: `notifications/progress` with the client's token.
Spec 2026-07-28: basic/patterns/progress.
"""

from __future__ import annotations

import asyncio
import math
import threading
from collections.abc import Callable
from contextlib import suppress

import msgspec

_BURST = 10  # reports that go out at once
_RATE = 20.0  # reports a second after that; the last of those held back always goes out

_Report = tuple[float, bytes]


class Progress:
    """Sends the progress of one call.

    Args:
        token: the client's `progressToken`.
        notify: sends the JSON of one notification on the call's own stream.
    """

    __slots__ = (
        "_credit",
        "_inbox",
        "_last",
        "_lock",
        "_loop",
        "_notify",
        "_pending",
        "_refilled",
        "_thread",
        "_timer",
        "_token",
        "_waking",
    )

    def __init__(self, token: int | str, notify: Callable[[bytes], None]) -> None:
        self._token = token
        self._notify: Callable[[bytes], None] | None = notify
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._last = -math.inf
        self._credit = float(_BURST)
        self._refilled = self._loop.time()
        self._pending: bytes | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._inbox: list[_Report] = []
        self._lock = threading.Lock()
        self._waking = False

    def report(self, progress: float, total: float | None, message: str | None) -> None:
        """Send a report, or hold it back until the rate allows; one that does not rise is dropped."""
        if self._notify is None:
            return
        report = progress, self._encode(progress, total, message)
        if threading.get_ident() == self._thread:
            self._take(report)
        else:
            self._hand_over(report)

    def finish(self) -> None:
        """Send what is held back; the answer comes next, and nothing after it."""
        self._collect()
        self._send()
        self.drop()

    def drop(self) -> None:
        """Forget what is held back, and send nothing any more."""
        self._notify = self._pending = None
        if self._timer is not None:
            self._timer.cancel()

    def _encode(self, progress: float, total: float | None, message: str | None) -> bytes:
        params = {"progressToken": self._token, "progress": progress}
        if total is not None:
            params["total"] = total
        if message is not None:
            params["message"] = str(message)
        notification = {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}
        try:
            return msgspec.json.encode(notification)
        except UnicodeEncodeError:  # a file's name, perhaps; progress must not fail a call
            params["message"] = str(message).encode(errors="backslashreplace").decode()
            return msgspec.json.encode(notification)

    # --- other threads --------------------------------------------------------------------------------------------

    def _hand_over(self, report: _Report) -> None:
        """Thread: leave a report for the loop; a tool that reports without end must not fill its queue."""
        with self._lock:
            if len(self._inbox) < _BURST:
                self._inbox.append(report)
            else:
                self._inbox[-1] = report
            if self._waking:
                return
            self._waking = True
        with suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(self._collect)

    def _collect(self) -> None:
        """Loop: take what threads have left; while a report is held back, its timer comes for the rest."""
        while reports := self._left():
            for report in reports:
                self._take(report)

    def _left(self) -> list[_Report]:
        with self._lock:
            reports, self._inbox = self._inbox, []
            if not reports:
                self._waking = self._timer is not None
            return reports

    # --- the rate -------------------------------------------------------------------------------------------------

    def _take(self, report: _Report) -> None:
        progress, notification = report
        if self._notify is None or progress <= self._last:
            return
        self._last, self._pending = progress, notification
        if self._timer is None:
            self._send_or_wait()

    def _send_or_wait(self) -> None:
        now = self._loop.time()
        self._credit = min(_BURST, self._credit + (now - self._refilled) * _RATE)
        self._refilled = now
        if self._credit >= 1:
            self._credit -= 1
            self._send()
        else:
            self._timer = self._loop.call_later((1 - self._credit) / _RATE, self._time_has_come)

    def _time_has_come(self) -> None:
        self._collect()  # newer ones take the place of what is held back
        self._timer = None
        self._send_or_wait()
        self._collect()  # threads wake the loop again, or leave it to the next timer

    def _send(self) -> None:
        notification, self._pending = self._pending, None
        if notification is not None and self._notify is not None:
            self._notify(notification)
