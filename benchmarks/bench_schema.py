"""A value checked against a JSON Schema: time of a check, time to compile, memory of a compiled schema.

In: options. Out: a Markdown report on standard output and, with `--json FILE`, every sample.
Ours as generated code and as the interpreter, against stock fastjsonschema, jsonschema and jsonschema_rs in the same
session; what is not installed is named and left out. All take their turn round by round, so that a noisy minute of the
machine falls on all of them. Each gets the same schema; fastjsonschema as draft-07, because it has no 2020-12. Its
refusals are exceptions, whose time is in the figure. Memory is measured in a process of its own for each engine.
"""

from __future__ import annotations

import argparse
import importlib
import json
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import report

_DRAFT_7 = "http://json-schema.org/draft-07/schema#"
_CHECK_SECONDS = 0.02  # of one sample
_PAGE = 4096  # bytes

Check = Callable[[Any], object]


class Case(msgspec.Struct):
    """A schema, a value that fits, and one with two things wrong."""

    schema: dict[str, Any]
    valid: Any
    invalid: Any


class Record(msgspec.Struct):
    """What was measured of one engine on one case."""

    valid_us: list[float] = []
    invalid_us: list[float] = []
    compile_us: list[float] = []
    memory_kb: float = 0


class Report(msgspec.Struct):
    """The content of the JSON file."""

    environment: dict[str, str]
    options: dict[str, float]
    cases: dict[str, dict[str, Record]]
    missing: list[str]


# Cases --------------------------------------------------------------------------------------------------------------


