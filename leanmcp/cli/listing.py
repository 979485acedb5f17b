"""`leanmcp list`: what a server has, as a table."""

from __future__ import annotations

import argparse
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Any

from .faults import OK, UsageError, proposal
from .options import Parser, add_target

if TYPE_CHECKING:
    from ..client import Client
    from .connection import Connection

KINDS = ("tools", "resources", "templates", "prompts")
_GAP = 2  # columns
_LONG = 44  # columns of the first one; what is longer has its description on the next line
_LEAST = 20  # columns for a description
_MEMBERS, _METHODS = {"templates": "resourceTemplates"}, {"templates": "resource_templates"}


_EPILOG = """\
examples:
  leanmcp list server.py
  leanmcp list https://example.com/mcp tools --verbose
  leanmcp list tools --json -- python server.py

--json prints {"server", "protocolVersion", "tools", "resources", "resourceTemplates", "prompts"}; the lists as on the
wire, those that were not asked for left out
"""


def add_options(parser: Parser) -> None:
    """Declare what the command takes."""
    kinds = "[tools] [resources] [templates] [prompts]"
    add_target(parser, kinds, _EPILOG, "the server, and which lists (default: all)")


def check(options: argparse.Namespace) -> None:
    """Look at the words behind the server."""
    for word in options.words:
        if word not in KINDS:
            raise UsageError(f"unknown list {word!r}{proposal(word, KINDS)}")


async def work(connection: Connection) -> int:
    """Print the lists."""
    import msgspec

    wanted = connection.options.words or list(KINDS)
    found: dict[str, list[Any]] = {}
    for kind in KINDS:
        if kind in wanted:
            found[kind] = await entries_of(connection, kind)
    if connection.screen.json:
        info = connection.client.server_info
        shown: dict[str, Any] = {
            "server": None if info is None else msgspec.to_builtins(info),
            "protocolVersion": connection.client.protocol_version,
        }
        shown |= {_MEMBERS.get(kind, kind): msgspec.to_builtins(entries) for kind, entries in found.items()}
        connection.screen.print_json(shown)
        return OK
    for kind, entries in found.items():
        if entries:
            _print(connection, kind, entries)
    if not any(found.values()):
        hint = ""
        if connection.target.local:
            from ..twice import other_with_tools  # of servers that have nothing

            hint = f"; {other_with_tools(connection.target.server) or 'register some at the top level of its file'}"
        connection.screen.note(f"{connection.server_name} has no {', '.join(found)}{hint}")
    return OK


def every(client: Client, kind: str) -> AsyncIterator[Any]:
    """Return what a server has of one kind, page by page."""
    listed: AsyncIterator[Any] = getattr(client, _METHODS.get(kind, kind))()
    return listed


async def entries_of(connection: Connection, kind: str) -> list[Any]:
    """Return everything of one kind; nothing where the server has none."""
    from ..errors import MethodNotFound

    if not await connection.has("resources" if kind == "templates" else kind):
        return []
    try:
        return [entry async for entry in every(connection.client, kind)]
    except MethodNotFound:  # a server of earlier versions may have resources without templates
        return []


def _print(connection: Connection, kind: str, entries: list[Any]) -> None:
    from ..logs import clipped
    from .signatures import prompt_signature, tool_signature
    from .terminal import faint, line, strong, width

    screen = connection.screen
    named: dict[str, Callable[[Any], str]] = {
        "tools": tool_signature,
        "prompts": prompt_signature,
        "resources": lambda entry: line(entry.uri),
        "templates": lambda entry: line(entry.uri_template),
    }
    heads = [named[kind](entry) for entry in entries]
    columns = width(screen.out)
    first = max((len(head) for head in heads if len(head) <= _LONG), default=0) + _GAP
    screen.data_line(strong(kind, screen.out))
    for entry, head in zip(entries, heads, strict=True):
        about = _about(entry, connection.options.verbose)
        name, paren, rest = head.partition("(")
        shown = f"{strong(name, screen.out)}{faint(paren + rest, screen.out)}"
        is_long = len(head) > first - _GAP or (columns is not None and columns - first < _LEAST)
        if connection.options.verbose or (is_long and columns is not None):
            screen.data_line(f"  {shown}")
            for text in about:
                screen.data_line(f"      {clipped(text, None if columns is None else columns - 6)}")
            continue
        text = clipped(about[0] if about else "", None if columns is None else max(columns - first - 2, 1))
        padding = " " * max(first - len(head), _GAP) if text else ""
        screen.data_line(f"  {shown}{padding}{text}")


def _about(entry: Any, verbose: bool) -> list[str]:
    """Return the description: its first line, or all of it."""
    from .terminal import clean, line

    text = entry.description or entry.title or ""
    lines = [line(part) for part in clean(text).strip().splitlines()]
    return lines if verbose else [part for part in lines if part][:1]
