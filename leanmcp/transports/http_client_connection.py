"""One connection to an HTTP server, one exchange after another.

In: requests as octets. Out: heads and the pieces of bodies. RFC 9112.
h11 reads the answers, but for the plain ones that `http11_answer` takes. Requests are written by our own hand,
because most of each is the same: h11 would take 23 of its 55 microseconds a call to write what it then checks. It is
told of a request with the same method and no body, which is all that reading the answer depends on.
"""

from __future__ import annotations

import asyncio
import select
import ssl
import sys
from contextlib import suppress

import h11
from msgspec import Struct

from ..errors import AnswerTooLarge, ConnectionLost, NotAnMCPServer, TransportError
from ..limits import HTTPClientLimits
from ..protocol.http11_answer import read_plain
from .http_client_url import Origin

_READ_SIZE = 64 * 1024
_MAX_INTERIM = 20  # 1xx heads before the real one
_BEFORE, _IN_BODY = "before it had answered", "in the middle of its answer"
_NOBODY_LOOKED = 1.0  # seconds; for so long the loop of a notebook may have stood still without our noticing
_ENDED = getattr(select, "POLLRDHUP", 0)  # Linux tells the end from octets; errors are told of in any case
_UNSENT = 0x5411  # ioctl TIOCOUTQ of Linux: octets that the other side has not acknowledged
_TURN = 256  # events of h11, which takes 30 microseconds for a chunk of one octet; then others have their turn
_END = h11.EndOfMessage()
_REQUESTS = {
    method: h11.Request(method=method, target="/", headers=[("Host", "-"), ("Content-Length", "0")])
    for method in ("POST", "GET", "DELETE")
}
_TLS = (b"\x15\x03", b"\x16\x03")  # the first octets of a TLS record: alert, handshake


class Head(Struct):
    """Status and fields of an answer.

    Args:
        status: HTTP status.
        fields: lower-cased names; of a repeated field the last value.
        pairs: every field, as it came.
    """

    status: int
    fields: dict[bytes, bytes]
    pairs: list[tuple[bytes, bytes]]

    def text(self) -> dict[str, str]:
        """Return the fields as text, repeated ones joined by commas (RFC 9110 5.3)."""
        joined: dict[str, str] = {}
        for raw, octets in self.pairs:
            name, value = raw.decode("latin-1").lower(), octets.decode("latin-1")
            joined[name] = f"{joined[name]}, {value}" if name in joined else value
        return joined


class HTTPAnswer(Struct):
    """A whole answer.

    Args:
        status: HTTP status.
        headers: names in lower case, repeated ones joined by commas.
        body: as it came.
    """

    status: int
    headers: dict[str, str]
    body: bytes


def too_large(where: str, limit: int) -> AnswerTooLarge:
    """Return the error of an answer over `limit` bytes."""
    return AnswerTooLarge(
        f"{where} sent more than {limit} bytes as one answer; raise HTTPClientLimits.max_answer_size, or ask for less",
        where,
    )


