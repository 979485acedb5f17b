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
from .record import Hit, Part, Rule, Server
from .schemas import inputs, kinds_of, properties_of, schemas, some_of, walk

__all__ = ["RULES"]

_DEEPEST = 10  # levels of values inside of values; strict modes of model vendors take no more
_MOST = 500  # subschemas of one schema
_COMPOSED = ("oneOf", "anyOf", "allOf", "not", "enum", "const", "$ref", "if")
# Tokens that are no secret: places in a list.
_NO_SECRET = re.compile(r"(page|next|previous|continuation|cursor|sync|progress)[-_ ]?token$", re.IGNORECASE)
_MOMENT = re.compile(r":\d\d\.\d{6}")  # nobody writes microseconds by hand
_DESCRIPTION = re.compile(r"[A-Z][a-z]+ [a-z][\w' -]*\.?")  # "Search text", not "New York"


def _root_type(server: Server) -> Iterator[Hit]:
    for part in server.of("tool"):
        schema = part.entry.get("inputSchema")
        if not isinstance(schema, dict):
            text = "it has no inputSchema, without which clients refuse it"
            yield Hit(
                part.place, part.label, text, 'give {"type": "object", "properties": {}} for a tool without arguments'
            )
        elif schema.get("type") != "object":
            text = f"its inputSchema has the type {schema.get('type')!r} at its root; arguments are an object"
            yield Hit(part.place, part.label, text, 'write "type": "object"')


def _root_union(server: Server) -> Iterator[Hit]:
    for part in server.of("tool"):
        found = [keyword for keyword in _COMPOSED if keyword in part.schema("inputSchema")]
        if found:
            text = (
                f"its inputSchema has {', '.join(found)} at its root; some model vendors refuse the whole list for it"
            )
            yield Hit(part.place, part.label, text, "say it one level down, inside of a property")


def _root_properties(server: Server) -> Iterator[Hit]:
    for part in server.of("tool"):
        schema = part.schema("inputSchema")
        if schema.get("type") == "object" and "properties" not in schema:
            text = "its inputSchema has no `properties`; some hosts refuse the tool for it"
            yield Hit(part.place, part.label, text, 'write "properties": {} where there are none')


def _reference(server: Server) -> Iterator[Hit]:
    for part in server.of("tool"):
        for member, schema in schemas(part):
            for reference in _remote(schema):
                text = f"its {member} refers to {reference[:80]!r}, which clients must not fetch"
                yield Hit(part.place, part.label, text, "copy it under $defs, and refer to #/$defs/...")


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
                text = f"its {member} is no schema that can be enforced: {fault}"
                yield Hit(part.place, part.label, text, "write it in JSON Schema 2020-12")
            except RecursionError:
                yield Hit(part.place, part.label, f"its {member} lies too deep to be read", "make it flat")


def _deep(server: Server) -> Iterator[Hit]:
    for part in server.of("tool"):
        for member, schema in schemas(part):
            subs = list(walk(schema))
            depth = max((sub.depth for sub in subs), default=0)
            if depth > _DEEPEST:
                text = f"its {member} has values {depth} levels deep; models and their vendors take {_DEEPEST}"
                yield Hit(part.place, part.label, text, "make it flat, or take a part of it as a text")
            if len(subs) > _MOST:
                text = f"its {member} has over {_MOST} subschemas; models and their vendors take fewer"
                yield Hit(part.place, part.label, text, "split the tool, or take a part of it as a text")


def _dialect(server: Server) -> Iterator[Hit]:
    for part in server.of("tool"):
        for member, schema in schemas(part):
            if "$schema" in schema:
                text = (
                    f"its {member} names the dialect {str(schema['$schema'])[:80]!r}; some hosts drop the tool for it"
                )
                yield Hit(part.place, part.label, text, "write it in 2020-12, and leave $schema out")


# --- values -----------------------------------------------------------------------------------------------------------


def _default(server: Server) -> Iterator[Hit]:
    for part in server.of("tool"):
        root = part.schema("inputSchema")
        for sub in walk(root):
            if "default" not in sub.schema:
                continue
            rest = {name: value for name, value in sub.schema.items() if name != "default"}
            why = misfit(rest, sub.schema["default"], root)
            if why:
                shown = repr(sub.schema["default"])[:60]
                text = f"the default {shown} of {sub.shown} does not fit its own schema: {why}"
                yield Hit(part.place, part.label, text, "correct the default or the schema")


def _default_moment(server: Server) -> Iterator[Hit]:
    for part in server.of("tool"):
        for sub in walk(part.schema("inputSchema")):
            default = sub.schema.get("default")
            if isinstance(default, str) and sub.schema.get("format") == "date-time" and _MOMENT.search(default):
                text = f"the default of {sub.shown} is the moment at which the file was loaded"
                fix = "write `| None = None`, and take the time in the function"
                yield Hit(part.place, part.label, text, fix)


def _default_text(server: Server) -> Iterator[Hit]:
    for part in server.of("tool"):
        for name, schema in properties_of(part.schema("inputSchema")).items():
            default = schema.get("default") if isinstance(schema, dict) else None
            if isinstance(default, str) and "description" not in schema and _DESCRIPTION.fullmatch(default):
                text = f"the default {default[:60]!r} of {name!r} reads like a description"
                yield Hit(part.place, part.label, text, "write Field(description=...) if it is one")


def _unbounded_text(server: Server) -> Iterator[Hit]:
    for part in server.of("tool"):
        found = [
            sub.where
            for sub in inputs(part)
            if kinds_of(sub.schema) == {"string"}
            and not sub.schema.keys() & {"maxLength", "enum", "const", "format", "pattern", "contentEncoding"}
        ]
        if found:
            text = f"{_names(found)} may be of any length"
            yield Hit(part.place, part.label, text, "bound it with Field(max_length=...)")


