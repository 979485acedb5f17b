"""Answers that turn into event streams, and the order of progress and answer on each transport."""

from __future__ import annotations

import asyncio
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from leanmcp import Context, MCPServer
from leanmcp.limits import Limits
from leanmcp.server.http_endpoint import HTTPEndpoint
from leanmcp.transports.http_server import HTTPServer
from tests.support.events import BOTH, EventWire, events_of, values
from tests.support.lines import asking
from tests.support.processes import (
    DEADLINE,
    call,
    encode,
    environment,
    http,
    http_server,
    request,
    run_stdio,
    stdio_server,
)
from tests.support.spec import read
from tests.support.wire import ask

LONG = "tests/fixtures/long_calls.py"


@pytest.fixture(scope="module")
def long() -> Iterator[int]:
    """The port of a server with long calls."""
    with http_server(LONG) as process:
        yield process.port


def steps(count: int = 3, request_id: int | str = 1, tool: str = "steps", **arguments: Any) -> dict[str, Any]:
    """Return a call that reports progress, to a client that wants it."""
    return asking(call(tool, {"count": count, **arguments}, request_id), f"token {request_id}")


# --- who gets a stream ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tool", ["steps", "thread_steps"])
@pytest.mark.parametrize(
    "accept", [BOTH, "text/event-stream, application/json", "*/*", "application/json;q=0.5, Text/Event-Stream", " */* "]
)
def test_the_first_note_turns_the_answer_into_a_stream(long: int, accept: str, tool: str) -> None:
    """Spec: basic/transports/streamable-http, "Receiving Messages"; policy P6."""
    with EventWire(long) as wire:
        *notes, answer = wire.call(steps(tool=tool), accept).stream()
        expected = [{"progressToken": "token 1", "progress": n, "total": 3, "message": f"step {n}"} for n in (1, 2, 3)]
        assert [note["params"] for note in notes] == expected
        assert answer["result"]["content"][0]["text"] == "done"
        # The connection is kept, for a plain answer and for another stream.
        assert wire.call(call("echo", {"text": "plain"}, 2)).answer().text == "plain"
        assert values(wire.call(steps(2, 3)).stream()) == [1, 2]


@pytest.mark.parametrize("tool", ["steps", "thread_steps"])
@pytest.mark.parametrize("accept", ["application/json", "", "application/*", "text/html, application/json"])
def test_a_client_that_takes_no_stream_gets_json_and_no_notes(long: int, accept: str, tool: str) -> None:
    """Ours: policy P6."""
    with EventWire(long) as wire:
        answer = wire.call(steps(tool=tool), accept).answer()
        assert (answer.status, answer.headers["content-type"], answer.text) == (200, "application/json", "done")
        assert wire.call(call("echo", {"text": "next"})).answer().text == "next"


@pytest.mark.parametrize("accept", [BOTH, "*/*"])
def test_a_call_without_notes_stays_json(long: int, accept: str) -> None:
    """Ours: policy P6; also where no token was sent."""
    for message in (call("steps", {"count": 3}), steps(0), request("tools/list")):
        answer = ask(long, http(message, accept=accept))
        assert (answer.status, answer.headers["content-type"]) == (200, "application/json")
        assert "result" in answer.message


@pytest.mark.parametrize("message", [call("echo", {"text": "x"}), request("tools/list"), call("nope")])
def test_a_client_that_takes_nothing_but_streams_gets_one_event(long: int, message: dict[str, Any]) -> None:
    """Ours: policy P6; an error that is answered with 200 is an event too."""
    answer = ask(long, http(message, accept="text/event-stream"))
    assert (answer.status, answer.headers["content-type"]) == (200, "text/event-stream")
    [event] = events_of(answer.body)
    assert event["id"] == 1


def test_a_client_that_takes_nothing_but_streams_gets_notes_and_one_answer(long: int) -> None:
    """Ours: the answer is not wrapped twice."""
    with EventWire(long) as wire:
        messages = wire.call(steps(), "text/event-stream").stream()
        assert values(messages) == [1, 2, 3]
        assert len(messages) == 4


