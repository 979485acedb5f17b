"""leanmcp and its rivals, side by side: `python -m benchmarks`.

In: options. Out: a report on standard output; in the output folder `report.md`, `report.json` and the charts.
Every rival is installed into an environment of its own, once. A run that was ended goes on where it was.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from pathlib import Path

import msgspec

from benchmarks import report as machine
from benchmarks.suite import charts, schedule, tables
from benchmarks.suite.cells import Settings
from benchmarks.suite.external import absent
from benchmarks.suite.progress import Progress
from benchmarks.suite.results import Report, State, rows
from benchmarks.suite.rivals import RIVALS
from benchmarks.suite.workloads import WORKLOADS

_QUICK = Settings(seconds=0.5, warm_up=0.2, scale=10, starts=1)
# What a quick run leaves out unless it is named: neighbours of what it measures, and what takes rivals long to start.
_NOT_QUICK = frozenset({"echo-256", "open-500", "open-40000", "fresh-100k"})
_SLOW_START = frozenset({"echo-5000-tools", "list-5000", "list-5000-paged"})
_QUICK_TIME = 9.5 * 60  # seconds
_ROUNDS = 3


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="leanmcp and its rivals, side by side.")
    parser.add_argument("--quick", action="store_true", help="one short round: in under ten minutes, set-up included")
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="PATTERN",
        help="rival, workload, or rival/workload, with * and ?; may be repeated",
    )
    parser.add_argument("--transport", choices=("http", "stdio"), help="one of the two")
    parser.add_argument("--rounds", type=int, help=f"default: {_ROUNDS}, quick: 1")
    parser.add_argument("--seconds", type=float, help="timed seconds of a cell; default: 4, quick: 0.5")
    parser.add_argument("--out", type=Path, default=Path("benchmark-results"), help="folder (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="print the report as JSON instead of a table")
    parser.add_argument("--fresh", action="store_true", help="forget what an ended run has measured")
    parser.add_argument("--here", action="store_true", help="run leanmcp and the floors on this interpreter")
    parser.add_argument("--summary", type=Path, metavar="FILE", help="print the README's table of a report, and end")
    parser.add_argument("--list", action="store_true", help="show rivals and workloads, and end")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """Set up, measure and write; return the exit code."""
    options = _options(arguments)
    if options.list:
        print(_listing())
        return 0
    if options.summary:
        print(tables.summary(msgspec.json.decode(options.summary.read_bytes(), type=Report)))
        return 0
    settings = _QUICK if options.quick else Settings()
    if options.seconds:
        settings = msgspec.structs.replace(settings, seconds=options.seconds)
    rounds = options.rounds or (1 if options.quick else _ROUNDS)
    transports = [options.transport] if options.transport else ["http", "stdio"]
    environment = machine.environment("uvloop where a server can")
    try:
        choice = schedule.choose(options.only, transports, _NOT_QUICK | _SLOW_START if options.quick else frozenset())
        state = _state(options.out, environment, settings, fresh=options.fresh)
    except ValueError as error:
        print(f"python -m benchmarks: {error}", file=sys.stderr)
        return 2
    begun = time.monotonic()
    progress = Progress(0, 0)
    environments, missing = schedule.set_up(choice, here=options.here, progress=progress)
    names = {rival.name for rival in choice.rivals if rival.name in environments}
    cells = rounds * len(schedule.pairs(choice)) * len(names)
    progress = Progress(cells, sum(key[0] in names for key in state.cells))
    deadline = begun + _QUICK_TIME if options.quick else math.inf
    measured = schedule.run(choice, environments, state, rounds, settings, progress, deadline)
    progress.end()
    environment["took"] = f"{time.monotonic() - begun:.0f} s"
    environment["load"] = f"{rounds} rounds of {settings.seconds:g} s, interleaved; server on one core"
    missing |= absent() | ({"PNG charts": reason} if (reason := charts.png_reason()) else {})
    report = Report(
        environment,
        {"rounds": rounds, **msgspec.structs.asdict(settings)},
        {name: found.versions for name, found in environments.items()},
        {rival.name: rival.settings for rival in choice.rivals},
        missing,
        rows(measured),
    )
    _write(report, options.out)
    print(msgspec.json.encode(report).decode() if options.json else tables.render(report))
    return 0


def _state(folder: Path, environment: dict[str, str], settings: Settings, *, fresh: bool) -> State:
    path = folder / "cells.jsonl"
    if fresh:
        path.unlink(missing_ok=True)
    return State(path, {"commit": environment["commit"], "settings": str(settings)})


def _write(report: Report, folder: Path) -> None:
    (folder / "report.json").write_bytes(msgspec.json.format(msgspec.json.encode(report)) + b"\n")
    (folder / "report.md").write_text(tables.render(report))
    charts.draw(report, folder)


def _listing() -> str:
    rivals = "\n".join(f"  {rival.name:18} {rival.settings}" for rival in RIVALS)
    loads = "\n".join(f"  {load.name:18} {load.title} ({', '.join(load.transports)})" for load in WORKLOADS)
    return f"rivals\n{rivals}\nworkloads\n{loads}"


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        print("ended; the same command goes on where this one was", file=sys.stderr)
        sys.exit(130)
