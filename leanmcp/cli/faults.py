"""Exit codes, mistakes of the user, and what was probably meant."""

from __future__ import annotations

import os
from collections.abc import Sequence

from ..mistyped import did_you_mean

_MAX_FIRST = 1000  # characters; a server may send more
_MOST_NAMES = 10  # that a message lists
OK, FAILED, USAGE, UNREACHABLE, UNAUTHORIZED, INTERRUPTED = 0, 1, 2, 3, 4, 130

EXIT_CODES = """\
exit codes:
  0    success
  1    the tool or the server reported an error
  2    a mistake on the command line, in a file, or in a name
  3    no connection, no answer in time, or no MCP server
  4    not authorized
  130  interrupted (Ctrl-C)
"""


def coded(text: str) -> str:
    """Return a message with the code of the page about it at the end of its first line."""
    from ..explanations import code_for  # of mistakes only

    first, line_end, rest = text.partition("\n")
    code = code_for(first[:_MAX_FIRST])
    return text if code is None else f"{first} [{code}]{line_end}{rest}"


class UsageError(Exception):
    """A mistake on the command line or in the user's file; the text says what to do."""


def gone_folder(error: BaseException) -> str:
    """Return what to say of an error that comes of a working folder which has been deleted; empty for others."""
    if not isinstance(error, FileNotFoundError):
        return ""
    try:
        os.getcwd()
    except FileNotFoundError:
        return "the working folder has been deleted; change to another one"
    return ""


def of_ours(error: BaseException) -> str:
    """Return what to say of an exception that nobody raised on purpose, and that no code of the author's has raised."""
    from ..frames import frames_of  # of mistakes only

    last = frames_of(error)[-1:]
    place = f" ({last[0].tb_frame.f_code.co_filename}:{last[0].tb_lineno})" if last else ""
    return f"a mistake inside of leanmcp, please report it: {type(error).__name__}: {error}".rstrip(": ") + place


def no_file(path: str) -> UsageError:
    """Return the error of a Python file that is not there, with what there is in its folder."""
    if os.path.islink(path) and not os.path.exists(path):
        return UsageError(f"no file {path!r}; it is a link to {os.readlink(path)!r}, where there is none")
    folder = os.path.dirname(path) or "."
    names = [name for name in os.listdir(folder) if name.endswith(".py")] if os.path.isdir(folder) else []
    return UsageError(f"no file {path!r}{proposal(os.path.basename(path), names)}")


def proposal(name: str, known: Sequence[str], *, cutoff: float = 0.6) -> str:
    """Return the end of a sentence that proposes what is closest to `name`, or else names what there is."""
    if hint := did_you_mean(name, known, cutoff=cutoff):
        return hint
    more = f" and {len(known) - _MOST_NAMES} more" if len(known) > _MOST_NAMES else ""
    return f"; there is {', '.join(sorted(known)[:_MOST_NAMES])}{more}" if known else ""
