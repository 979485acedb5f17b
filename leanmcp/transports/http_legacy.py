"""Streamable HTTP of protocol versions 2025-06-18 and 2025-11-25, from the client's side.

In: whole JSON-RPC messages. Out: whole responses; requests and notifications of the server to callbacks.
Spec 2025-11-25: basic/transports, "Streamable HTTP", "Session Management", "Resumability and Redelivery".
"""

from __future__ import annotations

import asyncio
import random
from typing import Any

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from ..errors import ConnectionLost, HTTPStatusError, NotFound, TransportError
from ..logs import logger, warn_seldom
from ..protocol.jsonrpc import DECODE_FAULTS
from ..protocol.outgoing import Asked, Notified, OutgoingRequest, Renew, cancelled
from .http_client import READS, HTTPStream, HTTPTransport
from .http_client_answers import JSON, SSE, Answers, unanswered

_ACCEPT = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
_MAX_FAILURES = 5  # attempts in a row to resume or to listen that brought nothing
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 30.0  # seconds before the next attempt, where the server names none
# Seconds: `retry: 0` would have this client ask as fast as the server answers, and a year of it never again.
_LEAST_PAUSE, _MOST_PAUSE = 0.05, 300.0
_OPEN_TIME = 1.0  # seconds to wait for the head of the stream of what the server sends on its own
_SEND_TIME = 30.0  # seconds for a notification or response to be taken


class _Message(Struct):
    id: Raw = Raw(b"")
    method: str | UnsetType = UNSET
    params: Raw = Raw(b"{}")


_decode = msgspec.json.Decoder(_Message).decode


