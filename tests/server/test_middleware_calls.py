"""Middleware around a running call: values for the function, progress, cancellation, time, streams."""

from __future__ import annotations

import asyncio
import contextvars
import time
from typing import Annotated

import pytest

from leanmcp import Context, Depends, Limits, MCPError, MCPServer, RawJSON, ToolError
from leanmcp.server import CallNext, Outcome, Request
from tests.support.lines import Lines, asking, call_once, cancelled, run, text_of
from tests.support.middleware import Log, answering, ask, make
from tests.support.processes import DEADLINE, call, request

Ctx = Context[None]


who: contextvars.ContextVar[str] = contextvars.ContextVar("who")


# --- values for the function ------------------------------------------------------------------------------------------


def test_values_reach_functions_and_never_mix() -> None:
    """Ours: FIELD 13; `state` and context variables, on the loop and in threads, in 100 calls at once."""

    async def sign_in(request: Request, call_next: CallNext) -> Outcome:
        user = request.params["arguments"]["user"]
        token = who.set(user)
        request.state.user = user
        await asyncio.sleep(0)
        try:
            return await call_next(request)
        finally:
            assert who.get() == request.state.user == user
            who.reset(token)

    mcp = MCPServer("values", middleware=[sign_in])

    async def of_dependency(ctx: Ctx) -> str:
        await asyncio.sleep(0)
        ctx.state.seen = True
        return f"{who.get()} {ctx.state.user}"

    @mcp.tool
    async def on_loop(user: str, again: Annotated[str, Depends(of_dependency)], ctx: Ctx) -> list[str]:
        await asyncio.sleep(0)
        return [who.get(), ctx.state.user, again, str(ctx.state.seen)]

    @mcp.tool
    def in_thread(user: str, again: Annotated[str, Depends(of_dependency)], ctx: Ctx) -> list[str]:
        time.sleep(0)
        return [who.get(), ctx.state.user, again, str(ctx.state.seen)]

    async def conversation(lines: Lines) -> None:
        for number in range(100):
            user = f"user {number}"
            lines.send(call("in_thread" if number % 2 else "on_loop", {"user": user}, number))
        await lines.idle()
        for number in range(100):
            user = f"user {number}"
            result = (await lines.answer(number))["result"]["structuredContent"]["result"]
            assert result == [user, user, f"{user} {user}", "True"]

    run(mcp, conversation)


def test_state_is_there_without_middleware() -> None:
    """Ours: for dependencies to leave something in; each call has its own."""
    mcp = MCPServer("state")

    @mcp.tool
    async def count(ctx: Ctx) -> int:
        ctx.state.count = getattr(ctx.state, "count", 0) + 1
        number: int = ctx.state.count
        return number

    for _ in range(2):
        assert ask(mcp, call("count"))["result"]["structuredContent"] == {"result": 1}


async def passing(request: Request, call_next: CallNext) -> Outcome:
    """Do nothing, as a middleware does it."""
    await asyncio.sleep(0)
    return await call_next(request)


# --- what goes on around a call ---------------------------------------------------------------------------------------


def test_progress_and_timeouts_work_inside() -> None:
    """Spec: basic/patterns/progress; notes before the answer, and the tool's own end of time."""
    mcp = make(passing, limits=Limits(cleanup_grace=0.1))

    @mcp.tool(timeout=0.05)
    async def slow(ctx: Ctx) -> None:
        await ctx.report_progress(1, 2)
        await asyncio.sleep(DEADLINE)

    lines = call_once(mcp, "slow", {}, "token")
    assert lines.progress == [1]
    assert "did not finish within 0.05 seconds" in text_of(lines.messages[-1])


@pytest.mark.parametrize("where", ["middleware", "tool"])
def test_a_cancelled_call_ends_and_is_not_answered(where: str) -> None:
    """Spec: basic/patterns/cancellation; CancelledError passes through the chain."""
    log: Log = []

    async def hang(request: Request, call_next: CallNext) -> Outcome:
        try:
            if where == "middleware":
                log.append("begun")
                await asyncio.sleep(DEADLINE)
            return await call_next(request)
        except asyncio.CancelledError:
            log.append("cancelled")
            raise

    mcp = make(hang)

    @mcp.tool
    async def wait() -> None:
        log.append("begun")
        await asyncio.sleep(DEADLINE)

    async def conversation(lines: Lines) -> None:
        lines.send(asking(call("wait", {}, 1)))
        while not log:
            await asyncio.sleep(0)
        lines.send(cancelled())
        await lines.idle()
        assert lines.messages == []

    run(mcp, conversation)
    assert log == ["begun", "cancelled"]


def test_middleware_may_limit_the_time() -> None:
    """Ours: `asyncio.timeout` around `call_next` is one way to write it."""

    async def limit(request: Request, call_next: CallNext) -> Outcome:
        try:
            async with asyncio.timeout(0.05):
                return await call_next(request)
        except TimeoutError:
            raise ToolError("too slow") from None

    mcp = make(limit)

    @mcp.tool
    async def wait() -> None:
        await asyncio.sleep(DEADLINE)

    assert text_of(ask(mcp, call("wait"))) == "too slow"


