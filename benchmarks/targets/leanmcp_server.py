"""The workloads on leanmcp; the command line is that of `material`."""

from __future__ import annotations

import material

from leanmcp import MCPServer

OPTIONS = material.arguments()
mcp = MCPServer(material.NAME, version=material.VERSION, page_size=OPTIONS.page)


@mcp.tool
async def echo(text: str) -> str:
    """Return the text."""
    return text


if OPTIONS.tools != 1:
    import leanmcp_workloads  # only here: a server of echo alone must not pay for it

    if OPTIONS.tools:
        leanmcp_workloads.register_many(mcp, OPTIONS.tools - 1)
    else:
        leanmcp_workloads.register(mcp)

if __name__ == "__main__":
    if OPTIONS.transport == "http":
        mcp.run("http", port=OPTIONS.port)
    else:
        mcp.run()
