"""Requests encoded, responses decoded.

In: method, params and metadata; response messages. Out: JSON-RPC requests; typed results, with errors raised.
Spec 2026-07-28: basic/index, "Requests", "Responses", "ResultType" and "`_meta`".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import Raw, Struct

from ..errors import (
    HeaderMismatch,
    InternalError,
    InvalidParams,
    InvalidRequest,
    InvalidResult,
    MCPError,
    MethodNotFound,
    MissingRequiredClientCapability,
    ParseError,
    UnknownResource,
    UnsupportedProtocolVersion,
)
from ..logs import one_line
from ..protocol.jsonrpc import DECODE_FAULTS
from ..protocol.meta import CLIENT_CAPABILITIES, CLIENT_INFO, PROTOCOL_VERSION
from ..types import Implementation

T = TypeVar("T")
_RESERVED = (PROTOCOL_VERSION, CLIENT_CAPABILITIES, "progressToken")


class Metadata:
    """The `_meta` that every request of one client carries; encoded once.

    Args:
        version: protocol version.
        info: name and version of the client.
        capabilities: what the client declares.
    """

    __slots__ = ("_start", "capabilities", "info", "version")

    def __init__(self, version: str, info: Implementation, capabilities: Mapping[str, Any]) -> None:
        self.version = version
        self.info = info
        self.capabilities = capabilities
        members = {PROTOCOL_VERSION: version, CLIENT_INFO: info, CLIENT_CAPABILITIES: capabilities}
        self._start = b'"_meta":' + msgspec.json.encode(members)[:-1]

    def at(self, version: str) -> Metadata:
        """Return the same at another protocol version."""
        return type(self)(version, self.info, self.capabilities)

    def request(
        self, number: int, method: str, members: bytes, token: int | None = None, more: Mapping[str, Any] | None = None
    ) -> bytes:
        """Return a JSON-RPC request.

        Args:
            number: its id.
            method: such as `tools/call`.
            members: JSON members of the params besides `_meta`, without braces; may be empty.
            token: asks for progress under this token.
            more: further members of `_meta`; those of the protocol are not theirs to set.
        """
        meta = self._start if token is None and not more else self._start + _extra(token, more)
        if members:
            members = b"," + members
        return b'{"jsonrpc":"2.0","id":%d,"method":"%s","params":{%s}%s}}' % (number, method.encode(), meta, members)


def _extra(token: int | None, more: Mapping[str, Any] | None) -> bytes:
    """Return members of `_meta` that stand behind others."""
    extra = b"" if token is None else b',"progressToken":%d' % token
    others = {name: value for name, value in (more or {}).items() if name not in _RESERVED}
    return extra + b"," + msgspec.json.encode(others)[1:-1] if others else extra


def encode_arguments(tool: str, arguments: Any) -> bytes:
    """Return the JSON of a call's arguments, of `{}` where there are none.

    Raises:
        TypeError: something in them that JSON cannot carry.
    """
    try:
        encoded = msgspec.json.encode(arguments or {})
    except (TypeError, UnicodeEncodeError):
        encoded = b"null"
    if b"null" in encoded and arguments:  # as NaN is encoded
        from .rounds import refuse_unsendable  # of arguments that may be mistakes

        refuse_unsendable(tool, arguments)
    return encoded


# --- responses ----------------------------------------------------------------------------------------------------


class _Error(Struct):
    code: int
    message: str = ""
    data: Any = None


class _Response(Struct):
    result: Raw = Raw(b"")
    error: Raw = Raw(b"")


class _ResultKind(Struct, rename="camel"):
    result_type: str = "complete"


class Asked(Struct, rename="camel"):
    """A result that asks first: `input_required`.

    Args:
        input_requests: by key, what is asked, still JSON.
        request_state: the JSON text of what has to come back as it is; empty where there is none.
        raw: the whole result.
    """

    input_requests: dict[str, Raw] | None = None
    request_state: Raw = Raw(b"")
    raw: Raw = Raw(b"")


_decode_response = msgspec.json.Decoder(_Response).decode
_decode_error = msgspec.json.Decoder(_Error).decode
_decode_kind = msgspec.json.Decoder(_ResultKind).decode
_decode_asked = msgspec.json.Decoder(Asked).decode
_decode_any = msgspec.json.Decoder().decode

_MEMBERS = {
    "resources/list": b"resources",
    "resources/templates/list": b"resourceTemplates",
    "prompts/list": b"prompts",
}
MAY_ASK = ("tools/call", "prompts/get", "resources/read")
"""Methods whose results may ask first (basic/patterns/mrtr, "Supported Requests")."""


class ResponseDecoder(Generic[T]):
    """Decodes the responses to one method: in one pass where all is well, in several where something is odd.

    Args:
        method: such as `tools/call`.
        kind: the type of a complete result; has a field `result_type`.
        repair: makes the result of a decoded object that does not fit `kind`, such as one with unknown content blocks.
    """

    __slots__ = ("_kind", "_repair", "fast", "method")

    def __init__(self, method: str, kind: type[T], repair: Callable[[dict[str, Any]], T] | None = None) -> None:
        self.method = method
        self.fast: Callable[[bytes], Any] = msgspec.json.Decoder(
            msgspec.defstruct("Response", [("result", kind), ("error", None, None)], module=__name__)
        ).decode
        self._kind = kind
        self._repair = repair

    def __call__(self, message: bytes) -> T | Asked:
        """Return the result in a response.

        Raises:
            MCPError: the response is an error.
            InvalidResult: it is none, or its result has not the shape that the specification gives.
        """
        try:
            result: T = self.fast(message).result
        except DECODE_FAULTS:
            return self._slowly(message)
        if result.result_type == "complete":  # type: ignore[attr-defined]  # every result has one; naming them all in T would be naming the schema
            return result
        return self._slowly(message)

    def empty(self) -> T:
        """Return the only page of a list that has no entries."""
        return self.complete(b'{"result":{"%s":[]}}' % _MEMBERS[self.method])

    def complete(self, message: bytes) -> T:
        """Return the result of a method that asks nothing; raises as a call of this does."""
        result = self(message)
        if isinstance(result, Asked):
            raise InvalidResult(f"The server's result of {self.method} asks for input, which it must not")
        return result

    def _slowly(self, message: bytes) -> T | Asked:
        kind, result = result_of(message)
        if kind == "input_required" and self.method in MAY_ASK:
            return _asked(result, self.method)
        if kind != "complete":
            raise InvalidResult(
                f"The server answered {self.method} with resultType {kind[:64]!r}, which this client does not know"
            )
        try:
            if self._repair is None:
                return msgspec.json.decode(result, type=self._kind)
            members = _decode_any(result)
            if not isinstance(members, dict):
                raise msgspec.ValidationError("Expected `object`")
            return self._repair(members)
        except DECODE_FAULTS as fault:
            raise InvalidResult(f"The server's result of {self.method} is invalid: {fault}") from None


def result_of(message: bytes) -> tuple[str, Raw]:
    """Return `resultType` and the JSON of the result in a response; an absent type stands for `complete`.

    Raises:
        MCPError: the response is an error.
        InvalidResult: the response is none.
    """
    try:
        response = _decode_response(message)
        if bytes(response.error) not in (b"", b"null"):
            raise _error_in(response.error)
        if not bytes(response.result):
            raise InvalidResult("The server's response has neither a result nor an error")
        return _decode_kind(response.result).result_type, response.result
    except DECODE_FAULTS as fault:
        raise InvalidResult(f"The server's response is no valid JSON-RPC response: {fault}") from None


def _error_in(raw: Raw) -> MCPError:
    """Return the exception of an error; one of another shape says all the same what went wrong."""
    try:
        error = _decode_error(raw)
    except DECODE_FAULTS as fault:
        return InvalidResult(
            f"The server's error is no JSON-RPC error ({fault}): {one_line(bytes(raw).decode(errors='replace'))}"
        )
    return error_of(error.code, error.message, error.data)


def plain_result(message: bytes) -> dict[str, Any]:
    """Return the result in a response as a plain dict, whatever its `resultType`; raises as `result_of`."""
    result = result_of(message)[1]
    try:
        members = _decode_any(result)
    except DECODE_FAULTS as fault:
        raise InvalidResult(f"The server's result is invalid: {fault}") from None
    if not isinstance(members, dict):
        raise InvalidResult("The server's result is no object")
    return members


def _asked(result: Raw, method: str) -> Asked:
    try:
        asked = _decode_asked(result)
    except DECODE_FAULTS as fault:
        raise InvalidResult(f"The server's result of {method}, which asks for input, is invalid: {fault}") from None
    if bytes(asked.request_state) == b"null":
        asked.request_state = Raw(b"")
    if not asked.input_requests and not bytes(asked.request_state):
        raise InvalidResult(f"The server's result of {method} asks for input, but has no inputRequests and no state")
    asked.raw = result
    return asked


_ERRORS: dict[int, type[MCPError]] = {
    kind.error_code: kind
    for kind in (
        ParseError,
        InvalidRequest,
        MethodNotFound,
        InvalidParams,
        InternalError,
        HeaderMismatch,
        MissingRequiredClientCapability,
        UnsupportedProtocolVersion,
    )
}
_LEGACY_NOT_FOUND = -32002


def error_of(code: int, message: str, data: Any) -> MCPError:
    """Return the exception of an error response; its class tells the codes of the specification apart."""
    kind = _ERRORS.get(code, MCPError)
    if code == _LEGACY_NOT_FOUND:  # server/resources, "Error Handling"
        kind = UnknownResource
    error = kind.__new__(kind)
    MCPError.__init__(error, code, message or f"The server's error {code} has no message", data)
    return error
