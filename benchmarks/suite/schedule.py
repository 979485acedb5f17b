"""A run: every rival set up, then round by round and workload by workload each of them in turn.

So a noisy minute of the machine falls on all of them: ratios within one run say more than figures of different runs.
"""

from __future__ import annotations

import math
import time
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatchcase

import msgspec

from benchmarks.suite.cells import Settings, measure
from benchmarks.suite.environments import Environment, Unavailable, install
from benchmarks.suite.progress import Progress
from benchmarks.suite.results import Cell, State
from benchmarks.suite.rivals import RIVALS, Rival
from benchmarks.suite.workloads import WORKLOADS, Workload

_SATURATION = "echo"  # the workload that tells how much a server can do
_INSTALLERS = 2


class Choice(msgspec.Struct, frozen=True):
    """What `--only` and `--transport` leave.

    Args:
        rivals, workloads: the chosen ones.
        transports: names.
    """

    rivals: tuple[Rival, ...]
    workloads: tuple[Workload, ...]
    transports: tuple[str, ...]


def choose(patterns: list[str], transports: list[str], skipped: frozenset[str] = frozenset()) -> Choice:
    """Return what patterns such as `leanmcp`, `mcp/echo*` or `*/start` choose.

    A pattern is one of rivals or one of workloads, or both with a slash between them; several are joined, those of
    rivals with those of workloads. Workloads of `skipped` must be named.

    Raises:
        ValueError: a pattern matches nothing.
    """
    rivals: set[str] = set()
    workloads: set[str] = set()
    for pattern in patterns:
        left, slash, right = pattern.partition("/")
        found_rivals = {rival.name for rival in RIVALS if fnmatchcase(rival.name, left)}
        found_workloads = {load.name for load in WORKLOADS if fnmatchcase(load.name, right if slash else left)}
        if slash and found_rivals and found_workloads:
            rivals |= found_rivals
            workloads |= found_workloads
        elif not slash and (found_rivals or found_workloads):
            rivals |= found_rivals
            workloads |= set() if found_rivals else found_workloads
        else:
            raise ValueError(f"--only {pattern}: no such rival or workload; see --list")
    every = not workloads
    return Choice(
        tuple(rival for rival in RIVALS if not rivals or rival.name in rivals),
        tuple(load for load in WORKLOADS if load.name in workloads or (every and load.name not in skipped)),
        tuple(transports),
    )


def set_up(choice: Choice, *, here: bool, progress: Progress) -> tuple[dict[str, Environment], dict[str, str]]:
    """Return the environments that could be had, and why the others could not."""
    environments: dict[str, Environment] = {}
    missing: dict[str, str] = {}

    def one(rival: Rival) -> None:
        progress.begin(f"setting up {rival.name}")
        try:
            environments[rival.name] = install(rival, here=here)
        except Unavailable as reason:
            missing[rival.name] = str(reason)
            progress.tell(f"{rival.name} is left out: {reason}")

    ours = [rival for rival in choice.rivals if rival.kind == "ours"]
    for rival in ours:  # one environment for both
        one(rival)
    with ThreadPoolExecutor(_INSTALLERS) as pool:
        list(pool.map(one, [rival for rival in choice.rivals if rival not in ours]))
    return environments, missing


def pairs(choice: Choice) -> list[tuple[Workload, str]]:
    """Return the workloads with the transports that they are measured on."""
    return [
        (workload, transport)
        for workload in choice.workloads
        for transport in workload.transports
        if transport in choice.transports or transport == "process"
    ]


def run(
    choice: Choice,
    environments: dict[str, Environment],
    state: State,
    rounds: int,
    settings: Settings,
    progress: Progress,
    deadline: float = math.inf,
) -> list[Cell]:
    """Measure what the state does not hold yet; return all cells of the choice.

    What is not measured by `deadline` (of time.monotonic) is left out, and not kept: the same run, started again, goes
    on with it.
    """
    wanted: list[Cell] = []
    for number in range(rounds):
        for workload, transport in pairs(choice):
            for rival in choice.rivals:
                if rival.name not in environments:
                    continue
                key = (rival.name, transport, workload.name, number)
                if key not in state.cells and time.monotonic() > deadline:
                    wanted.append(Cell(*key, "left out", reason="the time of a quick run was up; start it again"))
                    continue
                if key not in state.cells:
                    progress.begin(f"{workload.name}, {transport}, {rival.name}")
                    cell = measure(
                        rival,
                        environments[rival.name],
                        workload,
                        transport,
                        number,
                        settings,
                        saturated=_saturated(state, rival, transport, number),
                        size=_size(state, rival, workload, transport, number),
                    )
                    state.add(cell)
                    progress.finish(cell)
                wanted.append(state.cells[key])
    return wanted


def _saturated(state: State, rival: Rival, transport: str, number: int) -> float:
    cell = state.cells.get((rival.name, transport, _SATURATION, number))
    return 0 if cell is None else cell.figures.get("calls_per_s", 0)


def _size(state: State, rival: Rival, workload: Workload, transport: str, number: int) -> int:
    """Return how many octets leanmcp answers with, for a floor that must write as many; it comes before the floor."""
    if not rival.floor or workload.arguments:
        return 0
    cell = state.cells.get(("leanmcp", transport, workload.name, number))
    return 0 if cell is None else cell.answer_bytes
