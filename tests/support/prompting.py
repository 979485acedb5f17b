"""Requests for the prompts of a server without a transport."""

from __future__ import annotations

import asyncio
from typing import Any

from leanmcp import MCPServer
from tests.support.spec import request


def ask(mcp: MCPServer, method: str, **params: Any) -> dict[str, Any]:
    """Return the whole response to one request, held against the schema."""
    return asyncio.run(request(mcp, method, params))


def get(mcp: MCPServer, name: str, arguments: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the response to prompts/get."""
    return ask(mcp, "prompts/get", name=name, arguments=arguments or {})


def text_of(response: dict[str, Any]) -> str:
    """Return the text of the one message of a result."""
    [only] = response["result"]["messages"]
    text: str = only["content"]["text"]
    return text


def refusal(response: dict[str, Any], code: int) -> str:
    """Return the message of an error of that code."""
    assert response["error"]["code"] == code, response
    text: str = response["error"]["message"]
    return text


async def hello() -> str:
    """Say hello."""
    return "Hello."
