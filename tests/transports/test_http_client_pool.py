"""Connections that are kept, and those that die while nobody looks."""

from __future__ import annotations

import asyncio
import socket
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from leanmcp.errors import ConnectionLost
from leanmcp.limits import HTTPClientLimits
from leanmcp.transports.http_client import HTTPTransport
from leanmcp.transports.http_client_pool import Pool
from leanmcp.transports.http_client_url import parse_url
from tests.support.bad_http_server import (
    CLOSE,
    RESET,
    WAIT,
    Script,
    answer,
    bad_server,
    result,
)
from tests.support.outgoing import decoded, outgoing, talking
from tests.support.processes import DEADLINE


@pytest.mark.parametrize("death", [CLOSE, RESET], ids=["close", "reset"])
def test_read_is_sent_again_when_its_kept_connection_was_dead(death: Any) -> None:
    """Ours: RFC 9110 9.2.2; a list may be asked for twice."""

    async def main() -> None:
        async with talking([answer(result(0))], [death]) as (transport, server):
            await transport.request(outgoing(request_id=0))
            assert decoded(await transport.request(outgoing("tools/list")))["id"] == 1
            assert [request.body["id"] for request in server.requests] == [0, 1, 1]
            assert server.connections == 2

    asyncio.run(main())


def test_read_is_sent_again_once_only() -> None:
    """Ours: a server that is down is not hammered."""

    async def main() -> None:
        async with talking([answer(result(0))], [CLOSE], [CLOSE]) as (transport, server):
            await transport.request(outgoing(request_id=0))
            with pytest.raises(ConnectionLost):
                await transport.request(outgoing("tools/list"))
            assert len(server.requests) == 3

    asyncio.run(main())


def test_call_is_never_sent_again() -> None:
    """Ours: whether the server ran the tool before it died cannot be known; the error says so."""

    async def main() -> None:
        async with talking([answer(result(0))], [CLOSE]) as (transport, server):
            await transport.request(outgoing(request_id=0))
            with pytest.raises(ConnectionLost, match="unknown, so it is not sent again"):
                await transport.request(outgoing())
            assert len(server.requests) == 2

    asyncio.run(main())


@pytest.mark.parametrize("method", ["tools/call", "tools/list"])
@pytest.mark.parametrize(
    "idle", [[CLOSE], [answer(b"", status="408 Request Timeout"), CLOSE], [b"HTTP/1.1 200 OK\r\n"]]
)
def test_connection_that_moved_while_idle_is_not_used(idle: Script, method: str) -> None:
    """Ours: what nobody asked for must not become the next answer, and a closed connection costs no call."""

    async def main() -> None:
        async with talking([answer(result(0)), WAIT, *idle]) as (transport, server):
            await transport.request(outgoing(request_id=0))
            [connection] = transport._pool._idle[transport._target.origin]
            assert connection.is_fresh()
            server.go.set()
            while connection.is_fresh():
                await asyncio.sleep(0)
            assert decoded(await transport.request(outgoing(method)))["id"] == 1
            assert (server.connections, len(server.requests)) == (2, 2)

    asyncio.run(main())


