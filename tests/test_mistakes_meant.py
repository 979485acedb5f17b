"""What authors are told of types, constraints, attributes and calls of ours that were meant otherwise."""

from __future__ import annotations

import logging

import pytest

from leanmcp import Limits, MCPServer
from tests.support.mistakes import PRELUDE, Mistake, check, codes_of, run_program


def _parameter(written: str) -> str:
    return f"@mcp.tool\ndef f({written}) -> str: return ''\n"


_NO_LITERAL = "tool 'f': parameter 'a' has type {}: JSON has strings, integers, booleans and null for a Literal; {}"
_NO_JSON = "tool 'f': parameter 'a' has type {}: it has no JSON form that can be decoded; {}"
_BASE = "it is the base of classes; write one with your fields, class Name({0}), and name that"
_LATE = "tool 'f': parameter 'a' has type {!r}, which cannot be resolved: {}"
_READ_ONLY = (
    "it is read only; register with mcp.add_tool(function), take away with mcp.remove_tool(name), compare `tool.name`"
)

TYPES = [
    Mistake("LM139", _parameter(f"a: {written}"), _NO_LITERAL.format(shown, advice))
    for written, shown, advice in (
        ("Literal", "Literal", "write Literal['a', 'b']"),
        ("Literal[()]", "Literal[()]", "write Literal['a', 'b']"),
        ("Literal[str]", "Literal[str]", "write str for any value of it, Literal['a', 'b'] for some"),
        ("Literal[['x', 'y']]", "Literal[['x', 'y']]", "write the values themselves, Literal['x', 'y']"),
    )
]
TYPES += [
    Mistake("LM130", f"from typing import *\n{_parameter(f'a: {written}')}", _NO_JSON.format(shown, advice))
    for written, shown, advice in (
        ("Optional", "Optional", "write the type inside, Optional[int], or int | None"),
        ("Union", "Union", "write the types inside, Union[int, str], or int | str"),
        ("tuple[...]", "Ellipsis", "write tuple[int, ...] for a tuple of any length"),
        ("Iterator[int]", "Iterator[int]", "write list[...] of what it gives"),
        ("Model", "Model", _BASE.format("Model")),
        ("TypedDict", "TypedDict", _BASE.format("TypedDict")),
        ("File", "File", "clients send no files; take a path or an address, as str"),
        (
            "MCPServer",
            "MCPServer",
            "use the server that the module made; what belongs to the request is in ctx: Context",
        ),
    )
]
TYPES += [
    Mistake(
        "LM132",
        _parameter("a: not int"),
        "tool 'f': parameter 'a' has type False: it is a value and no type; write its type, or Literal[...] for this "
        "alone",
    ),
    Mistake(
        "LM131",
        _parameter('a: "Annotated[5, Field(ge=1)]"'),
        _LATE.format("Annotated[5, Field(ge=1)]", "'int' object has no attribute '__module__'")
        + "; the type stands first in Annotated[type, ...]",
    ),
    Mistake(
        "LM131",
        _parameter("a: \"int | 'str'\""),
        _LATE.format("int | 'str'", "unsupported operand type(s) for |: 'type' and 'str'")
        + "; correct how the type is written",
    ),
    Mistake(
        "LM131",
        _parameter("a: Annotated['who', str]"),
        "tool 'f': parameter 'a' has type typing.Annotated[ForwardRef('who'), <class 'str'>], which cannot be "
        "resolved: name 'who' is not defined; the type stands first, Annotated[str, 'who']",
    ),
    *[
        Mistake(
            "LM110",
            _parameter(f"a: {kind} = {default}"),
            f"tool 'f': parameter 'a': the default {default} does not fit {kind}; call it, a: {kind} = {default}()",
        )
        for kind, default in (("int", "int"), ("list[int]", "list"), ("str", "print"), ("int", "Field"))
    ],
]

FIELDS = [
    *[
        Mistake("LM203", f"Field({name}=5)\n", f"Field: unknown option {name!r}; {advice}")
        for name, advice in (
            ("max_items", "give max_length="),
            ("minLength", "give min_length="),
            ("format", "it is published with json_schema_extra={'format': ...}"),
            ("exclude", "what clients must not send is Annotated[Type, Depends(function)]"),
            ("strict", "leave it out, and check the value in the function"),
            ("optional", "what has a default may be left out"),
        )
    ],
    *[
        Mistake("LM223", f"Field({options})\n", f"Field: {told}")
        for options, told in (
            ("default_factory=[]", "default_factory=[]; give a function, such as list"),
            ("json_schema_extra='x'", "json_schema_extra='x'; give a dict"),
            ("multiple_of=0", "multiple_of=0; give a number above 0"),
            ("gt=1, ge=2", "gt=1 and ge=2; give one of them"),
            ("lt=1, le=2", "lt=1 and le=2; give one of them"),
        )
    ],
]

