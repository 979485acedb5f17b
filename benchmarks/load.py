"""The load generator: a process of its own that keeps a server busy and checks every answer.

In: a Job as JSON on the command line. Out: a Sample as JSON on standard output.
HTTP: a closed loop on kept connections, the next request leaves when the answer has come. stdio: a window of requests
in flight on one pair of pipes, refilled as answers come in.

Server CPU is read from the CPU clock of the server's process (clock_getcpuclockid(3)): nanoseconds of user and
system time of all its threads, those that have ended included. /proc/PID/stat counts ticks of 10 ms, and
/proc/PID/schedstat knows the main thread only.
"""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Literal, cast

import msgspec
import uvloop

VERSION = "2026-07-28"
TEXT = "hello"
FIRST_ID = 1_000_000_000  # ids of one width: every request has the same length, so that one head serves all
_CPU_CLOCK = 2  # CPUCLOCK_SCHED of the kernel's clock ids
_READ_SIZE = 256 * 1024
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_ID = re.compile(rb'"id": ?(\d+)')
_RESULT = re.compile(rb'"result": ?\{')
_clock = time.perf_counter


class Job(msgspec.Struct):
    """What to do.

    Args:
        transport: "http" or "stdio".
        pid: of the server, for its CPU clock.
        seconds: of the timed part.
        warm_up: seconds before it.
        port: of the HTTP server.
        connections: HTTP connections, one request in flight on each.
        reads: descriptor that the answers of a stdio server come from.
        writes: descriptor that takes its requests.
        window: stdio requests in flight.
        echoes: whether answers carry the id and the text of their request; a floor's do not.
    """

    transport: Literal["http", "stdio"]
    pid: int
    seconds: float
    warm_up: float
    port: int = 0
    connections: int = 32
    reads: int = -1
    writes: int = -1
    window: int = 64
    echoes: bool = True


class Sample(msgspec.Struct):
    """What came of it.

    Args:
        calls: answers in the timed part.
        per_second: calls per second.
        cpu_us: CPU microseconds of the server per call.
        p50_us: median latency, from handing over the request to having its whole answer.
        p99_us: 99th percentile.
    """

    calls: int
    per_second: float
    cpu_us: float
    p50_us: float
    p99_us: float


def message(request_id: int) -> bytes:
    """Return the tools/call request that every server gets, as JSON in one line."""
    return _PREFIX + b"%d" % request_id + _SUFFIX


_PREFIX, _SUFFIX = (
    msgspec.json.encode(
        {
            "jsonrpc": "2.0",
            "id": 0,
            "method": "tools/call",
            "params": {
                "_meta": {
                    "io.modelcontextprotocol/protocolVersion": VERSION,
                    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1.0"},
                    "io.modelcontextprotocol/clientCapabilities": {},
                },
                "name": "echo",
                "arguments": {"text": TEXT},
            },
        }
    )
    .replace(b'"id":0', b'"id":%')
    .split(b"%")
)


def head(port: int) -> bytes:
    """Return the head that belongs to `message`, with the mirrored fields."""
    fields = (
        f"Host: 127.0.0.1:{port}",
        "User-Agent: bench/1.0",
        "Accept: application/json, text/event-stream",
        "Content-Type: application/json",
        f"MCP-Protocol-Version: {VERSION}",
        "Mcp-Method: tools/call",
        "Mcp-Name: echo",
        f"Content-Length: {len(message(FIRST_ID))}",
    )
    return "\r\n".join(("POST /mcp HTTP/1.1", *fields, "\r\n")).encode()


def cpu_seconds(pid: int) -> float:
    """Return user and system time of a process, all threads."""
    return time.clock_gettime((~pid << 3) | _CPU_CLOCK)


def run(job: Job, descriptors: tuple[int, ...] = ()) -> Sample:
    """Do `job` in a process of its own.

    Raises:
        RuntimeError: an answer was wrong or missing.
    """
    command = [sys.executable, str(Path(__file__).resolve()), msgspec.json.encode(job).decode()]
    timeout = job.warm_up + job.seconds + 30
    done = subprocess.run(command, capture_output=True, pass_fds=descriptors, timeout=timeout, check=False)
    if done.returncode:
        raise RuntimeError(f"load generator: {done.stderr.decode().strip()}")
    return msgspec.json.decode(done.stdout, type=Sample)


