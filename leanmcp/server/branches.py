"""Which member of a union a JSON value is meant for, and the words for what each member takes.

In: nodes and plain JSON values. Out: the members that the JSON type and the tag leave in question.
JSON Schema 2020-12: core 4.2.1 "Instance Data Model" (types), 4.2.2 "Instance Equality".
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from ..schema import faults as say
from ..schema.values import equal
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
    RefNode,
    TextNode,
    UnionNode,
)

__all__ = ["branch", "is_integral", "is_number", "names", "words"]

_KINDS = {
    "int": "integer",
    "float": "number",
    "str": "string",
    "bytes": "a valid base64 string",
    "datetime": "a valid datetime in ISO 8601 form, such as 2026-11-30T09:00:00Z",
    "date": "a valid date in the form YYYY-MM-DD",
    "time": "a valid time in the form HH:MM:SS",
    "timedelta": "a valid duration in ISO 8601 form, such as PT1H30M",
    "UUID": "a valid UUID",
    "Decimal": "a valid decimal",
}
"""JSON type, or words, by the `kind` of NumberNode and TextNode."""


def words(node: NumberNode | TextNode) -> str:
    """Return the JSON type, or words, for what a node takes."""
    if node.limits.tz is None:
        return _KINDS[node.kind]
    side, end = ("with", "Z") if node.limits.tz else ("without", "")
    example = "09:00:00" if node.kind == "time" else "2026-11-30T09:00:00"
    return f"a valid {node.kind} {side} a time zone, such as {example}{end}"


def is_integral(value: object) -> bool:
    """True for every JSON number without a fractional part: 5, 5.0, 1e2."""
    if isinstance(value, bool):
        return False
    if isinstance(value, float):
        return value.is_integer()
    return isinstance(value, int) or (
        isinstance(value, Decimal) and value.is_finite() and value == value.to_integral_value()
    )


def is_number(value: object) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def branch(node: UnionNode, value: object) -> list[Node]:
    """Return the members of a union that the JSON type of the value, and its tag, leave in question."""
    fitting = [part for part in node.members if _fits(part, value)]
    if isinstance(value, dict) and len(fitting) > 1:
        for part in fitting:
            if isinstance(part, RefNode) and part.target.tag_field is not None:
                tag_field = part.target.tag_field
                if tag_field in value and equal(value[tag_field], part.target.tag):
                    return [part]
    if isinstance(value, list) and len(fitting) > 1 and value:
        chosen: list[Node] = [
            part for part in fitting if isinstance(part, RefNode) and equal(value[0], part.target.tag)
        ]
        return chosen or fitting
    return fitting


def _fits(node: Node, value: object) -> bool:
    """True when the JSON type of the value is one that the node takes."""
    if isinstance(node, AnyNode | ForeignNode):
        return True
    if value is None:
        return isinstance(node, NullNode) or (isinstance(node, ChoiceNode) and None in node.values)
    if isinstance(node, ChoiceNode):
        return any(
            type(allowed) is type(value) or (is_number(allowed) and is_integral(value)) for allowed in node.values
        )
    if isinstance(node, UnionNode):
        return any(_fits(part, value) for part in node.members)
    if isinstance(value, bool):
        return isinstance(node, BoolNode)
    if isinstance(value, str):
        return isinstance(node, TextNode) or (isinstance(node, NumberNode) and node.kind == "Decimal")
    if isinstance(value, dict):
        return isinstance(node, MapNode) or (isinstance(node, RefNode) and not node.target.positional)
    if isinstance(value, list):
        return isinstance(node, ArrayNode) or (isinstance(node, RefNode) and node.target.positional)
    return isinstance(node, NumberNode) and (node.kind != "int" or is_integral(value))


def names(node: Node) -> Iterator[str]:
    """The words for what a member of a union takes."""
    if isinstance(node, NumberNode | TextNode):
        yield words(node)
    elif isinstance(node, ChoiceNode):
        yield say.one_of(node.values).removeprefix("Input should be ")
    elif isinstance(node, UnionNode):
        for part in node.members:
            yield from names(part)
    elif isinstance(node, NullNode | BoolNode):
        yield "null" if isinstance(node, NullNode) else "boolean"
    elif isinstance(node, ArrayNode) or (isinstance(node, RefNode) and node.target.positional):
        yield "array"
    else:
        yield "object"
