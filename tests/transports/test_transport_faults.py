"""Faults as RELIABILITY lists them: states and counts; for times and memory see benchmarks/bench_faults.py."""

from __future__ import annotations

import array
import asyncio
import contextlib
import fcntl
import os
import re
import resource
import select
import signal
import socket
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from leanmcp.limits import Limits
from leanmcp.server.http_endpoint import HTTPEndpoint
from leanmcp.transports.http_server import HTTPServer
from tests.fixtures.tools import mcp
from tests.support.processes import DEADLINE, ROOT, call, encode, environment, http
from tests.support.spec import read
from tests.support.wire import Wire, ask

ECHO = http(call("echo", {"text": "hello"}))
BLOB = http(call("blob", {"size": 5_000_000}))
HALF_HEAD = ECHO[:60]
HALF_BODY = ECHO[:-10]
SCRIPT = """
from leanmcp import Limits, MCPServer
from tests.fixtures import tools

mcp = MCPServer("faults", limits=Limits(head_timeout=1, max_in_flight={in_flight}))
for tool in (tools.echo, tools.slow, tools.block, tools.boom, tools.blob, tools.mark):
    mcp.add_tool(tool)
mcp.run({transport!r}, drain=0.5, **{options!r})
"""


class Server:
    """A server on `SCRIPT`, its standard error in a file."""

    def __init__(self, path: Path, transport: str, in_flight: int, **options: Any) -> None:
        script = SCRIPT.format(in_flight=in_flight, transport=transport, options=options)
        self._log = (path / "log").open("w+b")
        self.process = subprocess.Popen(
            [sys.executable, "-c", script],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env=environment(),
            cwd=ROOT,
            bufsize=0,
        )
        self.port = 0
        self._wires: list[Wire] = []
        self._rest = b""
        if transport == "http":
            until(lambda: self._started() is not None)
            match = self._started()
            assert match is not None
            self.port = int(match[1])
            assert ask(self.port, ECHO).text == "hello"
        else:
            self.write(echo(0))
            assert self.answers(1) == [0]  # what is timed below begins when it has started
        self._said = len(self._all())

    def _started(self) -> re.Match[bytes] | None:
        return re.search(rb"http://127\.0\.0\.1:(\d+)", self._all())

    def _all(self) -> bytes:
        return os.pread(self._log.fileno(), 1 << 24, 0)

    def log(self) -> bytes:
        """Return what it logged since it started."""
        return self._all()[self._said :]

    def descriptors(self) -> int:
        """Return how many descriptors it has open."""
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def wire(self, octets: bytes) -> Wire:
        """Return a connection on which `octets` were sent; it is closed with the server, at the latest."""
        self._wires.append(Wire(self.port, receive_buffer=4096))
        return self._wires[-1].send(octets)

    def end(self) -> None:
        """End what is left."""
        for wire in self._wires:
            wire.socket.close()
        self.process.kill()
        self.process.communicate()
        self._log.close()

    def terminate(self, timeout: float = DEADLINE) -> int:
        """End it; return its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout)

    # --- stdio ----------------------------------------------------------------------------------------------------

    def write(self, *messages: dict[str, Any]) -> None:
        """Send messages, in one write."""
        assert self.process.stdin is not None
        self.process.stdin.write(b"".join(encode(message) + b"\n" for message in messages))

    def close_input(self) -> None:
        """End its input."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.stdin = None

    def unread(self) -> int:
        """Return how many bytes of its answers wait in the pipe."""
        assert self.process.stdout is not None
        waiting = array.array("i", [0])
        fcntl.ioctl(self.process.stdout, termios.FIONREAD, waiting)
        return waiting[0]

    def answers(self, count: int, timeout: float = DEADLINE) -> list[Any]:
        """Return the ids of the next answers; fewer where no more come."""
        assert self.process.stdout is not None
        data = self._rest
        while data.count(b"\n") < count and select.select([self.process.stdout], [], [], timeout)[0]:
            more = os.read(self.process.stdout.fileno(), 1 << 16)
            if not more:
                break
            data += more
        *lines, self._rest = data.split(b"\n")
        return [read(line)["id"] for line in lines]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """Starts servers that end with the test."""
    servers: list[Server] = []

    def starter(transport: str = "http", in_flight: int = 2000) -> Server:
        options = {"port": 0} if transport == "http" else {}
        servers.append(Server(tmp_path, transport, in_flight, **options))
        return servers[-1]

    yield starter
    for server in servers:
        server.end()


