"""What authors are told of annotations, marks and arguments that were meant otherwise, with what to write instead."""

from __future__ import annotations

import asyncio
import logging
from typing import Any, ClassVar

import pytest

from leanmcp import MCPServer, Model
from leanmcp.run import entered
from tests.support.mistakes import PRELUDE, Mistake, check, codes_of, run_program

_NO_JSON = "tool 'f': parameter 'a' has type {}: it has no JSON form that can be decoded; {}"

TYPES = [
    Mistake(
        "LM130",
        """\
@mcp.tool
def f(a: any) -> str: return ""
""",
        _NO_JSON.format("any", "any is a function; write typing.Any"),
    ),
    Mistake(
        "LM130",
        """\
@mcp.tool
def f(a: callable) -> str: return ""
""",
        _NO_JSON.format("callable", "callable is a function and no type; write the type of the value"),
    ),
    Mistake(
        "LM130",
        """\
@mcp.tool
def f(a: datetime) -> str: return ""
""",
        _NO_JSON.format("datetime", "datetime is a module; write a type in it, datetime.datetime"),
    ),
    Mistake(
        "LM130",
        """\
class Book:
    title: str
@mcp.tool
def f(a: Book) -> str: return ""
""",
        _NO_JSON.format("Book", "make it a @dataclass, or class Book(Model), from leanmcp import Model"),
    ),
    Mistake(
        "LM130",
        """\
import contextvars
@mcp.tool
def f(a: contextvars.Context) -> str: return ""
""",
        _NO_JSON.format(
            "Context", "that is _contextvars.Context; the one of the request comes from leanmcp import Context"
        ),
    ),
    Mistake(
        "LM131",
        """\
@mcp.tool
def f(a: "red" or "blue") -> str: return ""
""",
        "tool 'f': parameter 'a' has type 'red', which cannot be resolved: name 'red' is not defined; for fixed texts "
        'write Literal["red", ...], for a type import the name where the function is',
    ),
    Mistake(
        "LM132",
        """\
@mcp.tool
def f(a: (int, str)) -> str: return ""
""",
        "tool 'f': parameter 'a' has type (int, str): it is a value and no type; write tuple[int, str]",
    ),
    Mistake(
        "LM140",
        """\
@mcp.tool
def f(ctx: "Context()") -> str: return ""
""",
        "tool 'f': parameter 'ctx' has type 'Context()': Context is made by the server for each request; "
        "write ctx: Context",
    ),
    Mistake(
        "LM143",
        """\
@mcp.tool
def f(a: Annotated[int, {"minimum": 3}]) -> str: return ""
""",
        "tool 'f': parameter 'a' has type int: the dict beside it says nothing here; write Field(ge=3)",
    ),
    Mistake(
        "LM153",
        """\
from mcp.server.mcpserver import Context as Theirs
@mcp.tool
def f(ctx: Theirs | None = None) -> str: return ""
""",
        "tool 'f': parameter 'ctx' has type mcp.server.mcpserver.context.Context, of another MCP library; "
        "from leanmcp import Context",
    ),
    Mistake(
        "LM154",
        """\
class Book(Model):
    title = "x"
""",
        "Book.title has no type, so that it is no field; write title: str = 'x', or title: ClassVar = 'x' for a "
        "constant",
    ),
    Mistake(
        "LM155",
        """\
class Book(Model):
    def __init__(self) -> None: pass
""",
        "Book.__init__: a Model makes its own __init__; write __post_init__(self) for checks",
    ),
]