MEMBERS = [
    Mistake("LM230", "mcp.tools.append(print)\n", f"mcp.tools has no 'append': {_READ_ONLY}"),
    Mistake("LM230", "mcp.tools.get('f')\n", f"mcp.tools has no 'get': {_READ_ONLY}"),
    Mistake("LM230", "mcp.tools['f']\n", f"mcp.tools['f']: {_READ_ONLY}"),
    Mistake("LM230", "'f' in mcp.tools\n", f"'f' in mcp.tools: {_READ_ONLY}"),
    Mistake("LM230", "mcp.tools += [print]\n", f"mcp.tools cannot be changed: {_READ_ONLY}"),
    Mistake("LM230", "mcp.tools[0] = print\n", f"mcp.tools cannot be changed: {_READ_ONLY}"),
    Mistake("LM230", "del mcp.tools[0]\n", f"mcp.tools cannot be changed: {_READ_ONLY}"),
    Mistake(
        "LM230",
        "@mcp.tools\ndef f() -> str: return ''\n",
        "mcp.tools cannot be called: the decorator is @mcp.tool",
    ),
    *[
        Mistake("LM231", f"mcp.{name} = None\n", f"mcp.{name} cannot be set; {advice}")
        for name, advice in (
            ("tools", "call mcp.add_tool for each"),
            ("middleware", "write mcp.middleware.append(function)"),
            ("title", "give it to MCPServer(title=...), or to mcp.run"),
            ("port", 'give it to mcp.run("http", port=...)'),
            ("log_level", "set the logger up: logging.getLogger('leanmcp').setLevel(...)"),
        )
    ],
]

_FEW = "missing 1 required positional argument: {!r}; it is called as {}"
CALLS = [
    *[
        Mistake("LM232", f"{called}\n", f"{name}() {_FEW.format(missing, shown)}")
        for called, name, missing, shown in (
            ("mcp.add_tools()", "add_tools", "source", "add_tools(source)"),
            ("mcp.add_tool(func=print)", "add_tool", "fn", "add_tool(fn, ...)"),
            ("mcp.resource()", "resource", "uri", "resource(uri, ...)"),
            ("mcp.add_file('a.txt')", "add_file", "path", "add_file(uri, path, ...)"),
            ("mcp.override(print)", "override", "replacement", "override(dependency, replacement)"),
            ("mcp.tool()()", "register", "function", "register(function)"),
        )
    ],
    Mistake(
        "LM232",
        "Field(5, 6)\n",
        "Field() takes from 0 to 1 positional arguments but 2 were given; it is called as Field(default, ...)",
    ),
    Mistake(
        "LM232",
        "MCPServer(*'abcdefgh')\n",
        "MCPServer() takes from 1 to 8 positional arguments but 9 were given; it is called as "
        "MCPServer(name, title, description, instructions, website_url, icons, version, ...)",
    ),
    Mistake("LM232", "UserMessage()\n", "UserMessage: content= is missing; it is called as UserMessage(content=...)"),
    Mistake(
        "LM420",
        "TextContent('x')\n",
        "TextContent: an option has no name; write TextContent(annotations=..., meta=..., text=...)",
    ),
    Mistake("LM203", "UserMessage(txt='x')\n", "UserMessage: unknown option 'txt'"),
    Mistake(
        "LM420",
        "Limits(5)\n",
        "Limits: an option has no name; write Limits(max_request_line=..., max_head_size=..., max_fields=...)",
    ),
    Mistake(
        "LM106",
        "mcp.tool([print])\n",
        "a tool is a function, not a list; call mcp.add_tool(function) for each of them",
    ),
    Mistake(
        "LM407",
        "mcp.lifespan = 3\n",
        "lifespan=3 is no function; write @asynccontextmanager above `async def lifespan(server)`, which yields once",
    ),
    Mistake("LM212", "mcp.limits = 5\n", "limits=5: give Limits(max_body_size=..., ...)"),
    Mistake("LM219", "mcp.remove_tool(print)\n", "print is no name of a tool; give it as text, such as 'print'"),
    Mistake(
        "LM220",
        "mcp.completion(print, 'language')\n",
        "completion(ref, argument): both are texts, ('review', 'language'); give one argument",
    ),
    Mistake(
        "LM302",
        "mcp.add_tool(print, input_schema={'type': 'object', 'properties': {'a': {'type': int}}})\n",
        "tool 'print': input_schema must be a JSON Schema as a dict of plain JSON values, not 'type': <class 'int'>",
    ),
    Mistake("LM206", "MCPServer('x', listen='yes')\n", "listen='yes': give True or False"),
    Mistake(
        "LM211",
        "MCPServer('x', website_url='x.org')\n",
        "MCPServer: website_url='x.org'; give a URL, with its scheme",
    ),
    Mistake(
        "LM213",
        "MCPServer('x', cache_hints=60)\n",
        "cache_hints=60: give CacheHint(...) by method, such as {'tools/list': ...}",
    ),
    *[
        Mistake("LM203", f"MCPServer('x', {name}=None)\n", f"MCPServer: unknown option {name!r}; {advice}")
        for name, advice in (
            ("on_startup", "give lifespan=, which opens and closes"),
            ("prompts", "call mcp.add_prompt for each"),
            ("timeout", "give it to each tool, @mcp.tool(timeout=...)"),
        )
    ],
    Mistake(
        "LM203",
        "mcp.resource('a://b', ttl=5)(lambda: '')\n",
        "resource: unknown option 'ttl'; a resource has cache=CacheHint(ttl_ms=...); no other result is kept",
    ),
]