def until(condition: Callable[[], bool], timeout: float = DEADLINE) -> None:
    """Wait until something holds."""
    end = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)


def slow(number: int, seconds: float = 60) -> dict[str, Any]:
    """Return a call that takes its time."""
    return call("slow", {"seconds": seconds}, number)


def echo(number: int) -> dict[str, Any]:
    """Return a call that does not."""
    return call("echo", {"text": "hello"}, number)


def cancel(number: int) -> dict[str, Any]:
    """Return what cancels a call."""
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}}


# --- HTTP -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "octets", [b"", HALF_HEAD, HALF_BODY, ECHO, BLOB], ids=["silent", "head", "body", "echo", "blob"]
)
@pytest.mark.parametrize("reset", [False, True], ids=["closed", "reset"])
def test_clients_that_leave_take_everything_with_them(start: Callable[..., Server], octets: bytes, reset: bool) -> None:
    """Ours: RELIABILITY; no descriptor, no line of log but what is said of large results."""
    server = start()
    before = server.descriptors()
    for _ in range(50):
        wire = server.wire(octets)
        wire.reset() if reset else wire.socket.close()
    until(lambda: server.descriptors() <= before)
    assert ask(server.port, ECHO).text == "hello"
    assert [line for line in server.log().splitlines() if b"[LM506]" not in line] == []


def test_a_disconnect_cancels_each_call(start: Callable[..., Server]) -> None:
    """Spec: basic/transports/streamable-http, "Cancellation"."""
    server = start(in_flight=100)
    before = server.descriptors()
    wires = [server.wire(http(slow(number))) for number in range(100)]
    until(lambda: ask(server.port, ECHO).status == 503)
    for wire in wires:
        wire.socket.close()
    until(lambda: server.log().count(b"slow was cancelled\n") == 100)
    until(lambda: server.descriptors() <= before)
    assert ask(server.port, ECHO).status == 200


def test_out_of_descriptors_those_who_are_connected_are_served(start: Callable[..., Server]) -> None:
    """Ours: RELIABILITY; little log, and service goes on when descriptors are to be had."""
    server = start()
    resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (64, 64))
    wires, served = [], []
    for _ in range(100):
        with contextlib.suppress(OSError):
            wires.append(server.wire(ECHO))
    for wire in wires:
        wire.socket.settimeout(0.05)
        with contextlib.suppress(OSError, AssertionError):
            wire.answer()
            served.append(wire)
    assert 30 < len(served) < 64
    for wire in served:
        wire.socket.settimeout(DEADLINE)
        assert wire.send(ECHO).answer().text == "hello"
    assert server.log().count(b"\n") <= 2
    for wire in wires:
        wire.socket.close()
    until(lambda: server.descriptors() < 30)
    assert ask(server.port, ECHO).text == "hello"


def test_many_that_stall_together_are_all_told(start: Callable[..., Server]) -> None:
    """Ours: they are ended a few at a time, and others are served meanwhile."""
    server = start()
    wires = [server.wire(HALF_HEAD) for _ in range(350)]
    with Wire(server.port) as good:
        end = time.monotonic() + 3
        while time.monotonic() < end:
            assert good.send(ECHO).answer().text == "hello"
    assert {wire.answer().status for wire in wires} == {408}


def test_a_failing_tool_fills_no_log(start: Callable[..., Server]) -> None:
    """Ours: RELIABILITY; one record a second, the text masked."""
    server = start()
    with Wire(server.port) as wire:
        texts = {wire.send(http(call("boom"))).answer().text for _ in range(500)}
    assert not any("secret" in text for text in texts)
    assert len(server.log()) < 4000
    assert b"RuntimeError: postgres://user:secret@host" in server.log()


