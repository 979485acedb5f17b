"""Worker threads for `def` tools: our own daemon threads, started on demand, never the loop's default executor.

The default executor has few workers on a small machine and is joined at exit, so that one stuck tool would keep the
process alive.
"""

from __future__ import annotations

import asyncio
import contextvars
import os
import threading
from collections import deque
from collections.abc import Callable
from types import CoroutineType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from queue import SimpleQueue

_Outcome = tuple[Any, BaseException | None]
_Done = Callable[[], None]


def _nothing() -> None:
    pass


class _Returns:
    """The outcomes on their way to one event loop; a thread wakes it once for all that are waiting."""

    __slots__ = ("loop", "outcomes", "waking")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.outcomes: deque[tuple[asyncio.Future[_Outcome], _Done, _Outcome]] = deque()
        self.waking = False


_Job = tuple[
    _Returns,
    "asyncio.Future[_Outcome]",
    _Done,
    contextvars.Context,
    Callable[..., Any],
    tuple[Any, ...],
    dict[str, Any],
]


class ThreadPool:
    """Runs functions in threads, for any number of event loops, at once or one after the other.

    Args:
        limit: most threads at once; further jobs wait in order.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._begin()

    def _begin(self) -> None:
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._threads = 0
        self._unfinished = 0
        self._jobs: SimpleQueue[_Job] | None = None
        self._returns: _Returns | None = None
        self._by_loop: dict[asyncio.AbstractEventLoop, _Returns] = {}

    async def run(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
        done: _Done = _nothing,
    ) -> Any:
        """Return `function(*args, **kwargs)`, run in a thread with the caller's context variables.

        Cancelling the wait leaves a function running that has begun, and drops its outcome; one that has not begun
        never runs. `done` is called on the loop in any case, once no thread is busy with the function any more; in the
        thread where the loop has ended by then.
        """
        loop = asyncio.get_running_loop()
        returns = self._returns
        if returns is None or returns.loop is not loop:
            returns = self._returns_of(loop)
        future: asyncio.Future[_Outcome] = loop.create_future()
        with self._lock:
            jobs = self._jobs
            if jobs is None:
                from queue import SimpleQueue  # loaded by the first `def` tool that runs

                jobs = self._jobs = SimpleQueue()
            try:
                self._start_thread(jobs)
            except RuntimeError:  # the system has no more threads; those that run will come to this job
                if not self._threads:
                    done()
                    raise
            self._unfinished += 1
        jobs.put((returns, future, done, contextvars.copy_context(), function, args, kwargs or {}))
        try:
            value, error = await future
        except BaseException:
            if future.done() and not future.cancelled():  # the outcome came in the turn of the cancellation
                _drop(future.result())
            raise
        if error is not None:
            raise error
        return value

    def _returns_of(self, loop: asyncio.AbstractEventLoop) -> _Returns:
        """Return where the outcomes for a loop go that is not the one of the last call."""
        if self._process != os.getpid():  # a fork, which has none of the threads
            self._begin()
        with self._lock:
            returns = self._by_loop.setdefault(loop, _Returns(loop))
            ended = [self._by_loop.pop(known) for known in list(self._by_loop) if known.is_closed()]
        for others in ended:
            self._collect(others)
        self._returns = returns
        return returns

    def _start_thread(self, jobs: SimpleQueue[_Job]) -> None:
        """Start one more thread where all are busy and the limit allows."""
        if self._threads < min(self._unfinished + 1, self._limit):
            name = f"leanmcp-tool-{self._threads + 1}"
            threading.Thread(target=self._work, args=(jobs,), name=name, daemon=True).start()
            self._threads += 1

    def _work(self, jobs: SimpleQueue[_Job]) -> None:
        """Thread: take jobs for ever."""
        while True:
            returns, future, done, context, function, args, kwargs = jobs.get()
            outcome: _Outcome
            try:
                outcome = None if future.cancelled() else context.run(function, *args, **kwargs), None
            except BaseException as error:  # whatever a tool raises belongs to its call, never to this thread
                outcome = None, error
            self._deliver(returns, future, done, outcome)
            del returns, future, done, context, function, args, kwargs, outcome  # an idle thread holds nothing

    def _deliver(self, returns: _Returns, future: asyncio.Future[_Outcome], done: _Done, outcome: _Outcome) -> None:
        """Thread: hand an outcome to its loop."""
        returns.outcomes.append((future, done, outcome))
        if returns.waking:
            return  # appended before the flag was read: `_collect` clears the flag first, so it will see this one
        returns.waking = True
        try:
            returns.loop.call_soon_threadsafe(self._collect, returns)
        except RuntimeError:  # the loop has ended, and with it everybody who waited for this outcome
            self._collect(returns)

    def _collect(self, returns: _Returns) -> None:
        """Loop: resolve the calls whose functions have returned."""
        returns.waking = False
        ended = returns.loop.is_closed()
        while returns.outcomes:
            try:
                future, done, outcome = returns.outcomes.popleft()
            except IndexError:  # of an ended loop, another thread was faster
                return
            with self._lock:
                self._unfinished -= 1
            done()
            if not (ended or future.done()):
                future.set_result(outcome)
            else:
                _drop(outcome)


def _drop(outcome: _Outcome) -> None:
    """Let go of an outcome that nobody waits for."""
    if type(outcome[0]) is CoroutineType:
        outcome[0].close()  # of a wrapper around a coroutine function; nobody will await it
