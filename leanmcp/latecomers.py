"""Tells of a tool that is registered when its server has ended: run() stands above it in the file.

In: a server that has ended. Out: one warning, if a tool is added to it in the same process.
"""

from __future__ import annotations

from .logs import logger
from .server.app import MCPServer


def watch_latecomers(server: MCPServer) -> None:
    """Warn, once, when a tool is registered from now on."""
    registry = server._tools
    served = len(registry.visible)

    def changed() -> None:
        if len(registry.visible) > served:
            registry.ignore(changed)
            name = list(registry)[-1].name
            text = "tool %r is registered after mcp.run() has ended; move mcp.run() to the end of the file [LM421]"
            logger.warning(text, name)

    registry.listen(changed)
