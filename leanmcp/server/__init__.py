"""The server side: `MCPServer`, what its tools are handed, and what shapes its answers."""

from __future__ import annotations

from .app import MCPServer
from .context import Context
from .lists import CacheHint

__all__ = ["CacheHint", "Context", "MCPServer"]
