"""Generated code gives the verdicts of the interpreter, in bounded time, and holds nothing that a schema says."""

from __future__ import annotations

import io
import json
import keyword
import re
import subprocess
import sys
import threading
import tokenize
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from leanmcp import schema as json_schema
from leanmcp.schema import (
    generator,
    generator_members,
    generator_plain,
    generator_plan,
    generator_writer,
    interpreter,
    validator,
)
from leanmcp.schema.assertions import OutOfSteps
from leanmcp.schema.compiler import compile_documents
from leanmcp.schema.documents import Documents
from leanmcp.schema.generator_plan import plan
from leanmcp.schema.ir import Node
from leanmcp.schema.profiles import PROFILES
from tests.fixtures.hostile_texts import TEXTS, patterns, schemas
from tests.schema.fuzz_schemas import document
from tests.schema.fuzz_values import Near
from tests.support.processes import environment
from tests.support.schema_engines import with_dialect
from tests.support.schema_suite import COUNTS, TESTS, groups

TRUSTED = PROFILES["trusted"]
needs_suite = pytest.mark.skipif(not TESTS.is_dir(), reason="the JSON Schema test suite is not beside this project")


def root_of(schema: Any) -> Node:
    """Return the root of a schema, of which no validator is kept."""
    return compile_documents(Documents(json.loads(json.dumps(schema)), TRUSTED), TRUSTED)


def source_of(root: Node) -> str:
    """Return the code that is written for a schema."""
    known = plan(root, TRUSTED.max_generated)
    assert known is not None
    written = generator._Generator(root, known, TRUSTED)
    return str(written.func_code)


def verdict_of(root: Node) -> generator.Verdict:
    """Return the verdict as code, which there is."""
    made = generator.generate(root, TRUSTED)
    assert made is not None
    return made


def agree(schema: Any, *values: Any) -> list[bool]:
    """Return the verdicts of generated code on values, which are those of the interpreter."""
    root = root_of(schema)
    verdict = verdict_of(root)
    verdicts = [verdict(value) for value in values]
    assert verdicts == [interpreter.is_valid(root, value, TRUSTED) for value in values]
    return verdicts


# Agreement ----------------------------------------------------------------------------------------------------------


@needs_suite
@pytest.mark.parametrize("draft", COUNTS)
def test_the_suite_is_judged_as_by_the_interpreter(draft: str) -> None:
    """Spec: JSON Schema; faults are found exactly where generated code says no."""
    count = 0
    for name, plain, tests in groups(draft):
        schema = with_dialect(plain, draft)
        try:
            root = root_of(schema)
        except json_schema.SchemaError:
            continue  # needs another document
        verdict = verdict_of(root)
        faults = json_schema.compile(schema).faults
        for test in tests:
            count += 1
            value = test["data"]
            told = verdict(value), interpreter.is_valid(root, value, TRUSTED), not faults(value)
            assert told == (test["valid"],) * 3, (name, test["description"])
    assert count == COUNTS[draft][0]


