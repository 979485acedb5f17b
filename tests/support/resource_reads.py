"""Resources of a server without a transport."""

from __future__ import annotations

import asyncio
from enum import Enum
from typing import Any

from leanmcp import MCPServer
from tests.support.spec import request

NOT_FOUND = -32602


def ask(mcp: MCPServer, method: str, **params: Any) -> dict[str, Any]:
    """Return the checked response to one request."""
    return asyncio.run(request(mcp, method, params))


def read(mcp: MCPServer, uri: str) -> dict[str, Any]:
    """Return the result of reading a resource."""
    result: dict[str, Any] = ask(mcp, "resources/read", uri=uri)["result"]
    return result


def text(mcp: MCPServer, uri: str) -> str:
    """Return the text of a resource that has one element of contents."""
    [contents] = read(mcp, uri)["contents"]
    assert contents["uri"] == uri
    found: str = contents["text"]
    return found


def failure(mcp: MCPServer, uri: str) -> dict[str, Any]:
    """Return the error of reading a resource; its data always names the URI."""
    error: dict[str, Any] = ask(mcp, "resources/read", uri=uri)["error"]
    assert error["data"] == {"uri": uri}
    return error


def capabilities(mcp: MCPServer) -> dict[str, Any]:
    """Return what server/discover declares."""
    declared: dict[str, Any] = ask(mcp, "server/discover")["result"]["capabilities"]
    return declared


class Colour(Enum):
    RED = "red"
    BLUE = "blue"
