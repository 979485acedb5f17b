"""leanmcp: MCP servers and clients (protocol revision 2026-07-28).

Names load on first use, so that a command line or a client pays for nothing it does not need.
"""

from __future__ import annotations

import sys

__version__ = "0.1.0"

TYPE_CHECKING = False  # as type checkers know it: beside a `types.py`, `typing` fails before we could say why
if TYPE_CHECKING:
    from .children import run_child
    from .client import Client, ClientGroup, SyncClient
    from .errors import MCPError, ResourceError, ResourceNotFoundError, ToolError
    from .fields import Field, Header, Model
    from .limits import Limits
    from .parameters import StdioServerParameters
    from .server.app import MCPServer
    from .server.content import Audio, File, Image, RawJSON
    from .server.context import Context
    from .server.handles import Handles
    from .server.injection import Depends
    from .server.marks import tool
    from .server.prompt_messages import AssistantMessage, UserMessage

__all__ = [
    "AssistantMessage",
    "Audio",
    "Client",
    "ClientGroup",
    "Context",
    "Depends",
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
    "ResourceError",
    "ResourceNotFoundError",
    "StdioServerParameters",
    "SyncClient",
    "ToolError",
    "UserMessage",
    "__version__",
    "run_child",
    "tool",
]

_HOMES = {
    "Client": ".client",
    "ClientGroup": ".client",
    "SyncClient": ".client",
    "run_child": ".children",
    "AssistantMessage": ".server.prompt_messages",
    "Audio": ".server.content",
    "Context": ".server.context",
    "Depends": ".server.injection",
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
    "ResourceError": ".errors",
    "ResourceNotFoundError": ".errors",
    "StdioServerParameters": ".parameters",
    "ToolError": ".errors",
    "UserMessage": ".server.prompt_messages",
    "tool": ".server.marks",
}


_MODULES = ("client", "elicit", "errors", "limits", "oauth", "schema", "server", "testing", "types")
"""Modules that are there behind `import leanmcp`, as its names are."""


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    from importlib import import_module

    if home is None:
        if name in _MODULES:
            return import_module(f".{name}", __name__)
        from .elsewhere import no_name  # of mistakes only

        raise no_name(__name__, name, __all__, sys._getframe(1))

    try:
        value = getattr(import_module(home, __name__), name)
    except (ImportError, AttributeError) as error:
        from .hidden import hiding_file  # of mistakes only

        if told := hiding_file(error):
            raise ImportError(f"{told} [LM632]") from None
        if isinstance(error, AttributeError):  # `from leanmcp import ...` would say less
            raise ImportError(f"leanmcp cannot be loaded: {error}") from error
        raise
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


class _Elsewhere:
    """The last of Python's finders: says what to import in place of a module that is not here, but in another SDK."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        if name.startswith("leanmcp.") and "._" not in name:
            from .elsewhere import no_module  # of mistakes only

            if told := no_module(name):
                raise ModuleNotFoundError(f"No module named {name!r}{told}", name=name)


sys.meta_path.append(_Elsewhere)
