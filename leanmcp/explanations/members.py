"""LM23x: attributes of a server, and how its methods are called."""

from __future__ import annotations

from .record import Page

PAGES: tuple[Page, ...] = (
    Page(
        "LM230",
        "mcp.tools is changed",
        r"it is read only; register with mcp\.add_tool|mcp\.tools cannot be called",
        "mcp.tools shows what is registered; add_tool, remove_tool, disable_tool and enable_tool change that.",
        """\
def add(a: int, b: int) -> int: return a + b
mcp.tools.append(add)
""",
        """\
def add(a: int, b: int) -> int: return a + b
mcp.add_tool(add)
""",
    ),
    Page(
        "LM231",
        "an attribute of a server is set where it has no effect",
        r"mcp\.\w+ cannot be set; ",
        "What a server tells of itself, and how tools are published, is given when it is made; host and port are given "
        "to run().",
        """\
mcp.title = "Demo"
""",
        """\
mcp = MCPServer("demo", title="Demo")
""",
    ),
    Page(
        "LM232",
        "a function of leanmcp is called with other arguments than it takes",
        r"it is called as [\w.]+\(",
        "The message shows what stands in the parentheses; dots stand for what may be left out.",
        """\
mcp.add_directory("docs")
""",
        """\
mcp.add_directory("docs://{+path}", ".")
""",
    ),
)
