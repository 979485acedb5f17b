"""Models of pydantic's, and tools that take or return them, for the tests of several files."""

import asyncio
import datetime
import enum
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Literal, NamedTuple, TypedDict, TypeVar

import pydantic
from pydantic import BaseModel, ConfigDict, Field, RootModel

from leanmcp import MCPServer

from .in_process import request

T = TypeVar("T")


class Mood(enum.Enum):
    CALM = "calm"
    GRIM = "grim"


class Book(BaseModel):
    """A book."""

    title: str
    year: int = Field(ge=1450, description="Year of first publication.")


class Shelf(BaseModel):
    model_config = ConfigDict(extra="forbid")

    books: list[Book] = []
    best: Book | None = None
    by_code: dict[str, Book] = {}


class Every(BaseModel):
    count: int = 1
    ratio: float = 1.0
    on: datetime.date | None = None
    at: datetime.datetime | None = None
    took: datetime.timedelta | None = None
    id: uuid.UUID | None = None
    mood: Mood = Mood.CALM
    numbers: set[int] = set()
    pair: tuple[int, str] | None = None
    either: int | str | None = None
    link: pydantic.HttpUrl | None = None


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int


class Dog(BaseModel):
    kind: Literal["dog"]
    tricks: list[str]


class Folder(BaseModel):
    name: str
    inside: "list[Folder]" = []


class Page(BaseModel, Generic[T]):
    items: list[T]


class Tags(RootModel[list[str]]):
    pass


@pydantic.dataclasses.dataclass
class Point:
    x: int = Field(ge=0)
    y: int = 0


@dataclass
class Crate:
    book: Book
    others: list[Book] | None = None


class Row(NamedTuple):
    book: Book


class Order(TypedDict):
    book: Book


DUNE: dict[str, Any] = {"title": "Dune", "year": 1965}


def server(*functions: Callable[..., Any], **options: Any) -> MCPServer:
    mcp = MCPServer("pydantic", **options)
    for function in functions:
        mcp.add_tool(function)
    return mcp


def entry(mcp: MCPServer) -> Any:
    return next(iter(mcp.tools)).entry


def taking(annotation: Any, **options: Any) -> tuple[MCPServer, list[Any]]:
    """Return a server whose only tool takes one value, and the list that it puts them in."""
    received: list[Any] = []

    def take(value):  # type: ignore[no-untyped-def]
        received.append(value)

    take.__annotations__ = {"value": annotation}
    return server(take, **options), received


def invoke(mcp: MCPServer, arguments: Any) -> Any:
    name = next(iter(mcp.tools)).name
    return asyncio.run(request(mcp, "tools/call", {"name": name, "arguments": arguments}))["result"]


def text(result: Any) -> str:
    return str(result["content"][0]["text"])


def faults(annotation: Any, value: Any) -> list[str]:
    mcp, received = taking(annotation)
    result = invoke(mcp, {"value": value})
    assert result["isError"]
    assert received == []
    assert "pydantic" not in text(result)
    return text(result).splitlines()[1:]


def accepted(annotation: Any, value: Any) -> Any:
    mcp, received = taking(annotation)
    result = invoke(mcp, {"value": value})
    assert not result["isError"], text(result)
    return received[0]
