"""An extension, and requests of clients that declare it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from typing import Any

import msgspec

from leanmcp import Context, Field, Limits, MCPServer, Model
from leanmcp.server import (
    Extension,
    MethodBinding,
    ToolBinding,
)
from tests.support.lines import Lines
from tests.support.processes import DEADLINE, request

Ctx = Context[None]
SEARCH = "com.example/search"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"


class SearchParams(Model):
    """What a search takes."""

    query: str = Field(min_length=2)
    limit: int = Field(default=10, ge=1)


class Hit(Model):
    """What it finds."""

    title: str
    rank: int


class Search(Extension):
    """Adds a method, a tool, a result type and a notification."""

    identifier = SEARCH
    result_types = ("com.example/queued",)
    notifications = ("notifications/com.example/hit",)

    def settings(self) -> dict[str, Any]:
        return {"languages": ["en", "pt"]}

    def tools(self) -> Sequence[ToolBinding]:
        return [ToolBinding(self.reindex, {"com.example/internal": True}, {"title": "Build the index anew"})]

    def methods(self) -> Sequence[MethodBinding]:
        return [
            MethodBinding("com.example/search", SearchParams, self.search),
            MethodBinding("com.example/status", dict, self.status, declared=False),
        ]

    async def search(self, ctx: Ctx, params: SearchParams) -> dict[str, Any]:
        for rank in range(params.limit):
            if not await ctx.notify("notifications/com.example/hit", {"rank": rank}):
                break
        return {"hits": [Hit(title=params.query.upper(), rank=rank) for rank in range(params.limit)]}

    def status(self, params: dict[str, Any], ctx: Ctx) -> dict[str, Any]:
        return {"params": params, "thread": threading.current_thread() is not threading.main_thread()}

    async def reindex(self) -> str:
        return "done"


def extended(message: dict[str, Any], *identifiers: str) -> dict[str, Any]:
    """Return a request of a client that declares extensions."""
    meta = {**message["params"]["_meta"], CAPABILITIES: {"extensions": {name: {} for name in identifiers}}}
    return {**message, "params": {**message["params"], "_meta": meta}}


class Raw(Lines):
    """Lines whose messages are not of the specification's schema alone: an extension adds to it."""

    def _sent(self, segments: list[bytes]) -> None:
        self.messages.append(msgspec.json.decode(b"".join(segments)))
        self._news.set()


def ask(mcp: MCPServer, *messages: dict[str, Any]) -> list[dict[str, Any]]:
    """Return everything that is sent for some requests."""

    async def main() -> list[dict[str, Any]]:
        async with asyncio.timeout(DEADLINE):
            lines = Raw(mcp)
            await lines.send(*messages).idle()
            return lines.messages

    return asyncio.run(main())


class Odd(Extension):
    """One handler, made by a test."""

    identifier = "com.example/odd"
    result_types = ("com.example/task",)

    def __init__(self, handler: Any, params_type: Any = dict, **options: Any) -> None:
        self._binding = MethodBinding("com.example/odd", params_type, handler, declared=False, **options)

    def methods(self) -> Sequence[MethodBinding]:
        return [self._binding]


def answer_of(handler: Any, *identifiers: str, **options: Any) -> dict[str, Any]:
    """Return the answer of one handler."""
    mcp = MCPServer("odd", extensions=[Odd(handler, **options)], limits=Limits(cleanup_grace=0.1))
    [answer] = ask(mcp, extended(request("com.example/odd"), *identifiers))
    return answer