def test_sigterm_under_load_loses_no_answer(start: Callable[..., Server]) -> None:
    """Ours: RELIABILITY; each client is told with an answer that its connection ends."""
    server, ends = start(), []
    served: set[int] = set()

    def client() -> None:
        with Wire(server.port) as wire:
            while True:
                answer = wire.send(ECHO).answer()
                served.add(threading.get_ident())
                if answer.headers.get("connection") == "close":
                    return ends.append(answer.text)

    threads = [threading.Thread(target=client) for _ in range(8)]
    for thread in threads:
        thread.start()
    until(lambda: len(served) == len(threads))
    assert server.terminate() == 0
    for thread in threads:
        thread.join(DEADLINE)
    assert ends == ["hello"] * 8
    assert server.log() == b""


def test_sigterm_waits_for_calls_and_for_nobody_else(start: Callable[..., Server]) -> None:
    """Ours: RELIABILITY; running calls are answered; what is over the drain time is cut."""
    server = start()
    wires = [server.wire(http(slow(number, 0.3))) for number in range(20)]
    stuck = [server.wire(octets) for octets in (b"", HALF_HEAD, HALF_BODY, http(slow(99)))]
    stuck.append(server.wire(http(call("block", {"seconds": 60}))))
    assert ask(server.port, ECHO).text == "hello"  # so that all that came before has been read
    assert server.terminate() == 0  # within the deadline, which is less than what the stuck ones would take
    assert [wire.answer().text for wire in wires] == ["slept"] * 20
    assert server.log() == b"slow was cancelled\n"


def test_what_is_in_the_socket_is_answered_before_a_connection_counts_as_idle() -> None:
    """Ours: a loop that was busy has not read it yet."""

    async def main() -> bytes:
        server = HTTPServer(HTTPEndpoint(mcp), Limits())
        listener = await asyncio.get_running_loop().create_server(server.connection, "127.0.0.1", 0)
        with socket.create_connection(listener.sockets[0].getsockname()) as client:
            reader, writer = await asyncio.open_connection(sock=client)
            writer.write(ECHO)
            await reader.readuntil(b"}}}}")
            client.send(ECHO)
            [connection] = server.connections
            arrived = connection._transport.get_extra_info("socket")
            assert select.select([arrived], [], [], DEADLINE)[0]  # the loop does not run, and reads nothing
            await server.drain(1)
            listener.close()
            answer = await reader.read()
            writer.close()
            return answer

    answer = asyncio.run(main())
    assert answer.startswith(b"HTTP/1.1 200")
    assert b"\r\nConnection: close\r\n" in answer


def test_an_answer_that_is_being_read_is_not_destroyed_by_the_end() -> None:
    """Spec: RFC 9112 9.6; what the client sends behind its back would make a closed socket send a reset."""

    async def main() -> bytes:
        server = HTTPServer(HTTPEndpoint(mcp), Limits())
        loop = asyncio.get_running_loop()
        listener = await loop.create_server(server.connection, "127.0.0.1", 0)
        with socket.socket() as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.connect(listener.sockets[0].getsockname())
            client.setblocking(False)
            await loop.sock_sendall(client, http(call("blob", {"size": 200_000})))
            answer = await loop.sock_recv(client, 1000)
            draining = asyncio.create_task(server.drain(DEADLINE))
            for _ in range(10):
                await asyncio.sleep(0)
            client.send(ECHO)
            while data := await loop.sock_recv(client, 4096):
                answer += data
        await draining
        listener.close()
        return answer

    answers = asyncio.run(asyncio.wait_for(main(), DEADLINE)).split(b"HTTP/1.1 200 OK\r\n")
    (_, first), (last, _) = (answer.split(b"\r\n\r\n") for answer in answers[1:])
    assert read(first)["result"]["structuredContent"]["result"] == "x" * 200_000
    assert b"Connection: close\r\n" in last + b"\r\n"


# --- stdio ------------------------------------------------------------------------------------------------------------


def test_a_cancellation_is_read_while_calls_wait(start: Callable[..., Server]) -> None:
    """Ours: RELIABILITY; it frees the place that those before it wait for, and its call is not answered."""
    server = start("stdio", 4)
    server.write(*map(slow, range(4)), *map(echo, range(10, 30)), cancel(2))
    assert sorted(server.answers(20)) == list(range(10, 30))
    assert server.log() == b"slow was cancelled\n"


