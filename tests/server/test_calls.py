"""Calls of tools of every kind, in process, over the same endpoint that stdio uses."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from leanmcp import Context, MCPServer
from tests.support.spec import request
from tests.support.tool_calls import invoke, result, text


@pytest.fixture
def mcp() -> MCPServer:
    return MCPServer("calls", version="3")


# --- arguments ----------------------------------------------------------------------------------------------------


def test_refused_arguments_do_not_run_the_tool(mcp: MCPServer) -> None:
    """Spec: server/tools, "Error Handling": input validation errors are tool execution errors."""
    ran = []

    @mcp.tool
    async def tool(a: int, b: str = "x") -> str:
        ran.append(a)
        return "ran"

    answer = result(mcp, "tool", a="one", c=2)
    assert answer["isError"] is True
    lines = text(answer).splitlines()
    assert lines[0] == "Invalid arguments for tool tool:"
    assert any(line.startswith("a: Input should be a valid integer") for line in lines)
    assert any(line.startswith("c: ") for line in lines)
    assert ran == []


COMPOSED: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$defs": {"street": {"$anchor": "street", "type": "string", "minLength": 2}},
    "type": "object",
    "properties": {
        "kind": {"enum": ["phone", "email"]},
        "street": {"$ref": "#street"},
        "tags": {"prefixItems": [{"type": "string"}], "items": False, "contains": {"const": "a"}},
        "total": {"oneOf": [{"multipleOf": 3}, {"multipleOf": 5}]},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"kind": {"const": "phone"}}, "required": ["kind"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "dependentRequired": {"street": ["kind"]},
    "not": {"required": ["forbidden"]},
    "unevaluatedProperties": {"type": "string"},
}


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"kind": "phone", "email": "e"},
        {"kind": "email", "phone": "p"},
        {"kind": "fax", "email": "e"},
        {"email": "e", "street": "x"},
        {"email": "e", "street": "xy"},
        {"email": "e", "tags": ["a", "b"]},
        {"email": "e", "tags": ["b"]},
        {"email": "e", "total": 15},
        {"email": "e", "total": 7},
        {"email": "e", "forbidden": "x"},
        {"email": "e", "other": 5},
    ],
)
def test_arguments_that_a_composed_schema_refuses_do_not_run_the_tool(mcp: MCPServer, arguments: Any) -> None:
    """Spec: server/tools, "Error Handling"; basic/index, "JSON Schema Usage": 2020-12 with all of its composition."""
    seen = []

    @mcp.tool(input_schema=COMPOSED)
    async def composed(arguments: dict[str, Any]) -> str:
        seen.append(arguments)
        return "ran"

    assert result(mcp, "composed", **arguments)["isError"] is True
    assert seen == []
    good = {"kind": "phone", "phone": "p", "street": "xy", "tags": ["a"], "total": 9, "other": "o"}
    assert result(mcp, "composed", **good)["isError"] is False
    assert seen == [good]


@pytest.mark.parametrize("arguments", [None, {}])
def test_missing_arguments_are_an_empty_object(mcp: MCPServer, arguments: Any) -> None:
    """Ours: FIELD row 87."""

    @mcp.tool
    async def tool(a: int = 7) -> int:
        return a

    assert text(invoke(mcp, "tool", arguments)["result"]) == "7"
    assert text(asyncio.run(request(mcp, "tools/call", {"name": "tool", "arguments": None}))["result"]) == "7"


@pytest.mark.parametrize("arguments", [[], [1], "x", 5, True])
def test_arguments_that_are_no_object_are_invalid_params(mcp: MCPServer, arguments: Any) -> None:
    """Ours: policy P10."""

    @mcp.tool
    async def tool(a: int = 7) -> int:
        return a

    assert invoke(mcp, "tool", arguments)["error"]["code"] == -32602


def test_integral_float_and_coerced_text_reach_an_int(mcp: MCPServer) -> None:
    """Ours: policy P1."""

    @mcp.tool
    async def tool(a: int, tags: list[str] | None = None, note: str = "") -> str:
        return f"{a!r} {tags!r} {note!r}"

    assert text(result(mcp, "tool", a=5.0)) == "5 None ''"
    assert text(result(mcp, "tool", a="5", tags='["x"]', note="[1]")) == "5 ['x'] '[1]'"


def test_coercion_can_be_switched_off(mcp: MCPServer) -> None:
    """Ours: policy P1, per tool."""

    async def tool(a: int) -> int:
        return a

    mcp.add_tool(tool, coerce=False)
    assert result(mcp, "tool", a="5")["isError"] is True


def test_unknown_arguments_can_be_ignored(mcp: MCPServer) -> None:
    """Ours: policy P2, per tool."""

    async def tool(a: int) -> int:
        return a

    mcp.add_tool(tool, extra_args="ignore")
    assert text(result(mcp, "tool", a=1, other=2)) == "1"
    assert "additionalProperties" not in next(iter(mcp.tools)).entry.input_schema


def test_unknown_tool_is_a_protocol_error_with_a_suggestion(mcp: MCPServer) -> None:
    """Spec: server/tools, "Error Handling" 1."""

    @mcp.tool
    async def search() -> str:
        return ""

    error = invoke(mcp, "serach", {})["error"]
    assert error["code"] == -32602
    assert "Unknown tool: 'serach'" in error["message"]
    assert "'search'" in error["message"]


class _Shop:
    def __init__(self) -> None:
        self.name = "shop"

    async def method(self, a: int) -> str:
        return f"{self.name} {a}"

    def plain(self, a: int) -> str:
        return f"{self.name} {a}"

    @classmethod
    async def klass(cls, a: int) -> str:
        return f"{cls.__name__} {a}"

    @staticmethod
    async def static(a: int) -> str:
        return f"static {a}"


class _Callable:
    """Called like a function."""

    async def __call__(self, a: int) -> str:
        return f"called {a}"


def _decorated(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return wrapper


async def _add(a: int, b: int) -> str:
    return str(a + b)


# --- kinds of functions -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "name", "expected"),
    [
        (_Shop().method, "method", "shop 1"),
        (_Shop().plain, "plain", "shop 1"),
        (_Shop.klass, "klass", "_Shop 1"),
        (_Shop.static, "static", "static 1"),
        (_Callable(), "_Callable", "called 1"),
        (functools.partial(_add, b=2), "_add", "3"),
        (_decorated(_Shop().method), "method", "shop 1"),
    ],
)
def test_every_kind_of_callable_is_a_tool(mcp: MCPServer, function: Any, name: str, expected: str) -> None:
    """Ours: FIELD row 99; a plain wrapper around a coroutine function is awaited."""
    mcp.add_tool(function)
    assert text(result(mcp, name, a=1)) == expected


def test_def_tool_runs_in_a_thread_and_inline_tool_on_the_loop(mcp: MCPServer) -> None:
    """Ours: golden check 8."""

    def where() -> str:
        return threading.current_thread().name

    mcp.add_tool(where, "threaded")
    mcp.add_tool(where, "inline", thread=False)
    assert text(result(mcp, "threaded")).startswith("leanmcp-tool")
    assert text(result(mcp, "inline")) == threading.main_thread().name


def test_context_variables_reach_thread_tools_and_never_mix(mcp: MCPServer) -> None:
    """Ours: FIELD row 13."""
    user: contextvars.ContextVar[int] = contextvars.ContextVar("user", default=-1)

    @mcp.tool
    def read() -> int:
        user.set(user.get() + 1)
        return user.get()

    user.set(41)
    assert [text(result(mcp, "read")) for _ in range(3)] == ["42", "42", "42"]


SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}, "items": {"type": "array"}}, "required": ["a"]}


@pytest.mark.parametrize("schema", [None, SCHEMA], ids=["derived", "given"])
def test_a_mutable_default_is_copied_for_each_call(mcp: MCPServer, schema: dict[str, Any] | None) -> None:
    """Ours: what a call puts into it is not there for the next one."""

    async def tool(a: int, *, items: list[int] = [0]) -> str:  # noqa: B006
        items.append(a)
        return str(items)

    mcp.add_tool(tool, input_schema=schema)
    assert [text(result(mcp, "tool", a=a)) for a in (1, 2)] == ["[0, 1]", "[0, 2]"]
    assert text(result(mcp, "tool", a=1, items=[5])) == "[5, 1]"


def test_context_tells_of_the_request(mcp: MCPServer) -> None:
    """Ours: the parameter's name does not matter, and it never shows in the schema."""

    @mcp.tool
    async def tool(a: int, request: Context[Any]) -> str:
        return f"{a} {request.request_id} {request.protocol_version} {request.client_info} {dict(request.headers)}"

    assert text(result(mcp, "tool", a=2)) == "2 1 2026-07-28 None {}"
    assert list(next(iter(mcp.tools)).entry.input_schema["properties"]) == ["a"]


