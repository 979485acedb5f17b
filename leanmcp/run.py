"""Joins a server with a transport and the process: loop, signals, lifespan, log output.

The only module that knows uvloop.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from typing import Any

import msgspec

from ._version import __version__
from .logs import log_to_stderr
from .protocol.meta import CLIENT_CAPABILITIES, MODERN_VERSIONS, PROTOCOL_VERSION
from .server.app import MCPServer
from .server.line_endpoint import LineEndpoint

TRANSPORTS = ("stdio", "http", "streamable-http")
_BACKLOG = 2048
_SHORT_DRAIN = 1.5  # seconds that calls already read have at end of input and at Ctrl-C
_LAST_ACCEPTS = 0.25  # seconds of accepting after SIGTERM, so that connections on their way get an answer
_PRELOAD_AFTER = 0.3  # seconds from start; a process that lives shorter needs no failure path
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_WILDCARDS = ("0.0.0.0", "::", "")  # noqa: S104  these are recognised, not bound


def run(server: MCPServer, transport: str = "stdio", **options: Any) -> None:
    """Serve until end of input (stdio), SIGTERM or SIGINT; options as `serve`.

    Raises:
        RuntimeError: called inside a running event loop; await `run_async` there.
        SystemExit: with 130 after SIGINT; with 1, and one line on standard error, where the address cannot be bound.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        pass
    else:
        raise RuntimeError(
            "mcp.run() starts an event loop, but one is running here already; use `await mcp.run_async(...)` instead"
        )
    _reserve_standard_descriptors()
    log_to_stderr("INFO")
    stop = _Stop.by_signals()
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        try:
            runner.run(serve(server, transport, stop=stop, **options))
        except BindError as error:
            sys.exit(f"leanmcp: {error}")
    if stop.exit_code:
        sys.exit(stop.exit_code)


def _reserve_standard_descriptors() -> None:
    """Open the null device on those of fd 0 to 2 that are closed; libuv aborts when one of them becomes its own."""
    for fd in (0, 1, 2):
        try:
            os.fstat(fd)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)


async def serve(
    server: MCPServer,
    transport: str = "stdio",
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    path: str = "/mcp",
    allowed_hosts: Iterable[str] = (),
    allowed_origins: Iterable[str] = (),
    drain: float = 10.0,
    stop: _Stop | None = None,
) -> None:
    """Serve inside a running event loop, until end of input or cancellation; signals are left to the caller.

    Args:
        server: what to serve.
        transport: "stdio", or "http" (also "streamable-http").
        host: address to bind; loopback by default.
        port: TCP port, 0 for a free one.
        path: the MCP endpoint.
        allowed_hosts: Host names besides the loopback ones, `name` or `name:port`; `*` for any.
        allowed_origins: Origins besides loopback ones, `https://name`; `*` for any.
        drain: seconds that running calls have after SIGTERM.
        stop: `run`'s signal handling.

    Raises:
        ValueError: an unknown transport.
        BindError: the address cannot be bound.
    """
    if transport not in TRANSPORTS:
        raise ValueError(_unknown_transport(transport))
    stop = stop or _Stop()
    async with _lifespan(server), stop.on_signals(drain):
        asyncio.get_running_loop().call_later(_PRELOAD_AFTER, _load_failure_paths)
        if transport == "stdio":
            await _serve_stdio(server, stop)
        else:
            if host not in _WILDCARDS:
                allowed_hosts = (*allowed_hosts, f"[{host}]" if ":" in host else host)
            await _serve_http(server, path, allowed_hosts, allowed_origins, host, port, stop)


class BindError(OSError):
    """The address cannot be bound; the text says what to do."""


class _Stop:
    """What ends a server: the first signal drains it, the second ends the process at once."""

    def __init__(self) -> None:
        self.exit_code = 0
        self.drain = _SHORT_DRAIN
        self._wanted = asyncio.Event()
        self._handles_signals = False

    @classmethod
    def by_signals(cls) -> _Stop:
        """Make one that listens to SIGTERM and SIGINT while the server runs."""
        stop = cls()
        stop._handles_signals = True
        return stop

    @asynccontextmanager
    async def on_signals(self, drain: float) -> AsyncIterator[None]:
        """Listen while the block runs; `drain` is SIGTERM's."""
        loop = asyncio.get_running_loop()
        if self._handles_signals:
            loop.add_signal_handler(signal.SIGTERM, self._signalled, 0, drain)
            loop.add_signal_handler(signal.SIGINT, self._signalled, 128 + signal.SIGINT, min(drain, _SHORT_DRAIN))
        try:
            yield
        finally:
            if self._handles_signals:
                loop.remove_signal_handler(signal.SIGTERM)
                loop.remove_signal_handler(signal.SIGINT)

    def _signalled(self, exit_code: int, drain: float) -> None:
        if self._wanted.is_set():
            os._exit(exit_code or 128 + signal.SIGTERM)
        self.exit_code, self.drain = exit_code, drain
        self._wanted.set()

    async def wait(self) -> None:
        """Return at the first signal."""
        await self._wanted.wait()


