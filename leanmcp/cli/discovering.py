"""`leanmcp discover`: what a server is and can do."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from .faults import OK, UsageError
from .options import Parser, add_target

if TYPE_CHECKING:
    from .connection import Connection


_EPILOG = """\
examples:
  leanmcp discover https://example.com/mcp
  leanmcp discover --json -- python server.py

--json prints {"server", "protocolVersion", "supportedVersions", "capabilities", "instructions"}, the last where there
are some
"""


def add_options(parser: Parser) -> None:
    """Declare what the command takes."""
    add_target(parser, "", _EPILOG, "the server")


def check(options: argparse.Namespace) -> None:
    """Look at the words behind the server."""
    if options.words:
        raise UsageError(f"{options.words[0]!r} is one word too many; discover takes a server only")


async def work(connection: Connection) -> int:
    """Print what the server says of itself."""
    import msgspec

    from .terminal import clean, line, strong

    client, screen = connection.client, connection.screen
    found = await client.discover()
    info = client.server_info
    if screen.json:
        shown: dict[str, Any] = {
            "server": None if info is None else msgspec.to_builtins(info),
            "protocolVersion": client.protocol_version,
            "supportedVersions": found.supported_versions,
            "capabilities": found.capabilities,
        }
        shown |= {} if found.instructions is None else {"instructions": found.instructions}
        screen.print_json(shown)
        return OK
    rows = [("server", "(it does not say)" if info is None else f"{info.title or info.name} {info.version}")]
    if info is not None:
        rows += [(name, text) for name, text in (("about", info.description), ("web", info.website_url)) if text]
    rows.append(("protocol", f"{client.protocol_version} (of {', '.join(found.supported_versions)})"))
    rows.append(("can do", ", ".join(_capabilities(found.capabilities)) or "nothing"))
    for name, text in rows:
        screen.data_line(f"{strong(f'{name:<14}', screen.out)}{line(text)}")
    for number, text in enumerate(clean(found.instructions or "").splitlines()):
        name = "" if number else "instructions"
        screen.data_line(f"{strong(f'{name:<14}', screen.out)}{text}".rstrip())
    return OK


def _capabilities(capabilities: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a server can do, with what its settings say."""
    for name, settings in capabilities.items():
        inner = settings if isinstance(settings, dict) else {}
        details = [key for key, value in inner.items() if value is not False and value is not None]
        yield f"{name} ({', '.join(details)})" if details else name
