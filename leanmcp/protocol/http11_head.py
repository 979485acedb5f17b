"""The head of a request: request line and fields.

In: the octets of one head, or of as much as has arrived. Out: a `Head`, or HTTPError raised.
RFC 9112 3, 5, 6.3, 9.3; RFC 9110 7.2, 8.6, 10.1.1.
"""

from __future__ import annotations

from ..limits import Limits
from .http11_grammar import (
    CLOSE_OPTION,
    CONTENT_LENGTH,
    CONTINUE_EXPECTATION,
    FIELD_LINE,
    FIELDS,
    HOST,
    ORIGIN_REQUEST_LINE,
    HTTPError,
    body_too_large,
    line_end,
    parse_request_line,
    transfer_coding_error,
)

__all__ = ["FieldScanner", "Head"]

_NONE_REPEATED: frozenset[str] = frozenset()
# Two of these may frame the body, name the host or type the body in two ways; RFC 9112 3.2, 6.1, 6.3.
_SINGLE_FIELDS = ("host", "content-length", "transfer-encoding", "content-type")


class FieldScanner:
    """Checks lines in the order of their octets, each once, while they arrive.

    Args:
        limits: `max_request_line`, `max_head_size` (for trailers too) and `max_fields`.
        request_line: whether the first line is a request line; trailers have none.
    """

    __slots__ = ("_awaits_request_line", "_fields", "_limits", "_line", "_scanned")

    def __init__(self, limits: Limits, *, request_line: bool) -> None:
        self._limits = limits
        self._awaits_request_line = request_line
        self._fields = 0
        self._line = 0  # offsets from `start`: of the line that is incomplete, and how far it was searched
        self._scanned = 0

    def scan(self, data: bytes | bytearray, start: int) -> int:
        """Return where the block ends, empty line included, or -1 when it is incomplete.

        Args:
            data: holds at `start` all octets of the block so far; between calls it only grows.

        Raises:
            HTTPError: the first fault: 414 or 431 (limits, also of an incomplete line), 400, 501, 505.
        """
        while True:
            bound, too_long = self._bound()
            end = line_end(data, start + self._scanned, start + bound, too_long)
            if end < 0:
                self._scanned = max(self._line, len(data) - 1 - start)  # a CR at the end is looked at again
                return -1
            line = bytes(data[start + self._line : end])
            self._line = self._scanned = end + 2 - start
            if self._awaits_request_line:
                parse_request_line(line)
                self._awaits_request_line = False
            elif line:
                self._check_field(line)
            else:
                return end + 2

    def _bound(self) -> tuple[int, int]:
        """Return the last offset for the CRLF of this line, and the status when it comes later."""
        limits = self._limits
        if self._awaits_request_line:
            return min(limits.max_request_line, limits.max_head_size), 414
        return limits.max_head_size - 2, 431

    def _check_field(self, line: bytes) -> None:
        self._fields += 1
        if self._fields > self._limits.max_fields:
            raise HTTPError(431, "There are too many header fields (Limits.max_fields).")
        if FIELD_LINE.fullmatch(line) is None:
            raise HTTPError(400, "A field line is not `name: value`; folding is not allowed (RFC 9112 5).")


