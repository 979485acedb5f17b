"""What a tool returns, as it travels."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Annotated, Any

import pytest

from leanmcp import MCPServer
from leanmcp.types import CallToolResult, ImageContent, TextContent
from tests.support.spec import request
from tests.support.tool_calls import result, text


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


@pytest.mark.parametrize(
    ("x", "said"), [(1, "here"), ("a", "x: Input should be a valid integer"), (None, "Input should be an object")]
)
def test_the_type_beside_a_whole_result_is_that_of_its_structured_content(mcp: MCPServer, x: Any, said: str) -> None:
    """Ours: `Annotated[CallToolResult, Point]`, as in the official SDK; it is published and checked."""

    @mcp.tool
    async def tool() -> Annotated[CallToolResult, Point, "where it is"]:
        return CallToolResult(content=[TextContent(text="here")], structured_content=x and {"x": x, "y": 0})

    found = result(mcp, "tool")
    assert said in text(found)
    assert found.get("structuredContent") == ({"x": 1, "y": 0} if x == 1 else None)
    assert found["isError"] is (x != 1)
    (entry,) = asyncio.run(request(mcp, "tools/list", {}))["result"]["tools"]
    assert entry["outputSchema"]["required"] == ["x"]


def test_null_in_a_large_result_costs_no_walk_in_python(mcp: MCPServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: policy P4 is checked by C code; the path is looked for only where a NaN is."""

    def fail(value: object) -> None:
        raise AssertionError("walked")

    monkeypatch.setattr("leanmcp.server.encoding._first_fault", fail)

    @mcp.tool
    async def rows() -> list[dict[str, float | None]]:
        return [{"a": 1.0, "b": None}] * 1000

    assert result(mcp, "rows")["isError"] is False


@pytest.mark.parametrize(
    ("schema", "expected"), [(None, {}), ({"type": ["object", "null"]}, {"structuredContent": None})]
)
def test_structured_content_none_is_null_only_where_a_schema_asks(schema: Any, expected: dict[str, Any]) -> None:
    """Ours: code for the official SDK writes None where it has none."""
    mcp = MCPServer("x")

    async def whole() -> CallToolResult:
        return CallToolResult(content=[TextContent(text="t")], structured_content=None)

    mcp.add_tool(whole, output_schema=schema)

    found = result(mcp, "whole")
    assert {key: value for key, value in found.items() if key == "structuredContent"} == expected
    assert found["isError"] is False
