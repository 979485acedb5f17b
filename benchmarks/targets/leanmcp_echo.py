"""The tool under load on leanmcp; served by `python -m leanmcp run FILE [--http --port N]`."""

from __future__ import annotations

from leanmcp import MCPServer

mcp = MCPServer("echo", version="1.0")


@mcp.tool
async def echo(text: str) -> str:
    """Return the text."""
    return text
