"""Typed decoding, published schema and explainer agree on every value, whatever the type."""

from __future__ import annotations

import decimal
import inspect
import json
import re
from collections.abc import Callable
from typing import Annotated, Any, Literal

import jsonschema_rs
import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from leanmcp import schema as json_schema
from leanmcp.fields import Field
from leanmcp.schema.faults import phrase
from leanmcp.server.derive import Deriver
from leanmcp.server.explain import explain
from leanmcp.server.publish import Options
from leanmcp.server.signature import InvalidArguments, Signature
from tests.support.typed_values import JSON, SMALL, TEXT, Point, typed


def signature_of(annotation: Any) -> Signature:
    return Signature(_taking(annotation), tool_name="tool")


def _taking(annotation: Any) -> Callable[..., None]:
    def tool(value: Any) -> None: ...

    tool.__annotations__ = {"value": annotation}
    return tool


def accepted(signature: Signature, raw: bytes) -> Any:
    """Decode, or recover, as a call does; None when refused."""
    try:
        return signature.decode(raw)
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        pass
    try:
        return signature.recover(raw)
    except InvalidArguments as error:
        refusal = error
    assert refusal.faults
    assert refusal.text.startswith("Invalid arguments for tool tool:\n")
    assert len(refusal.text.encode()) <= 4096
    return None


PROPERTY = settings(max_examples=250, deadline=None, suppress_health_check=list(HealthCheck))


@PROPERTY
@given(st.data())
def test_a_typed_value_survives_json_and_fits_the_published_schema(data: st.DataObject) -> None:
    """Ours: property; value -> JSON -> decode is the identity, and the JSON is valid under inputSchema."""
    annotation, values = data.draw(typed())
    signature = signature_of(annotation)
    value = data.draw(values)
    raw = msgspec.json.encode({"value": value})
    decoded = signature.decode(raw)
    assert decoded.value == value  # type: ignore[attr-defined]
    Draft202012Validator(signature.input_schema).validate(json.loads(raw))


ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=4)
    | st.decimals(allow_nan=False)
    | st.just(10**4000),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@PROPERTY
@given(st.data())
def test_the_explainer_never_raises_whatever_it_is_shown(data: st.DataObject) -> None:
    """Ours: property; lone surrogates, NaN and huge numbers included, and the text is always text."""
    annotation, _ = data.draw(typed())
    node = Deriver("tool").derive(annotation, "parameter")
    phrase("tool", explain(node, data.draw(ANYTHING))).encode()


def near(schema: dict[str, Any], root: dict[str, Any], depth: int = 3) -> st.SearchStrategy[Any]:
    """JSON values that look like what a schema asks for, right or nearly right."""
    if depth == 0:
        return JSON
    if "$ref" in schema:
        schema = root["$defs"][schema["$ref"].rpartition("/")[2]]
    if "anyOf" in schema:
        return st.one_of(*[near(part, root, depth) for part in schema["anyOf"]])
    if "enum" in schema or "const" in schema:
        return st.sampled_from(schema.get("enum", [schema.get("const")])) | JSON
    kind = schema.get("type")
    if kind == "object":
        entries = {name: near(part, root, depth - 1) for name, part in schema.get("properties", {}).items()}
        optional = {**entries, "other": JSON}
        return st.fixed_dictionaries({}, optional=optional) | st.fixed_dictionaries(entries)
    if kind == "array":
        item = schema.get("items", {})
        return st.lists(near(item, root, depth - 1), max_size=3) | JSON
    if kind in ("integer", "number"):
        return SMALL | SMALL.map(float) | SMALL.map(str) | st.integers() | JSON
    return TEXT | st.sampled_from(["7", "2026-11-30", "a1\n", "1\n", "NaN", "-0"]) | JSON


