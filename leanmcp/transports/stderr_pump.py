"""Standard error that never blocks.

A host that starts a server may never read its standard error: the pipe fills, and the next line that anybody prints
stops the whole process. So fd 2 becomes a pipe of our own, which a thread empties; what the host does not take in
time is dropped, and counted.
"""

from __future__ import annotations

import atexit
import os
import select
import stat
import threading
from contextlib import suppress

_PIECE = 4096  # bytes; a pipe that polls as writable takes this much without blocking (POSIX PIPE_BUF)
_PATIENCE = 0.1  # seconds that a piece waits for the host before it is dropped
_LAST_PATIENCE = 0.2  # seconds that the rest has at exit


class StderrPump:
    """Stands between fd 2 and the real standard error, from construction to the end of the process."""

    def __init__(self) -> None:
        self._real = os.dup(2)
        self._source, sink = os.pipe()
        os.dup2(sink, 2)
        os.close(sink)
        os.set_blocking(self._source, False)
        self._stopped, self._stop = os.pipe()
        self._dropped = 0
        self._at_line_start = True
        self._has_reader = True
        self._patience = _PATIENCE
        self._thread = threading.Thread(target=self._run, name="leanmcp-stderr", daemon=True)
        self._thread.start()
        atexit.register(self.stop)

    @staticmethod
    def is_needed() -> bool:
        """Return whether a reader of standard error could fall behind: it is a pipe or a socket."""
        try:
            mode = os.fstat(2).st_mode
        except OSError:
            return False
        return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)

    def stop(self) -> None:
        """Pass on what is left, for a bounded time, and give fd 2 back; what nobody reads goes to the null device."""
        atexit.unregister(self.stop)
        self._patience = _LAST_PATIENCE
        # Not by the end of the pipe: fd 1 and child processes may hold its other end for longer.
        os.close(self._stop)
        self._thread.join(2 * _LAST_PATIENCE)
        read = self._has_reader and not self._dropped and not self._thread.is_alive()
        target = self._real if read else os.open(os.devnull, os.O_WRONLY)
        for fd in (1, 2):
            with suppress(OSError):  # fd 1 is closed
                if os.path.samestat(os.fstat(fd), os.fstat(self._source)):
                    os.dup2(target, fd)

    # --- the thread -----------------------------------------------------------------------------------------------

    def _run(self) -> None:
        while True:
            data = self._read()
            if data:
                self._pass_on(data)
            elif self._wait():
                break
        self._tell()

    def _read(self) -> bytes:
        """Return what is there, nothing where nothing is."""
        try:
            return os.read(self._source, _PIECE)
        except BlockingIOError:
            return b""

    def _wait(self) -> bool:
        """Wait for something to pass on, or to tell; return whether the end has come."""
        poll = select.poll()
        poll.register(self._source, select.POLLIN)
        poll.register(self._stopped, select.POLLIN)
        if self._dropped and self._has_reader:
            poll.register(self._real, select.POLLOUT)
        ready = dict(poll.poll())
        if self._real in ready:
            self._tell()
        if self._source in ready:
            return not ready[self._source] & select.POLLIN  # only the end of it, where all others have closed it
        return self._stopped in ready

    def _pass_on(self, data: bytes) -> None:
        """Write a piece, or drop it where nobody takes it; once something was dropped, nothing waits any more."""
        self._tell()
        if self._dropped or not self._write(data, self._patience):
            self._dropped += len(data)
        else:
            self._at_line_start = data.endswith(b"\n")

    def _tell(self) -> None:
        """Say how much was dropped, as soon as somebody reads again."""
        if self._dropped:
            start = b"" if self._at_line_start else b"\n"
            if self._write(b"%s[leanmcp: %d bytes of standard error were dropped]\n" % (start, self._dropped), 0):
                self._dropped = 0
                self._at_line_start = True

    def _write(self, data: bytes, patience: float) -> bool:
        """Write to the real standard error; return whether all of it was taken."""
        while data and self._is_writable(patience):
            try:
                data = data[os.write(self._real, data) :]
            except BlockingIOError:  # not ours alone, and somebody made it non-blocking
                return False
            except OSError:
                self._has_reader = False
        return not data

    def _is_writable(self, patience: float) -> bool:
        if not self._has_reader:
            return False
        poll = select.poll()
        poll.register(self._real, select.POLLOUT)
        events = [event for _, event in poll.poll(patience * 1000)]
        if any(event & (select.POLLERR | select.POLLNVAL) for event in events):
            self._has_reader = False  # it never comes back
        return self._has_reader and bool(events)
