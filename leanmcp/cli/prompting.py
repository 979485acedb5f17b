"""`leanmcp prompt`: get the messages of a prompt."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from .faults import OK
from .options import Parser, add_arguments, add_output, add_target

if TYPE_CHECKING:
    from ..types import Prompt
    from .connection import Connection

_EPILOG = """\
arguments:
  name=value      text; name:=json for the text of a JSON value
  name=@file      content of a file (- for standard input); @@ begins a text with an @

examples:
  leanmcp prompt server.py review language=python code=@server.py
  leanmcp prompt https://example.com/mcp review code=x --json

--json prints {"messages", "description", "_meta"} as on the wire, the last two where there are some
"""


def add_options(parser: Parser) -> None:
    """Declare what the command takes."""
    add_target(parser, "PROMPT [NAME=VALUE ...]", _EPILOG, "the server, the prompt and its arguments")
    add_arguments(parser)
    add_output(parser)


def check(options: argparse.Namespace) -> None:
    """Look at the arguments."""
    from .arguments import check_words

    check_words(options)


async def work(connection: Connection) -> int:
    """Get the prompt."""
    from .arguments import prompt_arguments
    from .saving import Folder
    from .showing import Shower
    from .terminal import strong

    options, screen = connection.options, connection.screen
    prompt = await _prompt(connection)
    arguments = prompt_arguments(options, prompt)
    folder = None if options.output is None else Folder(options.output)
    result = await connection.client.get_prompt(options.words[0], arguments)
    shower = Shower(screen, folder, options.words[0])
    if screen.json:
        shown: dict[str, Any] = {"messages": shower.plain(result.messages)}
        shown |= {} if result.description is None else {"description": result.description}
        shown |= {} if result.meta is None else {"_meta": result.meta}
        screen.print_json(shown)
        return OK
    for message in result.messages:
        screen.data_line(strong(f"{message.role}:", screen.out))
        screen.data(shower.block(message.content))
    return OK


async def _prompt(connection: Connection) -> Prompt:
    """Return the definition of the prompt that the command line names.

    Raises:
        UsageError: there is no such prompt.
    """
    from .listing import entries_of

    words = connection.options.words
    prompts = {prompt.name: prompt for prompt in await entries_of(connection, "prompts")}
    if not words or words[0] not in prompts:
        from .misplaced import no_such

        raise await no_such(connection, "prompt", "prompt", list(prompts))
    found: Prompt = prompts[words[0]]
    return found
