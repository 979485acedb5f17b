"""`leanmcp read`: read a resource."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from .faults import OK, UsageError, proposal
from .options import Parser, add_output, add_target

if TYPE_CHECKING:
    from .connection import Connection

_EPILOG = """\
A text is printed. Bytes go to --output, or to standard output where that is a file or a pipe; on a terminal they are
described.

examples:
  leanmcp read server.py file:///hours.txt
  leanmcp read server.py file:///logo.png > logo.png
  leanmcp read file:///logo.png --output pictures -- python server.py

--json prints {"contents", "_meta"} as on the wire, the last where there is some; with --output, "file" stands in place
of "blob"
"""


def add_options(parser: Parser) -> None:
    """Declare what the command takes."""
    add_target(parser, "URI", _EPILOG, "the server, and the URI of the resource")
    add_output(parser)


def check(options: argparse.Namespace) -> None:
    """Look at the words behind the server."""
    if len(options.words) > 1:
        raise UsageError(f"{options.words[1]!r} is one word too many; read takes one URI")


async def work(connection: Connection) -> int:
    """Read the resource."""
    from ..errors import MethodNotFound, UnknownResource
    from .saving import Folder
    from .showing import Shower
    from .terminal import line

    options, screen = connection.options, connection.screen
    if not options.words:
        uris = await _uris(connection)
        raise UsageError(f"name a URI of {connection.server_name!r}: {', '.join(uris[:10]) or '(it has none)'}")
    uri = options.words[0].encode(errors="surrogateescape").decode(errors="replace")  # as typed, in any locale
    try:
        result = await connection.client.read_resource(uri)
    except UnknownResource as error:
        uris = await _uris(connection)
        told = line(error.message).removesuffix(".")
        hint = ""
        if uri not in uris and "did you mean" not in told:
            from .misplaced import other_kind

            hint = await other_kind(connection, "read") or proposal(uri, uris)
        raise UsageError(f"no resource {uri!r} in {connection.target.name} ({told}){hint}") from None
    except MethodNotFound:
        if await connection.has("resources"):
            raise
        raise UsageError(f"no resource {uri!r} in {connection.target.name}: the server has no resources") from None
    shower = Shower(screen, None if options.output is None else Folder(options.output), "resource")
    if screen.json:
        shown: dict[str, Any] = {"contents": shower.plain(result.contents)}
        if result.meta is not None:
            shown["_meta"] = result.meta
        screen.print_json(shown)
    else:
        _print(connection, shower, result.contents)
    return OK


def _print(connection: Connection, shower: Any, contents: list[Any]) -> None:
    from ..types import BlobResourceContents
    from .showing import octets

    screen = connection.screen
    if len(contents) != 1 or connection.options.output is not None:
        for item in contents:
            screen.data(shower.contents(item))
        return
    [item] = contents
    if isinstance(item, BlobResourceContents):
        content = octets(item.blob)
        if screen.shows_data or content is None:
            screen.data(shower.contents(item))
        else:
            screen.octets(content)
    elif screen.shows_data:
        screen.data(item.text.removesuffix("\n"))
    else:
        screen.octets(item.text.encode())


async def _uris(connection: Connection) -> list[str]:
    """Return the URIs and templates that the server lists."""
    from .listing import entries_of

    listed = [resource.uri for resource in await entries_of(connection, "resources")]
    return listed + [template.uri_template for template in await entries_of(connection, "templates")]
