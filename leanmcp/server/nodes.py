"""The types of a signature as a small tree: what msgspec decodes, what is published, what the explainer walks.

In: nothing; these are plain records filled by `derive`. Out: read by `publish` (JSON Schema) and `explain` (faults).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, get_origin

import msgspec
from msgspec import UNSET, Struct, field

from ..constraints import Constraints

if TYPE_CHECKING:
    from ..schema.faults import Fault

__all__ = [
    "AnyNode",
    "ArrayNode",
    "BoolNode",
    "ChoiceNode",
    "ForeignNode",
    "MapNode",
    "Node",
    "Notes",
    "NullNode",
    "NumberNode",
    "ObjectNode",
    "Property",
    "RefNode",
    "TextNode",
    "UnionNode",
    "admits_string",
    "alternatives",
    "checking_decoder",
    "finished",
    "foreign_hook",
    "typed_decoder",
    "walk",
]


class Notes(Struct, kw_only=True, frozen=True):
    """Annotations in the sense of JSON Schema: published, never enforced."""

    title: str | None = None
    description: str | None = None
    examples: list[Any] | None = None
    extra: dict[str, Any] | None = None
    header: str | None = None


class Node(Struct, kw_only=True, eq=False):
    """One use of a type.

    Args:
        annotation: the type that msgspec decodes.
        exact: msgspec alone accepts no more than the published schema; if not, the explainer checks every call.
    """

    annotation: Any = Any
    exact: bool = True
    notes: Notes = Notes()

    def children(self) -> Iterator[Node]:
        """The nodes below this one."""
        return iter(())


class AnyNode(Node):
    """Any JSON value."""


class NullNode(Node):
    """null."""


class BoolNode(Node):
    """true or false."""


class NumberNode(Node):
    """int, float or Decimal; `kind` is the type's name."""

    kind: str
    limits: Constraints = Constraints()


class TextNode(Node):
    """str, and the types that travel as strings (`kind` is the type's name)."""

    kind: str = "str"
    limits: Constraints = Constraints()


class ChoiceNode(Node):
    """The JSON values of a Literal or an Enum, as declared."""

    values: tuple[Any, ...]


class ArrayNode(Node):
    """list, set, tuple; `prefix` holds the items of a tuple of fixed length."""

    items: Node | None = None
    prefix: tuple[Node, ...] = ()
    limits: Constraints = Constraints()
    unique: bool = False

    def children(self) -> Iterator[Node]:
        if self.items is not None:
            yield self.items
        yield from self.prefix


class MapNode(Node):
    """dict with keys of one type and values of one type."""

    key: Node
    value: Node
    limits: Constraints = Constraints()

    def children(self) -> Iterator[Node]:
        yield self.key
        yield self.value


class Property(Struct, kw_only=True, eq=False):
    """A field of an object: its name in Python, its name on the wire, and what is there when it is left out."""

    name: str
    wire_name: str
    node: Node
    required: bool = True
    default: Any = UNSET


class ObjectNode(Struct, kw_only=True, eq=False):
    """A class with named fields, made once per class, so that recursive classes end.

    Args:
        positional: travels as an array (NamedTuple, `array_like` Struct).
        tag: value of the member `tag_field` that tells the classes of a union apart.
    """

    name: str
    annotation: Any
    description: str | None = None
    properties: list[Property] = field(default_factory=list)
    closed: bool = False
    positional: bool = False
    tag_field: str | None = None
    tag: str | int | None = None
    recursive: bool = False


class RefNode(Node):
    """One use of an ObjectNode."""

    target: ObjectNode

    def children(self) -> Iterator[Node]:
        for entry in self.target.properties:
            yield entry.node


class UnionNode(Node):
    """Alternatives that the JSON type or a tag tells apart."""

    members: tuple[Node, ...]

    def children(self) -> Iterator[Node]:
        yield from self.members


class ForeignNode(Node):
    """A type that msgspec cannot build: decoded to plain values first, then converted.

    Args:
        convert: makes the object from plain JSON values; raises ValueError or TypeError.
        schema: the JSON Schema, what it refers to under its own `$defs`.
        explain: the faults of plain JSON values.
        admits_string: whether a JSON string may be valid, so that it is never parsed as JSON.
    """

    convert: Callable[[Any], Any]
    schema: Callable[[], dict[str, Any]]
    explain: Callable[[Any], Iterable[Fault]]
    admits_string: Callable[[], bool]


def walk(node: Node) -> Iterator[Node]:
    """Yield a node and everything below it, each class once."""
    seen: set[int] = set()
    todo = [node]
    while todo:
        current = todo.pop()
        if isinstance(current, RefNode):
            if id(current.target) in seen:
                yield current
                continue
            seen.add(id(current.target))
        yield current
        todo.extend(current.children())


def checking_decoder(root: Node) -> Callable[[bytes | msgspec.Raw], Any]:
    """Return what tries whether JSON fits the type of a node; its objects are not for keeping."""
    return msgspec.json.Decoder(root.annotation, dec_hook=foreign_hook(root)).decode


def typed_decoder(root: Node) -> Callable[[bytes | msgspec.Raw], Any]:
    """Return what decodes JSON by the type of a node, with the converters of foreign types."""
    return finished(root, checking_decoder(root))


def finished(root: Node, make: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return `make`, whose objects of the type of a node are not all that their classes make, with the rest done."""
    annotations = [node.target.annotation for node in walk(root) if isinstance(node, RefNode)]
    classes = [get_origin(annotation) or annotation for annotation in annotations]
    if not any(hasattr(cls, "__dataclass_fields__") for cls in classes):
        return make
    from .completed import complete, is_left_incomplete  # few tools take a dataclass

    return (lambda raw: complete(make(raw))) if any(map(is_left_incomplete, classes)) else make


def foreign_hook(root: Node) -> Callable[[type, Any], Any] | None:
    """Return what msgspec asks to make the foreign types below a node, None where there are none."""
    foreign = {node.annotation: node.convert for node in walk(root) if isinstance(node, ForeignNode)}
    return (lambda kind, value: foreign[kind](value)) if foreign else None


def alternatives(node: Node) -> tuple[Node, ...]:
    """Return the members of a union; another node is its only alternative."""
    return node.members if isinstance(node, UnionNode) else (node,)


def admits_string(node: Node) -> bool:
    """True when some JSON string may be a value of the node."""
    if isinstance(node, UnionNode):
        return any(map(admits_string, node.members))
    if isinstance(node, ChoiceNode):
        return any(isinstance(value, str) for value in node.values)
    if isinstance(node, NumberNode):
        return node.kind == "Decimal"
    if isinstance(node, ForeignNode):
        return node.admits_string()
    return isinstance(node, AnyNode | TextNode)
