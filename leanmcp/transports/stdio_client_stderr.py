"""The standard error of a child process: read at all times, passed on, and its end kept for error texts.

In: bytes as they come. Out: lines to this process's standard error, or to a function.
Spec 2026-07-28: basic/transports/stdio ("capture, forward, or ignore"; no sign of an error by itself).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Literal, TextIO

from ..logs import warn_seldom
from .stderr_pump import PIECE, is_pipe, room

_KEPT = 64 * 1024  # bytes of the end that are kept
_MAX_LINE = 16 * 1024  # bytes after which a line without an end is passed on in pieces
_SHOWN_LINES = 20
_SHOWN_SIZE = 2000  # characters

Sink = Callable[[str], object] | Literal["forward", "capture"] | None


class ChildErrors:
    """Takes what a server prints on standard error.

    Args:
        sink: as `StdioServerParameters.stderr`.
        where: the server, for logs.
    """

    def __init__(self, sink: Sink, where: str) -> None:
        self._sink = sink
        self._where = where
        self._end = bytearray()
        self._line = bytearray()
        self._dropped = 0

    def feed(self, data: bytes) -> None:
        """Take bytes; whole lines are passed on."""
        self._end += data
        if len(self._end) > 2 * _KEPT:
            del self._end[:-_KEPT]
        if self._sink == "capture":
            return
        self._line += data
        whole, newline, rest = self._line.rpartition(b"\n")
        if newline or len(self._line) > _MAX_LINE:
            self._line = rest if newline else bytearray()
            self._pass_on(bytes(whole if newline else rest))

    def finish(self) -> None:
        """Pass on a last line without an end."""
        line, self._line = self._line, bytearray()
        if line:
            self._pass_on(bytes(line))

    def tail(self) -> str:
        """Return the last lines, clipped; empty where there were none."""
        lines = self._end[-4 * _SHOWN_SIZE :].decode(errors="replace").split("\n")
        text = "\n".join(line.rstrip() for line in lines[-_SHOWN_LINES - 1 :]).strip("\n")
        return text if len(text) <= _SHOWN_SIZE else "..." + text[-_SHOWN_SIZE:]

    def captured(self) -> str:
        """Return all that is kept."""
        return self._end[-_KEPT:].decode(errors="replace")

    def _pass_on(self, lines: bytes) -> None:
        if not callable(self._sink):
            return self._forward(lines + b"\n")
        for line in lines.split(b"\n"):
            try:
                self._sink(line.decode(errors="replace").rstrip("\r"))
            except Exception as fault:
                warn_seldom("%s: the function for its standard error failed: %r", self._where, fault)
        return None

    def _forward(self, lines: bytes) -> None:
        """Write to `sys.stderr`, which a program may have replaced; what a full pipe does not take is dropped."""
        stream = sys.stderr
        if stream is None:
            return
        try:
            for start in range(0, len(lines), PIECE):
                piece = lines[start : start + PIECE]
                if not _takes_more(stream):
                    self._dropped += len(piece)
                    continue
                if self._dropped:
                    stream.write(f"[leanmcp: {self._dropped} bytes of {self._where} were dropped]\n")
                    self._dropped = 0
                stream.write(piece.decode(errors="replace"))
                stream.flush()
        except (OSError, ValueError) as fault:  # closed
            warn_seldom("%s: its standard error cannot be passed on: %r", self._where, fault)


def _takes_more(stream: TextIO) -> bool:
    """Return whether a write is sure not to block: a pipe whose reader has stopped would stop the event loop."""
    try:
        fd = stream.fileno()
        return not is_pipe(fd) or room(fd) != 0
    except (OSError, ValueError, AttributeError):
        return True  # no file at all
