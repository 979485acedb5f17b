"""A scripted server of both eras, and what its client has settled on."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec

from leanmcp.protocol.outgoing import Asked, Notified, Renew

from .scripted import Scripted

INITIALIZED = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "old", "version": "1"},
    "instructions": "be gentle",
}


class DualScripted(Scripted):
    """A scripted server that can be spoken to in both eras.

    Attributes:
        sent: notifications and responses of the client.
        ends: how many sessions were ended.
    """

    def __init__(self, answer: Any, **options: Any) -> None:
        super().__init__(answer, **options)
        self.sent: list[dict[str, Any]] = []
        self.ends = 0
        self.version: str | None = None
        self.asked: Any = None
        self.told: Any = None
        self.renew: Any = None

    def legacy(self, asked: Asked, told: Notified, renew: Renew) -> DualScripted:
        """Carry the messages of earlier versions, too."""
        self.asked, self.told, self.renew = asked, told, renew
        return self

    async def send(self, message: bytes, /) -> None:
        """Keep a message."""
        self.sent.append(msgspec.json.decode(message))

    async def listen(self) -> None:
        """Nothing to do."""

    async def end(self) -> None:
        """Count."""
        self.ends += 1


async def tools_of(transport: Scripted, **options: Any) -> str:
    """Connect, list, and return the version."""
    async with asyncio.timeout(10), transport.client(**options) as client:
        await client.list_tools()
        return client.protocol_version


def versions(transport: Scripted) -> list[str | None]:
    """Return the versions that requests have named."""
    key = "io.modelcontextprotocol/protocolVersion"
    return [message["params"].get("_meta", {}).get(key) for message in transport.requests]
