"""Every kind of type once around: argument, function, result, and both published schemas held against the data."""

from __future__ import annotations

import asyncio
import collections.abc
import datetime
import decimal
import enum
import pathlib
import uuid
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Generic, Literal, NamedTuple, NewType, NotRequired, TypedDict, TypeVar

import attrs
import msgspec
import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from leanmcp import Field, MCPServer, Model
from tests.support.spec import request

if TYPE_CHECKING:
    from somewhere import Elsewhere  # type: ignore[import-not-found]

T = TypeVar("T")
UserId = NewType("UserId", int)
ID = "12345678-1234-5678-1234-567812345678"


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Place(TypedDict):
    city: str
    street: NotRequired[str]


class Files(TypedDict, total=False):
    main: pathlib.Path


class Pair(NamedTuple):
    left: int
    right: str = "r"


@attrs.define
class Box:
    size: int
    labels: list[str] = attrs.Factory(list)


@dataclass
class Tree:
    value: int
    children: list[Tree] = field(default_factory=list)


@dataclass
class Record:
    path: pathlib.Path
    id: uuid.UUID
    when: datetime.datetime
    price: decimal.Decimal
    data: bytes
    numbers: set[int]


class Book(Model):
    title: str
    year: int = Field(ge=1450)


class Event(msgspec.Struct, rename="camel"):
    starts_on: datetime.date
    kept_in: pathlib.PurePosixPath | None = None


class Page(msgspec.Struct, Generic[T]):
    items: list[T]


@dataclass
class Chapter:
    book: Book
    pair: Pair
    place: Place
    mood: Colour = Colour.RED


NOON = datetime.datetime(2026, 11, 30, 12, tzinfo=datetime.UTC)
ZOO: dict[str, tuple[Any, Any, Any]] = {
    "str": (str, "é", "é"),
    "int": (int, 5, 5),
    "int_beyond_64_bits": (int, 2**80, 2**80),
    "negative_int_beyond_64_bits": (int, -(2**70), -(2**70)),
    "float": (float, 1.5, 1.5),
    "float_from_integer": (float, 1, 1.0),
    "bool": (bool, True, True),
    "none": (None, None, None),
    "bytes": (bytes, "aGk=", b"hi"),
    "decimal_text": (decimal.Decimal, "1.50", decimal.Decimal("1.50")),
    "decimal_number": (decimal.Decimal, 1.5, decimal.Decimal("1.5")),
    "datetime": (datetime.datetime, "2026-11-30T12:00:00Z", NOON),
    "naive_datetime": (datetime.datetime, "2026-11-30T12:00:00", NOON.replace(tzinfo=None)),
    "date": (datetime.date, "2026-11-30", datetime.date(2026, 11, 30)),
    "time": (datetime.time, "09:30:00", datetime.time(9, 30)),
    "timedelta": (datetime.timedelta, "PT90S", datetime.timedelta(seconds=90)),
    "uuid": (uuid.UUID, ID, uuid.UUID(ID)),
    "path": (pathlib.Path, "/a/b", pathlib.Path("/a/b")),
    "pure_path": (pathlib.PurePosixPath, "a/b", pathlib.PurePosixPath("a/b")),
    "optional_path": (pathlib.Path | None, None, None),
    "paths_in_containers": (dict[str, list[pathlib.Path]], {"a": ["b"]}, {"a": [pathlib.Path("b")]}),
    "enum": (Colour, "red", Colour.RED),
    "int_enum": (Level, 2, Level.HIGH),
    "literal": (Literal["a", 1], 1, 1),
    "new_type": (UserId, 5, 5),
    "annotated": (Annotated[int, "a number"], 5, 5),
    "optional": (int | None, None, None),
    "union_of_scalars": (int | str, "5", "5"),
    "list": (list[int], [1, 2], [1, 2]),
    "sequence": (collections.abc.Sequence[int], [1], [1]),
    "set": (set[int], [1], {1}),
    "frozenset": (frozenset[str], ["a"], frozenset("a")),
    "fixed_tuple": (tuple[int, str], [1, "a"], (1, "a")),
    "open_tuple": (tuple[int, ...], [1, 2], (1, 2)),
    "dict": (dict[str, int], {"a": 1}, {"a": 1}),
    "mapping": (collections.abc.Mapping[str, int], {"a": 1}, {"a": 1}),
    "dict_of_int": (dict[int, str], {"1": "a"}, {1: "a"}),
    "dict_of_enum": (dict[Colour, int], {"red": 1}, {Colour.RED: 1}),
    "dict_of_date": (dict[datetime.date, int], {"2026-11-30": 1}, {datetime.date(2026, 11, 30): 1}),
    "typed_dict": (Place, {"city": "Rome"}, {"city": "Rome"}),
    "typed_dict_of_path": (Files, {"main": "a"}, {"main": pathlib.Path("a")}),
    "named_tuple": (Pair, [1], Pair(1)),
    "attrs": (Box, {"size": 1}, Box(1)),
    "recursive": (Tree, {"value": 1, "children": [{"value": 2}]}, Tree(1, [Tree(2)])),
    "model": (Book, {"title": "Dune", "year": 1965}, Book(title="Dune", year=1965)),
    "struct": (
        Event,
        {"startsOn": "2026-11-30", "keptIn": "q"},
        Event(datetime.date(2026, 11, 30), pathlib.PurePosixPath("q")),
    ),
    "generic": (Page[int], {"items": [1]}, Page([1])),
    "dataclass": (
        Record,
        {"path": "p", "id": ID, "when": "2026-11-30T12:00:00Z", "price": "2.5", "data": "aGk=", "numbers": [1]},
        Record(pathlib.Path("p"), uuid.UUID(ID), NOON, decimal.Decimal("2.5"), b"hi", {1}),
    ),
    "nested": (
        list[Chapter],
        [{"book": {"title": "Dune", "year": 1965}, "pair": [1, "a"], "place": {"city": "Rome"}, "mood": "blue"}],
        [Chapter(Book(title="Dune", year=1965), Pair(1, "a"), {"city": "Rome"}, Colour.BLUE)],
    ),
}


