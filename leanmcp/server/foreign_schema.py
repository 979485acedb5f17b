"""Schemas that another package wrote, brought into the form of ours.

In: plain JSON Schema dicts and their `$defs`. Out: the same, renamed, inlined, without titles made from names.
JSON Schema 2020-12: core 8.2.3 "References", 8.2.4 "$defs".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
from msgspec import UNSET

from ..schema import faults as say

__all__ = ["admits_string", "closure", "inlined", "misfit", "reachable", "renamed", "shaped", "target"]

Schema = dict[str, Any]
Place = tuple["str | int", ...]
Misfit = tuple[Place, str, Any]
"""Where, what, and the value there."""
PREFIX = "#/$defs/"
# Keywords whose members are named by the author, and those whose values are data.
NAMED = ("properties", "patternProperties", "$defs", "dependentSchemas")
DATA = ("default", "examples", "const", "enum")


def _mapped(schema: Any, change: Callable[[Schema], Schema]) -> Any:
    """Return a schema with `change` applied to every schema below it, then to itself."""
    if isinstance(schema, list):
        return [_mapped(part, change) for part in schema]
    if not isinstance(schema, dict):
        return schema
    result: Schema = {}
    for keyword, part in schema.items():
        if keyword in NAMED and isinstance(part, dict):
            result[keyword] = {name: _mapped(inner, change) for name, inner in part.items()}
        elif keyword in DATA or keyword == "discriminator":
            result[keyword] = part
        else:
            result[keyword] = _mapped(part, change)
    return change(result)


def target(schema: Any) -> str | None:
    """Return the name under `$defs` that a schema refers to, None when it does not."""
    reference = schema.get("$ref") if isinstance(schema, dict) else None
    return reference.removeprefix(PREFIX) if isinstance(reference, str) and reference.startswith(PREFIX) else None


def renamed(schema: Any, names: dict[str, str]) -> Any:
    """Return a schema with its references, a discriminator's included, under new names."""

    def change(part: Schema) -> Schema:
        name = target(part)
        if name is not None:
            part["$ref"] = PREFIX + names.get(name, name)
        mapping = _mapping(part)
        if mapping:
            named = {tag: PREFIX + names.get(name, name) for tag, name in mapping.items()}
            part["discriminator"] = {**part["discriminator"], "mapping": named}
        return part

    return _mapped(schema, change)


def _mapping(schema: Schema) -> dict[str, str]:
    """Return tag to definition name of OpenAPI's `discriminator`, which is published as a hint."""
    hint = schema.get("discriminator")
    mapping = hint.get("mapping") if isinstance(hint, dict) else None
    return {tag: str(place).removeprefix(PREFIX) for tag, place in mapping.items()} if isinstance(mapping, dict) else {}


def _references(schema: Any) -> set[str]:
    found: set[str] = set()

    def note(part: Schema) -> Schema:
        name = target(part)
        if name is not None:
            found.add(name)
        return part

    _mapped(schema, note)
    return found


def reachable(name: str, definitions: dict[str, Schema]) -> set[str]:
    """Return the definitions that one needs; itself only where it is recursive."""
    found: set[str] = set()
    todo = [name]
    while todo:
        for other in _references(definitions[todo.pop()]) - found:
            found.add(other)
            todo += [other] * (other in definitions)
    return found


def closure(name: str, definitions: dict[str, Schema]) -> str:
    """Return a text that is equal for two definitions only if they mean the same, what they refer to included."""
    parts = {other: definitions.get(other) for other in reachable(name, definitions) | {name}}
    return msgspec.json.encode(parts, order="sorted", enc_hook=str).decode()


def inlined(schema: Schema, definitions: dict[str, Schema]) -> tuple[Schema, dict[str, Schema]]:
    """Return a schema with every definition that does not contain itself in place, and the definitions left over."""
    kept = {name for name in definitions if name in reachable(name, definitions)}

    def change(part: Schema) -> Schema:
        name = target(part)
        if name is not None and name in definitions and name not in kept:
            beside = {keyword: value for keyword, value in part.items() if keyword != "$ref"}
            return {**write(definitions[name]), **beside}
        if any(name not in kept for name in _mapping(part).values()):
            del part["discriminator"]
        return part

    def write(part: Schema) -> Schema:
        result: Schema = _mapped(part, change)
        return result

    return write(schema), {name: write(definitions[name]) for name in definitions if name in kept}


