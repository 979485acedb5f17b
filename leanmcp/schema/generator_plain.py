"""What a subschema asks of a value itself, as the text of a Python expression.

In: a `Node`, the name of a variable, and which kinds of value it may hold. Out: conditions that a value has to meet.
No text of a schema becomes part of an expression: whatever it names is a constant in a table.
JSON Schema 2020-12: validation 6.1 to 6.5; the same answers as `assertions`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from .ir import ALL_KINDS, Matcher, Node
from .values import KINDS, count_values, equal, has_duplicates, is_multiple, kind_of, text_of

__all__ = ["Constants", "Kinds", "Plain", "all_of", "plain", "required", "search", "test"]

Kinds = frozenset[str] | None
"""What a variable may hold; None for anything, also what is no JSON."""
NUMBERS = frozenset(("integer", "number"))
TEXT = frozenset(("string",))
MANY_NAMES = 8  # from here on, a set finds missing names faster than a chain of questions
MANY_CHOICES = 8  # from here on, a set of texts finds an object or an array faster than comparing it with each
TYPES = {"string": "str", "array": "list", "object": "dict", "boolean": "bool"}


class Constants:
    """Values that generated code refers to, by names of ours."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {
            "PLAIN": frozenset(KINDS),
            "is_multiple": is_multiple,
            "has_duplicates": has_duplicates,
            "is_one_of": _is_one_of,
            "text_of": text_of,
            "is_unique": _is_unique,
        }
        self._names: dict[Any, str] = {}

    def add(self, value: Any) -> str:
        """Return the name of a constant; texts and counts are kept once."""
        key = (type(value), value) if isinstance(value, str | int) else id(value)
        name = self._names.get(key)
        if name is None:
            name = self._names[key] = f"K{len(self._names)}"
            self.values[name] = value
        return name


def _is_one_of(value: Any, choices: Iterable[Any]) -> bool:
    return any(equal(value, choice) for choice in choices)


def _is_unique(items: list[Any], run: Any) -> bool:
    """Tell whether all items differ, in steps of a run."""
    if len(items) < 2:
        return True
    run.spend(count_values(items) if any(isinstance(item, list | dict) for item in items) else len(items))
    return not has_duplicates(items)


class Plain(Struct, frozen=True):
    """Conditions, all of which hold for a value that fits.

    Args:
        conditions: expressions that are True or False.
        kinds: what the variable may hold where they hold.
    """

    conditions: list[str]
    kinds: Kinds


def all_of(conditions: list[str]) -> str:
    """Join conditions."""
    return " and ".join(f"({part})" if " or " in part else part for part in conditions) or "True"


def test(kinds: frozenset[str], x: str) -> str:
    """Return the question whether a value is of one of several kinds."""
    found = [f"type({x}) is {name}" for kind, name in TYPES.items() if kind in kinds]
    if "null" in kinds:
        found.append(f"{x} is None")
    if "number" in kinds:
        found += [f"type({x}) is int", f"type({x}) is float"]
    elif "integer" in kinds:
        found += [f"type({x}) is int", f"type({x}) is float and {x}.is_integer()"]
    return " or ".join(found) or "False"


def plain(node: Node, x: str, known: Kinds, constants: Constants, *, counted: bool) -> Plain:
    """Return what a node asks of a value itself.

    Args:
        counted: the steps of the run are at hand as `r`.
    """
    if node.verdict is not None:
        return Plain([] if node.verdict else ["False"], known)
    conditions: list[str] = []
    kinds = known
    if node.choices:
        for choice in node.choices:
            values = [value for value in choice.values if node.kinds is None or kind_of(value) in node.kinds]
            conditions.append(_chosen(values, x, kinds, constants))
            here = frozenset(map(kind_of, values))
            kinds = here if kinds is None else here & kinds
    elif node.kinds is not None:
        if known is None or not known <= node.kinds:
            conditions.append(test(node.kinds, x))
        kinds = node.kinds if known is None else known & node.kinds
    if kinds is not None and not kinds:
        return Plain(["False"], kinds)
    cases = _cases(node, x, ALL_KINDS if kinds is None else kinds, constants, counted)
    if cases:
        conditions.append(_by_kind(cases, x, kinds))
        if kinds is None and "PLAIN" in conditions[-1]:
            kinds = ALL_KINDS
    elif kinds is None and node.leaf:
        conditions.append(f"type({x}) in PLAIN")
    return Plain(conditions, kinds)


