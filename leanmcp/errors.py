"""The exception tree; each class carries its JSON-RPC code and HTTP status. And how mistakes reach their authors.

Spec 2026-07-28: basic/index, "Error Codes"; basic/transports/streamable-http, "Request Metadata".
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from types import CodeType
from typing import Any, NoReturn, TypeVar, cast

__all__ = [
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
]


class MCPError(Exception):
    """An error that travels as a JSON-RPC error response.

    Raise it from a tool to answer with a protocol error instead of a tool result.

    Args:
        code: JSON-RPC error code; application codes lie outside -32768..-32000. A server sends -32603 in place of one
            that the specification reserves, and -32602 for the -32002 of earlier versions.
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

    @property
    def error(self) -> Any:
        """This error, for code written against the official SDK: `caught.error.code`."""
        return self


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
    """A fault of the server's own. The message is fixed text; the log holds the rest."""

    error_code = -32603


class Overloaded(InternalError):
    """More is open than `Limits` allow; later it may be served."""

    http_status = 503


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


class ResourceError(ToolError):
    """A failure of a resource that its readers may know of: resources/read answers -32603 with this text.

    Spec: server/resources, "Error Handling".
    """


class ResourceNotFoundError(ResourceError):
    """There is no such resource after all, raised by the function of a template: -32602 with `data.uri`."""


class BindError(OSError):
    """The address to serve on cannot be bound; the text says what to do."""


# --- what a client meets ------------------------------------------------------------------------------------------

# Never sent: the specification keeps -32000 to -32019 for implementations (basic/index, "Error Codes").
_LOCAL = -32000


class TransportError(MCPError):
    """No answer, or none that is JSON-RPC.

    Args:
        message: what happened and what to do.
        where: URL or command of the server.
        status: HTTP status, None where there was none.
    """

    def __init__(self, message: str, where: str = "", status: int | None = None) -> None:
        super().__init__(_LOCAL, message)
        self.where = where
        self.status = status


class CannotConnect(TransportError):
    """Nobody listens there, the name does not resolve, or the command cannot be started."""


class ConnectionLost(TransportError):
    """The server went away before it had answered; a child's exit code and the end of its stderr are in the text."""


class CallTimeout(TransportError):
    """No answer within the time that the caller gave; the server was told to stop."""


class NotAnMCPServer(TransportError):
    """Something answered, but it is no MCP server."""


class SubscriptionLost(TransportError):
    """A `subscriptions/listen` stream ended without the server saying so; what changed meanwhile is unknown."""


class AnswerTooLarge(TransportError):
    """The answer is larger than the client takes; the text names the limit."""


class HTTPStatusError(TransportError):
    """An HTTP error status without a JSON-RPC error in its body."""


class NotFound(HTTPStatusError):
    """404: the host is there, the path is wrong."""


class Unauthorized(HTTPStatusError):
    """401: the server wants to know who calls."""


class Forbidden(HTTPStatusError):
    """403: the token, the Origin or the Host is not allowed to do this."""


class VersionMismatch(MCPError):
    """Client and server have no protocol version in common.

    Args:
        message: names the versions of both.
        supported: those of the server.
    """

    def __init__(self, message: str, supported: Sequence[str] = ()) -> None:
        super().__init__(-32022, message, {"supported": list(supported)})
        self.supported = list(supported)


class _LocalError(MCPError):
    """What a client found by itself."""

    def __init__(self, message: str) -> None:
        super().__init__(_LOCAL, message)


class InvalidResult(_LocalError):
    """The server's result is not what the specification or its own output schema allows."""


class UnknownResource(InvalidParams):
    """The server has no such resource: -32602 with `data.uri`, or -32002 of earlier protocol versions."""


class RoundLimit(_LocalError):
    """The server kept asking (`input_required_max_rounds`)."""


class CallDenied(_LocalError):
    """The user, a policy or `on_call` did not let a tool be called; nothing was sent."""


class ToolChanged(_LocalError):
    """A tool is no longer what it was when it was pinned; the text has the differences.

    Args:
        message: what changed.
        changes: one for each tool; `Pins.accept` takes them.
    """

    def __init__(self, message: str, changes: Sequence[Any]) -> None:
        super().__init__(message)
        self.changes = list(changes)


# --- what the author of a program meets -----------------------------------------------------------------------------

F = TypeVar("F", bound=Callable[..., Any])


def explained(function: F) -> F:
    """Have what a function raises end in its caller's line and name a page, see `mistakes.shorten`."""

    @wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        try:
            return function(*args, **options)
        except Exception as error:
            from .mistakes import shorten  # of mistakes only

            shorten(error)
            raise  # adds no frame: this one has gone with the others

    return cast(F, call)


class Unmade:
    """Stands for what an object is made of where only we make such an object: its first use says so.

    Raises:
        TypeError: with the text.
    """

    def __init__(self, text: str) -> None:
        self._text = text

    def __getattr__(self, name: str) -> Any:
        raise TypeError(self._text)


class Absent:
    """An attribute that a class does not have, where many look for it: `hasattr` is False, reading it says why.

    Args:
        advice: what to write instead.
    """

    def __init__(self, advice: str) -> None:
        self._advice = advice

    def __set_name__(self, owner: type[Any], name: str) -> None:
        self._name = name

    def __get__(self, instance: object, owner: type[Any]) -> NoReturn:
        raise AttributeError(f"{owner.__name__} has no {self._name!r}; {self._advice}")


OF_PYDANTIC = {
    **dict.fromkeys(("dict", "model_dump"), "write `msgspec.to_builtins(value)`"),
    **dict.fromkeys(("json", "model_dump_json"), "write `msgspec.json.encode(value)`"),
    **dict.fromkeys(("copy", "model_copy"), "write `msgspec.structs.replace(value, name=...)`"),
    **dict.fromkeys(("model_validate", "parse_obj"), "write `msgspec.convert(value, Class)`"),
    **dict.fromkeys(("model_validate_json", "parse_raw"), "write `msgspec.json.decode(text, type=Class)`"),
    **dict.fromkeys(("model_json_schema", "schema"), "write `msgspec.json.schema(Class)`"),
}
"""What to write instead of a method of pydantic models, whose classes our types are not."""


def without(kind: type[Any], advice: Mapping[str, str]) -> None:
    """Have a class say what to write instead of names that it does not have.

    Args:
        kind: the class.
        advice: by name.
    """
    for name, text in advice.items():
        absent = Absent(text)
        absent.__set_name__(kind, name)
        setattr(kind, name, absent)


def option_names(function: Callable[..., Any]) -> tuple[str, ...]:
    """Return the names of the parameters of a function, `explained` or not; without those that take the rest."""
    code: CodeType = getattr(function, "__wrapped__", function).__code__
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def no_other(module: str, names: Sequence[str]) -> Callable[[str], NoReturn]:
    """Return the `__getattr__` of a module: it says what stands for a name that the module does not have."""

    def refuse(name: str) -> NoReturn:
        if name == "__path__":  # every `from ... import` asks whether this is a package
            raise AttributeError(name)
        from .elsewhere import no_name  # of mistakes only

        raise no_name(module, name, names, sys._getframe(1))

    return refuse


__getattr__ = no_other(__name__, __all__)
