"""Where the subschemas of an entry's schemas are, read without being compiled: they may be a stranger's.

In: entries. Out: subschemas, each with its place in the schema and how deep the values lie that it is about.
JSON Schema 2020-12: core 10, "A Vocabulary for Applying Subschemas".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from msgspec import Struct

from .record import Part

__all__ = ["Sub", "by_reference", "inputs", "kinds_of", "properties_of", "schemas", "some_of", "walk"]

_MOST = 5000  # subschemas of one schema that are looked at
_SHOWN = 4  # names in one line


class _Step(NamedTuple):
    """From a schema to those in one of its keywords."""

    inside: bool = False
    """They are about values inside of the value."""
    named: bool = False
    """They have names."""
    shown: str = ""


_STEPS = {
    "properties": _Step(inside=True, named=True),
    "patternProperties": _Step(inside=True, named=True),
    "additionalProperties": _Step(inside=True, shown=".*"),
    "unevaluatedProperties": _Step(inside=True, shown=".*"),
    "items": _Step(inside=True, shown="[]"),
    "prefixItems": _Step(inside=True, shown="[]"),
    "contains": _Step(inside=True, shown="[]"),
    "unevaluatedItems": _Step(inside=True, shown="[]"),
    "$defs": _Step(named=True),
    "definitions": _Step(named=True),
    "dependentSchemas": _Step(named=True),
    **dict.fromkeys(("allOf", "anyOf", "oneOf", "if", "then", "else", "not", "propertyNames"), _Step()),
}
# A schema below one of these is no demand on a value.
_CONDITIONS = {"if", "then", "else", "not", "propertyNames", "contains", "dependentSchemas", "anyOf", "oneOf"}


class Sub(Struct, frozen=True):
    """A subschema.

    Args:
        where: the names that lead to it, such as `book.tags[]`; empty for the whole value.
        depth: of the values that it is about; 0 for the whole value.
        demands: whether a value in its place must fit it.
    """

    schema: dict[str, Any]
    where: str = ""
    depth: int = 0
    demands: bool = True

    @property
    def shown(self) -> str:
        """What texts call it."""
        return repr(self.where) if self.where else "the whole value"


def walk(schema: object) -> Iterator[Sub]:
    """Yield a schema and its subschemas, the outer ones first, up to 5,000 of them; nothing is resolved."""
    todo, seen = [Sub(schema)] if isinstance(schema, dict) else [], 0
    while todo and seen < _MOST:
        sub = todo.pop()
        seen += 1
        yield sub
        todo += reversed(list(_below(sub)))


def _below(sub: Sub) -> Iterator[Sub]:
    for keyword, value in sub.schema.items():
        step = _STEPS.get(keyword)
        if step is None:
            continue
        depth = sub.depth + step.inside
        demands = sub.demands and keyword not in _CONDITIONS
        if step.named:
            for name, inner in value.items() if isinstance(value, dict) else ():
                if isinstance(inner, dict):
                    yield Sub(inner, f"{sub.where}.{name}" if sub.where else str(name), depth, demands)
        else:
            for inner in value if isinstance(value, list) else (value,):
                if isinstance(inner, dict):
                    yield Sub(inner, sub.where + step.shown, depth, demands)


def inputs(part: Part) -> Iterator[Sub]:
    """Yield the subschemas of a tool's arguments."""
    return walk(part.schema("inputSchema"))


def schemas(part: Part) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the schemas of a tool, each with its member of the entry."""
    for member in ("inputSchema", "outputSchema"):
        schema = part.entry.get(member)
        if isinstance(schema, dict):
            yield member, schema


def properties_of(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the properties of a schema that are schemas, by name."""
    properties = schema.get("properties")
    if not isinstance(properties, dict):
        return {}
    return {name: value for name, value in properties.items() if isinstance(value, dict)}


def by_reference(schema: dict[str, Any], root: dict[str, Any]) -> dict[str, Any]:
    """Return what a schema that is a reference into `root` names; itself where it is none, or names nothing."""
    reference = schema.get("$ref")
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return root if reference == "#" else schema
    here: Any = root
    for name in reference[2:].split("/"):
        here = here.get(name.replace("~1", "/").replace("~0", "~")) if isinstance(here, dict) else None
    return here if isinstance(here, dict) else schema


def kinds_of(schema: dict[str, Any]) -> set[str]:
    """Return the types that a schema names; none where it names none."""
    kind = schema.get("type")
    if isinstance(kind, str):
        return {kind}
    return {name for name in kind if isinstance(name, str)} if isinstance(kind, list) else set()


def some_of(names: list[str]) -> str:
    """Return the first of some names, as they are to be shown, and how many more there are."""
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
