"""What a client sends, as its transports carry it.

In: whole messages with what transports need to know of them. Out: the same.
Spec 2026-07-28: basic/index, "Requests"; basic/patterns/cancellation.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from msgspec import Struct

Notified = Callable[[str, dict[str, Any]], None]
"""Takes the method and the params of a notification: of those of one request, or of those that belong to none."""

Asked = Callable[[int | str, str, dict[str, Any]], None]
"""Takes id, method and params of a request from the server, which protocol versions up to 2025-11-25 have."""

Renew = Callable[[], Awaitable[None]]
"""Makes the handshake of such a version again, because the server has forgotten the session."""

Answered = Callable[[int, Mapping[str, str]], None]
"""Takes the HTTP status of an answer and its fields, names in lower case."""


class OutgoingRequest(Struct, kw_only=True, frozen=True):
    """One request, ready to travel.

    Args:
        id: of the request; unique on its transport.
        method: such as `tools/call`.
        version: the protocol version that the message names.
        message: the whole JSON-RPC message.
        name: the tool or prompt, or the URI of the resource, which HTTP mirrors as Mcp-Name.
        headers: `Mcp-Param-*` fields, values encoded.
        notified: told of progress and change notifications of this request, in order, before it returns.
        answered: told of the HTTP head of the answer, before the body; by HTTP only. An error status whose body is a
            JSON-RPC error is an answer, and its status tells the eras apart ("Backward Compatibility").
        repeatable: whether the server has said that doing it twice does no more than doing it once.
    """

    id: int
    method: str
    version: str
    message: bytes
    name: str | None = None
    headers: Mapping[str, str] = {}
    notified: Notified | None = None
    answered: Answered | None = None
    repeatable: bool = False


def cancelled(request_id: int) -> bytes:
    """Return the notification that a request of ours was given up.

    Spec: basic/patterns/cancellation.
    """
    return b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}' % request_id
