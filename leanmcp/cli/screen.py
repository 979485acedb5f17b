"""Where everything that a command prints goes: data to standard output, all else to standard error.

In: results, notes, progress, log records. Out: lines. A progress line on a terminal gives way to whatever is printed.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, TextIO

import msgspec

from ..logs import BriefFormatter, clipped, is_set_up, logger
from .terminal import ESCAPE, clean, escape_json, failure, faint, is_terminal, line, width

_REDRAW = 0.05  # seconds between two drawings of the progress line
_BAR = 20  # columns
_CLEAR = "\r\x1b[K"


class Screen:
    """Standard output and standard error of one command.

    Args:
        json: print results as JSON.
        verbose: print what `tell` is given.
    """

    def __init__(self, json: bool = False, verbose: bool = False) -> None:
        _reserve_descriptors()
        self.json = json
        self.verbose = verbose
        self.out: TextIO = sys.stdout
        self.err: TextIO = sys.stderr
        self._drawn = False
        self._drawn_at = 0.0

    # --- data ---------------------------------------------------------------------------------------------------------

    @property
    def shows_data(self) -> bool:
        """Whether standard output is a terminal, which takes no bytes and no control characters."""
        return self.out.isatty()

    def data(self, text: str) -> None:
        """Print a text of a result: as it is, unless a terminal would obey it."""
        self.clear()
        self.out.write((clean(text) if self.shows_data else text) + "\n")

    def data_line(self, text: str) -> None:
        """Print a line of our own making, colours included, whose parts are clean."""
        self.clear()
        self.out.write(text + "\n")

    def octets(self, content: bytes) -> None:
        """Write bytes of a result; not for terminals."""
        self.out.flush()
        with os.fdopen(os.dup(self.out.fileno()), "wb") as raw:
            raw.write(content)

    def print_json(self, value: Any) -> None:
        """Print a value as JSON."""
        self.clear()
        text = msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
        self.out.write(escape_json(text) + "\n")

    def json_line(self, value: Any) -> None:
        """Print a value as JSON on one line, at once."""
        self.clear()
        self.out.write(escape_json(msgspec.json.encode(value).decode()) + "\n")
        self.out.flush()

    # --- all else -----------------------------------------------------------------------------------------------------

    def note(self, text: str, style: Callable[[str, TextIO], str] | None = None) -> None:
        """Print lines on standard error, cleaned."""
        self.clear()
        text = clean(text)
        self.err.write((text if style is None else style(text, self.err)) + "\n")
        self.err.flush()

    def tell(self, text: str) -> None:
        """Print lines on standard error where more is wanted."""
        if self.verbose:
            self.note(text, faint)

    def complain(self, text: str) -> None:
        """Print what has gone wrong."""
        self.note(text, failure)

    def progress(self, progress: float, total: float | None, message: str | None) -> None:
        """Show how far a call is: a line that moves on a terminal, a line for each report elsewhere."""
        said = "" if not message else " " + line(message)
        amount = _number(progress) if total is None else f"{_number(progress)}/{_number(total)}"
        if not is_terminal(self.err):
            self.err.write(f"progress {amount}{said}\n")
            self.err.flush()
            return
        now = time.monotonic()
        if self._drawn and now - self._drawn_at < _REDRAW and progress != total:
            return
        self._drawn, self._drawn_at = True, now
        if total is not None and total > 0:
            share = min(max(progress / total, 0.0), 1.0)
            done = int(share * _BAR)
            amount = f"[{'#' * done}{'.' * (_BAR - done)}] {share:4.0%} {amount}"
        columns = width(self.err)
        text = clipped(amount + said, None if columns is None else columns - 1)
        self.err.write(_CLEAR + text)
        self.err.flush()

    def clear(self) -> None:
        """Take the progress line away."""
        if self._drawn:
            self._drawn = False
            self.err.write(_CLEAR)
            self.err.flush()

    # --- the process --------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def guarded(self) -> Iterator[None]:
        """Let what a server in this process prints go to standard error, even from its child processes."""
        self.out.flush()
        kept = os.dup(1)
        os.dup2(2, 1)
        out = open(kept, "w", encoding=self.out.encoding, errors=ESCAPE, closefd=False)  # noqa: SIM115
        self.out = out
        try:
            with contextlib.redirect_stdout(sys.stderr):
                yield
            out.flush()
        except OSError:  # nobody reads it any more, or the disk is full
            os.dup2(os.open(os.devnull, os.O_WRONLY), kept)
            raise
        finally:
            self.out = sys.stdout
            with contextlib.suppress(OSError):
                out.close()
            os.dup2(kept, 1)
            os.close(kept)

    @contextlib.contextmanager
    def logging(self) -> Iterator[None]:
        """Print records of our logger, unless the program has set logging up itself."""
        if is_set_up():
            yield
            return
        handler = _Notes(self)
        handler.setFormatter(BriefFormatter("%(levelname)s %(message)s"))
        logger.addHandler(handler)
        logger.setLevel("INFO" if self.verbose else "WARNING")
        try:
            yield
        finally:
            logger.removeHandler(handler)


def _reserve_descriptors() -> None:
    """Open the null device in place of standard streams that are closed, so that no socket becomes one of them."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest number that is free
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w" if number else "r"))  # noqa: SIM115  as long as the process


class _Notes(logging.Handler):
    """Prints log records beside the progress line."""

    def __init__(self, screen: Screen) -> None:
        super().__init__()
        self._screen = screen

    def emit(self, record: logging.LogRecord) -> None:
        """Print one record."""
        self._screen.note(self.format(record))


def _number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else f"{value:g}"
