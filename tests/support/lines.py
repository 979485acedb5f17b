"""One byte stream of a server in this process: messages in, and what the server sends back, as it sends it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from leanmcp import MCPServer
from leanmcp.protocol.jsonrpc import Segments
from leanmcp.server.line_endpoint import LineEndpoint

from .processes import DEADLINE, call, encode
from .spec import read

T = TypeVar("T")


class Lines:
    """Sends messages to a server and keeps what comes back, in order."""

    def __init__(self, mcp: MCPServer) -> None:
        self.mcp = mcp
        self.endpoint = LineEndpoint(mcp, self._sent)
        self.messages: list[dict[str, Any]] = []
        self.octets: list[bytes] = []
        """The same, as they were sent."""
        self._news = asyncio.Event()

    def _sent(self, segments: Segments) -> None:
        self.octets.append(b"".join(segments))
        self.messages.append(read(self.octets[-1]))
        self._news.set()

    def send(self, *messages: dict[str, Any]) -> Lines:
        """Hand messages to the server."""
        for message in messages:
            self.endpoint.receive(encode(message))
        return self

    async def message(self, number: int) -> dict[str, Any]:
        """Wait for the message of that number."""
        while len(self.messages) <= number:
            self._news.clear()
            await self._news.wait()
        return self.messages[number]

    async def answer(self, request_id: int | str = 1) -> dict[str, Any]:
        """Wait for the answer to a request."""
        number = 0
        while (message := await self.message(number)).get("id") != request_id:
            number += 1
        return message

    async def idle(self) -> Lines:
        """Wait until no call is in flight."""
        while self.endpoint.calls:
            await asyncio.wait(self.endpoint.calls.values())
            await asyncio.sleep(0)
        return self

    @property
    def progress(self) -> list[Any]:
        """The progress values sent so far."""
        return [message["params"]["progress"] for message in self.messages if "method" in message]


def cancelled(request_id: int | str = 1) -> dict[str, Any]:
    """Return notifications/cancelled."""
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": request_id}}


def asking(message: dict[str, Any], token: Any = "token") -> dict[str, Any]:
    """Return a request whose client wants progress."""
    params = message["params"]
    return {**message, "params": {**params, "_meta": {**params["_meta"], "progressToken": token}}}


def run(mcp: MCPServer, conversation: Callable[[Lines], Coroutine[Any, Any, T]]) -> T:
    """Hold a conversation with a server, within the deadline."""

    async def main() -> T:
        async with asyncio.timeout(DEADLINE):
            return await conversation(Lines(mcp))

    return asyncio.run(main())


def call_once(mcp: MCPServer, tool: str, arguments: dict[str, Any] | None = None, token: Any = None) -> Lines:
    """Call a tool, with a progress token where one is given, and return everything that was sent."""
    message = call(tool, arguments)
    return run(mcp, lambda lines: lines.send(message if token is None else asking(message, token)).idle())


async def soon(event: asyncio.Event | Awaitable[T]) -> T | bool:
    """Wait for an event, within the deadline."""
    async with asyncio.timeout(DEADLINE):
        return await (event.wait() if isinstance(event, asyncio.Event) else event)


def text_of(message: dict[str, Any]) -> str:
    """Return the first text block of a result that is an error."""
    assert message["result"]["isError"], message
    text: str = message["result"]["content"][0]["text"]
    return text