@pytest.fixture(params=["as it is", "all functions", "tables", "steps everywhere"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Limits of the generator, low enough that every way of writing code is taken."""
    if request.param == "all functions":
        for name in ("MAX_INDENT", "MAX_INLINE", "MAX_TEXT", "MAX_PARTS"):
            monkeypatch.setattr(generator_writer, name, 0)
    elif request.param == "tables":
        monkeypatch.setattr(generator_members, "WIDE", 0)
        monkeypatch.setattr(generator_plain, "MANY_NAMES", 0)
        monkeypatch.setattr(generator_plain, "MANY_CHOICES", 0)
    elif request.param == "steps everywhere":
        monkeypatch.setattr(generator_plan, "_counted", lambda cyclic, nodes: set(nodes))
    return str(request.param)


@settings(
    max_examples=150,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(seed=st.integers(0, 2**32))
def test_random_schemas_are_judged_as_by_the_interpreter(way: str, seed: int) -> None:
    """Ours: property, whichever way the code is written; what is no JSON is refused alike."""
    random = Random(seed)
    written = document(random)
    try:
        root = root_of(written)
    except json_schema.SchemaError:
        return
    near = Near(random, written)
    verdict = verdict_of(root)
    for value in [*(near.value() for _ in range(12)), (1, 2), b"a", {"a": {1, 2}}, [object()]]:
        assert verdict(value) is interpreter.is_valid(root, value, TRUSTED), (written, value)


def test_numbers_booleans_and_texts_are_told_apart() -> None:
    """Spec: JSON Schema core 4.2.2; 1 and 1.0 are equal, 1 and true are not."""
    values = [1, 1.0, True, 0, False, None, "1", "a", [], [1], {}, {"a": 1.0}, {"a": True}, 10**400, float("nan"), 1.5]
    assert agree({"enum": [1, "a", None]}, *values)[:6] == [True, True, False, False, False, True]
    assert agree({"enum": [True, [1], {"a": 1}]}, *values)[:4] == [False, False, True, False]
    assert agree({"enum": [*([n] for n in range(20)), {"a": 1}]}, *values)[9:13] == [True, False, True, False]
    agree({"enum": [1, 1.5], "type": "integer"}, *values)
    agree({"type": ["integer", "string"], "minimum": 1, "maxLength": 0}, *values)
    agree({"multipleOf": 2, "maximum": 1e300}, *values, 4, 4.0, 10**400 + 1, float("inf"))
    agree({"const": 10**20}, 1e20, 10**20, 10**20 + 1)


def test_constants_of_a_union_become_one_set() -> None:
    """Ours: titled enums, as MCP clients show them, cost a look into a set."""
    titled = [{"const": name, "title": name.upper()} for name in ("a", "b", "c")]
    assert " in K" in source_of(root_of({"oneOf": titled}))
    assert agree({"oneOf": titled}, "a", "c", "d", 5) == [True, True, False, False]
    # One that is listed twice fits two of them.
    assert agree({"oneOf": [*titled, {"const": "a"}]}, "a", "b") == [False, True]
    assert agree({"oneOf": [{"const": 1}, {"const": 1.0}, {"const": True}]}, 1, True) == [False, True]
    assert agree({"oneOf": [{"const": 1}, {"type": "integer"}, {"const": 2}]}, 1, 2, 3) == [False, False, True]
    assert agree({"anyOf": [*titled, {"type": "null"}]}, "a", None, 5) == [True, True, False]


def test_names_that_are_always_evaluated_are_known_beforehand() -> None:
    """Ours: `unevaluatedProperties` with nothing but `properties`, `allOf` and `$ref` beside it needs no set."""
    base = {"properties": {"a": {}}, "allOf": [{"$ref": "#/$defs/more"}]}
    fixed = {"$defs": {"more": {"properties": {"b": {"type": "string"}}}}, **base, "unevaluatedProperties": False}
    assert "set()" not in source_of(root_of(fixed))
    assert agree(fixed, {"a": 1, "b": "x"}, {"c": 1}, {"b": 1}, 5) == [True, False, False, True]
    open_ = {**fixed, "anyOf": [{"properties": {"c": {"const": 1}}, "required": ["c"]}, True]}
    assert agree(open_, {"c": 1}, {"c": 2}, {"a": 1}) == [True, False, True]
    items = {"prefixItems": [{"type": "string"}], "allOf": [{"prefixItems": [True, True]}], "unevaluatedItems": False}
    assert "set()" not in source_of(root_of(items))
    assert agree(items, ["a", 1], ["a", 1, 2], [1]) == [True, False, False]


def test_a_wide_object_is_checked_by_a_table() -> None:
    """Ours: from 257 properties on; functions of the table are shared."""
    wide: dict[str, Any] = {f"p{number}": {"type": ["string", "integer"][number % 2]} for number in range(1_000)}
    wide |= {"free": True, "never": False, "deep": {"properties": {"a": {"pattern": "^(x+)+$"}}}}
    schema = {"properties": wide, "required": ["p1", "free"], "additionalProperties": False}
    source = source_of(root_of(schema))
    assert len(re.findall(r"^def g", source, re.MULTILINE)) == 3
    good = {"p0": "a", "p1": 1, "free": 1, "deep": {"a": "xx"}}
    bad: list[Any] = [
        {**good, "p2": 1},
        {**good, "new": 1},
        {**good, "never": 1},
        {"free": 1},
        {**good, "deep": {"a": ""}},
    ]
    assert agree(schema, good, *bad, 5) == [True, *(False for _ in bad), True]


# Safety -------------------------------------------------------------------------------------------------------------


OURS = re.compile(r"[Kfgv]\d+|[xrsm]|NoneType|PLAIN|PROFILE|Run|verdict")
PYTHON = {
    *("type", "len", "set", "str", "int", "float", "bool", "list", "dict", "range", "min", "enumerate", "KeyError"),
    *("is_integer", "keys", "values", "items", "get", "add", "update", "steps", "spend"),
    *("is_multiple", "has_duplicates", "is_one_of", "is_unique", "text_of"),
}


def test_no_text_of_a_schema_gets_into_the_code() -> None:
    """Ours: hostile texts in every position; each word of the code is one of ours, and no literal is a text."""
    known: set[str] = set()
    for text in TEXTS:
        for schema, *_ in [*schemas(text), *patterns(text)]:
            try:
                source = source_of(root_of(schema))
            except json_schema.SchemaError:
                continue
            if source in known:
                continue
            known.add(source)
            for token in tokenize.generate_tokens(io.StringIO(source).readline):
                assert token.type != tokenize.STRING
                assert token.type != tokenize.COMMENT
                if token.type == tokenize.NAME and not keyword.iskeyword(token.string):
                    assert token.string in PYTHON or OURS.fullmatch(token.string), token
    assert len(known) > 20


def test_a_stranger_never_gets_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: nothing is generated of the untrusted profile, even where somebody asks for it."""
    monkeypatch.setattr(generator, "generate", lambda *_: pytest.fail("code of a stranger's schema"))
    checked = json_schema.compile({"properties": {"stranger": {"type": "string"}}}, profile="untrusted", eager=True)
    checked.prepare()
    assert checked.is_valid({"stranger": "x"})
    assert checked.faults({"stranger": 5})


def test_a_schema_over_the_limit_is_interpreted() -> None:
    """Ours: over 2,000 subschemas."""
    large = {"properties": {f"p{number}": {"minLength": number} for number in range(2_100)}}
    assert generator.generate(root_of(large), TRUSTED) is None
    checked = json_schema.compile(large, eager=True)
    assert checked.is_valid({"p3": "abc"})
    assert not checked.is_valid({"p3": "ab"})


def lists(depth: int) -> Any:
    """Return a list inside of a list, many times."""
    value: Any = 5
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("keyword", ["items", "allOf", "anyOf", "oneOf", "not", "contains", "if", "unevaluatedItems"])
def test_no_schema_is_nested_too_deeply_for_python(keyword: str) -> None:
    """Ours: as deep as a schema may be; loops inside each other and long lines become functions."""
    schema: dict[str, Any] = {"type": "integer"}
    for _ in range(62):
        inner = [schema, False] if keyword in ("anyOf", "oneOf") else [schema] if keyword == "allOf" else schema
        schema = {keyword: inner, "maxItems": 3}
    agree(schema, 5, lists(62), lists(61), lists(63), "x")


def test_objects_are_nested_as_deep_as_a_schema_may_be() -> None:
    """Ours: with members that have to be there, which are looked for in a `try`."""
    schema: Any = {"type": "integer"}
    value: Any = 5
    other: Any = "x"
    for _ in range(62):
        schema = {"type": "object", "properties": {"a": schema, "b": {"$ref": "#/$defs/c"}}, "required": ["a"]}
        value, other = {"a": value}, {"a": other}
    assert agree({"$defs": {"c": {"minimum": 0}}, **schema}, value, other, {"a": {"a": 1}}) == [True, False, False]


def test_a_value_that_is_nested_too_deeply_for_the_code_is_interpreted() -> None:
    """Ours: the verdict is right all the same, and so are the faults."""
    checked = json_schema.compile({"type": ["array", "integer"], "items": {"$ref": "#"}}, eager=True)
    deep: Any = lists(5_000)
    wrong: Any = []
    for _ in range(5_000):
        wrong = [wrong, "x"]
    with pytest.raises(RecursionError):
        checked._verdict(deep)
    assert checked.is_valid(deep)
    assert checked.faults(deep) == []
    assert not checked.is_valid(wrong)
    assert len(checked.faults(wrong)) == 120


def doubling(keyword: str, height: int, last: Any) -> dict[str, Any]:
    """Return definitions of which each refers twice to the next one."""
    definitions: dict[str, Any] = {
        f"d{n}": {keyword: [{"$ref": f"#/$defs/d{n + 1}"}, {"$ref": f"#/$defs/d{n + 1}"}]} for n in range(height)
    }
    return {"$defs": {**definitions, f"d{height}": last}, "$ref": "#/$defs/d0"}


TREE = {"oneOf": [{"type": "array", "items": {"$ref": "#"}}, {"items": {"$ref": "#"}, "maxItems": 1}]}
BRANCHES = [{"type": "object", "required": [f"k{number}"]} for number in range(500)]


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (doubling("allOf", 26, {"minimum": 3}), 5),
        (doubling("anyOf", 40, {"minimum": 3}), 2),
        (doubling("oneOf", 40, {"minimum": 3}), 2),
        (TREE, lists(40)),
        ({"items": {"anyOf": BRANCHES}}, [1] * 400_000),
        ({"patternProperties": {"(?=a)a*a*b": {}}}, {"a" * 100_000: 1}),
    ],
    ids=["allOf", "anyOf", "oneOf", "recursive oneOf", "many branches on many items", "look-around on a long name"],
)
def test_a_check_that_takes_too_long_ends(schema: Any, value: Any) -> None:
    """Spec: basic/index, "Composition-Keyword Resource Use"; by steps, not by a clock."""
    checked = json_schema.compile(schema, eager=True)
    with pytest.raises(OutOfSteps):
        checked._verdict(value)
    assert not checked.is_valid(value)
    assert [fault.message for fault in checked.faults(value)] == ["Input takes too many steps to check"]


