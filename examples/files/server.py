"""Files and pictures: content blocks that are no text.

Run it on stdio, as a host starts it:   python examples/files/server.py
Or on HTTP:                             leanmcp run examples/files/server.py --http
"""

import struct
import zlib
from pathlib import Path
from typing import Annotated

from leanmcp import Field, File, Image, MCPServer, ToolError
from leanmcp.types import Annotations

mcp = MCPServer("Files", version="1.0.0")
FOLDER = Path(__file__).resolve().parent


@mcp.tool
def names() -> list[str]:
    """List the files that can be read."""
    return sorted(path.name for path in FOLDER.iterdir() if path.is_file())


@mcp.tool
def read(name: Annotated[str, Field(description="One of those that `names` lists.")]) -> File:
    """Return a file as an embedded resource."""
    if name not in names():
        raise ToolError(f"name: there is no file {name!r}; call names first")
    return File(FOLDER / name, annotations=Annotations(audience=["assistant"]))


@mcp.tool
def swatch(
    red: Annotated[int, Field(ge=0, le=255, description="How much red, of 255.")],
    green: Annotated[int, Field(ge=0, le=255, description="How much green.")],
    blue: Annotated[int, Field(ge=0, le=255, description="How much blue.")],
    size: Annotated[int, Field(ge=1, le=512, description="Pixels on each side.")] = 16,
) -> list[str | Image]:
    """Draw a square of one colour, with a caption."""
    picture = png(size, bytes((red, green, blue)))
    return [f"A square of #{red:02x}{green:02x}{blue:02x}", Image(data=picture, format="png")]


def png(size: int, pixel: bytes) -> bytes:
    """Return a square picture of one colour, RGB, 8 bits."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0)
    rows = (b"\0" + pixel * size) * size
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


if __name__ == "__main__":
    mcp.run()
