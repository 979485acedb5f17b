"""A client and HTTP servers that do it wrong: each gives its error, in time, and the next call works."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from leanmcp.client import Client
from leanmcp.errors import (
    AnswerTooLarge,
    CallTimeout,
    ConnectionLost,
    HTTPStatusError,
    InvalidResult,
    NotAnMCPServer,
    NotFound,
    SubscriptionLost,
    Unauthorized,
)
from leanmcp.limits import HTTPClientLimits
from leanmcp.transports.http_client import HTTPTransport
from tests.support.bad_http_server import (
    CLOSE,
    MUTE,
    RESET,
    STREAM,
    BadServer,
    Script,
    answer,
    bad_server,
    chunk,
    error,
    event,
    note,
    result,
)
from tests.support.processes import DEADLINE

DISCOVERED = result(1, supportedVersions=["2026-07-28"], capabilities={}, ttlMs=0, cacheScope="private")
OK = result(2, content=[])

FAULTS: dict[str, tuple[Script, type[Exception]]] = {
    "another id": ([answer(result(3, content=[]))], InvalidResult),
    "the id as text": ([answer(result("2", content=[]))], InvalidResult),
    "bad UTF-8": ([answer(result(2, content=[{"type": "text", "text": "#"}]).replace(b"#", b"\xff"))], InvalidResult),
    "no JSON": ([answer(b"{")], NotAnMCPServer),
    "HTML": ([answer(b"<html>hello", "text/html")], NotAnMCPServer),
    "HTML 502": ([answer(b"<html>bad gateway", "text/html", "502 Bad Gateway")], HTTPStatusError),
    "404": ([answer(b"nothing here", "text/plain", "404 Not Found")], NotFound),
    "401": ([answer(b"", status="401 Unauthorized")], Unauthorized),
    "202": ([answer(b"", status="202 Accepted")], NotAnMCPServer),
    "silence": ([MUTE], CallTimeout),
    "silence in a stream": ([STREAM, chunk(b": hello\n\n"), MUTE], CallTimeout),
    "death before": ([CLOSE], ConnectionLost),
    "reset before": ([RESET], ConnectionLost),
    "death in a body": ([answer(OK)[:-10], CLOSE], ConnectionLost),
    "death in a stream": ([STREAM, chunk(event(OK)[:-30]), CLOSE], ConnectionLost),
    "end of a stream": ([STREAM, chunk(event(note("notifications/message"))), chunk()], ConnectionLost),
    "unknown type": ([answer(result(2, content=[]).replace(b"complete", b"finished"))], InvalidResult),
    "too much": ([answer(result(2, content=[], more="x" * 5000))], AnswerTooLarge),
    "a question of the server": (
        [STREAM, chunk(event(b'{"jsonrpc":"2.0","id":1,"method":"ping"}')), chunk()],
        ConnectionLost,
    ),
}


def client_of(server: BadServer, **options: Any) -> Client:
    """Return a client with small limits."""
    transport = HTTPTransport(server.url, limits=HTTPClientLimits(max_answer_size=4000))
    return Client(transport, **{"read_timeout_seconds": 0.5, **options})


@asynccontextmanager
async def serving(script: Script, **options: Any) -> AsyncIterator[tuple[Client, BadServer]]:
    """Connect to a server that answers the next request with `script`, and then as it should."""
    async with (
        asyncio.timeout(DEADLINE),
        bad_server([answer(DISCOVERED)], script) as server,
        client_of(server, **options) as client,
    ):
        yield client, server


@pytest.mark.parametrize("name", FAULTS)
def test_each_fault_has_its_error_and_the_next_call_works(name: str) -> None:
    """Ours: acceptance D."""
    script, kind = FAULTS[name]

    async def main() -> None:
        options = {} if kind is CallTimeout else {"read_timeout_seconds": DEADLINE}
        async with serving(script, **options) as (client, _):
            with pytest.raises(kind) as caught:
                await client.call_tool("t")
            assert caught.type is kind
            assert not (await client.call_tool("t")).is_error

    asyncio.run(main())


def test_a_late_answer_is_nobody_elses() -> None:
    """Ours: the connection of a call that was given up is not used again."""

    async def main() -> None:
        async with serving([MUTE]) as (client, server):
            with pytest.raises(CallTimeout):
                await client.call_tool("slow")
            await server.left.wait()
            assert not (await client.call_tool("t")).is_error

    asyncio.run(main())


def test_a_listen_stream_that_breaks_off_is_lost() -> None:
    """Spec: basic/patterns/subscriptions, "Graceful Closure"."""

    async def main() -> None:
        acknowledged = note(
            "notifications/subscriptions/acknowledged",
            _meta={"io.modelcontextprotocol/subscriptionId": 2},
            notifications={"toolsListChanged": True},
        )
        script: Script = [STREAM, chunk(event(acknowledged)), CLOSE]
        async with serving(script) as (client, _), client.listen(tools_list_changed=True) as subscription:
            with pytest.raises(SubscriptionLost):
                await anext(subscription)
            assert subscription.state == "lost"

    asyncio.run(main())


def test_a_listen_stream_without_acknowledgment_ends_at_the_timeout() -> None:
    """Ours."""

    async def main() -> None:
        async with serving([STREAM, MUTE]) as (client, server):
            with pytest.raises(CallTimeout, match="did not acknowledge"):
                await client.listen(tools_list_changed=True).__aenter__()
            await server.left.wait()

    asyncio.run(main())


def test_a_mute_server_fails_the_connection_at_the_timeout() -> None:
    """Ours: FIELD 135; the server is not taken for one of an earlier era."""

    async def main() -> None:
        async with asyncio.timeout(DEADLINE), bad_server([MUTE]) as server:
            with pytest.raises(CallTimeout, match="server/discover"):
                await client_of(server, read_timeout_seconds=0.05).__aenter__()

    asyncio.run(main())


def test_a_server_of_neither_era_is_told_by_its_first_answer() -> None:
    """Ours: U13, U24."""

    async def main() -> None:
        nothing = answer(b"<h1>no such page</h1>", "text/html", "404 Not Found")
        async with asyncio.timeout(DEADLINE), bad_server([nothing], [nothing]) as server:
            with pytest.raises(NotFound, match="no such page"):
                await client_of(server).__aenter__()
            methods = [request.body["method"] for request in server.requests]
            assert methods == ["server/discover", "initialize"]

        refused = answer(error(-32602, "what is this"), status="400 Bad Request")
        async with asyncio.timeout(DEADLINE), bad_server([refused], [refused]) as server:
            with pytest.raises(Exception, match="what is this"):
                await client_of(server).__aenter__()

    asyncio.run(main())
