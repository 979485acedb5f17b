"""JSON-RPC 2.0 frames.

In: the bytes of one message. Out: an Envelope whose `params` are still bytes, or ParseError / InvalidRequest raised.
Ids keep type and value. Spec 2026-07-28: basic/index, "Messages".
"""

from __future__ import annotations

from itertools import accumulate
from json import JSONDecodeError  # noqa: F401  orjson crashes where a user's json.py hides it
from typing import Any, Literal

import msgspec
import orjson

from ..errors import InvalidRequest, MCPError, ParseError
from ..limits import DEFAULT_LIMITS, Limits
from ..logs import warn_seldom

RequestId = int | str
Segments = list[bytes]
"""One message in pieces, to be written in order and not joined before."""


NO_PARAMS = msgspec.Raw(b"{}")
RESPONSE_START = b'{"jsonrpc":"2.0","id":'
"""What every response with an id begins with; the id as JSON is next."""


class Envelope(msgspec.Struct, frozen=True):
    """A request or, where `id` is UNSET, a notification."""

    jsonrpc: Literal["2.0"]
    method: str
    id: int | str | msgspec.UnsetType = msgspec.UNSET
    params: msgspec.Raw = NO_PARAMS


_decode = msgspec.json.Decoder(Envelope).decode
_decode_any = msgspec.json.Decoder().decode
# The decoder looks into those strings only that it needs, and bytes of them that are no UTF-8 raise the last one.
DECODE_FAULTS = (msgspec.DecodeError, RecursionError, UnicodeDecodeError)
"""What decoding raises where a message is not what it should be."""


def decode(message: bytes, limits: Limits = DEFAULT_LIMITS) -> Envelope:
    """Return the request or notification in `message`.

    Args:
        message: UTF-8 JSON, without framing.

    Raises:
        ParseError: not JSON, or not UTF-8.
        InvalidRequest: JSON, but a batch, a response, too deep, too many values, or no JSON-RPC 2.0 message. The
            exception's `request_id` holds the id where it could be read, else None.
    """
    check_bytes(message, limits)
    try:
        return _decode(message)
    except DECODE_FAULTS as fault:
        return _decode_slowly(message, fault)


def refuse(message: str, request_id: RequestId | None = None) -> InvalidRequest:
    """Return an InvalidRequest that remembers the id it belongs to."""
    fault = InvalidRequest(f"Invalid request: {message}")
    fault.request_id = request_id
    return fault


def check_bytes(message: bytes, limits: Limits) -> None:
    """Refuse what no decoder may see, and what decoders that skip over values do not: bad UTF-8 anywhere.

    Raises:
        ParseError: not UTF-8.
        InvalidRequest: too deep, or too many values.
    """
    if len(message) > limits.max_depth:
        _check_size(message, limits)
    if not message.isascii():
        try:
            message.decode()
        except UnicodeDecodeError as fault:
            raise ParseError(f"Parse error: invalid UTF-8 at byte {fault.start}") from None


def _decode_slowly(message: bytes, fault: Exception) -> Envelope:
    """Find out why the fast decoder refused `message`; an integral float is a legal id."""
    try:
        if not isinstance(fault, msgspec.ValidationError):
            raise fault
        value: Any = _decode_any(message)
    except RecursionError:
        raise refuse("nested too deeply") from None
    except msgspec.ValidationError:
        raise refuse("a number is out of range") from None
    except DECODE_FAULTS as worse:  # perhaps behind what was of the wrong type
        raise ParseError(f"Parse error: {malformed(message, worse)}") from None
    if isinstance(value, list):
        raise refuse("batches are not supported, send one message at a time")
    if not isinstance(value, dict):
        raise refuse("a message is a JSON object")
    return _decode_object(message, value)


_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_NO_NUMBERS = (b"NaN", b"Infinity", b"-Infinity")


def malformed(text: bytes, fault: Exception) -> str:
    """Return what is wrong with `text`, which the decoder has refused with `fault`."""
    if not text.strip():
        return "there is nothing, where JSON is expected"
    if text.startswith(_BYTE_ORDER_MARK):
        return "it begins with a byte order mark; write UTF-8 without one"
    detail, _, place = str(fault).removeprefix("JSON is malformed: ").partition(" (byte ")
    if not place:
        return "the JSON ends too early" if detail == "Input data was truncated" else detail
    at = int(place.removesuffix(")"))
    if text.startswith(_NO_NUMBERS, at):
        detail = "JSON has no NaN and no Infinity"
    elif text.startswith(b"'", at):
        detail = "JSON has double quotes"
    return f"{detail}, at byte {at}"


