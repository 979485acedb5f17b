"""Server-sent events, as one JSON-RPC message each.

In: the segments of a message. Out: segments of an event, and of the chunk that carries it.
Spec 2026-07-28: basic/transports/streamable-http, "Receiving Messages"; RFC 9112 7.1 (chunked transfer coding).
"""

from __future__ import annotations

from .jsonrpc import Segments

# Proxies such as nginx must not hold events back (basic/transports/streamable-http, "Receiving Messages").
FIELDS = b"X-Accel-Buffering: no\r\n"
KEEP_ALIVE = b":\n\n"
LAST_CHUNK = b"0\r\n\r\n"


def event(message: Segments) -> Segments:
    """Return the event that carries `message`; our JSON holds no line feed, so one data line is enough."""
    return [b"event: message\ndata: ", *message, b"\n\n"]


def chunk(data: Segments) -> Segments:
    """Return `data` as one chunk."""
    return [b"%x\r\n" % sum(map(len, data)), *data, b"\r\n"]
