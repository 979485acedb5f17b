"""The part of `run --reload` that runs in the server's process, which is a fork of the watcher.

In: the options of the command, and a socket to the watcher. Out: a server that begins when the watcher says so, and
ends when the watcher has. What goes to the watcher are words, each ended by a zero byte: `loaded` and the size of the
longest line, `ready`, and the path of each file that is imported.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import TYPE_CHECKING, Any

from .. import __version__
from ..frames import owner_of
from .faults import OK
from .reloading_files import Roots
from .reloading_process import say

if TYPE_CHECKING:
    from ..run import Stop

LOADED, READY, GO = b"loaded", b"ready", b"g"
DRAIN = 1.0  # seconds that running calls have when the server is replaced
DRAIN_STDIO = 0.2  # seconds; there, the watcher has waited for the calls before
_LAST_REQUESTS = 0.1  # seconds for the request of a client that has just connected
_LOADS = 5.0  # seconds after which a file says where it stands
_LAST_WAIT = 3.0  # seconds after which a server that outlives its watcher ends at once


class Link:
    """The server's end of the socket to its watcher.

    Args:
        sock: the socket.
        first: whether nothing was served before.
        fd: of the socket that HTTP is served on, None on stdio.
        where: its URL.
    """

    def __init__(self, sock: socket.socket, first: bool, fd: int | None, where: str) -> None:
        self._sock = sock
        self.first = first
        self.fd = fd
        self.where = where
        self._go = threading.Event()

    def start(self) -> None:
        """Listen to the watcher, in a thread: the server may be busy when the watcher ends."""
        threading.Thread(target=self._listen, name="leanmcp-reload", daemon=True).start()

    def tell(self, word: bytes) -> None:
        """Send one word, in one write: imports happen in any thread."""
        with suppress(OSError):  # the watcher has ended; the thread knows
            self._sock.send(word + b"\0")

    def wait_for_go(self) -> None:
        """Return when the server before this one has ended."""
        self._go.wait()

    def _listen(self) -> None:
        with suppress(OSError):
            while word := self._sock.recv(1):
                if word == GO:
                    self._go.set()
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(_LAST_WAIT)
        os._exit(1)


def serve(options: argparse.Namespace, link: Link, roots: Roots) -> int:
    """Load the user's file, wait for the word, and serve.

    Raises:
        UsageError: the file does not run.
    """
    from ..run import run
    from .loading import load
    from .serving import http_options

    _report_imports(link, roots)
    link.start()
    streams = None
    if link.fd is None:
        from ..transports.standard_streams import StandardStreams

        streams = StandardStreams()  # before the file runs, which may print
    with _timed_load(options.target):
        server = load(options.target, options.prog)
    link.tell(b"%b %d" % (LOADED, server.limits.max_line_size))
    link.wait_for_go()
    stop = _stop()
    if streams is not None:
        run(server, "stdio", _streams=streams, drain=DRAIN_STDIO, _stop=stop)
        return OK
    stop.hands_over, stop.last_accepts = True, _LAST_REQUESTS

    def started(where: str) -> None:
        if link.first and sys.stderr is not None:  # None: it was closed
            count = f"{len(server.tools)} tool{'' if len(server.tools) == 1 else 's'}"
            what = f'leanmcp {__version__} "{server.name}" {count} {link.where}'
            sys.stderr.write(f"{what} (reloads on save, Ctrl-C stops)\n")  # one write: the watcher may print, too
            sys.stderr.flush()
        link.tell(READY)

    given = {**http_options(options), "fd": link.fd, "uds": None}
    del given["port"]  # the socket has one
    run(server, "http", **given, drain=DRAIN, _started=started, _stop=stop)
    return OK


def _stop() -> Stop:
    """Return what ends the server at SIGTERM alone: a Ctrl-C reaches the watcher too, which says when to end."""
    from ..run import Stop

    class Told(Stop):
        @asynccontextmanager
        async def on_signals(self, drain: float) -> AsyncIterator[None]:
            async with super().on_signals(drain):
                asyncio.get_running_loop().remove_signal_handler(signal.SIGINT)
                signal.signal(signal.SIGINT, lambda number, frame: None)  # SIG_IGN would go to child processes, too
                yield

    return Told(by_signals=True)


@contextmanager
def _timed_load(target: str) -> Iterator[None]:
    """Say where the file stands when it takes long to load: the former code answers meanwhile."""
    thread = threading.get_ident()

    def tell() -> None:
        frame = sys._current_frames().get(thread)
        while frame is not None and owner_of(frame.f_code.co_filename) in ("ours", "library"):
            frame = frame.f_back
        where = "" if frame is None else f"; it is at {frame.f_code.co_filename}:{frame.f_lineno}"
        say(f"{target} is still loading after {_LOADS:g} s{where}")

    timer = threading.Timer(_LOADS, tell)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _report_imports(link: Link, roots: Roots) -> None:
    """Tell the watcher of each of the user's files that is compiled or run from now on, also where that fails."""
    seen: set[str] = set()

    def heard(event: str, args: tuple[Any, ...]) -> None:
        if event == "exec":
            name = getattr(args[0], "co_filename", None)
        elif event == "compile":
            name = args[1]
        else:
            return
        if isinstance(name, str) and name.endswith(".py") and name not in seen:
            seen.add(name)
            path = os.path.abspath(name)
            if roots.watch(path):
                link.tell(os.fsencode(path))

    sys.addaudithook(heard)