def test_json_response_switches_streams_off(tmp_path: Path) -> None:
    """Ours: the option of the official SDK."""
    file = tmp_path / "server.py"
    file.write_text(
        "from tests.fixtures.long_calls import mcp\n"
        "if __name__ == '__main__':\n    mcp.run('http', port=0, json_response=True)\n"
    )
    process = subprocess.Popen([sys.executable, str(file)], stderr=subprocess.PIPE, env=environment())
    try:
        assert process.stderr is not None
        found = re.search(rb":(\d+)/mcp", process.stderr.readline())
        assert found is not None
        answer = ask(int(found[1]), http(steps(), accept=BOTH))
        assert (answer.headers["content-type"], answer.text) == ("application/json", "done")
    finally:
        process.terminate()
        process.communicate(timeout=DEADLINE)


# --- the stream -------------------------------------------------------------------------------------------------------


def test_http_1_0_gets_a_stream_that_ends_with_the_connection(long: int) -> None:
    """Spec: RFC 9112 6.1; no chunks for a client that does not know them."""
    with EventWire(long) as wire:
        wire.send(http(steps(), accept=BOTH).replace(b"HTTP/1.1", b"HTTP/1.0"))
        fields = wire.head()
        assert "transfer-encoding" not in fields
        assert fields["connection"] == "close"
        messages = events_of(wire.rest())
        assert values(messages) == [1, 2, 3]
        assert "result" in messages[-1]


def test_a_stream_that_was_asked_to_close_says_so_and_ends_the_connection(long: int) -> None:
    """Spec: RFC 9112 9.6."""
    with EventWire(long) as wire:
        wire.call(steps(), connection="close")
        assert wire.head()["connection"] == "close"
        assert values([wire.event() for _ in range(4)]) == [1, 2, 3]
        assert wire.chunk() == b""
        assert wire.ended()


def test_no_stream_ends_the_connection_unannounced_when_the_server_ends() -> None:
    """Spec: RFC 9112 9.6; one that began before SIGTERM could not say so, what the client sent behind it does."""
    with http_server(LONG) as server, EventWire(server.port) as wire:
        for number in range(3):
            wire.call(steps(3, number, pause=0.3))
        assert "connection" not in wire.head()
        assert wire.event()["params"]["progress"] == 1
        server.process.send_signal(signal.SIGTERM)
        assert [wire.event().get("id") for _ in range(3)] == [None, None, 0]
        assert wire.chunk() == b""
        assert wire.head()["connection"] == "close"
        assert [wire.event().get("id") for _ in range(4)] == [None, None, None, 1]
        assert wire.chunk() == b""
        assert wire.ended()
        assert server.process.wait(DEADLINE) == 0


def test_the_end_of_the_server_ends_a_connection_behind_its_last_stream() -> None:
    """Ours: nothing follows that could say so."""
    with http_server(LONG) as server, EventWire(server.port) as wire:
        wire.call(steps(2, pause=0.3)).head()
        server.process.send_signal(signal.SIGTERM)
        assert [wire.event().get("id") for _ in range(3)] == [None, None, 1]
        assert wire.chunk() == b""
        assert wire.ended()
        assert server.process.wait(DEADLINE) == 0


@pytest.mark.parametrize(
    ("end", "code"), [("ToolError", None), ("RuntimeError", None), ("MCPError", -31000), ("capability", -32021)]
)
def test_errors_after_the_head_travel_in_the_stream(long: int, end: str, code: int | None) -> None:
    """Ours: policy P10; the status is out already, and the connection goes on."""
    with EventWire(long) as wire:
        note, answer = wire.call(asking(call("step_then", {"end": end}))).stream()
        assert note["params"]["progress"] == 1
        if code is None:
            assert answer["result"]["isError"]
            assert "secret" not in answer["result"]["content"][0]["text"]
        else:
            assert answer["error"]["code"] == code
        assert wire.call(call("echo", {"text": "next"})).answer().text == "next"


