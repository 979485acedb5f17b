"""The workloads on chuk-mcp-server; the command line is that of `material`.

It speaks revision 2025-11-25. Its `run` takes uvloop and httptools where they are installed; its `def` tools run on the
event loop.
"""

from __future__ import annotations

import base64

import material
from chuk_mcp_server import ChukMCPServer

OPTIONS = material.arguments()
mcp = ChukMCPServer(name=material.NAME, version=material.VERSION, transport=OPTIONS.transport)


@mcp.tool
async def echo(text: str) -> str:
    """Return the text."""
    return text


def workloads() -> None:
    """Register the tools besides echo."""
    text, image = material.text(), material.image()

    @mcp.tool
    def echo_inline(text: str) -> str:
        """Return the text, on the event loop."""
        return text

    @mcp.tool
    async def long_text() -> str:
        """Return 256 KiB of text."""
        return text

    @mcp.tool
    async def picture() -> dict:  # type: ignore[type-arg]
        """Return a picture of 5 MiB."""
        data = base64.b64encode(image).decode()
        return {"content": [{"type": "image", "data": data, "mimeType": "image/png"}], "_meta": {}}

    if material.COUNTING:
        counter = material.Counter()

        @mcp.tool
        async def entries() -> str:
            """Return the function entries since the last call of this tool."""
            return str(counter.restart())


def many(count: int) -> None:
    """Register more tools."""

    async def search(query: str, limit: int = 10) -> str:
        return query

    for number in range(count):
        mcp.tool(name=f"search_{number:04}", description=f"Search catalog {number} by title or author.")(search)


if OPTIONS.tools:
    many(OPTIONS.tools - 1)
else:
    workloads()

if __name__ == "__main__":
    mcp.run(host="127.0.0.1", port=OPTIONS.port, debug=False, log_level="error")
