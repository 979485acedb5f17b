"""Several servers behind one object, under the program's own names."""

from __future__ import annotations

import asyncio
import json
import logging
from pathlib import Path
from typing import Any

import pytest

from leanmcp import MCPServer
from leanmcp.client import Client, ClientGroup
from leanmcp.errors import CannotConnect, ConnectionLost, InvalidParams, MCPError
from leanmcp.protocol.outgoing import OutgoingRequest
from tests.support.processes import ROOT, http_server
from tests.support.strange_server import StrangeServer, run, text, tool


def make(name: str) -> MCPServer:
    mcp = MCPServer(name)

    @mcp.tool
    async def search(query: str) -> str:
        """Search."""
        return f"{name}: {query}"

    @mcp.resource("note://{key}")
    async def note(key: str) -> str:
        """Read a note."""
        return f"{name} {key}"

    @mcp.resource("info://about")
    async def about() -> str:
        """Tell what this is."""
        return name

    @mcp.prompt
    async def greet(who: str) -> str:
        """Greet."""
        return f"{name} greets {who}"

    return mcp


class Dead(StrangeServer):
    """A server that nobody can reach until it has been mended."""

    mended = False

    async def start(self) -> None:
        if not self.mended:
            raise CannotConnect("nobody listens there")


class Silent(StrangeServer):
    """A server that never answers."""

    async def start(self) -> None:
        await asyncio.Event().wait()


def test_tools_of_one_name_are_told_apart_by_local_names() -> None:
    """Spec: server/tools, "Tool Names": aggregators SHOULD disambiguate, not by the names servers give themselves."""

    async def main() -> None:
        async with ClientGroup({"books": make("same"), "films": make("same")}) as group:
            assert [entry.name async for entry in group.tools()] == ["books.search", "films.search"]
            page = await group.list_tools()
            assert [entry.name for entry in page.tools] == ["books.search", "films.search"]
            assert page.next_cursor is None
            result = await group.call_tool("films.search", {"query": "dune"})
            assert result.structured_content == {"result": "same: dune"}
            assert await group.call_tool("books.search", {"query": "x"}, type=str) == "same: x"

    run(main())


def test_prompts_and_resources_find_their_way() -> None:
    """Ours: local names for prompts, local URIs for resources."""

    async def main() -> None:
        async with ClientGroup({"a": make("A"), "b": make("B")}) as group:
            assert [prompt.name for prompt in (await group.list_prompts()).prompts] == ["a.greet", "b.greet"]
            messages = (await group.get_prompt("b.greet", {"who": "Anna"})).messages
            assert messages[0].content.text == "B greets Anna"  # type: ignore[union-attr]

            uris = [resource.uri for resource in (await group.list_resources()).resources]
            assert uris == ["a.info://about", "b.info://about"]
            assert (await group.read_resource(uris[1])).contents[0].text == "B"  # type: ignore[union-attr]
            # A link in a result has the server's own URI.
            read = await group.read_resource("info://about", server="a")
            assert read.contents[0].text == "A"  # type: ignore[union-attr]
            templates = (await group.list_resource_templates()).resource_templates
            assert [template.uri_template for template in templates] == ["a.note://{key}", "b.note://{key}"]

            with pytest.raises(InvalidParams, match="server='c': this group has a, b"):
                await group.read_resource("info://about", server="c")

    run(main())


def test_name_that_is_no_servers_is_told() -> None:
    """Ours: the text says how names begin."""

    async def main() -> None:
        async with ClientGroup({"a": make("A"), "b": make("B")}) as group:
            for name in ("search", "c.search", "asearch", ""):
                with pytest.raises(InvalidParams, match=r"names begin with 'a\.', 'b\.'"):
                    await group.call_tool(name)

    run(main())


def test_separator_can_be_chosen_and_names_may_contain_it() -> None:
    """Ours: model APIs that take no dots; the first separator counts."""

    async def main() -> None:
        there = StrangeServer(tool("x__y"), results={"x__y": text("found")})
        async with ClientGroup({"one": there}, separator="__") as group:
            assert [entry.name async for entry in group.tools()] == ["one__x__y"]
            assert (await group.call_tool("one__x__y")).content

    run(main())


@pytest.mark.parametrize("label", ["", "a.b", "1a", "a b", "ä", "x" * 65, "a/b"])
def test_label_that_is_none_is_refused(label: str) -> None:
    """Ours: each local name stays a name, and each local URI a URI."""
    with pytest.raises(ValueError, match="label"):
        ClientGroup({label: make("A")})


