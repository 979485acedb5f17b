"""Random schemas of all keywords, and random values, against another validator."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from leanmcp import schema as json_schema

NAMES = ["a", "b", "kind", "x-1"]
TYPES = ["null", "boolean", "integer", "number", "string", "array", "object"]
SCALARS: list[Any] = [None, True, False, 0, 1, 1.0, 2, 2.5, -1, 10**20, "", "a", "ab", "xyz", "é", "1"]
ANCHORS = ["m", "n"]
# No `$ref` to a dynamic anchor: it is a plain anchor then, which both of the other validators get wrong.
PLACES = ["#", "#/$defs/p", "#/$defs/q", "#s", "other", "other#s", "other#/$defs/p"]


def value(random: Random, depth: int = 3) -> Any:
    """Return any JSON value."""
    kind = random.randrange(6 if depth else 3)
    if kind < 3:
        return random.choice(SCALARS)
    if kind < 4:
        return [value(random, depth - 1) for _ in range(random.randrange(4))]
    return {name: value(random, depth - 1) for name in random.sample(NAMES, random.randrange(4))}


def schema(random: Random, depth: int = 3) -> Any:
    """Return a schema of a few keywords."""
    if random.random() < 0.12:
        return random.random() < 0.6
    inner: Callable[[], Any] = (lambda: schema(random, depth - 1)) if depth else (lambda: random.random() < 0.7)

    def some() -> list[Any]:
        return [inner() for _ in range(random.randrange(1, 4))]

    def names() -> list[str]:
        return random.sample(NAMES, random.randrange(3))

    def named() -> dict[str, Any]:
        return {name: inner() for name in names()}

    small = random.randrange(4)
    makers: dict[str, Callable[[], Any]] = {
        "type": lambda: random.choice([random.choice(TYPES), random.sample(TYPES, 2)]),
        "const": lambda: value(random, 1),
        "enum": lambda: [value(random, 1) for _ in range(random.randrange(1, 5))],
        "minimum": lambda: random.choice([0, 1, 1.5]),
        "exclusiveMinimum": lambda: random.choice([0, 1.0]),
        "maximum": lambda: random.choice([1, 2.5]),
        "exclusiveMaximum": lambda: random.choice([1, 2]),
        "multipleOf": lambda: random.choice([1, 2, 0.5]),
        "minLength": lambda: small,
        "maxLength": lambda: small,
        "pattern": lambda: random.choice(["^a", "b$", "^[a-z]*$", r"\d"]),
        "minItems": lambda: small,
        "maxItems": lambda: small,
        "uniqueItems": lambda: random.random() < 0.7,
        "minProperties": lambda: small,
        "maxProperties": lambda: small,
        "required": names,
        "properties": named,
        "patternProperties": lambda: {random.choice(["^a", "-", "^k"]): inner()},
        "additionalProperties": inner,
        "propertyNames": inner,
        "dependentRequired": lambda: {random.choice(NAMES): names()},
        "dependentSchemas": named,
        "prefixItems": some,
        "items": inner,
        "contains": inner,
        "minContains": lambda: small,
        "maxContains": lambda: small,
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
        "$dynamicRef": lambda: "#" + random.choice(ANCHORS),
    }
    return {keyword: makers[keyword]() for keyword in random.sample(sorted(makers), random.randrange(1, 6))}


def document(random: Random) -> dict[str, Any]:
    """Return a schema with definitions, another resource inside, and anchors in both."""

    def target(**names: str) -> dict[str, Any]:
        made = schema(random, 2)
        return {**(made if isinstance(made, dict) else {"not": {}} if made is False else {}), **names}

    other = {
        **target(**{"$id": "other"}),
        "$defs": {
            "p": target(**{"$dynamicAnchor": "n", "$anchor": "s"}),
            "m": target(**{"$dynamicAnchor": "m"}),
            "q": target(),
        },
    }
    definitions = {"p": target(**{"$dynamicAnchor": "m", "$anchor": "s"}), "q": target(**{"$anchor": "n"}), "o": other}
    root = schema(random)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "http://example.com/root",
        **(root if isinstance(root, dict) else {}),
        "$defs": definitions,
    }


def oracle(written: dict[str, Any]) -> Callable[[Any], bool]:
    """Return the verdict of another validator: the faster one where it is there."""
    try:
        import jsonschema_rs  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        is_valid: Callable[[Any], bool] = Draft202012Validator(written).is_valid
        return is_valid
    verdict: Callable[[Any], bool] = jsonschema_rs.Draft202012Validator(written, offline=True).is_valid
    return verdict


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@settings(max_examples=400, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 2**32))
def test_verdicts_agree_with_another_validator(seed: int) -> None:
    """Ours: property; both profiles, and faults are found exactly where a value does not fit."""
    random = Random(seed)
    written = document(random)
    try:
        validators = [json_schema.compile(written, profile=profile) for profile in ("trusted", "untrusted")]
    except json_schema.SchemaError as error:
        if "without end" not in str(error):
            raise
        return
    expected = oracle(written)
    for _ in range(12):
        sample = value(random)
        verdict = expected(sample)
        for validator in validators:
            assert validator.is_valid(sample) is verdict, (written, sample)
            assert (validator.faults(sample) == []) is verdict, (written, sample)
