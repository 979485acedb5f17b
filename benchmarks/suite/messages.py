"""The requests of the workloads, as octets, for servers of either revision.

Spec 2026-07-28: basic/index, "_meta"; basic/transports/streamable-http, "Sending Messages". Spec 2025-11-25:
basic/lifecycle.
"""

from __future__ import annotations

from typing import Any

import msgspec

from benchmarks.suite.workloads import NOTES, THING, Workload

REVISION, OLD_REVISION = "2026-07-28", "2025-11-25"
_MARK = 7_777_777_777  # stands for the id
_CLIENT = {"name": "bench", "version": "1.0"}


def _meta() -> dict[str, Any]:
    return {
        "io.modelcontextprotocol/protocolVersion": REVISION,
        "io.modelcontextprotocol/clientInfo": _CLIENT,
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
    }


class Dialect:
    """How one server is talked to.

    Args:
        revision: of the protocol.
        port: of the HTTP server.

    Attributes:
        session: the value of Mcp-Session-Id, where a server of the old revision gave one.
    """

    def __init__(self, revision: str, port: int) -> None:
        self._old = revision != REVISION
        self._revision = revision
        self._port = port
        self.session = ""

    def body(self, workload: Workload) -> tuple[bytes, bytes]:
        """Return what stands before and behind the id in the request of a workload."""
        if not workload.tool:
            return self._split("tools/list", {})
        params: dict[str, Any] = {"name": workload.tool, "arguments": workload.arguments}
        return self._split("tools/call", params, **({"progressToken": "note"} if workload.tool == "progress" else {}))

    def listen(self) -> tuple[bytes, bytes]:
        """Return the same of a request that opens a stream."""
        return self._split("subscriptions/listen", {"notifications": {"resourceSubscriptions": [THING]}})

    def head(self, method: str, name: str = "") -> bytes:
        """Return the head of a request up to the value of Content-Length."""
        fields = [
            f"Host: 127.0.0.1:{self._port}",
            "User-Agent: bench/1.0",
            "Accept: application/json, text/event-stream",
            "Content-Type: application/json",
            f"MCP-Protocol-Version: {self._revision}",
        ]
        if not self._old:
            fields += [f"Mcp-Method: {method}", *([f"Mcp-Name: {name}"] if name else [])]
        if self.session:
            fields.append(f"Mcp-Session-Id: {self.session}")
        return "\r\n".join(("POST /mcp HTTP/1.1", *fields, "Content-Length: ")).encode()

    def handshake(self) -> tuple[bytes, bytes]:
        """Return request and notification that open a session of the old revision."""
        params = {"protocolVersion": self._revision, "capabilities": {}, "clientInfo": _CLIENT}
        request = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
        return msgspec.json.encode(request), b'{"jsonrpc":"2.0","method":"notifications/initialized"}'

    @property
    def shakes_hands(self) -> bool:
        """Whether a session must be opened first."""
        return self._old

    def _split(self, method: str, params: dict[str, Any], **meta: Any) -> tuple[bytes, bytes]:
        """Return the halves of a request, with `_meta` last: a second request appends members behind it."""
        envelope = ({} if self._old else _meta()) | meta
        params = params | ({"_meta": envelope} if envelope else {})
        message = {"jsonrpc": "2.0", "id": _MARK, "method": method, "params": params}
        prefix, suffix = msgspec.json.encode(message).split(b"%d" % _MARK)
        return prefix, suffix


def method(workload: Workload) -> str:
    """Return the method of a workload's request."""
    return "tools/call" if workload.tool else "tools/list"


def call(dialect: Dialect, workload: Workload, number: int) -> bytes:
    """Return one whole request body."""
    prefix, suffix = dialect.body(workload)
    return prefix + b"%d" % number + suffix


__all__ = ["NOTES", "OLD_REVISION", "REVISION", "Dialect", "call", "method"]
