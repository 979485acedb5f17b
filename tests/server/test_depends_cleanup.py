"""What stands behind a `yield` of a dependency: when it runs, and what becomes of errors."""

from __future__ import annotations

import asyncio
import functools
import logging
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Annotated, Any

import pytest

from leanmcp import Depends, Limits, MCPError, MCPServer, ToolError
from leanmcp.types import InputRequiredResult
from tests.support.depends import Ctx, generator, resources
from tests.support.lines import Lines, asking, call_once, cancelled, run, soon, text_of
from tests.support.processes import DEADLINE, call


@pytest.fixture
def mcp() -> MCPServer:
    """A server whose cancelled calls have a short time for their clean-up."""
    return MCPServer("depends", limits=Limits(cleanup_grace=0.5))


class Stop(BaseException):
    """An exception that is none."""


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (None, None),
        (ToolError("no more"), "no more"),
        (RuntimeError("postgres://secret"), "failed unexpectedly"),
        (Stop("postgres://secret"), "failed unexpectedly"),
        (asyncio.CancelledError(), "failed unexpectedly"),
    ],
    ids=repr,
)
@pytest.mark.parametrize("in_thread", [False, True])
def test_clean_up_runs_in_reverse_whatever_happened(
    mcp: MCPServer, error: BaseException | None, text: str | None, in_thread: bool
) -> None:
    """Ours: each generator sees the exception at its yield."""
    seen: list[str] = []
    *_, d = resources(seen)

    def work(value: str) -> str:
        seen.append("function")
        if error is not None:
            raise error
        return value

    async def tool(value: Annotated[str, Depends(d)]) -> str:
        return work(value)

    def thread_tool(value: Annotated[str, Depends(d)]) -> str:
        return work(value)

    mcp.add_tool(thread_tool if in_thread else tool, "tool")
    [answer] = call_once(mcp, "tool").messages
    if text is None:
        assert answer["result"]["structuredContent"] == {"result": "d"}
    else:
        assert text in text_of(answer)
    name = "-" if error is None else type(error).__name__
    assert seen == ["function", "d -", "c -", f"b {name}", f"a {name}"]


def test_a_protocol_error_passes(mcp: MCPServer) -> None:
    """Ours: MCPError of the function or of a dependency, with clean-up of what was made before."""
    seen: list[str] = []
    _, b = resources(seen, "ab")

    async def refuse(b: Annotated[str, Depends(b)]) -> str:
        raise MCPError(4711, "not here", {"why": 1})

    @mcp.tool
    async def tool(value: Annotated[str, Depends(refuse)]) -> str:
        seen.append("never")
        return value

    [answer] = call_once(mcp, "tool").messages
    assert answer["error"] == {"code": 4711, "message": "not here", "data": {"why": 1}}
    assert seen == ["b MCPError", "a MCPError"]


def test_a_dependency_may_refuse_in_words_for_the_model(mcp: MCPServer) -> None:
    """Ours: ToolError as in tools; anything else is masked, and the place of the call is free again."""
    errors: list[Exception] = [ToolError("sign in first"), ValueError("postgres://secret")]

    def user() -> str:
        raise errors.pop(0)

    @mcp.tool(max_concurrency=1)
    async def tool(user: Annotated[str, Depends(user)]) -> str:
        return user

    assert text_of(call_once(mcp, "tool").messages[0]) == "sign in first"
    text = text_of(call_once(mcp, "tool").messages[0])
    assert "failed unexpectedly" in text
    assert "secret" not in text


@pytest.mark.parametrize("in_thread", [False, True])
def test_clean_up_runs_when_the_call_is_cancelled(mcp: MCPServer, in_thread: bool) -> None:
    """Spec: basic/patterns/cancellation; "free resources", and nothing more is sent."""
    seen: list[str] = []
    *_, d = resources(seen)
    begun = asyncio.Event()
    release = threading.Event()

    @mcp.tool
    async def tool(value: Annotated[str, Depends(d)]) -> None:
        begun.set()
        await asyncio.sleep(DEADLINE)

    @mcp.tool
    def thread_tool(value: Annotated[str, Depends(d)], ctx: Ctx) -> None:
        ctx.progress(1)
        release.wait(DEADLINE)

    async def conversation(lines: Lines) -> None:
        lines.send(asking(call("thread_tool" if in_thread else "tool")))
        if in_thread:
            await lines.message(0)
        else:
            await soon(begun)
        lines.send(cancelled())
        await lines.idle()
        release.set()
        assert lines.progress == ([1] if in_thread else [])
        assert len(lines.messages) == len(lines.progress)

    run(mcp, conversation)
    assert seen == ["d -", "c -", "b CancelledError", "a CancelledError"]


def test_clean_up_runs_when_the_time_is_over(mcp: MCPServer) -> None:
    """Ours: within `cleanup_grace`; the time of dependencies counts."""
    seen: list[str] = []
    *_, d = resources(seen)

    @mcp.tool(timeout=0.05)
    async def slow(value: Annotated[str, Depends(d)]) -> None:
        await asyncio.sleep(DEADLINE)

    async def hang() -> None:
        await asyncio.sleep(DEADLINE)

    @mcp.tool(timeout=0.05)
    async def never(value: Annotated[str, Depends(d)], hang: Annotated[None, Depends(hang)]) -> None:
        seen.append("never")

    for tool in ("slow", "never"):
        [answer] = call_once(mcp, tool).messages
        assert "did not finish within 0.05 seconds" in text_of(answer)
        assert seen == ["d -", "c -", "b CancelledError", "a CancelledError"]
        seen.clear()


