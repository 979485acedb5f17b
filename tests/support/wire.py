"""An HTTP/1.1 client that sends exactly the octets it is given and reads answers strictly."""

from __future__ import annotations

import re
import socket
import struct
from typing import Any, NamedTuple, Self

from .processes import DEADLINE
from .spec import read

_STATUS = re.compile(rb"HTTP/1\.1 ([1-5][0-9]{2}) [ -~]*")
_FIELD = re.compile(rb"([!-9;-~]+): ([!-~](?:[ -~]*[!-~])?)")


class Answer(NamedTuple):
    """One response; field names in lower case."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def message(self) -> Any:
        """The body as JSON, held against the specification's schema."""
        return read(self.body)

    @property
    def code(self) -> int:
        """The JSON-RPC error code."""
        code: int = self.message["error"]["code"]
        return code

    @property
    def text(self) -> str:
        """The message of a JSON-RPC error, or the first text block of a result."""
        message = self.message
        text: str = message["error"]["message"] if "error" in message else message["result"]["content"][0]["text"]
        return text


class Wire:
    """One connection to a server on the loopback; every wait is bounded."""

    def __init__(self, port: int, *, receive_buffer: int = 0) -> None:
        self.socket = socket.socket()
        self.socket.settimeout(DEADLINE)
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.connect(("127.0.0.1", port))
        self._data = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def send(self, *pieces: bytes) -> Self:
        """Send octets."""
        for piece in pieces:
            self.socket.sendall(piece)
        return self

    def half_close(self) -> Self:
        """End the output, and go on reading."""
        self.socket.shutdown(socket.SHUT_WR)
        return self

    def reset(self) -> None:
        """Cut the connection."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()

    def answer(self, *, to: str = "POST") -> Answer:
        """Read one response; an interim one has no body and is returned, too."""
        while b"\r\n\r\n" not in self._data:
            self._receive()
        head, self._data = self._data.split(b"\r\n\r\n", 1)
        first, *lines = head.split(b"\r\n")
        status = _STATUS.fullmatch(first)
        assert status is not None, first
        headers: dict[str, str] = {}
        for line in lines:
            field = _FIELD.fullmatch(line)
            assert field is not None, line
            name = field[1].decode().lower()
            assert name not in headers, f"{name} twice"
            headers[name] = field[2].decode()
        length = 0 if to == "HEAD" else int(headers.get("content-length", "0"))
        while len(self._data) < length:
            self._receive()
        body, self._data = self._data[:length], self._data[length:]
        return Answer(int(status[1]), headers, body)

    def ended(self) -> bool:
        """Return whether the server ended its output cleanly, with nothing behind the last answer."""
        return self._data == b"" and self.socket.recv(1) == b""

    def ended_or_more(self) -> bool:
        """Return whether the server ended its output; waits for the end or for more."""
        if not self._data:
            self._data = self.socket.recv(1 << 20)
        return not self._data

    def _receive(self) -> None:
        data = self.socket.recv(1 << 20)
        assert data, f"the connection ended after {self._data!r}"
        self._data += data


def ask(port: int, request: bytes, *, to: str = "POST") -> Answer:
    """Send one request on a connection of its own and return the answer."""
    with Wire(port) as wire:
        return wire.send(request).answer(to=to)
