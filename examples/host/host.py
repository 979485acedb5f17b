"""A host that can be trusted: it shows what it may do, asks before it changes something, checks, and keeps a log.

    python examples/host/host.py [audit.jsonl] [pins.json]

A real host has a model where this one has a list of calls. The server is examples/bookshop, as a child process.
"""

import asyncio
import sys
from pathlib import Path
from typing import Any

from leanmcp import Client, MCPError, StdioServerParameters
from leanmcp.client import Policy, Question, hints_of

ROOT = Path(__file__).resolve().parents[2]
BOOKSHOP = StdioServerParameters(
    command=sys.executable, args=["-m", "leanmcp", "run", "examples/bookshop/server.py"], cwd=ROOT
)
BOOK = {"title": "Dune", "author": "Frank Herbert", "year": 1965}
CALLS: list[tuple[str, dict[str, Any]]] = [  # what the model wants
    ("search_books", {"query": "dune"}),
    ("add_book", {"book": BOOK}),
    ("add_book", {"book": {**BOOK, "title": "Dune Messiah", "year": 1969}}),
]


def ask(question: Question) -> bool:
    """Show everything that will be sent, and let the user decide; a plain function runs in a thread and may wait."""
    print(f"{question.reason} {question.server} would be called with:")
    for name, value in question.arguments.items():
        print(f"  {name} = {value!r}")
    return input("Call it? [y/N] ").strip().lower() == "y"


async def main(audit: str, pins: str) -> None:
    # The word of this server about its tools is believed: search_books is read-only, so that nobody is asked about it.
    policy = Policy(ask, believe=["bookshop"])
    async with Client(BOOKSHOP, label="bookshop", trust=policy, audit=audit, pin=pins) as client:
        async for tool in client.tools():
            hints = hints_of(tool, believed=policy.believes("bookshop"))
            print(f"{tool.name}: {'reads' if hints.read_only else 'changes things'}")
        for name, arguments in CALLS:
            try:
                result = await client.call_tool(name, arguments)
            except MCPError as refusal:  # CallDenied, InvalidResult, ToolChanged, and what went wrong on the way
                print(f"-> {refusal.message}")
            else:
                print(f"-> {result.structured_content}")


if __name__ == "__main__":
    options = sys.argv[1:]
    asyncio.run(main(*(options + ["audit.jsonl", "pins.json"][len(options) :])))
