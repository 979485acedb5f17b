"""The TypeScript SDK's client lists and calls the examples, over stdio and over HTTP, in revision 2026-07-28.

Skipped where Node or the package cannot be had; both are installed once, see `tests/conformance/node.py`.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.conformance.node import CannotInstall, find_node, install
from tests.support.example_calls import CALLS, check, path_of, sent
from tests.support.processes import DEADLINE, ROOT, VERSION, environment, http_server, stdio_command

BOOKSHOP = ROOT / "examples" / "bookshop" / "server.py"
SCRIPT = Path(__file__).with_name("call_tools.mjs")
CLIENT_NODE_MAJOR = 20
LARGE = "ж" * 500_000
PTOLEMY = {"title": "Almagest", "author": "Ptolemy", "year": 150}
PLAN = {
    "search": ("search_books", {"query": "dune", "limit": 5}),
    "stock": ("check_stock", {"title": "Dune"}),
    "tooMany": ("search_books", {"query": "dune", "limit": 999}),
    "tooEarly": ("add_book", {"book": PTOLEMY}),
    "unknown": ("search_book", {"query": "dune"}),
    "large": ("search_books", {"query": LARGE}),
}
TITLES = [f"Volume {number}" for number in range(50)]


@pytest.fixture(scope="module")
def script() -> list[str]:
    """The command that runs the script, up to the folder of its packages."""
    try:
        return [str(find_node(CLIENT_NODE_MAJOR)), str(SCRIPT), str(install("typescript"))]
    except CannotInstall as error:
        pytest.skip(f"no TypeScript client: {error}")


@pytest.fixture(scope="module", params=["stdio", "stdio pinned", "http", "http pinned"])
def report(script: list[str], request: pytest.FixtureRequest) -> dict[str, Any]:
    """What the client got, over each transport, with the version found by server/discover and with it pinned."""
    transport, _, pinned = request.param.partition(" ")
    plan = {
        "calls": [{"name": tool, "arguments": arguments} for tool, arguments in PLAN.values()],
        "together": [{"name": "check_stock", "arguments": {"title": title}} for title in TITLES],
    }
    found = _run(script, VERSION if pinned else "auto", transport, BOOKSHOP, plan)
    return {**found, **dict(zip(PLAN, found["results"], strict=True))}


def _run(script: list[str], mode: str, transport: str, server: str | Path, plan: dict[str, Any]) -> dict[str, Any]:
    if transport == "stdio":
        return _report([*script, mode, "stdio", *stdio_command(server)], plan)
    with http_server(server) as running:
        return _report([*script, mode, "http", running.url], plan)


def _report(command: list[str], plan: dict[str, Any]) -> dict[str, Any]:
    done = subprocess.run(
        command, input=msgspec.json.encode(plan), capture_output=True, timeout=DEADLINE, env=environment(), cwd=ROOT
    )
    assert done.returncode == 0, done.stderr.decode()
    report: dict[str, Any] = msgspec.json.decode(done.stdout)
    return report


@pytest.mark.parametrize("transport", ["stdio", "http"])
@pytest.mark.parametrize("example", CALLS)
def test_every_tool_of_every_example_is_listed_and_called(script: list[str], example: str, transport: str) -> None:
    """Spec: server/tools; content blocks, structured content that the client checks, errors and handles."""
    found = _run(script, "auto", transport, path_of(example), {"calls": sent(CALLS[example])})
    assert found["version"] == VERSION
    check(example, found["tools"], [answer["result"] for answer in found["results"]])


def test_client_speaks_the_modern_revision(report: dict[str, Any]) -> None:
    """Spec: basic/versioning."""
    assert report["version"] == VERSION
    assert report["server"] == {"name": "Bookshop", "version": "1.0.0"}


def test_list_has_schemas_titles_and_annotations(report: dict[str, Any]) -> None:
    """Spec: server/tools, "Listing Tools"."""
    search, add, stock = report["tools"]
    assert [search["name"], add["name"], stock["name"]] == ["search_books", "add_book", "check_stock"]
    assert search["title"] == "Search the catalog"
    assert search["annotations"] == {"readOnlyHint": True, "openWorldHint": False}
    assert add["inputSchema"]["properties"]["book"]["$ref"] == "#/$defs/Book"
    assert stock["outputSchema"]["required"] == ["title", "copies"]


def test_call_returns_text_and_structured_content(report: dict[str, Any]) -> None:
    """Spec: server/tools, "Structured Content"; the client checks it against the output schema."""
    found = "Found 3 books matching 'dune' (showing up to 5)."
    search = report["search"]["result"]
    assert search["content"] == [{"type": "text", "text": found}]
    assert search["structuredContent"] == {"result": found}
    assert report["stock"]["result"]["structuredContent"] == {"title": "Dune", "copies": 4}


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("tooMany", "limit: Input should be less than or equal to 50"),
        ("tooEarly", "book.year: Input should be greater than or equal to 1450"),
    ],
)
def test_bad_arguments_come_back_as_an_error_result(report: dict[str, Any], name: str, sentence: str) -> None:
    """Spec: server/tools, "Error Handling"."""
    result = report[name]["result"]
    assert result["isError"] is True
    assert sentence in result["content"][0]["text"]


def test_unknown_tool_is_a_protocol_error(report: dict[str, Any]) -> None:
    """Spec: server/tools, "Error Handling"."""
    assert report["unknown"]["code"] == -32602
    assert "search_book" in report["unknown"]["message"]


def test_fifty_calls_at_once_each_get_their_own_answer(report: dict[str, Any]) -> None:
    """Ours."""
    answered = [answer["result"]["structuredContent"]["title"] for answer in report["together"]]
    assert answered == TITLES


def test_a_megabyte_goes_in_and_comes_out(report: dict[str, Any]) -> None:
    """Ours."""
    assert LARGE in report["large"]["result"]["content"][0]["text"]