def shaped(
    schema: Schema, definitions: dict[str, Schema], *, titles: bool, type_lists: bool
) -> tuple[Schema, dict[str, Schema]]:
    """Return schema and definitions as the server's options want them.

    Args:
        titles: keep the titles that were made from names.
        type_lists: write `X | None` as a list of types where X has one.
    """

    def change(part: Schema) -> Schema:
        if not titles:
            for name, inner in (part.get("properties") or {}).items():
                if isinstance(inner, dict) and inner.get("title") == name.replace("_", " ").strip().title():
                    del inner["title"]
        return _nullable(part) if type_lists else part

    written = {name: _mapped(definition, change) for name, definition in definitions.items()}
    if not titles:
        for name, definition in written.items():
            made = re.sub(r"[^a-zA-Z0-9.\-_]", "_", str(definition.get("title", "")))
            if made and name.endswith(made):
                del definition["title"]
    return _mapped(schema, change), written


def _nullable(schema: Schema) -> Schema:
    parts = schema.get("anyOf")
    if not isinstance(parts, list) or len(parts) != 2 or parts[1] != {"type": "null"}:
        return schema
    inner = parts[0]
    if not isinstance(inner.get("type"), str) or "const" in inner or "$ref" in inner:
        return schema
    rest = {keyword: value for keyword, value in schema.items() if keyword != "anyOf"}
    merged = {**inner, **rest, "type": [inner["type"], "null"]}
    if "enum" in inner:
        merged["enum"] = [*inner["enum"], None]
    return {keyword: merged[keyword] for keyword in sorted(merged)}


def admits_string(schema: Any, definitions: dict[str, Schema]) -> bool:
    """True when some JSON string may fit the schema; the benefit of the doubt goes to the string."""
    seen: set[str] = set()
    todo = [schema]
    while todo:
        part = todo.pop()
        name = target(part)
        if name is not None:
            if name not in seen and name in definitions:
                seen.add(name)
                todo.append(definitions[name])
            continue
        if not isinstance(part, dict):
            return True
        branches = part.get("anyOf") or part.get("oneOf")
        if branches:
            todo += branches
        elif "const" in part or "enum" in part:
            if any(isinstance(value, str) for value in part.get("enum", [part.get("const")])):
                return True
        elif "string" in _types(part, ("string",)):
            return True
    return False


def _types(schema: Schema, otherwise: tuple[str, ...]) -> tuple[str, ...]:
    given = schema.get("type", otherwise)
    return (given,) if isinstance(given, str) else tuple(given)


# What a result must have ------------------------------------------------------------------------------------------

JSON_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "null": (type(None),),
}


def misfit(schema: Schema, definitions: dict[str, Schema], value: Any) -> Misfit | None:
    """Return the first place where a value is not shaped as the schema says, None when it is.

    Types, members, items, alternatives and fixed values are looked at; bounds and formats are the package's affair.
    """
    try:
        return next(_misfits(schema, definitions, value, ()), None)
    except RecursionError:
        return None


def _misfits(schema: Any, definitions: dict[str, Schema], value: Any, at: Place) -> Iterator[Misfit]:
    name = target(schema)
    if name is not None:
        schema = definitions[name]
    if not isinstance(schema, dict):
        return
    branches = schema.get("anyOf") or schema.get("oneOf")
    if branches:
        faults = [next(_misfits(branch, definitions, value, at), None) for branch in branches]
        if None not in faults:
            # The deepest fault belongs to the alternative that was meant.
            yield max((fault for fault in faults if fault is not None), key=lambda fault: len(fault[0]))
        return
    types = _types(schema, ())
    if types and not any(_is_a(kind, value) for kind in types):
        yield at, say.expected(*types), value
    elif "enum" in schema and value not in schema["enum"]:
        yield at, say.one_of(schema["enum"]), value
    elif "const" in schema and value != schema["const"]:
        yield at, say.one_of((schema["const"],)), value
    elif isinstance(value, dict):
        yield from _member_misfits(schema, definitions, value, at)
    elif isinstance(value, list) and "items" in schema:
        for index, item in enumerate(value):
            yield from _misfits(schema["items"], definitions, item, (*at, index))


def _member_misfits(schema: Schema, definitions: dict[str, Schema], value: Any, at: Place) -> Iterator[Misfit]:
    properties = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in value:
            yield (*at, name), say.REQUIRED, UNSET
    rest = schema.get("additionalProperties", True)
    for name, item in value.items():
        if name in properties:
            yield from _misfits(properties[name], definitions, item, (*at, name))
        elif rest is False and not schema.get("patternProperties"):
            yield (*at, name), say.unknown_name(name, tuple(properties)), UNSET
        else:
            yield from _misfits(rest, definitions, item, (*at, name))


def _is_a(kind: str, value: Any) -> bool:
    if isinstance(value, bool) and kind != "boolean":
        return False
    if kind == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, JSON_TYPES.get(kind, (object,)))
