"""The requests in flight on one shared channel, and the messages that belong to them.

In: what a server writes, one message at a time. Out: responses to those who wait, notifications to those who listen.
Spec 2026-07-28: basic/transports/stdio, "Receiving Messages".

Many servers print what is no message: banners, logs. Each such line is dropped with a warning, one a second at most;
only where it is plainly a broken response does its request fail. What stands in front of a response on its line, a
print without a line end, is dropped alone. While nothing else has come, the first lines are kept: errors and timeouts
end with them, for they may be why no answer comes. A thousand of them and no message mean that this is no MCP server.
"""

from __future__ import annotations

import asyncio
import copy
import re
from collections import deque
from typing import Any

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from ..errors import AnswerTooLarge, InvalidResult, NotAnMCPServer, TransportError
from ..logs import one_line, warn_seldom
from ..protocol.jsonrpc import DECODE_FAULTS
from ..protocol.meta import SUBSCRIPTION_ID
from ..protocol.outgoing import Asked, Notified, OutgoingRequest

_SHOWN = 80  # bytes of a bad line in logs and texts
_MAX_BABBLE = 1000  # lines that are no message, and no message among them
_KEPT_LINES = 3
_MAX_GIVEN_UP = 256
# Where encoders put the id of a response: in front, or behind the result. Elsewhere it may belong to something inside.
_ID_IN_FRONT = re.compile(rb'\s*\{\s*"jsonrpc"\s*:\s*"2\.0"\s*,\s*"id"\s*:\s*(-?[0-9]{1,18})\s*,\s*"(?:result|error)"')
_ID_BEHIND = re.compile(rb',\s*"id"\s*:\s*(-?[0-9]{1,18})\s*\}\s*$')


class _Incoming(Struct):
    id: int | str | UnsetType | None = UNSET
    method: str | UnsetType = UNSET
    params: Raw = Raw(b"{}")
    error: Raw = Raw(b"")


_decode = msgspec.json.Decoder(_Incoming).decode


