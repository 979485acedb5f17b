"""What an HTTP answer means: a response, notifications before it, or the error that tells what to do.

In: heads, bodies and events. Out: JSON-RPC responses and notifications, or TransportErrors.
Spec 2026-07-28: basic/transports/streamable-http, "Sending Messages" and "Receiving Messages".
"""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import Any, Literal

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from ..errors import (
    ConnectionLost,
    Forbidden,
    HTTPStatusError,
    InvalidResult,
    MethodNotFound,
    NotAnMCPServer,
    NotFound,
    TransportError,
    Unauthorized,
)
from ..logs import warn_seldom
from ..protocol.jsonrpc import DECODE_FAULTS
from ..protocol.outgoing import OutgoingRequest
from .http_client_url import Target

JSON, SSE = b"application/json", b"text/event-stream"
_NO_POST = (405, 501)  # to a POST
_SHOWN = 200  # characters of a body in an error text
_MARKUP = re.compile(
    r"<(script|style)\b.*?(?:</\1\s*>|$)|<!--.*?-->|<[^>]*>|[\x00-\x20\x7f-\xa0]+", re.DOTALL | re.IGNORECASE
)
_NOTHING = Raw(b"")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class _Message(Struct):
    jsonrpc: Literal["2.0"]
    id: Raw = _NOTHING
    method: str | UnsetType = UNSET
    params: Raw = Raw(b"{}")
    result: Raw = _NOTHING
    error: Raw = _NOTHING


class _ErrorBody(Struct):
    code: int
    message: str = ""


class _ErrorMessage(Struct):
    jsonrpc: Literal["2.0"]
    error: _ErrorBody


_decode = msgspec.json.Decoder(_Message).decode
_decode_error = msgspec.json.Decoder(_ErrorMessage).decode


def media_type(value: bytes) -> bytes:
    """Return the type of a Content-Type field without its parameters, in lower case."""
    return value.partition(b";")[0].strip().lower()


def _said(body: bytes) -> str:
    """Return what an error body says: the message of a JSON-RPC error, or the start of the text."""
    try:
        return shown(_decode_error(body).error.message.encode())
    except DECODE_FAULTS:
        return shown(body)


class Answers:
    """Finds the response to one request among what the server sends.

    Args:
        request: waits for it.
        where: the server, for texts.
    """

    __slots__ = ("_id", "_request", "_start", "_where")

    def __init__(self, request: OutgoingRequest, where: str) -> None:
        self._id = b"%d" % request.id
        # What nearly every response begins with: those need no decoding to be told apart.
        self._start = b'{"jsonrpc":"2.0","id":%b,"result":' % self._id
        self._request = request
        self._where = where

    def whole(self, body: bytes) -> bytes:
        """Return the response that a JSON body is.

        Raises:
            InvalidResult: a response to another request.
            NotAnMCPServer: no response.
        """
        if body.startswith(self._start):
            return body
        body = body.removeprefix(_BYTE_ORDER_MARK)
        try:
            message = _decode(body)
        except DECODE_FAULTS:
            raise NotAnMCPServer(
                f"{self._where} answered with JSON that is no JSON-RPC message: {shown(body)}", self._where, 200
            ) from None
        if self._is_answer(message):
            return body
        if isinstance(message.method, UnsetType) and bytes(message.id):
            if bytes(message.id) == self._id:
                raise InvalidResult(f"{self._where} answered with neither a result nor an error: {shown(body)}")
            raise InvalidResult(f"{self._where} answered request {self._request.id} with id {shown(bytes(message.id))}")
        raise NotAnMCPServer(
            f"{self._where} answered with a message that is no response: {shown(body)}", self._where, 200
        )

    def event(self, data: bytes) -> bytes | None:
        """Return the response if this is it; hand on notifications; log and drop all else."""
        if data.startswith(self._start):
            return data
        if not data:  # what servers of earlier revisions begin a stream with
            return None
        try:
            message = _decode(data)
        except DECODE_FAULTS as fault:
            warn_seldom("%s sent an event that is no JSON-RPC message (%s): %s", self._where, fault, shown(data))
            return None
        if self._is_answer(message):
            return data
        if isinstance(message.method, UnsetType):
            warn_seldom("%s sent a response to id %s on the stream of another", self._where, shown(bytes(message.id)))
        elif bytes(message.id):
            warn_seldom("%s sent a request, %.80r; this revision has none from servers", self._where, message.method)
        elif self._request.notified is not None:
            self._notify(message.method, message.params)
        return None

    def _is_answer(self, message: _Message) -> bool:
        """Return whether this is the response: the id has the type and value that was sent.

        An error may lack its id: the server could not read it, and a POST carries one request only.
        """
        if not isinstance(message.method, UnsetType):
            return False
        identifier, error = bytes(message.id), bytes(message.error)
        if error:
            return identifier in (self._id, b"", b"null")
        return bool(bytes(message.result)) and identifier == self._id

    def _notify(self, method: str, raw: Raw) -> None:
        try:
            params: Any = msgspec.json.decode(raw)
        except DECODE_FAULTS:
            params = None
        if isinstance(params, dict) and self._request.notified is not None:
            self._request.notified(method, params)


