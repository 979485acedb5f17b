"""Tells of a lifespan that takes long: to whoever waits for a server, nothing else shows what it is doing.

In: the context manager of a lifespan. Out: the same one, with a line in the log where it takes more than some seconds.
It looks from a thread, since what waits may hold the event loop. A start has no limit: to load a model takes its time.
An end has one: a client that has gone presses no Ctrl-C, and a group of tasks that run for ever waits for ever.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from types import FrameType, TracebackType
from typing import Any

from .logs import logger

_PATIENCE = 5.0  # seconds
_MOST = 90.0  # seconds that an end may take, as under systemd; then it is cancelled


def place_of(lifespan: object, context: object = None) -> str:
    """Return "lifespan (file:line)": the line where it stands, or else where it begins."""
    frame: FrameType | None = getattr(getattr(context, "gen", None), "ag_frame", None)
    if frame is not None:
        return f"lifespan ({frame.f_code.co_filename}:{frame.f_lineno})"
    code = getattr(getattr(lifespan, "__wrapped__", lifespan), "__code__", None)
    if code is not None:
        return f"lifespan ({code.co_filename}:{code.co_firstlineno})"
    return f"lifespan ({getattr(lifespan, '__name__', type(lifespan).__name__)})"


class SlowLifespan:
    """The context manager of a lifespan, and a warning for each end of it that takes long.

    Args:
        lifespan: the function that made it.
        context: what it made.
    """

    def __init__(self, lifespan: Callable[..., Any], context: AbstractAsyncContextManager[Any]) -> None:
        self._lifespan = lifespan
        self._context = context

    async def __aenter__(self) -> Any:
        with self._timed("yielded", "the server starts when it has"):
            return await self._context.__aenter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        with self._timed("ended", "the server ends when it has, or at Ctrl-C"):
            async with asyncio.timeout(_MOST):
                return await self._context.__aexit__(kind, error, trace)

    @contextmanager
    def _timed(self, done: str, then: str) -> Iterator[None]:
        timer = threading.Timer(_PATIENCE, self._tell, (done, then))
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _tell(self, done: str, then: str) -> None:
        """Thread: say where it stands."""
        where = place_of(self._lifespan, self._context)
        logger.warning("%s has not %s for %g s; %s [LM418]", where, done, _PATIENCE, then)
