"""The examples run as their first lines say, and answer what the tutorial promises."""

from __future__ import annotations

import http.client
import subprocess
import sys
from typing import Any

from tests.support.processes import DEADLINE, ROOT, call, encode, environment, http_server, request, run_stdio
from tests.support.spec import read

BOOKSHOP = ROOT / "examples" / "bookshop" / "server.py"
SEARCH = {"query": "dune", "limit": 5}
FOUND = "Found 3 books matching 'dune' (showing up to 5)."


def test_bookshop_answers_on_stdio() -> None:
    """Ours: `leanmcp run FILE`."""
    sent = b"\n".join(encode(message) for message in _conversation()) + b"\n"
    answers, log, exit_code = run_stdio(BOOKSHOP, sent)
    _check({answer["id"]: answer for answer in answers})
    assert (log, exit_code) == ("", 0)


def test_bookshop_answers_as_a_program() -> None:
    """Ours: `python FILE`, which is how a host starts it."""
    sent = b"\n".join(encode(message) for message in _conversation()) + b"\n"
    done = subprocess.run(
        [sys.executable, str(BOOKSHOP)], input=sent, capture_output=True, timeout=DEADLINE, env=environment()
    )
    answers = [read(line) for line in done.stdout.splitlines()]
    _check({answer["id"]: answer for answer in answers})
    assert done.returncode == 0


def test_bookshop_answers_on_http() -> None:
    """Ours: `leanmcp run FILE --http`."""
    with http_server(BOOKSHOP) as server:
        assert '"Bookshop" 3 tools' in server.started
        _check({message["id"]: _post(server.port, message) for message in _conversation()})


def _conversation() -> list[dict[str, Any]]:
    book = {"title": "Dune", "author": "Frank Herbert", "year": 1965}
    return [
        request("tools/list", request_id="list"),
        call("search_books", SEARCH, "search"),
        call("search_books", {**SEARCH, "limit": 999}, "too many"),
        call("add_book", {"book": book}, "add"),
        call("add_book", {"book": {**book, "year": 1000}}, "too early"),
        call("check_stock", {"title": "Dune"}, "stock"),
    ]


def _check(answers: dict[str, dict[str, Any]]) -> None:
    results = {key: answer["result"] for key, answer in answers.items()}
    search, add, stock = results["list"]["tools"]
    assert (search["name"], add["name"], stock["name"]) == ("search_books", "add_book", "check_stock")
    assert search["title"] == "Search the catalog"
    assert search["annotations"] == {"readOnlyHint": True, "openWorldHint": False}
    limit = search["inputSchema"]["properties"]["limit"]
    assert (limit["minimum"], limit["maximum"], limit["default"]) == (1, 50, 10)
    assert add["inputSchema"]["$defs"]["Book"]["required"] == ["title", "author", "year"]

    assert results["search"]["content"] == [{"type": "text", "text": FOUND}]
    assert results["search"]["structuredContent"] == {"result": FOUND}
    assert results["add"]["structuredContent"] == {"result": "Added 'Dune' by Frank Herbert (1965)."}
    assert results["stock"]["structuredContent"] == {"title": "Dune", "copies": 4}
    assert results["too many"]["isError"]
    assert "limit: Input should be less than or equal to 50" in results["too many"]["content"][0]["text"]
    assert results["too early"]["isError"]
    assert "book.year: Input should be greater than or equal to 1450" in results["too early"]["content"][0]["text"]


def _post(port: int, message: dict[str, Any]) -> dict[str, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=DEADLINE)
    headers = {
        "Content-Type": "application/json",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": message["method"],
    }
    if "name" in message["params"]:
        headers["Mcp-Name"] = message["params"]["name"]
    connection.request("POST", "/mcp", encode(message), headers)
    response = connection.getresponse()
    assert response.status == 200
    answer: dict[str, Any] = read(response.read())
    connection.close()
    return answer
