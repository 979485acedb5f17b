"""`leanmcp run --reload`: a watcher, and the server in a child process that is replaced when its files change.

In: the options of `run`. Out: a server that goes on answering while its code changes. The next server loads the new
code beside the one that serves; only when that has worked, the old one ends and the next one begins, so that a mistake
in new code stops nobody. The listening socket is the watcher's: connections wait in it between two servers. On stdio
the watcher holds the client's pipes, and passes whole lines on.
"""

from __future__ import annotations

import argparse
import math
import os
import select
import signal
import socket
import sys
import time
from contextlib import suppress
from importlib import import_module

from . import reloading_child
from .faults import OK, USAGE, UsageError
from .reloading_child import DRAIN, GO, LOADED, READY, Link
from .reloading_files import Files, Roots, forget_bytecode
from .reloading_lines import LineRelay
from .reloading_process import READ_SIZE, Child, Listener, say, write_some

_LOOK = 0.2  # seconds between two looks at the files
_SETTLE = 0.04  # seconds without a further change, after which all that belongs to it is saved
_KILL_AFTER = DRAIN + 2.5  # seconds that a server has to end
_PATIENCE = 1.0  # seconds that a client which reads slowly may take nothing of the last answers
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD)
_GONE = 1.0  # seconds
_SHOWN = 3  # names of files
_REPLACED = "The server's code was reloaded while this ran; call again"
_CRASHED = "The server ended while this ran; it starts again when its code is saved"


def supervise(options: argparse.Namespace, http: bool) -> int:
    """Serve until the watcher is told to end, and return the exit code; in a child, serve and return the server's.

    Raises:
        UsageError: there is no such file or folder; in a child, the file does not run.
    """
    from ..transports.stderr_pump import reserve_standard_descriptors

    file = _file(options.target, options.prog)
    for folder in options.reload_dir:
        if not os.path.isdir(folder):
            raise UsageError(f"--reload-dir {folder}: no such folder")
    own = [os.getcwd()] if file is None else [os.path.dirname(file), os.path.dirname(os.path.realpath(file))]
    roots = Roots([*own, *options.reload_dir])
    reserve_standard_descriptors()  # else a socket of ours could become one, and a pipe of the server's replace it
    listener = Listener(options) if http else None
    role: int | Link = OK
    try:
        role = Watcher(file, roots, listener).run()
    finally:
        if listener is not None and not isinstance(role, Link):
            listener.close()
    return reloading_child.serve(options, role, roots) if isinstance(role, Link) else role


def _file(target: str, prog: str) -> str | None:
    """Return the path of the file that a target names, None for a module.

    Raises:
        UsageError: there is no such file.
    """
    path = target if os.path.isfile(target) else target.rpartition(":")[0]
    if os.path.isfile(path):
        return os.path.abspath(path)
    name = path or target
    if name.endswith(".py") or os.path.exists(name) or not name.replace(".", "").isidentifier():
        from .loading import load

        load(target, prog)  # says what is wrong with it
    return None


