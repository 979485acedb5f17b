"""The lifespan of a server in the client's process: entered for the first client, left after the last."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import pytest

from leanmcp import Context, MCPServer
from leanmcp.client import Client
from leanmcp.errors import ConnectionLost

WAIT = 10.0


def test_clients_of_one_server_share_its_lifespan() -> None:
    """Ours: entered for the first, left after the last, whichever that is."""
    trace: list[str] = []

    @asynccontextmanager
    async def lifespan(_: MCPServer) -> AsyncIterator[str]:
        trace.append("in")
        yield f"value {len(trace)}"
        trace.append("out")

    async def main() -> None:
        mcp = MCPServer("shared", lifespan=lifespan)

        @mcp.tool
        async def value(ctx: Context) -> str:
            """Return the lifespan's value."""
            assert mcp.serving_loop is not None
            return str(ctx.lifespan)

        first, second = Client(mcp), Client(mcp)
        async with asyncio.timeout(WAIT):
            await asyncio.gather(first.__aenter__(), second.__aenter__())
            await first.close()
            assert await second.call_tool("value", type=str) == "value 1"
            async with first:
                await second.close()
                assert await first.call_tool("value", type=str) == "value 1"
            assert trace == ["in", "out"]

    asyncio.run(main())
    assert trace == ["in", "out"]


def test_entering_can_be_given_up() -> None:
    """Ours: a lifespan that hangs is cancelled with its client."""
    trace: list[str] = []

    @asynccontextmanager
    async def lifespan(_: MCPServer) -> AsyncIterator[None]:
        try:
            await asyncio.Event().wait()
            yield
        finally:
            trace.append("out")

    async def main() -> None:
        mcp = MCPServer("slow", lifespan=lifespan)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.02), Client(mcp):
                raise AssertionError
        await asyncio.sleep(0)

    asyncio.run(main())
    assert trace == ["out"]


def test_closing_while_the_lifespan_begins_leaves_it() -> None:
    """Ours: `close` from another task; the client is not connected after it, and the server is not held open."""
    trace: list[str] = []
    go = asyncio.Event()

    @asynccontextmanager
    async def lifespan(_: MCPServer) -> AsyncIterator[None]:
        trace.append("in")
        await go.wait()
        yield
        trace.append("out")

    async def main() -> None:
        client = Client(MCPServer("slow", lifespan=lifespan))
        async with asyncio.timeout(WAIT):
            entering = asyncio.ensure_future(client.__aenter__())
            while not trace:
                await asyncio.sleep(0)
            await client.close()
            go.set()
            with pytest.raises(ConnectionLost, match="closed by this client while it connected"):
                await entering
            assert trace == ["in", "out"]

    asyncio.run(main())


def test_whoever_is_cancelled_while_closing_does_not_cut_the_lifespan_short() -> None:
    """Ours: a cancel scope of anyio cancels at every wait; what the server has to put away is put away all the same."""
    trace: list[str] = []

    @asynccontextmanager
    async def lifespan(_: MCPServer) -> AsyncIterator[None]:
        yield
        for number in range(3):
            await asyncio.sleep(0)
            trace.append(f"out {number}")

    async def main() -> None:
        async with asyncio.timeout(WAIT):
            with anyio.move_on_after(0.01):
                async with Client(MCPServer("tidy", lifespan=lifespan)):
                    await anyio.sleep_forever()
            while len(trace) < 3:
                await asyncio.sleep(0)

    asyncio.run(main())
    assert trace == ["out 0", "out 1", "out 2"]


def test_a_lifespan_that_fails_fails_the_connection() -> None:
    """Ours: with its own exception."""

    @asynccontextmanager
    async def lifespan(_: MCPServer) -> AsyncIterator[None]:
        raise OSError("no database")
        yield

    async def main() -> None:
        async with asyncio.timeout(WAIT), Client(MCPServer("x", lifespan=lifespan)):
            raise AssertionError

    with pytest.raises(OSError, match="no database"):
        asyncio.run(main())
