"""A function that asks from top to bottom: `ctx.elicit`, `ctx.elicit_url`, `ctx.once`."""

from __future__ import annotations

import asyncio
import decimal
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

import msgspec
import pydantic
import pytest

from leanmcp import Context, Model, ToolError
from leanmcp.elicit import Accepted, Cancelled, Declined, Elicit, Resolve
from leanmcp.server import Extension, MethodBinding
from leanmcp.types import InputRequiredResult
from tests.support.asking import Quantity, Word, server
from tests.support.lines import Lines, asking, run
from tests.support.rounds import (
    CANCELLED,
    DECLINED,
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


class Receipt(msgspec.Struct):
    """What a step returns."""

    number: int


def test_a_question_ends_the_round_and_returns_at_once_in_the_next() -> None:
    """Spec: basic/patterns/mrtr, "Basic Workflow"; the function runs from its first line each time."""
    mcp = server()
    runs: list[str] = []

    @mcp.tool
    async def order(item: str, ctx: Context[Any]) -> str:
        runs.append(item)
        answer = await ctx.elicit("How many?", Quantity)
        assert isinstance(answer, Accepted)
        return f"{answer.data.count} {item}"

    asked, done = play(mcp, message("order", {"item": "tea"}), accepted(count=3))
    [request] = questions(asked).values()
    assert request["method"] == "elicitation/create"
    assert request["params"]["message"] == "How many?"
    assert request["params"]["requestedSchema"]["properties"]["count"]["maximum"] == 9
    assert text(done) == "3 tea"
    assert runs == ["tea", "tea"]


def test_each_action_has_its_outcome() -> None:
    """Spec: client/elicitation, "Response Actions"."""
    mcp = server()

    @mcp.tool
    async def ask(ctx: Context[Any]) -> str:
        match await ctx.elicit("Which word?", Word):
            case Accepted(data=Word(word=word)):
                return word
            case Declined():
                return "declined"
            case Cancelled() as closed:
                return closed.action
        return "another outcome"

    ends = [text(play(mcp, message("ask"), answer)[-1]) for answer in (accepted(word="x"), DECLINED, CANCELLED)]
    assert ends == ["x", "declined", "cancel"]


def test_questions_one_after_the_other_take_a_round_each() -> None:
    """Ours: each round has another state, and remembers every answer (M4)."""
    mcp = server()

    @mcp.tool
    async def ask(ctx: Context[Any]) -> str:
        words = [await ctx.elicit("Next?", Word) for _ in range(3)]
        return " ".join(answer.data.word for answer in words if isinstance(answer, Accepted))

    answers = play(mcp, message("ask"), accepted(word="a"), accepted(word="b"), accepted(word="c"))
    assert text(answers[-1]) == "a b c"
    states = [answer["result"]["requestState"] for answer in answers[:-1]]
    assert len(set(states)) == 3
    assert len({only(answer) for answer in answers[:-1]}) == 3
    assert [payload(answer)["state"]["round"] for answer in answers[:-1]] == [1, 2, 3]


@pytest.mark.parametrize("together", ["gather", "group", "gather returning exceptions"])
def test_questions_of_parallel_tasks_are_asked_in_one_round(together: str) -> None:
    """Ours: however the tasks are joined."""
    mcp = server()

    @mcp.tool
    async def ask(ctx: Context[Any]) -> str:
        asking = [ctx.elicit("First?", Word), ctx.elicit("Second?", Word), ctx.elicit("Third?", Quantity)]
        if together == "group":
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(question) for question in asking]
            return str([task.result() for task in tasks])
        return str(await asyncio.gather(*asking, return_exceptions=together != "gather"))

    asked = send(mcp, message("ask"))
    assert sorted(request["params"]["message"] for request in questions(asked).values()) == [
        "First?",
        "Second?",
        "Third?",
    ]
    answers = {
        key: accepted(count=2) if request["params"]["message"] == "Third?" else accepted(word=key)
        for key, request in questions(asked).items()
    }
    done = text(send(mcp, retry(message("ask"), asked, answers)))
    assert done.count("Accepted") == 3
    partly = dict(list(answers.items())[:1])
    again = send(mcp, retry(message("ask"), asked, partly))
    assert questions(again).keys() == answers.keys() - partly.keys()
    rest = {key: answers[key] for key in questions(again)}
    assert text(send(mcp, retry(message("ask"), again, rest))) == done


