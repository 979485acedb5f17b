"""LM3xx: schemas, written by hand or made from types."""

from __future__ import annotations

from .record import Page

PAGES: tuple[Page, ...] = (
    Page(
        "LM301",
        "input_schema= does not describe an object",
        r'must have "type": "object" at its root',
        "Arguments travel as one JSON object.",
        """\
@mcp.tool(input_schema={"type": "string"})
def echo(arguments: dict) -> str: return ""
""",
        """\
@mcp.tool(input_schema={"type": "object", "properties": {"text": {"type": "string"}}})
def echo(arguments: dict) -> str: return ""
""",
    ),
    Page(
        "LM302",
        "a schema is no dict",
        r"must be a JSON Schema as a dict",
        "A schema in a file is read with json.loads before; the schema of a class is made from the annotation.",
        """\
@mcp.tool(input_schema='{"type": "object"}')
def echo(arguments: dict) -> str: return ""
""",
        """\
@mcp.tool(input_schema={"type": "object"})
def echo(arguments: dict) -> str: return ""
""",
    ),
    Page(
        "LM303",
        "a schema refers to another document",
        r"which is not part of the schema; nothing is fetched",
        "Nothing is loaded from elsewhere: it could change, or not be there. Put it under $defs.",
        """\
@mcp.tool(input_schema={"type": "object", "properties": {"a": {"$ref": "common.json"}}})
def echo(arguments: dict) -> str: return ""
""",
        """\
@mcp.tool(input_schema={"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": {}}})
def echo(arguments: dict) -> str: return ""
""",
    ),
    Page(
        "LM304",
        "a keyword of a schema has a value that it cannot have",
        r"_schema: '[^']+' at \S+ must be",
        "The path names the keyword; the dialect is JSON Schema 2020-12, unless $schema says another.",
        """\
@mcp.tool(input_schema={"type": "object", "properties": {"a": {"type": "strng"}}})
def echo(arguments: dict) -> str: return ""
""",
        """\
@mcp.tool(input_schema={"type": "object", "properties": {"a": {"type": "string"}}})
def echo(arguments: dict) -> str: return ""
""",
    ),
    Page(
        "LM305",
        "a reference leads nowhere",
        r"where there is no subschema",
        "Below # stands a path in the same schema, such as #/$defs/point.",
        """\
@mcp.tool(input_schema={"type": "object", "properties": {"a": {"$ref": "#/definitions/a"}}, "$defs": {"a": {}}})
def echo(arguments: dict) -> str: return ""
""",
        """\
@mcp.tool(input_schema={"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": {}}})
def echo(arguments: dict) -> str: return ""
""",
    ),
    Page(
        "LM306",
        "a property of input_schema= has no parameter",
        r"has the property .* but the function has no such parameter",
        "The function would not get what the schema lets clients send.",
        """\
@mcp.tool(input_schema={"type": "object", "properties": {"a": {}, "b": {}}})
def echo(a=None) -> str: return ""
""",
        """\
@mcp.tool(input_schema={"type": "object", "properties": {"a": {}, "b": {}}})
def echo(a=None, **others) -> str: return ""
""",
    ),
    Page(
        "LM307",
        "a parameter is no property of input_schema=",
        r"has no property .* but the function has such a parameter",
        "No client would send it.",
        """\
@mcp.tool(input_schema={"type": "object", "properties": {"text": {}}})
def echo(txt=None) -> str: return ""
""",
        """\
@mcp.tool(input_schema={"type": "object", "properties": {"text": {}}})
def echo(text=None) -> str: return ""
""",
    ),
    Page(
        "LM308",
        "input_schema= does not require a parameter that has no default",
        r"does not require .*; give the parameter a default",
        "A client may leave it out, and the function could not be called.",
        """\
@mcp.tool(input_schema={"type": "object", "properties": {"text": {}}})
def echo(text) -> str: return text
""",
        """\
@mcp.tool(input_schema={"type": "object", "properties": {"text": {}}, "required": ["text"]})
def echo(text) -> str: return text
""",
    ),
    Page(
        "LM309",
        "extra_args= or coerce= stands beside input_schema=",
        r"are about derived schemas; input_schema= is enforced as written",
        "A schema written by hand says itself what it lets through: additionalProperties.",
        """\
@mcp.tool(input_schema={"type": "object"}, extra_args="forbid")
def echo(arguments: dict) -> str: return ""
""",
        """\
@mcp.tool(input_schema={"type": "object", "additionalProperties": False})
def echo(arguments: dict) -> str: return ""
""",
    ),
    Page(
        "LM310",
        "structured_output=True, and no type to make a schema from",
        r"structured_output=True needs a return annotation",
        "The output schema is made from the type that the function returns.",
        """\
@mcp.tool(structured_output=True)
def add(a: int, b: int): return a + b
""",
        """\
@mcp.tool(structured_output=True)
def add(a: int, b: int) -> int: return a + b
""",
    ),
    Page(
        "LM311",
        "wrap_result=, and nothing to wrap",
        r"wrap_result= is about structured content",
        "The tool sends text or content blocks only.",
        """\
@mcp.tool(wrap_result=True, structured_output=False)
def add(a: int, b: int) -> int: return a + b
""",
        """\
@mcp.tool(wrap_result=True)
def add(a: int, b: int) -> int: return a + b
""",
    ),
    Page(
        "LM312",
        "output_schema= and structured_output=False",
        r"structured_output=False sends no structured content",
        "The schema would describe what is never sent.",
        """\
@mcp.tool(output_schema={"type": "object"}, structured_output=False)
def add(a: int, b: int) -> dict: return {"sum": a + b}
""",
        """\
@mcp.tool(output_schema={"type": "object"})
def add(a: int, b: int) -> dict: return {"sum": a + b}
""",
    ),
    Page(
        "LM313",
        "a pattern is no regular expression of JSON Schema",
        r"is not a valid regular expression|pattern .*: (the property|group|over) ",
        "Patterns are those of ECMA-262, which every client can check: no \\A, \\Z, (?i) or possessive quantifiers.",
        """\
@mcp.tool
def find(word: Annotated[str, Field(pattern="(a")]) -> str: return word
""",
        """\
@mcp.tool
def find(word: Annotated[str, Field(pattern="^a")]) -> str: return word
""",
    ),
    Page(
        "LM314",
        "a pattern could stop the server",
        r"can match one text in so many ways",
        "A sender may choose a text for which the search takes hours, because repeated parts overlap.",
        """\
@mcp.tool
def find(word: Annotated[str, Field(pattern="^(a+)+$")]) -> str: return word
""",
        """\
@mcp.tool
def find(word: Annotated[str, Field(pattern="^a+$")]) -> str: return word
""",
    ),
    Page(
        "LM315",
        "a schema names a dialect that is not known",
        r"names an unsupported dialect",
        "Leave $schema out for 2020-12, or name one that the message lists.",
        """\
@mcp.tool(input_schema={"type": "object", "$schema": "https://example.com/mine"})
def echo(arguments: dict) -> str: return ""
""",
        """\
@mcp.tool(input_schema={"type": "object"})
def echo(arguments: dict) -> str: return ""
""",
    ),
    Page(
        "LM316",
        "a schema refers to itself without end",
        r"refers to itself without end|a type alias that refers to itself",
        "The reference stands for itself, with no property or item between.",
        """\
@mcp.tool(input_schema={"type": "object", "$ref": "#"})
def echo(arguments: dict) -> str: return ""
""",
        """\
@mcp.tool(input_schema={"type": "object", "properties": {"inner": {"$ref": "#"}}})
def echo(arguments: dict) -> str: return ""
""",
    ),
    Page(
        "LM317",
        "input_schema= has a property of the name of the context parameter",
        r"_schema has a property .*; rename the context parameter",
        "The parameter gets the request, so that the property would reach nobody.",
        """\
@mcp.tool(input_schema={"type": "object", "properties": {"ctx": {}}})
def echo(ctx: Context, **rest) -> str: return ""
""",
        """\
@mcp.tool(input_schema={"type": "object", "properties": {"ctx": {}}})
def echo(request: Context, **rest) -> str: return ""
""",
    ),
)
