"""Random 2020-12 schemas of every keyword, for `fuzz`.

In: a random number generator. Out: `document`, a schema with other resources inside and references between them, a
dozen or so levels deep; `any_value`.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

__all__ = ["NAMES", "PATTERNS", "TYPES", "any_value", "document"]

NAMES = ["a", "b", "kind", "x-1", "ab", "é"]
TYPES = ["null", "boolean", "integer", "number", "string", "array", "object"]
SCALARS: list[Any] = [
    *(None, True, False, 0, 1, 1.0, 2, 2.5, -1, -0.0, 3, 0.3, 1.1, 100, 10**20, 1e20, 1e-7),
    *("", "a", "ab", "xyz", "é", "😀", "1", "a1", "1a", "b\n", "²", "A-1", " "),
]
MULTIPLES = [1, 2, 3, 0.5, 0.1, 0.01, 2.0, 1e-3]
PATTERNS = {
    "^a": ["a", "ab", "a1"],
    "b$": ["b", "ab", "xb"],
    "^[a-z]*$": ["", "abc"],
    r"\d": ["1", "a1"],
    r"^\w+$": ["ab", "A_1"],
    "-": ["x-1", "-"],
    "^k": ["kind", "k"],
    "^..$": ["ab", "😀é"],
    r"^\S{1,3}$": ["a", "xyz"],
    r"^(a|b)+$": ["a", "ab", "bab"],
    r"^\p{L}+$": ["é", "ab"],
}
ANCHORS = ["m", "n"]
THIRD = ["deep/third", "/deep/third", "http://example.com/deep/third"]
PLACES = [
    *("#", "#/$defs/p", "#/$defs/q", "#/$defs/r", "#s", "#m", "#n"),
    *("/other#n", "/root#/$defs/q", "/root#m", "http://example.com/other", "//example.com/root#n", "../root#s"),
    *(f"{place}{fragment}" for place in ("/deep/third", "/other") for fragment in ("", "#s", "#m", "#/$defs/p")),
]


def any_value(random: Random, depth: int = 3) -> Any:
    """Return any JSON value."""
    kind = random.randrange(6 if depth else 3)
    if kind < 3:
        return random.choice(SCALARS)
    if kind < 4:
        return [any_value(random, depth - 1) for _ in range(random.randrange(4))]
    return {name: any_value(random, depth - 1) for name in random.sample(NAMES, random.randrange(4))}


def any_schema(random: Random, depth: int = 3) -> Any:
    """Return a schema of a few keywords."""
    if random.random() < 0.12:
        return random.random() < 0.6
    if random.random() < 0.08 and depth:
        return random.choice(SHAPES)(random, depth)
    makers = _makers(random, depth)
    return {keyword: makers[keyword]() for keyword in random.sample(list(makers), random.randrange(1, 7))}


def _tagged(random: Random, depth: int) -> Any:
    """Return a union of objects that a member tells apart, or seems to."""
    tags = random.sample(["a", "b", "xyz", 1, True, 1.0, None], 3)
    branches = [
        {
            "properties": {
                "kind": random.choice([{"const": tag}, {"enum": [tag]}]),
                "a": any_schema(random, depth - 1),
            },
            "required": random.choice([["kind"], ["kind", "a"], []]),
        }
        for tag in tags
    ]
    return {"type": "object", random.choice(["oneOf", "anyOf"]): branches, **_rest(random)}


def _constants(random: Random, depth: int) -> Any:
    """Return a union of single values and kinds of values."""
    parts = [
        random.choice(
            [{"const": any_value(random, 1)}, {"enum": random.sample(SCALARS, 3)}, {"type": random.choice(TYPES)}]
        )
        for _ in range(random.randrange(2, 6))
    ]
    return {random.choice(["oneOf", "anyOf"]): parts, **_rest(random)}


def _wide(random: Random, depth: int) -> Any:
    """Return an object of more properties than code is written out for, at times."""
    names = [f"n{number}" for number in range(random.choice([12, 40, 300]))]
    properties = {name: random.choice([{"type": random.choice(TYPES)}, {"minimum": 1}, True]) for name in names}
    properties |= {name: any_schema(random, depth - 1) for name in random.sample(NAMES, 2)}
    return {"properties": properties, "required": random.sample(names, random.randrange(3)), **_rest(random)}


def _deep(random: Random, depth: int) -> Any:
    """Return a schema inside of many others, for the same value or for a part of it."""
    schema = any_schema(random, depth - 1)
    for _ in range(random.randrange(4, 13)):
        wrap: list[Callable[[Any], Any]] = [
            lambda inner: {"allOf": [True, inner]},
            lambda inner: {"anyOf": [False, inner]},
            lambda inner: {"oneOf": [inner, False], "title": "B"},
            lambda inner: {"not": {"not": inner}} if random.random() < 0.2 else {"allOf": [inner]},
            lambda inner: {"if": {"minimum": 1}, "then": inner, "else": inner} if random.random() < 0.2 else inner,
            lambda inner: {"items": inner} if random.random() < 0.3 else {"anyOf": [inner, {"const": 1}]},
            lambda inner: {"properties": {"a": inner}} if random.random() < 0.3 else {"dependentSchemas": {"a": inner}},
        ]
        schema = random.choice(wrap)(schema)
    return {"allOf": [schema], **_rest(random)}


def _rest(random: Random) -> dict[str, Any]:
    """Return a word about what nobody has looked at, at times."""
    word = random.choice(["additionalProperties", "unevaluatedProperties", "unevaluatedItems", None, None, None])
    return {} if word is None else {word: random.choice([False, False, {"type": "integer"}])}


SHAPES: list[Callable[[Random, int], Any]] = [_tagged, _tagged, _constants, _constants, _deep, _deep, _wide]


def _makers(random: Random, depth: int) -> dict[str, Callable[[], Any]]:
    """Return what makes a value of each keyword."""

    def inner() -> Any:
        return any_schema(random, depth - 1) if depth else random.random() < 0.7

    def some() -> list[Any]:
        return [inner() for _ in range(random.randrange(1, 4))]

    def names() -> list[str]:
        return random.sample(NAMES, random.randrange(3))

    def named() -> dict[str, Any]:
        return {name: inner() for name in names()}

    def count() -> int | float:
        return random.choice([0, 1, 1, 2, 2, 3, 2.0])

    return {
        "type": lambda: random.choice([random.choice(TYPES), random.sample(TYPES, 2)]),
        "const": lambda: any_value(random, 1),
        "enum": lambda: [any_value(random, 1) for _ in range(random.randrange(1, 5))],
        "minimum": lambda: random.choice([0, 1, 1.5, -1e3, 10**20]),
        "exclusiveMinimum": lambda: random.choice([0, 1.0, 2]),
        "maximum": lambda: random.choice([1, 2.5, 100, 10**20]),
        "exclusiveMaximum": lambda: random.choice([1, 2, 1e20]),
        "multipleOf": lambda: random.choice(MULTIPLES),
        "minLength": count,
        "maxLength": count,
        "pattern": lambda: random.choice(list(PATTERNS)),
        "minItems": count,
        "maxItems": count,
        "uniqueItems": lambda: random.random() < 0.7,
        "minProperties": count,
        "maxProperties": count,
        "required": names,
        "properties": lambda: {name: inner() for name in random.sample(NAMES, random.randrange(1, 4))},
        "patternProperties": lambda: {random.choice(list(PATTERNS)): inner() for _ in range(random.randrange(1, 3))},
        "additionalProperties": inner,
        "propertyNames": inner,
        "dependentRequired": lambda: {random.choice(NAMES): names()},
        "dependentSchemas": named,
        "prefixItems": some,
        "items": inner,
        "contains": inner,
        "minContains": count,
        "maxContains": count,
        "allOf": some,
        "anyOf": some,
        "oneOf": some,
        "not": inner,
        "if": inner,
        "then": inner,
        "else": inner,
        "unevaluatedProperties": inner,
        "unevaluatedItems": inner,
        "$ref": lambda: random.choice(PLACES),
        "$dynamicRef": lambda: random.choice(["#m", "#n", "#m", "#n", "/other#m", "/root#n", "#s", "#/$defs/q"]),
        # What asserts nothing.
        "format": lambda: random.choice(["email", "ipv4", "nonsense"]),
        "contentEncoding": lambda: "base64",
        "contentSchema": inner,
        "default": lambda: {"$ref": "http://elsewhere.test/x"},
        "examples": lambda: [{"$id": "http://example.com/root"}],
        "dependencies": lambda: {"a": False},
        "additionalItems": lambda: False,
        "title": lambda: "A",
    }


def document(random: Random) -> dict[str, Any]:
    """Return a schema with definitions, other resources inside, and anchors in all of them."""

    def target(**names: str) -> dict[str, Any]:
        made = any_schema(random, 2)
        return {**(made if isinstance(made, dict) else {"not": {}} if made is False else {}), **names}

    def definitions() -> dict[str, Any]:
        """Every resource has the same names, on subschemas of its own; m and n are dynamic or plain anchors."""
        anchors = [random.choice(("$dynamicAnchor", "$dynamicAnchor", "$anchor")) for _ in range(2)]
        return {"p": target(**{anchors[0]: "m"}), "q": target(**{anchors[1]: "n"}), "r": target(**{"$anchor": "s"})}

    third = {**target(**{"$id": random.choice(THIRD)}), "$defs": definitions()}
    other = {**target(**{"$id": "other"}), "$defs": definitions()}
    inside = random.random() < 0.5
    if inside:
        other["$defs"]["t"] = third
    root = any_schema(random)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "http://example.com/root",
        **(root if isinstance(root, dict) else {}),
        "$defs": {**definitions(), "o": other, **({} if inside else {"t": third})},
    }
