"""`Depends`: values that a request provides, once for each call, and their clean-up behind the function."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Annotated, Any

import pytest

from leanmcp import Depends, Limits, MCPServer
from tests.support.depends import LOOP_THREAD, Ctx, generator, plain, result_of
from tests.support.lines import Lines, call_once, run, text_of
from tests.support.processes import DEADLINE, call


@pytest.fixture
def mcp() -> MCPServer:
    """A server whose cancelled calls have a short time for their clean-up."""
    return MCPServer("depends", limits=Limits(cleanup_grace=0.5))


async def coroutine() -> str:
    await asyncio.sleep(0)
    return f"coroutine {threading.current_thread() is not LOOP_THREAD}"


async def async_generator() -> AsyncIterator[str]:
    yield f"async_generator {threading.current_thread() is not LOOP_THREAD}"


@contextmanager
def manager() -> Iterator[str]:
    yield f"manager {threading.current_thread() is not LOOP_THREAD}"


@asynccontextmanager
async def async_manager() -> AsyncIterator[str]:
    yield f"async_manager {threading.current_thread() is not LOOP_THREAD}"


class Made(str):
    def __new__(cls) -> Made:
        return super().__new__(cls, f"Made {threading.current_thread() is not LOOP_THREAD}")


class CallableObject:
    def __call__(self) -> str:
        return f"object {threading.current_thread() is not LOOP_THREAD}"


class CallableGenerator:
    def __call__(self) -> Iterator[str]:
        yield f"object generator {threading.current_thread() is not LOOP_THREAD}"


class AsyncCallable:
    async def __call__(self) -> str:
        return f"async object {threading.current_thread() is not LOOP_THREAD}"

    async def method(self) -> str:
        return f"method {threading.current_thread() is not LOOP_THREAD}"


def decorated(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function around another, of which one sees nothing from outside."""

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return wrapper


def collected(function: Callable[..., Iterator[str]]) -> Callable[..., Any]:
    """Return a function that gives the last of what a generator yields."""

    @functools.wraps(function)
    def wrapper() -> Any:
        return list(function())[-1]

    return wrapper


def part(word: str) -> str:
    return f"{word} {threading.current_thread() is not LOOP_THREAD}"


# --- kinds of functions -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (plain, "plain True"),
        (coroutine, "coroutine False"),
        (generator, "generator True"),
        (async_generator, "async_generator False"),
        (manager, "manager True"),
        (async_manager, "async_manager False"),
        (Made, "Made True"),
        (CallableObject(), "object True"),
        (CallableGenerator(), "object generator True"),
        (AsyncCallable(), "async object False"),
        (AsyncCallable().method, "method False"),
        (functools.partial(part, "partial"), "partial True"),
        (functools.cache(plain), "plain True"),
        (decorated(plain), "plain True"),
        (decorated(coroutine), "coroutine False"),
        (decorated(generator), "generator True"),
        (decorated(async_generator), "async_generator False"),
        (collected(generator), "generator False"),
    ],
)
@pytest.mark.parametrize("as_default", [False, True])
def test_every_kind_of_function_gives_a_value(
    mcp: MCPServer, function: Callable[..., Any], expected: str, as_default: bool
) -> None:
    """Ours: `def` in a worker thread, `async def` on the loop, generators by what they yield."""
    if as_default:

        @mcp.tool(name="tool")
        async def by_default(value: str = Depends(function)) -> str:
            return value
    else:

        @mcp.tool(name="tool")
        async def by_annotation(value: Annotated[str, Depends(function)]) -> str:
            return value

    assert result_of(mcp, "tool") == expected


@pytest.mark.parametrize("function", [plain, generator, manager, Made, CallableObject()])
def test_thread_false_stays_on_the_loop(mcp: MCPServer, function: Callable[..., Any]) -> None:
    """Ours: for work of microseconds, as with tools."""

    @mcp.tool
    async def tool(value: Annotated[str, Depends(function, thread=False)]) -> str:
        return value

    assert result_of(mcp, "tool").endswith(" False")


def test_a_blocking_dependency_does_not_block_the_loop(mcp: MCPServer) -> None:
    """Ours: FIELD 10, for dependencies."""
    release = threading.Event()

    def block() -> bool:
        return release.wait(DEADLINE)

    @mcp.tool
    async def blocked(value: Annotated[bool, Depends(block)]) -> bool:
        return value

    @mcp.tool
    async def free() -> str:
        release.set()
        return "free"

    async def conversation(lines: Lines) -> None:
        lines.send(call("blocked", None, 1), call("free", None, 2))
        assert (await lines.message(0))["id"] == 2
        assert (await lines.answer(1))["result"]["structuredContent"] == {"result": True}

    run(mcp, conversation)


def test_a_def_tool_gets_them_too(mcp: MCPServer) -> None:
    """Ours: a function in a thread waits for values that the loop made."""

    @mcp.tool
    def tool(a: Annotated[str, Depends(coroutine)], b: Annotated[str, Depends(generator)]) -> str:
        return f"{a}, {b}, {threading.current_thread() is not LOOP_THREAD}"

    assert result_of(mcp, "tool") == "coroutine False, generator True, True"


# --- what they take ---------------------------------------------------------------------------------------------------


