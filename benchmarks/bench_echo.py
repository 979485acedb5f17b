"""One small call, `echo(text)`: throughput, server CPU, latency, start and memory of each server.

In: options. Out: a Markdown report on standard output and, with `--json FILE`, every sample.
Servers run one at a time, each freshly started, in turn and round by round, so that a noisy minute of the machine
falls on all of them; compare ratios within one run, not figures of different runs. Each is kept on one core while it
is under load (`--free` lets it go), and the load generator on the others.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from pathlib import Path

import msgspec

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import report
from benchmarks.load import Sample
from benchmarks.servers import RIVALS, Rival, running

_STARTS = 5  # measured starts of each server; one more before them fills the byte code cache
_HEADER = ("server", "calls/s", "CPU µs/call", "p50 µs", "p99 µs", "start ms", "memory MB")


class Record(msgspec.Struct):
    """What was measured of one server."""

    samples: list[Sample] = []
    starts_ms: list[float] = []
    memory_mb: list[float] = []

    def cpu_us(self) -> list[float]:
        """CPU per call, round by round."""
        return [sample.cpu_us for sample in self.samples]


class Report(msgspec.Struct):
    """The content of the JSON file."""

    environment: dict[str, str]
    options: dict[str, float]
    servers: dict[str, Record]


def measure(
    rivals: list[Rival], *, seconds: float, warm_up: float, rounds: int, starts: int, window: int, pinned: bool
) -> dict[str, Record]:
    """Return the record of each rival by its key."""
    records = {rival.key: Record() for rival in rivals}
    for number in range(starts + 1):
        for rival in rivals:
            with running(rival) as server:
                if number > 0:
                    records[rival.key].starts_ms.append(server.start_ms)
    for number in range(rounds):
        for rival in rivals:
            record = records[rival.key]
            with running(rival) as server:
                if pinned:
                    server.pin()
                record.samples.append(server.load(seconds, warm_up, window=window))
                record.memory_mb.append(server.memory_mb())
            print(f"round {number + 1} of {rounds}: {rival.key}", file=sys.stderr)
    return records


def row(name: str, record: Record) -> list[str]:
    """Return the table row of one server."""
    return [
        name,
        report.spread([sample.per_second for sample in record.samples], 0),
        report.spread(record.cpu_us()),
        report.spread([sample.p50_us for sample in record.samples], 0),
        report.spread([sample.p99_us for sample in record.samples], 0),
        report.spread(record.starts_ms, 0),
        report.spread(record.memory_mb),
    ]


def ratios(records: dict[str, Record]) -> dict[str, str]:
    """Return how many times the CPU of leanmcp the others need, taken within each round."""
    lines = {}
    for transport in ("http", "stdio"):
        ours = records.get(f"leanmcp, {transport}")
        for name in ("mcp", "floor"):
            theirs = records.get(f"{name}, {transport}")
            if ours is None or theirs is None:
                continue
            quotients = [their / our for their, our in zip(theirs.cpu_us(), ours.cpu_us(), strict=True)]
            lines[f"CPU per call, {name} / leanmcp, {transport}"] = report.spread(quotients, 2)
    return lines


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="One small call on each server.")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every sample there")
    parser.add_argument("--seconds", type=float, default=5, help="timed seconds of a round (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="default: %(default)s")
    parser.add_argument("--window", type=int, default=64, help="stdio requests in flight (default: %(default)s)")
    parser.add_argument("--free", action="store_true", help="let servers use every core instead of one")
    parser.add_argument("--only", default="", metavar="TEXT", help="servers whose row name holds TEXT")
    parser.add_argument("--quick", action="store_true", help="one round of one second, one start")
    return parser.parse_args()


def main() -> None:
    """Measure and print."""
    options = _options()
    if options.quick:
        options.seconds, options.rounds = 1.0, 1
    rivals = [rival for rival in RIVALS if options.only in rival.key]
    environment = report.environment("uvloop; mcp on stdio: asyncio")
    environment["load"] = (
        f"32 kept connections (HTTP), {options.window} requests in flight (stdio), "
        f"server on {'any core' if options.free else 'one core'}; {options.rounds} rounds of {options.seconds:g} s"
    )
    warm_up = min(1.0, options.seconds / 2)
    records = measure(
        rivals,
        seconds=options.seconds,
        warm_up=warm_up,
        rounds=options.rounds,
        starts=1 if options.quick else _STARTS,
        window=options.window,
        pinned=not options.free,
    )
    print(f"{report.listing(environment)}\n")
    print(f"{report.table(_HEADER, [row(key, record) for key, record in records.items()])}\n")
    print(report.listing(ratios(records)))
    largest = max(statistics.median(sample.per_second for sample in record.samples) for record in records.values())
    print(f"- calls/s of the fastest rows are bounded by the load generator ({largest:,.0f}); CPU per call is not")
    if options.json is not None:
        settings = {"seconds": options.seconds, "rounds": options.rounds, "warm_up": warm_up, "window": options.window}
        options.json.write_bytes(msgspec.json.format(msgspec.json.encode(Report(environment, settings, records))))


if __name__ == "__main__":
    main()
