"""Tools that come and go while the server runs: one for each line of a file, and clients that listen are told.

The file holds `name: text`, a line each, and is looked at every half second. A client opens a `subscriptions/listen`
stream once and lists the tools again when it is told to; it never has to ask in between.

Run it on HTTP:                       leanmcp run examples/watcher/server.py --http
Or on stdio, as a host starts it:     python examples/watcher/server.py
Then edit the file:                   echo "greet: Hello from the file." >> replies.txt
"""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from leanmcp import MCPServer

FILE = Path(os.environ.get("REPLIES", "replies.txt"))
INTERVAL = float(os.environ.get("REPLIES_INTERVAL", "0.5"))  # seconds


def read_replies() -> dict[str, str]:
    """Return what the file holds; nothing where there is none."""
    if not FILE.exists():
        return {}
    pairs = [line.partition(":") for line in FILE.read_text().splitlines()]
    return {name.strip(): text.strip() for name, colon, text in pairs if colon and name.strip().isidentifier()}


def apply(replies: dict[str, str], known: dict[str, str]) -> None:
    """Make the tools what the file says; each change is told by itself, all of one look at the file as one."""
    for name in known.keys() - replies.keys():
        server.remove_tool(name)
    for name, text in replies.items():
        if known.get(name) != text:
            server.add_tool(reply_with(text), name, description=f"Reply: {text}", replace=name in known)


def reply_with(text: str) -> Callable[[], Awaitable[str]]:
    """Return the function of a tool."""

    async def reply() -> str:
        return text

    return reply


@asynccontextmanager
async def watching(_: MCPServer) -> AsyncIterator[None]:
    """Look at the file for as long as the server runs."""

    async def watch() -> None:
        known: dict[str, str] = {}
        while True:
            replies = await asyncio.to_thread(read_replies)
            apply(replies, known)
            known = replies
            await asyncio.sleep(INTERVAL)

    task = asyncio.create_task(watch())
    yield
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


server = MCPServer("Replies", version="1.0.0", lifespan=watching)


@server.tool
async def replies() -> list[str]:
    """Tell which replies there are."""
    return [tool.name for tool in server.tools if tool.name != "replies"]


if __name__ == "__main__":
    server.run()
