"""JSON Schemas written by hand: read once at registration, published as they stand, enforced exactly.

In: a schema (2020-12) as plain values. Out: `Given`, which finds every fault of a value; a ValueError for each keyword
that is not enforced, so that nothing is published which does not hold. Nothing is ever fetched.
Spec 2026-07-28: basic/index, "JSON Schema Usage". JSON Schema 2020-12: core 7 to 10, validation 6.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import unquote

from msgspec import UNSET, Struct, json

from ..constraints import Constraints
from ..schema.faults import Fault
from ..schema.patterns import python_pattern
from .given_walk import ALL_KINDS, Rule, kind_of, walk
from .publish import json_value

__all__ = ["Given", "compile_schema"]

DIALECTS = ("https://json-schema.org/draft/2020-12/schema", "https://json-schema.org/draft/2020-12/schema#")
MAX_SIZE = 256 * 1024  # bytes of JSON
MAX_DEPTH = 64  # subschemas inside each other
MAX_RULES = 10_000
MAX_IN_PLACE = 200  # $ref and anyOf on one value, one after the other
MAX_CHOICES = 10_000
MAX_CHOICE_DEPTH = 32
MAX_PATTERN = 1_000  # characters
MAX_TRIED = 64  # places that a branch of anyOf may look at, to be tried before another one

TEXT = {"title": str, "description": str, "$comment": str, "format": str}
NOTES = {
    **TEXT,
    "contentEncoding": str,
    "contentMediaType": str,
    "deprecated": bool,
    "readOnly": bool,
    "writeOnly": bool,
    "examples": list,
    "default": object,
    "contentSchema": object,
}
NUMERIC = {
    "minimum": "ge",
    "exclusiveMinimum": "gt",
    "maximum": "le",
    "exclusiveMaximum": "lt",
    "multipleOf": "multiple_of",
}
COUNTS = {
    "minLength": ("text", "min_length"),
    "maxLength": ("text", "max_length"),
    "minItems": ("items", "min_length"),
    "maxItems": ("items", "max_length"),
    "minProperties": ("members", "min_length"),
    "maxProperties": ("members", "max_length"),
}
Place = tuple[str, ...]


class Given(Struct, frozen=True):
    """A schema written by hand.

    Args:
        schema: as it is published: the same members in the same order.
        rule: as it is enforced.
    """

    schema: dict[str, Any]
    rule: Rule

    def faults(self, value: Any) -> list[Fault]:
        """Return everything that is wrong with plain JSON values; 5.0 becomes 5 in place where only integers fit."""
        return walk(self.rule, value)


def compile_schema(schema: object, label: str) -> Given:
    """Return a schema in the form that is enforced.

    Args:
        schema: plain JSON values, an object at the root.
        label: what it is, for error texts.

    Raises:
        TypeError: no JSON object.
        ValueError: a keyword that cannot be enforced, or that is not what JSON Schema says it is; the text has its JSON
            pointer.
    """
    copy = json_value(schema)
    if not isinstance(schema, dict) or copy is UNSET:
        raise TypeError(f"{label} must be a JSON Schema as a dict of plain JSON values, not {type(schema).__name__}")
    if len(json.encode(copy)) > MAX_SIZE:
        raise ValueError(f"{label} has more than {MAX_SIZE} bytes")
    reader = _Reader(label)
    rule = reader.read(copy, ())
    reader.connect()
    return Given(copy, rule)


class _Reference(Struct):
    """A `$ref` that waits until every subschema is known."""

    rule: Rule
    text: str
    at: Place


class _Reader:
    """Reads the subschemas of one schema, each of them once."""

    def __init__(self, label: str) -> None:
        self.label = label
        self.rules: dict[Place, Rule] = {}
        self.references: list[_Reference] = []
        self.depth = 0

    def refuse(self, keyword: str, at: Place, why: str) -> ValueError:
        return ValueError(f"{self.label}: {keyword!r} at {pointer((*at, keyword))} {why}")

    def read(self, schema: Any, at: Place) -> Rule:
        """Return the rule of one subschema and keep it under its place."""
        if self.depth > MAX_DEPTH or len(self.rules) >= MAX_RULES:
            raise ValueError(f"{self.label}: {pointer(at)} lies too deep, or there are over {MAX_RULES} subschemas")
        rule = self.rules[at] = Rule()
        if isinstance(schema, bool):
            rule.kinds = ALL_KINDS if schema else frozenset()
            rule.trivial, rule.never = schema, not schema
            return rule
        if not isinstance(schema, dict):
            raise ValueError(f"{self.label}: {pointer(at)} must be a schema: an object, true or false")
        self.depth += 1
        for keyword, value in schema.items():
            read = KEYWORDS.get(keyword)
            if read is not None:
                read(self, rule, keyword, value, at)
                rule.trivial = rule.trivial and keyword in CONTAINERS
            elif keyword in NOTES:
                self._note(keyword, value, at)
            elif not keyword.startswith("x-"):
                raise self.refuse(
                    keyword, at, "cannot be enforced yet; write the schema without it and check inside the tool"
                )
        self.depth -= 1
        rule.unnamed = tuple(name for name in rule.required if name not in rule.properties)
        return rule

    def connect(self) -> None:
        """Join references to what they name; then tell the branches of each anyOf apart."""
        for reference in self.references:
            reference.rule.same += (self._target(reference),)
        places = {id(rule): at for at, rule in self.rules.items()}
        for rule in self.rules.values():
            self._admit(rule, places, ())
        for at, rule in self.rules.items():
            if rule.any_of:
                self._tell_apart(rule, at)

    def _target(self, reference: _Reference) -> Rule:
        text = reference.text
        if not text.startswith("#") or (text != "#" and not text.startswith("#/")):
            raise self.refuse(
                "$ref", reference.at, f"is {text[:80]!r}; only references such as '#/$defs/Name' are followed"
            )
        parts = text.removeprefix("#").split("/")[1:]
        place = tuple(unquote(part).replace("~1", "/").replace("~0", "~") for part in parts)
        target = self.rules.get(place)
        if target is None:
            raise self.refuse("$ref", reference.at, f"is {text[:80]!r}, where there is no subschema")
        return target

    def _admit(self, rule: Rule, places: dict[int, Place], above: tuple[int, ...]) -> frozenset[str]:
        """Work out the kinds of value that a rule and everything that applies in its place let through."""
        if rule.admits is None:
            if id(rule) in above or len(above) > MAX_IN_PLACE:
                raise ValueError(f"{self.label}: {pointer(places[id(rule)])} refers to itself without end")
            above = (*above, id(rule))
            admits = rule.kinds
            if rule.choices is not None:
                admits &= frozenset(map(kind_of, rule.choices))
            for target in rule.same:
                admits &= self._admit(target, places, above)
            if rule.any_of:
                admits &= frozenset[str]().union(*(self._admit(branch, places, above) for branch in rule.any_of))
            rule.admits = admits
            rule.whole = "integer" in admits and "number" not in admits
        return rule.admits

    def _tell_apart(self, rule: Rule, at: Place) -> None:
        """Make sure that no value is walked twice: at most one branch that goes deep takes it."""
        for branch in rule.any_of:
            branch.bounded = _is_bounded(branch)
        objects = [branch for branch in rule.any_of if branch.admits is None or "object" in branch.admits]
        rule.tag, rule.tagged = _tag(objects)
        for kind in ("array", "object"):
            deep = [b for b in rule.any_of if b.admits is not None and kind in b.admits and not b.bounded]
            if len(deep) > 1 and not (kind == "object" and rule.tag is not None):
                raise self.refuse(
                    "anyOf",
                    at,
                    f"has {len(deep)} branches for one {kind}; tell them apart by type, or by a required property "
                    "with another const in each",
                )

    def _note(self, keyword: str, value: Any, at: Place) -> None:
        kind: Any = NOTES[keyword]
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool and kind is not object):
            raise self.refuse(keyword, at, f"must be a {kind.__name__}")

    # One method for each keyword that asserts ---------------------------------------------------------------------

    def _type(self, rule: Rule, keyword: str, value: Any, at: Place) -> None:
        names = [value] if isinstance(value, str) else value
        valid = isinstance(names, list) and names and all(isinstance(name, str) for name in names)
        if not valid or not ALL_KINDS.issuperset(names) or len(set(names)) != len(names):
            raise self.refuse(keyword, at, f"must be one or several of {', '.join(sorted(ALL_KINDS))}")
        rule.names = tuple(names)
        rule.kinds = frozenset(names) | ({"integer"} if "number" in names else set())

    def _choices(self, rule: Rule, keyword: str, value: Any, at: Place) -> None:
        values = [value] if keyword == "const" else value
        if not isinstance(values, list) or len(values) > MAX_CHOICES or _depth(values) > MAX_CHOICE_DEPTH:
            raise self.refuse(keyword, at, f"must be a list of at most {MAX_CHOICES} values, not deeply nested")
        if rule.choices is not None:
            raise self.refuse(keyword, at, "stands beside another of enum and const; leave one of them out")
        rule.choices = tuple(values)
        rule.texts = frozenset(choice for choice in values if isinstance(choice, str))

    def _number(self, rule: Rule, keyword: str, value: Any, at: Place) -> None:
        if isinstance(value, bool) or not isinstance(value, int | float) or (keyword == "multipleOf" and value <= 0):
            raise self.refuse(keyword, at, f"must be a number{' over 0' if keyword == 'multipleOf' else ''}")
        limit: dict[str, Any] = {NUMERIC[keyword]: value}
        rule.numbers = rule.numbers.merge(Constraints(**limit))

    def _count(self, rule: Rule, keyword: str, value: Any, at: Place) -> None:
        if isinstance(value, bool) or not isinstance(value, int | float) or value < 0 or value != int(value):
            raise self.refuse(keyword, at, "must be a whole number, 0 or more")
        what, name = COUNTS[keyword]
        limit: dict[str, Any] = {name: int(value)}
        setattr(rule, what, getattr(rule, what).merge(Constraints(**limit)))

    def _pattern(self, rule: Rule, keyword: str, value: Any, at: Place) -> None:
        if not isinstance(value, str) or len(value) > MAX_PATTERN:
            raise self.refuse(keyword, at, f"must be a string of at most {MAX_PATTERN} characters")
        try:
            python_pattern(value)
        except ValueError as error:
            raise self.refuse(keyword, at, f"cannot be enforced: {error}") from None
        rule.text = rule.text.merge(Constraints(pattern=value))

    def _unique(self, rule: Rule, keyword: str, value: Any, at: Place) -> None:
        if not isinstance(value, bool):
            raise self.refuse(keyword, at, "must be true or false")
        rule.unique = value

    def _required(self, rule: Rule, keyword: str, value: Any, at: Place) -> None:
        if not isinstance(value, list) or not all(isinstance(n, str) for n in value) or len(set(value)) != len(value):
            raise self.refuse(keyword, at, "must be a list of different names")
        rule.required = tuple(value)

    def _map(self, rule: Rule, keyword: str, value: Any, at: Place) -> None:
        if not isinstance(value, dict):
            raise self.refuse(keyword, at, "must be an object of schemas")
        rules = {name: self.read(schema, (*at, keyword, name)) for name, schema in value.items()}
        if keyword == "properties":
            rule.properties = rules

    def _list(self, rule: Rule, keyword: str, value: Any, at: Place) -> None:
        if not isinstance(value, list) or not value:
            raise self.refuse(keyword, at, "must be a list of schemas")
        rules = tuple(self.read(schema, (*at, keyword, str(index))) for index, schema in enumerate(value))
        if keyword == "anyOf":
            rule.any_of = rules
        else:
            rule.prefix = rules

    def _one(self, rule: Rule, keyword: str, value: Any, at: Place) -> None:
        setattr(rule, ONE[keyword], self.read(value, (*at, keyword)))

    def _ref(self, rule: Rule, keyword: str, value: Any, at: Place) -> None:
        if not isinstance(value, str):
            raise self.refuse(keyword, at, "must be a string")
        self.references.append(_Reference(rule, value, at))

    def _dialect(self, rule: Rule, keyword: str, value: Any, at: Place) -> None:
        if at or value not in DIALECTS:
            raise self.refuse(keyword, at, f"is {str(value)[:80]!r}; only 2020-12 is supported, told at the root")

    def _identifier(self, rule: Rule, keyword: str, value: Any, at: Place) -> None:
        if at or not isinstance(value, str) or "#" in value.removesuffix("#"):
            raise self.refuse(keyword, at, "cannot be enforced yet other than as a plain URI at the root")


ONE = {"additionalProperties": "additional", "propertyNames": "member_names", "items": "rest"}
CONTAINERS = ("$defs", "definitions", "$schema", "$id")
Read = Callable[[_Reader, Rule, str, Any, Place], None]
KEYWORDS: dict[str, Read] = {
    "type": _Reader._type,
    "enum": _Reader._choices,
    "const": _Reader._choices,
    **dict.fromkeys(NUMERIC, _Reader._number),
    **dict.fromkeys(COUNTS, _Reader._count),
    "pattern": _Reader._pattern,
    "uniqueItems": _Reader._unique,
    "required": _Reader._required,
    "properties": _Reader._map,
    "$defs": _Reader._map,
    "definitions": _Reader._map,
    "prefixItems": _Reader._list,
    "anyOf": _Reader._list,
    **dict.fromkeys(ONE, _Reader._one),
    "$ref": _Reader._ref,
    "$schema": _Reader._dialect,
    "$id": _Reader._identifier,
}


def pointer(place: Place) -> str:
    """Return a JSON pointer; the root is `#`, because an empty text tells nobody anything."""
    return "".join("/" + part.replace("~", "~0").replace("/", "~1") for part in place)[:300] or "#"


def _depth(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + max(map(_depth, value.values()), default=0)
    if isinstance(value, list):
        return 1 + max(map(_depth, value), default=0)
    return 0


def _is_bounded(branch: Rule) -> bool:
    """True where trying a branch looks at few places, whatever the value."""
    todo, left = [branch], MAX_TRIED
    while todo:
        rule = todo.pop()
        left -= 1
        opens = (inner for inner in (rule.additional, rule.member_names, rule.rest) if inner is not None)
        if left < 0 or any(not inner.trivial and not inner.never for inner in opens):
            return False
        todo += (*rule.properties.values(), *rule.prefix, *rule.same, *rule.any_of)
    return True


def _tag(branches: list[Rule]) -> tuple[str | None, dict[str, Rule]]:
    """Return the required property whose const or enum tells object branches apart, and the branch for each value."""
    if len(branches) < 2:
        return None, {}
    candidates = [_constants(branch) for branch in branches]
    for name in candidates[0]:
        tagged: dict[str, Rule] = {}
        count = 0
        for branch, constants in zip(branches, candidates, strict=True):
            values = constants.get(name, ())
            count += len(values) or MAX_CHOICES
            tagged.update(dict.fromkeys(values, branch))
        if count == len(tagged):
            return name, tagged
    return None, {}


def _constants(branch: Rule) -> dict[str, tuple[str, ...]]:
    """Return the required properties of an object that must be one of some strings, as written."""
    found: dict[str, tuple[str, ...]] = {}
    parts = _in_place(branch)
    required = {name for part in parts for name in part.required}
    for part in parts:
        for name, inner in part.properties.items():
            for rule in _in_place(inner):
                if name in required and rule.choices and len(rule.texts) == len(rule.choices):
                    found.setdefault(name, rule.choices)
    return found


def _in_place(rule: Rule) -> list[Rule]:
    """Return a rule and what it refers to."""
    found = [rule]
    for part in found:
        found += [target for target in part.same if target not in found]
    return found
