"""Arguments of prompts: texts on the wire, values in the function."""

from __future__ import annotations

import datetime
import enum
import pathlib
import uuid
from collections.abc import Callable
from decimal import Decimal
from typing import Annotated, Any, Literal

import pytest

from leanmcp import Field, MCPServer, Model
from tests.support.prompting import ask, get, refusal, text_of


class Tone(enum.Enum):
    KIND = "kind"
    DRY = "dry"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Book(Model):
    title: str
    year: int = 0


def shown(kind: Any, text: str, **more: Any) -> Any:
    """Return what a function gets whose parameter is of a kind, for a text; or the refusal."""
    seen: list[Any] = []
    mcp = MCPServer("x")

    def function(value: Any) -> str:
        seen.append(value)
        return "ok"

    function.__annotations__["value"] = kind
    if "default" in more:
        function.__defaults__ = (more["default"],)
    mcp.add_prompt(function, "p")
    answer = get(mcp, "p", {"value": text})
    if "error" in answer:
        assert seen == [], "a refused prompt does not run"
        head, _, rest = refusal(answer, -32602).partition("\n")
        assert head == "Invalid arguments for prompt p:"
        return rest
    return seen[0]


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (str, "5", "5"),
        (str, " true ", " true "),
        (str, "", ""),
        (str, '"quoted"', '"quoted"'),
        (str | None, "null", "null"),
        (int | str, "5", "5"),
        (Any, "[1]", "[1]"),
        (int, "5", 5),
        (int, " -5 ", -5),
        (int, "5.0", 5),
        (int | None, "5", 5),
        (int | None, "null", None),
        (float, "1.5", 1.5),
        (float, "2", 2.0),
        (bool, "true", True),
        (bool, "False", False),
        (bool, " YES ", True),
        (bool, "off", False),
        (bool, "1", True),
        (bool | None, "no", False),
        (int | bool, "1", 1),
        (Tone, "dry", Tone.DRY),
        (Level, "2", Level.HIGH),
        (Literal["a", "b"], "b", "b"),
        (Literal["auto", 1, True], "1", 1),
        (Literal["auto", 1, True], "true", True),
        (Literal["auto", 1, True], "auto", "auto"),
        (datetime.date, "2026-07-28", datetime.date(2026, 7, 28)),
        (datetime.date | None, "2026-07-28", datetime.date(2026, 7, 28)),
        (datetime.datetime, "2026-07-28T10:00:00Z", datetime.datetime(2026, 7, 28, 10, tzinfo=datetime.UTC)),
        (uuid.UUID, "12345678-1234-5678-1234-567812345678", uuid.UUID("12345678-1234-5678-1234-567812345678")),
        (Decimal, "0.10", Decimal("0.10")),
        (pathlib.Path, "a/b", pathlib.Path("a/b")),
        (bytes, "aGk=", b"hi"),
        (list[str], '["a", "b"]', ["a", "b"]),
        (list[int], "[1, 2]", [1, 2]),
        (dict[str, int], '{"a": 1}', {"a": 1}),
        (Book, '{"title": "Dune", "year": 1965}', Book(title="Dune", year=1965)),
    ],
)
def test_a_text_becomes_what_it_stands_for(kind: Any, text: str, value: Any) -> None:
    """Spec: schema, GetPromptRequestParams: arguments are strings; ours: what a parameter of another type gets."""
    got = shown(kind, text)
    assert got == value
    assert type(got) is type(value)


@pytest.mark.parametrize(
    ("kind", "text", "refused"),
    [
        (int, "abc", 'value: Input should be a valid integer, got "abc"'),
        (int, "", 'value: Input should be a valid integer, got ""'),
        (int, "1.5", "value: Input should be a valid integer"),
        (int, "true", 'value: Input should be a valid integer, got "true"'),
        (float, "NaN", 'value: Input should be a valid number, got "NaN"'),
        (bool, "maybe", 'value: Input should be a valid boolean, got "maybe"'),
        (Tone, "sad", "value: Input should be 'kind' or 'dry', got \"sad\""),
        (Level, "3", "value: Input should be 1 or 2"),
        (Literal["a", "b"], "c", "value: Input should be 'a' or 'b', got \"c\""),
        (datetime.date, "tomorrow", "value: Input should be a valid date in the form YYYY-MM-DD"),
        (list[str], "a, b", 'value: Input should be a valid array in JSON, got "a, b"'),
        (list[int], '["x"]', 'value[0]: Input should be a valid integer, got "x"'),
        (Book, "Dune", 'value: Input should be an object in JSON, got "Dune"'),
        (Book, '{"year": 1}', "value.title: Field required"),
        (Annotated[int, Field(ge=1)], "0", "value: Input should be greater than or equal to 1, got 0"),
        (Annotated[str, Field(max_length=3)], "abcd", "value: String should have at most 3 characters"),
    ],
)
def test_a_bad_value_is_refused_by_name_with_what_is_expected(kind: Any, text: str, refused: str) -> None:
    """Spec: server/prompts, "Implementation Considerations" 1; -32602, and the function does not run."""
    assert shown(kind, text).startswith(refused)