ARGUMENTS = [
    *[
        Mistake(
            "LM106",
            f"""\
def log(function): print(function.__name__)
@mcp.{noun}
@log
def f(a: int) -> str: return ""
""",
            f"a {noun} is a function, not None; let the decorator below @mcp.{noun} return the function that it makes",
        )
        for noun in ("tool", "prompt")
    ],
    Mistake(
        "LM106",
        """\
def log(function): print(function.__name__)
@mcp.tool()
@log
def f(a: int) -> str: return ""
""",
        "a tool is a function, not None; does the decorator below return one?",
    ),
    Mistake(
        "LM110",
        """\
import dataclasses
@mcp.tool
def f(a: int = dataclasses.field(default=3)) -> str: return ""
""",
        "tool 'f': parameter 'a': the default dataclasses.field() does not fit int; write a: int = 3",
    ),
    Mistake(
        "LM119",
        """\
class Shop:
    @tool
    def buy(item: str) -> str: return item
mcp.add_tools(Shop())
""",
        "tool 'buy': the first parameter 'item' has a type, so self is missing; write def buy(self, item)",
    ),
    Mistake(
        "LM119",
        """\
class Shop:
    def buy() -> str: return ""
mcp.add_tool(Shop().buy)
""",
        "tool 'buy': no parameter, so self is missing; write def buy(self)",
    ),
    Mistake(
        "LM120",
        """\
mcp.add_tool("search", print)
""",
        'add_tool: the function comes first; write add_tool(print, "search")',
    ),
    Mistake(
        "LM120",
        """\
mcp.add_resource("a://b", lambda: "x")
""",
        "add_resource: the function comes first; write add_resource(function, 'a://b')",
    ),
    Mistake(
        "LM120",
        """\
mcp.add_resource("a://b")
""",
        "add_resource: the function comes first; write add_resource(function, 'a://b')",
    ),
    Mistake(
        "LM120",
        """\
mcp.add_resource(print)
""",
        'add_resource: the URI is missing; write add_resource(function, "data://name")',
    ),
    Mistake(
        "LM120",
        """\
mcp.resource("a://b", print)
""",
        "@mcp.resource takes the URI alone; write @mcp.resource('a://b') above the function",
    ),
    Mistake(
        "LM203",
        """\
@mcp.tool
def f(a: int = Field(min=3)) -> str: return ""
""",
        "Field: unknown option 'min'; give ge= for a number, min_length= for a text or a list",
    ),
    Mistake(
        "LM108",
        """\
class Shop:
    @mcp.tool
    @property
    def open(self) -> bool: return True
""",
        "tool 'open' is a property; take @property away: a tool is a function that is called",
    ),
    Mistake(
        "LM137",
        """\
@dataclass
class Cat:
    name: str
@dataclass
class Dog:
    name: str
@mcp.tool
def feed(pet: Cat | Dog) -> str: return pet.name
""",
        "tool 'feed': parameter 'pet' has type Cat | Dog: JSON does not tell the members of this union apart; make "
        "them Models with a tag each, class Name(Model, tag=True)",
    ),
    Mistake(
        "LM137",
        """\
@mcp.tool
def total(numbers: set[int] | list[str]) -> int: return len(numbers)
""",
        "tool 'total': parameter 'numbers' has type set[int] | list[str]: JSON does not tell the members of this union "
        "apart; write one list of both, such as list[int | str]",
    ),
    Mistake(
        "LM137",
        """\
@mcp.tool
def when(day: datetime.datetime | datetime.date) -> str: return str(day)
""",
        "tool 'when': parameter 'day' has type datetime | date: JSON does not tell the members of this union apart; "
        "keep one of them",
    ),
    Mistake(
        "LM203",
        """\
@mcp.tool(tags={"x"})
def f(a: int) -> str: return ""
""",
        "add_tool: unknown option 'tags'; leave it out; there are no tags, and meta={'tags': [...]} tells clients of "
        "some",
    ),
    Mistake(
        "LM203",
        """\
@mcp.tool(readOnlyHint=True)
def f(a: int) -> str: return ""
""",
        "add_tool: unknown option 'readOnlyHint'; give annotations=ToolAnnotations(read_only_hint=...), from "
        "leanmcp.types import ToolAnnotations",
    ),
    Mistake(
        "LM203",
        """\
@mcp.tool(enabled=False)
def f(a: int) -> str: return ""
""",
        "add_tool: unknown option 'enabled'; leave it out; mcp.disable_tool, disable_prompt and disable_resource hide "
        "what is registered",
    ),
    Mistake(
        "LM203",
        """\
MCPServer("x", on_duplicate_tools="error")
""",
        "MCPServer: unknown option 'on_duplicate_tools'; a name that is taken is refused; replace=True takes its place",
    ),
    Mistake(
        "LM204",
        """\
mcp.tool(5)
""",
        "tool name must be a string, not 5",
    ),
    Mistake(
        "LM216",
        """\
mcp.add_tools([print])
""",
        "add_tools takes an object, class or module, not a list; call add_tool for each function",
    ),
    Mistake(
        "LM216",
        """\
mcp.add_tools(print)
""",
        "add_tools takes an object, class or module, not a function; write add_tool(print)",
    ),
    Mistake(
        "LM221",
        """\
Handles("basket")
""",
        "Handles takes its options by name; write Handles(kind='basket')",
    ),
]


