"""Calls of tools of every kind, in process, over the same endpoint that stdio uses."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import logging
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from leanmcp import Context, MCPError, MCPServer, ToolError
from leanmcp.types import CallToolResult, ImageContent, TextContent
from tests.support.spec import request


def invoke(mcp: MCPServer, tool: str, arguments: Any = None) -> dict[str, Any]:
    """Return the whole response to one call."""
    params: dict[str, Any] = {"name": tool}
    if arguments is not None:
        params["arguments"] = arguments
    return asyncio.run(request(mcp, "tools/call", params))


def result(mcp: MCPServer, tool: str, **arguments: Any) -> dict[str, Any]:
    """Return the result of one call."""
    answer: dict[str, Any] = invoke(mcp, tool, arguments)["result"]
    return answer


def text(answer: dict[str, Any]) -> str:
    """Return the text of a result with one text block."""
    (block,) = answer["content"]
    assert block["type"] == "text"
    return str(block["text"])


@pytest.fixture
def mcp() -> MCPServer:
    return MCPServer("calls", version="3")


def test_text_result_travels_as_text_and_structured(mcp: MCPServer) -> None:
    """Spec: server/tools, "Structured Content"; golden check 2."""

    @mcp.tool()
    def search_books(query: str, limit: int) -> str:
        """Search."""
        return f"Found 3 books matching {query!r} (showing up to {limit})."

    answer = result(mcp, "search_books", query="dune", limit=5)
    found = "Found 3 books matching 'dune' (showing up to 5)."
    assert answer == {
        "resultType": "complete",
        "content": [{"type": "text", "text": found}],
        "structuredContent": {"result": found},
        "isError": False,
        "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "calls", "version": "3"}},
    }


@dataclass
class Point:
    x: int
    y: float = 0.5


@pytest.mark.parametrize(
    ("annotation", "value", "structured", "shown"),
    [
        (int, 2**70, {"result": 2**70}, str(2**70)),
        (bool, True, {"result": True}, "true"),
        (float, 1.5, {"result": 1.5}, "1.5"),
        (None, None, {"result": None}, "null"),
        (list[int], [], {"result": []}, "[]"),
        (list[int], [1, 2], {"result": [1, 2]}, "[1,2]"),
        (dict[str, int], {"a": 1}, {"a": 1}, '{"a":1}'),
        (Point, Point(1), {"x": 1, "y": 0.5}, '{"x":1,"y":0.5}'),
        (list[Point], [Point(1)], {"result": [{"x": 1, "y": 0.5}]}, '[{"x":1,"y":0.5}]'),
        (Point | None, None, {"result": None}, "null"),
        (str, 'a\u2028"\\\x00é', {"result": 'a\u2028"\\\x00é'}, 'a\u2028"\\\x00é'),
    ],
)
def test_values_travel_once_as_text_and_once_as_data(
    mcp: MCPServer, annotation: Any, value: Any, structured: Any, shown: str
) -> None:
    """Ours: policy P7; non-objects are wrapped as `{"result": ...}`, the text is the value itself."""

    async def tool() -> Any:
        return value

    tool.__annotations__["return"] = annotation
    mcp.add_tool(tool)
    answer = result(mcp, "tool")
    assert answer["structuredContent"] == structured
    assert text(answer) == shown
    assert answer["isError"] is False


def test_result_without_annotation_is_text_only(mcp: MCPServer) -> None:
    """Ours: no annotation, no output schema, no structured content."""

    @mcp.tool
    async def tool():  # type: ignore[no-untyped-def]
        return {"a": [1]}

    answer = result(mcp, "tool")
    assert text(answer) == '{"a":[1]}'
    assert "structuredContent" not in answer


def test_structured_output_can_be_switched_off_and_demanded(mcp: MCPServer) -> None:
    """Ours: `structured_output=` as in the official SDK."""

    async def tool() -> int:
        return 1

    mcp.add_tool(tool, structured_output=False)
    assert "structuredContent" not in result(mcp, "tool")

    async def bare() -> Any:
        return 1

    with pytest.raises(TypeError, match="structured_output"):
        mcp.add_tool(bare, structured_output=True)


def test_result_that_breaks_its_output_schema_is_an_error(mcp: MCPServer) -> None:
    """Spec: server/tools, "Output Schema": structured results MUST conform."""

    @mcp.tool
    async def tool() -> list[int]:
        return ["one"]  # type: ignore[list-item]

    answer = result(mcp, "tool")
    assert answer["isError"] is True
    assert text(answer) == 'Invalid result of tool tool:\n[0]: Input should be a valid integer, got "one"'
    assert "structuredContent" not in answer


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({"v": float("nan")}, "at v"),
        ({"a": [1.0, float("inf")]}, "at a[1]"),
        ([None, {"b": -float("inf")}], "at [1].b"),
        (float("nan"), "at its root"),
        ({"t": ["ok", "\ud800"]}, "at t[1]"),
        (Point(1, float("nan")), "at y"),
    ],
)
def test_value_without_json_form_is_an_error_that_names_its_path(mcp: MCPServer, value: Any, path: str) -> None:
    """Ours: policy P4; never a NaN token, never a silent null."""

    async def tool() -> Any:
        return value

    mcp.add_tool(tool)
    answer = result(mcp, "tool")
    assert answer["isError"] is True
    assert path in text(answer)


def test_null_beside_numbers_is_no_fault(mcp: MCPServer) -> None:
    """Ours: a null that was a None is left alone."""

    @mcp.tool
    async def tool() -> dict[str, float | None]:
        return {"a": None, "b": 1.5}

    assert result(mcp, "tool")["structuredContent"] == {"a": None, "b": 1.5}


def test_value_that_holds_itself_is_an_error(mcp: MCPServer) -> None:
    """Ours: no recursion of a tool's value can take the server down."""
    loop: list[Any] = []
    loop.append(loop)

    @mcp.tool
    async def tool() -> list[Any]:
        return loop

    assert result(mcp, "tool")["isError"] is True


