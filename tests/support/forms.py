"""Forms of the tests."""

from __future__ import annotations

import datetime
import enum
from typing import Annotated, Literal, NotRequired, TypedDict

from leanmcp import Field, Model


class Colour(enum.Enum):
    """What it looks like."""

    RED = "#f00"
    GREEN = "#0f0"


class OnModel(Model):
    """The same, written with Field."""

    name: str = Field(min_length=1, max_length=9, title="Your name", description="As on the card.")
    email: str = Field(json_schema_extra={"format": "email"})
    day: datetime.date
    moment: datetime.datetime
    colour: Colour
    size: Literal["s", "l"]
    only: Literal["one"]
    count: int = Field(3, gt=0, lt=10)
    share: float = Field(1.5, ge=0.5, le=2)
    agree: bool = False
    sizes: list[Literal["s", "l"]] = Field(default_factory=lambda: ["s"], min_length=1, max_length=2)
    note: str | None = None


class OnTypedDict(TypedDict):
    """Some of it, on a TypedDict."""

    name: Annotated[str, Field(min_length=1)]
    count: NotRequired[int]
