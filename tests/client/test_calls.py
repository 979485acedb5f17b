"""Requests on their way: ids, metadata, time limits, progress, the end of a client."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest

from leanmcp import MCPError
from leanmcp.client import Client, caller
from leanmcp.errors import CallTimeout, ConnectionLost
from leanmcp.types import Implementation, PromptReference, ResourceTemplateReference, TextContent
from tests.support.scripted import DONE, Failure, Mute, Scripted, only

WAIT = 10.0  # seconds; no test comes near it


def test_every_request_fits_the_schema_and_has_its_metadata() -> None:
    """Spec: basic/index, "`_meta`"; Scripted holds each request against the schema."""
    answer = only(
        tools_list={"tools": []},
        resources_list={"resources": [{"uri": "a:b", "name": "r"}]},
        resources_templates_list={"resourceTemplates": [{"uriTemplate": "a:{b}", "name": "t"}]},
        prompts_list={"prompts": [{"name": "p"}]},
        tools_call=DONE,
        resources_read={"contents": [{"uri": "a:b", "text": "t"}]},
        prompts_get={"messages": []},
        completion_complete={"completion": {"values": ["x"], "hasMore": True}},
        extension_method={"resultType": "task", "id": 5},
    )

    async def main() -> None:
        transport = Scripted(answer)
        info = Implementation(name="host", version="3")
        async with transport.client(client_info=info, capabilities={"extensions": {"a.b/c": {}}}) as client:
            await client.list_tools(cursor="c")
            assert (await client.list_resources()).resources[0].name == "r"
            assert (await client.list_resource_templates()).resource_templates[0].uri_template == "a:{b}"
            assert (await client.list_prompts()).prompts[0].name == "p"
            await client.call_tool("t", {"a": 1}, meta={"x/y": 1, "progressToken": "mine"})
            assert (await client.read_resource("a:b")).contents[0].uri == "a:b"
            await client.get_prompt("p", {"a": "b"})
            found = await client.complete(PromptReference(name="p"), {"name": "a", "value": "x"}, {"b": "c"})
            assert found.completion.values == ["x"]
            await client.complete(ResourceTemplateReference(uri="a:{b}"), {"name": "b", "value": ""})
            assert await client.request("extension/method", {"a": 1, "_meta": 5}) == {"resultType": "task", "id": 5}
        ids = [message["id"] for message in transport.requests]
        assert len(set(ids)) == len(ids)
        for message in transport.requests:
            meta = message["params"]["_meta"]
            assert meta["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"
            assert meta["io.modelcontextprotocol/clientInfo"] == {"name": "host", "version": "3"}
            assert meta["io.modelcontextprotocol/clientCapabilities"] == {"extensions": {"a.b/c": {}}}
            assert "progressToken" not in meta
        assert transport.requests[4]["params"]["_meta"]["x/y"] == 1
        assert [request.name for request in transport.outgoing] == [
            *([None] * 4),
            "t",
            "a:b",
            "p",
            *([None] * 3),
        ]

    asyncio.run(main())


# --- time limits --------------------------------------------------------------------------------------------------


def test_a_mute_server_ends_at_the_timeout_and_is_told() -> None:
    """Spec: basic/patterns/cancellation, "Timeouts"; FIELD 143. The next call works."""

    async def main() -> None:
        transport = Scripted(only(tools_call=[Mute, DONE]))
        async with asyncio.timeout(WAIT), transport.client(read_timeout_seconds=0.01) as client:
            with pytest.raises(CallTimeout, match=r"tools/call within 0.01 seconds.*read_timeout_seconds") as caught:
                await client.call_tool("t")
            assert caught.value.where == "the scripted server"
            assert transport.cancelled == ["tools/call"]
            assert not (await client.call_tool("t")).is_error
            task = asyncio.current_task()
            assert task is not None
            assert task.cancelling() == 0

    asyncio.run(main())


def test_a_call_may_have_a_timeout_of_its_own_and_none() -> None:
    """Ours."""

    async def main() -> None:
        transport = Scripted(only(tools_call=Mute, tasks_get=Mute))
        async with asyncio.timeout(WAIT), transport.client(read_timeout_seconds=None) as client:
            with pytest.raises(CallTimeout):
                await client.call_tool("t", read_timeout_seconds=0.01)
            with pytest.raises(CallTimeout):
                await client.request("tasks/get", read_timeout_seconds=0.01)
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.01):
                    await client.call_tool("t")

    asyncio.run(main())


@pytest.mark.parametrize("seconds", [-1, "5", float("nan")])
def test_times_that_are_none_are_refused(seconds: Any) -> None:
    """Ours."""
    with pytest.raises(ValueError, match="read_timeout_seconds="):
        Client("http://localhost/mcp", read_timeout_seconds=seconds)


class Point(msgspec.Struct):
    x: float | None


@pytest.mark.parametrize("check", [True, False])
@pytest.mark.parametrize("method", ["call_tool", "call_tool_once"])
def test_arguments_without_a_json_form_are_refused(method: str, check: bool) -> None:
    """Ours: `null` would be sent for NaN; and so behind gates, where they are copied."""

    async def main() -> None:
        transport = Scripted(only(tools_call=DONE))
        async with transport.client(check=check) as client:
            call = getattr(client, method)
            for arguments in ({"a": float("nan")}, {"a": Point(float("inf"))}, {"a": "\ud800"}, {"a": object()}):
                with pytest.raises(TypeError, match=r"^call_tool\('t'\): arguments that have no JSON form: 'a'"):
                    await call("t", arguments)
            await call("t", Point(None))
            await call("t", {"x": msgspec.Raw(b"null")})
        sent = [message["params"] for message in transport.requests if message["method"] == "tools/call"]
        assert [params["arguments"] for params in sent] == [{"x": None}] * 2

    asyncio.run(main())


def test_cancelling_the_task_is_no_timeout() -> None:
    """Ours: CancelledError goes through, and the server is told."""

    async def main() -> None:
        transport = Scripted(only(tools_call=Mute))
        async with asyncio.timeout(WAIT), transport.client() as client:
            task = asyncio.ensure_future(client.call_tool("t"))
            while not transport.requests:
                await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert transport.cancelled == ["tools/call"]

    asyncio.run(main())


def _counting(steps: int) -> Scripted:
    """Return a server that reports progress every tenth of a second, `steps` times, before it answers."""

    async def answer(method: str, params: dict[str, Any]) -> Any:
        if method != "tools/call":
            return None
        for step in range(steps):
            await asyncio.sleep(0.1)
            token = params["_meta"]["progressToken"]
            transport.notify("notifications/progress", {"progressToken": token, "progress": step})
        return DONE

    transport = Scripted(answer)
    return transport


def test_progress_starts_the_time_again() -> None:
    """Spec: basic/patterns/cancellation: "MAY choose to reset the timeout clock"."""

    async def main() -> None:
        options: dict[str, Any] = {"read_timeout_seconds": 1.0, "reset_on_progress": True}
        async with asyncio.timeout(WAIT), _counting(12).client(**options) as client:
            assert not (await client.call_tool("slow")).is_error

    asyncio.run(main())


def test_progress_does_not_make_a_call_endless() -> None:
    """Spec: basic/patterns/cancellation: "SHOULD always enforce a maximum timeout, regardless of progress"."""

    async def main() -> None:
        options: dict[str, Any] = {"read_timeout_seconds": 5, "reset_on_progress": True, "max_total_seconds": 0.3}
        async with asyncio.timeout(WAIT), _counting(10_000).client(**options) as client:
            with pytest.raises(CallTimeout, match=r"0.3 seconds in all.*max_total_seconds"):
                await client.call_tool("endless")
        mute = Scripted(only(tools_call=Mute))
        options = {"read_timeout_seconds": 0.05, "reset_on_progress": True, "max_total_seconds": 60}
        async with asyncio.timeout(WAIT), mute.client(**options) as client:
            with pytest.raises(CallTimeout, match=r"0.05 seconds; .*read_timeout_seconds"):
                await client.call_tool("mute")

    asyncio.run(main())


# --- progress -----------------------------------------------------------------------------------------------------


def test_progress_is_told_in_order_before_the_result() -> None:
    """Spec: basic/patterns/progress; FIELD 119, 120: odd reports are ignored."""
    told: list[Any] = []

    async def tell(progress: float, total: float | None, message: str | None) -> None:
        await asyncio.sleep(0)
        told.append((progress, total, message))

    async def main() -> None:
        def answer(method: str, params: dict[str, Any]) -> Any:
            if method != "tools/call":
                return None
            token = params["_meta"]["progressToken"]
            for report in (
                {"progressToken": token, "progress": 1, "total": 3, "message": "a"},
                {"progressToken": "other", "progress": 99},
                {"progressToken": token, "progress": "x"},
                {"progressToken": token, "progress": True},
                {"progressToken": token, "progress": 2.5, "total": "many", "message": 7},
            ):
                transport.notify("notifications/progress", report)
            return DONE

        transport = Scripted(answer)
        async with asyncio.timeout(WAIT), transport.client() as client:
            await client.call_tool("t", progress_callback=tell)
            assert told == [(1, 3, "a"), (2.5, None, None)]
            assert transport.requests[0]["params"]["_meta"]["progressToken"] == transport.requests[0]["id"]
            transport.notify("notifications/progress", {"progressToken": transport.requests[0]["id"], "progress": 9})
            assert len(told) == 2

    asyncio.run(main())


def test_a_fault_of_the_progress_callback_is_raised() -> None:
    """Ours: nothing is swallowed."""

    async def main() -> None:
        def answer(method: str, params: dict[str, Any]) -> Any:
            if method == "tools/call":
                transport.notify(
                    "notifications/progress", {"progressToken": transport.requests[0]["id"], "progress": 1}
                )
                return DONE
            return None

        def tell(progress: float, total: float | None, message: str | None) -> None:
            raise ZeroDivisionError

        transport = Scripted(answer)
        async with asyncio.timeout(WAIT), transport.client() as client:
            with pytest.raises(ZeroDivisionError):
                await client.call_tool("t", progress_callback=tell)

    asyncio.run(main())


def test_other_notifications_go_to_their_callback() -> None:
    """Spec: server/utilities/logging (deprecated): `logLevel` asks for them."""
    told: list[Any] = []

    async def main() -> None:
        def answer(method: str, params: dict[str, Any]) -> Any:
            if method == "tools/call":
                transport.notify("notifications/message", {"level": "info", "data": "x"})
                return DONE
            return None

        transport = Scripted(answer)
        options: dict[str, Any] = {"notification_callback": lambda *told_: told.append(told_), "log_level": "info"}
        async with asyncio.timeout(WAIT), transport.client(**options) as client:
            await client.call_tool("t")
        assert told == [("notifications/message", {"level": "info", "data": "x"})]
        assert transport.requests[0]["params"]["_meta"]["io.modelcontextprotocol/logLevel"] == "info"

    asyncio.run(main())


def test_a_fault_of_the_notification_callback_costs_nothing_but_a_line_in_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Ours: over pipes, where it meets no request, and over HTTP, where it would meet one, alike."""

    def tell(method: str, params: dict[str, Any]) -> None:
        raise ZeroDivisionError("mine")

    async def main() -> None:
        def answer(method: str, params: dict[str, Any]) -> Any:
            if method == "tools/call":
                transport.notify("notifications/message", {"level": "info", "data": "x"})
            return None if method == "server/discover" else DONE

        transport = Scripted(answer)
        async with asyncio.timeout(WAIT), transport.client(notification_callback=tell) as client:
            assert (await client.call_tool("t")).content == [TextContent(text="done")]

    asyncio.run(main())
    assert [record.message for record in caplog.records] == ["notification_callback failed"]


