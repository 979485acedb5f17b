"""Joins a server with a transport and the process: loop, signals, lifespan, log output.

The only module that knows uvloop.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

import msgspec

from . import __version__
from .errors import BindError
from .logs import log_to_stderr, logger, warn_seldom
from .protocol.jsonrpc import Segments
from .protocol.meta import CLIENT_CAPABILITIES, MODERN_VERSIONS, PROTOCOL_VERSION
from .server.app import MCPServer
from .server.line_endpoint import LineEndpoint

if TYPE_CHECKING:
    from .listen import HTTPOptions
    from .transports.stdio_server import LineServer, StandardStreams

TRANSPORTS = ("stdio", "http", "streamable-http")
_IGNORED_ON_STDIO = {"stateless_http", "json_response"}  # programs for the official SDK pass them either way
_SHORT_DRAIN = 1.5  # seconds that calls already read have at end of input and at Ctrl-C
_LAST_ACCEPTS = 0.25  # seconds of accepting after SIGTERM, so that connections on their way get an answer
_CLEANUP = 0.2  # seconds that the `finally` blocks of calls have which the end of the server cancels
_PRELOAD_AFTER = 0.3  # seconds without an answer, after which standard input counts as idle


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
    _guard_stderr()
    log_to_stderr("INFO")
    stop = _Stop.by_signals()
    runner = asyncio.Runner(loop_factory=_loop_factory())
    try:
        runner.run(serve(server, transport, stop=stop, **options))
    except BindError as error:
        sys.exit(f"leanmcp: {error}")
    finally:
        if runner.run(_end_tasks()):
            runner.close()
    if stop.exit_code:
        sys.exit(stop.exit_code)


async def _end_tasks() -> bool:
    """Cancel what tools have left running; return whether it ended. What swallows every cancellation keeps nobody."""
    if tasks := asyncio.all_tasks() - {asyncio.current_task()}:
        for task in tasks:
            task.cancel()
        tasks = (await asyncio.wait(tasks, timeout=_CLEANUP))[1]
    return not tasks


def _guard_stderr() -> None:
    """Put a pump before a standard error whose reader could fall behind."""
    from .transports.stderr_pump import StderrPump  # of a process that serves, not of one that asks itself

    if StderrPump.is_needed():
        StderrPump()


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
    drain: float = 10.0,
    stop: _Stop | None = None,
    streams: StandardStreams | None = None,
    **options: Any,
) -> None:
    """Serve inside a running event loop, until end of input or cancellation; signals are left to the caller.

    Args:
        server: what to serve.
        transport: "stdio", or "http" (also "streamable-http").
        drain: seconds that running calls have after SIGTERM.
        stop: `run`'s signal handling.
        streams: fd 0 and fd 1, where they were taken for the protocol before.
        options: of HTTP, see `leanmcp.listen.HTTPOptions`; the official SDK's names work too.

    Raises:
        ValueError: an unknown transport.
        TypeError: an unknown option, or one of HTTP on stdio.
        BindError: the address cannot be bound.
    """
    if transport not in TRANSPORTS:
        raise ValueError(_unknown("transport", transport, TRANSPORTS))
    from .watchdog import LoopWatchdog  # what only serving needs loads when it begins

    http_options = _http_options(server, options)
    if transport == "stdio" and options.keys() - _IGNORED_ON_STDIO:
        raise TypeError(f'{", ".join(options)}: an option of HTTP; serve it with run("http", ...)')
    stop = stop or _Stop()
    loop = asyncio.get_running_loop()
    former = loop.get_exception_handler()
    if former is None:  # a program that embeds us may have one of its own
        loop.set_exception_handler(_loop_fault)
    watchdog = LoopWatchdog(server.tool_codes)
    async with entered(server), stop.on_signals(drain):
        watchdog.start()
        try:
            if transport == "stdio":
                await _serve_stdio(server, stop, streams)
            else:
                await _serve_http(server, http_options, stop)
        finally:
            watchdog.stop()
            loop.set_exception_handler(former)


def _http_options(server: MCPServer, options: dict[str, Any]) -> HTTPOptions:
    """Return the options of HTTP, given under our names or the official SDK's; a limit among them goes to the server.

    Raises:
        TypeError: an unknown one.
    """
    from .listen import HTTPOptions  # as above

    options = dict(options)
    options.pop("stateless_http", None)  # always so
    if "streamable_http_path" in options:
        options["path"] = options.pop("streamable_http_path")
    if "max_request_body_size" in options:
        server.limits = msgspec.structs.replace(server.limits, max_body_size=options.pop("max_request_body_size"))
    known = HTTPOptions.__struct_fields__
    for name in options:
        if name not in known:
            raise TypeError(_unknown("option", name, known))
    return HTTPOptions(**options)


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
        stop._handles_signals = threading.current_thread() is threading.main_thread()  # signals reach no other
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
async def entered(server: MCPServer) -> AsyncIterator[None]:
    """Hold the lifespan of a server while the block runs."""
    server.serving_loop = asyncio.get_running_loop()
    try:
        if server.lifespan is None:
            yield
            return
        context = server.lifespan(server)
        if not hasattr(context, "__aenter__"):
            raise TypeError("lifespan= must return an async context manager; put @asynccontextmanager above it")
        async with context as value:
            server.lifespan_value = value
            yield
    finally:
        server.serving_loop = None


# --- stdio --------------------------------------------------------------------------------------------------------


async def _serve_stdio(server: MCPServer, stop: _Stop, streams: StandardStreams | None) -> None:
    from .transports.stdio_server import LineServer, StandardStreams  # each transport loads when it is served

    streams = streams or StandardStreams()
    if os.isatty(streams.input):
        _say('a host starts this program and speaks JSON-RPC to it; by hand, use "leanmcp call FILE TOOL name=value"')
    lines = LineServer(server.limits, streams)
    endpoint = LineEndpoint(server, lines.send, lines.freed, lines.tell)
    await lines.start(endpoint)
    torn_down: list[Segments] = []
    signalled = asyncio.ensure_future(stop.wait())
    preload = asyncio.ensure_future(_load_when_idle(lines))
    try:
        await asyncio.wait((lines.ended, signalled), return_when=asyncio.FIRST_COMPLETED)
        torn_down = endpoint.end_streams()
        await lines.drain(stop.drain)
    finally:
        signalled.cancel()
        preload.cancel()
        if endpoint.calls:
            await asyncio.wait(endpoint.cancel_all(), timeout=_CLEANUP)
        torn_down += endpoint.end_streams()  # those that were opened meanwhile
        endpoint.send(torn_down)
        await lines.close()


async def _load_when_idle(lines: LineServer) -> None:
    """Load what failures need after the first answer, which waits for nothing, or as soon as nobody asks anything."""
    with suppress(TimeoutError):
        async with asyncio.timeout(_PRELOAD_AFTER):
            await lines.first_answer()
    with suppress(OSError, ImportError):  # the first call left no descriptor; what fails first imports it, then
        _load_failure_paths()


# --- HTTP ---------------------------------------------------------------------------------------------------------


async def _serve_http(server: MCPServer, options: HTTPOptions, stop: _Stop) -> None:
    from .listen import listen  # each transport loads when it is served
    from .protocol.headers import HostRule
    from .server.http_endpoint import HTTPEndpoint
    from .transports.http_server import HTTPServer

    _load_failure_paths()  # before anybody can connect
    _load_http_failure_paths()
    kind = HTTPEndpoint
    if options.cors is not False:
        from .server.cors import CORSEndpoint

        kind = CORSEndpoint
    rule = HostRule(options.hosts(), options.origins())
    endpoint = kind(server, options.path, rule, json_response=options.json_response)
    http = HTTPServer(endpoint, server.limits, options.sse_keep_alive)
    listener = await listen(http.connection, options)
    count = len(server.tools)
    _say(f"{count} tool{'' if count == 1 else 's'} {listener.where} (Ctrl-C stops)", server.name)
    try:
        await stop.wait()
        http.draining = True
        await asyncio.sleep(_LAST_ACCEPTS)
    finally:
        listener.close()
        await http.drain(stop.drain)


def _say(text: str, name: str | None = None) -> None:
    """Print the one line of a start on standard error."""
    subject = "" if name is None else f' "{name}"'
    print(f"leanmcp {__version__}{subject} {text}", file=sys.stderr, flush=True)


def _unknown(kind: str, name: str, known: Iterable[str]) -> str:
    from .mistyped import did_you_mean  # a failure path

    known = list(known)
    hint = did_you_mean(name, known) or f"; there is {', '.join(map(repr, known))}"
    return f"unknown {kind} {name!r}{hint}"


def _loop_fault(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Log what went wrong outside of any request, a line a second at most: strangers cause most of it.

    Out of descriptors, accepting fails again and again; a reset connection is nobody's fault.
    """
    error, message = context.get("exception"), context.get("message", "event loop")
    if error is None or isinstance(error, OSError):
        if not isinstance(error, ConnectionError):
            warn_seldom("%s: %s", message, error or "no details")
    else:
        logger.error("%s", message, exc_info=(type(error), error, error.__traceback__))


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
    import fractions  # noqa: F401
    import traceback  # noqa: F401

    # With the explainer and the sentences behind it; and for the first listener, who may come late.
    from . import mistyped  # noqa: F401
    from .server import fault_log, recover, subscriptions  # noqa: F401

    if "leanmcp.schema.validator" in sys.modules:  # there is a schema written by hand
        from .schema import generator  # noqa: F401


def _load_http_failure_paths() -> None:
    """Import what refusals over HTTP need, the complete call that they print."""
    import html  # noqa: F401
    import shlex  # noqa: F401


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
    async with entered(server):
        endpoint = LineEndpoint(server, lambda segments: answers.append(b"".join(segments)))
        endpoint.receive(msgspec.json.encode(message))
        if endpoint.calls:
            await asyncio.wait(endpoint.calls.values())
        endpoint.end_streams()
    messages: list[dict[str, Any]] = [msgspec.json.decode(answer) for answer in answers]
    return next(message for message in messages if "method" not in message)
