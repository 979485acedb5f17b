"""`Client` and our own server as its child process, on both event loops."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from leanmcp.client import Client, StdioServerParameters
from leanmcp.errors import CallTimeout, CannotConnect, ConnectionLost, MCPError, SubscriptionLost
from leanmcp.types import CallToolResult, TextContent
from tests.support.bad_stdio_server import READ, answer, complain, die, leave, say
from tests.support.processes import ROOT, VERSION, environment, stdio_command
from tests.support.stdio_talk import both_loops, parameters, received, run

TOOLS = "tests/fixtures/tools.py"
FOUND = say(
    '{"jsonrpc":"2.0","id":$ID,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{},'
    '"ttlMs":0,"cacheScope":"private"}}'
)


def own(target: str = TOOLS, **options: Any) -> StdioServerParameters:
    """Return the command of one of our servers."""
    return StdioServerParameters.from_command(
        stdio_command(target), env=environment(), cwd=ROOT, **{"stderr": "capture", **options}
    )


def text_of(result: CallToolResult) -> str:
    """Return the text of a result with one block."""
    [block] = result.content
    assert isinstance(block, TextContent)
    return block.text


@both_loops
def test_calls_lists_and_errors(loop: str) -> None:
    """Spec: basic/transports/stdio; the metadata travels in the body alone."""

    async def main() -> None:
        async with Client(own()) as client:
            assert client.protocol_version == VERSION
            assert text_of(await client.call_tool("echo", {"text": "Жизнь\u2028\n"})) == "Жизнь\u2028\n"
            assert "echo" in {tool.name async for tool in client.tools()}
            assert (await client.call_tool("refuse", {"reason": "no"})).is_error
            who = await client.call_tool("whoami")
            assert who.structured_content["version"] == VERSION
            assert who.structured_content["client"] == "leanmcp"
            with pytest.raises(MCPError, match="missing"):
                await client.call_tool("missing")
            assert text_of(await client.call_tool("noisy")) == "0"

    run(loop, main())


@both_loops
def test_many_at_once_and_large_ones(loop: str) -> None:
    """Ours: each gets its own answer; several megabytes go in and come out, while small ones pass."""

    async def main() -> None:
        async with Client(own()) as client:
            large = "ж" * 2_000_000
            texts = [str(number) for number in range(300)] + [large, "last"]
            results = await asyncio.gather(*[client.call_tool("echo", {"text": text}) for text in texts])
            assert [text_of(result) for result in results] == texts

    run(loop, main())


@both_loops
def test_timeout_cancels_at_the_server(loop: str) -> None:
    """Spec: basic/patterns/cancellation, "Timeouts": sending a notifications/cancelled."""
    lines: list[str] = []

    async def main() -> None:
        seen = asyncio.Event()

        def take(line: str) -> None:
            lines.append(line)
            if "slow was cancelled" in line:
                seen.set()

        async with Client(own(stderr=take)) as client:
            with pytest.raises(CallTimeout, match=r"did not answer tools/call within 0\.05 seconds"):
                await client.call_tool("slow", {"seconds": 60}, read_timeout_seconds=0.05)
            await seen.wait()
            assert text_of(await client.call_tool("echo", {"text": "next"})) == "next"

    run(loop, main())


@both_loops
def test_changes_arrive_until_the_server_dies(loop: str) -> None:
    """Spec: basic/transports/stdio, "Unexpected Termination"; a lost subscription is no quiet one."""

    async def main() -> None:
        async with (
            Client(own("tests/fixtures/listening.py", restart=True)) as client,
            client.listen(tools_list_changed=True) as subscription,
        ):
            await client.call_tool("change")
            async for event in subscription:
                assert event is not None
                break
            transport: Any = client._transport
            os.kill(transport._process._child.pid, signal.SIGKILL)
            with pytest.raises(SubscriptionLost, match="SIGKILL"):
                async for _ in subscription:
                    pass
            assert text_of(await client.call_tool("echo", {"text": "again"})) == "again"
            assert transport.starts == 2

    run(loop, main())


@both_loops
def test_server_that_dies_while_connecting(loop: str) -> None:
    """Ours: U13; what the server said is in the error, and no handshake of an earlier era is tried on a dead one."""

    async def main() -> None:
        client = Client(parameters(start=[complain("no module named 'library'"), leave(1)]))
        with pytest.raises(ConnectionLost, match=r"exited with code 1 before(?s:.*)no module named 'library'"):
            async with client:
                pass
        with pytest.raises(CannotConnect, match="there is no program"):
            async with Client(StdioServerParameters(command="no-such-server-anywhere")):
                pass

    run(loop, main())


@both_loops
def test_server_that_dies_in_a_call(loop: str) -> None:
    """Ours: FIELD 135; the next call says so again, or, with `restart`, works."""

    async def main() -> None:
        async with Client(parameters([FOUND], [die(signal.SIGSEGV)])) as client:
            for _ in range(2):
                with pytest.raises(ConnectionLost, match="was ended by SIGSEGV"):
                    await client.call_tool("any")
        async with Client(parameters([FOUND], [answer("first")], [leave(1)], restart=True)) as client:
            assert text_of(await client.call_tool("any")) == "first"
            with pytest.raises(ConnectionLost, match="exited with code 1"):
                await client.call_tool("any")
            with pytest.raises(MCPError):  # the new one's first answer is that to server/discover
                await client.call_tool("any")

    run(loop, main())


@both_loops
def test_mute_server_gives_up_at_the_timeout(loop: str, tmp_path: Path) -> None:
    """Ours: every wait is bounded; the late answers of the mute one harm nobody."""
    state = tmp_path / "state"

    async def main() -> None:
        steps = [[FOUND], [READ], [READ, answer("late")]]
        async with Client(parameters(*steps, state=state)) as client:
            for _ in range(2):
                with pytest.raises(CallTimeout):
                    await client.call_tool("any", read_timeout_seconds=0.1)
            assert text_of(await client.call_tool("any")) == "fine"

    run(loop, main())
    methods = [message["method"] for message in received(state)]
    assert methods == ["server/discover", *["tools/call", "notifications/cancelled"] * 2, "tools/call"]


@both_loops
def test_client_can_be_entered_again(loop: str) -> None:
    """Ours: each time with a process of its own."""

    async def main() -> None:
        client = Client(own())
        for _ in range(2):
            async with client:
                assert text_of(await client.call_tool("echo", {"text": "hi"})) == "hi"

    run(loop, main())


def test_notifications_of_an_extension_reach_the_client() -> None:
    """Ours: on the channel that all requests share, and without a request's id."""
    got: list[tuple[str, Any]] = []

    async def main() -> Any:
        client = Client(
            own("examples/search/server.py"),
            capabilities={"extensions": {"com.example/search": {}}},
            notification_callback=lambda method, params: got.append((method, params)),
        )
        async with client:
            return await client.request("com.example/search", {"query": "emma"})

    assert run("asyncio", main())["titles"] == ["Emma"]
    assert got == [("notifications/com.example/found", {"title": "Emma"})]