class Pending:
    """Requests that wait for their response, by id.

    Args:
        where: the server, for logs.

    Attributes:
        asked: takes id, method and params of a request from the server, which earlier protocol versions have.
        told: takes method and params of a notification that belongs to no request; likewise.
        has_notified: whether the server has been sent a notification, which some answer with an error.
    """

    def __init__(self, where: str) -> None:
        self._where = where
        self.asked: Asked | None = None
        self.told: Notified | None = None
        self._waiting: dict[int | str, tuple[OutgoingRequest, asyncio.Future[bytes]]] = {}
        self._given_up: deque[int] = deque(maxlen=_MAX_GIVEN_UP)
        self.begin()

    def begin(self) -> None:
        """Take what comes from now on for that of another process."""
        self.has_notified = False
        self._is_heard = False
        self._babbled = 0
        self._babble: list[bytes] = []

    def remark(self, held: bytes = b"") -> str:
        """Return what came in place of messages, as the rest of a sentence; empty once there has been one.

        Args:
            held: the start of a line that has no end yet.
        """
        lines = [*self._babble, held[:_SHOWN]] if held.strip() else self._babble
        if self._is_heard or not lines:
            return ""
        shown = ", ".join(repr(one_line(line.decode(errors="replace"))) for line in lines[:_KEPT_LINES])
        return f"; on its standard output came no MCP message, but {shown}"

    def add(self, request: OutgoingRequest) -> asyncio.Future[bytes]:
        """Return a future of the response to `request`."""
        future: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._waiting[request.id] = request, future
        return future

    def forget(self, request: OutgoingRequest) -> bool:
        """Take no answer to `request` any more; return whether it was still waiting."""
        if self._waiting.pop(request.id, None) is None:
            return False
        self._given_up.append(request.id)
        return True

    def fail(self, error: TransportError) -> None:
        """End every request with an error like `error`, each with its own."""
        waiting, self._waiting = self._waiting, {}
        for _, future in waiting.values():
            if not future.done():
                future.set_exception(copy.copy(error))

    def receive(self, message: bytes) -> None:
        """Take one message; what is none, or belongs to nobody, is logged and dropped."""
        try:
            if not message.isascii():
                message.decode()  # the decoder looks into those strings only that it needs
            incoming = _decode(message)
        except DECODE_FAULTS as fault:
            return self._bad(message, fault)
        if not isinstance(incoming.method, UnsetType):
            self._is_heard = True
            if isinstance(incoming.id, UnsetType):
                self._notified(incoming.method, incoming.params)
            elif self._is_ours(incoming.id, message):
                text = f"{self._where} does not speak MCP: it sends back what it is sent"
                self.fail(NotAnMCPServer(text, self._where))
            elif self.asked is not None and isinstance(incoming.id, int | str):
                self.asked(incoming.id, incoming.method, _object(incoming.params))
            else:
                warn_seldom(
                    "%s sent a request, %.80r; this revision has none from servers", self._where, incoming.method
                )
            return None
        identifier = incoming.id
        if not isinstance(identifier, int | str):
            if not bytes(incoming.error) or not self._is_alone():
                warn_seldom("%s sent a response without an id: %r", self._where, message[:_SHOWN])
                return None if bytes(incoming.error) else self._note_babble(message)
            identifier = next(iter(self._waiting))
        self._is_heard = True
        waiting = self._waiting.pop(identifier, None)
        if waiting is None:
            if identifier not in self._given_up:
                warn_seldom("%s sent a response with id %.80r, which no request waits for", self._where, identifier)
            return None
        if not waiting[1].done():
            waiting[1].set_result(message)
        return None

    def _is_alone(self) -> bool:
        """Return whether an error that names no request can be about one thing only: the request that waits."""
        return len(self._waiting) == 1 and not self._given_up and not self.has_notified

    def _is_ours(self, identifier: int | str | None, message: bytes) -> bool:
        """Return whether a request is one of this client's own, as `cat` and terminals send it back."""
        waiting = self._waiting.get(identifier) if identifier is not None else None
        # Pings of both sides may be the same in earlier protocol versions.
        return waiting is not None and waiting[0].message.strip() == message.strip() and waiting[0].method != "ping"

    def skipped(self, start: bytes, end: bytes, max_size: int) -> None:
        """Take note of a message over the size limit, of which only the edges are there."""
        warn_seldom(
            "%s sent a line of more than %d bytes, which was skipped: %r", self._where, max_size, start[:_SHOWN]
        )
        match = _ID_IN_FRONT.match(start) or _ID_BEHIND.search(end)
        text = f"{self._where} sent an answer of more than {max_size} bytes (max_line_size)"
        self._refuse(match, AnswerTooLarge(text, self._where))

    def _bad(self, message: bytes, fault: Exception) -> None:
        """Drop a line that is no message; a request that it plainly answers will get no other answer."""
        warn_seldom(
            "%s sent a line that is no JSON-RPC message (%s), which belongs on standard error: %r",
            self._where,
            fault,
            message[:_SHOWN],
        )
        start = message.find(b'{"', 1)
        if self._is_answer(message, start):
            return self.receive(message[start:])
        if message.lstrip()[:1] != b"{":
            return self._note_babble(message)
        match = _ID_IN_FRONT.match(message) or _ID_BEHIND.search(message, max(0, len(message) - 100))
        if match is None:
            self._note_babble(message)
        shown = one_line(message[:_SHOWN].decode(errors="replace"))
        self._refuse(match, InvalidResult(f"{self._where} sent an answer that cannot be read ({fault}): {shown}"))

    def _is_answer(self, message: bytes, start: int) -> bool:
        """Return whether a response that is waited for begins at `start`, behind what was printed in front of it."""
        if start < 0:
            return False
        try:
            members = msgspec.json.decode(message[start:])
        except DECODE_FAULTS:
            return False
        number = members.get("id")
        return "jsonrpc" in members and "method" not in members and type(number) is int and number in self._waiting

    def _note_babble(self, line: bytes) -> None:
        """Keep a line for those who ask why no answer comes, and give up a server that says nothing else."""
        if self._is_heard:
            return
        self._babbled += 1
        if self._babbled <= _KEPT_LINES:
            self._babble.append(line[:_SHOWN])
        elif self._babbled >= _MAX_BABBLE:
            text = f"{self._where} does not speak MCP: it has printed {self._babbled} lines{self.remark()}"
            self.fail(NotAnMCPServer(text, self._where))

    def _refuse(self, match: re.Match[bytes] | None, error: Exception) -> None:
        waiting = None if match is None else self._waiting.pop(int(match[1]), None)
        if waiting is not None and not waiting[1].done():
            waiting[1].set_exception(error)

    def _notified(self, method: str, raw: Raw) -> None:
        params = _object(raw)
        meta = params.get("_meta")
        key = meta.get(SUBSCRIPTION_ID) if isinstance(meta, dict) else None
        key = params.get("progressToken") if key is None else key
        if method == "notifications/cancelled" and key is None:
            key = params.get("requestId")
        waiting = self._waiting.get(key) if isinstance(key, int | str) and not isinstance(key, bool) else None
        if waiting is None:
            if key is None and self.told is not None:
                self.told(method, params)
        elif waiting[0].notified is not None:
            waiting[0].notified(method, params)


def _object(raw: Raw) -> dict[str, Any]:
    """Return params as a dict; what is none counts as empty."""
    try:
        params: Any = msgspec.json.decode(raw)
    except (msgspec.DecodeError, RecursionError):
        return {}
    return params if isinstance(params, dict) else {}
