"""The answers that a client reads: heads, and bodies decoded.

In: what the first read after a request brought; octets of a body as they arrive. Out: status and fields, and bodies.
RFC 9112 2.2, 4, 5, 6.3, 7.1. Nearly every head is plain, and read in one step: 4 microseconds, where h11 needs 32; and
as much for each chunk, of which this reads one in 1. h11 is the oracle of tests/protocol/test_http11_answer.py: what is
taken here, h11 takes too and reads the same way, but for trailers, which are dropped unread.
"""

from __future__ import annotations

import re

from msgspec import Struct

_HEAD = re.compile(rb"HTTP/1\.1 200 [A-Za-z ]*\r\n((?:[A-Za-z0-9\-]++: ?(?:[!-~](?:[ -~]*[!-~])?)?+\r\n)++)\r\n")
_FIELD = re.compile(rb"([A-Za-z0-9\-]++): ?([ -~]*+)\r\n")
_LENGTH = re.compile(rb"[0-9]{1,12}")
# Fields that say how the body is coded, or that another protocol follows.
_NOT_PLAIN = frozenset((b"upgrade", b"trailer", b"content-encoding"))
# Heads of all kinds: the reason may be missing, a line may end in LF alone, and a value may go on in the next line.
_STATUS_LINE = re.compile(rb"HTTP/([0-9]\.[0-9]) ([1-9][0-9]{2})(?: [^\0\n\r\f\v]*)?\r?\n")
_FIELD_LINE = re.compile(rb"([-!#$%&'*+.^_`|~0-9A-Za-z]+):([^\0\n\r\f\v]*)\r?")
_FOLD = re.compile(rb"\r?\n[ \t]+")
_END = re.compile(rb"\n\r?\n")
_MANY_DIGITS = re.compile(rb"[0-9]{1,20}")
# The line in front of a chunk, with the end of the chunk before it.
_CHUNK = re.compile(rb"\r\n([0-9A-Fa-f]{1,15})[ \t]*+(?:;[\t -~\x80-\xff]*+)?\r\n")
_MAX_LINE = 16 * 1024  # bytes of that line, and of all trailers


class PlainAnswer(Struct):
    """A 200 answer whose body has a length or comes in chunks, on a connection that stays open.

    Args:
        pairs: the fields as they came; no name twice.
        fields: the same by lower-cased name.
        rest: what has come behind the head.
        length: of the body; -1 where it comes in chunks.
    """

    pairs: list[tuple[bytes, bytes]]
    fields: dict[bytes, bytes]
    rest: bytes
    length: int


def read_plain(data: bytes) -> PlainAnswer | None:
    """Return the answer that `data` begins; None where that is not plain, or where more follows than the answer."""
    match = _HEAD.match(data)
    if match is None:
        return None
    pairs = _FIELD.findall(match[1])
    fields = {name.lower(): value for name, value in pairs}
    if len(fields) != len(pairs) or not _NOT_PLAIN.isdisjoint(fields):
        return None
    length = fields.get(b"content-length")
    if length is None:
        is_framed = fields.get(b"transfer-encoding", b"").lower() == b"chunked"
    else:
        is_framed = b"transfer-encoding" not in fields and _LENGTH.fullmatch(length) is not None
    if not is_framed or fields.get(b"connection", b"keep-alive").lower() != b"keep-alive":
        return None
    return PlainAnswer(pairs, fields, data[match.end() :], -1 if length is None else int(length))


class AnyHead(Struct):
    """A head that need not be plain.

    Args:
        status: HTTP status.
        pairs: the fields as they came; Content-Length and Transfer-Encoding at most once, in their one form.
        keeps: whether another exchange may follow, as far as the head says.
    """

    status: int
    pairs: list[tuple[bytes, bytes]]
    keeps: bool


def head_end(data: bytearray, searched: int) -> int:
    """Return where the head that `data` begins with ends, empty line included; -1 where it is not whole.

    Args:
        searched: so many octets were in `data` when its end was not in there.
    """
    match = _END.search(data, max(0, searched - 2))
    return -1 if match is None else match.end()


