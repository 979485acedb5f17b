"""Several streams at once: their ids, their ends, slow readers, limits, and what is left of them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from leanmcp import Limits, MCPServer
from leanmcp.server import subscriptions
from tests.support.lines import Lines, cancelled, run
from tests.support.listening import (
    ACKNOWLEDGED,
    ALL,
    SUBSCRIPTION_ID,
    TOOLS,
    UPDATED,
    listen,
    open_streams,
    same_id,
    told,
)
from tests.support.processes import call, request
from tests.support.spec import check_response
from tests.support.subscribing import settle, tool


@pytest.fixture
def mcp() -> MCPServer:
    """A server that serves all three lists, resources with updates."""
    server = MCPServer("changing", version="1.0")
    server.add_tool(tool)
    server.declare("prompts", {"listChanged": True})
    server.declare("resources", {"listChanged": True, "subscribe": True})
    return server


# --- several streams, and their ends ----------------------------------------------------------------------------------


def test_streams_are_told_apart_by_type_and_value_of_their_ids(mcp: MCPServer) -> None:
    """Spec: basic/patterns/subscriptions, "Multiple Concurrent Subscriptions"; 1 is not "1"."""

    async def conversation(lines: Lines) -> None:
        lines.send(listen(1), listen("1"), cancelled(1))
        mcp.notify_tools_changed()
        await settle(lines)
        assert [same_id(message, "1") for message in lines.messages] == [False, True, True]

    run(mcp, conversation)


def test_an_id_in_flight_is_refused(mcp: MCPServer) -> None:
    """Ours: a stream is a request in flight; no call takes its id, and it takes that of no call."""
    gate = asyncio.Event()

    @mcp.tool
    async def wait() -> None:
        await gate.wait()

    async def conversation(lines: Lines) -> None:
        lines.send(listen(1), listen(1), call("tool", {}, 1), request("tools/list", {}, 1))
        lines.send(call("wait", {}, 2), listen(2))
        errors = [message["error"]["code"] for message in lines.messages[1:]]
        assert errors == [-32600] * 4
        assert open_streams(mcp) == 1
        gate.set()
        await lines.answer(2)

    run(mcp, conversation)


def test_a_cancelled_stream_is_silent(mcp: MCPServer) -> None:
    """Spec: basic/patterns/cancellation; no notification, no response; its id may be used again."""

    async def conversation(lines: Lines) -> None:
        lines.send(listen(1), listen(2))
        mcp.notify_tools_changed()
        lines.send(cancelled(1), cancelled(1))
        await settle(lines)
        assert told(lines.messages) == [(2, TOOLS)]
        assert not any("id" in message for message in lines.messages)
        lines.send(listen(1))
        mcp.notify_tools_changed()
        await settle(lines)
        assert sorted(told(lines.messages)) == [(1, TOOLS), (2, TOOLS), (2, TOOLS)]

    run(mcp, conversation)


def test_the_end_is_told_by_result_and_notification(mcp: MCPServer) -> None:
    """Spec: basic/patterns/subscriptions, "Graceful Closure"; basic/patterns/cancellation; what is due comes first."""

    async def conversation(lines: Lines) -> None:
        lines.send(listen(1), listen("b", uris=["a:1"]))
        mcp.notify_tools_changed()
        mcp.notify_resource_updated("a:1")
        notices = lines.endpoint.end_streams()
        assert [message.get("method") for message in lines.messages[2:]] == [TOOLS, None, UPDATED, None]
        results = [message for message in lines.messages if "id" in message]
        for result, request_id in zip(results, (1, "b"), strict=True):
            check_response(result, "subscriptions/listen")
            assert result["id"] == request_id
            assert result["result"] == {
                "resultType": "complete",
                "_meta": {
                    "io.modelcontextprotocol/serverInfo": {"name": "changing", "version": "1.0"},
                    SUBSCRIPTION_ID: request_id,
                },
            }
        lines.endpoint.send(notices)
        assert [message["params"]["requestId"] for message in lines.messages[6:]] == [1, "b"]
        mcp.notify_tools_changed()
        assert lines.endpoint.end_streams() == []
        assert len(lines.messages) == 8
        assert open_streams(mcp) == 0

    run(mcp, conversation)


# --- slow readers -----------------------------------------------------------------------------------------------------


def test_a_slow_reader_is_told_once_of_what_it_missed(mcp: MCPServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: RELIABILITY, stalled listeners; what waits for it is bounded by its filter."""
    monkeypatch.setattr(subscriptions, "_QUIET", 0)
    uris = [f"a:{number}" for number in range(300)]

    async def conversation(lines: Lines) -> None:
        lines.send(listen(1, uris=uris, toolsListChanged=True))
        lines.endpoint.output_stalled(True)
        for _ in range(20):
            mcp.notify_tools_changed()
            for uri in uris:
                mcp.notify_resource_updated(uri)
            for _ in range(5):
                await asyncio.sleep(0)  # the end of a burst
        assert len(lines.messages) == 1
        lines.endpoint.output_stalled(False)
        await lines.message(len(uris) + 1)
        await settle(lines)
        assert sorted(told(lines.messages)) == sorted([(1, TOOLS), *((1, uri) for uri in uris)])

    run(mcp, conversation)


def test_a_stalled_stream_ends_with_its_result_alone(mcp: MCPServer) -> None:
    """Ours: at the end a client that is behind gets no more than it must."""

    async def conversation(lines: Lines) -> None:
        lines.send(listen())
        lines.endpoint.output_stalled(True)
        mcp.notify_tools_changed()
        lines.endpoint.end_streams()
        assert [message.get("method") for message in lines.messages] == [ACKNOWLEDGED, None]

    run(mcp, conversation)


