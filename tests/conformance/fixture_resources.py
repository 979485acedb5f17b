"""The resources that the conformance suite reads; their URIs and contents are its contract."""

from __future__ import annotations

import base64

from leanmcp import MCPServer
from leanmcp.server import CacheHint

PIXEL = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC")


def register(mcp: MCPServer) -> None:
    """Add the resources to the fixture."""

    @mcp.resource("test://static-text", mime_type="text/plain", cache=CacheHint(60_000, "public"))
    async def static_text() -> str:
        """A text that never changes."""
        return "This is the content of the static text resource."

    @mcp.resource("test://static-binary", mime_type="image/png")
    async def static_binary() -> bytes:
        """A picture of one pixel."""
        return PIXEL

    @mcp.resource("test://template/{id}/data", mime_type="application/json")
    async def template_data(id: str) -> dict[str, str]:  # noqa: A002  the suite's template names it
        """Data about one thing."""
        return {"id": id, "data": f"Data for ID: {id}"}

    @mcp.resource("test://watched-resource", mime_type="text/plain")
    async def watched() -> str:
        """A text that clients may watch."""
        return "This resource may be watched."
