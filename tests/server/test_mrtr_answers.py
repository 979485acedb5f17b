"""Answers to what a function asked: changed questions, missing and malformed answers, limits."""

from __future__ import annotations

import logging
import math
from typing import Any

import pytest

from leanmcp import Context, MCPServer, logs
from leanmcp.server import RequestStateSecurity
from tests.support.asking import Quantity, Word, server
from tests.support.lines import Lines, run
from tests.support.processes import encode
from tests.support.rounds import (
    Message,
    accepted,
    error,
    message,
    only,
    payload,
    play,
    questions,
    retry,
    send,
    text,
)


def test_a_changed_question_is_asked_again() -> None:
    """Ours: an answer counts for the exact question that was shown, whether it has a key or not."""
    mcp = server()
    texts = {"keyed": "One?", "plain": "One?"}

    @mcp.tool
    async def keyed(ctx: Context[Any]) -> str:
        return str(await ctx.elicit(texts["keyed"], Word, key="word"))

    @mcp.tool
    async def plain(ctx: Context[Any]) -> str:
        return str(await ctx.elicit(texts["plain"], Word))

    for tool in texts:
        asked = send(mcp, message(tool))
        texts[tool] = "Another?"
        again = send(mcp, retry(message(tool), asked, {only(asked): accepted(word="x")}))
        assert questions(again)[only(again)]["params"]["message"] == "Another?"
        assert "x" in text(send(mcp, retry(message(tool), again, {only(again): accepted(word="x")})))
    assert only(send(mcp, message("keyed"))) == "word"


def test_a_kept_answer_to_a_changed_question_is_asked_for_again() -> None:
    """Ours: also where the answer came rounds ago."""
    mcp = server()
    first = "One?"

    @mcp.tool
    async def ask(ctx: Context[Any]) -> str:
        one = await ctx.elicit(first, Word, key="one")
        two = await ctx.elicit("Two?", Word, key="two")
        return f"{one} {two}"

    asked = play(mcp, message("ask"), accepted(word="x"))[-1]
    assert only(asked) == "two"
    first = "Other?"
    assert only(send(mcp, retry(message("ask"), asked, {"two": accepted(word="y")}))) == "one"


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (accepted(count=0), "count: Input should be greater than or equal to 1"),
        (accepted(count="many"), "count: Input should be a valid integer"),
        (accepted(), "count: Field required"),
        ({"action": "accept"}, "Input should be an object"),
    ],
)
def test_an_answer_that_does_not_fit_is_asked_for_again(answer: dict[str, Any], fault: str) -> None:
    """Spec: client/elicitation, "Form Mode Security" 3; the question then says what was wrong."""
    mcp = server()

    @mcp.tool
    async def ask(ctx: Context[Any]) -> str:
        return str(await ctx.elicit("How many?", Quantity))

    asked, again, done = play(mcp, message("ask"), answer, accepted(count=4))
    assert only(asked) == only(again)
    told = questions(again)[only(again)]["params"]["message"]
    assert told.startswith("How many?\n\nPlease correct: ")
    assert fault in told
    assert "count=4" in text(done)


@pytest.mark.parametrize(
    "responses",
    [{}, {"other": accepted(count=1)}, {"KEY": 12345}, {"KEY": {"action": "maybe"}}, {"KEY": {"roots": []}},
     {"KEY": {"action": "accept", "content": [1]}}, {"KEY": None}, {"KEY": "accept"}],
)  # fmt: skip
def test_a_missing_or_malformed_answer_is_asked_for_again(responses: dict[str, Any]) -> None:
    """Spec: basic/patterns/mrtr, "Error Handling"; what is not asked for is ignored."""
    mcp = server()

    @mcp.tool
    async def ask(ctx: Context[Any]) -> str:
        return str(await ctx.elicit("How many?", Quantity, key="KEY"))

    asked = send(mcp, message("ask"))
    assert only(send(mcp, retry(message("ask"), asked, responses))) == "KEY"
    right = {**responses, "KEY": accepted(count=1, unknown=True)}
    assert "count=1" in text(send(mcp, retry(message("ask"), asked, right)))


@pytest.mark.parametrize("responses", [None, 5, "x", [], True])
@pytest.mark.parametrize("tool", ["ask", "plain"])
def test_input_responses_that_are_no_object_are_a_protocol_error(tool: str, responses: Any) -> None:
    """Spec: basic/patterns/mrtr, "Error Handling"; never a complete result, of a tool that does not ask either."""
    mcp = server()

    @mcp.tool
    async def ask(ctx: Context[Any]) -> str:
        return str(await ctx.elicit("How many?", Quantity))

    @mcp.tool
    async def plain() -> str:
        return "done"

    code, sentence = error(send(mcp, message(tool, inputResponses=responses)))
    assert code == -32602
    assert "inputResponses" in sentence


