"""The short way of an HTTP connection whose client asks for the same list again and again.

In: octets, as they arrive. Out: the same answer behind the id of each request, without a request being read.
Ours: reading a request and copying its answer cost as much as a third of writing 45 KB into a socket.
"""

from __future__ import annotations

import asyncio
import os
import sys
from time import time
from typing import TYPE_CHECKING

from ..protocol.http11 import Head
from ..protocol.response import Again

if TYPE_CHECKING:
    from .http_server import HTTPConnection, HTTPServer

_JOIN_SIZE = 16 * 1024  # bytes; larger answers go from where they are kept into the socket


class Repeater:
    """Answers whole requests that differ from one before in nothing but their id.

    Args:
        server: of the connection.
        transport: of the connection.
    """

    __slots__ = ("_again", "_descriptor", "_server", "_size", "_transport")

    _again: Again
    _size: int

    def __init__(self, server: HTTPServer, transport: asyncio.Transport) -> None:
        self._server = server
        self._transport = transport
        self._descriptor = _descriptor(transport)

    def expect(self, head: Head, again: Again) -> None:
        """Answer requests like the one that has just been answered.

        Args:
            head: of that; not chunked, so that with an id of more or fewer digits it would be another one.
            again: gives the answer.
        """
        self._size = len(head.raw) + (head.content_length or 0)
        self._again = again

    def take(self, data: bytes, connection: HTTPConnection) -> bool:
        """Answer `data`, which has arrived between two requests; return False if it has to be read."""
        server = self._server
        if len(data) != self._size or server.draining:
            return False
        answer = self._again(data)
        if answer is None:
            return False
        connection.deadline = server.now + server.keep_alive_timeout
        heads = server.heads
        if time() >= heads.expires:
            heads.renew()
        start, request_id, rest = answer
        size = len(start) + len(request_id) + len(rest)
        start = b"%b%d\r\n\r\n%b%b" % (heads.start, size, start, request_id)
        if size > _JOIN_SIZE:
            self._write(start, rest)
        else:
            self._transport.write(start + rest)
        return True

    def _write(self, start: bytes, rest: bytes) -> None:
        """Write a large answer; what the kernel takes at once is copied by it alone."""
        transport, sent = self._transport, 0
        if (
            self._descriptor >= 0
            and not transport.get_write_buffer_size()  # which has to go first
            and not transport.is_closing()  # then the descriptor may be another's already
        ):
            try:
                sent = os.writev(self._descriptor, (start, rest))
            except OSError:  # full, or the connection has ended: the transport meets it too, and does what is due
                sent = 0
        if sent < len(start):
            transport.writelines((start[sent:], rest))
        elif sent < len(start) + len(rest):
            transport.write(memoryview(rest)[sent - len(start) :])


def _descriptor(transport: asyncio.Transport) -> int:
    """Return the descriptor that octets may be written to as they are, past the transport, or -1."""
    sock = transport.get_extra_info("socket")
    if sys.platform == "win32" or sock is None or transport.get_extra_info("sslcontext") is not None:
        return -1
    return int(sock.fileno())
