"""Lists in pages, and the cursors that lead from one to the next."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leanmcp import MCPServer
from leanmcp.errors import InvalidParams
from leanmcp.server import CacheHint
from leanmcp.server.lists import DEFAULT_HINT, Cursors, Pages, Registry
from tests.support.spec import request


async def noop() -> str:
    """Do nothing."""
    return ""


def server(*names: str, page_size: int = 2, **options: Any) -> MCPServer:
    """Return a server with a tool of each name."""
    mcp = MCPServer("pages", page_size=page_size, **options)
    for name in names:
        mcp.add_tool(noop, name)
    return mcp


def page(mcp: MCPServer, cursor: str | None = None) -> dict[str, Any]:
    """Return the whole response to one tools/list."""
    params = {} if cursor is None else {"cursor": cursor}
    return asyncio.run(request(mcp, "tools/list", params))


def names(answer: dict[str, Any]) -> list[str]:
    """Return the names on a page."""
    return [tool["name"] for tool in answer["result"]["tools"]]


def every_page(mcp: MCPServer) -> list[list[str]]:
    """Return the names on all pages, as a client walks them."""
    answer = page(mcp)
    pages = [names(answer)]
    while "nextCursor" in answer["result"]:
        answer = page(mcp, answer["result"]["nextCursor"])
        pages.append(names(answer))
    return pages


@pytest.mark.parametrize(
    ("size", "pages"),
    [
        (0, [["a", "b", "c", "d"]]),
        (1, [["a"], ["b"], ["c"], ["d"]]),
        (2, [["a", "b"], ["c", "d"]]),
        (3, [["a", "b", "c"], ["d"]]),
        (4, [["a", "b", "c", "d"]]),
        (9, [["a", "b", "c", "d"]]),
    ],
)
def test_pages_hold_every_tool_once_and_the_last_has_no_cursor(size: int, pages: list[list[str]]) -> None:
    """Spec: server/utilities/pagination, "Response Format"; FIELD row 123."""
    assert every_page(server(*"abcd", page_size=size)) == pages


@pytest.mark.parametrize("size", [0, 2])
def test_empty_list_is_one_page(size: int) -> None:
    """Spec: server/tools, "Capabilities": the set may be empty."""
    assert every_page(server(page_size=size)) == [[]]


def test_adding_and_removing_between_pages_neither_skips_nor_repeats() -> None:
    """Ours: FIELD row 124."""
    mcp = server(*"abcdef")
    cursor = page(mcp)["result"]["nextCursor"]
    mcp.remove_tool("a")
    mcp.remove_tool("b")  # the very entry that the cursor names
    mcp.remove_tool("d")
    mcp.add_tool(noop, "g")
    second = page(mcp, cursor)
    assert names(second) == ["c", "e"]
    assert names(page(mcp, second["result"]["nextCursor"])) == ["f", "g"]


def test_cursor_behind_everything_gives_an_empty_last_page() -> None:
    """Ours: what was behind it has been removed."""
    mcp = server(*"abc")
    cursor = page(mcp)["result"]["nextCursor"]
    mcp.remove_tool("c")
    last = page(mcp, cursor)["result"]
    assert last["tools"] == []
    assert "nextCursor" not in last


def test_cursor_is_good_in_every_process_that_registered_the_same_tools() -> None:
    """Ours: cursors hold all that they mean; any worker answers any page."""
    first, second = server(*"abc"), server(*"abc")
    assert names(page(second, page(first)["result"]["nextCursor"])) == ["c"]


def test_every_page_has_the_same_scope_and_time() -> None:
    """Spec: server/utilities/caching, "Interaction with Pagination"; FIELD row 131."""
    mcp = server(*"abc", cache_hints={"tools/list": CacheHint(ttl_ms=7, scope="public")})
    first = page(mcp)["result"]
    second = page(mcp, first["nextCursor"])["result"]
    assert {(answer["cacheScope"], answer["ttlMs"]) for answer in (first, second)} == {("public", 7)}
    assert list(first)[:3] == ["resultType", "tools", "nextCursor"]


def test_page_is_encoded_once_for_each_state_of_the_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: answered as prefix, id, suffix."""
    mcp = server(*"abc")
    pages = every_page(mcp)

    def fail(*_: Any) -> None:
        raise AssertionError("encoded again")

    monkeypatch.setattr("leanmcp.server.lists.EncodedResult", fail)
    assert every_page(mcp) == pages


def test_kept_pages_stay_few_whatever_cursors_come() -> None:
    """Ours: anybody can make a cursor to any place; that fills no memory."""
    mcp = server(*[f"t{number}" for number in range(200)], page_size=50)
    cursors = Cursors("tools/list", "pages")
    for serial in range(200):
        page(mcp, cursors.make(serial))
    assert len(mcp._tool_pages._encoded) < 30


# Cursors ------------------------------------------------------------------------------------------------------------


def cursor_code(cursor: str) -> int:
    """Return the error code that a cursor answers, 0 for a page."""
    answer = page(server(*"abc"), cursor)
    return int(answer["error"]["code"]) if "error" in answer else 0


