"""What authors are told, at registration, of schemas that they wrote, and of results."""

from __future__ import annotations

import pytest

from tests.support.mistakes import Mistake, check

SCHEMAS = [
    Mistake(
        "LM301",
        """\
@mcp.tool(input_schema={"type": "string"})
def add(arguments: dict) -> int: return 1
""",
        'tool \'add\': input_schema must have "type": "object" at its root',
    ),
    Mistake(
        "LM302",
        """\
@mcp.tool(input_schema="{}")
def add(arguments: dict) -> int: return 1
""",
        "tool 'add': input_schema must be a JSON Schema as a dict of plain JSON values, not str",
    ),
    Mistake(
        "LM302",
        """\
@mcp.tool(output_schema=5)
def add(a: int) -> int: return 1
""",
        "tool 'add': output_schema must be a JSON Schema as a dict of plain JSON values, not int",
    ),
    Mistake(
        "LM303",
        """\
@mcp.tool(output_schema={"$ref": "file:///etc/passwd"})
def add(a: int) -> int: return 1
""",
        "tool 'add': output_schema: '$ref' at /$ref is 'file:///etc/passwd', which is not part of the "
        "schema; nothing is fetched",
    ),
    Mistake(
        "LM304",
        """\
@mcp.tool(input_schema={"type": "object", "properties": {"a": {"type": "strng"}}})
def add(arguments: dict) -> int: return 1
""",
        "tool 'add': input_schema: 'type' at /properties/a/type must be one or several of array, "
        "boolean, integer, null, number, object, string",
    ),
    Mistake(
        "LM304",
        """\
@mcp.tool(output_schema={"type": "objekt"})
def add(a: int) -> int: return 1
""",
        "tool 'add': output_schema: 'type' at /type must be one or several of array, boolean, integer, "
        "null, number, object, string",
    ),
    Mistake(
        "LM307",
        """\
@mcp.tool(input_schema={"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]})
def add(b: str) -> int: return 1
""",
        "tool 'add': input_schema has no property 'b', but the function has such a parameter",
    ),
    Mistake(
        "LM308",
        """\
@mcp.tool(input_schema={"type": "object", "properties": {"a": {"type": "string"}}})
def add(a: str) -> int: return 1
""",
        "tool 'add': input_schema does not require 'a'; give the parameter a default",
    ),
    Mistake(
        "LM309",
        """\
@mcp.tool(input_schema={"type": "object"}, coerce=True)
def add(arguments: dict) -> int: return 1
""",
        "extra_args= and coerce= are about derived schemas; input_schema= is enforced as written",
    ),
    Mistake(
        "LM310",
        """\
@mcp.tool(structured_output=True)
def add(a: int): return 1
""",
        "tool 'add': structured_output=True needs a return annotation that has a schema",
    ),
    Mistake(
        "LM311",
        """\
@mcp.tool(wrap_result=True, structured_output=False)
def add(a: int) -> int: return 1
""",
        "tool 'add': wrap_result= is about structured content, and the tool sends none",
    ),
    Mistake(
        "LM313",
        """\
@mcp.tool
def add(a: Annotated[str, Field(pattern="(")]) -> int: return 1
""",
        "pattern '(' is not a valid regular expression: a group is not closed",
    ),
    Mistake(
        "LM314",
        """\
@mcp.tool
def add(a: Annotated[str, Field(pattern="(a+)+$")]) -> int: return 1
""",
        "pattern '(a+)+$' can match one text in so many ways that a sender could stop the server; let "
        "each repeated part begin or end with a character that no other part takes",
    ),
    Mistake(
        "LM317",
        """\
@mcp.tool(input_schema={"type": "object", "properties": {"ctx": {}}})
def add(ctx: Context, **rest) -> int: return 1
""",
        "tool 'add': input_schema has a property 'ctx'; rename the context parameter",
    ),
    Mistake(
        "LM407",
        """\
MCPServer("x", lifespan=5)
""",
        "lifespan=5 is no function; write @asynccontextmanager above `async def lifespan(server)`, which yields once",
    ),
]


@pytest.mark.parametrize("mistake", SCHEMAS, ids=lambda mistake: mistake.message[:60])
def test_a_schema_that_cannot_be_is_told_at_registration(mistake: Mistake) -> None:
    """Ours: goals U9 to U12; each message says what, where and what to write instead, and has one page."""
    check(mistake)
