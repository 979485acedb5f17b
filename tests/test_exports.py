"""`__all__` is the API: what it names exists, and nothing else is public at the top."""

from __future__ import annotations

import importlib
import subprocess
import sys
from typing import Any

import pytest

import leanmcp

PUBLIC = {
    "leanmcp": {
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
    },
    "leanmcp.client": {
        "Audit",
        "Call",
        "CallDenied",
        "Change",
        "Client",
        "ClientGroup",
        "ClientRequestContext",
        "Gate",
        "Hints",
        "InvalidResult",
        "Pins",
        "Policy",
        "PromptsListChanged",
        "Question",
        "ResourceUpdated",
        "ResourcesListChanged",
        "ResponseCache",
        "ResultChecks",
        "StdioServerParameters",
        "Subscription",
        "SubscriptionLost",
        "SyncClient",
        "SyncSubscription",
        "ToolChanged",
        "ToolsListChanged",
        "hints_of",
        "safe_icons",
        "uri_fault",
    },
    "leanmcp.schema": {"Fault", "InvalidValue", "SchemaError", "Validator", "compile", "explain", "validate"},
    "leanmcp.elicit": {
        "Accepted",
        "AcceptedElicitation",
        "Cancelled",
        "CancelledElicitation",
        "Declined",
        "DeclinedElicitation",
        "Elicit",
        "ElicitURL",
        "ElicitationResult",
        "Resolve",
        "titled",
    },
    "leanmcp.errors": {
        "AnswerTooLarge",
        "BindError",
        "CallDenied",
        "CallTimeout",
        "CannotConnect",
        "ConnectionLost",
        "Forbidden",
        "HTTPStatusError",
        "HeaderMismatch",
        "InternalError",
        "InvalidParams",
        "InvalidRequest",
        "InvalidResult",
        "MCPError",
        "MalformedMeta",
        "MethodNotFound",
        "MissingRequiredClientCapability",
        "NotAnMCPServer",
        "NotFound",
        "Overloaded",
        "ParseError",
        "ResourceError",
        "ResourceNotFoundError",
        "RoundLimit",
        "SubscriptionLost",
        "ToolChanged",
        "ToolError",
        "TransportError",
        "Unauthorized",
        "UnknownResource",
        "UnsupportedProtocolVersion",
        "VersionMismatch",
    },
    "leanmcp.oauth": {
        "AuthorizationCodeResult",
        "ClientCredentialsOAuthProvider",
        "FileTokenStorage",
        "InMemoryTokenStorage",
        "LoopbackRedirect",
        "OAuthClientInformationFull",
        "OAuthClientMetadata",
        "OAuthClientProvider",
        "OAuthFlowError",
        "OAuthMetadata",
        "OAuthRegistrationError",
        "OAuthToken",
        "OAuthTokenError",
        "PKCEParameters",
        "PrivateKeyJWTOAuthProvider",
        "ProtectedResourceMetadata",
        "SignedJWTParameters",
        "TokenStorage",
        "static_assertion_provider",
    },
    "leanmcp.server": {
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
    },
    "leanmcp.server.subscriptions": {
        "InMemorySubscriptionBus",
        "PromptsListChanged",
        "ResourceUpdated",
        "ResourcesListChanged",
        "ServerEvent",
        "SubscriptionBus",
        "ToolsListChanged",
    },
    "leanmcp.testing": {"serving"},
    "leanmcp.types": {
        "Annotations",
        "AudioContent",
        "BlobResourceContents",
        "CallToolResult",
        "CompleteResult",
        "Completion",
        "CompletionArgument",
        "CompletionContext",
        "ContentBlock",
        "DiscoverResult",
        "ElicitRequestFormParams",
        "ElicitRequestParams",
        "ElicitRequestURLParams",
        "ElicitResult",
        "EmbeddedResource",
        "GetPromptResult",
        "Icon",
        "ImageContent",
        "Implementation",
        "InputRequiredResult",
        "ListPromptsResult",
        "ListResourceTemplatesResult",
        "ListResourcesResult",
        "ListToolsResult",
        "Prompt",
        "PromptArgument",
        "PromptMessage",
        "PromptReference",
        "ReadResourceResult",
        "Resource",
        "ResourceLink",
        "ResourceTemplate",
        "ResourceTemplateReference",
        "TextContent",
        "TextResourceContents",
        "Tool",
        "ToolAnnotations",
    },
}


@pytest.mark.parametrize("module_name", sorted(PUBLIC))
def test_all_is_the_public_surface(module_name: str) -> None:
    """Ours: a name enters or leaves the API only together with this table."""
    module = importlib.import_module(module_name)
    assert set(module.__all__) == PUBLIC[module_name]
    assert list(module.__all__) == sorted(module.__all__)
    for name in module.__all__:
        assert getattr(module, name) is not None


def test_unknown_name_is_an_attribute_error() -> None:
    """Ours: lazy names fail like any other."""
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = leanmcp.no_such_name
    assert set(dir(leanmcp)) == PUBLIC["leanmcp"]


def test_wire_types_take_both_spellings() -> None:
    """Ours: `read_only_hint` and `readOnlyHint` (API, "Rules for familiarity")."""
    from leanmcp.types import ImageContent, ToolAnnotations

    wire_spelling: dict[str, Any] = {"readOnlyHint": True}
    assert ToolAnnotations(read_only_hint=True) == ToolAnnotations(**wire_spelling)
    wire_spelling = {"data": "", "mimeType": "image/png"}
    assert ImageContent(**wire_spelling).mime_type == "image/png"
    assert ImageContent(data="", mime_type="image/png").type == "image"
    with pytest.raises(TypeError):
        ToolAnnotations(readonlyhint=True)  # type: ignore[call-arg]


def test_star_import_gives_the_lazy_names() -> None:
    """Ours: `from leanmcp import *` works although names load on first use."""
    code = "from leanmcp import *; assert MCPServer.__name__ == 'MCPServer' and Model and Field"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=30)