def test_required_capability_is_checked(mcp: MCPServer) -> None:
    """Spec: basic/index, "Per-request protocol fields": -32021 with `data.requiredCapabilities`."""

    @mcp.tool
    async def tool(ctx: Context[Any]) -> str:
        ctx.require_capability("elicitation")
        return "asked"

    error = invoke(mcp, "tool")["error"]
    assert (error["code"], error["data"]) == (-32021, {"requiredCapabilities": {"elicitation": {}}})


def test_lifespan_is_entered_before_the_first_request_and_left_after_the_last() -> None:
    """Ours: FIELD row 6; the value is `Context.lifespan`, also under the official SDK's name."""
    events: list[str] = []

    @asynccontextmanager
    async def lifespan(_: MCPServer) -> AsyncIterator[dict[str, int]]:
        events.append("enter")
        yield {"pool": 7}
        events.append("exit")

    mcp = MCPServer("x", lifespan=lifespan)

    @mcp.tool
    async def tool(ctx: Context[dict[str, int]]) -> int:
        events.append("call")
        assert ctx.request_context.lifespan_context is ctx.lifespan
        return ctx.lifespan["pool"]

    assert text(result(mcp, "tool")) == "7"
    assert events == ["enter", "call", "exit"]


# --- errors -------------------------------------------------------------------------------------------------------


def test_thread_tools_work_in_one_loop_after_another(mcp: MCPServer) -> None:
    """Ours: a thread that outlives its loop must not silence the next one."""
    release = threading.Event()
    threads: list[threading.Thread] = []

    @mcp.tool(timeout=0.05)
    def stuck() -> str:
        threads.append(threading.current_thread())
        release.wait(20)
        return "late"

    @mcp.tool
    def quick() -> str:
        return "quick"

    assert result(mcp, "stuck")["isError"] is True
    release.set()
    threads[0].join(0.2)  # let it deliver to the loop that is gone; it never ends
    assert text(result(mcp, "quick")) == "quick"
