"""prompts/get: which functions run, what they get, and what a failing one tells."""

from __future__ import annotations

import asyncio
import functools
import logging
import threading
from collections.abc import AsyncIterator
from typing import Annotated, Any

import pytest

from leanmcp import Context, Depends, MCPError, MCPServer, ToolError
from leanmcp.types import InputRequiredResult
from tests.support.lines import Lines, cancelled, run
from tests.support.processes import META
from tests.support.processes import request as message
from tests.support.prompting import ask, get, hello, refusal, text_of

SECRET = "the password is hunter2"


def test_functions_of_every_kind_are_called() -> None:
    """Ours: coroutine function, def in a thread, bound method, partial, callable object."""
    mcp = MCPServer("x")
    here = threading.get_ident()

    class Greeter:
        def greet(self, name: str) -> str:
            return f"Hi {name}, {threading.get_ident() == here}"

        def __call__(self, name: str) -> str:
            return self.greet(name)

    mcp.add_prompt(hello, "coroutine")
    mcp.add_prompt(Greeter().greet, "method")
    mcp.add_prompt(Greeter().greet, "inline", thread=False)
    mcp.add_prompt(functools.partial(Greeter().greet, name="Eve"), "partial")
    mcp.add_prompt(Greeter(), "object")
    assert text_of(get(mcp, "coroutine")) == "Hello."
    assert text_of(get(mcp, "method", {"name": "Ann"})) == "Hi Ann, False"
    assert text_of(get(mcp, "inline", {"name": "Ann"})) == "Hi Ann, True"
    assert text_of(get(mcp, "partial")) == "Hi Eve, False"
    assert text_of(get(mcp, "object", {"name": "Bob"})) == "Hi Bob, False"


def test_context_is_passed_by_annotation_and_never_listed() -> None:
    """Ours: as for tools."""
    mcp = MCPServer("x")

    @mcp.prompt
    async def who(request: Context[Any], name: str) -> str:
        return f"{name} {request.request_id} {request.protocol_version}"

    assert ask(mcp, "prompts/list")["result"]["prompts"][0]["arguments"] == [{"name": "name", "required": True}]
    assert text_of(get(mcp, "who", {"name": "Ann"})) == "Ann 1 2026-07-28"


@pytest.mark.parametrize("name", ["helo", "HELLO ", "", "hello\n"])
def test_unknown_prompt_is_invalid_params(name: str) -> None:
    """Spec: server/prompts, "Error Handling"; never empty messages."""
    mcp = MCPServer("x")
    mcp.add_prompt(hello)
    text = refusal(get(mcp, name), -32602)
    assert text.startswith(f"Unknown prompt: {name!r}")
    assert ("did you mean 'hello'?" in text) == (name != "")


@pytest.mark.parametrize("params", [{}, {"name": 5}, {"name": None}])
def test_a_request_without_name_is_invalid_params(params: dict[str, Any]) -> None:
    """Spec: schema, GetPromptRequestParams."""
    mcp = MCPServer("x")
    mcp.add_prompt(hello)
    assert "name" in refusal(ask(mcp, "prompts/get", **params), -32602)


def test_an_unexpected_exception_leaks_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """Spec: server/prompts, "Error Handling", -32603; policy P3: the log has it whole, under an id that goes out."""
    mcp = MCPServer("x")

    @mcp.prompt
    def broken() -> str:
        raise ValueError(SECRET)

    with caplog.at_level(logging.ERROR):
        text = refusal(get(mcp, "broken"), -32603)
    [record] = caplog.records
    assert record.getMessage().startswith("prompt broken failed [")
    log_id = record.getMessage().partition("[")[2].partition("]")[0]
    assert text == f"Prompt 'broken' failed unexpectedly; the server's log has the details under id {log_id}"
    assert SECRET in caplog.text
    assert SECRET not in text


@pytest.mark.parametrize(
    ("raised", "code", "text"),
    [
        (ToolError("style: there is no such house style"), -32603, "style: there is no such house style"),
        (ToolError(), -32603, "Prompt 'failing' failed"),
        (ToolError(content=["first", "second"]), -32603, "first\nsecond"),
        (MCPError(1234, "on purpose", {"x": 1}), 1234, "on purpose"),
        (MCPError(-32602, "code: too long"), -32602, "code: too long"),
    ],
)
def test_an_error_raised_on_purpose_can_be_read(raised: Exception, code: int, text: str) -> None:
    """Ours: ToolError is -32603 with its text; MCPError passes through as it is."""
    mcp = MCPServer("x")

    @mcp.prompt
    async def failing() -> str:
        raise raised

    assert refusal(get(mcp, "failing"), code) == text


