"""Questions that a function returns: `InputRequiredResult`, `ctx.input_responses`, `ctx.request_state`."""

from __future__ import annotations

from typing import Any

import pytest

from leanmcp import Context, MCPServer, Model
from leanmcp.elicit import Accepted, Elicit, ElicitURL
from leanmcp.types import ElicitResult, InputRequiredResult
from tests.support.rounds import accepted, error, message, only, payload, play, questions, retry, send, text

ROOTS: dict[str, Any] = {"method": "roots/list"}
SAMPLE = {
    "method": "sampling/createMessage",
    "params": {"messages": [{"role": "user", "content": {"type": "text", "text": "?"}}], "maxTokens": 5},
}
FORM = {
    "method": "elicitation/create",
    "params": {
        "message": "Which word?",
        "requestedSchema": {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]},
    },
}
PAGE = {
    "method": "elicitation/create",
    "params": {"mode": "url", "message": "Please sign in.", "url": "https://example.com/"},
}


class Word(Model):
    """Some text."""

    word: str


WORD = Elicit("Which word?", Word)


def asking(*results: InputRequiredResult) -> tuple[MCPServer, list[tuple[Any, Any]]]:
    """Return a server whose tool returns one result after the other, and what it saw in each round."""
    mcp, seen = MCPServer("x"), []

    @mcp.tool
    async def ask(ctx: Context[Any]) -> str | InputRequiredResult:
        seen.append((ctx.input_responses, ctx.request_state))
        return results[len(seen) - 1] if len(seen) <= len(results) else "done"

    return mcp, seen


def test_requests_of_every_kind_travel_as_they_were_written() -> None:
    """Spec: basic/patterns/mrtr, "InputRequests"; sampling and roots are passed through (M22)."""
    requests = {"form": FORM, "page": PAGE, "model": SAMPLE, "roots": ROOTS, "typed": WORD}
    requests["typed page"] = ElicitURL("Please pay.", "http://127.0.0.1:8000/pay")
    mcp, seen = asking(InputRequiredResult(input_requests=requests))
    asked = send(mcp, message("ask"))
    found = questions(asked)
    assert {key: found[key] for key in ("form", "page", "model", "roots")} == {
        "form": FORM,
        "page": PAGE,
        "model": SAMPLE,
        "roots": ROOTS,
    }
    assert found["typed"]["params"]["requestedSchema"]["required"] == ["word"]
    assert found["typed page"]["params"]["url"] == "http://127.0.0.1:8000/pay"
    roots = {"roots": [{"uri": "file:///a"}]}
    answers = {"form": accepted(word="a"), "model": {"role": "assistant", "content": {}, "model": "m"}, "roots": roots}
    answers["unknown"] = accepted(word="b")
    assert text(send(mcp, retry(message("ask"), asked, answers))) == "done"
    del answers["unknown"]
    assert seen == [(None, None), ({**answers, "form": ElicitResult(action="accept", content={"word": "a"})}, None)]


def test_an_answer_of_another_kind_is_as_if_it_had_not_come() -> None:
    """Spec: basic/patterns/mrtr, "Error Handling"."""
    mcp, seen = asking(InputRequiredResult(input_requests={"form": FORM, "model": SAMPLE, "roots": ROOTS}))
    asked = send(mcp, message("ask"))
    wrong = {"form": {"roots": []}, "model": {"roots": []}, "roots": {"role": "x", "content": {}}}
    send(mcp, retry(message("ask"), asked, wrong))
    assert seen[1] == ({}, None)
    send(mcp, message("ask", inputResponses={"form": accepted(word="a"), "model": 5, "roots": "x", "other": {}}))
    assert seen[2][0] == {"form": ElicitResult(action="accept", content={"word": "a"})}


@pytest.mark.parametrize("state", [{"a": [1, 2.5, None]}, "text", 0, False, [], {"большой": "ж" * 1000}])
def test_a_state_comes_back_as_it_was(state: Any) -> None:
    """Spec: basic/patterns/mrtr, "InputRequiredResult"; any JSON value, with questions or without."""
    mcp, seen = asking(InputRequiredResult(request_state=state), InputRequiredResult(input_requests={"form": FORM}))
    asked = send(mcp, message("ask"))
    assert "inputRequests" not in asked["result"]
    again = send(mcp, retry(message("ask"), asked, {}))
    assert seen[1] == ({}, state)
    assert type(seen[1][1]) is type(state)
    assert text(send(mcp, retry(message("ask"), again, {}))) == "done"
    assert seen[2] == ({}, None), "a result without a state of its own ends the last one"


