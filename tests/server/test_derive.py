"""Types, one kind at a time: the schema that is published, the value that arrives, the fault that is told."""

import collections.abc
import datetime
import decimal
import enum
import json
import uuid
from typing import (
    Annotated,
    Any,
    Generic,
    Literal,
    NewType,
    Optional,
    TypeVar,
    Union,
)

import annotated_types
import attrs
import msgspec
import pydantic
import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from typing_extensions import Doc

from leanmcp.fields import Field, Header, Model
from leanmcp.server.signature import InvalidArguments
from tests.support.deriving import Options, Pair, Point, of

T = TypeVar("T")
UserId = NewType("UserId", int)


class Colour(enum.Enum):
    """What it looks like."""

    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 2
    HIGH = 1


class Lenient(enum.Enum):
    A = "a"

    @classmethod
    def _missing_(cls, value: object) -> "Lenient":
        return cls.A


class Tree(msgspec.Struct):
    """A tree."""

    value: int
    children: "list[Tree]" = []


@attrs.define
class Box:
    size: int = attrs.field(validator=attrs.validators.gt(0))
    label: str = "b"


class Circle(msgspec.Struct, tag="circle", tag_field="kind"):
    radius: float


class Square(msgspec.Struct, tag="square", tag_field="kind"):
    side: int


class Row(msgspec.Struct, array_like=True):
    a: int
    b: str = ""


class Page(msgspec.Struct, Generic[T]):
    items: list[T]


