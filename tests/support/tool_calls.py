"""Calls of the tools of a server without a transport."""

from __future__ import annotations

import asyncio
from typing import Any

from leanmcp import MCPServer
from tests.support.spec import request


def invoke(mcp: MCPServer, tool: str, arguments: Any = None) -> dict[str, Any]:
    """Return the whole response to one call."""
    params: dict[str, Any] = {"name": tool}
    if arguments is not None:
        params["arguments"] = arguments
    return asyncio.run(request(mcp, "tools/call", params))


def result(mcp: MCPServer, tool: str, **arguments: Any) -> dict[str, Any]:
    """Return the result of one call."""
    answer: dict[str, Any] = invoke(mcp, tool, arguments)["result"]
    return answer


def text(answer: dict[str, Any]) -> str:
    """Return the text of a result with one text block."""
    (block,) = answer["content"]
    assert block["type"] == "text"
    return str(block["text"])
