"""Newline framing: one message a line.

In: byte chunks of any size. Out: whole lines without their 0x0A; None for a line that was longer than allowed.
Only 0x0A ends a message: U+2028, U+0085 or a carriage return inside a string do not.
Spec 2026-07-28: basic/transports/stdio.
"""

from __future__ import annotations

from ..limits import DEFAULT_LIMITS, Limits

_EDGE = 256  # bytes at either end of a skipped line that are kept


class LineReader:
    """Cuts a byte stream into lines in linear time; a line over the limit is skipped without being stored.

    Attributes:
        max_line_size: bytes of a line; may change meanwhile.
        skipped: the first and the last bytes of the last line that was skipped, which may tell whose it was.
    """

    __slots__ = ("_edge", "_held", "_skipping", "_start", "max_line_size", "skipped")

    def __init__(self, limits: Limits = DEFAULT_LIMITS) -> None:
        self.max_line_size = limits.max_line_size
        self._edge = min(_EDGE, limits.max_line_size)
        self._held = bytearray()
        self._skipping = False
        self._start = b""
        self.skipped = b"", b""

    @property
    def start(self) -> bytes:
        """The first bytes of an incomplete line that is held."""
        return self._start or bytes(self._held[: self._edge])

    @property
    def buffered(self) -> int:
        """Bytes of an incomplete line that are held."""
        return len(self._held)

    def feed(self, data: bytes) -> list[bytes | None]:
        """Return the lines that `data` completes, in order."""
        lines: list[bytes | None] = [*data.split(b"\n")]
        rest = lines.pop()
        if lines and (self._held or self._skipping):
            lines[0] = self._complete(lines[0] or b"")
        if rest:
            self._hold(rest)
        if len(data) > self.max_line_size:
            return [None if line is None or self._skips(line) else line for line in lines]
        return lines

    def end(self) -> bytes | None:
        """Return the last, unterminated line at end of input; empty if there is none, None if it was too long."""
        return self._complete(b"")

    def _complete(self, last: bytes) -> bytes | None:
        line = None
        if self._skipping or len(self._held) + len(last) > self.max_line_size:
            start = self._start or bytes(self._held[: self._edge]) or last[: self._edge]
            self.skipped = start, (bytes(self._held[-self._edge :]) + last)[-self._edge :]
        else:
            self._held += last
            line = bytes(self._held)
        self._held = bytearray()  # a new one: clear() would keep the memory of the longest line
        self._skipping = False
        self._start = b""
        return line

    def _skips(self, line: bytes) -> bool:
        if len(line) <= self.max_line_size:
            return False
        self.skipped = line[: self._edge], line[-self._edge :]
        return True

    def _hold(self, piece: bytes) -> None:
        if self._skipping:
            self._held = (self._held + piece[-self._edge :])[-self._edge :]
        elif len(self._held) + len(piece) > self.max_line_size:
            self._start = bytes(self._held[: self._edge]) or piece[: self._edge]
            self._held = (self._held[-self._edge :] + piece[-self._edge :])[-self._edge :]
            self._skipping = True
        else:
            self._held += piece
