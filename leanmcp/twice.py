"""Two servers in one program, where the one that is served lacks the tools of the other.

In: the server that starts. Out: a warning where another one has the tools. `python server.py` runs the file as
`__main__`; `from server import mcp` in a module of the tools does not find it under that name, and runs it again.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence
from types import ModuleType

from .logs import logger
from .server.app import MCPServer

__all__ = ["other_with_tools", "warn_loaded_twice", "warn_of_other"]

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
            logger.warning(
                "%s is loaded twice, as __main__ and as %s, and the copy that is not served has the tools %s; make the "
                "server in a file of its own, which both import [LM631]",
                module.__file__,
                module.__name__,
                _shown(missed),
            )


def warn_of_other(server: MCPServer) -> None:
    """Warn where a server that has nothing starts, and another one in the program has tools."""
    if told := other_with_tools(server):
        logger.warning("server %r has nothing, and %s; run that one, or register them here [LM423]", server.name, told)


def other_with_tools(server: MCPServer) -> str:
    """Return which other server at the top level of a module has tools, empty where none has."""
    for module in list(sys.modules.values()):
        for name, other in list(getattr(module, "__dict__", {}).items()):
            if issubclass(type(other), MCPServer) and other is not server and other.tools:
                where = getattr(module, "__file__", None) or module.__name__
                return f"`{name}` of {where} has the tools {_shown([tool.name for tool in other.tools])}"
    return ""


def _shown(names: Collection[str]) -> str:
    return ", ".join(sorted(names)[:_MAX_NAMES]) + (" and more" if len(names) > _MAX_NAMES else "")