def _decode_object(message: bytes, value: dict[str, Any]) -> Envelope:
    identifier = value.get("id")
    if isinstance(identifier, float) and identifier.is_integer():
        identifier = int(identifier)
    readable = isinstance(identifier, int | str) and not isinstance(identifier, bool)
    known = identifier if readable else None
    if value.get("jsonrpc") != "2.0":
        raise refuse('"jsonrpc" must be "2.0"', known)
    if "method" not in value and ("result" in value or "error" in value):
        raise refuse("a server takes no responses")
    if not isinstance(value.get("method"), str):
        raise refuse('"method" must be a string', known)
    if not readable and "id" in value:
        raise refuse('"id" must be a string or an integer')
    members = msgspec.json.decode(message, type=dict[str, msgspec.Raw])
    return Envelope("2.0", value["method"], msgspec.UNSET if known is None else known, members.get("params", NO_PARAMS))


# --- size of one message ------------------------------------------------------------------------------------------

_BRACKETS = bytes(range(256)).translate(None, b"[]{}")
_STEP = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}


def _check_size(message: bytes, limits: Limits) -> None:
    """Refuse a message that is nested too deep or holds too many values, before anything is built from it.

    The counts include brackets and commas inside strings, so they can only be too high; only then the strings are
    cut out and the rest is counted exactly.
    """
    opened = message.count(b"[") + message.count(b"{")
    if opened <= limits.max_depth and message.count(b",") + opened <= limits.max_elements:
        return
    bare = _without_strings(message)
    brackets = bare.translate(None, _BRACKETS)
    if max(accumulate(map(_STEP.__getitem__, brackets)), default=0) > limits.max_depth:
        raise refuse(f"nested deeper than {limits.max_depth} levels (Limits.max_depth)")
    if bare.count(b",") + opened > limits.max_elements:
        raise refuse(f"more than {limits.max_elements} values (Limits.max_elements)")


def _without_strings(message: bytes) -> bytes:
    """Return `message` without its string literals, in linear time."""
    import re  # needed by large or hostile messages only

    return re.sub(rb'"(?:[^"\\]|\\.)*+"?', b"", message, flags=re.DOTALL)


# --- answers ------------------------------------------------------------------------------------------------------


def encode_id(request_id: RequestId) -> bytes:
    """Return the id as JSON, with the type and value that it came with."""
    if type(request_id) is int:
        return b"%d" % request_id
    return orjson.dumps(request_id)


def encode_error(error: MCPError, request_id: RequestId | None) -> bytes:
    """Return an error response; without a readable id the member is left out (policy P11)."""
    body: dict[str, Any] = {"code": _sendable(error.code), "message": error.message}
    if error.data is not None:
        body["data"] = error.data
    prefix = b"" if request_id is None else b'"id":' + encode_id(request_id) + b","
    return b'{"jsonrpc":"2.0",' + prefix + b'"error":' + _encode_error_body(body) + b"}"


_DEFINED = (-32020, -32021, -32022)
_EARLIER = {-32002: -32602, -32042: -32603}


def _sendable(code: int) -> int:
    """Return the code under which an error may travel.

    Codes of earlier versions, and those of the specification's own range that it does not define, must not be sent; a
    function that was written for an earlier version may raise them (basic/index, "Error Codes").
    """
    if code in _EARLIER or (-32099 <= code <= -32020 and code not in _DEFINED):
        sent = _EARLIER.get(code, -32603)
        warn_seldom("an error has the reserved code %d and is sent as %d; take one outside -32768..-32000", code, sent)
        return sent
    return code


def _encode_error_body(body: dict[str, Any]) -> bytes:
    try:
        # A Raw within `data` is spliced as it is: a line feed in it would end the message, on stdio and in an event.
        return msgspec.json.format(msgspec.json.encode(body), indent=-1)
    except (TypeError, ValueError, OverflowError, RecursionError, msgspec.DecodeError):
        # A message or data that is no JSON must not cost the peer its answer.
        text = str(body["message"]).encode("ascii", "backslashreplace").decode()
        return msgspec.json.encode({"code": body["code"], "message": text})
