"""The server side: `MCPServer`, what its tools are handed, and what shapes its answers.

What a server of plain tools does without loads on first use.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from .app import MCPServer
from .context import Context
from .lists import CacheHint

if TYPE_CHECKING:
    from .extensions import CallToolRequestParams, Extension, MethodBinding, ToolBinding
    from .middleware import CallNext, Middleware, Outcome, Request
    from .prompt_messages import AssistantMessage, Message, UserMessage
    from .request_state import (
        AESGCMRequestStateCodec,
        HMACRequestStateCodec,
        InvalidRequestState,
        MemoryStateStore,
        RequestStateCodec,
        RequestStateSecurity,
        StateStore,
    )
    from .resource_security import ResourceSecurity

__all__ = [
    "AESGCMRequestStateCodec",
    "AssistantMessage",
    "CacheHint",
    "CallNext",
    "CallToolRequestParams",
    "Context",
    "Extension",
    "HMACRequestStateCodec",
    "InvalidRequestState",
    "MCPServer",
    "MemoryStateStore",
    "Message",
    "MethodBinding",
    "Middleware",
    "Outcome",
    "Request",
    "RequestStateCodec",
    "RequestStateSecurity",
    "ResourceSecurity",
    "StateStore",
    "ToolBinding",
    "UserMessage",
]

_HOMES = {
    "AESGCMRequestStateCodec": ".request_state",
    "AssistantMessage": ".prompt_messages",
    "CallNext": ".middleware",
    "CallToolRequestParams": ".extensions",
    "Extension": ".extensions",
    "HMACRequestStateCodec": ".request_state",
    "InvalidRequestState": ".request_state",
    "MemoryStateStore": ".request_state",
    "Message": ".prompt_messages",
    "MethodBinding": ".extensions",
    "Middleware": ".middleware",
    "Outcome": ".middleware",
    "Request": ".middleware",
    "RequestStateCodec": ".request_state",
    "RequestStateSecurity": ".request_state",
    "ResourceSecurity": ".resource_security",
    "StateStore": ".request_state",
    "ToolBinding": ".extensions",
    "UserMessage": ".prompt_messages",
}


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        from ..elsewhere import no_name  # of mistakes only

        raise no_name(__name__, name, __all__, sys._getframe(1))
    from importlib import import_module

    return getattr(import_module(home, __name__), name)
