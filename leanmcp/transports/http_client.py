"""Streamable HTTP from the client's side: each request is a POST, answered by JSON or by an event stream.

In: whole JSON-RPC requests. Out: whole responses, and the notifications that came before them.
Spec 2026-07-28: basic/transports/streamable-http; basic/patterns/cancellation (closing the connection cancels).
"""

from __future__ import annotations

import ssl as tls
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from ..errors import NotAnMCPServer
from ..limits import DEFAULT_HTTP_CLIENT_LIMITS, HTTPClientLimits
from ..protocol.mirror import encode_value
from ..protocol.outgoing import Asked, Notified, OutgoingRequest, Renew
from ..protocol.sse_reader import Event, EventReader, OversizedEvent
from .http_client_answers import JSON, SSE, Answers, json_rpc_error, media_type, not_mcp, refusal, unanswered
from .http_client_connection import Connection, Head, too_large
from .http_client_pool import Pool
from .http_client_sender import Auth, Sender, encode_fields
from .http_client_url import Target, parse_url

if TYPE_CHECKING:
    from .http_legacy import HTTPLegacyCarrier

__all__ = ["Auth", "HTTPStream", "HTTPTransport"]

READS = frozenset(
    {
        "server/discover",
        "tools/list",
        "prompts/list",
        "prompts/get",
        "resources/list",
        "resources/templates/list",
        "resources/read",
        "completion/complete",
        "subscriptions/listen",
        "ping",
    }
)
"""Methods that change nothing at the server, so that sending one twice does no harm."""

_FINISH_TIME = 1.0  # seconds for the end of a stream whose response is there
_ACCEPT = b"Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n"


class HTTPStream:
    """An answer that is still coming.

    Args:
        connection: at the start of the body.
        head: of the answer.

    Attributes:
        head: its status and fields.
    """

    def __init__(self, connection: Connection, head: Head) -> None:
        self.head = head
        self._connection = connection
        self._max_size = connection.limits.max_answer_size
        self._reader = EventReader(self._max_size)

    @property
    def kind(self) -> bytes:
        """The media type of a 200 answer, empty for any other."""
        return media_type(self.head.fields.get(b"content-type", b"")) if self.head.status == 200 else b""

    @property
    def last_id(self) -> str:
        """Id of the last event, to resume from; empty where events have none."""
        return self._reader.last_id

    @property
    def retry(self) -> int | None:
        """Milliseconds that the server asks to wait before the next attempt, None where it does not."""
        return self._reader.retry

    async def read(self) -> bytes:
        """Return the rest of the body.

        Raises:
            ConnectionLost: it was cut off.
            AnswerTooLarge: over `max_answer_size`.
        """
        return await self._connection.rest_of_body(self._max_size)

    async def events(self) -> AsyncIterator[Event]:
        """Yield the events of the body, to its end.

        Raises:
            ConnectionLost: it was cut off.
            AnswerTooLarge: one event is over `max_answer_size`.
        """
        while (events := await self.batch()) is not None:
            for event in events:
                yield event

    async def batch(self) -> list[Event] | None:
        """Return the events that come next, perhaps none yet; None at the end of the body. Raises as `events`."""
        piece = await self._connection.piece()
        try:
            return self._reader.feed(piece) if piece else None
        except OversizedEvent:
            raise too_large(self._connection.where, self._max_size) from None


