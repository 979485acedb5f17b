"""Rules about what a tool takes: bounds, defaults, secrets, headers, and schemas that hosts refuse.

Spec 2026-07-28: server/tools, "Tool" and "x-mcp-header"; basic/index, "JSON Schema Usage".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from .. import schema as json_schema
from ..protocol.headers import plan_params
from ..server.form_rules import secret_word
from .possible import misfit
from .record import Hit, Part, Server, each, rule
from .schemas import inputs, kinds_of, properties_of, schemas, some_of, walk

_DEEPEST = 10  # levels of values inside of values; strict modes of model vendors take no more
_MOST = 500  # subschemas of one schema
_COMPOSED = ("oneOf", "anyOf", "allOf", "not", "enum", "const", "$ref", "if")
# Tokens that are no secret: places in a list.
_NO_SECRET = re.compile(r"(page|next|previous|continuation|cursor|sync|progress)[-_ ]?token$", re.IGNORECASE)
_MOMENT = re.compile(r":\d\d\.\d{6}")  # nobody writes microseconds by hand
_DESCRIPTION = re.compile(r"[A-Z][a-z]+ [a-z][\w' -]*\.?")  # "Search text", not "New York"


@rule(
    "LC301",
    "input-type",
    "error",
    "The inputSchema of a tool is missing, or its root is not of the type object.",
    'Write "type": "object".',
)
@each("tool")
def _root_type(part: Part) -> Iterator[Hit]:
    schema = part.entry.get("inputSchema")
    if not isinstance(schema, dict):
        text = "it has no inputSchema, without which clients refuse it"
        yield part.hit(text, 'give {"type": "object", "properties": {}} for a tool without arguments')
    elif schema.get("type") != "object":
        yield part.hit(f"its inputSchema has the type {schema.get('type')!r} at its root; arguments are an object")


@rule(
    "LC302",
    "input-union",
    "warning",
    "The inputSchema of a tool has oneOf, anyOf, allOf, not, enum, const, if or $ref at its root.",
    "Say it one level down, inside of a property.",
    r"at its root",
)
@each("tool")
def _root_union(part: Part) -> Iterator[Hit]:
    found = [keyword for keyword in _COMPOSED if keyword in part.schema("inputSchema")]
    if found:
        text = f"its inputSchema has {', '.join(found)} at its root; some model vendors refuse the whole list for it"
        yield part.hit(text)


@rule(
    "LC303",
    "input-properties",
    "warning",
    "The inputSchema of a tool has no `properties`, without which some hosts refuse it.",
    'Write "properties": {} where there are none.',
)
@each("tool")
def _root_properties(part: Part) -> Iterator[Hit]:
    schema = part.schema("inputSchema")
    if schema.get("type") == "object" and "properties" not in schema:
        yield part.hit("its inputSchema has no `properties`; some hosts refuse the tool for it")


@rule(
    "LC304",
    "schema-reference",
    "error",
    "A schema refers to something outside of it, which clients must not fetch.",
    "Copy it under $defs, and refer to #/$defs/...",
)
@each("tool")
def _reference(part: Part) -> Iterator[Hit]:
    for member, schema in schemas(part):
        for reference in _remote(schema):
            yield part.hit(f"its {member} refers to {reference[:80]!r}, which clients must not fetch")


def _remote(schema: dict[str, Any]) -> list[str]:
    """Return the references that lead out of a schema, each once."""
    known, found = set(), []
    for sub in walk(schema):
        if isinstance(sub.schema.get("$id"), str):
            known.add(sub.schema["$id"].partition("#")[0])
        found += [text for name in ("$ref", "$dynamicRef") if isinstance(text := sub.schema.get(name), str)]
    return [
        text
        for text in dict.fromkeys(found)
        if not text.startswith("#") and text.partition("#")[0] not in known and not text.startswith(_METASCHEMAS)
    ]


_METASCHEMAS = ("https://json-schema.org/", "http://json-schema.org/")


@rule(
    "LC305",
    "schema-invalid",
    "error",
    "A schema is none, or one that cannot be enforced.",
    "Write it in JSON Schema 2020-12.",
)
def _invalid(server: Server) -> Iterator[Hit]:
    if server.enforced:
        return
    for part in server.of("tool"):
        for member, schema in schemas(part):
            if _remote(schema):
                continue  # another rule says it better
            try:
                json_schema.compile(schema)
            except json_schema.SchemaError as fault:
                yield part.hit(f"its {member} is no schema that can be enforced: {fault}")
            except RecursionError:
                yield part.hit(f"its {member} lies too deep to be read", "make it flat")


@rule(
    "LC306",
    "schema-deep",
    "warning",
    "A schema has values more than 10 levels deep, or over 500 subschemas.",
    "Make it flat, split the tool, or take a part of it as a text.",
)
@each("tool")
def _deep(part: Part) -> Iterator[Hit]:
    for member, schema in schemas(part):
        subs = list(walk(schema))
        depth = max((sub.depth for sub in subs), default=0)
        if depth > _DEEPEST:
            text = f"its {member} has values {depth} levels deep; models and their vendors take {_DEEPEST}"
            yield part.hit(text, "make it flat, or take a part of it as a text")
        if len(subs) > _MOST:
            text = f"its {member} has over {_MOST} subschemas; models and their vendors take fewer"
            yield part.hit(text, "split the tool, or take a part of it as a text")


@rule(
    "LC307",
    "schema-dialect",
    "hint",
    "A schema names its dialect with $schema, for which some hosts drop the tool.",
    "Write it in 2020-12, and leave $schema out.",
)
@each("tool")
def _dialect(part: Part) -> Iterator[Hit]:
    for member, schema in schemas(part):
        if "$schema" in schema:
            text = f"its {member} names the dialect {str(schema['$schema'])[:80]!r}; some hosts drop the tool for it"
            yield part.hit(text)


# --- values -----------------------------------------------------------------------------------------------------------


@rule(
    "LC308",
    "default",
    "error",
    "The default of an argument does not fit its own schema.",
    "Correct the default or the schema.",
)
@each("tool")
def _default(part: Part) -> Iterator[Hit]:
    root = part.schema("inputSchema")
    for sub in walk(root):
        if "default" not in sub.schema:
            continue
        rest = {name: value for name, value in sub.schema.items() if name != "default"}
        why = misfit(rest, sub.schema["default"], root)
        if why:
            shown = repr(sub.schema["default"])[:60]
            yield part.hit(f"the default {shown} of {sub.shown} does not fit its own schema: {why}")


@rule(
    "LC314",
    "default-moment",
    "warning",
    "A default is the time at which the file was loaded, for as long as the server runs.",
    "Make None the default, and take the time in the function.",
)
@each("tool")
def _default_moment(part: Part) -> Iterator[Hit]:
    for sub in walk(part.schema("inputSchema")):
        default = sub.schema.get("default")
        if isinstance(default, str) and sub.schema.get("format") == "date-time" and _MOMENT.search(default):
            text = f"the default of {sub.shown} is the moment at which the file was loaded"
            fix = "write `| None = None`, and take the time in the function"
            yield part.hit(text, fix)


@rule(
    "LC315",
    "default-text",
    "hint",
    "A default reads like a description, as the first argument of Field is the default.",
    "Write Field(description=...).",
)
@each("tool")
def _default_text(part: Part) -> Iterator[Hit]:
    for name, schema in properties_of(part.schema("inputSchema")).items():
        default = schema.get("default") if isinstance(schema, dict) else None
        if isinstance(default, str) and "description" not in schema and _DESCRIPTION.fullmatch(default):
            text = f"the default {default[:60]!r} of {name!r} reads like a description"
            yield part.hit(text, "write Field(description=...) if it is one")


@rule(
    "LC309",
    "unbounded-text",
    "hint",
    "A text may be of any length.",
    "Bound it with Field(max_length=...).",
)
@each("tool")
def _unbounded_text(part: Part) -> Iterator[Hit]:
    found = [
        sub.where
        for sub in inputs(part)
        if kinds_of(sub.schema) == {"string"}
        and not sub.schema.keys() & {"maxLength", "enum", "const", "format", "pattern", "contentEncoding"}
    ]
    if found:
        yield part.hit(f"{_names(found)} may be of any length")


@rule(
    "LC310",
    "unbounded-list",
    "hint",
    "A list may have any number of items.",
    "Bound it with Field(max_length=...).",
)
@each("tool")
def _unbounded_list(part: Part) -> Iterator[Hit]:
    lists = [sub for sub in inputs(part) if kinds_of(sub.schema) == {"array"} and "maxItems" not in sub.schema]
    found = [sub.where for sub in lists if sub.schema.get("items") is not False]
    if found:
        yield part.hit(f"{_names(found)} may have any number of items")


def _names(found: list[str]) -> str:
    return some_of(list(dict.fromkeys(repr(name) if name else "the whole value" for name in found)))


@rule(
    "LC311",
    "argument-secret",
    "warning",
    "A tool takes a password, a key or the like as an argument, which models, hosts and their logs will see.",
    "Let the server keep it, or ask for it on a page with ElicitURL.",
)
def _argument_secret(server: Server) -> Iterator[Hit]:
    for part in server.of("tool"):
        for sub in inputs(part):
            for name, schema in properties_of(sub.schema).items():
                bare = {key: value for key, value in schema.items() if key != "description"}
                word = None if _NO_SECRET.search(name) else secret_word(name, bare)
                if word is not None:
                    text = f"the argument {name!r} takes a secret ({word}), which models, hosts and their logs will see"
                    yield part.hit(text)


# --- headers ----------------------------------------------------------------------------------------------------------

_HEADER_SECRET = re.compile(r"passw|pwd|secret|token|credential|key|authori[sz]ation|cookie|ssn", re.IGNORECASE)


@rule(
    "LC312",
    "header-secret",
    "warning",
    "An argument that looks secret travels in an HTTP header, too (x-mcp-header).",
    "Leave Header(...) off, or rename it if it is none.",
    r"looks secret, but",
)
@each("tool")
def _header_secret(part: Part) -> Iterator[Hit]:
    for sub in inputs(part):
        for name, schema in properties_of(sub.schema).items():
            header = schema.get("x-mcp-header")
            if not isinstance(header, str) or not (_HEADER_SECRET.search(header) or _HEADER_SECRET.search(name)):
                continue
            text = f"the argument {name!r} looks secret, but Mcp-Param-{header} shows it to every proxy on the way"
            yield part.hit(text)


@rule(
    "LC313",
    "header-invalid",
    "error",
    "An x-mcp-header is one that clients must refuse, and the tool with it.",
    "Name it as an HTTP token, once, on a property of type string, integer or boolean.",
)
@each("tool")
def _header_invalid(part: Part) -> Iterator[Hit]:
    why = _header_fault(part)
    if why:
        yield part.hit(f"{why}; clients on HTTP leave the tool out", "correct x-mcp-header")


def _header_fault(part: Part) -> str:
    if not any("x-mcp-header" in sub.schema for sub in inputs(part)):
        return ""
    try:
        plan_params(part.schema("inputSchema"))
    except ValueError as fault:
        return str(fault)
    except RecursionError:
        return "the inputSchema lies too deep to be read"
    return ""