def test_labels_that_cannot_be_told_apart_are_refused() -> None:
    """Ours: `a` and `a_` with `__` between would both begin `a___b`."""
    with pytest.raises(ValueError, match="cannot be told apart from 'a'"):
        ClientGroup({"a": make("A"), "a_": make("B")}, separator="__")
    with pytest.raises(ValueError, match="separator"):
        ClientGroup(separator="")


def test_server_that_fails_takes_nothing_from_the_others(caplog: pytest.LogCaptureFixture) -> None:
    """Ours: one is dead, one is silent, the third works; the failures say so."""

    async def main() -> None:
        there = Dead(tool("get"), results={"get": text("back")})
        servers = {"dead": there, "silent": Silent(), "good": make("A")}
        async with ClientGroup(servers, connect_timeout=0.1) as group:
            assert [entry.name async for entry in group.tools()] == ["good.search"]
            assert set(group.clients) == {"good"}
            assert set(group.failures) == {"dead", "silent"}
            assert isinstance(group.failures["dead"], CannotConnect)
            assert "did not answer within 0.1 seconds" in str(group.failures["silent"])
            with pytest.raises(CannotConnect, match="nobody listens there"):
                await group.call_tool("dead.get")
            there.mended = True
            assert (await group.call_tool("dead.get")).content  # tried again by the call
            assert set(group.failures) == {"silent"}
            assert [entry.name async for entry in group.tools()] == ["dead.get", "good.search"]

    with caplog.at_level(logging.WARNING, "leanmcp"):
        run(main())
    assert "server 'dead' is left out: nobody listens there" in caplog.text


def test_list_that_fails_is_left_out(caplog: pytest.LogCaptureFixture) -> None:
    """Ours: lists are asked for side by side, and each fails alone."""

    class Broken(StrangeServer):
        is_broken = True

        async def request(self, request: OutgoingRequest) -> bytes:
            if request.method == "tools/list" and self.is_broken:
                raise ConnectionLost("it has gone")
            return await super().request(request)

    async def main() -> None:
        there = Broken(tool("get"))
        async with ClientGroup({"bad": there, "good": make("A")}, cache=False) as group:
            assert [entry.name async for entry in group.tools()] == ["good.search"]
            assert isinstance(group.failures["bad"], ConnectionLost)
            there.is_broken = False
            assert [entry.name async for entry in group.tools()] == ["bad.get", "good.search"]
            assert group.failures == {}

    with caplog.at_level(logging.WARNING, "leanmcp"):
        run(main())
    assert "the list of server 'bad' is left out: it has gone" in caplog.text


@pytest.mark.parametrize("mode", ["auto", "2026-07-28"])
def test_servers_without_prompts_are_no_failure(mode: str) -> None:
    """Ours: method not found says that there are none, also where nobody has asked what the server can do."""

    async def main() -> None:
        mcp = MCPServer("bare")
        async with ClientGroup({"bare": mcp, "good": make("A")}, mode=mode) as group:
            assert [prompt.name async for prompt in group.prompts()] == ["good.greet"]
            assert group.failures == {}

    run(main())


def test_servers_connect_side_by_side() -> None:
    """Ours: each waits for the other here, so that one after the other would never end."""
    both = asyncio.Event()
    started: list[str] = []

    class Meeting(StrangeServer):
        async def start(self) -> None:
            started.append(self.where)
            if len(started) == 2:
                both.set()
            await both.wait()

    async def main() -> None:
        async with ClientGroup({"a": Meeting(where="a"), "b": Meeting(where="b")}) as group:
            assert set(group.clients) == {"a", "b"}

    run(main())


def test_servers_come_and_go_at_run_time() -> None:
    """Ours: add and remove; a server that cannot be reached is not added."""

    async def main() -> None:
        async with ClientGroup({"a": make("A")}) as group:
            client = await group.add("b", make("B"))
            assert isinstance(client, Client)
            assert group["b"] is client
            assert [entry.name async for entry in group.tools()] == ["a.search", "b.search"]
            with pytest.raises(CannotConnect):
                await group.add("dead", Dead())
            with pytest.raises(ValueError, match="cannot be told apart from 'b'"):
                await group.add("b", make("B"))
            await group.remove("a")
            assert [entry.name async for entry in group.tools()] == ["b.search"]
            with pytest.raises(InvalidParams):
                await group.call_tool("a.search", {"query": "x"})
            await group.add("a", make("A"))
            assert await group.call_tool("a.search", {"query": "x"}, type=str) == "A: x"
        with pytest.raises(RuntimeError, match="async with ClientGroup"):
            await group.call_tool("a.search", {"query": "x"})

    run(main())


class Closable(StrangeServer):
    """A server that knows whether it was let go of."""

    is_closed = False

    async def close(self) -> None:
        self.is_closed = True


class Slow(Closable):
    """A server that starts when it may."""

    may_start: asyncio.Event

    async def start(self) -> None:
        self.may_start = asyncio.Event()
        await self.may_start.wait()