def _closed(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


def _cases() -> dict[str, Case]:
    count = {"type": "integer", "minimum": 1, "maximum": 50}
    small = _closed({"query": {"type": "string"}, "limit": count}, "query")
    nested = _closed(
        {
            "query": {"type": "string", "minLength": 1},
            "limit": count,
            "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 10},
            "where": _closed({"name": {"type": "string"}, "genre": {"enum": ["fiction", "poetry"]}}, "name"),
        },
        "query",
        "where",
    )
    kinds = [{"type": "string"}, {"type": "integer", "minimum": 0}, {"type": "boolean"}, {"type": "number"}]
    names = [f"property_{number}" for number in range(100)]
    wide = _closed({name: kinds[number % 4] for number, name in enumerate(names)}, *names[::2])
    book = {
        "id": {"type": "integer", "minimum": 0},
        "title": {"type": "string", "maxLength": 80},
        "price": {"type": "number"},
        "in_stock": {"type": "boolean"},
    }
    long = {"type": "array", "items": _closed(book, "id", "title")}
    search = {
        "query": "dune messiah",
        "limit": 20,
        "tags": ["classic", "sf"],
        "where": {"name": "Frank Herbert", "genre": "fiction"},
    }
    members: dict[str, Any] = {name: ["text", 5, True, 1.5][number % 4] for number, name in enumerate(names)}
    books = [{"id": n, "title": f"Title {n}", "price": 7.5, "in_stock": True} for n in range(1000)]
    return {
        "small": Case(small, {"query": "dune", "limit": 5}, {"query": 5, "limit": 500}),
        "nested": Case(nested, search, {**search, "limit": 500, "where": {"name": "Frank Herbert", "genre": "drama"}}),
        "100 properties": Case(wide, members, {**members, names[40]: 5, names[98]: None}),
        "1,000 items": Case(long, books, [*books[:-1], {"id": -1, "title": 5}]),
    }


# Engines ------------------------------------------------------------------------------------------------------------


def _generated(schema: dict[str, Any]) -> Check:
    from leanmcp.schema import compile as compile_schema
    from leanmcp.schema import validator

    validator._kept.clear()  # what is measured is no look into the cache
    return compile_schema(schema, eager=True).is_valid


def _interpreted(schema: dict[str, Any]) -> Check:
    from leanmcp.schema import compile as compile_schema
    from leanmcp.schema import validator

    validator._kept.clear()
    return compile_schema(schema, profile="untrusted").is_valid


def _fastjsonschema(schema: dict[str, Any]) -> Check:
    import fastjsonschema  # type: ignore[import-untyped, unused-ignore]

    check: Check = fastjsonschema.compile({"$schema": _DRAFT_7, **schema}, use_formats=False, use_default=False)
    return check


def _jsonschema(schema: dict[str, Any]) -> Check:
    import jsonschema  # type: ignore[import-untyped]

    check: Check = jsonschema.Draft202012Validator(schema).is_valid
    return check


def _jsonschema_rs(schema: dict[str, Any]) -> Check:
    import jsonschema_rs

    check: Check = jsonschema_rs.Draft202012Validator(schema, offline=True).is_valid
    return check


OURS = "leanmcp, generated"
STOCK = "fastjsonschema"
ENGINES: dict[str, tuple[str, Callable[[dict[str, Any]], Check]]] = {
    OURS: ("leanmcp.schema", _generated),
    "leanmcp, interpreter": ("leanmcp.schema", _interpreted),
    STOCK: ("fastjsonschema", _fastjsonschema),
    "jsonschema": ("jsonschema", _jsonschema),
    "jsonschema_rs": ("jsonschema_rs", _jsonschema_rs),
}
GOALS = {"small": 3.0, "nested": 3.0, "100 properties": 1.8, "1,000 items": 3.0}
"""How many times as fast as fastjsonschema generated code has to be on a value that fits."""


def _installed() -> tuple[list[str], list[str]]:
    there, missing = [], []
    for name, (module, _) in ENGINES.items():
        try:
            importlib.import_module(module)
            there.append(name)
        except ImportError:
            missing.append(name)
    return there, missing


# Measurement --------------------------------------------------------------------------------------------------------


def _time(run: Callable[[], object]) -> float:
    """Return microseconds of one run, the mean of as many as take about 20 ms."""
    begin = time.perf_counter()
    run()
    rounds = max(1, min(100_000, int(_CHECK_SECONDS / max(time.perf_counter() - begin, 1e-7))))
    begin = time.perf_counter()
    for _ in range(rounds):
        run()
    return (time.perf_counter() - begin) / rounds * 1e6


def _time_check(check: Check, value: Any, rounds: int) -> float:
    """Return microseconds of one check of a value that fits, without a call around it."""
    begin = time.perf_counter()
    for _ in range(rounds):
        check(value)
    return (time.perf_counter() - begin) / rounds * 1e6


def _time_refusal(check: Check, value: Any, rounds: int) -> float:
    """Return microseconds of one check of a value that does not fit."""
    begin = time.perf_counter()
    for _ in range(rounds):
        try:  # noqa: SIM105 - a context manager takes longer than the check
            check(value)
        except ValueError:
            pass
    return (time.perf_counter() - begin) / rounds * 1e6


def measure(case: Case, engines: list[str], rounds: int) -> dict[str, Record]:
    """Return the record of each engine on one case."""
    records = {name: Record() for name in engines}
    checks = {name: ENGINES[name][1](case.schema) for name in engines}
    sizes: dict[tuple[str, bool], int] = {}
    for name, check in checks.items():
        for fits, timed, value in ((True, _time_check, case.valid), (False, _time_refusal, case.invalid)):
            took = min(timed(check, value, 1) for _ in range(5))
            sizes[name, fits] = max(1, int(_CHECK_SECONDS * 1e6 / took))
    for number in range(rounds):
        for name, check in checks.items():
            record = records[name]
            record.valid_us.append(_time_check(check, case.valid, sizes[name, True]))
            record.invalid_us.append(_time_refusal(check, case.invalid, sizes[name, False]))
            if number % 5 == 0:
                build = ENGINES[name][1]
                record.compile_us.append(_time(lambda build=build: build(case.schema)))  # type: ignore[misc]
    return records


def _memory_kb(engine: str, case: str) -> float:
    """Return what one compiled schema keeps, measured on many in a process of its own."""
    command = [sys.executable, str(Path(__file__).resolve()), "--memory", engine, case]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def _measure_memory(engine: str, case: str, count: int = 50) -> float:
    build, schema = ENGINES[engine][1], _cases()[case].schema
    # Every schema is another one, so that nothing is shared but what all schemas share.
    written = [{**schema, "title": f"Schema {number}"} for number in range(count + 1)]
    kept = [build(written[0])]
    before = _resident()
    kept += [build(part) for part in written[1:]]
    return (_resident() - before) / count / 1024 if kept else 0


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE


# Report -------------------------------------------------------------------------------------------------------------


def _rows(records: dict[str, Record]) -> list[list[str]]:
    return [
        [
            name,
            report.spread(record.valid_us, 2),
            report.spread(record.invalid_us, 2),
            report.spread(record.compile_us, 0),
            f"{record.memory_kb:,.0f}",
        ]
        for name, record in records.items()
    ]


def ratios(cases: dict[str, dict[str, Record]]) -> dict[str, str]:
    """Return how many times the time of generated code fastjsonschema takes for a value that fits, round by round."""
    lines = {}
    for case, records in cases.items():
        if OURS in records and STOCK in records:
            pairs = zip(records[STOCK].valid_us, records[OURS].valid_us, strict=True)
            quotients = [theirs / ours for theirs, ours in pairs]
            verdict = "met" if statistics.median(quotients) >= GOALS[case] else "missed"
            lines[f"{STOCK} / {OURS}, {case}"] = f"{report.spread(quotients, 2)}, goal {GOALS[case]}: {verdict}"
    return lines


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="A value checked against a JSON Schema.")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every sample there")
    parser.add_argument("--rounds", type=int, default=25, help="samples of each check (default: %(default)s)")
    parser.add_argument("--quick", action="store_true", help="five rounds")
    parser.add_argument("--memory", nargs=2, metavar=("ENGINE", "CASE"), help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> None:
    """Measure and print."""
    options = _options()
    if options.memory:
        print(_measure_memory(*options.memory))
        return
    rounds = 5 if options.quick else options.rounds
    engines, missing = _installed()
    environment = report.environment("none")
    environment["engines"] = ", ".join(engines) + (f"; not installed: {', '.join(missing)}" if missing else "")
    environment["load"] = f"{rounds} samples of {_CHECK_SECONDS * 1000:g} ms each, every engine in turn"
    print(f"{report.listing(environment)}\n")
    cases = {}
    for name, case in _cases().items():
        records = cases[name] = measure(case, engines, rounds)
        if platform.system() == "Linux":
            for engine, record in records.items():
                record.memory_kb = _memory_kb(engine, name)
        size = len(json.dumps(case.valid, separators=(",", ":")))
        print(f"{name}, a value of {size:,} bytes\n")
        header = ("engine", "valid µs", "invalid µs", "compile µs", "memory kB")
        print(f"{report.table(header, _rows(records))}\n")
    print(report.listing(ratios(cases)))
    if options.json is not None:
        content = Report(environment, {"rounds": rounds}, cases, missing)
        options.json.write_bytes(msgspec.json.format(msgspec.json.encode(content)))


if __name__ == "__main__":
    main()
