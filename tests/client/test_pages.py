"""All pages of a list."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from leanmcp.client import pages
from leanmcp.errors import InvalidParams, InvalidResult
from tests.support.scripted import Failure, Scripted


def tool(name: str) -> dict[str, Any]:
    """Return a definition."""
    return {"name": name, "inputSchema": {"type": "object"}}


def server(listed: dict[str | None, tuple[list[str], str | None]], ttl: int = 0) -> Scripted:
    """Return a server whose tools/list has these pages: cursor to names and next cursor."""

    def answer(method: str, params: dict[str, Any]) -> Any:
        if method != "tools/list":
            return None
        found = listed.get(params.get("cursor"))
        if found is None:
            raise Failure(-32602, "Invalid cursor")
        page: dict[str, Any] = {"tools": [tool(name) for name in found[0]], "ttlMs": ttl, "cacheScope": "private"}
        return page if found[1] is None else {**page, "nextCursor": found[1]}

    return Scripted(answer)


async def _names(client: Any) -> list[str]:
    return [found.name async for found in client.tools()]


def _run(transport: Scripted) -> list[str]:
    async def main() -> list[str]:
        async with asyncio.timeout(10), transport.client() as client:
            return await _names(client)

    return asyncio.run(main())


def test_every_page_is_read_and_an_empty_cursor_is_no_end() -> None:
    """Spec: server/utilities/pagination, "Implementation Guidelines" 3; FIELD 123."""
    transport = server({None: (["a"], ""), "": (["b"], " x\n"), " x\n": ([], "z"), "z": (["c"], None)})
    assert _run(transport) == ["a", "b", "c"]
    assert [message["params"].get("cursor") for message in transport.requests] == [None, "", " x\n", "z"]


@pytest.mark.parametrize("listed", [{None: (["a"], "x"), "x": (["b"], "x")}, {None: (["a"], ""), "": (["b"], "")}])
def test_a_repeated_cursor_is_an_error(listed: Any) -> None:
    """Ours: FIELD 123, a server that repeats a cursor must not make an endless loop."""
    with pytest.raises(InvalidResult, match=r"does not end.*twice"):
        _run(server(listed))


def test_an_endless_list_ends_at_the_cap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: FEATURES N7."""

    def answer(method: str, params: dict[str, Any]) -> Any:
        if method == "tools/list":
            number = int(params.get("cursor", 0))
            return {"tools": [tool(f"t{number}")], "nextCursor": str(number + 1)}
        return None

    with pytest.raises(InvalidResult, match="more than 1000 pages"):
        _run(Scripted(answer))
    assert pages.MAX_PAGES == 1000


def test_a_cursor_that_is_no_longer_valid_starts_the_list_again() -> None:
    """Spec: server/utilities/caching, "Interaction with Pagination": discard all cached pages, and begin again."""

    async def main() -> None:
        listed: dict[str | None, Any] = {None: (["a"], "x"), "x": (["b"], "y"), "y": (["c"], None)}
        transport = server(listed, ttl=60_000)
        async with asyncio.timeout(10), transport.client() as client:
            assert await _names(client) == ["a", "b", "c"]
            assert await _names(client) == ["a", "b", "c"]
            assert len(transport.requests) == 3
            await client.list_tools(cursor="x", cache_mode="refresh")
            listed.clear()
            listed.update({None: (["a", "d"], "p"), "p": (["b"], None)})
            with pytest.raises(InvalidParams):
                await client.list_tools(cursor="x", cache_mode="refresh")
            assert await _names(client) == ["a", "d", "b"]

            listed.clear()
            listed.update({None: (["a", "e"], "q"), "q": (["f"], None)})
            await client.list_tools(cache_mode="bypass")
            client._view._cache.drop_where(client._view._server, "tools/list", lambda cursor: cursor == "p")  # type: ignore[union-attr]
            assert await _names(client) == ["a", "d", "e", "f"]

    asyncio.run(main())


def test_the_other_lists_have_iterators_too() -> None:
    """Ours."""

    def answer(method: str, params: dict[str, Any]) -> Any:
        more = {} if params.get("cursor") else {"nextCursor": "1"}
        number = params.get("cursor", "0")
        return {
            "resources/list": {"resources": [{"uri": f"a:{number}", "name": "n"}], **more},
            "resources/templates/list": {"resourceTemplates": [{"uriTemplate": f"b:{number}", "name": "n"}], **more},
            "prompts/list": {"prompts": [{"name": f"c{number}"}], **more},
        }.get(method)

    async def main() -> None:
        async with asyncio.timeout(10), Scripted(answer).client() as client:
            assert [found.uri async for found in client.resources()] == ["a:0", "a:1"]
            assert [found.uri_template async for found in client.resource_templates()] == ["b:0", "b:1"]
            assert [found.name async for found in client.prompts()] == ["c0", "c1"]

    asyncio.run(main())
