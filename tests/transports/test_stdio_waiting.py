"""Lines that wait for their turn: cancellations among them, and lines without an answer."""

from __future__ import annotations

import asyncio
import os
from typing import cast

import pytest

from leanmcp import Limits, MCPServer
from leanmcp.transports.standard_streams import StandardStreams
from leanmcp.transports.stdio_server import LineServer
from tests.support.lines import Lines, cancelled, run
from tests.support.listening import listen
from tests.support.processes import DEADLINE, call, encode
from tests.support.stdio_talk import LOOPS

NOTIFICATION = b'{"jsonrpc":"2.0","method":"notifications/other"}'
mcp = MCPServer("waiting")


@mcp.tool
async def hang() -> str:
    """Wait for its end."""
    await asyncio.Event().wait()
    return "never"


class Receiver:
    """Takes lines and calls nothing."""

    def __init__(self, server: LineServer) -> None:
        self.calls: dict[int, object] = {}
        self.lines: list[bytes | None] = []
        self._server = server

    def receive(self, line: bytes | None) -> None:
        self.lines.append(line)
        if line == b"answer":
            self._server.send([b"x" * 2_000_000])

    def cancel(self, line: bytes) -> bool:
        return False

    def output_stalled(self, stalled: bool) -> None:
        self.lines.append(b"stalled" if stalled else b"going on")


class Streams:
    """A pipe for input and one for output, in place of the standard ones."""

    def __init__(self) -> None:
        self.input, self.writer = os.pipe()
        self.reader, self.output = os.pipe()


@pytest.mark.parametrize("loop", LOOPS)
def test_end_of_input_waits_for_no_answer_to_lines_that_have_none(loop: str) -> None:
    """Ours: they waited for a client that was behind with reading; the end must not wait for its time limit."""

    async def main() -> None:
        streams = Streams()
        server = LineServer(Limits(), cast("StandardStreams", streams))
        receiver = Receiver(server)
        await server.start(receiver)
        os.write(streams.writer, b"answer\n")
        while b"stalled" not in receiver.lines:
            await asyncio.sleep(0)
        os.write(streams.writer, (NOTIFICATION + b"\n") * 3)
        os.close(streams.writer)
        await server.ended
        assert NOTIFICATION not in receiver.lines
        ending = asyncio.create_task(server.drain(10 * DEADLINE))
        await asyncio.sleep(0)
        assert len(await asyncio.to_thread(_read, streams.reader, 2_000_001)) == 2_000_001
        await ending
        assert receiver.lines[-3:] == [NOTIFICATION] * 3
        await server.close()

    with asyncio.Runner(loop_factory=LOOPS[loop]) as runner:
        runner.run(asyncio.wait_for(main(), DEADLINE))


def test_lines_without_an_answer_are_no_first_answer() -> None:
    """Ours: what waits for the first answer would hold it back."""

    async def main() -> None:
        streams, seen = Streams(), list[str]()
        server = LineServer(Limits(max_in_flight=1), cast("StandardStreams", streams))
        server.first_answered = lambda: seen.append("answered")
        receiver = Receiver(server)
        await server.start(receiver)
        os.write(streams.writer, b"\n" * 10)
        while len(receiver.lines) < 10:
            await asyncio.sleep(0)
        for _ in range(3):
            await asyncio.sleep(0)
        assert seen == []
        os.write(streams.writer, b"answer\n")
        while not seen:
            await asyncio.sleep(0)
        os.close(streams.writer)
        os.close(streams.reader)
        await server.close()

    asyncio.run(asyncio.wait_for(main(), DEADLINE))


def test_cancellation_that_waits_ends_a_call_as_soon_as_it_has_begun() -> None:
    """Ours: it may free the place that all lines wait for; each counts once, in its turn or before."""

    async def conversation(lines: Lines) -> None:
        for _ in range(2):
            assert not lines.endpoint.cancel(encode(cancelled(5)))  # the call has not begun
        lines.send(call("hang", {}, 5))
        await lines.idle()
        lines.send(cancelled(5), call("hang", {}, 5))  # one of the two has had its turn, the other still waits
        await lines.idle()
        lines.send(cancelled(5), call("hang", {}, 5))
        for _ in range(3):
            await asyncio.sleep(0)
        assert list(lines.endpoint.calls) == [5]
        assert lines.endpoint.cancel(encode(cancelled(5)))
        assert not lines.endpoint.cancel(encode(cancelled(5)))
        await lines.idle()
        assert lines.messages == []

    run(mcp, conversation)


def test_cancellation_that_waits_ends_a_subscription_as_soon_as_it_is_open() -> None:
    """Ours: as it does a call; and a line that only looks like one is answered in its turn."""

    async def conversation(lines: Lines) -> None:
        assert not lines.endpoint.cancel(b'{"method":"notifications/cancelled"')
        assert not lines.endpoint.cancel(encode(cancelled(5)))
        lines.send(listen(5, toolsListChanged=True))
        assert lines.endpoint.streams == {}
        assert [message["method"] for message in lines.messages] == ["notifications/subscriptions/acknowledged"]

    run(mcp, conversation)


def _read(fd: int, size: int) -> bytes:
    """Thread: read that many bytes."""
    data = b""
    while len(data) < size:
        data += os.read(fd, size - len(data))
    os.close(fd)
    return data
