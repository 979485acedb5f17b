"""Every kind of type that a tool may take and return, with strategies for its values.

In: hypothesis. Out: `typed()`, a random type and the strategy of its values; `JSON`, plain values of any shape.
"""

from __future__ import annotations

import datetime
import decimal
import enum
import pathlib
import uuid
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NamedTuple, NewType, Optional, TypedDict

import attrs
import msgspec
import pydantic
from hypothesis import strategies as st

from leanmcp.fields import Field, Model


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


class Order(pydantic.BaseModel):
    item: str
    due: datetime.date | None = None
    colours: list[Colour] = []


UserId = NewType("UserId", int)
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
# Those that msgspec does not build itself, or that the schemas of both directions say differently.
CONVERTED: list[tuple[Any, st.SearchStrategy[Any]]] = [
    (pathlib.PurePosixPath, st.text("ab/.", min_size=1, max_size=5).map(pathlib.PurePosixPath)),
    (UserId, st.integers()),
    (Order, st.builds(Order, item=TEXT, due=st.none() | st.dates(), colours=st.lists(st.sampled_from(Colour)))),
]
HASHABLE = (int, str, Level, Colour, uuid.UUID)


@st.composite
def typed(draw: st.DrawFn, depth: int = 2, more: tuple[Any, ...] = ()) -> tuple[Any, st.SearchStrategy[Any]]:
    """A random supported type with a strategy for its values; `more` are further pairs of both to choose from."""
    if depth == 0 or draw(st.booleans()):
        scalar: tuple[Any, st.SearchStrategy[Any]] = draw(st.sampled_from([*SCALARS, *more]))
        return scalar
    inner: Any
    inner, values = draw(typed(depth - 1, more))
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
