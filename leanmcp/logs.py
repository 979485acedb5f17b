"""The one logger of leanmcp. The root logger is never touched; nothing is printed unless the program asks for it."""

from __future__ import annotations

import logging
import sys
import time

logger = logging.getLogger("leanmcp")
logger.addHandler(logging.NullHandler())

_said: dict[str, tuple[float, int]] = {}


def log_to_stderr(level: str) -> None:
    """Print our records on standard error, unless the program has set logging up itself."""
    configured = logging.getLogger().handlers or any(
        not isinstance(handler, logging.NullHandler) for handler in logger.handlers
    )
    if configured:
        return
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(levelname)s %(message)s"))
    logger.addHandler(handler)
    logger.setLevel(level)


def warn_seldom(message: str, *args: object) -> None:
    """Warn at most once a second for each `message`, and count the rest: strangers must not fill a log."""
    now = time.monotonic()
    last, count = _said.get(message, (0.0, 0))
    if now - last < 1:
        _said[message] = last, count + 1
        return
    _said[message] = now, 0
    more = f" (and {count} more of the kind)" if count else ""
    logger.warning(message + more, *args)
