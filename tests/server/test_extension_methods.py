"""Methods that an extension adds: params, results, errors."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from typing import Annotated, Any

import pytest

from leanmcp import Context, Depends, MCPError, MCPServer, ToolError
from leanmcp.types import InputRequiredResult
from tests.support.extended import (
    CAPABILITIES,
    SEARCH,
    Ctx,
    Hit,
    Odd,
    Search,
    answer_of,
    ask,
    extended,
)
from tests.support.lines import Lines, cancelled, run
from tests.support.processes import DEADLINE, META, encode, request


@pytest.fixture
def mcp() -> MCPServer:
    """A server with the extension."""
    return MCPServer("extended", extensions=[Search()])


def search(request_id: int = 1, **params: Any) -> dict[str, Any]:
    """Return a request of the extension, from a client that declares it."""
    return extended(request("com.example/search", params, request_id), SEARCH)


def test_a_method_answers_with_a_whole_result(mcp: MCPServer) -> None:
    """Spec: basic/index, "Result Responses"; `resultType` and `serverInfo`, notes before the answer."""
    *notes, answer = ask(mcp, search(query="dune", limit=2))
    assert notes == [
        {"jsonrpc": "2.0", "method": "notifications/com.example/hit", "params": {"rank": rank}} for rank in range(2)
    ]
    assert answer["id"] == 1
    result = answer["result"]
    assert result["hits"] == [{"title": "DUNE", "rank": 0}, {"title": "DUNE", "rank": 1}]
    assert result["resultType"] == "complete"
    assert result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "extended"


@pytest.mark.parametrize("request_id", [0, 7, "7", ""])
def test_an_answer_has_the_id_of_its_request(mcp: MCPServer, request_id: int | str) -> None:
    """Spec: basic/index, "Result Responses": the same id, with its type."""
    for message in (search(query="dune", limit=1), search(query="x")):
        answer = ask(mcp, {**message, "id": request_id})[-1]
        assert (type(answer["id"]), answer["id"]) == (type(request_id), request_id)


def test_a_client_that_did_not_declare_it_is_refused(mcp: MCPServer) -> None:
    """Spec: basic/index, "Per-request protocol fields": -32021 with `data.requiredCapabilities`."""
    for message in (request("com.example/search", {"query": "dune"}), extended(search(query="x"), "com.example/other")):
        [answer] = ask(mcp, message)
        assert answer["error"]["code"] == -32021
        assert answer["error"]["data"] == {"requiredCapabilities": {"extensions": {SEARCH: {}}}}
    odds: list[Any] = [[], {SEARCH: True}, {SEARCH: None}]
    for odd in odds:
        message = request("com.example/search", {"query": "dune"})
        message["params"]["_meta"] = {**META, CAPABILITIES: {"extensions": odd}}
        assert ask(mcp, message)[0]["error"]["code"] == -32021


def test_a_method_may_be_for_everybody(mcp: MCPServer) -> None:
    """Ours: `declared=False`; plain params as they are, a `def` handler in a thread, the context wherever it stands."""
    [answer] = ask(mcp, request("com.example/status", {"a": {"b": [1]}}))
    assert answer["result"]["params"] == {"a": {"b": [1]}}
    assert answer["result"]["thread"] is True


@pytest.mark.parametrize(
    ("params", "text"),
    [
        ({}, "params.query: Field required"),
        ({"query": "x"}, "params.query: String should have at least 2 characters"),
        ({"query": "dune", "limit": "5"}, "params.limit: Input should be a valid integer"),
        ({"query": 7, "limit": 0}, "params.limit: Input should be greater than or equal to 1"),
    ],
)
def test_params_are_checked_against_their_type(mcp: MCPServer, params: dict[str, Any], text: str) -> None:
    """Ours: -32602 with every fault; the handler does not run."""
    [answer] = ask(mcp, search(**params))
    assert answer["error"]["code"] == -32602
    assert answer["error"]["message"].startswith("Invalid params: ")
    assert text in answer["error"]["message"]


def test_a_handler_may_return_objects_and_nothing() -> None:
    """Ours: an object with fields stands for its members; None for no members."""

    async def hit(ctx: Ctx, params: Any) -> Hit:
        return Hit(title="Dune", rank=1)

    async def nothing(ctx, params):  # type: ignore[no-untyped-def]
        assert isinstance(ctx, Context)
        assert params == {}

    result = answer_of(hit)["result"]
    assert (result["title"], result["rank"], result["resultType"]) == ("Dune", 1, "complete")
    assert answer_of(nothing)["result"].keys() == {"resultType", "_meta"}


def test_errors_of_a_handler_are_protocol_errors(caplog: pytest.LogCaptureFixture) -> None:
    """Ours: as in prompts; what nobody raised on purpose is masked and logged (policy P3)."""
    raised: list[BaseException] = [
        ToolError("not today"),
        MCPError(4711, "mine", {"a": 1}),
        RuntimeError("postgres://secret"),
        asyncio.CancelledError(),
    ]

    async def fail(ctx: Ctx, params: Any) -> None:
        raise raised.pop(0)

    assert answer_of(fail)["error"] == {"code": -32603, "message": "not today"}
    assert answer_of(fail)["error"] == {"code": 4711, "message": "mine", "data": {"a": 1}}
    with caplog.at_level(logging.ERROR, "leanmcp"):
        for _ in range(2):
            error = answer_of(fail)["error"]
            assert error["message"].startswith("Method 'com.example/odd' failed unexpectedly")
    assert "postgres://secret" in caplog.text


@pytest.mark.parametrize(
    "value", [7, [1], "text", {"a": float("nan")}, {"resultType": "other"}, {"resultType": 7}, {"_meta": [1]}]
)
def test_a_result_that_is_none_is_the_handlers_fault(value: Any) -> None:
    """Ours: it never leaves; the log says what is wrong."""

    async def wrong(ctx: Ctx, params: Any) -> Any:
        return value

    assert answer_of(wrong)["error"]["code"] == -32603


def test_a_handler_cannot_ask_its_client(caplog: pytest.LogCaptureFixture) -> None:
    """Spec: basic/patterns/mrtr: tools/call, prompts/get and resources/read may, and no other method."""

    async def asks(ctx: Ctx, params: Any) -> Any:
        return InputRequiredResult(request_state="x")

    with caplog.at_level(logging.ERROR, "leanmcp"):
        assert answer_of(asks)["error"]["code"] == -32603
    assert "com.example/odd asked its client, which only tools, prompts and resources may do" in caplog.text


def test_a_handler_has_dependencies_and_a_timeout() -> None:
    """Ours: it is called as every function is."""
    seen: list[str] = []

    async def resource() -> AsyncIterator[str]:
        try:
            yield "resource"
        finally:
            seen.append("closed")

    async def slow(ctx: Ctx, params: Any, value: Annotated[str, Depends(resource)]) -> None:
        seen.append(value)
        await asyncio.sleep(DEADLINE)

    error = answer_of(slow, timeout=0.05)["error"]
    assert error == {"code": -32603, "message": "Method 'com.example/odd' did not finish within 0.05 seconds"}
    assert seen == ["resource", "closed"]


def test_a_cancelled_handler_is_not_answered() -> None:
    """Spec: basic/patterns/cancellation."""
    begun = asyncio.Event()

    async def wait(ctx: Ctx, params: Any) -> None:
        begun.set()
        await asyncio.sleep(DEADLINE)

    mcp = MCPServer("odd", extensions=[Odd(wait)])

    async def conversation(lines: Lines) -> None:
        lines.send(request("com.example/odd"))
        await begun.wait()
        await lines.send(cancelled()).idle()
        assert lines.messages == []

    run(mcp, conversation)


@pytest.mark.parametrize("digits", [b"1e999", b"9" * 5000, b"-1e999"], ids=["infinite", "long", "negative"])
@pytest.mark.parametrize("place", ["params", "capabilities", "meta"])
def test_a_number_out_of_range_is_the_clients_fault(
    digits: bytes, place: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Ours: JSON that is skipped over when a request comes in is no less checked; and strangers fill no log."""

    async def reads(ctx: Ctx, params: dict[str, Any]) -> dict[str, Any]:
        return {"meta": ctx.meta, "capabilities": ctx.client_capabilities}

    message = extended(request("com.example/odd", {"n": "@" if place == "params" else 1}), SEARCH)
    meta = message["params"]["_meta"]
    meta["vendor"] = "@" if place == "meta" else 1
    if place == "capabilities":
        meta[CAPABILITIES]["elicitation"] = {"form": "@"}
    mcp = MCPServer("odd", extensions=[Odd(reads)])

    async def conversation(lines: Lines) -> Any:
        lines.endpoint.receive(encode(message).replace(b'"@"', digits))
        return await lines.answer()

    answer = run(mcp, conversation)["error"]
    assert answer["code"] == -32602
    assert "out of range" in answer["message"]
    assert not caplog.records
