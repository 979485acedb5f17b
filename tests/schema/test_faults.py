"""Faults in words: what a model reads after its arguments were refused."""

import json
import tracemalloc
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leanmcp.schema import faults as say
from leanmcp.schema.faults import Fault, clip_json, path_text, phrase


def lines(*faults: Fault, **options: Any) -> list[str]:
    return phrase("search_books", faults, **options).splitlines()


def test_the_refusal_has_a_head_and_one_line_per_fault() -> None:
    """Ours: API "Validation text"."""
    text = phrase("search_books", [Fault("limit", say.bound("le", 50), 999), Fault("query", say.REQUIRED)])
    assert text == (
        "Invalid arguments for tool search_books:\n"
        "limit: Input should be less than or equal to 50, got 999\n"
        "query: Field required"
    )


def test_values_can_be_left_out() -> None:
    """Ours: echo_values=False; arguments may hold secrets."""
    assert lines(Fault("a", "No", "secret"), echo_values=False)[1:] == ["a: No"]


def test_a_fault_of_the_whole_has_no_path() -> None:
    """Ours: root faults."""
    assert lines(Fault("", say.expected("object"), []))[1:] == ["Input should be an object, got []"]


def test_the_same_line_is_said_once() -> None:
    """Ours: SCHEMA "Error reporting": dedupe."""
    assert len(lines(*[Fault("a", "No", 1)] * 9)) == 2


def test_twenty_faults_are_shown_and_the_rest_counted() -> None:
    """Ours: at most 20 faults."""
    shown = lines(*[Fault(f"items[{at}]", "No", at) for at in range(45)])
    assert len(shown) == 22
    assert shown[-1] == "... and 25 more"
    assert lines(*[Fault(f"a[{at}]", "No") for at in range(20)])[-1] == "a[19]: No"


def test_lines_and_text_have_a_limit() -> None:
    """Ours: 300 characters a line, 4 KiB in all, in bytes."""
    text = phrase("t", [Fault("é" * 50 + str(at), "ü" * 900, "ö" * 900) for at in range(30)])
    assert len(text.encode()) <= 4096
    assert all(len(line) <= 300 for line in text.splitlines())
    assert text.splitlines()[1].endswith('..., got "' + "ö" * 56 + "...")
    assert text.splitlines()[-1].startswith("... and ")


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        (["book", "year"], "book.year"),
        (["tags", 1], "tags[1]"),
        (["a", 0, "b", 2, "c"], "a[0].b[2].c"),
        (["x-y"], "x-y"),
        (["a b", "c"], '"a b".c'),
        (["a", "b.c"], 'a["b.c"]'),
        (["a", "0"], 'a["0"]'),
        (["a", ""], 'a[""]'),
        (["a", "\n"], 'a["\\n"]'),
        ([], ""),
    ],
)
def test_a_path_reads_as_python_or_javascript(parts: list[str | int], text: str) -> None:
    """Ours: no two paths look alike."""
    assert path_text(parts) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        (1.5, "1.5"),
        ('a"b\\c', '"a\\"b\\\\c"'),
        ("a\nb\u2028c\x00\x7f\u202e", '"a\\nb\\u2028c\\u0000\\u007f\\u202e"'),
        ("\ud800", '"\\ud800"'),
        ({"a": [1, {"b": None}]}, '{"a":[1,{"b":null}]}'),
        ({}, "{}"),
        ("x" * 70, '"' + "x" * 56 + "..."),
        (10**400, "(integer of 1329 bits)"),
    ],
)
def test_values_are_echoed_as_clipped_json(value: Any, text: str) -> None:
    """Ours: 60 characters; control characters, line ends and lone surrogates are escaped."""
    assert clip_json(value) == text


@pytest.mark.parametrize("value", [["a"] * 10**6, {str(n): n for n in range(10**5)}, "x" * 10**7])
def test_echoing_costs_no_more_than_what_is_shown(value: Any) -> None:
    """Ours: a refusal of a 4 MiB argument is as cheap as any."""
    tracemalloc.start()
    try:
        assert len(clip_json(value)) == 60
        assert tracemalloc.get_traced_memory()[1] < 64 * 1024  # the peak: nothing of that size was made
    finally:
        tracemalloc.stop()


