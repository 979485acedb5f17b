"""What no value can be: schemas that contradict themselves, and values that do not fit.

In: schemas as they are published. Out: the reason, empty where none is found. It finds what it is sure of, and no more:
a schema without a finding may still be impossible.
JSON Schema 2020-12: validation 6, "A Vocabulary for Structural Validation".
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterator
from typing import Any

from .schemas import by_reference, kinds_of, properties_of, walk

__all__ = ["endless", "impossible", "misfit"]

_MOST_STEPS = 200  # references and properties that are followed
_LARGEST = 1e300  # what lies beyond is left alone: not every integer of JSON is a float
_NUMBERS = {"integer", "number"}
_BOUNDS = (
    ("minimum", "maximum", _NUMBERS),
    ("minLength", "maxLength", {"string"}),
    ("minItems", "maxItems", {"array"}),
    ("minProperties", "maxProperties", {"object"}),
)
_KINDS: dict[str, Callable[[Any], bool]] = {
    "null": lambda value: value is None,
    "boolean": lambda value: isinstance(value, bool),
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: _is_numeric(value) and (isinstance(value, int) or value.is_integer()),
    "number": lambda value: _is_numeric(value),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}


def _is_numeric(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    """Return whether a value is a number that can be compared."""
    return _is_numeric(value) and abs(value) < _LARGEST


def _number(schema: dict[str, Any], keyword: str) -> float | None:
    value = schema.get(keyword)
    return value if _is_number(value) else None


# --- schemas ----------------------------------------------------------------------------------------------------------


def impossible(root: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the places of a schema that no value fits, each with the reason."""
    for sub in walk(root):
        why = _contradiction(sub.schema) if sub.demands else ""
        if why:
            yield sub.shown, why
    circle = endless(root)
    if circle:
        yield "the whole value", circle


def _contradiction(schema: dict[str, Any]) -> str:
    """Return why nothing fits a schema by itself."""
    for look in (_empty_choice, _crossed_bounds, _closed, _parts_differ):
        why = look(schema)
        if why:
            return why
    return ""


def _empty_choice(schema: dict[str, Any]) -> str:
    choices = schema.get("enum")
    kinds = [_KINDS[name] for name in kinds_of(schema) if name in _KINDS]
    if isinstance(choices, list):
        if not choices:
            return "enum is empty"
        if kinds and not any(is_kind(value) for is_kind in kinds for value in choices):
            return f"no value of its enum is of the type {schema['type']!r}"
        if "const" in schema and schema["const"] not in choices:
            return f"const {schema['const']!r} is not in its enum"
    if "const" in schema and kinds and not any(is_kind(schema["const"]) for is_kind in kinds):
        return f"const {schema['const']!r} is not of the type {schema['type']!r}"
    return ""


def _crossed_bounds(schema: dict[str, Any]) -> str:
    kinds = kinds_of(schema)
    for low, high, about in _BOUNDS:
        least, most = _number(schema, low), _number(schema, high)
        if least is not None and most is not None and least > most and kinds <= about:
            return f"{low} {least:g} is over {high} {most:g}"
    if kinds <= _NUMBERS:
        return _nothing_between(schema, kinds == {"integer"})
    return _too_few_choices(schema) if kinds == {"array"} else ""


def _nothing_between(schema: dict[str, Any], integers: bool) -> str:
    least, most = _number(schema, "minimum"), _number(schema, "maximum")
    above, below = _number(schema, "exclusiveMinimum"), _number(schema, "exclusiveMaximum")
    for low, high in ((above, below), (above, most), (least, below)):
        if low is not None and high is not None and low >= high:
            return f"nothing lies between {low:g} and {high:g}, one of which is excluded"
    if integers and least is not None and most is not None and math.ceil(least) > most:
        return f"no integer lies between {least:g} and {most:g}"
    return ""


def _too_few_choices(schema: dict[str, Any]) -> str:
    items, wanted = schema.get("items"), _number(schema, "minItems")
    choices = items.get("enum") if isinstance(items, dict) else None
    if schema.get("uniqueItems") is True and isinstance(choices, list) and wanted is not None and wanted > len(choices):
        return f"minItems {wanted:g} is over the {len(choices)} different items that there can be"
    return ""


def _closed(schema: dict[str, Any]) -> str:
    if not kinds_of(schema) <= {"object"}:
        return ""
    properties = schema.get("properties")
    known = properties if isinstance(properties, dict) else {}
    for name in _required(schema):
        if known.get(name) is False:
            return f"{name!r} is required, and its schema is false"
        if schema.get("additionalProperties") is False and name not in known and "patternProperties" not in schema:
            return f"{name!r} is required, but not among its properties, and others are forbidden"
    return ""


def _required(schema: dict[str, Any]) -> list[str]:
    names = schema.get("required")
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def _parts_differ(schema: dict[str, Any]) -> str:
    parts = schema.get("allOf")
    kinds: set[str] | None = kinds_of(schema) or None
    for part in parts if isinstance(parts, list) else ():
        found = kinds_of(part) if isinstance(part, dict) else set()
        if not found:
            continue
        found |= {"integer"} if "number" in found else set()
        together = found if kinds is None else (kinds | ({"integer"} if "number" in kinds else set())) & found
        if not together:
            return f"its allOf wants the types {', '.join(sorted(kinds or ()))} and {', '.join(sorted(found))} at once"
        kinds = together
    return ""


