"""LM7xx: the client."""

from __future__ import annotations

from .record import Page

PAGES: tuple[Page, ...] = (
    Page(
        "LM701",
        "a client is not connected",
        r"the client is not connected; use it as",
        "A client connects when its block is entered, and disconnects when that is left.",
        """\
import asyncio

from leanmcp import Client


async def main() -> None:
    client = Client(mcp)
    await client.list_tools()


asyncio.run(main())
""",
        """\
import asyncio

from leanmcp import Client


async def main() -> None:
    async with Client(mcp) as client:
        await client.list_tools()


asyncio.run(main())
""",
    ),
    Page(
        "LM702",
        "a client is connected twice",
        r"this client is connected already",
        "One object is one connection. Once left, it can be entered again.",
        """\
import asyncio

from leanmcp import Client


async def main() -> None:
    async with Client(mcp) as client, client:
        pass


asyncio.run(main())
""",
        """\
import asyncio

from leanmcp import Client


async def main() -> None:
    async with Client(mcp) as client, Client(mcp) as other:
        await client.list_tools()
        await other.list_tools()


asyncio.run(main())
""",
    ),
    Page(
        "LM703",
        "a client is given what it cannot reach",
        r"^Client\(.*: (give an MCPServer|a URL is expected|to start a server|this class is another"
        r"|several servers are)",
        "A client takes an MCPServer, a URL, StdioServerParameters of a program that it starts, or unix:/path.",
        """\
import asyncio

from leanmcp import Client


async def main() -> None:
    async with Client("server.py"):
        pass


asyncio.run(main())
""",
        """\
from leanmcp import StdioServerParameters

import asyncio

from leanmcp import Client


async def main() -> None:
    async with Client(mcp):
        pass


asyncio.run(main())
""",
    ),
    Page(
        "LM704",
        "the values of StdioServerParameters have no names",
        r"^StdioServerParameters: (name the values|write StdioServerParameters\.from_command)"
        r"|a quotation mark has no partner",
        "A command and its arguments are given by name, apart from each other: no shell takes a line to pieces. "
        "`from_command` does.",
        """\
from leanmcp import StdioServerParameters

StdioServerParameters("python server.py")
""",
        """\
from leanmcp import StdioServerParameters

StdioServerParameters(command="python", args=["server.py"])
StdioServerParameters.from_command("python server.py")
""",
    ),
    Page(
        "LM705",
        "an option of a client has a value that it cannot have",
        r"(auth|trust|pin|audit|on_call|client_info|check|cache|headers|read_timeout_seconds"
        r"|max_total_seconds|\bmode|\bargs|\bcwd|\benv|\bmeta|^label"
        r"|input_required_max_rounds|\b\w+_callback|input_callbacks.*|capabilities)=.*: give ",
        "The message says what to give. What may be a secret is not shown in it.",
        """\
from leanmcp import Client

Client(mcp, read_timeout_seconds="5")
""",
        """\
from leanmcp import Client

Client(mcp, read_timeout_seconds=5)
""",
    ),
    Page(
        "LM706",
        "an option belongs to another kind of server",
        r"^Client\(<.*=\.\.\.\): ",
        "Headers and logins are of HTTP; exceptions of a server are seen in its own process only.",
        """\
from leanmcp import Client

Client(mcp, headers={"X-Key": "1"})
""",
        """\
from leanmcp import Client

Client(mcp)
""",
    ),
    Page(
        "LM707",
        "`with` and `async with` are mixed up",
        r"use `(async )?with (Sync)?Client|a group is no list: ",
        "Client is for coroutines, SyncClient for programs without them.",
        """\
from leanmcp import Client

with Client(mcp) as client:
    pass
""",
        """\
from leanmcp import SyncClient

with SyncClient(mcp) as client:
    client.list_tools()
""",
    ),
    Page(
        "LM708",
        "pages, lists and streams are looped over in the wrong way",
        r"has nothing to await|has pages to wait for|is one page: `for|enter it first: `async with",
        "tools() and its like fetch page after page, `async for`; list_tools() is one page; listen() is entered first.",
        """\
import asyncio

from leanmcp import Client


async def main() -> None:
    async with Client(mcp) as client:
        await client.tools()


asyncio.run(main())
""",
        """\
import asyncio

from leanmcp import Client


async def main() -> None:
    async with Client(mcp) as client:
        print([tool.name async for tool in client.tools()])


asyncio.run(main())
""",
    ),
    Page(
        "LM709",
        "a tool or a resource is named by what is no text, or gets what is no dict",
        r"^(call_tool|read_resource|request)\(.*"
        r"(give the (name of the tool|URI|type itself)|give a dict|have no JSON form)",
        "The first argument is the name of the tool or the URI, the second one a dict of arguments, JSON values all.",
        """\
import asyncio

from leanmcp import Client


async def main() -> None:
    async with Client(mcp) as client:
        await client.call_tool("add", [1, 2])


asyncio.run(main())
""",
        """\
import asyncio

from leanmcp import Client


async def main() -> None:
    async with Client(mcp) as client:
        await client.call_tool("add", {"a": 1, "b": 2})


asyncio.run(main())
""",
    ),
    Page(
        "LM710",
        "a client is used on another event loop",
        r"was connected on another event loop",
        "A connection belongs to the loop on which it was made. SyncClient may be used everywhere.",
        """\
import asyncio

from leanmcp import Client

client = Client(mcp)
asyncio.run(client.__aenter__())
asyncio.run(client.list_tools())
""",
        """\
from leanmcp import SyncClient

with SyncClient(mcp) as client:
    client.list_tools()
""",
    ),
    Page(
        "LM711",
        "a result is used as if it were a dict, a list or its content",
        r"^\w+ is no dict and no list: |^CallToolResult has no '"
        r"|^(?!(Sync)?Client)\w+ has no '\w+'; write ",
        "Results are objects with attributes; `content` is a list of blocks. The value of a tool comes with `type=`.",
        """\
import asyncio

from leanmcp import Client


async def main() -> None:
    async with Client(mcp) as client:
        result = await client.call_tool("add", {"a": 1, "b": 2})
        print(result["content"])


asyncio.run(main())
""",
        """\
import asyncio

from leanmcp import Client


async def main() -> None:
    async with Client(mcp) as client:
        result = await client.call_tool("add", {"a": 1, "b": 2})
        print(result.content[0].text, result.structured_content)
        print(await client.call_tool("add", {"a": 1, "b": 2}, type=int))


asyncio.run(main())
""",
    ),
    Page(
        "LM712",
        "a client has no such method",
        r"^(Sync)?Client(Group)? has no '|^'Client' object has no attribute '",
        "A client connects when its block is entered, and is the session itself.",
        """\
from leanmcp import Client

client = Client(mcp)
client.connect()
""",
        """\
import asyncio

from leanmcp import Client


async def main() -> None:
    async with Client(mcp) as client:
        print(client.protocol_version)


asyncio.run(main())
""",
    ),
)