def test_parallel_questions_may_come_in_another_order() -> None:
    """Ours: whichever task is first in a later round, each gets the answer to its own question."""
    mcp = server()
    order = ["First?", "Second?"]

    @mcp.tool
    async def ask(ctx: Context[Any]) -> str:
        answers = await asyncio.gather(*(ctx.elicit(question, Word) for question in order))
        return str(dict(sorted(zip(order, map(str, answers), strict=True))))

    asked = send(mcp, message("ask"))
    given = {key: accepted(word=request["params"]["message"]) for key, request in questions(asked).items()}
    order.reverse()
    done = text(send(mcp, retry(message("ask"), asked, given)))
    assert done.count("First?") == done.count("Second?") == 2
    assert "'First?': \"Accepted(data=Word(word='First?'))\"" in done


def test_a_failure_beside_a_question_goes_first() -> None:
    """Ours: what went wrong cannot be asked away."""
    mcp = server()

    @mcp.tool
    async def ask(ctx: Context[Any]) -> str:
        async def fail() -> None:
            raise ValueError("broken")

        async with asyncio.TaskGroup() as group:
            group.create_task(ctx.elicit("First?", Word))
            group.create_task(fail())
        return "done"

    answer = send(mcp, message("ask"))
    assert answer["result"]["isError"]
    assert "failed unexpectedly" in answer["result"]["content"][0]["text"]


def test_a_question_passes_through_except_exception_and_runs_finally() -> None:
    """Ours: it is no Exception, so that a careless handler cannot swallow it."""
    mcp = server()
    seen: list[str] = []

    @mcp.tool
    async def ask(ctx: Context[Any]) -> str:
        try:
            answer = await ctx.elicit("Which word?", Word)
        except Exception:
            seen.append("caught")
            return "no answer"
        finally:
            seen.append("finally")
        return str(answer)

    asked, done = play(mcp, message("ask"), accepted(word="x"))
    assert only(asked)
    assert "Accepted" in text(done)
    assert seen == ["finally", "finally"]


def test_a_question_that_was_caught_after_all_is_still_asked() -> None:
    """Ours: a result that was made without the answer never goes out."""
    mcp = server()

    @mcp.tool
    async def ask(ctx: Context[Any]) -> str:
        try:
            return str(await ctx.elicit("Which word?", Word))
        except BaseException:
            return "made up"

    assert only(send(mcp, message("ask")))


# --- pages ------------------------------------------------------------------------------------------------------------


def test_a_page_is_opened_and_its_outcome_has_no_data() -> None:
    """Spec: client/elicitation, "URL Mode Elicitation Requests"."""
    mcp = server()

    @mcp.tool
    async def pay(ctx: Context[Any]) -> str:
        return str(await ctx.elicit_url("Please pay.", "https://example.com/pay/1"))

    asked, done = play(mcp, message("pay"), {"action": "accept"})
    [request] = questions(asked).values()
    assert request == {
        "method": "elicitation/create",
        "params": {"mode": "url", "message": "Please pay.", "url": "https://example.com/pay/1"},
    }
    assert text(done) == "Accepted(data=None)"
    assert text(play(mcp, message("pay"), {"action": "accept", "content": {"card": "4111"}})[-1]) == text(done)
    assert "4111" not in str(play(mcp, message("pay"), {"action": "accept", "content": {"card": "4111"}}))


# --- once -------------------------------------------------------------------------------------------------------------


