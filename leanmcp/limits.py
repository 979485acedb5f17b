"""Every limit of the runtime in one place.

Sizes are bytes, times are seconds. The defaults are safe for a server that strangers can reach; each one
can be changed by passing `Limits(...)` to `MCPServer`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from .errors import explained

__all__ = ["DEFAULT_HTTP_CLIENT_LIMITS", "DEFAULT_LIMITS", "HTTPClientLimits", "Limits", "NamedMeta"]


class NamedMeta(msgspec.StructMeta):
    """Tells what a constructor does not take, or lacks, in our words."""

    if not TYPE_CHECKING:  # type checkers know the fields

        @explained
        def __call__(cls, *args: Any, **values: Any) -> Any:  # noqa: N805  a metaclass
            try:
                return super().__call__(*args, **values)
            except TypeError as error:
                from .mistyped import wrongly_made  # of mistakes only

                raise wrongly_made(cls, error) from None


class Limits(msgspec.Struct, frozen=True, kw_only=True, metaclass=NamedMeta):
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
        max_streams: `subscriptions/listen` streams open at once, all clients together; 503 on HTTP, -32603 on stdio.
        max_filter_size: bytes of the resource URIs that one such stream may name, each counted with 64 more; -32602.
        threads: worker threads for `def` tools.
        completions_per_second: completion requests a second that may run a function; further ones are refused.
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
    max_streams: int = 5_000
    max_filter_size: int = 64 * 1024
    threads: int = 128
    completions_per_second: float = 100
    silent_timeout: float = 30
    head_timeout: float = 10
    body_timeout: float = 15
    keep_alive_timeout: float = 75
    write_timeout: float = 60
    cleanup_grace: float = 5

    def __post_init__(self) -> None:
        _check_positive(self)


class HTTPClientLimits(msgspec.Struct, frozen=True, kw_only=True, metaclass=NamedMeta):
    """What a server may make an HTTP client hold, and for how long.

    Args:
        max_connections: connections in use at once; further requests wait for their turn.
        max_head_size: bytes of status line and fields of one answer.
        max_answer_size: bytes of one answer, or of one event of a stream.
        connect_timeout: seconds for name, connection and TLS together.
        idle_timeout: seconds that a connection is kept for the next request; below the 75 of the server.

    Raises:
        ValueError: a limit that is no positive number.
    """

    max_connections: int = 100
    max_head_size: int = 64 * 1024
    max_answer_size: int = 64 * 1024 * 1024
    connect_timeout: float = 10
    idle_timeout: float = 60

    def __post_init__(self) -> None:
        _check_positive(self)


def _check_positive(limits: msgspec.Struct) -> None:
    for name in limits.__struct_fields__:
        value = getattr(limits, name)
        if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
            raise ValueError(f"{type(limits).__name__}({name}={value!r}): give a positive number")


DEFAULT_LIMITS = Limits()
DEFAULT_HTTP_CLIENT_LIMITS = HTTPClientLimits()
