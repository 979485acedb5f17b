"""subscriptions/listen: the acknowledgement, what is told to whom, and the end; on the line endpoint."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from leanmcp import Context, MCPServer
from leanmcp.server import subscriptions
from tests.support.lines import Lines, cancelled, run
from tests.support.listening import (
    ACKNOWLEDGED,
    ALL,
    PROMPTS,
    RESOURCES,
    SUBSCRIPTION_ID,
    TOOLS,
    UPDATED,
    listen,
    open_streams,
    same_id,
    told,
)
from tests.support.processes import call, request
from tests.support.subscribing import settle, tool

IDS = [1, 0, -7, 2**70, "1", "", "listen-1", "ü\n\U0001f600"]


@pytest.fixture
def mcp() -> MCPServer:
    """A server that serves all three lists, resources with updates."""
    server = MCPServer("changing", version="1.0")
    server.add_tool(tool)
    server.declare("prompts", {"listChanged": True})
    server.declare("resources", {"listChanged": True, "subscribe": True})
    return server


# --- the acknowledgement ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("request_id", IDS)
def test_every_message_of_a_stream_carries_the_id_of_its_request(mcp: MCPServer, request_id: int | str) -> None:
    """Spec: basic/patterns/subscriptions, "Receiving Notifications"; type and value, on the result too."""

    async def conversation(lines: Lines) -> None:
        lines.send(listen(request_id, uris=["file:///a"], **ALL))
        mcp.notify_tools_changed()
        mcp.notify_prompts_changed()
        mcp.notify_resources_changed()
        mcp.notify_resource_updated("file:///a")
        await lines.message(4)
        lines.endpoint.send(lines.endpoint.end_streams())
        methods = [message.get("method") for message in lines.messages]
        assert methods == [ACKNOWLEDGED, TOOLS, PROMPTS, RESOURCES, UPDATED, None, "notifications/cancelled"]
        assert all(same_id(message, request_id) for message in lines.messages)
        result, notice = lines.messages[5:]
        assert (type(result["id"]), result["id"]) == (type(request_id), request_id)
        assert notice["params"]["requestId"] == request_id

    run(mcp, conversation)


@pytest.mark.parametrize(
    ("wanted", "honoured"),
    [
        ({"toolsListChanged": True}, {"toolsListChanged": True}),
        ({"toolsListChanged": False}, {}),
        ({"toolsListChanged": True, "promptsListChanged": True}, {"toolsListChanged": True}),
        ({"resourcesListChanged": True, "resourceSubscriptions": ["file:///a"]}, {}),
        ({"resourceSubscriptions": []}, {}),
        ({"unknown": True, "toolsListChanged": True}, {"toolsListChanged": True}),
    ],
)
def test_acknowledgement_holds_what_is_served_of_what_was_asked_for(
    wanted: dict[str, Any], honoured: dict[str, Any]
) -> None:
    """Spec: basic/patterns/subscriptions, "Acknowledgment"; this server has tools alone."""

    async def conversation(lines: Lines) -> None:
        lines.send(request("subscriptions/listen", {"notifications": wanted}))
        assert (await lines.message(0))["method"] == ACKNOWLEDGED
        assert lines.messages[0]["params"] == {"_meta": {SUBSCRIPTION_ID: 1}, "notifications": honoured}
        assert len(lines.messages) == 1

    run(MCPServer("tools alone"), conversation)


def test_acknowledgement_repeats_a_filter_that_is_served_whole(mcp: MCPServer) -> None:
    """Spec: basic/patterns/subscriptions, "Acknowledgment"; a URI that was named twice is there once."""

    async def conversation(lines: Lines) -> None:
        uris = ["file:///a", "b:ä", "file:///a"]
        lines.send(listen(uris=uris, **ALL))
        granted = (await lines.message(0))["params"]["notifications"]
        assert granted == {**ALL, "resourceSubscriptions": ["file:///a", "b:ä"]}

    run(mcp, conversation)


@pytest.mark.parametrize(("subscribe", "list_changed"), [(True, False), (False, True)])
def test_updates_and_list_of_resources_are_honoured_apart(subscribe: bool, list_changed: bool) -> None:
    """Spec: server/resources, "Capabilities"; either feature, both or none."""
    mcp = MCPServer("half")
    mcp.declare("resources", {"subscribe": subscribe, "listChanged": list_changed})

    async def conversation(lines: Lines) -> None:
        lines.send(listen(uris=["a:1"], resourcesListChanged=True))
        granted = (await lines.message(0))["params"]["notifications"]
        assert granted == ({"resourceSubscriptions": ["a:1"]} if subscribe else {"resourcesListChanged": True})

    run(mcp, conversation)


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"notifications": None},
        {"notifications": []},
        {"notifications": {"toolsListChanged": 1}},
        {"notifications": {"resourceSubscriptions": "file:///a"}},
        {"notifications": {"resourceSubscriptions": [1]}},
    ],
)
def test_malformed_filter_is_refused(mcp: MCPServer, params: dict[str, Any]) -> None:
    """Spec: schema, SubscriptionFilter; -32602 with the id, and no stream."""

    async def conversation(lines: Lines) -> None:
        lines.send(request("subscriptions/listen", params, "x"))
        assert lines.messages[0]["error"]["code"] == -32602
        assert (lines.messages[0]["id"], open_streams(mcp)) == ("x", 0)

    run(mcp, conversation)


# --- what is told to whom ---------------------------------------------------------------------------------------------


def test_only_what_was_asked_for_is_sent(mcp: MCPServer) -> None:
    """Spec: basic/patterns/subscriptions, "Opening a Stream"; a stream for each kind, and one for none."""

    async def conversation(lines: Lines) -> None:
        lines.send(listen("tools", toolsListChanged=True))
        lines.send(listen("prompts", promptsListChanged=True, toolsListChanged=False))
        lines.send(listen("resources", resourcesListChanged=True))
        lines.send(listen("updates", uris=["a:1"]))
        lines.send(listen("none", toolsListChanged=False))
        mcp.notify_tools_changed()
        mcp.notify_prompts_changed()
        mcp.notify_resources_changed()
        mcp.notify_resource_updated("a:1")
        await settle(lines)
        assert sorted(told(lines.messages)) == [
            ("prompts", PROMPTS),
            ("resources", RESOURCES),
            ("tools", TOOLS),
            ("updates", "a:1"),
        ]

    run(mcp, conversation)


def test_updates_reach_those_who_named_exactly_that_uri(mcp: MCPServer) -> None:
    """Spec: basic/patterns/subscriptions, "Notification Filter"."""

    async def conversation(lines: Lines) -> None:
        lines.send(listen(1, uris=["file:///a", "file:///b"]), listen(2, uris=["file:///b"]), listen(3))
        for uri in ("file:///a", "file:///b", "file:///", "file:///a/", "FILE:///a", "file:///c", ""):
            mcp.notify_resource_updated(uri)
        await settle(lines)
        assert sorted(told(lines.messages)) == [(1, "file:///a"), (1, "file:///b"), (2, "file:///b")]

    run(mcp, conversation)


def test_uri_comes_back_as_it_was_named(mcp: MCPServer) -> None:
    """Ours: quotes, line feeds and what is not ASCII."""
    uri = 'note:"ü"\n\\\U0001f600'

    async def conversation(lines: Lines) -> None:
        lines.send(listen(uris=[uri]))
        mcp.notify_resource_updated(uri)
        assert (await lines.message(1))["params"]["uri"] == uri

    run(mcp, conversation)


def test_a_change_from_before_is_not_told(mcp: MCPServer) -> None:
    """Ours: a stream is told of what happens from its acknowledgement on; the client lists behind it."""

    async def conversation(lines: Lines) -> None:
        lines.send(listen("early"))
        mcp.add_tool(tool, "first")
        lines.send(listen("late"))
        await settle(lines)
        assert told(lines.messages) == [("early", TOOLS)]

    run(mcp, conversation)


def test_registration_tells_by_itself(mcp: MCPServer) -> None:
    """Ours: FIELD 121; adding, replacing, hiding, showing and removing; what changes nothing tells nothing."""

    async def conversation(lines: Lines) -> None:
        lines.send(listen())
        count = 0
        changes: tuple[Callable[[], None], ...] = (
            lambda: mcp.add_tool(tool, "other"),
            lambda: mcp.add_tool(tool, "other", replace=True),
            lambda: mcp.disable_tool("other"),
            lambda: mcp.enable_tool("other"),
            lambda: mcp.remove_tool("other"),
        )
        for change in changes:
            change()
            count += 1
            assert (await lines.message(count))["method"] == TOOLS
        mcp.enable_tool("tool")
        with pytest.raises(ValueError, match="registered already"):
            mcp.add_tool(tool)
        await settle(lines)
        assert len(told(lines.messages)) == count

    run(mcp, conversation)


def test_prompts_and_resources_tell_by_themselves() -> None:
    """Spec: server/prompts and server/resources, "List Changed Notification"; declared with the first of them."""
    mcp = MCPServer("growing")

    def text() -> str:
        """Return a text."""
        return "text"

    def named(name: str) -> str:
        """Return a name."""
        return name

    async def conversation(lines: Lines) -> None:
        lines.send(listen("too early", promptsListChanged=True, resourcesListChanged=True))
        assert (await lines.message(0))["params"]["notifications"] == {}
        mcp.add_prompt(text, "first")
        mcp.add_resource(text, "a:1")
        lines.send(listen(1, promptsListChanged=True, resourcesListChanged=True, toolsListChanged=False))
        granted = (await lines.message(1))["params"]["notifications"]
        assert granted == {"promptsListChanged": True, "resourcesListChanged": True}
        changes: tuple[tuple[Callable[[], None], str], ...] = (
            (lambda: mcp.add_prompt(text, "second"), PROMPTS),
            (lambda: mcp.add_resource(text, "a:2"), RESOURCES),
            (lambda: mcp.add_resource(named, "a:{name}"), RESOURCES),
            (lambda: mcp.disable_prompt("second"), PROMPTS),
            (lambda: mcp.disable_resource("a:2"), RESOURCES),
            (lambda: mcp.remove_prompt("first"), PROMPTS),
            (lambda: mcp.remove_resource("a:1"), RESOURCES),
        )
        for number, (change, method) in enumerate(changes):
            change()
            assert told([await lines.message(number + 2)]) == [(1, method)]
        assert len(lines.messages) == len(changes) + 2

    run(mcp, conversation)


def test_the_list_is_new_when_its_change_is_told(mcp: MCPServer) -> None:
    """Ours: a client that lists at once sees what has changed."""

    async def conversation(lines: Lines) -> None:
        lines.send(listen(), request("tools/list", {}, "before"))
        mcp.add_tool(tool, "added")
        assert (await lines.message(2))["method"] == TOOLS
        lines.send(request("tools/list", {}, "after"))
        before, after = [(await lines.answer(key))["result"]["tools"] for key in ("before", "after")]
        assert [entry["name"] for entry in before] == ["tool"]
        assert [entry["name"] for entry in after] == ["tool", "added"]

    run(mcp, conversation)


# --- from everywhere --------------------------------------------------------------------------------------------------


def test_nobody_listens_and_nothing_happens(mcp: MCPServer) -> None:
    """Ours: before anything is served, behind it, and without a loop."""

    def notify() -> None:
        mcp.notify_tools_changed()
        mcp.notify_prompts_changed()
        mcp.notify_resources_changed()
        mcp.notify_resource_updated("a:1")

    async def conversation(lines: Lines) -> int:
        notify()
        lines.send(listen(), cancelled())
        notify()
        lines.send(request("tools/list", {}, "list"))
        return len(lines.messages)

    notify()
    assert run(mcp, conversation) == 2
    notify()
    assert open_streams(mcp) == 0


def test_tools_tell_of_changes(mcp: MCPServer) -> None:
    """Ours: a coroutine by its Context, as in the official SDK; a `def` function, in its thread, by the server."""

    @mcp.tool
    async def with_context(ctx: Context[Any]) -> None:
        await ctx.notify_tools_changed()
        await ctx.notify_prompts_changed()
        await ctx.notify_resources_changed()
        await ctx.notify_resource_updated("a:1")

    @mcp.tool
    def in_thread() -> bool:
        mcp.notify_resource_updated("a:2")
        return threading.current_thread() is threading.main_thread()

    async def conversation(lines: Lines) -> None:
        lines.send(listen(1, uris=["a:1", "a:2"], **ALL))
        lines.send(call("with_context", {}, 2), call("in_thread", {}, 3))
        assert (await lines.answer(3))["result"]["structuredContent"] == {"result": False}
        await lines.answer(2)
        await settle(lines)
        assert sorted(told(lines.messages)) == [(1, "a:1"), (1, "a:2"), (1, PROMPTS), (1, RESOURCES), (1, TOOLS)]

    run(mcp, conversation)


@pytest.mark.parametrize("threads", [0, 1, 8])
def test_a_burst_is_told_once_to_each_stream(mcp: MCPServer, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: FIELD 121; on the loop, from a thread that takes its time between two changes, and from many."""
    monkeypatch.setattr(subscriptions, "_QUIET", 0.3)  # a machine that is busy may stop a thread for long

    def burst(number: int) -> None:
        for index in range(20):
            mcp.add_tool(tool, f"tool-{number}-{index}")
            mcp.notify_resource_updated("a:1")
            if threads == 1:
                pause.wait(0.001)

    pause = threading.Event()

    async def conversation(lines: Lines) -> None:
        lines.send(*(listen(number, uris=["a:1"], toolsListChanged=True) for number in range(3)))
        if threads:
            await asyncio.gather(*(asyncio.to_thread(burst, number) for number in range(threads)))
        else:
            burst(0)
        await settle(lines)
        assert sorted(told(lines.messages)) == sorted((n, what) for n in range(3) for what in (TOOLS, "a:1"))

    run(mcp, conversation)


def test_a_burst_without_end_is_told_of_all_the_same(mcp: MCPServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: merging holds nothing back for ever."""
    monkeypatch.setattr(subscriptions, "_QUIET", 0.001)

    async def conversation(lines: Lines) -> None:
        lines.send(listen())
        while len(lines.messages) < 4:
            mcp.notify_tools_changed()
            await asyncio.sleep(0)

    run(mcp, conversation)
