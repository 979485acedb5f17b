"""Joins a server with a transport and the process: loop, signals, lifespan, log output.

The only module that knows uvloop.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from importlib import import_module
from types import FrameType, ModuleType
from typing import TYPE_CHECKING, Any

from . import __version__
from .errors import BindError
from .logs import log_to_stderr, logger, warn_seldom
from .protocol.jsonrpc import Segments
from .server.app import MCPServer
from .server.line_endpoint import LineEndpoint

if TYPE_CHECKING:
    from .listen import HTTPOptions
    from .transports.standard_streams import StandardStreams

TRANSPORTS = ("stdio", "http", "streamable-http")
_IGNORED_ON_STDIO = {"stateless_http", "json_response"}  # programs for the official SDK pass them either way
_SHORT_DRAIN = 1.5  # seconds that calls already read have at end of input and at Ctrl-C
_MAX_NAMES = 8  # in a warning
_LAST_ACCEPTS = 0.25  # seconds of accepting after SIGTERM, so that connections on their way get an answer
_CLEANUP = 0.2  # seconds that the `finally` blocks of calls have which the end of the server cancels
_YIELDS = {"generator didn't yield": "has ended without yielding", "generator didn't stop": "yields more than once"}
"""What contextlib says of a function that does not yield once: what we say."""
_FAILURE_PATHS = (
    *(".mistyped", ".server.fault_log", ".server.recover", ".server.repeats", ".server.subscriptions"),
    *(".last_threads", ".latecomers"),
)
"""Modules that failures need, the explainer and its sentences among them; the first list and listener; and the end."""
_PRELOAD_AFTER = 0.3  # seconds without an answer, after which standard input counts as idle


def run(
    server: MCPServer, transport: str = "stdio", *unnamed: object, _stop: Stop | None = None, **options: Any
) -> None:
    """Serve until end of input (stdio), SIGTERM or SIGINT; options as `serve`.

    A worker that `multiprocessing` spawns loads the file of its program once more: there, nothing is served.

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
    worker = sys.modules.get("multiprocessing.process")
    if worker is not None and getattr(worker.current_process(), "_inheriting", False):
        return  # it has been spawned, and loads the file for its functions
    # Of a process that serves, not of one that asks itself.
    from .transports.stderr_pump import guard_stderr, reserve_standard_descriptors

    reserve_standard_descriptors()
    guard_stderr()
    log_to_stderr("INFO")
    stop = _stop or Stop(by_signals=True)
    runner = asyncio.Runner(loop_factory=_loop_factory())
    try:
        runner.run(serve(server, transport, *unnamed, _stop=stop, **options))
        from .latecomers import watch_latecomers  # of a server that has ended

        watch_latecomers(server)
    except KeyboardInterrupt:  # while the lifespan begins or ends, when nobody else listens
        stop.exit_code = 128 + signal.SIGINT
    except BindError as error:
        from .mistakes import code_of  # of mistakes only

        code = code_of(error)
        sys.exit(f"leanmcp: {error}" + (f" [{code}]" if code else ""))
    finally:
        ended = runner.run(end_tasks())
        from .last_threads import end_in_time, left_threads  # as above

        if stop._handles_signals and left_threads():  # closing the loop would wait for its executor
            end_in_time(stop.exit_code or int(sys.exc_info()[0] is not None))
        elif ended:
            runner.close()
    if stop.exit_code:
        sys.exit(stop.exit_code)


async def end_tasks() -> bool:
    """Cancel what tools have left running; return whether it ended. What swallows every cancellation keeps nobody."""
    if tasks := asyncio.all_tasks() - {asyncio.current_task()}:
        for task in tasks:
            task.cancel()
        tasks = (await asyncio.wait(tasks, timeout=_CLEANUP))[1]
    if not tasks:
        await asyncio.get_running_loop().shutdown_asyncgens()
    return not tasks


async def serve(
    server: MCPServer,
    transport: str = "stdio",
    *unnamed: object,
    drain: float = 10.0,
    _stop: Stop | None = None,
    _streams: StandardStreams | None = None,
    _started: Callable[[str], None] | None = None,
    **options: Any,
) -> None:
    """Serve inside a running event loop, until end of input, a signal or cancellation.

    Args:
        server: what to serve.
        transport: "stdio", or "http" (also "streamable-http").
        drain: seconds that running calls have after SIGTERM.
        _stop: what ends it; if there is none, SIGTERM and SIGINT do, where the program has left them alone.
        _streams: fd 0 and fd 1, where they were taken for the protocol before.
        _started: of HTTP, takes the URL once it is served, instead of the line on standard error.
        options: of HTTP, see `leanmcp.listen.HTTPOptions`; the official SDK's names work too.

    Raises:
        ValueError: an unknown transport.
        TypeError: an unknown option, or one of HTTP on stdio.
        BindError: the address cannot be bound.
    """
    http_options = _options_of(server, transport, unnamed, drain, options)
    from .watchdog import LoopWatchdog  # what only serving needs loads when it begins

    stop = _stop
    if stop is None:
        from .shared_signals import SharedStop  # of a program with a loop of its own

        stop = SharedStop()
    loop = asyncio.get_running_loop()
    former = loop.get_exception_handler()
    if former is None:  # a program that embeds us may have one of its own
        loop.set_exception_handler(_loop_fault)
    watchdog = LoopWatchdog(server.tool_codes, held=stop.loop_held)
    _warn_undescribed(server)
    if copies := _copies_of_main():
        from .twice import warn_loaded_twice  # of mistakes only

        warn_loaded_twice(server, copies)
    elif not server.tools and server.capabilities.keys() == {"tools"}:
        from .twice import warn_of_other  # of servers that have nothing

        warn_of_other(server)
    async with entered(server), stop.on_signals(drain):
        watchdog.start()
        try:
            if http_options is None:
                await _serve_stdio(server, stop, _streams)
            else:
                await _serve_http(server, http_options, stop, _started)
        finally:
            watchdog.stop()
            loop.set_exception_handler(former)


