"""What a hand-written schema asks of a value, and everything that is wrong with the value.

In: a `Rule`, made by `given`, and plain JSON values. Out: `Fault`s in the order of the schema, a union's closest branch
only. Iterative: a value may be as deep as the message limits let it.
JSON Schema 2020-12: core 4.2 "Instance", 10 "Applying Subschemas"; validation 6.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct, field

from ..constraints import LENGTHS, NUMERIC, Constraints
from ..schema import faults as say
from ..schema.faults import Fault, path_text
from .explain import pattern_fault, within

__all__ = ["ALL_KINDS", "Rule", "kind_of", "walk"]

ALL_KINDS = frozenset(("null", "boolean", "integer", "number", "string", "array", "object"))
MAX_FAULTS = 120  # the text shows 20; the rest is counted
NULL_ONLY = frozenset(("null",))
NO_LIMITS = Constraints()
NOT_PERMITTED = "Input is not permitted here"
# Path is a linked list, so that a valid value costs no text.
Path = tuple[Any, "str | int"] | None


class Rule(Struct, eq=False):
    """One subschema; what is empty or None is not asked for.

    Args:
        kinds: kinds of value allowed by `type`; "number" stands for numbers that are no integers.
        names: the types as written.
        choices: of enum or const; `texts` are the strings among them.
        numbers, text, items, members: limits of numbers, strings, arrays and objects.
        unnamed: required, but not among the properties.
        additional: for members that are no properties.
        member_names: for the names of members.
        prefix, rest: for the first items of an array, and for those behind them.
        same: other rules for the same value (`$ref`).
        any_of: branches; `tag` is the property that tells objects apart, `tagged` the branch for each of its values.
        admits: kinds that everything together lets through.
        whole: of the numbers, only integers fit.
        bounded: as a branch, it looks at few places of any value.
        trivial: everything fits.
        never: nothing fits.
    """

    kinds: frozenset[str] = ALL_KINDS
    names: tuple[str, ...] = ()
    choices: tuple[Any, ...] | None = None
    texts: frozenset[str] = frozenset()
    numbers: Constraints = NO_LIMITS
    text: Constraints = NO_LIMITS
    items: Constraints = NO_LIMITS
    members: Constraints = NO_LIMITS
    unique: bool = False
    required: tuple[str, ...] = ()
    unnamed: tuple[str, ...] = ()
    properties: dict[str, Rule] = field(default_factory=dict)
    additional: Rule | None = None
    member_names: Rule | None = None
    prefix: tuple[Rule, ...] = ()
    rest: Rule | None = None
    same: tuple[Rule, ...] = ()
    any_of: tuple[Rule, ...] = ()
    tag: str | None = None
    tagged: dict[str, Rule] = field(default_factory=dict)
    admits: frozenset[str] | None = None
    whole: bool = False
    bounded: bool = False
    trivial: bool = True
    never: bool = False


Work = tuple[Rule, Any, Path]
_KINDS = {
    type(None): "null",
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    list: "array",
    dict: "object",
}


def kind_of(value: Any) -> str:
    """Return the JSON type of a plain value, "integer" for every number without a fraction, 5.0 too."""
    return "integer" if type(value) is float and value.is_integer() else _KINDS[type(value)]


def walk(rule: Rule, value: Any, path: Path = None) -> list[Fault]:
    """Return the faults of a value, at most 120."""
    found: list[Fault] = []
    todo = [iter(((rule, value, path),))]
    while todo and len(found) < MAX_FAULTS:
        work = next(todo[-1], None)
        if work is None:
            todo.pop()
        elif not work[0].trivial:
            todo.append(_check(found, *work))
    return found


def _fault(found: list[Fault], path: Path, message: str, value: Any = msgspec.UNSET, kind: str = "") -> None:
    parts: list[str | int] = []
    while path is not None:
        path, part = path
        parts.append(part)
    found.append(Fault(path_text(parts[::-1]), message, value, kind))


def _check(found: list[Fault], rule: Rule, value: Any, path: Path) -> Iterator[Work]:
    """Check a value itself and yield what is to be checked below it, and in its place."""
    if rule.never:
        return _fault(found, path, NOT_PERMITTED, value)
    if kind_of(value) not in rule.kinds:
        return _fault(found, path, say.expected(*rule.names), value, "type")
    if rule.choices is not None and not _is_chosen(rule, value):
        return _fault(found, path, say.one_of(rule.choices), value)
    if isinstance(value, str):
        _text(found, rule, value, path)
    elif isinstance(value, dict):
        yield from _members(found, rule, value, path)
    elif isinstance(value, list):
        yield from _items(found, rule, value, path)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        _number(found, rule, value, path)
    for target in rule.same:
        yield target, value, path
    if rule.any_of:
        yield from _any_of(found, rule, value, path)


# One check per kind of value ----------------------------------------------------------------------------------------


def _is_chosen(rule: Rule, value: Any) -> bool:
    if isinstance(value, str):
        return value in rule.texts
    return any(_equal(value, choice) for choice in rule.choices or ())


def _equal(value: Any, choice: Any) -> bool:
    """Equality of JSON, as deep as the choice: 1.0 is 1, true is not."""
    if isinstance(value, bool) or isinstance(choice, bool):
        return value is choice
    if isinstance(choice, dict):
        if not isinstance(value, dict) or value.keys() != choice.keys():
            return False
        return all(_equal(value[name], inner) for name, inner in choice.items())
    if isinstance(choice, list):
        if not isinstance(value, list) or len(value) != len(choice):
            return False
        return all(map(_equal, value, choice))
    return bool(value == choice)


def _number(found: list[Fault], rule: Rule, value: float, path: Path) -> None:
    if rule.numbers is NO_LIMITS:
        return
    for name in NUMERIC:
        limit = getattr(rule.numbers, name)
        if limit is not None and not within(name, value, limit):
            _fault(found, path, say.bound(name, limit), value)


def _text(found: list[Fault], rule: Rule, value: str, path: Path) -> None:
    if rule.text is NO_LIMITS:
        return
    for name in _broken(rule.text, len(value)):
        _fault(found, path, say.text_length(name, getattr(rule.text, name)), value)
    if rule.text.pattern is not None and (message := pattern_fault(rule.text, rule.text.pattern, value)):
        _fault(found, path, message, value)


def _broken(limits: Constraints, length: int) -> Iterator[str]:
    for name in LENGTHS:
        limit = getattr(limits, name)
        if limit is not None and (length < limit if name == "min_length" else length > limit):
            yield name


def _items(found: list[Fault], rule: Rule, value: list[Any], path: Path) -> Iterator[Work]:
    for name in _broken(rule.items, len(value)):
        _fault(found, path, say.item_count(name, getattr(rule.items, name), len(value)), value)
    if rule.unique and _has_duplicates(value):
        _fault(found, path, say.DUPLICATE_ITEMS, value)
    for at, inner in enumerate(rule.prefix[: len(value)]):
        yield inner, _whole(value, at, inner), (path, at)
    rest, start = rule.rest, len(rule.prefix)
    if rest is None or rest.trivial or len(value) <= start:
        return
    if rest.never:
        return _fault(found, path, say.item_count("max_length", start, len(value)), value)
    for at in range(start, len(value)):
        yield rest, _whole(value, at, rest), (path, at)


def _whole(container: Any, key: Any, rule: Rule) -> Any:
    """Return a member or item; 5.0 is turned into 5 where only integers fit, so that a function gets an int."""
    value = container[key]
    if rule.whole and type(value) is float and value.is_integer():
        value = container[key] = int(value)
    return value


_fold = msgspec.json.Decoder(
    float_hook=lambda text: int(float(text)) if float(text).is_integer() else float(text)
).decode
_canonical = msgspec.json.Encoder(order="deterministic").encode


def _has_duplicates(items: list[Any]) -> bool:
    """Tell whether two items are equal as JSON, in one pass: 1 and 1.0 are, 1 and true are not."""
    if all(type(item) is str for item in items):
        return len(set(items)) < len(items)
    return len(set(map(_canonical, _fold(msgspec.json.encode(items))))) < len(items)


def _members(found: list[Fault], rule: Rule, value: dict[str, Any], path: Path) -> Iterator[Work]:
    for name in _broken(rule.members, len(value)):
        limit = getattr(rule.members, name)
        _fault(found, path, say.item_count(name, limit, len(value), "Object", "member"), value)
    for name, inner in rule.properties.items():
        if name in value:
            yield inner, _whole(value, name, inner), (path, name)
        elif name in rule.required:
            _fault(found, (path, name), say.REQUIRED)
    for name in rule.unnamed:
        if name not in value:
            _fault(found, (path, name), say.REQUIRED)
    if rule.member_names is not None:
        for name in value:
            yield rule.member_names, name, (path, name)
    additional = rule.additional
    if additional is None or additional.trivial:
        return
    for name in value:
        if name in rule.properties:
            continue
        if additional.never:
            accepted = [known for known, inner in rule.properties.items() if not inner.never]
            _fault(found, (path, name), say.unknown_name(name, accepted))
            if len(found) >= MAX_FAULTS:
                return
        else:
            yield additional, _whole(value, name, additional), (path, name)


# anyOf --------------------------------------------------------------------------------------------------------------


def _any_of(found: list[Fault], rule: Rule, value: Any, path: Path) -> Iterator[Work]:
    """Yield the branch that a value is meant for, or tell what the closest one has against it.

    `given` made sure that of the branches which go deep at most one is left once type and tag have been looked at.
    """
    kind = kind_of(value)
    fitting = [branch for branch in rule.any_of if kind in (branch.admits or ())]
    if kind == "object" and rule.tag is not None:
        tag = value.get(rule.tag)
        branch = rule.tagged.get(tag) if isinstance(tag, str) else None
        if branch is None:
            sent = (tag,) if rule.tag in value else ()
            return _fault(found, (path, rule.tag), say.one_of(tuple(rule.tagged)), *sent)
        fitting = [branch]
    if len(fitting) == 1:
        yield fitting[0], value, path
        return
    if not fitting:
        yield from _no_branch(found, rule, value, path)
        return
    closest: list[Fault] | None = None
    deep: Rule | None = None
    for branch in fitting:
        if not branch.bounded and kind in ("array", "object"):
            deep = branch
            continue
        attempt = walk(branch, value, path)
        if not attempt:
            return
        closest = attempt if closest is None or len(attempt) < len(closest) else closest
    if deep is not None:
        yield deep, value, path
    elif all(branch.choices is not None for branch in fitting):
        _fault(found, path, say.one_of([choice for branch in fitting for choice in branch.choices or ()]), value)
    else:
        found += closest or ()


def _no_branch(found: list[Fault], rule: Rule, value: Any, path: Path) -> Iterator[Work]:
    """Say that no branch takes values of this kind; where null stands beside one branch, that branch says it."""
    present = [branch for branch in rule.any_of if branch.admits != NULL_ONLY]
    if len(present) == 1:
        yield present[0], value, path
        return
    kinds = frozenset[str]().union(*(branch.admits or () for branch in rule.any_of))
    if "number" in kinds:
        kinds -= {"integer"}
    _fault(found, path, say.expected(*sorted(kinds)) if kinds else NOT_PERMITTED, value, "type")