def test_patterns_are_tried_on_texts_of_a_length_that_is_bounded() -> None:
    """Ours: by `re` where that is quick, by the linear matcher or not at all where it is not."""
    for pattern in ("^a*a*$", "^(a|a)*$", "^(?=a)a*a*$", "^a+$", r"^\d\d$"):
        agree({"pattern": pattern}, "", "a", "a" * 300, "a" * 300 + "b", "a" * 20_000, "12", 5)


def test_items_are_counted_where_others_are_looked_at() -> None:
    """Spec: JSON Schema core 10.3.1.3: what `contains` takes is evaluated."""
    schema = {"contains": {"type": "string"}, "minContains": 1, "maxContains": 2, "unevaluatedItems": {"minimum": 1}}
    values: list[Any] = [["a"], ["a", 1], ["a", 0], [1], ["a", "b", "c"], ["a", "b"], {}]
    assert agree(schema, *values) == [True, True, False, False, False, True, True]


def test_a_name_is_never_tried_for_longer_than_a_text() -> None:
    """Ours: look-around has no linear matcher; the interpreter gives up as the code does."""
    root = root_of({"patternProperties": {"(?=a)a*a*b": False}})
    for name in ("aab", "ab" * 100, "b"):
        assert verdict_of(root)({name: 1}) is interpreter.is_valid(root, {name: 1}, TRUSTED)
    with pytest.raises(OutOfSteps):
        interpreter.is_valid(root, {"a" * 100_000: 1}, TRUSTED)