def _warn_undescribed(server: MCPServer) -> None:
    """Warn, on one line, of tools that a model cannot tell apart but by their names."""
    names = [tool.name for tool in server.tools if not tool.entry.description]
    if names:
        shown = ", ".join(names[:_MAX_NAMES]) + (f" and {len(names) - _MAX_NAMES} more" if names[_MAX_NAMES:] else "")
        logger.warning("no description: %s; write a docstring, or description=... [LM521]", shown)


def _copies_of_main() -> list[ModuleType]:
    """Return the modules that hold the file of `__main__` once more."""
    main = sys.modules.get("__main__")
    file = getattr(main, "__file__", None)
    modules = [] if file is None else list(sys.modules.values())
    return [one for one in modules if one is not main and getattr(one, "__dict__", {}).get("__file__") == file]


def _options_of(
    server: MCPServer, transport: object, unnamed: tuple[object, ...], drain: object, options: dict[str, Any]
) -> HTTPOptions | None:
    """Return the options of HTTP, None on stdio; refuse what `serve` cannot take."""
    if not isinstance(transport, str) or transport not in TRANSPORTS:
        from .run_mistakes import unknown  # of mistakes only

        raise ValueError(unknown("transport", transport, TRANSPORTS))
    if unnamed:
        from .run_mistakes import unnamed as said  # as above

        raise TypeError(said(unnamed[0]))
    if isinstance(drain, bool) or not isinstance(drain, int | float) or not drain >= 0:
        raise ValueError(f"drain={drain!r}: give a number of seconds, 0 or more")
    http_options = None
    if transport != "stdio" or options:
        from .listen import options_of  # each transport loads when it is served

        http_options = options_of(server, options)
    if transport != "stdio":
        return http_options
    if options.keys() - _IGNORED_ON_STDIO:
        raise TypeError(f'{", ".join(options)}: an option of HTTP; serve it with run("http", ...)')
    return None


class Stop:
    """What ends a server: the first signal drains it, the second ends the process at once.

    Args:
        by_signals: listen to SIGTERM and SIGINT while the server runs.
    """

    def __init__(self, *, by_signals: bool = False) -> None:
        self.exit_code = 0
        self.drain = _SHORT_DRAIN
        self.last_accepts = _LAST_ACCEPTS
        self.hands_over = False
        """Whether another server goes on with the same listening socket."""
        self._wanted = asyncio.Event()
        self._handles_signals = by_signals and threading.current_thread() is threading.main_thread()
        self._patience = _SHORT_DRAIN
        self._since: float | None = None
        """When the first signal came."""
        self.streams: StandardStreams | None = None
        """Of the only client, on stdio."""

    @asynccontextmanager
    async def on_signals(self, drain: float) -> AsyncIterator[None]:
        """Listen while the block runs; `drain` is SIGTERM's."""
        from .forks import serve_here  # of a process that serves

        self._patience = drain
        if self._handles_signals:
            loop = asyncio.get_running_loop()
            serve_here(True)
            for number in (signal.SIGTERM, signal.SIGINT):
                loop.add_signal_handler(number, self.end)  # it wakes the loop
                signal.signal(number, self.signalled)  # and this comes even while somebody holds the loop
        try:
            yield
        finally:
            if self._handles_signals:
                serve_here(False)
                loop.remove_signal_handler(signal.SIGTERM)
                loop.remove_signal_handler(signal.SIGINT)

    def signalled(self, number: int, frame: FrameType | None = None) -> None:
        """Take a signal, in its handler: the first one ends the server, the second one the process, at once."""
        if self._since is not None:
            os._exit(128 + number)
        self._since = time.monotonic()
        if number == signal.SIGTERM:
            self.drain = self._patience
        else:
            self.exit_code, self.drain = 128 + number, min(self._patience, _SHORT_DRAIN)

    def loop_held(self, seconds: float, culprit: str) -> None:
        """Thread: end the process where the loop is held for longer than calls have, and cannot hear of the end."""
        if self._since is not None:
            over, code = time.monotonic() - self._since > self.drain, self.exit_code or 128 + signal.SIGTERM
        else:  # a program that runs the loop itself has an end of its own to come to
            host = self.streams if self._handles_signals else None
            over, code = host is not None and seconds > self._patience and host.has_hung_up(), 1
        if over:
            from .last_threads import end_process  # of what goes wrong only

            logger.error("%s still holds the event loop; the process ends without it", culprit)
            end_process(code)

    def end(self) -> None:
        """End the server; of the thread of its loop."""
        self._wanted.set()

    def now(self) -> None:
        """End a server whose clients know that it ends; of the thread of its loop."""
        self.last_accepts = 0
        self.end()

    async def wait(self) -> None:
        """Return at the first signal."""
        await self._wanted.wait()


