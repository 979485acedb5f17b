"""What is said of values that do not fit, and how verdicts are reached."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from leanmcp import schema as json_schema

DRAFT7 = "http://json-schema.org/draft-07/schema#"
DRAFT4 = "http://json-schema.org/draft-04/schema#"


def texts(schema: Any, value: Any) -> list[str]:
    """Return path and sentence of everything that a schema has against a value."""
    return [f"{fault.path}: {fault.message}" for fault in json_schema.compile(schema).faults(value)]


CASES: list[tuple[Any, Any, list[str]]] = [
    ({"type": "integer"}, "5", [": Input should be a valid integer"]),
    ({"type": "integer"}, 5.5, [": Input should be a valid integer"]),
    ({"type": "integer"}, True, [": Input should be a valid integer"]),
    ({"type": ["string", "null"]}, 5, [": Input should be a valid string or null"]),
    ({"type": "number"}, "x", [": Input should be a valid number"]),
    ({"type": "object"}, [], [": Input should be an object"]),
    ({"minimum": 3}, 2, [": Input should be greater than or equal to 3"]),
    ({"exclusiveMinimum": 3}, 3, [": Input should be greater than 3"]),
    (
        {"maximum": 3, "multipleOf": 2},
        5,
        [": Input should be less than or equal to 3", ": Input should be a multiple of 2"],
    ),
    ({"exclusiveMaximum": 3.5}, 3.5, [": Input should be less than 3.5"]),
    ({"multipleOf": 0.1}, 0.25, [": Input should be a multiple of 0.1"]),
    ({"multipleOf": 3}, 10000000000000000000000000000000000000000, [": Input should be a multiple of 3"]),
    ({"minLength": 2}, "x", [": String should have at least 2 characters"]),
    ({"maxLength": 2}, "xyz", [": String should have at most 2 characters"]),
    ({"minLength": 1, "pattern": "^a$"}, "a\n", [": String should match pattern '^a$'"]),
    ({"pattern": "^\\d+$"}, "٣", [": String should match pattern '^\\d+$'"]),
    ({"const": "a"}, "b", [": Input should be 'a'"]),
    ({"const": 1}, True, [": Input should be 1"]),
    ({"const": {"a": [1, 2]}}, {"a": [2, 1]}, [': Input should be {"a":[1,2]}']),
    ({"enum": ["a", 1, None]}, 2, [": Input should be 'a', 1 or null"]),
    ({"enum": []}, 1, [": Input is not permitted here"]),
    ({"type": "string", "enum": ["x", "y"]}, 1, [": Input should be a valid string"]),
    ({"minItems": 1}, [], [": List should have at least 1 item after validation, not 0"]),
    ({"maxItems": 1}, [1, 2], [": List should have at most 1 item after validation, not 2"]),
    ({"uniqueItems": True}, [1, 1.0], [": List items should be unique"]),
    ({"uniqueItems": True}, [{"a": 1, "b": [2]}, {"b": [2.0], "a": 1}], [": List items should be unique"]),
    ({"minProperties": 1}, {}, [": Object should have at least 1 member after validation, not 0"]),
    ({"maxProperties": 1}, {"a": 1, "b": 2}, [": Object should have at most 1 member after validation, not 2"]),
    ({"required": ["a", "b"]}, {"b": 1}, ["a: Field required"]),
    (
        {"properties": {"a": {"type": "string"}, "b": {}}, "required": ["b"]},
        {"a": 1},
        ["a: Input should be a valid string", "b: Field required"],
    ),
    ({"properties": {"a": False}}, {"a": 1}, ["a: Input is not permitted here"]),
    (
        {"properties": {"query": {}}, "additionalProperties": False},
        {"qurey": 1},
        ["qurey: Extra inputs are not permitted; accepted names: query; did you mean 'query'?"],
    ),
    ({"additionalProperties": False}, {"a": 1}, ["a: Extra inputs are not permitted; there are none to give"]),
    ({"additionalProperties": {"type": "integer"}}, {"a": 1, "b.c": "x"}, ['"b.c": Input should be a valid integer']),
    ({"patternProperties": {"^x-": {"type": "string"}}}, {"x-a": 1, "y": 2}, ["x-a: Input should be a valid string"]),
    ({"patternProperties": {"^x-": False}}, {"x-a": 1}, ["x-a: Input is not permitted here"]),
    (
        {"propertyNames": {"maxLength": 2}},
        {"abc": 1},
        ["abc: Name is not permitted: String should have at most 2 characters"],
    ),
    ({"propertyNames": {"enum": ["a", "b"]}}, {"c": 1}, ["c: Name is not permitted: Name should be 'a' or 'b'"]),
    ({"propertyNames": False}, {"c": 1}, ["c: Name is not permitted"]),
    (
        {"items": {"type": "string"}},
        ["a", 1, None],
        ["[1]: Input should be a valid string", "[2]: Input should be a valid string"],
    ),
    (
        {"prefixItems": [{"type": "string"}, {"type": "integer"}]},
        [1, "a"],
        ["[0]: Input should be a valid string", "[1]: Input should be a valid integer"],
    ),
    ({"prefixItems": [{}], "items": False}, [1, 2], [": List should have at most 1 item after validation, not 2"]),
    ({"items": {"items": {"minimum": 0}}}, [[1], [2, -1]], ["[1][1]: Input should be greater than or equal to 0"]),
    (
        {"contains": {"type": "string"}},
        [1, 2],
        [": List should contain at least 1 item as 'contains' describes, not 0"],
    ),
    (
        {"contains": {"type": "string"}, "minContains": 2},
        ["a", 1],
        [": List should contain at least 2 items as 'contains' describes, not 1"],
    ),
    (
        {"contains": {"type": "string"}, "maxContains": 1},
        ["a", "b"],
        [": List should contain at most 1 item as 'contains' describes, not 2"],
    ),
    (
        {"dependentRequired": {"card": ["address", "name"]}},
        {"card": 1},
        ["address: Field required beside 'card'", "name: Field required beside 'card'"],
    ),
    (
        {"dependentSchemas": {"card": {"properties": {"cvc": {"type": "string"}}}}},
        {"card": 1, "cvc": 5},
        ["cvc: Input should be a valid string"],
    ),
    (
        {"allOf": [{"required": ["a"]}, {"properties": {"b": {"type": "string"}}}]},
        {"b": 1},
        ["a: Field required", "b: Input should be a valid string"],
    ),
    (
        {"allOf": [{"minimum": 5}, {"multipleOf": 2}]},
        3,
        [": Input should be greater than or equal to 5", ": Input should be a multiple of 2"],
    ),
    ({"anyOf": [{"type": "string"}, {"type": "array"}]}, 5, [": Input should be a valid array or a valid string"]),
    ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "x", [": Input should be a valid integer"]),
    ({"anyOf": [{"const": "a"}, {"const": "b"}]}, "c", [": Input should be 'a' or 'b'"]),
    (
        {"anyOf": [{"type": "integer", "minimum": 5}, {"type": "string"}]},
        3,
        [": Input should be greater than or equal to 5"],
    ),
    ({"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}, {}, [": Input should have 'phone' or 'email'"]),
    ({"anyOf": [False, False]}, 1, [": Input is not permitted here"]),
    ({"oneOf": [{"const": "a", "title": "A"}, {"const": "b", "title": "B"}]}, "c", [": Input should be 'a' or 'b'"]),
    (
        {"oneOf": [{"type": "integer"}, {"minimum": 2}]},
        3,
        [": Input should fit exactly one alternative, but fits 2: number 1, number 2"],
    ),
    (
        {"oneOf": [{"type": "integer", "title": "Whole"}, {"type": "number", "title": "Real"}]},
        3,
        [": Input should fit exactly one alternative, but fits 2: 'Whole', 'Real'"],
    ),
    (
        {
            "oneOf": [
                {"properties": {"kind": {"const": "cat"}, "lives": {"type": "integer"}}, "required": ["kind"]},
                {"properties": {"kind": {"const": "dog"}, "legs": {"type": "integer"}}, "required": ["kind"]},
            ]
        },
        {"kind": "dog", "legs": "four"},
        ["legs: Input should be a valid integer"],
    ),
    (
        {
            "oneOf": [
                {"properties": {"kind": {"const": "cat"}}, "required": ["kind"]},
                {"properties": {"kind": {"const": "dog"}}, "required": ["kind"]},
            ]
        },
        {"kind": "cow"},
        ["kind: Input should be 'cat' or 'dog'"],
    ),
    (
        {
            "oneOf": [
                {"properties": {"kind": {"const": "cat"}}, "required": ["kind"]},
                {"properties": {"kind": {"const": "dog"}}, "required": ["kind"]},
            ]
        },
        {},
        ["kind: Field required; Input should be 'cat' or 'dog'"],
    ),
    (
        {
            "oneOf": [
                {"required": ["name"], "properties": {"name": {"type": "string"}}, "additionalProperties": False},
                {"required": ["id"], "properties": {"id": {"type": "integer"}}, "additionalProperties": False},
            ]
        },
        {"nme": "x"},
        ["name: Field required", "nme: Extra inputs are not permitted; accepted names: name; did you mean 'name'?"],
    ),
    ({"not": {"type": "string"}}, "x", [": Input should not be a valid string"]),
    ({"not": {"const": "x"}}, "x", [": Input should not be 'x'"]),
    ({"not": {"enum": ["x", 1]}}, 1, [": Input should not be 'x' or 1"]),
    ({"not": {"required": ["a"]}}, {"a": 1}, [": Input should not have 'a'"]),
    ({"not": {"required": ["a", "b"]}}, {"a": 1, "b": 2}, [": Input should not have 'a' and 'b' together"]),
    ({"not": {"minimum": 5}}, 6, [": Input should not fit what 'not' describes"]),
    ({"not": {}}, 6, [": Input should not fit what 'not' describes"]),
    ({"not": {"$ref": "#/$defs/s"}, "$defs": {"s": {"type": "string"}}}, "x", [": Input should not be a valid string"]),
    (
        {
            "if": {"properties": {"by": {"const": "phone"}}, "required": ["by"]},
            "then": {"required": ["phone"]},
            "else": {"required": ["email"]},
        },
        {"by": "phone"},
        ["phone: Field required"],
    ),
    (
        {
            "if": {"properties": {"by": {"const": "phone"}}, "required": ["by"]},
            "then": {"required": ["phone"]},
            "else": {"required": ["email"]},
        },
        {},
        ["email: Field required"],
    ),
    (
        {"properties": {"a": {}}, "unevaluatedProperties": False},
        {"a": 1, "b": 2},
        ["b: Extra inputs are not permitted; accepted names: a"],
    ),
    (
        {"allOf": [{"properties": {"name": {"type": "string"}}}], "unevaluatedProperties": False},
        {"name": 5, "nam": 1},
        [
            "name: Input should be a valid string",
            "nam: Extra inputs are not permitted; accepted names: name; did you mean 'name'?",
        ],
    ),
    (
        {"anyOf": [{"properties": {"a": {"type": "string"}}, "required": ["a"]}], "unevaluatedProperties": False},
        {"a": 1},
        ["a: Input should be a valid string"],
    ),
    ({"unevaluatedProperties": {"type": "string"}}, {"a": 1}, ["a: Input should be a valid string"]),
    ({"prefixItems": [{}], "unevaluatedItems": False}, [1, 2], ["[1]: Input is not permitted here"]),
    ({"contains": {"type": "string"}, "unevaluatedItems": False}, ["a", 2], ["[1]: Input is not permitted here"]),
    (
        {
            "$ref": "#/$defs/node",
            "$defs": {"node": {"properties": {"next": {"$ref": "#/$defs/node"}, "v": {"type": "integer"}}}},
        },
        {"next": {"next": {"v": "x"}}},
        ["next.next.v: Input should be a valid integer"],
    ),
    (False, 1, [": Input is not permitted here"]),
    (
        {
            "type": "object",
            "properties": {"a": {"type": "object", "properties": {"b c": {"type": "array", "items": {"enum": [1]}}}}},
        },
        {"a": {"b c": [2]}},
        ['a["b c"][0]: Input should be 1'],
    ),
    ({"$schema": DRAFT7, "dependencies": {"a": ["b"]}}, {"a": 1}, ["b: Field required beside 'a'"]),
    (
        {"$schema": DRAFT7, "items": [{}], "additionalItems": False},
        [1, 2],
        [": List should have at most 1 item after validation, not 2"],
    ),
    ({"$schema": DRAFT4, "minimum": 5, "exclusiveMinimum": True}, 5, [": Input should be greater than 5"]),
]


@pytest.mark.parametrize(("schema", "value", "found"), CASES)
def test_faults_have_a_path_and_a_sentence(schema: Any, value: Any, found: list[str]) -> None:
    """Ours: one sentence a fault; a union tells what its closest branch has against the value."""
    assert texts(schema, value) == found


def test_there_are_many_sentences() -> None:
    """Ours: the table covers the keywords."""
    assert len(CASES) >= 60


@pytest.mark.parametrize(
    ("schema", "value", "fits"),
    [
        ({"multipleOf": 0.01}, 19.01, True),
        ({"multipleOf": 0.1}, 10**400, True),
        ({"multipleOf": 1e-300}, 1e300, True),
        ({"multipleOf": 2.0}, 3, False),
        ({"multipleOf": 1}, float("inf"), False),
        ({"maximum": 2**53}, 2**53 + 1, False),
        ({"maximum": float(2**53)}, 2**53 + 1, False),
        ({"type": "integer"}, 1e300, True),
        ({"type": "integer"}, float("inf"), False),
        ({"const": 1}, 1.0, True),
        ({"const": 0}, False, False),
        ({"const": [1, {"a": 2}]}, [1.0, {"a": 2.0}], True),
        ({"enum": [[True]]}, [1], False),
        ({"uniqueItems": True}, [1, True, 0, False, "1", None], True),
        ({"uniqueItems": True}, [[1], [1.0]], False),
        ({"uniqueItems": True}, [{"a": 10**5000}, {"a": 10**5000}], False),
        ({"uniqueItems": True}, [["a,b"], ["a", "b"]], True),
        ({"format": "email", "contentEncoding": "base64", "contentMediaType": "application/json"}, "!", True),
        ({"required": ["__proto__", "constructor"]}, {}, False),
    ],
)
def test_numbers_and_equality_are_exact(schema: Any, value: Any, fits: bool) -> None:
    """Spec: JSON Schema core 4.2.2, validation 6.2.1 and 6.4.3; formats are annotations."""
    validator = json_schema.compile(schema)
    assert validator.is_valid(value) is fits
    assert (validator.faults(value) == []) is fits


def test_what_is_no_json_fits_no_check() -> None:
    """Ours: values are plain JSON; others are refused rather than misread."""
    assert texts({"type": "array"}, (1, 2)) == [": Input should be plain JSON"]
    assert texts({"minLength": 1}, b"bytes") == [": Input should be plain JSON"]


def test_a_plain_reference_to_a_dynamic_anchor_is_static() -> None:
    """Spec: JSON Schema core 8.2.3.1; only `$dynamicRef` looks at where it came from."""
    inner: dict[str, Any] = {"$id": "inner", "$defs": {"m": {"$dynamicAnchor": "m", "type": "string"}}}
    outer: dict[str, Any] = {"$ref": "inner", "$defs": {"m": {"$dynamicAnchor": "m", "type": "integer"}}}
    static = json_schema.compile({**outer, "$defs": {**outer["$defs"], "i": {**inner, "$ref": "#m"}}})
    assert static.is_valid("x")
    assert not static.is_valid(5)
    dynamic = json_schema.compile({**outer, "$defs": {**outer["$defs"], "i": {**inner, "$dynamicRef": "#m"}}})
    assert dynamic.is_valid(5)
    assert not dynamic.is_valid("x")


def test_faults_are_bounded_and_values_untouched() -> None:
    """Ours: 120 at most, however many values are wrong."""
    value: dict[str, Any] = {"a": [1.0] * 500, "b": [{"x": 1}] * 500}
    schema = {"additionalProperties": {"items": {"type": "string"}}}
    assert len(json_schema.compile(schema).faults(value)) == 120
    assert value["a"][0] == 1.0


def test_fold_turns_whole_numbers_into_integers_where_nothing_else_fits() -> None:
    """Ours: through references, branches, conditions and every kind of member."""
    whole = {"type": "integer"}
    schema = {
        "$defs": {"n": whole},
        "properties": {
            "ref": {"$ref": "#/$defs/n"},
            "any": {"anyOf": [{"type": "object", "properties": {"n": whole}, "required": ["n"]}, {"type": "number"}]},
            "list": {"prefixItems": [{"type": "number"}], "items": whole},
            "number": {"type": "number"},
        },
        "patternProperties": {"^x-": whole},
        "additionalProperties": {"type": ["integer", "null"]},
        "if": {"required": ["flag"]},
        "then": {"properties": {"number": whole}},
    }
    value = {"ref": 1.0, "any": {"n": 2.0}, "list": [3.0, 4.0], "number": 5.0, "x-a": 6.0, "more": 7.0}
    validator = json_schema.compile(schema)
    assert validator.is_valid(value)
    expected = {"ref": 1, "any": {"n": 2}, "list": [3.0, 4], "number": 5.0, "x-a": 6, "more": 7}
    assert repr(validator.fold(value)) == repr(expected)
    assert repr(validator.fold({"flag": None, "number": 5.0})) == repr({"flag": None, "number": 5})
    assert repr(json_schema.compile(whole).fold(8.0)) == "8"


def test_a_schema_is_compiled_once_and_may_change_afterwards() -> None:
    """Ours: kept by its bytes and profile, never by identity."""
    schema: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "string"}}}
    first = json_schema.compile(schema)
    assert json_schema.compile({"type": "object", "properties": {"a": {"type": "string"}}}) is first
    assert json_schema.compile(schema, profile="untrusted") is not first
    schema["properties"]["a"]["type"] = "integer"
    assert json_schema.compile(schema) is not first
    assert first.is_valid({"a": "x"})
    with pytest.raises(ValueError, match="profile 'other'"):
        json_schema.compile({}, profile="other")


def test_kept_validators_are_bounded_and_threads_share_them() -> None:
    """Ours: the cache holds 256, whoever fills it."""
    from leanmcp.schema import validator

    def fill(start: int) -> None:
        for number in range(start, start + 200):
            assert json_schema.compile({"const": number}).is_valid(number)

    threads = [threading.Thread(target=fill, args=(start,)) for start in (0, 100, 1000, 2000)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(validator._kept) == 256


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        (5, "the schema at # must be an object, true or false, not int"),
        ({"a": {1, 2}}, "the schema at # must be made of plain JSON values"),
        ({"minLength": "1"}, "'minLength' at /minLength must be a whole number, 0 or more"),
        ({"properties": {"a/b~": {"type": "text"}}}, "'type' at /properties/a~1b~0/type must be one or several of"),
        ({"allOf": [{}, 5]}, "the schema at /allOf/1 must be a schema: an object, true or false"),
        ({"$ref": "#/nowhere"}, "'$ref' at /$ref is '#/nowhere', where there is no subschema"),
        ({"$ref": "https://example.com/x"}, "which is not part of the schema; nothing is fetched"),
        (
            {"$schema": "urn:x"},
            "'$schema' at /$schema names an unsupported dialect, 'urn:x'; known: https://json-schema",
        ),
        ({"$ref": "#"}, "refers to itself without end, at #"),
        ({"$defs": {"a": {"$anchor": "x"}, "b": {"$anchor": "x"}}}, "'$anchor' at /$defs/b/$anchor is the second 'x'"),
        ({"pattern": "("}, "'pattern' at /pattern cannot be enforced: pattern '('"),
        ({"$schema": DRAFT4, "items": True}, "the schema at /items must be an object in draft-04"),
        ({"$schema": DRAFT4, "exclusiveMinimum": True}, "stands without 'minimum'"),
        ({"$schema": DRAFT7, "dependencies": {"a": [1]}}, "'a' at /dependencies/a must be a list of different names"),
        ({"enum": [[[1]] * 6000]}, "'enum' at /enum holds over 10000 values"),
    ],
)
def test_a_schema_that_cannot_be_enforced_is_refused_with_its_place(schema: Any, text: str) -> None:
    """Spec: basic/index, "Schema Validation"; the text has the JSON pointer."""
    with pytest.raises(json_schema.SchemaError) as caught:
        json_schema.compile(schema)
    assert text in str(caught.value)
