"""Server-sent events read piece by piece.

In: octets of an event stream, cut anywhere. Out: events, whole.
HTML Living Standard, "Server-sent events", "Interpreting an event stream".
"""

from __future__ import annotations

import re

from msgspec import Struct

_LINE_END = re.compile(rb"\r\n|\n|\r")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_MILLISECONDS = re.compile(rb"[0-9]{1,15}")


class OversizedEvent(ValueError):
    """One event is larger than the reader takes."""


class Event(Struct, frozen=True):
    """One event.

    Args:
        data: the data lines, joined by line feeds; not decoded.
        type: `message` unless the stream names another.
        id: the last id that the stream has given, empty before the first.
    """

    data: bytes
    type: str = "message"
    id: str = ""


class EventReader:
    """Cuts a stream into events. An event without the empty line behind it is none.

    Args:
        max_size: octets of one event, and of one line.

    Attributes:
        last_id: the last id given, also by blocks without data.
        retry: milliseconds to wait before connecting again, None while the stream has not said.
    """

    __slots__ = ("_after_cr", "_data", "_line", "_max_size", "_size", "_started", "_type", "last_id", "retry")

    def __init__(self, max_size: int) -> None:
        self._max_size = max_size
        self._line = bytearray()
        self._data: bytes | bytearray | None = None
        self._size = 0
        self._type = ""
        self._after_cr = False
        self._started = False
        self.last_id = ""
        self.retry: int | None = None

    def feed(self, data: bytes) -> list[Event]:
        """Return the events that `data` completes.

        Raises:
            OversizedEvent: the event under way is over the limit.
        """
        events: list[Event] = []
        if not data:
            return events
        # A CR ends its line at once, so that no event waits for the next octet; its LF may come later.
        start = 1 if self._after_cr and data.startswith(b"\n") else 0
        self._after_cr = data.endswith(b"\r")
        for end in _LINE_END.finditer(data, start):
            line = data[start : end.start()]
            start = end.end()
            if self._line:
                self._line += line
                line = bytes(self._line)
                self._line = bytearray()
            self._take(line, events)
        if start < len(data):
            self._line += data[start:]
            if len(self._line) + self._size > self._max_size:
                raise OversizedEvent
        return events

    def _take(self, line: bytes, events: list[Event]) -> None:
        if not self._started:
            self._started = True
            line = line.removeprefix(_BYTE_ORDER_MARK)
        if not line:
            self._dispatch(events)
            return
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._size += len(value) + 1
            if self._size > self._max_size:
                raise OversizedEvent
            if self._data is None:
                self._data = value
            else:
                if isinstance(self._data, bytes):  # not a list: a million short lines would take many times their size
                    self._data = bytearray(self._data)
                self._data += b"\n"
                self._data += value
        elif name == b"event":
            self._type = value.decode(errors="replace")
        elif name == b"id":
            if b"\0" not in value:
                self.last_id = value.decode(errors="replace")
        elif name == b"retry" and _MILLISECONDS.fullmatch(value):
            self.retry = int(value)

    def _dispatch(self, events: list[Event]) -> None:
        if self._data is not None:
            events.append(Event(bytes(self._data), self._type or "message", self.last_id))
            self._data = None
            self._size = 0
        self._type = ""
