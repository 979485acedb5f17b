"""What the tests of subscriptions have in common."""

from __future__ import annotations

from tests.support.lines import Lines, cancelled
from tests.support.listening import (
    listen,
    subscription_id,
    told,
)


async def tool() -> str:
    """Do nothing."""
    return "done"


async def settle(lines: Lines) -> None:
    """Wait until everything that has changed so far was told: an update of a resource of its own marks the place."""
    count = len(lines.messages)
    lines.send(listen("settle", uris=["mark:it"]))
    lines.mcp.notify_resource_updated("mark:it")
    while ("settle", "mark:it") not in told(lines.messages):
        await lines.message(len(lines.messages))
    lines.send(cancelled("settle"))
    lines.messages[count:] = [m for m in lines.messages[count:] if "id" in m or subscription_id(m) != "settle"]
