"""The body of a request: by Content-Length, or chunked.

In: octets as they arrive. Out: the decoded body, or HTTPError raised. RFC 9112 6.2, 7.1.
"""

from __future__ import annotations

from ..limits import Limits
from .http11_grammar import CHUNK_LINE, HTTPError, body_too_large, line_end
from .http11_head import FieldScanner

__all__ = ["ChunkedBody", "SizedBody"]

MAX_CHUNK_EXTENSIONS = 4096  # bytes over all chunks of a body; nothing reads them
_SIZE_DIGITS = 16
_SMALL_PIECE = 4096  # bytes; below it an object of its own per piece would outweigh what it holds

_LINE, _DATA, _DATA_END, _TRAILERS = range(4)


class _Pieces:
    """Octets of a body that is incomplete; joined once."""

    __slots__ = ("_pieces", "complete", "size")

    def __init__(self) -> None:
        self._pieces: list[bytes | bytearray] = []
        self.size = 0
        self.complete = False

    def join(self) -> bytes:
        return b"".join(self._pieces)

    def _keep(self, piece: bytes | bytearray) -> None:
        self.size += len(piece)
        pieces = self._pieces
        if len(piece) >= _SMALL_PIECE:
            pieces.append(piece)
        elif pieces and isinstance(pieces[-1], bytearray):
            pieces[-1] += piece
        else:
            pieces.append(bytearray(piece))


class SizedBody(_Pieces):
    """A body of `content_length` octets."""

    __slots__ = ("_length",)

    def __init__(self, content_length: int) -> None:
        super().__init__()
        self._length = content_length

    def take(self, data: bytes | bytearray, position: int) -> int:
        """Take octets of the body from `position` on and return where the rest begins."""
        end = min(len(data), position + self._length - self.size)
        self._keep(data[position:end])
        self.complete = self.size == self._length
        return end


class ChunkedBody(_Pieces):
    """A chunked body; extensions and trailers are checked and dropped.

    Args:
        limits: `max_body_size` (decoded); `max_head_size` and `max_fields` for the trailers.
    """

    __slots__ = ("_expects", "_extensions", "_limits", "_missing", "_scanned", "_trailers")

    def __init__(self, limits: Limits) -> None:
        super().__init__()
        self._limits = limits
        self._expects = _LINE
        self._missing = 0  # octets of the chunk
        self._extensions = MAX_CHUNK_EXTENSIONS  # octets still allowed
        self._scanned = 0  # octets of an incomplete chunk line
        self._trailers = FieldScanner(limits, request_line=False)

    def take(self, data: bytes | bytearray, position: int) -> int:
        """Take what is complete from `position` on and return where the rest begins.

        Raises:
            HTTPError: 400 for the framing, 413 as soon as a chunk line announces too much, 431 for the trailers.
        """
        while position < len(data):
            if self._expects == _DATA:
                piece = data[position : position + self._missing]
                self._keep(piece)
                self._missing -= len(piece)
                position += len(piece)
                if not self._missing:
                    self._expects = _DATA_END
                continue
            if self._expects == _TRAILERS:
                end = self._trailers.scan(data, position)
                self.complete = end >= 0
                return end if self.complete else position
            end = self._take_data_end(data, position) if self._expects == _DATA_END else self._take_line(data, position)
            if end < 0:
                return position
            position = end
        return position

    def _take_data_end(self, data: bytes | bytearray, position: int) -> int:
        """Return where the CRLF after a chunk ends, or -1."""
        if line_end(data, position, position, 400) < 0:
            return -1
        self._expects = _LINE
        return position + 2

    def _take_line(self, data: bytes | bytearray, position: int) -> int:
        """Read `size[;extension...]` and return where its line ends, or -1."""
        end = line_end(data, position + self._scanned, position + _SIZE_DIGITS + self._extensions, 400)
        if end < 0:
            self._scanned = max(0, len(data) - 1 - position)
            return -1
        self._scanned = 0
        match = CHUNK_LINE.fullmatch(bytes(data[position:end]))
        if match is None:
            raise HTTPError(400, "A chunk line is not `size[;name[=value]]` (RFC 9112 7.1).")
        digits, extensions = match.groups()
        self._extensions -= len(extensions)
        if self._extensions < 0:
            raise HTTPError(400, "The chunk extensions are too long.")
        self._missing = int(digits, 16)
        if self.size + self._missing > self._limits.max_body_size:
            raise body_too_large(self._limits.max_body_size)
        self._expects = _DATA if self._missing else _TRAILERS
        return end + 2
