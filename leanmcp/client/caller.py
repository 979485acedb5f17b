"""One request after another to one server: ids, metadata, time limits, progress, versions.

In: method and params. Out: what a decoder makes of the response.
Spec 2026-07-28: basic/index; basic/versioning, "Protocol Version Negotiation"; basic/patterns/cancellation, "Timeouts".
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

from ..errors import CallTimeout, UnsupportedProtocolVersion, VersionMismatch
from ..protocol.meta import MODERN_VERSIONS
from ..protocol.outgoing import Answered, OutgoingRequest
from .messages import Metadata
from .transport import LegacyCarrier, Transport
from .waiting import waited, waits

if TYPE_CHECKING:
    from typing import Unpack

T = TypeVar("T")
ProgressCallback = Callable[[float, float | None, str | None], Awaitable[None] | None]
"""Takes progress, total and message of a running request."""
NotificationCallback = Callable[[str, dict[str, Any]], None]
"""Takes method and params of a notification."""

_NO_HEADERS: Mapping[str, str] = {}
_MAX_REPORTS = 1000  # reports of progress that wait for a callback; the oldest ones go first
_EARLY = 0.01  # seconds; loops round the times of their timers


class Manner(TypedDict, total=False):
    """How a request is sent, from the methods of a client down to its transport.

    Args:
        name: mirrored as Mcp-Name.
        headers: Mcp-Param-* fields.
        patience: how long it may take; default: the client's.
        progress: told of progress; its faults are raised when the answer is there.
        notified: takes other notifications of this request.
        answered: takes the HTTP head of the answer.
        meta: further members of `_meta`.
        repeatable: see OutgoingRequest.
    """

    name: str | None
    headers: Mapping[str, str]
    patience: Patience | None
    progress: ProgressCallback | None
    notified: NotificationCallback | None
    answered: Answered | None
    meta: Mapping[str, Any] | None
    repeatable: bool


class Patience:
    """How long a request may take.

    Args:
        timeout: seconds until the answer, None for ever.
        reset_on_progress: each progress report starts the time again.
        most: seconds in all, whatever is reported; None for no such limit.

    Raises:
        ValueError: a time that is none.
    """

    __slots__ = ("most", "reset_on_progress", "timeout", "unlimited")

    def __init__(self, timeout: float | None, reset_on_progress: bool = False, most: float | None = None) -> None:
        for name, seconds in (("read_timeout_seconds", timeout), ("max_total_seconds", most)):
            if seconds is not None and not (isinstance(seconds, int | float) and seconds >= 0):
                raise ValueError(f"{name}={seconds!r}: give seconds, or None for no limit")
        self.timeout = timeout
        self.reset_on_progress = reset_on_progress
        self.most = most
        self.unlimited = timeout is None and most is None

    def within(self, timeout: float | None) -> Patience:
        """Return the same with another timeout, None for the same one."""
        return self if timeout is None else Patience(timeout, self.reset_on_progress, self.most)


class Deadline:
    """Cancels the task that made it when the time of a request is over.

    As `asyncio.timeout` with fewer calls; what ends the wait is the cancellation of the request, which the transport
    passes on to the server.

    Attributes:
        timer: to be cancelled when the answer is there.
        expired: whether the time was over first.
        was_most: whether it was the time in all.
    """

    __slots__ = ("_before", "_end", "_loop", "_patience", "_task", "_waited", "expired", "timer", "was_most")

    def __init__(self, patience: Patience) -> None:
        loop = self._loop = asyncio.get_running_loop()
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("a client needs a task; call it inside of a coroutine")
        self._task = task
        self._before = task.cancelling()
        self._patience = patience
        self._waited = waited(task) if waits else 0.0
        self.expired = False
        most, first = patience.most, patience.timeout
        self._end = None if most is None else loop.time() + most
        if first is None or (most is not None and most < first):
            first = most
        self.timer = loop.call_later(first or 0, self._expire)

    def _expire(self) -> None:
        if waits and (seconds := waited(self._task) - self._waited) > 0:  # somebody had to log in meanwhile
            self._waited += seconds
            self.timer = self._loop.call_later(seconds, self._expire)
            return
        self.expired = True
        self.was_most = self._end is not None and self._loop.time() >= self._end - _EARLY
        self._task.cancel()

    def restart(self) -> None:
        """Start the time again, up to the most that there is."""
        if self.expired or self._patience.timeout is None:
            return
        self.timer.cancel()
        end = self._loop.time() + self._patience.timeout
        self.timer = self._loop.call_at(end if self._end is None else min(end, self._end), self._expire)

    def ended_it(self) -> bool:
        """Return whether it was this that cancelled the task, and nobody else too."""
        if not self.expired:
            return False
        self.expired = False
        return self._task.uncancel() <= self._before


class Caller:
    """Sends the requests of one client.

    Args:
        transport: started.
        metadata: of every request; replaced when another version has been agreed on.
        patience: of requests that have none of their own.
        told: takes notifications of a request that nobody else has asked for.

    Attributes:
        at_close: called when the client is closed, by what would go on without it.
    """

    def __init__(
        self,
        transport: Transport | LegacyCarrier,
        metadata: Metadata,
        patience: Patience,
        told: NotificationCallback | None = None,
    ) -> None:
        self.transport = transport
        self.metadata = metadata
        self.patience = patience
        self.told = told
        self._last_id = 0
        self._loop = asyncio.get_running_loop()
        self.at_close: set[Callable[[], None]] = set()

    async def request(
        self,
        decode: Callable[[bytes], T],
        method: str,
        members: bytes = b"",
        **how: Unpack[Manner],
    ) -> T:
        """Send a request and return what `decode` makes of the response.

        Args:
            decode: returns the result, or raises the error that the response holds.
            method: such as `tools/call`.
            members: JSON members of the params besides `_meta`, without braces.
            how: see Manner.

        Raises:
            MCPError: the server's error, or what kept its answer away.
            VersionMismatch: the server speaks no version of ours.
            RuntimeError: on another event loop than the one where the client was connected.
        """
        if asyncio.get_running_loop() is not self._loop:
            self.check_loop()
        try:
            return decode(await self._exchange(method, members, **how))
        except UnsupportedProtocolVersion as refusal:
            self.adopt(supported_versions(refusal))
        return decode(await self._exchange(method, members, **how))  # in the other version

    async def _exchange(
        self,
        method: str,
        members: bytes,
        *,
        name: str | None = None,
        headers: Mapping[str, str] = _NO_HEADERS,
        patience: Patience | None = None,
        progress: ProgressCallback | None = None,
        notified: NotificationCallback | None = None,
        answered: Answered | None = None,
        meta: Mapping[str, Any] | None = None,
        repeatable: bool = False,
    ) -> bytes:
        """Send a request under a new id and return the response message; arguments and faults are `request`'s."""
        number = self._last_id = self._last_id + 1
        limits = patience or self.patience
        watch = token = None
        if progress is not None or limits.reset_on_progress:
            token = number
        if token is not None or notified is not None or self.told is not None:
            watch = _Watch(token, progress, notified or self.told)
        request = OutgoingRequest(
            id=number,
            method=method,
            version=self.metadata.version,
            message=self.metadata.request(number, method, members, token, meta),
            name=name,
            headers=headers,
            notified=None if watch is None else watch.notified,
            answered=answered,
            repeatable=repeatable,
        )
        deadline = None if limits.unlimited else Deadline(limits)
        if watch is not None and limits.reset_on_progress:
            watch.deadline = deadline
        try:
            message = await self.transport.request(request)
            if watch is not None:
                await watch.finish()
            return message
        except asyncio.CancelledError:
            if deadline is None or not deadline.ended_it():
                raise
            raise self._late(method, limits, deadline.was_most) from None
        finally:
            if deadline is not None:
                deadline.timer.cancel()
                if deadline.expired:
                    deadline.ended_it()
            if watch is not None:
                watch.end()

    def check_loop(self) -> None:
        """Refuse to be used on another event loop.

        Raises:
            RuntimeError: it is another one.
        """
        if asyncio.get_running_loop() is not self._loop:
            raise RuntimeError(
                f"the client of {self.transport.where} was connected on another event loop; connect and use it inside "
                "of one asyncio.run(), or use SyncClient, which may be used everywhere"
            )

    def adopt(self, supported: list[str]) -> None:
        """Go on with the newest version that the server has, too.

        Raises:
            VersionMismatch: there is none.
        """
        mutual = next((version for version in MODERN_VERSIONS if version in supported), None)
        if mutual is None:
            theirs = ", ".join(version[:32] for version in supported[:20]) or "none that it names"
            raise VersionMismatch(
                f"{self.transport.where} and this client have no protocol version in common: the server speaks "
                f"{theirs}; this client speaks {', '.join(MODERN_VERSIONS)}",
                supported,
            )
        if mutual != self.metadata.version:
            self.metadata = self.metadata.at(mutual)

    def _late(self, method: str, patience: Patience, was_most: bool) -> CallTimeout:
        text = f"{self.transport.where} did not answer {method} within "
        if was_most:
            text += f"{patience.most:g} seconds in all; give more with max_total_seconds="
        else:
            text += f"{patience.timeout:g} seconds; give more with read_timeout_seconds="
        return CallTimeout(text + getattr(self.transport, "excuse", ""), self.transport.where)


