"""Programs with a mistake in them: run here, as `python server.py` would, to see what their authors are told."""

from __future__ import annotations

import linecache
import re
import subprocess
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from leanmcp.explanations import PAGES
from tests.support.processes import DEADLINE, environment

FOREIGN = re.compile(r"https?://|pydantic|msgspec|starlette|orjson|fastjsonschema|uvloop|asyncio", re.IGNORECASE)
"""What no message about a mistake holds: the names of libraries, which their authors may not know, and their pages."""
MOST_LINES = 12
FILE = "server.py"
PRELUDE = """\
import datetime
import enum
import functools
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Optional

from leanmcp import *
from leanmcp.elicit import *
from leanmcp.server import *
from leanmcp.types import *

mcp = MCPServer("demo")
"""
"""What stands above the code of every page, and of every row of the tables of mistakes."""


class Mistake(NamedTuple):
    """A row of a table of mistakes.

    Args:
        code: of the page.
        source: of the program, below PRELUDE.
        message: of the exception, exactly.
    """

    code: str
    source: str
    message: str


class Told(NamedTuple):
    """What a program printed when it failed.

    Args:
        text: all of it, as on standard error.
        message: of the exception.
        notes: of the exception.
        files: of the frames.
    """

    text: str
    message: str
    notes: list[str]
    files: list[str]


def run_program(source: str) -> Told | None:
    """Run the text of a program; return how it failed, None when it did not."""
    linecache.cache[FILE] = len(source), None, source.splitlines(keepends=True), FILE
    try:
        exec(compile(source, FILE, "exec", dont_inherit=True), {"__name__": "__main__"})
    except Exception as error:
        error.__traceback__ = error.__traceback__ and error.__traceback__.tb_next  # without the frame of this function
        frames = traceback.extract_tb(error.__traceback__)
        text = "".join(traceback.format_exception(error))
        return Told(text, str(error), getattr(error, "__notes__", []), [frame.filename for frame in frames])
    return None


def note_of(code: str) -> str:
    """Return the line below an exception that names the page about it."""
    return f"{code}: run `leanmcp explain {code}`"


def codes_of(message: str) -> list[str]:
    """Return the codes of all pages that know a message."""
    return [page.code for page in PAGES.values() if page.tells(message)]


def check(mistake: Mistake) -> None:
    """Run a program of a table, and hold what it tells against the table and the rules for every message."""
    told = run_program(PRELUDE + mistake.source)
    assert told is not None, "nobody minds"
    assert told.message == mistake.message
    assert codes_of(told.message) == [mistake.code]
    assert told.notes == [note_of(mistake.code)]
    assert len([file for file in told.files if file != FILE]) <= 1, "frames of ours"
    assert told.text.count("\n") <= MOST_LINES
    assert not FOREIGN.search(told.message)


def run_file(tmp_path: Path, source: str) -> subprocess.CompletedProcess[str]:
    """Run a program in a process of its own, at the end of whose standard input it ends."""
    (tmp_path / FILE).write_text(source)
    return subprocess.run(
        [sys.executable, FILE],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        cwd=tmp_path,
        env=environment(),
    )


def serve_file(tmp_path: Path, source: str) -> int:
    """Run a program that serves HTTP until it is told to end; return its exit code."""
    (tmp_path / FILE).write_text(source)
    process = subprocess.Popen(
        [sys.executable, FILE],
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        env=environment(),
    )
    with process, ended(process):
        assert process.stderr is not None
        line = process.stderr.readline()
        assert "(Ctrl-C stops)" in line, line + process.stderr.read()
        process.terminate()
        return process.wait(DEADLINE)


@contextmanager
def ended(process: subprocess.Popen[str]) -> Iterator[None]:
    """End a process behind the block, should it run still."""
    try:
        yield
    finally:
        if process.poll() is None:
            process.kill()
