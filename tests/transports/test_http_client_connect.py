"""No connection at all: why, and what to do."""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import Callable

import pytest
import uvloop

from leanmcp.client import Client
from leanmcp.errors import CannotConnect
from leanmcp.limits import HTTPClientLimits
from leanmcp.transports import http_client_connection
from leanmcp.transports.http_client import HTTPTransport
from leanmcp.transports.http_client_connection import open_socket
from leanmcp.transports.http_client_url import Origin
from tests.support.bad_http_server import bad_server
from tests.support.processes import DEADLINE


def free_port() -> int:
    """Return a port where nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
    return port


@pytest.mark.parametrize(
    ("url", "text"),
    [
        (
            "http://127.0.0.1:{port}/mcp",
            "Cannot connect to http://127.0.0.1:{port}/mcp: connection refused, nobody",
        ),
        ("http://localhost:{port}/mcp", "connection refused, nobody listens on port {port}; start the server"),
        (
            "http://no-such-host.invalid/mcp",
            "the host name 'no-such-host.invalid' does not resolve; check its spelling",
        ),
        (
            "unix:/tmp/no-such.sock",
            "Cannot connect to unix:/tmp/no-such.sock: there is no such socket; start the server",
        ),
    ],
)
def test_no_connection_says_why(url: str, text: str) -> None:
    """Ours: U13; entering the client tells it at once."""
    port = free_port()

    async def main() -> None:
        async with asyncio.timeout(DEADLINE):
            with pytest.raises(CannotConnect, match=re.escape(text.format(port=port))):
                await Client(url.format(port=port)).__aenter__()

    asyncio.run(main())


def test_peer_that_never_speaks_tls_is_given_up() -> None:
    """Ours: `connect_timeout` covers the handshake."""

    async def main() -> None:
        async with asyncio.timeout(DEADLINE), bad_server() as server:
            transport = HTTPTransport(
                server.url.replace("http:", "https:"), limits=HTTPClientLimits(connect_timeout=0.05)
            )
            with pytest.raises(CannotConnect, match=r"no answer within 0\.05 seconds; check host, port and firewall"):
                await transport.start()
            await transport.close()

    asyncio.run(main())


def test_peer_that_answers_tls_with_plain_text_is_told_apart() -> None:
    """Ours: https:// typed for http:// is a common slip."""

    async def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(5)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    async def main() -> None:
        async with asyncio.timeout(DEADLINE), await asyncio.start_server(plain, "127.0.0.1", 0) as server:
            transport = HTTPTransport(f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp")
            with pytest.raises(CannotConnect, match="does the server speak https there, or plain http://"):
                await transport.start()
            await transport.close()

    asyncio.run(main())


def test_address_that_was_slow_is_asked_again_where_no_other_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: it may have lost its first packets; how long it has in all is `connect_timeout`'s business."""
    monkeypatch.setattr(http_client_connection, "_NEXT_ADDRESS", 0.01)
    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (host, 80)) for host in ("127.0.0.2", "127.0.0.1")]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
    tried: list[str] = []

    async def connect(_: socket.socket, address: tuple[str, int]) -> None:
        tried.append(address[0])
        if address[0] == "127.0.0.1":
            raise ConnectionRefusedError
        if tried.count(address[0]) == 1:
            await asyncio.Event().wait()

    async def main() -> None:
        monkeypatch.setattr(asyncio.get_running_loop(), "sock_connect", connect)
        (await open_socket(Origin("http", "two.example", 80))).close()

    asyncio.run(asyncio.wait_for(main(), DEADLINE))
    assert tried == ["127.0.0.2", "127.0.0.1", "127.0.0.2"]


@pytest.mark.parametrize("new_loop", [asyncio.new_event_loop, uvloop.new_event_loop])
def test_address_that_leads_nowhere_is_not_waited_for(
    new_loop: Callable[[], asyncio.AbstractEventLoop], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: the next address of the name is tried; networks whose IPv6 is broken are many."""
    monkeypatch.setattr(http_client_connection, "_NEXT_ADDRESS", 0.01)

    async def main(full: socket.socket, waiting: socket.socket) -> None:
        port = full.getsockname()[1]
        await asyncio.get_running_loop().sock_connect(waiting, full.getsockname())
        found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (host, port)) for host in ("127.0.0.2", "127.0.0.1")]
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
        async with await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", port):
            transport = HTTPTransport(f"http://two.example:{port}/mcp")
            await transport.start()
            await transport.close()

    with socket.create_server(("127.0.0.2", 0), backlog=0) as full, socket.socket() as waiting:
        waiting.setblocking(False)
        with asyncio.Runner(loop_factory=new_loop) as runner:
            runner.run(asyncio.wait_for(main(full, waiting), DEADLINE))
