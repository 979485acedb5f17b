"""Calls on every transport: how one is started, how it is ended, and what a stream is.

In: the coroutine of a call, its task, or the outlet of a transport. Out: the task of a call that goes on, its end, the
messages of a stream.
Spec 2026-07-28: basic/patterns/cancellation; basic/patterns/subscriptions.

A task costs more than all that a small call does between its bytes: it is made, queued, and run a turn of the loop
later. So the first step of a call runs at once, with a spare task standing in as the current one; most calls end in
it. One that waits for something is handed to that very task: what it took hold of in its first step, as
`asyncio.timeout` and `asyncio.TaskGroup` do, is what carries it on and what cancels it.
The spare task of calls that end in their first step stays one and the same, until one of them has kept it, named it,
or cancelled it: nothing of that may reach the next. Weak references are not counted: a `WeakKeyDictionary` of tasks
may show such a call what another one has left.
Python: "Extending asyncio", "Task lifetime support" (`_enter_task`, `_leave_task`).
"""

from __future__ import annotations

import asyncio
import inspect
from abc import abstractmethod
from asyncio.tasks import _enter_task, _leave_task
from collections.abc import Awaitable, Callable, Coroutine, Generator, Hashable
from contextvars import Context, copy_context
from sys import getrefcount
from types import coroutine
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

from .logs import logger

if TYPE_CHECKING:
    from types import GeneratorType

T = TypeVar("T")
R_contra = TypeVar("R_contra", contravariant=True)
_NAME = "leanmcp call"


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

    # Abstract for type checkers only: the isinstance() of an ABCMeta is a Python function, and answers are told by it.
    @abstractmethod
    def open(self, outlet: Outlet) -> list[bytes]:
        """Return the first message, in segments; others follow through `outlet`, in later turns of the loop."""

    @abstractmethod
    def resume(self) -> None:
        """Go on: the client has read what it was behind with."""

    @abstractmethod
    def end(self) -> list[list[bytes]]:
        """Return the last messages, the response among them; nothing is sent from then on."""

    @abstractmethod
    def close(self) -> None:
        """Let go of everything: the client has left. A second time does nothing."""


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


# --- the start ----------------------------------------------------------------------------------------------------


class Caller(Protocol[R_contra]):
    """Who starts calls, and writes their answers."""

    async def go_on(self, rest: Awaitable[Any], request: R_contra, /) -> None:
        """Wait for what is left of the call that answers `request`, and write its answer."""


@coroutine
def _drive() -> Generator[Any, Any, None]:
    """Run one call after the other to its end; what is sent is a call, what comes is what it awaits, then its outcome.

    A call that is sent to by itself ends in a StopIteration, which costs as much as all of its first step.
    """
    call = yield
    while True:
        call = yield (yield from call)


def _new_driver() -> GeneratorType[Any, Any, None]:
    """Return a driver that waits for its first call."""
    driver = cast("GeneratorType[Any, Any, None]", _drive())
    driver.send(None)
    return driver


class Starter:
    """Starts the calls of one loop.

    Attributes:
        task: the spare task, which is the current one while `start` runs the first step of a call; None before there
            was a call, and for the turn of the loop after a call has taken it.
    """

    __slots__ = ("_driver", "_loop", "_send", "_spare", "task")

    _driver: GeneratorType[Any, Any, None]

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._spare: _Spare | None = None
        self.task: _Spare | None = None
        self._renew_driver()

    def start(self, call: Coroutine[Any, Any, T], caller: Caller[R_contra], request: R_contra) -> Any:
        """Run the first step of `call`.

        Args:
            call: gives the answer to a request.
            caller: goes on with it where it does not end in its first step.
            request: what that is told.

        Returns:
            What `call` returned if it has ended, else the task in which `caller` goes on. None if it went on at once,
            as it does with `asyncio.eager_task_factory`, and has written the answer.

        Raises:
            BaseException: what `call` has raised in its first step.
        """
        task = self.task
        if task is None:
            return self._start_later(caller.go_on(_Apart(call), request))
        try:
            _enter_task(self._loop, task)
        except RuntimeError:  # within another task, which stays the current one
            return self._make_task(caller.go_on(_Apart(call), request))
        context = copy_context()
        task.holders = task.holders or getrefcount(task)
        driver = self._driver
        try:
            outcome = context.run(self._send, call)
            if driver.gi_yieldfrom is None:  # the call has ended
                if getrefcount(task) != task.holders:  # whoever has kept it must not meet another call in it
                    self._retire(task)
                return outcome
        except BaseException as error:
            self._renew_driver()
            if not isinstance(error, asyncio.CancelledError) or getrefcount(task) != task.holders:
                self._retire(task)
            raise
        finally:
            _leave_task(self._loop, task)
        self._renew_driver()
        self._spare = self.task = None
        task.take(_Rest(driver, context, outcome), caller, request)
        return task

    def _renew_driver(self) -> None:
        """Leave the driver to the call that goes on in it, or that has failed in it."""
        self._driver = driver = _new_driver()
        self._send = driver.send

    def _start_later(self, call: Coroutine[Any, Any, None]) -> asyncio.Task[None] | None:
        """Start `call` the usual way, and have a spare task for those that follow."""
        loop = self._loop
        # Within a task there is no use for it; and who has made a task factory wants to see the tasks of all calls.
        if self._spare is None and asyncio.current_task(loop) is None and loop.get_task_factory() is None:
            self._spare = _Spare(self, loop)
        return self._make_task(call)

    def _make_task(self, call: Coroutine[Any, Any, None]) -> asyncio.Task[None] | None:
        task = self._loop.create_task(call, name=_NAME)
        return None if task.done() else task  # `asyncio.eager_task_factory` has run it

    def _retire(self, task: _Spare) -> None:
        """Let a spare task end with the call that it stood in for."""
        self.lose(task)
        task.take()

    def lose(self, task: _Spare) -> None:
        """Use a spare task no more."""
        if self._spare is task:
            self._spare = self.task = None

    def close(self) -> None:
        """Let go of the spare task."""
        if self._spare is not None:
            self._spare.cancel()


