"""Worker threads: event loops at once and one after the other, and processes."""

from __future__ import annotations

import asyncio
import inspect
import os
import threading
import time
from collections.abc import Callable

import pytest

from leanmcp.server.threads import ThreadPool
from tests.support.processes import DEADLINE


def nothing() -> None:
    """Be told of the end of a job."""


async def work(threads: ThreadPool, jobs: int) -> list[int]:
    """Run jobs at once and return what they gave."""

    async def one(number: int) -> int:
        value: int = await threads.run(lambda: number, (), {}, nothing)
        return value

    async with asyncio.timeout(DEADLINE):
        return await asyncio.gather(*map(one, range(jobs)))


def test_loops_that_run_at_once_share_the_threads() -> None:
    """Ours: a program may serve in one thread and ask itself in another; each loop gets its own outcomes."""
    threads, found = ThreadPool(3), [[-1]] * 4
    begin = threading.Barrier(len(found))

    def loop(number: int) -> None:
        begin.wait(DEADLINE)
        for _ in range(30):
            found[number] = asyncio.run(work(threads, 20))

    running = [threading.Thread(target=loop, args=(number,)) for number in range(len(found))]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join(2 * DEADLINE)
    assert found == [list(range(20))] * len(found)
    assert threads._threads <= 3
    assert threads._unfinished == 0


def test_a_loop_that_ends_before_its_job_is_forgotten() -> None:
    """Ours: the job counts as done when its thread has returned, and the next loop knows nothing of it."""
    threads, begun, release, ended = ThreadPool(1), threading.Event(), threading.Event(), threading.Event()

    def job() -> None:
        begun.set()
        release.wait(DEADLINE)

    async def gives_up() -> None:
        task = asyncio.ensure_future(threads.run(job, (), {}, ended.set))
        await asyncio.sleep(0)
        assert begun.wait(DEADLINE)
        task.cancel()

    asyncio.run(gives_up())
    assert not ended.is_set()
    release.set()
    assert ended.wait(DEADLINE)
    assert asyncio.run(work(threads, 5)) == list(range(5))
    assert threads._unfinished == 0
    assert len(threads._by_loop) == 1


def test_outcomes_that_a_loop_left_behind_are_collected_by_the_next() -> None:
    """Ours: it was told of them, and ended in the same turn."""
    threads, ended = ThreadPool(1), threading.Event()

    async def leaves() -> None:
        task = asyncio.ensure_future(threads.run(lambda: 1, (), {}, ended.set))
        await asyncio.sleep(0)
        task.cancel()
        [returns] = threads._by_loop.values()
        deadline = time.monotonic() + DEADLINE
        while not returns.outcomes:  # the loop stands still
            assert time.monotonic() < deadline

    loop = asyncio.new_event_loop()
    main = loop.create_task(leaves())
    main.add_done_callback(lambda _: loop.stop())
    loop.call_soon(loop.stop)
    loop.run_forever()
    loop.run_until_complete(main)
    loop.close()
    assert asyncio.run(work(threads, 2)) == [0, 1]
    assert ended.wait(DEADLINE)
    assert threads._unfinished == 0


def test_a_coroutine_that_comes_in_the_turn_of_a_cancellation_is_closed() -> None:
    """Ours: of a plain wrapper around a coroutine function; else Python warns that it was never awaited."""
    threads = ThreadPool(1)

    async def never_run() -> None:
        """Be made, and thrown away."""

    made = never_run()

    async def main() -> None:
        task = asyncio.ensure_future(threads.run(lambda: made, (), {}, lambda: cancel(task)))
        with pytest.raises(asyncio.CancelledError):
            async with asyncio.timeout(DEADLINE):
                await task

    def cancel(task: asyncio.Future[None]) -> None:
        # Told before the outcome is set: the cancellation follows it in the next turn, in front of the task's own step.
        asyncio.get_running_loop().call_soon(task.cancel)

    asyncio.run(main())
    assert inspect.getcoroutinestate(made) == inspect.CORO_CLOSED
    assert threads._unfinished == 0


def test_jobs_wait_for_the_threads_that_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: where the system has no more; without a single one, the call fails and its place is free."""
    threads, done = ThreadPool(3), list[str]()
    assert asyncio.run(work(threads, 1)) == [0]

    def start(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", start)
    assert asyncio.run(work(threads, 3)) == [0, 1, 2]
    with pytest.raises(RuntimeError, match="can't start new thread"):
        asyncio.run(ThreadPool(3).run(int, done=lambda: done.append("done")))
    assert done == ["done"]


def in_a_child(check: Callable[[], bool]) -> bool:
    """Return what a forked process finds."""
    process = os.fork()
    if not process:
        try:
            os._exit(0 if check() else 1)
        finally:
            os._exit(2)
    return os.waitpid(process, 0)[1] == 0


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_process_has_threads_of_its_own() -> None:
    """Ours: a server that has run a `def` tool before its workers are forked, such as in a check at start."""
    threads = ThreadPool(2)
    assert asyncio.run(work(threads, 3)) == [0, 1, 2]
    assert in_a_child(lambda: asyncio.run(work(threads, 3)) == [0, 1, 2])
    assert asyncio.run(work(threads, 3)) == [0, 1, 2]