def _unbounded_list(server: Server) -> Iterator[Hit]:
    for part in server.of("tool"):
        lists = [sub for sub in inputs(part) if kinds_of(sub.schema) == {"array"} and "maxItems" not in sub.schema]
        found = [sub.where for sub in lists if sub.schema.get("items") is not False]
        if found:
            text = f"{_names(found)} may have any number of items"
            yield Hit(part.place, part.label, text, "bound it with Field(max_length=...)")


def _names(found: list[str]) -> str:
    return some_of(list(dict.fromkeys(repr(name) if name else "the whole value" for name in found)))


def _argument_secret(server: Server) -> Iterator[Hit]:
    for part in server.of("tool"):
        for sub in inputs(part):
            for name, schema in properties_of(sub.schema).items():
                bare = {key: value for key, value in schema.items() if key != "description"}
                word = None if _NO_SECRET.search(name) else secret_word(name, bare)
                if word is not None:
                    text = f"the argument {name!r} takes a secret ({word}), which models, hosts and their logs will see"
                    fix = "let the server keep it, or ask for it on a page with ElicitURL"
                    yield Hit(part.place, part.label, text, fix)


# --- headers ----------------------------------------------------------------------------------------------------------

_HEADER_SECRET = re.compile(r"passw|pwd|secret|token|credential|key|authori[sz]ation|cookie|ssn", re.IGNORECASE)


def _header_secret(server: Server) -> Iterator[Hit]:
    for part in server.of("tool"):
        for sub in inputs(part):
            for name, schema in properties_of(sub.schema).items():
                header = schema.get("x-mcp-header")
                if not isinstance(header, str) or not (_HEADER_SECRET.search(header) or _HEADER_SECRET.search(name)):
                    continue
                text = f"the argument {name!r} looks secret, but Mcp-Param-{header} shows it to every proxy on the way"
                yield Hit(part.place, part.label, text, "leave Header(...) off, or rename it if it is none")


def _header_invalid(server: Server) -> Iterator[Hit]:
    for part in server.of("tool"):
        why = _header_fault(part)
        if why:
            yield Hit(part.place, part.label, f"{why}; clients on HTTP leave the tool out", "correct x-mcp-header")


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


RULES = (
    Rule(
        "LC301",
        "input-type",
        "error",
        "The inputSchema of a tool is missing, or its root is not of the type object.",
        'Write "type": "object".',
        _root_type,
    ),
    Rule(
        "LC302",
        "input-union",
        "warning",
        "The inputSchema of a tool has oneOf, anyOf, allOf, not, enum, const, if or $ref at its root.",
        "Say it one level down, inside of a property.",
        _root_union,
        r"at its root",
    ),
    Rule(
        "LC303",
        "input-properties",
        "warning",
        "The inputSchema of a tool has no `properties`, without which some hosts refuse it.",
        'Write "properties": {} where there are none.',
        _root_properties,
    ),
    Rule(
        "LC304",
        "schema-reference",
        "error",
        "A schema refers to something outside of it, which clients must not fetch.",
        "Copy it under $defs, and refer to #/$defs/...",
        _reference,
    ),
    Rule(
        "LC305",
        "schema-invalid",
        "error",
        "A schema is none, or one that cannot be enforced.",
        "Write it in JSON Schema 2020-12.",
        _invalid,
    ),
    Rule(
        "LC306",
        "schema-deep",
        "warning",
        "A schema has values more than 10 levels deep, or over 500 subschemas.",
        "Make it flat, split the tool, or take a part of it as a text.",
        _deep,
    ),
    Rule(
        "LC307",
        "schema-dialect",
        "hint",
        "A schema names its dialect with $schema, for which some hosts drop the tool.",
        "Write it in 2020-12, and leave $schema out.",
        _dialect,
    ),
    Rule(
        "LC308",
        "default",
        "error",
        "The default of an argument does not fit its own schema.",
        "Correct the default or the schema.",
        _default,
    ),
    Rule(
        "LC309",
        "unbounded-text",
        "hint",
        "A text may be of any length.",
        "Bound it with Field(max_length=...).",
        _unbounded_text,
    ),
    Rule(
        "LC310",
        "unbounded-list",
        "hint",
        "A list may have any number of items.",
        "Bound it with Field(max_length=...).",
        _unbounded_list,
    ),
    Rule(
        "LC311",
        "argument-secret",
        "warning",
        "A tool takes a password, a key or the like as an argument, which models, hosts and their logs will see.",
        "Let the server keep it, or ask for it on a page with ElicitURL.",
        _argument_secret,
    ),
    Rule(
        "LC312",
        "header-secret",
        "warning",
        "An argument that looks secret travels in an HTTP header, too (x-mcp-header).",
        "Leave Header(...) off, or rename it if it is none.",
        _header_secret,
        r"looks secret, but",
    ),
    Rule(
        "LC313",
        "header-invalid",
        "error",
        "An x-mcp-header is one that clients must refuse, and the tool with it.",
        "Name it as an HTTP token, once, on a property of type string, integer or boolean.",
        _header_invalid,
    ),
    Rule(
        "LC314",
        "default-moment",
        "warning",
        "A default is the time at which the file was loaded, for as long as the server runs.",
        "Make None the default, and take the time in the function.",
        _default_moment,
    ),
    Rule(
        "LC315",
        "default-text",
        "hint",
        "A default reads like a description, as the first argument of Field is the default.",
        "Write Field(description=...).",
        _default_text,
    ),
)
