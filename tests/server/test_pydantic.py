"""pydantic's types as parameters beside plain ones: real instances, strictly validated, faults in our words."""

import datetime
import json
import logging
import subprocess
import sys
import uuid
from dataclasses import dataclass
from typing import Annotated, Any

import pydantic
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from pydantic import BaseModel, ConfigDict, Field, RootModel, computed_field, field_validator, model_validator

from leanmcp import Model, ToolError
from tests.support.processes import environment
from tests.support.pydantic_models import (
    DUNE,
    Book,
    Cat,
    Crate,
    Dog,
    Every,
    Folder,
    Mood,
    Order,
    Page,
    Point,
    Row,
    Shelf,
    Tags,
    accepted,
    entry,
    faults,
    invoke,
    server,
    taking,
    text,
)

# Arguments --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("annotation", "value", "expected"),
    [
        (Book, DUNE, Book(**DUNE)),
        (list[Book], [DUNE], [Book(**DUNE)]),
        (dict[str, Book], {"a": DUNE}, {"a": Book(**DUNE)}),
        (Book | None, None, None),
        (Shelf, {"books": [DUNE], "best": DUNE}, Shelf(books=[Book(**DUNE)], best=Book(**DUNE))),
        (Page[Book], {"items": [DUNE]}, Page[Book](items=[Book(**DUNE)])),
        (Page[int], {"items": [1]}, Page[int](items=[1])),
        (Tags, ["a"], Tags(["a"])),
        (RootModel[int], 5, RootModel[int](5)),
        (Point, {"x": 1}, Point(x=1)),
        (Folder, {"name": "a", "inside": [{"name": "b"}]}, Folder(name="a", inside=[Folder(name="b")])),
        (Cat | Dog, {"kind": "dog", "tricks": []}, Dog(kind="dog", tricks=[])),
        (Cat | Dog | None, None, None),
        (Book | list[Book], [DUNE], [Book(**DUNE)]),
        (Book | str, "Dune", "Dune"),
        (Annotated[Cat | Dog, Field(discriminator="kind")], {"kind": "cat", "lives": 9}, Cat(kind="cat", lives=9)),
        (Crate, {"book": DUNE, "others": [DUNE]}, Crate(Book(**DUNE), [Book(**DUNE)])),
        (Order, {"book": DUNE}, {"book": Book(**DUNE)}),
        (Row, [DUNE], Row(Book(**DUNE))),
        (pydantic.HttpUrl, "http://a.example/", pydantic.HttpUrl("http://a.example/")),
        (
            Every,
            {
                "count": 2**70,
                "ratio": 1,
                "on": "2026-11-30",
                "at": "2026-11-30T12:00:00Z",
                "took": "PT90S",
                "id": str(uuid.UUID(int=5)),
                "mood": "grim",
                "numbers": [1],
                "pair": [1, "a"],
                "either": "5",
            },
            Every(
                count=2**70,
                ratio=1.0,
                on=datetime.date(2026, 11, 30),
                at=datetime.datetime(2026, 11, 30, 12, tzinfo=datetime.UTC),
                took=datetime.timedelta(seconds=90),
                id=uuid.UUID(int=5),
                mood=Mood.GRIM,
                numbers={1},
                pair=(1, "a"),
                either="5",
            ),
        ),
    ],
)
def test_the_function_gets_validated_instances_at_every_level(annotation: Any, value: Any, expected: Any) -> None:
    """Ours: FIELD row 90; the JSON forms of dates, enums, UUIDs, sets and tuples fit strictly."""
    got = accepted(annotation, value)
    assert got == expected
    assert type(got) is type(expected)


@pytest.mark.parametrize(
    ("value", "line"),
    [
        ({"count": "5"}, 'value.count: Input should be a valid integer, got "5"'),
        ({"count": True}, "value.count: Input should be a valid integer, got true"),
        ({"count": 1.5}, "value.count: Input should be a valid integer, got 1.5"),
        ({"ratio": "1"}, 'value.ratio: Input should be a valid number, got "1"'),
        ({"numbers": "[1]"}, 'value.numbers: Input should be a valid array, got "[1]"'),
        ({"pair": [1, 2]}, "value.pair[1]: Input should be a valid string, got 2"),
        ({"mood": "sad"}, "value.mood: Input should be 'calm' or 'grim', got \"sad\""),
        ({"either": []}, "value.either: Input should be a valid integer or a valid string, got []"),
        (5, "value: Input should be an object, got 5"),
    ],
)
def test_fields_are_as_strict_as_plain_parameters(value: Any, line: str) -> None:
    """Ours: policy P1; only whole parameters are ever read from text."""
    assert faults(Every, value) == [line]


