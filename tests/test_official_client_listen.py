"""The official Python client listens, over stdio and over HTTP: filter, changes, several streams, every end."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.subscriptions import PromptsListChanged, ResourcesListChanged, ResourceUpdated, ToolsListChanged

from tests.support.processes import DEADLINE, ROOT, environment, http_server, stdio_command

LISTENING = ROOT / "tests" / "fixtures" / "listening.py"
# A stdio server cannot be signalled through the client: it tells its own process number.
STDIO = """
import os
from tests.fixtures.listening import mcp

@mcp.tool
def pid() -> int: return os.getpid()
"""
Conversation = Callable[[Client, Callable[[], Awaitable[None]]], Awaitable[None]]


@pytest.fixture(params=["stdio", "http"])
def use(request: pytest.FixtureRequest, tmp_path: Any) -> Callable[[Conversation], None]:
    """Holds a conversation with the server, on each transport; it gets the client, and what ends the server."""

    async def main(target: Any, end: Callable[[Client], Awaitable[None]], conversation: Conversation) -> None:
        async with asyncio.timeout(DEADLINE), Client(target) as client:
            await conversation(client, lambda: end(client))

    def over_http(conversation: Conversation) -> None:
        with http_server(LISTENING) as server:

            async def end(_: Client) -> None:
                server.process.terminate()

            asyncio.run(main(server.url, end, conversation))

    def over_stdio(conversation: Conversation) -> None:
        file = tmp_path / "server.py"
        file.write_text(STDIO)
        command, *arguments = stdio_command(file)

        async def end(client: Client) -> None:
            content = (await client.call_tool("pid", {})).structured_content
            assert content is not None
            os.kill(content["result"], 15)

        asyncio.run(
            main(StdioServerParameters(command=command, args=arguments, env=environment(), cwd=ROOT), end, conversation)
        )

    return over_http if request.param == "http" else over_stdio


def test_client_hears_of_changes(use: Callable[[Conversation], None]) -> None:
    """Spec: basic/patterns/subscriptions; capabilities, the honoured filter, each kind of event."""

    async def conversation(client: Client, _: Any) -> None:
        assert client.server_capabilities.tools is not None
        assert client.server_capabilities.tools.list_changed
        uris = ["a:1", "a:2"]
        kinds = {"tools_list_changed": True, "prompts_list_changed": True, "resources_list_changed": True}
        async with client.listen(**kinds, resource_subscriptions=uris) as changes:
            assert changes.honored.resource_subscriptions == uris
            await client.call_tool("change", {})
            await client.call_tool("update", {"uris": ["a:0", "a:2"]})
            seen = {await anext(changes) for _ in range(4)}
            assert seen == {ToolsListChanged(), PromptsListChanged(), ResourcesListChanged(), ResourceUpdated("a:2")}

    use(conversation)


def test_client_holds_several_streams_and_leaves_some(use: Callable[[Conversation], None]) -> None:
    """Spec: basic/patterns/subscriptions, "Multiple Concurrent Subscriptions" and "Cancellation"."""

    async def conversation(client: Client, _: Any) -> None:
        async with client.listen(resource_subscriptions=["a:1"]) as first:
            async with client.listen(resource_subscriptions=["a:2"]) as second:
                await client.call_tool("update", {"uris": ["a:1", "a:2"]})
                assert (await anext(first), await anext(second)) == (ResourceUpdated("a:1"), ResourceUpdated("a:2"))
            while (await client.call_tool("counts", {})).structured_content["streams"] != 1:
                pass
            await client.call_tool("update", {"uris": ["a:2", "a:1"]})
            assert await anext(first) == ResourceUpdated("a:1")
        while (await client.call_tool("counts", {})).structured_content["streams"] != 0:
            pass

    use(conversation)


def test_client_sees_a_graceful_end(use: Callable[[Conversation], None]) -> None:
    """Spec: basic/patterns/subscriptions, "Graceful Closure"; not the loss of a connection, which would raise."""

    async def conversation(client: Client, end: Callable[[], Awaitable[None]]) -> None:
        async with client.listen(tools_list_changed=True) as changes:
            await end()
            assert [event async for event in changes] == []

    use(conversation)


def test_client_is_told_where_nobody_can_listen(tmp_path: Any) -> None:
    """Ours: FIELD 80; `listen=False`."""
    file = tmp_path / "quiet.py"
    file.write_text("from leanmcp import MCPServer\nmcp = MCPServer('quiet', listen=False)\n")

    async def main(url: str) -> None:
        async with asyncio.timeout(DEADLINE), Client(url) as client:
            assert client.server_capabilities.tools is not None
            assert not client.server_capabilities.tools.list_changed
            with pytest.raises(MCPError) as refused:
                async with client.listen(tools_list_changed=True):
                    raise AssertionError("it was acknowledged")
            assert refused.value.code == -32601

    with http_server(file) as server:
        asyncio.run(main(server.url))
