"""LM513 to LM524: what a server notices around calls: time, questions, names, arguments, other features."""

from __future__ import annotations

from .record import Page

PAGES: tuple[Page, ...] = (
    Page(
        "LM513",
        "a function holds the event loop",
        r"(holds|held) the event loop for",
        "While an `async def` function computes or blocks, nobody else is answered. A plain `def` function "
        "runs in a thread, and holds nobody up.",
        '''\
import time

@mcp.tool
async def wait() -> str:
    """Wait."""
    time.sleep(3)
    return "done"
''',
        '''\
import time

@mcp.tool
def wait() -> str:
    """Wait."""
    time.sleep(3)
    return "done"
''',
    ),
    Page(
        "LM514",
        "a Context is used after its call",
        r"its Context was used after the call|has been answered: nobody can be asked",
        "A Context belongs to one call: when that has been answered, nobody listens to its progress, and "
        "nobody can be asked. Each call has its own.",
        '''\
from leanmcp import Context

last: list[Context] = []

@mcp.tool
async def begin(ctx: Context) -> str:
    """Begin."""
    last.append(ctx)
    return "begun"

@mcp.tool
async def report() -> str:
    """Report."""
    await last[0].report_progress(1)
    return "told"
''',
        '''\
from leanmcp import Context

@mcp.tool
async def report(ctx: Context) -> str:
    """Report."""
    await ctx.report_progress(1)
    return "told"
''',
    ),
    Page(
        "LM515",
        "a question goes to a client that cannot be asked",
        r"needs the client capability",
        "A client says with each request what it can do. One that cannot show forms gets the error -32021, "
        "which names what it would have to declare. A default, or a parameter, serves those clients, too.",
        '''\
from leanmcp import Context, Model

class Size(Model):
    size: str

@mcp.tool
async def order(ctx: Context) -> str:
    """Order a shirt."""
    answer = await ctx.elicit("Which size?", Size)
    return answer.action
''',
        '''\
@mcp.tool
async def order(size: str = "M") -> str:
    """Order a shirt."""
    return size
''',
    ),
    Page(
        "LM516",
        "a call takes longer than its timeout=",
        r"did not finish within",
        "timeout= ends a call, and the model is told so. Raise it, or let the function do less.",
        '''\
import asyncio

@mcp.tool(timeout=0.01)
async def wait() -> str:
    """Wait."""
    await asyncio.sleep(60)
    return "done"
''',
        '''\
import asyncio

@mcp.tool(timeout=90)
async def wait() -> str:
    """Wait."""
    await asyncio.sleep(0)
    return "done"
''',
    ),
    Page(
        "LM517",
        "more calls of a tool than max_concurrency= allows",
        r"is busy: \d+ calls are running",
        "The call is refused at once, and the model may try again. Raise the number, or leave it out.",
        '''\
import asyncio

@mcp.tool(max_concurrency=1)
async def build() -> str:
    """Build."""
    await asyncio.sleep(0.1)
    return "done"
''',
        '''\
import asyncio

@mcp.tool(max_concurrency=8)
async def build() -> str:
    """Build."""
    await asyncio.sleep(0.1)
    return "done"
''',
    ),
    Page(
        "LM518",
        "a ToolError has no text",
        r"raised a ToolError without a text",
        "The text of a ToolError is what the model reads: what is wrong, and what to send instead.",
        '''\
from leanmcp import ToolError

@mcp.tool
async def find(query: str) -> str:
    """Find."""
    raise ToolError
''',
        '''\
from leanmcp import ToolError

@mcp.tool
async def find(query: str) -> str:
    """Find."""
    raise ToolError("query: nothing is found; give fewer words")
''',
    ),
    Page(
        "LM519",
        "there is no tool of that name",
        r"Unknown tool: ",
        "The name is none that the server lists at the moment; a tool may have been removed or disabled meanwhile.",
        """\
from leanmcp import SyncClient

@mcp.tool
def add(a: int, b: int) -> int:
    return a + b

with SyncClient(mcp) as client:
    client.call_tool("ad", {"a": 1, "b": 2})
""",
        """\
from leanmcp import SyncClient

@mcp.tool
def add(a: int, b: int) -> int:
    return a + b

with SyncClient(mcp) as client:
    client.call_tool("add", {"a": 1, "b": 2})
""",
    ),
    Page(
        "LM520",
        "the arguments of a call do not fit",
        r"^Invalid arguments for tool ",
        "Arguments are held against the published schema before the function runs. Each fault stands on a "
        "line of its own, behind its place in the arguments.",
        """\
$ leanmcp call server.py add a=one
""",
        """\
$ leanmcp call server.py add a=1
""",
    ),
    Page(
        "LM521",
        "tools have no description",
        r"^no description: ",
        "A model chooses tools by their descriptions. The docstring is one; description= takes its place. It "
        "is said once, when the server starts.",
        """\
@mcp.tool
def add(a: int, b: int) -> int:
    return a + b
""",
        '''\
@mcp.tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b
''',
    ),
    Page(
        "LM522",
        "a resource, a prompt or a completion returns what cannot be sent",
        r"The resource returned None|A resource has at least one|A message has |content of a message is no|"
        r"A prompt returns messages, or|A completer returns|A completer without parameters|Completion\(\w+=.*\): give|"
        r"meta= of a result is a dict|is no base64; give bytes",
        "A resource returns its contents: a text, bytes, or a value with a JSON form. A prompt returns a text, "
        "messages, or a list of them. A completer returns texts. The message says what came instead.",
        '''\
NOTES = {"milk": "two bottles"}

@mcp.resource("note://{name}")
def note(name: str) -> str | None:
    """A note."""
    return NOTES.get(name)
''',
        '''\
from leanmcp import ResourceNotFoundError

NOTES = {"milk": "two bottles"}

@mcp.resource("note://{name}")
def note(name: str) -> str:
    """A note."""
    if name not in NOTES:
        raise ResourceNotFoundError
    return NOTES[name]
''',
    ),
    Page(
        "LM523",
        "a dict looks like a whole result, and is sent as data",
        r"it returned a dict with content and isError",
        "What a tool returns is its value, and a dict with isError in it is a success. A tool fails by raising "
        "ToolError; a whole result, put together by hand, is a CallToolResult.",
        '''\
@mcp.tool
def price(book: str) -> dict[str, object]:
    """Return the price of a book."""
    return {"content": [{"type": "text", "text": f"no book {book}"}], "isError": True}
''',
        '''\
from leanmcp import ToolError

@mcp.tool
def price(book: str) -> dict[str, object]:
    """Return the price of a book."""
    raise ToolError(f"no book {book}")
''',
    ),
    Page(
        "LM524",
        "ctx.lifespan is None",
        r"ctx\.lifespan is None: ",
        "It is what `lifespan=` yields: None without `lifespan=`, and where the function yields nothing.",
        '''\
from leanmcp import Context

@mcp.tool
async def total(ctx: Context) -> int:
    """Add the numbers up."""
    return sum(ctx.lifespan["numbers"])
''',
        '''\
from contextlib import asynccontextmanager

from leanmcp import Context

@asynccontextmanager
async def lifespan(server):
    yield {"numbers": [1, 2]}

mcp = MCPServer("demo", lifespan=lifespan)

@mcp.tool
async def total(ctx: Context) -> int:
    """Add the numbers up."""
    return sum(ctx.lifespan["numbers"])
''',
    ),
)
