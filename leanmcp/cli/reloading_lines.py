"""The lines of a client on stdio, between whom one server follows another.

In: bytes of the client, and bytes of the server that serves at the moment. Out: bytes for either of them, whole lines
only. While no server takes lines, they wait. A request whose server has ended before it answered is answered here, so
that no client waits for ever.
Spec 2026-07-28: basic/index, "Responses"; basic/patterns/cancellation.
"""

from __future__ import annotations

import sys
from collections import deque

import msgspec
from msgspec import UNSET, Raw, UnsetType

from ..errors import InternalError, InvalidRequest
from ..limits import DEFAULT_LIMITS, Limits
from ..protocol.jsonrpc import DECODE_FAULTS, RequestId, encode_error
from ..protocol.lines import LineReader

_FULL = 1024 * 1024  # bytes that wait for somebody, above which no more is read
_LINE_COST = 64  # bytes that a line which waits takes besides its own; blank lines must not be free
_SUBSCRIBE = "subscriptions/listen"


class _Message(msgspec.Struct):
    """What has to be known of a line."""

    id: int | str | UnsetType | None = UNSET
    method: str | UnsetType = UNSET
    params: Raw | UnsetType = UNSET


class _Cancelled(msgspec.Struct, rename="camel"):
    request_id: int | str


_decode = msgspec.json.Decoder(_Message).decode
_decode_cancelled = msgspec.json.Decoder(_Cancelled).decode
_UNLIMITED = Limits(max_line_size=sys.maxsize)


class LineRelay:
    """Passes lines on, and remembers which requests have no answer yet.

    Attributes:
        to_server: bytes to be written to the server.
        to_client: bytes to be written to the client.
        ended: whether the client sends nothing more.
        open: whether the server takes lines.
    """

    def __init__(self) -> None:
        self.to_server = bytearray()
        self.to_client = bytearray()
        self.ended = False
        self.open = False
        self._from_client = LineReader()
        self._from_server = LineReader(_UNLIMITED)
        self._held: deque[bytes] = deque()
        self._held_size = 0
        self._requests: dict[RequestId, str] = {}

    # --- the client -------------------------------------------------------------------------------------------------

    @property
    def client_is_ahead(self) -> bool:
        """Whether to read no more of the client for now; half a line is always read to its end."""
        return len(self.to_server) + self._held_size > _FULL

    def receive(self, data: bytes) -> None:
        """Take what the client has sent; nothing is its end. A line that is too long is refused as servers do."""
        lines = self._from_client.feed(data)
        if not data:
            self.ended = True
            lines = [line for line in self._from_client.feed(b"\n") if line != b""]  # a last one without its end
        for line in lines:
            if line is None:
                too_long = InvalidRequest(f"Invalid request: longer than {self._from_client.max_line_size} bytes")
                self.to_client += encode_error(too_long, None) + b"\n"
                continue
            message = _peek(line) if self.open or self._requests else None
            if self.open or (message is not None and self._ends_call(message)):
                self._forward(line, message)
            else:  # while a server is about to end, it gets only what helps it to
                self._held.append(line)
                self._held_size += len(line) + _LINE_COST

    def attach(self, max_line_size: int = DEFAULT_LIMITS.max_line_size) -> None:
        """Begin with a server: take lines from now on, those that wait first."""
        self._from_client.max_line_size = max_line_size
        self.open = True
        self._held_size = 0
        while self._held:
            line = self._held.popleft()
            self._forward(line, _peek(line))

    def _ends_call(self, message: _Message) -> bool:
        return message.method == "notifications/cancelled" and _cancelled(message) in self._requests

    def _forward(self, line: bytes, message: _Message | None) -> None:
        self.to_server += line + b"\n"
        if message is None or message.method is UNSET:
            return
        if message.id is not UNSET and message.id is not None:
            self._requests[message.id] = message.method
        elif message.method == "notifications/cancelled" and (cancelled := _cancelled(message)) is not None:
            self._requests.pop(cancelled, None)  # nothing more is sent for it

    # --- the server -------------------------------------------------------------------------------------------------

    @property
    def server_is_ahead(self) -> bool:
        """Whether to read no more of the server for now."""
        return len(self.to_client) > _FULL

    @property
    def waits(self) -> bool:
        """Whether a call is not answered yet; subscriptions only end with their server."""
        return any(method != _SUBSCRIBE for method in self._requests.values())

    @property
    def is_done(self) -> bool:
        """Whether the server has everything that the client had to say."""
        return self.ended and not (self._held or self.to_server)

    def answer(self, data: bytes) -> None:
        """Take what the server has sent."""
        for line in self._from_server.feed(data):
            assert line is not None  # it is as long as it likes
            message = _peek(line)
            if message is not None and message.method is UNSET and message.id is not UNSET and message.id is not None:
                self._requests.pop(message.id, None)
            self.to_client += line + b"\n"

    def hold(self) -> None:
        """Let lines wait from now on."""
        self.open = False

    def detach(self, reason: str) -> None:
        """End with a server that has ended, and answer what it has not."""
        self.open = False
        self.to_server.clear()
        self._from_server = LineReader(_UNLIMITED)
        for request_id in self._requests:
            self.to_client += encode_error(InternalError(reason), request_id) + b"\n"
        self._requests.clear()


def _peek(line: bytes) -> _Message | None:
    """Return what a line is, None for what only the server can refuse."""
    try:
        return _decode(line)
    except DECODE_FAULTS:
        return None


def _cancelled(message: _Message) -> RequestId | None:
    try:
        return None if message.params is UNSET else _decode_cancelled(message.params).request_id
    except DECODE_FAULTS:
        return None
