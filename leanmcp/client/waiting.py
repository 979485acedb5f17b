"""Time that a request spends on a person, which is not the server's.

In: the task of a request, while somebody logs in. Out: seconds to add to its time limit.
Spec 2026-07-28: basic/authorization, "Authorization Flow Steps"; basic/patterns/cancellation, "Timeouts".
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Wait:
    """How long a task has waited for people in all, and since when it does so now."""

    __slots__ = ("_loop", "_since", "_total")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._total = 0.0
        self._since: float | None = None

    def begin(self) -> None:
        """Start to wait."""
        self._since = self._loop.time()

    def end(self) -> None:
        """Stop waiting."""
        self._total, self._since = self.seconds(), None

    def seconds(self) -> float:
        """Return the seconds so far."""
        return self._total if self._since is None else self._total + self._loop.time() - self._since


waits: dict[asyncio.Task[Any], Wait] = {}
"""Of tasks that have waited for a person; empty in most programs."""


@contextmanager
def waiting_on_a_person(task: asyncio.Task[Any] | None = None) -> Iterator[None]:
    """Stop the clock of the request that a task makes, the current one where none is given."""
    task = task or asyncio.current_task()
    if task is None:
        raise RuntimeError("only a task can wait for a person")
    wait = waits.get(task)
    if wait is None:
        wait = waits[task] = Wait(asyncio.get_running_loop())
        task.add_done_callback(waits.pop)
    wait.begin()
    try:
        yield
    finally:
        wait.end()


def waited(task: asyncio.Task[Any]) -> float:
    """Return the seconds that `task` has spent on people."""
    return waits[task].seconds() if task in waits else 0.0
