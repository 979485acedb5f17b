"""A long job: progress for a client that asks for it, an end when the client cancels, and a clean-up in any case.

Run it on stdio, as a host starts it:   python examples/longjob/server.py
Or on HTTP:                             leanmcp run examples/longjob/server.py --http
"""

import asyncio
import hashlib
import itertools
from typing import Annotated

from leanmcp import Context, Field, MCPServer, ToolError

mcp = MCPServer("Long job", version="1.0.0")
numbers = itertools.count(1)
drafts: dict[str, int] = {}


@mcp.tool(timeout=600, max_concurrency=100)
async def render(
    pages: Annotated[int, Field(ge=1, le=10_000, description="How long the report is to be.")],
    ctx: Context[None],
    seconds_per_page: Annotated[float, Field(ge=0, le=60, description="How long one takes.")] = 0.1,
) -> str:
    """Render a report page by page."""
    name = f"draft-{next(numbers)}"
    try:
        for page in range(1, pages + 1):
            drafts[name] = page
            await asyncio.sleep(seconds_per_page)  # the work
            await ctx.report_progress(page, pages, f"page {page} of {pages}")
        return f"A report of {pages} pages."
    finally:
        # The client cancelled, the time is over, or the report is done: no draft stays. This may await, for a while.
        await asyncio.sleep(0)
        drafts.pop(name, None)


@mcp.tool
def fingerprint(text: str, rounds: Annotated[int, Field(ge=1, le=10_000_000)], ctx: Context[None]) -> str:
    """Hash a text over and over; work of the processor, which runs in a thread.

    Args:
        text: what is hashed first.
        rounds: how often.
    """
    digest = text.encode()
    for number in range(1, rounds + 1):
        digest = hashlib.sha256(digest).digest()
        if number % 1000 == 0:
            ctx.progress(number, rounds)
            if ctx.cancelled:  # a thread is not interrupted; it looks
                raise ToolError("cancelled")
    return digest.hex()


@mcp.tool
async def unfinished() -> dict[str, int]:
    """Tell which drafts are being rendered, and up to which page."""
    return drafts


if __name__ == "__main__":
    mcp.run()