def test_dependencies_take_context_arguments_and_each_other(mcp: MCPServer) -> None:
    """Ours: by annotation, by name, and by Depends."""

    @dataclass
    class Page:
        offset: int
        limit: int = 7
        unknown: str = "default"

    async def user(ctx: Ctx, name: str) -> str:
        return f"{name}@{ctx.request_id}"

    async def greeting(user: Annotated[str, Depends(user)], punctuation="!") -> str:  # type: ignore[no-untyped-def]
        return f"hello {user}{punctuation}"

    @mcp.tool
    async def tool(
        name: str, greeting: Annotated[str, Depends(greeting)], page: Annotated[Page, Depends(Page)], offset: int = 3
    ) -> str:
        return f"{greeting} {page.offset} {page.limit} {page.unknown} {offset}"

    assert result_of(mcp, "tool", {"name": "anna"}) == "hello anna@1! 3 7 default 3"
    assert mcp.tools[0].entry.input_schema["properties"].keys() == {"name", "offset"}
    assert mcp.tools[0].entry.input_schema["required"] == ["name"]
    [answer] = call_once(mcp, "tool", {"name": "anna", "page": {"offset": 1}}).messages
    assert "page: Extra inputs are not permitted" in text_of(answer)


def test_a_schema_written_by_hand_gives_its_properties(mcp: MCPServer) -> None:
    """Ours: a property that the client leaves out is the dependency's own default."""

    async def double(number: int = 21) -> int:
        return 2 * number

    @mcp.tool(input_schema={"type": "object", "properties": {"number": {"type": "integer"}}})
    async def tool(doubled: Annotated[int, Depends(double)], number: int = 5, **rest: Any) -> int:
        return doubled

    for arguments, expected in (({"number": 4}, "8"), ({}, "42")):
        [answer] = call_once(mcp, "tool", arguments).messages
        assert answer["result"]["content"][0]["text"] == expected


def test_it_is_called_once_for_each_call(mcp: MCPServer) -> None:
    """Ours: whoever depends on it, unless `use_cache` is False; never for two calls."""
    counts: dict[str, int] = {"shared": 0, "fresh": 0}

    async def shared() -> int:
        counts["shared"] += 1
        return counts["shared"]

    async def fresh() -> int:
        counts["fresh"] += 1
        return counts["fresh"]

    async def middle(a: Annotated[int, Depends(shared)], b: Annotated[int, Depends(fresh, use_cache=False)]) -> str:
        return f"{a}{b}"

    @mcp.tool
    async def tool(
        a: Annotated[int, Depends(shared)],
        b: Annotated[int, Depends(fresh, use_cache=False)],
        c: Annotated[str, Depends(middle)],
    ) -> str:
        return f"{a}{b}{c}"

    assert [result_of(mcp, "tool"), result_of(mcp, "tool")] == ["1112", "2324"]


def test_values_of_calls_at_once_do_not_mix(mcp: MCPServer) -> None:
    """Ours: FIELD 13."""

    async def own(number: int) -> AsyncIterator[list[int]]:
        await asyncio.sleep(0)
        yield [number]

    @mcp.tool
    async def tool(number: int, own: Annotated[list[int], Depends(own)]) -> bool:
        await asyncio.sleep(0)
        return own == [number]

    async def conversation(lines: Lines) -> None:
        lines.send(*(call("tool", {"number": number}, number) for number in range(100)))
        await lines.idle()
        assert len(lines.messages) == 100
        assert all(message["result"]["structuredContent"] == {"result": True} for message in lines.messages)

    run(mcp, conversation)


def test_context_variables_reach_the_function(mcp: MCPServer) -> None:
    """Ours: also those that a thread has set; a generator may reset them by their tokens."""
    variables = {name: contextvars.ContextVar(name, default="unset") for name in ("loop", "thread", "generator")}
    after: list[str] = []

    async def on_loop() -> None:
        variables["loop"].set("by loop")

    def in_thread() -> None:
        variables["thread"].set(variables["loop"].get() + " and thread")

    def in_generator() -> Iterator[None]:
        token = variables["generator"].set(variables["thread"].get() + " and generator")
        yield
        after.append(variables["generator"].get())
        variables["generator"].reset(token)

    def tool(
        a: Annotated[None, Depends(on_loop)],
        b: Annotated[None, Depends(in_thread)],
        c: Annotated[None, Depends(in_generator)],
    ) -> str:
        return variables["generator"].get()

    async def async_tool(
        a: Annotated[None, Depends(on_loop)],
        b: Annotated[None, Depends(in_thread)],
        c: Annotated[None, Depends(in_generator)],
    ) -> str:
        return variables["generator"].get()

    mcp.add_tool(tool)
    mcp.add_tool(async_tool)
    for name in ("tool", "async_tool"):
        assert result_of(mcp, name) == "by loop and thread and generator"
    assert after == ["by loop and thread and generator"] * 2
    assert variables["generator"].get() == "unset"


def test_a_dependency_needs_no_hash(mcp: MCPServer) -> None:
    """Ours: an instance of a dataclass is a callable like any other; it is called once, and can be overridden."""

    @dataclass
    class Pool:
        size: int
        opened: int = 0

        def __call__(self) -> int:
            self.opened += 1
            return self.size

    pool, other = Pool(3), Pool(3)

    def inner(value: Annotated[int, Depends(pool)]) -> int:
        return value

    @mcp.tool
    async def tool(
        a: Annotated[int, Depends(pool)], b: Annotated[int, Depends(inner)], c: Annotated[int, Depends(other)]
    ) -> list[int]:
        return [a, b, c]

    assert result_of(mcp, "tool") == [3, 3, 3]
    assert (pool.opened, other.opened) == (1, 1)
    with mcp.override(pool, lambda: 7):
        assert result_of(mcp, "tool") == [7, 7, 3]
    assert result_of(mcp, "tool") == [3, 3, 3]
