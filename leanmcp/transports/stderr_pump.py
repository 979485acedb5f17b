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
        self._dropped = 0
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
        """Give fd 2 back and pass on what is left, for a bounded time."""
        atexit.unregister(self.stop)
        self._patience = _LAST_PATIENCE
        os.dup2(self._real, 2)  # closes the last write end here: the thread sees the end once the pipe is empty
        self._thread.join(2 * _LAST_PATIENCE)

    def _run(self) -> None:
        """Thread: pass pieces on; drop what is not taken."""
        while data := os.read(self._source, _PIECE):
            if self._dropped and self._is_writable(0):
                os.write(self._real, b"[leanmcp: %d bytes of standard error were dropped]\n" % self._dropped)
                self._dropped = 0
            if self._is_writable(0 if self._dropped else self._patience):
                try:
                    os.write(self._real, data)
                except OSError:  # nobody reads standard error any more
                    self._dropped += len(data)
            else:
                self._dropped += len(data)

    def _is_writable(self, patience: float) -> bool:
        poll = select.poll()
        poll.register(self._real, select.POLLOUT)
        return any(event & select.POLLOUT for _, event in poll.poll(patience * 1000))
