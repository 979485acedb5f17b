"""What authors are told, at registration, of names, options and hints."""

from __future__ import annotations

import pytest

from tests.support.mistakes import Mistake, check

OPTIONS = [
    Mistake(
        "LM201",
        """\
@mcp.tool("my tool")
def add(a: int) -> int: return 1
""",
        "tool name 'my tool': use 1 to 128 of A-Z a-z 0-9 _ . - (strict_names=False only warns)",
    ),
    Mistake(
        "LM201",
        """\
@mcp.prompt("a b")
def p(a: str) -> str: return a
""",
        "prompt name 'a b': use 1 to 128 of A-Z a-z 0-9 _ . - (strict_names=False only warns)",
    ),
    Mistake(
        "LM202",
        """\
@mcp.tool
def add(a: int) -> int: return 1
@mcp.tool
def add(b: int) -> int: return 1
""",
        "tool 'add' is registered already; give another name= or replace=True",
    ),
    Mistake(
        "LM202",
        """\
@mcp.prompt
def p(a: str) -> str: return a
@mcp.prompt
def p(a: str) -> str: return a
""",
        "prompt 'p' is registered already; give another name= or replace=True",
    ),
    Mistake(
        "LM202",
        """\
@mcp.resource("config://x")
def r() -> str: return ""
@mcp.resource("config://x")
def r() -> str: return ""
""",
        "resource 'config://x' is registered already; give another URI or replace=True",
    ),
    Mistake(
        "LM203",
        """\
@mcp.tool(titel="x")
def add(a: int) -> int: return 1
""",
        "add_tool: unknown option 'titel'; did you mean 'title'?",
    ),
    Mistake(
        "LM203",
        """\
@mcp.tool
def add(a: Annotated[str, Field(minlength=5)]) -> int: return 1
""",
        "Field: unknown option 'minlength'; did you mean 'min_length'?",
    ),
    Mistake(
        "LM203",
        """\
@mcp.prompt(titel="x")
def p(a: str) -> str: return a
""",
        "prompt: unknown option 'titel'; did you mean 'title'?",
    ),
    Mistake(
        "LM204",
        """\
mcp.tool(5)(print)
""",
        "tool name must be a string, not 5",
    ),
    Mistake(
        "LM204",
        """\
@mcp.tool(name=5)
def add(a: int) -> int: return 1
""",
        "tool name must be a string, not 5",
    ),
    Mistake(
        "LM204",
        """\
@mcp.resource("config://x", name=5)
def x() -> str: return ""
""",
        "resource 'config://x': name=5; give a text",
    ),
    Mistake(
        "LM205",
        """\
@mcp.prompt(timeout=0)
def p(a: str) -> str: return a
""",
        "timeout=0: give a positive number, or None for no limit",
    ),
    Mistake(
        "LM205",
        """\
@mcp.tool(timeout="5")
def add(a: int) -> int: return 1
""",
        "timeout='5': give a positive number, or None for no limit",
    ),
    Mistake(
        "LM206",
        """\
@mcp.tool(annotations=ToolAnnotations(read_only_hint="yes"))
def add(a: int) -> int: return 1
""",
        "tool 'add': read_only_hint='yes'; give True or False",
    ),
    Mistake(
        "LM206",
        """\
@mcp.tool(thread="no")
def add(a: int) -> int: return 1
""",
        "thread='no': give True or False",
    ),
    Mistake(
        "LM206",
        """\
@mcp.tool(coerce="yes")
def add(a: int) -> int: return 1
""",
        "coerce='yes': give True or False",
    ),
    Mistake(
        "LM208",
        """\
@mcp.tool(annotations={"readOnlyHint": True})
def add(a: int) -> int: return 1
""",
        "tool 'add': annotations={'readOnlyHint': True}; give leanmcp.types.ToolAnnotations(...)",
    ),
    Mistake(
        "LM208",
        """\
@mcp.resource("config://x", annotations={"priority": 1})
def x() -> str: return ""
""",
        "resource 'config://x': annotations={'priority': 1}; give leanmcp.types.Annotations(...)",
    ),
    Mistake(
        "LM209",
        """\
@mcp.tool(meta={"x": object()})
def add(a: int) -> int: return 1
""",
        "tool 'add': its entry in tools/list cannot be published: object has no JSON form",
    ),
    Mistake(
        "LM209",
        """\
@mcp.tool(title=5)
def add(a: int) -> int: return 1
""",
        "tool 'add': its entry in tools/list cannot be published: title must be a string, not int",
    ),
    Mistake(
        "LM213",
        """\
@mcp.resource("config://x", cache=60)
def r() -> str: return ""
""",
        "resource 'config://x': cache=60; give CacheHint(ttl_ms=..., scope=...)",
    ),
    Mistake(
        "LM214",
        """\
async def m(a): pass
MCPServer("x", middleware=[m])
""",
        "middleware m: it is called with two, (request, call_next)",
    ),
    Mistake(
        "LM216",
        """\
class A:
    def add(self, a: int) -> int: return 1
mcp.add_tools(A())
""",
        "an object of A has no tools; mark its methods with @tool, from leanmcp import tool",
    ),
    Mistake(
        "LM217",
        """\
class A:
    @tool
    def add(self, a: int) -> int: return 1
mcp.add_tools(A)
""",
        "A.add is a method of instances; give one, as in add_tools(A(...))",
    ),
    Mistake(
        "LM218",
        """\
@tool
class A: pass
""",
        "@tool marks functions and methods, not <class '__main__.A'>; put it below @property and the like",
    ),
    Mistake(
        "LM219",
        """\
mcp.remove_tool("x")
""",
        "there is no tool 'x'",
    ),
    Mistake(
        "LM219",
        """\
mcp.enable_tool("addd")
""",
        "there is no tool 'addd'",
    ),
    Mistake(
        "LM219",
        """\
@mcp.tool
def add(a: int) -> int: return 1
mcp.disable_tool("ad")
""",
        "there is no tool 'ad'; did you mean 'add'?",
    ),
    Mistake(
        "LM220",
        """\
@mcp.completion("p", "a")
def c(value): return []
""",
        "completion('p', 'a'): Unknown prompt: 'p'; register it before",
    ),
    Mistake(
        "LM220",
        """\
@mcp.completion("p")
def c(value): return []
""",
        "completion(ref, argument): give both, or none of them for one handler",
    ),
    Mistake(
        "LM220",
        """\
@mcp.prompt
def p(a: str) -> str: return a
@mcp.completion("p", "b")
def c(value): return []
""",
        "completion('p', 'b'): Unknown argument 'b' of prompt 'p'; it has a; register it before",
    ),
    Mistake(
        "LM221",
        """\
Handles(kind="my basket", ttl=5)
""",
        "kind='my basket': give one word, such as 'basket'",
    ),
    Mistake(
        "LM221",
        """\
Handles(kind="basket", ttl=0)
""",
        "ttl=0: give a lifetime in seconds; whoever knows a handle may use it until then",
    ),
    Mistake(
        "LM223",
        """\
Field(default=1, default_factory=list)
""",
        "Field: give default or default_factory, not both",
    ),
    Mistake(
        "LM223",
        """\
class Book(Model):
    year: int = Field(ge=3, description=5)
""",
        "Field: description=5; give a string",
    ),
    Mistake(
        "LM223",
        """\
class Book(Model):
    year: int = Field(ge=3, examples=5)
""",
        "Field: examples=5; give a list",
    ),
    Mistake(
        "LM224",
        """\
@mcp.tool(sanitize=5)
def add(a: int) -> int: return 1
""",
        "sanitize=5: give a function from a value to what may go out",
    ),
    Mistake(
        "LM226",
        """\
class Search(Extension):
    identifier = "search"
MCPServer("x", extensions=[Search()])
""",
        "Search.identifier is 'search'; give a prefix in reverse DNS order, a slash and a name, such as "
        "'com.example/search'",
    ),
]


@pytest.mark.parametrize("mistake", OPTIONS, ids=lambda mistake: mistake.message[:60])
def test_an_option_that_cannot_be_is_told_at_registration(mistake: Mistake) -> None:
    """Ours: goals U9 to U12; each message says what, where and what to write instead, and has one page."""
    check(mistake)
