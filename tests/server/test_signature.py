"""From a function to its published schema, its typed arguments, and what it refuses."""

import asyncio
import enum
import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Generic, Literal, Optional, TypeVar

import annotated_types
import msgspec
import pydantic
import pytest

from leanmcp.fields import Field, Header, Model
from leanmcp.server.signature import derive_output
from tests.support.signatures import call, of, refusal

if TYPE_CHECKING:
    from somewhere import Missing  # type: ignore[import-not-found]

L = TypeVar("L")


class Context(Generic[L]):
    """Stands for the server's Context."""


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Book(Model):
    title: str
    author: str
    year: int = Field(ge=1450, description="Year of first publication.")


# Kinds of callables --------------------------------------------------------------


class Shop:
    def sell(self, n: int) -> int:
        return n

    @classmethod
    def open(cls, n: int) -> int:
        return n

    @staticmethod
    def close(n: int) -> int:
        return n

    def __call__(self, n: int) -> int:
        return n


def plain(n: int) -> int:
    return n


async def coroutine(n: int) -> int:
    return n


@functools.wraps(plain)
def wrapped(*args: Any, **kwargs: Any) -> int:
    return plain(*args, **kwargs)


def two(m: int, n: int) -> int:
    return n


@pytest.mark.parametrize(
    "function",
    [
        plain,
        coroutine,
        wrapped,
        Shop().sell,
        Shop.open,
        Shop().open,
        Shop.close,
        Shop(),
        functools.partial(two, 1),
        functools.partial(Shop().sell),
    ],
)
def test_every_kind_of_bound_callable_works(function: Callable[..., Any]) -> None:
    """Ours: FIELD row 99."""
    signature = of(function)
    assert list(signature.input_schema["properties"]) == ["n"]
    assert signature.return_annotation is int
    result = function(*msgspec.structs.astuple(signature.decode(b'{"n":3}')))
    assert (asyncio.run(result) if asyncio.iscoroutine(result) else result) == 3


def test_a_partial_with_a_keyword_keeps_it_as_the_default() -> None:
    """Ours: Python semantics; what follows it is keyword-only."""
    signature = of(functools.partial(two, m=7))
    assert not signature.positional
    assert signature.bind(signature.decode(b'{"n":1}')) == ((), {"m": 7, "n": 1})


def test_keyword_only_and_positional_only_parameters_are_bound() -> None:
    """Ours: every kind of named parameter works."""

    def tool(a: int, /, b: int, *, c: int = 3) -> tuple[int, int, int]:
        return a, b, c

    signature = of(tool)
    args, kwargs = signature.bind(signature.decode(b'{"b":2,"a":1}'))
    assert not signature.positional
    assert tool(*args, **kwargs) == (1, 2, 3)