# --- errors -------------------------------------------------------------------------------------------------------


def unanswered(where: str, request: OutgoingRequest) -> ConnectionLost:
    """Return the error of an event stream that ended without the response to `request`."""
    return ConnectionLost(
        f"{where} ended the event stream of {request.method} without a response to request {request.id}", where
    )


def shown(body: bytes) -> str:
    """Return the start of a body on one line, without markup, for an error text."""
    text = _MARKUP.sub(" ", body[: 8 * _SHOWN].decode(errors="replace"))
    if "&" in text:
        from html import unescape  # its table of entities is needed by the pages of proxies only

        text = unescape(text)
    text = " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
    return f"{text[:_SHOWN]}..." if len(text) > _SHOWN else text or "(nothing)"


def not_mcp(target: Target, status: int, content_type: bytes, body: bytes) -> NotAnMCPServer:
    """Return the error of an answer that has nothing to do with MCP."""
    named = content_type.decode("latin-1")[:100] or "no Content-Type"
    return NotAnMCPServer(
        f"{target.shown} does not speak MCP: it answered {_line(status)} with {named} instead of JSON or an event "
        f"stream. It says: {shown(body)}",
        target.shown,
        status,
    )


def refusal(target: Target, status: int, fields: dict[bytes, bytes], body: bytes, authorized: bool) -> TransportError:
    """Return the error of an HTTP error status that carries no JSON-RPC error for the caller.

    Args:
        target: the URL asked.
        status: 300 or more.
        fields: of the head.
        body: its start.
        authorized: whether an Authorization field was sent.
    """
    where, said = target.shown, _said(body)
    answered = f"{where} answered {_line(status)}"
    if status < 400:
        led = fields.get(b"location", b"").decode("latin-1")[:_SHOWN]
        return HTTPStatusError(
            f"{answered} to {led.partition('?')[0] or 'nowhere'}; only 307 and 308 within the origin are followed. If "
            "the server is there, use that URL",
            where,
            status,
        )
    if status == 401:
        hint = (
            "the token that was sent is not, or no longer, accepted"
            if authorized
            else "it wants to know who calls; pass headers={'Authorization': 'Bearer <token>'} or auth="
        )
        return Unauthorized(f"{answered}: {hint}. It says: {said}", where, status)
    if status == 403:
        return Forbidden(
            f"{answered}: the token, the Host or the Origin is not allowed to do this. It says: {said}", where, status
        )
    if status == 404:
        return NotFound(
            f"{answered}: the server is there, MCP is not at this path{_elsewhere(target)}. It says: {said}",
            where,
            status,
        )
    if status in _NO_POST:
        software = shown(fields.get(b"server", b"")[:80])
        named = "" if software == "(nothing)" else f" ({software})"
        return HTTPStatusError(  # which 405 has to be: servers of earlier revisions send it, too
            f"{answered}, as nothing does that speaks MCP: another server is there{named}, or another path is meant. "
            f"It says: {said}",
            where,
            status,
        )
    later = fields.get(b"retry-after", b"").decode("latin-1")[:40]
    return HTTPStatusError(f"{answered}: {said}{f' (retry after {later})' if later else ''}", where, status)


def _elsewhere(target: Target) -> str:
    if target.path.partition("?")[0].rstrip("/") == "/mcp":
        return "; ask who runs it where it is"
    return f"; try {target.url[: len(target.url) - len(target.path)]}/mcp"


def _line(status: int) -> str:
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)


def json_rpc_error(status: int, content_type: bytes, body: bytes) -> bool:
    """Return whether an error answer is a JSON-RPC error for the caller to read.

    401 and 403 are about who calls, and a 404 about the path unless it is the method that is unknown (basic/transports/
    streamable-http, "Protocol Version Header").
    """
    if status in (401, 403) or media_type(content_type) != JSON:
        return False
    try:
        code = _decode_error(body).error.code
    except DECODE_FAULTS:
        return False
    return status != 404 or code == MethodNotFound.error_code
