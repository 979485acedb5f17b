"""The reference servers from npm, which hosts start with npx: everything and filesystem, of revision 2025-11-25.

Skipped, with the reason, where Node or the packages cannot be had.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from leanmcp.client import Client, ClientRequestContext, StdioServerParameters
from leanmcp.types import ElicitRequestFormParams, ElicitRequestParams, ElicitResult, ImageContent, TextContent
from tests.interop.install import CannotInstall, npm_server
from tests.support.processes import DEADLINE


@asynccontextmanager
async def _connected(name: str, *args: str, **options: Any) -> AsyncIterator[Client]:
    parameters = StdioServerParameters.from_command(npm_server(name, *args), stderr="capture")
    async with asyncio.timeout(DEADLINE), Client(parameters, **options) as client:
        assert client.protocol_version == "2025-11-25"
        yield client


@pytest.fixture(autouse=True, scope="module")
def _installed() -> None:
    try:
        npm_server("everything")
    except CannotInstall as error:
        pytest.skip(f"no npm servers: {error}")


def text_of(content: list[Any]) -> str:
    """Return the text of the first block."""
    assert isinstance(content[0], TextContent)
    return content[0].text


def test_everything() -> None:
    """Spec: basic/versioning, "Backward Compatibility"; calls, structured content, media, progress, resources,
    prompts, completion, and a question of the server that the client answers."""
    reports: list[float] = []

    async def answer(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        assert isinstance(params, ElicitRequestFormParams)
        assert params.requested_schema["required"] == ["name"]
        return ElicitResult(action="accept", content={"name": "Ada", "integer": 7})

    async def main() -> None:
        async with _connected("everything", "stdio", elicitation_callback=answer) as client:
            tools = {tool.name async for tool in client.tools()}
            assert {"echo", "get-sum", "get-tiny-image", "trigger-elicitation-request"} <= tools
            assert text_of((await client.call_tool("echo", {"message": "hi"})).content) == "Echo: hi"
            weather = await client.call_tool("get-structured-content", {"location": "New York"})
            assert set(weather.structured_content) == {"temperature", "conditions", "humidity"}
            image = (await client.call_tool("get-tiny-image")).content[1]
            assert isinstance(image, ImageContent)
            assert image.mime_type == "image/png"
            await client.call_tool(
                "trigger-long-running-operation",
                {"duration": 0.1, "steps": 4},
                progress_callback=lambda done, total, text: reports.append(done),
            )
            elicited = await client.call_tool("trigger-elicitation-request")
            assert "Ada" in "".join(block.text for block in elicited.content if isinstance(block, TextContent))
            resources = (await client.list_resources()).resources
            assert (await client.read_resource(resources[0].uri)).contents
            prompts = [prompt.name for prompt in (await client.list_prompts()).prompts]
            assert "args-prompt" in prompts
            assert (await client.get_prompt("args-prompt", {"city": "Oslo"})).messages

    asyncio.run(main())
    assert reports == [1, 2, 3, 4]


def test_filesystem(tmp_path: Path) -> None:
    """Spec: basic/versioning, "Backward Compatibility"; files come and go, and those outside are refused."""
    folder = tmp_path.resolve()

    async def main() -> None:
        async with _connected("filesystem", str(folder)) as client:
            path = str(folder / "note.txt")
            await client.call_tool("write_file", {"path": path, "content": "Жизнь\n\u2028"})
            assert Path(path).read_text() == "Жизнь\n\u2028"
            read = await client.call_tool("read_text_file", {"path": path})
            assert text_of(read.content) == "Жизнь\n\u2028"
            assert "note.txt" in text_of((await client.call_tool("list_directory", {"path": str(folder)})).content)
            refused = await client.call_tool("read_text_file", {"path": "/etc/hostname"})
            assert refused.is_error
            assert "Access denied" in text_of(refused.content)
            many = [client.call_tool("read_text_file", {"path": path}) for _ in range(20)]
            assert all(result == read for result in await asyncio.gather(*many))

    asyncio.run(main())