def unbound(self, n: int) -> None: ...  # type: ignore[no-untyped-def]
def untyped(n) -> None: ...  # type: ignore[no-untyped-def]
def star(*names: str) -> None: ...
def stars(**options: str) -> None: ...
def unknown(n: "Missing") -> None: ...
def misfit(n: Annotated[str, Field(ge=1)]) -> None: ...
def misfit_union(n: Annotated[str | None, Field(multiple_of=2)]) -> None: ...
def function_type(n: Callable[[], int]) -> None: ...
def complex_number(n: complex) -> None: ...
def two_texts(n: str | bytes) -> None: ...
def two_models(n: Book | Shop) -> None: ...
def float_keys(n: dict[float, int]) -> None: ...
def bad_pattern(n: Annotated[str, pydantic.Field(pattern="(?i)a")]) -> None: ...
def predicate(n: Annotated[int, annotated_types.Predicate(bool)]) -> None: ...
def validator(n: Annotated[int, pydantic.AfterValidator(abs)]) -> None: ...
def float_literal(n: Literal[1.5]) -> None: ...  # type: ignore[valid-type]
def header_on_list(n: Annotated[list[str], Header("N")]) -> None: ...
def same_headers(n: Annotated[str, Header("N")], m: Annotated[str, Header("n")]) -> None: ...
def same_names(m: str, n: Annotated[str, Field(alias="m")]) -> None: ...


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (unbound, "register the bound one"),
        (Shop.sell, "register the bound one"),
        (untyped, "annotate it"),
        (star, "a tool cannot take *names"),
        (stars, "a tool cannot take **options"),
        (unknown, "TYPE_CHECKING"),
        (misfit, "constraint ge does not fit"),
        (misfit_union, "multiple_of"),
        (function_type, "input_schema="),
        (complex_number, "input_schema="),
        (two_texts, "members of this union apart; keep one of them"),
        (two_models, "input_schema="),
        (float_keys, "string keys"),
        (bad_pattern, "no meaning in JSON Schema"),
        (predicate, "Predicate in Annotated would not be run"),
        (validator, "AfterValidator in Annotated would not be run"),
        (float_literal, "Literal"),
        (header_on_list, "strings, integers and booleans only"),
        (same_headers, "share the header n"),
        (same_names, "share the name m"),
    ],
)
def test_registration_refuses_with_tool_parameter_and_a_way_out(function: Callable[..., Any], reason: str) -> None:
    """Ours: FIELD rows 98 and 99; errors have a reader."""
    with pytest.raises(TypeError) as error:
        of(function, tool_name="shop.tool")
    assert "tool 'shop.tool': parameter" in str(error.value)
    assert reason in str(error.value)
    assert "\n" not in str(error.value)


def test_a_raw_classmethod_is_refused() -> None:
    """Ours: a descriptor in a class body is no function yet."""
    with pytest.raises(TypeError, match="finished class"):
        of(vars(Shop)["open"])


def test_names_of_an_enclosing_function_are_found() -> None:
    """Ours: FIELD row 98; string annotations and local classes."""

    class Local(Model):
        x: int

    @dataclass
    class Node:
        value: int
        inner: "Local"
        children: "list[Node]"

    def tool(n: "Node", m: "list[Local]") -> "Local": ...  # type: ignore[empty-body]

    signature = of(tool)
    assert set(signature.input_schema["$defs"]) == {"Node", "Local"}
    assert signature.return_annotation is Local
    got = call(
        signature,
        {"n": {"value": 1, "inner": {"x": 1}, "children": [{"value": 2, "inner": {"x": 2}, "children": []}]}, "m": []},
    )
    assert type(got["n"].children[0]) is Node
    assert type(got["n"].inner) is Local


# The context parameter -----------------------------------------------------------


def context_plain(ctx: Context[Any], n: int) -> None: ...
def context_bare(n: int, anything: Context) -> None: ...  # type: ignore[type-arg]
def context_optional(n: int, ctx: Optional[Context[Any]] = None) -> None: ...  # noqa: UP045
def context_string(n: int, ctx: "Context[dict[str, int]] | None" = None) -> None: ...


@pytest.mark.parametrize("function", [context_plain, context_bare, context_optional, context_string])
def test_the_context_is_found_by_its_type_and_not_published(function: Callable[..., Any]) -> None:
    """Ours: any parameter name, optional or generic."""
    signature = of(function, context_type=Context)
    assert signature.context_parameter in ("ctx", "anything")
    assert not signature.positional
    assert list(signature.input_schema["properties"]) == ["n"]
    assert signature.bind(signature.decode(b'{"n":1}')) == ((), {"n": 1})


def test_two_contexts_and_a_positional_only_one_are_refused() -> None:
    """Ours: one context, passed by name."""

    def twice(a: Context[Any], b: Context[Any]) -> None: ...
    def positional(a: Context[Any], /) -> None: ...

    for function in (twice, positional):
        with pytest.raises(TypeError, match="context"):
            of(function, context_type=Context)


# Defaults ------------------------------------------------------------------------