def test_deep_values_are_echoed_without_recursion() -> None:
    """Ours: FIELD row 46."""
    value: Any = None
    for _ in range(100_000):
        value = [value]
    assert clip_json(value) == "[" * 57 + "..."
    while value is not None:  # taken apart by hand: the interpreter would recurse
        value = value[0]


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=40), st.text(max_size=40), st.recursive(st.text(), st.lists, max_leaves=3))
def test_no_text_can_break_the_refusal(name: str, path: str, value: Any) -> None:
    """Ours: property; always valid UTF-8 and always two lines."""
    text = phrase(name, [Fault(path_text([path]), say.unknown_name(path, [name]), value)])
    assert len(text.splitlines()) == 2
    assert json.loads(json.dumps(text)) == text
    text.encode()


@pytest.mark.parametrize(
    ("sentence", "text"),
    [
        (say.expected("integer"), "Input should be a valid integer"),
        (say.expected("number"), "Input should be a valid number"),
        (say.expected("string"), "Input should be a valid string"),
        (say.expected("boolean"), "Input should be a valid boolean"),
        (say.expected("array"), "Input should be a valid array"),
        (say.expected("object"), "Input should be an object"),
        (say.expected("string", "array", "null"), "Input should be a valid string, a valid array or null"),
        (say.bound("gt", 0), "Input should be greater than 0"),
        (say.bound("ge", 0.5), "Input should be greater than or equal to 0.5"),
        (say.bound("lt", 9), "Input should be less than 9"),
        (say.bound("multiple_of", 5), "Input should be a multiple of 5"),
        (say.text_length("min_length", 1), "String should have at least 1 character"),
        (say.text_length("max_length", 3), "String should have at most 3 characters"),
        (say.item_count("min_length", 2, 1), "List should have at least 2 items after validation, not 1"),
        (say.pattern("^a'\n$"), "String should match pattern '^a'\\n$'"),
        (say.one_of(["fiction", "non-fiction", "poetry"]), "Input should be 'fiction', 'non-fiction' or 'poetry'"),
        (say.one_of([1, None]), "Input should be 1 or null"),
        (say.one_of(list(range(14))), "Input should be 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 or one of 2 more"),
        (
            say.unknown_name("qurey", ["query", "limit"]),
            "Extra inputs are not permitted; accepted names: query, limit; did you mean 'query'?",
        ),
        (say.unknown_name("zzz", ["query"]), "Extra inputs are not permitted; accepted names: query"),
        (say.unknown_name("QUERY", ["query"])[-22:], "; did you mean 'query'?"[1:]),
    ],
)
def test_sentences_are_those_of_pydantic(sentence: str, text: str) -> None:
    """Ours: models have read these sentences often."""
    assert sentence == text


def test_pydantic_says_the_same() -> None:
    """Ours: the oracle, for JSON input."""
    import pydantic

    class Book(pydantic.BaseModel):
        n: int = pydantic.Field(ge=1)
        m: int = pydantic.Field(multiple_of=5)
        s: str = pydantic.Field(min_length=2)
        t: list[int] = pydantic.Field(max_length=1)
        o: dict[str, int]
        b: bool
        r: int

    raw = '{"n":0,"m":7,"s":"a","t":[1,2],"o":[],"b":"x"}'
    with pytest.raises(pydantic.ValidationError) as error:
        Book.model_validate_json(raw)
    theirs = [fault["msg"] for fault in error.value.errors()]
    assert theirs[:5] + theirs[6:] == [
        say.bound("ge", 1),
        say.bound("multiple_of", 5),
        say.text_length("min_length", 2),
        say.item_count("max_length", 1, 2),
        say.expected("object"),
        say.REQUIRED,
    ]
    assert theirs[5].startswith(say.expected("boolean"))