class Connection:
    """One connection; who holds it is the only one to use it.

    Args:
        reader, writer: asyncio streams, connected.
        origin: the peer.
        where: the server, for error texts.
        limits: of one answer.

    Attributes:
        kept: whether it has been idle before.
        received: whether an octet of the answer to the latest request has come.
        idle_since: loop time of the end of the latest exchange.
        keep: seconds that it may idle.
        cut: why our own side closed it.
    """

    __slots__ = (
        "_h11",
        "_left",
        "_loop",
        "_poll",
        "_reader",
        "_spoiled",
        "_start",
        "_turn",
        "_writer",
        "cut",
        "idle_since",
        "keep",
        "kept",
        "limits",
        "origin",
        "received",
        "where",
    )

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        origin: Origin,
        where: str,
        limits: HTTPClientLimits,
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._loop = asyncio.get_running_loop()
        self._h11 = h11.Connection(h11.CLIENT, max_incomplete_event_size=limits.max_head_size)
        self._spoiled = False
        self._start = b""
        self._left = 0
        self._turn = 0
        self._poll: select.poll | None = None
        self.origin = origin
        self.where = where
        self.limits = limits
        self.kept = False
        self.received = False
        self.idle_since = self._loop.time()
        self.keep = limits.idle_timeout
        self.cut = ""

    # --- one exchange -------------------------------------------------------------------------------------------------

    async def exchange(self, method: str, request: bytes, body: bytes = b"") -> Head:
        """Send a request and return the head of its answer.

        Raises:
            ConnectionLost: the server closed the connection.
            NotAnMCPServer: what came is no HTTP.
            AnswerTooLarge: an endless head.
        """
        self.received = False
        self._spoiled = True
        if self._writer.is_closing():  # uvloop refuses to write then, with a RuntimeError
            raise ConnectionLost(self.cut or f"{self.where} closed the connection {_BEFORE}", self.where)
        self._writer.write(request)
        if body:
            self._writer.write(body)
        data = await self._read(_BEFORE)
        self._spoiled = False
        if (plain := read_plain(data)) is not None:
            self._start, self._left = plain.body, plain.left
            if b"keep-alive" in plain.fields:
                self._heed(plain.fields[b"keep-alive"])
            return Head(200, plain.fields, plain.pairs)
        return await self._read_head(method, data)

    async def _read_head(self, method: str, data: bytes) -> Head:
        """Have h11 read the answer that begins with `data`; it must know what it answers."""
        if data[:5] != b"HTTP/"[: len(data)]:  # h11 would wait for the end of a head that a mail server never sends
            kind = "speaks TLS on this port; use https://" if data.startswith(_TLS) else "does not answer in HTTP"
            raise NotAnMCPServer(f"{self.where} {kind}", self.where)
        self._h11.send(_REQUESTS[method])
        self._h11.send(_END)
        self._h11.receive_data(data)
        for _ in range(_MAX_INTERIM):
            event = await self._event(_BEFORE)
            if type(event) is h11.Response:
                pairs = event.headers.raw_items()
                fields = {name.lower(): value for name, value in pairs}
                if b"keep-alive" in fields:
                    self._heed(fields[b"keep-alive"])
                return Head(event.status_code, fields, pairs)
        raise NotAnMCPServer(f"{self.where} sends one interim answer after another and no real one", self.where)

    async def piece(self) -> bytes:
        """Return the next piece of the body, empty at its end.

        Raises:
            ConnectionLost: the body was cut off.
        """
        if self._h11.our_state is h11.IDLE:
            return await self._plain_piece()
        event = await self._event(_IN_BODY)
        return bytes(event.data) if type(event) is h11.Data else b""

    async def _plain_piece(self) -> bytes:
        """Return the next octets of a body of known length, of which h11 knows nothing."""
        start, self._start = self._start, b""
        if start or not self._left:
            return start
        data = await self._read(_IN_BODY)
        if not data:
            raise ConnectionLost(f"{self.where} closed the connection {_IN_BODY}", self.where)
        if len(data) > self._left:
            data, self._spoiled = data[: self._left], True
        self._left -= len(data)
        return data

    async def rest_of_body(self, limit: int, head: Head | None = None) -> bytes:
        """Return the rest of the body.

        Args:
            limit: most bytes of it.
            head: so that a length over the limit is refused before the body comes.

        Raises:
            ConnectionLost: the body was cut off.
            AnswerTooLarge: over the limit.
        """
        if head is not None and int(head.fields.get(b"content-length", b"0")) > limit:
            raise too_large(self.where, limit)
        if self._h11.our_state is h11.IDLE and not self._left:
            return self._start
        body: bytes | bytearray = b""
        while piece := await self.piece():
            if not body:
                body = piece
            else:  # not a list: a million small pieces would take many times their size
                body = bytearray(body) if isinstance(body, bytes) else body
                body += piece
            if len(body) > limit:
                raise too_large(self.where, limit)
        return bytes(body)

    async def start_of_body(self, limit: int, seconds: float) -> bytes:
        """Return at most about `limit` bytes of the body; one that breaks off or dawdles ends there."""
        body = bytearray()
        with suppress(TimeoutError, TransportError):
            async with asyncio.timeout(seconds):
                while len(body) < limit and (piece := await self.piece()):
                    body += piece
        return bytes(body)

    async def _event(self, when: str) -> h11.Event:
        self._turn = (self._turn + 1) % _TURN
        if not self._turn:
            await asyncio.sleep(0)
        while True:
            try:
                event = self._h11.next_event()
            except h11.RemoteProtocolError as fault:
                raise self._garbled(fault, when) from None
            if event is h11.NEED_DATA:
                self._h11.receive_data(await self._read(when))
            elif isinstance(event, h11.Event) and type(event) is not h11.ConnectionClosed:
                return event
            else:
                raise ConnectionLost(f"{self.where} closed the connection {when}", self.where)

    async def _read(self, when: str) -> bytes:
        try:
            data = await self._reader.read(_READ_SIZE)
        except (OSError, ssl.SSLError) as fault:
            raise ConnectionLost(
                self.cut or f"{self.where} broke the connection {when} ({fault})", self.where
            ) from None
        if self.cut:
            raise ConnectionLost(self.cut, self.where)
        self.received = self.received or bool(data)
        return data

    def _garbled(self, fault: h11.RemoteProtocolError, when: str) -> ConnectionLost | NotAnMCPServer | AnswerTooLarge:
        if self._reader.at_eof():
            return ConnectionLost(f"{self.where} closed the connection {when}", self.where)
        if when is _IN_BODY:
            return ConnectionLost(f"{self.where} sent an answer whose framing breaks off: {fault}", self.where)
        if fault.error_status_hint == 431:
            size = self.limits.max_head_size
            return AnswerTooLarge(f"{self.where} sent a head of more than {size} bytes (max_head_size)", self.where)
        return NotAnMCPServer(f"{self.where} does not answer in HTTP: {fault}", self.where)

    def _heed(self, value: bytes) -> None:
        """Stay below the idle time that some servers announce, so that no request meets their close."""
        for parameter in value.split(b","):
            name, _, seconds = parameter.strip().partition(b"=")
            if name.lower() == b"timeout" and seconds.isdigit() and len(seconds) < 6:
                self.keep = min(self.limits.idle_timeout, max(0, int(seconds) - 1))

    # --- between exchanges --------------------------------------------------------------------------------------------

    def next_exchange(self) -> bool:
        """Get ready for another exchange; return False where the connection cannot have one."""
        parser = self._h11
        if parser.their_state is h11.DONE and parser.our_state is h11.DONE and not parser.trailing_data[0]:
            parser.start_next_cycle()
        elif parser.our_state is not h11.IDLE or self._spoiled or self._left:
            return False
        self._start = b""
        self.kept = True
        self.idle_since = self._loop.time()
        return True

    def is_fresh(self) -> bool:
        """Return whether the server still holds this idle connection open, as far as can be told without asking it.

        An octet or an end that came while nobody had asked for anything makes it worthless: it would be taken for the
        answer to the next request. The loop may not have seen it yet, so the socket is asked too.
        """
        idle = self._loop.time() - self.idle_since
        if idle > self.keep or self._writer.is_closing() or _has_something(self._reader):
            return False
        if self._poll is None:
            self._poll = select.poll()
            self._poll.register(self._socket_number(), select.POLLIN | _ENDED)
        events = self._poll.poll(0)
        # TLS has octets of its own, such as tickets, which the loop takes in its next turns.
        return not events or (self._is_encrypted() and idle < _NOBODY_LOOKED and events[0][1] == select.POLLIN)

    def has_missed(self, lost: ConnectionLost) -> bool:
        """Return whether the server is certain not to have had the whole of the latest request.

        Args:
            lost: how its exchange ended, before an octet of an answer.

        True where a part has never left; where the server had closed before that left, which the system told when it
        was written; and where the server's end, which acknowledges all that it has had, leaves octets unacknowledged.
        A reset acknowledges nothing: the request may have been read. Encrypted, more than the request is on its way.
        """
        if self._is_encrypted():
            return False
        fault, writer = lost.__context__, self._writer
        if isinstance(fault, OSError):  # on a Unix socket, a reset tells of octets that were not read
            on_linux_socket = bool(self.origin.socket) and sys.platform == "linux"
            return isinstance(fault, BrokenPipeError) or (on_linux_socket and isinstance(fault, ConnectionResetError))
        # At the end of what it reads a transport stays open; what closes it then is a write that fails.
        if writer.transport.get_write_buffer_size() or writer.is_closing():
            return True
        if self.origin.socket or sys.platform != "linux":
            return False
        from fcntl import ioctl  # of lost connections only

        return ioctl(self._socket_number(), _UNSENT, bytes(4)) != bytes(4)

    def _socket_number(self) -> int:
        number: int = self._writer.get_extra_info("socket").fileno()
        return number

    def _is_encrypted(self) -> bool:
        return self._writer.get_extra_info("sslcontext") is not None

    def abort(self, reason: str = "") -> None:
        """Close at once; a server takes that for the cancellation of what it is asked."""
        if reason:
            self.cut = reason
        self._writer.transport.abort()

    async def addresses(self) -> list[str]:
        """Return the IP addresses that the peer may have: the one of the socket, empty for a Unix socket."""
        peer = self._writer.get_extra_info("peername")
        return [str(peer[0]) if isinstance(peer, tuple) else ""]

    async def wait_closed(self) -> None:
        """Return when the socket is closed."""
        try:
            await self._writer.wait_closed()
        except OSError:
            return  # how it ended matters to nobody any more


def _has_something(reader: asyncio.StreamReader) -> bool:
    """Return whether octets or the end wait in `reader`: its read would return without waiting."""
    step = reader.read(1)
    try:
        step.send(None)
    except StopIteration:
        return True
    except OSError:
        return True  # a reset
    step.close()
    return False
