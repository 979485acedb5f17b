"""Arguments that are taken after all, and refusals: policies P1 and P2, faults in order, nothing but words."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import msgspec
import pydantic
import pytest

from leanmcp.fields import Field, Model
from leanmcp.server.signature import Signature
from tests.support.signatures import call, of, refusal


class Book(Model):
    title: str
    author: str
    year: int = Field(ge=1450, description="Year of first publication.")


def plain(n: int) -> int:
    return n


def search_books(query: str, limit: int) -> None: ...


# P1: strings that are JSON -------------------------------------------------------


@pytest.mark.parametrize(
    ("annotation", "sent", "got"),
    [
        (int, "5", 5),
        (int, "5.0", 5),
        (int, 5.0, 5),
        (int, 1e2, 100),
        (int, "9007199254740993", 9007199254740993),
        (float, "1.5", 1.5),
        (bool, "true", True),
        (int | None, "null", None),
        (list[int], "[1,2]", [1, 2]),
        (list[int], "[1.0,2]", [1, 2]),
        (list[int], [1.0, 2], [1, 2]),
        (dict[str, list[int]], {"a": [2.0]}, {"a": [2]}),
        (Literal[1, 2], "2", 2),
        (Literal[1, 2], 2.0, 2),
        (Book, '{"title":"t","author":"a","year":2000}', Book(title="t", author="a", year=2000)),
        (list[int] | int, "[1]", [1]),
        # A type that admits a string is never parsed.
        (str, "123", "123"),
        (str | None, "null", "null"),
        (int | str, "5", "5"),
        (Any, "{}", "{}"),
        (Literal["1", "2"], "1", "1"),
        (list[str], ["1"], ["1"]),
        # A float where a float fits stays one.
        (float, 5.0, 5.0),
        (int | float, 5.0, 5.0),
        (Any, 5.0, 5.0),
    ],
)
def test_a_text_is_read_as_json_once_where_no_string_fits(annotation: Any, sent: Any, got: Any) -> None:
    """Ours: policy P1; FIELD rows 82 and 83."""

    def tool(value: Any, other: float = 1.0) -> None: ...

    tool.__annotations__["value"] = annotation
    signature = of(tool)
    for rest in ({}, {"other": "2"}):
        value = call(signature, {"value": sent, **rest})["value"]
        assert value == got
        assert type(value) is type(got)


@pytest.mark.parametrize(
    ("annotation", "sent", "line"),
    [
        (int, True, "value: Input should be a valid integer, got true"),
        (int, 5.5, "value: Input should be a valid integer, got 5.5"),
        (int, "x", 'value: Input should be a valid integer, got "x"'),
        (int, '"5"', 'value: Input should be a valid integer, got "\\"5\\""'),
        (int, "true", 'value: Input should be a valid integer, got "true"'),
        (bool, 1, "value: Input should be a valid boolean, got 1"),
        (bool, "yes", 'value: Input should be a valid boolean, got "yes"'),
        (str, 5, "value: Input should be a valid string, got 5"),
        (list[int], ["1"], 'value[0]: Input should be a valid integer, got "1"'),
        (list[int], '["1"]', 'value[0]: Input should be a valid integer, got "1"'),
        (list[int], "[" * 9_000, 'value: Input should be a valid array, got "' + "[" * 56 + "..."),
        (float, "NaN", 'value: Input should be a valid number, got "NaN"'),
        (int | None, "none", 'value: Input should be a valid integer, got "none"'),
    ],
)
def test_what_is_no_json_for_the_type_is_refused_as_it_was_sent(annotation: Any, sent: Any, line: str) -> None:
    """Ours: policy P1; true never becomes 1, and texts inside containers are not parsed."""

    def tool(value: Any) -> None: ...

    tool.__annotations__["value"] = annotation
    assert refusal(of(tool), {"value": sent}) == [line]


def test_coercion_can_be_switched_off() -> None:
    """Ours: coerce=False; 5.0 is an integer all the same."""
    signature = of(plain, coerce=False)
    assert refusal(signature, {"n": "5"}) == ['n: Input should be a valid integer, got "5"']
    assert call(signature, {"n": 5.0}) == {"n": 5}


# P2: unknown names ---------------------------------------------------------------


def test_unknown_names_are_refused_with_the_accepted_ones() -> None:
    """Ours: policy P2; FIELD row 85."""
    signature = of(search_books)
    assert refusal(signature, {"qurey": "x", "limit": 1}) == [
        "query: Field required",
        "qurey: Extra inputs are not permitted; accepted names: query, limit; did you mean 'query'?",
    ]


def test_unknown_names_can_be_ignored() -> None:
    """Ours: extra_args="ignore"; FIELD row 86."""
    signature = of(search_books, extra_args="ignore")
    assert call(signature, {"query": "x", "limit": 1, "sessionId": 5}) == {"query": "x", "limit": 1}
    assert refusal(signature, {"query": 1, "limit": 1, "sessionId": 5}) == [
        "query: Input should be a valid string, got 1"
    ]


def test_a_tool_without_parameters_has_empty_properties() -> None:
    """Ours: FIELD rows 87 and 96."""

    def tool() -> None: ...

    signature = of(tool)
    assert signature.input_schema == {
        "type": "object",
        "properties": {},
        "title": "toolArguments",
        "additionalProperties": False,
    }
    assert call(signature, b"{}") == call(signature, b"null") == {}
    assert refusal(signature, {"a": 1}) == ["a: Extra inputs are not permitted; there are none to give"]
    assert refusal(signature, []) == ["Input should be an object, got []"]


# Refusals as a whole -------------------------------------------------------------


def test_all_faults_are_told_in_the_order_of_the_declaration() -> None:
    """Ours: FIELD row 89."""

    def tool(query: str, limit: Annotated[int, Field(le=50)], book: Book, tags: list[str]) -> None: ...

    arguments = {"tags": ["a", 1], "limit": 999, "book": {"title": "t", "year": 1}, "quer": 1}
    assert refusal(of(tool, echo_values=False), arguments) == [
        "query: Field required",
        "limit: Input should be less than or equal to 50",
        "book.author: Field required",
        "book.year: Input should be greater than or equal to 1450",
        "tags[1]: Input should be a valid string",
        "quer: Extra inputs are not permitted; accepted names: query, limit, book, tags; did you mean 'query'?",
    ]


@pytest.mark.parametrize("raw", [b"", b"{", b'{"n":1}x', b'{"n":NaN}', b'{"n":"\\ud800"}', b'{"n":"\xff"}', b"\xff"])
def test_bytes_that_are_no_json_are_refused_in_words(raw: bytes) -> None:
    """Ours: the text names no library and no class."""
    (line,) = refusal(of(plain), raw)
    assert line.startswith("Input is not valid JSON: ")


def test_a_number_beyond_float_is_refused_with_its_path() -> None:
    """Ours: policy P4 on the way in."""

    def tool(n: float) -> None: ...

    assert refusal(of(tool), b'{"n":1e400}') == ["n: Input should be a finite number, got inf"]


def test_the_sentence_of_a_class_about_itself_is_passed_on() -> None:
    """Ours: a check that only the class knows; FIELD row 89."""

    class Span(Model):
        start: int
        end: int

        def __post_init__(self) -> None:
            if self.end < self.start:
                raise ValueError("end must not be before start")

    def tool(spans: list[Span]) -> None: ...

    assert refusal(of(tool), {"spans": [{"start": 2, "end": 1}]}) == ["spans[0]: end must not be before start"]


def test_digits_of_a_decimal_survive_recovery() -> None:
    """Ours: FIELD row 47; the slow path loses nothing that the fast path keeps."""
    from decimal import Decimal

    def tool(price: Decimal, n: int) -> None: ...

    got = call(of(tool), b'{"price":1.00000000000000000000000001,"n":"5"}')
    assert got == {"price": Decimal("1.00000000000000000000000001"), "n": 5}


def test_constraints_beyond_msgspec_are_enforced_all_the_same() -> None:
    """Ours: typed-accept is a subset of schema-accept; those tools take the slower decoder."""

    @dataclass
    class Point:
        x: Annotated[int, pydantic.Field(ge=0)]

    class Plain(msgspec.Struct):
        code: Annotated[str, msgspec.Meta(pattern=r"^\d$")]

    def tool(
        step: Annotated[float, Field(multiple_of=0.1)], point: Point, big: Annotated[int, Field(le=2**70)], plain: Plain
    ) -> None: ...

    signature = of(tool)
    good = {"step": 0.3, "point": {"x": 1}, "big": 2**70, "plain": {"code": "1"}}
    assert call(signature, good)["step"] == 0.3
    bad = {"step": 0.35, "point": {"x": -1}, "big": 2**70 + 1, "plain": {"code": "1\n"}}
    assert refusal(signature, bad) == [
        "step: Input should be a multiple of 0.1, got 0.35",
        "point.x: Input should be greater than or equal to 0, got -1",
        f"big: Input should be less than or equal to {2**70}, got {2**70 + 1}",
        "plain.code: String should match pattern '^\\d$', got \"1\\n\"",
    ]


def test_raw_bytes_are_taken_as_they_come_out_of_the_envelope() -> None:
    """Ours: decode and recover take msgspec.Raw; the last of two equal names wins (P5)."""
    signature = Signature(plain, tool_name="tool")
    assert signature.decode(msgspec.Raw(b'{"n":1}')) == signature.recover(msgspec.Raw(b'{"n":"1"}'))
    assert signature.recover(msgspec.Raw(b'{"n":"x","n":1.0}')) == signature.decode(b'{"n":1}')
