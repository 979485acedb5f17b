"""What authors of servers get wrong, and the sentence that tells them what to write."""

from __future__ import annotations

import functools
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Annotated, Any

import pytest

from leanmcp import Depends, Field, Limits, MCPServer, Model, ToolError
from leanmcp.elicit import Elicit
from tests.support.processes import ROOT, environment
from tests.support.rounds import error, message, send
from tests.support.rounds import text as text_of


class Size(Model):
    rows: int


def add_one(number: int) -> int:
    return number + 1


def _refusal(make: Callable[[], object]) -> str:
    with pytest.raises(TypeError) as refusal:
        make()
    return str(refusal.value)


def _registered(function: Callable[..., Any]) -> MCPServer:
    mcp = MCPServer("authors")
    mcp.add_tool(function, "tool")
    return mcp


# --- defaults ---------------------------------------------------------------------------------------------------------


def _with_default(annotation: Any, default: Any) -> Callable[..., Any]:
    async def tool(a: Any) -> str:
        return str(a)

    tool.__annotations__["a"] = annotation
    tool.__defaults__ = (default,)
    return tool


class Wrong(Model):
    rows: int = "many"  # type: ignore[assignment]


class Depending(Model):
    rows: int = Depends(add_one)


RIGHT = "correct the default or the annotation"


@pytest.mark.parametrize(
    ("annotation", "default", "text"),
    [
        (int, "x", f"parameter 'a': the default 'x' does not fit int: Input should be a valid integer; {RIGHT}"),
        (int, None, "parameter 'a': the default None is no int; write a: int | None = None"),
        (int, True, f"parameter 'a': the default True does not fit int: Input should be a valid integer; {RIGHT}"),
        (
            Annotated[int, Field(ge=5)],
            1,
            f"parameter 'a': the default 1 does not fit int: Input should be greater than or equal to 5; {RIGHT}",
        ),
        (
            str,
            Field("x", min_length=3),
            f"parameter 'a': the default 'x' does not fit str: String should have at least 3 characters; {RIGHT}",
        ),
        (
            list[int],
            ["a"],
            f"parameter 'a': the default ['a'] does not fit list[int]: [0]: Input should be a valid integer; {RIGHT}",
        ),
        (
            Wrong,
            None,
            f"field 'rows' of Wrong: the default 'many' does not fit int: Input should be a valid integer; {RIGHT}",
        ),
        (
            Depending,
            None,
            "field 'rows' of Depending: what gives a value in place of the client stands with a parameter of a "
            "function, not with a field",
        ),
    ],
)
def test_a_default_that_the_schema_refuses_is_refused(annotation: Any, default: Any, text: str) -> None:
    """Ours: the schema that publishes it would be broken by it, and the function get what it does not expect."""
    tool = _with_default(annotation | None if annotation in (Depending, Wrong) else annotation, default)
    assert _refusal(lambda: _registered(tool)) == f"tool 'tool': {text}"
    with pytest.raises(TypeError, match=r"^prompt 'p': "):
        MCPServer("authors").add_prompt(tool, "p")


def test_a_default_without_a_json_form_is_the_functions_own() -> None:
    """Ours: it is not published, such as the sentinel by which a function knows that nothing was given."""
    assert "default" not in _registered(_with_default(int, object())).tools[0].entry.input_schema["properties"]["a"]


# --- functions that cannot be registered ------------------------------------------------------------------------------


def test_a_context_without_a_type_is_told() -> None:
    """Ours: by its name; in a prompt it would be a text that clients send."""

    async def tool(ctx) -> str:  # type: ignore[no-untyped-def]
        return "x"

    text = "'tool': parameter 'ctx' has no type; annotate it, as in ctx: Context, from leanmcp import Context"
    assert _refusal(lambda: _registered(tool)) == f"tool {text}"
    assert _refusal(lambda: MCPServer("authors").add_prompt(tool)) == f"prompt {text}"
    with pytest.raises(TypeError, match="ctx: Context, from leanmcp import Context"):
        MCPServer("authors").add_resource(tool, "data://x")


def test_a_decorator_that_hides_the_function_is_told() -> None:
    """Ours: functools.wraps keeps the signature."""

    def traced(function: Callable[..., Any]) -> Callable[..., Any]:
        async def wrapper(*args: Any, **kwargs: Any) -> Any:
            return await function(*args, **kwargs)

        return wrapper

    async def tool(isbn: str) -> str:
        return isbn

    hidden = traced(tool)
    assert _refusal(lambda: _registered(hidden)) == (
        "tool 'tool': parameter 'args': a tool cannot take *args; name each argument or pass input_schema=; if this is "
        "the inner function of a decorator, put @functools.wraps(function) above it"
    )
    assert (
        send(_registered(functools.wraps(tool)(hidden)), message("tool", {"isbn": "1"}))["result"]["isError"] is False
    )


# --- results ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "kind", "instead"),
    [
        (ToolError("no"), "ToolError", "; raise it instead of returning it"),
        (
            Elicit("Which size?", Size),
            "Elicit",
            "; ask with `await ctx.elicit(...)`, or return it from a function behind Resolve",
        ),
        (object(), "object", ""),
    ],
)
def test_a_result_that_cannot_be_sent_names_its_tool(value: Any, kind: str, instead: str) -> None:
    """Ours: an exception belongs behind `raise`, a question behind `await`."""

    async def tool() -> Any:
        return value

    async def typed() -> str:
        return value  # type: ignore[no-any-return]

    for function in (tool, typed):
        assert text_of(send(_registered(function), message("tool"))) == (
            f"Tool 'tool': the result has no JSON form at its root: {kind} has no JSON form{instead}"
        )


