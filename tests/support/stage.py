"""Calls started from callbacks of a loop, as transports start them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import uvloop

from leanmcp.calls import Starter

LOOPS = {"uvloop": uvloop.new_event_loop, "asyncio": asyncio.new_event_loop}
Call = Coroutine[Any, Any, None]
Scene = Callable[["Stage"], Awaitable[None]]
Play = Callable[[Scene], None]


def current() -> asyncio.Task[Any]:
    """Return the current task."""
    task = asyncio.current_task()
    assert task is not None
    return task


async def ended() -> None:
    """Be a call that ends in its first step."""


class Stage:
    """Starts calls from callbacks of the loop, as transports do."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.starter = Starter(self.loop)
        self.seen: list[Any] = []

    async def warm(self) -> None:
        """Have a spare task."""
        while self.starter.task is None:
            await self.start(ended())
            await asyncio.sleep(0)

    async def note(self, what: object) -> None:
        """Be a call that ends in its first step."""
        self.seen.append(what)

    async def go_on(self, rest: Awaitable[Any], request: None) -> None:
        """Go on with a call that did not end in its first step."""
        await rest

    async def start(self, *calls: Call) -> list[asyncio.Task[None] | None]:
        """Start calls in one turn of the loop, and return their tasks."""
        started: asyncio.Future[list[asyncio.Task[None] | None]] = self.loop.create_future()

        def turn() -> None:
            try:
                started.set_result([self.begin(call) for call in calls])
            except Exception as fault:
                started.set_exception(fault)

        self.loop.call_soon(turn)
        return await started

    def begin(self, call: Call) -> asyncio.Task[None] | None:
        """Start a call, and return its task, None where it has ended or was cancelled."""
        try:
            outcome = self.starter.start(call, self, None)
        except asyncio.CancelledError:
            return None
        assert outcome is None or isinstance(outcome, asyncio.Task)
        return outcome

    async def run(self, call: Call) -> asyncio.Task[None]:
        """Start a call that goes on, and return its task when it has ended."""
        (task,) = await self.start(call)
        assert task is not None
        await asyncio.wait([task], timeout=5)
        assert task.done()
        return task


def player(factory: Callable[[], asyncio.AbstractEventLoop]) -> Play:
    """Return what runs a scene on a loop; nothing is left behind."""

    def play(scene: Scene) -> None:
        async def main() -> None:
            stage = Stage()
            await stage.warm()
            async with asyncio.timeout(10):
                await scene(stage)
            stage.starter.close()
            for _ in range(3):
                await asyncio.sleep(0)
            assert asyncio.all_tasks() == {asyncio.current_task()}

        with asyncio.Runner(loop_factory=factory) as runner:
            runner.run(main())

    return play
