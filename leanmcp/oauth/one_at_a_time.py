"""Work that many requests wait for, done once.

In: what is to be done, and by whom it is wanted. Out: its end, for all of them.
Spec 2026-07-28: basic/authorization/index; requests side by side need one token, not one each.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import nullcontext
from typing import Any

from ..client.waiting import waiting_on_a_person
from ..logs import logger


class OneAtATime:
    """Runs one piece of work at a time, each in a task of its own.

    Work goes on when those who wait for it are cancelled, since a refresh token that was used and an answer that was
    thrown away leave the user with nothing; only the wait for a person ends with them.

    Args:
        where: the server it is about, for the log.

    Attributes:
        asking: whether a person is being waited for right now.
    """

    def __init__(self, where: str) -> None:
        self._where = where
        self._task: asyncio.Task[None] | None = None
        self._aim = ""
        self._waiters = 0
        self._asks = False
        self.asking = False

    async def do(
        self, aim: str, is_needed: Callable[[], bool], work: Callable[[], Coroutine[Any, Any, None]], asks: bool = False
    ) -> None:
        """Do `work`, or wait for whoever does the same, after other work, which may make it needless.

        Args:
            aim: equal for work that comes to the same.
            is_needed: asked each time that other work has ended.
            work: what to do.
            asks: whether it may wait for a person, whose time is not the request's.

        Raises:
            BaseException: what the work raises, in all who wait for it.
        """
        loop = asyncio.get_running_loop()
        while is_needed():
            task = self._task
            if task is None or task.done() or task.get_loop() is not loop:
                task = self._task = loop.create_task(work())
                self._aim, self._asks, self._waiters = aim, asks, 0
                task.add_done_callback(self._take_note)
            same = self._aim == aim
            await self._wait(task, same)
            if same:
                return

    async def _wait(self, task: asyncio.Task[None], same: bool) -> None:
        self._waiters += 1
        try:
            with waiting_on_a_person() if self._asks else nullcontext():
                if same:
                    await asyncio.shield(task)
                else:
                    await asyncio.wait((task,))
        finally:
            self._waiters -= 1
            if not task.done() and self._waiters == 0 and self.asking:
                task.cancel()

    def _take_note(self, task: asyncio.Task[None]) -> None:
        """Log how work failed that nobody waits for any more."""
        if not task.cancelled() and (fault := task.exception()) is not None and self._waiters == 0:
            logger.warning("authorization at %s failed: %s", self._where, fault)
