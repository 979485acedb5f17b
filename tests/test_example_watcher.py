"""The watcher: a line that is written to its file becomes a tool, and the official client that listens is told."""

from __future__ import annotations

import asyncio
import os
import re
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.subscriptions import ToolsListChanged

from tests.support.processes import DEADLINE, ROOT, environment, http_server, stdio_command
from tests.test_official_client import text_of

WATCHER = ROOT / "examples" / "watcher" / "server.py"


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_a_line_becomes_a_tool_and_whoever_listens_is_told(transport: str, tmp_path: Path) -> None:
    """Ours: FIELD 121; added, changed and removed, without a question in between."""
    file = tmp_path / "replies.txt"
    file.write_text("greet: Hello.\n")
    variables = {"REPLIES": str(file), "REPLIES_INTERVAL": "0.01"}

    def write(text: str) -> None:
        """Replace the file, so that it is never half there."""
        (tmp_path / "new").write_text(text)
        os.replace(tmp_path / "new", file)

    async def conversation(client: Client) -> None:
        async with client.listen(tools_list_changed=True) as changes:
            assert changes.honored.tools_list_changed
            while "greet" not in await names(client):
                pass
            write("greet: Hello.\nleave: Goodbye.\n")
            while "leave" not in await names(client):
                assert isinstance(await anext(changes), ToolsListChanged)
            assert text_of(await client.call_tool("leave", {})) == "Goodbye."
            write("leave: Bye.\n")
            while "greet" in await names(client):
                assert isinstance(await anext(changes), ToolsListChanged)
            assert text_of(await client.call_tool("leave", {})) == "Bye."

    async def main(target: Any) -> None:
        async with asyncio.timeout(DEADLINE), Client(target) as client:
            await conversation(client)

    if transport == "http":
        with http_server(WATCHER, **variables) as server:
            asyncio.run(main(server.url))
    else:
        command, *arguments = stdio_command(WATCHER)
        environ = environment() | variables
        asyncio.run(main(StdioServerParameters(command=command, args=arguments, env=environ, cwd=ROOT)))


async def names(client: Client) -> list[str]:
    """Return the names of the tools."""
    return [tool.name for tool in (await client.list_tools(cache_mode="refresh")).tools]


def test_the_first_lines_say_how_to_run_it() -> None:
    """Ours: what a reader copies is there."""
    assert re.findall(r"examples/\S+\.py", WATCHER.read_text()) == ["examples/watcher/server.py"] * 2
