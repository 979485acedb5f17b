"""The server that the official conformance suite is run against, written against the public API only.

Tool names and answers are the suite's contract; its header scenarios call the first listed tool without arguments,
so that `test_simple_text` has to stay first.
"""

from __future__ import annotations

import asyncio
import base64
import struct
import zlib
from typing import Annotated, Any

from leanmcp import Context, Header, MCPServer, ToolError
from leanmcp.types import AudioContent, ContentBlock, EmbeddedResource, ImageContent, TextContent, TextResourceContents
from tests.conformance import fixture_listen, fixture_prompts, fixture_resources, fixture_rounds

mcp = MCPServer("leanmcp-conformance", version="1.0.0")


def _png_chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _red_pixel() -> str:
    """Return a PNG of one red pixel as base64."""
    header = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    pixels = zlib.compress(b"\x00\xff\x00\x00")
    chunks = _png_chunk(b"IHDR", header) + _png_chunk(b"IDAT", pixels) + _png_chunk(b"IEND", b"")
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + chunks).decode()


def _short_silence() -> str:
    """Return a WAV of eight silent samples, 8 kHz mono, as base64."""
    samples = b"\x80" * 8
    head = struct.pack("<4sI4s4sIHHIIHH", b"RIFF", 36 + len(samples), b"WAVE", b"fmt ", 16, 1, 1, 8000, 8000, 1, 8)
    return base64.b64encode(head + struct.pack("<4sI", b"data", len(samples)) + samples).decode()


IMAGE = ImageContent(data=_red_pixel(), mime_type="image/png")
AUDIO = AudioContent(data=_short_silence(), mime_type="audio/wav")


@mcp.tool
async def test_simple_text() -> str:
    """Return one text."""
    return "A simple text for the conformance suite."


@mcp.tool
async def test_error_handling() -> str:
    """Fail with a text for the model."""
    raise ToolError("This tool fails on purpose.")


@mcp.tool
async def test_image_content() -> ImageContent:
    """Return one image."""
    return IMAGE


@mcp.tool
async def test_audio_content() -> AudioContent:
    """Return one sound."""
    return AUDIO


@mcp.tool
async def test_embedded_resource() -> EmbeddedResource:
    """Return one resource inside the result."""
    return _note("test://embedded-resource")


@mcp.tool
async def test_multiple_content_types() -> list[ContentBlock]:
    """Return a text, an image and a resource."""
    return [TextContent(text="Three kinds of content:"), IMAGE, _note("test://mixed-content-resource")]


@mcp.tool
async def test_x_mcp_header(region: Annotated[str, Header("Region")]) -> str:
    """Return the region, which clients mirror into a header."""
    return f"region: {region}"


@mcp.tool
async def test_missing_capability(ctx: Context[Any]) -> str:
    """Answer only clients that offer sampling."""
    ctx.require_capability("sampling")
    return "The client offers sampling."


@mcp.tool
async def test_tool_with_progress(ctx: Context[Any]) -> str:
    """Report three steps."""
    for progress in (0, 50, 100):
        await ctx.report_progress(progress, 100, f"Completed step {progress} of 100")
        await asyncio.sleep(0.05)
    return "All steps are done."


@mcp.tool
async def test_streaming_elicitation() -> str:
    """Answer at once; revision 2026-07-28 has no requests from server to client on a response stream."""
    return "Nothing was asked."


@mcp.tool
async def test_logging_tool() -> str:
    """Answer a request that asked for no log messages with none."""
    return "Nothing was logged."


ADDRESS = {
    "$anchor": "addressDef",
    "type": "object",
    "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
}
CONTACT = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {"address": ADDRESS},
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


@mcp.tool(input_schema=CONTACT)
async def json_schema_2020_12_tool(arguments: dict[str, Any]) -> str:
    """Take a contact, by a schema that uses much of JSON Schema 2020-12."""
    return f"Contact: {', '.join(arguments)}"


def _note(uri: str) -> EmbeddedResource:
    return EmbeddedResource(resource=TextResourceContents(uri=uri, mime_type="text/plain", text="A short note."))


fixture_listen.register(mcp)
fixture_prompts.register(mcp)
fixture_rounds.register(mcp)
fixture_resources.register(mcp)

if __name__ == "__main__":
    mcp.run("http")
