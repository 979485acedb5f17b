"""What a schema may cost, and what becomes of a check that would cost more."""

from __future__ import annotations

from typing import Any

import pytest

from leanmcp import schema as json_schema


def test_a_check_that_takes_too_long_is_a_refusal() -> None:
    """Ours: what cannot be told within the steps does not fit; words are looked for within steps as well."""
    branches = [{"items": {"$ref": "#/$defs/d"}, "minItems": 1}, {"items": {"$ref": "#/$defs/d"}, "maxItems": 3}]
    value: Any = [5]
    for _ in range(40):
        value = [value]
    endless = {"type": "array", "oneOf": branches}
    validator = json_schema.compile({"$defs": {"d": endless}, "$ref": "#/$defs/d"}, profile="untrusted")
    assert not validator.is_valid(value)
    assert [fault.message for fault in validator.faults(value)] == ["Input takes too many steps to check"]
    quick = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"$ref": "#/$defs/d"}}}
    mixed = json_schema.compile({"$defs": {"d": endless}, **quick}, profile="untrusted")
    assert [fault.path for fault in mixed.faults({"a": 5, "b": value})] == ["a"]


def test_a_schema_has_bounds_of_its_profile() -> None:
    """Ours: a stranger's schema may be smaller, flatter and simpler."""
    deep: dict[str, Any] = {}
    for _ in range(40):
        deep = {"items": deep}
    wide: dict[str, Any] = {"properties": {str(number): {} for number in range(2000)}}
    chain = {f"d{n}": {"$ref": f"#/$defs/d{n + 1}"} for n in range(100)} | {"d100": {}}
    long = {"$defs": chain, "$ref": "#/$defs/d0"}
    for schema in (deep, wide, long, {"description": "x" * 70_000}, {"pattern": "a" * 300}, {"enum": [*range(2000)]}):
        json_schema.compile(schema)
        with pytest.raises(json_schema.SchemaError):
            json_schema.compile(schema, profile="untrusted")
