"""One connection to an HTTP server, one exchange after another.

In: requests as octets. Out: heads and the pieces of bodies. RFC 9112.
`http11_answer` reads the answers. Most of each request is the same, and made once.
"""

from __future__ import annotations

import asyncio
import select
import socket
import ssl
import sys
from contextlib import suppress

from msgspec import Struct

from ..errors import AnswerTooLarge, ConnectionLost, NotAnMCPServer, TransportError
from ..limits import HTTPClientLimits
from ..protocol.http11_answer import AnyHead, ChunkedAnswer, SizedAnswer, head_end, read_head, read_plain
from .http_client_url import Origin

_READ_SIZE = 64 * 1024
_MAX_INTERIM = 20  # 1xx heads before the real one
_BEFORE, _IN_BODY = "before it had answered", "in the middle of its answer"
_NEXT_ADDRESS = 2.0  # seconds; a network whose IPv6 leads nowhere does not say so
_NOBODY_LOOKED = 1.0  # seconds; for so long the loop of a notebook may have stood still without our noticing
_ENDED = getattr(select, "POLLRDHUP", 0)  # Linux tells the end from octets; errors are told of in any case
_UNSENT = 0x5411  # ioctl TIOCOUTQ of Linux: octets that the other side has not acknowledged
_NO_BODY = (204, 304)
_NOTHING = SizedAnswer(0)  # comes any more
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
        "_body",
        "_keeps",
        "_loop",
        "_poll",
        "_reader",
        "_spoiled",
        "_start",
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
        self._body: SizedAnswer | ChunkedAnswer = _NOTHING
        self._start = b""  # of the body, decoded
        self._spoiled = False
        self._keeps = True
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

    async def exchange(self, request: bytes, body: bytes = b"") -> Head:
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
        plain = read_plain(data)
        if plain is None:
            return await self._read_head(data)
        head = Head(200, plain.fields, plain.pairs)
        if len(plain.rest) != plain.length or b"keep-alive" in plain.fields:
            return self._begin(head, plain.rest, True)
        self._body, self._start, self._keeps = _NOTHING, plain.rest, True  # nearly every answer comes in one piece
        return head

    async def _read_head(self, data: bytes) -> Head:
        """Return the head that begins with `data`, and is not plain; interim answers before it are dropped."""
        came = bytearray(data)
        for _ in range(_MAX_INTERIM):
            found = await self._next_head(came)
            if found.status >= 200:
                fields = {name.lower(): value for name, value in found.pairs}
                return self._begin(Head(found.status, fields, found.pairs), bytes(came), found.keeps)
        raise NotAnMCPServer(f"{self.where} sends one interim answer after another and no real one", self.where)

    async def _next_head(self, came: bytearray) -> AnyHead:
        """Take a head off the front of `came`, and more off the connection until it is whole."""
        searched = 0
        while (end := head_end(came, searched)) < 0:
            if not b"HTTP/".startswith(came[:5]):  # a mail server sends no end of a head, and would be waited for
                kind = "speaks TLS on this port; use https://" if came.startswith(_TLS) else "does not answer in HTTP"
                raise NotAnMCPServer(f"{self.where} {kind}", self.where)
            self._check_size(searched := len(came))
            more = await self._read(_BEFORE)
            if not more:
                raise ConnectionLost(f"{self.where} closed the connection {_BEFORE}", self.where)
            came += more
        self._check_size(end)
        try:
            head = read_head(bytes(came[:end]))
        except ValueError as fault:
            raise NotAnMCPServer(f"{self.where} does not answer in HTTP: {fault}", self.where) from None
        del came[:end]
        return head

    def _check_size(self, octets: int) -> None:
        size = self.limits.max_head_size
        if octets > size:
            raise AnswerTooLarge(f"{self.where} sent a head of more than {size} bytes (max_head_size)", self.where)

    def _begin(self, head: Head, rest: bytes, keeps: bool) -> Head:
        """Get ready for the body, which `rest` begins (RFC 9112 6.3)."""
        if b"keep-alive" in head.fields:
            self._heed(head.fields[b"keep-alive"])
        if b"transfer-encoding" in head.fields and head.status not in _NO_BODY:
            self._body = ChunkedAnswer()
        else:
            left = 0 if head.status in _NO_BODY else int(head.fields.get(b"content-length", b"-1"))
            self._body = SizedAnswer(left)
            keeps = keeps and left >= 0
        self._keeps = keeps
        self._start = self._decoded(rest)
        return head

    def _decoded(self, data: bytes) -> bytes:
        """Return what belongs to the body in octets that have come."""
        try:
            return self._body.feed(data)
        except ValueError as fault:
            raise ConnectionLost(f"{self.where} sent an answer whose framing breaks off: {fault}", self.where) from None

    async def piece(self) -> bytes:
        """Return the next piece of the body, empty at its end.

        Raises:
            ConnectionLost: the body was cut off.
        """
        piece, self._start = self._start, b""
        body = self._body
        while not piece and not body.is_complete:
            data = await self._read(_IN_BODY)
            if data:
                piece = self._decoded(data)
            elif isinstance(body, SizedAnswer) and body.left < 0:
                body.is_complete = True
            else:
                raise ConnectionLost(f"{self.where} closed the connection {_IN_BODY}", self.where)
        return piece

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
        if self._body.is_complete and len(self._start) <= limit:
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

    def _heed(self, value: bytes) -> None:
        """Stay below the idle time that some servers announce, so that no request meets their close."""
        for parameter in value.split(b","):
            name, _, seconds = parameter.strip().partition(b"=")
            if name.lower() == b"timeout" and seconds.isdigit() and len(seconds) < 6:
                self.keep = min(self.limits.idle_timeout, max(0, int(seconds) - 1))

    # --- between exchanges --------------------------------------------------------------------------------------------

    def next_exchange(self) -> bool:
        """Get ready for another exchange; return False where the connection cannot have one."""
        if self._spoiled or not self._keeps or not self._body.is_complete or self._body.rest:
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


async def open_socket(origin: Origin) -> socket.socket:
    """Return a socket that is connected to the first address of a host that takes it.

    Raises:
        OSError: none does, or the host has none.
    """
    loop = asyncio.get_running_loop()
    try:  # what is an address already needs no thread to look it up
        found = socket.getaddrinfo(origin.host, origin.port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST)
    except socket.gaierror:
        found = await loop.getaddrinfo(origin.host, origin.port, type=socket.SOCK_STREAM)
    fault = OSError(f"{origin.host} has no address")
    todo = [(entry, _NEXT_ADDRESS) for entry in found[:-1]] + [(entry, None) for entry in found[-1:]]
    for entry, seconds in todo:  # which grows
        family, kind, number, _, address = entry
        try:
            sock = socket.socket(family, kind, number)
        except OSError as error:  # of a family that this machine does not have
            fault = error
            continue
        sock.setblocking(False)
        try:
            async with asyncio.timeout(seconds) as clock:
                await loop.sock_connect(sock, address)
        except OSError as error:
            sock.close()
            fault = error
            if clock.expired():  # it may have been slow, and is asked again where no other one answers
                todo.append((entry, None))
        except BaseException:
            sock.close()
            raise
        else:
            return sock
    raise fault


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
