"""The `leanmcp` command as a person runs it: from a script, and at a terminal of 80 columns."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from .processes import DEADLINE, environment

SILENT = ("NO_COLOR", "FORCE_COLOR", "LEANMCP_TOKEN")
COLUMNS = 80


def leanmcp(
    *words: str | Path, cwd: Path | None = None, stdin: bytes | None = None, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run `leanmcp ...` without a terminal and return what it printed."""
    kept = {name: value for name, value in environment().items() if name not in SILENT}
    done = subprocess.run(
        [sys.executable, "-m", "leanmcp", *map(str, words)],
        capture_output=True,
        timeout=DEADLINE,
        env=kept | variables,
        cwd=cwd,
        input=stdin or b"",
        start_new_session=True,  # no terminal to ask on, wherever the tests run
    )
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


class Terminal:
    """A command at a terminal.

    Attributes:
        shown: everything that the terminal got so far.
    """

    def __init__(self, process: subprocess.Popen[bytes], descriptor: int) -> None:
        self.process = process
        self._descriptor = descriptor
        self.shown = ""
        self._octets = b""  # a character or a line end may come in two pieces
        self._seen = 0

    def type(self, text: str) -> None:
        """Type keys."""
        os.write(self._descriptor, text.encode())

    def wait_for(self, text: str) -> str:
        """Read until the terminal shows a text that it has not been asked for yet; return what came up to its end."""
        end = time.monotonic() + DEADLINE
        while (found := self.shown.find(text, self._seen)) < 0:
            if not self._read(end):
                raise AssertionError(f"{text!r} was never shown: {self.shown!r}")
        start, self._seen = self._seen, found + len(text)
        return self.shown[start : self._seen]

    def answer(self, prompt: str, line: str) -> None:
        """Wait for a prompt, and type a line."""
        self.wait_for(prompt)
        self.type(line + "\n")

    def dawdle(self, seconds: float) -> None:
        """Be a person who takes that long; nothing may be shown meanwhile."""
        ready, _, _ = select.select([self._descriptor], [], [], seconds)
        if ready:
            self._read(time.monotonic())
            raise AssertionError(f"it did not wait: {self.shown!r}")

    def finish(self) -> int:
        """Read to the end and return the exit code."""
        end = time.monotonic() + DEADLINE
        while self._read(end):
            pass
        return self.process.wait(DEADLINE)

    def _read(self, end: float) -> bool:
        ready, _, _ = select.select([self._descriptor], [], [], max(end - time.monotonic(), 0))
        if not ready:
            raise AssertionError(f"nothing more was shown: {self.shown!r}")
        try:
            piece = os.read(self._descriptor, 65536)
        except OSError:  # Linux: the other side is closed
            piece = b""
        self._octets += piece
        self.shown = self._octets.decode(errors="replace").replace("\r\n", "\n")
        return bool(piece)


def at_terminal(
    *words: str | Path, stdout: Path | None = None, cwd: Path | None = None, **variables: str
) -> AbstractContextManager[Terminal]:
    """Run `leanmcp ...` at a terminal while the block runs; its standard output may go to a file."""
    command = [sys.executable, "-m", "leanmcp", *map(str, words)]
    return program_at_terminal(command, stdout=stdout, cwd=cwd, **variables)


@contextmanager
def program_at_terminal(
    command: list[str], *, stdout: Path | None = None, cwd: Path | None = None, **variables: str
) -> Iterator[Terminal]:
    """Run any program at a terminal of its own, which Ctrl-C on it interrupts."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, COLUMNS, 0, 0))
    kept = {name: value for name, value in environment().items() if name not in (*SILENT, "COLUMNS", "LINES")}
    output = None if stdout is None else open(stdout, "wb")  # noqa: SIM115
    start = "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execvp(sys.argv[1], sys.argv[1:])"
    process = subprocess.Popen(
        [sys.executable, "-c", start, *command],
        stdin=theirs,
        stdout=output or theirs,
        stderr=theirs,
        env=kept | {"TERM": "xterm"} | variables,
        cwd=cwd,
        start_new_session=True,
    )
    os.close(theirs)
    if output is not None:
        output.close()
    try:
        yield Terminal(process, ours)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(DEADLINE)
        os.close(ours)
