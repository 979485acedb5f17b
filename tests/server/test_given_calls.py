"""Functions behind schemas written by hand: what they take, and what their results are held against."""

from __future__ import annotations

import asyncio
import datetime
from collections.abc import Callable
from types import SimpleNamespace
from typing import Annotated, Any

import msgspec
import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from leanmcp import Context, Field, MCPServer, Model
from leanmcp.errors import HeaderMismatch
from leanmcp.protocol.meta import CallToolParams, RequestMeta
from leanmcp.server.context import Exchange
from leanmcp.types import CallToolResult, TextContent
from tests.support.spec import request


def call(function: Callable[..., Any], arguments: Any, **options: Any) -> dict[str, Any]:
    """Register a function and return the result of one call."""
    mcp = MCPServer("given")
    mcp.add_tool(function, "tool", **options)
    answer = asyncio.run(request(mcp, "tools/call", {"name": "tool", "arguments": arguments}))
    result: dict[str, Any] = answer.get("result", answer)
    return result


def text(result: dict[str, Any]) -> str:
    """Return the text of a result."""
    return str(result["content"][0]["text"])


NUMBER = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


def test_sole_parameter_named_arguments_takes_plain_values() -> None:
    """Ours: unannotated or a dict; 5.0 is an integer, and an int for the function."""

    async def untyped(arguments):  # type: ignore[no-untyped-def]
        return repr(arguments)

    async def typed(arguments: dict[str, Any]) -> str:
        return repr(arguments)

    def by_position(arguments: Any, /, ctx: Context[Any]) -> str:
        return repr(arguments) + str(ctx.request_id is not None)

    assert text(call(untyped, {"n": 5.0, "more": [1.5]}, input_schema=NUMBER)) == "{'n': 5, 'more': [1.5]}"
    assert text(call(typed, {"n": 2**70}, input_schema=NUMBER)) == repr({"n": 2**70})
    assert text(call(by_position, {"n": 1}, input_schema=NUMBER)) == "{'n': 1}True"


def test_stars_take_the_properties_that_have_no_parameter() -> None:
    """Ours: named parameters first, converted to their annotation; names that are no identifiers too."""

    def tool(when: datetime.date, /, n: int = 0, *, ctx: Context[Any], **rest: Any) -> str:
        assert ctx.protocol_version
        return f"{when!r} {n} {rest}"

    schema = {"type": "object", "properties": {"when": {"type": "string"}, "x-y": {}}, "required": ["when"]}
    schema["properties"] |= {"n": {}}  # type: ignore[operator]
    result = call(tool, {"when": "2026-11-30", "x-y": 1, "z": None, "n": 3}, input_schema=schema)
    assert text(result) == "datetime.date(2026, 11, 30) 3 {'x-y': 1, 'z': None}"
    refused = call(tool, {"when": "2026-11-30", "ctx": 1}, input_schema=schema)
    assert text(refused).startswith("Invalid arguments for tool tool:\nctx: Extra inputs are not permitted")
    misfit = call(tool, {"when": "soon"}, input_schema=schema)
    assert misfit["isError"]
    assert "\nwhen: " in text(misfit)


class Book(Model):
    title: str
    year: int = Field(ge=1450)


def test_parameters_are_matched_by_name_and_converted() -> None:
    """Ours: plain values where there is no annotation, objects where there is one."""

    async def tool(book: Book, tags, limit: Annotated[int, Field(le=5)] = 3) -> str:  # type: ignore[no-untyped-def]
        return f"{type(book).__name__} {book.year} {tags} {limit}"

    schema = {
        "type": "object",
        "properties": {"book": {"type": "object"}, "tags": {"type": "array"}, "limit": {"type": "integer"}},
        "required": ["book", "tags"],
    }
    good = {"book": {"title": "x", "year": 1965}, "tags": ["a"], "unknown": 1}
    assert text(call(tool, good, input_schema=schema)) == "Book 1965 ['a'] 3"
    bad = call(tool, {"book": {"title": "x", "year": 1000}, "tags": [], "limit": 9}, input_schema=schema)
    assert "book.year: " in text(bad)
    assert "limit: " in text(bad)


