"""Protocol versions and the `_meta` object that every request carries.

In: the raw `params` of one request. Out: typed params, or MalformedMeta / InvalidParams raised.
Spec 2026-07-28: basic/index, "`_meta`"; basic/versioning, "Protocol Version Negotiation".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal, TypeVar

import msgspec

from ..errors import InvalidParams, MalformedMeta, MethodNotFound
from ..limits import Limits
from .jsonrpc import DECODE_FAULTS, check_bytes

PREFIX = "io.modelcontextprotocol/"
PROTOCOL_VERSION = PREFIX + "protocolVersion"
CLIENT_CAPABILITIES = PREFIX + "clientCapabilities"
CLIENT_INFO = PREFIX + "clientInfo"
LOG_LEVEL = PREFIX + "logLevel"
SERVER_INFO = PREFIX + "serverInfo"
SUBSCRIPTION_ID = PREFIX + "subscriptionId"

MODERN_VERSIONS = ("2026-07-28",)
"""Versions that carry their metadata in each request, newest first."""

LogLevel = Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]


class ClientInfo(msgspec.Struct, frozen=True):
    """What a client calls itself; for logs and displays only."""

    name: str
    version: str
    title: str | None = None


class RequestMeta(msgspec.Struct, frozen=True):
    """The reserved members of a request's `_meta`; others are left alone."""

    protocol_version: str = msgspec.field(name=PROTOCOL_VERSION)
    client_capabilities: dict[str, msgspec.Raw] = msgspec.field(name=CLIENT_CAPABILITIES)
    client_info: ClientInfo | msgspec.UnsetType = msgspec.field(default=msgspec.UNSET, name=CLIENT_INFO)
    progress_token: int | str | msgspec.UnsetType = msgspec.field(default=msgspec.UNSET, name="progressToken")
    log_level: LogLevel | msgspec.UnsetType = msgspec.field(default=msgspec.UNSET, name=LOG_LEVEL)


class Params(msgspec.Struct, frozen=True):
    """What the params of every request have."""

    meta: RequestMeta = msgspec.field(name="_meta")


class ListParams(Params, frozen=True):
    """Params of the list methods."""

    cursor: str | msgspec.UnsetType = msgspec.UNSET


class RetryParams(Params, frozen=True, kw_only=True):
    """Params of the methods that may ask the client first: what a retry carries (basic/patterns/mrtr).

    Args:
        input_responses: the answers by the keys of their questions, each still JSON.
        request_state: what the server sealed when it asked.
    """

    input_responses: dict[str, msgspec.Raw] | msgspec.UnsetType = msgspec.field(
        default=msgspec.UNSET, name="inputResponses"
    )
    request_state: str | msgspec.UnsetType = msgspec.field(default=msgspec.UNSET, name="requestState")


class SubscriptionFilter(msgspec.Struct, frozen=True, omit_defaults=True):
    """Which notifications a client wants to receive, or is going to (basic/patterns/subscriptions)."""

    tools_list_changed: bool = msgspec.field(default=False, name="toolsListChanged")
    prompts_list_changed: bool = msgspec.field(default=False, name="promptsListChanged")
    resources_list_changed: bool = msgspec.field(default=False, name="resourcesListChanged")
    resource_subscriptions: list[str] = msgspec.field(default_factory=list, name="resourceSubscriptions")


class ListenParams(Params, frozen=True):
    """Params of subscriptions/listen."""

    notifications: SubscriptionFilter


class CallToolParams(RetryParams, frozen=True, kw_only=True):
    """Params of tools/call; the arguments stay bytes until the tool is known."""

    name: str
    arguments: msgspec.Raw = msgspec.Raw(b"{}")


class CallToolRequest(msgspec.Struct, frozen=True):
    """A whole tools/call request."""

    jsonrpc: Literal["2.0"]
    method: Literal["tools/call"]
    id: int | str
    params: CallToolParams


decode_plain_call = msgspec.json.Decoder(CallToolRequest).decode
"""Takes a tools/call request that `check_bytes` has seen, or need not; raises DECODE_FAULTS for everything else."""


