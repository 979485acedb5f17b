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
from leanmcp.server import publish
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


def with_schemas(options: dict[str, Any]) -> dict[str, Any]:
    """Return options of a signature, those about schemas in `schemas=`."""
    written = {name: options.pop(name) for name in publish.Options.__struct_fields__ if name in options}
    return {**options, "schemas": publish.Options(**written)}


def of(annotation: Any, **options: Any) -> Signature:
    def tool(value: Any) -> None: ...

    tool.__annotations__["value"] = annotation
    return Signature(tool, tool_name="tool", **with_schemas(options))
