"""Faults on stdio: the end of input, signals, floods, a reader that stops, lines that are too long or no JSON."""

from __future__ import annotations

import os
import selectors
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec

from benchmarks.faults_base import DEADLINE, MB, Options, Process, Row, at_most, cancel, equal, line

_READ_SIZE = 1 << 18
_PIECE = 1 << 16


class StdioServer(Process):
    """A server on pipes, which are written and read at the same time."""

    def __init__(self) -> None:
        super().__init__(pipes=True)
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._input, self._output = self.process.stdin.fileno(), self.process.stdout.fileno()
        os.set_blocking(self._input, False)
        self._rest = b""
        if len(self.talk(b"".join(line("echo", number, text="warm up") for number in range(300)), 300)) < 300:
            text = self.log().decode()[-500:]
            self.end()
            raise RuntimeError(f"the server did not start: {text}")
        time.sleep(0.5)  # what is loaded once serving has started

    def talk(self, data: bytes, answers: int, timeout: float = DEADLINE) -> list[bytes]:
        """Write `data` and return the lines that come back, once there are `answers` of them or the output ended."""
        lines: list[bytes] = []
        view = memoryview(data)
        deadline = time.perf_counter() + timeout
        with selectors.DefaultSelector() as selector:
            selector.register(self._output, selectors.EVENT_READ)
            if view:
                selector.register(self._input, selectors.EVENT_WRITE)
            while view or len(lines) < answers:
                if time.perf_counter() > deadline:
                    raise TimeoutError(f"{len(lines)} of {answers} answers, {len(view)} bytes not taken")
                for key, _ in selector.select(1):
                    if key.fd == self._input:
                        view = view[os.write(self._input, view[:_PIECE]) :]
                        if not view:
                            selector.unregister(self._input)
                    else:
                        more = os.read(self._output, _READ_SIZE)
                        if not more:
                            return lines
                        *whole, self._rest = (self._rest + more).split(b"\n")
                        lines += whole
        return lines

    def write(self, data: bytes) -> int:
        """Write what the pipe takes now; return how much that was."""
        written = 0
        try:
            while written < len(data):
                written += os.write(self._input, data[written : written + _PIECE])
        except BlockingIOError:
            pass
        return written

    def close_input(self) -> None:
        """End its input."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.stdin = None

    def rest(self) -> list[bytes]:
        """Return the lines up to the end of its output."""
        return self.talk(b"", 1 << 30)


@contextmanager
def stdio_server() -> Iterator[StdioServer]:
    """Run a server while the block runs."""
    server = StdioServer()
    try:
        yield server
    finally:
        server.end()


def end_of_input(options: Options) -> Iterator[Row]:
    """The input ends behind 2,000 calls; behind slow(30) and block(30)."""
    with stdio_server() as server:
        answers = len(server.talk(b"".join(line("echo", number, text="hello") for number in range(2000)), 0))
        server.close_input()
        since = time.perf_counter()
        answers += len(server.rest())
        yield equal("stdio, end behind 2,000 calls: lost", 2000 - answers, 0)
        server.exit(since)
        yield at_most("stdio, end behind 2,000 calls: exit", time.perf_counter() - since, 0.3, "s")
    for tool in ("slow", "block"):
        with stdio_server() as server:
            server.talk(line(tool, 1, seconds=30) + line("echo", 2, text="hello"), 1)
            server.close_input()
            took = server.exit(time.perf_counter())
            yield at_most(f"stdio, end with {tool}(30): exit", took, 2, "s")
            yield equal(f"stdio, end with {tool}(30): exit code", server.process.returncode, 0)


def terminated(options: Options) -> Iterator[Row]:
    """SIGTERM with 20 slow(0.5); and while calls keep coming."""
    with stdio_server() as server:
        server.talk(b"".join(line("slow", number, seconds=0.5) for number in range(20)), 0)
        time.sleep(0.2)
        since = server.signal()
        answered = sum(b"slept" in answer for answer in server.rest())
        yield equal("stdio, SIGTERM with 20 slow(0.5): answered", answered, 20)
        server.exit(since)
        yield equal("stdio, SIGTERM with 20 slow(0.5): exit code", server.process.returncode, 0)
    with stdio_server() as server:
        server.talk(line("block", 1, seconds=0.5), 0)
        time.sleep(0.2)
        since = server.signal()
        number, stop = 2, time.perf_counter() + 5
        while server.process.poll() is None and time.perf_counter() < stop:
            try:
                server.talk(line("echo", number, text="hello"), 0)
            except BrokenPipeError:
                break
            number += 1
            time.sleep(0.001)
        yield at_most("stdio, SIGTERM while calls keep coming: exit", server.exit(since), 1, "s")


def pipelined(options: Options) -> Iterator[Row]:
    """50,000 calls in one go."""
    count = options.count(50_000)
    data = b"".join(line("echo", number, text="hello") for number in range(count))
    with stdio_server() as server:
        before, cpu = server.rss(), server.cpu()
        server.forget_peak()
        answers = len(server.talk(data, count))
        yield at_most(f"stdio, {count} pipelined: CPU of each", (server.cpu() - cpu) / count * 1e6, 10, "µs")
        yield at_most(f"stdio, {count} pipelined: peak", (server.peak() - before) / MB, 4, "MB")
        yield equal(f"stdio, {count} pipelined: answers", answers, count)


def stopped_reader(options: Options) -> Iterator[Row]:
    """A client that writes all it can and reads nothing for 5 s."""
    data = b"".join(line("echo", number, text="hello") for number in range(50_000))
    with stdio_server() as server:
        before = server.rss()
        written = server.write(data)
        stop = time.perf_counter() + 1
        while time.perf_counter() < stop and written < len(data):
            written += server.write(data[written:])
            time.sleep(0.01)
        cpu, seconds = server.cpu(), 1.0 if options.quick else 5.0
        time.sleep(seconds)
        yield at_most("stdio, stopped reader: memory", (server.rss() - before) / MB, 4, "MB")
        yield at_most("stdio, stopped reader: CPU", (server.cpu() - cpu) / seconds * 100, 0.5, "%")
        end = data.index(b"\n", written) + 1
        expected = data.count(b"\n", 0, end)
        answers = len(server.talk(data[written:end], expected))
        yield equal("stdio, stopped reader: answers once it reads", expected - answers, 0, " missing")


def long_line(options: Options) -> Iterator[Row]:
    """A line of 64 MB, over the limit, then a call; a line just under the limit."""
    with stdio_server() as server:
        before = server.rss()
        server.forget_peak()
        answers = server.talk(b'{"x":"' + b"x" * (64 * MB) + b'"}\n' + line("echo", 7, text="hello"), 2)
        yield at_most("stdio, line of 64 MB: peak", (server.peak() - before) / MB, 20, "MB")
        first, second = map(_decode, answers)
        holds = first["error"]["code"] == -32600 and "id" not in first and second["id"] == 7
        yield Row("stdio, line of 64 MB: answered", str(first["error"])[:60], "-32600 without id, then the call", holds)
        size = 16 * MB - 400
        server.forget_peak()
        before = server.rss()
        server.talk(line("length", 8, text="x" * size), 1)
        yield at_most("stdio, line just under the limit of 16 MB: peak", (server.peak() - before) / size, 3.2, "x")


def bad_lines(options: Options) -> Iterator[Row]:
    """1,000 lines that are no message between 1,000 good calls."""
    bad = (b"{", b"nonsense", b"[]", b"17", b'{"jsonrpc":"1.0","id":1,"method":"x"}', b"\xff\xfe", b'{"jsonrpc":"2.0"')
    silent = (b"", b"  ", b'{"jsonrpc":"2.0","method":"notifications/unknown"}')
    pieces = []
    for number in range(1000):
        pieces += [bad[number % len(bad)] + b"\n", silent[number % 3] + b"\n", line("echo", number, text="hello")]
    with stdio_server() as server:
        answers = [_decode(answer) for answer in server.talk(b"".join(pieces), 2000)]
        good = sum("result" in answer for answer in answers)
        errors = sum(answer.get("error", {}).get("code") in (-32700, -32600) for answer in answers)
        yield equal("stdio, 1,000 bad lines: good calls answered", good, 1000)
        yield equal("stdio, 1,000 bad lines: errors", errors, 1000)
        late = server.talk(line("echo", 5000, text="hello"), 1)
        yield equal("stdio, 1,000 bad lines: further answers", len(late) - 1, 0)


def cancelled(options: Options) -> Iterator[Row]:
    """1,000 calls cancelled by notification; a call cancelled while as many run as may."""
    with stdio_server() as server:
        server.talk(b"".join(line("slow", number, seconds=60) for number in range(1000)), 0)
        time.sleep(0.3)
        started = time.perf_counter()
        server.talk(b"".join(map(cancel, range(1000))), 0)
        _until_counted(server, 1000)
        yield at_most("stdio, 1,000 calls cancelled", time.perf_counter() - started, 0.1, "s")
        answers = server.talk(line("echo", 9000, text="hello"), 1)
        yield equal("stdio, answers to cancelled calls", len(answers) - 1, 0)
    with stdio_server() as server:
        server.talk(b"".join(line("slow", number, seconds=60) for number in range(2000)), 0)
        time.sleep(0.5)
        queued = b"".join(line("echo", 5000 + number, text="hello") for number in range(500))
        server.talk(queued + cancel(3), 0)
        started = time.perf_counter()
        try:
            answers = server.talk(b"", 500, timeout=3)
        except TimeoutError:
            answers = []
        figure = f"{len(answers)} after {time.perf_counter() - started:.2f} s"
        yield Row("stdio, 500 calls and a cancellation behind 2,000 running", figure, "500", len(answers) == 500)


def _until_counted(server: StdioServer, count: int) -> None:
    number, stop = 100_000, time.perf_counter() + DEADLINE
    while time.perf_counter() < stop:
        number += 1
        for answer in server.talk(line("counts", number), 1):
            if _decode(answer).get("result", {}).get("structuredContent", {}).get("cancelled") == count:
                return
    raise TimeoutError("waited in vain")


def boom(options: Options) -> Iterator[Row]:
    """A tool that fails on each call."""
    count = options.count(2000)
    with stdio_server() as server:
        good = _cpu_each(server, "echo", {"text": "hello"}, count)
        before = len(server.log())
        failing = _cpu_each(server, "boom", {}, count)
        yield at_most("CPU of a failing call, stdio", failing, 25, "µs", f" (a good one {good:.0f})")
        yield at_most("failing call / good call, stdio", failing / good, 2, "x")
        yield at_most(f"log of {count} failing calls, stdio", (len(server.log()) - before) / 1000, 64, "kB")


def _cpu_each(server: StdioServer, tool: str, arguments: dict[str, Any], count: int) -> float:
    server.talk(b"".join(line(tool, number, **arguments) for number in range(200)), 200)
    before = server.cpu()
    server.talk(b"".join(line(tool, number, **arguments) for number in range(count)), count)
    return (server.cpu() - before) / count * 1e6


def block(options: Options) -> Iterator[Row]:
    """50 calls that hold a worker thread each, an echo behind them, and more echoes while they run."""
    with stdio_server() as server:
        calls = deque(line("block", number, seconds=1) for number in range(50))
        started = time.perf_counter()
        server.talk(b"".join(calls) + line("echo", 100, text="hello"), 1)
        yield at_most("stdio, an echo behind 50 blocking calls", (time.perf_counter() - started) * 1000, 20, "ms")
        latencies = []
        for number in range(200):
            began = time.perf_counter()
            server.talk(line("echo", 200 + number, text="hello"), 1)
            latencies.append(time.perf_counter() - began)
            time.sleep(0.002)
        p99 = sorted(latencies)[len(latencies) * 99 // 100]
        yield at_most("stdio, 50 blocking calls: echo p99", p99 * 1000, 20, "ms")


def _decode(answer: bytes) -> Any:
    return msgspec.json.decode(answer)
