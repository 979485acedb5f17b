"""Connections of the HTTP transport: reuse, order, back-pressure, disconnects, limits and the end of the process."""

from __future__ import annotations

import asyncio
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import ExitStack, suppress
from typing import Any, cast

import pytest

from leanmcp import Limits
from leanmcp.protocol.http11 import Head, Request
from leanmcp.protocol.response import Response
from leanmcp.transports.http_server import HTTPConnection, HTTPServer
from tests.support.processes import DEADLINE, ROOT, HTTPProcess, call, environment, http, http_server, request
from tests.support.wire import Wire, ask

TOOLS = "tests/fixtures/tools.py"
ECHO = http(call("echo", {"text": "hello"}))


def slow(seconds: float, request_id: int = 1, **fields: str) -> bytes:
    """Return a call that takes its time."""
    return http(call("slow", {"seconds": seconds}, request_id), **fields)


@pytest.fixture
def own() -> Iterator[HTTPProcess]:
    """A server for a test that ends it or reads its log."""
    with http_server(TOOLS) as process:
        yield process


def wait_for(process: HTTPProcess, text: str) -> None:
    """Read the server's log until `text` comes."""
    assert process.process.stderr is not None
    for line in process.process.stderr:
        if text in line.decode():
            return
    raise AssertionError(f"the server ended without {text!r}")


# --- reuse, order, back-pressure --------------------------------------------------------------------------------------


def test_one_connection_serves_many_requests(port: int) -> None:
    """Spec: RFC 9112 9.3."""
    with Wire(port) as wire:
        for number in range(50):
            assert wire.send(http(call("add", {"a": number}, number))).answer().message["id"] == number