def endless(root: dict[str, Any]) -> str:
    """Return why every value would have to hold another one like it, without an end."""
    circle = _Circle(root).follow(root, ())
    return f"each {circle} has to hold another one, without an end" if circle else ""


class _Circle:
    """Looks for references that every value has to follow for ever."""

    def __init__(self, root: dict[str, Any]) -> None:
        self._root = root
        self._steps = 0

    def follow(self, schema: dict[str, Any], path: tuple[str, ...]) -> str:
        """Return the reference that comes again below itself, however the value is made; empty where none does."""
        self._steps += 1
        reference = schema.get("$ref")
        if self._steps > _MOST_STEPS:
            return ""
        if isinstance(reference, str):
            target = by_reference(schema, self._root)
            if reference in path or target is schema:
                return reference if reference in path else ""
            return self.follow(target, (*path, reference))
        found = next((circle for must in _musts(schema) if (circle := self.follow(must, path))), "")
        for keyword in ("anyOf", "oneOf"):
            ways = schema.get(keyword)
            if not found and isinstance(ways, list) and ways and all(isinstance(way, dict) for way in ways):
                circles = [self.follow(way, path) for way in ways]
                found = circles[0] if all(circles) else ""
        return found


def _musts(schema: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the schemas of values that a value of this one cannot be without."""
    parts, items = schema.get("allOf"), schema.get("items")
    known = properties_of(schema) if kinds_of(schema) == {"object"} else {}
    musts = [known[name] for name in _required(schema) if name in known]
    musts += [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []
    if isinstance(items, dict) and (_number(schema, "minItems") or 0) > 0 and kinds_of(schema) == {"array"}:
        musts.append(items)
    return musts


# --- values -----------------------------------------------------------------------------------------------------------


def misfit(schema: dict[str, Any], value: Any, root: dict[str, Any]) -> str:
    """Return why a value does not fit a schema; references go into `root`."""
    return _Fit(root).why(schema, value)


class _Fit:
    """Holds values against schemas, for so many steps."""

    def __init__(self, root: dict[str, Any]) -> None:
        self._root = root
        self._steps = 0

    def why(self, schema: dict[str, Any], value: Any) -> str:
        """Return why a value does not fit, empty where it does or nobody knows."""
        self._steps += 1
        if self._steps > _MOST_STEPS:
            return ""
        target = by_reference(schema, self._root)
        if target is not schema:
            return self.why(target, value)
        return _plain_misfit(schema, value) or self._no_way(schema, value) or self._inner(schema, value)

    def _no_way(self, schema: dict[str, Any], value: Any) -> str:
        for keyword in ("anyOf", "oneOf"):
            ways = schema.get(keyword)
            if isinstance(ways, list) and ways and all(isinstance(way, dict) and self.why(way, value) for way in ways):
                return f"no member of {keyword} takes it"
        return ""

    def _inner(self, schema: dict[str, Any], value: Any) -> str:
        items = schema.get("items")
        if isinstance(value, list) and isinstance(items, dict) and "prefixItems" not in schema:
            return next((f"of an item, {why}" for item in value if (why := self.why(items, item))), "")
        if not isinstance(value, dict):
            return ""
        missing = [name for name in _required(schema) if name not in value]
        if missing:
            return f"it lacks {missing[0]!r}"
        parts = properties_of(schema).items()
        return next((f"of {n!r}, {why}" for n, part in parts if n in value and (why := self.why(part, value[n]))), "")


def _plain_misfit(schema: dict[str, Any], value: Any) -> str:
    kinds = [name for name in kinds_of(schema) if name in _KINDS]
    if kinds and not any(_KINDS[name](value) for name in kinds):
        return f"it is not of the type {' or '.join(sorted(kinds))}"
    choices = schema.get("enum")
    if isinstance(choices, list) and value not in choices:
        return "it is not in its enum"
    if "const" in schema and value != schema["const"]:
        return "it is not its const"
    return _out_of_bounds(schema, value)


def _out_of_bounds(schema: dict[str, Any], value: Any) -> str:
    for keyword, size, fits, said in _tests(value):
        bound = _number(schema, keyword)
        if bound is not None and not fits(size, bound):
            return f"it is {said} {keyword} {bound:g}"
    pattern = schema.get("pattern")
    # A pattern may be a stranger's: only those that cannot backtrack are tried.
    is_plain = isinstance(pattern, str) and _PLAIN.fullmatch(pattern) is not None
    if isinstance(value, str) and is_plain and not re.search(str(pattern), value):
        return f"it does not match {pattern!r}"
    return ""


_PLAIN = re.compile(r"\^?((\[[A-Za-z0-9_\-]+\]|[A-Za-z0-9_\- ])(\{[0-9]{1,3}\})?)*\$?")


def _tests(value: Any) -> list[tuple[str, float, Callable[[float, float], bool], str]]:
    """Return the keywords that bound a value, with its size and what it is where it is out of bounds."""
    if _is_number(value):
        return [
            ("minimum", value, operator.ge, "under"),
            ("maximum", value, operator.le, "over"),
            ("exclusiveMinimum", value, operator.gt, "not over"),
            ("exclusiveMaximum", value, operator.lt, "not under"),
        ]
    if not isinstance(value, str | list):
        return []
    unit = "Length" if isinstance(value, str) else "Items"
    return [(f"min{unit}", len(value), operator.ge, "under"), (f"max{unit}", len(value), operator.le, "over")]