class HTTPTransport:
    """Carries requests to one MCP endpoint, through the proxy that the environment names; see `http_client_proxy`.

    Args:
        url: of the endpoint, `http` or `https`.
        headers: sent to it with every request, such as Authorization; never to another origin.
        auth: supplies fields that change.
        ssl: context for https instead of the system's certificates.
        uds: path of a Unix socket that leads to the host of `url`.
        limits: sizes and times.
        user_agent: names the client, unless `headers` do.

    Raises:
        ValueError: no URL, or a header that is not the user's to set.

    Spec: basic/transports/streamable-http.
    """

    has_headers = True
    """Arguments that a tool marks with `x-mcp-header` travel as `OutgoingRequest.headers` too."""

    def __init__(
        self,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        auth: Auth | None = None,
        ssl: tls.SSLContext | None = None,
        uds: str = "",
        limits: HTTPClientLimits = DEFAULT_HTTP_CLIENT_LIMITS,
        user_agent: str = "leanmcp",
    ) -> None:
        self._target = parse_url(url, uds)
        self._limits = limits
        self._pool = Pool(limits, ssl)
        self._sender = Sender(self._target, self._pool, _named(user_agent, headers), auth)
        self._lines: dict[tuple[str, str], bytes] = {}
        self.where = self._target.shown

    @property
    def target(self) -> Target:
        """The endpoint."""
        return self._target

    @property
    def cache_key(self) -> tuple[object, object]:
        """The endpoint, its query included, and the credentials; see `Transport`."""
        return (self._target.origin, self._target.path), self._sender.identity

    @property
    def authorized(self) -> bool:
        """Whether an Authorization field is sent."""
        return self._sender.authorized

    def legacy(self, asked: Asked, told: Notified, renew: Renew) -> HTTPLegacyCarrier:
        """Return what speaks to a server of an earlier protocol version over these connections."""
        from .http_legacy import HTTPLegacyCarrier  # servers of this era do without

        return HTTPLegacyCarrier(self, asked, told, renew)

    async def start(self) -> None:
        """Connect once, so that a wrong address is told at once; the first request uses the connection.

        Raises:
            CannotConnect: the text says why and what to do.
        """
        self._pool.release(await self._pool.connect(self._target.origin, self.where))

    async def close(self) -> None:
        """Close every connection; requests in flight fail with ConnectionLost. Legal from any task, more than once."""
        await self._pool.close(f"the connection to {self.where} was closed by this client before the answer was there")

    # --- MCP requests -------------------------------------------------------------------------------------------------

    async def request(self, request: OutgoingRequest, /) -> bytes:
        """Send a request and return the response; when cancelled, close the connection, which cancels it at the server.

        Raises:
            TransportError: its class and text tell what went wrong.
            InvalidResult: the response answers another request.
        """
        connection, head = await self._sender.conduct(
            "POST", self._fields(request), request.message, request.repeatable or request.method in READS
        )
        kind = media_type(head.fields.get(b"content-type", b"")) if head.status == 200 else b""
        response = None
        try:
            if request.answered is not None:
                request.answered(head.status, head.text())
            if kind == JSON:
                self._check_coding(head)
                body = await connection.rest_of_body(self._limits.max_answer_size, head)
                response = Answers(request, self.where).whole(body)
            elif kind == SSE:
                self._check_coding(head)
                return await self._events(connection, HTTPStream(connection, head), request)
        except BaseException:
            self._pool.discard(connection)
            raise
        if response is None:
            return self.error(head, await self._sender.refused(connection, head))
        self._pool.release(connection)
        return response

    async def _events(self, connection: Connection, stream: HTTPStream, request: OutgoingRequest) -> bytes:
        """Read an event stream up to the response; its end may come a little later."""
        answers = Answers(request, self.where)
        while (events := await stream.batch()) is not None:
            for event in events:
                if event.type == "message" and (response := answers.event(event.data)) is not None:
                    self._pool.finish(connection, _FINISH_TIME)
                    return response
        raise unanswered(self.where, request)

    def error(self, head: Head, body: bytes) -> bytes:
        """Return the JSON-RPC error of an answer that is no result; raise what else it is."""
        kind = head.fields.get(b"content-type", b"")
        if head.status == 202:
            raise NotAnMCPServer(
                f"{self.where} answered 202 Accepted to a request, as if it were a notification: no response will come",
                self.where,
                202,
            )
        if head.status < 300:
            raise not_mcp(self._target, head.status, kind, body)
        if not json_rpc_error(head.status, kind, body):
            raise refusal(self._target, head.status, head.fields, body, self._sender.authorized)
        return body

    def _fields(self, request: OutgoingRequest) -> bytes:
        """Return the fields that mirror the body ("Request Metadata")."""
        lines = self._lines.get((request.version, request.method))
        if lines is None:
            standard = {"MCP-Protocol-Version": request.version, "Mcp-Method": request.method}
            lines = self._lines[request.version, request.method] = _ACCEPT + encode_fields(standard)
        if request.name is not None:
            lines = b"%bMcp-Name: %b\r\n" % (lines, encode_value(request.name).encode())
        return lines + encode_fields(request.headers) if request.headers else lines

    def _check_coding(self, head: Head) -> None:
        """Refuse compressed answers: none was asked for, and a small one may hold an endless body."""
        coding = head.fields.get(b"content-encoding", b"identity").decode("latin-1")
        if coding.lower() != "identity":
            raise NotAnMCPServer(
                f"{self.where} answered with Content-Encoding {coding[:40]!r}, which this client did not ask for; "
                "switch compression off for this path",
                self.where,
                head.status,
            )

    # --- anything else ------------------------------------------------------------------------------------------------

    @asynccontextmanager
    async def open(
        self,
        method: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes = b"",
        repeatable: bool = False,
    ) -> AsyncIterator[HTTPStream]:
        """Send any request to the endpoint, with its credentials, and hand out the answer as it comes.

        Args:
            method: GET, POST or DELETE.
            headers: such as `Accept`, `Mcp-Session-Id` and `Last-Event-ID`.
            body: sent whole.
            repeatable: whether a POST may be sent twice, as the others may.

        Raises:
            Unauthorized, Forbidden: what `auth` could not help.
            TransportError: no answer.
        """
        repeatable = repeatable or method != "POST"
        connection, head = await self._sender.conduct(method, encode_fields(headers or {}), body, repeatable)
        try:
            self._check_coding(head)
            yield HTTPStream(connection, head)
        finally:
            self._pool.release(connection)  # keeps it if its answer was read to the end


def _named(agent: str, headers: Mapping[str, str] | None) -> dict[str, str]:
    """Return `headers`, with a User-Agent if they have none."""
    given = dict(headers or {})
    return given if any(name.lower() == "user-agent" for name in given) else {"User-Agent": agent, **given}
