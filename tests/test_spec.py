"""The specification's own examples, and its schema, against what leanmcp reads and writes."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest

from leanmcp import Field, Header, MCPServer, ToolError, types
from leanmcp.errors import HeaderMismatch, MCPError, MissingRequiredClientCapability, UnsupportedProtocolVersion
from leanmcp.protocol import jsonrpc, meta
from leanmcp.types import Icon, ToolAnnotations
from tests.support.spec import AVAILABLE, FOLDER, REASON, check_response, request

pytestmark = pytest.mark.skipif(not AVAILABLE, reason=REASON)

TYPES = {
    "AudioContent": types.AudioContent,
    "BlobResourceContents": types.BlobResourceContents,
    "CallToolResult": types.CallToolResult,
    "EmbeddedResource": types.EmbeddedResource,
    "ImageContent": types.ImageContent,
    "ResourceLink": types.ResourceLink,
    "TextContent": types.TextContent,
    "TextResourceContents": types.TextResourceContents,
    "Tool": types.Tool,
}
# What the schema gives an absent member: it may be left out.
DEFAULTS = {"CallToolResult": {"resultType": "complete", "isError": False}}
REQUESTS = {
    "CallToolRequest": meta.CallToolParams,
    "DiscoverRequest": meta.Params,
    "ListToolsRequest": meta.ListParams,
}


def examples(names: Any) -> list[Any]:
    """Return the example files of some definitions."""
    files = [(name, file) for name in names for file in sorted((FOLDER / "examples" / name).glob("*.json"))]
    return [pytest.param(name, file, id=f"{name}-{file.stem}") for name, file in files]


@pytest.mark.parametrize(("name", "file"), examples(TYPES))
def test_example_decodes_and_encodes_to_an_equal_value(name: str, file: Path) -> None:
    """Spec: the examples of the schema."""
    example, defaults = msgspec.json.decode(file.read_bytes()), DEFAULTS.get(name, {})
    decoded = msgspec.json.decode(file.read_bytes(), type=TYPES[name])
    assert defaults | msgspec.json.decode(msgspec.json.encode(decoded)) == defaults | example


@pytest.mark.parametrize(("name", "file"), examples(REQUESTS))
def test_example_request_is_read(name: str, file: Path) -> None:
    """Spec: the examples of the schema; their params carry the `_meta` of a request."""
    envelope = jsonrpc.decode(file.read_bytes())
    params = meta.decode_params(envelope.params, msgspec.json.Decoder(REQUESTS[name]))
    assert params.meta.protocol_version == "2026-07-28"


def test_example_cancellation_is_read() -> None:
    """Spec: the example of notifications/cancelled names its request."""
    from leanmcp.server.line_endpoint import CancelledParams

    (file,) = (FOLDER / "examples" / "CancelledNotification").glob("*.json")
    envelope = jsonrpc.decode(file.read_bytes())
    assert envelope.id is msgspec.UNSET
    expected = msgspec.json.decode(file.read_bytes())["params"]["requestId"]
    assert msgspec.json.decode(envelope.params, type=CancelledParams).request_id == expected


def test_answers_to_every_method_fit_the_schema() -> None:
    """Spec: discover, list and call, with every member that we can send."""
    icons = [Icon(src="https://example.com/i.svg", mime_type="image/svg+xml", sizes=["any"], theme="dark")]
    mcp = MCPServer("all", "All", "Everything", "Be kind.", "https://example.com", icons, "1.0", schema_titles=True)

    async def tool(a: int, region: str = Field(default="eu", description="Where.")) -> dict[str, list[int]]:
        """Do it."""
        if a < 0:
            raise ToolError("negative")
        return {"a": [a]}

    mcp.add_tool(
        tool, "one", "One", None, ToolAnnotations(title="One", read_only_hint=True), icons, {"com.example/a": 1}
    )

    async def main() -> None:
        assert "result" in await request(mcp, "server/discover", {})
        assert len((await request(mcp, "tools/list", {}))["result"]["tools"]) == 1
        for arguments in ({"a": 1}, {"a": -1}, {"a": "x"}):
            assert "result" in await request(mcp, "tools/call", {"name": "one", "arguments": arguments})
        for method, params in (
            ("nope", {}),
            ("initialize", {}),
            ("tools/call", {"name": "two"}),
            ("tools/list", {"cursor": "x"}),
        ):
            assert "error" in await request(mcp, method, params)

    asyncio.run(main())


def test_header_annotation_survives_in_the_published_schema() -> None:
    """Spec: server/tools, "x-mcp-header"."""
    from typing import Annotated

    mcp = MCPServer("x")

    async def tool(region: Annotated[str, Header("Region")]) -> str:
        return region

    mcp.add_tool(tool)
    listed = asyncio.run(request(mcp, "tools/list", {}))["result"]["tools"][0]
    assert listed["inputSchema"]["properties"]["region"]["x-mcp-header"] == "Region"


@pytest.mark.parametrize(
    "error",
    [
        HeaderMismatch("x"),
        MissingRequiredClientCapability("x", {"sampling": {}}),
        UnsupportedProtocolVersion("1900-01-01", ["2026-07-28"]),
        MCPError(4711, "x", [1]),
    ],
)
def test_errors_fit_the_schema(error: MCPError) -> None:
    """Spec: schema page, errors."""
    check_response(msgspec.json.decode(jsonrpc.encode_error(error, "id")))
    check_response(msgspec.json.decode(jsonrpc.encode_error(error, None)))
