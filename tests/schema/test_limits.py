"""Hostile schemas and values: bounded time and memory, no code, no files, no network, and right verdicts."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from leanmcp import schema as json_schema
from tests.support.processes import environment

SCRIPT = Path(__file__).parents[1] / "fixtures" / "hostile_schemas.py"
CPU = 30  # seconds for all attacks together; one takes under 1.5
MEMORY = 1 << 30  # bytes of address space
REFUSED = {
    *("remote reference", "file reference", "deep schema", "very deep schema", "deep const", "many properties"),
    *("many branches", "self reference", "long chain", "nested counts", "long pattern", "huge number"),
    *("division by zero", "not a number", "large schema"),
}
TOO_LONG = {"exponential allOf", "exponential anyOf", "exponential height", "recursive oneOf"}
INVALID = {
    *("names by case", "nested not", "nested quantifiers", "overlapping branches", "counted loops", "trailing space"),
}


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (CPU, CPU))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


@pytest.mark.parametrize("profile", ["trusted", "untrusted"])
def test_no_schema_and_no_value_hangs_or_crashes_the_check(profile: str) -> None:
    """Spec: basic/index, "Composition-Keyword Resource Use"."""
    done = subprocess.run(
        [sys.executable, str(SCRIPT), profile],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=environment(),
        preexec_fn=_limit,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    outcomes = json.loads(done.stdout)
    by_outcome: dict[str, set[str]] = {}
    for name, (outcome, seconds) in outcomes.items():
        by_outcome.setdefault(outcome, set()).add(name)
        assert seconds < 5, (name, seconds)
    assert by_outcome["refused"] == REFUSED
    assert by_outcome["steps"] == TOO_LONG
    assert by_outcome["invalid"] == INVALID


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


HOSTILE = [
    *("'", '"', "'''", '"""', "\\", "\\\\'", "\n", "\r\n", "\u2028", "\u2029", "\x85", "\x00", "\ud800", "\udfff"),
    *("{}", "{0}", "{x}", "%s", "%(x)s", "${x}", "$", "$ref", "__class__", "__proto__", "constructor", "toString"),
    *('"+PWN()+"', "');PWN();('", "\\x27", "\\u0027", "#", "#/", "~", "~0", "~1", "/", "//", "%25", "%2F", ".", ".."),
    *("", " ", "a.b", "a[0]", "[]", "é", "😀", "a" * 3000, "None", "True", "null", "import os", "lambda: 0", "-" * 9),
]


@pytest.mark.parametrize("profile", ["trusted", "untrusted"])
def test_no_text_of_a_schema_is_anything_but_data(profile: str) -> None:
    """Ours: hostile texts in every position where a schema can hold one."""
    for text in HOSTILE:
        pointer = text.replace("~", "~0").replace("/", "~1").encode("utf-8", "surrogatepass")
        quoted = "".join(f"%{byte:02x}" for byte in pointer)
        cases: list[tuple[Any, Any, bool]] = [
            ({"properties": {text: {"type": "string"}}, "additionalProperties": False}, {text: "x"}, True),
            ({"properties": {text: {"type": "string"}}}, {text: 5}, False),
            ({"required": [text]}, {text + "x": 1}, False),
            ({"const": text}, text, True),
            ({"const": {text: text}}, {text: text + "x"}, False),
            ({"enum": [text, 1]}, text, True),
            ({"dependentRequired": {text: [text + "y"]}}, {text: 1}, False),
            ({"dependentSchemas": {text: False}}, {text: 1}, False),
            ({"propertyNames": {"const": text}}, {text: 1}, True),
            ({"oneOf": [{"title": text}, {"title": text}]}, 1, False),
            ({"title": text, "description": text, "$comment": text, "format": text, "default": text}, 1, True),
            ({"examples": [{"$ref": text}], "x-note": {"$ref": text}, "unknown" + text: text}, 1, True),
        ]
        if "\ud800" not in text and "\udfff" not in text:
            cases.append(({"$defs": {text: {"type": "string"}}, "$ref": f"#/$defs/{quoted}"}, 5, False))
        for schema, value, fits in cases:
            validator = json_schema.compile(schema, profile=profile)
            assert validator.is_valid(value) is fits, (schema, value)
            assert (validator.faults(value) == []) is fits
            for fault in validator.faults(value):
                assert fault.message.isprintable()


def test_patterns_made_of_hostile_texts_are_refused_or_matched() -> None:
    """Ours: nothing but SchemaError leaves the compiler."""
    for text in HOSTILE:
        for schema in ({"pattern": text}, {"patternProperties": {text: False}}, {"$ref": text}, {"$id": text}):
            try:
                validator = json_schema.compile(schema)
            except json_schema.SchemaError:
                continue
            validator.faults({text: text})


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
