"""File descriptors 0 and 1 of a process that serves on them.

In: fd 0 and fd 1. Out: private copies of them; fd 0 becomes the null device and fd 1 standard error, so that neither a
`print` nor a child process can touch the protocol.
Spec 2026-07-28: basic/transports/stdio.
"""

from __future__ import annotations

import io
import os
import select
import stat
import sys
from contextlib import suppress

from ..logs import logger

_PIPE_SIZE = 256 * 1024  # bytes that an output holds for its reader, where it can; measured: 64 KiB and 1 MiB cost more


class StandardStreams:
    """Private copies of fd 0 and fd 1.

    From then on fd 0 reads as empty, and what is written to fd 1 goes to standard error, to the end of the process:
    a program that prints after serving must not reach the client either.
    """

    __slots__ = ("input", "output")

    def __init__(self) -> None:
        self.input = _private_copy(0, os.O_RDONLY)
        self.output = _private_copy(1, os.O_WRONLY)
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 0)
        try:
            os.dup2(2, 1)
        except OSError:  # standard error is closed
            os.dup2(null, 1)
        os.close(null)
        if sys.stdout is not None:  # fd 1 was closed at start
            sys.stdout.flush()  # what was printed before this, too, must not reach the client
            if type(sys.stdout) is io.TextIOWrapper:
                sys.stdout = _Printed(sys.stdout.encoding, sys.stdout.errors)

    def has_hung_up(self) -> bool:
        """Return whether nobody can write to the input any more, in any thread."""
        poll = select.poll()
        poll.register(self.input, 0)  # this is told unasked
        return poll.poll(0) != []


class _Printed(io.TextIOWrapper):
    """Standard output, which is standard error here; whoever prints first is told so."""

    def __init__(self, encoding: str, errors: str | None) -> None:
        # Not the old buffer: it remembers whether what was there before could seek.
        output = open(1, "wb", closefd=False)  # noqa: SIM115  as long as the process
        super().__init__(output, encoding, errors, line_buffering=True)
        self._told = False

    def write(self, text: str) -> int:
        """Write to standard error, and say so once."""
        if not self._told:
            self._told = True
            logger.warning(
                "print() goes to standard error: standard output carries the protocol; use logging, or print(..., "
                "file=sys.stderr) [LM507]"
            )
        return super().write(text)


def _private_copy(fd: int, flags: int) -> int:
    """Return a close-on-exec duplicate of `fd` above the standard ones; of the null device where `fd` is closed."""
    import fcntl  # not on Windows

    try:
        return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 3)
    except OSError:
        null = os.open(os.devnull, flags)
        copy = fcntl.fcntl(null, fcntl.F_DUPFD_CLOEXEC, 3)
        os.close(null)
        return copy


def is_one_socket(streams: StandardStreams) -> bool:
    """Return whether input and output are the two directions of one socket, as under inetd or `socat EXEC:`."""
    source, target = os.fstat(streams.input), os.fstat(streams.output)
    return stat.S_ISSOCK(source.st_mode) and os.path.samestat(source, target)


def widen(fd: int) -> None:
    """Let a pipe hold some large answers, where the system can (Linux): each piece less is a turn of the loop less."""
    import fcntl  # not on Windows

    with suppress(AttributeError, OSError):  # another system; or a socket, or one user's pipes hold too much already
        fcntl.fcntl(fd, fcntl.F_SETPIPE_SZ, max(_PIPE_SIZE, fcntl.fcntl(fd, fcntl.F_GETPIPE_SZ)))


def can_poll(fd: int) -> bool:
    """Return whether the loop can wait for a descriptor: a pipe or a socket."""
    mode = os.fstat(fd).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)
