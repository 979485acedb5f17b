"""Requests for the client's transports, and a transport to a scripted server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec

from leanmcp.limits import HTTPClientLimits
from leanmcp.protocol.outgoing import OutgoingRequest
from leanmcp.transports.http_client import HTTPTransport

from .bad_http_server import BadServer, Script, bad_server
from .processes import DEADLINE, VERSION, request

SMALL = HTTPClientLimits(max_answer_size=2000, max_head_size=2000, connect_timeout=5)


def outgoing(
    method: str = "tools/call", params: dict[str, Any] | None = None, request_id: int = 1, **members: Any
) -> OutgoingRequest:
    """Return a request; of `tools/call` without params, a call of `echo`."""
    if params is None and method == "tools/call":
        params, members = {"name": "echo", "arguments": {"text": "hello"}}, {"name": "echo", **members}
    message = msgspec.json.encode(request(method, params, request_id))
    return OutgoingRequest(id=request_id, method=method, version=VERSION, message=message, **members)


def decoded(response: bytes) -> Any:
    """Return a response as a value."""
    return msgspec.json.decode(response)


@asynccontextmanager
async def talking(*scripts: Script, **options: Any) -> AsyncIterator[tuple[HTTPTransport, BadServer]]:
    """Run a scripted server and a transport to it."""
    async with asyncio.timeout(DEADLINE), bad_server(*scripts) as server:
        transport = HTTPTransport(server.url, **{"limits": SMALL, **options})
        try:
            yield transport, server
        finally:
            await transport.close()
