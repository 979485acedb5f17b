"""Forms: what a class becomes on the wire, what is refused, and how answers are held against it."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import annotated_types
import msgspec
import pydantic
import pytest

from leanmcp import Field, Model
from leanmcp.elicit import Accepted, Elicit, titled
from leanmcp.server.forms import InvalidAnswer, checked, form_of
from leanmcp.types import ElicitResult
from tests.support.forms import Colour, OnModel, OnTypedDict
from tests.support.spec import AVAILABLE, REASON, validator

COLOURS = {"#f00": "Red", "#0f0": "Green"}


class OnStruct(msgspec.Struct):
    """Everything that a form can ask, on a Struct."""

    name: Annotated[str, msgspec.Meta(min_length=1, max_length=9, title="Your name", description="As on the card.")]
    email: Annotated[str, msgspec.Meta(extra_json_schema={"format": "email"})]
    day: datetime.date
    moment: datetime.datetime
    colour: Colour
    size: Literal["s", "l"]
    only: Literal["one"]
    count: Annotated[int, msgspec.Meta(gt=0, lt=10)] = 3
    share: Annotated[float, msgspec.Meta(ge=0.5, le=2)] = 1.5
    agree: bool = False
    sizes: Annotated[list[Literal["s", "l"]], msgspec.Meta(min_length=1, max_length=2)] = msgspec.field(
        default_factory=lambda: ["s"]
    )
    note: str | None = None


@dataclass
class OnDataclass:
    """The same, on a dataclass."""

    name: Annotated[str, Field(min_length=1, max_length=9, title="Your name", description="As on the card.")]
    email: Annotated[str, Field(json_schema_extra={"format": "email"})]
    day: datetime.date
    moment: datetime.datetime
    colour: Colour
    size: Literal["s", "l"]
    only: Literal["one"]
    count: Annotated[int, annotated_types.Gt(0), annotated_types.Lt(10)] = 3
    share: Annotated[float, annotated_types.Interval(ge=0.5, le=2)] = 1.5
    agree: bool = False
    sizes: Annotated[list[Literal["s", "l"]], annotated_types.Len(1, 2)] = field(default_factory=lambda: ["s"])
    note: str | None = None


class OnPydantic(pydantic.BaseModel):
    """The same, on a pydantic model."""

    name: str = pydantic.Field(min_length=1, max_length=9, title="Your name", description="As on the card.")
    email: str = pydantic.Field(json_schema_extra={"format": "email"})
    day: datetime.date
    moment: datetime.datetime
    colour: Colour
    size: Literal["s", "l"]
    only: Literal["one"]
    count: int = pydantic.Field(3, gt=0, lt=10)
    share: float = pydantic.Field(1.5, ge=0.5, le=2)
    agree: bool = False
    sizes: list[Literal["s", "l"]] = pydantic.Field(["s"], min_length=1, max_length=2)
    note: str | None = None


ALL = {
    "name": {"title": "Your name", "description": "As on the card.", "minLength": 1, "maxLength": 9, "type": "string"},
    "email": {"title": "Email", "format": "email", "type": "string"},
    "day": {"title": "Day", "format": "date", "type": "string"},
    "moment": {"title": "Moment", "format": "date-time", "type": "string"},
    "colour": {"description": "What it looks like.", "enum": ["#f00", "#0f0"], "type": "string"},
    "size": {"title": "Size", "enum": ["s", "l"], "type": "string"},
    "only": {"title": "Only", "enum": ["one"], "type": "string"},
    "count": {"title": "Count", "minimum": 1, "maximum": 9, "default": 3, "type": "integer"},
    "share": {"title": "Share", "minimum": 0.5, "maximum": 2, "default": 1.5, "type": "number"},
    "agree": {"title": "Agree", "default": False, "type": "boolean"},
    "sizes": {
        "title": "Sizes",
        "items": {"enum": ["s", "l"], "type": "string"},
        "minItems": 1,
        "maxItems": 2,
        "default": ["s"],
        "type": "array",
    },
    "note": {"title": "Note", "type": "string"},
}
REQUIRED = ["name", "email", "day", "moment", "colour", "size", "only"]
ANSWER = {
    "name": "Ann",
    "email": "ann@example.com",
    "day": "2026-07-28",
    "moment": "2026-07-28T12:00:00Z",
    "colour": "#f00",
    "size": "l",
    "only": "one",
}
CLASSES = [OnStruct, OnModel, OnDataclass, OnPydantic]


def answered(kind: Any, **content: Any) -> Any:
    """Return the outcome of a form that was filled in, or the faults."""
    try:
        outcome = Elicit("?", kind).outcome(ElicitResult(action="accept", content=content))
    except InvalidAnswer as fault:
        return str(fault)
    assert isinstance(outcome, Accepted)
    return outcome.data


@pytest.mark.parametrize("kind", CLASSES)
def test_a_class_becomes_a_flat_schema(kind: type) -> None:
    """Spec: client/elicitation, "Requested Schema" 1 to 4; alike for every kind of class."""
    schema = form_of(kind).schema
    assert set(schema) == {"type", "properties", "required"}
    found = schema["properties"]
    assert list(found) == list(ALL)
    for name, expected in ALL.items():
        ours = {key: value for key, value in found[name].items() if name != "colour" or key != "title"}
        assert ours == expected, name
    assert schema["required"] == REQUIRED


@pytest.mark.skipif(not AVAILABLE, reason=REASON)
@pytest.mark.parametrize("kind", [*CLASSES, OnTypedDict])
def test_every_field_fits_the_specification_s_schema(kind: type) -> None:
    """Spec: schema, `PrimitiveSchemaDefinition` and `ElicitRequestFormParams`, exactly one of its kinds."""
    names = ["StringSchema", "NumberSchema", "BooleanSchema", "UntitledSingleSelectEnumSchema"]
    names += ["TitledSingleSelectEnumSchema", "UntitledMultiSelectEnumSchema", "TitledMultiSelectEnumSchema"]
    known: dict[str, set[str]] = {}
    for name in names:
        known[name] = set(validator(name).schema["$defs"][name]["properties"])
    for part in form_of(kind).schema["properties"].values():
        fits = [name for name in names if validator(name).is_valid(part) and set(part) <= known[name]]
        assert len(fits) == 1, part
    validator("ElicitRequest").validate(Elicit("?", kind).request())


@pytest.mark.parametrize("kind", CLASSES)
def test_an_answer_becomes_an_instance(kind: type) -> None:
    """Ours: typed data, with what was left out at its default; unknown members are ignored."""
    data = answered(kind, **ANSWER, unknown="x")
    assert type(data).__name__ == kind.__name__
    assert (data.name, data.day, data.colour) == ("Ann", datetime.date(2026, 7, 28), Colour.RED)
    assert data.moment == datetime.datetime(2026, 7, 28, 12, tzinfo=datetime.UTC)
    assert (data.count, data.share, data.agree, data.sizes, data.note) == (3, 1.5, False, ["s"], None)
    data = answered(kind, **ANSWER, count=4.0, share=1, agree=True, sizes=["l", "s"], note="n")
    assert (data.count, data.share, data.agree, data.sizes, data.note) == (4, 1, True, ["l", "s"], "n")
    assert type(data.count) is int
    assert answered(kind, **ANSWER, note=None).note is None


def test_a_typed_dict_is_a_form() -> None:
    """Ours."""
    assert answered(OnTypedDict, name="Ann") == {"name": "Ann"}
    assert answered(OnTypedDict, name="Ann", count=2) == {"name": "Ann", "count": 2}
    assert form_of(OnTypedDict).schema["required"] == ["name"]


@pytest.mark.parametrize("kind", CLASSES)
@pytest.mark.parametrize(
    ("name", "value", "fault"),
    [
        ("name", "", "String should have at least 1 character"),
        ("name", "A" * 10, "String should have at most 9 characters"),
        ("name", 5, "Input should be a valid string"),
        ("name", None, "Input should be a valid string"),
        ("email", "nobody", "Input should be an e-mail address"),
        ("day", "2026-02-30", "Input should be a date"),
        ("moment", "2026-07-28", "Input should be a date and time"),
        ("colour", "#00f", "Input should be '#f00' or '#0f0'"),
        ("colour", ["#f00"], "Input should be '#f00' or '#0f0'"),
        ("size", 7, "Input should be 's' or 'l'"),
        ("size", "m", "Input should be 's' or 'l'"),
        ("count", 0, "Input should be greater than or equal to 1"),
        ("count", 10, "Input should be less than or equal to 9"),
        ("count", 1.5, "Input should be a valid integer"),
        ("count", True, "Input should be a valid integer"),
        ("count", "3", "Input should be a valid integer"),
        ("share", 0.4, "Input should be greater than or equal to 0.5"),
        ("share", "1", "Input should be a valid number"),
        ("agree", 1, "Input should be a valid boolean"),
        ("sizes", "s", "Input should be"),
        ("sizes", [], "List should have at least 1 item"),
        ("sizes", ["s", "l", "s"], "List should have at most 2 items"),
        ("sizes", ["m"], "Input should be 's' or 'l'"),
        ("sizes", [["s"]], "Input should be 's' or 'l'"),
    ],
)
def test_an_answer_is_held_against_the_form(kind: type, name: str, value: Any, fault: str) -> None:
    """Spec: client/elicitation, "Form Mode Security" 3; formats are asserted, types are not converted."""
    found = answered(kind, **{**ANSWER, name: value})
    assert isinstance(found, str), found
    assert found.startswith((f"{name}: {fault}", f"{name}[0]: {fault}"))


def test_all_faults_are_told_at_once_without_what_was_entered() -> None:
    """Ours: the text goes to the user again, who knows what was entered."""
    found = answered(OnModel, name="x" * 20, email="private")
    lines = found.splitlines()
    assert len(lines) == 7
    assert "size: Field required" in lines
    assert "private" not in found
    assert answered(OnModel) != ""
    with pytest.raises(InvalidAnswer, match="Input should be an object"):
        form_of(OnModel).read([])


def test_a_check_of_the_class_itself_counts() -> None:
    """Ours: a validator, a __post_init__."""

    class Even(msgspec.Struct):
        count: int

        def __post_init__(self) -> None:
            if self.count % 2:
                raise ValueError("must be even")

    class Odd(pydantic.BaseModel):
        count: int

        @pydantic.field_validator("count")
        @classmethod
        def check(cls, value: int) -> int:
            if not value % 2:
                raise ValueError("must be odd")
            return value

    assert answered(Even, count=2) == Even(2)
    assert "must be even" in answered(Even, count=1)
    assert answered(Odd, count=1) == Odd(count=1)
    assert "must be odd" in answered(Odd, count=2)


class Titled(Model):
    """Choices that show other words than they send."""

    text: str = Field("#f00", json_schema_extra=titled(COLOURS))
    typed: Colour = Field(json_schema_extra=titled(COLOURS))
    many: list[str] = Field(default_factory=lambda: ["#0f0"], json_schema_extra=titled(COLOURS, multiple=True))
    several: list[Colour] = Field([], json_schema_extra=titled(COLOURS, multiple=True), max_length=2)


class TitledPydantic(pydantic.BaseModel):
    """The same, on a pydantic model."""

    text: str = pydantic.Field("#f00", json_schema_extra=titled(COLOURS))
    typed: Colour = pydantic.Field(json_schema_extra=titled(COLOURS))
    many: list[str] = pydantic.Field(["#0f0"], json_schema_extra=titled(COLOURS, multiple=True))
    several: list[Colour] = pydantic.Field([], json_schema_extra=titled(COLOURS, multiple=True), max_length=2)


@pytest.mark.parametrize("kind", [Titled, TitledPydantic])
def test_choices_may_have_titles(kind: type) -> None:
    """Spec: client/elicitation, "Requested Schema" 4."""
    options = [{"const": "#f00", "title": "Red"}, {"const": "#0f0", "title": "Green"}]
    found = form_of(kind).schema["properties"]
    assert found["text"]["oneOf"] == options
    assert set(found["text"]) == {"title", "type", "oneOf", "default"}
    assert found["typed"]["oneOf"] == options
    assert "enum" not in found["typed"]
    assert found["many"]["items"] == {"anyOf": options}
    assert found["several"]["items"] == {"anyOf": options}
    assert found["several"]["maxItems"] == 2
    if AVAILABLE:
        validator("TitledSingleSelectEnumSchema").validate(found["typed"])
        validator("TitledMultiSelectEnumSchema").validate(found["several"])
    data = answered(kind, typed="#0f0", several=["#f00"])
    assert (data.text, data.typed, data.many, data.several) == ("#f00", Colour.GREEN, ["#0f0"], [Colour.RED])
    assert answered(kind, typed="#00f") == "typed: Input should be '#f00' or '#0f0'"
    assert answered(kind, typed="#f00", many=["#00f"]) == "many[0]: Input should be '#f00' or '#0f0'"
    assert answered(kind, typed=5) == "typed: Input should be '#f00' or '#0f0'"


@pytest.mark.parametrize(("listed", "one"), [("oneOf", "a"), ("anyOf", ["a", "a"])])
def test_a_choice_may_be_listed_twice(listed: str, one: Any) -> None:
    """Ours: JSON Schema lets no value fit `oneOf` twice, but a user who chose it has answered."""
    choices = {listed: [{"const": "a", "title": "A"}, {"const": "a", "title": "Also A"}]}
    schema = {
        "type": "object",
        "properties": {"x": choices if listed == "oneOf" else {"type": "array", "items": choices}},
    }
    assert checked(schema, {"x": one}) == {"x": one}
    with pytest.raises(InvalidAnswer, match=r"^x(\[0\])?: Input should be 'a'$"):
        checked(schema, {"x": "b" if listed == "oneOf" else ["b"]})