@PROPERTY
@given(st.data())
def test_what_a_tool_takes_is_valid_under_its_schema_and_every_refusal_has_a_reason(data: st.DataObject) -> None:
    """Ours: property; decode or recover accepts => inputSchema accepts; refusals never raise anything else."""
    annotation, _ = data.draw(typed())
    signature = signature_of(annotation)
    value = data.draw(near(signature.input_schema["properties"]["value"], signature.input_schema) | JSON)
    arguments = {"value": value}
    decoded = accepted(signature, json.dumps(arguments).encode())
    valid = Draft202012Validator(signature.input_schema).is_valid(arguments)
    if decoded is not None and not valid:
        # Only policy P1 takes what the schema refuses: a text that is JSON for the type.
        assert isinstance(value, str)
        assert Draft202012Validator(signature.input_schema).is_valid({"value": json.loads(value)})


def taken(signature: Signature, raw: bytes) -> bool:
    """Tell whether the typed decoder alone takes arguments."""
    try:
        signature.decode(raw)
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        return False
    return True


@PROPERTY
@given(st.data())
def test_the_typed_decoder_takes_no_more_than_the_schema(data: st.DataObject) -> None:
    """Ours: property; issue point "typed accept is a subset", held against both validators, ours and another one."""
    annotation, _ = data.draw(typed())
    signature = signature_of(annotation)
    value = data.draw(near(signature.input_schema["properties"]["value"], signature.input_schema) | JSON)
    arguments = {"value": value}
    if taken(signature, json.dumps(arguments).encode()):
        assert Draft202012Validator(signature.input_schema).is_valid(arguments)
        assert json_schema.compile(signature.input_schema).faults(arguments) == []


LOOSE: list[tuple[Any, list[str], list[str]]] = [
    # Where msgspec alone would take more than the schema says: JSON that is taken, JSON that is not.
    (Annotated[str, Field(pattern="^a$")], ['"a"'], ['"a\\n"', '"A"']),
    (Annotated[str, Field(pattern=r"^\d\w$")], ['"1a"', '"1_"'], ['"٣a"', '"1é"', '"1a\\n"']),
    (Annotated[str, Field(pattern=r"^\s.$")], ['"\ufeffa"', '" \x85"'], ['"\\u001ca"', '" \u2028"']),
    (dict[Annotated[str, Field(pattern="^a$")], int], ['{"a":1}'], ['{"a\\n":1}', '{"b":1}']),
    (list[Annotated[str, Field(pattern="b$")]], ['["ab"]'], ['["ab\\n"]']),
    (set[int], ["[1,2]", "[1,1]"], ["[1.5]", '["1"]', "1"]),
    (frozenset[str], ['["a","a"]'], ["[1]"]),
    (Annotated[set[int], Field(max_length=2)], ["[1,2]"], ["[1,2,3]"]),
    (Annotated[set[int], Field(min_length=2)], ["[1,2]"], ["[1]"]),
    (decimal.Decimal, ["1", "1.50", '"1.5"', '"-0"'], ["true", "null", "[1]"]),
    (Annotated[decimal.Decimal, Field(ge=1)], ["1", '"1.5"'], ["0.5", '"0.5"', '"NaN"']),
    (Annotated[decimal.Decimal, Field(multiple_of=0.1)], ["0.3", '"0.3"'], ["0.35", '"0.35"']),
    (Annotated[int, Field(ge=2**70)], [str(2**70)], [str(2**70 - 1), str(2**80) + ".5"]),
    (Annotated[float, Field(multiple_of=0.1)], ["0.3", "1.1", "19.1"], ["0.35"]),
    (dict[int, str], ['{"1":"x"}', '{"-5":"x"}'], ['{"x":"x"}', '{"1.5":"x"}', '{"":"x"}']),
    (bool, ["true"], ["1", '"true"', "null"]),
    (Literal[1, 2], ["1"], ["true", '"1"', "3"]),
]


@pytest.mark.parametrize(("annotation", "good", "bad"), LOOSE)
def test_what_msgspec_says_loosely_is_held_as_the_schema_says_it(
    annotation: Any, good: list[str], bad: list[str]
) -> None:
    """Ours: SCHEMA 5, the under-strict rows; a value that a set takes twice is not refused by a word of the schema."""
    signature = Signature(_taking(annotation), tool_name="tool", coerce=False)
    validator = json_schema.compile(signature.input_schema)
    for text in [*good, *bad]:
        raw = b'{"value":' + text.encode() + b"}"
        arguments = msgspec.json.decode(raw)
        assert (accepted(signature, raw) is not None) is (text in good), text
        assert not taken(signature, raw) or validator.is_valid(arguments), text
        if text in good:
            assert validator.is_valid(arguments), text
            assert jsonschema_rs.is_valid(signature.input_schema, json.loads(raw)), text


