"""An exception as a person at a terminal needs it: the lines of their own code, what happened, and no more.

In: an exception. Out: at most 24 lines of text with one traceback, which ends in the author's code.
Ours: a mistake is told in at most 25 lines where code of the author's ran.
"""

from __future__ import annotations

import traceback
from types import TracebackType

from .frames import INSTALLED, LIBRARY, owner_of
from .logs import clipped

__all__ = ["brief", "first_failure", "text_of"]

_MAX_FRAMES = 5
_MAX_FAILURES = 4  # of one group
_MAX_LINES = 4  # of the text of an exception
_MAX_LINE = 300  # characters


def brief(error: BaseException, trace: TracebackType | None) -> str:
    """Return the traceback of an exception, short.

    Args:
        error: what to show, its notes included; of what it was raised from, a line, and one of what failed beside it.
        trace: where to begin.
    """
    first, others = first_failure(error)
    if first is not error:
        error, trace = first, first.__traceback__
    frames = traceback.extract_tb(trace)
    own = _authors(frames) or list(frames)
    lines = ["Traceback (most recent call last):"] if own else []
    lines += "".join(traceback.StackSummary.from_list(_last(own)).format()).splitlines()
    last = frames[-1] if frames else None
    if last is not None and last is not own[-1] and _is_told(last.filename):
        lines.append(f"  raised in {_short(last.filename)}:{last.lineno}, in {last.name}")
    lines += _text(error)
    lines += [_clipped(str(note)) for note in (others, *getattr(error, "__notes__", ())) if note]
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if cause is not None:
        lines.append(_clipped(f"caused by {_text(cause)[0]}{_at(cause)}"))
    return "\n".join(lines)


def first_failure(error: BaseException) -> tuple[BaseException, str]:
    """Return the first exception of a group, which has one traceback, and a line about the others; itself for one."""
    found: list[BaseException] = []
    todo = [error]
    while todo:
        item = todo.pop(0)
        if isinstance(item, BaseExceptionGroup):
            todo[:0] = item.exceptions
        else:
            found.append(item)
    if len(found) < 2:
        return found[0], ""
    others = "; ".join(f"{type(item).__name__}: {text_of(item)}".rstrip(": ") for item in found[1:_MAX_FAILURES])
    more = f"; and {len(found) - _MAX_FAILURES} more" if len(found) > _MAX_FAILURES else ""
    return found[0], f"{len(found) - 1} more failed beside it: {others}{more}"


def text_of(error: BaseException) -> str:
    """Return the text of an exception; empty where its own class fails to make one."""
    try:
        return str(error)
    except Exception:  # a stranger's __str__
        return ""


def _is_told(filename: str) -> bool:
    """Return whether a reader can do something with the name of a file that is not the author's."""
    return owner_of(filename) != "ours" and not filename.startswith("<frozen ")


def _authors(frames: traceback.StackSummary) -> list[traceback.FrameSummary]:
    return [frame for frame in frames if owner_of(frame.filename) == "author"]


def _last(frames: list[traceback.FrameSummary]) -> list[traceback.FrameSummary]:
    """Return the innermost frames, each place once: a recursion has thousands of them."""
    kept: dict[tuple[str, int | None], traceback.FrameSummary] = {}
    for frame in reversed(frames):
        kept.setdefault((frame.filename, frame.lineno), frame)
    return list(kept.values())[:_MAX_FRAMES][::-1]


def _text(error: BaseException) -> list[str]:
    """Return class and text of an exception, as Python says it."""
    said = "".join(traceback.TracebackException(type(error), error, None, compact=True).format_exception_only())
    notes = "".join(f"{note}\n" for note in getattr(error, "__notes__", ()))
    lines = said.removesuffix(notes).splitlines() or [type(error).__name__]
    more = ["..."] if len(lines) > _MAX_LINES else []
    return [_clipped(line) for line in lines[:_MAX_LINES]] + more


def _at(error: BaseException) -> str:
    """Return file and line of the author's code that an exception came through last."""
    own = _authors(traceback.extract_tb(error.__traceback__))
    return f" ({own[-1].filename}:{own[-1].lineno})" if own else ""


def _short(filename: str) -> str:
    for part in INSTALLED:
        filename = filename.rpartition(part)[2]
    return filename.removeprefix(LIBRARY)


def _clipped(line: str) -> str:
    line = " ".join(line.splitlines())
    return clipped(line, _MAX_LINE)
