"""An extension: a method of one's own, notifications on its stream, and a tool for clients that do not know it.

Run it as examples/bookshop is run. The extension is `com.example/search`; the server declares it in server/discover,
and serves its method to clients that declare it in `_meta`, under `clientCapabilities.extensions`. Every other client
gets an error that says so, and calls the tool.
"""

from collections.abc import Sequence
from typing import Annotated, Any

from leanmcp import Context, Field, MCPServer, Model
from leanmcp.server import Extension, MethodBinding, ToolBinding

BOOKS = ["Dune", "Dune Messiah", "Emma", "Persuasion", "The Dispossessed"]


class SearchParams(Model):
    """Params of com.example/search, checked before the handler runs."""

    query: str = Field(min_length=1)
    limit: int = Field(default=10, ge=1, le=50)


class Search(Extension):
    """Finds books, and tells of each as soon as it is found."""

    identifier = "com.example/search"
    notifications = ("notifications/com.example/found",)

    def settings(self) -> dict[str, Any]:
        """Say in discover what clients may want to know."""
        return {"books": len(BOOKS)}

    def methods(self) -> Sequence[MethodBinding]:
        """Add the method."""
        return [MethodBinding("com.example/search", SearchParams, self.search)]

    def tools(self) -> Sequence[ToolBinding]:
        """Add the tool for clients that do not know the extension: core behaviour."""
        return [ToolBinding(self.search_books)]

    async def search(self, ctx: Context[None], params: SearchParams) -> dict[str, Any]:
        """Answer the method; what is returned are the members of the result."""
        found = []
        for title in _matching(params.query)[: params.limit]:
            found.append(title)
            await ctx.notify("notifications/com.example/found", {"title": title})
        return {"titles": found}

    async def search_books(self, query: Annotated[str, Field(min_length=1)]) -> list[str]:
        """Search the catalog by title.

        Args:
            query: a part of the title, in any case.
        """
        return _matching(query)


def _matching(query: str) -> list[str]:
    return [title for title in BOOKS if query.lower() in title.lower()]


mcp = MCPServer("Search", version="1.0.0", extensions=[Search()])

if __name__ == "__main__":
    mcp.run()
