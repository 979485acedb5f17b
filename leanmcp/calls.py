"""How a running call is ended, on every transport."""

from __future__ import annotations

import asyncio
from typing import Any

from .logs import logger


def end_call(task: asyncio.Task[Any], grace: float) -> None:
    """Cancel a call, and once more if its clean-up takes longer than `grace` seconds.

    CancelledError reaches the tool at once; its `finally` blocks may await for a while, but not for ever.
    """
    if task.cancel():
        asyncio.get_running_loop().call_later(grace, _insist, task, grace)


def _insist(task: asyncio.Task[Any], grace: float) -> None:
    if not task.done():
        logger.warning("a cancelled call is still cleaning up after %g seconds; it is cancelled again", grace)
        task.cancel()