@pytest.mark.parametrize(
    ("kind", "default", "value"),
    [(int, 7, 7), (bool, True, True), (Tone, Tone.KIND, Tone.KIND), (datetime.date | None, None, None), (str, "x", "")],
)
def test_an_empty_field_of_a_form_is_left_out(kind: Any, default: Any, value: Any) -> None:
    """Ours: hosts send "" for what nobody filled in; a str stays what came."""
    assert shown(kind, "", default=default) == value


def test_a_parameter_without_annotation_takes_the_text() -> None:
    """Ours: every value of a prompt is a text, so that there is nothing to guess."""
    mcp = MCPServer("x")

    @mcp.prompt
    def greet(name, greeting="Hi"):  # type: ignore[no-untyped-def]
        return f"{greeting} {name!r}"

    assert text_of(get(mcp, "greet", {"name": "5"})) == "Hi '5'"
    assert ask(mcp, "prompts/list")["result"]["prompts"][0]["arguments"] == [
        {"name": "name", "required": True},
        {"name": "greeting", "required": False},
    ]


def _two() -> MCPServer:
    mcp = MCPServer("x")

    @mcp.prompt
    def two(code: str, language: str, style: str = "") -> str:
        return f"{code} {language}"

    return mcp


def test_every_missing_argument_is_named() -> None:
    """Spec: server/prompts, "Error Handling": missing required arguments."""
    text = refusal(get(_two(), "two"), -32602)
    assert text == "Invalid arguments for prompt two:\ncode: Field required\nlanguage: Field required"


def test_an_unknown_argument_is_refused_with_the_closest_name() -> None:
    """Ours: policy P2, as for tools."""
    text = refusal(get(_two(), "two", {"code": "x", "langage": "py", "language": "py"}), -32602)
    assert "langage: Extra inputs are not permitted; accepted names: code, language, style" in text
    assert "did you mean 'language'?" in text


def test_unknown_arguments_are_dropped_where_the_server_says_so() -> None:
    """Ours: `extra_args="ignore"`, as for tools."""
    mcp = MCPServer("x", extra_args="ignore")
    mcp.add_prompt(lambda: "Hi.", "hi")
    assert text_of(get(mcp, "hi", {"other": "x"})) == "Hi."


@pytest.mark.parametrize("value", [5, True, None, ["a"], {"a": "b"}])
def test_a_value_that_is_no_string_is_refused(value: Any) -> None:
    """Spec: schema, GetPromptRequestParams: the values of `arguments` are strings."""
    text = refusal(get(_two(), "two", {"code": value, "language": "py"}), -32602)
    assert text.startswith("Invalid arguments for prompt two:\ncode: Input should be a valid string; every argument of")
    assert "language" not in text


@pytest.mark.parametrize("value", [5, "x", [], True])
def test_arguments_that_are_no_object_are_refused(value: Any) -> None:
    """Spec: schema, GetPromptRequestParams; policy P10."""
    assert "`arguments` must be an object" in refusal(ask(_two(), "prompts/get", name="two", arguments=value), -32602)


@pytest.mark.parametrize("params", [{}, {"arguments": None}, {"arguments": {}}])
def test_arguments_may_be_left_out(params: dict[str, Any]) -> None:
    """Spec: schema, GetPromptRequestParams: `arguments` is optional."""
    mcp = MCPServer("x")
    mcp.add_prompt(lambda: "Hi.", "hi")
    assert text_of(ask(mcp, "prompts/get", name="hi", **params)) == "Hi."


@pytest.mark.parametrize("sent", ["hunter2", 5])
def test_values_are_not_echoed_where_the_server_says_so(sent: Any) -> None:
    """Ours: `echo_values=False`."""
    mcp = MCPServer("x", echo_values=False)

    @mcp.prompt
    def p(pin: int) -> str:
        return str(pin)

    assert "got" not in refusal(get(mcp, "p", {"pin": sent}), -32602)


def test_an_alias_is_the_name_on_the_wire() -> None:
    """Ours: `Field(alias=...)`, as for tools."""
    mcp = MCPServer("x")

    @mcp.prompt
    def p(from_: Annotated[str, Field(alias="from", title="Sender")]) -> str:
        return from_

    [argument] = ask(mcp, "prompts/list")["result"]["prompts"][0]["arguments"]
    assert argument == {"name": "from", "title": "Sender", "required": True}
    assert text_of(get(mcp, "p", {"from": "Ann"})) == "Ann"


def test_every_way_to_pass_arguments_is_used_right() -> None:
    """Ours: positional-only and keyword-only parameters."""
    mcp = MCPServer("x")

    @mcp.prompt
    def p(a: str, /, b: str, *, c: str = "c") -> str:
        return a + b + c

    function: Callable[..., str] = p
    assert function("1", "2") == "12c"
    assert text_of(get(mcp, "p", {"a": "1", "b": "2", "c": "3"})) == "123"
