"""A connection while it carries one answer that is read piece by piece.

In: the segments of an answer, lazy ones among them. Out: octets, as fast as the client takes them; then the connection
goes back to its HTTPConnection. Of the answer, one piece is in memory at a time.
RFC 9112 6.2, 7.1; ours otherwise.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, cast

from ..calls import end_call
from ..logs import warn_seldom
from ..protocol.jsonrpc import Segments
from .connection import Connection

if TYPE_CHECKING:
    from ..protocol.pieces import Lazy
    from .http_server import HTTPConnection, HTTPServer

_NEVER = float("inf")


class BodySender(Connection):
    """Sends one answer.

    Args:
        server: that the connection belongs to.
        owner: whose transport is used meanwhile, and who goes on behind the answer.
        transport: of the owner.
    """

    __slots__ = ("_owner", "_writable")

    def __init__(self, server: HTTPServer, owner: HTTPConnection, transport: asyncio.Transport) -> None:
        super().__init__(server)
        self._owner = owner
        self._transport = transport
        self._writable = asyncio.Event()
        self._writable.set()
        self.deadline = _NEVER

    def begin(self, segments: Segments, close: bool) -> None:
        """Send `segments`, whose first one is the head, and end the connection behind them if `close`."""
        self._owner.hand_to(self)
        if self.stalled:
            self.pause_writing()  # its clock begins anew
        self.task = self._server.loop.create_task(self._send(segments, close))

    async def _send(self, segments: Segments, close: bool) -> None:
        try:
            ready: Segments = []
            for segment in cast("list[bytes | Lazy]", segments):
                if isinstance(segment, bytes):
                    ready.append(segment)
                    continue
                while piece := await segment.read():
                    await self._write(b"".join((*ready, piece)))
                    ready = []
            await self._write(b"".join(ready))
        except Exception as fault:  # most often OSError of a file; but a thread may be missing to read it, or memory
            # The head has announced the length: only a connection that breaks off tells the client.
            warn_seldom("an answer was cut off: %s", fault)
            return self.abort()
        finally:
            self.task = None  # it holds what ended it, and that all that was open
        if not self._ending:
            self.hand_to(self._owner)
            self._owner.take_back(self._eof, close)

    async def _write(self, data: bytes) -> None:
        await self._writable.wait()
        self._transport.write(data)

    # --- events -------------------------------------------------------------------------------------------------------

    def data_received(self, data: bytes) -> None:
        self._owner.hold(data)

    def eof_received(self) -> bool:
        """End of input: a client that only reads on gets its answer."""
        self._eof = True
        return self._transport.can_write_eof()  # TLS has no half-close

    def connection_lost(self, error: Exception | None) -> None:
        self._ending = True
        self._server.closed(self)
        if self.task is not None:
            end_call(self.task, self._server.limits.cleanup_grace)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._writable.clear()

    def resume_writing(self) -> None:
        self.stalled = False
        self.deadline = _NEVER
        self._writable.set()

    def expire(self) -> None:
        """End a connection whose client has read nothing for too long."""
        if not self._is_still_reading():
            self.abort()

    def drain(self) -> None:
        """Let the answer be sent to its end; the owner closes behind it."""