def test_content_blocks_travel_as_they_are(mcp: MCPServer) -> None:
    """Spec: server/tools, "Tool Result"."""

    @mcp.tool
    async def one() -> ImageContent:
        return ImageContent(data="aGk=", mime_type="image/png")

    @mcp.tool
    async def several() -> list[TextContent | ImageContent]:
        return [TextContent(text="a"), ImageContent(data="", mime_type="image/png")]

    assert result(mcp, "one")["content"] == [{"type": "image", "data": "aGk=", "mimeType": "image/png"}]
    assert [block["type"] for block in result(mcp, "several")["content"]] == ["text", "image"]


def test_call_tool_result_is_the_whole_result(mcp: MCPServer) -> None:
    """Ours: a tool may say everything itself; its `_meta` is joined with ours."""

    @mcp.tool
    async def tool() -> CallToolResult:
        return CallToolResult(content=[TextContent(text="yes")], structured_content={"a": 1}, meta={"x/y": 2})

    answer = result(mcp, "tool")
    assert (answer["isError"], answer["structuredContent"]) == (False, {"a": 1})
    assert set(answer["_meta"]) == {"x/y", "io.modelcontextprotocol/serverInfo"}


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


# --- kinds of functions -------------------------------------------------------------------------------------------


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


def test_keyword_only_and_mutable_defaults_are_pythons(mcp: MCPServer) -> None:
    """Ours: a default is the very object of the signature."""
    shared: list[int] = [1]

    @mcp.tool
    async def tool(a: int, *, items: list[int] = shared, flag: bool = False) -> bool:
        return items is shared and a == 1 and not flag

    assert text(result(mcp, "tool", a=1)) == "true"
    assert text(result(mcp, "tool", a=1, items=[1])) == "false"


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


def test_tool_error_reaches_the_model(mcp: MCPServer) -> None:
    """Spec: server/tools, "Error Handling" 2."""

    @mcp.tool
    async def tool() -> str:
        raise ToolError("departure: must be in the future \ud800")

    answer = result(mcp, "tool")
    assert answer["isError"] is True
    assert text(answer).startswith("departure: must be in the future")
    assert "structuredContent" not in answer