def read_head(data: bytes) -> AnyHead:
    """Return what a head says, from its first octet to its empty line.

    Raises:
        ValueError: it is none, or tells twice where its body ends.
    """
    line = _STATUS_LINE.match(data)
    if line is None:
        raise ValueError(f"no answer begins with {data[:40]!r}")
    if line[2] == b"101":
        raise ValueError("it changes to another protocol, which nobody has asked for")
    pairs: list[tuple[bytes, bytes]] = []
    framing: dict[bytes, bytes] = {}
    keeps = line[1] > b"1.0"
    for text in _FOLD.sub(b" ", data[line.end() :]).split(b"\n")[:-2]:
        match = _FIELD_LINE.fullmatch(text)
        if match is None:
            raise ValueError(f"{text[:40]!r} is no field")
        name, value = match[1], match[2].strip(b" \t")
        lowered = name.lower()
        if lowered == b"connection":
            keeps = keeps and b"close" not in map(bytes.strip, value.lower().split(b","))
        elif lowered in (b"content-length", b"transfer-encoding"):
            value = _framing(lowered, value)
            if lowered in framing:
                if lowered == b"transfer-encoding" or framing[lowered] != value:
                    raise ValueError(f"{name.decode()} comes twice")
                continue
            framing[lowered] = value
        pairs.append((name, value))
    # RFC 9112 6.3: chunks count where both are there, and who sends both may mean another end than we do.
    return AnyHead(int(line[2]), pairs, keeps and len(framing) < 2)


def _framing(name: bytes, value: bytes) -> bytes:
    """Return the one form of a field that frames a body, by its lower-cased name."""
    if name == b"content-length":
        lengths = {length.strip() for length in value.split(b",")}  # repeated by proxies that join equal fields
        value = lengths.pop()
        if not lengths and _MANY_DIGITS.fullmatch(value):
            return value
    elif value.lower() == b"chunked":
        return b"chunked"
    raise ValueError(f"{name.decode()} {value[:40]!r} does not tell where the body ends")


class SizedAnswer:
    """A body that is as long as it says, or that the end of the connection ends.

    Args:
        left: octets that have not come; -1: all that come.

    Attributes:
        is_complete: whether nothing more belongs to it.
        rest: what came behind it, and belongs to nothing.
    """

    __slots__ = ("is_complete", "left", "rest")

    def __init__(self, left: int) -> None:
        self.left = left
        self.rest = b""
        self.is_complete = not left

    def feed(self, data: bytes) -> bytes:
        """Return the octets of the body in `data`, which follows what was fed before."""
        if self.left < 0:
            return data
        if len(data) > self.left:
            data, self.rest = data[: self.left], data[self.left :]
        self.left -= len(data)
        self.is_complete = not self.left
        return data


class ChunkedAnswer:
    """A body that comes in chunks; extensions and trailers are dropped. The attributes are those of SizedAnswer."""

    __slots__ = ("_missing", "is_complete", "rest")

    def __init__(self) -> None:
        self.rest = b"\r\n"  # until the body is complete: of what is no octet of it, what has not its end yet
        self.is_complete = False
        self._missing = 0  # octets of the chunk

    def feed(self, data: bytes) -> bytes:
        """Return the octets of the body in `data`, which follows what was fed before.

        Raises:
            ValueError: they are in no chunk.
        """
        data, at = self.rest + data, 0
        pieces = []
        while not self.is_complete:
            if self._missing:
                piece = data[at : at + self._missing]
                pieces.append(piece)
                at += len(piece)
                self._missing -= len(piece)
            match = _CHUNK.match(data, at)
            if match is not None and (size := int(match[1], 16)):
                at, self._missing = match.end(), size
                continue
            end = -1 if match is None else data.find(b"\r\n\r\n", match.end() - 2)
            if end < 0:
                _check_start(data, at, match is not None)
                break
            at, self.is_complete = end + 4, True
        self.rest = data[at:]
        return b"".join(pieces)


def _check_start(data: bytes, at: int, is_last: bool) -> None:
    """Refuse what cannot become the line in front of a chunk, or the trailers behind the last one."""
    if len(data) - at > _MAX_LINE:
        raise ValueError(f"more than {_MAX_LINE} octets stand between two chunks")
    if not is_last and (data.find(b"\n", at + 2) >= 0 or not b"\r\n".startswith(data[at : at + 2])):
        raise ValueError(f"no chunk begins with {data[at : at + 20]!r}")
