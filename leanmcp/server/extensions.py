"""Extensions: methods, results and notifications that the specification leaves to others, declared on both sides.

In: `Extension` objects, when the server is made. Out: the `extensions` capability, methods, and tools/call taken over.
Spec 2026-07-28: basic/versioning, "Extension Negotiation"; basic/index, "`_meta`" (the grammar of identifiers),
"ResultType", "Per-request protocol fields" (capabilities that a client did not declare).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import msgspec

from ..errors import InvalidParams, explained
from ..logs import logger
from ..protocol.jsonrpc import Segments
from ..protocol.meta import LEGACY_METHODS, Params, RetryParams, decode_late
from .app import Method
from .calling import Callee, Home, InputRequired
from .context import Context, Exchange, RequestView
from .encoding import encode_json
from .failures import protocol_error
from .middleware import CallNext, Middleware, Request, wrap
from .signature import InvalidArguments, Signature
from .source import Source
from .whole_results import CORE_RESULT_TYPES, encode_result

if TYPE_CHECKING:
    from .app import MCPServer
    from .calling import Provided

__all__ = ["CallToolRequestParams", "Extension", "MethodBinding", "ToolBinding", "check_identifier", "install"]

_LABEL = r"[A-Za-z](?:[A-Za-z0-9\-]*[A-Za-z0-9])?"
_IDENTIFIER = re.compile(rf"({_LABEL}(?:\.{_LABEL})*)/[A-Za-z0-9](?:[A-Za-z0-9_.\-]*[A-Za-z0-9])?").fullmatch
_RESERVED_LABELS = ("modelcontextprotocol", "mcp")
_OFFICIAL = "io.modelcontextprotocol"


class _MembersOnly(msgspec.Struct):
    params: dict[str, msgspec.Raw]


_decode_members = msgspec.json.Decoder(_MembersOnly).decode

SPECIFIED = LEGACY_METHODS | {
    "server/discover",
    "tools/list",
    "tools/call",
    "prompts/list",
    "prompts/get",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "completion/complete",
    "subscriptions/listen",
    "sampling/createMessage",
    "elicitation/create",
    "roots/list",
    "notifications/cancelled",
    "notifications/progress",
    "notifications/message",
    "notifications/roots/list_changed",
    "notifications/tools/list_changed",
    "notifications/prompts/list_changed",
    "notifications/resources/list_changed",
    "notifications/resources/updated",
    "notifications/elicitation/complete",
    "notifications/subscriptions/acknowledged",
}
"""Methods and notifications that have a meaning in some revision, whether this server has them or not."""


def check_identifier(identifier: object, owner: str) -> None:
    """Refuse what is no `prefix/name`.

    Raises:
        TypeError: it breaks the naming rules of `_meta` keys, or has no prefix.

    Spec: basic/versioning, "Extension Negotiation"; basic/index, "`_meta`".
    """
    match = _IDENTIFIER(identifier) if isinstance(identifier, str) else None
    if match is None:
        raise TypeError(
            f"{owner}.identifier is {identifier!r}; give a prefix in reverse DNS order, a slash and a name, such as "
            "'com.example/search'"
        )
    labels = match[1].split(".")
    if len(labels) > 1 and labels[1] in _RESERVED_LABELS and match[1] != _OFFICIAL:
        logger.warning("extension %r: prefixes with %r in second place are reserved for MCP", identifier, labels[1])


class ToolBinding(msgspec.Struct, frozen=True):
    """A tool that comes with an extension.

    Args:
        fn: what `add_tool` takes.
        meta: the `_meta` of its entry in the list.
        kwargs: further options of `add_tool`.
    """

    fn: Callable[..., Any]
    meta: dict[str, Any] | None = None
    kwargs: dict[str, Any] = {}


class MethodBinding(msgspec.Struct, frozen=True):
    """A method that comes with an extension.

    Args:
        method: such as "com.example/search"; never a name of the specification's.
        params_type: what the params are checked against and made into, `_meta` taken out: Struct, dataclass, TypedDict,
            pydantic model; default: a dict as it is.
        handler: `handler(ctx, params)`, a function of either kind; the parameter annotated `Context` gets the context,
            wherever it stands, and `Depends` works. Returns the members of the result, as a dict or an object with
            fields; None stands for none. ToolError and MCPError answer as protocol errors.
        name_param: the member of the params that HTTP clients mirror in the header Mcp-Name, such as "taskId".
        declared: serve clients only that declare the extension; others get -32021.
        timeout: seconds that it may take, None for no limit.
    """

    method: str
    params_type: Any
    handler: Callable[..., Any]
    name_param: str | None = None
    declared: bool = True
    timeout: float | None = None


class CallToolRequestParams(msgspec.Struct, frozen=True):
    """What `intercept_tool_call` learns of a call; the arguments are not checked yet."""

    name: str
    arguments: dict[str, Any]


class Extension:
    """Something that a server offers beyond the specification; override what it needs.

    Attributes:
        identifier: `prefix/name`, such as "com.example/search".
        result_types: values of `resultType` that it adds; a client that did not declare it never gets one.
        notifications: methods of what `Context.notify` may send on the stream of a call.
    """

    identifier: str
    result_types: Sequence[str] = ()
    notifications: Sequence[str] = ()

    @explained
    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "identifier" in vars(cls):
            check_identifier(cls.identifier, cls.__name__)

    def settings(self) -> dict[str, Any]:
        """Return what `capabilities.extensions` says of it, an object."""
        return {}

    def tools(self) -> Sequence[ToolBinding]:
        """Return the tools that it adds."""
        return ()

    def methods(self) -> Sequence[MethodBinding]:
        """Return the methods that it adds."""
        return ()

    async def intercept_tool_call(self, params: CallToolRequestParams, ctx: Request, call_next: CallNext) -> Any:
        """Stand around every tools/call, inside of the server's middleware; works as one.

        It is asked about clients that did not declare the extension, too: see `ctx.client_extensions`.
        """
        return await call_next(ctx)


# --- installation -----------------------------------------------------------------------------------------------------


def install(server: MCPServer, home: Home, extensions: Sequence[Extension]) -> dict[str, Extension]:
    """Add extensions to a server, and return them by identifier.

    Raises:
        TypeError, ValueError: one is none, comes twice, or takes a name that is taken; the text says which.
    """
    found: dict[str, Extension] = {}
    for extension in extensions:
        if not isinstance(extension, Extension):
            raise TypeError(f"extensions=[{extension!r}]: give objects of subclasses of leanmcp.server.Extension")
        owner = type(extension).__name__
        check_identifier(getattr(extension, "identifier", None), owner)
        if extension.identifier in found:
            raise ValueError(f"extension {extension.identifier!r} is given twice")
        found[extension.identifier] = extension
        _check_names(extension)
    server.declare("extensions", {name: _checked_settings(extension) for name, extension in found.items()})
    for extension in found.values():
        for binding in extension.methods():
            if binding.method in server.methods:
                raise ValueError(f"method {binding.method!r} of {extension.identifier!r} is taken by another extension")
            handler = _Handler(extension.identifier, binding, home)
            server.serve_method(binding.method, Method(handler.decoder, handler.handle, binding.name_param))
        for tool in extension.tools():
            server.add_tool(tool.fn, meta=tool.meta, **tool.kwargs)
    interceptors = [_interceptor(extension) for extension in found.values() if _intercepts(extension)]
    if interceptors:
        server.serve_method("tools/call", wrap("tools/call", server.methods["tools/call"], interceptors, home))
    return found


def _check_names(extension: Extension) -> None:
    """Refuse what the specification has a meaning for."""
    names = [binding.method for binding in extension.methods()]
    for name in (*names, *extension.notifications):
        if not isinstance(name, str) or not name or name in SPECIFIED or name.startswith("rpc."):
            raise ValueError(
                f"extension {extension.identifier!r} may not define {name!r}, a name of the specification; use one of "
                "its own, or middleware to stand around a method"
            )
    for name in names:
        if name.startswith("notifications/"):
            raise ValueError(
                f"extension {extension.identifier!r}: {name!r} is the name of a notification, not a method"
            )
    for result_type in extension.result_types:
        if result_type in CORE_RESULT_TYPES:
            raise ValueError(f"extension {extension.identifier!r}: resultType {result_type!r} is the specification's")


def _checked_settings(extension: Extension) -> dict[str, Any]:
    settings = extension.settings()
    try:
        if not isinstance(settings, dict) or not encode_json(settings).startswith(b"{"):
            raise TypeError("they are no dict")
    except Exception as fault:
        text = f"extension {extension.identifier!r}: settings() {settings!r} cannot be declared: {fault}"
        raise TypeError(text) from None
    return settings


def _intercepts(extension: Extension) -> bool:
    return type(extension).intercept_tool_call is not Extension.intercept_tool_call


def _interceptor(extension: Extension) -> Middleware:
    async def intercept(request: Request, call_next: CallNext) -> Any:
        params = request.params
        arguments = params.get("arguments")
        call = CallToolRequestParams(params["name"], arguments if isinstance(arguments, dict) else {})
        return await extension.intercept_tool_call(call, request, call_next)

    intercept.__qualname__ = extension.intercept_tool_call.__qualname__  # what the log says of its failures
    return intercept


# --- methods ----------------------------------------------------------------------------------------------------------


class _Wiring(msgspec.Struct):
    """Which parameters of a handler get what."""

    context_parameter: str | None
    params: str
    provided: Mapping[str, tuple[Provided, Any]]


def _wiring(handler: Callable[..., Any], method: str) -> _Wiring:
    """Return the wiring of `handler(ctx, params)`, in whatever order and under whatever names."""
    source = Source(handler, method, Context, given=True, noun="method")
    names = [parameter.name for parameter in source.parameters]
    if source.context_parameter is not None:
        names.insert(0, source.context_parameter)
    if len(names) != 2:
        raise TypeError(f"method {method!r}: its handler takes (ctx, params), not ({', '.join(names)})")
    return _Wiring(names[0], names[1], source.provided)


class _Handler:
    """The handler of one method of an extension."""

    def __init__(self, identifier: str, binding: MethodBinding, home: Home) -> None:
        self._identifier = identifier
        self._method = binding.method
        self._declared = binding.declared
        self._home = home
        self._wiring = _wiring(binding.handler, binding.method)
        self._signature = _signature(binding)
        self._callee = Callee(
            binding.handler,
            self._wiring,
            home,
            method=binding.method,
            name=binding.method,
            timeout=binding.timeout,
        )
        params: type[Params] = Params
        if binding.name_param is not None:
            fields = [(binding.name_param, str)]
            params = cast(type[Params], msgspec.defstruct("NamedParams", fields, bases=(Params,), kw_only=True))
        self.decoder = msgspec.json.Decoder(params)

    async def handle(self, params: Params, exchange: Exchange) -> Segments:
        """Answer a request.

        Raises:
            MissingRequiredClientCapability: the client did not declare the extension.
            InvalidParams: the params do not fit their type.
            MCPError: whatever else went wrong.
        """
        request = RequestView(params, exchange)
        if self._declared:
            request.require_extension(self._identifier)
        kwargs = {self._wiring.params: self._read(exchange.message)}
        try:
            value = await self._callee.call((), kwargs, RetryParams(meta=params.meta), exchange)
            segments, result_type = encode_result(
                {} if value is None else value, self._method, exchange.id, self._home.server_info
            )
            if result_type not in CORE_RESULT_TYPES:
                check_result_type(result_type, self._home.host.extensions, request)
        except InputRequired:
            fault = TypeError(f"{self._method} asked its client, which only tools, prompts and resources may do")
            raise protocol_error(fault, "method", self._method, self._home) from None
        except BaseException as error:
            raise protocol_error(error, "method", self._method, self._home) from None
        return segments

    def _read(self, message: bytes) -> Any:
        """Return the params of a request as the handler gets them."""
        members = _decode_members(message).params
        del members["_meta"]
        data = msgspec.json.encode(members)
        if self._signature is None:
            return decode_late(data)
        try:
            _, named = self._signature.read(b'{"params":%s}' % data)
        except InvalidArguments as refusal:
            faults = "; ".join(f"{fault.path}: {fault.message}" for fault in refusal.faults[:20])
            raise InvalidParams(f"Invalid params: {faults}") from None
        return named["params"]


def _signature(binding: MethodBinding) -> Signature | None:
    """Return the check of the params, that of a function with one argument; None where any object will do."""
    if binding.params_type in (dict, Any, None, Mapping):
        return None

    def params_of(params: Any) -> None:
        """Stand for the handler."""

    params_of.__annotations__["params"] = binding.params_type
    return Signature(params_of, tool_name=binding.method, coerce=False, noun="method")


# --- results and notifications ----------------------------------------------------------------------------------------


def check_result_type(result_type: object, extensions: Mapping[str, Extension], request: RequestView) -> None:
    """Refuse to send a `resultType` that the client could not understand.

    Raises:
        ValueError: no extension of the server has it.
        MissingRequiredClientCapability: the client did not declare the extension that has it.

    Spec: basic/index, "ResultType".
    """
    for identifier, extension in extensions.items():
        if result_type in extension.result_types:
            request.require_extension(identifier)
            return
    raise ValueError(f"no extension has the resultType {result_type!r}; name it in Extension.result_types")


def encode_notification(
    extensions: Mapping[str, Extension], method: str, params: Mapping[str, Any] | None, request: RequestView
) -> bytes | None:
    """Return the JSON of a notification of an extension, None where the client did not declare it.

    Raises:
        ValueError: no extension of the server has such a notification.
        ResultError: the params have no JSON form.
    """
    for identifier, extension in extensions.items():
        if method in extension.notifications:
            message = {"jsonrpc": "2.0", "method": method, "params": dict(params or {})}
            return encode_json(message) if identifier in request.client_extensions else None
    raise ValueError(f"no extension has the notification {method!r}; name it in Extension.notifications")