def test_a_whole_float_is_an_integer_in_models_too() -> None:
    """Ours: policy P1, JSON Schema; a number field keeps its float."""
    got = accepted(Every, {"count": 5.0, "ratio": 2.0, "numbers": [1.0], "pair": [3.0, "a"], "either": 4.0})
    assert (got.count, got.ratio, got.numbers, got.pair, got.either) == (5, 2.0, {1}, (3, "a"), 4)
    assert type(got.count) is int
    assert type(got.ratio) is float
    assert accepted(RootModel[int], 5.0).root == 5


def test_a_model_sent_as_json_text_is_read_once_at_the_top() -> None:
    """Ours: FIELD rows 82 and 83; the faults inside the text are told with their paths."""
    assert accepted(Book, json.dumps(DUNE)) == Book(**DUNE)
    assert accepted(list[Book], json.dumps([DUNE])) == [Book(**DUNE)]
    assert accepted(RootModel[str], json.dumps(DUNE)).root == json.dumps(DUNE)
    assert faults(Book, json.dumps({**DUNE, "year": 1})) == [
        "value.year: Input should be greater than or equal to 1450, got 1"
    ]
    assert faults(Book, "5") == ['value: Input should be an object, got "5"']
    assert faults(Shelf, {"best": json.dumps(DUNE)})[0].startswith("value.best: Input should be an object")


def test_leniency_that_the_author_asked_for_holds_where_he_did() -> None:
    """Ours: pydantic's own settings stay; everything around them is strict."""

    class Loose(BaseModel):
        model_config = ConfigDict(strict=False)
        count: int

    class Mixed(BaseModel):
        loose: Loose
        field: int = Field(default=1, strict=False, alias="Field")
        strict: int = 1

    assert accepted(Loose, {"count": "5"}).count == 5
    got = accepted(Mixed, {"loose": {"count": "5"}, "Field": "6", "strict": 7})
    assert (got.loose.count, got.field, got.strict) == (5, 6, 7)
    assert faults(Mixed, {"loose": {"count": "x"}, "Field": "6", "strict": "7"}) == [
        'value.strict: Input should be a valid integer, got "7"',
        'value.loose.count: Input should be a valid integer, got "x"',
    ]
    assert faults(list[Mixed], [{"loose": {"count": "5"}, "strict": "7"}]) == [
        'value[0].strict: Input should be a valid integer, got "7"'
    ]


def test_every_fault_is_told_with_its_path_and_without_pydantic() -> None:
    """Ours: FIELD row 89; names that are not there come with those that are."""

    def tool(book: Book, shelf: Shelf, limit: int) -> None: ...

    arguments = {
        "book": {"title": 5, "year": 1000},
        "shelf": {"books": [DUNE, {"title": "x"}], "by_code": {"a b": 5}, "bookz": []},
        "limit": "x",
    }
    assert text(invoke(server(tool), arguments)).splitlines() == [
        "Invalid arguments for tool tool:",
        "book.title: Input should be a valid string, got 5",
        "book.year: Input should be greater than or equal to 1450, got 1000",
        "shelf.books[1].year: Field required",
        'shelf.by_code["a b"]: Input should be an object, got 5',
        "shelf.bookz: Extra inputs are not permitted; accepted names: books, best, by_code; did you mean 'books'?",
        'limit: Input should be a valid integer, got "x"',
    ]
    assert faults(Point, {"x": -1}) == ["value.x: Input should be greater than or equal to 0, got -1"]
    assert faults(Crate, {"book": {}}) == ["value.book.title: Field required", "value.book.year: Field required"]


@pytest.mark.parametrize(
    ("annotation", "value", "lines"),
    [
        (Cat | Dog, {"kind": "cat"}, ["value.lives: Field required"]),
        (Cat | Dog, {"kind": "dog", "tricks": [1]}, ["value.tricks[0]: Input should be a valid string, got 1"]),
        (Cat | Dog, 5, ["value: Input should be an object, got 5"]),
        (list[Cat | Dog], [{"kind": "cat"}], ["value[0].lives: Field required"]),
        (Book | str, 5, ["value: Input should be an object or a valid string, got 5"]),
        (Book | str, {"title": "x"}, ["value.year: Field required"]),
    ],
)
def test_the_closest_alternative_of_a_union_is_told(annotation: Any, value: Any, lines: list[str]) -> None:
    """Ours: API, "unions report the closest branch only"; no class name stands in a path."""
    assert faults(annotation, value) == lines


