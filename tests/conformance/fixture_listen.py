"""The part of the conformance fixture that changes while somebody listens."""

from __future__ import annotations

from leanmcp import MCPServer


def register(mcp: MCPServer) -> None:
    """Add the tools that the suite calls while its streams are open."""

    @mcp.tool
    async def test_trigger_tool_change() -> str:
        """Tell those who listen that the list of tools has changed."""
        mcp.notify_tools_changed()
        return "Listeners are told of a change of tools."

    @mcp.tool
    async def test_trigger_prompt_change() -> str:
        """Tell those who listen that the list of prompts has changed."""
        mcp.notify_prompts_changed()
        return "Listeners are told of a change of prompts."
