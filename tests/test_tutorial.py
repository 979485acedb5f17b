"""The tutorial's programs with nothing but their imports changed, and the golden checks of the public surface.

Everything runs twice: with pydantic's Field and BaseModel, and with leanmcp's own in their place.
"""

from __future__ import annotations

import asyncio
import json
import re
import threading
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from tests.support import spec

SEEDS = Path(__file__).resolve().parents[2] / "shared" / "seeds"
TEXTS = sorted(SEEDS.glob("003*.txt"))

pytestmark = pytest.mark.skipif(not TEXTS, reason=f"the tutorial is not there: {SEEDS}")

FIRST, DEFAULT, FIELD, MODEL, NAMED = range(5)
DIALECTS = {
    "pydantic": {},
    "leanmcp": {
        "from pydantic import BaseModel, Field": "from leanmcp import Field, Model as BaseModel",
        "from pydantic import Field": "from leanmcp import Field",
    },
}
FOUND = "Found 3 books matching 'dune' (showing up to 5)."


def programs() -> list[str]:
    """Return the tutorial's Python blocks: from an import at the margin to the next line of prose."""
    blocks: list[str] = []
    lines: list[str] | None = None
    for line in TEXTS[0].read_text(encoding="utf-8").splitlines():
        if lines is None and re.match(r"(from|import) \w", line):
            lines = []
        elif lines is not None and not line.isascii():
            blocks.append("\n".join(lines).strip() + "\n")
            lines = None
        if lines is not None:
            lines.append(line)
    return blocks


@pytest.fixture(params=sorted(DIALECTS))
def dialect(request: pytest.FixtureRequest) -> str:
    return str(request.param)


class Program:
    """One of the tutorial's programs, run."""

    def __init__(self, number: int, dialect: str, more: str = "") -> None:
        code = programs()[number]
        imports = {"from mcp.server ": "from leanmcp.server ", "from mcp.types ": "from leanmcp.types "}
        for old, new in {**imports, **DIALECTS[dialect]}.items():
            code = re.sub(rf"^{re.escape(old)}", new, code, flags=re.MULTILINE)
        self.names: dict[str, Any] = {"__name__": "tutorial"}
        exec(compile(code + more, "tutorial", "exec", dont_inherit=True), self.names)
        self.mcp = self.names["mcp"]

    def request(self, method: str, **params: Any) -> dict[str, Any]:
        answer: dict[str, Any] = asyncio.run(spec.request(self.mcp, method, params))["result"]
        return answer

    def tool(self, name: str = "search_books") -> dict[str, Any]:
        (entry,) = [entry for entry in self.request("tools/list")["tools"] if entry["name"] == name]
        Draft202012Validator.check_schema(entry["inputSchema"])
        return dict(entry)

    def call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        return self.request("tools/call", name=tool, arguments=arguments)


def text(result: dict[str, Any]) -> str:
    (block,) = result["content"]
    assert block["type"] == "text"
    return str(block["text"])


def test_the_tutorial_has_five_programs() -> None:
    """Ours: nothing of it is skipped in silence."""
    assert [re.findall(r"def (\w+)", code) for code in programs()] == [
        ["search_books"],
        ["search_books"],
        ["search_books"],
        ["add_book"],
        ["search_books"],
    ]


