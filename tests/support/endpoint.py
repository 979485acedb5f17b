"""What tests of the endpoint share: octets with good headers, and the check of an error."""

from __future__ import annotations

from typing import Any

from .processes import call, http
from .wire import Answer

PREFIX = "io.modelcontextprotocol/"
ECHO = call("echo", {"text": "hello"})


def raw(body: bytes, **fields: str) -> bytes:
    """Return a POST of octets with the headers of a call of `echo`."""
    return http(body, **{"mcp_method": "tools/call", "mcp_name": "echo", **fields})


def refused(answer: Answer, status: int, code: int, request_id: Any = 1) -> None:
    """Check an error: status, code, id with its type (None: left out), media type."""
    assert (answer.status, answer.code) == (status, code), answer
    assert answer.headers["content-type"] == "application/json"
    message = answer.message
    assert ("id" in message) == (request_id is not None)
    assert message.get("id") == request_id
    assert type(message.get("id")) is type(request_id)
