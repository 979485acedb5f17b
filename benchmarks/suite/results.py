"""What is kept: one line of JSON for each finished cell, so that a broken run goes on, and the report made of them."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

import msgspec

Status = Literal["measured", "failed", "left out"]


class LeftOut(Exception):
    """A cell that is not for this server, or cannot be measured here; the text says why."""


class Cell(msgspec.Struct):
    """One workload on one server in one round.

    Args:
        figures: name to value; the unit is in the name.
        reason: why it failed or was left out.
        answer_bytes: octets of one answer.
    """

    rival: str
    transport: str
    workload: str
    round: int
    status: Status
    figures: dict[str, float] = {}
    reason: str = ""
    answer_bytes: int = 0

    @property
    def key(self) -> tuple[str, str, str, int]:
        """What it is a result of."""
        return self.rival, self.transport, self.workload, self.round


class Figure(msgspec.Struct):
    """A figure over all rounds."""

    median: float
    low: float
    high: float
    rounds: int


class Row(msgspec.Struct):
    """One workload on one server."""

    rival: str
    transport: str
    workload: str
    status: Status
    figures: dict[str, Figure] = {}
    reason: str = ""
    answer_bytes: int = 0


class Report(msgspec.Struct):
    """The content of the JSON file.

    Args:
        environment: machine, date, commit.
        options: what was asked for.
        versions: rival to package to version.
        settings: rival to what was chosen for speed.
        left_out: what could not be had, to the reason.
        rows: the results.
    """

    environment: dict[str, str]
    options: dict[str, float]
    versions: dict[str, dict[str, str]]
    settings: dict[str, str]
    left_out: dict[str, str]
    rows: list[Row]

    def row(self, rival: str, transport: str, workload: str) -> Row | None:
        """Return one result."""
        for row in self.rows:
            if (row.rival, row.transport, row.workload) == (rival, transport, workload):
                return row
        return None


class State:
    """The file of finished cells.

    Args:
        path: of the file.
        header: describes the run; cells of another run are not mixed in.

    Raises:
        ValueError: the file belongs to another run.
    """

    def __init__(self, path: Path, header: dict[str, str]) -> None:
        self._path = path
        self.cells: dict[tuple[str, str, str, int], Cell] = {}
        if path.is_file():
            first, *lines = path.read_bytes().split(b"\n")
            try:
                same = msgspec.json.decode(first, type=dict[str, str]) == header
            except msgspec.DecodeError:
                same = False
            if not same:
                raise ValueError(f"{path} is of a run with other options or code; say --fresh, or another --out")
            # The last line is empty, or cut off where the run was ended while it wrote.
            for line in lines[:-1]:
                cell = msgspec.json.decode(line, type=Cell)
                if cell.status == "measured":  # what was not is tried again
                    self.cells[cell.key] = cell
            path.write_bytes(b"\n".join((first, *lines[:-1], b"")))
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(msgspec.json.encode(header) + b"\n")

    def add(self, cell: Cell) -> None:
        """Keep a cell."""
        self.cells[cell.key] = cell
        with self._path.open("ab") as file:
            file.write(msgspec.json.encode(cell) + b"\n")


def rows(cells: Iterable[Cell]) -> list[Row]:
    """Return the medians over the rounds, in the order of the cells; one failure makes the row a failed one."""
    groups: dict[tuple[str, str, str], list[Cell]] = {}
    for cell in cells:
        groups.setdefault(cell.key[:3], []).append(cell)
    return [_row(group) for group in groups.values()]


def _row(cells: list[Cell]) -> Row:
    first = cells[0]
    bad = next((cell for cell in cells if cell.status != "measured"), None)
    if bad is not None:
        return Row(first.rival, first.transport, first.workload, bad.status, reason=bad.reason)
    figures = {
        name: figure([cell.figures[name] for cell in cells])
        for name in first.figures
        if all(name in cell.figures for cell in cells)
    }
    return Row(first.rival, first.transport, first.workload, "measured", figures, answer_bytes=first.answer_bytes)


def figure(values: list[float]) -> Figure:
    """Return median and spread."""
    return Figure(statistics.median(values), min(values), max(values), len(values))
