"""The task that calls share in their first step: what one of them does to it, no other one sees."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import sys
import weakref
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.support.stage import LOOPS, Call, Play, Stage, current, player


@pytest.fixture(params=LOOPS)
def play(request: pytest.FixtureRequest) -> Play:
    """Run a scene on one loop after the other."""
    return player(LOOPS[request.param])


@pytest.mark.parametrize("waits", [False, True])
@pytest.mark.parametrize("takes_back", [False, True])
def test_call_that_cancels_itself_touches_no_other(play: Play, waits: bool, takes_back: bool) -> None:
    """Ours: the spare task that it cancelled stands in for no other call."""

    async def scene(stage: Stage) -> None:
        async def call() -> None:
            task = asyncio.current_task()
            assert task is not None
            task.cancel()
            if takes_back:
                task.uncancel()
            if waits:
                with contextlib.suppress(asyncio.CancelledError):
                    await asyncio.Event().wait()
            stage.seen.append("self")

        async def other() -> None:
            task = asyncio.current_task()
            stage.seen.append(0 if task is None else task.cancelling())

        tasks = await stage.start(call(), other(), other())
        if others := [task for task in tasks if task is not None]:
            await asyncio.wait(others, timeout=5)
        assert sorted(stage.seen, key=str) == [0, 0, "self"]

    play(scene)


def test_fault_of_a_call_that_cancelled_itself_touches_no_other(play: Play) -> None:
    """Ours: as above, where the call ends with a fault."""

    async def scene(stage: Stage) -> None:
        async def call() -> None:
            current().cancel()
            raise ValueError("a fault")

        async def other() -> None:
            stage.seen.append(current().cancelling())

        faults = await asyncio.gather(stage.start(call()), stage.start(other()), return_exceptions=True)
        assert [type(fault) for fault in faults] == [ValueError, list]
        (task,) = await stage.start(other())
        if task is not None:
            await asyncio.wait([task], timeout=5)
        assert stage.seen == [0, 0]

    play(scene)


def test_task_that_a_call_has_kept_stands_in_for_no_other(play: Play) -> None:
    """Ours: a tool that cancels its last run, as for a search of which only the newest matters, must not cancel itself.

    As with tasks of their own, the one that was kept is done in the turn behind its call.
    """

    async def scene(stage: Stage) -> None:
        last: list[asyncio.Task[Any]] = []

        async def call(waits: bool) -> None:
            stage.seen.append([task.cancel() for task in last])
            last[:] = [current()]
            if waits:
                await asyncio.sleep(0)
            stage.seen.append(current().cancelling())

        for waits in (False, False, True):
            await stage.start(call(waits))
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            await asyncio.wait(last, timeout=5)
            await stage.warm()
        assert stage.seen == [[], 0, [False], 0, [False], 0]

    play(scene)


def test_what_a_call_does_to_its_task_ends_with_it(play: Play) -> None:
    """Ours: a name is its own, and who waits for the end of the task is called at the end of the call."""

    async def scene(stage: Stage) -> None:
        async def named() -> None:
            stage.seen.append(current().get_name())
            current().set_name("named")

        async def watched() -> None:
            current().add_done_callback(lambda _: stage.seen.append("done"))

        await stage.start(named())
        await asyncio.sleep(0)
        await stage.warm()
        await stage.start(named(), watched())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        await stage.warm()
        await stage.start(watched())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert stage.seen == ["leanmcp call", "leanmcp call", "done", "done"]

    play(scene)


def test_one_spare_task_serves_any_number_of_calls(play: Play) -> None:
    """Ours: none of them is taken for kept; time limits and groups let go of it."""

    async def scene(stage: Stage) -> None:
        async def call() -> None:
            async with asyncio.timeout(5), asyncio.TaskGroup():
                stage.seen.append(current().cancelling())

        assert stage.starter.task is not None
        spare = weakref.ref(stage.starter.task)
        for _ in range(100):
            assert await stage.start(call(), stage.note(0)) == [None, None]
        assert stage.starter.task is spare()
        assert stage.seen == [0] * 200

    play(scene)


def test_call_is_told_why_it_is_cancelled(play: Play) -> None:
    """Ours: in the very turn behind its first step, too; libraries tell their own cancellation by its message."""

    async def scene(stage: Stage) -> None:
        async def call(waits: Callable[[], Awaitable[Any]]) -> None:
            stage.loop.call_soon(current().cancel, "why")
            try:
                while True:
                    await waits()
            except asyncio.CancelledError as error:
                stage.seen.append(error.args)

        for waits in (asyncio.Event().wait, lambda: asyncio.sleep(0)):
            await stage.warm()
            await stage.run(call(waits))
        assert stage.seen == [("why",), ("why",)]

    play(scene)


@pytest.mark.parametrize("turns", [0, 3])
def test_calls_that_end_badly_are_freed_at_once(play: Play, turns: int) -> None:
    """Ours: what they held does not wait for the garbage collector, as it does not with tasks of their own."""

    class Held:
        """Something large."""

    async def scene(stage: Stage) -> None:
        held: list[weakref.ref[Held]] = []

        async def fail() -> None:
            raise ValueError("a fault")

        async def cancelled() -> None:
            something = Held()
            held.append(weakref.ref(something))
            await asyncio.sleep(5)

        async def failing() -> None:
            something = Held()
            held.append(weakref.ref(something))
            with contextlib.suppress(ValueError):
                await asyncio.create_task(fail())

        gc.disable()
        try:
            for call in (cancelled, failing):
                await stage.warm()
                (task,) = await stage.start(call())
                assert task is not None
                for _ in range(turns):
                    await asyncio.sleep(0)
                if call is cancelled:
                    task.cancel()
                await asyncio.wait([task], timeout=5)
                del task
            await stage.warm()
            assert [something() for something in held] == [None, None]
        finally:
            gc.enable()

    play(scene)


def test_spare_task_that_a_stranger_cancels_is_replaced(play: Play) -> None:
    """Ours: whoever cancels all tasks of a loop and goes on."""

    async def scene(stage: Stage) -> None:
        spare = stage.starter.task
        assert spare is not None
        spare.cancel()
        await asyncio.wait([spare], timeout=5)
        tasks = await stage.start(stage.note(1), stage.note(2))
        await asyncio.wait([task for task in tasks if task is not None], timeout=5)
        assert sorted(stage.seen) == [1, 2]
        await stage.warm()
        assert await stage.start(stage.note(3)) == [None]

    play(scene)


def test_call_within_a_task_gets_one_of_its_own(play: Play) -> None:
    """Ours: two tasks cannot be the current one."""

    async def scene(stage: Stage) -> None:
        task = stage.begin(stage.note("inner"))
        assert task is not None
        assert stage.seen == []
        await task
        assert stage.seen == ["inner"]

    play(scene)


def test_task_factory_sees_every_call() -> None:
    """Ours: a program that made one, to trace tasks for one, misses none."""
    made: list[Call] = []

    def factory(loop: asyncio.AbstractEventLoop, call: Any, **options: Any) -> asyncio.Task[Any]:
        made.append(call)
        return asyncio.Task(call, loop=loop, **options)

    async def main() -> None:
        stage = Stage()
        stage.loop.set_task_factory(factory)
        for _ in range(3):
            (task,) = await stage.start(stage.note("call"))
            assert task is not None
            await task
        assert (len(made), stage.seen) == (3, ["call"] * 3)

    asyncio.run(main())


@pytest.mark.skipif(sys.version_info < (3, 12), reason="asyncio.eager_task_factory came with Python 3.12")
def test_eager_task_factory_leaves_no_task_of_a_call_that_has_ended() -> None:
    """Ours: such a call is not in flight; one that goes on is."""

    async def main() -> None:
        stage = Stage()
        stage.loop.set_task_factory(asyncio.eager_task_factory)  # type: ignore[attr-defined, unused-ignore]
        assert await stage.start(stage.note(1)) == [None]
        (task,) = await stage.start(asyncio.sleep(0))
        assert task is not None
        await task
        assert stage.seen == [1]

    with asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner:
        runner.run(main())
