"""Servers with middleware, and requests to them."""

from __future__ import annotations

from typing import Any

from leanmcp import MCPError, MCPServer, ToolError
from leanmcp.server import CallNext, Middleware, Request
from tests.support.lines import run

Log = list[str]


def make(*middleware: Middleware, **options: Any) -> MCPServer:
    """Return a server with a few tools and a prompt."""
    mcp = MCPServer("around", middleware=middleware, **options)

    @mcp.tool
    async def echo(text: str) -> str:
        return text

    @mcp.tool
    async def fails() -> str:
        raise ToolError("no luck")

    @mcp.tool
    async def breaks() -> str:
        raise MCPError(4711, "protocol")

    @mcp.resource("text://{name}")
    async def text(name: str) -> str:
        return name

    @mcp.prompt
    async def greet(name: str) -> str:
        return f"hello {name}"

    return mcp


def ask(mcp: MCPServer, message: dict[str, Any]) -> dict[str, Any]:
    """Return the answer to one request."""
    return run(mcp, lambda lines: lines.send(message).answer(message["id"]))


def answering(value: Any) -> Middleware:
    """Return a middleware that answers without asking anybody."""

    async def answer(request: Request, call_next: CallNext) -> Any:
        if isinstance(value, Exception):
            raise value
        return value

    return answer