def invoke(mcp: MCPServer, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    answer = asyncio.run(request(mcp, "tools/call", {"name": name, "arguments": arguments}))
    result: dict[str, Any] = answer["result"]
    return result


@pytest.mark.parametrize("kind", ZOO)
def test_a_kind_of_type_goes_around(kind: str) -> None:
    """Ours: FIELD rows 90 and 113; the function gets the declared type, schemas and data agree both ways."""
    annotation, sent, expected = ZOO[kind]
    mcp = MCPServer("zoo")
    received: list[Any] = []

    def echo(value):  # type: ignore[no-untyped-def]
        received.append(value)
        return value

    echo.__annotations__ = {"value": annotation, "return": annotation}
    mcp.add_tool(echo, structured_output=True)
    entry = next(iter(mcp.tools)).entry
    assert entry.output_schema is not None
    for schema in (entry.input_schema, entry.output_schema):
        Draft202012Validator.check_schema(schema)
    Draft202012Validator(entry.input_schema).validate({"value": sent})

    result = invoke(mcp, "echo", {"value": sent})
    assert not result["isError"], result
    assert received == [expected]
    assert type(received[0]) is type(expected)
    structured = result["structuredContent"]
    Draft202012Validator(entry.output_schema).validate(structured)

    # What was returned can be sent again.
    back = structured["result"] if set(structured) == {"result"} else structured
    assert not invoke(mcp, "echo", {"value": back})["isError"]
    assert received[1] == expected


@pytest.mark.parametrize("kind", ZOO)
def test_a_value_of_the_type_can_be_the_default(kind: str) -> None:
    """Ours: FIELD row 101; the published default is the JSON value, and fits the published schema."""
    annotation, _, expected = ZOO[kind]
    mcp = MCPServer("zoo")
    received: list[Any] = []

    def take(value=expected):  # type: ignore[no-untyped-def]
        received.append(value)

    take.__annotations__ = {"value": annotation}
    mcp.add_tool(take)
    schema = next(iter(mcp.tools)).entry.input_schema
    Draft202012Validator(schema).validate({"value": schema["properties"]["value"]["default"]})
    assert not invoke(mcp, "take", {})["isError"]
    assert received[0] == expected
    assert (received[0] is expected) is (type(expected) not in (list, dict, set)), "containers are copied"


@pytest.mark.parametrize(
    ("annotation", "sent", "line"),
    [
        (pathlib.Path, 5, "value: Input should be a valid string, got 5"),
        (pathlib.Path, ["a"], 'value: Input should be a valid string, got ["a"]'),
        (list[pathlib.Path], ["a", None], "value[1]: Input should be a valid string, got null"),
        (Files, {"main": {}}, "value.main: Input should be a valid string, got {}"),
    ],
)
def test_what_is_no_path_is_refused(annotation: Any, sent: Any, line: str) -> None:
    """Ours: policy P1; a path is a string and is never read as JSON."""
    mcp = MCPServer("zoo")

    def take(value): ...  # type: ignore[no-untyped-def]

    take.__annotations__ = {"value": annotation}
    mcp.add_tool(take)
    assert invoke(mcp, "take", {"value": sent})["content"][0]["text"].splitlines()[1:] == [line]


def test_a_path_text_that_looks_like_json_stays_a_path() -> None:
    """Ours: FIELD row 83."""
    mcp = MCPServer("zoo")

    @mcp.tool()
    def take(value: pathlib.Path | None = None) -> str:
        return repr(value)

    assert "Path('null')" in invoke(mcp, "take", {"value": "null"})["content"][0]["text"]


def test_a_constraint_that_does_not_fit_a_path_is_refused() -> None:
    """Ours: nothing is published that nobody checks."""

    def take(value: Annotated[pathlib.Path, Field(max_length=3)]) -> None: ...

    with pytest.raises(TypeError, match=r"parameter 'value' has type .*Path: constraint max_length does not fit"):
        MCPServer("zoo").add_tool(take)


def test_a_name_that_is_imported_for_type_checking_only_is_refused() -> None:
    """Ours: FIELD row 98; string annotations of this module."""

    def take(value: Elsewhere) -> None: ...

    with pytest.raises(TypeError, match=r"tool 'take': parameter 'value' has type 'Elsewhere'.*TYPE_CHECKING"):
        MCPServer("zoo").add_tool(take)


def test_local_classes_are_found_through_string_annotations() -> None:
    """Ours: FIELD row 98; a class and an alias of the function around the tool."""

    @dataclass
    class Local:
        paths: list[pathlib.Path]

    Many = list[Local]  # noqa: N806

    mcp = MCPServer("zoo")

    @mcp.tool()
    def count(value: Many) -> Local:
        return value[-1]

    assert invoke(mcp, "count", {"value": [{"paths": ["a"]}]})["structuredContent"] == {"paths": ["a"]}
