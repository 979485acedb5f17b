"""Requests to a server in this process, answered the way stdio answers them."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec

from leanmcp import MCPServer
from leanmcp.protocol.meta import CLIENT_CAPABILITIES, MODERN_VERSIONS, PROTOCOL_VERSION
from leanmcp.run import entered
from leanmcp.server.line_endpoint import LineEndpoint

META = {PROTOCOL_VERSION: MODERN_VERSIONS[0], CLIENT_CAPABILITIES: {}}


async def request(server: MCPServer, method: str, params: dict[str, Any]) -> dict[str, Any]:
    """Return the response message to one request, for whose time the lifespan of the server is entered."""
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": META}}
    answers: list[bytes] = []
    async with entered(server):
        endpoint = LineEndpoint(server, lambda segments: answers.append(b"".join(segments)))
        endpoint.receive(msgspec.json.encode(message))
        if endpoint.calls:
            await asyncio.wait(endpoint.calls.values())
        endpoint.end_streams()
    messages: list[dict[str, Any]] = [msgspec.json.decode(answer) for answer in answers]
    return next(message for message in messages if "method" not in message)
