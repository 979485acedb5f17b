"""Worker threads for `def` tools: our own daemon threads, started on demand, never the loop's default executor.

The default executor has few workers on a small machine and is joined at exit, so that one stuck tool would keep the
process alive.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections import deque
from collections.abc import Callable
from types import CoroutineType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from queue import SimpleQueue

_Outcome = tuple[Any, BaseException | None]
_Done = Callable[[], None]
_Job = tuple[
    "asyncio.Future[_Outcome]", _Done, contextvars.Context, Callable[..., Any], tuple[Any, ...], dict[str, Any]
]


class ThreadPool:
    """Runs functions in threads for one event loop.

    Args:
        limit: most threads at once; further jobs wait in order.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._threads = 0
        self._unfinished = 0
        self._jobs: SimpleQueue[_Job] | None = None
        self._done: deque[tuple[asyncio.Future[_Outcome], _Done, _Outcome]] = deque()
        self._waking = False
        self._loop: asyncio.AbstractEventLoop | None = None

    async def run(
        self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], done: _Done
    ) -> Any:
        """Return `function(*args, **kwargs)`, run in a thread with the caller's context variables.

        Cancelling the wait leaves a function running that has begun, and drops its outcome; one that has not begun
        never runs. `done` is called on the loop in any case, once no thread is busy with the function any more.
        """
        loop = asyncio.get_running_loop()
        if loop is not self._loop:  # another one than before: nobody is woken there yet
            self._loop, self._waking = loop, False
        future: asyncio.Future[_Outcome] = loop.create_future()
        if self._jobs is None:
            from queue import SimpleQueue  # loaded by the first `def` tool that runs

            self._jobs = SimpleQueue()
        try:
            self._start_thread(self._jobs)
        except RuntimeError:  # the system has no more threads; those that run will come to this job
            if not self._threads:
                done()
                raise
        self._unfinished += 1
        self._jobs.put((future, done, contextvars.copy_context(), function, args, kwargs))
        value, error = await future
        if error is not None:
            raise error
        return value

    def _start_thread(self, jobs: SimpleQueue[_Job]) -> None:
        """Start one more thread where all are busy and the limit allows."""
        if self._threads < min(self._unfinished + 1, self._limit):
            name = f"leanmcp-tool-{self._threads + 1}"
            threading.Thread(target=self._work, args=(jobs,), name=name, daemon=True).start()
            self._threads += 1

    def _work(self, jobs: SimpleQueue[_Job]) -> None:
        """Thread: take jobs for ever."""
        while True:
            future, done, context, function, args, kwargs = jobs.get()
            outcome: _Outcome
            try:
                outcome = None if future.cancelled() else context.run(function, *args, **kwargs), None
            except BaseException as error:  # whatever a tool raises belongs to its call, never to this thread
                outcome = None, error
            self._deliver(future, done, outcome)
            del future, done, context, function, args, kwargs, outcome  # an idle thread holds nothing

    def _deliver(self, future: asyncio.Future[_Outcome], done: _Done, outcome: _Outcome) -> None:
        """Thread: hand an outcome to the loop, waking it once for all that are waiting."""
        self._done.append((future, done, outcome))
        if self._waking or self._loop is None:
            return  # appended before the flag was read: `_collect` clears the flag first, so it will see this one
        self._waking = True
        try:
            self._loop.call_soon_threadsafe(self._collect)
        except RuntimeError:
            self._waking = False  # the loop has ended, and with it everybody who waited for this outcome

    def _collect(self) -> None:
        """Loop: resolve the calls whose functions have returned."""
        self._waking = False
        while self._done:
            future, done, outcome = self._done.popleft()
            self._unfinished -= 1
            done()
            if not future.done():
                future.set_result(outcome)
            elif type(outcome[0]) is CoroutineType:
                outcome[0].close()  # of a wrapper around a coroutine function; nobody will await it