def test_entering_that_is_cancelled_closes_every_server() -> None:
    """Ours: those that were connected, and those that were about to be."""

    async def main() -> None:
        servers = {"fast": Closable(), "slow": Slow()}
        group = ClientGroup(servers)
        entering = asyncio.ensure_future(group.__aenter__())
        while not group.clients:
            await asyncio.sleep(0)
        entering.cancel()
        with pytest.raises(asyncio.CancelledError):
            await entering
        assert [server.is_closed for server in servers.values()] == [True, True]
        with pytest.raises(RuntimeError, match="the group is not connected"):
            await group.list_tools()

    run(main())


def test_server_that_is_taken_out_while_it_connects_is_let_go_of() -> None:
    """Ours: nobody would close it later."""

    async def main() -> None:
        slow = Slow()
        async with ClientGroup() as group:
            adding = asyncio.ensure_future(group.add("slow", slow))
            while not hasattr(slow, "may_start"):
                await asyncio.sleep(0)
            await group.remove("slow")
            slow.may_start.set()
            with pytest.raises(ConnectionLost):
                await adding
            assert slow.is_closed
            assert group.clients == {}

    run(main())


def test_closing_that_is_cancelled_closes_every_server() -> None:
    """Ours: be it in the very moment in which closing begins."""

    async def main() -> None:
        for turns in range(3):
            servers = {label: Closable(where=label) for label in "abc"}
            group = ClientGroup(servers)
            await group.__aenter__()
            closing = asyncio.ensure_future(group.close())
            for _ in range(turns):
                await asyncio.sleep(0)
            if turns:  # a task that has not begun does nothing
                closing.cancel()
            await asyncio.wait((closing,))
            assert [server.is_closed for server in servers.values()] == [True] * 3
            assert group.clients == {}

    run(main())


def test_server_whose_client_was_closed_is_connected_again() -> None:
    """Ours: closing one client by itself takes nothing away from the others, nor for ever from this one."""

    async def main() -> None:
        async with ClientGroup({"a": make("A"), "b": make("B")}) as group:
            await group["a"].close()
            assert list(group.clients) == ["b"]
            assert [entry.name async for entry in group.tools()] == ["b.search"]
            assert await group.call_tool("a.search", {"query": "x"}, type=str) == "A: x"
            assert [entry.name async for entry in group.tools()] == ["a.search", "b.search"]

    run(main())


def test_labels_reach_questions_pins_and_audit(tmp_path: Path) -> None:
    """Ours: options of the group hold for every server, under its label; a Client keeps its own."""
    path = tmp_path / "audit.jsonl"
    pins: dict[str, Any] = {}
    own: list[str] = []

    async def main() -> None:
        mine = Client(make("B"), on_call=lambda name, arguments: own.append(name))
        async with ClientGroup({"a": make("A"), "b": mine}, audit=path, pin=pins) as group:
            await group.call_tool("a.search", {"query": "x"})
            await group.call_tool("b.search", {"query": "x"})
            await group.add("c", make("C"), pin=None)
            await group.call_tool("c.search", {"query": "x"})

    run(main())
    records = [json.loads(line) for line in path.read_bytes().splitlines()]
    assert [(record["server"], record["tool"]) for record in records] == [("a", "search"), ("c", "search")]
    assert set(pins) == {"a"}
    assert own == ["search"]


def test_closing_survives_a_server_that_cannot_be_closed(caplog: pytest.LogCaptureFixture) -> None:
    """Ours: the others are closed all the same, and nothing is raised."""
    closed: list[str] = []

    class Stuck(StrangeServer):
        async def close(self) -> None:
            raise RuntimeError("stuck")

    class Good(StrangeServer):
        async def close(self) -> None:
            closed.append(self.where)

    async def main() -> None:
        group = ClientGroup({"stuck": Stuck(), "good": Good()})
        async with group:
            pass
        await group.close()

    run(main())
    assert closed == ["a strange server"]
    assert "server 'stuck' could not be closed" in caplog.text


def test_group_spans_transports() -> None:
    """Ours: a server over HTTP beside one in this process, told apart by label."""

    async def main(url: str) -> None:
        async with ClientGroup({"shop": url, "here": make("A")}) as group:
            names = [entry.name async for entry in group.tools()]
            assert "shop.search_books" in names
            assert "here.search" in names
            assert (await group.call_tool("shop.check_stock", {"title": "Dune"})).structured_content == {
                "title": "Dune",
                "copies": 4,
            }
            with pytest.raises(MCPError):
                await group.call_tool("shop.nothing")

    with http_server(ROOT / "examples" / "bookshop" / "server.py") as server:
        run(main(server.url))
