"""A cancelled call on one stream: how soon it ends, what its clean-up may take, and what is left of it."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import logging
import threading
import time
import weakref
from typing import Any

import msgspec
import pytest

from leanmcp import Context, Limits, MCPServer
from leanmcp.server.line_endpoint import LineEndpoint
from tests.support.lines import Lines, cancelled, run, soon
from tests.support.processes import DEADLINE, call, encode

Ctx = Context[None]


def server(**limits: Any) -> MCPServer:
    """Return a server with the limits given."""
    return MCPServer("cancellation", limits=Limits(**limits))


def test_a_cancellation_reaches_the_tool_at_once_and_its_clean_up_may_await() -> None:
    """Spec: basic/patterns/cancellation; FIELD 32 and 37."""
    mcp = server()
    seen: list[str] = []
    entered = asyncio.Event()

    @mcp.tool
    async def work(ctx: Ctx) -> str:
        entered.set()
        try:
            await asyncio.sleep(60)
        finally:
            seen.append("cancelled")
            await asyncio.sleep(0.05)
            seen.append("clean")
        return "late"

    async def conversation(lines: Lines) -> None:
        lines.send(call("work"))
        await soon(entered)
        lines.send(cancelled())
        turns = 0
        while not seen:
            turns += 1
            await asyncio.sleep(0)
        assert turns <= 2
        await lines.idle()
        assert seen == ["cancelled", "clean"]
        assert lines.messages == []

    run(mcp, conversation)


def test_repeated_cancellations_do_not_cut_the_clean_up_short() -> None:
    """Spec: invalid cancellations SHOULD be ignored; FIELD 35."""
    mcp = server()
    seen: list[str] = []
    cleaning = asyncio.Event()

    @mcp.tool
    async def work() -> str:
        try:
            await asyncio.sleep(60)
        finally:
            cleaning.set()
            await asyncio.sleep(0.05)
            seen.append("clean")
        return "late"

    async def conversation(lines: Lines) -> None:
        lines.send(call("work"), cancelled(), cancelled())
        await soon(cleaning)
        lines.send(cancelled(), cancelled())
        await lines.idle()

    run(mcp, conversation)
    assert seen == ["clean"]


def test_clean_up_that_does_not_end_is_cancelled_again(caplog: pytest.LogCaptureFixture) -> None:
    """Ours: `Limits.cleanup_grace`; one line in the log says so."""
    mcp = server(cleanup_grace=0.05)
    seen: list[str] = []

    @mcp.tool
    async def work() -> str:
        try:
            await asyncio.sleep(60)
        finally:
            try:
                await asyncio.sleep(60)
            finally:
                seen.append("cut short")
        return "late"

    async def conversation(lines: Lines) -> None:
        started = time.monotonic()
        await lines.send(call("work"), cancelled()).idle()
        assert 0.05 <= time.monotonic() - started < 5

    with caplog.at_level(logging.WARNING):
        run(mcp, conversation)
    assert seen == ["cut short"]
    assert ["cancelled again" in message for message in caplog.messages] == [True]


def test_a_call_cancelled_before_its_task_began_ends_too() -> None:
    """Ours: call and cancellation in one piece; the tool begins and is cancelled, and its id is free again."""
    mcp = server()
    seen: list[str] = []

    @mcp.tool
    async def work() -> str:
        try:
            await asyncio.sleep(60)
        finally:
            seen.append("ended")
        return "late"

    async def conversation(lines: Lines) -> None:
        for _ in range(3):
            lines.send(call("work", {}, 5), cancelled(5))
            assert len(lines.endpoint.calls) == 1
            await lines.idle()
        assert lines.messages == []

    run(mcp, conversation)
    assert seen == ["ended"] * 3


def test_a_thousand_calls_are_cancelled_at_once(caplog: pytest.LogCaptureFixture) -> None:
    """Ours: RELIABILITY; all within 0.1 s (times slack), no answer, no warning, nothing kept."""
    mcp = server()
    entered = 0
    ended = 0

    class Held:
        pass

    kept: weakref.WeakSet[Held] = weakref.WeakSet()

    @mcp.tool
    async def work() -> str:
        nonlocal entered, ended
        entered += 1
        held = Held()
        kept.add(held)
        try:
            await asyncio.sleep(60)
        finally:
            ended += 1
            await asyncio.sleep(0)
        return str(held)

    async def conversation(lines: Lines) -> None:
        lines.send(*(call("work", {}, number) for number in range(1000)))
        while entered < 1000:
            await asyncio.sleep(0)
        notifications = [cancelled(number) for number in range(1000)]
        started = time.monotonic()
        lines.send(*notifications)
        while lines.endpoint.calls:
            await asyncio.sleep(0)
        assert time.monotonic() - started < 1
        assert (ended, lines.messages) == (1000, [])
        await asyncio.sleep(0)
        gc.collect()
        assert len(kept) == 0  # also while the second cancellation would still be to come

    with caplog.at_level(logging.WARNING):
        run(mcp, conversation)
    assert caplog.messages == []


def test_the_wait_for_a_thread_can_be_cancelled() -> None:
    """Ours: the call ends at once, the thread sees `ctx.cancelled`; its result is dropped."""
    mcp = server()
    entered, over, ended = threading.Event(), threading.Event(), threading.Event()

    @mcp.tool
    def work(ctx: Ctx) -> str:
        entered.set()
        assert over.wait(DEADLINE)
        assert ctx.cancelled
        ended.set()
        return "late"

    async def conversation(lines: Lines) -> None:
        lines.send(call("work"))
        await asyncio.to_thread(entered.wait, DEADLINE)
        await lines.send(cancelled()).idle()
        assert not ended.is_set()
        over.set()
        assert await asyncio.to_thread(ended.wait, DEADLINE)
        assert lines.messages == []

    run(mcp, conversation)


def test_context_variables_of_a_hundred_calls_never_mix() -> None:
    """Ours: FIELD 13; across awaits, threads, clean-up and cancellation."""
    mcp = server()
    user: contextvars.ContextVar[str] = contextvars.ContextVar("user", default="nobody")
    left: dict[str, str] = {}

    @mcp.tool
    async def in_task(name: str) -> list[str]:
        seen = [user.get()]
        user.set(name)
        try:
            await asyncio.sleep(0.001)
            seen.append(user.get())
            seen.append(await asyncio.to_thread(user.get))
            if name.startswith("cancelled"):
                await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0)
            left[name] = user.get()
        return seen

    @mcp.tool
    def in_thread(name: str) -> list[str]:
        seen = [user.get()]
        user.set(name)
        time.sleep(0.001)
        return [*seen, user.get(), user.get()]

    async def conversation(lines: Lines) -> None:
        names = [f"{('cancelled', 'kept')[number % 2]} {number}" for number in range(100)]
        for number, name in enumerate(names):
            lines.send(call("in_task", {"name": name}, number), call("in_thread", {"name": name}, f"t{number}"))
        for number in range(0, 100, 2):
            lines.send(cancelled(number))
        await lines.idle()
        for number, name in enumerate(names):
            ids: list[int | str] = [f"t{number}", number] if number % 2 else [f"t{number}"]
            for request_id in ids:
                answer = await lines.answer(request_id)
                assert answer["result"]["structuredContent"] == {"result": ["nobody", name, name]}
        assert all(left[name] == name for name in left)
        assert user.get() == "nobody"

    run(mcp, conversation)


def test_a_cancellation_of_somebody_elses_task_is_a_failure_of_the_tool() -> None:
    """Ours: only what the client cancels goes unanswered."""
    mcp = server()

    @mcp.tool
    async def work() -> str:
        task = asyncio.ensure_future(asyncio.sleep(60))
        asyncio.get_running_loop().call_soon(task.cancel)
        await task
        return "late"

    async def conversation(lines: Lines) -> None:
        answer = await lines.send(call("work")).answer()
        assert "failed unexpectedly" in answer["result"]["content"][0]["text"]

    run(mcp, conversation)


def test_tool_that_cancels_its_own_call_is_answered() -> None:
    """Ours: the client did not cancel it, and waits."""
    mcp, sent = MCPServer("x"), list[bytes]()

    @mcp.tool
    async def giving_up() -> str:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(0)
        return "never"

    async def main() -> None:
        endpoint = LineEndpoint(mcp, lambda segments: sent.append(b"".join(segments)))
        endpoint.receive(encode(call("giving_up", request_id=7)))
        await asyncio.wait(endpoint.calls.values(), timeout=DEADLINE)

    asyncio.run(main())
    (answer,) = map(msgspec.json.decode, sent)
    assert (answer["id"], answer["error"]["code"]) == (7, -32603)