class Renamed(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    first_name: str
    maybe: int | msgspec.UnsetType = msgspec.UNSET


def schema_of(annotation: Any, **options: Any) -> Any:
    schema = of(annotation, **options).input_schema
    Draft202012Validator.check_schema(schema)
    return schema["properties"]["value"]


def definition_of(annotation: Any, name: str) -> Any:
    return of(annotation).input_schema["$defs"][name]


def call(annotation: Any, value: Any, **options: Any) -> Any:
    signature = of(annotation, **options)
    raw = json.dumps({"value": value}).encode()
    try:
        return signature.decode(raw).value  # type: ignore[attr-defined]
    except msgspec.MsgspecError:
        return signature.recover(raw).value  # type: ignore[attr-defined]


def faults(annotation: Any, value: Any) -> list[str]:
    with pytest.raises(InvalidArguments) as error:
        call(annotation, value)
    return error.value.text.splitlines()[1:]


@pytest.mark.parametrize(
    ("annotation", "schema"),
    [
        (str, {"type": "string"}),
        (Any, {}),
        (object, {}),
        (None, {"type": "null"}),
        (bool, {"type": "boolean"}),
        (float, {"type": "number"}),
        (UserId, {"type": "integer"}),
        (datetime.datetime, {"format": "date-time", "type": "string"}),
        (datetime.date, {"format": "date", "type": "string"}),
        (datetime.time, {"format": "time", "type": "string"}),
        (datetime.timedelta, {"format": "duration", "type": "string"}),
        (uuid.UUID, {"format": "uuid", "type": "string"}),
        (bytes, {"contentEncoding": "base64", "type": "string"}),
        (decimal.Decimal, {"anyOf": [{"type": "number"}, {"type": "string"}]}),
        (list, {"items": {}, "type": "array"}),
        (set[str], {"items": {"type": "string"}, "type": "array"}),
        (frozenset[int], {"items": {"type": "integer"}, "type": "array"}),
        (collections.abc.Sequence[int], {"items": {"type": "integer"}, "type": "array"}),
        (tuple[int, ...], {"items": {"type": "integer"}, "type": "array"}),
        (tuple[()], {"maxItems": 0, "minItems": 0, "type": "array"}),
        (dict, {"additionalProperties": True, "type": "object"}),
        (collections.abc.Mapping[str, int], {"additionalProperties": {"type": "integer"}, "type": "object"}),
        (
            dict[Colour, int],
            {
                "additionalProperties": {"type": "integer"},
                "propertyNames": {"description": "What it looks like.", "enum": ["red", "blue"], "type": "string"},
                "type": "object",
            },
        ),
        (Literal["b", "a"], {"enum": ["b", "a"], "type": "string"}),
        (Literal["only"], {"const": "only", "type": "string"}),
        (Literal["a", 1, None], {"enum": ["a", 1, None]}),
        (Literal["a", "b"], {"enum": ["a", "b"], "type": "string"}),
        (Colour, {"description": "What it looks like.", "enum": ["red", "blue"], "type": "string"}),
        (Level, {"enum": [2, 1], "type": "integer"}),
        (Optional[int], {"anyOf": [{"type": "integer"}, {"type": "null"}]}),  # noqa: UP045
        (Union[None, int, str], {"anyOf": [{"type": "integer"}, {"type": "string"}, {"type": "null"}]}),  # noqa: UP007
        (Annotated[int, "text"], {"description": "text", "type": "integer"}),
        (Annotated[int, Doc("text")], {"description": "text", "type": "integer"}),
        (
            Annotated[int, annotated_types.Interval(gt=1, le=5)],
            {"exclusiveMinimum": 1, "maximum": 5, "type": "integer"},
        ),
        (Annotated[str, annotated_types.Len(1, 3)], {"maxLength": 3, "minLength": 1, "type": "string"}),
        (Annotated[str, pydantic.StringConstraints(min_length=2)], {"minLength": 2, "type": "string"}),
        (Annotated[list[int], Field(max_length=3)], {"items": {"type": "integer"}, "maxItems": 3, "type": "array"}),
        (
            Annotated[dict[str, int], Field(min_length=1)],
            {"additionalProperties": {"type": "integer"}, "minProperties": 1, "type": "object"},
        ),
        (Annotated[int | None, Field(ge=1)], {"anyOf": [{"minimum": 1, "type": "integer"}, {"type": "null"}]}),
        (
            Annotated[int | str, Field(ge=1, max_length=2)],
            {"anyOf": [{"minimum": 1, "type": "integer"}, {"maxLength": 2, "type": "string"}]},
        ),
        (list[Annotated[int, Field(lt=9)]], {"items": {"exclusiveMaximum": 9, "type": "integer"}, "type": "array"}),
        (Annotated[str, Field(pattern="^a$")], {"pattern": "^a$", "type": "string"}),
        (Annotated[str, Field(examples=["a"])], {"examples": ["a"], "type": "string"}),
        (Annotated[str, Field(json_schema_extra={"x-a": 1})], {"type": "string", "x-a": 1}),
        (Annotated[str, Header("Region")], {"type": "string", "x-mcp-header": "Region"}),
        (Annotated[str | None, Header("Region")], {"type": ["string", "null"], "x-mcp-header": "Region"}),
    ],
)
def test_a_type_is_published_as_json_schema(annotation: Any, schema: Any) -> None:
    """Spec: JSON Schema 2020-12; Ours: titles aside, the keys of pydantic."""
    assert schema_of(annotation, schema_titles=False) == schema


def test_nullable_types_can_be_written_with_a_type_list() -> None:
    """Ours: FIELD row 97."""
    assert schema_of(int | None, nullable="type") == {"title": "Value", "type": ["integer", "null"]}
    enum_schema = schema_of(Literal["a", "b"] | None, nullable="type")
    assert enum_schema == {"enum": ["a", "b", None], "title": "Value", "type": ["string", "null"]}
    assert "anyOf" in schema_of(Point | None, nullable="type")
    for value in (None, 1):
        assert call(int | None, value, nullable="type") == value


def test_dataclasses_have_no_generated_description() -> None:
    """Ours: only a docstring that somebody wrote is published."""
    assert definition_of(Point, "Point") == {
        "properties": {
            "x": {"title": "X", "type": "integer"},
            "y": {"default": 0, "title": "Y", "type": "integer"},
            "tags": {"default": [], "items": {"type": "string"}, "title": "Tags", "type": "array"},
        },
        "required": ["x"],
        "title": "Point",
        "type": "object",
    }
    assert call(Point, {"x": 1}) == Point(1)


def test_recursive_classes_are_finite_and_checked_at_any_depth() -> None:
    """Ours: FIELD row 92; inlining leaves them in $defs."""
    for inline in (False, True):
        schema = of(Tree, inline_schemas=inline).input_schema
        assert schema["properties"]["value"] == {"$ref": "#/$defs/Tree"}
        assert schema["$defs"]["Tree"]["description"] == "A tree."
    deep = {"value": 1, "children": [{"value": 2, "children": [{"value": "x"}]}]}
    assert faults(Tree, deep) == ['value.children[0].children[0].value: Input should be a valid integer, got "x"']


def test_typed_dicts_know_what_is_required() -> None:
    """Ours: NotRequired, with metadata inside."""
    definition = definition_of(Options, "Options")
    assert definition["required"] == ["name"]
    assert definition["properties"]["deep"] == {"description": "all levels", "title": "Deep", "type": "boolean"}
    assert call(Options, {"name": "n", "other": 1}) == {"name": "n"}


def test_named_tuples_travel_as_arrays() -> None:
    """Ours: msgspec's form, published as it is."""
    assert definition_of(Pair, "Pair") == {
        "maxItems": 2,
        "minItems": 1,
        "prefixItems": [{"title": "Left", "type": "integer"}, {"default": "r", "title": "Right", "type": "string"}],
        "title": "Pair",
        "type": "array",
    }
    assert call(Pair, [1.0]) == Pair(1)
    assert faults(Pair, [1, "a", 3]) == [
        'value: List should have at most 2 items after validation, not 3, got [1,"a",3]'
    ]
    assert faults(Row, []) == ["value: List should have at least 1 item after validation, not 0, got []"]
    assert call(Row, [1.0, "x"]) == Row(1, "x")


def test_attrs_classes_run_their_validators() -> None:
    """Ours: the class's own sentence is the fault."""
    assert definition_of(Box, "Box")["required"] == ["size"]
    assert call(Box, {"size": 1}) == Box(1)
    (line,) = faults(Box, {"size": 0})
    assert line.startswith("value: 'size' must be > 0")


def test_tags_tell_the_classes_of_a_union_apart() -> None:
    """Ours: SCHEMA "Error reporting"; only the branch that was meant is reported."""
    shapes = Circle | Square
    assert definition_of(shapes, "Circle") == {
        "properties": {"kind": {"const": "circle", "type": "string"}, "radius": {"title": "Radius", "type": "number"}},
        "required": ["kind", "radius"],
        "title": "Circle",
        "type": "object",
    }
    assert call(shapes, {"side": 2.0, "kind": "square"}) == Square(2)
    assert faults(shapes, {"kind": "square", "side": "x"}) == ['value.side: Input should be a valid integer, got "x"']
    assert faults(shapes, {"kind": "cube"}) == ["value.kind: Input should be 'circle' or 'square', got \"cube\""]
    assert faults(shapes, {"side": 1}) == ["value.kind: Field required; Input should be 'circle' or 'square'"]
    assert faults(shapes, 5) == ["value: Input should be an object, got 5"]
    # The schema asks for the tag, so a lone tagged class does too.
    assert faults(Circle, {"radius": 1}) == ["value.kind: Field required; Input should be 'circle'"]


def test_generic_classes_are_published_per_argument() -> None:
    """Ours: short names for parametrised classes."""
    both = of(tuple[Page[int], Page[str]]).input_schema["$defs"]
    assert set(both) == {"Page_int", "Page_str"}
    assert both["Page_str"]["properties"]["items"]["items"] == {"type": "string"}
    assert faults(Page[int], {"items": ["x"]}) == ['value.items[0]: Input should be a valid integer, got "x"']


def test_two_classes_of_one_name_get_two_definitions() -> None:
    """Ours: names in $defs are unique and short."""

    def other() -> Any:
        class Point(Model):
            z: int

        return Point

    second: Any = other()
    schema = of(tuple[Point, second, Point]).input_schema
    assert list(schema["$defs"]) == ["Point", "Point_2"]
    assert schema["properties"]["value"]["prefixItems"] == [
        {"$ref": "#/$defs/Point"},
        {"$ref": "#/$defs/Point_2"},
        {"$ref": "#/$defs/Point"},
    ]


def test_wire_names_and_closed_classes_are_published_as_they_are_enforced() -> None:
    """Ours: one naming rule for schema and data; FIELD row 110."""
    definition = definition_of(Renamed, "Renamed")
    assert list(definition["properties"]) == ["firstName", "maybe"]
    assert definition["properties"]["maybe"] == {"title": "Maybe", "type": "integer"}
    assert definition["required"] == ["firstName"]
    assert definition["additionalProperties"] is False
    assert faults(Renamed, {"firstname": "x"}) == [
        "value.firstName: Field required",
        "value.firstname: Extra inputs are not permitted; accepted names: firstName, maybe; did you mean 'firstName'?",
    ]


@pytest.mark.parametrize(
    ("annotation", "value", "line"),
    [
        (Level, 3, "value: Input should be 2 or 1, got 3"),
        (Lenient, "z", "value: Input should be 'a', got \"z\""),
        (Literal[1], True, "value: Input should be 1, got true"),
        (int | str, [], "value: Input should be a valid integer or a valid string, got []"),
        (Literal["auto"] | int, "x", "value: Input should be 'auto', got \"x\""),
        (dict[int, str], {"x": "y"}, 'value.x: Keys should be valid integers, got "x"'),
        (dict[int, str], {"01": "y"}, 'value["01"]: Keys should be valid integers, got "01"'),
        (dict[Literal["a"], int], {"b": 1}, "value.b: Input should be 'a', got \"b\""),
        (dict[str, int], {"a b": "y"}, 'value["a b"]: Input should be a valid integer, got "y"'),
        (Annotated[str, Field(min_length=2)], "a", 'value: String should have at least 2 characters, got "a"'),
        (
            Annotated[list[int], Field(max_length=1)],
            [1, 2],
            "value: List should have at most 1 item after validation, not 2, got [1,2]",
        ),
        (Annotated[str, Field(pattern="^a$")], "a\n", "value: String should match pattern '^a$', got \"a\\n\""),
        (Annotated[str, Field(pattern=r"^\d$")], "٣", "value: String should match pattern '^\\d$', got \"٣\""),
        (Annotated[int, Field(multiple_of=5)], 7, "value: Input should be a multiple of 5, got 7"),
        (
            Annotated[decimal.Decimal, Field(ge=1)],
            "0.5",
            'value: Input should be greater than or equal to 1, got "0.5"',
        ),
        (decimal.Decimal, "x", 'value: Input should be a valid decimal, got "x"'),
        (datetime.date, "30.11.2026", 'value: Input should be a valid date in the form YYYY-MM-DD, got "30.11.2026"'),
        (uuid.UUID, "x", 'value: Input should be a valid UUID, got "x"'),
        (bytes, "?", 'value: Input should be a valid base64 string, got "?"'),
        (tuple[int, str], [1], "value: List should have at least 2 items after validation, not 1, got [1]"),
        (Point | None, {"x": "y"}, 'value.x: Input should be a valid integer, got "y"'),
        (Point, [], "value: Input should be an object, got []"),
        (None, 1, "value: Input should be null, got 1"),
    ],
)
def test_a_fault_is_told_in_a_sentence(annotation: Any, value: Any, line: str) -> None:
    """Ours: API "Validation text"."""
    assert faults(annotation, value) == [line]


def test_duplicates_in_a_set_are_taken_and_so_not_forbidden() -> None:
    """Ours: SCHEMA 5, "set": no uniqueItems on the way in."""
    assert call(set[int], [1, 1, 2]) == {1, 2}


def test_registration_of_a_common_tool_is_cheap() -> None:
    """Ours: start-up; a loose bound, 5 ms for a tool with a model."""
    import time

    started = time.perf_counter()
    for _ in range(100):
        of(Point)
    assert (time.perf_counter() - started) / 100 < 0.005
