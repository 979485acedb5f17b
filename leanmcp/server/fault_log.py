"""What goes wrong inside tools, logged whole once and counted after that.

A tool that fails on every call can be called thousands of times a second by anybody: formatting a traceback each time
would cost more than the call, and fill the log.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from types import CoroutineType, TracebackType

from ..logs import logger

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_WINDOW = 1.0  # seconds in which faults of one kind share one record
_MAX_KINDS = 1000


class _Seen:
    __slots__ = ("count", "log_id", "since")

    def __init__(self, since: float) -> None:
        self.since = since
        self.count = 0
        self.log_id = os.urandom(4).hex()


class FaultLog:
    """The faults of one server's tools."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, type[BaseException]], _Seen] = {}
        self.observe: Callable[[BaseException], None] | None = None
        """Told of every exception that is reported; for a client in the same process."""

    def report(self, tool: str, error: BaseException, *, noun: str = "tool", now: float | None = None) -> str:
        """Log an exception that a tool raised, unless one of its kind was within the second; return the log id.

        Args:
            tool: the tool's name.
            noun: what else it is than a tool.
            error: the exception; its traceback is shown from the user's first frame on.
            now: seconds of `time.monotonic`, passed in by tests.
        """
        if self.observe is not None:
            self.observe(error)
        tool = f"{noun} {tool}"
        seen, fresh = self._note(tool, error, now)
        if fresh is None:
            return seen.log_id if seen else ""
        more = f" ({seen.count} more like the last one, {seen.log_id})" if seen is not None and seen.count else ""
        _add_hint(error)
        trace = _own_frames(error.__traceback__)
        logger.error("%s failed [%s]%s", tool, fresh.log_id, more, exc_info=(type(error), error, trace))
        return fresh.log_id

    def warn(self, tool: str, error: BaseException, *, noun: str = "tool", now: float | None = None) -> None:
        """Warn, once a second at most, of a tool whose result is the fault: what it returned cannot be sent."""
        tool = f"{noun} {tool}"
        _, fresh = self._note(tool, error, now)
        if fresh is not None:
            logger.warning("%s: %s", tool, error)

    def _note(self, tool: str, error: BaseException, now: float | None) -> tuple[_Seen | None, _Seen | None]:
        """Return the last record of this kind of fault, and a fresh one where it is time to log again."""
        now = time.monotonic() if now is None else now
        kind = tool, type(error)
        seen = self._seen.get(kind)
        if seen is not None and now - seen.since < _WINDOW:
            seen.count += 1
            return seen, None
        if len(self._seen) >= _MAX_KINDS:
            self._seen.clear()
        fresh = self._seen[kind] = _Seen(now)
        return seen, fresh


def _add_hint(error: BaseException) -> None:
    """Note below an exception what was probably forgotten."""
    coroutine = error.obj if isinstance(error, AttributeError) else None
    if isinstance(coroutine, CoroutineType):
        name = coroutine.__qualname__.replace("Context.", "ctx.")
        error.add_note(f"{name}(...) is a coroutine: did you forget `await`, as in `await {name}(...)`?")


def _own_frames(trace: TracebackType | None) -> TracebackType | None:
    """Return the traceback from the first frame that is not ours, the user's."""
    while trace is not None and trace.tb_frame.f_code.co_filename.startswith(_PACKAGE):
        if trace.tb_next is None:
            return trace
        trace = trace.tb_next
    return trace
