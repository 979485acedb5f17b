"""One cell: one workload on one freshly started server.

In: a rival, its environment, a workload, a transport. Out: a Cell, measured, failed or left out, never an exception for
what a server does wrong.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time

import msgspec

from benchmarks.generator.answers import WrongAnswer, events
from benchmarks.generator.job import Job, Sample, memory
from benchmarks.report import ROOT
from benchmarks.suite import external
from benchmarks.suite.environments import Environment
from benchmarks.suite.messages import method
from benchmarks.suite.results import Cell, LeftOut
from benchmarks.suite.rivals import Rival
from benchmarks.suite.server import Server, running
from benchmarks.suite.workloads import ECHO, Workload

_SLACK = 90.0  # seconds that a load generator may take besides the timed part
_ENTRIES = Workload(name="entries", title="", tool="entries", check=ECHO, kind="entries")


class Settings(msgspec.Struct, frozen=True):
    """How much is measured.

    Args:
        seconds: of a timed part.
        warm_up: seconds before it.
        scale: what large numbers are divided by, in a quick run.
        starts: measured starts; one more before them fills the byte code cache.
    """

    seconds: float = 4.0
    warm_up: float = 1.0
    scale: int = 1
    starts: int = 5


def measure(
    rival: Rival,
    environment: Environment,
    workload: Workload,
    transport: str,
    number: int,
    settings: Settings,
    *,
    saturated: float = 0,
    size: int = 0,
) -> Cell:
    """Return the cell.

    Args:
        rival, environment, workload, transport: what is measured.
        number: of the round.
        settings: how much.
        saturated: calls per second that the server reached in a closed loop; 0 where that is unknown.
        size: octets of a floor's answer; 0 for an echo.
    """
    cell = Cell(rival.name, transport, workload.name, number, "measured")
    try:
        cell.figures, cell.answer_bytes = _measure(
            rival, environment, workload, transport, settings, saturated=saturated, size=size
        )
    except LeftOut as reason:
        cell.status, cell.reason = "left out", str(reason)
    except WrongAnswer as error:
        cell.status, cell.reason = "failed", str(error)[:300]
    except (OSError, subprocess.SubprocessError, msgspec.DecodeError) as error:
        cell.status, cell.reason = "failed", f"{type(error).__name__}: {error}"[:300]
    return cell


def _measure(
    rival: Rival,
    environment: Environment,
    workload: Workload,
    transport: str,
    settings: Settings,
    *,
    saturated: float,
    size: int,
) -> tuple[dict[str, float], int]:
    if reason := _not_for(rival, workload, transport):
        raise LeftOut(reason)
    if workload.kind == "import":
        return {"import_ms": statistics.median(_imports(rival, environment, settings.starts))}, 0
    if workload.kind == "start":
        return _start(rival, environment, workload, transport, settings.starts)
    rate = _rate(workload, saturated)
    external.require(workload.kind)
    with running(rival, environment, workload, transport, size) as server:
        if not rival.floor and not workload.rounds:
            workload.check(server.answer)
        if workload.kind == "entries":
            return _count(server, workload), server.size
        server.pin()
        if workload.kind in ("wrk", "h2load"):
            return external.run(workload, server, settings.seconds, rate), server.size
        sample = _load(server, rival, workload, settings, rate)
        sample.figures["start_ms"] = server.start_ms
        return sample.figures, server.size


def _not_for(rival: Rival, workload: Workload, transport: str) -> str:
    if rival.floor and not workload.floor:
        return "a fixed answer says nothing about this"
    if workload.rivals and rival.name not in workload.rivals:
        return f"measured of {', '.join(workload.rivals)} alone"
    if transport not in rival.transports:
        return f"does not serve {transport}"
    if rival.floor and workload.kind == "entries":
        return "no calls in it"
    return rival.lack(workload)


def _rate(workload: Workload, saturated: float) -> float:
    if workload.mode != "open" and workload.kind != "h2load":
        return 0
    if saturated <= 0:
        raise LeftOut("how much the server can do is unknown: measure echo too")
    rate = workload.rate or saturated / 2
    if rate > 0.9 * saturated:
        raise LeftOut(f"more than the server can do ({saturated:,.0f}/s)")
    return rate


def _load(server: Server, rival: Rival, workload: Workload, settings: Settings, rate: float) -> Sample:
    """Run the load generator, a process of its own."""
    prefix, suffix = server.dialect.body(workload)
    held = workload.mode in ("idle", "listen")
    job = Job(
        "stdio" if server.transport == "stdio" else "http",
        workload.mode,
        server.process.pid,
        server.dialect.head(method(workload), workload.tool),
        prefix,
        suffix,
        settings.seconds,
        settings.warm_up,
        port=server.port,
        connections=max(32, workload.connections // settings.scale) if held else workload.connections,
        window=workload.window,
        rate=rate,
        calls=workload.calls // settings.scale,
        rounds=workload.rounds,
        echoes=not rival.floor,
    )
    if workload.calls:
        job.seconds = _SLACK
    if workload.mode == "listen":
        job.held_prefix, job.held_suffix = server.dialect.listen()
        job.held_head = server.dialect.head("subscriptions/listen")
    passed: tuple[int, ...] = ()
    if server.transport == "stdio":
        passed = (job.reads, job.writes) = server.pipes
    command = [sys.executable, "-m", "benchmarks.generator", msgspec.json.encode(job).decode()]
    done = subprocess.run(
        command,
        cwd=ROOT,
        capture_output=True,
        pass_fds=passed,
        timeout=job.warm_up + job.seconds + _SLACK,
        check=False,
    )
    if done.returncode:
        raise WrongAnswer(done.stderr.decode(errors="replace").strip().splitlines()[-1])
    sample = msgspec.json.decode(done.stdout, type=Sample)
    if not rival.floor:
        workload.check(events(sample.answer))
    return sample


def _start(
    rival: Rival, environment: Environment, workload: Workload, transport: str, starts: int
) -> tuple[dict[str, float], int]:
    """Start the server several times; the first time is not counted."""
    milliseconds, resident, size = [], [], 0
    for number in range(starts + 1):
        with running(rival, environment, workload, transport) as server:
            if not rival.floor:
                workload.check(server.answer)
            if number > 0:
                milliseconds.append(server.start_ms)
                resident.append(memory(server.process.pid) / 2**20)
            size = server.size
    return {"start_ms": statistics.median(milliseconds), "memory_mb": statistics.median(resident)}, size


def _imports(rival: Rival, environment: Environment, times: int) -> list[float]:
    """Time `python -c "IMPORT"` in milliseconds; the first time is not counted."""
    command = [environment.command[0], "-c", rival.imports]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    found = []
    for _ in range(times + 1):
        started = time.perf_counter()
        done = subprocess.run(
            command, env=kept | environment.variables, capture_output=True, timeout=_SLACK, check=False
        )
        found.append((time.perf_counter() - started) * 1e3)
        if done.returncode:
            raise WrongAnswer(done.stderr.decode(errors="replace").strip().splitlines()[-1])
    return found[1:]


def _count(server: Server, workload: Workload) -> dict[str, float]:
    """Count function entries: the difference of 110 calls and 10 calls leaves the counting out."""
    counted = []
    server.ask(_ENTRIES)
    for calls in (10, 10, 110):
        for _ in range(calls):
            server.ask(workload)
        text = server.ask(_ENTRIES)[-1]["result"]["content"][0]["text"]
        counted.append(int(text))
    return {"entries": (counted[2] - counted[1]) / 100}
