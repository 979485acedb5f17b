"""Schemas written by hand: published as they stand, enforced exactly or refused at registration."""

from __future__ import annotations

import asyncio
import datetime
import json
import logging
from collections.abc import Callable
from typing import Annotated, Any

import msgspec
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from leanmcp import Context, Field, MCPServer, Model
from leanmcp.server.given import compile_schema
from leanmcp.types import CallToolResult, TextContent
from tests.support.spec import request


def faults(schema: dict[str, Any], value: Any) -> list[str]:
    """Return path and sentence of everything that a schema has against a value."""
    copy = msgspec.json.decode(msgspec.json.encode(value))
    return [f"{fault.path}: {fault.message}" for fault in compile_schema(schema, "s").faults(copy)]


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


# Publication --------------------------------------------------------------------------------------------------------

WRITTEN: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "Search",
    "properties": {
        "z": {"type": ["integer", "null"], "default": None, "minimum": 1.0, "x-mcp-note": {"oneOf": 1}},
        "a": {"$ref": "#/$defs/tag~1name%25", "description": "Ünicode", "examples": ["x"], "deprecated": False},
    },
    "type": "object",
    "required": ["a"],
    "additionalProperties": False,
    "$defs": {"tag/name%": {"type": "string", "format": "email", "$comment": "not asserted"}},
}


def test_schema_is_published_exactly_as_written() -> None:
    """Ours: same members, same order, also where the author changes the dict later."""
    mcp = MCPServer("given", schema_titles=False)
    written = json.loads(json.dumps(WRITTEN))

    async def tool(**arguments: Any) -> Any:
        return arguments

    mcp.add_tool(tool, input_schema=written, output_schema=written)
    written["properties"].clear()
    listed = asyncio.run(request(mcp, "tools/list", {}))["result"]["tools"][0]
    assert json.dumps(listed["inputSchema"]) == json.dumps(WRITTEN)
    assert json.dumps(listed["outputSchema"]) == json.dumps(WRITTEN)


@pytest.mark.parametrize("schema", [{"type": "string"}, {}, {"type": ["object"]}, {"properties": {}}])
def test_input_schema_has_an_object_at_its_root(schema: dict[str, Any]) -> None:
    """Spec: server/tools, "Tool": inputSchema has `type: "object"`."""

    async def tool(arguments: Any) -> None: ...

    with pytest.raises(ValueError, match='"type": "object"'):
        MCPServer("given").add_tool(tool, input_schema=schema)


@pytest.mark.parametrize(
    "schema", [[], "x", True, {"type": "object", "default": {1, 2}.__iter__}, {"const": float("nan")}]
)
def test_schema_is_plain_json(schema: Any) -> None:
    """Ours: what cannot be published is refused."""
    with pytest.raises(TypeError, match="s must be a JSON Schema"):
        compile_schema(schema, "s")


def test_union_at_the_root_is_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    """Ours: FIELD row 95."""

    async def tool(arguments: dict[str, Any]) -> None: ...

    schema = {"type": "object", "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}
    with caplog.at_level(logging.WARNING, "leanmcp"):
        MCPServer("given").add_tool(tool, input_schema=schema)
    assert "anyOf at its root" in caplog.text


# Refusal ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keyword", "value", "words"),
    [
        ("oneOf", [], "must be a list of schemas, one at least"),
        ("not", [], "must be a schema"),
        ("if", 5, "must be a schema"),
        ("patternProperties", {"(": {}}, "cannot be enforced"),
        ("dependentRequired", {"a": "b"}, "must be an object of lists"),
        ("minContains", -1, "must be a whole number"),
        ("$dynamicRef", "#x", "where there is no subschema"),
        ("$anchor", "1x", "must be a plain name"),
        ("$ref", "other.json", "nothing is fetched"),
        ("$id", "x#y", "without a fragment"),
        ("$schema", "https://example.com/mine", "names an unsupported dialect"),
        ("$schema", "http://json-schema.org/draft-07/schema#", "changes the dialect"),
    ],
)
def test_what_cannot_be_enforced_is_refused_with_its_pointer(keyword: str, value: Any, words: str) -> None:
    """Ours: FIELD row 105, nothing is published that is not enforced."""

    async def tool(arguments: Any) -> None: ...

    schema = {"type": "object", "properties": {"a/b": {"items": {keyword: value}}}}
    with pytest.raises(ValueError, match=words) as caught:
        MCPServer("given").add_tool(tool, input_schema=schema)
    assert str(caught.value).startswith("tool 'tool': input_schema: ")
    assert f" at /properties/a~1b/items/{keyword}" in str(caught.value)


