"""SIGTERM and SIGINT of a program that serves inside an event loop of its own.

In: the signals, where the program has left them as they were. Out: servers that end the way `mcp.run()` ends, and then
the signal itself, for whatever else the program runs.
Ours: under the official SDK, uvicorn takes them in the same way; a server that leaves them alone is cut off by the
first SIGTERM, calls and all.
"""

from __future__ import annotations

import asyncio
import functools
import signal
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from types import FrameType
from typing import Any

from .forks import serve_here
from .run import Stop

_PATIENCE = 5.0  # seconds for the rest of the program to end with its servers, before it gets the signal


class SharedStop(Stop):
    """What ends one of the servers of a program: the program's signals."""

    @asynccontextmanager
    async def on_signals(self, drain: float) -> AsyncIterator[None]:
        """Listen while the block runs; `drain` is SIGTERM's."""
        async with super().on_signals(drain):
            with _signals.held(self):
                yield


class _SharedSignals:
    """The signals of this process, while servers have them."""

    def __init__(self) -> None:
        self._servers: list[Stop] = []
        self._former: dict[int, Any] = {}
        self._handler: Any = None
        self._caught: int | None = None

    @contextmanager
    def held(self, stop: Stop) -> Iterator[None]:
        """End the server of `stop` at a signal while the block runs; in another thread than the main one, never."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        if not self._servers:
            self._take(asyncio.get_running_loop())
        self._servers.append(stop)
        try:
            yield
        finally:
            self._servers.remove(stop)
            if not self._servers:
                self._give_back(asyncio.get_running_loop())

    def _take(self, loop: asyncio.AbstractEventLoop) -> None:
        def catch(number: int, frame: FrameType | None) -> None:
            if loop.is_closed():  # with servers in it
                self._restore()
                return signal.raise_signal(number)
            self._caught = number
            for stop in self._servers:
                stop.signalled(number)
                loop.call_soon_threadsafe(stop.end)

        self._caught, self._handler = None, catch
        for number in (signal.SIGTERM, signal.SIGINT):
            former = signal.getsignal(number)
            if _is_nobodys(former):
                self._former[number] = former
                signal.signal(number, catch)
        serve_here(bool(self._former))

    def _give_back(self, loop: asyncio.AbstractEventLoop) -> None:
        self._restore()
        if self._caught is not None:
            loop.call_later(_PATIENCE, signal.raise_signal, self._caught)

    def _restore(self) -> None:
        serve_here(False)
        for number, former in self._former.items():
            if signal.getsignal(number) is self._handler:  # else the program has taken it meanwhile
                signal.signal(number, former)
        self._former.clear()


def _is_nobodys(handler: Any) -> bool:
    """Return whether a signal is handled by Python or asyncio.Runner alone, not by the program."""
    if isinstance(handler, functools.partial):
        return isinstance(getattr(handler.func, "__self__", None), asyncio.Runner)
    return handler in (signal.SIG_DFL, signal.default_int_handler)


_signals = _SharedSignals()  # one for the process, which has its signals once