@asynccontextmanager
async def _lifespan(server: MCPServer) -> AsyncIterator[None]:
    if server.lifespan is None:
        yield
        return
    async with server.lifespan(server) as value:
        server.lifespan_value = value
        yield


# --- stdio --------------------------------------------------------------------------------------------------------


async def _serve_stdio(server: MCPServer, stop: _Stop) -> None:
    from .transports.stdio_server import LineServer, StandardStreams  # each transport loads when it is served

    if os.isatty(0):
        _say('a host starts this program and speaks JSON-RPC to it; by hand, use "leanmcp call FILE TOOL name=value"')
    lines = LineServer(server.limits, StandardStreams())
    endpoint = LineEndpoint(server, lines.send)
    await lines.start(endpoint)
    signalled = asyncio.ensure_future(stop.wait())
    try:
        await asyncio.wait((lines.ended, signalled), return_when=asyncio.FIRST_COMPLETED)
        with suppress(TimeoutError):
            async with asyncio.timeout(stop.drain):
                while endpoint.calls or lines.pending:
                    if endpoint.calls:
                        await asyncio.wait(endpoint.calls.values(), return_when=asyncio.FIRST_COMPLETED)
                    await asyncio.sleep(0)
    finally:
        signalled.cancel()
        for task in list(endpoint.calls.values()):
            task.cancel()
        await lines.close()


# --- HTTP ---------------------------------------------------------------------------------------------------------


async def _serve_http(
    server: MCPServer,
    path: str,
    allowed_hosts: Iterable[str],
    allowed_origins: Iterable[str],
    host: str,
    port: int,
    stop: _Stop,
) -> None:
    from .protocol.headers import HostRule  # each transport loads when it is served
    from .server.http_endpoint import HTTPEndpoint
    from .transports.http_server import HTTPServer

    endpoint = HTTPEndpoint(server, path, HostRule(allowed_hosts, allowed_origins))
    loop = asyncio.get_running_loop()
    http = HTTPServer(endpoint, server.limits)
    try:
        listener = await loop.create_server(http.connection, host, port, backlog=_BACKLOG)
    except OSError as error:
        raise BindError(f"cannot listen on {host}:{port}: {_reason(error)}") from None
    bound = listener.sockets[0].getsockname()[1]
    shown = f"[{host}]" if ":" in host else host
    count = len(list(server.tools))
    _say(f"{count} tool{'' if count == 1 else 's'} http://{shown}:{bound}{endpoint.path} (Ctrl-C stops)", server.name)
    try:
        await stop.wait()
        http.draining = True
        await asyncio.sleep(_LAST_ACCEPTS)
    finally:
        listener.close()
        await http.drain(stop.drain)


def _reason(error: OSError) -> str:
    import errno

    if error.errno == errno.EADDRINUSE:
        return "the port is in use; choose another with port= (--port), or 0 for a free one"
    if error.errno == errno.EACCES:
        return "not permitted; choose a port above 1023"
    return error.strerror or str(error)


def _say(text: str, name: str | None = None) -> None:
    """Print the one line of a start on standard error."""
    subject = "" if name is None else f' "{name}"'
    print(f"leanmcp {__version__}{subject} {text}", file=sys.stderr, flush=True)


def _unknown_transport(name: str) -> str:
    import difflib

    close = difflib.get_close_matches(name, TRANSPORTS, n=1)
    hint = f"; did you mean {close[0]!r}?" if close else ""
    return f"unknown transport {name!r}: give 'stdio' or 'http'{hint}"


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop]:
    """Return uvloop's loop where it is installed, else asyncio's own."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop
    return uvloop.new_event_loop


def _load_failure_paths() -> None:
    """Import what failures need while descriptors are to be had: nothing on a failure path may import first."""
    import difflib  # noqa: F401
    import re  # noqa: F401
    import traceback  # noqa: F401


# --- in process ---------------------------------------------------------------------------------------------------


async def request(server: MCPServer, method: str, params: dict[str, Any]) -> dict[str, Any]:
    """Return the response message to one request, answered in this process the way stdio answers it.

    Args:
        server: whose lifespan is entered for the time of the request.
        method: such as "tools/call".
        params: without `_meta`, which is added.
    """
    meta = {PROTOCOL_VERSION: MODERN_VERSIONS[0], CLIENT_CAPABILITIES: {}}
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
    answers: list[bytes] = []
    async with _lifespan(server):
        endpoint = LineEndpoint(server, lambda segments: answers.append(b"".join(segments)))
        endpoint.receive(msgspec.json.encode(message))
        if endpoint.calls:
            await asyncio.wait(endpoint.calls.values())
    answer: dict[str, Any] = msgspec.json.decode(answers[0])
    return answer