@pytest.mark.parametrize(
    ("properties", "required", "words"),
    [
        ({"n": {}}, [], "give the parameter a default"),
        ({}, [], "no property 'n'"),
        ({"n": {}, "m": {}}, ["n"], "no such parameter"),
        ({"n": {}, "ctx": {}}, ["n"], "rename the context parameter"),
    ],
)
def test_function_that_does_not_fit_its_schema_is_refused(properties: Any, required: Any, words: str) -> None:
    """Ours: U12, at registration and not at the first call."""

    async def tool(n: int, ctx: Context[Any]) -> None: ...

    with pytest.raises(TypeError, match=words):
        call(tool, {}, input_schema={"type": "object", "properties": properties, "required": required})


def test_function_with_positional_stars_is_refused() -> None:
    """Ours: arguments have names."""

    async def tool(*values: int) -> None: ...

    with pytest.raises(TypeError, match=r"cannot take \*values"):
        call(tool, {}, input_schema={"type": "object"})


def test_policies_for_derived_schemas_do_not_apply() -> None:
    """Ours: P1 and P2; a text is never read as JSON, unknown names are the schema's business."""

    async def tool(arguments: dict[str, Any]) -> str:
        return repr(arguments)

    assert text(call(tool, {"n": 1, "x": 2}, input_schema=NUMBER)) == "{'n': 1, 'x': 2}"
    assert 'n: Input should be a valid integer, got "5"' in text(call(tool, {"n": "5"}, input_schema=NUMBER))
    assert text(call(tool, {}, input_schema=NUMBER)) == "Invalid arguments for tool tool:\nn: Field required"
    assert text(call(tool, None, input_schema={"type": "object"})) == "{}"
    for option in ({"coerce": True}, {"extra_args": "ignore"}):
        with pytest.raises(TypeError, match="enforced as written"):
            call(tool, {}, input_schema=NUMBER, **option)


@pytest.mark.parametrize("arguments", [[], 5, "x", True])
def test_arguments_that_are_no_object_are_invalid_params(arguments: Any) -> None:
    """Ours: policy P10."""

    async def tool(arguments: dict[str, Any]) -> None: ...

    assert call(tool, arguments, input_schema=NUMBER)["error"]["code"] == -32602


SCORES = {"type": "object", "properties": {"scores": {"type": "array", "items": {"type": "integer"}}}}


def test_structured_content_fits_the_schema_or_is_not_sent() -> None:
    """Spec: server/tools, "Output Schema": structured results MUST conform."""

    async def tool(good: bool) -> Any:
        return {"scores": [1, 2 if good else "x"]}

    assert call(tool, {"good": True}, output_schema=SCORES)["structuredContent"] == {"scores": [1, 2]}
    refused = call(tool, {"good": False}, output_schema=SCORES)
    assert refused["isError"]
    assert "structuredContent" not in refused
    assert "scores[1]: Input should be a valid integer" in text(refused)


def test_whole_results_are_checked_too() -> None:
    """Spec: server/tools, "Output Schema"; an error is never checked (FIELD row 109)."""

    async def tool(kind: str) -> CallToolResult:
        if kind == "error":
            return CallToolResult(content=[TextContent(text="no")], is_error=True)
        value = {"scores": "x" if kind == "bad" else [1]}
        return CallToolResult(content=[TextContent(text="t")], structured_content=value)

    assert call(tool, {"kind": "good"}, output_schema=SCORES)["structuredContent"] == {"scores": [1]}
    assert call(tool, {"kind": "bad"}, output_schema=SCORES)["isError"]
    assert text(call(tool, {"kind": "error"}, output_schema=SCORES)) == "no"


