"""Errors in the words of a shell: what happened, where, what to do, and the exit code.

In: an exception. Out: an exit code and a text of a line or two. The classes tell a refused connection, a wrong path, a
missing token, a server that is not MCP and a timeout apart; their texts speak of Python, these of options.
"""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import traceback
from typing import TYPE_CHECKING

from ..errors import (
    CallTimeout,
    Forbidden,
    InvalidParams,
    InvalidResult,
    MCPError,
    MethodNotFound,
    MissingRequiredClientCapability,
    RoundLimit,
    ToolError,
    TransportError,
    Unauthorized,
    VersionMismatch,
)
from .faults import FAILED, INTERRUPTED, UNAUTHORIZED, UNREACHABLE, USAGE, UsageError, gone_folder, of_ours

if TYPE_CHECKING:
    from .target import Target

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_SCREEN = os.path.join(_PACKAGE, "cli", "screen.py")
# What the texts of the client say to programs, and what to say to people at a shell instead.
_HINTS = (
    (re.compile(r"pass headers=\{'Authorization': 'Bearer <token>'\} or auth="), "give --token or --login"),
    (re.compile(r"; give more with (?:read_timeout_seconds|max_total_seconds)="), "; give it more with --timeout"),
    (re.compile(r"; restart=True would start it again for the next request"), ""),
    (re.compile(r"; raise HTTPClientLimits\.max_answer_size, or ask for less"), ""),
    (re.compile(r", or pass ssl= with a context that knows its authority"), ", or set SSL_CERT_FILE"),
    (re.compile(r"send them with headers=\{'Authorization': \.\.\.\}"), "send them with --token or --header"),
    (re.compile(r"; to answer it, pass \w+=.*"), ""),
    (re.compile(r"cwd='([^']*)' is no folder"), r"\1 is no folder"),
)
_TAIL = "; its standard error ends:\n"  # which has been printed line by line
_COMMAND = re.compile(r"(?:command= is the program alone: )?give command='([^']*)'(?:, args=\[([^\]]*)\])?(?:, or .*)?")


def explain(error: BaseException, target: Target | None, interactive: bool) -> tuple[int, str]:
    """Return exit code and text of an error.

    Args:
        error: whatever was raised.
        target: whom it was about, None before that was known.
        interactive: whether a person could have answered questions.
    """
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, UsageError):
        return USAGE, str(error)
    if isinstance(error, asyncio.CancelledError | KeyboardInterrupt):
        return INTERRUPTED, "interrupted"
    if isinstance(error, MCPError):
        return _code(error), _words(error, target, interactive)
    if isinstance(error, ToolError):
        return FAILED, str(error)
    return _unexpected(error, target)


def _code(error: MCPError) -> int:
    if isinstance(error, Unauthorized | Forbidden):
        return UNAUTHORIZED
    if isinstance(error, TransportError | VersionMismatch | InvalidResult):
        return UNREACHABLE
    return USAGE if isinstance(error, InvalidParams | MethodNotFound) else FAILED


def _words(error: MCPError, target: Target | None, interactive: bool) -> str:
    text = error.message
    if isinstance(error, TransportError | VersionMismatch | RoundLimit):
        return translated(text.partition(_TAIL)[0], "" if target is None else target.label)
    if isinstance(error, InvalidResult):
        where = "" if target is None or target.name in text else f"{target.name}: "
        return translated(f"{where}{text}")
    name = "the server" if target is None else target.name
    if isinstance(error, MissingRequiredClientCapability) and not interactive and "elicitation" in str(error.data):
        return f"{name} has a question, which nobody can answer here; run the command on a terminal ({error.code})"
    return f"{name} answered with an error: {text} ({error.code})"


def translated(text: str, label: str = "") -> str:
    """Return a text in the words of a shell, or of mcp.json where the server has a label there."""
    for pattern, words in _HINTS:
        text = pattern.sub(words, text)
    return _COMMAND.sub(_as_entry if label else _as_typed, text)


def _as_entry(match: re.Match[str]) -> str:
    args = ", ".join(f'"{word}"' for word in re.findall(r"'([^']*)'", match[2] or ""))
    return f'write "command": "{match[1]}"' + (f', "args": [{args}]' if match[2] else "")


def _as_typed(match: re.Match[str]) -> str:
    words = [match[1], *re.findall(r"'([^']*)'", match[2] or "")]
    typed = shlex.join(words)
    return f"write `-- {typed}`" if match[2] else f"write {typed}"


def timed_out(where: str, seconds: float) -> CallTimeout:
    """Return the error of a server that took too long to be reached."""
    return CallTimeout(f"{where} did not answer within {seconds:g} seconds; give it more with --timeout", where)


def _unexpected(error: BaseException, target: Target | None) -> tuple[int, str]:
    """Tell of an exception that nobody raised on purpose: the user's, from a lifespan, or a mistake of ours."""
    frames = traceback.extract_tb(error.__traceback__)
    last = frames[-1] if frames else None
    if isinstance(error, OSError) and last is not None and last.filename == _SCREEN:
        return FAILED, f"the output cannot be written: {error.strerror}"
    if told := gone_folder(error):
        return USAGE, told
    if target is not None and target.local and (told := _of_server(error, target.server.lifespan)):
        return USAGE, told
    return FAILED, of_ours(error)


def _of_server(error: BaseException, lifespan: object) -> str:
    """Return what to say of an exception of the author's code, or of ours about it; empty for a mistake of ours."""
    from ..mistakes import code_of  # of failures only, these three
    from ..slow_lifespan import place_of
    from .loading_faults import told_of_author

    if told := told_of_author(error):
        return told
    if lifespan is None or not str(error).startswith("lifespan= ") or code_of(error) is None:
        return ""
    place = place_of(lifespan).removeprefix("lifespan (").removesuffix(")")
    return f"{place}: {type(error).__name__}: {error}"
