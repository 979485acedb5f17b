"""The grammar of an HTTP/1.1 request, compiled once.

In: one line without its CRLF, or one field value. Out: its parts, or HTTPError raised.
RFC 9110 5.5, 5.6; RFC 9112 2 to 7; RFC 3986 3.2.2, 3.3, 3.4.

Classes name ASCII octets one by one and `fullmatch` decides: `\\d`, `\\s`, `str.isdigit`, `str.strip()` and `int()` all
take more than the grammar does. Single classes are possessive (`++`), so a long hostile line costs one pass.
"""

from __future__ import annotations

import re

__all__ = [
    "CHUNK_LINE",
    "CLOSE_OPTION",
    "CONTENT_LENGTH",
    "CONTINUE_EXPECTATION",
    "FIELDS",
    "FIELD_LINE",
    "HOST",
    "ORIGIN_REQUEST_LINE",
    "HTTPError",
    "body_too_large",
    "line_end",
    "parse_request_line",
    "transfer_coding_error",
]


class HTTPError(Exception):
    """A request that cannot be read; answer `status`, close, run nothing further.

    Args:
        status: 400, 413, 414, 417, 431, 501 or 505.
        message: one short sentence for the peer's author; holds no octet of the request.

    Attributes:
        to_head: whether the request is a HEAD, so that its answer has no body.
        headers: those of the request, where its head has been read.
    """

    def __init__(self, status: int, message: str) -> None:
        super().__init__(status, message)
        self.to_head = False
        self.headers: dict[str, str] | None = None
        self.status = status
        self.message = message


def body_too_large(limit: int) -> HTTPError:
    """Return the refusal of a body over `limit` octets."""
    return HTTPError(413, f"The body is larger than {limit} bytes (Limits.max_body_size).")


_TOO_LONG = {
    414: "The request line is too long (Limits.max_request_line).",
    431: "The head is too long (Limits.max_head_size).",
}
_TOKEN = r"[!#$%&'*+\-.^_`|~0-9A-Za-z]++"  # noqa: S105  (RFC 9110 5.6.2, no secret)
_VALUE = r"[\t -~\x80-\xff]*+"  # VCHAR, SP, HTAB, obs-text
_PERCENT = r"%[0-9A-Fa-f]{2}"
_NAME_CHARS = r"A-Za-z0-9\-._~!$&'()*+,;="  # unreserved and sub-delims
_PATH_CHARS = rf"[{_NAME_CHARS}:@/?]*+"
_PATH_REST = rf"{_PATH_CHARS}(?:{_PERCENT}{_PATH_CHARS})*"


def _ipv6() -> str:
    """Return RFC 3986 IPv6address, one alternative for each of its nine lines."""
    group = "[0-9A-Fa-f]{1,4}"
    octet = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
    tail = rf"(?:{group}:{group}|{octet}(?:\.{octet}){{3}})"
    forms = [rf"(?:{group}:){{6}}{tail}"]
    for left in range(8):  # at most `left` groups before the `::` and exactly `right` after it
        before = rf"(?:(?:{group}:){{0,{left - 1}}}{group})?" if left else ""
        right = 7 - left
        after = rf"(?:{group}:){{{right - 2}}}{tail}" if right >= 2 else group * right
        forms.append(f"{before}::{after}")
    return f"(?:{'|'.join(forms)})"


_REG_NAME = rf"(?=[^:/?])[{_NAME_CHARS}]*+(?:{_PERCENT}[{_NAME_CHARS}]*+)*"  # not empty; IPv4 is a case of it
_AUTHORITY = rf"(?:{_REG_NAME}|\[{_ipv6()}\])(?::[0-9]*+)?"

HOST = re.compile(_AUTHORITY)
CONTENT_LENGTH = re.compile("[0-9]{1,19}")  # more digits than any limit has; int() stays cheap
CLOSE_OPTION = re.compile(r"(?:\A|,)[ \t]*close[ \t]*(?:,|\Z)", re.ASCII | re.IGNORECASE)
_CONTINUE = r"(?:100-continue[ \t]*+)?"
CONTINUE_EXPECTATION = re.compile(rf"{_CONTINUE}(?:,[ \t]*+{_CONTINUE})*+", re.ASCII | re.IGNORECASE)