def test_death_is_seen_although_the_loop_stood_still() -> None:
    """Ours: a notebook's loop does not run between two cells; the socket is asked instead."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        async def main() -> None:
            limits = HTTPClientLimits()
            transport = HTTPTransport(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", limits=limits)
            await transport.start()
            peer, _ = listener.accept()
            [connection] = transport._pool._idle[transport._target.origin]
            assert connection.is_fresh()
            connection.idle_since -= 2
            assert connection.is_fresh()
            peer.close()
            connection.idle_since -= 2
            assert not connection.is_fresh()  # no turn of the loop since the close
            await transport.close()

        asyncio.run(main())


@pytest.mark.parametrize(
    ("field", "keep"),
    [
        ("timeout=5", 4),
        ("timeout=5, max=100", 4),
        ("max=3, Timeout=1", 0),
        ("timeout=900", 60),
        ("timeout=x", 60),
        ("", 60),
    ],
)
def test_announced_idle_time_is_heeded(field: str, keep: float) -> None:
    """Ours: a server says when it hangs up; a request that met that moment would be lost."""

    async def main() -> None:
        script = [answer(result(0), "application/json", "200 OK", f"Keep-Alive: {field}")]
        async with talking(script, limits=HTTPClientLimits()) as (transport, server):
            await transport.request(outgoing(request_id=0))
            [connection] = transport._pool._idle[transport._target.origin]
            assert connection.keep == keep
            assert server.connections == 1

    asyncio.run(main())


def test_idle_connection_is_closed_in_time() -> None:
    """Ours: `idle_timeout` lies below the 75 seconds that servers give."""

    async def main() -> None:
        async with talking([answer(result(0))], limits=HTTPClientLimits()) as (transport, server):
            await transport.request(outgoing(request_id=0))
            [connection] = transport._pool._idle[transport._target.origin]
            connection.idle_since -= 61
            transport._pool._sweep()
            assert not transport._pool._idle
            while server.open:
                await asyncio.sleep(0)

    asyncio.run(main())


def test_answer_that_closes_is_the_last_on_its_connection() -> None:
    """Ours: RFC 9112 9.6; HTTP/1.0 closes too, and a body may end with its connection."""

    async def main() -> None:
        closing: Script = [answer(result(1), "application/json", "200 OK", "Connection: close"), CLOSE]
        old: Script = [b"HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n" + result(2), CLOSE]
        async with talking(closing, old) as (transport, server):
            for number in (1, 2, 3, 4):
                assert decoded(await transport.request(outgoing(request_id=number)))["id"] == number
            assert [request.connection for request in server.requests] == [0, 1, 2, 2]

    asyncio.run(main())


def test_second_answer_in_one_read_is_thrown_away() -> None:
    """Ours: request smuggling turned round; the connection is not used again."""

    async def main() -> None:
        async with talking([answer(result(1)) + answer(result(2, content=["smuggled"]))]) as (transport, server):
            assert decoded(await transport.request(outgoing(request_id=1)))["id"] == 1
            assert decoded(await transport.request(outgoing(request_id=2)))["result"]["content"] == []
            assert server.connections == 2

    asyncio.run(main())


def test_answer_that_goes_on_behind_its_end_is_the_last_on_its_connection() -> None:
    """Ours: the same where head and body come one after the other."""

    async def main() -> None:
        whole = answer(result(1))
        for cut in (whole.index(b"{"), len(whole) - 1):
            script: Script = [whole[:cut], WAIT, whole[cut:] + answer(result(2, content=["smuggled"]))]
            async with talking(script) as (transport, server):
                asyncio.get_running_loop().call_soon(server.go.set)
                assert decoded(await transport.request(outgoing(request_id=1)))["id"] == 1
                assert decoded(await transport.request(outgoing(request_id=2)))["result"]["content"] == []
                assert server.connections == 2

    asyncio.run(main())


BUDGET = 32


def test_warm_call_stays_within_its_budget() -> None:
    """Ours: function entries of the project in one call."""
    names: list[str] = []

    def profile(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and "leanmcp" in Path(frame.f_code.co_filename).parts:
            names.append(frame.f_code.co_qualname)

    async def main() -> None:
        async with talking() as (transport, server):
            for number in range(10):
                await transport.request(outgoing(request_id=number))
            request = outgoing()
            sys.setprofile(profile)
            try:
                await transport.request(request)
            finally:
                sys.setprofile(None)
            assert server.connections == 1

    asyncio.run(main())
    assert len(names) <= BUDGET, names


def test_turn_given_to_a_request_that_is_just_given_up_goes_to_the_next() -> None:
    """Ours: no turn is lost between two steps of the loop."""

    async def main() -> None:
        async with talking(limits=HTTPClientLimits(max_connections=1)) as (transport, _):
            pool, origin = transport._pool, transport._target.origin
            held = await pool.connect(origin, "")
            first, second = (asyncio.ensure_future(pool.connect(origin, "")) for _ in range(2))
            await asyncio.sleep(0)
            pool.release(held)
            first.cancel()
            assert await second is held
            with pytest.raises(asyncio.CancelledError):
                await first
            pool.release(held)
            assert pool._taken == 0

    asyncio.run(main())


def test_request_given_up_while_it_connects_leaves_no_connection() -> None:
    """Ours: the handshake is ended, not left to finish for nobody."""

    async def main() -> None:
        async with asyncio.timeout(DEADLINE), bad_server() as server:
            transport = HTTPTransport(server.url.replace("http:", "https:"))
            waiting = asyncio.ensure_future(transport.request(outgoing()))
            while not server.open:
                await asyncio.sleep(0)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            while server.open:
                await asyncio.sleep(0)
            assert transport._pool._taken == 0
            await transport.close()

    asyncio.run(main())


def test_a_turn_that_comes_with_the_end_of_the_pool_opens_nothing() -> None:
    """Ours: a client that is closed sends nothing more."""

    async def main() -> None:
        async with bad_server() as server:
            target = parse_url(server.url)
            pool = Pool(HTTPClientLimits(max_connections=1))
            busy = await pool.connect(target.origin, target.shown)
            waiting = asyncio.ensure_future(pool.connect(target.origin, target.shown))
            await asyncio.sleep(0)
            pool.discard(busy)  # its turn; before it can take it, the pool is closed
            await pool.close("closed")
            with pytest.raises(ConnectionLost, match="closed"):
                await waiting
            assert server.connections <= 1

    asyncio.run(main())
