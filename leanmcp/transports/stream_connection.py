"""A connection whose answer goes on: the stream of one subscription, and nothing else to the connection's end.

In: the messages of a Stream. Out: server-sent events. No task waits for anything here, and no request is read behind
the stream: a client that sends one all the same finds the connection closed before an answer, and may send it again.
Spec 2026-07-28: basic/patterns/subscriptions; basic/transports/streamable-http, "Receiving Messages"; RFC 9112 9.6.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from ..calls import Stream
from ..protocol import sse
from ..protocol.jsonrpc import Segments
from .connection import LINGER, Connection

if TYPE_CHECKING:
    from .http_server import HTTPServer

_BUFFER = 4096  # bytes that a client may be behind before its notifications are merged, besides the kernel's
_KEEP_ALIVE = b"".join(sse.chunk([sse.KEEP_ALIVE]))


class StreamConnection(Connection):
    """Carries one stream.

    Args:
        server: that it belongs to.
        transport: of a connection with a request that is answered by the stream.
        source: gives the messages.
        chunked: HTTP/1.1; else the end of the connection ends the stream.
    """

    __slots__ = ("_chunked", "_source")

    def __init__(self, server: HTTPServer, transport: asyncio.Transport, source: Stream, chunked: bool) -> None:
        super().__init__(server)
        self._transport = transport
        self._source = source
        self._chunked = chunked

    def begin(self, head: bytes) -> None:
        """Write the head and the first message, as one; a server that drains ends the stream with them."""
        self._transport.set_write_buffer_limits(high=_BUFFER)
        self._write(head, [self._source.open(self)])
        if self._server.draining:
            self.drain()

    def send(self, messages: list[Segments]) -> None:
        """Send messages, as one write."""
        self._write(b"", messages)

    def _write(self, start: bytes, messages: list[Segments]) -> None:
        pieces = [start]
        for message in messages:
            pieces += sse.chunk(sse.event(message)) if self._chunked else sse.event(message)
        self.deadline = self._server.now + self._server.sse_keep_alive
        self._transport.write(b"".join(pieces))

    # --- events -------------------------------------------------------------------------------------------------------

    def data_received(self, data: bytes) -> None:
        """Drop what comes behind the request, so that the end of input is noticed."""

    def eof_received(self) -> bool:
        """End of input: the client has left, or will read no further than here."""
        self._leave()
        return False  # the transport closes itself

    def leave(self) -> None:
        """End without a word: the client had ended its input before."""
        self._leave()
        self._close()

    def _leave(self) -> None:
        self._eof = self._ending = True
        self._source.close()
        if not self.stalled:
            self.deadline = self._server.now + LINGER

    def connection_lost(self, error: Exception | None) -> None:
        self._ending = True
        self._source.close()
        self._server.closed(self)

    def resume_writing(self) -> None:
        self.stalled = False
        self.deadline = self._server.now + (LINGER if self._ending else self._server.sse_keep_alive)
        self._source.resume()

    # --- the end ------------------------------------------------------------------------------------------------------

    def expire(self) -> None:
        """Show a client that nothing has changed for long; end one that has read nothing for too long."""
        if self._is_still_reading():
            return
        if self._ending or self.stalled:
            self.abort()
        else:
            self.deadline = self._server.now + self._server.sse_keep_alive
            self._transport.write(_KEEP_ALIVE if self._chunked else sse.KEEP_ALIVE)

    def drain(self) -> None:
        """End the stream with its result, and the connection behind it."""
        if self._ending:
            return
        self._write(b"", self._source.end())
        if self._chunked:
            self._transport.write(sse.LAST_CHUNK)
        self._finish()
