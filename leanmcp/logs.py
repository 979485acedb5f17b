"""The one logger of leanmcp. The root logger is never touched.

In: messages, strangers' texts among them. Out: records; how the program shows them is its own business.
It has no handler of its own, not even logging.NullHandler: in a program that has not set logging up, Python prints
warnings and errors on standard error, and what an answer calls "the server's log" is there.
"""

from __future__ import annotations

import logging
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from logging import _SysExcInfoType

logger = logging.getLogger("leanmcp")

_SHOWN = 500  # characters
_said: dict[str, tuple[float, int]] = {}


def _handle(record: logging.LogRecord) -> None:
    """Give a record to the program's filters and handlers; one that fails must not end the call that it is about."""
    try:
        logging.Logger.handle(logger, record)
    except Exception as error:
        with suppress(AttributeError, OSError, ValueError):  # standard error is closed, or its disk full
            sys.stderr.write(f"leanmcp: logging has failed with {type(error).__name__}: {record.getMessage()}\n")


logger.handle = _handle  # type: ignore[method-assign]


def log_to_stderr(level: str) -> None:
    """Print our records on standard error, unless the program has set logging up itself."""
    if is_set_up():
        return
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(BriefFormatter("%(levelname)s %(message)s"))
    logger.addHandler(handler)
    logger.setLevel(level)


def is_set_up() -> bool:
    """Return whether the program has set logging up itself."""
    own = (handler for handler in logger.handlers if not isinstance(handler, logging.NullHandler))
    return bool(logging.getLogger().handlers) or any(own)


class BriefFormatter(logging.Formatter):
    """Shows an exception in at most 24 lines that end in the author's; for terminals, where nothing else was set up.

    What a program logs with handlers of its own has the whole traceback.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return a record as text; handlers behind this one make their own, which `logging` keeps in the record."""
        kept = record.exc_text
        if record.exc_info:
            record.exc_text = None
        try:
            return super().format(record)
        finally:
            record.exc_text = kept

    def formatException(self, ei: _SysExcInfoType) -> str:  # noqa: N802  its name in logging
        """Return the frames of the author's code, the exception, and its cause on a line."""
        from .brief import brief  # of failures only

        return "" if ei[1] is None else brief(ei[1], ei[2])


def one_line(said: object) -> str:
    """Return the start of a stranger's text, such as an error of a server, on one line without control characters."""
    text = str(said)[:_SHOWN]
    return "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text)


def clipped(text: str, most: int | None) -> str:
    """Return a text, or what fits of it into `most` characters, ended by three dots; None for all of it."""
    return text if most is None or len(text) <= most else text[: max(most - 3, 0)] + "..."[:most]


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