def supported_versions(error: Exception) -> list[str]:
    """Return the versions that an error of a server names."""
    data = getattr(error, "data", None)
    supported = data.get("supported") if isinstance(data, dict) else None
    return [version for version in supported if isinstance(version, str)] if isinstance(supported, list) else []


class _Watch:
    """The notifications of one request, handed to callbacks one after the other.

    Args:
        token: the progress token, None where no progress was asked for.
        progress: takes progress.
        others: takes everything else.
    """

    def __init__(
        self, token: int | None, progress: ProgressCallback | None, others: NotificationCallback | None
    ) -> None:
        self._token = token
        self._progress = progress
        self._others = others
        self.deadline: Deadline | None = None
        self._queue: asyncio.Queue[tuple[float, float | None, str | None] | None] | None = None
        self._task: asyncio.Task[None] | None = None

    def notified(self, method: str, params: dict[str, Any]) -> None:
        """Take one notification of the request."""
        if method != "notifications/progress":
            if self._others is not None:
                self._others(method, params)
            return
        token, progress = params.get("progressToken"), params.get("progress")
        if self._token is None or token != self._token or isinstance(token, bool):
            return
        if isinstance(progress, bool) or not isinstance(progress, int | float):
            return
        if self.deadline is not None:
            self.deadline.restart()
        if self._progress is None:
            return
        if self._queue is None:
            self._queue = asyncio.Queue()
            self._task = asyncio.get_running_loop().create_task(_deliver(self._progress, self._queue))
        if self._queue.qsize() >= _MAX_REPORTS:
            self._queue.get_nowait()
        total, message = params.get("total"), params.get("message")
        known = isinstance(total, int | float) and not isinstance(total, bool)
        self._queue.put_nowait((progress, total if known else None, message if isinstance(message, str) else None))

    async def finish(self) -> None:
        """Wait until the callback has had everything that came before the answer; raise what it raised."""
        if self._queue is not None and self._task is not None:
            self._queue.put_nowait(None)
            await self._task

    def end(self) -> None:
        """Tell the callback nothing more."""
        self._token = self._others = None
        if self._task is not None and not self._task.cancel() and not self._task.cancelled():
            self._task.exception()  # the request's own error, where it has one, is what the caller gets


async def _deliver(
    progress: ProgressCallback, queue: asyncio.Queue[tuple[float, float | None, str | None] | None]
) -> None:
    while (report := await queue.get()) is not None:
        done = progress(*report)
        if done is not None:
            await done
