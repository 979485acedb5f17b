"""Python function entries of one warm tools/call: a budget that holds on a noisy machine, where a clock does not.

Counted with sys.setprofile: `call` events on the loop's thread, resumptions included, from `data_received` to the
transport's write, the tool's body included.
"""

from __future__ import annotations

import asyncio
import gc
import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import pytest
import uvloop

from leanmcp import MCPServer
from leanmcp.client import Client
from leanmcp.limits import DEFAULT_LIMITS
from leanmcp.server import CallNext, Extension, Outcome, Request
from leanmcp.server.http_endpoint import HTTPEndpoint
from leanmcp.server.line_endpoint import LineEndpoint
from leanmcp.transports.http_server import HTTPServer
from leanmcp.transports.standard_streams import StandardStreams
from leanmcp.transports.stdio_server import LineServer
from tests.support.processes import call, encode, http

HTTP_BUDGET = 22
STDIO_BUDGET = 14
IN_PROCESS_BUDGET = 25
CHAIN = 4  # entries that any middleware costs a message
MIDDLEWARE = 2  # and each of them, its own included

mcp = MCPServer("budget")


@mcp.tool
async def echo(text: str) -> str:
    """Return the text."""
    return text


class _Transport(asyncio.Transport):
    """A transport that keeps what is written; none of its methods counts, they are the loop's in real life."""

    def __init__(self) -> None:
        super().__init__()
        self.written: list[bytes] = []

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.written.append(bytes(data))


@pytest.fixture(autouse=True)
def no_collections() -> Iterator[None]:
    """Keep the garbage collector still: what it finalizes and calls back would be counted, too."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


async def _entries(feed: Callable[[int], None], answered: Callable[[], int]) -> list[str]:
    """Feed ten calls to warm up, then count the entries of one more; the loop feeds, as in real life, and no task."""
    loop = asyncio.get_running_loop()
    for number in range(10):
        loop.call_soon(feed, number)
        await _until(lambda expected=number + 1: answered() == expected)  # type: ignore[misc]
    names: list[str] = []

    def profile(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename != __file__:
            names.append(frame.f_code.co_qualname)
        elif event == "call" and frame.f_code.co_name == "echo":
            names.append("echo")

    sys.setprofile(profile)
    try:
        loop.call_soon(feed, 10)
        while answered() < 11:
            await asyncio.sleep(0)
    finally:
        sys.setprofile(None)
    return [name for name in names if name != "sleep" and not name.startswith("__sleep0")]


async def _until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not condition():
            await asyncio.sleep(0)


def test_http_call_stays_within_its_budget() -> None:
    """Ours: from data_received to the transport's write."""

    async def main() -> list[str]:
        endpoint = HTTPEndpoint(mcp)
        server = HTTPServer(endpoint, DEFAULT_LIMITS)
        connection, transport = server.connection(), _Transport()
        connection.connection_made(transport)
        requests = [http(call("echo", {"text": "hi"}, 100 + number)) for number in range(11)]
        names = await _entries(
            lambda number: connection.data_received(requests[number]), lambda: len(transport.written)
        )
        assert transport.written[-1].startswith(b"HTTP/1.1 200 OK\r\n")
        connection.connection_lost(None)
        await server.drain(0.1)
        return names

    names = _run(main)
    assert "echo" in names
    assert len(names) <= HTTP_BUDGET, names


def test_stdio_call_stays_within_its_budget() -> None:
    """Ours: the write of the batch included."""

    async def main() -> list[str]:
        server = LineServer(DEFAULT_LIMITS, _no_streams())
        endpoint, transport = LineEndpoint(mcp, server.send), _Transport()
        server._output = transport
        server._receive, server._calls = endpoint.receive, endpoint.calls
        lines = [encode(call("echo", {"text": "hi"}, number)) + b"\n" for number in range(11)]
        names = await _entries(lambda number: server.data_received(lines[number]), lambda: len(transport.written))
        assert b'"structuredContent":{"result":"hi"}' in transport.written[-1]
        return names

    names = _run(main)
    assert "echo" in names
    assert len(names) <= STDIO_BUDGET, names


@pytest.mark.parametrize("count", [0, 1, 3])
def test_middleware_costs_what_it_says(count: int) -> None:
    """Ours: nothing where there is none; the numbers stand in `leanmcp.server.middleware`."""

    async def main() -> int:
        server = MCPServer("around", middleware=[_pass_on] * count, extensions=[_Declared()])
        server.add_tool(echo)
        answers: list[Any] = []
        endpoint = LineEndpoint(server, answers.append)
        lines = [encode(call("echo", {"text": "hi"}, number)) for number in range(11)]
        return len(await _entries(lambda number: endpoint.receive(lines[number]), lambda: len(answers)))

    async def plain() -> int:
        answers: list[Any] = []
        endpoint = LineEndpoint(mcp, answers.append)
        lines = [encode(call("echo", {"text": "hi"}, number)) for number in range(11)]
        return len(await _entries(lambda number: endpoint.receive(lines[number]), lambda: len(answers)))

    own = count  # `_pass_on` stands in this file, whose functions are not counted
    expected = CHAIN + MIDDLEWARE * count - own if count else 0
    assert _run(main) - _run(plain) == expected


class _Declared(Extension):
    """An extension that leaves tools/call alone."""

    identifier = "com.example/declared"


async def _pass_on(request: Request, call_next: CallNext) -> Outcome:
    return await call_next(request)


def test_call_in_the_same_process_stays_within_its_budget() -> None:
    """Ours: besides the tool's, from `call_tool` to its return."""

    async def main() -> list[str]:
        names: list[str] = []

        def profile(frame: FrameType, event: str, _: Any) -> None:
            if event == "call" and frame.f_code.co_filename != __file__:
                names.append(frame.f_code.co_qualname)

        async with Client(mcp) as client:
            for _ in range(10):
                await client.call_tool("echo", {"text": "hi"})
            sys.setprofile(profile)
            try:
                result = await client.call_tool("echo", {"text": "hi"})
            finally:
                sys.setprofile(None)
        assert result.structured_content == {"result": "hi"}
        return names

    names = _run(main)
    assert any(name.endswith("call_tool") for name in names)
    assert len(names) <= IN_PROCESS_BUDGET, names


def _no_streams() -> StandardStreams:
    """Return streams that nothing reads or writes: this test feeds the protocol itself."""
    streams = StandardStreams.__new__(StandardStreams)
    streams.input = streams.output = -1
    return streams


def _run(main: Callable[[], Any]) -> Any:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(main())
