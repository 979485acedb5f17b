"""Everything that is wrong with a value, found by walking the nodes of its type.

In: a `Node` and plain JSON values (Decimal stands for a float whose digits would be lost). Out: `Fault`s in the order
of the declaration, a union's closest branch only. Iterative, so that no depth of nesting can stop it.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sized
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

import msgspec

from ..constraints import LENGTHS, NUMERIC, Constraints
from ..schema import faults as say
from ..schema.faults import Fault, path_text
from ..schema.values import equal, exact
from .branches import branch, is_integral, is_number, names, words
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
    RefNode,
    TextNode,
    UnionNode,
)
from .publish import INTEGER_KEY

if TYPE_CHECKING:
    from fractions import Fraction

__all__ = ["explain", "pattern_fault", "search", "within"]

MAX_EXPONENT = 1_000
MAX_FAULTS = 120  # the text shows 20; the rest is counted
# A path is a linked list, so that a deep or wide value costs no text until there is something to say.
Path = tuple[Any, "str | int"] | None
Work = tuple[Node, Any, Path]
Below = Iterable[Work] | None


def explain(node: Node, value: object, *, max_steps: int | None = 200_000) -> list[Fault]:
    """Return the faults of a value; an empty list when there are none, or none within `max_steps` values.

    Never raises, whatever JSON value is given.
    """
    return _Walk(max_steps).run(node, value, None)


class _Walk:
    """The faults so far, and how many more values may be looked at; the pending work is a stack of iterators."""

    def __init__(self, max_steps: int | None) -> None:
        self.steps = math.inf if max_steps is None else max_steps
        self.faults: list[Fault] = []

    def run(self, node: Node, value: Any, path: Path) -> list[Fault]:
        todo: list[Iterator[Work]] = [iter(((node, value, path),))]
        while todo and self.steps > 0 and len(self.faults) < MAX_FAULTS:
            work = next(todo[-1], None)
            if work is None:
                todo.pop()
                continue
            self.steps -= 1
            below = CHECKS[type(work[0])](self, *work)
            if below is not None:
                todo.append(iter(below))
        return self.faults

    def fault(self, path: Path, message: str, value: Any = msgspec.UNSET, kind: str = "") -> None:
        self.faults.append(Fault(path_text(_parts(path)), message, value, kind))

    def wrong_type(self, path: Path, value: Any, *names: str) -> None:
        self.fault(path, say.expected(*names), value, "type")


def _parts(path: Path) -> list[str | int]:
    parts: list[str | int] = []
    while path is not None:
        path, part = path
        parts.append(part)
    return parts[::-1]


# One check per kind of node --------------------------------------------------------------------------------------


def _any(walk: _Walk, node: AnyNode, value: Any, path: Path) -> Below:
    return None


def _null(walk: _Walk, node: NullNode, value: Any, path: Path) -> Below:
    if value is not None:
        walk.wrong_type(path, value, "null")
    return None


def _bool(walk: _Walk, node: BoolNode, value: Any, path: Path) -> Below:
    if not isinstance(value, bool):
        walk.wrong_type(path, value, "boolean")
    return None


def _number(walk: _Walk, node: NumberNode, value: Any, path: Path) -> Below:
    number = value
    if node.kind == "Decimal" and isinstance(value, str):
        try:
            number = Decimal(value)
        except InvalidOperation:
            walk.wrong_type(path, value, words(node))
            return None
        if not number.is_finite():
            if node.limits.given():
                walk.fault(path, say.NOT_FINITE, value)
            return None
    elif not is_number(value) or (node.kind == "int" and not is_integral(value)):
        walk.wrong_type(path, value, words(node))
        return None
    if not _finite(number, node.kind):
        walk.fault(path, say.NOT_FINITE, value)
        return None
    for name in NUMERIC:
        limit = getattr(node.limits, name)
        if limit is not None and not within(name, number, limit):
            walk.fault(path, say.bound(name, limit), value)
    return None


def _finite(number: Any, kind: str) -> bool:
    if isinstance(number, Decimal) and kind == "Decimal":
        return number.is_finite()
    try:
        return math.isfinite(number)
    except OverflowError:
        return kind != "float"


def within(name: str, number: Any, limit: Any) -> bool:
    if name == "multiple_of":
        # The fraction of 1E+999999999 would fill the memory.
        is_plain = not isinstance(number, Decimal) or abs(number.adjusted()) < MAX_EXPONENT
        return is_plain and bool(_exact(number) % _exact(limit) == 0)
    if name in ("gt", "ge"):
        return bool(number > limit or (name == "ge" and number == limit))
    return bool(number < limit or (name == "le" and number == limit))


def _exact(number: Any) -> int | Fraction:
    if not isinstance(number, Decimal):
        return exact(number)
    from fractions import Fraction

    return Fraction(number)


def _text(walk: _Walk, node: TextNode, value: Any, path: Path) -> Below:
    if not isinstance(value, str):
        walk.wrong_type(path, value, words(node))
        return None
    if node.kind != "str":
        _formatted(walk, node, value, path)
        return None
    for name in LENGTHS:
        limit = getattr(node.limits, name)
        if limit is not None and _breaks(name, limit, len(value)):
            walk.fault(path, say.text_length(name, limit), value)
    if node.limits.pattern is not None and (message := pattern_fault(node.limits, node.limits.pattern, value)):
        walk.fault(path, message, value)
    return None


def _formatted(walk: _Walk, node: TextNode, value: str, path: Path) -> None:
    try:
        msgspec.convert(value, node.annotation)
    except (msgspec.ValidationError, ValueError, UnicodeError, OverflowError):
        walk.fault(path, say.expected(words(node)), value)


def _breaks(name: str, limit: int, length: int) -> bool:
    return length < limit if name == "min_length" else length > limit


def pattern_fault(limits: Constraints, pattern: str, value: str) -> str | None:
    """Say that a text does not match, or is too long to be tried on a pattern whose time grows faster than it."""
    longest = _longest_text(pattern)
    if longest is not None and len(value) > longest:
        if limits.max_length is None:
            return say.text_length("max_length", longest)
        if len(value) > limits.max_length:
            return None  # told already
    return None if search(pattern)(value) else say.pattern(pattern)


# The first tool with a pattern loads what follows when it is registered; most servers have none.


@functools.lru_cache(maxsize=256)
def _longest_text(pattern: str) -> int | None:
    from ..schema.patterns import longest_text

    return longest_text(pattern)


@functools.lru_cache(maxsize=256)
def search(pattern: str) -> Callable[[str], object]:
    import re

    from ..schema.patterns import python_pattern

    return re.compile(python_pattern(pattern)).search


def _choice(walk: _Walk, node: ChoiceNode, value: Any, path: Path) -> Below:
    if not any(equal(value, allowed) for allowed in node.values):
        walk.fault(path, say.one_of(node.values), value)
    return None


def _array(walk: _Walk, node: ArrayNode, value: Any, path: Path) -> Below:
    if not isinstance(value, list):
        walk.wrong_type(path, value, "array")
        return None
    _check_length(walk, node, value, path)
    if node.prefix:
        return [(part, item, (path, at)) for at, (part, item) in enumerate(zip(node.prefix, value, strict=False))]
    items = node.items
    if items is None or isinstance(items, AnyNode):
        return None
    return ((items, item, (path, at)) for at, item in enumerate(value))


def _check_length(walk: _Walk, node: ArrayNode | MapNode, value: Sized, path: Path, what: str = "List") -> None:
    for name in LENGTHS:
        limit = getattr(node.limits, name)
        if limit is not None and _breaks(name, limit, len(value)):
            walk.fault(path, say.item_count(name, limit, len(value), what), value)


def _map(walk: _Walk, node: MapNode, value: Any, path: Path) -> Below:
    if not isinstance(value, dict):
        walk.wrong_type(path, value, "object")
        return None
    _check_length(walk, node, value, path, "Dictionary")
    return _entries(walk, node, value, path)


def _entries(walk: _Walk, node: MapNode, value: dict[str, Any], path: Path) -> Iterator[Work]:
    any_key = isinstance(node.key, TextNode) and node.key.kind == "str" and not node.key.limits.given()
    for name, item in value.items():
        if isinstance(node.key, NumberNode):
            _integer_key(walk, node.key, name, (path, name))
        elif not any_key:
            yield node.key, name, (path, name)
        yield node.value, item, (path, name)


def _integer_key(walk: _Walk, key: NumberNode, name: str, path: Path) -> None:
    if not search(INTEGER_KEY)(name) or len(name) > 4300:
        walk.fault(path, "Keys should be valid integers", name)
        return
    _number(walk, key, int(name), path)


def _ref(walk: _Walk, node: RefNode, value: Any, path: Path) -> Below:
    target = node.target
    if target.positional:
        return _positional(walk, target, value, path)
    if not isinstance(value, dict):
        walk.wrong_type(path, value, "object")
        return None
    if target.tag_field is not None and not equal(value.get(target.tag_field), target.tag):
        _tag_fault(walk, [target], value, path)
        return None
    return _fields(walk, target, value, path)


def _fields(walk: _Walk, target: ObjectNode, value: dict[str, Any], path: Path) -> Iterator[Work]:
    # Told in their turn, so that faults keep the order of the declaration.
    for entry in target.properties:
        if entry.wire_name in value:
            yield entry.node, value[entry.wire_name], (path, entry.wire_name)
        elif entry.required:
            walk.fault((path, entry.wire_name), say.REQUIRED)
    if target.closed:
        accepted = tuple(entry.wire_name for entry in target.properties)
        known = {*accepted, target.tag_field}
        unknown = (name for name in value if name not in known)
        for name in itertools.islice(unknown, max(0, MAX_FAULTS - len(walk.faults))):
            walk.fault((path, name), say.unknown_name(name, accepted))


def _positional(walk: _Walk, target: ObjectNode, value: Any, path: Path) -> Below:
    if not isinstance(value, list):
        walk.wrong_type(path, value, "array")
        return None
    at = 0
    if target.tag_field is not None:
        at = 1
        if not value or not equal(value[0], target.tag):
            walk.fault((path, 0), say.one_of((target.tag,)), *value[:1])
            return None
    least = at + sum(entry.required for entry in target.properties)
    most = at + len(target.properties)
    if len(value) < least:
        walk.fault(path, say.item_count("min_length", least, len(value)), value)
    if target.closed and len(value) > most:
        walk.fault(path, say.item_count("max_length", most, len(value)), value)
    entries = zip(target.properties, value[at:], strict=False)
    return [(entry.node, item, (path, at + index)) for index, (entry, item) in enumerate(entries)]


def _foreign(walk: _Walk, node: ForeignNode, value: Any, path: Path) -> Below:
    above = path_text(_parts(path))
    walk.faults += (fault.below(above) for fault in node.explain(value))
    return None


def _union(walk: _Walk, node: UnionNode, value: Any, path: Path) -> Below:
    fitting = branch(node, value)
    if len(fitting) == 1:
        return [(fitting[0], value, path)]
    if fitting:
        tagged = [part.target for part in fitting if isinstance(part, RefNode)]
        if len(tagged) == len(fitting):
            _tag_fault(walk, tagged, value, path)
            return None
        # Scalars that share a JSON type, such as `Literal["auto"] | str`: one that is content settles it.
        attempts = [_Walk(1_000).run(part, value, path) for part in fitting]
        best: list[Fault] = min(attempts, key=len)
        walk.faults += best
        return None
    present = [part for part in node.members if not isinstance(part, NullNode)]
    if len(present) == 1:
        return [(present[0], value, path)]
    walk.wrong_type(path, value, *(name for part in node.members for name in names(part)))
    return None


def _tag_fault(walk: _Walk, targets: list[ObjectNode], value: Any, path: Path) -> None:
    tag_field = targets[0].tag_field
    assert tag_field is not None
    tags = tuple(target.tag for target in targets)
    if isinstance(value, dict) and tag_field in value:
        walk.fault((path, tag_field), say.one_of(tags), value[tag_field])
    elif isinstance(value, dict):
        walk.fault((path, tag_field), f"{say.REQUIRED}; {say.one_of(tags)}")
    else:
        walk.fault((path, 0), say.one_of(tags), *value[:1])


Check = Callable[[_Walk, Any, Any, Path], Below]
CHECKS: dict[type[Node], Check] = {
    AnyNode: _any,
    NullNode: _null,
    BoolNode: _bool,
    NumberNode: _number,
    TextNode: _text,
    ChoiceNode: _choice,
    ArrayNode: _array,
    MapNode: _map,
    RefNode: _ref,
    UnionNode: _union,
    ForeignNode: _foreign,
}