def test_pipelined_requests_behind_a_stream_are_answered_in_order(long: int) -> None:
    """Spec: RFC 9112 9.3.2; streams and plain answers one after the other, whole."""
    with EventWire(long) as wire:
        pieces = []
        for number in range(20):
            message = call("echo", {"text": str(number)}, number) if number % 3 else steps(3, number, pause=0.005)
            pieces.append(http(message, accept=BOTH))
        wire.send(b"".join(pieces))
        for number in range(20):
            if number % 3:
                assert wire.answer().message["id"] == number
            else:
                messages = wire.stream()
                assert (values(messages), messages[-1]["id"]) == ([1, 2, 3], number)


def test_a_client_that_does_not_read_loses_notes_but_gets_the_answer(long: int) -> None:
    """Ours: notes are news; a client that is behind holds nothing up, and its answer stays whole."""
    size = 1_000_000
    with EventWire(long, receive_buffer=4096) as wire:
        wire.call(asking(call("large_steps", {"count": 16, "size": size})))
        # The call ends, for it answers another connection's client meanwhile; nothing was read so far.
        for _ in range(20):
            ask(long, http(call("steps", {"count": 1, "pause": 0.05})))
        messages = wire.stream()
        notes = values(messages)
        assert notes == sorted(set(notes))
        assert 0 < len(notes) < 16
        assert messages[-1]["result"]["content"][0]["text"] == "done"
        assert wire.call(call("echo", {"text": "next"})).answer().text == "next"


def test_streams_of_many_connections_do_not_mix(long: int) -> None:
    """Spec: notes MUST go to the stream of the request that they belong to."""
    wires = [EventWire(long) for _ in range(50)]
    try:
        for number, wire in enumerate(wires):
            wire.call(steps(5, number, pause=0.01))
        for number, wire in enumerate(wires):
            *notes, answer = wire.stream()
            assert {note["params"]["progressToken"] for note in notes} == {f"token {number}"}
            assert [note["params"]["progress"] for note in notes] == [1, 2, 3, 4, 5]
            assert answer["id"] == number
    finally:
        for wire in wires:
            wire.socket.close()


# --- silence ----------------------------------------------------------------------------------------------------------


class Clock:
    """An HTTP server in this process whose seconds are counted by the test."""

    def __init__(self, mcp: MCPServer, keep_alive: float) -> None:
        self.http = HTTPServer(HTTPEndpoint(mcp), Limits(), keep_alive)

    def tick(self, seconds: int) -> None:
        """Let seconds go by."""
        for _ in range(seconds):
            if self.http._sweeper is not None:
                self.http._sweeper.cancel()
            self.http._sweep()


@pytest.mark.parametrize(("accept", "streams"), [(BOTH, True), ("*/*", True), ("application/json", False), ("", False)])
def test_a_silent_call_turns_into_a_stream_of_comments(accept: str, streams: bool) -> None:
    """Ours: FIELD 66; a comment after 10 s, and one each `sse_keep_alive`; no proxy cuts the call."""
    mcp = MCPServer("silent")
    started, go_on = asyncio.Event(), asyncio.Event()

    @mcp.tool
    async def silent(ctx: Context[Any]) -> str:
        started.set()
        await go_on.wait()
        return "at last"

    async def main() -> bytes:
        clock = Clock(mcp, 15)
        listener = await asyncio.get_running_loop().create_server(clock.http.connection, "127.0.0.1", 0)
        reader, writer = await asyncio.open_connection(*listener.sockets[0].getsockname()[:2])
        writer.write(http(call("silent"), accept=accept) + http(call("silent", {}, 2), accept=accept))
        await started.wait()
        clock.tick(10)
        data = b""
        if streams:
            clock.tick(1)
            data += await reader.readuntil(b"3\r\n:\n\n\r\n")
            clock.tick(15)
            clock.tick(1)
            data += await reader.readuntil(b":\n\n\r\n")
            clock.tick(14)
        else:
            clock.tick(1000)  # no deadline of a connection ends a call
        go_on.set()
        writer.write_eof()
        data += await reader.read()
        writer.close()
        listener.close()
        await clock.http.drain(1)
        return data

    data = asyncio.run(asyncio.wait_for(main(), DEADLINE))
    ours, theirs = socket.socketpair()
    with theirs:
        theirs.sendall(data)
        theirs.shutdown(socket.SHUT_WR)
        wire = EventWire.__new__(EventWire)
        wire.socket, wire._data = ours, b""
        with wire:
            if streams:
                *comments, answer = wire.stream()
                assert comments == [None, None]
                assert answer["result"]["content"][0]["text"] == "at last"
            else:
                assert wire.answer().text == "at last"
            assert wire.answer().message["id"] == 2
            assert wire.ended()