def test_a_request_is_served_however_it_is_cut(port: int) -> None:
    """Ours: octet by octet, one request behind the other."""
    with Wire(port) as wire:
        for octet in ECHO + ECHO[: len(ECHO) // 2]:
            wire.send(bytes([octet]))
        wire.send(ECHO[len(ECHO) // 2 :])
        assert [wire.answer().text, wire.answer().text] == ["hello", "hello"]


def test_requests_sent_ahead_of_a_running_call_are_held_back_and_answered_in_order(port: int) -> None:
    """Ours: what a client sends ahead is bounded by its own socket, and nothing is lost."""
    ahead = [http(call("echo", {"text": "x" * 20_000}, number)) for number in range(1, 200)]
    with Wire(port) as wire:
        wire.send(slow(0.2, 0))
        wire.socket.settimeout(0.01)
        rest = memoryview(b"".join(ahead))
        ids: list[int] = []
        while rest or len(ids) < 200:
            with suppress(TimeoutError):
                rest = rest[wire.socket.send(rest) :] if rest else rest
            wire.socket.settimeout(DEADLINE if not rest else 0.01)
            try:
                ids.append(wire.answer().message["id"])
            except TimeoutError:
                continue
    assert ids == list(range(200))


def test_many_pipelined_requests_in_one_segment_are_all_answered(port: int) -> None:
    """Spec: RFC 9112 9.3.2."""
    with Wire(port) as wire:
        wire.send(b"".join(http(call("echo", {"text": "a"}, number)) for number in range(300)))
        assert [wire.answer().message["id"] for _ in range(300)] == list(range(300))


@pytest.mark.parametrize("tool", ["echo", "add", "inline"])
def test_a_client_that_ends_its_output_still_gets_its_answers(port: int, tool: str) -> None:
    """Ours: a half-close behind complete requests, as `printf ... | nc -N` does it."""
    arguments = {"a": 1} if tool == "add" else {"text": "hello"}
    with Wire(port) as wire:
        wire.send(*(http(call(tool, arguments, number)) for number in range(5))).half_close()
        assert [wire.answer().message["id"] for _ in range(5)] == list(range(5))
        assert wire.ended()


def test_a_client_that_does_not_read_disturbs_nobody(port: int) -> None:
    """Ours: a big answer waits for its reader alone."""
    with Wire(port, receive_buffer=100_000) as stuck:
        stuck.send(http(call("blob", {"size": 16_000_000})))
        started = time.monotonic()
        with Wire(port) as wire:
            for _ in range(50):
                assert wire.send(ECHO).answer().status == 200
        assert time.monotonic() - started < 2
        assert len(stuck.answer().text) == 16_000_000
        assert stuck.send(ECHO).answer().text == "hello"


def test_a_big_last_answer_is_not_cut_while_it_is_being_read(port: int) -> None:
    """Spec: RFC 9112 9.6; lingering begins when the answer has left, not when it is queued."""
    with Wire(port, receive_buffer=100_000) as wire:
        wire.send(http(call("blob", {"size": 16_000_000}), connection="close"))
        with Wire(port) as other:  # keep the server's clock going for longer than it lingers
            for _ in range(8):
                other.send(slow(0.5)).answer()
        assert len(wire.answer().text) == 16_000_000
        assert wire.ended()


@pytest.mark.parametrize("pace", [100_000, 1_000_000])
def test_a_slow_reader_is_not_given_up_while_it_reads(tight: int, pace: int) -> None:
    """Ours: `write_timeout` is for a standstill, not for the whole answer; nor for what the kernel holds."""
    with Wire(tight, receive_buffer=100_000) as wire, Wire(tight) as other:
        wire.send(http(call("blob", {"size": 16_000_000})))
        received = 0
        for _ in range(12):
            other.send(slow(0.5)).answer()  # half a second goes by
            wanted = received + pace
            while received < wanted:
                received += len(wire.socket.recv(wanted - received))
        while received < 16_000_000:
            piece = wire.socket.recv(1 << 20)
            assert piece
            received += len(piece)


def test_an_answer_that_nobody_reads_is_given_up(tight: int) -> None:
    """Ours: `write_timeout`; the connection does not stay for ever."""
    with Wire(tight, receive_buffer=100_000) as wire:
        wire.send(http(call("blob", {"size": 16_000_000})))
        with Wire(tight) as other:
            for _ in range(10):
                other.send(slow(0.5)).answer()
        with pytest.raises((AssertionError, ConnectionError)):
            wire.answer()


def test_an_idle_connection_ends_silently(tight: int) -> None:
    """Ours: `keep_alive_timeout`."""
    with Wire(tight) as wire:
        assert wire.send(ECHO).answer().status == 200
        assert wire.ended()


# --- disconnects ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["close", "reset", "half-close"])
def test_a_disconnect_cancels_the_running_call(own: HTTPProcess, how: str) -> None:
    """Spec: basic/transports/streamable-http, "Cancellation"."""
    wire = Wire(own.port).send(slow(60))
    assert ask(own.port, ECHO).status == 200
    started = time.monotonic()
    if how == "reset":
        wire.reset()
    elif how == "close":
        wire.socket.close()
    else:
        wire.half_close()
    wait_for(own, "slow was cancelled")
    assert time.monotonic() - started < 2
    assert ask(own.port, ECHO).status == 200
    wire.socket.close()


def test_many_disconnects_leave_no_call_in_flight(tight: int) -> None:
    """Ours: far more cancelled calls than `max_in_flight`, some cut together with their request."""
    for number in range(60):
        wire = Wire(tight).send(slow(30))
        wire.reset() if number % 2 else wire.socket.close()
    deadline = time.monotonic() + DEADLINE
    statuses: list[int] = []
    while statuses != [200, 200]:
        assert time.monotonic() < deadline
        with Wire(tight) as first, Wire(tight) as second:
            for wire in (first, second):
                wire.send(slow(0.05))
            statuses = [first.answer().status, second.answer().status]


# --- limits -----------------------------------------------------------------------------------------------------------


def test_calls_over_max_in_flight_are_refused_and_the_connection_stays(tight: int) -> None:
    """Ours: `Limits.max_in_flight`; 503 with Retry-After."""
    with Wire(tight) as first, Wire(tight) as second, Wire(tight) as third:
        first.send(slow(0.6))
        second.send(slow(0.6))
        probe = http(request("tools/list"))  # takes no place itself
        answer = third.send(probe).answer()
        while answer.status == 200:  # the first two may not have arrived yet
            answer = third.send(probe).answer()
        assert (answer.status, answer.headers["retry-after"]) == (503, "1")
        assert "max_in_flight" in answer.text
        assert (first.answer().status, second.answer().status) == (200, 200)
        assert third.send(ECHO).answer().status == 200


def test_connections_over_max_connections_are_refused(tight: int) -> None:
    """Ours: `Limits.max_connections`; the others go on."""
    with ExitStack() as stack:
        wires = [stack.enter_context(Wire(tight)) for _ in range(12)]
        one_more = stack.enter_context(Wire(tight))
        answer = one_more.answer()
        assert (answer.status, answer.headers["connection"]) == (503, "close")
        assert one_more.ended()
        assert wires[0].send(ECHO).answer().text == "hello"


@pytest.mark.parametrize(
    ("fields", "path", "status"),
    [
        ({"host": "evil.example"}, "/mcp", 421),
        ({"origin": "http://evil.example"}, "/mcp", 403),
        ({}, "/nope", 404),
        ({"content_type": "text/plain"}, "/mcp", 415),
        ({"content_length": "10000000"}, "/mcp", 413),
    ],
)
def test_a_refusal_does_not_wait_for_the_body(port: int, fields: dict[str, str], path: str, status: int) -> None:
    """Ours: the head alone decides; the connection ends, for the body may still come."""
    head = http(call("echo"), path=path, **fields).partition(b"\r\n\r\n")[0] + b"\r\n\r\n"
    for line in (head, head.replace(b"POST", b"PUT")):
        with Wire(port) as wire:
            answer = wire.send(line).answer()
            assert answer.status == (405 if line is not head and status == 415 else status)
            assert answer.headers["connection"] == "close"
            assert wire.ended()


# --- writes -----------------------------------------------------------------------------------------------------------


class Double(asyncio.Transport):
    """A transport that notes what is done to it."""

    def __init__(self, sock: socket.socket | None = None) -> None:
        super().__init__({"socket": sock})
        self.writes: list[bytes] = []
        self.ended = False
        self.done = asyncio.Event()

    def write(self, data: bytes | bytearray | memoryview[Any]) -> None:
        self.writes.append(bytes(data))
        self.done.set()

    def writelines(self, pieces: Any) -> None:
        self.write(b"".join(pieces))

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None:
        self.ended = True

    def resume_reading(self) -> None:
        pass

    def close(self) -> None:
        self.ended = True

    def abort(self) -> None:
        self.ended = True


Answerer = Callable[[Request], Response | Coroutine[Any, Any, Response]]


class Answering:
    """An endpoint that admits everything."""

    def __init__(self, answer: Answerer) -> None:
        self._answer = answer

    def admit(self, head: Head) -> None:
        return None

    def fields(self, headers: dict[str, str]) -> bytes:
        """Add nothing."""
        return b""

    def stream_fields(self, head: Head) -> None:
        return None

    def respond(self, request: Request, channel: HTTPConnection) -> Response | Coroutine[Any, Any, Response]:
        return self._answer(request)

    def failure(self, error: Exception, request: Request) -> Response:
        raise error


def written(respond: Answerer, *segments: bytes) -> list[bytes]:
    """Return the writes of one connection whose requests `respond` answers."""

    async def main() -> list[bytes]:
        server = HTTPServer(Answering(respond), Limits())
        double = Double()
        connection = HTTPConnection(server)
        connection.connection_made(double)
        for segment in segments:
            double.done.clear()
            connection.data_received(segment)
            await asyncio.wait_for(double.done.wait(), DEADLINE)
        connection.connection_lost(None)
        return double.writes

    return asyncio.run(main())


@pytest.mark.parametrize("pieces", [1, 40])
@pytest.mark.parametrize("length", [10, 40_000, 500_000])
def test_an_answer_leaves_in_one_write(length: int, pieces: int) -> None:
    """Ours: head and body in two writes cost 40 ms where the peer delays its acknowledgements."""
    body = [b"x" * (length // pieces)] * pieces

    async def later(request: Request) -> Response:
        await asyncio.sleep(0)
        return Response(200, body)

    for respond in (cast("Answerer", lambda request: Response(200, body)), later):
        writes = written(respond, ECHO, ECHO)
        assert len(writes) == 2
        assert all(write.endswith(b"\r\n\r\n" + b"".join(body)) for write in writes)


@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_UNIX])
def test_every_accepted_socket_sends_without_delay(family: socket.AddressFamily) -> None:
    """Ours: TCP_NODELAY is set by us, whoever made the listening socket; other families have no such option."""

    async def main(sock: socket.socket) -> None:
        server = HTTPServer(Answering(lambda request: Response(200, [])), Limits())
        connection = HTTPConnection(server)
        connection.connection_made(Double(sock))
        connection.connection_lost(None)

    with socket.socket(family) as sock:
        asyncio.run(main(sock))
        if family == socket.AF_INET:
            assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_an_answer_takes_no_step_of_40_milliseconds(port: int) -> None:
    """Ours: the same seen from outside, on a quiet connection."""
    with Wire(port) as wire:
        times = []
        for _ in range(30):
            started = time.perf_counter()
            wire.send(ECHO).answer()
            times.append(time.perf_counter() - started)
    assert sorted(times)[15] < 0.025


# --- the end of the process -------------------------------------------------------------------------------------------


def test_sigterm_answers_running_calls_and_exits_with_0(own: HTTPProcess) -> None:
    """Ours: RELIABILITY; the process does not wait for clients that keep their connection open."""
    with ExitStack() as stack:
        wires = [stack.enter_context(Wire(own.port)) for _ in range(20)]
        idle, used = stack.enter_context(Wire(own.port)), stack.enter_context(Wire(own.port))
        for wire in wires:
            wire.send(slow(0.8))
        assert used.send(ECHO).answer().status == 200
        own.process.send_signal(signal.SIGTERM)
        for wire in wires:
            answer = wire.answer()
            assert (answer.text, answer.headers["connection"]) == ("slept", "close")
        started = time.monotonic()
        assert own.process.wait(DEADLINE) == 0
        assert time.monotonic() - started < 0.8
        assert all(wire.ended() for wire in (*wires, idle, used))


def test_sigterm_answers_what_is_on_its_way_on_a_kept_connection(own: HTTPProcess) -> None:
    """Ours: a request that crosses the signal is answered, with `Connection: close`."""
    with Wire(own.port) as wire:
        wire.send(ECHO).answer()
        own.process.send_signal(signal.SIGTERM)
        answer = wire.send(ECHO).answer()
        assert answer.status == 200
        assert wire.ended()
    assert own.process.wait(DEADLINE) == 0


def test_drain_ends_calls_that_take_too_long() -> None:
    """Ours: SIGINT gives calls 1.5 s and exits with 130; no traceback."""
    with http_server(TOOLS) as own, Wire(own.port) as wire:
        wire.send(slow(60))
        assert ask(own.port, ECHO).status == 200
        started = time.monotonic()
        own.process.send_signal(signal.SIGINT)
        assert own.process.wait(DEADLINE) == 130
        assert time.monotonic() - started < 4
        assert own.process.stderr is not None
        assert own.process.stderr.read() == b"slow was cancelled\n"


@pytest.mark.parametrize(("first", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_second_signal_ends_the_process_at_once(own: HTTPProcess, first: signal.Signals, code: int) -> None:
    """Ours: whoever signals twice does not want to wait."""
    with Wire(own.port) as wire, Wire(own.port) as other:
        wire.send(slow(60))
        other.send(ECHO).answer()
        own.process.send_signal(first)
        while other.send(ECHO).answer().headers.get("connection") != "close":
            pass  # until the signal has arrived
        started = time.monotonic()
        own.process.send_signal(first)
        assert own.process.wait(DEADLINE) == code
        assert time.monotonic() - started < 1.2  # one signal gives the call 1.5 s


def test_a_taken_port_is_told_in_one_line(own: HTTPProcess) -> None:
    """Ours: UX; what happened, where, and what to do."""
    command = [sys.executable, "-m", "leanmcp", "run", TOOLS, "--http", "--port", str(own.port)]
    done = subprocess.run(command, env=environment(), cwd=ROOT, capture_output=True, timeout=DEADLINE, text=True)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert f"127.0.0.1:{own.port}" in done.stderr
    assert "--port" in done.stderr


def test_aborted_clients_leave_nothing_in_the_log(own: HTTPProcess) -> None:
    """Ours: resets in a body, in an answer and before a request cost no log line."""
    for raw in (b"", b"POST", ECHO[:-3], http(call("blob", {"size": 5_000_000})), b"\0\r\n\r\n") * 10:
        Wire(own.port).send(raw).reset()
    assert ask(own.port, ECHO).status == 200
    own.process.send_signal(signal.SIGTERM)
    assert own.process.wait(DEADLINE) == 0
    assert own.process.stderr is not None
    assert own.process.stderr.read() == b""
