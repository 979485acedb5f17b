"""The official Python client lists and reads the library's resources, over stdio and over HTTP."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError
from mcp.types import BlobResourceContents, TextResourceContents

from tests.support.processes import ROOT
from tests.test_official_client import Target, serving, text_of, use

LIBRARY = ROOT / "examples" / "library" / "server.py"
SHELF = LIBRARY.parent / "shelf"


@pytest.fixture(scope="module", params=["stdio", "http"])
def target(request: pytest.FixtureRequest) -> Iterator[Target]:
    """The library: the command that starts it, or the URL where it runs."""
    with serving(request.param, LIBRARY) as where:
        yield where


async def read(client: Client, uri: str) -> Any:
    """Return the one text that a URI has."""
    [contents] = (await client.read_resource(uri)).contents
    assert str(contents.uri) == uri
    assert isinstance(contents, TextResourceContents)
    return contents.text


def test_resources_and_templates_are_listed(target: Target) -> None:
    """Spec: server/resources, "Listing Resources" and "Resource Templates"."""

    async def conversation(client: Client) -> None:
        assert client.server_capabilities.resources is not None
        assert client.server_capabilities.resources.list_changed
        listed = (await client.list_resources()).resources
        assert [str(resource.uri) for resource in listed] == ["library://hours", "library://welcome"]
        assert listed[0].title == "Opening hours"
        assert (listed[1].name, listed[1].mime_type) == ("welcome.md", "text/markdown")
        assert listed[1].size == (SHELF / "welcome.md").stat().st_size
        templates = (await client.list_resource_templates()).resource_templates
        assert [template.uri_template for template in templates] == [
            "library://books/{number}",
            "library://catalog{?language}",
            "library://shelf/{+path}",
        ]

    use(target, conversation)


def test_texts_records_and_files_are_read(target: Target) -> None:
    """Spec: server/resources, "Reading Resources"; server/utilities/caching."""

    async def conversation(client: Client) -> None:
        result = await client.read_resource("library://hours")
        assert (result.ttl_ms, result.cache_scope) == (3_600_000, "public")
        assert await read(client, "library://hours") == "Monday to Friday, 9 to 18"
        assert json.loads(await read(client, "library://books/3"))["author"] == "Stanisław Lem"
        assert json.loads(await read(client, "library://catalog?language=de")) == {"2": "Momo"}
        assert len(json.loads(await read(client, "library://catalog"))) == 3
        assert await read(client, "library://welcome") == (SHELF / "welcome.md").read_text()
        assert await read(client, "library://shelf/poems/spring.txt") == (SHELF / "poems" / "spring.txt").read_text()
        quoted = await client.call_tool("quote", {"path": "poems/spring.txt"})
        assert text_of(quoted) == "The ice lets go,"

    use(target, conversation)


@pytest.mark.parametrize(
    ("uri", "part"),
    [
        ("library://nothing", "Resource not found: 'library://nothing'"),
        ("library://books/9", "there is no book 9; they are 1 to 3"),
        ("library://books/x", "number: Input should be a valid integer"),
        ("library://catalog?language=fr", "Input should be 'en', 'de', 'pl' or 'any'"),
        ("library://shelf/../server.py", "holds a . or .. segment"),
        ("library://shelf/%2e%2e/server.py", "holds a . or .. segment"),
    ],
)
def test_what_is_not_there_is_an_error(target: Target, uri: str, part: str) -> None:
    """Spec: server/resources, "Error Handling"."""

    async def conversation(client: Client) -> None:
        with pytest.raises(MCPError) as error:
            await client.read_resource(uri)
        assert error.value.error.code == -32602
        assert error.value.error.data == {"uri": uri}
        assert part in error.value.error.message

    use(target, conversation)


UNICODE = """
from pathlib import Path
from leanmcp import MCPServer
mcp = MCPServer("unicode")
@mcp.resource("kaese://brie/{name}")
async def cheese(name: str) -> str:
    return name
@mcp.resource("data://größe")
async def size() -> bytes:
    return b"\\x00\\xff"
@mcp.resource("data://large")
async def large() -> Path:
    return Path(__file__).with_name("large.bin")
"""


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_unicode_uris_and_large_files(transport: str, tmp_path: Path) -> None:
    """Spec: basic/transports/streamable-http, "Request Metadata": Mcp-Name in base64; ours: a file sent in pieces."""
    data = bytes(range(256)) * 4096
    (tmp_path / "large.bin").write_bytes(data)
    server = tmp_path / "server.py"
    server.write_text(UNICODE)

    async def conversation(client: Client) -> None:
        [blob] = (await client.read_resource("data://größe")).contents
        assert isinstance(blob, BlobResourceContents)
        assert (str(blob.uri), base64.b64decode(blob.blob)) == ("data://größe", b"\x00\xff")
        assert await read(client, "kaese://brie/de%20Meaux%20Ü") == "de Meaux Ü"
        [large] = (await client.read_resource("data://large")).contents
        assert isinstance(large, BlobResourceContents)
        assert base64.b64decode(large.blob, validate=True) == data

    with serving(transport, server) as where:
        use(where, conversation)