def test_an_answer_without_a_state_counts_for_the_question_of_its_key() -> None:
    """Ours: a client that knows the questions may answer in the first round; what is checked stays checked."""
    mcp = server()

    @mcp.tool
    async def ask(ctx: Context[Any]) -> str:
        return str(await ctx.elicit("How many?", Quantity, key="count"))

    assert "count=2" in text(send(mcp, message("ask", inputResponses={"count": accepted(count=2)})))
    assert only(send(mcp, message("ask", inputResponses={"count": accepted(count=20)}))) == "count"


def test_nothing_is_remembered_that_was_not_asked_for() -> None:
    """Ours: a client cannot make the state grow."""
    mcp = server()

    @mcp.tool
    async def ask(ctx: Context[Any]) -> str:
        await ctx.elicit("How many?", Quantity)
        await ctx.elicit_url("Please pay.", "https://example.com/")
        return str(await ctx.elicit("Which word?", Word))

    answers = play(mcp, message("ask"), accepted(count=1, junk="x" * 999), accepted(junk="x" * 999))
    [first, second] = payload(answers[-1])["state"]["answers"].values()
    assert first[1] == {"action": "accept", "content": {"count": 1}}
    assert second[1] == {"action": "accept"}


def test_two_questions_with_one_key_are_refused(caplog: pytest.LogCaptureFixture) -> None:
    """Spec: basic/patterns/mrtr: keys are unique within the request; a loop over one key would never end."""
    mcp = server()

    @mcp.tool
    async def ask(ctx: Context[Any]) -> str:
        return str([await ctx.elicit("Again?", Word, key="again") for _ in range(2)])

    answer = play(mcp, message("ask"), accepted(word="x"))[-1]
    assert answer["result"]["isError"]
    assert "two questions of one call have the key 'again'" in caplog.text


def test_the_number_of_rounds_is_limited() -> None:
    """Ours: RequestStateSecurity(max_rounds=...), 10 by default (M23)."""
    for limit, options in ((10, {}), (2, {"request_state_security": RequestStateSecurity(max_rounds=2)})):
        mcp = server(**options)

        @mcp.tool
        async def ask(ctx: Context[Any]) -> str:
            return str(await ctx.elicit("How many?", Quantity))

        answers = play(mcp, message("ask"), *[accepted(count=0)] * (limit - 1))
        code, sentence = error(send(mcp, retry(message("ask"), answers[-1], {only(answers[-1]): accepted(count=0)})))
        assert code == -32602
        assert f"asked about {limit} times" in sentence
        answered = send(mcp, retry(message("ask"), answers[-1], {only(answers[-1]): accepted(count=5)}))
        assert "count=5" in text(answered), "an answer in the last round still counts"


def test_refused_states_fill_no_log(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: strangers may send as many as they like; the log tells of it once a second."""
    said = {"a requestState was refused: %s": (math.inf, 0)}  # a second that does not end
    monkeypatch.setattr(logs, "_said", said)
    mcp = server()

    @mcp.tool
    async def tool(ctx: Context[Any]) -> str:
        return str(await ctx.elicit("One?", Word))

    with caplog.at_level(logging.DEBUG, "leanmcp"):
        for number in range(50):
            assert error(send(mcp, message("tool", requestState=f"x.{number}")))[0] == -32602
    assert not caplog.records
    assert said == {"a requestState was refused: %s": (math.inf, 50)}


def test_an_ignored_argument_of_any_size_is_no_fault_of_the_server(caplog: pytest.LogCaptureFixture) -> None:
    """Ours: `extra_args="ignore"`; the arguments are bound to the state, the ignored ones too."""
    mcp = MCPServer("x", extra_args="ignore")

    @mcp.tool
    async def tool(ctx: Context[Any]) -> str:
        return str(await ctx.elicit("One?", Word))

    async def conversation(lines: Lines) -> Message:
        lines.endpoint.receive(encode(message("tool", {"more": "@"})).replace(b'"@"', b"9" * 5000))
        return await lines.answer()

    code, refusal = error(run(mcp, conversation))
    assert (code, "out of range" in refusal) == (-32602, True)
    assert not caplog.records
