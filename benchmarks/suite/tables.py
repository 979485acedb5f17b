"""The report as text: Markdown tables, one for each transport and kind of figure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from benchmarks import report as layout
from benchmarks.suite.results import Figure, Report, Row
from benchmarks.suite.rivals import RIVALS
from benchmarks.suite.workloads import WORKLOADS, Workload

# figure, what it is called, digits
_COLUMNS = {
    "load": (
        ("calls_per_s", "calls/s", 0),
        ("cpu_us", "CPU µs/call", 1),
        ("p50_us", "p50 µs", 0),
        ("p99_us", "p99 µs", 0),
        ("p99.9_us", "p99.9 µs", 0),
        ("memory_mb", "memory MB", 1),
        ("notes", "notes sent", 0),
        ("lag_p99_us", "generator late p99 µs", 0),
    ),
    "held": (("held", "held", 0), ("held_kib", "KiB each", 1), ("memory_mb", "memory MB", 1)),
    "listen": (("reach_ms", "all told after ms", 1), ("told_cpu_us", "CPU µs each", 1)),
    "start": (("start_ms", "start ms", 0), ("memory_mb", "memory MB", 1)),
    "import": (("import_ms", "import ms", 0),),
    "entries": (("entries", "function entries", 1),),
    "fresh": (("growth_mb", "growth MB", 1),),
}
_CLOSED = {load.name for load in WORKLOADS if load.kind == "load" and load.mode == "closed" and load.window > 1}
_PLACES = {"http": "HTTP", "stdio": "stdio", "process": "process"}


def render(report: Report) -> str:
    """Return the whole report."""
    parts = ["# Benchmarks", layout.listing(report.environment), "## Servers", _servers(report)]
    if report.left_out:
        parts += ["Left out, because it could not be had here:", layout.listing(report.left_out)]
    for workload in WORKLOADS:
        for transport in workload.transports:
            rows = [row for row in report.rows if row.workload == workload.name and row.transport == transport]
            if any(row.status != "left out" for row in rows):
                parts += [f"## {workload.title} ({workload.name}), {_PLACES[transport]}", _table(rows, workload)]
    parts += ["## Ratios", layout.listing(ratios(report)), _notes(report)]
    return "\n\n".join(part for part in parts if part) + "\n"


# workload, transport, figure, heading, digits
_SUMMARY = (
    ("echo", "http", "calls_per_s", "HTTP calls/s", 0),
    ("echo", "http", "cpu_us", "CPU µs per call", 1),
    ("open-half", "http", "p99_us", "p99 µs at half", 0),
    ("echo", "stdio", "calls_per_s", "stdio calls/s", 0),
    ("echo", "stdio", "cpu_us", "CPU µs per call", 1),
    ("start", "stdio", "start_ms", "start ms", 0),
    ("echo", "http", "memory_mb", "memory MB", 0),
)


def summary(report: Report) -> str:
    """Return the table of the README: one line for each server, medians."""
    lines = []
    for rival in RIVALS:
        versions = report.versions.get(rival.name)
        if versions is None:
            continue
        version = versions.get(rival.shown[0], "") if rival.kind != "ours" else ""
        line = [f"{rival.name} {version}".strip()]
        for workload, transport, name, _, digits in _SUMMARY:
            row = report.row(rival.name, transport, workload)
            figure = None if row is None else row.figures.get(name)
            line.append("-" if figure is None else f"{figure.median:,.{digits}f}")
        lines.append(line)
    return layout.table(("server", *(title for *_, title, _ in _SUMMARY)), lines)


def _servers(report: Report) -> str:
    rows = []
    for rival in RIVALS:
        if rival.name in report.versions:
            versions = ", ".join(f"{name} {version}" for name, version in report.versions[rival.name].items())
            rows.append((rival.name, versions, rival.revision, rival.settings))
    return layout.table(("server", "versions", "revision", "settings"), rows)


def columns(rows: Iterable[Row], workload: Workload) -> list[tuple[str, str, int]]:
    """Return the figures that the rows have and that the workload is about, in the order of the tables."""
    present = {name for row in rows for name in row.figures}
    if workload.kind != "start":
        present.discard("start_ms")
    if workload.mode != "fresh":
        present.discard("growth_mb")
    found: dict[str, tuple[str, str, int]] = {}
    for group in _COLUMNS.values():
        for name, title, digits in group:
            if name in present:
                found.setdefault(name, (name, title, digits))
    return list(found.values())


def _table(rows: list[Row], workload: Workload) -> str:
    shown = columns(rows, workload)
    lines = [
        [row.rival, *(_cell(row.figures.get(name), digits) for name, _, digits in shown)]
        for row in rows
        if row.status == "measured"
    ]
    text = layout.table(("server", *(title for _, title, _ in shown)), lines) if lines else ""
    wrong = [f"- {row.rival}: **{row.status}**: {row.reason}" for row in rows if row.status == "failed"]
    absent = [f"- {row.rival}: {row.reason}" for row in rows if row.status == "left out" and row.rival != "floor"]
    return "\n\n".join(part for part in (text, "\n".join([*wrong, *absent])) if part)


def _cell(figure: Figure | None, digits: int) -> str:
    if figure is None:
        return "-"
    values = [figure.median] if figure.rounds == 1 else [figure.median, figure.low, figure.high]
    shown = [f"{value:,.{digits}f}" for value in values]
    return shown[0] if len(shown) == 1 else f"{shown[0]} ({shown[1]}..{shown[2]})"


_Place = tuple[str, str, str, str]  # rival, transport, workload, figure


def _quotients() -> Iterator[tuple[str, _Place, _Place]]:
    """Yield what is compared besides CPU per call: a figure of leanmcp, and what it is divided by."""
    for transport, place in (("http", "HTTP"), ("stdio", "stdio")):
        what = f"CPU per call, echo among 5,000 tools to echo alone, {place}"
        many, one = ("leanmcp", transport, "echo-5000-tools", "cpu_us"), ("leanmcp", transport, "echo", "cpu_us")
        yield what, many, one
    what = "start to first stdio answer, to importing asyncio, msgspec and orjson"
    yield what, ("leanmcp", "stdio", "start", "start_ms"), ("floor", "process", "import", "import_ms")
    for workload in ("open-half", "h2load-half"):
        what = f"p99 at half of saturation, to the floor's, {workload}"
        yield what, ("leanmcp", "http", workload, "p99_us"), ("floor", "http", workload, "p99_us")


def ratios(report: Report) -> dict[str, str]:
    """Return how many times the CPU of leanmcp each other needs, and how leanmcp stands to itself and to the floors."""
    found: dict[str, str] = {}
    for workload in ("echo", "nested", "list-5000", "list-5000-paged"):
        for transport in ("http", "stdio"):
            ours = _median(report, "leanmcp", transport, workload, "cpu_us")
            for rival in RIVALS:
                theirs = _median(report, rival.name, transport, workload, "cpu_us")
                if rival.name == "leanmcp" or not ours or not theirs:
                    continue
                what = f"CPU per call, {workload}, {_PLACES[transport]}"
                if rival.floor:
                    found[f"{what}, leanmcp"] = f"{ours / theirs:.2f} times the floor"
                else:
                    found[f"{what}, {rival.name}"] = f"{theirs / ours:.1f} times leanmcp"
    for what, ours_at, theirs_at in _quotients():
        ours, theirs = _median(report, *ours_at), _median(report, *theirs_at)
        if ours and theirs:
            found[what] = f"{ours / theirs:.2f} times"
    return found


def _median(report: Report, rival: str, transport: str, workload: str, name: str) -> float:
    """Return a median, 0 where there is none."""
    row = report.row(rival, transport, workload)
    return row.figures[name].median if row is not None and name in row.figures else 0


def _notes(report: Report) -> str:
    """Say where a figure is the load generator's rather than the server's."""
    bound = [
        f"{row.rival}, {row.workload}, {row.transport}"
        for row in report.rows
        if row.workload in _CLOSED
        and "generator_share" in row.figures
        and row.figures["generator_share"].median > 0.8
        and row.figures["server_share"].median < 0.95
    ]
    lines = ["CPU per call is user and system time of the server's process, from the operating system."]
    if bound:
        lines.append(
            "Calls per second of these are bounded by the load generator, the server having been idle at times; CPU "
            f"per call is not: {'; '.join(bound)}."
        )
    return "\n".join(lines)