def test_the_three_ways_may_be_mixed() -> None:
    """Ours: answers, steps and the own state travel in one token."""
    mcp = MCPServer("x")

    @mcp.tool
    async def ask(ctx: Context[Any]) -> str | InputRequiredResult:
        step = await ctx.once("step", lambda: 5)
        if ctx.request_state is None:
            return InputRequiredResult(input_requests={"roots": ROOTS}, request_state="seen")
        first = await ctx.elicit("First?", Word)
        answer = WORD.read((ctx.input_responses or {}).get("word"))
        if answer is None:
            return InputRequiredResult(input_requests={"word": WORD}, request_state="more")
        return f"{step} {first} {answer} {ctx.request_state}"

    answers = play(mcp, message("ask"), {"roots": []}, accepted(word="a"), accepted(word="b"))
    assert text(answers[-1]) == "5 Accepted(data=Word(word='a')) Accepted(data=Word(word='b')) more"
    assert [payload(answer)["state"]["state"] for answer in answers[:-1]] == ["seen", "seen", "more"]


def test_reading_an_answer_checks_it() -> None:
    """Ours: None means ask again."""
    assert WORD.read(ElicitResult(action="accept", content={"word": "a", "more": 1})) == Accepted(Word(word="a"))
    assert WORD.read(ElicitResult(action="accept", content={"word": 5})) is None
    assert WORD.read(ElicitResult(action="accept")) is None
    assert WORD.read(None) is None
    assert WORD.read({"roots": []}) is None
    assert ElicitURL("Go.", "https://example.com").read(ElicitResult(action="accept")) == Accepted(None)


def test_a_tool_without_context_may_ask_and_its_state_is_verified() -> None:
    """Ours: the plain way through the hot path."""
    mcp = MCPServer("x")

    @mcp.tool
    async def ask(item: str) -> InputRequiredResult:
        return InputRequiredResult(input_requests={"form": FORM})

    assert mcp.tools[0].entry.output_schema is None
    asked = send(mcp, message("ask", {"item": "tea"}))
    assert only(asked) == "form"
    assert only(send(mcp, retry(message("ask", {"item": "tea"}), asked, {}))) == "form"
    assert error(send(mcp, retry(message("ask", {"item": "coffee"}), asked, {})))[0] == -32602


def test_the_output_schema_is_that_of_the_completed_call() -> None:
    """Ours: `str | InputRequiredResult` publishes what `str` does."""
    mcp = MCPServer("x")

    @mcp.tool(name="tool")
    async def asks() -> str | InputRequiredResult:
        return "text"

    @mcp.tool(name="tool.")
    async def plain() -> str:
        return "text"

    @mcp.tool
    async def maybe() -> Word | InputRequiredResult | None:
        return Word(word="a")

    schemas = [tool.entry.output_schema for tool in mcp.tools]
    assert schemas[0] == {**(schemas[1] or {}), "title": "toolOutput"}
    assert "InputRequired" not in str(schemas[2])
    assert send(mcp, message("tool"))["result"]["structuredContent"] == {"result": "text"}
    assert send(mcp, message("maybe"))["result"]["structuredContent"] == {"result": {"word": "a"}}


def test_a_result_with_neither_is_refused_where_it_is_made() -> None:
    """Spec: basic/patterns/mrtr: at least one of inputRequests and requestState."""
    nothing: dict[str, Any] = {}
    for empty in (None, nothing):
        with pytest.raises(ValueError, match="give input_requests, request_state or both"):
            InputRequiredResult(input_requests=empty)


@pytest.mark.parametrize(
    "value",
    [
        {"method": "tools/call", "params": {}},
        {"method": "elicitation/create"},
        {"method": "elicitation/create", "params": {"message": "m", "mode": "voice"}},
        {"method": "elicitation/create", "params": {"message": "m", "requestedSchema": {"type": "object"}}},
        {"method": "elicitation/create", "params": {"mode": "url", "message": "m", "url": "javascript:alert(1)"}},
        {"method": "roots/list", "params": []},
        "roots/list",
        object(),
    ],
)
def test_a_request_that_no_client_understands_is_the_server_s_fault(
    value: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """Spec: basic/patterns/mrtr: values are elicitation, sampling or roots requests; the log says what is wrong."""
    mcp, _ = asking(InputRequiredResult(input_requests={"key": value}))
    code, sentence = error(send(mcp, message("ask")))
    assert code == -32603
    assert "no question that a client understands" in sentence
    assert "question of ask failed" in caplog.text


@pytest.mark.parametrize(
    ("field", "schema"),
    [
        ("password", {"type": "string"}),
        ("value", {"type": "string", "title": "API key"}),
        ("value", {"type": "array"}),
        ("value", {"type": "string", "pattern": "a+"}),
    ],
)
def test_forms_written_by_hand_obey_the_same_rules(field: str, schema: dict[str, Any]) -> None:
    """Spec: client/elicitation, "User Interaction Model"; no way around the lint."""
    requested = {"type": "object", "properties": {field: schema}}
    request = {"method": "elicitation/create", "params": {"message": "m", "requestedSchema": requested}}
    mcp, _ = asking(InputRequiredResult(input_requests={"key": request}))
    assert error(send(mcp, message("ask")))[0] == -32603


def test_a_state_without_json_form_is_the_server_s_fault(caplog: pytest.LogCaptureFixture) -> None:
    """Ours: the log has the path."""
    mcp, _ = asking(InputRequiredResult(request_state={"when": object()}))
    assert error(send(mcp, message("ask")))[0] == -32603
    assert "no JSON form" in caplog.text