def test_tampered_cursor_is_invalid_params() -> None:
    """Ours: a checksum finds each change of one character, each cut and each addition."""
    cursor = page(server(*"abc"))["result"]["nextCursor"]
    assert cursor_code(cursor) == 0
    for at in range(len(cursor)):
        other = "A" if cursor[at] != "A" else "B"
        assert cursor_code(cursor[:at] + other + cursor[at + 1 :]) == -32602
    for changed in (cursor[:-1], cursor + "A", cursor + "=", cursor + "\n", " " + cursor, cursor.swapcase()):
        assert cursor_code(changed) == -32602


def test_cursor_of_another_list_or_server_is_invalid_params() -> None:
    """Ours: a cursor names its list, and the checksum its server."""
    mine = Cursors("tools/list", "pages")
    with pytest.raises(InvalidParams, match="belongs to prompts/list"):
        mine.read(Cursors("prompts/list", "pages").make(2))
    with pytest.raises(InvalidParams, match="Unknown cursor"):
        mine.read(Cursors("tools/list", "other").make(2))
    assert cursor_code(Cursors("prompts/list", "pages").make(2)) == -32602


@pytest.mark.parametrize("cursor", ["", " ", "eyJwYWdlIjogMn0=", "2", "\ud800", "é" * 20, "A" * 200, "=", "-_-_"])
def test_foreign_cursor_is_invalid_params(cursor: str) -> None:
    """Spec: server/utilities/pagination, "Error Handling"; the empty string is none of ours, and never issued."""
    with pytest.raises(InvalidParams):
        Cursors("tools/list", "pages").read(cursor)


@pytest.mark.parametrize("cursor", ["null", "5", "[]", "{}", "true"])
def test_cursor_that_is_no_string_is_invalid_params(cursor: str) -> None:
    """Spec: schema page, `PaginatedRequestParams`."""
    params = {"cursor": msgspec.json.decode(cursor)}
    answer = asyncio.run(request(server(*"abc"), "tools/list", params))
    assert answer["error"]["code"] == -32602


@given(st.text() | st.text(alphabet="ABCDEFabcdef0123456789-_", max_size=60))
def test_any_string_is_a_cursor_or_invalid_params(cursor: str) -> None:
    """Ours: property, nothing else is ever raised."""
    cursors = Cursors("tools/list", "pages")
    try:
        serial = cursors.read(cursor)
    except InvalidParams:
        return
    assert cursors.make(serial) == cursor


@given(st.integers(0, 10**18 - 1), st.text(max_size=10))
def test_cursor_comes_back_as_it_was_made(serial: int, name: str) -> None:
    """Ours: property, round trip."""
    cursors = Cursors("resources/templates/list", name)
    cursor = cursors.make(serial)
    assert cursor != ""
    assert cursors.read(cursor) == serial


@given(st.lists(st.tuples(st.sampled_from(["add", "remove", "toggle", "turn"]), st.integers(0, 9)), max_size=25))
def test_a_walk_over_a_changing_list_shows_what_stayed_exactly_once(steps: list[tuple[str, int]]) -> None:
    """Ours: property, FIELD row 124: no repeats; what was there from beginning to end is seen."""

    class Entry(msgspec.Struct):
        name: str

        @property
        def entry(self) -> object:
            return self

    registry: Registry[Entry] = Registry("entry", lambda: None)
    for number in range(6):
        registry.add(Entry(f"e{number}"))
    always = {entry.name for entry in registry}
    pages = Pages(
        "tools/list",
        "tools",
        registry,
        page_size=2,
        hint=DEFAULT_HINT,
        server_name="x",
        server_info=b"{}",
    )
    seen: list[str] = []
    cursor: Any = msgspec.UNSET

    def turn() -> bool:
        nonlocal cursor
        if cursor is None:
            return False
        result = msgspec.json.decode(b"".join(pages.answer(cursor, 1)))["result"]
        seen.extend(entry["name"] for entry in result["tools"])
        cursor = result.get("nextCursor")
        return cursor is not None

    serial = 6
    enabled = dict.fromkeys(always, True)
    for step, number in steps:
        present = list(enabled)
        if step == "turn":
            turn()
        elif step == "add":
            registry.add(Entry(f"e{serial}"))
            enabled[f"e{serial}"] = True
            serial += 1
        elif present and step == "remove":
            name = present[number % len(present)]
            registry.remove(name)
            del enabled[name]
            always.discard(name)
        elif present:
            name = present[number % len(present)]
            enabled[name] = not enabled[name]
            registry.set_enabled(name, enabled[name])
            always.discard(name)
    while turn():
        pass
    assert len(seen) == len(set(seen))
    assert always <= set(seen)


@pytest.mark.parametrize("size", [-1, True, 1.5, "2", None])
def test_page_size_must_be_a_number(size: Any) -> None:
    """Ours: a mistake in an option is told at once."""
    with pytest.raises(ValueError, match="page_size"):
        MCPServer("x", page_size=size)
