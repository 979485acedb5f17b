"""Standard error that never blocks.

A host that starts a server may never read its standard error: the pipe fills, and the next line that anybody prints
stops the whole process. So fd 2 becomes a pipe of our own, which a thread empties; what the host does not take waits
in memory, up to a limit, and what comes then is dropped, and counted.
"""

from __future__ import annotations

import atexit
import os
import select
import stat
import sys
import threading
from contextlib import suppress

PIECE = 4096  # bytes; a pipe that polls as writable takes this much without blocking (POSIX PIPE_BUF)
_READ_SIZE = 64 * 1024
_ROOM = 4 * 1024 * 1024  # bytes that wait for a host which is behind
_PATIENCE = 0.5  # seconds at exit that a host which is behind may take nothing
_END = 2.0  # seconds that all of it may take


def reserve_standard_descriptors() -> None:
    """Open the null device on those of fd 0 to 2 that are closed; libuv aborts when one of them becomes its own."""
    for fd in (0, 1, 2):
        try:
            os.fstat(fd)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)


def guard_stderr() -> None:
    """Put a pump before a standard error whose reader could fall behind; and have no full disk decide the exit code."""
    atexit.register(_flush)
    if StderrPump.is_needed():
        StderrPump()


def _flush() -> None:
    """Drop what a full disk does not take: Python would exit with 120 for it."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, ValueError):  # there is none, or it is closed
            continue
        except OSError:
            with suppress(OSError):  # it has no descriptor
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def is_pipe(fd: int) -> bool:
    """Return whether a reader of `fd` could fall behind: it is a pipe or a socket.

    Raises:
        OSError: it is closed.
    """
    mode = os.fstat(fd).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def room(fd: int, seconds: float = 0) -> int:
    """Return what a poll of `fd` for writing tells within `seconds`: 0 as long as it takes nothing."""
    poll = select.poll()
    poll.register(fd, select.POLLOUT)
    return next((events for _, events in poll.poll(seconds * 1000)), 0)


class StderrPump:
    """Stands between fd 2 and the real standard error, from construction to the end of the process."""

    def __init__(self) -> None:
        self._real = os.dup(2)
        self._source, sink = os.pipe()
        os.dup2(sink, 2)
        os.close(sink)
        # The thread ends with the process. A program that has enabled it itself may have given it a file of its own.
        by_option = sys.flags.dev_mode or "faulthandler" in sys._xoptions or os.environ.get("PYTHONFAULTHANDLER")
        if by_option and (crashes := sys.modules.get("faulthandler")) is not None and crashes.is_enabled():
            crashes.enable(self._real)
        os.set_blocking(self._source, False)
        self._stopped, self._stop = os.pipe()
        self._kept = bytearray()
        self._dropped = 0
        self._at_line_start = True
        self._has_reader = True
        self._thread = threading.Thread(target=self._run, name="leanmcp-stderr", daemon=True)
        self._thread.start()
        atexit.register(self.stop)

    @staticmethod
    def is_needed() -> bool:
        """Return whether a reader of standard error could fall behind: it is a pipe or a socket."""
        try:
            return is_pipe(2)
        except OSError:
            return False

    def stop(self) -> None:
        """Pass on what is left, for a bounded time, and give fd 2 back; what nobody reads goes to the null device."""
        atexit.unregister(self.stop)
        # Not by the end of the pipe: fd 1 and child processes may hold its other end for longer.
        os.close(self._stop)
        self._thread.join(_END)
        read = self._has_reader and not (self._kept or self._dropped or self._thread.is_alive())
        target = self._real if read else os.open(os.devnull, os.O_WRONLY)
        for fd in (1, 2):
            with suppress(OSError):  # fd 1 is closed
                if os.path.samestat(os.fstat(fd), os.fstat(self._source)):
                    os.dup2(target, fd)

    # --- the thread -----------------------------------------------------------------------------------------------

    def _run(self) -> None:
        while self._take():
            self._give()
        while self._has_more and self._is_writable(0 if self._dropped else _PATIENCE):
            self._give()

    def _take(self) -> bool:
        """Wait for something to do, and keep what there is to pass on; return False at the end."""
        poll = select.poll()
        poll.register(self._source, select.POLLIN)
        poll.register(self._stopped, select.POLLIN)
        if self._has_more:
            poll.register(self._real, select.POLLOUT)
        ready = dict(poll.poll())
        try:
            data = os.read(self._source, _READ_SIZE)
        except BlockingIOError:  # nothing is there
            return self._stopped not in ready
        if self._dropped or len(self._kept) + len(data) > _ROOM:
            self._dropped += len(data)
        else:
            self._kept += data
        return data != b""

    def _give(self) -> None:
        """Pass on what the host takes, and then say how much was dropped."""
        while self._has_more and self._is_writable(0):
            if not self._kept:
                start = b"" if self._at_line_start else b"\n"
                self._kept += b"%s[leanmcp: %d bytes of standard error were dropped]\n" % (start, self._dropped)
                self._dropped = 0
            try:
                count = os.write(self._real, self._kept[:PIECE])
            except BlockingIOError:  # not ours alone, and somebody made it non-blocking
                return
            except OSError:
                self._has_reader = False
                return
            self._at_line_start = self._kept[count - 1 : count] == b"\n"
            del self._kept[:count]

    @property
    def _has_more(self) -> bool:
        return self._has_reader and bool(self._kept or self._dropped)

    def _is_writable(self, patience: float) -> bool:
        events = room(self._real, patience)
        if events & (select.POLLERR | select.POLLNVAL):
            self._has_reader = False  # it never comes back
        return self._has_reader and bool(events)