@asynccontextmanager
async def entered(server: MCPServer) -> AsyncIterator[None]:
    """Hold the lifespan of a server while the block runs."""
    server.serving_loop = asyncio.get_running_loop()
    if (marks := sys.modules.get("leanmcp.server.marks")) is not None:  # of servers that mark theirs
        marks.warn_of_forgotten(server)
    try:
        if server.lifespan is None:
            yield
            return
        context = server.lifespan(server)
        if not hasattr(context, "__aenter__"):
            raise TypeError("lifespan= must return an async context manager; put @asynccontextmanager above it")
        from .slow_lifespan import SlowLifespan  # of servers that have one

        try:
            async with SlowLifespan(server.lifespan, context) as value:
                server.lifespan_value = value
                yield
        except RuntimeError as error:
            from .mistakes import is_authors  # of mistakes only

            if str(error) in _YIELDS and not is_authors(error):  # else of a context manager inside of it
                raise TypeError(f"lifespan= {_YIELDS[str(error)]}; write one `yield` in it") from None
            raise
    finally:
        server.serving_loop = None


# --- stdio --------------------------------------------------------------------------------------------------------


async def _serve_stdio(server: MCPServer, stop: Stop, streams: StandardStreams | None) -> None:
    from .transports.standard_streams import StandardStreams
    from .transports.stdio_server import LineServer  # each transport loads when it is served

    stop.streams = streams = streams or StandardStreams()
    if os.isatty(streams.input):
        _say('a host starts this program and speaks JSON-RPC to it; by hand, use "leanmcp call FILE TOOL name=value"')
    lines = LineServer(server.limits, streams)
    endpoint = LineEndpoint(server, lines.send, lines.flush_soon, lines.tell)
    await lines.start(endpoint)
    torn_down: list[Segments] = []
    signalled = asyncio.ensure_future(stop.wait())
    # What failures need loads right behind the first answer, which waits for nothing, or when nobody asks anything.
    lines.first_answered = _load_failure_paths_if_possible
    preload = asyncio.get_running_loop().call_later(_PRELOAD_AFTER, lines.note_first_answer)
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
        endpoint.close()
        endpoint.send(torn_down)
        await lines.close()


# --- HTTP ---------------------------------------------------------------------------------------------------------


async def _serve_http(
    server: MCPServer, options: HTTPOptions, stop: Stop, started: Callable[[str], None] | None
) -> None:
    import html  # noqa: F401  of refusals over HTTP, which print the complete call
    import shlex  # noqa: F401

    from .listen import listen  # each transport loads when it is served
    from .protocol.headers import HostRule
    from .server.http_endpoint import HTTPEndpoint
    from .transports.http_server import HTTPServer

    _load_failure_paths()  # before anybody can connect
    kind = HTTPEndpoint
    if options.cors is not False:
        from .server.cors import CORSEndpoint

        kind = CORSEndpoint
    rule = HostRule(options.hosts(), options.origins())
    endpoint = kind(server, options.path, rule, json_response=options.json_response)
    http = HTTPServer(endpoint, server.limits, options.sse_keep_alive)
    listener = await listen(http.connection, options)
    try:
        if started is None:
            count = len(server.tools)
            _say(f"{count} tool{'' if count == 1 else 's'} {listener.where} (Ctrl-C stops)", server.name)
        else:
            started(listener.where)
        await stop.wait()
        http.draining = True
        if stop.hands_over:
            listener.close()  # who connects from now on is the other's
        await asyncio.sleep(stop.last_accepts)
    finally:
        listener.close()
        await http.drain(stop.drain)


def _say(text: str, name: str | None = None) -> None:
    """Print the one line of a start on standard error."""
    subject = "" if name is None else f' "{name}"'
    with suppress(OSError, AttributeError):  # a full disk is no reason not to serve, nor is a closed descriptor
        sys.stderr.write(f"leanmcp {__version__}{subject} {text}\n")
        sys.stderr.flush()


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
    import traceback  # noqa: F401

    # By their names: `from . import` would ask the package for a name that it does not have, and load the reply.
    for name in _FAILURE_PATHS:
        import_module(name, __package__)
    if "leanmcp.schema.validator" in sys.modules:  # there is a schema written by hand
        import fractions  # noqa: F401

        import_module(".schema.generator", __package__)


def _load_failure_paths_if_possible() -> None:
    with suppress(OSError, ImportError):  # the first call left no descriptor; what fails first imports it, then
        _load_failure_paths()
