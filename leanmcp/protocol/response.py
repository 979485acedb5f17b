"""One HTTP response as bytes.

In: status, content type, body segments. Out: the head, with `Date` and `Content-Length`.
RFC 9110 6.6.1 (Date), 8.6 (Content-Length), 15 (status codes); RFC 9112.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from http import HTTPStatus

import msgspec

from ..calls import Stream
from ..errors import InvalidRequest
from .jsonrpc import Segments, encode_error

STATUS_LINE = {status.value: b"HTTP/1.1 %d %s\r\n" % (status.value, status.phrase.encode()) for status in HTTPStatus}
JSON, SSE, HTML, NOTHING = b"application/json", b"text/event-stream", b"text/html; charset=utf-8", b""
RETRY_LATER = b"Retry-After: 1\r\n"
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


Again = Callable[[bytes], tuple[bytes, bytes, bytes] | None]
"""Returns the body of the answer to a whole request: up to the id, the id, and what is behind it."""


class Response(msgspec.Struct):
    """An answer that is complete: status, body segments and the fields that differ from answer to answer.

    Args:
        status: HTTP status.
        body: segments, written in order and never joined when they are large.
        content_type: media type of the body; NOTHING leaves it out.
        fields: further header lines, each ended by CRLF.
        again: answers further requests like the one that this answers, by their octets.
    """

    status: int
    body: Segments
    content_type: bytes = JSON
    fields: bytes = b""
    again: Again | None = None


def refusal(status: int, text: str, fields: bytes = b"") -> Response:
    """Return the refusal of octets that are no request, or of one that is not read: a JSON-RPC error without id."""
    return Response(status, [encode_error(InvalidRequest(text), None)], fields=fields)


class EventStream:
    """An answer that goes on: server-sent events until its client leaves or the server ends.

    Args:
        source: gives the messages.
        fields: header lines of the stream, each ended by CRLF.
    """

    __slots__ = ("fields", "source")

    def __init__(self, source: Stream, fields: bytes) -> None:
        self.source = source
        self.fields = fields


Answer = Segments | Response | EventStream
"""What comes of a request; segments alone are the JSON of an answer with status 200."""
_MAX_KEPT = 64


class HeadEncoder:
    """Encodes response heads; everything up to the length is kept for a second, because `Date` is.

    Attributes:
        start: of an answer with status 200 and JSON, on a connection that stays open: up to the length of its body.
        expires: Unix seconds up to which it holds; then call `renew`.
    """

    __slots__ = ("_kept", "expires", "start")

    def __init__(self) -> None:
        self._kept: dict[tuple[int, bytes, bytes, bool], bytes] = {}
        self.expires = 0.0
        self.start = b""

    def renew(self) -> float:
        """Begin another second; return its time."""
        now = time.time()
        self._kept.clear()
        self.expires = float(int(now) + 1)
        self.start = self._start(Response(200, []), False, now) + b"Content-Length: "
        return now

    def encode(self, response: Response, length: int, close: bool) -> bytes:
        """Return the head of `response` for a body of `length` bytes, ended by the empty line."""
        now = time.time()
        if now >= self.expires:
            now = self.renew()
        key = response.status, response.content_type, response.fields, close
        start = self._kept.get(key)
        if start is None:
            if len(self._kept) >= _MAX_KEPT:  # with CORS, fields hold what strangers send
                self._kept.clear()
            start = self._kept[key] = self._start(response, close, now)
        if response.status in _BODYLESS:
            return start + b"\r\n"
        return b"%sContent-Length: %d\r\n\r\n" % (start, length)

    def encode_stream(self, fields: bytes, chunked: bool, close: bool) -> bytes:
        """Return the head of an event stream: in chunks, or ended by the end of the connection (HTTP/1.0)."""
        fields = fields + b"Transfer-Encoding: chunked\r\n" if chunked else fields
        return self._start(Response(200, [], SSE, fields), close, time.time()) + b"\r\n"

    def _start(self, response: Response, close: bool, now: float) -> bytes:
        lines = [STATUS_LINE[response.status], b"Date: ", _imf_fixdate(now), b"\r\n"]
        if response.content_type:
            lines += [b"Content-Type: ", response.content_type, b"\r\nCache-Control: no-store\r\n"]
        lines.append(response.fields)
        if close:
            lines.append(b"Connection: close\r\n")
        return b"".join(lines)


_BODYLESS = frozenset({204, 304})
_DAYS = (b"Mon", b"Tue", b"Wed", b"Thu", b"Fri", b"Sat", b"Sun")
_MONTHS = (b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec")


def _imf_fixdate(now: float) -> bytes:
    """Return Unix seconds as RFC 9110 5.6.7 writes them; email.utils would cost twelve modules, strftime the locale."""
    year, month, day, hour, minute, second, weekday, *_ = time.gmtime(now)
    date = b"%s, %02d %s %d" % (_DAYS[weekday], day, _MONTHS[month - 1], year)
    return b"%s %02d:%02d:%02d GMT" % (date, hour, minute, second)