class HTTPLegacyCarrier:
    """Carries the messages of one session.

    Args:
        http: sends what this makes.
        asked, told, renew: see `protocol.outgoing`.

    Attributes: see `LegacyCarrier` of the client.
    """

    def __init__(self, http: HTTPTransport, asked: Asked, told: Notified, renew: Renew) -> None:
        self._http = http
        self.where = http.where
        self.version: str | None = None
        self._asked, self._told, self._renew = asked, told, renew
        self._session: str | None = None
        self._renewing = asyncio.Lock()
        self._listener: asyncio.Task[None] | None = None
        self._notes: set[asyncio.Task[None]] = set()
        self._waiting: dict[bytes, asyncio.Future[bytes]] = {}
        self._is_ended = False

    # --- requests -----------------------------------------------------------------------------------------------------

    async def request(self, request: OutgoingRequest, /) -> bytes:
        """Send a request and return its response; a session that the server has forgotten is begun again.

        Raises:
            TransportError: no response came.
        """
        session = self._session
        try:
            return await self._anywhere(request)
        except NotFound:
            if session is None or request.method == "initialize":
                raise
        except asyncio.CancelledError:
            if request.method != "initialize" and not self._is_ended:
                self._cancel_there(request)
            raise
        async with self._renewing:
            if self._session == session:  # else another request has done it
                self._session = None
                await self._renew()
                await self.listen()
        return await self._anywhere(request)

    async def _anywhere(self, request: OutgoingRequest) -> bytes:
        """Send a request and return its response, be it that it comes on the stream of something else."""
        identifier = b"%d" % request.id
        elsewhere: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._waiting[identifier] = elsewhere
        post = asyncio.get_running_loop().create_task(self._post(request))
        try:
            await asyncio.wait((post, elsewhere), return_when=asyncio.FIRST_COMPLETED)
            return elsewhere.result() if elsewhere.done() else await post
        finally:
            del self._waiting[identifier]
            elsewhere.cancel()
            if not post.done():
                post.cancel()
                await asyncio.wait((post,))

    async def _post(self, request: OutgoingRequest) -> bytes:
        fields, reads = _ACCEPT | self._fields(), request.method in READS
        async with self._http.open("POST", headers=fields, body=request.message, repeatable=reads) as stream:
            head = stream.head
            if request.answered is not None:
                request.answered(head.status, head.text())
            if head.status == 200 and request.method == "initialize":
                self._session = head.text().get("mcp-session-id")
            if stream.kind != SSE:
                body = await stream.read()
                # An error of 404 tells of a session that is gone, or of a method that is none.
                return Answers(request, self.where).whole(body) if stream.kind == JSON else self._http.error(head, body)
            response = await self._response(stream, request)
            if response is not None:
                return response
        return await self._resume(request, stream.last_id, stream.retry)

    async def _response(self, stream: HTTPStream, request: OutgoingRequest) -> bytes | None:
        """Return the response from a stream, None where it ends before; the rest goes where it belongs."""
        try:
            async for event in stream.events():
                if event.type == "message" and self._take(event.data, request):
                    return event.data
        except ConnectionLost:
            if not stream.last_id:
                raise
        return None

    async def _resume(self, request: OutgoingRequest, last_id: str, retry: int | None) -> bytes:
        """Go on with a stream that ended before the response."""
        failures = 0
        while last_id and failures < _MAX_FAILURES:
            await asyncio.sleep(_pause(retry, failures))
            failures += 1
            fields = {"Accept": "text/event-stream", "Last-Event-ID": last_id} | self._fields()
            try:
                async with self._http.open("GET", headers=fields) as stream:
                    if stream.kind != SSE:
                        break
                    response = await self._response(stream, request)
                    if response is not None:
                        return response
                    if stream.last_id:
                        failures, last_id = 0, stream.last_id
                    retry = stream.retry if stream.retry is not None else retry
            except TransportError as fault:
                logger.info("%s: resuming %s failed: %s", self.where, request.method, fault)
        raise unanswered(self.where, request)

    def _take(self, data: bytes, request: OutgoingRequest | None) -> bool:
        """Hand on one message; return whether it is the response to `request`."""
        if not data:
            return False
        try:
            message = _decode(data)
            params: Any = msgspec.json.decode(message.params)
        except DECODE_FAULTS as fault:
            warn_seldom("%s sent an event that is no JSON-RPC message (%s): %r", self.where, fault, data[:80])
            return False
        params, identifier = params if isinstance(params, dict) else {}, bytes(message.id)
        if isinstance(message.method, UnsetType):
            if request is not None and identifier == b"%d" % request.id:
                return True
            waiting = self._waiting.get(identifier)
            if waiting is not None and not waiting.done():
                waiting.set_result(data)
            else:
                warn_seldom("%s sent a response to id %r, for which nobody waits", self.where, identifier[:40])
        elif identifier:
            self._hand_request(identifier, message.method, params)
        elif request is not None and request.notified is not None and message.method == "notifications/progress":
            request.notified(message.method, params)
        else:
            self._told(message.method, params)
        return False

    def _hand_request(self, identifier: bytes, method: str, params: dict[str, Any]) -> None:
        value: Any = msgspec.json.decode(identifier)
        if isinstance(value, int | str) and not isinstance(value, bool):
            self._asked(value, method, params)

    def _fields(self) -> dict[str, str]:
        fields = {} if self.version is None else {"MCP-Protocol-Version": self.version}
        return fields if self._session is None else {**fields, "Mcp-Session-Id": self._session}

    def _cancel_there(self, request: OutgoingRequest) -> None:
        """Tell the server that a request was given up: in these versions closing the stream does not say so."""
        task = asyncio.get_running_loop().create_task(self._note(cancelled(request.id)))
        self._notes.add(task)
        task.add_done_callback(self._notes.discard)

    async def _note(self, message: bytes) -> None:
        try:
            await self.send(message)
        except TransportError as fault:
            logger.info("%s was not told of a cancellation: %s", self.where, fault)

    async def send(self, message: bytes, /) -> None:
        """Send a notification or a response.

        Raises:
            TransportError: the server did not take it.
        """
        status = await self._tell("POST", _ACCEPT | self._fields(), message)
        if status >= 300:
            raise HTTPStatusError(
                f"{self.where} answered {status} to a message that needs no answer", self.where, status
            )

    async def _tell(self, method: str, fields: dict[str, str], message: bytes = b"") -> int:
        """Send what needs no answer, twice where need be, and return the status of the one that comes all the same."""
        try:
            async with asyncio.timeout(_SEND_TIME):
                async with self._http.open(method, headers=fields, body=message, repeatable=True) as stream:
                    await stream.read()
                    return stream.head.status
        except TimeoutError:
            raise TransportError(f"{self.where} did not answer within {_SEND_TIME:g} seconds", self.where) from None

    # --- what comes unasked -------------------------------------------------------------------------------------------

    async def listen(self) -> None:
        """Open the stream of what the server sends on its own; many servers have none, and say 405.

        Returns when it is open, so that no request is sent before the server can ask something about it; but some
        servers answer only with their first message.
        """
        if self._listener is not None:
            self._listener.cancel()
        is_open = asyncio.Event()
        self._listener = asyncio.get_running_loop().create_task(self._listen(is_open))
        waiter = asyncio.get_running_loop().create_task(is_open.wait())
        try:
            await asyncio.wait((waiter, self._listener), timeout=_OPEN_TIME, return_when=asyncio.FIRST_COMPLETED)
        finally:
            waiter.cancel()

    async def _listen(self, is_open: asyncio.Event) -> None:
        failures, last_id, retry = 0, "", None
        while failures < _MAX_FAILURES:
            fields = {"Accept": "text/event-stream"} | self._fields()
            if last_id:
                fields["Last-Event-ID"] = last_id
            failures += 1
            try:
                async with self._http.open("GET", headers=fields) as stream:
                    if stream.kind != SSE:
                        return
                    is_open.set()
                    async for event in stream.events():
                        failures, last_id = 0, event.id or last_id
                        if event.type == "message":
                            self._take(event.data, None)
                    last_id, retry = stream.last_id or last_id, stream.retry if stream.retry is not None else retry
            except ConnectionLost as fault:
                logger.info("%s: the stream of what the server sends on its own broke off: %s", self.where, fault)
            except TransportError as fault:
                logger.info("%s has no stream of what the server sends on its own: %s", self.where, fault)
                return
            await asyncio.sleep(_pause(retry, failures))

    async def end(self) -> None:
        """Close what is open, and end the session."""
        self._is_ended = True
        tasks = [*self._notes, *(() if self._listener is None else (self._listener,))]
        if self._listener is not None:
            self._listener.cancel()
        if tasks:
            await asyncio.wait(tasks)
        session, fields = self._session, self._fields()
        if session is not None:
            self._session = None
            await self._tell("DELETE", fields)  # 405 where it cannot be ended


def _pause(retry: int | None, failures: int) -> float:
    """Return seconds before the next attempt: what the server asks for, within reason, else more each time."""
    if retry is not None:
        return min(max(retry / 1000, _LEAST_PAUSE), _MOST_PAUSE)
    most = min(_FIRST_PAUSE * 2**failures, _LONGEST_PAUSE)
    return random.uniform(most / 2, most)  # noqa: S311  jitter
