"""Typed decoding, published schema and explainer agree on every value, whatever the type."""

from __future__ import annotations

import datetime
import decimal
import enum
import json
import uuid
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NamedTuple, Optional, TypedDict

import attrs
import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from leanmcp.fields import Field, Model
from leanmcp.schema.faults import phrase
from leanmcp.server.derive import Deriver
from leanmcp.server.explain import explain
from leanmcp.server.signature import InvalidArguments, Signature


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Book(Model):
    title: str
    year: int = Field(ge=1450)
    pages: int | None = Field(default=None, gt=0)
    code: str = Field(default="a1", pattern=r"^\w\d$")


@dataclass
class Point:
    x: float
    y: Annotated[float, Field(le=10)] = 0.0
    near: list[Point] = field(default_factory=list)


class Options(TypedDict, total=False):
    deep: bool
    names: list[str]


class Pair(NamedTuple):
    left: int
    right: str = ""


@attrs.define
class Box:
    content: Any = None


class Circle(msgspec.Struct, tag="circle"):
    radius: float


class Square(msgspec.Struct, tag="square", forbid_unknown_fields=True):
    side: int


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
SMALL = st.integers(-5, 60)
BOOKS = st.builds(
    Book,
    title=TEXT,
    year=st.integers(1450, 2100),
    pages=st.none() | st.integers(1, 9),
    code=st.sampled_from(["a1", "_0", "99"]),
)
POINTS = st.recursive(
    st.builds(Point, x=st.floats(-9, 9), y=st.floats(-9, 9)),
    lambda inner: st.builds(Point, x=st.just(1.0), y=st.just(2.0), near=st.lists(inner, max_size=2)),
    max_leaves=3,
)
JSON = st.recursive(
    st.none() | st.booleans() | SMALL | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)
SCALARS: list[tuple[Any, st.SearchStrategy[Any]]] = [
    (str, TEXT),
    (int, st.integers()),
    (bool, st.booleans()),
    (float, st.floats(allow_nan=False, allow_infinity=False)),
    (None, st.none()),
    (Annotated[int, Field(ge=0, lt=50)], st.integers(0, 49)),
    (Annotated[int, Field(multiple_of=3)], st.integers(-9, 9).map(lambda n: n * 3)),
    (Annotated[int, Field(ge=2**70)], st.integers(2**70, 2**80)),
    (Annotated[float, Field(multiple_of=0.5)], st.integers(-9, 9).map(lambda n: n / 2)),
    (Annotated[str, Field(min_length=1, max_length=3)], st.text("abc", min_size=1, max_size=3)),
    (Annotated[str, Field(pattern=r"^\d+$")], st.text("0123456789", min_size=1)),
    (Literal["x", "y"], st.sampled_from(["x", "y"])),
    (Literal[1, 2], st.sampled_from([1, 2])),
    (Colour, st.sampled_from(Colour)),
    (Level, st.sampled_from(Level)),
    (datetime.datetime, st.datetimes(timezones=st.just(datetime.UTC))),
    (datetime.date, st.dates()),
    (datetime.time, st.times()),
    (datetime.timedelta, st.timedeltas(datetime.timedelta(-99), datetime.timedelta(99))),
    (uuid.UUID, st.uuids()),
    (decimal.Decimal, st.decimals(allow_nan=False, allow_infinity=False, places=3)),
    (Annotated[decimal.Decimal, Field(ge=0)], st.decimals(0, 99, places=2)),
    (bytes, st.binary(max_size=5)),
    (Book, BOOKS),
    (Point, POINTS),
    (Options, st.fixed_dictionaries({}, optional={"deep": st.booleans(), "names": st.lists(TEXT, max_size=2)})),
    (Pair, st.builds(Pair, st.integers(), TEXT)),
    (Box, st.builds(Box, TEXT | st.integers())),
    (Circle, st.builds(Circle, st.floats(0, 9))),
    (Circle | Square, st.builds(Circle, st.floats(0, 9)) | st.builds(Square, st.integers())),
    (int | str | None, st.integers() | TEXT | st.none()),
    (Literal["auto"] | int, st.just("auto") | st.integers()),
    (float | bool, st.floats(-9, 9) | st.booleans()),
    (list[int] | Book, st.lists(SMALL) | BOOKS),
]
HASHABLE = (int, str, Level, Colour, uuid.UUID)


@st.composite
def typed(draw: st.DrawFn, depth: int = 2) -> tuple[Any, st.SearchStrategy[Any]]:
    """A random supported type with a strategy for its values."""
    if depth == 0 or draw(st.booleans()):
        scalar: tuple[Any, st.SearchStrategy[Any]] = draw(st.sampled_from(SCALARS))
        return scalar
    inner: Any
    inner, values = draw(typed(depth - 1))
    kind = draw(st.sampled_from(["list", "dict", "tuple", "fixed", "bounded", "optional", "set", "int keys"]))
    if kind == "list":
        return list[inner], st.lists(values, max_size=3)
    if kind == "bounded":
        return Annotated[list[inner], Field(min_length=1, max_length=2)], st.lists(values, min_size=1, max_size=2)
    if kind == "dict":
        return dict[str, inner], st.dictionaries(TEXT, values, max_size=3)
    if kind == "int keys":
        return dict[int, inner], st.dictionaries(st.integers(), values, max_size=3)
    if kind == "tuple":
        return tuple[inner, ...], st.lists(values, max_size=3).map(tuple)
    if kind == "fixed":
        return tuple[inner, str], st.tuples(values, TEXT)
    if kind == "set":
        element: Any
        element, elements = draw(st.sampled_from([pair for pair in SCALARS if pair[0] in HASHABLE]))
        return set[element], st.sets(elements, max_size=3)
    return Optional[inner], st.none() | values  # noqa: UP045 - not every draw has an |


def signature_of(annotation: Any) -> Signature:
    def tool(value: Any) -> None: ...

    tool.__annotations__ = {"value": annotation}
    return Signature.of(tool, tool_name="tool")


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