def test_a_discriminator_decides_and_is_told() -> None:
    """Ours: what to send instead, at the member that decides."""
    pet = Annotated[Cat | Dog, Field(discriminator="kind")]
    assert faults(pet, {"kind": "cow"}) == ["value.kind: Input should be 'cat' or 'dog', got \"cow\""]
    assert faults(pet, {"lives": 9}) == ["value.kind: Field required"]
    assert faults(pet, {"kind": "cat", "lives": "x"}) == ['value.lives: Input should be a valid integer, got "x"']
    assert faults(pet, [1]) == ["value: Input should be an object, got [1]"]


def test_validators_speak_in_their_own_words() -> None:
    """Ours: no prefix, one line, a model's validator too; a ToolError is for the model anyway."""

    class Trip(BaseModel):
        start: int
        end: int

        @field_validator("start")
        @classmethod
        def check_start(cls, value: int) -> int:
            if value == 13:
                raise AssertionError("thirteen is bad luck")
            if value == 99:
                raise ToolError("ask the captain")
            if value < 0:
                raise ValueError("must not be\nnegative")
            return value

        @model_validator(mode="after")
        def check_order(self) -> "Trip":
            if self.end < self.start:
                raise ValueError("end is before start")
            return self

    assert faults(Trip, {"start": -1, "end": 1}) == ["value.start: must not be\\nnegative, got -1"]
    assert faults(Trip, {"start": 13, "end": 1}) == ["value.start: thirteen is bad luck, got 13"]
    assert faults(Trip, {"start": 2, "end": 1}) == ['value: end is before start, got {"start":2,"end":1}']
    assert faults(Trip, '{"start": 2, "end": 1}') == ['value: end is before start, got {"start":2,"end":1}']
    assert faults(Trip, {"start": 99, "end": 1})[0].startswith("value: ask the captain")


def test_a_validator_that_fails_by_accident_is_logged_and_masked(caplog: pytest.LogCaptureFixture) -> None:
    """Ours: policy P3."""

    class Broken(BaseModel):
        x: int

        @field_validator("x")
        @classmethod
        def check(cls, value: int) -> int:
            raise KeyError("/secret/path")

    with caplog.at_level(logging.ERROR, "leanmcp"):
        (line,) = faults(Broken, {"x": 1})
    assert "secret" not in line
    assert "log" in line
    assert "/secret/path" in caplog.text


def test_json_that_is_too_deep_for_pydantic_says_so() -> None:
    """Ours: its own limit lies below that of the server."""
    folder: dict[str, Any] = {"name": "a", "inside": []}
    for _ in range(150):
        folder = {"name": "a", "inside": [folder]}
    assert faults(Folder, folder)[0].startswith("value: Input is nested too deeply, got ")


def test_aliases_are_the_names_on_the_wire_in_both_directions() -> None:
    """Ours: FIELD row 110; schema, arguments, faults and results use one name."""

    class User(BaseModel):
        user_id: int = Field(alias="userId")

        @computed_field  # type: ignore[prop-decorator]
        @property
        def shown(self) -> str:
            return f"#{self.user_id}"

    def echo(user: User) -> User:
        return user

    mcp = server(echo)
    assert list(entry(mcp).input_schema["$defs"]["User"]["properties"]) == ["userId"]
    assert set(entry(mcp).output_schema["properties"]) == {"userId", "shown"}
    assert text(invoke(mcp, {"user": {"userId": "x"}})).endswith(
        'user.userId: Input should be a valid integer, got "x"'
    )
    result = invoke(mcp, {"user": {"userId": 5}})
    assert result["structuredContent"] == {"userId": 5, "shown": "#5"}
    Draft202012Validator(entry(mcp).output_schema).validate(result["structuredContent"])


def test_a_local_model_with_a_late_reference_is_completed() -> None:
    """Ours: FIELD row 98."""

    class Outer(BaseModel):
        inner: "Inner"

    class Inner(BaseModel):
        x: int

    def take(value: Outer) -> Inner:
        return value.inner

    assert invoke(server(take), {"value": {"inner": {"x": 1}}})["structuredContent"] == {"x": 1}


def test_a_deprecated_parameter_is_published_as_one() -> None:
    """Ours: an annotation of JSON Schema, beside those that the author writes."""

    def take(value: Annotated[int, Field(deprecated="say it", json_schema_extra={"x-a": 1})]) -> None: ...

    assert entry(server(take)).input_schema["properties"]["value"] == {
        "deprecated": True,
        "title": "Value",
        "type": "integer",
        "x-a": 1,
    }


@pytest.mark.parametrize(
    ("annotation", "reason"),
    [
        (BaseModel, "has no fields"),
        (Book | Model, "pydantic"),
        (Annotated[Book, Field(ge=1)], "constraint ge does not fit"),
        (Annotated[int, Field(validation_alias=pydantic.AliasChoices("a", "b"))], "more than one alias"),
        (list[Book] | list[Cat], "apart; write one list of both"),
    ],
)
def test_what_pydantic_or_msgspec_cannot_build_is_refused(annotation: Any, reason: str) -> None:
    """Ours: at registration, with tool, parameter and type."""
    with pytest.raises(TypeError, match=f"^tool 'take': parameter 'value' has type .*{reason}") as error:
        taking(annotation)
    assert "\n" not in str(error.value)
    assert "https:" not in str(error.value)


