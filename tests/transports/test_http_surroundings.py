"""Middleware and extensions over HTTP: streams that pass through, status codes, and the mirrored name of a method."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from leanmcp import MCPServer
from leanmcp.limits import DEFAULT_LIMITS
from leanmcp.protocol import sse
from leanmcp.server import CallNext, Outcome, Request
from leanmcp.server.http_endpoint import HTTPEndpoint
from leanmcp.transports.http_server import HTTPServer
from tests.support.events import BOTH, EventWire
from tests.support.listening import ACKNOWLEDGED, TOOLS, listen, subscription_id
from tests.support.processes import DEADLINE, META, call, http, http_server, request
from tests.support.wire import ask

FIXTURE = "tests/fixtures/surrounded.py"
PAGE = "https://app.example.com"


@pytest.fixture(scope="module", params=[(), ("--cors", "--allowed-origin", PAGE)], ids=["plain", "cors"])
def port(request: pytest.FixtureRequest) -> Iterator[int]:
    """The port of the fixture server, with and without CORS."""
    with http_server(FIXTURE, *request.param) as server:
        yield server.port


def passed(port: int) -> list[str]:
    """Return what has passed the middleware since the last time."""
    found: list[str] = ask(port, http(call("passed"))).message["result"]["structuredContent"]["result"]
    return found


def test_every_answer_passes_through(port: int) -> None:
    """Ours: what has passed is noted behind its answer; refusals before dispatch do not pass."""
    passed(port)
    for message in (request("server/discover"), request("tools/list"), call("change")):
        assert ask(port, http(message)).status == 200
    assert ask(port, http(request("no/such/method"))).status == 404
    assert ask(port, http(call("change"), mcp_name="other")).status == 400
    assert passed(port) == [
        "tools/call passed False",
        "server/discover None False",
        "tools/list None False",
        "tools/call change False",
    ]


def test_a_stream_passes_through(port: int) -> None:
    """Spec: basic/patterns/subscriptions; acknowledged first, told of changes, and noted as a stream."""
    passed(port)
    with EventWire(port) as wire:
        fields = wire.call(listen("a"), BOTH).head()
        assert fields["transfer-encoding"] == "chunked"
        first = wire.event()
        assert (first["method"], subscription_id(first)) == (ACKNOWLEDGED, "a")
        assert passed(port)[1:] == ["subscriptions/listen None True"]
        ask(port, http(call("change")))
        assert wire.event()["method"] == TOOLS


def test_a_refused_stream_is_an_error(port: int) -> None:
    """Ours: by the middleware, and, with HTTP 406, where the client takes no event stream (policy P6)."""
    answer = ask(port, http(listen(), accept=BOTH, x_refuse="subscriptions/listen"))
    assert (answer.status, answer.code) == (200, 4711)
    answer = ask(port, http(listen(), accept="application/json"))
    assert (answer.status, answer.code) == (406, -32600)
    assert answer.message["id"] == 1


def test_pages_of_other_origins_read_what_passes() -> None:
    """Fetch standard, "HTTP-CORS protocol": on streams and answers behind middleware, too."""
    with http_server(FIXTURE, "--cors", "--allowed-origin", PAGE) as server:
        assert ask(server.port, http(call("passed"), origin=PAGE)).headers["access-control-allow-origin"] == PAGE
        with EventWire(server.port) as wire:
            fields = wire.call(listen(), BOTH, origin=PAGE).head()
            assert fields["access-control-allow-origin"] == PAGE


def test_the_name_of_a_job_is_mirrored(port: int) -> None:
    """Spec: basic/transports/streamable-http, "Server Validation", for a method of an extension."""
    declared: dict[str, Any] = {"io.modelcontextprotocol/clientCapabilities": {"extensions": {"com.example/jobs": {}}}}
    message = request("com.example/jobs/get", {"jobId": "j1", "_meta": {**META, **declared}})
    passed(port)
    answer = ask(port, http(message, mcp_name="j1"))
    assert answer.status == 200
    assert msgspec.json.decode(answer.body)["result"]["job"] == "j1"
    assert passed(port)[1:] == ["com.example/jobs/get j1 False"]
    for fields in ({}, {"mcp_name": "j2"}):
        refused = ask(port, http(message, **fields))
        assert (refused.status, refused.code) == (400, -32020)
    undeclared = ask(port, http(request("com.example/jobs/get", {"jobId": "j1"}), mcp_name="j1"))
    assert (undeclared.status, undeclared.code) == (400, -32021)


class Wires(asyncio.Transport):
    """A transport that keeps what is written."""

    def __init__(self) -> None:
        super().__init__()
        self.data = b""
        self.protocol: Any = None

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.data += bytes(data)

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        self.protocol = protocol

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        pass

    def resume_reading(self) -> None:
        pass


def test_a_stream_that_is_long_in_coming_has_one_head() -> None:
    """Ours: a call without an answer for ten seconds becomes an event stream (P6); so does a listen that waits."""
    opened = asyncio.Event()

    async def wait(request: Request, call_next: CallNext) -> Outcome:
        await opened.wait()
        return await call_next(request)

    async def main() -> bytes:
        server = HTTPServer(HTTPEndpoint(MCPServer("late", middleware=[wait])), DEFAULT_LIMITS)
        connection, transport = server.connection(), Wires()
        connection.connection_made(transport)
        connection.data_received(http(listen(), accept=BOTH))
        connection.expire()  # its time without an answer is over
        opened.set()
        async with asyncio.timeout(DEADLINE):
            while transport.protocol is None:
                await asyncio.sleep(0)
        transport.protocol.connection_lost(None)
        await server.drain(0.1)
        return transport.data

    data = asyncio.run(main())
    assert data.count(b"HTTP/1.1 200 OK\r\n") == 1
    head, _, body = data.partition(b"\r\n\r\n")
    assert b"Transfer-Encoding: chunked" in head
    assert body.startswith(b"".join(sse.chunk([sse.KEEP_ALIVE])))
    assert ACKNOWLEDGED.encode() in body


def test_a_client_that_leaves_before_the_stream_opens_leaves_nothing() -> None:
    """Ours: the middleware is cancelled, and no stream is opened for nobody."""
    log: list[str] = []

    async def wait(request: Request, call_next: CallNext) -> Outcome:
        log.append("begun")
        try:
            await asyncio.sleep(DEADLINE)
        except asyncio.CancelledError:
            log.append("cancelled")
            raise
        return await call_next(request)

    async def main() -> int:
        mcp = MCPServer("late", middleware=[wait])
        server = HTTPServer(HTTPEndpoint(mcp), DEFAULT_LIMITS)
        connection, transport = server.connection(), Wires()
        connection.connection_made(transport)
        connection.data_received(http(listen(), accept=BOTH))
        async with asyncio.timeout(DEADLINE):
            while not log:
                await asyncio.sleep(0)
            connection.connection_lost(None)
            while "cancelled" not in log:
                await asyncio.sleep(0)
        await server.drain(0.1)
        return 0 if mcp._subscriptions is None else 1

    assert asyncio.run(main()) == 0
