"""How a running call is ended, on every transport."""

from __future__ import annotations

import asyncio
from typing import Any

from .logs import logger


def end_call(task: asyncio.Task[Any], grace: float) -> None:
    """Cancel a call, and once more if its clean-up takes longer than `grace` seconds.

    CancelledError reaches the tool at once; its `finally` blocks may await for a while, but not for ever.
    """
    if task.cancel():
        timer = asyncio.get_running_loop().call_later(grace, _insist, task, grace)
        task.add_done_callback(lambda _: timer.cancel())


def _insist(task: asyncio.Task[Any], grace: float) -> None:
    if not task.done():
        logger.warning("a cancelled call is still cleaning up after %g seconds; it is cancelled again", grace)
        task.cancel()


class CallTimeout:
    """Cancels what runs in the block when its time is over, and once more if its clean-up takes longer than `grace`.

    `asyncio.timeout` cancels once: a `finally` block that awaits could hold the answer back for ever.

    Args:
        timeout: seconds that the block has.
        grace: seconds that its clean-up has.

    Attributes:
        expired: whether the time was over before the block had ended.
        cancelled: whether somebody else has cancelled the task, too; known when the block has ended.
    """

    __slots__ = ("_before", "_cancels", "_grace", "_task", "_timeout", "_timer", "cancelled", "expired")

    _task: asyncio.Task[Any]
    _timer: asyncio.TimerHandle

    def __init__(self, timeout: float, grace: float) -> None:
        self._timeout = timeout
        self._grace = grace
        self._cancels = 0
        self._before = 0
        self.expired = False
        self.cancelled = False

    def __enter__(self) -> CallTimeout:
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("a call with a timeout needs a task")
        self._task = task
        self._before = task.cancelling()
        self._timer = asyncio.get_running_loop().call_later(self._timeout, self._expire)
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        for _number in range(self._cancels):
            self._task.uncancel()
        self.cancelled = self._task.cancelling() > self._before

    def _expire(self) -> None:
        self.expired = True
        self._cancels += 1
        if self._cancels == 1:
            self._task.cancel()
            self._timer = asyncio.get_running_loop().call_later(self._grace, self._expire)
        else:
            _insist(self._task, self._grace)