def decode_call(message: bytes, limits: Limits) -> CallToolRequest | None:
    """Return the tools/call request in `message`, decoded in one pass; it is what nearly every message is.

    None where it is anything else or wrong in any way: `jsonrpc.decode` and `decode_params` accept exactly the same
    requests in two passes, and say what is wrong with the others.

    Raises:
        ParseError, InvalidRequest: as `jsonrpc.decode`, for bytes that are no UTF-8, too deep or too many values.
    """
    if len(message) > limits.max_depth or not message.isascii():
        check_bytes(message, limits)
    try:
        return decode_plain_call(message)
    except DECODE_FAULTS:
        return None


P = TypeVar("P", bound=Params)
T = TypeVar("T")


def decode_params(raw: msgspec.Raw | bytes, decoder: msgspec.json.Decoder[P]) -> P:
    """Return `raw` decoded by `decoder`.

    Raises:
        MalformedMeta: `_meta` is missing or one of its reserved members has the wrong type.
        InvalidParams: anything else in the params has the wrong type.
    """
    try:
        return decoder.decode(raw)
    except DECODE_FAULTS as fault:
        raise _explain(raw, fault) from None


def decode_late(data: msgspec.Raw | bytes, decode: Callable[[Any], T] = msgspec.json.decode) -> T:
    """Return what `decode` makes of JSON that was skipped over when the request came in.

    Raises:
        InvalidParams: a number in it is out of range, the one fault that is not seen in skipping.
    """
    try:
        return decode(data)
    except DECODE_FAULTS as fault:
        raise InvalidParams(f"Invalid params: {plain(fault)}") from None


_decode_meta = msgspec.json.Decoder(Params).decode
_REQUIRED = {PROTOCOL_VERSION: "a string such as " + repr(MODERN_VERSIONS[0]), CLIENT_CAPABILITIES: "an object"}


def _explain(raw: msgspec.Raw | bytes, fault: Exception) -> InvalidParams:
    """Tell a fault in `_meta` from one elsewhere in the params."""
    try:
        _decode_meta(raw)
    except DECODE_FAULTS as meta_fault:
        return MalformedMeta(_explain_meta(raw, meta_fault))
    return InvalidParams(f"Invalid params: {plain(fault)}")


def _explain_meta(raw: msgspec.Raw | bytes, fault: Exception) -> str:
    try:
        params: Any = msgspec.json.decode(raw)
    except DECODE_FAULTS:
        return f"Invalid params: {plain(fault)}"
    meta = params.get("_meta", {}) if isinstance(params, dict) else {}
    if not isinstance(params, dict | None):
        return "params must be an object"
    if not isinstance(meta, dict):
        return "params._meta must be an object"
    missing = [f"{name} ({shape})" for name, shape in _REQUIRED.items() if name not in meta]
    if missing:
        return f"params._meta lacks {' and '.join(missing)}"
    return f"Invalid params._meta: {plain(fault)}"


def plain(fault: Exception) -> str:
    """Return msgspec's sentence about a fault without its `$` notation."""
    return str(fault).replace(" - at `$.", " at `params.").replace(" - at `$", " at `params")


LEGACY_METHODS = {
    "initialize",
    "notifications/initialized",
    "ping",
    "logging/setLevel",
    "resources/subscribe",
    "resources/unsubscribe",
}


def method_not_found(method: str, served: Iterable[str] = ()) -> MethodNotFound:
    """Return the error for a method that is not served, with the one of those served that was probably meant.

    To a legacy client it names our versions: it has no way to fall forward, and shows the text to its user
    (basic/versioning, "Backward Compatibility").
    """
    if method not in LEGACY_METHODS:
        from ..mistyped import did_you_mean  # of mistakes only

        return MethodNotFound(f"Method not found: {method[:100]!r}{did_you_mean(method, served)}")
    return MethodNotFound(
        f"Method not found: {method!r} belongs to older protocol versions; this server speaks "
        f"{', '.join(MODERN_VERSIONS)}, where each request carries its metadata in params._meta, without a handshake",
        {"supported": list(MODERN_VERSIONS)},
    )


class _MetaOnly(msgspec.Struct):
    meta: dict[str, Any] = msgspec.field(name="_meta")


class _Message(msgspec.Struct):
    """A request, read for nothing but its `_meta`."""

    params: _MetaOnly


decode_meta = msgspec.json.Decoder(_Message).decode
"""Takes the bytes of a whole request; what comes back has its `_meta` as a dict of plain JSON at `.params.meta`."""
