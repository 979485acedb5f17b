"""What faults cost: memory, CPU and time of a leanmcp server that is misused in each way that RELIABILITY lists.

In: options. Out: a Markdown table on standard output, and with `--json FILE` the same as data. The server is a child
process on a core of its own; the clients of each row share the others. Everything goes to 127.0.0.1, is bounded in
number and time, and ends by itself.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import faults_calls, faults_connections, faults_end, faults_listen, faults_soak, faults_stdio, report
from benchmarks.faults_base import Options, Row, keep_to_other_cores, raise_descriptor_limit

_HEADER = ("measure", "figure", "goal", "holds")
MEASURES: dict[str, Callable[[Options], Iterator[Row]]] = {
    "held": faults_connections.held,
    "idle": faults_connections.idle,
    "stalled": faults_connections.stalled,
    "short": faults_connections.short,
    "resets": faults_connections.resets,
    "descriptors": faults_connections.descriptors,
    "answers": faults_calls.answers,
    "bodies": faults_calls.bodies,
    "slow": faults_calls.slow,
    "cancel": faults_calls.cancel,
    "boom": faults_calls.boom,
    "block": faults_calls.block,
    "listen": faults_listen.streams,
    "listen-stalled": faults_listen.stalled,
    "listen-term": faults_listen.terminated,
    "term-load": faults_end.under_load,
    "term-slow": faults_end.with_slow_calls,
    "term-stuck": faults_end.with_stuck_clients,
    "stdio-eof": faults_stdio.end_of_input,
    "stdio-term": faults_stdio.terminated,
    "stdio-pipelined": faults_stdio.pipelined,
    "stdio-stopped": faults_stdio.stopped_reader,
    "stdio-line": faults_stdio.long_line,
    "stdio-bad": faults_stdio.bad_lines,
    "stdio-cancel": faults_stdio.cancelled,
    "stdio-boom": faults_stdio.boom,
    "stdio-block": faults_stdio.block,
    "soak": faults_soak.mixed,
}


class Report(msgspec.Struct):
    """The content of the JSON file."""

    environment: dict[str, str]
    rows: list[Row]


def measure(names: list[str], options: Options) -> list[Row]:
    """Return the rows of the measures named."""
    rows: list[Row] = []
    for name in names:
        try:
            for row in MEASURES[name](options):
                rows.append(row)
                print(f"{name}: {row.measure}: {row.figure} ({row.goal}) {_shown(row)}", file=sys.stderr, flush=True)
        except (OSError, RuntimeError) as error:  # a server that does not do what it should; the others are measured
            rows.append(Row(name, f"{type(error).__name__}: {error}"[:100], "no fault", False))
            print(f"{name}: {error!r}", file=sys.stderr, flush=True)
    return rows


def _shown(row: Row) -> str:
    return {True: "yes", False: "NO", None: "-"}[row.holds]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="What faults cost a leanmcp server.")
    parser.add_argument("--only", nargs="+", choices=MEASURES, metavar="NAME", help=f"of {', '.join(MEASURES)}")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows there")
    parser.add_argument("--quick", action="store_true", help="a tenth of everything, and small deadlines")
    return parser.parse_args()


def main() -> None:
    """Measure and print."""
    arguments = _options()
    raise_descriptor_limit()
    keep_to_other_cores()
    rows = measure(arguments.only or list(MEASURES), Options(arguments.quick))
    environment = report.environment("uvloop")
    print(f"{report.listing(environment)}\n")
    print(report.table(_HEADER, [(row.measure, row.figure, row.goal, _shown(row)) for row in rows]))
    if arguments.json is not None:
        arguments.json.write_bytes(msgspec.json.format(msgspec.json.encode(Report(environment, rows))))


if __name__ == "__main__":
    main()
