"""Types that cannot be enforced or carried, refused at registration."""

import decimal
import enum
from collections.abc import Iterator
from dataclasses import dataclass
from typing import (
    Annotated,
    Any,
    TypedDict,
)

import pydantic
import pytest

from leanmcp.fields import Field, Header, Model
from tests.support.deriving import Options, Pair, Point, of


class Mixed(enum.Enum):
    A = "a"
    B = 1


@pytest.mark.parametrize(
    ("annotation", "reason"),
    [
        (Mixed, "all strings or all integers"),
        (Point | Options, "does not tell the members of this union apart; keep one of them, or make them Models"),
        (Annotated[bool, Field(ge=1)], "constraint ge does not fit"),
        (Annotated[tuple[int, str], Field(min_length=1)], "fixed length"),
        (Annotated[int, pydantic.Field(gt=1, ge=1)], "gt"),
        (Annotated[str, pydantic.Field(pattern="(")], "regular expression"),
        (Annotated[int, pydantic.Field(ge="a")], "is no number"),
        (Annotated[decimal.Decimal, pydantic.Field(max_digits=3)], "max_digits= of Field is not enforced"),
        (Annotated[list[int], Header("X")], "Header marks"),
        (dict[int | str, int], "string keys"),
        (Iterator[int], "write list[...] of what it gives"),
        (type, "input_schema="),
        (pydantic.BaseModel, "input_schema="),
    ],
)
def test_what_cannot_be_enforced_or_carried_is_refused_at_registration(annotation: Any, reason: str) -> None:
    """Ours: a TypeError that names tool, parameter, type and what to do."""
    with pytest.raises(TypeError, match=r"^tool 'tool': parameter 'value' has type ") as error:
        of(annotation)
    assert reason in str(error.value)
    assert ";" in str(error.value)


def test_field_as_the_default_of_a_dataclass_is_refused() -> None:
    """Ours: it would be the value of the field, and bound nothing."""

    @dataclass
    class Wrong:
        x: int = Field(ge=1)

    @dataclass
    class Alias:
        x: Annotated[int, Field(alias="y")]

    class Inner(Model):
        x: Annotated[int, Field(default=3)]

    class Row(TypedDict):
        x: Annotated[int, Field(default=3)]

    with pytest.raises(TypeError, match="field x has Field as its default"):
        of(Wrong)
    with pytest.raises(TypeError, match="alias= has no effect there"):
        of(Alias)
    with pytest.raises(TypeError, match="default= has no effect there; write it behind a ="):
        of(Inner)
    with pytest.raises(TypeError, match=r"default= has no effect there; write NotRequired\[\.\.\.\]"):
        of(Row)


def test_a_refusal_inside_a_class_names_its_field_and_the_parameter() -> None:
    """Ours: our user reads where to look; modules and metadata are left out."""

    class Wave(Model):
        phase: complex

    class Sea(Model):
        waves: list[Wave]

    with pytest.raises(TypeError) as error:
        of(Sea)
    assert str(error.value) == (
        "tool 'tool': field 'phase' of Wave (parameter 'value') has type complex: it has no JSON form that can be "
        "decoded; use a type that JSON can carry or pass input_schema="
    )
    with pytest.raises(TypeError, match=r"parameter 'value' has type Point \| Pair \| Options \| None: "):
        of(Annotated[Point | Pair | Options | None, "text"])
