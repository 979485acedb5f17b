"""A server in the client's own process: its bytes, its checks and its errors, without a socket or a pipe.

In: whole JSON-RPC requests. Out: whole responses. A tools/call runs in a task of its own and is answered straight from
it; everything else goes the way of stdio.
Spec 2026-07-28: basic/transports/index, "Custom Transports".
"""

from __future__ import annotations

import asyncio
from contextvars import ContextVar
from typing import Any
from weakref import WeakKeyDictionary

import msgspec

from .calls import end_call
from .errors import ConnectionLost, InternalError, MCPError
from .logs import logger
from .protocol.jsonrpc import RequestId, Segments, encode_error
from .protocol.meta import MODERN_VERSIONS, decode_call
from .protocol.outgoing import Notified, OutgoingRequest, cancelled
from .run import entered
from .server.app import MCPServer
from .server.context import Exchange
from .server.line_endpoint import LineEndpoint
from .transports.pending import Pending

_raised: ContextVar[list[BaseException] | None] = ContextVar("leanmcp_raised", default=None)


class _Lifespan:
    """The lifespan of a server, shared by the clients of one loop: entered for the first, left after the last.

    It is held by a task of its own, so that any task may close a client.
    """

    def __init__(self, server: MCPServer, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self._users = 0
        self._is_entered = asyncio.Event()
        self._is_over = asyncio.Event()
        self._task = loop.create_task(self._hold(server))

    async def _hold(self, server: MCPServer) -> None:
        async with entered(server):
            self._is_entered.set()
            await self._is_over.wait()

    @property
    def can_be_joined(self) -> bool:
        """Whether it is not on its way out."""
        return not self._task.done() and not self._is_over.is_set()

    async def enter(self) -> None:
        """Wait until it is entered; what it raises is raised here."""
        self._users += 1
        waiter = self.loop.create_task(self._is_entered.wait())
        try:
            await asyncio.wait((waiter, self._task), return_when=asyncio.FIRST_COMPLETED)
            if self._task.done():
                await self._task
        except BaseException:
            self._users -= 1
            if not self._users:
                self._task.cancel()
            raise
        finally:
            waiter.cancel()

    async def leave(self) -> None:
        """Leave it, if nobody else needs it; what it raises is raised here.

        Whoever is cancelled meanwhile waits no longer, but does not cut short what the server has to put away.
        """
        self._users -= 1
        if not self._users:
            self._is_over.set()
            await asyncio.shield(self._task)


_lifespans: WeakKeyDictionary[MCPServer, _Lifespan] = WeakKeyDictionary()


class InProcess:
    """Carries requests to a server in this process.

    Args:
        server: its lifespan is entered by `start` and left by `close`.
        raise_exceptions: raise what a function of the server raised by mistake instead of the error that hides it.
    """

    is_modern = True

    def __init__(self, server: MCPServer, raise_exceptions: bool = False) -> None:
        self.where = f"server {server.name!r} in this process"
        self._server = server
        self._raises = raise_exceptions
        self._pending = Pending(self.where)
        self._calls: dict[asyncio.Task[None], asyncio.Future[bytes]] = {}
        self._endpoint: LineEndpoint | None = None
        self._lifespan: _Lifespan | None = None

    def hear(self, told: Notified) -> None:
        """Hand notifications that belong to no request to `told`."""
        self._pending.told = told

    async def start(self) -> None:
        """Enter the server's lifespan; what it raises is raised here."""
        self._loop = asyncio.get_running_loop()
        lifespan = _lifespans.get(self._server)
        if lifespan is None or lifespan.loop is not self._loop or not lifespan.can_be_joined:
            lifespan = _lifespans[self._server] = _Lifespan(self._server, self._loop)
        await lifespan.enter()
        self._lifespan = lifespan
        if self._raises:
            self._server._home.faults.observe = _note
        self._endpoint = LineEndpoint(self._server, self._send)

    async def request(self, request: OutgoingRequest, /) -> bytes:
        """Send a request and return the response message."""
        if self._endpoint is None:
            raise ConnectionLost(f"{self.where} is closed", self.where)
        if self._raises:
            return await self._watched(request, self._endpoint)
        if request.method != "tools/call":
            return await self._exchange(request, self._endpoint)
        loop = self._loop
        answer: asyncio.Future[bytes] = loop.create_future()
        task = loop.create_task(self._call(request, answer, self._endpoint))
        self._calls[task] = answer
        try:
            return await answer
        finally:
            del self._calls[task]
            if not task.done():
                end_call(task, self._server.limits.cleanup_grace)

    async def _call(self, request: OutgoingRequest, answer: asyncio.Future[bytes], endpoint: LineEndpoint) -> None:
        """Run a tools/call and set its response."""
        try:
            call = decode_call(request.message, self._server.limits)
            if call is None or call.params.meta.protocol_version not in MODERN_VERSIONS:
                message = await self._exchange(request, endpoint)
            else:
                channel = None if request.notified is None else _Notices(request.notified)
                exchange = Exchange(call.id, None, channel, request.message)
                called: Any = self._server.methods["tools/call"].handle(call.params, exchange)
                message = b"".join(await called)
        except MCPError as error:
            message = encode_error(error, request.id)
        except asyncio.CancelledError:
            if answer.done():
                raise
            message = encode_error(InternalError("The tool cancelled its own call"), request.id)
        except Exception as fault:
            _note(fault)
            logger.exception("a request failed inside leanmcp")
            message = encode_error(InternalError("Internal error"), request.id)
        if not answer.done():
            answer.set_result(message)

    async def _exchange(self, request: OutgoingRequest, endpoint: LineEndpoint) -> bytes:
        """Send a request the way of stdio."""
        answer = self._pending.add(request)
        endpoint.receive(request.message)
        try:
            return await answer
        finally:
            if self._pending.forget(request):
                endpoint.receive(cancelled(request.id))

    async def _watched(self, request: OutgoingRequest, endpoint: LineEndpoint) -> bytes:
        """Send a request, and raise what the server's function raised by mistake."""
        faults: list[BaseException] = []
        token = _raised.set(faults)
        try:
            message = await self._exchange(request, endpoint)
        finally:
            _raised.reset(token)
        if faults:
            raise faults[0]
        return message

    def _send(self, message: Segments) -> None:
        self._pending.receive(b"".join(message))

    async def close(self) -> None:
        """Cancel what runs, and leave the lifespan."""
        endpoint, self._endpoint = self._endpoint, None
        lifespan, self._lifespan = self._lifespan, None
        if endpoint is None or lifespan is None:
            return
        lost = ConnectionLost(f"{self.where} was closed before it had answered", self.where)
        self._pending.fail(lost)
        grace = self._server.limits.cleanup_grace
        endpoint.end_streams()
        tasks = endpoint.cancel_all()
        for task, answer in self._calls.items():
            if not answer.done():
                answer.set_exception(lost)
            end_call(task, grace)
            tasks.append(task)
        try:
            if tasks:
                await asyncio.wait(tasks, timeout=grace)
        finally:
            await lifespan.leave()


class _Notices:
    """Hands the notifications of one call to its caller."""

    __slots__ = ("_notified",)

    def __init__(self, notified: Notified) -> None:
        self._notified = notified

    def notify(self, message: Segments, request_id: RequestId) -> None:
        notification = msgspec.json.decode(b"".join(message))
        self._notified(notification["method"], notification.get("params", {}))


def _note(fault: BaseException) -> None:
    faults = _raised.get()
    if faults is not None:
        faults.append(fault)
