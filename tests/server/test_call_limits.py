"""`timeout=` and `max_concurrency=`: what a tool may take, what its caller reads, and when its place is free again."""

from __future__ import annotations

import asyncio
import functools
import logging
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from leanmcp import Context, Limits, MCPServer, ToolError
from tests.support.lines import Lines, call_once, cancelled, run, soon, text_of
from tests.support.processes import DEADLINE, call

Ctx = Context[None]
SLOW = "did not finish within 0.05 seconds"
BUSY = "is busy: 1 calls are running; try again"


@pytest.fixture
def mcp() -> MCPServer:
    """A server whose cancelled calls have a short time for their clean-up."""
    return MCPServer("limits", limits=Limits(cleanup_grace=0.1))


# --- time -------------------------------------------------------------------------------------------------------------


def test_an_async_tool_is_cancelled_when_its_time_is_over(mcp: MCPServer) -> None:
    """Ours: FIELD 38; the model reads the tool's name and the time, and `finally` blocks run."""
    seen: list[str] = []

    @mcp.tool(timeout=0.05)
    async def wait(ctx: Ctx) -> str:
        assert ctx.deadline is not None
        assert 0 < ctx.deadline - time.monotonic() <= 0.05
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise
        finally:
            await asyncio.sleep(0)
            seen.append("cleaned")
        return "late"

    started = time.monotonic()
    [answer] = call_once(mcp, "wait").messages
    assert text_of(answer) == "Tool 'wait' did not finish within 0.05 seconds"
    assert seen == ["cancelled", "cleaned"]
    assert 0.05 <= time.monotonic() - started < 2


def test_a_thread_sees_that_its_time_is_over(mcp: MCPServer) -> None:
    """Ours: a thread cannot be cancelled; it looks at `ctx.cancelled` and `ctx.deadline`."""
    seen: list[bool] = []
    ended = threading.Event()

    @mcp.tool(timeout=0.05)
    def wait(ctx: Ctx) -> str:
        assert ctx.deadline is not None
        seen.append(ctx.cancelled)
        while not ctx.cancelled:
            assert time.monotonic() < ctx.deadline + DEADLINE
            time.sleep(0.001)
        seen.append(time.monotonic() >= ctx.deadline)
        ended.set()
        return "late"

    [answer] = call_once(mcp, "wait").messages
    assert SLOW in text_of(answer)
    assert ended.wait(DEADLINE)
    assert seen == [False, True]


def test_a_call_in_time_is_answered_as_ever(mcp: MCPServer) -> None:
    """Ours: the limit leaves no trace, and there is no deadline without one."""

    @mcp.tool(timeout=30)
    async def quick(ctx: Ctx) -> bool:
        await asyncio.sleep(0)
        return ctx.cancelled

    @mcp.tool
    async def unlimited(ctx: Ctx) -> str:
        return str(ctx.deadline)

    for tool, expected in (("quick", False), ("unlimited", "None")):
        [answer] = call_once(mcp, tool).messages
        assert answer["result"]["structuredContent"] == {"result": expected}


@pytest.mark.parametrize("timeout", [None, 30])
@pytest.mark.parametrize("in_thread", [False, True])
def test_a_timeout_of_the_tools_own_is_masked(mcp: MCPServer, timeout: float | None, in_thread: bool) -> None:
    """Ours: policy P3; it is an exception like any other, and not taken for ours."""

    async def own() -> str:
        async with asyncio.timeout(0.01):
            await asyncio.sleep(60)
        return "late"

    def own_in_thread() -> str:
        raise TimeoutError("postgres://secret")

    mcp.add_tool(own_in_thread if in_thread else own, "own", timeout=timeout)
    [answer] = call_once(mcp, "own").messages
    assert "failed unexpectedly" in text_of(answer)
    assert "did not finish" not in text_of(answer)


def test_a_tool_may_answer_when_its_time_is_over(mcp: MCPServer) -> None:
    """Ours: FIELD 37; what was done so far is not lost, as a result or as an error of its own words."""

    @mcp.tool(timeout=0.05)
    async def partly(fail: bool) -> str:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            if fail:
                raise ToolError("3 of 7 rows are written; send offset=3") from None
        return "3 of 7 rows"

    [answer] = call_once(mcp, "partly", {"fail": False}).messages
    assert answer["result"]["structuredContent"] == {"result": "3 of 7 rows"}
    [answer] = call_once(mcp, "partly", {"fail": True}).messages
    assert text_of(answer) == "3 of 7 rows are written; send offset=3"


