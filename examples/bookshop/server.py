"""A bookshop as an MCP server: typed functions become tools.

Run it on stdio, as a host starts it:   python examples/bookshop/server.py
Or on HTTP:                             leanmcp run examples/bookshop/server.py --http
"""

import asyncio
from typing import Annotated, Literal

from leanmcp import Field, Model
from leanmcp.server import MCPServer
from leanmcp.types import ToolAnnotations

mcp = MCPServer("Bookshop", version="1.0.0")


class Book(Model):
    """What `add_book` takes: a JSON object for the model, a checked instance for the function."""

    title: str
    author: str
    year: int = Field(ge=1450, description="Year of first publication.")


class Stock(Model):
    """What `check_stock` returns: clients receive it as structured content."""

    title: str
    copies: int


@mcp.tool(
    title="Search the catalog",
    annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False),
)
def search_books(
    query: Annotated[str, Field(description="Title or author to search for.")],
    limit: Annotated[int, Field(ge=1, le=50, description="Maximum number of results.")] = 10,
    genre: Annotated[Literal["fiction", "non-fiction", "poetry"] | None, Field(description="Default: all.")] = None,
) -> str:
    """Search the catalog by title or author."""
    where = f" in {genre}" if genre else ""
    return f"Found 3 books matching {query!r}{where} (showing up to {limit})."


@mcp.tool()
def add_book(book: Book) -> str:
    """Add a book to the catalog."""
    return f"Added {book.title!r} by {book.author} ({book.year})."


@mcp.tool()
async def check_stock(title: Annotated[str, Field(description="As search_books spells it.")]) -> Stock:
    """Tell how many copies of a book are on the shelf."""
    await asyncio.sleep(0.01)  # stands for a query to a database
    return Stock(title=title, copies=len(title) % 5)


if __name__ == "__main__":
    mcp.run()