def test_array_and_scalar_schemas_describe_what_travels() -> None:
    """Ours: a given schema is published as written, so that the value is not wrapped unless asked for."""

    async def tool() -> list[int]:
        return [1]

    array = {"type": "array", "items": {"type": "integer"}}
    assert call(tool, {}, output_schema=array)["structuredContent"] == [1]
    outer = {"type": "object", "properties": {"result": array}, "required": ["result"], "additionalProperties": False}
    assert call(tool, {}, output_schema=outer, wrap_result=True)["structuredContent"] == {"result": [1]}
    assert (
        "result[0]: "
        in text(call(tool, {}, output_schema={**outer, "properties": {"result": {"items": False}}}, wrap_result=True))
        or call(tool, {}, output_schema={"type": "string"}, wrap_result=True)["isError"]
    )


@pytest.mark.parametrize(
    ("native", "wrap", "annotation", "value", "sent"),
    [
        (False, None, list[int], [1], {"result": [1]}),
        (True, None, list[int], [1], [1]),
        (True, None, str, "x", "x"),
        (True, None, int, 5, 5),
        (True, None, type(None), None, None),
        (True, None, dict[str, int], {"a": 1}, {"a": 1}),
        (False, False, str, "x", "x"),
        (False, False, list[Book], [Book(title="x", year=1500)], [{"title": "x", "year": 1500}]),
        (True, True, list[int], [1], {"result": [1]}),
        (False, True, dict[str, int], {"a": 1}, {"result": {"a": 1}}),
    ],
)
def test_wrapping_is_an_option_and_schema_and_data_agree(
    native: bool, wrap: bool | None, annotation: Any, value: Any, sent: Any
) -> None:
    """Ours: FIELD row 111."""
    mcp = MCPServer("given", native_output=native)

    async def tool() -> Any:
        return value

    tool.__annotations__["return"] = annotation
    mcp.add_tool(tool, wrap_result=wrap)
    schema = asyncio.run(request(mcp, "tools/list", {}))["result"]["tools"][0]["outputSchema"]
    result = asyncio.run(request(mcp, "tools/call", {"name": "tool", "arguments": {}}))["result"]
    assert result["structuredContent"] == sent
    assert Draft202012Validator(schema).is_valid(sent)
    assert ("result" in schema.get("properties", {})) is (isinstance(sent, dict) and "result" in sent)


def test_output_options_that_contradict_are_refused() -> None:
    """Ours: a mistake in an option is told at once."""

    async def tool() -> None: ...

    async def untyped():  # type: ignore[no-untyped-def]
        return 1

    mcp = MCPServer("given")
    with pytest.raises(TypeError, match="structured_output=False"):
        mcp.add_tool(tool, output_schema=SCORES, structured_output=False)
    with pytest.raises(TypeError, match="wrap_result"):
        mcp.add_tool(untyped, wrap_result=True)
    with pytest.raises(ValueError, match="output_schema: 'oneOf' at /oneOf must be"):
        mcp.add_tool(tool, output_schema={"oneOf": []})


def test_mirrored_headers_of_a_given_schema_are_planned() -> None:
    """Spec: server/tools, "x-mcp-header"."""

    async def tool(**arguments: Any) -> None: ...

    mcp = MCPServer("given")
    region = {"type": "string", "x-mcp-header": "Region"}
    mcp.add_tool(tool, input_schema={"type": "object", "properties": {"region": region}})
    head: Any = SimpleNamespace(headers={}, repeated=frozenset())
    meta = RequestMeta(protocol_version="2026-07-28", client_capabilities={})
    params = CallToolParams(meta=meta, name="tool", arguments=msgspec.Raw(b'{"region": "x"}'))
    with pytest.raises(HeaderMismatch, match="mcp-param-region is missing"):
        asyncio.run(mcp.tools[0].call(params, Exchange(1, head, None, b"")))
    bad = {"type": "object", "properties": {"region": {**region, "type": "number"}}}
    with pytest.raises(ValueError, match="x-mcp-header"):
        mcp.add_tool(tool, "bad", input_schema=bad)
