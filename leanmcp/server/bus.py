"""The bus that carries what a server says about its changes to everybody who listens.

In: events, from any thread. Out: the same, to the listeners of each server that shares the bus.
Ours; what becomes of them is basic/patterns/subscriptions of spec 2026-07-28.
"""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable, Generator
from typing import Protocol

from ..events import Event
from ..logs import logger

ServerEvent = Event
"""What travels on a bus."""

Listener = Callable[[ServerEvent], None]


class SubscriptionBus(Protocol):
    """Carries events to every server that shares it: pass one to several servers, or join processes with it."""

    def publish(self, event: ServerEvent, /) -> Awaitable[None] | None:
        """Hand an event to the listeners of every server.

        A plain function is called in the thread of the change; the coroutine of an `async def` runs on the loop that
        serves. Events may be merged, and arrive more than once.
        """

    def subscribe(self, listener: Listener, /) -> Callable[[], None]:
        """Call `listener` with every event, in any thread; return what ends that."""


class _Published:
    """Awaitable for the sake of code that awaits `publish`; the event is out before."""

    def __await__(self) -> Generator[None, None, None]:
        yield  # a turn of the loop: a task that publishes without end must not hold everybody else up


_PUBLISHED = _Published()


class InMemorySubscriptionBus:
    """Joins the servers of one process; every method is safe in any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._listeners: tuple[tuple[object, Listener], ...] = ()

    def publish(self, event: ServerEvent, /) -> Awaitable[None]:
        """Call every listener, in this thread; awaiting the result is possible, not necessary."""
        for _, listener in self._listeners:
            try:
                listener(event)
            except Exception:  # one that fails must not keep the news from the others
                logger.exception("a listener of the bus failed with %r", event)
        return _PUBLISHED

    def subscribe(self, listener: Listener, /) -> Callable[[], None]:
        """Call `listener` with every event; return what ends that."""
        token = object()
        with self._lock:
            self._listeners += ((token, listener),)

        def unsubscribe() -> None:
            with self._lock:
                self._listeners = tuple(pair for pair in self._listeners if pair[0] is not token)

        return unsubscribe