def test_cancelling_all_that_runs_restarts_the_queue(start: Callable[..., Server]) -> None:
    """Ours: a call that ends without an answer frees its place, too."""
    server = start("stdio", 4)
    server.write(*map(slow, range(4)), *map(slow, range(10, 14)), echo(20))
    assert server.answers(1, 0.3) == []
    server.write(*map(cancel, range(4)))
    assert server.answers(1, 0.3) == []
    server.write(*map(cancel, (11, 12)))
    assert server.answers(1) == [20]


def test_a_call_may_be_cancelled_before_its_turn(start: Callable[..., Server]) -> None:
    """Ours: its cancellation waits behind it."""
    server = start("stdio", 4)
    server.write(*(slow(number, 0.5) for number in range(4)), slow(10), echo(11), cancel(10))
    assert sorted(server.answers(5)) == [0, 1, 2, 3, 11]
    until(lambda: server.log() == b"slow was cancelled\n")
    server.close_input()
    assert server.answers(1) == []


def test_text_about_cancellations_is_no_cancellation(start: Callable[..., Server]) -> None:
    """Ours: lines that wait are looked at, and called once."""
    server = start("stdio", 2)
    text = encode(cancel(0)).decode()
    server.write(slow(0, 0.3), slow(1, 0.3), call("mark", {"key": text}, 2), call("mark", {"key": text}, 3))
    assert server.process.stdout is not None
    lines = [read(server.process.stdout.readline()) for _ in range(4)]
    marks = {line["id"]: line["result"]["structuredContent"]["result"] for line in lines if line["id"] > 1}
    assert sorted(marks.items()) == [(2, 1), (3, 2)]


def test_a_writer_that_is_too_fast_is_held_back(start: Callable[..., Server]) -> None:
    """Ours: RELIABILITY; a bounded part of what waits is read."""
    server = start("stdio", 4)
    server.write(*map(slow, range(4)))
    assert server.process.stdin is not None
    target, piece = server.process.stdin.fileno(), encode(echo(7)) + b"\n"
    os.set_blocking(target, False)
    written = 0
    while written < 8_000_000 and select.select([], [target], [], 1)[1]:
        with contextlib.suppress(BlockingIOError):
            written += os.write(target, piece * 200)
    assert 500_000 < written < 1_500_000


def test_the_end_of_input_waits_for_a_slow_reader(start: Callable[..., Server]) -> None:
    """Ours: RELIABILITY; 0 lost, even of those that were not called yet."""
    server = start("stdio")
    writer = threading.Thread(target=lambda: server.write(*map(echo, range(3000))))
    writer.start()
    until(lambda: server.unread() > 32 * 1024)  # of the 64 KiB that a pipe holds: the server waits for its reader
    assert server.process.stdout is not None
    output, data = server.process.stdout.fileno(), bytearray()
    while writer.is_alive() and select.select([output], [], [], DEADLINE)[0]:
        data += os.read(output, 4096)
    server.close_input()
    while select.select([output], [], [], DEADLINE)[0] and (more := os.read(output, 1 << 16)):
        data += more
        time.sleep(0.1)  # as slow readers do, but not as those that the server gives up
    assert sorted(read(line)["id"] for line in bytes(data).splitlines()) == list(range(3000))
    assert server.process.wait(DEADLINE) == 0
    assert server.log() == b""


def test_sigterm_ends_a_server_whose_client_never_pauses(start: Callable[..., Server]) -> None:
    """Ours: what was read is answered; what is written after the signal does not keep the process."""
    server, number = start("stdio"), 1
    server.write(slow(0, 0))
    ids = server.answers(1)  # from now on a signal finds its handler
    end = time.monotonic() + DEADLINE
    while server.process.poll() is None and time.monotonic() < end:
        if number == 10:
            server.process.send_signal(signal.SIGTERM)
        with contextlib.suppress(BrokenPipeError):
            server.write(slow(number, 0.2))
        number += 1
        ids += server.answers(1, 0.02)
    assert server.process.poll() == 0  # while it was written to
    ids += server.answers(number)
    assert sorted(ids) == list(range(len(ids)))
    assert len(ids) >= 10


def test_an_echo_overtakes_blocking_tools(start: Callable[..., Server]) -> None:
    """Ours: RELIABILITY; stdin and stdout share no thread with tools."""
    server = start("stdio")
    server.write(*(call("block", {"seconds": 1}, number) for number in range(50)), echo(99))
    assert server.answers(1) == [99]
    assert sorted(server.answers(50)) == list(range(50))