class Meter:
    """Counts the calls of the timed part, and stops the load when it is over."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self.latencies: list[float] = []
        self.running = True
        self.started = self.cpu = 0.0

    def start(self) -> None:
        """Begin the timed part."""
        self.latencies.clear()
        self.cpu = cpu_seconds(self._job.pid)
        self.started = _clock()

    def stop(self) -> Sample:
        """End it."""
        seconds = _clock() - self.started
        cpu = cpu_seconds(self._job.pid) - self.cpu
        self.running = False
        calls = len(self.latencies)
        ordered = sorted(self.latencies)
        return Sample(
            calls,
            calls / seconds,
            cpu / max(calls, 1) * 1e6,
            ordered[calls // 2] * 1e6,
            ordered[calls * 99 // 100] * 1e6,
        )


# --- HTTP ---------------------------------------------------------------------------------------------------------


class Client(asyncio.Protocol):
    """One connection: a request, its answer, the next request."""

    _write: Callable[[bytes], None]

    def __init__(self, job: Job, meter: Meter, number: int, failed: asyncio.Future[None]) -> None:
        self._meter = meter
        self._failed = failed
        self._echoes = job.echoes
        self._start = head(job.port) + _PREFIX
        self._id = FIRST_ID + number * 10_000_000
        self._number = b""
        self._expected = b""
        self._sent = 0.0
        self._buffered = b""
        self._size = -1  # octets of a whole answer, -1 until its head is there
        self._same = -1  # octets of the answer before: one of the same length has the same head

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._write = cast("asyncio.Transport", transport).write
        self._sent = _clock()
        self._send()

    def data_received(self, data: bytes) -> None:
        if self._buffered:
            data = self._buffered + data
        if len(data) != self._same:
            if not self._is_whole(data):
                self._buffered = data
                return
            self._same = len(data)
        self._buffered, self._size = b"", -1
        if not data.startswith(b"HTTP/1.1 200") or (self._echoes and self._expected not in data):
            self.fail(f"the answer to {self._number!r} is {data!r}")
            return
        now = _clock()
        self._meter.latencies.append(now - self._sent)
        self._sent = now
        if self._meter.running:
            self._send()

    def connection_lost(self, error: Exception | None) -> None:
        if self._meter.running:
            self.fail("the server closed a connection")

    def fail(self, text: str) -> None:
        """End the run."""
        if not self._failed.done():
            self._failed.set_exception(RuntimeError(text))

    def _send(self) -> None:
        self._id += 1
        number = b"%d" % self._id
        self._expected = b'"id":' + number
        self._write(self._start + number + _SUFFIX)

    def _is_whole(self, data: bytes) -> bool:
        if self._size < 0:
            end = data.find(b"\r\n\r\n")
            length = _LENGTH.search(data, 0, end) if end >= 0 else None
            if end >= 0 and length is None:
                self.fail(f"an answer without Content-Length: {data!r}")
            self._size = end + 4 + int(length[1]) if length is not None else -1
        return 0 <= self._size <= len(data)


async def _load_http(job: Job) -> Sample:
    loop = asyncio.get_running_loop()
    meter = Meter(job)
    failed: asyncio.Future[None] = loop.create_future()
    transports = []
    for number in range(job.connections):
        client = Client(job, meter, number, failed)
        transport, _ = await loop.create_connection(partial(_same, client), "127.0.0.1", job.port)
        transports.append(transport)
    await _unless(failed, job.warm_up)
    meter.start()
    await _unless(failed, job.seconds)
    sample = meter.stop()
    for transport in transports:
        transport.close()
    return sample


def _same(client: Client) -> Client:
    return client


async def _unless(failed: asyncio.Future[None], seconds: float) -> None:
    """Let time pass; raise what failed meanwhile."""
    await asyncio.wait((failed,), timeout=seconds)
    if failed.done():
        failed.result()


# --- stdio --------------------------------------------------------------------------------------------------------


def _load_stdio(job: Job) -> Sample:
    meter = Meter(job)
    begin = _clock() + job.warm_up
    next_id = FIRST_ID
    sent: dict[bytes, float] = {}
    missing, rest, timed = job.window, b"", False
    while True:
        now = _clock()
        if timed and now >= meter.started + job.seconds:
            return meter.stop()
        if not timed and now >= begin:
            timed = True
            meter.start()
        numbers = [b"%d" % number for number in range(next_id, next_id + missing)]
        next_id += missing
        sent |= dict.fromkeys(numbers, now)
        # A window stays below what a pipe holds, so this cannot wait for a server that waits for us.
        os.write(job.writes, b"".join([_PREFIX + number + _SUFFIX + b"\n" for number in numbers]))
        data = b""
        while b"\n" not in data:
            data = os.read(job.reads, _READ_SIZE)
            if not data:
                raise RuntimeError(f"the server closed its output behind {rest!r}")
            rest += data
        data, _, rest = rest.rpartition(b"\n")
        missing = data.count(b"\n") + 1
        if len(_RESULT.findall(data)) != missing:
            raise RuntimeError(f"an answer is no result: {data!r}")
        now = _clock()
        answered = _ID.findall(data) if job.echoes else list(sent)[:missing]
        if len(answered) != missing:
            raise RuntimeError(f"an answer has no id: {data!r}")
        meter.latencies += [now - sent.pop(number) for number in answered]  # KeyError: an id that nobody sent


def main() -> None:
    """Do the job of the command line."""
    job = msgspec.json.decode(sys.argv[1], type=Job)
    cores, taken = os.sched_getaffinity(0), os.sched_getaffinity(job.pid)
    if cores - taken:
        os.sched_setaffinity(0, cores - taken)
    if job.transport == "stdio":
        sample = _load_stdio(job)
    else:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            sample = runner.run(_load_http(job))
    sys.stdout.buffer.write(msgspec.json.encode(sample))


if __name__ == "__main__":
    main()
