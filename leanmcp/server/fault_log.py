"""What goes wrong inside tools, logged whole once and counted after that.

In: exceptions, and whose they are. Out: log records, and the id by which an answer names its record.
A tool that fails on every call can be called thousands of times a second by anybody: formatting a traceback each time
would cost more than the call, and fill the log.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from types import TracebackType

from ..brief import first_failure
from ..frames import owner_of
from ..logs import logger
from .fault_hints import hint_for

_WINDOW = 1.0  # seconds in which faults of one kind share one record
_MAX_KINDS = 1000
_CODES = (("its Context was used", "LM514"), ("it raised", "LM518"), ("The result has no structured content", "LM504"))
"""Of the warnings that need no more than a code, by their start."""
_JSON_AS_TEXT = re.compile(r'(object|array), got "[{\[]')
_WANTED = "; return text, numbers, lists, dicts, dataclasses, or Image, Audio, File"


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
        if isinstance(error.__cause__, StopIteration) and isinstance(error, RuntimeError):
            error = error.__cause__  # which no coroutine raises: Python puts a RuntimeError in its place
        tool = f"{noun} {tool}"
        seen, fresh = self._note(tool, error, now)
        if fresh is None:
            return seen.log_id if seen else ""
        more = f" ({seen.count} more like the last one, {seen.log_id})" if seen is not None and seen.count else ""
        first, _ = first_failure(error)
        code, hint = hint_for(first, _own_frames(first.__traceback__))
        if hint and hint not in getattr(first, "__notes__", ()):
            first.add_note(hint)
        exc_info = type(error), error, _own_frames(error.__traceback__)
        logger.error("%s failed [%s]%s [%s]", tool, fresh.log_id, more, code, exc_info=exc_info)
        return fresh.log_id

    def warn(self, tool: str, error: BaseException, *, noun: str = "tool", now: float | None = None) -> None:
        """Warn, once a second at most, of a tool whose result is the fault: what it returned cannot be sent."""
        tool = f"{noun} {tool}"
        _, fresh = self._note(tool, error, now)
        if fresh is not None:
            code, text = _for_author(str(error))
            first, line_end, rest = text.partition("\n")
            logger.warning("%s: %s [%s]%s%s", tool, first, code, line_end, rest)

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


def _for_author(text: str) -> tuple[str, str]:
    """Return the code of the page about a result that cannot be sent, and what to tell its author."""
    if text.startswith("Invalid result of"):
        faults = text.partition("\n")[2]
        slip = ""
        if "\n" not in faults:
            if faults.endswith("got null"):
                slip = "; did you forget `return`?"
            elif _JSON_AS_TEXT.search(faults):
                slip = "; return the value itself, without json.dumps"
        return "LM504", f"it returned what its return annotation or output_schema= does not allow: {faults}{slip}"
    if text.startswith("The result has no JSON form"):
        wanted = _WANTED if text.endswith("has no JSON form") else ""
        return "LM502" if "forget `await`" in text else "LM503", text + wanted
    if " bytes, over the " in text:
        return "LM505", text
    return next((code for start, code in _CODES if text.startswith(start)), "LM522"), text


def _own_frames(trace: TracebackType | None) -> TracebackType | None:
    """Return the traceback from the first frame that is not ours, the user's."""
    while trace is not None and owner_of(trace.tb_frame.f_code.co_filename) == "ours":
        if trace.tb_next is None:
            return trace
        trace = trace.tb_next
    return trace