def test_clean_up_runs_when_the_function_asks_its_client(mcp: MCPServer) -> None:
    """Ours: the question ends this call; the retry makes everything anew. Nothing is taken for a success."""
    seen: list[str] = []
    *_, d = resources(seen)
    ask = {"method": "roots/list"}

    @mcp.tool
    async def tool(value: Annotated[str, Depends(d)]) -> Any:
        return InputRequiredResult(input_requests={"roots": ask})

    message = call("tool")
    message["params"]["_meta"] = {
        **message["params"]["_meta"],
        "io.modelcontextprotocol/clientCapabilities": {"roots": {}},
    }

    async def conversation(lines: Lines) -> None:
        answer = await lines.send(message).answer()
        assert answer["result"]["resultType"] == "input_required"

    run(mcp, conversation)
    assert seen == ["d -", "c -", "b InputRequired", "a InputRequired"]


class Slow:
    """A context manager that notes how far it is; no generator, which would close itself when nobody holds it."""

    def __init__(self) -> None:
        self.begun, self.release = threading.Event(), threading.Event()
        self.entered, self.closed = threading.Event(), threading.Event()

    def __enter__(self) -> str:
        self.begun.set()
        assert self.release.wait(DEADLINE)
        self.entered.set()
        return "slow"

    def __exit__(self, *error: object) -> None:
        self.closed.set()

    def dependency(self) -> Callable[..., Any]:
        """Return a function that gives this manager, as @contextmanager gives one."""

        @functools.wraps(generator)
        def opened() -> Slow:
            return self

        return opened


def test_a_thread_that_enters_after_the_end_is_cleaned_up(mcp: MCPServer) -> None:
    """Ours: a thread cannot be stopped; what it opens behind its caller's back is closed all the same."""
    slow = Slow()

    @mcp.tool(timeout=0.05)
    async def tool(value: Annotated[str, Depends(slow.dependency())]) -> str:
        return value

    [answer] = call_once(mcp, "tool").messages
    assert "did not finish" in text_of(answer)
    assert slow.begun.wait(DEADLINE)
    assert not slow.entered.is_set()
    slow.release.set()
    assert slow.closed.wait(DEADLINE)


def test_what_a_thread_entered_just_before_the_end_is_cleaned_up(mcp: MCPServer) -> None:
    """Ours: the other side of the race: the thread is done, but its call has been cancelled meanwhile."""
    slow = Slow()
    slow.release.set()

    @mcp.tool
    async def tool(value: Annotated[str, Depends(slow.dependency())]) -> str:
        raise AssertionError

    async def conversation(lines: Lines) -> None:
        lines.send(call("tool"))
        [task] = lines.endpoint.calls.values()
        await asyncio.sleep(0)  # the call begins, and hands its job over
        assert slow.entered.wait(DEADLINE)
        deadline = time.monotonic() + DEADLINE
        [returns] = mcp._home.threads._by_loop.values()
        while not returns.outcomes:  # the loop stands still, so it does not learn what the thread did
            assert time.monotonic() < deadline
        lines.endpoint._cancelled.add(1)
        task.cancel()
        await lines.idle()

    run(mcp, conversation)
    assert slow.closed.is_set()


def test_errors_of_clean_up_are_logged_and_the_rest_runs(mcp: MCPServer, caplog: pytest.LogCaptureFixture) -> None:
    """Ours: a commit that fails is no success; one that fails behind an error is told to the log."""
    seen: list[str] = []
    [a] = resources(seen, "a")

    async def breaks(a: Annotated[str, Depends(a)]) -> AsyncIterator[str]:
        try:
            yield "breaks"
        finally:
            raise OSError("disk full")

    @mcp.tool
    async def tool(value: Annotated[str, Depends(breaks)], fail: bool) -> str:
        if fail:
            raise ToolError("the function's own words")
        return "done"

    with caplog.at_level(logging.ERROR, "leanmcp"):
        [answer] = call_once(mcp, "tool", {"fail": False}).messages
    assert "failed unexpectedly" in text_of(answer)
    assert "disk full" in caplog.text
    assert seen == ["a OSError"]
    caplog.clear()
    with caplog.at_level(logging.ERROR, "leanmcp"):
        [answer] = call_once(mcp, "tool", {"fail": True}).messages
    assert text_of(answer) == "the function's own words"
    assert "clean-up of tool failed" in caplog.text
    assert "disk full" in caplog.text
    assert seen == ["a OSError", "a ToolError"]


def test_a_dependency_may_put_an_error_into_words(mcp: MCPServer) -> None:
    """Ours: ToolError and MCPError raised at the yield answer in place of the exception they translate."""

    async def database() -> AsyncIterator[str]:
        try:
            yield "db"
        except TimeoutError:
            raise ToolError("the database is busy; try again") from None

    @mcp.tool
    async def tool(db: Annotated[str, Depends(database)]) -> str:
        raise TimeoutError("postgres://secret")

    assert text_of(call_once(mcp, "tool").messages[0]) == "the database is busy; try again"


@pytest.mark.parametrize("kind", ["generator", "async generator"])
def test_a_dependency_cannot_swallow_an_error(mcp: MCPServer, kind: str) -> None:
    """Ours: nobody would have a value to answer with."""

    async def swallows() -> AsyncIterator[str]:
        try:
            yield "x"
        except Exception:
            return

    def swallows_in_thread() -> Iterator[str]:
        try:
            yield "x"
        except Exception:
            return

    @mcp.tool
    async def tool(x: Annotated[str, Depends(swallows if kind == "async generator" else swallows_in_thread)]) -> str:
        raise ToolError("still here")

    assert text_of(call_once(mcp, "tool").messages[0]) == "still here"
