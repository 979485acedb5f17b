"""How far a run is: a bar on a terminal, a line for each cell elsewhere."""

from __future__ import annotations

import shutil
import sys
import time
from typing import TextIO

from benchmarks.suite.results import Cell

_BAR = 24  # characters


class Progress:
    """Shows the cells of a run as they are finished.

    Args:
        total: cells of the run.
        done: cells that were finished in a run before.
        stream: where to.
    """

    def __init__(self, total: int, done: int, stream: TextIO = sys.stderr) -> None:
        self._total = total
        self._before = self._done = done
        self._stream = stream
        self._terminal = stream.isatty()
        self._started = time.monotonic()

    def begin(self, name: str) -> None:
        """Show what is measured now."""
        if self._terminal:
            filled = _BAR * self._done // max(self._total, 1)
            bar = "█" * filled + "░" * (_BAR - filled)
            text = f"{bar} {self._done}/{self._total} {self._left()} {name}"
            width = shutil.get_terminal_size().columns - 1
            self._stream.write(f"\r\x1b[2K{text[:width]}")
            self._stream.flush()

    def finish(self, cell: Cell) -> None:
        """Count a cell, and tell of one that failed."""
        self._done += 1
        name = f"{cell.workload}, {cell.transport}, {cell.rival}"
        if cell.status == "failed":
            self.tell(f"{name}: {cell.reason}")
        elif not self._terminal and cell.status == "measured":
            self.tell(f"{self._done}/{self._total} {name}")

    def tell(self, text: str) -> None:
        """Print a line above the bar."""
        self._stream.write(f"\r\x1b[2K{text}\n" if self._terminal else f"{text}\n")
        self._stream.flush()

    def end(self) -> None:
        """Take the bar away."""
        if self._terminal:
            self._stream.write("\r\x1b[2K")
            self._stream.flush()

    def _left(self) -> str:
        done = self._done - self._before
        if done == 0:
            return ""
        seconds = (time.monotonic() - self._started) / done * (self._total - self._done)
        return f"{seconds // 60:.0f} min left," if seconds >= 60 else "a minute left,"
