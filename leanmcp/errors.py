"""The exception tree; each class carries its JSON-RPC code and HTTP status.

Spec 2026-07-28: basic/index, "Error Codes"; basic/transports/streamable-http, "Request Metadata".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = [
    "BindError",
    "HeaderMismatch",
    "InternalError",
    "InvalidParams",
    "InvalidRequest",
    "MCPError",
    "MalformedMeta",
    "MethodNotFound",
    "MissingRequiredClientCapability",
    "ParseError",
    "ToolError",
    "UnsupportedProtocolVersion",
]


class MCPError(Exception):
    """An error that travels as a JSON-RPC error response.

    Raise it from a tool to answer with a protocol error instead of a tool result.

    Args:
        code: JSON-RPC error code; application codes lie outside -32768..-32000.
        message: one sentence for the peer's author.
        data: any JSON value, sent as `error.data` when it is not None.
    """

    http_status = 200
    request_id: int | str | None = None
    """The id of the request at fault, where decoding it failed after the id was read."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        if type(code) is not int or not isinstance(message, str):
            raise TypeError(
                f"MCPError takes an integer code and a text, not {type(code).__name__} and {type(message).__name__}"
            )
        self.code = code
        self.message = message
        self.data = data


class _CodedError(MCPError):
    """A protocol error whose code is fixed by its class."""

    error_code: int

    def __init__(self, message: str, data: Any = None) -> None:
        super().__init__(self.error_code, message, data)


class ParseError(_CodedError):
    """The bytes are not JSON."""

    error_code = -32700
    http_status = 400


class InvalidRequest(_CodedError):
    """The bytes are JSON, but no single JSON-RPC request or notification."""

    error_code = -32600
    http_status = 400


class MethodNotFound(_CodedError):
    """The method is not served here."""

    error_code = -32601
    http_status = 404


class InvalidParams(_CodedError):
    """The request was dispatched, but its params name nothing that exists here."""

    error_code = -32602


class MalformedMeta(InvalidParams):
    """A required `_meta` field is missing or has the wrong type (basic/index, "Per-request protocol fields")."""

    http_status = 400


class InternalError(_CodedError):
    """Our own fault. The message is fixed text; the log holds the rest."""

    error_code = -32603


class HeaderMismatch(_CodedError):
    """An Mcp-* header is missing, malformed or differs from the body."""

    error_code = -32020
    http_status = 400


class MissingRequiredClientCapability(_CodedError):
    """The request needs a capability that the client did not declare."""

    error_code = -32021
    http_status = 400

    def __init__(self, message: str, required_capabilities: Mapping[str, Any]) -> None:
        super().__init__(message, {"requiredCapabilities": dict(required_capabilities)})


class UnsupportedProtocolVersion(_CodedError):
    """The requested protocol version is not one of ours."""

    error_code = -32022
    http_status = 400

    def __init__(self, requested: str, supported: Sequence[str]) -> None:
        super().__init__(
            f"Unsupported protocol version {requested[:64]!r}; supported: {', '.join(supported)}",
            {"supported": list(supported), "requested": requested},
        )


class ToolError(Exception):
    """A failure that the model can read and act on: the call answers `isError: true` with this text.

    Args:
        message: what went wrong and what to send instead.
        content: content blocks to send instead of the message.
    """

    def __init__(self, message: str = "", *, content: Sequence[Any] | None = None) -> None:
        super().__init__(message)
        self.content = None if content is None else list(content)


class BindError(OSError):
    """The address to serve on cannot be bound; the text says what to do."""
