"""A server in memory that answers what a test wants it to, however wrong; and keeps what it was sent."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import msgspec

from leanmcp.protocol.outgoing import OutgoingRequest

from .processes import DEADLINE, VERSION

T = TypeVar("T")
Answer = dict[str, Any] | Callable[[dict[str, Any]], dict[str, Any]]


def tool(name: str, **members: Any) -> dict[str, Any]:
    """Return an entry of tools/list."""
    return {"name": name, "inputSchema": {"type": "object"}, **members}


def text(value: str, **members: Any) -> dict[str, Any]:
    """Return a result with one text block."""
    return {"content": [{"type": "text", "text": value}], **members}


class StrangeServer:
    """Transport of a client under test, and the server behind it.

    Args:
        tools: entries of tools/list, or several pages of them.
        results: by tool, the result of tools/call, or a function of the params.
        lists: other list methods, by name, and their results.
    """

    is_modern = True

    def __init__(
        self,
        *tools: dict[str, Any],
        results: dict[str, Answer] | None = None,
        pages: list[list[dict[str, Any]]] | None = None,
        lists: dict[str, dict[str, Any]] | None = None,
        where: str = "a strange server",
    ) -> None:
        self.where = where
        self.pages = [list(tools)] if pages is None else pages
        self.results: dict[str, Answer] = results or {}
        self.lists = lists or {}
        self.sent: list[dict[str, Any]] = []

    async def start(self) -> None:
        """Get ready."""

    async def close(self) -> None:
        """Let go."""

    def calls(self) -> list[dict[str, Any]]:
        """Return the arguments of the tools/call requests."""
        return [message["params"]["arguments"] for message in self.sent if message["method"] == "tools/call"]

    def count(self, method: str) -> int:
        """Return how often a method was asked for."""
        return sum(message["method"] == method for message in self.sent)

    async def request(self, request: OutgoingRequest) -> bytes:
        """Answer a request."""
        message = msgspec.json.decode(request.message)
        self.sent.append(message)
        answer: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
        result = self._result(message["method"], message["params"])
        if result is None:
            answer["error"] = {"code": -32602, "message": "nothing of that name"}
        else:
            answer["result"] = {"resultType": "complete", **result}
        return msgspec.json.encode(answer)

    def _result(self, method: str, params: dict[str, Any]) -> dict[str, Any] | None:
        cacheable = {"ttlMs": 0, "cacheScope": "private"}
        if method == "server/discover":
            return {"supportedVersions": [VERSION], "capabilities": {"tools": {}}, **cacheable}
        if method == "tools/list":
            page = int(params.get("cursor", "0"))
            more = {"nextCursor": str(page + 1)} if page + 1 < len(self.pages) else {}
            return {"tools": self.pages[page], **cacheable, **more}
        if method in self.lists:
            return {**self.lists[method], **cacheable}
        found = self.results.get(params.get("name", ""))
        return found(params) if callable(found) else found


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a test's coroutine, within the deadline."""

    async def main() -> T:
        async with asyncio.timeout(DEADLINE):
            return await coroutine

    return asyncio.run(main())
