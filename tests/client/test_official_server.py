"""The official Python SDK's server over HTTP, in both of its eras: a server that we did not write."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from leanmcp.client import Client, ClientRequestContext, ToolsListChanged
from leanmcp.errors import CallTimeout, MCPError, MethodNotFound
from leanmcp.types import ElicitResult
from tests.support.processes import DEADLINE, ROOT, end, environment

ERAS = {"auto": "2026-07-28", "legacy": "2025-11-25", "2025-06-18": "2025-06-18"}


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """The URL of the server."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.set_inheritable(True)
        descriptor = listener.fileno()
        command = [sys.executable, "tests/fixtures/official_features.py", str(descriptor)]
        server = subprocess.Popen(command, stderr=subprocess.PIPE, env=environment(), cwd=ROOT, pass_fds=(descriptor,))
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
        finally:
            end(server, patience=5)


async def ada(context: ClientRequestContext, params: Any) -> ElicitResult:
    """Answer with the default of the form."""
    assert params.message == "Who are you?"
    return ElicitResult(action="accept", content={})


def run(url: str, use: Any, **options: Any) -> Any:
    """Return what `use` makes of a client."""

    async def main() -> Any:
        async with asyncio.timeout(DEADLINE), Client(url, **{"elicitation_callback": ada, **options}) as client:
            return await use(client)

    return asyncio.run(main())


@pytest.mark.parametrize("mode", ERAS)
def test_everything_works_in_each_era(url: str, mode: str) -> None:
    """Spec: basic/versioning, "Compatibility Matrix"."""
    told: list[Any] = []

    async def use(client: Client) -> None:
        assert client.protocol_version == ERAS[mode]
        assert client.server_info is not None
        assert (client.server_info.name, client.instructions) == ("official", "official")
        assert "tools" in client.server_capabilities
        assert "greet" in [tool.name async for tool in client.tools()]
        assert await client.call_tool("add", {"a": 1, "b": 2}, type=int) == 3
        assert await client.call_tool("greet", type=str) == "Hello Ada"
        await client.call_tool("count", {"to": 3}, progress_callback=lambda *report: told.append(report))
        assert (await client.read_resource("official://pear")).contents[0].uri == "official://pear"
        with pytest.raises(MCPError):
            await client.read_resource("nowhere://x")
        assert [found.uri_template async for found in client.resource_templates()] == ["official://{item}"]
        assert len((await client.get_prompt("advise", {"product": "tea"})).messages) == 1
        found = await asyncio.gather(*(client.call_tool("add", {"a": n, "b": 0}, type=int) for n in range(20)))
        assert found == list(range(20))

    run(url, use, mode=mode)
    assert told == [(1, 3, "step 1"), (2, 3, "step 2"), (3, 3, "step 3")]


@pytest.mark.parametrize("mode", ERAS)
def test_a_timeout_ends_the_call_at_the_server(url: str, mode: str) -> None:
    """Spec: basic/patterns/cancellation: by closing the stream, or by notifications/cancelled in earlier versions."""

    async def use(client: Client) -> None:
        with pytest.raises(CallTimeout):
            await client.call_tool("hang", read_timeout_seconds=0.3)
        while await client.call_tool("hanging", type=int):
            await asyncio.sleep(0)

    run(url, use, mode=mode)


def test_an_interrupted_stream_is_resumed(url: str) -> None:
    """Spec 2025-11-25: basic/transports, "Resumability and Redelivery"."""

    async def use(client: Client) -> None:
        assert await client.call_tool("interrupted", type=str) == "resumed"

    run(url, use, mode="legacy")


def test_changes_reach_the_client_in_each_era(url: str) -> None:
    """Spec: basic/patterns/subscriptions; 2025-11-25: the standalone stream."""
    told: list[str] = []
    heard = asyncio.Event()

    def hear(method: str, params: dict[str, Any]) -> None:
        told.append(method)
        heard.set()

    async def legacy(client: Client) -> None:
        await client.call_tool("change", {"session": True}, raise_on_error=True)
        await heard.wait()

    async def modern(client: Client) -> None:
        async with client.listen(tools_list_changed=True) as subscription:
            await client.call_tool("change", {"session": False}, raise_on_error=True)
            assert await anext(subscription) == ToolsListChanged()

    run(url, legacy, mode="legacy", notification_callback=hear)
    assert told == ["notifications/tools/list_changed"]
    run(url, modern)


def test_a_session_is_begun_again_after_the_server_has_forgotten_it(url: str) -> None:
    """Spec 2025-11-25: basic/transports, "Session Management" 4: 404 means a new handshake."""

    async def use(client: Client) -> None:
        carrier: Any = client._live().caller.transport
        first = carrier._session
        await carrier._tell("DELETE", carrier._fields())
        calls = (client.call_tool("add", {"a": number, "b": 0}, type=int) for number in range(5))
        assert await asyncio.gather(*calls) == list(range(5))
        assert carrier._session not in (None, first)

    run(url, use, mode="legacy")


def test_verbs_of_one_era_say_so_in_the_other(url: str) -> None:
    """Ours."""

    async def legacy(client: Client) -> None:
        await client.send_ping()
        with pytest.raises(MethodNotFound, match="2025-11-25, which has no subscriptions"):
            client.listen(tools_list_changed=True)

    async def modern(client: Client) -> None:
        with pytest.raises(MethodNotFound, match="earlier protocol versions"):
            await client.send_ping()

    run(url, legacy, mode="legacy")
    run(url, modern)
