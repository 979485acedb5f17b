"""leanmcp: MCP servers and clients (protocol revision 2026-07-28).

Names load on first use, so that a command line or a client pays for nothing it does not need.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

__version__ = "0.1.0"

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


# Names that people look for here, and where they are; others may be in `leanmcp.types`.
_ELSEWHERE = {
    **dict.fromkeys(
        ("Accepted", "AcceptedElicitation", "Cancelled", "CancelledElicitation", "Declined", "DeclinedElicitation"),
        "leanmcp.elicit",
    ),
    **dict.fromkeys(("Elicit", "ElicitURL", "ElicitationResult", "Resolve", "titled"), "leanmcp.elicit"),
    **dict.fromkeys(("Audit", "Change", "Gate", "Hints", "Pins", "Policy", "Question"), "leanmcp.client"),
    **dict.fromkeys(("ClientRequestContext", "ResponseCache", "ResultChecks", "Subscription"), "leanmcp.client"),
    **dict.fromkeys(
        ("PromptsListChanged", "ResourceUpdated", "ResourcesListChanged", "ToolsListChanged"), "leanmcp.client"
    ),
    **dict.fromkeys(("CacheHint", "CallNext", "Message", "Middleware", "Outcome", "Request"), "leanmcp.server"),
    **dict.fromkeys(("Extension", "MethodBinding", "ResourceSecurity", "ToolBinding"), "leanmcp.server"),
    **dict.fromkeys(("MemoryStateStore", "RequestStateSecurity", "StateStore"), "leanmcp.server"),
    **dict.fromkeys(("InMemorySubscriptionBus", "SubscriptionBus"), "leanmcp.server.subscriptions"),
    "StoredHandles": "leanmcp.server.handles",
    "HTTPOptions": "leanmcp.listen",
    **dict.fromkeys(("HTTPClientLimits", "HTTPTransport"), "leanmcp.transports.http_client"),
    **dict.fromkeys(("InvalidValue", "SchemaError", "Validator"), "leanmcp.schema"),
    **dict.fromkeys(("ClientCredentialsOAuthProvider", "OAuthClientProvider", "TokenStorage"), "leanmcp.oauth"),
}
# Names of other packages.
_INSTEAD = {
    "FastMCP": "the server is MCPServer: from leanmcp import MCPServer",
    "Server": "the server is MCPServer: from leanmcp import MCPServer",
    "ClientSession": "the client is Client: `async with Client(url) as client`",
    "ClientSessionGroup": "several servers are a ClientGroup: from leanmcp import ClientGroup",
    "McpError": "it is MCPError: from leanmcp import MCPError",
    "stdio_client": "give Client the StdioServerParameters",
    "streamable_http_client": "give Client the URL",
    "streamablehttp_client": "give Client the URL",
}


def _is_at(name: str) -> str:
    """Return the rest of a sentence that says where a name is, empty where nobody knows."""
    if name in _INSTEAD:
        return f"; {_INSTEAD[name]}"
    home = _ELSEWHERE.get(name)
    if home is None:
        if not name[0].isupper():  # a module, perhaps, which `from leanmcp import ...` loads after this has failed
            return ""
        from importlib import import_module

        homes = ("leanmcp.types", "leanmcp.errors")
        home = next((module for module in homes if name in import_module(module).__all__), None)
    if home is not None:
        return f"; it is in {home}: from {home} import {name}"
    from .mistyped import did_you_mean

    return did_you_mean(name, __all__)


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        where = _is_at(name)
        # The text of an AttributeError is lost in `from leanmcp import ...`, which asks by way of this function.
        if where and sys._getframe(1).f_code.co_name == "_handle_fromlist":
            raise ImportError(f"cannot import {name!r} from 'leanmcp'{where}", name="leanmcp")
        raise AttributeError(f"module 'leanmcp' has no attribute {name!r}{where}")
    from importlib import import_module

    value = getattr(import_module(home, __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