class Watcher:
    """Starts servers, one after the other.

    Args:
        file: the server's, None for a module.
        roots: below which files are watched.
        listener: None on stdio.
    """

    def __init__(self, file: str | None, roots: Roots, listener: Listener | None) -> None:
        self._file = file
        self._roots = roots
        self._files = Files(roots)
        if file is not None:
            self._files.add(file)
        self._listener = listener
        self._lines = LineRelay() if listener is None else None
        self._now: Child | None = None
        self._next: Child | None = None
        self._changed: dict[str, None] = {}
        self._settled = True
        self._next_look = 0.0
        self._gone_since: float | None = None
        self._first = True
        self._exit_code: int | None = None
        self._signals: list[int] = []
        self._wakeup, self._waker = socket.socketpair()
        self._wakeup.setblocking(False)
        self._waker.setblocking(False)

    def run(self) -> int | Link:
        """Watch until the end, and return the exit code; or return in a child, with its end of the socket."""
        _load_for_all(self._lines is None)
        former = {number: signal.getsignal(number) for number in _SIGNALS}
        for number in _SIGNALS:
            signal.signal(number, lambda number, frame: self._signals.append(number))
        signal.set_wakeup_fd(self._waker.fileno(), warn_on_full_buffer=False)
        link = self._start([])
        while link is None:
            self._wait()
            self._heed_signals()
            self._take_leave()
            if self._exit_code is not None and self._now is None:
                break
            self._look()
            link = self._advance()
        signal.set_wakeup_fd(-1)
        for number, handler in former.items():
            signal.signal(number, handler)
        if link is not None:
            signal.signal(signal.SIGINT, lambda number, frame: None)  # the watcher says when to end
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
            return link
        if self._lines is not None:
            write_some(1, self._lines.to_client, _PATIENCE)
        return self._exit_code or OK

    # --- events -----------------------------------------------------------------------------------------------------

    def _children(self) -> list[Child]:
        return [child for child in (self._now, self._next) if child is not None]

    def _wait(self) -> None:
        """Wait for anything to happen, and take in what is there."""
        poll = select.poll()
        poll.register(self._wakeup, select.POLLIN)
        for child in self._children():
            if child.link is not None:
                poll.register(child.link, select.POLLIN)
        if self._lines is not None:
            self._register_lines(poll, self._lines)
        ready = dict(poll.poll(max(self._next_look - time.monotonic(), 0) * 1000))
        with suppress(BlockingIOError):
            self._wakeup.recv(READ_SIZE)
        for child in self._children():
            self._hear(child)
        if self._lines is not None:
            self._move_lines(self._lines, ready)

    def _hear(self, child: Child) -> None:
        for word in child.words():
            kind, _, size = word.partition(b" ")
            if kind == LOADED:
                child.loaded, child.max_line_size = True, int(size)
            elif word == READY:
                self._tell_begun(child)
            else:
                self._files.add(os.fsdecode(word), child.born)

    def _heed_signals(self) -> None:
        signals, self._signals = self._signals, []
        for number in signals:
            if number == signal.SIGCHLD:
                continue
            if self._exit_code is not None and self._now is not None:  # the second one ends everything at once
                self._now.discard()
            self._end(OK if number == signal.SIGTERM else 128 + number)

    def _end(self, exit_code: int) -> None:
        """End the server, and then the watcher."""
        self._exit_code = exit_code
        if self._next is not None:
            self._next.discard()
            self._next = None
        if self._now is not None and self._now.told_at is None:
            self._tell_to_end(self._now)

    def _tell_to_end(self, child: Child) -> None:
        child.told_at = time.monotonic()
        if self._lines is not None:
            self._lines.hold()  # it is told when its calls have ended, see `_end_input`
        else:
            child.signal(signal.SIGTERM)

    def _take_leave(self) -> None:
        """Note which server has ended, and end the one that does not."""
        child = self._now
        if child is not None:
            if child.told_at is not None and time.monotonic() > child.told_at + _KILL_AFTER:
                child.signal(signal.SIGKILL)
            if child.has_ended():
                self._now = None
                self._hear(child)
                self._end_lines(child)
                if child.told_at is None and self._exit_code is None:
                    how = _how(child.status)
                    say(f"the server has ended by itself ({how}); it starts again at the next save")
                child.close()
        child = self._next
        if child is not None and child.has_ended():
            self._next = None
            self._hear(child)
            child.close()
            self._tell_not_reloaded(child)

    # --- servers ----------------------------------------------------------------------------------------------------

    def _look(self) -> None:
        """Look at the files when it is time to; what changes within a moment belongs together."""
        now = time.monotonic()
        if now < self._next_look:
            return
        found = self._files.changes() if self._exit_code is None else []
        self._changed |= dict.fromkeys(found)
        self._settled = not found and not self._is_gone(now)
        self._next_look = now + (_SETTLE if found else _LOOK)

    def _is_gone(self, now: float) -> bool:
        """Return whether the server's file is not there; say so when it stays away: editors take it away to save it."""
        if self._file is None or os.path.isfile(self._file):
            self._gone_since = None
            return False
        if self._gone_since is None:
            self._gone_since = now
        elif now > self._gone_since + _GONE:
            self._gone_since = math.inf
            goes_on = "" if self._now is None else "; the former code goes on"
            say(f"{self._roots.shown(self._file)} is gone{goes_on} until it is there again")
        return True

    def _advance(self) -> Link | None:
        """Start the next server, or let it begin, as far as things are; return in its process with its socket."""
        if self._exit_code is not None:
            return None
        # A server that has loaded begins, even if its code has changed since: the former one is ending already.
        is_due = self._next is not None and self._next.loaded and (self._now is None or self._now.told_at is not None)
        if self._changed and self._settled and not is_due:
            if self._next is not None:
                self._next.discard()
            for path in self._changed:
                forget_bytecode(path)
            names = [*self._changed]
            self._changed.clear()
            return self._start(names)
        child = self._next
        if child is None or not child.loaded:
            return None
        if self._now is not None:
            if self._now.told_at is None:
                self._tell_to_end(self._now)
            return None
        self._now, self._next = child, None
        child.tell(GO)
        self._first = False
        if self._lines is not None:
            self._tell_begun(child)
            self._lines.attach(child.max_line_size)
        return None

    def _start(self, names: list[str]) -> Link | None:
        """Fork a server that loads the code; return None in the watcher."""
        link, their_link = socket.socketpair()
        pipes = None if self._lines is None else (os.pipe(), os.pipe())
        born = time.time_ns()
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
        signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)  # none may reach the child under the watcher's handlers
        pid = os.fork()
        if pid == 0:
            link.close()
            return self._become_server(their_link, pipes)
        their_link.close()
        if pipes is not None:
            os.close(pipes[0][0])
            os.close(pipes[1][1])
        ends = None if pipes is None else (pipes[0][1], pipes[1][0])
        self._next = Child(pid, link, ends, names, born, self._first)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
        return None

    def _become_server(self, link: socket.socket, pipes: tuple[tuple[int, int], tuple[int, int]] | None) -> Link:
        """Let go of what is the watcher's: what the child holds of it would keep its end from being seen."""
        for child in self._children():
            child.close()
        self._wakeup.close()
        signal.set_wakeup_fd(-1)
        self._waker.close()
        if pipes is not None:
            os.dup2(pipes[0][0], 0)
            os.dup2(pipes[1][1], 1)
            for descriptor in (*pipes[0], *pipes[1]):
                os.close(descriptor)
        if self._listener is None:
            return Link(link, self._first, None, "")
        return Link(link, self._first, self._listener.sock.fileno(), self._listener.where)

    # --- stdio ------------------------------------------------------------------------------------------------------

    def _register_lines(self, poll: select.poll, lines: LineRelay) -> None:
        if not (lines.ended or lines.client_is_ahead):
            poll.register(0, select.POLLIN)
        if lines.to_client:
            poll.register(1, select.POLLOUT)
        child = self._now
        if child is not None:
            if child.output >= 0 and not lines.server_is_ahead:
                poll.register(child.output, select.POLLIN)
            if child.input >= 0 and lines.to_server:
                poll.register(child.input, select.POLLOUT)

    def _move_lines(self, lines: LineRelay, ready: dict[int, int]) -> None:
        """Read and write what can be, without waiting."""
        if 0 in ready:
            try:
                data = os.read(0, READ_SIZE)
            except BlockingIOError:  # another program made it non-blocking
                pass
            except OSError:
                lines.receive(b"")
            else:
                lines.receive(data)
        child = self._now
        if child is not None:
            if child.output in ready:
                lines.answer(child.read())
            if lines.to_server and child.input >= 0:
                child.write(lines.to_server)
            self._end_input(lines, child)
        elif lines.ended and self._next is None and not self._changed:
            self._end(USAGE)  # the client leaves before there is a server
        if lines.to_client and not write_some(1, lines.to_client):
            lines.to_client.clear()
            self._end(OK)  # nobody reads any more

    def _end_input(self, lines: LineRelay, child: Child) -> None:
        """Let a server read the end of its input when the client's has come, or when it is told to end."""
        if child.told_at is None and lines.is_done:
            child.close_input()  # it gives its calls their time by itself
            self._end(OK)
        elif child.told_at is None or child.input < 0:
            return
        elif not (lines.waits or lines.to_server):
            child.close_input()
        elif time.monotonic() > child.told_at + DRAIN and not child.signalled:
            child.signal(signal.SIGTERM)

    def _end_lines(self, child: Child) -> None:
        """Pass on the last that a server has written, and answer for it where it has not."""
        if self._lines is None:
            return
        while child.output >= 0 and (data := child.read()):
            self._lines.answer(data)
        self._lines.detach(_CRASHED if child.told_at is None else _REPLACED)

    # --- words ------------------------------------------------------------------------------------------------------

    def _what(self, child: Child) -> str:
        names = [self._roots.shown(path) for path in child.names[:_SHOWN]]
        more = len(child.names) - len(names)
        return ", ".join(names) + (f" and {more} more" if more else "") + " changed"

    def _tell_begun(self, child: Child) -> None:
        if child.names and not (child.first and self._listener):  # which says where it serves
            say(f"reloaded ({self._what(child)})")
        if self._files.is_empty:
            say("nothing is watched: the server is made of no file below this folder; name its own with --reload-dir")

    def _tell_not_reloaded(self, child: Child) -> None:
        """Say what happens next, below what the server's process has said itself."""
        died = "" if child.status == USAGE else f" ({_how(child.status)})"
        if self._now is not None and self._now.told_at is None:
            say(f"not reloaded ({self._what(child)}){died}; the former code goes on until the next save")
        elif self._files.is_empty:
            self._exit_code = child.status or USAGE
        else:
            say(f"no server{died}; waiting for the next save")


def _how(status: int | None) -> str:
    if status is not None and status < 0:
        return f"signal {-status}"
    return f"exit code {status}"


def _load_for_all(http: bool) -> None:
    """Import what every server needs, once, so that its process begins with it."""
    http_names = (".listen", ".server.http_endpoint", ".transports.http_server")
    for name in (".run", ".server.app", ".cli.loading", *(http_names if http else (".transports.stdio_server",))):
        import_module(name, "leanmcp")
