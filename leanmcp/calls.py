"""Calls that take their time, on every transport: what a stream is, and how a running call is ended.

In: a running task, or the outlet of a transport. Out: the end of the one, the messages of the other.
Spec 2026-07-28: basic/patterns/cancellation; basic/patterns/subscriptions.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Hashable
from typing import Any, Protocol

from .logs import logger


class Outlet(Protocol):
    """Where the messages of a stream leave."""

    @property
    def stalled(self) -> bool:
        """Whether the client is behind with reading: what is sent now would only be kept in memory."""

    def send(self, messages: list[list[bytes]], /) -> None:
        """Send messages, each in segments."""


class Stream:
    """An answer that goes on until its client leaves or the server ends; no task waits for either."""

    __slots__ = ()

    def open(self, outlet: Outlet) -> list[bytes]:
        """Return the first message, in segments; others follow through `outlet`, in later turns of the loop."""
        raise NotImplementedError

    def resume(self) -> None:
        """Go on: the client has read what it was behind with."""
        raise NotImplementedError

    def end(self) -> list[list[bytes]]:
        """Return the last messages, the response among them; nothing is sent from then on."""
        raise NotImplementedError

    def close(self) -> None:
        """Let go of everything: the client has left. A second time does nothing."""
        raise NotImplementedError


def is_async(function: Callable[..., Any]) -> bool:
    """Return whether calling `function` gives a coroutine: coroutine functions, partials and objects with one."""
    call = type(function).__call__  # of an object that is no function
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)


def key_of(function: Callable[..., Any]) -> Hashable:
    """Return what a function is found by: itself, or its identity, as of an instance of a dataclass, without a hash."""
    try:
        hash(function)
    except TypeError:
        return id(function)
    return function


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


class TimeLimit:
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

    def __enter__(self) -> TimeLimit:
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