def test_progress_that_nobody_takes_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: a callback that hangs while the server reports on and on holds the latest reports, and not all."""
    monkeypatch.setattr(caller, "_MAX_REPORTS", 3)
    told: list[float] = []
    go = asyncio.Event()

    async def tell(progress: float, total: float | None, message: str | None) -> None:
        told.append(progress)
        await go.wait()

    async def main() -> None:
        async def answer(method: str, params: dict[str, Any]) -> Any:
            if method == "server/discover":
                return None
            for number in range(100):
                transport.notify("notifications/progress", {**params["_meta"], "progress": number})
                await asyncio.sleep(0)
            go.set()
            return DONE

        transport = Scripted(answer)
        async with asyncio.timeout(WAIT), transport.client() as client:
            await client.call_tool("t", progress_callback=tell)

    asyncio.run(main())
    assert told[0] == 0
    assert told[-1] == 99
    assert len(told) <= 5


@pytest.mark.parametrize("method", ['a","id":7,"x":"', "a\\", "a\r\nX: y", "a b", "\u00e9", ""])
def test_a_method_is_written_as_it_is_or_not_at_all(method: str) -> None:
    """Ours: it stands in JSON and in a header; nothing in it ends either."""

    async def main() -> None:
        transport = Scripted(only())
        async with asyncio.timeout(WAIT), transport.client() as client:
            with pytest.raises(ValueError, match="visible ASCII without quotes"):
                await client.request(method)
        assert transport.requests == []

    asyncio.run(main())


# --- the end ------------------------------------------------------------------------------------------------------


def test_a_client_is_closed_from_any_task_twice_and_entered_again() -> None:
    """Ours: issue point 1."""

    async def main() -> None:
        transport = Scripted(only(tools_call=DONE))
        client = transport.client()
        await client.close()
        async with asyncio.timeout(WAIT), client:
            await asyncio.create_task(client.close())
            await client.close()
            with pytest.raises(RuntimeError, match="not connected"):
                await client.call_tool("t")
            with pytest.raises(RuntimeError, match="not connected"):
                _ = client.server_info
        async with client:
            assert not (await client.call_tool("t")).is_error
            with pytest.raises(RuntimeError, match="connected already"):
                await client.__aenter__()
            assert not (await client.call_tool("t")).is_error
        assert transport.closed == 2

    asyncio.run(main())


def test_another_event_loop_is_told_what_to_do() -> None:
    """Ours: a second `asyncio.run`, the slip of scripts; no hang, and no error of something inside."""
    transport = Scripted(only(tools_call=DONE))
    client = transport.client()
    asyncio.run(client.__aenter__())
    with pytest.raises(RuntimeError, match=r"connected on another event loop; .* or use SyncClient"):
        asyncio.run(client.call_tool("t"))
    asyncio.run(client.close())  # what lived on the loop that is gone cannot be closed any more

    async def main() -> None:
        async with asyncio.timeout(WAIT), client:
            assert not (await client.call_tool("t")).is_error

    asyncio.run(main())
    assert transport.closed == 1


def test_a_client_is_closed_from_the_event_loop_of_another_thread() -> None:
    """Ours: issue point 1, "legal to close from any task"; it is closed where it lives."""
    closed_in: list[asyncio.AbstractEventLoop] = []

    class There(Scripted):
        async def close(self) -> None:
            closed_in.append(asyncio.get_running_loop())

    async def main() -> None:
        async with asyncio.timeout(WAIT), There(only(tools_call=DONE)).client() as client:
            await asyncio.to_thread(asyncio.run, client.close())
            with pytest.raises(RuntimeError, match="not connected"):
                await client.call_tool("t")
        assert closed_in == [asyncio.get_running_loop()]

    asyncio.run(main())


def test_a_client_that_is_closed_while_it_connects_is_closed() -> None:
    """Ours: entering fails, and nothing stays open."""

    async def main() -> None:
        there = asyncio.Event()

        async def answer(method: str, params: dict[str, Any]) -> Any:
            there.set()
            await asyncio.sleep(0)

        transport = Scripted(answer)
        client = transport.client()
        async with asyncio.timeout(WAIT):
            entering = asyncio.ensure_future(client.__aenter__())
            await there.wait()
            await client.close()
            with pytest.raises(ConnectionLost, match="closed by this client while it connected"):
                await entering
            with pytest.raises(RuntimeError, match="not connected"):
                await client.call_tool("t")
            async with client:
                assert client.protocol_version == "2026-07-28"
        assert transport.closed == 3

    asyncio.run(main())


def test_clients_are_left_in_any_order() -> None:
    """Ours: no scope of one client encloses another's."""

    async def main() -> None:
        first, second = Scripted(only(tools_call=DONE)).client(), Scripted(only(tools_call=DONE)).client()
        await first.__aenter__()
        await second.__aenter__()
        await first.close()
        assert not (await second.call_tool("t")).is_error
        await second.close()

    asyncio.run(main())


def test_a_client_that_cannot_connect_leaves_nothing_open() -> None:
    """Ours."""

    async def main() -> None:
        transport = Scripted(only(server_discover=Failure(-32020)))
        client = transport.client()
        for _ in range(2):
            with pytest.raises(MCPError):
                await client.__aenter__()
        assert transport.closed == 2

    asyncio.run(main())


@pytest.mark.parametrize("error", [ConnectionLost("gone", "x"), Failure(1, "no")])
def test_the_next_call_works(error: Exception) -> None:
    """Ours: acceptance D."""

    async def main() -> None:
        async with Scripted(only(tools_call=[error, DONE])).client() as client:
            with pytest.raises(MCPError):
                await client.call_tool("t")
            assert not (await client.call_tool("t")).is_error

    asyncio.run(main())