def test_many_streams_hold_nobody_up(mcp: MCPServer) -> None:
    """Ours: each of 1,000 is told once, some in each turn of the loop."""
    count = 1000

    async def conversation(lines: Lines) -> None:
        lines.send(*(listen(number) for number in range(count)))
        mcp.notify_tools_changed()
        most, before = 0, len(lines.messages)
        while len(lines.messages) < 2 * count:
            await asyncio.sleep(0)
            most, before = max(most, len(lines.messages) - before), len(lines.messages)
        assert most <= 256
        await settle(lines)
        assert sorted(told(lines.messages)) == [(number, TOOLS) for number in range(count)]

    run(mcp, conversation)


# --- limits, switches, leaks ------------------------------------------------------------------------------------------


def test_streams_over_the_limit_are_refused(mcp: MCPServer) -> None:
    """Ours: Limits.max_streams; -32603, and a stream that ends makes place."""
    mcp.limits = Limits(max_streams=3)

    async def conversation(lines: Lines) -> None:
        lines.send(*(listen(number) for number in range(5)))
        refused = {message["id"]: message["error"] for message in lines.messages if "error" in message}
        assert refused.keys() == {3, 4}
        assert (refused[3]["code"], "Limits.max_streams" in refused[3]["message"]) == (-32603, True)
        lines.send(cancelled(0), listen(5), call("tool", {}, 6))
        assert lines.messages[-1]["method"] == ACKNOWLEDGED
        assert (await lines.answer(6))["result"]["isError"] is False

    run(mcp, conversation)


def test_a_filter_that_is_too_large_is_refused(mcp: MCPServer) -> None:
    """Ours: Limits.max_filter_size; what a stream holds for its time is bounded."""
    mcp.limits = Limits(max_filter_size=1000)

    async def conversation(lines: Lines) -> None:
        lines.send(listen(1, uris=["a" * 36] * 10), listen(2, uris=["a" * 36] * 10 + [""]), listen(3, uris=["a" * 937]))
        assert [message.get("error", {}).get("code") for message in lines.messages] == [None, -32602, -32602]
        assert "Limits.max_filter_size" in lines.messages[1]["error"]["message"]

    run(mcp, conversation)


@pytest.mark.parametrize("options", [{"listen": False}, {"subscriptions": False}])
def test_listening_can_be_switched_off(options: dict[str, Any]) -> None:
    """Ours: FIELD 80; no method, and nothing of it in any capability, whenever that is declared."""
    mcp = MCPServer("quiet", **options)
    mcp.declare("resources", {"listChanged": True, "subscribe": True, "x": 1})
    mcp.declare("prompts", {"listChanged": True})

    async def conversation(lines: Lines) -> None:
        lines.send(listen(), request("server/discover", {}, 2))
        assert lines.messages[0]["error"]["code"] == -32601
        assert lines.messages[1]["result"]["capabilities"] == {"tools": {}, "resources": {"x": 1}, "prompts": {}}
        mcp.notify_tools_changed()
        mcp.add_tool(tool)

    run(mcp, conversation)


def test_what_discover_promises_is_honoured(mcp: MCPServer) -> None:
    """Ours: FIELD 75 and 122; each kind that is declared is acknowledged."""

    async def conversation(lines: Lines) -> None:
        lines.send(request("server/discover", {}, 1), listen(2, uris=["a:1"], **ALL))
        capabilities = lines.messages[0]["result"]["capabilities"]
        promised = {f"{name}ListChanged" for name, settings in capabilities.items() if settings.get("listChanged")}
        if capabilities["resources"].get("subscribe"):
            promised.add("resourceSubscriptions")
        assert promised == lines.messages[1]["params"]["notifications"].keys() == {*ALL, "resourceSubscriptions"}

    run(mcp, conversation)


def test_closed_streams_leave_nothing(mcp: MCPServer) -> None:
    """Ours: acceptance F; no stream, no hub, no listener on the bus, no task."""

    async def conversation(lines: Lines) -> None:
        tasks = asyncio.all_tasks()
        for _ in range(3):
            lines.send(*(listen(number, uris=[f"a:{number}"], **ALL) for number in range(100)))
            assert open_streams(mcp) == 100
            mcp.notify_tools_changed()
            mcp.notify_resource_updated("a:1")
            lines.send(*(cancelled(number) for number in range(100)))
            subscribed = mcp._subscriptions
            assert subscribed is not None
            assert (open_streams(mcp), subscribed._hubs, subscribed.bus._listeners) == (0, {}, ())  # type: ignore[attr-defined]
        assert asyncio.all_tasks() == tasks

    run(mcp, conversation)


def test_a_loop_that_has_gone_takes_its_streams_along(mcp: MCPServer) -> None:
    """Ours: the next change lets go of them; on the next loop, streams are told as ever."""

    async def leave(lines: Lines) -> None:
        lines.send(listen())

    async def conversation(lines: Lines) -> None:
        lines.send(listen())
        mcp.notify_tools_changed()
        await settle(lines)
        assert told(lines.messages) == [(1, TOOLS)]
        lines.send(cancelled())

    run(mcp, leave)
    assert open_streams(mcp) == 1
    mcp.notify_tools_changed()
    assert open_streams(mcp) == 0
    run(mcp, conversation)
    assert open_streams(mcp) == 0
