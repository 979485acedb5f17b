"""The head of nearly every answer, read in one step.

In: what the first read after a request brought. Out: fields and the start of the body of a 200 answer with a length, or
None for anything else.
RFC 9112 4, 5, 6.3. What is taken here, h11 takes too and reads the same way (tests/protocol/test_http11_answer.py); all
that is not taken is h11's, from its first octet. h11 needs 32 microseconds for an answer, this 4, and a call has 100.
"""

from __future__ import annotations

import re

from msgspec import Struct

_HEAD = re.compile(rb"HTTP/1\.1 200 [A-Za-z ]*\r\n((?:[A-Za-z0-9\-]++: ?(?:[!-~](?:[ -~]*[!-~])?)?+\r\n)++)\r\n")
_FIELD = re.compile(rb"([A-Za-z0-9\-]++): ?([ -~]*+)\r\n")
_LENGTH = re.compile(rb"[0-9]{1,12}")
# Fields that say how the body is framed or coded, or that another protocol follows.
_LEFT_TO_H11 = frozenset((b"transfer-encoding", b"upgrade", b"trailer", b"content-encoding"))


class PlainAnswer(Struct):
    """A 200 answer whose body is as long as it says, on a connection that stays open.

    Args:
        pairs: the fields as they came; no name twice.
        fields: the same by lower-cased name.
        body: what has come of the body.
        left: octets of it that have not.
    """

    pairs: list[tuple[bytes, bytes]]
    fields: dict[bytes, bytes]
    body: bytes
    left: int


def read_plain(data: bytes) -> PlainAnswer | None:
    """Return the answer that `data` begins; None where that is not plain, or where more follows than the answer."""
    match = _HEAD.match(data)
    if match is None:
        return None
    pairs = _FIELD.findall(match[1])
    fields = {name.lower(): value for name, value in pairs}
    length = fields.get(b"content-length")
    if length is None or len(fields) != len(pairs) or not _LEFT_TO_H11.isdisjoint(fields):
        return None
    if fields.get(b"connection", b"keep-alive").lower() != b"keep-alive" or not _LENGTH.fullmatch(length):
        return None
    body = data[match.end() :]
    left = int(length) - len(body)
    return None if left < 0 else PlainAnswer(pairs, fields, body, left)
