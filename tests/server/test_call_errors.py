"""What goes wrong in a tool, and who is told."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from typing import Any

import pytest

from leanmcp import MCPError, MCPServer, ToolError
from leanmcp.logs import logger
from tests.support.lines import Lines, run
from tests.support.processes import call
from tests.support.tool_calls import invoke, result, text


@pytest.fixture
def mcp() -> MCPServer:
    return MCPServer("calls", version="3")


def test_tool_error_reaches_the_model(mcp: MCPServer) -> None:
    """Spec: server/tools, "Error Handling" 2."""

    @mcp.tool
    async def tool() -> str:
        raise ToolError("departure: must be in the future \ud800")

    answer = result(mcp, "tool")
    assert answer["isError"] is True
    assert text(answer).startswith("departure: must be in the future")
    assert "structuredContent" not in answer


@pytest.mark.parametrize("in_thread", [False, True])
@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("postgres://user:secret@host"),
        KeyError("secret"),
        SystemExit(3),
        KeyboardInterrupt(),
        StopIteration("secret"),
        StopAsyncIteration(),
        GeneratorExit(),
        RecursionError("secret"),
        MemoryError(),
        asyncio.CancelledError("secret"),
        BaseException("secret"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_unexpected_exception_is_masked_and_logged(
    mcp: MCPServer, error: BaseException, in_thread: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """Ours: policy P3; whatever a tool raises is its call's affair, the log has it under the id that the wire gets."""

    def fail() -> str:
        raise error

    async def fail_async() -> str:
        raise error

    mcp.add_tool(fail if in_thread else fail_async, "tool")
    with caplog.at_level(logging.ERROR, "leanmcp"):
        answer = result(mcp, "tool")
    assert answer["isError"] is True
    assert "secret" not in text(answer)
    assert "'tool'" in text(answer)
    (record,) = caplog.records
    assert text(answer).rsplit(" ", 1)[1] in record.getMessage()
    assert record.exc_info is not None


def test_log_of_a_failure_begins_at_the_users_frame(mcp: MCPServer, caplog: pytest.LogCaptureFixture) -> None:
    """Ours: U17; frames of leanmcp are cut off."""

    @mcp.tool
    def tool() -> str:
        raise ValueError("x")

    with caplog.at_level(logging.ERROR, "leanmcp"):
        result(mcp, "tool")
    (record,) = caplog.records
    assert record.exc_info is not None
    trace = record.exc_info[2]
    assert trace is not None
    assert trace.tb_frame.f_code.co_name == "tool"


def test_protocol_error_of_a_tool_passes_through(mcp: MCPServer) -> None:
    """Ours: MCPError answers as a JSON-RPC error, with data."""

    @mcp.tool
    async def tool() -> str:
        raise MCPError(4711, "not today", {"retry": 1})

    assert invoke(mcp, "tool")["error"] == {"code": 4711, "message": "not today", "data": {"retry": 1}}


@pytest.mark.parametrize("code", [-32002, -32042, -32050])
def test_no_error_of_a_tool_has_a_reserved_code(mcp: MCPServer, code: int) -> None:
    """Spec: basic/index, "Error Codes": a function from earlier versions cannot make a server emit them."""

    @mcp.tool
    async def tool() -> str:
        raise MCPError(code, "as it was", {"uri": "x"})

    error = invoke(mcp, "tool")["error"]
    assert error == {"code": -32602 if code == -32002 else -32603, "message": "as it was", "data": {"uri": "x"}}


def test_fault_in_a_users_own_type_is_masked_under_the_tools_name(
    mcp: MCPServer, caplog: pytest.LogCaptureFixture
) -> None:
    """Ours: policy P3; a KeyError in `__post_init__` is the author's, not leanmcp's."""

    @dataclass
    class Odd:
        x: int

        def __post_init__(self) -> None:
            raise KeyError("secret")

    @mcp.tool
    async def tool(odd: Odd) -> str:
        return "never"

    answer = result(mcp, "tool", odd={"x": 1})
    assert answer["isError"] is True
    assert "'tool'" in text(answer)
    assert "secret" not in text(answer)
    assert "tool tool failed" in caplog.text


def test_a_mistake_of_our_own_is_logged_and_stays_in_its_request(
    mcp: MCPServer, caplog: pytest.LogCaptureFixture
) -> None:
    """Ours: FIELD 31; in the task of a call, as that of the first one is, and before there is one."""

    async def handle(*_: Any) -> Any:
        raise ZeroDivisionError("secret")

    mcp.methods["tools/call"] = mcp.methods["tools/call"]._replace(handle=handle)

    async def conversation(lines: Lines) -> list[Any]:
        return [(await lines.send(call("tool", {}, number)).answer(number))["error"] for number in range(2)]

    assert run(mcp, conversation) == [{"code": -32603, "message": "Internal error"}] * 2
    assert [record.message for record in caplog.records] == ["a request failed inside leanmcp"] * 2


class Strange(Exception):
    """An exception that says nothing of itself."""

    @property
    def __class__(self) -> Any:
        raise RuntimeError("no class")

    @__class__.setter
    def __class__(self, value: Any) -> None:
        raise RuntimeError("no class")


class Broken(logging.Handler):
    """A handler that fails."""

    def emit(self, record: logging.LogRecord) -> None:
        raise RuntimeError("broken")


def refuse(record: logging.LogRecord) -> bool:
    """Fail as a filter."""
    raise RuntimeError("broken")


@pytest.mark.parametrize("broken", ["handler", "filter", "exception"])
def test_a_failure_that_cannot_be_logged_is_answered_all_the_same(
    mcp: MCPServer, broken: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ours: FIELD 31; it would end a stdio server."""

    @mcp.tool
    async def fail() -> str:
        raise Strange if broken == "exception" else ValueError

    async def conversation(lines: Lines) -> list[Any]:
        return [await lines.send(call("fail", {}, number)).answer(number) for number in range(2)]

    handler = Broken() if broken == "handler" else logging.StreamHandler()
    logger.addHandler(handler)
    if broken == "filter":
        logger.addFilter(refuse)
    try:
        answers = run(mcp, conversation)
    finally:
        logger.removeHandler(handler)
        logger.removeFilter(refuse)
    assert all("error" in answer or answer["result"]["isError"] for answer in answers)
    assert "leanmcp: logging has failed with RuntimeError: " in capsys.readouterr().err
