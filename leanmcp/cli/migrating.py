"""`leanmcp migrate`: change a program of the official SDK into one of ours.

In: Python files. Out: a diff, or the files changed; and what is left for a person to do.
"""

from __future__ import annotations

import argparse
import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from .faults import OK, UsageError, no_file
from .options import Parser

if TYPE_CHECKING:
    from .migrating_source import Left
    from .screen import Screen

_LEFT = 1
_ROOT = b"mcp"  # in every file that imports something of the official SDK
_SUFFIXES = ("", ".py", ".pyi", ".pyw")  # of files that are meant to be Python
_SKIPPED = ("node_modules", "__pycache__", "site-packages", "venv", "env")
_EPILOG = """\
examples:
  leanmcp migrate server.py             what would change, as a diff, and what is left to do
  leanmcp migrate src tests --write     change the files
  leanmcp migrate --differences         what behaves differently here

Imports are rewritten whose names leanmcp has; comments and formatting stay. What is left is told on standard error,
as FILE:LINE. A folder stands for the Python files below it.

--json prints {"files": [{"path", "changed", "diff", "left": [{"line", "name", "advice"}]}], "written"}; with
--differences {"differences"}

exit codes:
  0    nothing is left to do
  1    something is left to do by hand
  2    a mistake on the command line, or a file that is no Python or cannot be written
"""


class _Outcome(NamedTuple):
    """What has become of one file.

    Args:
        path: of it.
        before, after: its text.
        content: its bytes, changed.
        left: what a person has to change.
    """

    path: str
    before: str
    after: str
    content: bytes
    left: list[Left]


def add_options(parser: Parser) -> None:
    """Declare what the command takes."""
    parser.epilog = _EPILOG
    parser.add_argument("paths", nargs="*", metavar="PATH", help="Python files, or folders of them")
    parser.add_argument("--write", action="store_true", help="change the files instead of printing a diff")
    parser.add_argument("--differences", action="store_true", help="print what behaves differently in leanmcp")
    parser.add_json()


def run(options: argparse.Namespace) -> int:
    """Print or write the changes."""
    from .screen import Screen

    screen = Screen(options.json)
    if options.differences:
        return _print_differences(screen)
    if not options.paths:
        raise UsageError("name a Python file or a folder; see `leanmcp migrate --help`")
    named = {os.path.normpath(path) for path in options.paths}
    files = list(dict.fromkeys(file for path in options.paths for file in _files(path)))
    if not files:
        raise UsageError(f"no Python files in {', '.join(map(repr, options.paths))}")
    outcomes = [_migrated(file, file in named) for file in files]
    if options.write:
        for outcome in outcomes:
            if outcome.after != outcome.before:
                _write(outcome.path, outcome.content)
    if screen.json:
        screen.print_json({"files": [_plain(outcome) for outcome in outcomes], "written": options.write})
    else:
        _tell(outcomes, screen, options.write)
    return _LEFT if any(outcome.left for outcome in outcomes) else OK


def _print_differences(screen: Screen) -> int:
    from .migrating_names import DIFFERENCES

    if screen.json:
        screen.print_json({"differences": DIFFERENCES})
        return OK
    for text in DIFFERENCES:
        screen.data(f"- {text}")
    return OK


def _files(path: str) -> Iterator[str]:
    """Yield the files that an argument stands for."""
    path = path and os.path.normpath(path)  # which would make the current folder of nothing
    if os.path.isfile(path):
        yield path
        return
    if not os.path.isdir(path):
        raise no_file(path)
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _SKIPPED)
        paths = (os.path.normpath(os.path.join(folder, name)) for name in sorted(names))
        yield from (path for path in paths if path.endswith(".py") and os.path.isfile(path))  # no link to nowhere


def _migrated(path: str, is_named: bool) -> _Outcome:
    """Return what becomes of a file; what is in a folder and is no Python, a template, say, hinders nobody."""
    from .migrating_imports import Imports
    from .migrating_source import Source
    from .migrating_uses import Uses

    try:
        with open(path, "rb") as file:
            content = file.read()
        if _ROOT not in content and not is_named:
            return _Outcome(path, "", "", content, [])
        source = Source(content)
    except OSError as fault:
        raise UsageError(f"{path}: {fault.strerror}") from None
    except SyntaxError as fault:
        if os.path.splitext(path)[1] not in _SUFFIXES:
            raise UsageError(f"{path!r} is no Python file") from None
        place = path if fault.lineno is None else f"{path}:{fault.lineno}"
        raise UsageError(f"{place}: {type(fault).__name__}: {fault.msg}") from None
    except (ValueError, RecursionError) as fault:  # of a wrong encoding, or a NUL
        raise UsageError(f"{path} is no Python file: {fault}") from None
    imports = Imports(source)
    if not imports.found:
        return _Outcome(path, source.text, source.text, content, imports.left)
    left = sorted({*imports.left, *Uses(source, imports.meanings).left()})
    return _Outcome(path, source.text, source.edited(), source.encoded(), left)


def _tell(outcomes: list[_Outcome], screen: Screen, written: bool) -> None:
    from .terminal import line

    for outcome in outcomes:
        if outcome.after != outcome.before:
            if written:
                screen.note(f"changed {outcome.path}")
            else:
                screen.out.write(_diff(outcome))
    screen.out.flush()
    for outcome in outcomes:
        for left in outcome.left:
            screen.note(f"{outcome.path}:{left.line}: {line(left.name)}: {left.advice}")
    changed = sum(outcome.after != outcome.before for outcome in outcomes)
    count = sum(len(outcome.left) for outcome in outcomes)
    if not changed and not count:
        screen.note("nothing to do: nothing of the official SDK is imported")
    elif count:
        screen.note(f"{count} left to do by hand")
    if changed and not written:
        screen.note("--write changes the files; `leanmcp migrate --differences` tells what behaves differently")


def _diff(outcome: _Outcome) -> str:
    import difflib

    before, after = (io.StringIO(text, newline="\n").readlines() for text in (outcome.before, outcome.after))
    path = _shown(outcome.path)
    lines = difflib.unified_diff(before, after, path, path)
    return "".join(text if text.endswith("\n") else f"{text}\n\\ No newline at end of file\n" for text in lines)


def _shown(path: str) -> str:
    """Return a path that can be printed: the name of a file may be any bytes."""
    return os.fsencode(path).decode(errors="replace")


def _plain(outcome: _Outcome) -> dict[str, object]:
    return {
        "path": _shown(outcome.path),
        "changed": outcome.after != outcome.before,
        "diff": _diff(outcome),
        "left": [left._asdict() for left in outcome.left],
    }


def _write(path: str, content: bytes) -> None:
    """Put bytes in the place of a file's, all of them or none."""
    from ..private_files import rewrite_file

    try:
        rewrite_file(Path(path), content)
    except OSError as fault:
        raise UsageError(f"{path} cannot be written: {fault.strerror}") from None
