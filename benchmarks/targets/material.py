"""What the servers under load share: the command line, big answers, a counter of function entries.

Standard library only: each rival runs this in an environment of its own.

Command line: `SERVER TRANSPORT PORT TOOLS PAGE`. TRANSPORT is http or stdio, which ignores PORT. TOOLS is 0 for the
tools of all workloads, else the number of tools in all, `echo` being one of them. PAGE is the number of tools on a page
of the list, 0 for all.
"""

from __future__ import annotations

import os
import sys
from types import FrameType
from typing import Any, NamedTuple

NAME, VERSION = "bench", "1.0"
THING = "bench://thing"  # the resource that listeners are told about
TEXT_SIZE = 256 * 1024  # characters
IMAGE_SIZE = 5 * 1024 * 1024  # bytes, before base64
COUNTING = "BENCH_ENTRIES" in os.environ
_LINE = 'The quick brown fox "jumps" over the lazy dog, 1,234 times.\n'


class Arguments(NamedTuple):
    """The command line, decoded."""

    transport: str
    port: int
    tools: int
    page: int


def arguments() -> Arguments:
    """Return what the command line says."""
    transport, port, tools, page = sys.argv[1:5]
    return Arguments(transport, int(port), int(tools), int(page))


def text() -> str:
    """Return a text with quotes and line ends to be escaped."""
    return (_LINE * (TEXT_SIZE // len(_LINE) + 1))[:TEXT_SIZE]


def image() -> bytes:
    """Return what passes for a PNG."""
    import random  # only here: an echo server must not pay for it

    return b"\x89PNG\r\n\x1a\n" + random.Random(7).randbytes(IMAGE_SIZE - 8)


class Counter:
    """Counts the entries into Python functions on the thread of the event loop, resumptions of coroutines included."""

    def __init__(self) -> None:
        self._entries = 0

    def restart(self) -> int:
        """Return the entries since the last restart."""
        sys.setprofile(None)
        counted, self._entries = self._entries, 0
        sys.setprofile(self._count)
        return counted

    def _count(self, frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            self._entries += 1
