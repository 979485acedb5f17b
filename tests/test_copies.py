"""Bytes that a large result costs: a budget that a clock could not hold on a noisy machine.

Counted with tracemalloc: what is allocated at the same time between the function's return and the transport's write.
"""

from __future__ import annotations

import asyncio
import base64
import tracemalloc
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from leanmcp import File, Image, MCPServer
from leanmcp.limits import DEFAULT_LIMITS
from leanmcp.server.http_endpoint import HTTPEndpoint
from leanmcp.server.line_endpoint import LineEndpoint
from leanmcp.transports.http_server import HTTPServer
from leanmcp.transports.standard_streams import StandardStreams
from leanmcp.transports.stdio_server import LineServer
from tests.support.processes import call, encode, http

SIZE = 5 * 1024 * 1024
PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(SIZE - 8)
ENCODED = (SIZE + 2) // 3 * 4  # bytes of base64

mcp = MCPServer("copies")


@mcp.tool
async def picture() -> Image:
    """Return a picture that is in memory already."""
    return Image(data=PICTURE, format="png")


@mcp.tool
async def archive() -> File:
    """Return a file that is in memory already."""
    return File(data=PICTURE, name="archive.bin")


class _Transport(asyncio.Transport):
    """Keeps what is written, as a socket that nobody reads does; takes pieces without joining them, as uvloop does."""

    def __init__(self) -> None:
        super().__init__()
        self.written: list[bytes] = []

    def write(self, data: bytes | bytearray | memoryview) -> None:
        assert isinstance(data, bytes)
        self.written.append(data)

    def writelines(self, list_of_data: Iterable[Any]) -> None:
        self.written += list_of_data


async def _over_http(name: str) -> list[bytes]:
    server, transport = HTTPServer(HTTPEndpoint(mcp), DEFAULT_LIMITS), _Transport()
    connection = server.connection()
    connection.connection_made(transport)
    await _fed(lambda: connection.data_received(http(call(name))), transport)
    connection.connection_lost(None)
    await server.drain(0.1)
    return transport.written


async def _over_stdio(name: str) -> list[bytes]:
    streams = StandardStreams.__new__(StandardStreams)  # nothing reads or writes them
    streams.input = streams.output = -1
    server, transport = LineServer(DEFAULT_LIMITS, streams), _Transport()
    endpoint = LineEndpoint(mcp, server.send)
    server._output = transport
    server._receive, server._calls = endpoint.receive, endpoint.calls
    line = encode(call(name)) + b"\n"
    await _fed(lambda: server.data_received(line), transport)
    endpoint.close()
    return transport.written


async def _fed(feed: Callable[[], None], transport: _Transport) -> None:
    async with asyncio.timeout(10):
        asyncio.get_running_loop().call_soon(feed)
        while not transport.written:
            await asyncio.sleep(0)


@pytest.mark.parametrize("carry", [_over_http, _over_stdio])
@pytest.mark.parametrize("name", ["picture", "archive"])
def test_large_result_costs_its_base64_and_no_copy_of_it(carry: Callable[[str], Any], name: str) -> None:
    """Ours: a picture of 5 MiB costs two copies at most: its base64, and the one that the kernel takes.

    `binascii` asks for half as much again as it then keeps.
    """
    asyncio.run(carry(name))  # what loads at first use is loaded
    tracemalloc.start()
    try:
        written = asyncio.run(carry(name))
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 2 * ENCODED + 256 * 1024
    assert [len(piece) for piece in written if len(piece) > 64 * 1024] == [ENCODED]  # nothing was joined with it
    assert base64.b64encode(PICTURE) in written
