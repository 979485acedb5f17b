"""The conversation with a server of this process, whose code may hold the event loop, or take long to begin and end.

In: a Connection whose target is local. Out: an exit code, in the time that `--timeout` gives, whatever the server does.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import threading
from collections.abc import AsyncIterator, Coroutine
from types import FrameType
from typing import TYPE_CHECKING, Any

from ..client import Client
from ..run import end_tasks
from ..slow_lifespan import place_of
from ..watchdog import LoopWatchdog
from .faults import UNREACHABLE, coded
from .wording import timed_out

if TYPE_CHECKING:
    from .connection import Connection

_OWN = "leanmcp.cli."  # modules that write to a pipe whose reader is slow, or wait for a person


class Conversation:
    """Watches over one conversation.

    Args:
        connection: not connected yet.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._server = connection.target.server
        self._seconds: float | None = connection.options.timeout
        self._is_interrupted = False
        self._main = threading.get_ident()

    def run(self, work: Coroutine[Any, Any, int]) -> int:
        """Do the work, which enters `opened`, and return its exit code.

        Raises:
            KeyboardInterrupt: Ctrl-C.
        """
        runner = asyncio.Runner()
        try:
            return runner.run(self._watched(work))
        except asyncio.CancelledError:
            if self._is_interrupted:
                raise KeyboardInterrupt from None
            raise
        finally:
            if runner.run(end_tasks()):
                runner.close()

    async def _watched(self, work: Coroutine[Any, Any, int]) -> int:
        self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
        self._watchdog = LoopWatchdog(self._server.tool_codes, held=self._held, trusted=_OWN)
        self._watchdog.quiet = True
        self._watchdog.start()
        is_main = threading.current_thread() is threading.main_thread()
        former = signal.signal(signal.SIGINT, self._interrupt) if is_main else None
        try:
            return await work
        finally:
            if is_main:
                signal.signal(signal.SIGINT, former)
            self._watchdog.stop()

    @contextlib.asynccontextmanager
    async def opened(self, client: Client) -> AsyncIterator[Client]:
        """Connect and close a client in time. A lifespan may hold the loop while it begins and ends: nobody else waits.

        Raises:
            CallTimeout: it could not be connected in time.
        """
        try:
            async with asyncio.timeout(self._seconds) as limit:
                await client.__aenter__()
        except TimeoutError:
            if not limit.expired():
                raise
            lifespan = self._server.lifespan
            text = "the server" if lifespan is None else f"{place_of(lifespan)} has not yielded; the server"
            raise timed_out(text, self._seconds or 0) from None
        self._watchdog.quiet = False
        try:
            yield client
        finally:
            self._watchdog.quiet = True
            with contextlib.suppress(OSError):  # it is told when the command ends
                self._connection.screen.out.flush()
            await self._close(client)

    async def _close(self, client: Client) -> None:
        try:
            async with asyncio.timeout(self._seconds) as limit:
                await client.close()
        except TimeoutError:
            if not limit.expired():
                raise
            where = place_of(self._server.lifespan)
            text = f"{where} did not end within {self._seconds or 0:g} seconds, and is cancelled"
            self._connection.screen.complain(f"leanmcp: {coded(text)}")

    # --- what the loop does not see -----------------------------------------------------------------------------------

    def _held(self, seconds: float, culprit: str) -> None:
        """Thread: end the process where the loop has been held for too long, or is still when Ctrl-C was pressed."""
        if self._is_interrupted:
            signal.pthread_kill(self._main, signal.SIGINT)
        elif self._seconds is not None and seconds > self._seconds:
            screen = self._connection.screen
            text = str(timed_out(f"{culprit} holds the event loop, and", self._seconds))
            screen.complain(f"leanmcp: {coded(text)}")
            screen.out.flush()
            os._exit(UNREACHABLE)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        """End the conversation at the first Ctrl-C; at once where the loop would not hear of it."""
        is_first, self._is_interrupted = not self._is_interrupted, True
        if is_first and self._task is not None:
            self._loop.call_soon_threadsafe(self._task.cancel)
        if self._watchdog.is_held or not is_first:
            raise KeyboardInterrupt
