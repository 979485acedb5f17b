"""What the watcher of `run --reload` holds: the listening socket, and the process of each server.

In: the options of the command. Out: descriptors, and words that a server has said.
"""

from __future__ import annotations

import argparse
import os
import select
import signal
import socket
import sys
from contextlib import suppress

from .terminal import line

READ_SIZE = 64 * 1024
_PIECE = 4096  # bytes; a pipe that polls as writable takes this much without blocking (POSIX PIPE_BUF)


class Listener:
    """The socket that every server accepts from, from the start of the watcher to its end.

    Raises:
        SystemExit: with 1, and one line on standard error, where the address cannot be bound.
    """

    def __init__(self, options: argparse.Namespace) -> None:
        from ..errors import BindError
        from ..listen import HTTPOptions, bind
        from .faults import coded
        from .serving import http_options

        try:
            self.sock, self.where = bind(HTTPOptions(**http_options(options)))
        except BindError as error:
            sys.exit(f"leanmcp: {coded(str(error))}")
        self._path = options.uds
        self._file = None if options.uds is None else os.stat(options.uds)

    def close(self) -> None:
        """Stop listening, and delete the file of a Unix socket unless another server has replaced it."""
        self.sock.close()
        if self._file is not None:
            with suppress(OSError):
                if os.path.samestat(os.stat(self._path), self._file):
                    os.unlink(self._path)


class Child:
    """A server's process, as the watcher sees it.

    Args:
        pid: its id.
        link: the watcher's end of the socket to it.
        pipes: on stdio, what to write its input to and read its output from.
        names: of the files whose change it was started for.
        born: when, nanoseconds of the clock.
        first: whether nothing was served before.

    Attributes:
        loaded: whether it has loaded the user's file.
        max_line_size: bytes of a line that it takes, once it has.
        signalled: whether it has got a signal.
        told_at: when it was told to end, on the clock of `time.monotonic`.
        status: its exit code, negative for a signal, once it has ended.
    """

    def __init__(
        self, pid: int, link: socket.socket, pipes: tuple[int, int] | None, names: list[str], born: int, first: bool
    ) -> None:
        self.pid = pid
        self.link: socket.socket | None = link
        self.input, self.output = pipes or (-1, -1)
        self.names = names
        self.born = born
        self.first = first
        self.loaded = False
        self.max_line_size = 0
        self.signalled = False
        self.told_at: float | None = None
        self.status: int | None = None
        self._words = b""
        link.setblocking(False)
        if pipes is not None:
            os.set_blocking(self.input, False)
            os.set_blocking(self.output, False)

    def words(self) -> list[bytes]:
        """Return what it has said since the last time."""
        while self.link is not None:
            try:
                data = self.link.recv(READ_SIZE)
            except BlockingIOError:
                break
            except OSError:
                data = b""
            self._words += data
            if not data:
                self.link.close()
                self.link = None
        *words, self._words = self._words.split(b"\0")
        return words

    def tell(self, word: bytes) -> None:
        """Send it a word."""
        if self.link is not None:
            with suppress(OSError):  # it has just ended
                self.link.send(word)

    def signal(self, number: int) -> None:
        """Send it a signal, unless it has ended."""
        if self.status is None:
            self.signalled = True
            os.kill(self.pid, number)

    def has_ended(self) -> bool:
        """Return whether it has ended, and take note of how."""
        if self.status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = os.waitstatus_to_exitcode(status)
        return self.status is not None

    def discard(self) -> None:
        """End it at once."""
        if self.status is None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            self.status = -signal.SIGKILL
        self.close()

    # --- pipes ------------------------------------------------------------------------------------------------------

    def read(self) -> bytes:
        """Return what it has written and can be read now."""
        try:
            data = os.read(self.output, READ_SIZE)
        except BlockingIOError:
            return b""
        if not data:
            os.close(self.output)
            self.output = -1
        return data

    def write(self, data: bytearray) -> None:
        """Write as much as it takes now, and drop it from `data`."""
        try:
            del data[: os.write(self.input, data[:READ_SIZE])]
        except BlockingIOError:
            return
        except OSError:  # it ends
            self.close_input()

    def close_input(self) -> None:
        """Let it read the end of its input."""
        if self.input >= 0:
            os.close(self.input)
            self.input = -1

    def close(self) -> None:
        """Close every descriptor."""
        if self.link is not None:
            self.link.close()
            self.link = None
        self.close_input()
        if self.output >= 0:
            os.close(self.output)
            self.output = -1


def write_some(descriptor: int, data: bytearray, patience: float = 0) -> bool:
    """Write what a pipe takes without blocking, and drop it from `data`; return False where nobody reads any more.

    Args:
        descriptor: of the pipe, whose flags may be another program's.
        data: the bytes.
        patience: seconds that it may take nothing.
    """
    poll = select.poll()
    poll.register(descriptor, select.POLLOUT)
    while data:
        events = [event for _, event in poll.poll(patience * 1000)]
        if not events:
            return True
        if events[0] & (select.POLLERR | select.POLLNVAL):
            return False
        try:
            del data[: os.write(descriptor, data[:_PIECE])]
        except BlockingIOError:
            return True
        except OSError:
            return False
    return True


def say(text: str) -> None:
    """Print one line on standard error, unless its reader is behind: no reload waits for it."""
    write_some(2, bytearray(f"leanmcp: {line(text)}\n".encode(errors="replace")))