class Head:
    """One request head; a pure function of its octets, never changed except for `plan`.

    Args:
        raw: from the method to the empty line, which is the only one in it.
        limits: `max_request_line`, `max_head_size`, `max_fields`, `max_body_size`.

    Attributes:
        raw: its octets.
        method: as sent, for example `POST`.
        path: of the target, up to `?`, percent-encoding kept; `*` for `OPTIONS *`.
        minor_version: 0 or 1; HTTP/1.2 to 1.9 count as 1.
        headers: lower-cased names; values as Latin-1 without surrounding blanks, those of a repeated field joined
            with `, `. `host` is the authority of an absolute-form target.
        repeated: names that came more than once.
        keep_alive: whether another request may follow; HTTP/1.0 always closes.
        content_length: octets of the body, or None.
        chunked: whether the body is chunked.
        expects_continue: whether the client may wait for 100 (Continue); False in HTTP/1.0.
        plan: what the endpoint derived from this head alone.

    Raises:
        HTTPError: 400, 413, 414, 417, 431, 501 or 505.
    """

    __slots__ = (
        "chunked",
        "content_length",
        "expects_continue",
        "headers",
        "keep_alive",
        "method",
        "minor_version",
        "path",
        "plan",
        "raw",
        "repeated",
    )

    def __init__(self, raw: bytes, limits: Limits) -> None:
        # One screen cut into helpers would cost a function entry each, on every head that differs from the last.
        # 1. Request line.
        self.raw = raw
        text = raw.decode("latin-1")
        authority = None
        line = ORIGIN_REQUEST_LINE.match(text)
        if line is not None:
            self.method, target, minor = line.groups()
            self.minor_version = 0 if minor == "0" else 1
            fields = line.end()
        else:
            FieldScanner(limits, request_line=True).scan(raw, 0)
            fields = text.index("\r\n") + 2
            self.method, target, self.minor_version, authority = parse_request_line(raw[: fields - 2])
        self.path = target.partition("?")[0]

        # 2. Fields. The scanner tells what is wrong, so that the answer is the same however the head was cut.
        end = len(text) - 2
        pairs = FIELDS.findall(text, fields, end)
        if (
            len(pairs) != text.count("\n", fields, end)
            or len(pairs) > limits.max_fields
            or fields - 2 > limits.max_request_line
            or len(raw) > limits.max_head_size
        ):
            FieldScanner(limits, request_line=True).scan(raw, 0)
            raise HTTPError(400, "The head is malformed.")
        headers: dict[str, str] = {}
        for name, value in pairs:
            headers[name.lower()] = value
        self.repeated = _NONE_REPEATED
        if len(headers) != len(pairs) or " \r" in text or "\t" in text:  # repeated fields, or perhaps blanks at an end
            headers, self.repeated = _join_fields(pairs)
        self.headers = headers

        # 3. Host (RFC 9112 3.2).
        host = headers.get("host")
        if host is None:
            if self.minor_version:
                raise HTTPError(400, "HTTP/1.1 requires a Host field (RFC 9112 3.2).")
        elif HOST.fullmatch(host) is None:
            raise HTTPError(400, "Host is not `name[:port]` (RFC 9110 7.2).")
        if authority is not None:
            headers["host"] = authority

        # 4. Framing (RFC 9112 6.3): two framings on one request can hide a second request, so nothing is guessed.
        self.chunked = False
        coding = headers.get("transfer-encoding")
        if coding is not None:
            if not self.minor_version or "content-length" in headers:
                raise HTTPError(400, "Transfer-Encoding is not allowed in HTTP/1.0 or beside Content-Length.")
            if coding != "chunked" and not (coding.isascii() and coding.lower() == "chunked"):
                raise transfer_coding_error(coding)
            self.chunked = True
        self.content_length: int | None = None
        length = headers.get("content-length")
        if length is not None:
            if CONTENT_LENGTH.fullmatch(length) is None:
                raise HTTPError(400, "Content-Length is not one run of 1 to 19 digits (RFC 9110 8.6).")
            self.content_length = int(length)

        # 5. Connection and Expect (RFC 9112 9.3, RFC 9110 10.1.1).
        connection = headers.get("connection")
        self.keep_alive = self.minor_version == 1 and (connection is None or CLOSE_OPTION.search(connection) is None)
        self.expects_continue = False
        expect = headers.get("expect")
        if expect is not None and self.minor_version:
            if CONTINUE_EXPECTATION.fullmatch(expect) is None:
                raise HTTPError(417, "The only expectation known here is `100-continue`.")
            self.expects_continue = "100" in expect

        # 6. Size: refused before the body, and instead of 100 (Continue).
        if self.content_length is not None and self.content_length > limits.max_body_size:
            error = body_too_large(limits.max_body_size)
            error.headers = headers
            raise error
        self.plan: object = None


def _join_fields(pairs: list[tuple[str, str]]) -> tuple[dict[str, str], frozenset[str]]:
    """Return the fields with trailing blanks removed and repeated ones joined, and the names of those."""
    headers: dict[str, str] = {}
    repeated: set[str] = set()
    for raw_name, value in pairs:
        name, value = raw_name.lower(), value.rstrip(" \t")
        if name in headers:
            repeated.add(name)
            value = f"{headers[name]}, {value}"
        headers[name] = value
    for name in _SINGLE_FIELDS:
        if name in repeated:
            raise HTTPError(400, f"{name} came more than once.")
    return headers, frozenset(repeated)
