"""Cancellation on the wire: a thousand calls at once, clean-up that takes time, and child processes that end, too."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from leanmcp import Limits, MCPServer
from leanmcp.server.http_endpoint import HTTPEndpoint
from leanmcp.transports.http_server import HTTPServer
from tests.support.events import BOTH, EventWire
from tests.support.lines import asking, cancelled
from tests.support.processes import DEADLINE, HTTPProcess, call, encode, http, http_server, stdio_server
from tests.support.wire import Wire, ask

LONG = "tests/fixtures/long_calls.py"
CALLS = 1000


@pytest.fixture(scope="module")
def server() -> Iterator[HTTPProcess]:
    """A server with long calls on HTTP."""
    with http_server(LONG) as process:
        yield process


class Pipe:
    """A server with long calls on stdio."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self.process = process
        self._input, self._output = process.stdin, process.stdout

    def send(self, *messages: dict[str, Any]) -> None:
        """Write messages at once."""
        self._input.write(b"".join(encode(message) + b"\n" for message in messages))
        self._input.flush()

    def ask(self, message: dict[str, Any]) -> Any:
        """Send a request; the next message is its answer, whatever went before."""
        self.send(message)
        answer = msgspec.json.decode(self._output.readline())
        assert answer["id"] == message["id"], answer
        return answer["result"].get("structuredContent")


@pytest.fixture
def pipe() -> Iterator[Pipe]:
    """A server with long calls on stdio."""
    with stdio_server(LONG) as process:
        yield Pipe(process)


def until(check: Callable[[], bool]) -> float:
    """Repeat a check that asks the server until it holds; return the seconds it took."""
    started = time.monotonic()
    while not check():
        assert time.monotonic() - started < DEADLINE
    return time.monotonic() - started


def counts(port: int) -> dict[str, int]:
    """Return what the server counts."""
    found: dict[str, int] = ask(port, http(call("counts"))).message["result"]["structuredContent"]
    return found


def test_a_thousand_disconnects_cancel_a_thousand_calls(server: HTTPProcess) -> None:
    """Spec: "Cancellation"; RELIABILITY: all within 0.2 s (here with slack), and their descriptors come back."""
    ask(server.port, http(call("reset")))
    before = counts(server.port)
    wires = []
    for number in range(CALLS):
        accept = (BOTH, "application/json", "")[number % 3]
        wires.append(Wire(server.port).send(http(call("hold"), accept=accept)))
    until(lambda: counts(server.port)["running"] == CALLS)
    for number, wire in enumerate(wires):
        wire.reset() if number % 2 else wire.socket.close()
    took = until(lambda: counts(server.port)["cleaned"] == CALLS)
    assert took < 2
    after = counts(server.port)
    assert after["running"] == 0
    until(lambda: counts(server.port)["descriptors"] <= before["descriptors"])


def test_a_thousand_notifications_cancel_a_thousand_calls(pipe: Pipe) -> None:
    """Spec: "Cancellation"; RELIABILITY: all within 0.1 s (here with slack), and no answer for any."""
    before = pipe.ask(call("counts"))
    pipe.send(*(call("hold", {}, number) for number in range(CALLS)))
    until(lambda: bool(pipe.ask(call("counts", {}, "c"))["running"] == CALLS))
    pipe.send(*(cancelled(number) for number in range(CALLS)))
    assert until(lambda: bool(pipe.ask(call("counts", {}, "c"))["cleaned"] == CALLS)) < 2
    after = pipe.ask(call("counts", {}, "c"))
    assert (after["running"], after["descriptors"]) == (0, before["descriptors"])
    # Nothing was sent for them, and the ids are free.
    pipe.send(*(call("echo", {"text": "x"}, number) for number in range(CALLS)))
    assert pipe.process.stdout is not None
    ids = [msgspec.json.decode(pipe.process.stdout.readline())["id"] for _ in range(CALLS)]
    assert ids == list(range(CALLS))
    pipe.process.send_signal(signal.SIGTERM)
    assert pipe.process.communicate(timeout=DEADLINE) == (b"", b"")


def test_a_stream_that_is_closed_cancels_its_call(server: HTTPProcess) -> None:
    """Spec: closing the SSE response stream is the cancellation signal."""
    with EventWire(server.port) as wire:
        wire.call(asking(call("steps", {"count": 100_000, "pause": 0.001})))
        wire.head()
        assert wire.event()["params"]["progress"] == 1
    until(lambda: counts(server.port)["running"] == 0)
    assert ask(server.port, http(call("echo", {"text": "hello"}))).text == "hello"


