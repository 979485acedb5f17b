"""A server elsewhere, described by what it lists; nothing of it is called.

In: a connected Client. Out: a `Server`, its entries as they came, those included that clients leave out of their lists.
Spec 2026-07-28: server/tools, server/prompts, server/resources; server/utilities/pagination.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import msgspec

from ..client import Client
from ..errors import InvalidResult, MethodNotFound
from .general import size_of
from .record import Kind, Part, Place, Server

__all__ = ["describe"]

_MOST_PAGES = 1000
_LISTS: tuple[tuple[Kind, str, str, str], ...] = (
    ("tool", "tools", "tools/list", "tools"),
    ("prompt", "prompts", "prompts/list", "prompts"),
    ("resource", "resources", "resources/list", "resources"),
    ("template", "resources", "resources/templates/list", "resourceTemplates"),
)
"""Kind, capability, method, member of the result."""


async def describe(client: Client, name: str) -> Server:
    """Return the description of a server.

    Args:
        client: connected.
        name: what the user calls the server.

    Raises:
        MCPError: it does not answer, or lists nothing that can be read.
    """
    if not client.server_capabilities:
        await client.discover()  # of a version that was fixed nobody has asked yet
    place = Place(name)
    parts: list[Part] = []
    size = 0
    for kind, capability, method, member in _LISTS:
        if capability not in client.server_capabilities:
            continue
        entries = [entry async for entry in _entries(client, method, member)]
        parts += [Part(kind=kind, entry=entry if isinstance(entry, dict) else {}, place=place) for entry in entries]
        size += size_of(entries) if kind == "tool" else 0
    return Server(
        label="the server",
        place=place,
        info={} if client.server_info is None else msgspec.to_builtins(client.server_info),
        instructions=client.instructions or "",
        parts=parts,
        tools_bytes=size,
    )


async def _entries(client: Client, method: str, member: str) -> AsyncIterator[Any]:
    cursor: str | None = None
    for _ in range(_MOST_PAGES):
        try:
            page = await client.request(method, None if cursor is None else {"cursor": cursor})
        except MethodNotFound:  # a server of earlier versions may have resources without templates
            return
        entries = page.get(member)
        if not isinstance(entries, list):
            raise InvalidResult(f"{method} answered without a list of {member}")
        for entry in entries:
            yield entry
        cursor = page.get("nextCursor")
        if not isinstance(cursor, str):
            return
    raise InvalidResult(f"{method} has more than {_MOST_PAGES} pages")
