"""`leanmcp complete`: values that would complete an argument."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from .faults import OK, UsageError
from .options import Parser, add_target

if TYPE_CHECKING:
    from ..client import Client
    from ..types import CompleteResult
    from .connection import Connection

_EPILOG = """\
examples:
  leanmcp complete server.py review language=py code=x     what `language` could be, where `code` is settled
  leanmcp complete server.py 'file:///{name}' name=lo

--json prints {"values", "total", "hasMore"} as on the wire, the last two where the server says them
"""


def add_options(parser: Parser) -> None:
    """Declare what the command takes."""
    add_target(
        parser,
        "PROMPT|TEMPLATE NAME=START [OTHER=VALUE ...]",
        _EPILOG,
        "the server, a prompt or a resource template, the argument as far as it is typed, and others that are settled",
    )


def check(options: argparse.Namespace) -> None:
    """Look at the words behind the server."""
    if len(options.words) < 2:
        raise UsageError("give a prompt or a resource template, and the argument to complete as name=start")
    for word in options.words[1:]:
        if "=" not in word[1:]:
            raise UsageError(f"argument {word!r}: write name=start")


async def completed(client: Client, reference: str, first: str, *others: str) -> CompleteResult:
    """Ask what completes an argument, `first`, of a prompt or a resource template; `others` are settled."""
    from ..types import PromptReference, ResourceTemplateReference

    name, _, value = first.partition("=")
    about = ResourceTemplateReference(uri=reference) if "://" in reference else PromptReference(name=reference)
    settled = {key: text for key, _, text in (word.partition("=") for word in others)}
    return await client.complete(about, {"name": name, "value": value}, settled or None)


async def work(connection: Connection) -> int:
    """Print the values."""
    import msgspec

    from ..errors import MethodNotFound

    try:
        result = await completed(connection.client, *connection.options.words)
    except MethodNotFound:
        raise UsageError(f"{connection.target.name} completes no arguments") from None
    screen = connection.screen
    if screen.json:
        screen.print_json(msgspec.to_builtins(result.completion))
        return OK
    for text in result.completion.values:
        screen.data(text)
    if result.completion.has_more:
        screen.note("there are more")
    return OK
