"""Texts for people who call the endpoint by hand: what is missing, and one complete call.

Only failure paths come here.
"""

from __future__ import annotations

from typing import Any

import msgspec

from ..errors import HeaderMismatch, MalformedMeta, MCPError
from ..protocol.http11 import Head, Request
from ..protocol.meta import CLIENT_CAPABILITIES, LEGACY_METHODS, MODERN_VERSIONS, PROTOCOL_VERSION, method_not_found
from ..protocol.mirror import encode_value

_EXAMPLE = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}


def missing_headers(head: Head, message: dict[str, Any] | None) -> list[str]:
    """Return the header fields that a call must have and `head` has not."""
    wanted = ["Content-Type", "MCP-Protocol-Version", "Mcp-Method"]
    if message is not None and message.get("method") == "tools/call":
        wanted.append("Mcp-Name")
    return [name for name in wanted if name.lower() not in head.headers]


def with_missing(error: MCPError, request: Request, path: str) -> MCPError:
    """Return `error` with everything that the request lacks and the call that would have worked."""
    message = _message(request.body)
    method = message.get("method")
    if isinstance(error, MalformedMeta) and method in LEGACY_METHODS:
        legacy = method_not_found(method)  # a call that is refused in any case is no example
        return MalformedMeta(legacy.message, legacy.data)
    missing = missing_headers(request.head, message)
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    given = meta if isinstance(meta, dict) else {}
    missing += [f"params._meta {name}" for name in (PROTOCOL_VERSION, CLIENT_CAPABILITIES) if name not in given]
    if not missing:
        return error
    versions = ", ".join(MODERN_VERSIONS)
    text = f"{error.message}. Missing: {', '.join(missing)} (this server speaks {versions}). "
    text += curl(request.head, path, message)
    return (MalformedMeta if isinstance(error, MalformedMeta) else HeaderMismatch)(text, error.data)


def curl(head: Head, path: str, message: dict[str, Any] | None = None) -> str:
    """Return a complete curl command for `message`, or for tools/list."""
    import shlex

    call = _complete(message or _EXAMPLE)
    fields = {
        "Content-Type": "application/json",
        "MCP-Protocol-Version": MODERN_VERSIONS[0],
        "Mcp-Method": call["method"],
    }
    if call["method"] == "tools/call":
        fields["Mcp-Name"] = encode_value(str(call["params"].get("name", "")))
    lines = [f"curl http://{head.headers.get('host', '127.0.0.1:8000')}{path}"]
    lines += [f"-H {shlex.quote(f'{name}: {value}')}" for name, value in fields.items()]
    lines.append(f"-d {shlex.quote(msgspec.json.encode(call).decode())}")
    return "A complete call: " + " ".join(lines)


def page(name: str, path: str) -> bytes:
    """Return the small page behind `GET /`."""
    import html

    title, where = html.escape(name), html.escape(path)
    return (
        f"<!doctype html><title>{title}</title><p><b>{title}</b> is an MCP server. "
        f"Its endpoint is <code>POST {where}</code> (protocol revision {MODERN_VERSIONS[0]}).</p>\n"
    ).encode("utf-8", "replace")


def _message(body: bytes) -> dict[str, Any]:
    try:
        message = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError):
        return {}
    return message if isinstance(message, dict) else {}


def _complete(message: dict[str, Any]) -> dict[str, Any]:
    """Return `message` with every required member, shortened where the caller's own values are long."""
    params = message.get("params")
    params = dict(params) if isinstance(params, dict) else {}
    method = message.get("method")
    call: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": method if isinstance(method, str) else "tools/list"}
    call["method"] = call["method"][:100]
    if len(msgspec.json.encode(params)) > 1000:
        params = {"name": str(params.get("name"))[:128], "arguments": {}} if call["method"] == "tools/call" else {}
    params["_meta"] = {PROTOCOL_VERSION: MODERN_VERSIONS[0], CLIENT_CAPABILITIES: {}}
    return {**call, "params": params}
