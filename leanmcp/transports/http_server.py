"""One HTTP/1.1 connection after another, on the protocol that asyncio streams are made of.

In: octets of accepted sockets. Out: one write per answer. The connection knows requests and responses; what they
mean is the business of the callables it is handed.
RFC 9112, RFC 9110. Choice of asyncio.Protocol over StreamReader: see benchmarks/bench_transport.py.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable
from time import time
from types import CoroutineType
from typing import TYPE_CHECKING, Any, cast

from ..calls import Starter, end_call
from ..limits import Limits
from ..logs import warn_seldom
from ..protocol import http11, sse
from ..protocol.http11 import Head, HTTPError, Request, RequestReader
from ..protocol.jsonrpc import RequestId, Segments
from ..protocol.response import CONTINUE, RETRY_LATER, SSE, Answer, EventStream, HeadEncoder, Response, refusal
from .connection import DRAIN_LINGER, LINGER, Connection, Endpoint, set_no_delay
from .stream_connection import StreamConnection

if TYPE_CHECKING:
    from .http_repeater import Repeater

_JOIN_SIZE = 64 * 1024  # bytes; larger answers are handed over in pieces instead of being copied into one
_HOLD_SIZE = 64 * 1024  # bytes that a client may send ahead while its call runs
_NEVER = float("inf")
_TLS = b"\x16\x03"  # what a connection begins with; RFC 8446 5.1
_CLEANUP = 0.2  # seconds that the `finally` blocks of calls have which the end of the server cancels
_EXPIRE_AT_ONCE = 100  # connections, about 2 ms
_SILENCE = 10  # seconds after which a call without an answer turns into an event stream (policy P6)
_EOF_GRACE = 0.05  # seconds; end of input may be a half-close, so what is almost done is still answered
_NO_STREAM, _STREAM, _LAST_STREAM = range(3)  # what a call has begun; the last one has said `Connection: close`


class HTTPServer:
    """What the connections of one process share.

    Args:
        endpoint: answers the requests.
        limits: of each connection.
        sse_keep_alive: seconds between two comments on an event stream that is silent.
    """

    def __init__(self, endpoint: Endpoint, limits: Limits, sse_keep_alive: float = 15.0) -> None:
        self.endpoint = endpoint
        self.respond = endpoint.respond
        self.sse_keep_alive = sse_keep_alive
        self.limits = limits
        self.keep_alive_timeout = limits.keep_alive_timeout
        self.max_in_flight = limits.max_in_flight
        self.loop = asyncio.get_running_loop()
        self.connections: set[Connection] = set()
        self.heads = HeadEncoder()
        self.known_heads: dict[bytes, Head] = {}
        # asyncio does so only on sockets that it made itself; uvloop, whose loop is not asyncio's, on all of them.
        self.sets_no_delay = isinstance(self.loop, asyncio.BaseEventLoop)
        self.starter = Starter(self.loop)
        self.in_flight = 0
        self.draining = False
        self.now = 0
        """Seconds since start, advanced by the sweeper; read instead of a clock on each event."""
        self._sweeper: asyncio.TimerHandle | None = None
        self._idle = asyncio.Event()

    def connection(self) -> HTTPConnection:
        """Make the protocol of one accepted socket."""
        return HTTPConnection(self)

    def opened(self, connection: Connection) -> None:
        """Note a connection; the sweeper runs while there is one."""
        self.connections.add(connection)
        if self._sweeper is None:
            self._sweeper = self.loop.call_later(1, self._sweep)

    def closed(self, connection: Connection) -> None:
        """Forget a connection."""
        self.connections.discard(connection)
        if not self.connections:
            self._idle.set()

    async def drain(self, timeout: float) -> None:
        """Let running calls end, at most `timeout` seconds; idle connections end at once, the rest when it is over."""
        self.draining = True
        for _ in range(2):
            await asyncio.sleep(0)  # what is in the sockets already is read before a connection counts as idle
        self._idle.clear()
        for connection in list(self.connections):
            connection.drain()
        if self.connections:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(timeout):
                    await self._idle.wait()
        for connection in list(self.connections):
            connection.abort()
        if calls := [connection.task for connection in self.connections if connection.task is not None]:
            await asyncio.wait(calls, timeout=_CLEANUP)
        self.starter.close()
        if self._sweeper is not None:
            self._sweeper.cancel()

    def _sweep(self) -> None:
        """End connections that are over a deadline, once a second."""
        self.now += 1
        self._expire([connection for connection in self.connections if self.now > connection.deadline])
        self._sweeper = self.loop.call_later(1, self._sweep) if self.connections else None

    def _expire(self, late: list[Connection]) -> None:
        """End connections, a few in each turn of the loop: thousands that stall together must hold nobody up."""
        for connection in late[-_EXPIRE_AT_ONCE:]:
            if self.now > connection.deadline and connection in self.connections:
                connection.expire()
        del late[-_EXPIRE_AT_ONCE:]
        if late:
            self.loop.call_soon(self._expire, late)


class HTTPConnection(Connection):
    """One client connection: requests are answered one after the other, in order."""

    __slots__ = ("_head", "_phase", "_reader", "_repeater", "_streaming")

    def __init__(self, server: HTTPServer) -> None:
        super().__init__(server)
        self._reader = RequestReader(server.limits, server.known_heads)
        self._head: Head | None = None  # of the running call
        self._repeater: Repeater | None = None
        self._streaming = _NO_STREAM
        self._phase = http11.IDLE

    # --- events -----------------------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        if self._server.sets_no_delay:
            set_no_delay(transport)
        self._server.opened(self)
        if len(self._server.connections) > self._server.limits.max_connections:
            self._refuse(503, "too many connections (Limits.max_connections)")

    def data_received(self, data: bytes) -> None:
        if self._ending:
            return
        if self.task is not None or self.stalled:
            return self.hold(data)
        reader = self._reader
        if self._repeater is not None and reader.phase == http11.IDLE and self._repeater.take(data, self):
            return None
        try:
            request = reader.feed(data)
            while request is not None:
                self._serve(request)
                if reader.phase == http11.IDLE or self.task is not None or self.stalled or self._ending:
                    return
                request = reader.next_request()
        except HTTPError as error:
            if data.startswith(_TLS):
                warn_seldom("a client speaks TLS, and this port is plain HTTP: use http://, or serve with ssl=")
            return self._refuse(error.status, error.message, error.headers, error.to_head)
        if reader.phase != http11.IDLE:
            self._wait_for_more()

    def hold(self, data: bytes) -> None:
        """Keep what comes ahead of its turn; read no more when that is much."""
        self._reader.hold(data)
        if self._reader.buffered > _HOLD_SIZE:
            self._transport.pause_reading()

    def eof_received(self) -> bool:
        """End of input: what is answered is flushed, what runs on is cancelled, half a request never runs."""
        self._eof = True
        if self.task is not None and self._transport.can_write_eof():  # TLS has no half-close
            # A client that has left cannot be told from one that only listens.
            self._server.loop.call_later(_EOF_GRACE, self._give_up, self.task)
            return True
        # Else the transport closes itself, unless requests wait behind an answer that the client has not read yet.
        return self.stalled and not self._ending and self._reader.buffered > 0 and self._transport.can_write_eof()

    def _give_up(self, task: asyncio.Task[None]) -> None:
        if self.task is task:
            self.abort()

    def connection_lost(self, error: Exception | None) -> None:
        self._ending = True
        self._server.closed(self)
        if self.task is not None:
            # basic/transports/streamable-http, "Cancellation": a disconnect is the signal. Not at once: a task that
            # has not begun would end without running `go_on`, and keep its place in `in_flight`.
            self._server.loop.call_soon(end_call, self.task, self._server.limits.cleanup_grace)

    def resume_writing(self) -> None:
        self.stalled = False
        if self._ending:
            self.deadline = self._server.now + LINGER
        elif self.task is not None:
            self.deadline = self._server.now + self._server.sse_keep_alive
        else:
            self.deadline = self._server.now + self._server.keep_alive_timeout
            self._next()

    # --- requests ---------------------------------------------------------------------------------------------------

    def _serve(self, request: Request) -> None:
        server = self._server
        if server.in_flight >= server.max_in_flight:
            fields = RETRY_LATER + server.endpoint.fields(request.head.headers)
            response = refusal(503, "too many calls in flight (Limits.max_in_flight)", fields)
            return self._write(response, request.head)
        outcome: Any = server.respond(request, self)
        if type(outcome) is CoroutineType:
            self._head = request.head
            try:
                outcome = server.starter.start(outcome, self, request)
            except asyncio.CancelledError:
                return self._transport.abort()  # the tool cancelled its own call: no answer is due
            except Exception as error:
                outcome = server.endpoint.failure(error, request)
            if isinstance(outcome, asyncio.Task):
                self.task = outcome
                self.deadline = server.now + (server.sse_keep_alive if self._streaming else _SILENCE)
                server.in_flight += 1
                return None
            self._head = None
        if outcome is not None and not self._ending:
            self._answer(outcome, request.head)
        return None

    async def go_on(self, rest: Awaitable[Answer], request: Request) -> None:
        """Wait for an answer that was not there in the first step, and write it."""
        outcome: Answer
        try:
            outcome = await rest
        except asyncio.CancelledError:
            self._transport.abort()  # the client has left already, unless the tool cancelled its own call
            raise
        except Exception as error:
            outcome = self._server.endpoint.failure(error, request)
        finally:
            at_once = self.task is None  # `asyncio.eager_task_factory` has run it before `_serve` got the task
            if not at_once:
                self.task = None
                self._server.in_flight -= 1
            self._head = None
        if not self._ending:
            self._answer(outcome, request.head)
            if at_once:
                return  # `data_received` goes on
            if (self._eof or self._reader.phase != http11.IDLE) and not (self.stalled or self._ending):
                self._next()

    def _hand_over(self, answer: EventStream, head: Head) -> None:
        """Leave the rest of the connection to a stream."""
        server, chunked = self._server, head.minor_version == 1
        self._ending = True
        stream = StreamConnection(server, self._transport, answer.source, chunked)
        self.hand_to(stream)
        self._transport.resume_reading()  # too much was sent ahead, perhaps
        # What took long to be let through has begun as an event stream already.
        begun = self._streaming
        stream.begin(b"" if begun else server.heads.encode_stream(answer.fields, chunked, close=True))
        if self._eof:
            stream.leave()

    def _next(self) -> None:
        """Go on with what arrived while a call ran or an answer was stuck."""
        self._transport.resume_reading()
        self.data_received(b"")
        if self._eof and not (self.stalled or self._ending or self.eof_received()):
            self._transport.close()  # behind what is not written yet

    def _wait_for_more(self) -> None:
        """Half a request is here: refuse it early where its head allows, tell the client to go on where it asks."""
        reader, limits = self._reader, self._server.limits
        # The clock of a phase starts once: octets that trickle in buy no time.
        if self._phase != reader.phase:
            self._phase = reader.phase
            timeout = limits.head_timeout if reader.head is None else limits.body_timeout
            self.deadline = self._server.now + timeout
        head = reader.head
        if head is None:
            return
        refused = self._server.endpoint.admit(head)
        if refused is not None:
            # The body is on its way and must not be taken for a request: this connection ends.
            self._write(refused, head, close=True)
        elif reader.wants_continue:
            reader.wants_continue = False
            self._transport.write(CONTINUE)

    # --- answers ----------------------------------------------------------------------------------------------------

    def _answer(self, outcome: Answer, head: Head) -> None:
        """Write an answer; nearly every one is a small result."""
        if not isinstance(outcome, list):
            if isinstance(outcome, EventStream):
                return self._hand_over(outcome, head)
            return self._write_late(outcome, head)
        server = self._server
        size = len(outcome[0]) if len(outcome) == 1 else sum(map(len, outcome))
        if size > _JOIN_SIZE or self._streaming or not head.keep_alive or server.draining:
            return self._write_late(Response(200, outcome), head)
        self._phase = http11.IDLE
        self.deadline = server.now + server.keep_alive_timeout
        heads = server.heads
        if time() >= heads.expires:
            heads.renew()
        self._transport.write(b"".join((heads.start, b"%d\r\n\r\n" % size, *outcome)))
        return None

    def _write_late(self, response: Response, head: Head) -> None:
        """Write an answer; behind notifications it is the last event, whose status no longer shows (policy P10)."""
        if not self._streaming:
            return self._write(response, head)
        event = response.body if response.content_type is SSE else sse.event(response.body)
        close, self._streaming = self._streaming == _LAST_STREAM, _NO_STREAM
        return self._send([*sse.chunk(event), sse.LAST_CHUNK] if head.minor_version == 1 else event, close)

    def _write(self, response: Response, head: Head, close: bool = False) -> None:
        server = self._server
        body = response.body
        length = sum(map(len, body))
        close = close or not head.keep_alive or server.draining
        start = server.heads.encode(response, length, close)
        if response.again is not None and head.content_length is not None and not close:
            if self._repeater is None:
                from .http_repeater import Repeater  # few clients ask again for what they have

                self._repeater = Repeater(server, self._transport)
            self._repeater.expect(head, response.again)
        self._send([start] if head.method == "HEAD" else [start, *body], close)

    def _send(self, segments: Segments, close: bool) -> None:
        """Send the last segments of an answer; `close` tells whether it has said that the connection ends behind it."""
        server = self._server
        self._phase = http11.IDLE
        self.deadline = server.now + server.keep_alive_timeout
        if sum(map(len, segments)) <= _JOIN_SIZE:
            self._transport.write(b"".join(segments))
        elif all(type(segment) is bytes for segment in segments):
            self._transport.writelines(segments)
        else:
            return self._send_lazily(segments, close)
        if close or server.draining:
            self._end_answer(close)
        return None

    def _end_answer(self, close: bool) -> None:
        """End the connection behind an answer that has said so; soon, behind one that began before the server ended."""
        if close:
            self._finish()
        elif self._server.draining:
            # What the client has sent meanwhile is answered, and that answer says it.
            self._server.loop.call_later(DRAIN_LINGER, self.drain)

    def _send_lazily(self, segments: Segments, close: bool) -> None:
        """Send an answer of which segments are lazy; until that has happened, the connection is another's."""
        from .body_sender import BodySender  # few answers are that large

        self._ending = True
        BodySender(self._server, self, self._transport).begin(segments, close)

    def take_back(self, eof: bool, close: bool) -> None:
        """Go on with the connection behind such an answer."""
        self._ending, self._eof = False, self._eof or eof
        server = self._server
        self.deadline = server.now + (server.limits.write_timeout if self.stalled else server.keep_alive_timeout)
        self._end_answer(close)
        if not (self._ending or self.stalled):
            self._next()

    # --- event streams ----------------------------------------------------------------------------------------------

    def notify(self, message: Segments, request_id: RequestId) -> None:
        """Send a notification of the running call; it turns the answer into an event stream.

        What a client does not read in time is dropped: a notification is only worth something while it is news.
        """
        if not (self._ending or self.stalled):
            self._write_stream(sse.event(message))

    def _write_stream(self, data: Segments) -> None:
        head, server = self._head, self._server
        if head is None:
            return
        chunked, start = head.minor_version == 1, b""
        if not self._streaming:
            close = server.draining or not head.keep_alive
            self._streaming = _LAST_STREAM if close else _STREAM
            start = server.heads.encode_stream(server.endpoint.stream_fields(head) or b"", chunked, close)
        self.deadline = server.now + server.sse_keep_alive
        self._transport.write(start + b"".join(sse.chunk(data) if chunked else data))

    def _keep_alive(self) -> None:
        """Show that a call which has been silent for long is alive, where its client takes event streams."""
        head, endpoint = self._head, self._server.endpoint
        if self._streaming or (head is not None and endpoint.stream_fields(head) is not None):
            self._write_stream([sse.KEEP_ALIVE])
        else:
            self.deadline = _NEVER

    # --- the end ----------------------------------------------------------------------------------------------------

    def _refuse(self, status: int, text: str, headers: dict[str, str] | None = None, bodyless: bool = False) -> None:
        """Answer octets that are no request, and end; `headers` are those that have been read."""
        fields = RETRY_LATER if status == 503 else b""
        if headers is not None:
            fields += self._server.endpoint.fields(headers)
        response = refusal(status, text, fields)
        start = self._server.heads.encode(response, len(response.body[0]), close=True)
        self._send([start] if bodyless else [start, *response.body], close=True)

    def expire(self) -> None:
        """End a connection that is over its deadline: with 408 where a request has begun, else silently."""
        if self._is_still_reading():
            return
        if self.task is not None and not (self._ending or self.stalled):
            self._keep_alive()
        elif self._ending or self.stalled or self._phase == http11.IDLE:
            self.abort()
        else:
            headers = None if self._reader.head is None else self._reader.head.headers
            self._refuse(408, "the request did not arrive in time (Limits.head_timeout, Limits.body_timeout)", headers)

    def drain(self, before: float = _NEVER) -> None:
        """End the connection if no request is under way; the answer of one that is says `Connection: close`."""
        loop = self._server.loop
        if self._ending:
            loop.call_later(DRAIN_LINGER, self._hang_up)
        elif self.task is None and self._reader.phase == http11.IDLE:
            unread = self._unread()
            if 0 < unread < before:
                loop.call_later(DRAIN_LINGER, self.drain, unread)  # who reads an answer may have asked for the next
            else:
                self._finish() if unread else self._close()