@PROPERTY
@given(st.data(), st.booleans(), st.booleans(), st.sampled_from(["anyOf", "type"]))
def test_every_published_schema_is_one_that_strict_vendors_take(
    data: st.DataObject, titles: bool, inline: bool, nullable: Any
) -> None:
    """Spec: server/tools, "Tool" (inputSchema): an object at the root; ours: properties always, and no union there."""
    annotations = {f"p{number}": data.draw(typed())[0] for number in range(data.draw(st.integers(0, 3)))}

    def tool(**_: Any) -> None: ...

    tool.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation)
            for name, annotation in annotations.items()
        ]
    )
    schemas = Options(schema_titles=titles, inline_schemas=inline, nullable=nullable)
    signature = Signature(tool, tool_name="tool", schemas=schemas)
    schema = signature.input_schema
    Draft202012Validator.check_schema(schema)
    json_schema.compile(schema, profile="untrusted")
    assert json_schema.compile({"$ref": "https://json-schema.org/draft/2020-12/schema"}).faults(schema) == []
    assert schema["type"] == "object"
    assert list(schema["properties"]) == list(annotations)
    assert not schema.keys() & {"anyOf", "oneOf", "allOf", "not", "enum", "const", "$ref", "if"}
    assert set(schema.get("required", ())) <= set(annotations)
    text = json.dumps(schema)
    assert '"discriminator"' not in text
    assert "__main__" not in text
    assert titles or "toolArguments" not in text
    references = set(re.findall(r'"\$ref": "#/\$defs/([^"]*)"', text))
    assert references == set(schema.get("$defs", {}))
    assert text.count('"$ref"') == len(re.findall(r'"\$ref": "#/\$defs/', text))


@pytest.mark.parametrize("depth", [100, 400, 5_000, 100_000])
def test_deep_nesting_is_refused_or_taken_without_another_exception(depth: int) -> None:
    """Ours: FIELD row 46."""
    signature = signature_of(list[Any])
    raw = b'{"value":' + b"[" * depth + b"]" * depth + b"}"
    taken = accepted(signature, raw)
    assert depth > 400 or taken is not None


def test_deep_faults_of_a_recursive_class_are_found() -> None:
    """Ours: the explainer is iterative, so a fault 300 levels down has its path."""
    signature = signature_of(Point)
    raw = b'{"value":' + b'{"x":1,"near":[' * 300 + b'{"x":"far"}' + b"]}" * 300 + b"}"
    with pytest.raises(InvalidArguments) as refusal:
        signature.recover(raw)
    assert refusal.value.faults[0].message == "Input should be a valid number"
    assert refusal.value.faults[0].path.endswith("near[0].x")


def test_a_wide_value_is_refused_within_a_bounded_walk() -> None:
    """Ours: 2 million items cost no list of work, and a fault beyond the walk still gets a sentence."""
    signature = signature_of(list[int])
    raw = b'{"value":[' + b"1," * 300_000 + b'"x"]}'
    with pytest.raises(InvalidArguments) as refusal:
        signature.recover(raw)
    assert [fault.message for fault in refusal.value.faults] == ["Input should be a valid integer"]
    assert refusal.value.faults[0].path == "value[300000]"


def test_a_decimal_with_a_huge_exponent_is_compared_without_being_written_out() -> None:
    """Ours: `1E+999999999` is ten characters of text and a gigabyte of digits."""
    signature = signature_of(Annotated[decimal.Decimal, Field(ge=1, multiple_of=2)])
    for raw in (b'{"value":"1E+999999999"}', b'{"value":"1E-999999999"}'):
        assert accepted(signature, raw) is None
    free = signature_of(decimal.Decimal)
    assert accepted(free, b'{"value":"1E+999999999"}') is not None
