"""What carries requests to one server; HTTP, pipes and the same process look alike from here.

In: whole JSON-RPC messages. Out: whole JSON-RPC responses, and the notifications that came before them.
Spec 2026-07-28: basic/transports/index, "Custom Transports".
"""

from __future__ import annotations

from typing import Protocol

from ..protocol.outgoing import OutgoingRequest


class Transport(Protocol):
    """Carries requests to one server.

    Besides these, a transport may have:

    - `has_headers = True`, where tools' annotated arguments travel in headers too (HTTP);
    - `cache_key`, two hashable values: which server this reaches, and whom it takes the caller for. Clients that share
      a cache share public results where the first is equal, private ones where both are; without it, none;
    - `is_modern = True`, where the server is known to be of this era, so that nothing is tried out or remembered;
    - `def hear(self, told: Notified)`, which hands on notifications that belong to no request, where one channel is
      shared by all (pipes);
    - `excuse`, the rest of a sentence that says why the server may not answer, for timeouts;
    - `def legacy(self, asked: Asked, told: Notified, renew: Renew) -> LegacyCarrier`, which speaks to servers of
      earlier protocol versions.

    Attributes:
        where: the URL, command or name of the server, for error texts.
    """

    where: str

    async def start(self) -> None:
        """Connect, or get ready to.

        Raises:
            TransportError: the server cannot be reached.
        """

    async def request(self, request: OutgoingRequest, /) -> bytes:
        """Send a request and return the response message; a cancelled one is cancelled at the server too.

        A request whose answer is a stream (`subscriptions/listen`) returns when the stream ends with its result.

        Raises:
            TransportError: no response came, or none that is JSON-RPC.
        """

    async def close(self) -> None:
        """Let go of everything; legal at any time, from any task, more than once."""


class LegacyCarrier(Protocol):
    """Carries messages of protocol versions up to 2025-11-25, in both directions.

    Attributes:
        where: as Transport.
        version: the version agreed on, None before; HTTP sends it as a header.
    """

    where: str
    version: str | None

    async def request(self, request: OutgoingRequest, /) -> bytes:
        """As `Transport.request`; an answer that is cut off is resumed where the server can do that."""

    async def send(self, message: bytes, /) -> None:
        """Send a notification or a response."""

    async def listen(self) -> None:
        """Take what the server sends on its own from now on."""

    async def end(self) -> None:
        """End the session, as far as that needs telling; the transport itself stays open."""
