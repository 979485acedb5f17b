"""The keywords of the five dialects, and what the value of each must be.

In: the `$schema` of a schema, or a keyword with its value. Out: a `Dialect`, or what is wrong with the value.
JSON Schema 2020-12: core 8 to 10, validation 6 to 9; 2019-09 and drafts 07, 06 and 04 where they differ.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from .values import KINDS as JSON_TYPES
from .values import has_duplicates

__all__ = ["DIALECTS", "LATEST", "Dialect", "dialect_of", "wrong"]

TYPES = tuple(JSON_TYPES.values())


class Dialect(Struct, frozen=True, eq=False):
    """One version of JSON Schema.

    Args:
        number: 4, 6, 7, 2019 or 2020.
        uri: of its metaschema, without an empty fragment.
        keywords: each with the kind of its value, one of `KINDS`.
    """

    number: int
    uri: str
    keywords: dict[str, str]

    @property
    def identifier(self) -> str:
        return "id" if self.number == 4 else "$id"

    @property
    def alone(self) -> bool:
        """True where `$ref` hides everything beside it."""
        return self.number <= 7


_EVERYWHERE = {
    "$schema": "text",
    "$ref": "text",
    "title": "text",
    "description": "text",
    "default": "any",
    "format": "text",
    "definitions": "schemas by name",
    "type": "types",
    "enum": "values",
    "multipleOf": "positive",
    "minimum": "number",
    "maximum": "number",
    "minLength": "count",
    "maxLength": "count",
    "pattern": "text",
    "minItems": "count",
    "maxItems": "count",
    "uniqueItems": "flag",
    "minProperties": "count",
    "maxProperties": "count",
    "required": "names",
    "properties": "schemas by name",
    "patternProperties": "schemas by name",
    "additionalProperties": "schema",
    "items": "schema or schemas",
    "additionalItems": "schema",
    "dependencies": "dependencies",
    "allOf": "schemas",
    "anyOf": "schemas",
    "oneOf": "schemas",
    "not": "schema",
}
_DRAFT4 = {
    **_EVERYWHERE,
    "id": "text",
    "exclusiveMinimum": "flag",
    "exclusiveMaximum": "flag",
    "enum": "different values",
    "required": "some names",
    "additionalProperties": "schema or flag",
    "additionalItems": "schema or flag",
}
_DRAFT6 = {
    **_EVERYWHERE,
    "$id": "text",
    "exclusiveMinimum": "number",
    "exclusiveMaximum": "number",
    "const": "any",
    "contains": "schema",
    "propertyNames": "schema",
    "examples": "list",
}
_DRAFT7 = {
    **_DRAFT6,
    "$comment": "text",
    "if": "schema",
    "then": "schema",
    "else": "schema",
    "readOnly": "flag",
    "writeOnly": "flag",
    "contentEncoding": "text",
    "contentMediaType": "text",
}
_DRAFT2019 = {
    **_DRAFT7,
    "$id": "identifier",
    "$anchor": "anchor of 2019",
    "$recursiveRef": "text",
    "$recursiveAnchor": "flag",
    "$vocabulary": "flags by name",
    "$defs": "schemas by name",
    "minContains": "count",
    "maxContains": "count",
    "dependentRequired": "names by name",
    "dependentSchemas": "schemas by name",
    "unevaluatedItems": "schema",
    "unevaluatedProperties": "schema",
    "contentSchema": "schema",
    "deprecated": "flag",
}
_DRAFT2020 = {
    **{keyword: kind for keyword, kind in _DRAFT2019.items() if keyword != "additionalItems"},
    "$anchor": "anchor",
    "$dynamicRef": "text",
    "$dynamicAnchor": "anchor",
    "$recursiveRef": "text",
    "$recursiveAnchor": "anchor",
    "items": "schema",
    "prefixItems": "schemas",
}
DIALECTS = {
    dialect.uri: dialect
    for dialect in (
        Dialect(2020, "https://json-schema.org/draft/2020-12/schema", _DRAFT2020),
        Dialect(2019, "https://json-schema.org/draft/2019-09/schema", _DRAFT2019),
        Dialect(7, "http://json-schema.org/draft-07/schema", _DRAFT7),
        Dialect(6, "http://json-schema.org/draft-06/schema", _DRAFT6),
        Dialect(4, "http://json-schema.org/draft-04/schema", _DRAFT4),
    )
}
LATEST = next(iter(DIALECTS.values()))


def dialect_of(uri: object) -> Dialect | None:
    """Return the dialect that `$schema` names; an empty fragment makes no difference."""
    return DIALECTS.get(uri.removesuffix("#")) if isinstance(uri, str) else None


def wrong(kind: str, value: Any) -> str | None:
    """Return what the value of a keyword must be, None where it is that; subschemas are looked at by nobody here."""
    words, fits = KINDS[kind]
    return None if fits(value) else f"must be {words}"


def _is_number(value: Any) -> bool:
    return (
        isinstance(value, int | float) and not isinstance(value, bool) and (type(value) is int or math.isfinite(value))
    )


def _is_count(value: Any) -> bool:
    return _is_number(value) and value >= 0 and (type(value) is int or value.is_integer())


def _are_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value) and len(set(value)) == len(value)


def _are_types(value: Any) -> bool:
    names = [value] if isinstance(value, str) else value
    return _are_names(names) and len(names) > 0 and all(name in TYPES for name in names)


def _is_anchor(value: Any, first: str, more: str) -> bool:
    if not isinstance(value, str) or not value.isascii() or not value:
        return False
    return (value[0].isalpha() or value[0] in first) and all(c.isalnum() or c in more for c in value)


def _is_map(value: Any, fits: Callable[[Any], bool] = lambda _: True) -> bool:
    return isinstance(value, dict) and all(map(fits, value.values()))


def _is_filled(value: Any) -> bool:
    return isinstance(value, list) and len(value) > 0


def _are_different(value: Any) -> bool:
    return _is_filled(value) and not has_duplicates(value)


Fits = Callable[[Any], bool]
KINDS: dict[str, tuple[str, Fits]] = {
    "any": ("anything", lambda value: True),
    "text": ("a string", lambda value: isinstance(value, str)),
    "flag": ("true or false", lambda value: isinstance(value, bool)),
    "list": ("a list", lambda value: isinstance(value, list)),
    "values": ("a list of values", lambda value: isinstance(value, list)),
    "different values": ("a list of values, none of them twice", _are_different),
    "number": ("a number", _is_number),
    "positive": ("a number over 0", lambda value: _is_number(value) and value > 0),
    "count": ("a whole number, 0 or more", _is_count),
    "names": ("a list of different names", _are_names),
    "some names": ("a list of different names, one at least", lambda value: _are_names(value) and len(value) > 0),
    "names by name": ("an object of lists of different names", lambda value: _is_map(value, _are_names)),
    "flags by name": (
        "an object of true and false",
        lambda value: _is_map(value, lambda flag: isinstance(flag, bool)),
    ),
    "types": (f"one or several of {', '.join(sorted(TYPES))}", _are_types),
    "identifier": (
        "a URI reference without a fragment",
        lambda value: isinstance(value, str) and "#" not in value.removesuffix("#"),
    ),
    "anchor": (
        "a plain name: a letter or _, then letters, digits, '-', '_' and '.'",
        lambda value: _is_anchor(value, "_", "-._"),
    ),
    "anchor of 2019": (
        "a plain name: a letter, then letters, digits, '-', '_', ':' and '.'",
        lambda value: _is_anchor(value, "", "-._:"),
    ),
    "schema": ("a schema", lambda value: True),
    "schema or flag": ("a schema, true or false", lambda value: True),
    "schemas": ("a list of schemas, one at least", _is_filled),
    "schema or schemas": ("a schema, or a list of schemas, one at least", lambda value: value != []),
    "schemas by name": ("an object of schemas", _is_map),
    "dependencies": ("an object of schemas and lists of different names", _is_map),
}