def test_steps_grow_with_the_value() -> None:
    """Ours: a large tree that fits is no attack; each validation has steps of its own."""
    tree = {"type": "object", "properties": {"c": {"type": "array", "items": {"$ref": "#"}}}}
    checked = json_schema.compile(tree, eager=True)
    value: Any = {"c": [{"c": [{"c": [{}] * 8} for _ in range(300)]} for _ in range(300)]}
    assert all(checked.is_valid(value) for _ in range(3))


def test_only_recursive_parts_count_steps() -> None:
    """Ours: nothing is counted where the schema bounds the work."""
    flat: dict[str, Any] = {
        "$defs": {"d": {"properties": {"a": {}}}},
        "items": {"$ref": "#/$defs/d"},
        "contains": {"$ref": "#/$defs/d"},
    }
    assert "steps" not in source_of(root_of(flat))
    inner = {**flat, "properties": {"n": {"$ref": "#/$defs/n"}}}
    inner["$defs"] = {**flat["$defs"], "n": {"items": {"$ref": "#/$defs/n"}}}
    source = source_of(root_of(inner))
    assert source.count("r.steps -=") == 1


# When code is written -----------------------------------------------------------------------------------------------


def run(code: str) -> str:
    """Return what a new interpreter prints."""
    variables = {name: value for name, value in environment().items() if not name.startswith("COVERAGE_")}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=variables)
    return done.stdout.strip()