@pytest.mark.parametrize("keyword", ["nullable", "discriminator", "example", "Type", "x-note"])
def test_unknown_keywords_say_nothing(keyword: str) -> None:
    """Spec: JSON Schema core 6.5: they are annotations, published with the rest."""
    assert faults({"properties": {"a": {keyword: 1}}}, {"a": None}) == []


@pytest.mark.parametrize(
    "schema",
    [
        {"$schema": 5},
        {"$ref": "https://example.com/s.json"},
        {"$ref": "http://127.0.0.1:1/s.json#/$defs/a"},
        {"$ref": "file:///etc/passwd"},
        {"$ref": "other.json"},
        {"$ref": "#anchor"},
        {"$ref": "#/$defs/missing"},
        {"$ref": "#/properties"},
        {"$ref": 5},
        {"$ref": "#"},
        {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"anyOf": [{"$ref": "#/$defs/a"}]}}},
        {"$id": "x#y"},
        {"type": "text"},
        {"type": []},
        {"type": ["string", "string"]},
        {"type": [5]},
        {"type": None},
        {"enum": "a"},
        {"minimum": "1"},
        {"minimum": True},
        {"multipleOf": 0},
        {"multipleOf": -1},
        {"minLength": -1},
        {"minLength": 1.5},
        {"maxItems": "1"},
        {"maxProperties": True},
        {"pattern": "("},
        {"pattern": 5},
        {"pattern": "a" * 1001},
        {"uniqueItems": 1},
        {"required": "a"},
        {"required": ["a", "a"]},
        {"required": [1]},
        {"properties": []},
        {"properties": {"a": 5}},
        {"prefixItems": []},
        {"prefixItems": {}},
        {"anyOf": []},
        {"items": []},
        {"items": [{}]},
        {"additionalProperties": None},
        {"title": 5},
        {"description": None},
        {"deprecated": "yes"},
        {"examples": {}},
        {"$comment": []},
        {"format": 1},
        {"$defs": {"unused": {"oneOf": []}}},
    ],
)
def test_malformed_schema_is_refused(schema: dict[str, Any]) -> None:
    """Spec: basic/index, "Schema Validation" and "`$ref` Resolution"; nothing is ever fetched (FIELD row 106)."""
    with pytest.raises(ValueError, match=r"^s: "):
        compile_schema(schema, "s")


def test_references_inside_of_data_are_data() -> None:
    """Ours: FIELD row 106; const, enum, default and examples hold values, not schemas."""
    reference = {"$ref": "http://127.0.0.1:1/x", "oneOf": 1}
    schema = {"const": reference, "default": reference, "examples": [reference]}
    assert faults(schema, reference) == []
    assert faults({"enum": [reference]}, {}) != []


def test_schema_has_bounds() -> None:
    """Spec: basic/index, "Composition-Keyword Resource Use"."""
    deep: dict[str, Any] = {}
    for _ in range(70):
        deep = {"items": deep}
    with pytest.raises(ValueError, match="too deep"):
        compile_schema(deep, "s")
    with pytest.raises(ValueError, match="bytes"):
        compile_schema({"description": "x" * 300_000}, "s")
    with pytest.raises(ValueError, match="subschemas"):
        compile_schema({"properties": {str(n): {} for n in range(10_001)}}, "s")
    chain: dict[str, Any] = {f"d{n}": {"$ref": f"#/$defs/d{n + 1}"} for n in range(300)}
    with pytest.raises(ValueError, match="over 200 subschemas for one value"):
        compile_schema({"$defs": chain | {"d300": {}}, "$ref": "#/$defs/d0"}, "s")
    const: Any = 1
    for _ in range(40):
        const = [const]
    with pytest.raises(ValueError, match="nested"):
        compile_schema({"const": const}, "s")


