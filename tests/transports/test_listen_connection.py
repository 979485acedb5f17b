"""A connection that carries a stream: silence, clients that do not read, and the seconds that the test counts."""

from __future__ import annotations

import asyncio
import errno
import socket
from collections import Counter
from collections.abc import Callable, Coroutine
from typing import Any, Self, cast

import pytest
import uvloop

from leanmcp import Limits, MCPServer
from leanmcp.server import subscriptions
from leanmcp.server.http_endpoint import HTTPEndpoint
from leanmcp.server.middleware import CallNext, Outcome, Request
from leanmcp.transports.http_server import HTTPServer
from leanmcp.transports.stream_connection import StreamConnection
from tests.support.events import BOTH, message_of
from tests.support.listening import TOOLS, listen, open_streams
from tests.support.processes import DEADLINE, http

URIS = [f"resource://number/{number}" for number in range(300)]
KEEP_ALIVE = b"3\r\n:\n\n\r\n"


class Serving:
    """An HTTP server in this process, whose seconds are counted by the test, and one client that listens."""

    def __init__(self, mcp: MCPServer, **limits: Any) -> None:
        self.http = HTTPServer(HTTPEndpoint(mcp), Limits(**limits), 15)
        self._mcp = mcp
        self._loop = asyncio.get_running_loop()
        self.client = socket.socket()
        self.client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.client.setblocking(False)

    async def listen(self, message: dict[str, Any]) -> StreamConnection:
        """Open the stream."""
        await self._loop.sock_connect(self.client, self._listener.sockets[0].getsockname()[:2])
        await self._loop.sock_sendall(self.client, http(message, accept=BOTH))
        await self.until(b"acknowledged")
        [connection] = self.http.connections
        assert isinstance(connection, StreamConnection)
        connection._transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        return connection

    async def until(self, end: bytes) -> bytes:
        """Read until `end` has come, and what came with it."""
        data = b""
        while end not in data or not data.endswith(b"\r\n"):
            piece = await self._loop.sock_recv(self.client, 65536)
            assert piece, data
            data += piece
        return data

    async def burst(self, uris: list[str]) -> None:
        """Update resources, and wait until that was told or noted down."""
        for uri in uris:
            self._mcp.notify_resource_updated(uri)
        home = self._mcp._subscriptions
        assert home is not None
        hub = home.hub()
        await asyncio.sleep(0)
        while hub._inbox or hub._waking or hub._ready or hub._delivering:
            await asyncio.sleep(0)

    async def stall(self, connection: StreamConnection) -> int:
        """Update resources until the client is behind; return how often."""
        count = 0
        while not connection.stalled:
            await self.burst(URIS)
            count += 1
        return count

    def tick(self, seconds: int) -> None:
        """Let seconds go by."""
        for _ in range(seconds):
            if self.http._sweeper is not None:
                self.http._sweeper.cancel()
            self.http._sweep()

    async def __aenter__(self) -> Self:
        self._listener = await self._loop.create_server(self.http.connection, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        """End, whatever has failed: uvloop cannot be closed while a connection has something unsent."""
        self.client.close()
        self._listener.close()
        await self.http.drain(0.05)


@pytest.fixture(params=[asyncio.new_event_loop, uvloop.new_event_loop])
def run(request: pytest.FixtureRequest) -> Callable[[Coroutine[Any, Any, None]], None]:
    """Runs a coroutine within the deadline, on each of the event loops."""

    def runner(main: Coroutine[Any, Any, None]) -> None:
        with asyncio.Runner(loop_factory=request.param) as loop:
            loop.run(asyncio.wait_for(main, DEADLINE))

    return runner


Run = Callable[[Coroutine[Any, Any, None]], None]


@pytest.fixture
def mcp(monkeypatch: pytest.MonkeyPatch) -> MCPServer:
    """A server of resources whose bursts end at once."""
    monkeypatch.setattr(subscriptions, "_QUIET", 0)
    server = MCPServer("streaming")
    server.declare("resources", {"subscribe": True})
    return server


def test_a_silent_stream_is_kept_alive_by_comments(mcp: MCPServer, run: Run) -> None:
    """Spec: basic/transports/streamable-http, "Receiving Messages"; `sse_keep_alive` counts from the last event."""

    async def main() -> None:
        async with Serving(mcp, silent_timeout=1, keep_alive_timeout=1, head_timeout=1, body_timeout=1) as serving:
            await serving.listen(listen())
            serving.tick(15)
            mcp.notify_tools_changed()
            assert KEEP_ALIVE not in await serving.until(TOOLS.encode())
            serving.tick(16)
            assert await serving.until(b":\n\n") == KEEP_ALIVE
            serving.tick(16)
            assert await serving.until(b":\n\n") == KEEP_ALIVE

    run(main())


def test_a_client_that_does_not_read_is_told_once_of_what_it_missed(mcp: MCPServer, run: Run) -> None:
    """Ours: RELIABILITY, stalled listeners; while it does not read, nothing but its filter is kept."""

    async def main() -> None:
        async with Serving(mcp) as serving:
            connection = await serving.listen(listen(uris=[*URIS, "last:1"]))
            early = await serving.stall(connection)
            for _ in range(50):
                await serving.burst(URIS)
                assert connection._transport.get_write_buffer_size() < 16_384
            await serving.burst(["last:1"])
            assert connection.stalled
            events = (await serving.until(b'"last:1"')).split(b"\r\nevent: ")[1:]
            told = Counter(message_of(b"event: " + event.partition(b"\r\n")[0])["params"]["uri"] for event in events)
            assert told.keys() == {*URIS, "last:1"}
            assert max(told.values()) <= early + 3  # the kernel may have taken some more meanwhile
            await serving.burst(URIS[:1])
            assert (await serving.until(b"updated")).count(b"data: ") == 1

    run(main())


def test_a_client_that_does_not_read_is_given_up(mcp: MCPServer, run: Run) -> None:
    """Ours: Limits.write_timeout; its stream is let go of."""

    async def main() -> None:
        async with Serving(mcp, write_timeout=5) as serving:
            connection = await serving.listen(listen(uris=URIS))
            await serving.stall(connection)
            serving.tick(5)
            assert open_streams(mcp) == 1
            serving.tick(1)
            while serving.http.connections:
                await asyncio.sleep(0)
            assert open_streams(mcp) == 0

    run(main())


def test_a_client_that_reads_slowly_is_not_given_up(mcp: MCPServer, run: Run) -> None:
    """Ours: whoever reads some has as much time again."""

    async def main() -> None:
        async with Serving(mcp, write_timeout=5) as serving:
            connection = await serving.listen(listen(uris=URIS))
            await serving.stall(connection)
            for _ in range(5):
                serving.tick(5)
                before = connection._transport.get_write_buffer_size()
                while connection.stalled and connection._transport.get_write_buffer_size() >= before:
                    await serving._loop.sock_recv(serving.client, 4096)
                    await asyncio.sleep(0)
                serving.tick(1)
                assert open_streams(mcp) == 1
                if not connection.stalled:
                    await serving.stall(connection)

    run(main())


def test_the_end_of_the_server_ends_a_stream_that_nobody_reads(mcp: MCPServer, run: Run) -> None:
    """Ours: it is waited for until the time to drain is over."""

    async def main() -> None:
        async with Serving(mcp) as serving:
            connection = await serving.listen(listen(uris=URIS))
            await serving.stall(connection)
            await serving.http.drain(0.05)
            while serving.http.connections:
                await asyncio.sleep(0)
            assert open_streams(mcp) == 0

    run(main())


def test_a_client_that_sent_much_ahead_of_its_stream_is_seen_to_leave(run: Run) -> None:
    """Ours: what was held back while middleware let the request through is dropped, and reading goes on."""
    gate = asyncio.Event()

    async def wait(request: Request, call_next: CallNext) -> Outcome:
        await gate.wait()
        return await call_next(request)

    mcp = MCPServer("gated", middleware=[wait])

    async def main() -> None:
        async with Serving(mcp) as serving:
            await serving._loop.sock_connect(serving.client, serving._listener.sockets[0].getsockname()[:2])
            await serving._loop.sock_sendall(serving.client, http(listen(), accept=BOTH))
            ahead = serving._loop.create_task(serving._loop.sock_sendall(serving.client, b"x" * 10_000_000))
            while not (connections := list(serving.http.connections)):
                await asyncio.sleep(0)
            while connections[0]._transport.is_reading():
                await asyncio.sleep(0)
            gate.set()
            await ahead
            await serving.until(b"acknowledged")
            serving.client.shutdown(socket.SHUT_WR)
            assert await serving._loop.sock_recv(serving.client, 1) == b""
            assert open_streams(mcp) == 0

    run(main())


def test_a_client_that_leaves_at_the_very_end_harms_no_other(mcp: MCPServer, run: Run) -> None:
    """Ours: asyncio raises where the end of its output cannot be told to a client that has just cut its connection."""

    async def main() -> None:
        async with Serving(mcp) as serving:
            connection = await serving.listen(listen())

            class Cut:
                def __getattr__(self, name: str) -> Any:
                    return getattr(real, name)

                def write_eof(self) -> None:
                    raise OSError(errno.ENOTCONN, "Transport endpoint is not connected")

            real, connection._transport = connection._transport, cast(asyncio.Transport, Cut())
            connection.drain()
            assert b'"result":' in await serving.until(b"0\r\n\r\n")
            await serving.http.drain(DEADLINE)
            assert not serving.http.connections
            assert open_streams(mcp) == 0

    run(main())
