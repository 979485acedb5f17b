"""A client that reads an event stream to the letter: head, chunks, events and the end."""

from __future__ import annotations

import re
from typing import Any

from .processes import http
from .spec import read
from .wire import Wire

BOTH = "application/json, text/event-stream"
_HEAD = re.compile(rb"HTTP/1\.1 200 OK\r\n((?:[!-9;-~]+: [ -~]+\r\n)+)\r\n")
_CHUNK = re.compile(rb"([0-9a-f]+)\r\n")
_EVENT = re.compile(rb"event: message\ndata: ([^\r\n]+)\n\n")
COMMENT = b":\n\n"


class EventWire(Wire):
    """One connection whose answers may be event streams."""

    def call(self, message: dict[str, Any], accept: str = BOTH, **fields: str) -> EventWire:
        """Send a request with an Accept header."""
        self.send(http(message, accept=accept, **fields))
        return self

    def head(self) -> dict[str, str]:
        """Read the head of an event stream and return its fields, names in lower case."""
        while b"\r\n\r\n" not in self._data:
            self._receive()
        match = _HEAD.match(self._data)
        assert match is not None, self._data
        self._data = self._data[match.end() :]
        pairs = [line.split(": ", 1) for line in match[1].decode().splitlines()]
        fields = {name.lower(): value for name, value in pairs}
        assert len(fields) == len(pairs), "a field twice"
        assert fields["content-type"] == "text/event-stream"
        assert fields["x-accel-buffering"] == "no"
        assert fields["cache-control"] == "no-store"
        assert "content-length" not in fields
        return fields

    def chunk(self) -> bytes:
        """Read one chunk; the last one is empty."""
        while (match := _CHUNK.match(self._data)) is None:
            assert b"\r\n" not in self._data, self._data
            self._receive()
        size = int(match[1], 16)
        assert match[1] == b"%x" % size
        end = match.end() + size + 2
        while len(self._data) < end:
            self._receive()
        data, tail, self._data = self._data[match.end() : end - 2], self._data[end - 2 : end], self._data[end:]
        assert tail == b"\r\n"
        return data

    def event(self) -> Any:
        """Read one event, which is one chunk, and return its message; None for a comment."""
        data = self.chunk()
        return None if data == COMMENT else message_of(data)

    def stream(self) -> list[Any]:
        """Read a whole stream and return its messages and comments; the last one is the answer."""
        assert self.head()["transfer-encoding"] == "chunked"
        found: list[Any] = []
        while data := self.chunk():
            found.append(None if data == COMMENT else message_of(data))
        assert "id" in found[-1]
        return found

    def rest(self) -> bytes:
        """Read to the end of the connection."""
        while piece := self.socket.recv(1 << 20):
            self._data += piece
        data, self._data = self._data, b""
        return data


def message_of(event: bytes) -> Any:
    """Return the message of an event that is one `message` with one line of data."""
    match = _EVENT.fullmatch(event)
    assert match is not None, event
    return read(match[1])


def events_of(body: bytes) -> list[Any]:
    """Return the messages of a whole stream, without comments."""
    parts = body.split(b"\n\n")
    assert parts.pop() == b""
    return [message_of(part + b"\n\n") for part in parts if part != b":"]


def values(messages: list[Any]) -> list[float]:
    """Return the progress values among messages."""
    return [message["params"]["progress"] for message in messages if message is not None and "method" in message]
