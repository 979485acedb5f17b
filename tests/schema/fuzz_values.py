"""Random values that fit a schema of `fuzz_schemas`, or would but for one thing.

In: a random number generator and a schema. Out: `Near`, which makes values at most 8 levels deep.
"""

from __future__ import annotations

from random import Random
from typing import Any

from .fuzz_schemas import NAMES, PATTERNS, TYPES, any_value

__all__ = ["Near"]

OBJECT_WORDS = {
    *("properties", "patternProperties", "additionalProperties", "required", "propertyNames", "minProperties"),
    *("maxProperties", "dependentRequired", "dependentSchemas", "unevaluatedProperties"),
}
ARRAY_WORDS = {
    *("items", "prefixItems", "contains", "minItems", "maxItems", "uniqueItems", "minContains", "maxContains"),
    "unevaluatedItems",
}
STRING_WORDS = {"pattern", "minLength", "maxLength"}
NUMBER_WORDS = {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}


class Near:
    """Makes values of a document that fit, or would but for one thing."""

    def __init__(self, random: Random, written: dict[str, Any]) -> None:
        self._random = random
        self._root = written
        definitions = written["$defs"]
        other = definitions["o"]
        self._resources = {"root": written, "other": other, "deep/third": definitions.get("t", other["$defs"].get("t"))}

    def value(self) -> Any:
        """Return a value for the root."""
        made = self._make(self._root, "root", 4)
        for _ in range(self._random.choice([0, 0, 1, 1, 2])):
            made = self._changed(made)
        return made

    def _make(self, schema: Any, resource: str, depth: int) -> Any:
        random = self._random
        if depth <= 0 or not isinstance(schema, dict) or random.random() < 0.06:
            return any_value(random, min(depth, 1))
        parts = self._parts(schema, resource, 6)
        choices = [
            value for part, _ in parts for value in ([part["const"]] if "const" in part else part.get("enum", []))
        ]
        if choices and random.random() < 0.8:
            return random.choice(choices)
        kind = self._kind([part for part, _ in parts])
        if kind == "object":
            return self._object(parts, depth)
        if kind == "array":
            return self._array(parts, depth)
        if kind == "string":
            return self._string([part for part, _ in parts])
        if kind in ("integer", "number"):
            return self._number([part for part, _ in parts])
        return None if kind == "null" else random.random() < 0.5

    def _parts(self, schema: Any, resource: str, left: int) -> list[tuple[dict[str, Any], str]]:
        """Return the schemas that apply in place, each with the resource that it stands in; of branches one."""
        if not isinstance(schema, dict) or left <= 0:
            return []
        resource = _named(schema.get("$id", resource))
        random = self._random
        found = [(schema, resource)]
        more: list[tuple[Any, str]] = [(inner, resource) for inner in schema.get("allOf", ())]
        more += [(random.choice(schema[word]), resource) for word in ("anyOf", "oneOf") if word in schema]
        if "if" in schema:
            if random.random() < 0.5:
                more += [(schema["if"], resource), (schema.get("then"), resource)]
            else:
                more.append((schema.get("else"), resource))
        for keyword in ("$ref", "$dynamicRef"):
            if keyword in schema:
                more.append(self._follow(schema[keyword], resource))
        more += [(inner, resource) for inner in schema.get("dependentSchemas", {}).values() if random.random() < 0.5]
        for inner, where in more:
            found += self._parts(inner, where, left - 1 - len(found) // 4)
        return found

    def _follow(self, text: str, resource: str) -> tuple[Any, str]:
        place, _, fragment = text.partition("#")
        resource = _named(place) if place else resource
        schema = self._resources[resource]
        definitions = schema["$defs"]
        if fragment.startswith("/"):
            return definitions.get(fragment.rpartition("/")[2]), resource
        for inner in definitions.values() if fragment else ():
            if fragment in (inner.get("$anchor"), inner.get("$dynamicAnchor")):
                return inner, resource
        return schema, resource

    def _kind(self, parts: list[dict[str, Any]]) -> str:
        random = self._random
        kinds = [part["type"] for part in parts if "type" in part]
        if kinds and random.random() < 0.9:
            kind = random.choice(kinds)
            return str(kind if isinstance(kind, str) else random.choice(kind))
        words = {word for part in parts for word in part}
        guesses = [
            kind
            for kind, about in (
                ("object", OBJECT_WORDS),
                ("array", ARRAY_WORDS),
                ("string", STRING_WORDS),
                ("number", NUMBER_WORDS),
            )
            for _ in words & about
        ]
        return random.choice(guesses or TYPES)

    def _object(self, parts: list[tuple[dict[str, Any], str]], depth: int) -> dict[str, Any]:
        random = self._random
        made: dict[str, Any] = {}
        for part, resource in parts:
            for name, inner in part.get("properties", {}).items():
                if name not in made and (name in part.get("required", ()) or random.random() < 0.7):
                    made[name] = self._make(inner, resource, depth - 1)
            for pattern, inner in part.get("patternProperties", {}).items():
                if random.random() < 0.6:
                    made.setdefault(random.choice(PATTERNS[pattern]), self._make(inner, resource, depth - 1))
            for keyword in ("additionalProperties", "unevaluatedProperties"):
                if keyword in part and (part[keyword] is not False) and random.random() < 0.6:
                    made.setdefault(random.choice(NAMES), self._make(part[keyword], resource, depth - 1))
        for part, _ in parts:
            needed = list(part.get("required", ()))
            for name, names in part.get("dependentRequired", {}).items():
                needed += names if name in made else ()
            for name in needed:
                if name not in made and random.random() < 0.9:
                    made[name] = any_value(random, 1)
            while len(made) < part.get("minProperties", 0) and len(made) < len(NAMES):
                made.setdefault(random.choice(NAMES), any_value(random, 1))
            while len(made) > part.get("maxProperties", 99) and random.random() < 0.9:
                made.popitem()
        return made

    def _array(self, parts: list[tuple[dict[str, Any], str]], depth: int) -> list[Any]:
        random = self._random
        made: list[Any] = []
        for part, resource in parts:
            made += [self._make(inner, resource, depth - 1) for inner in part.get("prefixItems", ())[len(made) :]]
        for part, resource in parts:
            for keyword in ("items", "contains", "unevaluatedItems"):
                if keyword in part and part[keyword] is not False:
                    made += [self._make(part[keyword], resource, depth - 1) for _ in range(random.randrange(3))]
        for part, _ in parts:
            while len(made) < part.get("minItems", 0):
                made.append(any_value(random, 1))
            del made[int(part.get("maxItems", 99)) :]
        return made

    def _string(self, parts: list[dict[str, Any]]) -> str:
        random = self._random
        patterns = [part["pattern"] for part in parts if "pattern" in part]
        text: str = random.choice(PATTERNS[random.choice(patterns)] if patterns else ["", "a", "ab", "xyz", "é😀", "1"])
        for part in parts:
            while len(text) < part.get("minLength", 0):
                text += random.choice("ab1é")
            text = text[: int(part.get("maxLength", 99))] if random.random() < 0.9 else text
        return text

    def _number(self, parts: list[dict[str, Any]]) -> int | float:
        random = self._random
        bounds = [part[word] for part in parts for word in NUMBER_WORDS if word in part]
        if not bounds:
            return random.choice([0, 1, 2.5, -1, 1.0, 10**20])
        number: int | float = random.choice(bounds)
        number = random.choice([number, number * 2, number * 3, number + 1, number - 1, number + 0.5, -number])
        return int(number) if random.random() < 0.5 and float(number).is_integer() else number

    def _changed(self, value: Any) -> Any:
        """Return a value that differs in one place."""
        random = self._random
        if isinstance(value, dict) and value and random.random() < 0.8:
            copy = dict(value)
            name = random.choice(list(copy))
            change = random.randrange(4)
            if change == 0:
                del copy[name]
            elif change == 1:
                copy[random.choice(NAMES)] = any_value(random, 1)
            else:
                copy[name] = self._changed(copy[name])
            return copy
        if isinstance(value, list) and value and random.random() < 0.8:
            items = list(value)
            at = random.randrange(len(items))
            change = random.randrange(4)
            if change == 0:
                del items[at]
            elif change == 1:
                items.insert(at, random.choice(items))
            else:
                items[at] = self._changed(items[at])
            return items
        if isinstance(value, int | float) and not isinstance(value, bool) and random.random() < 0.6:
            return random.choice([value + 1, -value, float(value), str(value), bool(value)])
        return any_value(random, 1)


def _named(uri: str) -> str:
    """Return which of the resources a URI reference names."""
    return "deep/third" if uri.endswith("third") else "other" if uri.endswith("other") else "root"
