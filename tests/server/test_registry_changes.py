"""Tools that come, go and change while the server runs."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from leanmcp import MCPServer
from tests.support.spec import request


async def noop() -> str:
    """Do nothing."""
    return "old"


async def other() -> str:
    """Do nothing else."""
    return "new"


@pytest.fixture
def mcp() -> MCPServer:
    mcp = MCPServer("changes")
    for name in "abc":
        mcp.add_tool(noop, name)
    return mcp


def listed(mcp: MCPServer) -> list[str]:
    """Return the names that tools/list gives."""
    answer = asyncio.run(request(mcp, "tools/list", {}))
    return [tool["name"] for tool in answer["result"]["tools"]]


def call(mcp: MCPServer, name: str) -> dict[str, Any]:
    """Return the whole response to one call."""
    return asyncio.run(request(mcp, "tools/call", {"name": name}))


def test_disabled_tool_is_neither_listed_nor_called(mcp: MCPServer) -> None:
    """Ours: as good as unknown, also in what is suggested for a wrong name."""
    mcp.disable_tool("b")
    assert listed(mcp) == ["a", "c"]
    assert [tool.name for tool in mcp.tools] == ["a", "c"]
    assert call(mcp, "b")["error"] == {"code": -32602, "message": "Unknown tool: 'b'"}
    mcp.disable_tool("b")
    mcp.enable_tool("b")
    assert listed(mcp) == ["a", "b", "c"]
    assert call(mcp, "b")["result"]["structuredContent"] == {"result": "old"}


def test_replaced_tool_keeps_its_place(mcp: MCPServer) -> None:
    """Ours: FIELD row 104."""
    mcp.add_tool(other, "b", replace=True)
    assert listed(mcp) == ["a", "b", "c"]
    assert call(mcp, "b")["result"]["structuredContent"] == {"result": "new"}


def test_replacing_a_disabled_tool_does_not_show_it(mcp: MCPServer) -> None:
    """Ours: who hides a tool decides when it comes back."""
    mcp.disable_tool("b")
    with pytest.raises(ValueError, match="registered already"):
        mcp.add_tool(other, "b")
    mcp.add_tool(other, "b", replace=True)
    assert listed(mcp) == ["a", "c"]
    mcp.enable_tool("b")
    assert call(mcp, "b")["result"]["structuredContent"] == {"result": "new"}


def test_removed_tool_comes_back_at_the_end(mcp: MCPServer) -> None:
    """Ours: its old place is gone, so that no cursor finds it twice."""
    mcp.remove_tool("a")
    assert "error" in call(mcp, "a")
    mcp.add_tool(noop, "a")
    assert listed(mcp) == ["b", "c", "a"]


def test_unknown_names_are_refused(mcp: MCPServer) -> None:
    """Ours: a misspelt name is told at once."""
    for change in (mcp.remove_tool, mcp.disable_tool, mcp.enable_tool):
        with pytest.raises(ValueError, match="there is no tool 'x'"):
            change("x")


def test_running_call_ends_with_the_tool_it_began_with() -> None:
    """Ours: removal takes a tool from later requests only."""
    mcp = MCPServer("changes")

    @mcp.tool
    async def leave() -> str:
        mcp.remove_tool("leave")
        await asyncio.sleep(0)
        return "done"

    assert call(mcp, "leave")["result"]["structuredContent"] == {"result": "done"}
    assert listed(mcp) == []


def test_threads_change_the_registry_while_the_loop_serves_it() -> None:
    """Ours: every answer is of some moment; nothing is raised, nothing half-made is seen."""
    mcp = MCPServer("changes", page_size=3)
    mcp.add_tool(noop, "stays")
    stop = threading.Event()
    faults: list[BaseException] = []

    def change(prefix: str) -> None:
        try:
            while not stop.is_set():
                for number in range(5):
                    mcp.add_tool(noop, f"{prefix}{number}")
                    mcp.disable_tool(f"{prefix}{number}")
                    mcp.add_tool(other, f"{prefix}{number}", replace=True)
                    mcp.enable_tool(f"{prefix}{number}")
                for number in range(5):
                    mcp.remove_tool(f"{prefix}{number}")
        except BaseException as fault:
            faults.append(fault)

    async def serve() -> None:
        for _ in range(150):
            answer = await request(mcp, "tools/list", {})
            assert answer["result"]["tools"][0]["name"] == "stays"
            assert "result" in await request(mcp, "tools/call", {"name": "stays"})
            called = await request(mcp, "tools/call", {"name": "x3"})
            assert called.get("error", {"code": -32602})["code"] == -32602

    threads = [threading.Thread(target=change, args=(prefix,)) for prefix in "xy"]
    for thread in threads:
        thread.start()
    try:
        asyncio.run(serve())
    finally:
        stop.set()
        for thread in threads:
            thread.join(10)
    assert faults == []
    assert listed(mcp) == ["stays"]


def test_a_listener_hears_of_each_change_until_it_is_ignored(mcp: MCPServer) -> None:
    """Ours: beside the notification of clients; one that ends within a change keeps no other from being told."""
    heard: list[int] = []

    def once() -> None:
        heard.append(len(mcp.tools))
        mcp._tools.ignore(once)

    mcp._tools.listen(once)
    mcp._tools.listen(lambda: heard.append(-len(mcp.tools)))
    mcp.add_tool(noop, "d")
    mcp.disable_tool("d")
    mcp.remove_tool("a")
    assert heard == [4, -4, -3, -2]
