"""Where a blocking client lives: a thread with an event loop of its own.

In: what begins a coroutine, from any thread. Out: what it returns; plain functions of it run meanwhile in the thread
that waits. Ours; the protocol is that of `Client`.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from typing import Any, TypeVar

from ..errors import ConnectionLost
from ..logs import logger
from .callers import WaitingThread, current
from .client import Client

T = TypeVar("T")

_GRACE = 5.0  # seconds that closing waits for a server to leave


class Home:
    """The thread and the event loop of one client."""

    finalizer: Callable[[], Any]
    is_logged = True  # what the server raises at its end

    def __init__(self, client: Client) -> None:
        self._client = client
        self._process = os.getpid()
        ready: Future[asyncio.AbstractEventLoop] = Future()
        # A daemon: a program that ends does not wait for it longer than `end` does.
        self._thread = threading.Thread(target=self._run, args=(ready,), name="leanmcp-sync-client", daemon=True)
        self._thread.start()
        self._loop = ready.result()

    def _run(self, ready: Future[asyncio.AbstractEventLoop]) -> None:
        try:
            with asyncio.Runner() as runner:  # which makes its loop before there is a coroutine that would be lost
                runner.run(self._live(ready))
        except BaseException as fault:
            if ready.done():
                raise
            ready.set_exception(fault)

    async def _live(self, ready: Future[asyncio.AbstractEventLoop]) -> None:
        self._stop = asyncio.Event()
        ready.set_result(asyncio.get_running_loop())
        await self._stop.wait()

    def wait(self, begin: Callable[[WaitingThread], Coroutine[Any, Any, T]]) -> T:
        """Run a coroutine on the loop, and what it wants of this thread here, until it is done."""
        if threading.current_thread() is self._thread:
            raise RuntimeError("SyncClient was called on its own event loop; use Client in `async def` callbacks")
        if self._process != os.getpid():
            raise RuntimeError(
                "this SyncClient was connected before the process forked; make another one in each process"
            )
        thread = WaitingThread()
        ended = threading.Event()
        task: asyncio.Task[Any] | None = None
        is_given_up = False

        async def work() -> T:
            nonlocal task
            task = asyncio.current_task()
            current.set(thread)
            try:
                if is_given_up:
                    raise asyncio.CancelledError
                return await begin(thread)
            finally:
                ended.set()

        def give_up() -> None:
            nonlocal is_given_up
            is_given_up = True
            if task is not None:
                task.cancel()

        coroutine = work()
        try:
            running = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
            running.add_done_callback(lambda _: thread.over())
            thread.wait()
        except RuntimeError:  # the loop is closed: another thread has closed the client a moment ago
            coroutine.close()
            raise closed() from None
        except BaseException:
            # Ctrl-C, here or in a callback: the server is told, for a moment, and the caller goes on with it. It may
            # come before `running` has its value, when the call is on its way already.
            if not self._loop.is_closed():
                self._loop.call_soon_threadsafe(give_up)
                ended.wait(1.0)
            raise
        try:
            return running.result()
        except CancelledError:
            raise closed() from None

    def end(self) -> BaseException | None:
        """Close the client, and end the thread; bounded, because programs that end call it. Return what was raised."""
        if threading.current_thread() is self._thread:
            self._stop.set()  # the garbage collector came by
            return None
        if self._process != os.getpid():
            return None  # the thread and the server are the parent's
        raised: BaseException | None = None
        closing: Future[None] | None = None
        try:
            closing = asyncio.run_coroutine_threadsafe(self._client.close(), self._loop)
            closing.result(_GRACE)
        except Exception as fault:
            # What takes too long has not raised anything yet, and whoever cancelled it knows.
            has_raised = closing is not None and closing.done() and not closing.cancelled()
            if has_raised and not self.is_logged:
                raised = fault
            else:
                logger.warning("a client could not be closed: %s: %s", type(fault).__name__, fault)
        with suppress(RuntimeError):  # the loop is closed already
            self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(_GRACE)
        return raised


def closed() -> ConnectionLost:
    """Return the error of a call whose client was closed."""
    return ConnectionLost("the client was closed before the call had ended")