@pytest.mark.parametrize(("seconds", "last"), [(0.05, "clean"), (60, "cut short")])
@pytest.mark.parametrize("transport", ["http", "stdio"])
def test_clean_up_may_await_for_a_bounded_time(transport: str, seconds: float, last: str) -> None:
    """Ours: FIELD 37; `Limits.cleanup_grace` is 0.3 s here."""
    message = call("linger", {"seconds": seconds})
    if transport == "stdio":
        with stdio_server(LONG) as process:
            Pipe(process).send(message, call("echo", {"text": "x"}, 2))
            assert process.stdout is not None
            process.stdout.readline()
            Pipe(process).send(cancelled())
            lines_until(process, last)
    else:
        with http_server(LONG) as server:
            wire = Wire(server.port).send(http(message))
            assert ask(server.port, http(call("echo", {"text": "x"}))).status == 200
            wire.socket.close()
            lines_until(server.process, last)


def lines_until(process: subprocess.Popen[bytes], last: str) -> None:
    """Read the log up to a line; it comes within the grace."""
    assert process.stderr is not None
    assert process.stderr.readline() == b"cleaning\n"
    started = time.monotonic()
    for line in process.stderr:
        if line.decode().strip() == last:
            break
    else:
        raise AssertionError("the log ended")
    assert time.monotonic() - started < 5


@pytest.mark.parametrize("transport", ["http", "stdio"])
def test_calls_that_the_end_of_the_server_cancels_clean_up(transport: str) -> None:
    """Ours: FIELD 37; within a moment, for the process must not be held up."""
    message = call("linger", {"seconds": 0.05})
    if transport == "stdio":
        with stdio_server(LONG) as process:
            Pipe(process).send(message, call("echo", {"text": "x"}, 2))
            assert process.stdout is not None
            process.stdout.readline()
            process.send_signal(signal.SIGINT)
            log = process.communicate(timeout=DEADLINE)[1]
    else:
        with http_server(LONG) as server, Wire(server.port) as wire:
            wire.send(http(message))
            assert ask(server.port, http(call("echo", {"text": "x"}))).status == 200
            server.process.send_signal(signal.SIGINT)
            log = server.process.communicate(timeout=DEADLINE)[1]
    assert log == b"cleaning\nclean\n"


@pytest.mark.parametrize("transport", ["http", "stdio", "end of input"])
def test_children_and_grandchildren_end_with_their_call(tmp_path: Path, transport: str) -> None:
    """Ours: FIELD 14; `run_child` ends the whole group on disconnect, cancellation and at the end of the server."""
    path = tmp_path / "ids"
    message = call("family", {"path": str(path)})

    def ids() -> list[int]:
        text = path.read_text() if path.exists() else ""
        return [int(part) for part in text.split()] if text.endswith("\n") else []

    if transport == "http":
        with http_server(LONG) as server:
            with Wire(server.port) as wire:
                wire.send(http(message))
                until(lambda: len(ids()) == 2)
            until(lambda: not any(map(is_running, ids())))
    else:
        with stdio_server(LONG) as process:
            Pipe(process).send(message)
            until(lambda: len(ids()) == 2)
            assert all(map(is_running, ids()))
            if transport == "stdio":
                Pipe(process).send(cancelled())
            else:
                assert process.stdin is not None
                process.stdin.close()
                process.stdin = None
                process.wait(DEADLINE)
            until(lambda: not any(map(is_running, ids())))


def is_running(pid: int) -> bool:
    """Return whether a process runs; one that has ended may be left in the table, for nobody waits for orphans."""
    done = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, timeout=DEADLINE)
    return done.stdout.strip()[:1] not in ("", "Z")


def test_a_call_that_cancels_itself_has_no_answer() -> None:
    """Ours: in its first step or later; the connection ends, and nothing stays in flight."""
    mcp = MCPServer("quits")

    @mcp.tool
    async def quits(when: str) -> None:
        if when == "never":
            return
        if when == "late":
            await asyncio.sleep(0)
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        raise asyncio.CancelledError

    async def main() -> None:
        server = HTTPServer(HTTPEndpoint(mcp), Limits())
        listener = await asyncio.get_running_loop().create_server(server.connection, "127.0.0.1", 0)
        for when in ("at once", "late"):
            reader, writer = await asyncio.open_connection(*listener.sockets[0].getsockname())
            for _ in range(2):
                writer.write(http(call("quits", {"when": "never"})))
                assert await reader.readuntil(b"}}}}")
            writer.write(http(call("quits", {"when": when})))
            with contextlib.suppress(ConnectionError):
                assert await reader.read() == b""
            writer.close()
        assert server.in_flight == 0
        listener.close()
        await server.drain(1)

    asyncio.run(asyncio.wait_for(main(), DEADLINE))


def test_a_half_closed_connection_leaves_no_descriptor(server: HTTPProcess) -> None:
    """Ours: clients that vanish in every way there is."""
    before = counts(server.port)["descriptors"]
    for number in range(60):
        wire = Wire(server.port).send(http(call("hold"), accept=BOTH))
        if number % 3 == 0:
            wire.socket.shutdown(socket.SHUT_WR)
            wire.ended_or_more()
            wire.socket.close()
        elif number % 3 == 1:
            wire.reset()
        else:
            wire.socket.close()
    until(lambda: counts(server.port)["running"] == 0 and counts(server.port)["descriptors"] <= before)