def test_a_step_before_a_question_is_done_once() -> None:
    """Ours: its result travels in the sealed state; a step of the round that ends with the question, too (M4)."""
    mcp = server()
    charged: list[str] = []

    @mcp.tool
    async def buy(ctx: Context[Any]) -> str:
        def charge() -> Receipt:
            charged.append("first")
            return Receipt(number=7)

        async def ship() -> dict[str, int]:
            charged.append("second")
            return {"parcel": 8}

        plain = await ctx.once("charge", charge)
        await ctx.elicit("Sure?", Word)
        typed = await ctx.once("charge", charge, type=Receipt)
        parcel = await ctx.once("ship", ship)
        await ctx.elicit("Really?", Word)
        return f"{plain} {typed} {parcel}"

    answers = play(mcp, message("buy"), accepted(word="a"), accepted(word="b"))
    assert text(answers[-1]) == "{'number': 7} Receipt(number=7) {'parcel': 8}"
    assert charged == ["first", "second"]


class Invoice(pydantic.BaseModel):
    total: decimal.Decimal = decimal.Decimal("1.50")


class Folder(Model):
    invoices: list[Invoice]


@dataclass
class Area:
    width: int
    is_wide: bool = field(init=False, default=False)


@pytest.mark.parametrize(
    ("made", "kind"),
    [(Invoice(), Invoice), ([Invoice()], list[Invoice]), (Folder(invoices=[Invoice()]), Folder), (Area(2), Area)],
    ids=["model", "list", "struct", "computed"],
)
def test_a_step_gives_objects_of_the_type_that_is_asked_for(made: Any, kind: Any) -> None:
    """Ours: those of pydantic too, alone and inside of others."""
    mcp, seen = server(), []

    @mcp.tool
    async def step(ctx: Context[Any]) -> str:
        seen.append(await ctx.once("step", lambda: made, type=kind))
        return "done"

    play(mcp, message("step"))
    assert seen == [made]


def test_a_step_that_fails_is_not_done(caplog: pytest.LogCaptureFixture) -> None:
    """Ours: nor one whose result has no JSON form; parallel callers of one step share it."""
    mcp = server()
    runs: list[str] = []

    @mcp.tool
    async def buy(kind: str, ctx: Context[Any]) -> str:
        async def step() -> Any:
            runs.append(kind)
            await asyncio.sleep(0)
            if kind == "fail":
                raise ToolError("no stock")
            return object() if kind == "opaque" else 1

        both = await asyncio.gather(ctx.once("step", step), ctx.once("step", step))
        await ctx.elicit("Sure?", Word)
        return str(both)

    assert send(mcp, message("buy", {"kind": "fail"}))["result"]["isError"]
    assert "no JSON form" in str(send(mcp, message("buy", {"kind": "opaque"})))
    runs.clear()
    assert text(play(mcp, message("buy", {"kind": "good"}), accepted(word="x"))[-1]) == "[1, 1]"
    assert runs == ["good"]


@dataclass
class Place:
    """What a tool returns."""

    name: str


# --- with everything else a tool may have -----------------------------------------------------------------------------


def test_limits_schema_and_sanitizer_of_a_tool_still_hold() -> None:
    """Ours: a round that asks frees its place, has its time, and is not sanitized."""
    mcp = server(sanitize=lambda value: value)

    @mcp.tool(timeout=10, max_concurrency=1, sanitize=lambda value: Place(value.name.upper()))
    async def find(ctx: Context[Any]) -> Place:
        answer = await ctx.elicit("Where?", Word)
        assert isinstance(answer, Accepted)
        return Place(answer.data.word)

    for _ in range(3):
        done = play(mcp, message("find"), accepted(word="here"))[-1]
        assert done["result"]["structuredContent"] == {"name": "HERE"}


def test_progress_of_a_round_comes_before_its_question() -> None:
    """Spec: basic/patterns/progress; the round has a token of its own."""
    mcp = server()

    @mcp.tool
    async def ask(ctx: Context[Any]) -> str:
        await ctx.report_progress(1)
        return str(await ctx.elicit("Which word?", Word))

    async def conversation(lines: Lines) -> list[dict[str, Any]]:
        await lines.send(asking(message("ask"))).answer()
        return lines.messages

    *notes, answer = run(mcp, conversation)
    assert [note["params"]["progress"] for note in notes] == [1]
    assert only(answer)


