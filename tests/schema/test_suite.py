"""The official JSON Schema test suite, as data, for five dialects and both profiles."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from leanmcp import schema as json_schema
from leanmcp.schema.dialects import DIALECTS

SUITE = Path(__file__).resolve().parents[3] / "shared" / "json-schema-test-suite" / "tests"
DIALECT_OF = {
    "draft2020-12": 2020,
    "draft2019-09": 2019,
    "draft7": 7,
    "draft6": 6,
    "draft4": 4,
}
# Mandatory tests, and those among the rest whose schema is somewhere else.
COUNTS = {
    "draft2020-12": (1250, 49),
    "draft2019-09": (1223, 36),
    "draft7": (904, 23),
    "draft6": (816, 23),
    "draft4": (601, 17),
}
ELSEWHERE = "localhost:1234"
needs_suite = pytest.mark.skipif(not SUITE.is_dir(), reason="the JSON Schema test suite is not beside this project")


@pytest.fixture(autouse=True)
def _closed_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: Any, **options: Any) -> None:
        raise AssertionError("a schema made us open the network")

    for name in ("getaddrinfo", "create_connection"):
        monkeypatch.setattr(socket, name, refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)


def groups(draft: str, files: str) -> Iterator[tuple[str, Any, list[Any]]]:
    """Yield file name, schema with its dialect, and tests of each group."""
    uri = next(uri for uri, dialect in DIALECTS.items() if dialect.number == DIALECT_OF[draft])
    for file in sorted((SUITE / draft).glob(files)):
        for group in json.loads(file.read_text()):
            schema = group["schema"]
            if isinstance(schema, dict):
                schema = {"$schema": uri, **schema}
            yield f"{file.name}: {group['description']}", schema, group["tests"]


def judge(draft: str, files: str, profile: str) -> tuple[list[str], int, int]:
    """Return what was judged wrongly, how many tests there were, and how many need another document."""
    wrong: list[str] = []
    count = refused = 0
    for name, schema, tests in groups(draft, files):
        try:
            validator = json_schema.compile(schema, profile=profile)
        except json_schema.SchemaError as error:
            if ELSEWHERE in json.dumps(schema) and ("nothing is fetched" in str(error) or "dialect" in str(error)):
                refused += len(tests)
            else:
                wrong.append(f"{name}: {error}")
            continue
        for test in tests:
            count += 1
            before = json.dumps(test["data"])
            verdict = validator.is_valid(test["data"])
            found = validator.faults(test["data"])
            if verdict is not test["valid"] or verdict is bool(found) or json.dumps(test["data"]) != before:
                wrong.append(f"{name}: {test['description']}: {found}")
    return wrong, count, refused


@needs_suite
@pytest.mark.parametrize("profile", ["trusted", "untrusted"])
@pytest.mark.parametrize("draft", DIALECT_OF)
def test_every_mandatory_test_passes_and_nothing_is_fetched(draft: str, profile: str) -> None:
    """Spec: JSON Schema; a schema that needs another document is refused."""
    wrong, count, refused = judge(draft, "*.json", profile)
    assert not wrong, "\n".join(wrong)
    assert (count, refused) == COUNTS[draft]


@needs_suite
@pytest.mark.parametrize("profile", ["trusted", "untrusted"])
@pytest.mark.parametrize("draft", ["draft2020-12", "draft2019-09", "draft7", "draft6", "draft4"])
def test_patterns_mean_what_they_mean_in_ecma_262(draft: str, profile: str) -> None:
    """Spec: JSON Schema core 6.4; optional files of the suite."""
    wrong, count, _ = judge(draft, "optional/*regex.json", profile)
    assert not wrong, "\n".join(wrong)
    assert count >= 70


@needs_suite
@pytest.mark.parametrize("draft", DIALECT_OF)
def test_formats_are_annotations(draft: str) -> None:
    """Spec: JSON Schema validation 7.2.1; what is no format of ours is none of our business."""
    for _, schema, tests in groups(draft, "optional/format/*.json"):
        try:
            validator = json_schema.compile(schema)
        except json_schema.SchemaError:
            continue
        strings = [test["data"] for test in tests if isinstance(test["data"], str)]
        assert all(validator.is_valid(text) for text in strings if set(schema) <= {"$schema", "format"})


@pytest.mark.parametrize("number", [2020, 2019, 7, 6, 4])
def test_metaschema_is_valid_for_itself(number: int) -> None:
    """Ours: the keyword tables agree with the document made of them."""
    from leanmcp.schema.metaschema import metaschema

    dialect = next(dialect for dialect in DIALECTS.values() if dialect.number == number)
    document = metaschema(dialect)
    validator = json_schema.compile({"$schema": dialect.uri, "$ref": dialect.uri})
    assert validator.faults(document) == []
    assert not validator.is_valid({"properties": {"a": {"minLength": -1}}})
    assert json_schema.compile(document).is_valid({"items": {"type": "string"}})


SAMPLES: list[Any] = [
    *(None, True, False, 0, 1, -1, 1.0, 1.5, "", "a", "string", "A-1", "#", [], ["a"], ["a", "a"], [1], [1, 1.0]),
    *([{}], [True], [{"type": 5}], {}, {"a": {}}, {"a": True}, {"a": 5}, {"a": ["b"]}, {"a": []}, {"a": ["b", "b"]}),
    *(["string", "null"], ["string", "string"], {"type": "text"}, {"a": {"minLength": -1}}, {"a": [1]}),
]
REFERRING = ("$ref", "$dynamicRef", "$recursiveRef", "$schema", "pattern", "patternProperties", "$id", "id")


@pytest.mark.parametrize("number", [2020, 2019, 7, 6, 4])
def test_a_schema_is_taken_exactly_where_the_official_metaschema_takes_it(number: int) -> None:
    """Spec: basic/index: schemas MUST be valid for their dialect; every keyword with values of every kind."""
    import jsonschema  # type: ignore[import-untyped]

    name = {2020: "Draft202012", 2019: "Draft201909"}.get(number, f"Draft{number}")
    official = getattr(jsonschema, f"{name}Validator")
    official = official(official.META_SCHEMA)
    dialect = next(dialect for dialect in DIALECTS.values() if dialect.number == number)
    ours = json_schema.compile({"$schema": dialect.uri, "$ref": dialect.uri})
    wrong = []
    for keyword in dialect.keywords:
        for sample in SAMPLES if keyword not in REFERRING else ():
            schema = {"$schema": dialect.uri, keyword: sample}
            try:
                json_schema.compile(schema)
                taken = True
            except json_schema.SchemaError:
                taken = False
            expected = official.is_valid(schema)
            if (number, keyword) == (7, "writeOnly") or (number == 4 and type(sample) is float):
                continue  # newer than the copy at hand; 1.0 was no integer for everyone then
            if taken is not expected or ours.is_valid(schema) is not expected:
                wrong.append((schema, expected, taken))
    assert not wrong
