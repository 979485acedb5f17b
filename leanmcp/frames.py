"""Whose code a line of a traceback is: ours, Python's, an installed package's, or the author's of the program.

In: the name of a file, as code objects have it. Out: its owner. Imported once something has failed.
Ours: a mistake is told with the lines of whoever can mend it.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False  # as type checkers know it: a file of the author's may hide `types` or `typing`
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Literal

    Owner = Literal["ours", "library", "installed", "author"]

__all__ = ["INSTALLED", "LIBRARY", "frames_of", "owner_of"]

LIBRARY = os.path.dirname(os.path.abspath(os.__file__)) + os.sep
INSTALLED = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")
_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep


def owner_of(filename: str) -> Owner:
    """Return whose code a file holds; what was typed at a prompt or in a notebook's cell is the author's."""
    if filename.startswith(_PACKAGE):
        return "ours"
    if any(part in filename for part in INSTALLED):  # lies in the library's folder where Python is installed
        return "installed"
    # Cython has the names of its sources in tracebacks, "uvloop/loop.pyx": of libraries, wherever they lie.
    if filename.startswith((LIBRARY, "<frozen ")) or filename.endswith(".pyx"):
        return "library"
    return "author"


def frames_of(error: BaseException) -> list[TracebackType]:
    """Return the frames that an exception came through, the outermost first."""
    found, frame = [], error.__traceback__
    while frame is not None:
        found.append(frame)
        frame = frame.tb_next
    return found