def test_tools_with_a_schema_written_by_hand_ask_too() -> None:
    """Ours: by every way but the output of the completed call, which is theirs."""
    mcp = server()
    schema = {"type": "object", "properties": {"item": {"type": "string"}}, "required": ["item"]}

    def ask_count(item: str) -> Elicit[Quantity]:
        return Elicit(f"How many {item}?", Quantity)

    @mcp.tool(input_schema=schema, output_schema={"type": "object", "required": ["count"]})
    async def order(
        item: str, count: Annotated[Quantity, Resolve(ask_count)], ctx: Context[Any]
    ) -> dict[str, Any] | InputRequiredResult:
        if ctx.request_state is None:
            return InputRequiredResult(request_state="again")
        return {"count": count.count}

    asked, again = play(mcp, message("order", {"item": "tea"}), accepted(count=2))
    assert questions(asked)[only(asked)]["params"]["message"] == "How many tea?"
    assert questions(again) == {}
    done = send(mcp, retry(message("order", {"item": "tea"}), again, {}))
    assert done["result"]["structuredContent"] == {"count": 2}


def test_prompts_and_resources_ask_in_the_same_way() -> None:
    """Spec: basic/patterns/mrtr, "Supported Requests"."""
    mcp = server()

    @mcp.prompt
    async def write(topic: str, ctx: Context[Any]) -> str:
        return f"{topic}: {await ctx.elicit('How long?', Quantity)}"

    @mcp.resource("page://{name}")
    async def page(name: str, ctx: Context[Any]) -> str:
        return f"{name}: {await ctx.elicit('Which page?', Quantity)}"

    written = play(mcp, message("write", {"topic": "sea"}, method="prompts/get"), accepted(count=3))
    assert only(written[0])
    assert "sea: Accepted(data=Quantity(count=3))" in str(written[1])
    read = play(mcp, message("page://a", method="resources/read"), accepted(count=4))
    assert only(read[0])
    assert "a: Accepted(data=Quantity(count=4))" in str(read[1])


@pytest.mark.parametrize("method", ["tools/list", "prompts/list", "resources/list", "server/discover"])
def test_no_other_method_ever_asks(method: str) -> None:
    """Spec: basic/patterns/mrtr, "Supported Requests"."""
    mcp = server()

    @mcp.tool
    async def ask(ctx: Context[Any]) -> str:
        return str(await ctx.elicit("How many?", Quantity))

    @mcp.prompt
    async def prompt(ctx: Context[Any]) -> str:
        return str(await ctx.elicit("How many?", Quantity))

    @mcp.resource("page://a")
    async def page(ctx: Context[Any]) -> str:
        return str(await ctx.elicit("How many?", Quantity))

    request = message("x", method=method)
    del request["params"]["arguments"]
    assert send(mcp, request)["result"]["resultType"] == "complete"


def test_a_method_of_an_extension_cannot_ask(caplog: pytest.LogCaptureFixture) -> None:
    """Spec: basic/patterns/mrtr, "Supported Requests": no other client request gets an InputRequiredResult."""

    class Nothing(Model):
        """No params."""

    class Asking(Extension):
        identifier = "com.example/asking"

        def methods(self) -> Sequence[MethodBinding]:
            return [MethodBinding("com.example/ask", Nothing, self.ask, declared=False)]

        async def ask(self, ctx: Context[Any], params: Nothing) -> dict[str, Any]:
            return {"answer": str(await ctx.elicit("How many?", Quantity))}

    request = message("x", method="com.example/ask")
    request["params"] = {"_meta": request["params"]["_meta"]}
    assert error(send(server(extensions=[Asking()]), request))[0] == -32603
    assert "com.example/ask cannot ask the client; only tools/call, prompts/get, resources/read can" in caplog.text