def test_1_the_schema_is_the_tutorials(dialect: str) -> None:
    """Ours: golden checks 1 and 3, against the JSON that the tutorial prints."""
    printed = re.findall(r"^\{\n.*?^\}", TEXTS[0].read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    assert len(printed) == 2
    for number, schema in zip((FIRST, DEFAULT), map(json.loads, printed), strict=True):
        entry = Program(number, dialect).tool()
        assert entry["inputSchema"] == {**schema, "additionalProperties": False}
        assert list(entry["inputSchema"]["properties"]) == list(schema["properties"])
        assert entry["description"] == "Search the catalog by title or author."


def test_2_the_model_gets_text_and_the_client_structured_content(dialect: str) -> None:
    """Ours: golden check 2."""
    result = Program(FIRST, dialect).call("search_books", {"query": "dune", "limit": 5})
    assert text(result) == FOUND
    assert result["structuredContent"] == {"result": FOUND}
    assert result["isError"] is False


def test_3_a_default_makes_an_argument_optional(dialect: str) -> None:
    """Ours: golden check 3."""
    program = Program(DEFAULT, dialect)
    assert program.tool()["inputSchema"]["required"] == ["query"]
    assert text(program.call("search_books", {"query": "dune"})) == FOUND.replace("5", "10")


def test_4_field_describes_and_bounds(dialect: str) -> None:
    """Ours: golden check 4."""
    assert Program(FIELD, dialect).tool()["inputSchema"] == {
        "type": "object",
        "properties": {
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
        },
        "required": ["query"],
        "title": "search_booksArguments",
        "additionalProperties": False,
    }


def test_5_bad_arguments_are_refused_before_the_function_runs(dialect: str) -> None:
    """Ours: golden check 5."""
    program = Program(FIELD, dialect)
    result = program.call("search_books", {"query": "dune", "limit": 999, "genre": "drama"})
    assert result["isError"] is True
    assert "structuredContent" not in result
    assert text(result) == (
        "Invalid arguments for tool search_books:\n"
        "limit: Input should be less than or equal to 50, got 999\n"
        "genre: Input should be 'fiction', 'non-fiction' or 'poetry', got \"drama\""
    )
    assert "Found" not in text(result)
    assert " in poetry" in text(program.call("search_books", {"query": "dune", "genre": "poetry"}))


def test_6_a_model_is_a_definition_and_arrives_as_an_instance(dialect: str) -> None:
    """Ours: golden check 6."""
    program = Program(MODEL, dialect)
    schema = program.tool("add_book")["inputSchema"]
    assert schema["properties"] == {"book": {"$ref": "#/$defs/Book"}}
    assert schema["$defs"] == {
        "Book": {
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
    }
    book = {"title": "Dune", "author": "Frank Herbert", "year": 1965}
    assert text(program.call("add_book", {"book": book})) == "Added 'Dune' by Frank Herbert (1965)."
    refused = program.call("add_book", {"book": {**book, "year": 1000}})
    assert refused["isError"] is True
    assert text(refused).endswith("\nbook.year: Input should be greater than or equal to 1450, got 1000")


MIXED = """

class Shelf(BaseModel):
    place: str
    books: list[Book]

received = []

@mcp.tool()
def store(books: list[Book], shelf: Shelf, note: str = "", copies: int = 1) -> list[Book]:
    received.extend([books, shelf, note, copies])
    return [*books, *shelf.books]
"""


def test_7_models_mix_with_everything(dialect: str) -> None:
    """Ours: golden check 7: lists of models, models beside scalars, models in models."""
    program = Program(MODEL, dialect, MIXED)
    book = {"title": "Dune", "author": "Frank Herbert", "year": 1965}
    arguments = {"books": [book], "shelf": {"place": "A1", "books": [book, book]}, "copies": 2}
    entry = program.tool("store")
    assert set(entry["inputSchema"]["$defs"]) == {"Book", "Shelf"}
    assert entry["inputSchema"]["properties"]["books"] == {
        "items": {"$ref": "#/$defs/Book"},
        "title": "Books",
        "type": "array",
    }
    Draft202012Validator(entry["inputSchema"]).validate(arguments)
    result = program.call("store", arguments)
    assert result["structuredContent"] == {"result": [book] * 3}
    Draft202012Validator(entry["outputSchema"]).validate(result["structuredContent"])
    books, shelf, note, copies = program.names["received"]
    assert [type(each) for each in (*books, shelf, *shelf.books)] == [
        program.names[name] for name in ("Book", "Shelf", "Book", "Book")
    ]
    assert (shelf.books[1].year, note, copies) == (1965, "", 2)
    arguments["shelf"]["books"][1] = {**book, "year": "old"}  # type: ignore[index]
    assert text(program.call("store", arguments)).splitlines()[1:] == [
        'shelf.books[1].year: Input should be a valid integer, got "old"'
    ]


BOTH = """
import threading

@mcp.tool()
def wait(book: Book) -> str:
    assert released.wait(5)
    return threading.current_thread().name

@mcp.tool()
async def release(book: Book) -> str:
    released.set()
    return threading.current_thread().name
"""


def test_8_def_waits_in_a_thread_and_async_def_is_awaited(dialect: str) -> None:
    """Ours: golden check 8: the waiting `def` ends only if the `async def` runs beside it."""
    program = Program(MODEL, dialect, "\n" + BOTH)
    program.names["released"] = threading.Event()
    book = {"title": "Dune", "author": "Frank Herbert", "year": 1965}

    async def main() -> list[dict[str, Any]]:
        def start(name: str) -> Any:
            return spec.request(program.mcp, "tools/call", {"name": name, "arguments": {"book": book}})

        async with asyncio.timeout(5):
            return list(await asyncio.gather(start("wait"), start("release")))

    waited, released = (text(answer["result"]) for answer in asyncio.run(main()))
    assert released == threading.current_thread().name
    assert waited != released


def test_9_title_and_hints_are_on_the_wire(dialect: str) -> None:
    """Ours: golden check 9."""
    entry = Program(NAMED, dialect).tool()
    assert entry["title"] == "Search the catalog"
    assert entry["annotations"] == {"readOnlyHint": True, "openWorldHint": False}
