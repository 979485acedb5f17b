"""Every engine against another validator on random schemas of all keywords, with values that nearly fit."""

from __future__ import annotations

import json

from leanmcp import schema as json_schema
from tests.schema import fuzz
from tests.support.schema_engines import compiled

SEEDS = range(2_200)


def test_verdicts_agree_with_another_validator_or_a_clause_says_why() -> None:
    """Ours: faults are found exactly where a value does not fit; `python -m tests.schema.fuzz` goes on for longer."""
    tally = fuzz.run(SEEDS)
    assert not tally.disagreements, "\n".join(json.dumps(found) for found in tally.disagreements[:3])
    assert tally["schemas"] >= 2_000
    assert tally["values"] >= 2_000 * fuzz.VALUES
    # Values near the line, or nothing would be found out.
    assert tally["mixed"] > tally["schemas"] / 2
    assert tally["too complex"] == 0
    # Each known difference is met, so that it goes from the list when the other validator changes.
    assert all(tally[clause] for clause in fuzz.EXPLAINED)


def test_the_known_differences_are_what_the_specification_says() -> None:
    """Spec: JSON Schema core 6.5 and 8.2.2."""
    ignored = {"dependencies": {"a": False}}
    assert compiled(ignored)({"a": 1})
    assert not fuzz.oracle(ignored)({"a": 1})
    # `$ref` does not look at the dynamic scope, where the root has an anchor `m` too, which takes strings only.
    plain = {
        "$id": "http://example.com/root",
        "$ref": "inner",
        "$defs": {
            "outer": {"$dynamicAnchor": "m", "type": "string"},
            "i": {"$id": "inner", "$ref": "#m", "$defs": {"p": {"$dynamicAnchor": "m", "type": "integer"}}},
        },
    }
    assert compiled(plain)(5)
    assert not compiled(plain)("x")
    assert not fuzz.oracle(plain)(5)
    assert json_schema.compile(plain).faults("x")
