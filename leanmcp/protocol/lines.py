"""Newline framing: one message a line.

In: byte chunks of any size. Out: whole lines without their 0x0A; None for a line that was longer than allowed.
Only 0x0A ends a message: U+2028, U+0085 or a carriage return inside a string do not.
Spec 2026-07-28: basic/transports/stdio.
"""

from __future__ import annotations

from ..limits import DEFAULT_LIMITS, Limits


class LineReader:
    """Cuts a byte stream into lines in linear time; a line over the limit is skipped without being stored."""

    __slots__ = ("_held", "_max_line_size", "_skipping")

    def __init__(self, limits: Limits = DEFAULT_LIMITS) -> None:
        self._max_line_size = limits.max_line_size
        self._held = bytearray()
        self._skipping = False

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
        if len(data) > self._max_line_size:
            return [None if line is None or len(line) > self._max_line_size else line for line in lines]
        return lines

    def end(self) -> bytes | None:
        """Return the last, unterminated line at end of input; empty if there is none, None if it was too long."""
        return self._complete(b"")

    def _complete(self, last: bytes) -> bytes | None:
        too_long = self._skipping or len(self._held) + len(last) > self._max_line_size
        if not too_long:
            self._held += last
        line = None if too_long else bytes(self._held)
        self._held = bytearray()  # a new one: clear() would keep the memory of the longest line
        self._skipping = False
        return line

    def _hold(self, piece: bytes) -> None:
        if self._skipping:
            return
        if len(self._held) + len(piece) > self._max_line_size:
            self._held = bytearray()
            self._skipping = True
        else:
            self._held += piece
