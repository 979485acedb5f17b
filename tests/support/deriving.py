"""Signatures of one parameter."""

from dataclasses import dataclass, field
from typing import (
    Annotated,
    Any,
    NamedTuple,
    NotRequired,
    TypedDict,
)

from leanmcp.fields import Field
from leanmcp.server.signature import Signature


@dataclass
class Point:
    x: int
    y: int = 0
    tags: list[str] = field(default_factory=list)


class Options(TypedDict):
    deep: NotRequired[Annotated[bool, Field(description="all levels")]]
    name: str


class Pair(NamedTuple):
    left: int
    right: str = "r"


def of(annotation: Any, **options: Any) -> Signature:
    def tool(value: Any) -> None: ...

    tool.__annotations__["value"] = annotation
    return Signature.of(tool, tool_name="tool", **options)
