"""A person at a terminal, who can be asked.

In: prompts. Out: typed lines. Reading waits in the event loop, so that Ctrl-C and a server that leaves end it.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from .terminal import clean, strong

if TYPE_CHECKING:
    from .screen import Screen

_READ_SIZE = 4096  # bytes; a terminal hands over one line at a time


class Keyboard:
    """Lines that a person types.

    Args:
        descriptor: of the terminal.
        screen: where prompts go.
    """

    def __init__(self, descriptor: int, screen: Screen) -> None:
        self._descriptor = descriptor
        self._screen = screen
        self._typed = b""

    async def ask(self, prompt: str) -> str | None:
        """Return the line that is typed behind a prompt; None at its end (Ctrl-D)."""
        self._screen.clear()
        stream = self._screen.err
        stream.write(strong(clean(prompt), stream))
        stream.flush()
        while b"\n" not in self._typed:
            await self._readable()
            piece = os.read(self._descriptor, _READ_SIZE)
            if not piece:
                stream.write("\n")
                return None
            self._typed += piece
        line, _, self._typed = self._typed.partition(b"\n")
        return line.decode(errors="replace").strip()

    async def _readable(self) -> None:
        loop = asyncio.get_running_loop()
        ready: asyncio.Future[None] = loop.create_future()

        def come() -> None:
            if not ready.done():
                ready.set_result(None)

        loop.add_reader(self._descriptor, come)
        try:
            await ready
        finally:
            loop.remove_reader(self._descriptor)


@contextlib.contextmanager
def open_keyboard(screen: Screen) -> Iterator[Keyboard | None]:
    """Give the keyboard of the terminal that shows standard error; None where nobody sits there."""
    if not screen.err.isatty():
        yield None
    elif sys.stdin is not None and sys.stdin.isatty():
        yield Keyboard(sys.stdin.fileno(), screen)
    else:  # standard input is data, perhaps for `--args -`
        try:
            descriptor = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
        except OSError:
            yield None
            return
        try:
            yield Keyboard(descriptor, screen)
        finally:
            os.close(descriptor)