def test_a_generator_that_does_not_yield_once_is_named(caplog: pytest.LogCaptureFixture) -> None:
    """Ours: contextlib does not say whose fault it is."""

    def never() -> Iterator[int]:
        yield from ()

    async def never_async() -> AsyncIterator[int]:
        for number in list[int]():
            yield number

    def twice() -> Iterator[int]:
        yield 1
        yield 2

    async def twice_async() -> AsyncIterator[int]:
        yield 1
        yield 2

    ended = "ended without a `yield`; yield the value once, on every way through it"
    more = "yields more than once; what stands behind its first `yield` is clean-up"
    for function, sentence in ((never, ended), (never_async, ended), (twice, more), (twice_async, more)):

        async def tool(number: Annotated[int, Depends(function)]) -> int:
            return number

        caplog.clear()
        tool.__annotations__["number"] = Annotated[int, Depends(function)]
        assert send(_registered(tool), message("tool"))["result"]["isError"]
        assert f"RuntimeError: dependency {function.__name__} {sentence}" in caplog.text


def test_a_middleware_that_returns_nothing_is_told_what_to_return(caplog: pytest.LogCaptureFixture) -> None:
    """Ours: `return` is forgotten in front of `await call_next(request)`."""

    async def timing(request: Any, call_next: Any) -> None:
        await call_next(request)

    async def tool() -> str:
        return "x"

    mcp = _registered(tool)
    mcp.middleware.append(timing)
    assert error(send(mcp, message("tool")))[0] == -32603
    assert (
        "tools/call: the middleware returned None; end it with `return await call_next(request)`, or return a result "
        "of its own"
    ) in caplog.text


# --- warnings ---------------------------------------------------------------------------------------------------------


def test_a_misspelt_keyword_of_a_schema_is_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    """Ours: nobody would enforce it; members that are like no keyword are the author's."""

    async def tool(arguments: dict[str, Any]) -> str:
        return "x"

    schema = {"type": "object", "propertes": {"a": {"type": "string"}}, "x-own": 1}
    MCPServer("authors").add_tool(tool, input_schema=schema)
    assert [record.getMessage() for record in caplog.records] == [
        "tool 'tool': input_schema has the member 'propertes', which is no keyword; did you mean 'properties'?"
    ]


def test_changes_of_what_nobody_can_read_are_warned_of_once(caplog: pytest.LogCaptureFixture) -> None:
    """Ours: clients that listen to that URI are told of something else, or of nothing."""
    mcp = MCPServer("authors")
    mcp.notify_resource_updated("data://books")  # a program without resources may publish for those that serve them
    mcp.add_resource(lambda: "x", "data://book", name="book")
    mcp.add_resource(lambda isbn: "x", "books://{isbn}", name="books")
    for uri in ("data://book", "books://1", "data://boook", "data://boook"):
        mcp.notify_resource_updated(uri)
    assert [record.getMessage() for record in caplog.records] == [
        "notify_resource_updated: Resource not found: 'data://boook': did you mean 'data://book'?"
    ]


def test_a_program_without_logging_prints_what_an_answer_calls_the_log() -> None:
    """Ours: "the server's log has the details" must be true where nobody has set logging up."""
    program = """
import asyncio
from leanmcp import Client, MCPServer

mcp = MCPServer("authors")

@mcp.tool
def fail() -> int:
    return [][0]

async def main():
    async with Client(mcp) as client:
        print((await client.call_tool("fail")).content[0].text)

asyncio.run(main())
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=30, env=environment(), cwd=ROOT
    )
    log_id = done.stdout.strip().rpartition(" ")[2]
    assert f"the server's log has the details under id {log_id}" in done.stdout
    assert f"tool fail failed [{log_id}]" in done.stderr
    assert "IndexError: list index out of range" in done.stderr


# --- options ----------------------------------------------------------------------------------------------------------

SERVER: Any = MCPServer  # type checkers refuse what is tried here
FIELD: Any = Field
LIMITS: Any = Limits


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: SERVER("x", middlewares=[]), "MCPServer: unknown option 'middlewares'; did you mean 'middleware'?"),
        (lambda: SERVER(inf="x"), "MCPServer: unknown option 'inf'"),
        (lambda: FIELD(min_lenght=3), "Field: unknown option 'min_lenght'; did you mean 'min_length'?"),
        (lambda: LIMITS(max_body=3), "Limits: unknown option 'max_body'; did you mean 'max_body_size'?"),
        (
            lambda: SERVER("x").tool(descripton="y")(add_one),
            "add_tool: unknown option 'descripton'; did you mean 'description'?",
        ),
        (lambda: SERVER("x").prompt("y", titel="z"), "prompt: unknown option 'titel'; did you mean 'title'?"),
    ],
)
def test_an_unknown_option_is_told_what_was_meant(make: Callable[[], object], text: str) -> None:
    """Ours: as `mcp.run` does."""
    assert _refusal(make) == text
