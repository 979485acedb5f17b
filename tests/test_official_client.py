"""The official Python client lists and calls the examples, over stdio and over HTTP, in revision 2026-07-28."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.types import CallToolResult, TextContent

from tests.support.example_calls import CALLS, check, filled, path_of
from tests.support.processes import DEADLINE, ROOT, VERSION, environment, http_server, stdio_command

BOOKSHOP = ROOT / "examples" / "bookshop" / "server.py"
MEGABYTE = 1_000_000
Target = StdioServerParameters | str


@pytest.fixture(scope="module", params=["stdio", "http"])
def target(request: pytest.FixtureRequest) -> Iterator[Target]:
    """The bookshop: the command that starts it, or the URL where it runs."""
    with serving(request.param, BOOKSHOP) as where:
        yield where


@contextmanager
def serving(transport: str, server: str | Path) -> Iterator[Target]:
    """Serve a file while the block runs: on HTTP here, on stdio by the client's own hand."""
    if transport == "stdio":
        command, *arguments = stdio_command(server)
        yield StdioServerParameters(command=command, args=arguments, env=environment(), cwd=ROOT)
        return
    with http_server(server) as running:
        yield running.url


def use(target: Target, conversation: Callable[[Client], Awaitable[None]], mode: str = "auto") -> None:
    """Connect, hold one conversation and disconnect, all within the deadline."""

    async def main() -> None:
        async with asyncio.timeout(DEADLINE), Client(target, mode=mode) as client:
            await conversation(client)

    asyncio.run(main())


def text_of(result: CallToolResult) -> str:
    """Return the text of a result that has one text block and nothing else."""
    [block] = result.content
    assert isinstance(block, TextContent)
    return block.text


@pytest.mark.parametrize("transport", ["stdio", "http"])
@pytest.mark.parametrize("example", CALLS)
def test_every_tool_of_every_example_is_listed_and_called(example: str, transport: str) -> None:
    """Spec: server/tools; content blocks, structured content that the client checks, errors and handles."""

    async def conversation(client: Client) -> None:
        tools = [_wire(tool) for tool in (await client.list_tools()).tools]
        results: list[dict[str, Any]] = []
        known: dict[str, Any] = {}
        for call in CALLS[example]:
            result = _wire(await client.call_tool(call.tool, filled(call.arguments, known)))
            known.update(result.get("structuredContent") or {})
            results.append(result)
        check(example, tools, results)

    with serving(transport, path_of(example)) as where:
        use(where, conversation)


def _wire(model: Any) -> dict[str, Any]:
    """Return what the client read, in the words of the wire."""
    members: dict[str, Any] = model.model_dump(mode="json", by_alias=True, exclude_none=True)
    return members


@pytest.mark.parametrize("mode", ["auto", VERSION])
def test_client_speaks_the_modern_revision(target: Target, mode: str) -> None:
    """Spec: basic/versioning; found by server/discover, and pinned without it."""

    async def conversation(client: Client) -> None:
        assert client.protocol_version == VERSION
        result = await client.call_tool("add_book", {"book": {"title": "Dune", "author": "Herbert", "year": 1965}})
        assert text_of(result) == "Added 'Dune' by Herbert (1965)."

    use(target, conversation, mode)


def test_discover_tells_who_serves_what(target: Target) -> None:
    """Spec: server/discover; what is not served is not declared."""

    async def conversation(client: Client) -> None:
        assert client.server_info is not None
        assert (client.server_info.name, client.server_info.version) == ("Bookshop", "1.0.0")
        capabilities = client.server_capabilities
        assert capabilities.tools is not None
        assert (capabilities.prompts, capabilities.resources, capabilities.completions) == (None, None, None)

    use(target, conversation)


def test_list_has_schemas_titles_and_annotations(target: Target) -> None:
    """Spec: server/tools, "Listing Tools"."""

    async def conversation(client: Client) -> None:
        listed = await client.list_tools()
        assert [tool.name for tool in listed.tools] == ["search_books", "add_book", "check_stock"]
        search, add, stock = listed.tools
        assert (search.title, search.description) == ("Search the catalog", "Search the catalog by title or author.")
        assert search.annotations is not None
        assert (search.annotations.read_only_hint, search.annotations.open_world_hint) == (True, False)
        assert search.input_schema["required"] == ["query"]
        limit = search.input_schema["properties"]["limit"]
        assert (limit["minimum"], limit["maximum"], limit["default"]) == (1, 50, 10)
        assert add.input_schema["properties"]["book"]["$ref"] == "#/$defs/Book"
        assert stock.output_schema is not None
        assert stock.output_schema["required"] == ["title", "copies"]

    use(target, conversation)


