"""`leanmcp.schema` as others use it: compile, validate, explain, profiles, errors."""

from __future__ import annotations

import copy
import inspect
import threading
from typing import Any

import pytest

from leanmcp import schema

BOOK = {
    "type": "object",
    "properties": {"title": {"type": "string"}, "year": {"type": "integer", "maximum": 2100}},
    "required": ["title"],
    "additionalProperties": False,
}


def test_a_value_is_checked_and_explained() -> None:
    """Ours: every fault on a line of its own, in the order of the schema."""
    assert schema.explain(BOOK, {"title": "Dune", "year": 1965}) == ""
    assert schema.explain(BOOK, {"year": 3000, "titel": 5}).splitlines() == [
        "title: Field required",
        "year: Input should be less than or equal to 2100, got 3000",
        "titel: Extra inputs are not permitted; accepted names: title, year; did you mean 'title'?",
    ]
    schema.validate(BOOK, {"title": "Dune"})
    with pytest.raises(schema.InvalidValue) as caught:
        schema.validate(BOOK, {"title": 5})
    assert str(caught.value) == "title: Input should be a valid string, got 5"
    assert [(fault.path, fault.value) for fault in caught.value.faults] == [("title", 5)]
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("profile", ["trusted", "untrusted"])
def test_a_validator_does_the_same_for_many_values(profile: str) -> None:
    """Ours: both profiles say the same, and leave the value as it is."""
    validator = schema.compile(BOOK, profile=profile)
    value: dict[str, Any] = {"title": 5, "year": 1.0, "more": []}
    before = copy.deepcopy(value)
    assert not validator.is_valid(value)
    assert [fault.path for fault in validator.faults(value)] == ["title", "more"]
    assert validator.explain(value) == schema.explain(BOOK, value, profile=profile)
    with pytest.raises(schema.InvalidValue):
        validator.validate(value)
    assert value == before
    assert validator.fold({"title": "a", "year": 1965.0}) == {"title": "a", "year": 1965}


def test_an_explanation_is_no_longer_than_anybody_reads() -> None:
    """Ours: 20 lines and 4 KiB, whatever is wrong."""
    text = schema.explain({"items": {"type": "integer"}}, ["x" * 1000] * 1000)
    assert len(text.splitlines()) == 21
    assert text.endswith("more")
    assert len(text.encode()) <= 4096


@pytest.mark.parametrize(
    ("written", "pointer"),
    [
        ({"properties": {"a/b": {"type": "text"}}}, "/properties/a~1b/type"),
        ({"items": {"$ref": "#/$defs/none"}}, "/items/$ref"),
        ({"allOf": [{}, {"pattern": "("}]}, "/allOf/1/pattern"),
        ([], "#"),
        ({"default": {1, 2}}, "#"),
    ],
)
def test_an_error_says_where_the_schema_is_wrong(written: Any, pointer: str) -> None:
    """Ours: as a JSON pointer, in the text and apart; through every function."""
    for call in (schema.compile, lambda it: schema.validate(it, 1), lambda it: schema.explain(it, 1)):
        with pytest.raises(schema.SchemaError) as caught:
            call(written)
        assert caught.value.pointer == pointer
        assert pointer in str(caught.value)


def test_an_unknown_profile_is_told_with_those_that_there_are() -> None:
    """Ours: the text is enough to correct the call."""
    with pytest.raises(ValueError, match="give one of trusted, untrusted"):
        schema.compile(True, profile="trustworthy")


def test_the_same_schema_is_compiled_once_for_each_profile() -> None:
    """Ours: by its bytes, so that a changed dict is another schema."""
    written: dict[str, Any] = {"title": "once", "type": "string"}
    first = schema.compile(written)
    assert schema.compile(copy.deepcopy(written)) is first
    assert schema.compile(written, profile="untrusted") is not first
    written["type"] = "integer"
    assert schema.compile(written) is not first
    assert first.is_valid("x")


def test_validators_that_are_kept_are_bounded() -> None:
    """Ours: the one that was used last stays, from any number of threads."""
    from leanmcp.schema import validator

    kept = schema.compile({"title": "kept"})

    def many(number: int) -> None:
        for turn in range(200):
            schema.compile({"title": f"{number} {turn}"})
            assert schema.compile({"title": "kept"}) is kept

    threads = [threading.Thread(target=many, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(validator._kept) == validator.MAX_KEPT
    assert schema.compile({"title": "kept"}) is kept


def test_everything_public_says_what_it_does() -> None:
    """Ours: STYLE, "Docstrings"."""
    for name in schema.__all__:
        assert inspect.getdoc(getattr(schema, name)), name
    for name, member in inspect.getmembers(schema.Validator, inspect.isfunction):
        assert name.startswith("_") or inspect.getdoc(member), name


@pytest.mark.parametrize("function", ["validate", "explain"])
def test_arguments_in_the_order_of_other_libraries_are_told(function: str) -> None:
    """Ours: a value without keywords would be a schema that admits everything."""
    order = f"leanmcp.schema.{function}(schema, value) takes the schema first"
    call = getattr(schema, function)
    swapped: list[dict[str, Any]] = [{"limit": 20}, {"title": "Dune"}]
    for value in swapped:
        with pytest.raises(ValueError, match="takes the schema first") as caught:
            call(value, BOOK)
        expected = f"{order}; here the second argument is one, and the first has no keyword of a schema"
        assert str(caught.value) == expected
    with pytest.raises(TypeError) as wrong:
        call([1], BOOK)
    assert str(wrong.value) == f"{order}, a dict or a bool; here the second argument is one, and the first is none"
    meant: list[Any] = [({}, BOOK), (True, BOOK), ({"title": "T"}, {"type": "book"})]
    for arguments in meant:
        assert call(*arguments) in (None, "")