# Enforcement --------------------------------------------------------------------------------------------------------


NAMES = st.sampled_from(["a", "b", "kind"])
NUMBERS = st.sampled_from([-1, 0, 1, 1.0, 2, 2.5, 3, 10, 1e300])
STRINGS = st.sampled_from(["", "a", "ab", "abc", "1", "é"])
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | STRINGS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)
TYPES = st.sampled_from(["null", "boolean", "integer", "number", "string", "array", "object"])


def schemas(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Return schemas of all our keywords, made of `inner` ones."""
    small = st.integers(0, 3)
    keywords: dict[str, st.SearchStrategy[Any]] = {
        "type": TYPES | st.lists(TYPES, min_size=1, max_size=3, unique=True),
        "enum": st.lists(VALUES, max_size=3),
        "minimum": NUMBERS,
        "exclusiveMaximum": NUMBERS,
        "multipleOf": st.sampled_from([1, 2, 0.5]),
        "minLength": small,
        "maxLength": small,
        "pattern": st.sampled_from(["^a", "b$", r"\d"]),
        "minItems": small,
        "maxItems": small,
        "uniqueItems": st.booleans(),
        "minProperties": small,
        "maxProperties": small,
        "required": st.lists(NAMES, max_size=2, unique=True),
        "properties": st.dictionaries(NAMES, inner, max_size=2),
        "additionalProperties": inner,
        "propertyNames": inner,
        "items": inner,
        "prefixItems": st.lists(inner, min_size=1, max_size=2),
        "anyOf": st.lists(inner, min_size=1, max_size=3),
        "oneOf": st.lists(inner, min_size=1, max_size=3),
        "not": inner,
        "contains": inner,
        "$ref": st.sampled_from(["#", "#/$defs/n", "#/$defs/m"]),
        "title": st.just("T"),
    }
    return st.lists(st.sampled_from(sorted(keywords)), max_size=4, unique=True).flatmap(
        lambda chosen: st.fixed_dictionaries({keyword: keywords[keyword] for keyword in chosen})
    )


SCHEMAS = st.recursive(st.booleans() | schemas(st.just(True)), schemas, max_leaves=6)


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(
    SCHEMAS.filter(lambda schema: isinstance(schema, dict)),
    st.fixed_dictionaries({"n": SCHEMAS, "m": SCHEMAS}),
    st.lists(VALUES, min_size=1, max_size=8),
)
def test_verdicts_agree_with_jsonschema(schema: dict[str, Any], definitions: dict[str, Any], values: list[Any]) -> None:
    """Ours: property, jsonschema as oracle."""
    whole = {**schema, "$defs": definitions}
    try:
        compiled = compile_schema(whole, "s")
    except ValueError:
        assume(False)
    oracle = Draft202012Validator(whole)
    for value in values:
        sent = msgspec.json.decode(msgspec.json.encode(value))
        assert (compiled.faults(sent) == []) is oracle.is_valid(value), (whole, value)
        assert sent == value


@pytest.mark.parametrize(
    ("schema", "value", "found"),
    [
        ({"type": "integer"}, 5.5, [": Input should be a valid integer"]),
        ({"type": ["string", "null"]}, 5, [": Input should be a valid string or null"]),
        ({"properties": {"a": {"maximum": 3}}}, {"a": 4}, ["a: Input should be less than or equal to 3"]),
        ({"required": ["a"], "properties": {"a": {}}}, {}, ["a: Field required"]),
        ({"required": ["x"]}, {}, ["x: Field required"]),
        ({"items": {"minLength": 2}}, ["ab", "c"], ["[1]: String should have at least 2 characters"]),
        ({"prefixItems": [{}], "items": False}, [1, 2], [": List should have at most 1 item after validation, not 2"]),
        ({"uniqueItems": True}, [1, 1.0], [": List items should be unique"]),
        ({"minProperties": 1}, {}, [": Object should have at least 1 member after validation, not 0"]),
        ({"properties": {"a": False}}, {"a": 1}, ["a: Input is not permitted here"]),
        (
            {"propertyNames": {"maxLength": 1}},
            {"ab": 1},
            ["ab: Name is not permitted: String should have at most 1 character"],
        ),
        (
            {"properties": {"query": {}}, "additionalProperties": False},
            {"qurey": 1},
            ["qurey: Extra inputs are not permitted; accepted names: query; did you mean 'query'?"],
        ),
        ({"anyOf": [{"type": "string"}, {"type": "array"}]}, 5, [": Input should be a valid array or a valid string"]),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "x", [": Input should be a valid integer"]),
        ({"anyOf": [{"const": "a"}, {"const": "b"}]}, "c", [": Input should be 'a' or 'b'"]),
    ],
)
def test_faults_are_told_in_the_sentences_of_derived_schemas(schema: Any, value: Any, found: list[str]) -> None:
    """Ours: one wording, whoever wrote the schema."""
    assert faults(schema, value) == found


SHAPES = {
    "anyOf": [
        {
            "type": "object",
            "properties": {"kind": {"const": "list"}, "of": {"type": "array", "items": {"$ref": "#"}}},
            "required": ["kind", "of"],
        },
        {
            "type": "object",
            "properties": {"kind": {"enum": ["leaf", "end"]}, "n": {"type": "integer"}},
            "required": ["kind"],
        },
        {"type": "null"},
    ]
}


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ({"kind": "list", "of": [{"kind": "end"}, None]}, []),
        ({"kind": "list", "of": [{"kind": "leaf", "n": "x"}]}, ["of[0].n: Input should be a valid integer"]),
        ({"kind": "lst"}, ["kind: Input should be 'list', 'leaf' or 'end'"]),
        ({}, ["kind: Field required; Input should be 'list', 'leaf' or 'end'"]),
        ({"kind": 5}, ["kind: Input should be 'list', 'leaf' or 'end'"]),
    ],
)
def test_tagged_union_reports_the_branch_that_was_meant(value: Any, found: list[str]) -> None:
    """Ours: the tag picks the branch, however deep it goes."""
    assert faults(SHAPES, value) == found


def test_no_depth_and_no_breadth_stops_the_check() -> None:
    """Ours: one pass, without recursion, for what the message limits let in."""
    compiled = compile_schema(SHAPES, "s")
    value: Any = {"kind": "end"}
    for _ in range(3000):
        value = {"kind": "list", "of": [value]}
    assert compiled.faults(value) == []
    wide = [{"kind": "end", "n": number} for number in range(20_000)]
    assert compiled.faults({"kind": "list", "of": wide}) == []
    many = compile_schema({"items": {"type": "string"}, "uniqueItems": True}, "s").faults([[n] for n in range(5000)])
    assert 0 < len(many) <= 120


def test_doubling_references_stay_cheap() -> None:
    """Ours: what grows with 2 to the depth ends with the steps that a check may take."""
    branches = [{"items": {"$ref": "#/$defs/d"}, "minItems": 1}, {"items": {"$ref": "#/$defs/d"}, "maxItems": 3}]
    value: Any = [5]
    for _ in range(40):
        value = [value]
    schema = {"$defs": {"d": {"type": "array", "oneOf": branches}}, "$ref": "#/$defs/d"}
    assert faults(schema, value) == [": Input takes too many steps to check"]


# The function -------------------------------------------------------------------------------------------------------

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


# Output -------------------------------------------------------------------------------------------------------------

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
    assert [param.header for param in next(iter(mcp.tools)).mirrored] == ["mcp-param-region"]
    bad = {"type": "object", "properties": {"region": {**region, "type": "number"}}}
    with pytest.raises(ValueError, match="x-mcp-header"):
        mcp.add_tool(tool, "bad", input_schema=bad)
