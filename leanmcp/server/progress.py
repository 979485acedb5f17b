"""Progress of one call: strictly rising, at a bearable rate, nothing after the answer.

In: what a tool reports. Out: `notifications/progress` with the client's token.
Spec 2026-07-28: basic/patterns/progress.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from typing import Any

import msgspec

from ..protocol.jsonrpc import Segments

_BURST = 10  # reports that go out at once
_RATE = 20.0  # reports a second after that; the last of those held back always goes out


class Progress:
    """Sends the progress of one call.

    Args:
        token: the client's `progressToken`.
        notify: sends one notification on the call's own stream.
    """

    __slots__ = ("_credit", "_last", "_loop", "_notify", "_pending", "_refilled", "_timer", "_token")

    def __init__(self, token: int | str, notify: Callable[[Segments], None]) -> None:
        self._token = token
        self._notify: Callable[[Segments], None] | None = notify
        self._loop = asyncio.get_running_loop()
        self._last = -math.inf
        self._credit = float(_BURST)
        self._refilled = self._loop.time()
        self._pending: dict[str, Any] | None = None
        self._timer: asyncio.TimerHandle | None = None

    def report(self, progress: float, total: float | None, message: str | None) -> None:
        """Send a report, or hold it back until the rate allows; one that does not rise is dropped.

        Raises:
            ValueError: `progress` or `total` is no finite number.
        """
        for value in (progress, 0 if total is None else total):
            if not math.isfinite(value):
                raise ValueError(f"progress {value} is no finite number")
        if self._notify is None or progress <= self._last:
            return
        self._last = progress
        self._pending = {"progressToken": self._token, "progress": progress}
        if total is not None:
            self._pending["total"] = total
        if message is not None:
            self._pending["message"] = message
        if self._timer is None:
            self._send_or_wait()

    def finish(self) -> None:
        """Send what is held back; the answer comes next, and nothing after it."""
        if self._timer is not None:
            self._timer.cancel()
        self._send()
        self._notify = None

    def drop(self) -> None:
        """Forget what is held back: the call was cancelled."""
        self._pending = None
        self.finish()

    def _send_or_wait(self) -> None:
        self._timer = None
        now = self._loop.time()
        self._credit = min(_BURST, self._credit + (now - self._refilled) * _RATE)
        self._refilled = now
        if self._credit >= 1:
            self._credit -= 1
            self._send()
        elif self._pending is not None:
            self._timer = self._loop.call_later((1 - self._credit) / _RATE, self._send_or_wait)

    def _send(self) -> None:
        params, self._pending = self._pending, None
        if params is not None and self._notify is not None:
            message = {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}
            self._notify([msgspec.json.encode(message)])
