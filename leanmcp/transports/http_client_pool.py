"""Connections kept for the next request.

In: origins. Out: connections, for one holder each. Busy ones are bounded; idle ones are closed after a while.
Spec 2026-07-28: basic/transports/streamable-http; RFC 9112 9.3 (persistence).
"""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
from collections import deque
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

from ..errors import CannotConnect, ConnectionLost, TransportError
from ..limits import HTTPClientLimits
from .http_client_connection import Connection, open_socket
from .http_client_url import Origin

if TYPE_CHECKING:
    from .http_client_proxy import Proxy

_SWEEP = 5.0  # seconds between two looks at the idle connections
_KEPT_NONE = 60.0  # seconds
_LAST_WAIT = 1.0  # seconds that closed sockets have to go away, when the pool is closed
# A host that vanished without a word is noticed after a minute, on a stream that stays silent too.
_PROBES = (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 3))
_PROXIES = ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")


class Pool:
    """The connections of one client.

    Args:
        limits: of the pool and of each connection.
        context: for https; None for the system's certificates.
    """

    def __init__(self, limits: HTTPClientLimits, context: ssl.SSLContext | None = None) -> None:
        self._limits = limits
        self._context = context
        self._idle: dict[Origin, list[Connection]] = {}
        self._busy: set[Connection] = set()
        self._taken = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._sweeper: asyncio.TimerHandle | None = None
        self._keeps_from = 0.0  # loop time
        self._closed = ""

    # --- borrowing ----------------------------------------------------------------------------------------------------

    def take(self, origin: Origin, where: str) -> Connection | None:
        """Return an idle connection, the one used last; None where there is none or no turn."""
        idle = self._idle.get(origin)
        if not idle or self._taken >= self._limits.max_connections:
            return None
        while idle:
            connection = idle.pop()
            if connection.is_fresh():
                self._taken += 1
                self._busy.add(connection)
                connection.where = where
                return connection
            connection.abort()
        return None

    async def connect(self, origin: Origin, where: str, fresh: bool = False) -> Connection:
        """Return a connection, when it is this request's turn; a new one where none is idle, or `fresh` asks for it.

        Raises:
            CannotConnect: the text says why and what to do.
            ConnectionLost: the pool is closed.
        """
        if self._closed:
            raise ConnectionLost(self._closed, where)
        if self._taken < self._limits.max_connections:
            self._taken += 1
        else:
            await self._turn()
        try:
            if self._closed:  # between its turn and this
                raise ConnectionLost(self._closed, where)
            connection = None if fresh else self._reuse(origin, where)
            connection = connection or await self._own(self._open(origin, where), where)
        except BaseException:
            self._pass_on()
            raise
        self._busy.add(connection)
        return connection

    def _reuse(self, origin: Origin, where: str) -> Connection | None:
        """Take an idle connection after having waited for a turn."""
        self._taken -= 1
        connection = self.take(origin, where)
        if connection is None:
            self._taken += 1
        return connection

    def release(self, connection: Connection) -> None:
        """Give back a connection; it is kept if its exchange is whole and the server allows it."""
        self._busy.discard(connection)
        if not self._closed and connection.next_exchange() and connection.idle_since >= self._keeps_from:
            self._idle.setdefault(connection.origin, []).append(connection)
            if self._sweeper is None:
                self._sweeper = asyncio.get_running_loop().call_later(_SWEEP, self._sweep)
        else:
            connection.abort()
        self._pass_on()

    def keep_none(self) -> None:
        """Keep no connection for a while: a request has met the end of one that was kept.

        Some servers close behind each answer and do not say so; every second call would be lost.
        """
        self._keeps_from = asyncio.get_running_loop().time() + _KEPT_NONE

    def discard(self, connection: Connection) -> None:
        """Close a connection whose exchange is not over, which cancels it at the server."""
        self._busy.discard(connection)
        connection.abort()
        self._pass_on()

    def finish(self, connection: Connection, seconds: float) -> None:
        """Keep a connection whose answer is read but for its end, if that comes within `seconds`."""
        task = asyncio.get_running_loop().create_task(self._finish(connection, seconds))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _finish(self, connection: Connection, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                more = await connection.piece()
        except (TimeoutError, TransportError):
            more = b"?"
        except BaseException:
            self.discard(connection)
            raise
        if more:
            self.discard(connection)
        else:
            self.release(connection)

    async def _turn(self) -> None:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled() and turn.exception() is None:
                self._pass_on()
            raise

    def _pass_on(self) -> None:
        """Give a turn back, or straight to the request that has waited longest."""
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self._taken -= 1

    # --- connecting ---------------------------------------------------------------------------------------------------

    async def _own(self, work: Coroutine[Any, Any, Connection], where: str) -> Connection:
        """Run `work` in a task of the pool's own, so that `close` can end it from outside."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        try:
            await asyncio.wait((task,))
        except asyncio.CancelledError:
            task.add_done_callback(_abort_result)
            task.cancel()
            raise
        if task.cancelled():
            raise ConnectionLost(self._closed, where)
        return task.result()

    async def _open(self, origin: Origin, where: str) -> Connection:
        proxy = _proxy_for(origin)
        shown = where if proxy is None else f"{where} through {proxy.shown}"
        sock: socket.socket | None = None
        try:
            async with asyncio.timeout(self._limits.connect_timeout):
                if proxy is not None:
                    sock = await proxy.open(origin, where)
                reader, writer = await self._streams(origin, sock)
        except TimeoutError:
            seconds = self._limits.connect_timeout
            raise CannotConnect(
                f"Cannot connect to {shown}: no answer within {seconds:g} seconds; check host, port and firewall",
                where,
            ) from None
        except (OSError, ssl.SSLError, UnicodeError) as fault:
            peer = origin if proxy is None or sock is not None else proxy.origin
            raise CannotConnect(f"Cannot connect to {shown}: {_reason(fault, peer)}", where) from None
        if proxy is None:
            return Connection(reader, writer, origin, where, self._limits)
        from .http_client_proxy import ProxiedConnection  # most clients need no proxy

        return ProxiedConnection(proxy, reader, writer, origin, where, self._limits)

    async def _streams(
        self, origin: Origin, sock: socket.socket | None
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        context = None
        if origin.scheme == "https":
            if self._context is None:
                self._context = ssl.create_default_context()
            context = self._context
        name = origin.host if context is not None else None
        if origin.socket:
            return await asyncio.open_unix_connection(origin.socket, ssl=context, server_hostname=name)
        sock = sock or await open_socket(origin)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for option, value in _PROBES:
            if hasattr(socket, option):  # macOS names the first one otherwise
                sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)
        return await asyncio.open_connection(sock=sock, ssl=context, server_hostname=name)

    # --- the end ------------------------------------------------------------------------------------------------------

    def _sweep(self) -> None:
        """Close what has idled for too long or was closed by the server."""
        for origin, idle in list(self._idle.items()):
            for connection in [connection for connection in idle if not connection.is_fresh()]:
                idle.remove(connection)
                connection.abort()
            if not idle:
                del self._idle[origin]
        self._sweeper = asyncio.get_running_loop().call_later(_SWEEP, self._sweep) if self._idle else None

    async def close(self, reason: str) -> None:
        """Close everything; requests in flight fail with `reason`. Legal more than once."""
        self._closed = self._closed or reason
        if self._sweeper is not None:
            self._sweeper.cancel()
            self._sweeper = None
        idle, self._idle = self._idle, {}
        connections = [*self._busy, *(connection for kept in idle.values() for connection in kept)]
        for connection in connections:
            connection.abort(reason)
        for turn in self._waiting:
            if not turn.done():
                turn.set_exception(ConnectionLost(reason))
        self._waiting.clear()
        tasks = [*self._tasks, *(asyncio.ensure_future(connection.wait_closed()) for connection in connections)]
        for task in self._tasks:
            task.cancel()
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=_LAST_WAIT)
            for waiter in late:
                waiter.cancel()
        for _ in range(3):  # sockets of requests that were cancelled a moment ago go away in the next turns of the loop
            await asyncio.sleep(0)


def _proxy_for(origin: Origin) -> Proxy | None:
    """Return the proxy that leads to `origin`, None where the environment names none."""
    if origin.socket or not any(name in os.environ for name in _PROXIES):
        return None
    from .http_client_proxy import proxy_for  # as above

    return proxy_for(origin)


def _abort_result(task: asyncio.Task[Connection]) -> None:
    """Close a connection that came about after nobody wanted it any more."""
    if not task.cancelled() and task.exception() is None:
        task.result().abort()


def _reason(fault: Exception, origin: Origin) -> str:
    """Return why no connection came about, and what to do."""
    if isinstance(fault, ssl.SSLCertVerificationError):
        return (
            f"its certificate is not trusted ({fault.verify_message}); check the host name, or pass ssl= with a "
            "context that knows its authority"
        )
    if isinstance(fault, ssl.SSLError):
        return f"TLS failed ({fault.reason or fault}); does the server speak https there, or plain http://?"
    if isinstance(fault, socket.gaierror | UnicodeError):
        return f"the host name {origin.host!r} does not resolve; check its spelling"
    if isinstance(fault, ConnectionResetError):
        return "the connection was reset before it stood; does the server speak https there, or plain http://?"
    if isinstance(fault, ConnectionRefusedError):
        what = "this socket" if origin.socket else f"port {origin.port}"
        return f"connection refused, nobody listens on {what}; start the server or correct the address"
    if isinstance(fault, FileNotFoundError) and origin.socket:
        return "there is no such socket; start the server or correct the path"
    return str(fault)