def test_a_pydantic_dataclass_inside_a_plain_one_is_refused() -> None:
    """Known gap: msgspec would build it without its checks."""

    @dataclass
    class Line:
        start: Point

    with pytest.raises(TypeError, match=r"field 'start' of Line .*make that class a model too"):
        taking(Line)


# Field of pydantic's on plain parameters --------------------------------------------------------------------------


def test_fields_of_pydantic_stand_as_defaults_and_in_annotations() -> None:
    """Ours: as for leanmcp.Field; a validation alias is the name on the wire."""

    def tool(
        limit: int = Field(10, ge=1),
        tags: list[str] = Field(default_factory=lambda: ["a"]),  # noqa: B008
        word: str = Field("w", alias="a", validation_alias="theWord"),
        book: Book = Field(Book(title="Dune", year=1965), description="Which."),  # noqa: B008
        size: Annotated[int, Field(default=3, multiple_of=3)] = 6,
    ) -> list[Any]:
        return [limit, tags, word, book, size]

    mcp = server(tool)
    properties = entry(mcp).input_schema["properties"]
    assert "required" not in entry(mcp).input_schema
    assert properties["limit"] == {"default": 10, "minimum": 1, "title": "Limit", "type": "integer"}
    assert properties["theWord"]["default"] == "w"
    assert properties["book"] == {"$ref": "#/$defs/Book", "default": DUNE, "description": "Which."}
    assert properties["size"]["default"] == 6
    assert invoke(mcp, {"theWord": "x"})["structuredContent"]["result"] == [10, ["a"], "x", DUNE, 6]
    assert text(invoke(mcp, {"limit": 0})).endswith("limit: Input should be greater than or equal to 1, got 0")


def test_a_default_factory_that_wants_other_values_is_refused() -> None:
    """Ours: pydantic's factories may take the values before them; there are none here."""

    def tool(a: int, b: Annotated[int, Field(default_factory=lambda data: data["a"])]) -> None: ...

    with pytest.raises(TypeError, match="default_factory of Field takes the other values"):
        server(tool)


# Agreement --------------------------------------------------------------------------------------------------------

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
BOOKS = st.fixed_dictionaries(
    {}, optional={"title": st.text(max_size=3) | JSON, "year": st.integers(1440, 1460) | JSON}
)
SHELVES = st.fixed_dictionaries(
    {}, optional={"books": st.lists(BOOKS, max_size=2) | JSON, "best": BOOKS | JSON, "by_code": JSON, "else": JSON}
)
AGREED, GOT = taking(Shelf | None, coerce=False)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(SHELVES | JSON)
def test_what_the_published_schema_allows_is_what_arrives(value: Any) -> None:
    """Ours: strictness and schema agree on every JSON value, and a refusal always has a reason."""
    fits = Draft202012Validator(entry(AGREED).input_schema).is_valid({"value": value})
    GOT.clear()
    result = invoke(AGREED, {"value": value})
    assert result["isError"] is not fits
    assert len(GOT) == fits
    assert fits or text(result).count("\n") >= 1


# Cost -------------------------------------------------------------------------------------------------------------

WITHOUT = """
import sys
{before}
import asyncio
from leanmcp import Field, MCPServer, Model
from tests.support.spec import request

class Book(Model):
    title: str
    year: int = Field(ge=1450)

mcp = MCPServer("x")

@mcp.tool()
def add(book: Book, limit: int = Field(5, le=9)) -> Book:
    '''Add.

    Args:
        book: which
    '''
    return book

async def main():
    for year, failed in ((1965, False), (1000, True)):
        arguments = {{"book": {{"title": "Dune", "year": year}}}}
        answer = await request(mcp, "tools/call", {{"name": "add", "arguments": arguments}})
        assert answer["result"]["isError"] is failed, answer

asyncio.run(main())
assert "leanmcp.server.pydantic_kinds" not in sys.modules
assert not [name for name in sys.modules if name.startswith("pydantic") and sys.modules[name]]
"""


@pytest.mark.parametrize("before", ["", "sys.modules['pydantic'] = None"])
def test_pydantic_is_neither_needed_nor_imported(before: str) -> None:
    """Ours: API, "Rules for familiarity"; absent and merely unused."""
    code = WITHOUT.format(before=before)
    subprocess.run([sys.executable, "-c", code], check=True, timeout=30, env=environment())
