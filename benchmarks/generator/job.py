"""What a load generator is told, and what it hands back.

In: a Job as JSON on the command line. Out: a Sample as JSON on standard output. The generator is a process of its own.

Server CPU is read from the CPU clock of the server's process (clock_getcpuclockid(3)): nanoseconds of user and system
time of all its threads, those that have ended included. /proc/PID/stat counts ticks of 10 ms.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Literal

import msgspec

FIRST_ID = 1_000_000_000  # ids of one width: every request has the same length, so that one head serves all
LEAST = 5  # calls of a timed part, which lasts longer where it must
_CPU_CLOCK = 2  # CPUCLOCK_SCHED of the kernel's clock ids
clock = time.perf_counter

Mode = Literal["closed", "open", "fresh", "idle", "listen"]


class Job(msgspec.Struct):
    """What to do.

    Args:
        transport: "http" or "stdio".
        mode: closed (the next request when the answer has come), open (requests at a fixed rate, whatever comes back),
            fresh (closed, each request on a new connection), idle (hold connections), listen (hold streams).
        pid: of the server, for its clock and its memory.
        head: of an HTTP request, up to the value of Content-Length.
        prefix: of the request body, up to the id.
        suffix: what follows the id.
        seconds: of the timed part.
        warm_up: seconds before it.
        port: of the HTTP server.
        connections: HTTP connections with one request in flight each, or those held.
        reads: descriptor that the answers of a stdio server come from.
        writes: descriptor that takes its requests.
        window: stdio requests in flight.
        rate: calls per second of an open loop.
        calls: ends a timed part early, when so many are answered; 0 for no such end.
        rounds: the answer is a question, which is answered in a second request that carries `requestState`.
        echoes: answers carry the id of their request; a floor's do not.
        held_head, held_prefix: as `head` and `prefix`, of the request that opens a listen stream.
    """

    transport: Literal["http", "stdio"]
    mode: Mode
    pid: int
    head: bytes
    prefix: bytes
    suffix: bytes
    seconds: float
    warm_up: float
    port: int = 0
    connections: int = 32
    reads: int = -1
    writes: int = -1
    window: int = 64
    rate: float = 0
    calls: int = 0
    rounds: bool = False
    echoes: bool = True
    held_head: bytes = b""
    held_prefix: bytes = b""
    held_suffix: bytes = b""


class Sample(msgspec.Struct):
    """What came of it.

    Args:
        answer: the first answer: the JSON of it, or its events.
        calls: answers in the timed part.
        figures: name to value; the unit is in the name.
    """

    answer: bytes
    calls: int
    figures: dict[str, float]


def cpu_seconds(pid: int) -> float:
    """Return user and system time of a process, all threads."""
    return time.clock_gettime((~pid << 3) | _CPU_CLOCK)


def memory(pid: int, field: str = "VmRSS") -> int:
    """Return the resident memory of a process in bytes; `VmHWM` is its peak."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition(f"{field}:")[2].split()[0]) * 1024


def percentile(ordered: list[float], share: float) -> float:
    """Return the value that `share` of them do not exceed (nearest rank); 0 of none."""
    if not ordered:
        return 0.0
    rank = -(-len(ordered) * share // 1)  # rounded up
    return ordered[min(max(int(rank), 1), len(ordered)) - 1]


class Meter:
    """Counts the calls of the timed part."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self.latencies: list[float] = []
        self.running = True
        self.timed = False
        self.started = self._server = self._own = 0.0
        self._memory = 0

    def start(self) -> None:
        """Begin the timed part."""
        self.latencies.clear()
        self.timed = True
        self._memory = memory(self._job.pid)
        self._server, self._own = cpu_seconds(self._job.pid), time.process_time()
        self.started = clock()

    @property
    def full(self) -> bool:
        """Whether there are as many calls as were asked for."""
        return 0 < self._job.calls <= len(self.latencies) and self.timed

    def stop(self, answer: bytes, **figures: float) -> Sample:
        """End it."""
        seconds = clock() - self.started
        server = cpu_seconds(self._job.pid) - self._server
        own = time.process_time() - self._own
        self.running = False
        calls = len(self.latencies)
        ordered = sorted(self.latencies)
        shares = {"p50_us": 0.5, "p99_us": 0.99, "p99.9_us": 0.999}
        return Sample(
            answer,
            calls,
            {
                "calls_per_s": calls / seconds,
                "cpu_us": server / max(calls, 1) * 1e6,
                "server_share": server / seconds,
                "generator_share": own / seconds,
                **{name: percentile(ordered, share) * 1e6 for name, share in shares.items()},
                "max_us": (ordered[-1] if ordered else 0.0) * 1e6,
                "memory_mb": memory(self._job.pid) / 2**20,
                "peak_mb": memory(self._job.pid, "VmHWM") / 2**20,
                "growth_mb": (memory(self._job.pid) - self._memory) / 2**20,
                **figures,
            },
        )
