"""Plain functions that may take long, such as those that ask a person: run where they do not hold up the event loop.

In: a function and its arguments. Out: what it returns. In a blocking client it runs in the thread that waits for the
call, so that `input()`, debuggers and user interfaces work as they do around the call; else in a thread of a pool.
Spec 2026-07-28: index, "Key Principles"; client/elicitation.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextvars import ContextVar
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

T = TypeVar("T")

_LOOK = 0.5  # seconds; how late a thread may notice that it was interrupted

current: ContextVar[WaitingThread | None] = ContextVar("leanmcp_waiting_thread", default=None)


async def run_blocking(function: Callable[..., T], *args: Any) -> T:
    """Run a function in the thread that waits for the call that this task belongs to, or in one of the pool."""
    thread = current.get()
    if thread is None:
        return await asyncio.to_thread(function, *args)
    return await thread.run(function, *args)


class WaitingThread:
    """A thread that waits for a call on another thread's event loop, and runs functions for it meanwhile."""

    def __init__(self) -> None:
        self._queue: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._is_over = False

    async def run(self, function: Callable[..., T], *args: Any) -> T:
        """Run a function in this thread; in one of the pool, if the call is over."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()

        def visit() -> None:
            try:
                value = function(*args)
            except Exception as error:
                loop.call_soon_threadsafe(_fail, future, error)
            else:
                loop.call_soon_threadsafe(_finish, future, value)

        with self._lock:
            is_over = self._is_over
            if not is_over:
                self._queue.put(visit)
        if is_over:
            return await asyncio.to_thread(function, *args)
        return await future

    def over(self) -> None:
        """The call has ended; `wait` returns."""
        with self._lock:
            self._is_over = True
            self._queue.put(None)

    def wait(self) -> None:
        """Run what comes, until the call has ended."""
        while True:
            try:
                # Not for ever: what interrupts this thread just before it sleeps does not wake it.
                visit = self._queue.get(timeout=_LOOK)
            except Empty:
                continue
            if visit is None:
                return
            visit()


def _finish(future: asyncio.Future[Any], value: Any) -> None:
    if not future.done():
        future.set_result(value)


def _fail(future: asyncio.Future[Any], error: Exception) -> None:
    if not future.done():
        future.set_exception(error)
