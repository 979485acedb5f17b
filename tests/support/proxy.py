"""A proxy that leads every name to one port of this machine: tunnels for CONNECT, all else as it comes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from .processes import DEADLINE


class TestProxy:
    """Passes octets on.

    Args:
        upstream: the port that everything is led to.
        refusal: what to answer instead.

    Attributes:
        heads: of the first request of each connection.
        port: its own.
    """

    __test__ = False

    def __init__(self, upstream: int, refusal: bytes = b"") -> None:
        self.heads: list[str] = []
        self.port = 0
        self._upstream = upstream
        self._refusal = refusal

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection."""
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            self.heads.append(head.decode("latin-1"))
            if self._refusal:
                writer.write(self._refusal)
                return
            source, target = await asyncio.open_connection("127.0.0.1", self._upstream)
            if head.startswith(b"CONNECT "):
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            else:
                target.write(head)
            await asyncio.gather(_copy(reader, target), _copy(source, writer))
        except (asyncio.IncompleteReadError, ConnectionError):
            return
        finally:
            writer.close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    finally:
        writer.close()


@asynccontextmanager
async def running_proxy(upstream: int, refusal: bytes = b"") -> AsyncIterator[TestProxy]:
    """Run a proxy while the block runs, on the same loop."""
    proxy = TestProxy(upstream, refusal)
    handlers: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        handlers.add(task)
        await proxy.serve(reader, writer)

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    proxy.port = server.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        server.close()
        async with asyncio.timeout(DEADLINE):
            await asyncio.gather(*handlers)
            await server.wait_closed()