def test_sanitize_sees_what_leaves() -> None:
    """Ours: the server's `sanitize` stands before prompts too, and before the texts of their errors."""
    mcp = MCPServer("x", sanitize=lambda value: value.replace("hunter2", "***"))
    mcp.add_prompt(lambda: SECRET, "tells")

    @mcp.prompt
    async def fails() -> str:
        raise ToolError(SECRET)

    assert text_of(get(mcp, "tells")) == "the password is ***"
    assert refusal(get(mcp, "fails"), -32603) == "the password is ***"


def test_a_prompt_that_takes_too_long_answers_that() -> None:
    """Ours: `timeout=`, as for tools."""
    mcp = MCPServer("x")

    @mcp.prompt(timeout=0.01)
    async def slow() -> str:
        await asyncio.Event().wait()
        return "never"

    assert refusal(get(mcp, "slow"), -32603) == "Prompt 'slow' did not finish within 0.01 seconds"


def test_a_cancelled_request_is_not_answered() -> None:
    """Spec: basic/patterns/cancellation; the function is cancelled, and nothing is sent or logged as a fault."""
    mcp = MCPServer("x")
    seen: list[str] = []
    begun = asyncio.Event()

    @mcp.prompt
    async def slow() -> str:
        begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise
        return "never"

    async def conversation(lines: Any) -> list[Any]:
        lines.send(message("prompts/get", {"name": "slow"}))
        await begun.wait()
        lines.send(cancelled())
        await lines.idle()
        sent: list[Any] = lines.messages
        return sent

    assert run(mcp, conversation) == []
    assert seen == ["cancelled"]


FORM = {"type": "object", "properties": {"tone": {"type": "string"}}, "required": ["tone"]}
ASK = {"method": "elicitation/create", "params": {"mode": "form", "message": "Which tone?", "requestedSchema": FORM}}
CAPABLE = {**META, "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}}}


def test_a_prompt_may_ask_the_client_first() -> None:
    """Spec: server/prompts, "Getting a Prompt": input_required in place of messages, then messages."""
    mcp = MCPServer("x")

    @mcp.prompt
    async def asks(topic: str, ctx: Context[Any]) -> str | InputRequiredResult:
        if not ctx.input_responses:
            return InputRequiredResult(input_requests={"tone": ASK}, request_state={"topic": topic})
        return f"{topic}, {ctx.input_responses['tone'].content}, {ctx.request_state}"

    async def conversation(lines: Lines) -> tuple[dict[str, Any], dict[str, Any]]:
        params = {"_meta": CAPABLE, "name": "asks", "arguments": {"topic": "sea"}}
        question = (await lines.send(message("prompts/get", params)).answer())["result"]
        responses = {"tone": {"action": "accept", "content": {"tone": "dry"}}}
        retry = {**params, "inputResponses": responses, "requestState": question["requestState"]}
        return question, await lines.send(message("prompts/get", retry, 2)).answer(2)

    question, answer = run(mcp, conversation)
    assert question["resultType"] == "input_required"
    assert question["inputRequests"] == {"tone": ASK}
    assert text_of(answer) == "sea, {'tone': 'dry'}, {'topic': 'sea'}"


def test_a_prompt_asks_no_client_that_cannot_answer() -> None:
    """Spec: basic/patterns/mrtr, "Server Requirements": -32021 where the capability is not declared."""
    mcp = MCPServer("x")
    mcp.add_prompt(lambda: InputRequiredResult(input_requests={"tone": ASK}), "asks")
    assert refusal(get(mcp, "asks"), -32021)


def test_provided_values_are_no_arguments() -> None:
    """Ours: `Depends` in a prompt and in a completer, cleaned up behind the call."""
    mcp = MCPServer("x")
    closed: list[str] = []

    async def connection() -> AsyncIterator[str]:
        yield "connection"
        closed.append("connection")

    @mcp.prompt
    async def rows(table: str, db: Annotated[str, Depends(connection)]) -> str:
        return f"{table} over {db}"

    @mcp.completion("rows", "table")
    async def tables(value: str, db: Annotated[str, Depends(connection)]) -> list[str]:
        return [f"{value} over {db}"]

    assert ask(mcp, "prompts/list")["result"]["prompts"][0]["arguments"] == [{"name": "table", "required": True}]
    assert text_of(get(mcp, "rows", {"table": "t"})) == "t over connection"
    ref, argument = {"type": "ref/prompt", "name": "rows"}, {"name": "table", "value": "t"}
    completed = ask(mcp, "completion/complete", ref=ref, argument=argument)
    assert completed["result"]["completion"]["values"] == ["t over connection"]
    assert closed == ["connection"] * 2