def test_clean_up_without_end_does_not_hold_the_answer_back(mcp: MCPServer) -> None:
    """Ours: it is bounded by `Limits.cleanup_grace`, as after a cancellation."""
    seen: list[str] = []

    @mcp.tool(timeout=0.05)
    async def clinging() -> str:
        try:
            await asyncio.sleep(60)
        finally:
            try:
                await asyncio.sleep(60)
            finally:
                seen.append("cut short")
        return "late"

    started = time.monotonic()
    [answer] = call_once(mcp, "clinging").messages
    assert SLOW in text_of(answer)
    assert seen == ["cut short"]
    assert 0.15 <= time.monotonic() - started < 5


@pytest.mark.parametrize("after", [False, True])
def test_a_cancellation_is_not_taken_for_a_timeout(mcp: MCPServer, after: bool) -> None:
    """Spec: no answer to a cancelled call, also where it is cancelled during the clean-up of a timed-out one."""
    cleaning, ended = asyncio.Event(), asyncio.Event()

    @mcp.tool(timeout=0.05 if after else 60)
    async def wait() -> str:
        try:
            await asyncio.sleep(60)
        finally:
            cleaning.set()
            try:
                await asyncio.sleep(0.05 if not after else 60)
            finally:
                ended.set()
        return "late"

    async def conversation(lines: Lines) -> Lines:
        lines.send(call("wait"))
        await asyncio.sleep(0)
        if after:
            await cleaning.wait()
        await lines.send(cancelled()).idle()
        assert ended.is_set()
        return lines

    assert run(mcp, conversation).messages == []


# --- places -----------------------------------------------------------------------------------------------------------

Way = Callable[[Lines, asyncio.Event], Any]


@pytest.mark.parametrize("end", ["answer", "ToolError", "RuntimeError", "cancel", "timeout"])
@pytest.mark.parametrize("kind", ["async", "wrapper"])
def test_a_place_is_free_however_a_call_ends(mcp: MCPServer, kind: str, end: str) -> None:
    """Ours: one call more than `max_concurrency` is told so, and the place is free after any end."""
    go_on = asyncio.Event()
    entered = asyncio.Event()

    async def work(wait: bool) -> str:
        if wait:
            entered.set()
            await go_on.wait()
            if end == "ToolError":
                raise ToolError("no")
            if end == "RuntimeError":
                raise RuntimeError("no")
        return "done"

    @functools.wraps(work)
    def wrapper(wait: bool) -> Any:
        return work(wait)

    tool: Callable[..., Any] = work if kind == "async" else wrapper
    mcp.add_tool(tool, "work", max_concurrency=1, timeout=0.3 if end == "timeout" else 60)

    async def conversation(lines: Lines) -> None:
        for number in range(3):
            go_on.clear()
            entered.clear()
            lines.send(call("work", {"wait": True}, f"first {number}"))
            await soon(entered)
            refused = await lines.send(call("work", {"wait": False}, f"second {number}")).answer(f"second {number}")
            assert BUSY in text_of(refused)
            if end == "cancel":
                lines.send(cancelled(f"first {number}"))
            elif end != "timeout":
                go_on.set()
            await lines.idle()
            answer = await lines.send(call("work", {"wait": False}, f"third {number}")).answer(f"third {number}")
            assert answer["result"]["structuredContent"] == {"result": "done"}

    run(mcp, conversation)


@pytest.mark.parametrize("end", ["cancel", "timeout"])
def test_a_thread_keeps_its_place_until_it_returns(mcp: MCPServer, end: str) -> None:
    """Ours: it goes on working, whether or not anybody waits for it."""
    go_on, entered = threading.Event(), threading.Event()

    @mcp.tool(max_concurrency=1, timeout=0.05 if end == "timeout" else None)
    def work(wait: bool) -> str:
        if wait:
            entered.set()
            assert go_on.wait(DEADLINE)
        return "done"

    async def conversation(lines: Lines) -> None:
        lines.send(call("work", {"wait": True}))
        await asyncio.to_thread(entered.wait, DEADLINE)
        if end == "cancel":
            await lines.send(cancelled()).idle()
        else:
            assert SLOW in text_of(await lines.answer())
        assert BUSY in text_of(await lines.send(call("work", {"wait": False}, 2)).answer(2))
        go_on.set()
        number, result = 2, {}
        while "structuredContent" not in result:
            number += 1
            result = (await lines.send(call("work", {"wait": False}, number)).answer(number))["result"]

    run(mcp, conversation)