def test_each_call_gets_the_default_and_containers_of_its_own() -> None:
    """Ours: Python semantics, but that lists, dicts and sets are copied: what one call puts in is not for the next."""
    shared: dict[str, Any] = {"a": [1]}
    marker = object()

    def tool(a: dict[str, Any] = shared, b: Any = marker, c: Colour = Colour.RED, d: int | None = None) -> None: ...

    signature = of(tool)
    got = call(signature, {})
    assert got["a"] == shared
    assert got["a"] is not shared
    assert got["a"]["a"] is not shared["a"]
    assert got["b"] is marker
    assert got["c"] is Colour.RED
    properties = signature.input_schema["properties"]
    assert properties["a"]["default"] == {"a": [1]}
    assert "default" not in properties["b"]
    assert properties["c"]["default"] == "red"
    assert properties["d"]["default"] is None
    assert "required" not in signature.input_schema


def test_nan_is_no_published_default() -> None:
    """Ours: P4 holds for schemas too."""

    def tool(a: float = float("nan"), b: list[float] = [float("inf")]) -> None: ...  # noqa: B006

    properties = of(tool).input_schema["properties"]
    assert "default" not in properties["a"]
    assert "default" not in properties["b"]


@pytest.mark.parametrize("field", [Field, pydantic.Field])
def test_field_may_be_the_default_of_a_parameter(field: Callable[..., Any]) -> None:
    """Ours: as pydantic users write it."""

    def tool(
        a: int = field(ge=1),
        b: int = field(5, le=9, alias="bee"),
        c: list[int] = field(default_factory=lambda: [1]),  # noqa: B008
        d: Annotated[int, field(default=4)] = field(description="d"),
    ) -> None: ...

    signature = of(tool)
    assert signature.input_schema["required"] == ["a"]
    assert signature.input_schema["properties"]["bee"] == {
        "default": 5,
        "maximum": 9,
        "title": "Bee",
        "type": "integer",
    }
    assert call(signature, {"a": 1, "bee": 2}) == {"a": 1, "b": 2, "c": [1], "d": 4}
    assert refusal(signature, {"a": 0, "b": 2})[0] == "a: Input should be greater than or equal to 1, got 0"


# Options and output --------------------------------------------------------------


def test_titles_and_definitions_can_be_left_out() -> None:
    """Ours: schema_titles=False and inline_schemas=True save tokens; FIELD row 91."""

    def tool(book: Book, named: Annotated[int, Field(title="My title")] = 1) -> None: ...

    schema = of(tool, schema_titles=False, inline_schemas=True).input_schema
    assert "$defs" not in schema
    assert "title" not in schema
    assert schema["properties"]["book"]["properties"]["title"] == {"type": "string"}
    assert "title" not in schema["properties"]["book"]
    assert schema["properties"]["named"]["title"] == "My title"


def test_descriptions_from_elsewhere_fill_the_gaps() -> None:
    """Ours: FIELD row 100; a parameter's own text wins."""

    def tool(a: int, b: Annotated[int, "own"]) -> None: ...

    properties = of(tool, descriptions={"a": "from the docstring", "b": "no"}).input_schema["properties"]
    assert [properties[name]["description"] for name in "ab"] == ["from the docstring", "own"]


def test_a_return_type_has_a_schema_of_its_own() -> None:
    """Ours: a class stands at the root, even a recursive one."""

    class Node(Model):
        children: "list[Node]"

    def tool() -> Node: ...  # type: ignore[empty-body]

    signature = of(tool)
    output = derive_output(signature.return_annotation, tool_name="tool", scope=signature.scope)
    assert output.schema["type"] == "object"
    assert output.schema["properties"]["children"]["items"] == {"$ref": "#/$defs/Node"}
    assert output.decode(b'{"children":[]}') == Node(children=[])
    assert derive_output(list[int], tool_name="tool").schema == {"items": {"type": "integer"}, "type": "array"}
    assert derive_output(set[int], tool_name="tool").schema["uniqueItems"] is True
    with pytest.raises(TypeError, match="tool 'tool': return value has type complex"):
        derive_output(complex, tool_name="tool")
