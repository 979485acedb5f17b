"""The one strict HTTP/1.1 request reader of the server.

In: octets as they arrive. Out: whole requests, or HTTPError raised. RFC 9112, RFC 9110.

Where RFC 9112 lets a recipient be lenient, this one refuses: a second reader in front of it (a proxy) may have been
lenient in another way, and the difference hides requests.
"""

from __future__ import annotations

from msgspec import Struct

from ..limits import DEFAULT_LIMITS, Limits
from .http11_body import ChunkedBody, SizedBody
from .http11_grammar import HTTPError
from .http11_head import FieldScanner, Head

__all__ = ["BODY", "HEAD", "IDLE", "HTTPError", "Head", "Request", "RequestReader"]

IDLE, HEAD, BODY = range(3)

_HEAD_END = b"\r\n\r\n"
_MAX_KNOWN_HEAD = 4096  # bytes; what an idle reader keeps of its last request
_MAX_KNOWN_HEADS = 64  # of all readers that share them


class Request(Struct):
    """A whole request: its head, and its body without transfer coding."""

    head: Head
    body: bytes


class RequestReader:
    """Cuts the octets of one connection into requests.

    After an HTTPError the reader is dead: it holds nothing, `hold` ignores its data, and `feed` and `next_request`
    raise the same error again.

    Args:
        limits: of the requests.
        heads: heads that were read before, by their octets; shared by the connections of a server, because the clients
            of one kind send the same head on each new connection.

    Attributes:
        head: the head whose body is incomplete, or None.
        phase: IDLE when nothing is buffered; HEAD when octets are, be it part of a head or requests not asked for
            yet; BODY when a body is incomplete.
        wants_continue: whether the client waits for 100 (Continue): it asked, and no octet of its body has arrived.
    """

    __slots__ = (
        "_body",
        "_data",
        "_failure",
        "_heads",
        "_known",
        "_known_head",
        "_known_size",
        "_limits",
        "_position",
        "_scanner",
        "head",
        "phase",
        "wants_continue",
    )

    _known: Head  # set together with `_known_head`

    def __init__(self, limits: Limits = DEFAULT_LIMITS, heads: dict[bytes, Head] | None = None) -> None:
        self._limits = limits
        self._heads = {} if heads is None else heads
        self._data: bytes | bytearray = b""  # nothing before `_position` matters any more
        self._position = 0
        self._scanner: FieldScanner | None = None  # of an incomplete head
        self._body: SizedBody | ChunkedBody | None = None
        self._failure: tuple[int, str] | None = None
        # A client sends the same head again and again. When it is the same to the octet, comparing replaces parsing.
        self._known_head = b""
        self._known_size = -1  # octets of a whole request with that head, -1 when only its chunks would tell
        self.head: Head | None = None
        self.phase = IDLE
        self.wants_continue = False

    @property
    def buffered(self) -> int:
        """Octets that belong to no complete request, or to requests not asked for yet."""
        return len(self._data) - self._position + (0 if self._body is None else self._body.size)

    def feed(self, data: bytes) -> Request | None:
        """Take octets and return the next whole request, or None.

        Raises:
            HTTPError: answer it after the requests returned before, close, run nothing further.
        """
        if len(data) == self._known_size and self.phase == IDLE and data.startswith(self._known_head):
            return Request(self._known, data[len(self._known_head) :])
        if self.phase == IDLE:
            self._data = data
        else:
            self.hold(data)
        return self.next_request()

    def hold(self, data: bytes) -> None:
        """Keep octets that arrived while a request is being answered; `next_request` reads them."""
        if not data or self._failure is not None:
            return
        if not self._data:
            self._data = data
        else:
            if isinstance(self._data, bytearray):
                del self._data[: self._position]
            else:
                self._data = bytearray(memoryview(self._data)[self._position :])
            self._data += data
            self._position = 0
        if self.phase == IDLE:
            self.phase = HEAD

    def next_request(self) -> Request | None:
        """Return the next whole request of what is buffered, or None; raises as `feed` does."""
        if self._failure is not None:
            raise HTTPError(*self._failure)
        data = self._data
        if not data:
            return None
        try:
            if self._body is not None and self.head is not None:
                return self._read_body(self.head, self._body)

            # 1. Find the head. RFC 9112 2.2: one CRLF before a request line is skipped.
            self.phase = HEAD
            start = self._position
            if data.startswith(b"\r\n", start):
                start += 2
            if self._scanner is None:
                end = data.find(_HEAD_END, start) + 4
                if end < 4:
                    self._scan_head(start)
                    return None
            else:
                end = self._scanner.scan(data, start)
                if end < 0:
                    return None
                self._scanner = None

            # 2. Read it.
            raw = bytes(data[start:end])
            if raw == self._known_head:
                head = self._known
            else:
                known = self._heads.get(raw)
                head = known or Head(raw, self._limits)
                if len(raw) <= _MAX_KNOWN_HEAD:
                    if known is None:
                        if len(self._heads) >= _MAX_KNOWN_HEADS:
                            self._heads.clear()
                        self._heads[raw] = head
                    self._known = head
                    self._known_head = raw
                    self._known_size = -1 if head.chunked else len(raw) + (head.content_length or 0)

            # 3. Cut the body, if all of it is there.
            self._position = end
            if head.chunked:
                return self._begin_body(head, ChunkedBody(self._limits))
            body_end = end + (head.content_length or 0)
            if body_end > len(data):
                return self._begin_body(head, SizedBody(body_end - end))
            request = Request(head, bytes(data[end:body_end]))
            if body_end == len(data):
                self._data = b""
                self._position = 0
                self.phase = IDLE
            else:
                self._position = body_end
            return request
        except HTTPError as error:
            self._fail(error)
            raise

    def _scan_head(self, start: int) -> None:
        """Check the lines of an incomplete head that have arrived."""
        if self._data.startswith(b"\r", self._position) and len(self._data) == self._position + 1:
            return  # perhaps the CRLF that is skipped
        start -= self._position
        self._drop_read()
        self._scanner = FieldScanner(self._limits, request_line=True)
        self._scanner.scan(self._data, start)

    def _begin_body(self, head: Head, body: SizedBody | ChunkedBody) -> Request | None:
        self.phase = BODY
        self.head = head
        self._body = body
        self.wants_continue = head.expects_continue
        if self._position == len(self._data):
            self._drop_read()
            return None
        return self._read_body(head, body)

    def _read_body(self, head: Head, body: SizedBody | ChunkedBody) -> Request | None:
        self.wants_continue = False
        self._position = body.take(self._data, self._position)
        if not body.complete:
            self._drop_read()
            return None
        self.head = None
        self._body = None
        if self._position == len(self._data):
            self._drop_read()
            self.phase = IDLE
        else:
            self.phase = HEAD  # the rest stays where it is: copying it once per pipelined request would be quadratic
        return Request(head, body.join())

    def _drop_read(self) -> None:
        """Let go of the octets before `_position`."""
        self._data = self._data[self._position :] if self._position < len(self._data) else b""
        self._position = 0

    def _fail(self, error: HTTPError) -> None:
        if self.head is None:
            start = self._position + 2 * self._data.startswith(b"\r\n", self._position)
            error.to_head = self._data.startswith(b"HEAD ", start)
        else:
            error.to_head = self.head.method == "HEAD"
            error.headers = self.head.headers
        # The error itself would hold its traceback, and through it this reader: a cycle.
        self._failure = (error.status, error.message)
        self._data = b""
        self._position = 0
        self._scanner = None
        self._body = None
        self.head = None
        self.wants_continue = False
