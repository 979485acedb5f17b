"""What every HTTP connection has, whatever it is used for: a client that may be slow, and an end without a reset.

RFC 9112 9.6.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import sys
from abc import abstractmethod
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, Protocol

if sys.platform != "win32":
    import fcntl
    import termios

from ..protocol.http11 import Head, Request
from ..protocol.response import Answer, Response

if TYPE_CHECKING:
    from .http_server import HTTPConnection, HTTPServer

LINGER = 2  # seconds that a refused client may go on sending before the connection is cut
_NOT_SETTLED = float("inf")
_SETTLES = (
    0.125  # of `write_timeout`, after which is noted what is unread; before, it only moves to the client's kernel
)
DRAIN_LINGER = 0.1  # seconds, the same while the server ends: the process must not wait for clients to hang up


class Endpoint(Protocol):
    """What requests mean; the connection does not know."""

    def admit(self, head: Head, /) -> Response | None:
        """Refuse a request on its head alone, or return None."""

    def stream_fields(self, head: Head, /) -> bytes | None:
        """Return the header lines of an event stream in place of the answer, None where the client takes none."""

    def fields(self, headers: dict[str, str], /) -> bytes:
        """Return the header lines of an answer that the connection gives by itself."""

    def respond(self, request: Request, channel: HTTPConnection, /) -> Answer | Coroutine[Any, Any, Answer]:
        """Answer a whole request, now, later or without end; `channel` takes notifications before a later answer."""

    def failure(self, error: Exception, request: Request, /) -> Response:
        """Return the answer to a request whose coroutine has raised `error`."""


class Connection(asyncio.Protocol):
    """One client connection.

    Attributes:
        deadline: second of `HTTPServer.now` at which it is over its time, or needs attention.
        stalled: whether the client is behind with reading.
        task: the running call.
    """

    __slots__ = ("_ending", "_eof", "_server", "_transport", "_unsent", "deadline", "stalled", "task")

    _transport: asyncio.Transport

    def __init__(self, server: HTTPServer) -> None:
        self._server = server
        self._ending = False
        self._eof = False
        self._unsent: float = 0
        self.deadline: float = server.now + server.limits.silent_timeout
        self.stalled = False
        self.task: asyncio.Task[None] | None = None

    def pause_writing(self) -> None:
        """Note that the client is behind with reading."""
        self.stalled = True
        self._unsent = _NOT_SETTLED
        self.deadline = self._server.now + self._server.limits.write_timeout * _SETTLES

    @abstractmethod
    def expire(self) -> None:
        """Do what is due at the deadline."""

    @abstractmethod
    def drain(self) -> None:
        """End as soon as what is under way allows: the server ends."""

    def abort(self) -> None:
        """End the connection at once; `connection_lost` cancels its call."""
        self._transport.abort()

    def hand_to(self, other: Connection) -> None:
        """Let `other` carry what this has carried so far."""
        self._transport.set_protocol(other)
        self._server.connections.add(other)
        self._server.connections.discard(self)
        other.stalled, other._unsent = self.stalled, self._unsent

    def _is_still_reading(self) -> bool:
        """Return whether a client that is behind has read some; then it has as much time again."""
        if not self.stalled:
            return False
        unread = self._unread()
        if unread >= self._unsent:
            return False
        timeout = self._server.limits.write_timeout
        if self._unsent == _NOT_SETTLED:
            self.deadline += timeout * (1 - _SETTLES)
        else:
            self.deadline = self._server.now + timeout
        self._unsent = unread
        return True

    def _unread(self) -> int:
        """Return how many bytes the client has not taken.

        The kernel's are among them: it makes room for more in steps of up to 3 MB, for which a client of 20 kB/s takes
        two minutes.
        """
        size = self._transport.get_write_buffer_size()
        sock = self._transport.get_extra_info("socket")
        if sys.platform == "win32" or sock is None or sock.fileno() < 0:
            return size
        with contextlib.suppress(OSError):  # a kind of socket that cannot tell
            size += int.from_bytes(fcntl.ioctl(sock.fileno(), termios.TIOCOUTQ, bytes(4)), sys.byteorder)
        return size

    def _finish(self) -> None:
        """End the connection behind the last answer, without a reset while the client is still sending.

        RFC 9112 9.6: closing with unread input makes the kernel send a reset that can destroy the answer; so the
        output is ended first and the input is read and dropped for a while.
        """
        self._ending = True
        if not self.stalled:  # else `write_timeout` holds, and lingering begins when the answer has been read
            self.deadline = self._server.now + LINGER
        if self._eof or not self._transport.can_write_eof():
            return self._close()
        with contextlib.suppress(OSError):  # asyncio's, of a client that has cut the connection this very moment
            self._transport.write_eof()
        self._transport.resume_reading()
        if self._server.draining:
            self._server.loop.call_later(DRAIN_LINGER, self._hang_up)

    def _close(self) -> None:
        """Close behind what is not written yet."""
        if not self._transport.is_closing():  # a second time, asyncio's TLS lets go of what `abort` needs
            self._transport.close()
        if self._server.draining and not self._transport.can_write_eof():
            # TLS would wait for the peer's goodbye, and the process with it.
            self._server.loop.call_later(DRAIN_LINGER, self._hang_up)

    def _hang_up(self, before: float = _NOT_SETTLED) -> None:
        """Go on reading while the client reads, at most until `drain` is over: a reset would destroy the rest."""
        if self not in self._server.connections:
            return  # it has ended, or is another's now
        unread = self._unread()
        if self.stalled or self._transport.get_write_buffer_size() or 0 < unread < before:
            self._server.loop.call_later(DRAIN_LINGER, self._hang_up, unread)
        else:
            self._transport.abort()


def set_no_delay(transport: asyncio.BaseTransport) -> None:
    """Send small pieces at once: without it, two writes cost 40 ms."""
    sock = transport.get_extra_info("socket")
    if sock is not None and sock.family in (socket.AF_INET, socket.AF_INET6):
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