def test_call_returns_text_and_structured_content(target: Target) -> None:
    """Spec: server/tools, "Structured Content"; a text is wrapped, an object travels as it is."""

    async def conversation(client: Client) -> None:
        found = await client.call_tool("search_books", {"query": "dune", "limit": 5, "genre": "fiction"})
        expected = "Found 3 books matching 'dune' in fiction (showing up to 5)."
        assert (found.is_error, text_of(found), found.structured_content) == (False, expected, {"result": expected})
        stock = await client.call_tool("check_stock", {"title": "Dune"})
        assert (stock.is_error, stock.structured_content) == (False, {"title": "Dune", "copies": 4})

    use(target, conversation)


@pytest.mark.parametrize(
    ("tool", "arguments", "sentence"),
    [
        ("search_books", {"query": "dune", "limit": 999}, "limit: Input should be less than or equal to 50"),
        ("search_books", {"limit": 5}, "query: Field required"),
        ("search_books", {"query": "dune", "genre": "drama"}, "genre: Input should be 'fiction', 'non-fiction' or"),
        ("search_books", {"query": "dune", "limt": 5}, "did you mean"),
        (
            "add_book",
            {"book": {"title": "Almagest", "author": "Ptolemy", "year": 150}},
            "book.year: Input should be greater than or equal to 1450",
        ),
    ],
)
def test_bad_arguments_come_back_as_an_error_result(
    target: Target, tool: str, arguments: dict[str, Any], sentence: str
) -> None:
    """Spec: server/tools, "Error Handling"; the model reads the sentence and corrects itself."""

    async def conversation(client: Client) -> None:
        result = await client.call_tool(tool, arguments)
        assert result.is_error
        assert sentence in text_of(result)
        assert result.structured_content is None

    use(target, conversation)


def test_unknown_tool_is_a_protocol_error(target: Target) -> None:
    """Spec: server/tools, "Error Handling"; the connection outlives it."""

    async def conversation(client: Client) -> None:
        with pytest.raises(MCPError, match="search_book") as refused:
            await client.call_tool("search_book", {"query": "dune"})
        assert refused.value.code == -32602
        assert not (await client.call_tool("search_books", {"query": "dune"})).is_error

    use(target, conversation)


def test_fifty_calls_at_once_each_get_their_own_answer(target: Target) -> None:
    """Ours: one connection, or many, never mixes answers up."""

    async def conversation(client: Client) -> None:
        titles = [f"Volume {number}" for number in range(50)]
        results = await asyncio.gather(*(client.call_tool("check_stock", {"title": title}) for title in titles))
        answered = [result.structured_content for result in results]
        assert [content and content["title"] for content in answered] == titles

    use(target, conversation)


def test_a_megabyte_goes_in_and_comes_out(target: Target) -> None:
    """Ours: far below the limits, far above one read of a pipe or socket."""

    async def conversation(client: Client) -> None:
        query = "ж" * (MEGABYTE // 2)
        result = await client.call_tool("search_books", {"query": query})
        assert text_of(result) == f"Found 3 books matching {query!r} (showing up to 10)."

    use(target, conversation)


def test_a_client_of_the_handshake_era_learns_which_revision_to_speak(target: Target) -> None:
    """Ours: `initialize` is refused at once, and the refusal names what is served."""

    async def conversation(client: Client) -> None:
        raise AssertionError("the handshake was answered")

    with pytest.raises(ExceptionGroup) as refused:
        use(target, conversation, "legacy")
    assert VERSION in str(_cause(refused.value))


def _cause(error: BaseException) -> MCPError:
    """Return the protocol error inside the groups that the client wraps around it."""
    while isinstance(error, BaseExceptionGroup):
        [error] = error.exceptions
    assert isinstance(error, MCPError)
    return error