@pytest.mark.parametrize(
    "mistake", [*TYPES, *FIELDS, *MEMBERS, *CALLS], ids=lambda mistake: mistake.source.splitlines()[-1][:60]
)
def test_what_was_meant_is_told_at_registration(mistake: Mistake) -> None:
    """Ours: goals U9 to U12; each message says what, where and what to write instead, and has one page."""
    check(mistake)


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("Annotated[int, range(5)]", "int: the range beside it says nothing here; write Field(ge=0, le=4)"),
        (
            "Annotated[str, ['x', 'y']]",
            "str: the list beside it says nothing here; for these values only, write Literal['x', 'y']",
        ),
        (
            "Annotated[int, int]",
            "int: the type beside it says nothing here; a description is a text, a bound is Field(ge=...)",
        ),
        (
            "Annotated[int, 5]",
            "int: the int beside it says nothing here; a description is a text, a bound is Field(ge=...)",
        ),
        (
            "Annotated[int, pydantic.Field(json_schema_extra=lambda schema: None)]",
            "int: the json_schema_extra beside it says nothing here, for it is a function; give a dict",
        ),
    ],
)
def test_a_value_beside_a_type_is_told_and_changes_nothing(
    written: str, told: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Ours: goal U12; typing lets other libraries read what stands there (PEP 593), so that it is no mistake."""
    with caplog.at_level(logging.WARNING, "leanmcp"):
        assert run_program(PRELUDE + "import pydantic\n" + _parameter(f"a: {written}")) is None
    message = f"tool 'f': parameter 'a' has type {told}"
    assert [record.getMessage() for record in caplog.records] == [f"{message} [LM143]"]
    assert codes_of(message) == ["LM143"]


def test_options_beside_the_function_count() -> None:
    """Ours: `mcp.tool(function, ...)` is `mcp.add_tool(function, ...)`: nothing that is given is lost."""
    mcp = MCPServer("demo")

    def add(a: int) -> int:
        return a

    register = getattr(mcp, "tool")  # noqa: B009  type checkers know the decorator only
    assert register(add, name="sum", title="Sum") is add
    assert register(add, "plus") is add
    assert [(tool.name, tool.entry.title) for tool in mcp.tools] == [("sum", "Sum"), ("plus", None)]

    def ask() -> str:
        return "?"

    assert getattr(mcp, "prompt")(ask, name="who") is ask  # noqa: B009


def test_attributes_of_a_program_may_be_set() -> None:
    """Ours: only what would seem to have an effect is refused, and in classes of the author's nothing."""

    class Mine(MCPServer):
        port = 0

    mcp = MCPServer("demo")
    vars(mcp)["database"] = mcp.instructions = "later"
    mcp.limits = Limits(threads=3)
    assert mcp.limits.threads == 3
    mine = Mine("mine")
    mine.port = 5
    assert mine.port == 5
