"""The one logger of leanmcp. The root logger is never touched.

It has no handler of its own, not even logging.NullHandler: in a program that has not set logging up, Python prints
warnings and errors on standard error, and what an answer calls "the server's log" is there.
"""

from __future__ import annotations

import logging
import sys
import time

logger = logging.getLogger("leanmcp")

_SHOWN = 500  # characters
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


def one_line(said: object) -> str:
    """Return the start of a stranger's text, such as an error of a server, on one line without control characters."""
    text = str(said)[:_SHOWN]
    return "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text)


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