@pytest.mark.parametrize("in_thread", [False, True])
@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("postgres://user:secret@host"),
        KeyError("secret"),
        SystemExit(3),
        KeyboardInterrupt(),
        StopIteration("secret"),
        StopAsyncIteration(),
        GeneratorExit(),
        RecursionError("secret"),
        MemoryError(),
        asyncio.CancelledError("secret"),
        BaseException("secret"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_unexpected_exception_is_masked_and_logged(
    mcp: MCPServer, error: BaseException, in_thread: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """Ours: policy P3; whatever a tool raises is its call's affair, the log has it under the id that the wire gets."""

    def fail() -> str:
        raise error

    async def fail_async() -> str:
        raise error

    mcp.add_tool(fail if in_thread else fail_async, "tool")
    with caplog.at_level(logging.ERROR, "leanmcp"):
        answer = result(mcp, "tool")
    assert answer["isError"] is True
    assert "secret" not in text(answer)
    assert "'tool'" in text(answer)
    (record,) = caplog.records
    assert text(answer).rsplit(" ", 1)[1] in record.getMessage()
    assert record.exc_info is not None


def test_log_of_a_failure_begins_at_the_users_frame(mcp: MCPServer, caplog: pytest.LogCaptureFixture) -> None:
    """Ours: U17; frames of leanmcp are cut off."""

    @mcp.tool
    def tool() -> str:
        raise ValueError("x")

    with caplog.at_level(logging.ERROR, "leanmcp"):
        result(mcp, "tool")
    (record,) = caplog.records
    assert record.exc_info is not None
    trace = record.exc_info[2]
    assert trace is not None
    assert trace.tb_frame.f_code.co_name == "tool"


def test_protocol_error_of_a_tool_passes_through(mcp: MCPServer) -> None:
    """Ours: MCPError answers as a JSON-RPC error, with data."""

    @mcp.tool
    async def tool() -> str:
        raise MCPError(4711, "not today", {"retry": 1})

    assert invoke(mcp, "tool")["error"] == {"code": 4711, "message": "not today", "data": {"retry": 1}}


def test_fault_in_a_users_own_type_is_masked_under_the_tools_name(
    mcp: MCPServer, caplog: pytest.LogCaptureFixture
) -> None:
    """Ours: policy P3; a KeyError in `__post_init__` is the author's, not leanmcp's."""

    @dataclass
    class Odd:
        x: int

        def __post_init__(self) -> None:
            raise KeyError("secret")

    @mcp.tool
    async def tool(odd: Odd) -> str:
        return "never"

    answer = result(mcp, "tool", odd={"x": 1})
    assert answer["isError"] is True
    assert "'tool'" in text(answer)
    assert "secret" not in text(answer)
    assert "tool tool failed" in caplog.text


def test_thread_tools_work_in_one_loop_after_another(mcp: MCPServer) -> None:
    """Ours: a thread that outlives its loop must not silence the next one."""
    release = threading.Event()

    @mcp.tool(timeout=0.05)
    def stuck() -> str:
        release.wait(20)
        return "late"

    @mcp.tool
    def quick() -> str:
        return "quick"

    assert result(mcp, "stuck")["isError"] is True
    release.set()
    for thread in threading.enumerate():
        if thread.name.startswith("leanmcp-tool"):
            thread.join(0.2)  # let it deliver to the loop that is gone; it never ends
    assert text(result(mcp, "quick")) == "quick"


def test_null_in_a_large_result_costs_no_walk_in_python(mcp: MCPServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: policy P4 is checked by C code; the path is looked for only where a NaN is."""

    def fail(value: object) -> None:
        raise AssertionError("walked")

    monkeypatch.setattr("leanmcp.server.encoding._first_fault", fail)

    @mcp.tool
    async def rows() -> list[dict[str, float | None]]:
        return [{"a": 1.0, "b": None}] * 1000

    assert result(mcp, "rows")["isError"] is False
