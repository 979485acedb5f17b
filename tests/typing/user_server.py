"""A server as a user writes it, with every decorator and every option: clean under strict type checkers, and it runs.

`test_user_server.py` checks and starts it.
"""

from __future__ import annotations

import enum
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypedDict, assert_type

from leanmcp import (
    Audio,
    Context,
    Field,
    File,
    Handles,
    Header,
    Image,
    Limits,
    MCPError,
    MCPServer,
    Model,
    RawJSON,
    ToolError,
    tool,
)
from leanmcp.server import CacheHint
from leanmcp.types import Annotations, CallToolResult, Icon, ResourceLink, TextContent, ToolAnnotations


@dataclass
class Database:
    url: str


@asynccontextmanager
async def lifespan(server: MCPServer) -> AsyncIterator[Database]:
    yield Database(url=server.name)


def clean(value: Any) -> Any:
    return value


mcp = MCPServer(
    "Typed",
    "Typed server",
    "Uses everything.",
    "Call the tools.",
    "https://example.com",
    [Icon(src="https://example.com/icon.png", mime_type="image/png", sizes=["48x48"], theme="dark")],
    "1.0.0",
    lifespan=lifespan,
    cache_hints={"tools/list": CacheHint(ttl_ms=1000, scope="public")},
    page_size=50,
    limits=Limits(max_body_size=1 << 20, threads=4),
    strict_names=True,
    schema_titles=False,
    inline_schemas=True,
    nullable="type",
    native_output=True,
    echo_values=False,
    extra_args="ignore",
    coerce=False,
    sanitize=clean,
)
baskets: Handles[dict[str, int]] = Handles(kind="basket", ttl=3600, owner=lambda ctx: "me", max_handles=10)


class Genre(enum.Enum):
    FICTION = "fiction"
    POETRY = "poetry"


class Book(Model):
    title: str
    year: int = Field(ge=1450, description="Year of first publication.")
    tags: list[str] = Field(default_factory=list, max_length=5)
    genre: Genre | None = None


class Place(TypedDict, total=False):
    city: str


@mcp.tool
def plain(a: int, b: int = 1) -> int:
    return a + b


@mcp.tool()
async def empty_brackets(book: Book) -> Book:
    return book


@mcp.tool(
    name="everything",
    title="Everything",
    description="All options at once.",
    annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False),
    icons=[Icon(src="https://example.com/tool.svg")],
    meta={"com.example/cost": 1},
    structured_output=True,
    wrap_result=True,
    extra_args="forbid",
    coerce=True,
    max_result=100_000,
    sanitize=clean,
    thread=False,
    replace=False,
)
def options(
    query: Annotated[str, Field(min_length=1, pattern=r"^\w")],
    region: Annotated[str, Header("Region")],
    genre: Literal["fiction", "poetry"] | None = None,
    limit: int = Field(default=10, ge=1, le=50),
) -> list[str]:
    return [query, region, genre or "any"][:limit]


@mcp.tool("by_position", "By position", structured_output=False)
async def with_context(place: Place, ctx: Context[Database]) -> str:
    ctx.require_capability("elicitation")
    return f"{place.get('city')} {ctx.lifespan.url} {ctx.request_id}"


@mcp.tool(input_schema={"type": "object", "properties": {"x": {"type": "integer"}}}, output_schema={"type": "object"})
async def by_hand(arguments: dict[str, Any]) -> dict[str, Any]:
    return arguments


@mcp.tool
async def media() -> list[str | Image | Audio | File]:
    return ["one", Image(data=b"\x89PNG", format="png"), Audio(data=b"RIFF"), File(data="text", name="a.txt")]


@mcp.tool
def raw() -> RawJSON:
    return RawJSON(b'{"rows":[]}')


@mcp.tool
def whole() -> CallToolResult:
    link = ResourceLink(uri="https://example.com", name="site", annotations=Annotations(audience=["user"]))
    return CallToolResult(content=[TextContent(text="see"), link], structured_content={"ok": True})


@mcp.tool
async def basket(ctx: Context[Database], basket_id: str | None = None) -> dict[str, int]:
    handle = baskets.create({}, ctx) if basket_id is None else basket_id
    if handle == "":
        raise ToolError("basket_id: leave it out for a new basket", content=["no basket"])
    if handle == "private":
        raise MCPError(4711, "not here", data={"basket": handle})
    return baskets.get(handle, ctx)


class Shelf:
    """Marked methods are registered with their object."""

    @tool
    def count(self, genre: Genre) -> int:
        return len(genre.value)

    @tool(name="shelf_names", title="Names", thread=True)
    def names(self) -> list[str]:
        return ["a"]


def late(value: float) -> float:
    return value


mcp.add_tools(Shelf())
mcp.add_tool(late, "later", title="Later", replace=True)
mcp.disable_tool("later")
mcp.enable_tool("later")
mcp.remove_tool("later")

assert_type(options(query="q", region="r", limit=2), list[str])
assert_type(plain(1), int)
assert_type(Shelf().count(Genre.FICTION), int)
assert_type(Shelf().names(), list[str])
assert_type(Book(title="Dune", year=1965).tags, list[str])

if __name__ == "__main__":
    mcp.run("http", host="127.0.0.1", port=8000, path="/mcp")