def _chosen(values: list[Any], x: str, known: Kinds, constants: Constants) -> str:
    """Return the question whether a value is one of those of an enum."""
    found: list[str] = []
    texts = frozenset(value for value in values if type(value) is str)
    numbers = frozenset(value for value in values if type(value) in (int, float))
    if texts:
        within = f"{x} == {constants.add(next(iter(texts)))}" if len(texts) == 1 else f"{x} in {constants.add(texts)}"
        found.append(within if known == TEXT else f"type({x}) is str and {within}")
    if numbers:
        within = f"{x} in {constants.add(numbers)}"
        found.append(f"(type({x}) is int or type({x}) is float) and {within}")
    found += [f"{x} is {value}" for value in (None, True, False) if any(other is value for other in values)]
    others = tuple(value for value in values if isinstance(value, list | dict))
    if len(others) > MANY_CHOICES:
        texts = frozenset(map(text_of, others))
        found.append(f"(type({x}) is list or type({x}) is dict) and text_of({x}) in {constants.add(texts)}")
    elif others:
        found.append(f"(type({x}) is list or type({x}) is dict) and is_one_of({x}, {constants.add(others)})")
    return " or ".join(found) or "False"


def _cases(
    node: Node, x: str, kinds: frozenset[str], constants: Constants, counted: bool
) -> list[tuple[frozenset[str], str]]:
    """Return kinds, each with the conditions that only a value of that kind has to meet."""
    found: list[tuple[frozenset[str], list[str]]] = [
        (TEXT, _text(node, x, constants) if node.has_texts else []),
        (frozenset(("object",)), _object(node, x, constants)),
        (frozenset(("array",)), _array(node, x, constants, counted)),
        (NUMBERS, [_number(x, *limit, constants) for limit in node.numbers]),
    ]
    return [(of, all_of(conditions)) for of, conditions in found if conditions and of & kinds]


def _by_kind(cases: list[tuple[frozenset[str], str]], x: str, known: Kinds) -> str:
    if len(cases) == 1 and known is not None and known <= cases[0][0]:
        return cases[0][1]
    text = f"type({x}) in PLAIN" if known is None else "True"
    for of, condition in reversed(cases):
        text = f"(({condition}) if {test(of, x)} else {text})"
    return text


def _text(node: Node, x: str, constants: Constants) -> list[str]:
    low, high, pattern = node.min_length, node.max_length, node.pattern
    found = [f"len({x}) == {constants.add(low)}"] if low and low == high else _size(x, low, high, constants)
    if pattern is not None and pattern.longest is not None and pattern.find is not None:
        found.append(f"len({x}) <= {constants.add(pattern.longest)}")
        found.append(f"{constants.add(pattern.find)}({x}) is not None")
    elif pattern is not None:
        found.append(search(pattern, x, constants))
    return found


def search(matcher: Matcher, x: str, constants: Constants) -> str:
    """Return the question whether a pattern matches somewhere in a text."""
    slow = f"{constants.add(matcher.search)}({x}, r.spend)"
    if matcher.find is None:
        return slow
    quick = f"{constants.add(matcher.find)}({x}) is not None"
    return quick if matcher.short is None else f"({quick} if len({x}) <= {constants.add(matcher.short)} else {slow})"


def _number(x: str, name: str, limit: Any, divisor: Any, constants: Constants) -> str:
    if name == "multiple_of":
        general = f"is_multiple({x}, {constants.add(divisor)})"
        if type(divisor) is not int:
            return general
        return f"({x} % {constants.add(divisor)} == 0 if type({x}) is int else {general})"
    sign = {"ge": ">=", "gt": ">", "le": "<=", "lt": "<"}[name]
    return f"{x} {sign} {constants.add(limit)}"


def _array(node: Node, x: str, constants: Constants, counted: bool) -> list[str]:
    found = _size(x, node.min_items, node.max_items, constants)
    if node.unique:
        found.append(f"is_unique({x}, r)" if counted else f"not has_duplicates({x})")
    return found


def _object(node: Node, x: str, constants: Constants) -> list[str]:
    found = _size(x, node.min_members, node.max_members, constants)
    if not node.properties:
        found += required(node.required, x, constants)
    for name, others in node.required_with:
        if others:
            found.append(f"{constants.add(name)} not in {x} or {all_of(required(others, x, constants))}")
    return found


def required(names: Iterable[str], x: str, constants: Constants) -> list[str]:
    """Return the question whether an object has some members."""
    names = list(dict.fromkeys(names))
    if len(names) > MANY_NAMES:
        return [f"{x}.keys() >= {constants.add(frozenset(names))}"]
    return [f"{constants.add(name)} in {x}" for name in names]


def _size(x: str, low: int | None, high: int | None, constants: Constants) -> list[str]:
    found = [f"len({x}) >= {constants.add(low)}"] if low else []
    return found + ([f"len({x}) <= {constants.add(high)}"] if high is not None else [])
