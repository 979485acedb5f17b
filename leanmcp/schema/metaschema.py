"""The metaschemas, for schemas that refer to them, made from the keyword tables.

In: a dialect. Out: a schema that takes what `documents` takes, patterns and references apart.
JSON Schema 2020-12: core 8.1 "Meta-Schemas and Vocabularies".
"""

from __future__ import annotations

import functools
from typing import Any

from .dialects import TYPES, Dialect

__all__ = ["metaschema"]


@functools.lru_cache(maxsize=5)
def metaschema(dialect: Dialect) -> dict[str, Any]:
    """Return the metaschema of a dialect, one document."""
    definitions = "$defs" if dialect.number >= 2019 else "definitions"
    kinds = {name: kind for name, kind in _kinds(dialect).items() if name in dialect.keywords.values()}
    properties = {keyword: {"$ref": f"#/{definitions}/{_name(kind)}"} for keyword, kind in dialect.keywords.items()}
    whole: dict[str, Any] = {
        "$schema": dialect.uri + ("" if dialect.number >= 2019 else "#"),
        dialect.identifier: dialect.uri + ("" if dialect.number >= 2019 else "#"),
        "type": "object" if dialect.number == 4 else ["object", "boolean"],
        "properties": properties,
        definitions: {_name(name): kind for name, kind in kinds.items()},
    }
    if dialect.number == 2020:
        whole["$dynamicAnchor"] = "meta"
    elif dialect.number == 2019:
        whole["$recursiveAnchor"] = True
    if dialect.number == 4:
        whole["dependencies"] = {"exclusiveMinimum": ["minimum"], "exclusiveMaximum": ["maximum"]}
    return whole


def _name(kind: str) -> str:
    return kind.replace(" ", "-")


def _kinds(dialect: Dialect) -> dict[str, dict[str, Any]]:
    """Return a schema for each kind of value that a keyword can have."""
    schema: dict[str, Any] = {"$ref": "#"}
    if dialect.number >= 2019:
        schema = {"$dynamicRef": "#meta"} if dialect.number == 2020 else {"$recursiveRef": "#"}
    names: dict[str, Any] = {"type": "array", "items": {"type": "string"}, "uniqueItems": True}
    schemas: dict[str, Any] = {"type": "array", "items": schema, "minItems": 1}
    types: dict[str, Any] = {"enum": list(TYPES)}
    above_zero: dict[str, Any] = {"type": "number", "exclusiveMinimum": 0}
    if dialect.number == 4:
        above_zero = {"type": "number", "minimum": 0, "exclusiveMinimum": True}
    listed = {**names, "minItems": 1} if dialect.number == 4 else names
    return {
        "any": {},
        "text": {"type": "string"},
        "flag": {"type": "boolean"},
        "list": {"type": "array"},
        "values": {"type": "array"},
        "different values": {"type": "array", "minItems": 1, "uniqueItems": True},
        "number": {"type": "number"},
        "positive": above_zero,
        "count": {"type": "integer", "minimum": 0},
        "names": names,
        "some names": {**names, "minItems": 1},
        "names by name": {"type": "object", "additionalProperties": names},
        "flags by name": {"type": "object", "additionalProperties": {"type": "boolean"}},
        "types": {"anyOf": [types, {"type": "array", "items": types, "minItems": 1, "uniqueItems": True}]},
        "identifier": {"type": "string", "pattern": "^[^#]*#?$"},
        "anchor": {"type": "string", "pattern": r"^[A-Za-z_][A-Za-z0-9._-]*$"},
        "anchor of 2019": {"type": "string", "pattern": r"^[A-Za-z][A-Za-z0-9._:-]*$"},
        "schema": schema,
        "schema or flag": {"anyOf": [{"type": "boolean"}, schema]},
        "schemas": schemas,
        "schema or schemas": {"anyOf": [schema, schemas]},
        "schemas by name": {"type": "object", "additionalProperties": schema},
        "dependencies": {"type": "object", "additionalProperties": {"anyOf": [schema, listed]}},
    }
