"""Schemas that another package wrote, brought into the form of ours.

In: plain JSON Schema dicts and their `$defs`. Out: the same, renamed, inlined, without titles made from
names, and what checks the shape of values.
JSON Schema 2020-12: core 8.2.3 "References", 8.2.4 "$defs".
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from .. import schema as json_schema
from .publish import made_title, type_list

if TYPE_CHECKING:
    from ..schema import Validator

__all__ = ["closure", "inlined", "reachable", "renamed", "shape_of", "shaped", "target"]

Schema = dict[str, Any]
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
        if "discriminator" not in part and all(target(branch) is not None for branch in part.get("oneOf", [{}])):
            part = {"anyOf": part.pop("oneOf"), **part}  # a function tells them apart, so that they may overlap
        if not titles:
            for name, inner in (part.get("properties") or {}).items():
                if isinstance(inner, dict) and inner.get("title") == made_title(name):
                    del inner["title"]
        return type_list(part) if type_lists else part

    written = {name: _mapped(definition, change) for name, definition in definitions.items()}
    if not titles:
        for name, definition in written.items():
            made = re.sub(r"[^a-zA-Z0-9.\-_]", "_", str(definition.get("title", "")))
            if made and name.endswith(made):
                del definition["title"]
    return _mapped(schema, change), written


_SHAPE = {"$defs", "$ref", "type", "const", "enum", "properties", "required", "additionalProperties"}
_SHAPE |= {"items", "prefixItems", "allOf", "anyOf", "oneOf"}


def shape_of(schema: Schema, definitions: dict[str, Schema]) -> Validator:
    """Return what checks types, members, items, alternatives and fixed values.

    Bounds, patterns and formats are the affair of the package that wrote the schema.
    """

    def change(part: Schema) -> Schema:
        if "patternProperties" in part:
            part.pop("additionalProperties", None)
        # Alternatives that a function tells apart may overlap.
        return {"anyOf" if name == "oneOf" else name: value for name, value in part.items() if name in _SHAPE}

    try:
        return json_schema.compile(_mapped({**schema, "$defs": definitions}, change))
    except json_schema.SchemaError:
        return json_schema.compile(True)  # over a limit, such as that of an Enum; what the package makes is in form
