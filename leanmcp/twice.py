"""A file that a program has loaded twice, as `__main__` and by its name, so that there are two servers in it.

In: the server that starts. Out: a warning where the other one has the tools. `python server.py` runs the file as
`__main__`; `from server import mcp` in a module of the tools does not find it under that name, and runs it again.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType

from .logs import logger
from .server.app import MCPServer

__all__ = ["warn_loaded_twice"]

_MAX_NAMES = 8  # in a warning


def warn_loaded_twice(server: MCPServer, copies: Sequence[ModuleType]) -> None:
    """Warn where tools went to a copy of the server that nobody serves.

    Args:
        server: the one that starts.
        copies: the modules that hold the file of `__main__` once more.
    """
    for module in copies:
        others = [other for other in vars(module).values() if isinstance(other, MCPServer) and other is not server]
        missed = {tool.name for other in others for tool in other.tools} - {tool.name for tool in server.tools}
        if missed:
            shown = ", ".join(sorted(missed)[:_MAX_NAMES]) + (" and more" if len(missed) > _MAX_NAMES else "")
            logger.warning(
                "%s is loaded twice, as __main__ and as %s, and the copy that is not served has the tools %s; make the "
                "server in a file of its own, which both import [LM631]",
                module.__file__,
                module.__name__,
                shown,
            )
