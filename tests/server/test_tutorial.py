"""The golden checks of the tutorial, at the level of signatures: schema, typed arguments, refusals."""

import json
from collections.abc import Callable
from typing import Annotated, Any, Literal

import msgspec
import pydantic
import pytest

from leanmcp.fields import Field, Model
from leanmcp.server.signature import InvalidArguments, Signature


class Book(Model):
    title: str
    author: str
    year: int = Field(ge=1450, description="Year of first publication.")


def of(function: Callable[..., Any], **options: Any) -> Signature:
    return Signature.of(function, tool_name=options.pop("tool_name", "tool"), **options)


def call(signature: Signature, arguments: Any) -> Any:
    """Arguments as a dict, decoded or recovered, as a call does it."""
    raw = arguments if isinstance(arguments, bytes) else json.dumps(arguments).encode()
    try:
        decoded = signature.decode(raw)
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        decoded = signature.recover(raw)
    return msgspec.structs.asdict(decoded)


def refusal(signature: Signature, arguments: Any) -> list[str]:
    """The lines of the refusal below its head."""
    with pytest.raises(InvalidArguments) as error:
        call(signature, arguments)
    return error.value.text.splitlines()[1:]


def search_books(query: str, limit: int) -> str:
    """Search the catalog by title or author."""
    return f"Found 3 books matching {query!r} (showing up to {limit})."


def test_the_tutorial_schema_is_published_key_for_key() -> None:
    """Ours: golden check 1; P2 adds additionalProperties."""
    expected = {
        "type": "object",
        "properties": {
            "query": {"title": "Query", "type": "string"},
            "limit": {"title": "Limit", "type": "integer"},
        },
        "required": ["query", "limit"],
        "title": "search_booksArguments",
    }
    signature = of(search_books, tool_name="search_books", extra_args="ignore")
    assert json.dumps(signature.input_schema) == json.dumps(expected)
    closed = of(search_books, tool_name="search_books").input_schema
    assert closed == {**expected, "additionalProperties": False}


def test_arguments_reach_the_function_in_order() -> None:
    """Ours: golden check 2, as far as this layer goes."""
    signature = of(search_books)
    arguments = signature.decode(b'{"limit":5,"query":"dune"}')
    assert signature.positional
    assert search_books(*msgspec.structs.astuple(arguments)) == "Found 3 books matching 'dune' (showing up to 5)."


def test_a_default_makes_an_argument_optional() -> None:
    """Ours: golden check 3."""

    def search_books(query: str, limit: int = 10) -> None: ...

    schema = of(search_books).input_schema
    assert schema["required"] == ["query"]
    assert json.dumps(schema["properties"]["limit"]) == '{"default": 10, "title": "Limit", "type": "integer"}'
    assert call(of(search_books), {"query": "x"}) == {"query": "x", "limit": 10}


@pytest.mark.parametrize("field", [Field, pydantic.Field])
def test_field_describes_and_bounds_a_parameter(field: Callable[..., Any]) -> None:
    """Ours: golden checks 4 and 5, with both kinds of Field."""

    def search_books(
        query: Annotated[str, field(description="Title or author to search for.")],
        limit: Annotated[int, field(ge=1, le=50, description="Maximum number of results.")] = 10,
        genre: Literal["fiction", "non-fiction", "poetry"] | None = None,
    ) -> None: ...

    signature = of(search_books, tool_name="search_books")
    assert signature.input_schema["properties"] == {
        "query": {"description": "Title or author to search for.", "title": "Query", "type": "string"},
        "limit": {
            "default": 10,
            "description": "Maximum number of results.",
            "maximum": 50,
            "minimum": 1,
            "title": "Limit",
            "type": "integer",
        },
        "genre": {
            "anyOf": [{"enum": ["fiction", "non-fiction", "poetry"], "type": "string"}, {"type": "null"}],
            "default": None,
            "title": "Genre",
        },
    }
    with pytest.raises(InvalidArguments) as error:
        call(signature, {"query": "dune", "limit": 999, "genre": "drama"})
    assert error.value.text == (
        "Invalid arguments for tool search_books:\n"
        "limit: Input should be less than or equal to 50, got 999\n"
        "genre: Input should be 'fiction', 'non-fiction' or 'poetry', got \"drama\""
    )
    assert signature.decode.__self__.__class__ is msgspec.json.Decoder  # type: ignore[attr-defined]


def test_the_schema_equals_pydantics_own() -> None:
    """Ours: golden check 4 against the oracle: same keys and values as a pydantic model of the same fields."""

    class tool_nameArguments(pydantic.BaseModel):  # noqa: N801
        search_limit: Annotated[int, pydantic.Field(gt=0, description="n")] = 3
        tags: list[str] = []
        mode: Literal["a", "b"] = "a"
        maybe: float | None = None
        table: dict[str, int]
        pair: tuple[int, str]
        rest: Any
        name: Annotated[str, pydantic.Field(min_length=1, max_length=5, pattern="^a")]

    def tool_name(
        *,
        search_limit: Annotated[int, pydantic.Field(gt=0, description="n")] = 3,
        tags: list[str] = [],  # noqa: B006
        mode: Literal["a", "b"] = "a",
        maybe: float | None = None,
        table: dict[str, int],
        pair: tuple[int, str],
        rest: Any,
        name: Annotated[str, pydantic.Field(min_length=1, max_length=5, pattern="^a")],
    ) -> None: ...

    ours = of(tool_name, tool_name="tool_name", extra_args="ignore").input_schema
    assert ours == tool_nameArguments.model_json_schema()


def test_a_model_is_a_definition_and_arrives_as_an_instance() -> None:
    """Ours: golden check 6."""

    def add_book(book: Book) -> str: ...  # type: ignore[empty-body]

    signature = of(add_book, tool_name="add_book")
    assert signature.input_schema["properties"] == {"book": {"$ref": "#/$defs/Book"}}
    assert signature.input_schema["$defs"]["Book"] == {
        "properties": {
            "title": {"title": "Title", "type": "string"},
            "author": {"title": "Author", "type": "string"},
            "year": {
                "description": "Year of first publication.",
                "minimum": 1450,
                "title": "Year",
                "type": "integer",
            },
        },
        "required": ["title", "author", "year"],
        "title": "Book",
        "type": "object",
    }
    book = call(signature, {"book": {"title": "Dune", "author": "Herbert", "year": 1965}})["book"]
    assert type(book) is Book
    assert book.year == 1965
    assert refusal(signature, {"book": {"title": "Dune", "author": "Herbert", "year": 1000}}) == [
        "book.year: Input should be greater than or equal to 1450, got 1000"
    ]


def test_models_stand_in_lists_beside_scalars_and_in_models() -> None:
    """Ours: golden check 7."""

    class Shelf(Model):
        books: list[Book]

    def store(shelf: Shelf, books: list[Book], note: str = "") -> None: ...

    signature = of(store)
    assert signature.input_schema["properties"]["books"] == {
        "items": {"$ref": "#/$defs/Book"},
        "title": "Books",
        "type": "array",
    }
    book = {"title": "t", "author": "a", "year": 1999}
    got = call(signature, {"shelf": {"books": [book]}, "books": [book]})
    assert got["shelf"].books[0] == got["books"][0] == Book(title="t", author="a", year=1999)
    assert refusal(signature, {"shelf": {"books": [book, {**book, "year": "old"}]}, "books": []}) == [
        'shelf.books[1].year: Input should be a valid integer, got "old"'
    ]
