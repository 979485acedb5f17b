"""The tools that benchmarks/bench_faults.py misuses; served by `python -m leanmcp run FILE [--http --port N]`.

FAULTS_TIMEOUT, in seconds, makes the deadlines of a connection small, for runs that cannot wait for the real ones.
"""

from __future__ import annotations

import asyncio
import os
import time

from leanmcp import Limits, MCPServer

_seconds = float(os.environ.get("FAULTS_TIMEOUT", "0"))
_small = Limits(silent_timeout=_seconds, head_timeout=_seconds, body_timeout=_seconds) if _seconds else None
mcp = MCPServer("faults", version="1.0", limits=_small)
_counts = {"started": 0, "ended": 0, "cancelled": 0}


@mcp.tool
async def echo(text: str) -> str:
    """Return the text."""
    return text


@mcp.tool
async def length(text: str) -> int:
    """Return how long the text is."""
    return len(text)


@mcp.tool
async def slow(seconds: float) -> str:
    """Sleep, and count how that ended."""
    _counts["started"] += 1
    try:
        await asyncio.sleep(seconds)
    except asyncio.CancelledError:
        _counts["cancelled"] += 1
        raise
    _counts["ended"] += 1
    return "slept"


@mcp.tool
async def counts() -> dict[str, int]:
    """Return how many calls of `slow` started, ended and were cancelled."""
    return _counts


@mcp.tool
def block(seconds: float) -> str:
    """Hold a worker thread."""
    time.sleep(seconds)
    return "blocked"


@mcp.tool
async def boom(secret: str = "postgres://user:secret@host") -> str:
    """Fail unexpectedly."""
    raise RuntimeError(secret)


@mcp.tool
async def blob(size: int) -> str:
    """Return a text of `size` characters."""
    return "x" * size


@mcp.tool
async def rows(count: int) -> list[dict[str, int]]:
    """Return a list of `count` objects."""
    return [{"number": number, "square": number * number} for number in range(count)]


@mcp.tool
async def change(count: int) -> int:
    """Change the list of tools `count` times, so to speak, a turn of the loop apart."""
    for _ in range(count):
        mcp.notify_tools_changed()
        await asyncio.sleep(0)
    return count


@mcp.tool
async def update(count: int, resources: int) -> int:
    """Update so many resources in turn, `count` updates in all, 1,000 every 20 ms."""
    for number in range(count):
        mcp.notify_resource_updated(f"faults://resource/{number % resources}")
        if number % 1000 == 999:
            await asyncio.sleep(0.02)
    return count


mcp.declare("resources", {"subscribe": True})

if __name__ == "__main__":
    mcp.run("http", port=0, drain=float(os.environ["FAULTS_DRAIN"]))
