"""Exceptions about what the author of a program wrote: our own frames taken out, and the page about it named.

In: an exception on its way from this package to the author's code. Out: the same one, whose traceback ends in the
author's line. What is a bug of ours keeps every frame.
Ours: a mistake in a file is told in at most twelve lines.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from types import TracebackType
from typing import Any, Literal, TypeVar

from . import errors
from .frames import frames_of, owner_of
from .mistyped import did_you_mean

__all__ = ["call_of", "code_of", "is_authors", "noted", "shorten"]

E = TypeVar("E", bound=BaseException)

_SEEN = "_leanmcp_shortened"


def shorten(error: BaseException) -> None:
    """Take our frames out of the traceback of an exception, and add a note that names the page about it.

    Frames of the standard library below ours, such as those of an event loop, go with them. An exception that neither
    the author's code has raised nor ours on purpose stays as it is: that is a bug of ours.
    """
    frames = frames_of(error)
    known = vars(error).get(_SEEN, False)  # by a function further in, which has taken the frames of the place out
    last = next((frame for frame in reversed(frames) if _owner(frame) != "library"), None)
    ours = last is not None and _owner(last) == "ours"
    by_mistake = ours and not known and (last is not frames[-1] or not _is_raised_there(frames[-1]))
    if by_mistake and not _tells_of_hiding(error):
        return
    _keep(error, frames)
    if ours and isinstance(error, TypeError) and len(frames) == 1 and (function := _last_called(frames[0])) is not None:
        error.args = (_miscalled(function, str(error)),)
    if known or not ours:
        return
    vars(error)[_SEEN] = True
    if error.__cause__ is not None and not is_authors(error.__cause__):
        error.__cause__, error.__suppress_context__ = None, True  # how a library says the same
    noted(error)


def _tells_of_hiding(error: BaseException) -> bool:
    """Say that a file of the author's is in the place of a module; return whether one is."""
    if not isinstance(error, ImportError | AttributeError):
        return False
    from .hidden import hiding_file  # of mistakes only

    if told := hiding_file(error):
        error.args, error.name = (told,), None  # with a name, Python has a proposal of its own
        if isinstance(error, ImportError):
            error.msg = told
    return bool(told)


def noted(error: E) -> E:
    """Return an exception that is about to be raised, with the note that names the page about it."""
    code = code_of(error)
    if code is not None and not getattr(error, "__notes__", None):
        error.add_note(f"{code}: run `leanmcp explain {code}`")
    return error


def code_of(error: BaseException) -> str | None:
    """Return the code of the page about an exception, None where no page is."""
    from .explanations import code_for  # of mistakes only

    return code_for(str(error))


def is_authors(error: BaseException) -> bool:
    """Return whether code of the author's was running where an exception was raised."""
    owners = [owner for owner in map(_owner, frames_of(error)) if owner != "library"]
    return owners[-1:] == ["author"]


def _last_called(frame: TracebackType) -> Callable[..., Any] | None:
    """Return the function that `errors.explained` could not even call, None in every other frame."""
    is_call = frame.tb_next is None and frame.tb_frame.f_code.co_filename == errors.__file__
    return frame.tb_frame.f_locals.get("function") if is_call else None


def _miscalled(function: Callable[..., Any], text: str) -> str:
    """Return what to say of a call that Python refuses, instead of `text`."""
    shown = call_of(function, all_by_position=" takes " in text)
    name = shown.partition("(")[0]
    if unknown := re.search(r"unexpected keyword argument '(\w+)'", text):
        known = [one.name for one in _parameters(function)]
        hint = did_you_mean(unknown[1], known) or f"; there is {', '.join(known)}"
        return f"{name}: unknown option {unknown[1]!r}{hint}"
    return f"{name}(){text.partition('()')[2]}; it is called as {shown}"


def _parameters(function: Callable[..., Any]) -> list[Any]:
    import inspect  # of mistakes only

    return [one for one in inspect.signature(function).parameters.values() if one.name not in ("self", "unknown")]


def call_of(function: Callable[..., Any], *, all_by_position: bool = False) -> str:
    """Return how a function is called: its parameters by name, dots in place of those that have a default."""
    parameters = _parameters(function)
    wanted = [
        one.name
        for one in parameters
        if one.kind < one.VAR_POSITIONAL and (all_by_position or one.default is one.empty)
    ]
    owner, _, name = function.__qualname__.rpartition(".")
    name = owner.rpartition(".")[2] if name == "__init__" else name
    return f"{name}({', '.join([*wanted, *['...'] * (len(wanted) < len(parameters))])})"


def _owner(frame: TracebackType) -> Literal["ours", "library", "author"]:
    """Return whose code a frame runs; a program that is installed, or a decorator of a package, is the author's too."""
    owner = owner_of(frame.tb_frame.f_code.co_filename)
    return "author" if owner == "installed" else owner


def _is_raised_there(frame: TracebackType) -> bool:
    """Return whether a `raise` statement of this frame has made the exception, not something that it called.

    A call of what takes other arguments than the author has given ends in the frame of `errors.explained`.
    """
    from opcode import opname  # of mistakes only

    if frame.tb_frame.f_code.co_name == "call" and frame.tb_frame.f_code.co_filename == errors.__file__:
        return True
    return opname[frame.tb_frame.f_code.co_code[frame.tb_lasti]] == "RAISE_VARARGS"


def _keep(error: BaseException, frames: list[TracebackType]) -> None:
    """Leave the frames of the author, and what they call of the standard library, in the traceback."""
    kept, below = [], False
    for frame in frames:
        owner = _owner(frame)
        below = owner == "ours" or (below and owner == "library")
        if not below:
            kept.append(frame)
    trace = None
    for frame in reversed(kept):
        trace = TracebackType(trace, frame.tb_frame, frame.tb_lasti, frame.tb_lineno)
    error.__traceback__ = trace
