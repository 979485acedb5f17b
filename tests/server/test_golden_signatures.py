"""The golden checks of the tutorial, as far as only a signature shows them: bytes of the schema, the decoder in use.

Whole calls: `tests/test_tutorial.py`.
"""

import json
from collections.abc import Callable
from typing import Annotated, Any, Literal

import msgspec
import pydantic
import pytest

from leanmcp.fields import Field
from leanmcp.server.signature import InvalidArguments
from tests.support.signatures import call, of


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


@pytest.mark.parametrize("field", [Field, pydantic.Field])
def test_field_of_either_kind_costs_a_call_nothing(field: Callable[..., Any]) -> None:
    """Ours: golden checks 4 and 5, with both kinds of Field."""

    def search_books(
        query: Annotated[str, field(description="Title or author to search for.")],
        limit: Annotated[int, field(ge=1, le=50, description="Maximum number of results.")] = 10,
        genre: Literal["fiction", "non-fiction", "poetry"] | None = None,
    ) -> None: ...

    signature = of(search_books, tool_name="search_books")
    assert call(signature, {"query": "dune"}) == {"query": "dune", "limit": 10, "genre": None}
    with pytest.raises(InvalidArguments, match="less than or equal to 50, got 999"):
        call(signature, {"query": "dune", "limit": 999})
    # No second pass over the arguments: msgspec alone enforces all of the published schema.
    assert signature.decode.__self__.__class__ is msgspec.json.Decoder  # type: ignore[attr-defined]
