"""The first step of calls: what ends in it has no task; what goes on is one task from the start."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from contextvars import ContextVar
from typing import Any

import pytest

from leanmcp.calls import Starter, end_call
from tests.support.stage import LOOPS, Play, Stage, current, player

number: ContextVar[int] = ContextVar("number", default=0)


@pytest.fixture(params=LOOPS)
def play(request: pytest.FixtureRequest) -> Play:
    """Run a scene on one loop after the other."""
    return player(LOOPS[request.param])


def test_call_that_ends_in_its_first_step_has_no_task(play: Play) -> None:
    """Ours: it has run when `start` returns; one spare task serves them all."""

    async def scene(stage: Stage) -> None:
        before = asyncio.all_tasks()

        async def call() -> None:
            stage.seen.append(asyncio.current_task() is stage.starter.task)

        assert await stage.start(call(), call(), call()) == [None, None, None]
        assert stage.seen == [True] * 3
        assert asyncio.all_tasks() == before

    play(scene)


def test_call_that_goes_on_is_one_task_from_its_start(play: Play) -> None:
    """Ours: what it took hold of in its first step carries it on; another spare task stands ready behind it."""

    async def scene(stage: Stage) -> None:
        async def call() -> None:
            stage.seen.append(asyncio.current_task())
            for pause in (0, 0.001, 0):
                await asyncio.sleep(pause)
                stage.seen.append(asyncio.current_task())

        task = await stage.run(call())
        assert stage.seen == [task] * 4
        assert not task.cancelled()
        await stage.warm()
        assert stage.starter.task is not task

    play(scene)


def test_calls_have_contexts_of_their_own(play: Play) -> None:
    """Ours: as tasks do; a value that one sets stays with it when it goes on, and reaches no other."""

    async def scene(stage: Stage) -> None:
        async def call(value: int, waits: bool) -> None:
            stage.seen.append(number.get())
            number.set(value)
            if waits:
                await asyncio.sleep(0)
                await asyncio.create_task(stage.note(number.get()))
                stage.seen.append(number.get())

        await stage.start(call(1, waits=False), call(2, waits=False))
        await stage.run(call(3, waits=True))
        assert stage.seen == [0, 0, 0, 3, 3]
        assert number.get() == 0

    play(scene)


def test_call_that_is_started_behind_the_end_of_another_sees_none_of_its_variables(play: Play) -> None:
    """Ours: FIELD row 13; the task that waited for the first one starts what arrived meanwhile."""

    async def scene(stage: Stage) -> None:
        starter, over = Starter(stage.loop), asyncio.Event()

        async def call(value: int) -> None:
            stage.seen.append(number.get())
            number.set(value)
            await asyncio.sleep(0)
            stage.seen.append(number.get())

        class Connection:
            async def go_on(self, rest: Awaitable[Any], waiting: list[int]) -> None:
                await rest
                if waiting:
                    starter.start(call(waiting.pop()), self, waiting)
                else:
                    over.set()

        stage.loop.call_soon(starter.start, call(1), Connection(), [3, 2])
        await over.wait()
        starter.close()
        assert stage.seen == [0, 1, 0, 2, 0, 3]

    play(scene)


def test_time_limit_from_the_first_step_ends_the_call(play: Play) -> None:
    """Ours: `asyncio.timeout` cancels the task that was the current one when it was entered."""

    async def scene(stage: Stage) -> None:
        async def call() -> None:
            try:
                async with asyncio.timeout(0.01):
                    await asyncio.Event().wait()
            except TimeoutError:
                stage.seen.append("late")
            await asyncio.sleep(0)
            stage.seen.append(asyncio.current_task().cancelling())  # type: ignore[union-attr]

        task = await stage.run(call())
        assert stage.seen == ["late", 0]
        assert not task.cancelled()

    play(scene)


def test_task_group_from_the_first_step_ends_with_its_fault(play: Play) -> None:
    """Ours: a child that fails in the very next turn, before the call has gone on, cancels what the call awaits."""

    async def scene(stage: Stage) -> None:
        async def fail() -> None:
            raise ValueError("a child")

        async def call() -> None:
            try:
                async with asyncio.TaskGroup() as group:
                    group.create_task(fail())
                    await asyncio.Event().wait()
            except* ValueError as faults:
                stage.seen.append(str(faults.exceptions[0]))
            await asyncio.sleep(0)
            stage.seen.append("went on")

        await stage.run(call())
        assert stage.seen == ["a child", "went on"]

    play(scene)


@pytest.mark.parametrize("turns", [0, 1, 2, 5])
def test_cancelled_call_cleans_up(play: Play, turns: int) -> None:
    """Ours: at once behind its first step, while it is handed over, or later."""

    async def scene(stage: Stage) -> None:
        inner = stage.loop.create_task(asyncio.Event().wait())

        async def call() -> None:
            try:
                await inner
            except asyncio.CancelledError:
                await asyncio.sleep(0)
                stage.seen.append("cleaned")
                raise

        (task,) = await stage.start(call())
        assert task is not None
        for _ in range(turns):
            await asyncio.sleep(0)
        end_call(task, 5)
        await asyncio.wait([task, inner], timeout=5)
        assert stage.seen == ["cleaned"]
        assert task.cancelled()
        assert inner.cancelled()  # as with a task, what it awaited is cancelled too

    play(scene)


@pytest.mark.parametrize("turns", [0, 1, 3])
def test_cancelled_pause_of_one_turn_ends(play: Play, turns: int) -> None:
    """Ours: `asyncio.sleep(0)` waits for nothing that could be cancelled; the call is."""

    async def scene(stage: Stage) -> None:
        async def call() -> None:
            try:
                while True:
                    await asyncio.sleep(0)
            finally:
                stage.seen.append("ended")

        (task,) = await stage.start(call())
        assert task is not None
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task], timeout=5)
        assert (stage.seen, task.cancelled()) == (["ended"], True)

    play(scene)


def test_two_calls_may_wait_for_one_future(play: Play) -> None:
    """Ours: both begin in one turn; a third waits for what is done already."""

    async def scene(stage: Stage) -> None:
        shared: asyncio.Future[str] = stage.loop.create_future()

        async def call(name: str) -> None:
            stage.seen.append((name, await shared))

        tasks = await stage.start(call("a"), call("b"))
        stage.loop.call_soon(shared.set_result, "done")
        await asyncio.wait([task for task in tasks if task is not None], timeout=5)
        assert sorted(stage.seen) == [("a", "done"), ("b", "done")]
        await stage.warm()
        assert await stage.start(call("c")) == [None]
        assert stage.seen[2:] == [("c", "done")]

    play(scene)


def test_fault_of_a_call_is_raised_where_it_ends(play: Play) -> None:
    """Ours: by `start` from the first step, by the task from a later one."""

    async def scene(stage: Stage) -> None:
        async def call(waits: bool) -> None:
            if waits:
                await asyncio.sleep(0)
            raise ValueError("a fault")

        with pytest.raises(ValueError, match="a fault"):
            await stage.start(call(waits=False))
        task = await stage.run(call(waits=True))
        assert str(task.exception()) == "a fault"

    play(scene)


def test_call_that_awaits_nonsense_is_told(play: Play) -> None:
    """Ours: as by a task; one that is cancelled hears that instead."""

    class Nonsense:
        def __init__(self, value: object) -> None:
            self.value = value

        def __await__(self) -> Any:
            yield self.value

    async def scene(stage: Stage) -> None:
        async def call(value: object, is_cancelled: bool = False) -> None:
            if is_cancelled:
                current().cancel("cancelled")
            try:
                await Nonsense(value)
            except (RuntimeError, asyncio.CancelledError) as fault:
                stage.seen.append(str(fault))

        await stage.run(call("nonsense"))
        await stage.warm()
        await stage.run(call(stage.loop.create_future()))
        await stage.warm()
        await stage.run(call("nonsense", is_cancelled=True))
        assert ["bad yield" in stage.seen[0], "yield was used" in stage.seen[1], stage.seen[2]] == [
            True,
            True,
            "cancelled",
        ]

    play(scene)
