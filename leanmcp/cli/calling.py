"""`leanmcp call`: call a tool and print what it returns."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from .faults import FAILED, OK
from .options import Parser, add_arguments, add_output, add_target

if TYPE_CHECKING:
    from ..types import Tool
    from .connection import Connection

_EPILOG = """\
arguments:
  name=value      text where the tool wants text, else JSON: limit=5, tags='["a","b"]', or tags=a tags=b
  name:=json      always JSON
  name=@file      content of a file (- for standard input); @@ begins a text with an @
  @file           a JSON object of arguments

examples:
  leanmcp call server.py add a=1 b=2
  leanmcp call server.py add 'point:={"x":1}' note=@note.txt
  leanmcp call https://example.com/mcp add --args '{"a": 1}' --token SECRET --json
  leanmcp call add a=1 b=2 -- python server.py

--json prints {"content", "structuredContent", "isError", "_meta"} as on the wire, the second and the last where there
are some; with --output, "file" stands in place of "data" and "blob"
"""


def add_options(parser: Parser) -> None:
    """Declare what the command takes."""
    add_target(parser, "TOOL [NAME=VALUE ...]", _EPILOG, "the server, the tool and its arguments")
    add_arguments(parser)
    add_output(parser)


def check(options: argparse.Namespace) -> None:
    """Look at the arguments."""
    from .arguments import check_words

    check_words(options)


async def work(connection: Connection) -> int:
    """Call the tool."""
    from .arguments import tool_arguments
    from .saving import Folder
    from .showing import Shower

    options, screen = connection.options, connection.screen
    tool = await _tool(connection)
    name = options.words[0]
    arguments = tool_arguments(options, tool)
    folder = None if options.output is None else Folder(options.output)
    result = await connection.client.call_tool(name, arguments, progress_callback=screen.progress)
    screen.clear()
    shower = Shower(screen, folder, name)
    if screen.json:
        plain = shower.plain(result)
        plain["isError"] = result.is_error  # which does not travel where it is false
        members = ("content", "structuredContent", "isError", "_meta")
        shown: dict[str, Any] = {member: plain[member] for member in members if member in plain}
        screen.print_json(shown)
    else:
        shower.result(result)
    from .arguments import doubts

    for text in doubts(options, tool, result.is_error):
        screen.note(f"leanmcp: {text}")
    return FAILED if result.is_error else OK


async def _tool(connection: Connection) -> Tool | None:
    """Return the definition of the tool that the command line names; None where the server lists none.

    Raises:
        UsageError: there is no such tool.
    """
    from ..errors import MethodNotFound

    words = connection.options.words
    names: list[str] = []
    try:
        async for tool in connection.client.tools():
            if words and tool.name == words[0]:
                return tool
            names.append(tool.name)
    except MethodNotFound:
        if words:
            return None
    from .misplaced import no_such

    raise await no_such(connection, "call", "tool", names)
