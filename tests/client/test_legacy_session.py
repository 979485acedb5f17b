"""A session of an earlier era, which looks the same from outside."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest

from leanmcp.client.legacy import LegacyMetadata
from leanmcp.errors import MCPError, MethodNotFound
from leanmcp.types import Implementation
from tests.support.scripted import DONE, Scripted, only
from tests.support.two_eras import INITIALIZED, DualScripted, versions


def test_an_earlier_era_looks_the_same_from_outside() -> None:
    """Ours: DiscoverResult, server_info and calls; and its own verbs work there only."""

    async def main() -> None:
        transport = DualScripted(
            only(initialize=INITIALIZED, tools_call=DONE, ping={}, resources_subscribe={}, logging_setLevel={})
        )
        async with transport.client(mode="legacy") as client:
            assert client.server_info == Implementation(name="old", version="1")
            assert client.instructions == "be gentle"
            assert (await client.discover()).supported_versions == ["2025-11-25"]
            assert not (await client.call_tool("t")).is_error
            await client.send_ping()
            await client.subscribe_resource("file:///x")
            await client.set_logging_level("error")
            with pytest.raises(MethodNotFound, match="no subscriptions/listen"):
                client.listen(tools_list_changed=True)
        assert transport.methods[1:] == ["tools/call", "ping", "resources/subscribe", "logging/setLevel"]
        initialize = transport.requests[0]["params"]
        assert initialize["protocolVersion"] == "2025-11-25"
        assert initialize["capabilities"] == {}
        assert initialize["clientInfo"]["name"] == "leanmcp"
        assert versions(transport) == [None] * 5

        async with Scripted(only()).client() as modern:
            with pytest.raises(MethodNotFound, match="ping belongs to earlier"):
                await modern.send_ping()

    asyncio.run(main())


def test_requests_of_the_server_are_answered() -> None:
    """Spec 2025-11-25: basic/utilities/ping; client/elicitation; unknown ones get -32601."""

    async def main() -> None:
        transport = DualScripted(only(initialize=INITIALIZED))
        form = {"type": "object", "properties": {"name": {"type": "string", "default": "Ada"}}}

        async def answer(context: Any, params: Any) -> Any:
            assert context.where == "the scripted server"
            return {"action": "accept", "content": {}}

        async with transport.client(mode="legacy", elicitation_callback=answer) as client:
            assert transport.requests[0]["params"]["capabilities"] == {"elicitation": {"form": {}, "url": {}}}
            transport.asked("a", "ping", {})
            transport.asked(7, "roots/list", {})
            transport.asked(8, "elicitation/create", {"message": "who", "requestedSchema": form})
            transport.asked(9, "elicitation/create", {"message": "who", "requestedSchema": {"type": "nonsense"}})
            async with asyncio.timeout(10):
                while len(transport.sent) < 5:
                    await asyncio.sleep(0)
            assert client.protocol_version == "2025-11-25"
        answers = {message["id"]: message for message in transport.sent[1:]}
        assert answers["a"] == {"jsonrpc": "2.0", "id": "a", "result": {}}
        assert answers[7]["error"]["code"] == -32601
        assert answers[8]["result"] == {"action": "accept", "content": {"name": "Ada"}}
        assert "error" in answers[9]

    asyncio.run(main())


def test_failures_of_callbacks_are_told_without_their_text(caplog: pytest.LogCaptureFixture) -> None:
    """Ours: policy P3 holds for the client's own faults too; an MCPError is what the callback wants to say."""
    outcomes: list[Any] = [ZeroDivisionError("secret"), MCPError(77, "not today")]

    async def answer(context: Any, params: Any) -> Any:
        raise outcomes[context.request_id]

    async def main() -> list[Any]:
        transport = DualScripted(only(initialize=INITIALIZED))
        form = {"type": "object", "properties": {}}
        async with transport.client(mode="legacy", elicitation_callback=answer):
            for number in range(2):
                transport.asked(number, "elicitation/create", {"message": "m", "requestedSchema": form})
            async with asyncio.timeout(10):
                while len(transport.sent) < 3:
                    await asyncio.sleep(0)
        return [message["error"] for message in transport.sent[1:]]

    first, second = asyncio.run(main())
    assert first == {"code": -32603, "message": "The client failed to answer"}
    assert second == {"code": 77, "message": "not today"}
    assert "secret" in caplog.text


def test_a_server_that_asks_without_end_is_not_answered_without_end(caplog: pytest.LogCaptureFixture) -> None:
    """Ours: bounded."""

    async def answer(context: Any, params: Any) -> Any:
        await asyncio.Event().wait()

    async def main() -> None:
        transport = DualScripted(only(initialize=INITIALIZED))
        async with transport.client(mode="legacy", elicitation_callback=answer):
            for number in range(200):
                transport.asked(number, "elicitation/create", {"message": "m", "requestedSchema": {"type": "object"}})
            assert len(asyncio.all_tasks()) < 120

    asyncio.run(main())
    assert "more often than it is answered" in caplog.text


def test_a_question_that_the_server_takes_back_is_given_up() -> None:
    """Spec 2025-11-25: basic/utilities/cancellation."""

    async def main() -> None:
        transport = DualScripted(only(initialize=INITIALIZED))
        gone = asyncio.Event()
        asked = asyncio.Event()

        async def answer(context: Any, params: Any) -> Any:
            asked.set()
            try:
                await asyncio.Event().wait()
            finally:
                gone.set()

        form = {"type": "object", "properties": {}}
        async with asyncio.timeout(10), transport.client(mode="legacy", elicitation_callback=answer):
            transport.asked(8, "elicitation/create", {"message": "who", "requestedSchema": form})
            await asked.wait()
            transport.told("notifications/cancelled", {"requestId": 8})
            await gone.wait()
        assert len(transport.sent) == 1

    asyncio.run(main())


def test_metadata_of_an_earlier_era_holds_the_progress_token_only() -> None:
    """Spec 2025-11-25: basic/utilities/progress."""
    metadata = LegacyMetadata("2025-11-25", Implementation(name="n", version="1"), {})
    assert metadata.request(1, "m", b"") == b'{"jsonrpc":"2.0","id":1,"method":"m","params":{}}'
    with_token = msgspec.json.decode(metadata.request(2, "m", b'"a":1', 2, {"x": 1}))
    assert with_token["params"] == {"_meta": {"x": 1, "progressToken": 2}, "a": 1}
