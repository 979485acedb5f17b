"""LM501 to LM512: what a function returned, raised or forgot when it was called."""

from __future__ import annotations

from .record import Page

PAGES: tuple[Page, ...] = (
    Page(
        "LM501",
        "a function failed, and the model is told no more than that",
        r"failed unexpectedly; the server's log has|^(tool|prompt|resource|completion|method) \S+ failed \[",
        "What an exception says may be a secret, or of no use to a model, so it goes to the log alone, under "
        "the id that the answer names. What the model can act on is raised as ToolError, whose text it reads.",
        '''\
@mcp.tool
async def price(book: str) -> float:
    """Return the price of a book."""
    return {"Dune": 9.5}[book]
''',
        '''\
from leanmcp import ToolError

@mcp.tool
async def price(book: str) -> float:
    """Return the price of a book."""
    prices = {"Dune": 9.5}
    if book not in prices:
        raise ToolError(f"book: there is no {book!r}; there is {', '.join(prices)}")
    return prices[book]
''',
    ),
    Page(
        "LM502",
        "`await` is forgotten",
        r"did you forget `await`",
        "An `async def` function that is called without `await` returns a coroutine and has not begun. That "
        "coroutine was returned, compared or looked into where its value was meant.",
        '''\
async def fetch(city: str) -> int:
    return 21

@mcp.tool
async def warmth(city: str) -> int:
    """Return the temperature."""
    return fetch(city)
''',
        '''\
async def fetch(city: str) -> int:
    return 21

@mcp.tool
async def warmth(city: str) -> int:
    """Return the temperature."""
    return await fetch(city)
''',
    ),
    Page(
        "LM503",
        "a result has no JSON form",
        r"[Tt]he result has no JSON form(?!.*forget `await`)",
        "Results travel as JSON: texts, numbers, lists, dicts, dataclasses, Structs and pydantic models, "
        "dates, UUIDs, enums; bytes as base64, sets as arrays. NaN and infinity are no JSON numbers. The "
        "message names the place of the value in the result.",
        '''\
@mcp.tool
async def mean(values: list[float]) -> float:
    """Return the mean."""
    return sum(values) / len(values) if values else float("nan")
''',
        '''\
@mcp.tool
async def mean(values: list[float]) -> float | None:
    """Return the mean, nothing of nothing."""
    return sum(values) / len(values) if values else None
''',
    ),
    Page(
        "LM504",
        "a result is not what the return annotation says",
        r"returned what its return annotation or output_schema=|^Invalid result of ",
        "The annotation is published as the schema of the result, and clients may rely on it: a result that "
        "does not fit is an error, and is not sent. A function that ends without `return` returns None.",
        '''\
@mcp.tool
async def count(text: str) -> int:
    """Count words."""
    return str(len(text.split()))
''',
        '''\
@mcp.tool
async def count(text: str) -> int:
    """Count words."""
    return len(text.split())
''',
    ),
    Page(
        "LM505",
        "a result is over the limit of its tool",
        r"The result has \d+ bytes, over the|the result has \d+ bytes, over the",
        "max_result= caps the bytes of a response. The model reads that it should ask for less; give it a "
        "parameter to do so.",
        '''\
@mcp.tool(max_result=10_000)
async def log() -> str:
    """Return the log."""
    return "line\\n" * 100_000
''',
        '''\
@mcp.tool(max_result=10_000)
async def log(last: int = 100) -> str:
    """Return the last lines of the log."""
    return "line\\n" * min(last, 500)
''',
    ),
    Page(
        "LM506",
        "a result is larger than most models and hosts take",
        r"a result of [\d,]+ bytes is more than",
        "A megabyte is about 250,000 tokens. It is said once for each tool, and nothing is cut off. A tool "
        "that knows what it does says so with max_result=, which also is the limit then.",
        '''\
@mcp.tool
async def export() -> str:
    """Return all rows."""
    return "row\\n" * 300_000
''',
        '''\
@mcp.tool(max_result=8_000_000)
async def export() -> str:
    """Return all rows."""
    return "row\\n" * 300_000
''',
    ),
    Page(
        "LM507",
        "something is printed while standard output carries the protocol",
        r"print\(\) goes to standard error",
        "On stdio, whatever is not a message would break the connection, so that print() writes to standard "
        "error there, which hosts keep as the log. It is said once.",
        '''\
@mcp.tool
def add(a: int, b: int) -> int:
    """Add."""
    print("adding")
    return a + b
''',
        '''\
import logging

@mcp.tool
def add(a: int, b: int) -> int:
    """Add."""
    logging.getLogger("calculator").info("adding")
    return a + b
''',
    ),
    Page(
        "LM508",
        "a function calls sys.exit()",
        r"sys\.exit\(\) ends this call only",
        "One call must not end the server of all clients. SystemExit is logged as any other exception.",
        '''\
import sys

@mcp.tool
def check(path: str) -> str:
    """Check a file."""
    if not path:
        sys.exit("no path")
    return "fine"
''',
        '''\
from leanmcp import ToolError

@mcp.tool
def check(path: str) -> str:
    """Check a file."""
    if not path:
        raise ToolError("path: give a file")
    return "fine"
''',
    ),
    Page(
        "LM509",
        "a function raises CancelledError itself",
        r"nobody cancelled the call",
        "CancelledError tells a function that its client has left or its time is over. Nobody had cancelled "
        "this call: the function raised it, or awaited a task that somebody else cancelled.",
        '''\
import asyncio

@mcp.tool
async def stop() -> str:
    """Stop."""
    raise asyncio.CancelledError
''',
        '''\
from leanmcp import ToolError

@mcp.tool
async def stop() -> str:
    """Stop."""
    raise ToolError("it is stopped already")
''',
    ),
    Page(
        "LM510",
        "a function reads standard input",
        r"standard input is not for functions",
        "On stdio, standard input carries what the client sends, and over HTTP nobody sits in front of the "
        "server. A question goes to the user through the client.",
        '''\
@mcp.tool
def rename(name: str) -> str:
    """Rename."""
    return name if input("sure? ") == "y" else "nothing was done"
''',
        '''\
from leanmcp import Context, Model

class Sure(Model):
    sure: bool

@mcp.tool
async def rename(name: str, ctx: Context) -> str:
    """Rename."""
    answer = await ctx.elicit("Sure?", Sure)
    return name if answer.action == "accept" and answer.data.sure else "nothing was done"
''',
    ),
    Page(
        "LM511",
        "a function starts an event loop where one runs, or wants one where none is",
        r"runs on the event loop already|runs in a thread without an event loop",
        "An `async def` function runs on the loop of the server, and awaits. A `def` function runs in a "
        "worker thread, where there is no loop.",
        '''\
import asyncio

async def fetch() -> int:
    return 1

@mcp.tool
async def total() -> int:
    """Sum up."""
    return asyncio.run(fetch())
''',
        '''\
async def fetch() -> int:
    return 1

@mcp.tool
async def total() -> int:
    """Sum up."""
    return await fetch()
''',
    ),
    Page(
        "LM512",
        "something is awaited that is no coroutine",
        r"only coroutines are awaited",
        "A `def` function has returned its value when it returns: there is nothing to await.",
        '''\
def load() -> dict[str, int]:
    return {"a": 1}

@mcp.tool
async def total() -> int:
    """Sum up."""
    return sum((await load()).values())
''',
        '''\
def load() -> dict[str, int]:
    return {"a": 1}

@mcp.tool
async def total() -> int:
    """Sum up."""
    return sum(load().values())
''',
    ),
)
