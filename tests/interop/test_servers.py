"""Servers that we did not write, on three frameworks, over stdio and HTTP, in this era and the one before.

Skipped, with the reason, where a framework cannot be installed.
"""

from __future__ import annotations

import asyncio
import re
import subprocess
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, NamedTuple

import pytest

from leanmcp.client import Client, StdioServerParameters
from leanmcp.errors import InvalidParams, MCPError
from leanmcp.types import TextContent, TextResourceContents
from tests.interop.install import FRAMEWORKS, CannotInstall, command
from tests.support.processes import DEADLINE, VERSION

LEGACY = "2025-11-25"


class Server(NamedTuple):
    """How to reach one, and as what."""

    framework: str
    target: StdioServerParameters | str
    mode: str

    @property
    def version(self) -> str:
        """The version that a client must agree on with it."""
        return LEGACY if self.mode == "legacy" else VERSION


@pytest.fixture(scope="module", params=FRAMEWORKS)
def framework(request: pytest.FixtureRequest) -> str:
    """A framework that is installed."""
    name: str = request.param
    try:
        command(name, "stdio")
    except CannotInstall as error:
        pytest.skip(f"no {name}: {error}")
    return name


@pytest.fixture(scope="module", params=["stdio", "http"])
def target(request: pytest.FixtureRequest, framework: str) -> Iterator[StdioServerParameters | str]:
    """A server: how to start it, or where it runs."""
    words, variables = command(framework, request.param)
    if request.param == "stdio":
        yield StdioServerParameters.from_command(words, env=variables, stderr="capture")
        return
    with _http(words, variables) as url:
        yield url


@pytest.fixture(params=["auto", "legacy"])
def server(request: pytest.FixtureRequest, framework: str, target: StdioServerParameters | str) -> Server:
    """A server, and the era to speak with it."""
    return Server(framework, target, request.param)


@contextmanager
def _http(words: list[str], variables: dict[str, str]) -> Iterator[str]:
    with subprocess.Popen(words, env=variables, stderr=subprocess.PIPE) as process:
        try:
            assert process.stderr is not None
            said = b""
            while (match := re.search(rb"http://127\.0\.0\.1:([1-9][0-9]+)", said)) is None:
                line = process.stderr.readline()
                assert line, f"the server did not start: {said.decode()}"
                said += line
            # It goes on logging, and must not get stuck on it.
            drain = threading.Thread(target=process.stderr.read, daemon=True)
            drain.start()
            yield match[0].decode() + "/mcp"
            process.kill()
            drain.join(DEADLINE)
        finally:
            process.kill()


@asynccontextmanager
async def _connected(server: Server, **options: Any) -> AsyncIterator[Client]:
    async with asyncio.timeout(DEADLINE), Client(server.target, mode=server.mode, **options) as client:
        yield client


def text_of(content: list[Any]) -> str:
    """Return the text of the one block that there is."""
    [block] = content
    assert isinstance(block, TextContent)
    return block.text


def test_everything_that_a_server_has(server: Server) -> None:
    """Spec: basic/versioning, "Compatibility Matrix"; tools, resources, templates, prompts, progress and errors."""
    reports: list[tuple[float, float | None, str | None]] = []

    async def main() -> None:
        async with _connected(server) as client:
            assert client.protocol_version == server.version
            assert client.server_info is not None
            assert (client.server_info.name, client.server_info.version) == ("interop", "1.2.3")
            tools = {tool.name: tool async for tool in client.tools()}
            assert set(tools) == {"echo", "add", "refuse", "count"}
            assert tools["add"].output_schema is not None
            assert text_of((await client.call_tool("echo", {"text": "Жизнь"})).content) == "Жизнь"
            assert (await client.call_tool("add", {"a": 2})).structured_content == {"sum": 3}
            refused = await client.call_tool("refuse")
            assert refused.is_error
            assert text_of(refused.content)  # some hide why
            counted = await client.call_tool(
                "count", {"to": 3}, progress_callback=lambda done, total, text: reports.append((done, total, text))
            )
            assert text_of(counted.content) == "counted"
            for uri, found in (("test://greeting", "hello"), ("test://greeting/Ada", "hello Ada")):
                [contents] = (await client.read_resource(uri)).contents
                assert isinstance(contents, TextResourceContents)
                assert contents.text == found
            assert [str(resource.uri) for resource in (await client.list_resources()).resources] == ["test://greeting"]
            templates = (await client.list_resource_templates()).resource_templates
            assert [template.uri_template for template in templates] == ["test://greeting/{name}"]
            [message] = (await client.get_prompt("review", {"code": "x = 1"})).messages
            assert isinstance(message.content, TextContent)
            assert message.content.text == "Review: x = 1"

    asyncio.run(main())
    assert [report[0] for report in reports] == [1, 2, 3]


def test_many_at_once_and_mistakes_between_them(server: Server) -> None:
    """Ours: each call gets its own answer, and an error ends nothing but its call."""

    async def main() -> None:
        async with _connected(server) as client:
            texts = [f"{number}" + "x" * 1000 for number in range(50)]
            results = await asyncio.gather(*[client.call_tool("echo", {"text": text}) for text in texts])
            assert [text_of(result.content) for result in results] == texts
            unknown = (await asyncio.gather(client.call_tool("missing"), return_exceptions=True))[0]
            assert isinstance(unknown, InvalidParams | MCPError) or unknown.is_error  # type: ignore[union-attr]
            with pytest.raises(MCPError):
                await client.read_resource("test://missing/of/all")
            large = "ж" * 300_000
            assert text_of((await client.call_tool("echo", {"text": large})).content) == large

    asyncio.run(main())


def test_call_that_is_given_up(server: Server) -> None:
    """Spec: basic/patterns/cancellation; the next call works."""

    async def main() -> None:
        async with _connected(server) as client:
            call = asyncio.create_task(client.call_tool("count", {"to": 100_000}))
            await asyncio.sleep(0)
            call.cancel()
            await asyncio.wait((call,))
            assert text_of((await client.call_tool("echo", {"text": "next"})).content) == "next"

    asyncio.run(main())
