"""The official JSON Schema test suite, as data, for five dialects and both profiles."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from typing import Any

import pytest

from leanmcp import schema as json_schema
from leanmcp.schema.dialects import DIALECTS
from tests.support.schema_engines import Validate, compiled, linear, with_dialect
from tests.support.schema_suite import COUNTS, ELSEWHERE, TESTS, Group, groups

needs_suite = pytest.mark.skipif(not TESTS.is_dir(), reason="the JSON Schema test suite is not beside this project")


@pytest.fixture(autouse=True)
def _closed_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: Any, **options: Any) -> None:
        raise AssertionError("a schema made us open the network")

    for name in ("getaddrinfo", "create_connection"):
        monkeypatch.setattr(socket, name, refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)


def judge(draft: str, files: str, profile: str) -> tuple[list[str], int, int]:
    """Return what was judged wrongly, how many tests there were, and how many need another document."""
    wrong: list[str] = []
    count = refused = 0
    for name, plain, tests in groups(draft, files):
        schema = with_dialect(plain, draft)
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
@pytest.mark.parametrize("draft", COUNTS)
def test_every_mandatory_test_passes_and_nothing_is_fetched(draft: str, profile: str) -> None:
    """Spec: JSON Schema; a schema that needs another document is refused."""
    wrong, count, refused = judge(draft, "*.json", profile)
    assert not wrong, "\n".join(wrong)
    assert (count, refused) == COUNTS[draft]


@needs_suite
@pytest.mark.parametrize("profile", ["trusted", "untrusted"])
@pytest.mark.parametrize("draft", COUNTS)
def test_patterns_mean_what_they_mean_in_ecma_262(draft: str, profile: str) -> None:
    """Spec: JSON Schema core 6.4; optional files of the suite."""
    wrong, count, _ = judge(draft, "optional/*regex.json", profile)
    assert not wrong, "\n".join(wrong)
    assert count >= 70


NO_DEPENDENCIES = "core 6.5: since 2019-09 split it in two, `dependencies` is an unknown keyword, which asserts nothing"
NOT_WITH_IT = "core 9.1.2: the document is elsewhere, and nothing is fetched"
UNKNOWN_DIALECT = "core 8.1.1: a metaschema that is unknown, and elsewhere"
# File of optional/ and group: the tests that come out otherwise, each with the reason.
MISSES: dict[str, tuple[list[str], str]] = {
    "cross-draft.json: refs to historic drafts are processed as historic drafts": (
        ["first item not a string is valid"],
        NOT_WITH_IT,
    ),
    "dependencies-compatibility.json: single dependency": (["missing dependency"], NO_DEPENDENCIES),
    "dependencies-compatibility.json: multiple dependents required": (
        ["missing dependency", "missing other dependency", "missing both dependencies"],
        NO_DEPENDENCIES,
    ),
    "dependencies-compatibility.json: dependencies with escaped characters": (
        ["CRLF missing dependent", "quoted quotes missing dependent"],
        NO_DEPENDENCIES,
    ),
    "dependencies-compatibility.json: single schema dependency": (
        ["wrong type", "wrong type other", "wrong type both"],
        NO_DEPENDENCIES,
    ),
    "dependencies-compatibility.json: boolean subschemas": (
        ["object with property having schema false is invalid", "object with both properties is invalid"],
        NO_DEPENDENCIES,
    ),
    "dependencies-compatibility.json: schema dependencies with escaped characters": (
        ["quoted quote", "quoted tab invalid under dependent schema", "quoted quote invalid under dependent schema"],
        NO_DEPENDENCIES,
    ),
    "format-assertion.json: schema that uses custom metaschema with format-assertion: false": (
        ["format-assertion: false: valid string", "format-assertion: false: invalid string"],
        UNKNOWN_DIALECT,
    ),
    "format-assertion.json: schema that uses custom metaschema with format-assertion: true": (
        ["format-assertion: true: valid string", "format-assertion: true: invalid string"],
        UNKNOWN_DIALECT,
    ),
}


def _missed(group: Group, engine: Callable[[Any], Validate]) -> list[str]:
    """Return the tests of a group that come out otherwise; all of them where the schema is refused."""
    try:
        validate = engine(group.schema)
    except json_schema.SchemaError:
        return [test["description"] for test in group.tests]
    return [test["description"] for test in group.tests if validate(test["data"]) is not test["valid"]]


@needs_suite
@pytest.mark.parametrize("engine", [compiled, linear])
def test_optional_tests_pass_but_for_those_with_a_reason(engine: Callable[[Any], Validate]) -> None:
    """Spec: JSON Schema; optional/format apart, which is about assertions that are annotations here."""
    found = {group.name: _missed(group, engine) for group in groups("draft2020-12", "optional/*.json")}
    missed = {name: tests for name, tests in found.items() if tests}
    assert missed == {name: tests for name, (tests, _) in MISSES.items()}
    assert sum(map(len, missed.values())) == 19
    assert sum(len(group.tests) for group in groups("draft2020-12", "optional/*.json")) == 162
    assert not [name for name in missed if name.startswith("ecmascript-regex")]


@needs_suite
@pytest.mark.parametrize("draft", COUNTS)
def test_formats_are_annotations(draft: str) -> None:
    """Spec: JSON Schema validation 7.2.1; what is no format of ours is none of our business."""
    for _, schema, tests in groups(draft, "optional/format/*.json"):
        try:
            validator = json_schema.compile(with_dialect(schema, draft))
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
