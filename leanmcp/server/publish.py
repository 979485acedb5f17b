"""Nodes to JSON Schema 2020-12, key for key as pydantic writes it, without `$schema`.

In: a `Node` and the server's options. Out: plain dicts; classes stand under `$defs` unless they are inlined.
Spec 2026-07-28: server/tools, "Tool" (inputSchema, outputSchema); schema page, `Tool`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import msgspec
from msgspec import UNSET, Struct

from ..constraints import Constraints
from .nodes import (
    AnyNode,
    ArrayNode,
    BoolNode,
    ChoiceNode,
    ForeignNode,
    MapNode,
    Node,
    NullNode,
    NumberNode,
    ObjectNode,
    Property,
    RefNode,
    TextNode,
    UnionNode,
)

__all__ = [
    "DEFAULT_OPTIONS",
    "Nullable",
    "Options",
    "json_value",
    "made_title",
    "publish",
    "publish_arguments",
    "type_list",
]

Nullable = Literal["anyOf", "type"]
KEYWORDS = {
    "gt": "exclusiveMinimum",
    "ge": "minimum",
    "lt": "exclusiveMaximum",
    "le": "maximum",
    "multiple_of": "multipleOf",
}
FORMATS = {"datetime": "date-time", "date": "date", "time": "time", "timedelta": "duration", "UUID": "uuid"}
# msgspec takes these spellings of an integer key and no others.
INTEGER_KEY = "^-?(0|[1-9][0-9]*)$"


class Options(Struct, kw_only=True, frozen=True):
    """How schemas are written.

    Args:
        schema_titles: titles made from names; those given to `Field` are always kept.
        nullable: `X | None` as `anyOf`, or as `"type": [..., "null"]` where X has a type.
        inline_schemas: classes that do not contain themselves stand where they are used.
        output: the schema of results.
    """

    schema_titles: bool = True
    nullable: Nullable = "anyOf"
    inline_schemas: bool = False
    output: bool = False


DEFAULT_OPTIONS = Options()


def publish(node: Node, options: Options = DEFAULT_OPTIONS) -> dict[str, Any]:
    """Return the schema of one type, its classes under `$defs`; a class at the root stands there itself."""
    writer = _Writer(options)
    schema = writer.object(node.target) if isinstance(node, RefNode) else writer.write(node)
    return writer.with_definitions(writer.opened(schema) if isinstance(node, ForeignNode) else schema)


def publish_arguments(
    name: str, properties: Iterable[Property], *, closed: bool, options: Options = DEFAULT_OPTIONS
) -> dict[str, Any]:
    """Return the inputSchema of a tool: an object at the root, in the key order of the tutorial."""
    writer = _Writer(options)
    entries = list(properties)
    schema: dict[str, Any] = {"type": "object", "properties": writer.properties(entries)}
    required = [entry.wire_name for entry in entries if entry.required]
    if required:
        schema["required"] = required
    if writer.options.schema_titles:
        schema["title"] = f"{name}Arguments"
    if closed:
        schema["additionalProperties"] = False
    return writer.with_definitions(schema)


def json_value(value: Any) -> Any:
    """Return a default as JSON has it, UNSET when it has no JSON form."""
    if value is UNSET:
        return UNSET
    import json

    from .encoding import encode_other

    try:
        plain = msgspec.to_builtins(value, str_keys=True, enc_hook=encode_other)
        return json.loads(json.dumps(plain, allow_nan=False))
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError):
        return UNSET


class _Writer:
    """Writes the schemas of one tool, which share their `$defs`."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.names: dict[int, str] = {}
        self.definitions: dict[str, dict[str, Any]] = {}
        self.adopted: dict[tuple[str, str], str] = {}

    def with_definitions(self, schema: dict[str, Any]) -> dict[str, Any]:
        if self.definitions:
            schema["$defs"] = self.definitions
        return schema

    def properties(self, entries: Iterable[Property]) -> dict[str, Any]:
        return {entry.wire_name: self.property(entry) for entry in entries}

    def property(self, entry: Property) -> dict[str, Any]:
        schema = self.write(entry.node)
        if self.options.schema_titles and "title" not in schema and _takes_title(entry.node):
            schema["title"] = made_title(entry.wire_name)
        default = json_value(entry.default)
        if default is not UNSET:
            schema["default"] = default
        return _ordered(schema)

    def write(self, node: Node) -> dict[str, Any]:
        """Return the schema of one use of a type, with what its annotations say."""
        nullable = "type" if node.notes.header is not None else self.options.nullable
        schema = self._type(node, nullable)
        notes = node.notes
        for keyword, value in (
            ("title", notes.title),
            ("description", notes.description),
            ("examples", None if notes.examples is None else json_value(notes.examples)),
            ("x-mcp-header", notes.header),
        ):
            if value is not None and value is not UNSET:
                schema[keyword] = value
        schema.update(notes.extra or {})
        return _ordered(schema)

    def _type(self, node: Node, nullable: Nullable) -> dict[str, Any]:
        if isinstance(node, NullNode):
            return {"type": "null"}
        if isinstance(node, BoolNode):
            return {"type": "boolean"}
        if isinstance(node, NumberNode):
            return self._number(node)
        if isinstance(node, TextNode):
            return _text(node)
        if isinstance(node, ChoiceNode):
            return _choice(node.values)
        if isinstance(node, ArrayNode):
            return self._array(node)
        if isinstance(node, MapNode):
            return self._map(node)
        if isinstance(node, RefNode):
            return self._reference(node.target)
        if isinstance(node, UnionNode):
            return self._union(node, nullable)
        if isinstance(node, ForeignNode):
            return self._adopt(node.schema())
        assert isinstance(node, AnyNode), node
        return {}

    def _number(self, node: NumberNode) -> dict[str, Any]:
        if node.kind == "Decimal" and self.options.output:
            return {"type": "string"}
        schema: dict[str, Any] = {"type": "integer" if node.kind == "int" else "number"}
        for name, keyword in KEYWORDS.items():
            value = getattr(node.limits, name)
            if value is not None:
                schema[keyword] = value if isinstance(value, int | float) else float(value)
        return {"anyOf": [_ordered(schema), {"type": "string"}]} if node.kind == "Decimal" else schema

    def _array(self, node: ArrayNode) -> dict[str, Any]:
        schema: dict[str, Any] = {"type": "array", **_lengths(node.limits, "Items")}
        if node.items is not None:
            schema["items"] = self.write(node.items)
        if node.prefix:
            schema["prefixItems"] = [self.write(part) for part in node.prefix]
        if node.unique:
            schema["uniqueItems"] = True
        return schema

    def _map(self, node: MapNode) -> dict[str, Any]:
        schema: dict[str, Any] = {"type": "object", **_lengths(node.limits, "Properties")}
        schema["additionalProperties"] = self.write(node.value) or True
        if isinstance(node.key, NumberNode):
            schema["propertyNames"] = {"pattern": INTEGER_KEY}
        elif isinstance(node.key, ChoiceNode) or node.key.limits.given():  # type: ignore[attr-defined]
            schema["propertyNames"] = self.write(node.key)
        return schema

    def _union(self, node: UnionNode, nullable: Nullable) -> dict[str, Any]:
        schema = {"anyOf": [self.write(member) for member in node.members]}
        return type_list(schema) if nullable == "type" else schema

    def _adopt(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Take over a foreign schema; its `$defs` join ours, under other names where ours are taken."""
        from . import foreign_schema  # only where a signature has foreign types

        own = dict(schema)
        definitions = own.pop("$defs", {})
        if self.options.inline_schemas:
            own, definitions = foreign_schema.inlined(own, definitions)
        names: dict[str, str] = {}
        fresh: list[str] = []
        for name in definitions:
            meaning = foreign_schema.closure(name, definitions)
            if (name, meaning) not in self.adopted:
                self.adopted[name, meaning] = free = self._free_name(name)
                self.definitions[free] = {}
                fresh.append(name)
            names[name] = self.adopted[name, meaning]
        own, definitions = foreign_schema.shaped(
            own, definitions, titles=self.options.schema_titles, type_lists=self.options.nullable == "type"
        )
        self.definitions.update({names[name]: foreign_schema.renamed(definitions[name], names) for name in fresh})
        adopted: dict[str, Any] = foreign_schema.renamed(own, names)
        return adopted

    def opened(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Return a foreign class itself in place of the reference to it, for the root."""
        from . import foreign_schema

        name = foreign_schema.target(schema)
        if name is None:
            return schema
        definition = self.definitions[name]
        if name not in foreign_schema.reachable(name, self.definitions):
            del self.definitions[name]
        return {**definition, **{keyword: value for keyword, value in schema.items() if keyword != "$ref"}}

    # Classes -----------------------------------------------------------------------------------------------------

    def _reference(self, target: ObjectNode) -> dict[str, Any]:
        if self.options.inline_schemas and not target.recursive:
            return self.object(target)
        name = self.names.get(id(target))
        if name is None:
            name = self.names[id(target)] = self._free_name(target.name)
            self.definitions[name] = {}  # holds the place, so that a recursive class ends
            self.definitions[name] = self.object(target)
        return {"$ref": f"#/$defs/{name}"}

    def _free_name(self, name: str) -> str:
        if name not in self.definitions:
            return name
        number = 2
        while f"{name}_{number}" in self.definitions:
            number += 1
        return f"{name}_{number}"

    def object(self, target: ObjectNode) -> dict[str, Any]:
        """Return the schema of a class itself."""
        schema = self._positional(target) if target.positional else self._named(target)
        if self.options.schema_titles:
            schema["title"] = target.name
        if target.description:
            schema["description"] = target.description
        return _ordered(schema)

    def _named(self, target: ObjectNode) -> dict[str, Any]:
        properties: dict[str, Any] = {}
        if target.tag_field is not None:
            properties[target.tag_field] = _choice((target.tag,))
        properties.update(self.properties(target.properties))
        schema: dict[str, Any] = {"type": "object", "properties": properties}
        required = [entry.wire_name for entry in target.properties if entry.required]
        if target.tag_field is not None:
            required.insert(0, target.tag_field)
        if required:
            schema["required"] = required
        if target.closed:
            schema["additionalProperties"] = False
        return schema

    def _positional(self, target: ObjectNode) -> dict[str, Any]:
        items = [self.property(entry) for entry in target.properties]
        if target.tag_field is not None:
            items.insert(0, _choice((target.tag,)))
        least = sum(entry.required for entry in target.properties) + (target.tag_field is not None)
        schema: dict[str, Any] = {"type": "array", "minItems": least, "prefixItems": items}
        if target.closed:
            schema["maxItems"] = len(items)
        return schema


def type_list(schema: dict[str, Any]) -> dict[str, Any]:
    """Return `X | None` with a list of types in place of `anyOf`, where X has one; every other schema as it is."""
    parts = schema.get("anyOf")
    if not isinstance(parts, list) or len(parts) != 2 or parts[1] != {"type": "null"}:
        return schema
    inner = parts[0]
    if not isinstance(inner.get("type"), str) or "const" in inner or "$ref" in inner:
        return schema
    merged = {**inner, **schema, "type": [inner["type"], "null"]}
    del merged["anyOf"]
    if "enum" in inner:
        merged["enum"] = [*inner["enum"], None]
    return _ordered(merged)


def made_title(name: str) -> str:
    """Return the title that is made from the name of a property."""
    return name.replace("_", " ").strip().title()


def _takes_title(node: Node) -> bool:
    """Like pydantic: a reference, optional or not, has the title of its class."""
    if isinstance(node, UnionNode) and len(node.members) == 2 and isinstance(node.members[1], NullNode):
        return _takes_title(node.members[0])
    if isinstance(node, ForeignNode):
        return "$ref" not in node.schema()
    return not isinstance(node, RefNode)


def _text(node: TextNode) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    if node.kind == "bytes":
        # The length of the bytes is not the length of their base64 form, so it is enforced but not published.
        schema["contentEncoding"] = "base64"
        return schema
    if node.kind in FORMATS:
        schema["format"] = FORMATS[node.kind]
    schema.update(_lengths(node.limits, "Length"))
    if node.limits.pattern is not None:
        schema["pattern"] = node.limits.pattern
    return schema


def _choice(values: tuple[Any, ...]) -> dict[str, Any]:
    schema: dict[str, Any] = {"const": values[0]} if len(values) == 1 else {"enum": list(values)}
    kinds = {_json_type(value) for value in values}
    if len(kinds) == 1:
        schema["type"] = kinds.pop()
    return schema


def _json_type(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    return "null" if value is None else "integer" if isinstance(value, int) else "string"


def _lengths(limits: Constraints, noun: str) -> dict[str, Any]:
    bounds = {f"min{noun}": limits.min_length, f"max{noun}": limits.max_length}
    return {keyword: value for keyword, value in bounds.items() if value is not None}


def _ordered(schema: dict[str, Any]) -> dict[str, Any]:
    """Sort the keywords, as pydantic does; names of properties keep their order."""
    return {keyword: schema[keyword] for keyword in sorted(schema)}