def test_arguments_that_do_not_fit_take_no_place(mcp: MCPServer) -> None:
    """Ours: nor do calls that are refused because there is none."""

    @mcp.tool(max_concurrency=2)
    async def work(number: int) -> int:
        await asyncio.sleep(0)
        return number

    async def conversation(lines: Lines) -> None:
        for number in range(10):
            lines.send(call("work", {"number": "x"}, f"bad {number}"))
        for number in range(10):
            lines.send(call("work", {"number": number}, number))
        await lines.idle()
        answers = [await lines.answer(number) for number in range(10)]
        assert sum("structuredContent" in answer["result"] for answer in answers) == 2
        assert "structuredContent" in (await lines.send(call("work", {"number": 1}, "last")).answer("last"))["result"]

    run(mcp, conversation)


def test_limits_of_one_tool_are_not_those_of_another(mcp: MCPServer) -> None:
    """Ours: places are counted per tool."""
    go_on = asyncio.Event()

    async def work() -> str:
        await go_on.wait()
        return "done"

    for name in ("a", "b"):
        mcp.add_tool(work, name, max_concurrency=1)

    async def conversation(lines: Lines) -> None:
        lines.send(call("a", {}, 1), call("b", {}, 2))
        await asyncio.sleep(0)
        go_on.set()
        for number in (1, 2):
            assert "structuredContent" in (await lines.answer(number))["result"]

    run(mcp, conversation)


# --- registration -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("option", "values"),
    [
        ("timeout", [0, -1, True, "5", float("nan"), float("inf"), [1]]),
        ("max_concurrency", [0, -1, 1.5, True, "5", float("inf")]),
        ("max_result", [0, -1, 1.5, True, "5"]),
    ],
)
def test_a_limit_that_cannot_be_is_refused_at_registration(mcp: MCPServer, option: str, values: list[Any]) -> None:
    """Ours: the text names the option and what to give."""

    async def tool() -> str:
        return ""

    for value in values:
        options: dict[str, Any] = {option: value}
        with pytest.raises(ValueError, match=f"{option}=.*give a positive"):
            mcp.add_tool(tool, **options)


# --- threads ----------------------------------------------------------------------------------------------------------


def test_a_cancelled_call_that_waits_for_a_thread_never_runs() -> None:
    """Ours: what nobody waits for any more must not have effects."""
    mcp = MCPServer("threads", limits=Limits(threads=1))
    go_on = threading.Event()
    ran: list[str] = []

    @mcp.tool
    def work(name: str) -> str:
        ran.append(name)
        assert go_on.wait(DEADLINE)
        return name

    async def conversation(lines: Lines) -> None:
        lines.send(call("work", {"name": "first"}, 1), call("work", {"name": "cancelled"}, 2))
        while not ran:
            await asyncio.sleep(0)
        lines.send(cancelled(2))
        while len(lines.endpoint.calls) > 1:
            await asyncio.sleep(0)
        lines.send(call("work", {"name": "third"}, 3))
        go_on.set()
        await lines.answer(3)

    run(mcp, conversation)
    assert ran == ["first", "third"]


def test_a_coroutine_that_nobody_waits_for_is_closed(mcp: MCPServer, caplog: pytest.LogCaptureFixture) -> None:
    """Ours: a wrapper returned it in a thread whose call was cancelled; "never awaited" would be a warning."""
    go_on, entered = threading.Event(), threading.Event()

    async def inner() -> str:
        return "done"

    @mcp.tool
    def outer() -> Any:
        entered.set()
        assert go_on.wait(DEADLINE)
        return inner()

    async def conversation(lines: Lines) -> None:
        lines.send(call("outer"))
        await asyncio.to_thread(entered.wait, DEADLINE)
        await lines.send(cancelled()).idle()
        go_on.set()
        await lines.send(call("outer", {}, 2)).answer(2)

    with caplog.at_level(logging.WARNING):
        run(mcp, conversation)
    assert caplog.messages == []