LOADED = "print('fastjsonschema' in sys.modules)"


@pytest.mark.parametrize(
    ("code", "loaded"),
    [
        ("checked = schema.compile({'type': 'string'})", False),
        ("checked = schema.compile({'type': 'string'}); checked.is_valid('x')", True),
        ("checked = schema.compile({'type': 'string'}); checked.faults('x')", True),
        ("checked = schema.compile({'type': 'string'}, eager=True)", True),
        ("checked = schema.compile({'type': 'string'}, profile='untrusted'); checked.is_valid('x')", False),
    ],
)
def test_code_is_written_for_the_first_value_or_at_once(code: str, loaded: bool) -> None:
    """Ours: fastjsonschema is imported where code is written, not before."""
    assert run(f"import sys\nfrom leanmcp import schema\n{code}\n{LOADED}") == str(loaded)


def test_code_is_written_once_for_all_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: each of the first callers gets a right verdict."""
    made = []
    generate = generator.generate

    def slowly(root: Node, profile: Any) -> Any:
        made.append(root)
        started.wait(5)
        return generate(root, profile)

    started = threading.Event()
    monkeypatch.setattr(generator, "generate", slowly)
    checked = json_schema.compile({"title": "threads", "type": "integer"})
    verdicts: list[tuple[bool, bool]] = []
    threads = [
        threading.Thread(target=lambda: verdicts.append((checked.is_valid(5), checked.is_valid("x")))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    started.set()
    for thread in threads:
        thread.join(10)
    assert verdicts == [(True, False)] * 8
    assert len(made) == 1


def test_without_the_generator_the_interpreter_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: no descriptor to import it with; it is asked for again."""

    def fail(*_: Any) -> None:
        raise OSError(24, "Too many open files")

    checked = json_schema.compile({"title": "no descriptor", "type": "integer"})
    with monkeypatch.context() as patch:
        patch.setattr(generator, "generate", fail)
        assert checked.is_valid(5)
        assert not checked.is_valid("x")
        assert checked.faults("x")
    assert checked.is_valid(5)
    assert checked._verdict not in (checked._first, checked._interpret)


def test_the_eager_option_reaches_a_validator_that_is_kept() -> None:
    """Ours: the cache holds one validator for one schema."""
    schema = {"title": "kept", "type": "integer"}
    lazy = json_schema.compile(schema)
    assert lazy._verdict == lazy._first
    assert json_schema.compile(schema, eager=True) is lazy
    assert lazy._verdict != lazy._first
    assert isinstance(lazy, validator.Validator)
