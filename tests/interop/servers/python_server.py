"""The same small server, on whichever framework is named: `python_server.py official|fastmcp stdio|http`.

On HTTP it says its port on standard error, as its web server does.
"""

# mypy: disable-error-code="untyped-decorator"
from __future__ import annotations

import sys
from typing import Any

FRAMEWORK, TRANSPORT = sys.argv[1:3]
mcp: Any
if FRAMEWORK == "official":
    from mcp.server import MCPServer
    from mcp.server.mcpserver import Context

    mcp = MCPServer("interop", version="1.2.3", instructions="For tests.")
else:
    from fastmcp import Context, FastMCP  # type: ignore[import-not-found,no-redef,unused-ignore]

    mcp = FastMCP("interop", version="1.2.3", instructions="For tests.")


@mcp.tool()
async def echo(text: str) -> str:
    """Return the text."""
    return text


@mcp.tool()
def add(a: int, b: int = 1) -> dict[str, int]:
    """Add two numbers."""
    return {"sum": a + b}


@mcp.tool()
def refuse() -> str:
    """Fail."""
    raise ValueError("not today")


@mcp.tool()
async def count(to: int, ctx: Context) -> str:  # type: ignore[type-arg,unused-ignore]
    """Report progress."""
    for number in range(1, to + 1):
        await ctx.report_progress(number, to, f"step {number}")
    return "counted"


@mcp.resource("test://greeting", mime_type="text/plain")
def greeting() -> str:
    """A text."""
    return "hello"


@mcp.resource("test://greeting/{name}")
def personal_greeting(name: str) -> str:
    """A text for somebody."""
    return f"hello {name}"


@mcp.prompt()
def review(code: str) -> str:
    """Ask for a review."""
    return f"Review: {code}"


if TRANSPORT == "stdio":
    mcp.run(transport="stdio", **({} if FRAMEWORK == "official" else {"show_banner": False}))
else:
    mcp.run(transport="streamable-http", host="127.0.0.1", port=0)