def test_it_sees_the_opening_of_a_stream() -> None:
    """Spec: basic/patterns/subscriptions; the stream passes through, and works as it does without middleware."""
    log: Log = []

    async def see(request: Request, call_next: CallNext) -> Outcome:
        outcome = await call_next(request)
        log.append(f"{request.method} {outcome.is_stream} {outcome.is_error} {outcome.result}")
        return outcome

    mcp = make(passing, see)
    listen = request("subscriptions/listen", {"notifications": {"toolsListChanged": True}}, "listen")

    async def conversation(lines: Lines) -> None:
        first = await lines.send(listen).message(0)
        assert first["method"] == "notifications/subscriptions/acknowledged"
        mcp.remove_tool("breaks")
        second = await lines.message(1)
        assert second["method"] == "notifications/tools/list_changed"
        lines.send(listen)  # the id is taken
        assert (await lines.message(2))["error"]["code"] == -32600
        lines.send(cancelled("listen"))
        await lines.send(listen).message(3)

    run(mcp, conversation)
    assert log == ["subscriptions/listen True False {}"] * 2


def test_it_may_refuse_a_stream() -> None:
    """Ours: by an error of its own; nothing is opened."""
    mcp = make(answering(MCPError(4711, "not for you")))
    answer = ask(mcp, request("subscriptions/listen", {"notifications": {"toolsListChanged": True}}))
    assert answer["error"]["code"] == 4711


# --- what must not end the server -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "error",
    [
        SystemExit(3),
        KeyboardInterrupt(),
        GeneratorExit(),
        asyncio.CancelledError(),
        BaseExceptionGroup("x", [SystemExit()]),
    ],
    ids=["exit", "interrupt", "generator", "cancelled", "group"],
)
def test_no_exception_gets_past_it(error: BaseException, caplog: pytest.LogCaptureFixture) -> None:
    """Ours: as of a tool: SystemExit out of a task would end the loop, and the server with it."""

    async def breaks(request: Request, call_next: CallNext) -> Outcome:
        raise error

    answer = ask(make(breaks), call("echo", {"text": "x"}))["error"]
    assert answer["code"] == -32603
    assert "middleware test_no_exception_gets_past_it.<locals>.breaks failed" in caplog.text


def test_an_error_without_a_text_is_answered_all_the_same(caplog: pytest.LogCaptureFixture) -> None:
    """Ours: neither it nor a sanitizer that fails keeps a client waiting, or takes more than a record of the log."""

    class Speechless(ToolError):
        def __str__(self) -> str:
            raise RuntimeError("secret")

    def fails(value: object) -> object:
        raise RuntimeError("secret")

    for error, options in ((Speechless(), {}), (ToolError("x"), {"sanitize": fails})):
        answer = ask(make(answering(error), **options), call("echo", {"text": "x"}))["error"]
        assert answer["code"] == -32603
        assert "secret" not in answer["message"]
    assert "inside leanmcp" not in caplog.text


@pytest.mark.parametrize(
    "null", [{"a": None}, [None, "x"], {"rows": RawJSON("[null]")}], ids=["object", "array", "raw"]
)
def test_a_null_in_a_result_is_a_value(null: object) -> None:
    """Spec: schema, CallToolResult; policy P4 is about NaN, which only looks like it once it is encoded."""

    async def changes(request: Request, call_next: CallNext) -> dict[str, object]:
        return {**(await call_next(request)).result, "structuredContent": null}

    answer = ask(make(changes), call("echo", {"text": "x"}))["result"]
    assert answer["structuredContent"] == ({"rows": [None]} if isinstance(null, dict) and "rows" in null else null)


def test_a_nan_in_a_result_is_told_by_its_path() -> None:
    """Ours: policy P4."""
    mcp = make(answering({"content": [], "structuredContent": {"a": [float("nan")]}}))
    assert "structuredContent.a[0]: nan" in text_of(ask(mcp, call("echo", {"text": "x"})))


@pytest.mark.parametrize(
    ("message", "result"),
    [
        (call("echo", {"text": "x"}), {}),
        (call("echo", {"text": "x"}), {"content": "x"}),
        (request("prompts/get", {"name": "greet", "arguments": {"name": "x"}}), {"messages": [{"role": "system"}]}),
        (request("resources/read", {"uri": "text://x"}), {"content": []}),
        (request("tools/list"), {"tools": {}}),
        (request("server/discover"), {"supportedVersions": "2026-07-28"}),
    ],
)
def test_a_result_that_no_client_could_read_is_not_sent(
    message: dict[str, object], result: dict[str, object], caplog: pytest.LogCaptureFixture
) -> None:
    """Spec: schema: each method has a result of its own."""
    answer = ask(make(answering(result)), message)["error"]
    assert answer["code"] == -32603
    assert f"{message['method']}: this is no " in caplog.text
