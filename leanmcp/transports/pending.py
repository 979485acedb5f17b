"""The requests in flight on one shared channel, and the messages that belong to them.

In: what a server writes, one message at a time. Out: responses to those who wait, notifications to those who listen.
Spec 2026-07-28: basic/transports/stdio, "Receiving Messages".
"""

from __future__ import annotations

import asyncio
import copy
import re
from collections import deque
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from ..errors import AnswerTooLarge, InvalidResult, NotAnMCPServer, TransportError
from ..logs import one_line, warn_seldom
from ..protocol.jsonrpc import DECODE_FAULTS
from ..protocol.meta import SUBSCRIPTION_ID
from ..protocol.outgoing import OutgoingRequest

_SHOWN = 80  # bytes of a bad line in logs and texts
_MAX_GIVEN_UP = 256
# Where encoders put the id of a response: in front, or behind the result. Elsewhere it may belong to something inside.
_ID_IN_FRONT = re.compile(rb'\s*\{\s*"jsonrpc"\s*:\s*"2\.0"\s*,\s*"id"\s*:\s*(-?[0-9]{1,18})\s*,\s*"(?:result|error)"')
_ID_BEHIND = re.compile(rb',\s*"id"\s*:\s*(-?[0-9]{1,18})\s*\}\s*$')


class _Incoming(Struct):
    id: int | str | UnsetType | None = UNSET
    method: str | UnsetType = UNSET
    params: Raw = Raw(b"{}")


_decode = msgspec.json.Decoder(_Incoming).decode


class Pending:
    """Requests that wait for their response, by id.

    Args:
        where: the server, for logs.

    Attributes:
        asked: takes id, method and params of a request from the server, which earlier protocol versions have.
        told: takes method and params of a notification that belongs to no request; likewise.
    """

    def __init__(self, where: str) -> None:
        self._where = where
        self.asked: Callable[[int | str, str, dict[str, Any]], None] | None = None
        self.told: Callable[[str, dict[str, Any]], None] | None = None
        self._waiting: dict[int | str, tuple[OutgoingRequest, asyncio.Future[bytes]]] = {}
        self._given_up: deque[int] = deque(maxlen=_MAX_GIVEN_UP)

    def __len__(self) -> int:
        return len(self._waiting)

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
        if not isinstance(incoming.id, int | str):
            return warn_seldom("%s sent a response without an id: %r", self._where, message[:_SHOWN])
        waiting = self._waiting.pop(incoming.id, None)
        if waiting is None:
            if incoming.id not in self._given_up:
                warn_seldom("%s sent a response with id %.80r, which no request waits for", self._where, incoming.id)
            return None
        if not waiting[1].done():
            waiting[1].set_result(message)
        return None

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
        warn_seldom("%s sent a line that is no JSON-RPC message (%s): %r", self._where, fault, message[:_SHOWN])
        match = _ID_IN_FRONT.match(message) or _ID_BEHIND.search(message, max(0, len(message) - 100))
        shown = one_line(message[:_SHOWN].decode(errors="replace"))
        self._refuse(match, InvalidResult(f"{self._where} sent an answer that cannot be read ({fault}): {shown}"))

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