def test_comments_follow_in_a_stream_that_falls_silent() -> None:
    """Ours: `sse_keep_alive` counts from the last note."""
    mcp = MCPServer("silent")
    go_on = asyncio.Event()

    @mcp.tool
    async def work(ctx: Context[Any]) -> str:
        await ctx.report_progress(1)
        await go_on.wait()
        return "done"

    async def main() -> list[bytes]:
        clock = Clock(mcp, 3)
        listener = await asyncio.get_running_loop().create_server(clock.http.connection, "127.0.0.1", 0)
        reader, writer = await asyncio.open_connection(*listener.sockets[0].getsockname()[:2])
        writer.write(http(asking(call("work")), accept=BOTH))
        await reader.readuntil(b'"progress":1}}\n\n\r\n')
        clock.tick(3)
        for _ in range(4):
            clock.tick(1)
            assert await reader.readexactly(8) == b"3\r\n:\n\n\r\n"
            clock.tick(3)
        go_on.set()
        found = await reader.readuntil(b"0\r\n\r\n")
        writer.close()
        listener.close()
        await clock.http.drain(1)
        return [found]

    [last] = asyncio.run(asyncio.wait_for(main(), DEADLINE))
    assert last.count(b":\n\n") == 0
    assert b'"id":1' in last


# --- stdio ------------------------------------------------------------------------------------------------------------


def test_on_stdio_the_notes_of_a_call_come_before_its_answer() -> None:
    """Spec: basic/transports/stdio, "Receiving Messages"."""
    calls = [steps(3, number, tool=("steps", "thread_steps")[number % 2]) for number in range(100)]
    messages, log, code = run_stdio(LONG, b"\n".join(map(encode, calls)))
    seen: dict[str, list[float]] = {f"token {number}": [] for number in range(100)}
    answered: list[int] = []
    for message in messages:
        if "method" in message:
            token = message["params"]["progressToken"]
            assert int(token.split()[1]) not in answered
            seen[token].append(message["params"]["progress"])
        else:
            answered.append(message["id"])
    assert set(map(tuple, seen.values())) == {(1, 2, 3)}
    assert sorted(answered) == list(range(100))
    assert (log, code) == ("", 0)


def test_on_stdio_a_client_that_does_not_read_loses_notes_but_gets_the_answer() -> None:
    """Ours: what waits for such a client is bounded; then answer and progress go on."""
    with stdio_server(LONG) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        message = asking(call("large_steps", {"count": 16, "size": 1_000_000}))
        process.stdin.write(encode(message) + b"\n")
        process.stdin.flush()
        with http_server(LONG) as clock:  # somewhere else, the same time goes by
            for _ in range(20):
                ask(clock.port, http(call("steps", {"count": 1, "pause": 0.05})))
        messages = [read(process.stdout.readline())]
        while "id" not in messages[-1]:
            messages.append(read(process.stdout.readline()))
        notes = values(messages)
        assert notes == sorted(set(notes))
        assert 0 < len(notes) < 16
        assert messages[-1]["result"]["content"][0]["text"] == "done"
