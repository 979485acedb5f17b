"""The one logger of leanmcp. The root logger is never touched; nothing is printed unless the program asks for it."""

from __future__ import annotations

import logging
import sys

logger = logging.getLogger("leanmcp")
logger.addHandler(logging.NullHandler())


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
