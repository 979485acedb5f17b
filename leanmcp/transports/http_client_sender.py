"""Requests to the MCP endpoint, on one pool.

In: fields and bodies. Out: a connection with the head of the answer; challenges and redirects are dealt with before.
Spec 2026-07-28: basic/transports/streamable-http; RFC 9110 9.2.2 (idempotent methods), 15.4 (redirection).

A request is sent a second time only where that cannot make anything happen twice: after a challenge that `auth` met,
after a same-origin 307 or 308, and when a connection that had been used before turns out to be dead before the first
octet of an answer, once, if it may be done twice (methods that only read, tools that say so of themselves) or the
server is certain not to have had all of it. Other requests are not sent again into the dark: a server that read one and
died looks the same as one that closed the connection just before.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Protocol

from ..errors import ConnectionLost
from ..logs import warn_seldom
from .http_client_answers import JSON, media_type, refusal
from .http_client_connection import Connection, Head
from .http_client_pool import Pool
from .http_client_url import Target, follow

_MAX_REFUSAL = 1024 * 1024  # bytes of an error body that is JSON
_MAX_PAGE = 8 * 1024  # bytes of one that is not; its start is all that is shown
_REFUSAL_TIME = 5.0  # seconds for the body of an error
_MAX_CHALLENGES = 3  # of one request: a new token, more scopes, and once more
_MAX_HOPS = 3
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_SAME_AGAIN = frozenset({307, 308})  # the others would turn a POST into a GET
_TURNED_AWAY = _REDIRECTS | {401, 403}
_JOIN_SIZE = 64 * 1024  # bytes; larger bodies are written by themselves instead of being copied behind their head
_NAME = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_VALUE = re.compile(r"(?:[!-~\x80-\xff](?:[\t -~\x80-\xff]*[!-~\x80-\xff])?)?")
_OURS = re.compile(
    r"mcp-.*|proxy-.*|accept|accept-encoding|connection|content-encoding|content-length|content-type|expect|host|"
    r"keep-alive|te|trailer|transfer-encoding|upgrade",
    re.IGNORECASE,
)


class Auth(Protocol):
    """Supplies credentials, for the MCP endpoint only."""

    async def headers(self, url: str, /) -> Mapping[str, str]:
        """Return the fields to send with the next request to `url`."""

    async def challenged(self, status: int, headers: Mapping[str, str], body: bytes, /) -> bool:
        """Take a 401 or 403 with its fields and the start of its body; return whether to ask once more."""


class _Same:
    """Equal to that of the very same object only; holds on to it, for numbers of objects that are gone come again."""

    __slots__ = ("_held",)

    def __init__(self, held: object) -> None:
        self._held = held

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other._held is self._held

    def __hash__(self) -> int:
        return id(self._held)


class Sender:
    """Sends requests and returns the answers that are for the caller.

    Args:
        target: the MCP endpoint.
        pool: of connections.
        headers: sent to the endpoint with every request.
        auth: supplies further ones.

    Raises:
        ValueError: a header that is not the user's to set.
    """

    def __init__(self, target: Target, pool: Pool, headers: Mapping[str, str], auth: Auth | None) -> None:
        self.target = target
        self.pool = pool
        self.authorized = auth is not None or any(name.lower() == "authorization" for name in headers)
        self._auth = auth
        self._headers = dict(headers)
        self._own = encode_fields(headers, theirs=True)
        self._post = request_line("POST", target)
        if self.authorized and target.origin.scheme == "http" and not target.is_local:
            warn_seldom("%s: the token travels unencrypted; use https://", target.shown)

    @property
    def identity(self) -> object:
        """Equal for those whom the server takes for the same: equal headers, and the same `auth`."""
        own = sorted((name.lower(), value) for name, value in self._headers.items())
        digest = hashlib.sha256(repr(own).encode()).digest()
        return digest if self._auth is None else (digest, getattr(self._auth, "partition", _Same(self._auth)))

    async def conduct(self, method: str, fields: bytes, body: bytes, repeatable: bool) -> tuple[Connection, Head]:
        """Send a request to the endpoint; answer challenges and follow redirects within its origin.

        Args:
            method: of HTTP.
            fields: encoded, besides those that every request has.
            body: whole.
            repeatable: whether sending it twice does no harm.

        Raises:
            TransportError: no answer, or one of 401, 403 and the redirects that is final.
        """
        target, start = self.target, self._post if method == "POST" else request_line(method, self.target)
        challenges = hops = 0
        while True:
            own = self._own if self._auth is None else self._with(await self._auth.headers(self.target.url))
            connection, head = await self.send(target, method, start + own + fields, body, repeatable)
            if head.status not in _TURNED_AWAY:
                return connection, head
            said = await self.refused(connection, head)
            if head.status in _REDIRECTS:
                led = follow(target, head.fields.get(b"location", b"").decode("latin-1"))
                if led is not None and head.status in _SAME_AGAIN and hops < _MAX_HOPS:
                    warn_seldom("%s redirects to %s; use that URL to save a round trip", target.shown, led.shown)
                    target, start, hops = led, request_line(method, led), hops + 1
                    continue
            elif self._auth is not None and challenges < _MAX_CHALLENGES:
                challenges += 1
                if await self._auth.challenged(head.status, head.text(), said):
                    continue
            raise refusal(target, head.status, head.fields, said, self.authorized)

    def _with(self, supplied: Mapping[str, str]) -> bytes:
        """Return the user's fields with those of `auth`, which win."""
        names = {name.lower() for name in supplied}
        kept = {name: value for name, value in self._headers.items() if name.lower() not in names}
        return encode_fields({**kept, **supplied}, theirs=True)

    async def send(
        self, target: Target, method: str, fields: bytes, body: bytes, repeatable: bool
    ) -> tuple[Connection, Head]:
        """Send one request; see the module about second attempts.

        Args:
            target: where to.
            method: of HTTP.
            fields: request line and fields, without the length.
            body: whole.
            repeatable: whether sending it twice does no harm.
        """
        head = b"%bContent-Length: %d\r\n\r\n" % (fields, len(body)) if body or method == "POST" else fields + b"\r\n"
        if len(body) <= _JOIN_SIZE:
            head, body = head + body, b""
        pool, origin, where = self.pool, target.origin, target.shown
        connection = pool.take(origin, where) or await pool.connect(origin, where)
        while True:
            try:
                return connection, await connection.exchange(head, body)
            except ConnectionLost as lost:
                missed = connection.kept and connection.has_missed(lost)
                pool.discard(connection)
                if connection.received or connection.cut or not connection.kept:
                    raise
                pool.keep_none()
                if not (repeatable or missed):
                    text = f"{lost.message}; whether it has received the request is unknown, so it is not sent again"
                    raise ConnectionLost(text, where) from None
            except BaseException:
                pool.discard(connection)
                raise
            connection = await pool.connect(origin, where, fresh=True)  # which is none that was kept: once

    async def refused(self, connection: Connection, head: Head) -> bytes:
        """Return the start of an error's body, whole where it is JSON of a sane size, and let go of the connection."""
        is_json = media_type(head.fields.get(b"content-type", b"")) == JSON
        try:
            body = await connection.start_of_body(_MAX_REFUSAL if is_json else _MAX_PAGE, _REFUSAL_TIME)
        except BaseException:
            self.pool.discard(connection)
            raise
        self.pool.release(connection)
        return body if b"content-encoding" not in head.fields else b"(compressed)"


def request_line(method: str, target: Target) -> bytes:
    """Return the request line and the Host field."""
    return f"{method} {target.path} HTTP/1.1\r\nHost: {target.host}\r\n".encode()


def encode_fields(fields: Mapping[str, str], theirs: bool = False) -> bytes:
    """Return header lines.

    Args:
        fields: names and values.
        theirs: from the user or from `auth`, who may not set what the protocol sets.

    Raises:
        ValueError: a name or value that would break the head apart, or is not theirs to set.
    """
    lines = []
    for name, value in fields.items():
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise ValueError(f"{name!r} is no header name")
        if not isinstance(value, str) or not _VALUE.fullmatch(value):
            raise ValueError(f"header {name!r}: the value must be one line of Latin-1 text without blanks around it")
        if theirs and _OURS.fullmatch(name):
            raise ValueError(f"header {name!r} belongs to the protocol; the client sets it itself")
        lines.append(f"{name}: {value}\r\n")
    return "".join(lines).encode("latin-1")
