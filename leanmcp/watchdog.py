"""Tells which tool holds the event loop.

In: the code objects of the tools. Out: log records that name a tool and its line.
An `async def` tool that computes or blocks stops every other request of the process, and nothing shows whose fault it
is. A thread looks at the loop now and then; where the loop does not move, the stack of its thread names the tool.
Nothing of this is paid by a call.
"""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections.abc import Callable, Mapping
from types import CodeType, FrameType

from .logs import logger

_THRESHOLD = 1.0  # seconds that the loop may stand still
_WAITING = ("selectors", "asyncio.runners")  # where an idle loop is: asyncio's own, uvloop's
_DEBUGGERS = ("pdb", "bdb", "pydevd", "_pydevd_bundle", "debugpy", "IPython")  # where somebody is thinking


class LoopWatchdog:
    """Watches the running loop, from `start` to `stop`.

    Args:
        tools: returns the code objects of the tools' functions, with the tools' names.
        threshold: seconds that the loop may stand still before it is logged.
        held: told, in the watching thread, at every look at which the loop still stands: the seconds, and who holds it.
        trusted: start of the names of modules that may hold the loop, because nothing else is to be done meanwhile.

    Attributes:
        quiet: whether nothing is logged; `held` is told all the same.
    """

    def __init__(
        self,
        tools: Callable[[], Mapping[CodeType, str]],
        threshold: float = _THRESHOLD,
        held: Callable[[float, str], None] | None = None,
        trusted: str = "",
    ) -> None:
        self._tools = tools
        self._threshold = threshold
        self._held = held
        self._trusted = trusted
        self.quiet = False
        self._loop = asyncio.get_running_loop()
        self._loop_thread = threading.get_ident()
        self._moved = time.monotonic()
        self._timer: asyncio.TimerHandle | None = None
        self._stopped = threading.Event()
        self._culprit: str | None = None
        self._held_since = 0.0

    def start(self) -> None:
        """Begin to watch."""
        self._beat()
        threading.Thread(target=self._watch, name="leanmcp-watchdog", daemon=True).start()

    def stop(self) -> None:
        """Stop watching."""
        self._stopped.set()
        if self._timer is not None:
            self._timer.cancel()

    @property
    def is_held(self) -> bool:
        """Whether somebody held the loop at the last look."""
        return self._culprit is not None

    def _beat(self) -> None:
        """Loop: show that it moves; tell how long it had not."""
        now = time.monotonic()
        if self._culprit is not None:
            if not self.quiet:
                logger.warning("%s held the event loop for %.1f s", self._culprit, now - self._held_since)
            self._culprit = None
        self._moved = now
        self._timer = self._loop.call_later(self._threshold / 2, self._beat)

    def _watch(self) -> None:
        """Thread: look, twice as often as it would have to speak."""
        while not self._stopped.wait(self._threshold / 2):
            since, culprit = self._moved, self._culprit
            if time.monotonic() - since <= self._threshold * 1.5:
                continue
            if culprit is not None:
                if self._held is not None and self._find() is not None:
                    self._held(time.monotonic() - since, culprit)
                continue
            culprit = self._find()
            if culprit is None:
                continue  # the process itself stood still: it was stopped, or the machine is overloaded
            self._held_since = since
            self._culprit = culprit
            if not self.quiet:
                logger.warning(
                    "%s holds the event loop for more than %g s, and every other request with it; "
                    "make it a plain `def` (it then runs in a thread), or await what it waits for [LM513]",
                    culprit,
                    self._threshold,
                )

    def _find(self) -> str | None:
        """Return who holds the loop; None where it waits for something to do."""
        tools = self._tools()
        frame: FrameType | None = sys._current_frames().get(self._loop_thread)
        if frame is not None:
            name = str(frame.f_globals.get("__name__"))
            if name in _WAITING or (self._trusted and name.startswith(self._trusted)):
                return None
        where = "something" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"
        tool: str | None = None
        while frame is not None:
            if str(frame.f_globals.get("__name__")).partition(".")[0] in _DEBUGGERS:
                return None
            tool = tool or tools.get(frame.f_code)
            frame = frame.f_back
        return f"tool {tool!r} (at {where})" if tool is not None else f"code outside of tools (at {where})"
