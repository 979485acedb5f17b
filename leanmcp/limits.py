"""Every limit of the runtime in one place.

Sizes are bytes, times are seconds. The defaults are safe for a server that strangers can reach; each one
can be changed by passing `Limits(...)` to `MCPServer`.
"""

from __future__ import annotations

import msgspec

__all__ = ["DEFAULT_LIMITS", "Limits"]


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What a peer may make the server hold, and for how long.

    Args:
        max_request_line: bytes of `POST /mcp HTTP/1.1`; longer ones are answered 414.
        max_head_size: bytes of request line and fields together; 431.
        max_fields: number of header fields; 431.
        max_body_size: bytes of one HTTP body; 413.
        max_line_size: bytes of one stdio message; a longer line is skipped without being stored and answered -32600.
        max_depth: nesting of one JSON message; -32600.
        max_elements: values in one JSON message; -32600.
        max_connections: open HTTP connections; further ones are answered 503 and closed.
        max_in_flight: calls running at once, all connections together; 503 on HTTP, stdio stops reading.
        threads: worker threads for `def` tools.
        silent_timeout: seconds that a new connection may stay silent before its first byte.
        head_timeout: seconds from the first byte of a request head to its last.
        body_timeout: seconds from the last byte of a head to the last of its body.
        keep_alive_timeout: seconds that a connection may idle between two requests.
        write_timeout: seconds that a peer may leave an answer unread.
        cleanup_grace: seconds that a cancelled call has for its `finally` blocks before it is cancelled again.

    Raises:
        ValueError: a limit that is no positive number.
    """

    max_request_line: int = 8192
    max_head_size: int = 64 * 1024
    max_fields: int = 100
    max_body_size: int = 4 * 1024 * 1024
    max_line_size: int = 16 * 1024 * 1024
    max_depth: int = 512
    max_elements: int = 1_000_000
    max_connections: int = 20_000
    max_in_flight: int = 2_000
    threads: int = 128
    silent_timeout: float = 30
    head_timeout: float = 10
    body_timeout: float = 15
    keep_alive_timeout: float = 75
    write_timeout: float = 60
    cleanup_grace: float = 5

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
                raise ValueError(f"Limits({name}={value!r}): give a positive number")


DEFAULT_LIMITS = Limits()