METHODS = frozenset(("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"))  # CONNECT is known, too
ORIGIN_REQUEST_LINE = re.compile(rf"(POST|GET|DELETE|OPTIONS|HEAD|PUT|PATCH|TRACE) (/{_PATH_REST}) HTTP/1\.([0-9])\r\n")
_ANY_REQUEST_LINE = re.compile(rf"({_TOKEN}) ([!-~]++) HTTP/([0-9])\.([0-9])")
_ORIGIN_FORM = re.compile(f"/{_PATH_REST}")
_ABSOLUTE_FORM = re.compile(rf"https?://({_AUTHORITY})((?:[/?]{_PATH_REST})?)", re.ASCII | re.IGNORECASE)

FIELD_LINE = re.compile(f"{_TOKEN}:{_VALUE}".encode())
# Name and value of each field of a block. A match starts after one LF and ends with the next, so as many matches as
# LFs in the block mean that every line of it is a field; that saves a second pass to validate.
FIELDS = re.compile(rf"^({_TOKEN}):[ \t]*+({_VALUE})\r\n", re.MULTILINE)

_CODINGS = re.compile(rf"{_TOKEN}(?:[ \t]*,[ \t]*{_TOKEN})*")
_QUOTED = r'"[\t !#-\[\]-~\x80-\xff]*+(?:\\[\t -~\x80-\xff][\t !#-\[\]-~\x80-\xff]*+)*"'
CHUNK_LINE = re.compile(rf"([0-9A-Fa-f]{{1,16}}+)((?:;{_TOKEN}(?:=(?:{_TOKEN}|{_QUOTED}))?)*)".encode())

_LINE_BREAKERS = re.compile(rb"[\0\r\n]")
_CR, _LF = 13, 10


def line_end(data: bytes | bytearray, scanned: int, bound: int, status: int) -> int:
    """Return where the CRLF that ends a line begins, or -1 when it has not arrived.

    Args:
        data: the octets; those before `scanned` hold no CR, LF or NUL of this line.
        bound: last offset at which the CRLF may begin.
        status: status of the error when it does not.

    Raises:
        HTTPError: of two faults the one with the lower offset, so that any way of cutting the input gives the same.
    """
    found = _LINE_BREAKERS.search(data, scanned)
    end = len(data) if found is None else found.start()
    if end > bound:
        raise HTTPError(status, _TOO_LONG.get(status, "A line is too long."))
    if found is None:
        return -1
    if data[end] == _CR:
        if end + 1 == len(data):
            return -1
        if data[end + 1] == _LF:
            return end
    raise HTTPError(400, "Lines end with CRLF and hold no other CR, LF or NUL (RFC 9112 2.2).")


def parse_request_line(line: bytes) -> tuple[str, str, int, str | None]:
    """Return method, target (path and query, or `*`), minor version, and the authority of an absolute-form target.

    Raises:
        HTTPError: 505 for another major version, 501 for a method that is not served, else 400.

    Spec: RFC 9112 3.
    """
    match = _ANY_REQUEST_LINE.fullmatch(line.decode("latin-1"))
    if match is None:
        raise HTTPError(400, "The request line is not `method SP target SP HTTP/1.1` (RFC 9112 3).")
    method, target, major, minor = match.groups()
    if major != "1":
        raise HTTPError(505, "Only HTTP/1.x is served here.")
    if method not in METHODS:
        raise HTTPError(501, "This method is not implemented.")
    minor_version = 0 if minor == "0" else 1
    if _ORIGIN_FORM.fullmatch(target) or (target == "*" and method == "OPTIONS"):
        return method, target, minor_version, None
    absolute = _ABSOLUTE_FORM.fullmatch(target)
    if absolute is None:
        raise HTTPError(400, "The request target is not in origin-form or absolute-form (RFC 9112 3.2).")
    authority, rest = absolute.groups()
    return method, rest if rest.startswith("/") else "/" + rest, minor_version, authority


def transfer_coding_error(value: str) -> HTTPError:
    """Return what to answer to a Transfer-Encoding that is not exactly `chunked`: 501 when a coding is unknown."""
    if _CODINGS.fullmatch(value) and any(c.strip(" \t").lower() != "chunked" for c in value.split(",")):
        return HTTPError(501, "The only transfer coding known here is `chunked`.")
    return HTTPError(400, "Transfer-Encoding is `chunked`, once, or absent (RFC 9112 6.1).")
