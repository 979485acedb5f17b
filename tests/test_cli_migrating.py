"""`leanmcp migrate`: programs of the official SDK made into ours."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

import pytest

from leanmcp import Client, MCPServer, elsewhere
from leanmcp.cli import migrating_names as names
from leanmcp.cli.migrating_imports import Imports
from leanmcp.cli.migrating_source import Source
from leanmcp.cli.migrating_uses import Uses


def migrated(program: str) -> tuple[str, list[tuple[int, str]]]:
    """Return a program as it is here, and line and name of what is left."""
    source = Source(program.encode())
    imports = Imports(source)
    left = sorted({*imports.left, *Uses(source, imports.meanings).left()})
    assert all(entry.advice for entry in left)
    return source.edited(), [(entry.line, entry.name) for entry in left]


# --- imports ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("from mcp.server import MCPServer", "from leanmcp.server import MCPServer"),
        ("from mcp.server.mcpserver import Context, Image", "from leanmcp import Context, Image"),
        ("from  mcp  import  Client ,MCPError # x", "from  leanmcp  import  Client ,MCPError # x"),
        ("from mcp.types import Tool, TextContent as T", "from leanmcp.types import Tool, TextContent as T"),
        ("from mcp_types import Tool", "from leanmcp.types import Tool"),
        ("from mcp import Tool", "from leanmcp.types import Tool"),
        ("from mcp.shared.exceptions import McpError", "from leanmcp import MCPError"),
        ("from mcp.shared.exceptions import McpError as E", "from leanmcp import MCPError as E"),
        ("from mcp.server.fastmcp import FastMCP as MCPServer", "from leanmcp import MCPServer"),
        ("from mcp.server.fastmcp.exceptions import ToolError", "from leanmcp import ToolError"),
        ("from mcp.client.auth import OAuthClientProvider", "from leanmcp.oauth import OAuthClientProvider"),
        ("from mcp import types", "from leanmcp import types"),
        ("from mcp import types as t", "from leanmcp import types as t"),
        ("import mcp.types as types", "import leanmcp.types as types"),
        ("import os, mcp.types as t  # x", "import os, leanmcp.types as t  # x"),
        ("import mcp.types\nx = mcp.types.Tool", "import leanmcp.types\nx = leanmcp.types.Tool"),
        ("import mcp\nx = mcp.Client, mcp.types.Tool", "import leanmcp.types\nx = leanmcp.Client, leanmcp.types.Tool"),
        ("import mcp\nx = mcp . types . Tool", "import leanmcp.types\nx = leanmcp.types.Tool"),
        (
            "import mcp\nimport mcp.types\nx = mcp.Client, mcp.types.Tool",
            "import leanmcp\nimport leanmcp.types\nx = leanmcp.Client, leanmcp.types.Tool",
        ),
        (
            "import mcp.server.fastmcp as f\nx = f.FastMCP('é', f.Context)",
            "import leanmcp as f\nx = f.MCPServer('é', f.Context)",
        ),
        (
            "from mcp.server.mcpserver import Elicit, MCPServer, Icon",
            "from leanmcp.elicit import Elicit\nfrom leanmcp import MCPServer\nfrom leanmcp.types import Icon",
        ),
        (
            "if 1:\n    x = 'é'; from mcp.server.mcpserver import Elicit, MCPServer; y = 2",
            "if 1:\n    x = 'é'; from leanmcp.elicit import Elicit; from leanmcp import MCPServer; y = 2",
        ),
        (
            "try:\n    from mcp.server.mcpserver import MCPServer, Elicit\nexcept ImportError: ...",
            "try:\n    from leanmcp import MCPServer\n    from leanmcp.elicit import Elicit\nexcept ImportError: ...",
        ),
        (
            "from mcp.server.mcpserver import (\n    # first\n    Context,  # one\n    Elicit,\n    # end\n)",
            "from leanmcp import (\n    # first\n    Context,  # one\n)\n"
            "from leanmcp.elicit import (\n    Elicit,  # end\n)",
        ),
        ("from mcp.server \\\n    import MCPServer", "from leanmcp.server \\\n    import MCPServer"),
        (
            "from mcp.server.fastmcp.prompts import base\nx = base.UserMessage('x')",
            "from leanmcp import server as base\nx = base.UserMessage('x')",
        ),
        (  # what a search and replace has made of it
            "from leanmcp.server.fastmcp import FastMCP\nfrom leanmcp.server import Context\nmcp = FastMCP('x')",
            "from leanmcp import MCPServer\nfrom leanmcp.server import Context\nmcp = MCPServer('x')",
        ),
        (
            "from os import path\nfrom .mcp import Tool\nimport mcpx",
            "from os import path\nfrom .mcp import Tool\nimport mcpx",
        ),
    ],
)
def test_imports_are_rewritten(before: str, after: str) -> None:
    """Ours: what leanmcp has, from where it has it; everything else stays byte for byte."""
    assert migrated(before) == (after, [])
    assert migrated(after)[0] == after


def test_a_renamed_class_is_renamed_where_it_is_used() -> None:
    """Ours: also in annotations that are strings; not in texts and comments."""
    before = (
        "from mcp.server.fastmcp import FastMCP, Context  # FastMCP\n"
        '"""FastMCP in words."""\n'
        'def make(old: "FastMCP", ctx: "Context[int] | None" = None) -> FastMCP:\n'
        "    return FastMCP('FastMCP server', instructions=f'{1}')\n"
    )
    text, left = migrated(before)
    assert left == []
    assert text == (
        "from leanmcp import MCPServer, Context  # FastMCP\n"
        '"""FastMCP in words."""\n'
        'def make(old: "MCPServer", ctx: "Context[int] | None" = None) -> MCPServer:\n'
        "    return MCPServer('FastMCP server', instructions=f'{1}')\n"
    )


def test_texts_inside_of_annotations_stay() -> None:
    """Ours: what Literal lists and what Annotated adds are no types."""
    before = (
        "from mcp.server.fastmcp import FastMCP\n"
        "def f(a: Annotated[str, 'of FastMCP', Field('FastMCP!')], b: Literal['FastMCP?'],\n"
        "      c: t.Annotated['FastMCP', 'FastMCP it is']) -> list['FastMCP']: ...\n"
    )
    after = before.replace("mcp.server.fastmcp import FastMCP", "leanmcp import MCPServer")
    after = after.replace("t.Annotated['FastMCP'", "t.Annotated['MCPServer'").replace(
        "list['FastMCP']", "list['MCPServer']"
    )
    assert migrated(before) == (after, [])


@pytest.mark.parametrize(
    "more", ["MCPServer = None", "def f(FastMCP): pass", "__all__ = ['FastMCP']", "class MCPServer: pass"]
)
def test_a_class_keeps_its_name_where_the_new_one_is_taken(more: str) -> None:
    """Ours: `as` keeps it."""
    text, left = migrated(f"from mcp.server.fastmcp import FastMCP\n{more}\nx = FastMCP('x')\n")
    assert (text, left) == (f"from leanmcp import MCPServer as FastMCP\n{more}\nx = FastMCP('x')\n", [])


@pytest.mark.parametrize(
    ("program", "text", "left"),
    [
        (
            "from mcp import Client, ClientSession, types",
            "from leanmcp import Client, types\nfrom mcp import ClientSession",
            [(1, "mcp.ClientSession")],
        ),
        (
            "from mcp.server.lowlevel import Server",
            "from mcp.server.lowlevel import Server",
            [(1, "mcp.server.lowlevel.Server")],
        ),
        ("from mcp.types import *", "from mcp.types import *", [(1, "from mcp.types import *")]),
        (
            "import mcp\nx = mcp.Client, mcp.ClientSession",
            "import mcp, leanmcp\nx = leanmcp.Client, mcp.ClientSession",
            [(2, "mcp.ClientSession")],
        ),
        ("import mcp\nx = mcp.ClientSession", "import mcp\nx = mcp.ClientSession", [(2, "mcp.ClientSession")]),
        ("import mcp\nmcp = mcp.Client", "import mcp\nmcp = mcp.Client", [(1, "import mcp")]),
        (
            "import mcp.types as t\nx = t.Tool, t.Root",
            "import leanmcp.types as t\nx = t.Tool, t.Root",
            [(2, "t.Root")],
        ),
        (
            "import mcp.types as t\nx = t.CallToolRequestParams",
            "import leanmcp.types as t\nx = t.CallToolRequestParams",
            [(2, "t.CallToolRequestParams")],
        ),
        ("import mcp.server.lowlevel as low", "import mcp.server.lowlevel as low", [(1, "mcp.server.lowlevel")]),
        ("import mcp.client.sse", "import mcp.client.sse", [(1, "import mcp.client.sse")]),
    ],
)
def test_what_leanmcp_does_not_have_stays(program: str, text: str, left: list[tuple[int, str]]) -> None:
    """Ours: the program goes on working where the official SDK is installed too, and the report says where it is."""
    assert migrated(program) == (text, left)
    assert migrated(text)[0] == text


# --- uses ---------------------------------------------------------------------------------------------------------

USES = """\
from mcp.server.fastmcp import FastMCP, Context
from mcp import Client
import mcp.types as types