class _Spare(asyncio.Task[None]):
    """A task that waits for the rest of a call.

    Args:
        starter: which is told when it waits: only a task that has begun can stand in as the current one.
        loop: of the starter.

    Attributes:
        holders: references to it while nobody has kept it; 0 before the first call, negative once it shows what a call
            has done to it.
    """

    __slots__ = ("_caller", "_given", "_request", "_rest", "_starter", "holders")

    def __init__(self, starter: Starter, loop: asyncio.AbstractEventLoop) -> None:
        self._starter = starter
        self._rest: _Rest | None = None
        self._caller: Caller[Any] | None = None
        self._request: object = None
        self._given: asyncio.Future[None] = loop.create_future()
        self.holders = 0
        super().__init__(self._wait(), loop=loop, name=_NAME)

    def take(self, rest: _Rest | None = None, caller: Caller[Any] | None = None, request: object = None) -> None:
        """Go on with a call in the next turn of the loop, or end."""
        self._rest, self._caller, self._request = rest, caller, request
        if not self._given.done():
            self._given.set_result(None)

    def cancel(self, msg: Any = None) -> bool:
        self.holders = -1
        self._starter.lose(self)
        return super().cancel(msg)

    def add_done_callback(self, callback: Callable[[Any], object], /, *, context: Context | None = None) -> None:
        self.holders = -1
        super().add_done_callback(callback, context=context)

    def set_name(self, value: object, /) -> None:
        self.holders = -1
        super().set_name(value)

    async def _wait(self) -> None:
        if self._starter._spare is self:
            self._starter.task = self
        try:
            await self._given
        except asyncio.CancelledError as error:
            if self._rest is None:
                return
            self._rest.cancel(error)
        rest, caller, request = self._rest, self._caller, self._request
        del self  # what ends the call would hold this frame, and be held by the task
        if rest is not None and caller is not None:
            await caller.go_on(rest, request)


class _Rest:
    """What is left of a call behind its first step.

    Args:
        driver: suspended in the call.
        context: that it runs in.
        awaited: what it waits for; None, as of `asyncio.sleep(0)`, for the next turn of the loop.
    """

    __slots__ = ("_awaited", "_context", "_driver", "_fault", "_is_future")

    def __init__(self, driver: GeneratorType[Any, Any, None], context: Context, awaited: Any) -> None:
        self._driver = driver
        self._context = context
        self._awaited = awaited
        self._is_future = bool(getattr(awaited, "_asyncio_future_blocking", None))
        self._fault: BaseException | None = None

    def cancel(self, error: asyncio.CancelledError) -> None:
        """Cancel it before it goes on: what it waits for, as a task does, or else itself."""
        if not self._is_future or not self._awaited.cancel(*error.args):
            self._fault = error

    def __await__(self) -> Generator[Any, Any, Any]:
        awaited, fault, driver = self._awaited, self._fault, self._driver
        self._awaited = self._fault = None  # neither must be held by the frames that it holds itself
        if self._is_future:
            awaited._asyncio_future_blocking = True  # as it was when it was awaited; others wait for it, too
        while True:
            try:
                if fault is None:
                    yield awaited
            except BaseException as error:
                fault = error
            awaited = None
            try:
                if fault is None:
                    awaited = self._context.run(driver.send, None)
                else:
                    awaited = self._context.run(driver.throw, fault)
            finally:
                fault = None
            if driver.gi_yieldfrom is None:
                return awaited  # the outcome


class _Apart:
    """A call in the task of its own, but with context variables apart: its caller may start the next one there.

    Args:
        call: not begun.
    """

    __slots__ = ("_call",)

    def __init__(self, call: Coroutine[Any, Any, Any]) -> None:
        self._call = call

    def __await__(self) -> Generator[Any, Any, Any]:
        context, driver = copy_context(), _new_driver()
        outcome = context.run(driver.send, self._call)
        return outcome if driver.gi_yieldfrom is None else (yield from _Rest(driver, context, outcome).__await__())


# --- the end ------------------------------------------------------------------------------------------------------


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
        self._task = cast("asyncio.Task[Any]", asyncio.current_task())
        self._before = self._task.cancelling()
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
