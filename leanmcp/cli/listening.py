"""`leanmcp listen`: print what changes at a server."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from .faults import OK, UsageError, proposal
from .options import Parser, add_target

if TYPE_CHECKING:
    from .connection import Connection

_LISTS = ("tools", "resources", "prompts")
_EPILOG = """\
Prints a line for each change, `tools`, `resources`, `prompts` or `updated URI`, until Ctrl-C or the server's end.

examples:
  leanmcp listen https://example.com/mcp
  leanmcp listen https://example.com/mcp tools file:///notes.md --json

--json prints a line for each change: {"event"} with tools, resources or prompts, or {"event": "updated", "uri"}
"""


def add_options(parser: Parser) -> None:
    """Declare what the command takes."""
    add_target(
        parser,
        "[tools] [resources] [prompts] [URI ...]",
        _EPILOG,
        "the server, and what to listen to (default: the lists)",
    )


def check(options: argparse.Namespace) -> None:
    """Look at the words behind the server."""
    for word in options.words:
        if word not in _LISTS and ":" not in word:
            raise UsageError(f"{word!r} is neither a list nor a URI{proposal(word, _LISTS)}")


async def work(connection: Connection) -> int:
    """Print events."""
    from ..client import ResourceUpdated

    words = connection.options.words
    wanted = [word for word in words if word in _LISTS] if words else list(_LISTS)
    screen = connection.screen
    async with connection.client.listen(
        tools_list_changed="tools" in wanted,
        prompts_list_changed="prompts" in wanted,
        resources_list_changed="resources" in wanted,
        resource_subscriptions=[word for word in words if word not in _LISTS],
    ) as subscription:
        honored = subscription.honored
        told = [name for name in wanted if getattr(honored, f"{name}_list_changed")]
        told += honored.resource_subscriptions or []
        screen.note(f"listening to {', '.join(told) or 'nothing that this server tells'} (Ctrl-C stops)")
        async for event in subscription:
            kind = type(event).__name__.removesuffix("ListChanged").lower()
            uri = event.uri if isinstance(event, ResourceUpdated) else None
            if screen.json:
                screen.json_line({"event": "updated", "uri": uri} if uri is not None else {"event": kind})
            else:
                screen.data(kind if uri is None else f"updated {uri}")
                screen.out.flush()
    screen.note("the server has ended the subscription")
    return OK