mcp = FastMCP("x", host="0.0.0.0", debug=True, instructions="y")
app = mcp.streamable_http_app()

@mcp.tool(title="T", no_such=1)
async def add(a: int, ctx: Context[int, str]) -> int:
    await ctx.info("x")
    await ctx.report_progress(1, 2)
    ctx.request_context.session
    return ctx.request_context.lifespan_context

@mcp.custom_route("/x", methods=["GET"])
async def x(request): ...

async def main(url):
    async with Client(url, message_handler=None, read_timeout_seconds=1) as client:
        result = await client.call_tool("add")
        print(result.isError, result.is_error, result.model_dump(), client.session)
        print((await client.list_tools()).tools[0].inputSchema)

mcp.run(transport="sse", mount_path="/x", host="127.0.0.1", port=1, stateless_http=True)
"""


def test_uses_that_have_no_counterpart_are_reported() -> None:
    """Ours: options and members are looked up in our classes."""
    assert migrated(USES)[1] == [
        (5, "the server's debug="),
        (5, "the server's host="),
        (6, "the server's streamable_http_app"),
        (8, "tool()'s no_such="),
        (9, "the context's types"),
        (10, "the context's info"),
        (12, "the context's session"),
        (15, "the server's custom_route"),
        (19, "the client's message_handler="),
        (21, ".isError"),
        (21, ".model_dump"),
        (21, "the client's session"),
        (22, ".inputSchema"),
        (24, 'run("sse")'),
        (24, "run()'s mount_path="),
    ]


def test_advice_is_given_for_what_does_not_exist_only() -> None:
    """Ours: a name that arrives in leanmcp leaves these tables."""
    for module in [*names.HOMES, *elsewhere.INSTEAD_OF_MODULES]:
        for name in elsewhere.INSTEAD_OF_NAMES:
            assert names.candidates(module, name) == [], name
    server: Any = MCPServer("x")
    for name in elsewhere.INSTEAD_OF_MEMBERS:
        assert not (hasattr(server, name) and hasattr(Client, name)), name


def test_every_name_that_is_promised_exists() -> None:
    """Ours: all public names of the official SDK that we have are where the tables say."""
    packages = [pytest.importorskip("mcp"), pytest.importorskip("mcp_types")]
    found = 0
    for package in packages:
        for info in pkgutil.iter_modules(package.__path__, package.__name__ + "."):
            if info.name.endswith(("__main__", ".cli")):
                continue
            module = importlib.import_module(info.name)
            for name in getattr(module, "__all__", ()):
                for home in names.candidates(info.name, name):
                    assert getattr(importlib.import_module(home.module), home.name) is not None
                    found += 1
    assert found > 30