@pytest.mark.parametrize("mistake", TYPES + ARGUMENTS, ids=lambda mistake: mistake.message[:60])
def test_authors_are_told_what_to_write(mistake: Mistake) -> None:
    """Ours: goals U10, U14."""
    check(mistake)


def test_a_context_that_an_author_makes_says_whose_it_is() -> None:
    """Ours: `ctx: Context()`, where annotations are evaluated at once."""
    told = run_program(PRELUDE + "def f(ctx: Context()) -> str: return ''\n")
    assert told is not None
    assert told.message == "Context is made by the server for each request; write ctx: Context"
    assert codes_of(told.message) == ["LM140"]


@pytest.mark.parametrize(
    "source",
    [
        "@mcp.tool(None)\ndef f(a: int) -> str: return ''\n",
        "name = None\n@mcp.tool(\n    name\n)\ndef f(a: int) -> str: return ''\n",
        "@mcp.prompt(name=None)\ndef f(a: int) -> str: return ''\n",
        "class Shop:\n    def buy(me, item: str) -> str: return item\nmcp.add_tool(Shop().buy)\n",
        "class Shop:\n    def buy(me: 'Shop', item: str) -> str: return item\nmcp.add_tool(Shop().buy)\n",
        "@mcp.tool\ndef f(a: Annotated[int, {'unit': 'km'}]) -> str: return ''\n",
        "import mcp.types as theirs\n@mcp.tool\ndef f(a: int) -> list[theirs.Tool]: return []\n",
    ],
)
def test_what_only_looks_like_a_slip_is_registered(source: str) -> None:
    """Ours: goal U12: a good server says nothing."""
    assert run_program(PRELUDE + source) is None


def test_a_model_may_have_what_is_no_field() -> None:
    """Ours: constants, private names, methods, and an override of a constant."""

    class Base(Model):
        """Doc."""

        limit: ClassVar[int] = 3
        _private = 4
        title: str = "a"

        @property
        def short(self) -> str:
            return self.title[: self.limit]

        @classmethod
        def empty(cls) -> Base:
            return cls(title="")

    class Longer(Base):
        limit = 5

    assert (Longer(title="abcdef").short, Longer._private, Longer.empty().title) == ("abcde", 4, "")


def test_a_value_stands_where_the_type_of_a_result_belongs(caplog: pytest.LogCaptureFixture) -> None:
    """Ours: the call works without a schema, so that it is a warning."""

    def look() -> Any: ...

    look.__annotations__["return"] = (int, str)
    with caplog.at_level(logging.WARNING, "leanmcp"):
        MCPServer("demo").add_tool(look)
    assert caplog.messages == [
        "tool 'look': return value has type (int, str): it is a value and no type; write tuple[int, str] [LM132]"
    ]


def _said_at_start(source: str, caplog: pytest.LogCaptureFixture) -> list[str]:
    names: dict[str, Any] = {"__name__": "server"}
    exec(source, names)

    async def start() -> None:
        async with entered(names["mcp"]):
            pass

    with caplog.at_level(logging.WARNING, "leanmcp"):
        asyncio.run(start())
    return caplog.messages


MARKED = """\
from leanmcp import MCPServer, tool
mcp = MCPServer("demo")
@tool
def search(text: str) -> str: return text
"""


def test_a_marked_function_that_nobody_registers_is_told_of_once(caplog: pytest.LogCaptureFixture) -> None:
    """Ours: `@tool` for `@mcp.tool`."""
    (message,) = _said_at_start(MARKED, caplog)
    assert message == (
        "search: marked with @tool, and not registered; write @mcp.tool in its place, or mcp.add_tool(search) [LM228]"
    )
    assert codes_of(message) == ["LM228"]


@pytest.mark.parametrize(
    "rest",
    [
        "mcp.add_tool(search)\n",
        "mcp.add_tool(search)\nmcp.disable_tool('search')\n",
        "import types\nmodule = types.ModuleType('m')\nmodule.search = search\nmcp.add_tools(module)\n",
    ],
)
def test_a_marked_function_that_is_registered_is_not_told_of(rest: str, caplog: pytest.LogCaptureFixture) -> None:
    """Ours: goal U12, however it is registered."""
    assert _said_at_start(MARKED + rest, caplog) == []
