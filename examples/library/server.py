"""A library as resources: a fixed text, records by their number, and the files of a folder.

Run it on stdio, as a host starts it:   python examples/library/server.py
Or on HTTP:                             leanmcp run examples/library/server.py --http
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from leanmcp import Context, MCPServer, ResourceNotFoundError
from leanmcp.server import CacheHint
from leanmcp.types import TextResourceContents

SHELF = Path(__file__).parent / "shelf"
mcp = MCPServer("Library", version="1.0.0")


@dataclass
class Book:
    title: str
    author: str
    language: str


BOOKS = {
    1: Book("Dune", "Frank Herbert", "en"),
    2: Book("Momo", "Michael Ende", "de"),
    3: Book("Solaris", "Stanisław Lem", "pl"),
}


@mcp.resource("library://hours", title="Opening hours", cache=CacheHint(ttl_ms=3_600_000, scope="public"))
async def hours() -> str:
    """When the library is open."""
    return "Monday to Friday, 9 to 18"


@mcp.resource("library://books/{number}")
async def book(number: int) -> Book:
    """One book by its number."""
    if number not in BOOKS:
        raise ResourceNotFoundError(f"there is no book {number}; they are 1 to {len(BOOKS)}")
    return BOOKS[number]


@mcp.resource("library://catalog{?language}")
async def catalog(language: Literal["en", "de", "pl", "any"] = "any") -> dict[int, str]:
    """All books, or those in one language."""
    return {number: book.title for number, book in BOOKS.items() if language in ("any", book.language)}


mcp.add_file("library://welcome", SHELF / "welcome.md", title="Welcome")
mcp.add_directory("library://shelf/{+path}", SHELF, name="shelf", description="The texts on the shelf.")


@mcp.tool
async def quote(path: str, ctx: Context) -> str:
    """Quote the first line of a text on the shelf.

    Args:
        path: of the text, such as `poems/spring.txt`.
    """
    [text] = await ctx.read_resource(f"library://shelf/{path}")
    return text.text.splitlines()[0] if isinstance(text, TextResourceContents) else "(no text)"


if __name__ == "__main__":
    mcp.run()
