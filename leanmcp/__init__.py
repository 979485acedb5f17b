"""leanmcp: a lean, fast runtime for MCP tool servers (protocol revision 2026-07-28).

Names load on first use, so that a command line or a client pays for nothing it does not need.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from .children import run_child
    from .errors import MCPError, ToolError
    from .fields import Field, Header, Model
    from .limits import Limits
    from .server.app import MCPServer
    from .server.content import Audio, File, Image, RawJSON
    from .server.context import Context
    from .server.handles import Handles
    from .server.marks import tool

__all__ = [
    "Audio",
    "Context",
    "Field",
    "File",
    "Handles",
    "Header",
    "Image",
    "Limits",
    "MCPError",
    "MCPServer",
    "Model",
    "RawJSON",
    "ToolError",
    "__version__",
    "run_child",
    "tool",
]

_HOMES = {
    "run_child": ".children",
    "Audio": ".server.content",
    "Context": ".server.context",
    "Field": ".fields",
    "File": ".server.content",
    "Handles": ".server.handles",
    "Header": ".fields",
    "Image": ".server.content",
    "Limits": ".limits",
    "MCPError": ".errors",
    "MCPServer": ".server.app",
    "Model": ".fields",
    "RawJSON": ".server.content",
    "ToolError": ".errors",
    "tool": ".server.marks",
}


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'leanmcp' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(home, __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
