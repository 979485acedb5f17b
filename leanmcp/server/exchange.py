"""One request on its way through the server: whom the answer goes to."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from ..protocol.jsonrpc import RequestId, Segments

if TYPE_CHECKING:
    from ..protocol.http11 import Head  # stdio never loads the HTTP reader


class Channel(Protocol):
    """The stream of one call, for what is sent before its answer."""

    def notify(self, message: Segments, /) -> None:
        """Send one notification."""


class Exchange(NamedTuple):
    """What a handler knows of a request besides its params."""

    id: RequestId
    """The JSON-RPC id to answer."""
    head: Head | None
    """The HTTP head, None on stdio."""
    channel: Channel | None
    """Takes notifications before the answer; None where the client takes none."""
