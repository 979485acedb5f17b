"""Schemas written by hand: published as they stand, enforced exactly or refused at registration."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from leanmcp import MCPServer
from leanmcp.server.given import compile_schema
from tests.support.spec import request


def faults(schema: dict[str, Any], value: Any) -> list[str]:
    """Return path and sentence of everything that a schema has against a value."""
    copy = msgspec.json.decode(msgspec.json.encode(value))
    return [f"{fault.path}: {fault.message}" for fault in compile_schema(schema, "s").faults(copy)]


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
