"""Parameters that the user fills in: `Annotated[T, Resolve(fn)]`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any

import pytest

from leanmcp import Context, Depends, Field, MCPServer, Model, ToolError
from leanmcp.elicit import (
    Accepted,
    AcceptedElicitation,
    Cancelled,
    Declined,
    Elicit,
    ElicitationResult,
    ElicitURL,
    Resolve,
)
from tests.support.rounds import CANCELLED, DECLINED, accepted, error, message, only, play, questions, retry, send, text


class Quantity(Model):
    """How many."""

    count: int = Field(ge=1, le=9)


class Word(Model):
    """Some text."""

    word: str


async def ask_count(item: str) -> Elicit[Quantity]:
    """Ask for a number of what the call is about."""
    return Elicit(f"How many {item}?", Quantity)


def ask_word() -> Elicit[Word]:
    """Ask for a word, from a worker thread."""
    return Elicit("Which word?", Word)


def test_a_parameter_is_filled_in_by_the_user() -> None:
    """Ours: M2; the schema does not have it, and the resolver has the call's arguments by name."""
    mcp = MCPServer("x")

    @mcp.tool
    async def order(item: str, quantity: Annotated[Quantity, Resolve(ask_count)]) -> str:
        return f"{quantity.count} {item}"

    assert list(mcp.tools[0].entry.input_schema["properties"]) == ["item"]
    asked, done = play(mcp, message("order", {"item": "tea"}), accepted(count=3))
    assert questions(asked)[only(asked)]["params"]["message"] == "How many tea?"
    assert only(asked).startswith("ask_count-")
    assert text(done) == "3 tea"


def test_independent_questions_are_asked_in_one_round_and_dependent_ones_after() -> None:
    """Ours: nested resolvers, and one that depends on another's answer."""
    mcp = MCPServer("x")

    def ask_more(count: Annotated[Quantity, Resolve(ask_count)], word: Annotated[Word, Resolve(ask_word)]) -> Any:
        return Elicit(f"{count.count} of {word.word}?", Word)

    @mcp.tool
    async def order(
        item: str,
        more: Annotated[Word, Resolve(ask_more)],
        word: Annotated[Word, Resolve(ask_word)],
        count: Annotated[Quantity, Resolve(ask_count)],
    ) -> str:
        return f"{item} {count.count} {word.word} {more.word}"

    asked = send(mcp, message("order", {"item": "tea"}))
    first = questions(asked)
    assert [request["params"]["message"] for request in first.values()] == ["How many tea?", "Which word?"]
    answers = {key: accepted(count=2) if key.startswith("ask_count") else accepted(word="a") for key in first}
    again = send(mcp, retry(message("order", {"item": "tea"}), asked, answers))
    assert questions(again)[only(again)]["params"]["message"] == "2 of a?"
    assert text(send(mcp, retry(message("order", {"item": "tea"}), again, {only(again): accepted(word="b")}))) == (
        "tea 2 a b"
    )


def test_a_resolver_runs_once_a_round_whoever_wants_it() -> None:
    """Ours."""
    mcp = MCPServer("x")
    runs: list[str] = []

    def price(item: str) -> int:
        runs.append(item)
        return len(item)

    def double(price: Annotated[int, Resolve(price)]) -> int:
        return 2 * price

    @mcp.tool
    async def show(item: str, one: Annotated[int, Resolve(price)], two: Annotated[int, Resolve(double)]) -> str:
        return f"{one} {two}"

    assert text(send(mcp, message("show", {"item": "tea"}))) == "3 6"
    assert runs == ["tea"]


def test_a_resolver_may_give_a_value_and_have_the_context() -> None:
    """Ours: only what is not known is asked; Depends, and a sibling by its name, too."""
    mcp = MCPServer("x")

    def connect() -> dict[str, str]:
        return {"tea": "known"}

    async def word(
        item: str, ctx: Context[Any], stock: Annotated[dict[str, str], Depends(connect)], spare: str = "spare"
    ) -> Word | Elicit[Word]:
        known = stock.get(item)
        return Elicit(f"{ctx.request_id}: {spare}?", Word) if known is None else Word(word=known)

    def twice(word: Word) -> str:
        return word.word * 2

    @mcp.tool
    async def show(item: str, again: Annotated[str, Resolve(twice)], word: Annotated[Word, Resolve(word)]) -> str:
        return f"{word.word} {again}"

    assert text(send(mcp, message("show", {"item": "tea"}))) == "known knownknown"
    asked = send(mcp, message("show", {"item": "coffee"}))
    assert questions(asked)[only(asked)]["params"]["message"] == "1: spare?"


@pytest.mark.parametrize(("answer", "said"), [(DECLINED, "declined"), (CANCELLED, "closed without an answer")])
def test_a_refusal_ends_the_call_unless_it_is_wanted(answer: dict[str, Any], said: str) -> None:
    """Spec: client/elicitation, "Error Handling": a server handles decline and cancel."""
    mcp = MCPServer("x")

    @mcp.tool
    async def plain(word: Annotated[Word, Resolve(ask_word)]) -> str:
        return word.word

    @mcp.tool
    async def whole(word: Annotated[Accepted[Word] | Declined | Cancelled, Resolve(ask_word)]) -> str:
        return word.action

    @mcp.tool
    async def named(word: Annotated[ElicitationResult[Word], Resolve(ask_word)]) -> str:
        return f"{isinstance(word, AcceptedElicitation)}"

    @mcp.prompt
    async def prompt(word: Annotated[Word, Resolve(ask_word)]) -> str:
        return word.word

    refused = play(mcp, message("plain"), answer)[-1]["result"]
    assert refused["isError"]
    assert refused["content"][0]["text"] == f"word: the user was asked for it, and the question was {said}"
    assert text(play(mcp, message("whole"), answer)[-1]) == answer["action"]
    assert text(play(mcp, message("whole"), accepted(word="x"))[-1]) == "accept"
    assert text(play(mcp, message("named"), accepted(word="x"))[-1]) == "True"
    code, sentence = error(play(mcp, message("prompt", method="prompts/get"), answer)[-1])
    assert code == -32602
    assert said in sentence


def test_prompts_and_resources_have_them_too() -> None:
    """Spec: basic/patterns/mrtr, "Supported Requests"."""
    mcp = MCPServer("x")

    @mcp.prompt
    async def write(item: str, count: Annotated[Quantity, Resolve(ask_count)]) -> str:
        return f"{count.count} {item}"

    @mcp.resource("stock://{item}")
    async def stock(item: str, count: Annotated[Quantity, Resolve(ask_count)]) -> str:
        return f"{count.count} {item}"

    assert "3 tea" in str(play(mcp, message("write", {"item": "tea"}, method="prompts/get"), accepted(count=3))[1])
    assert "4 tea" in str(play(mcp, message("stock://tea", method="resources/read"), accepted(count=4))[1])


def test_a_page_may_be_asked_for() -> None:
    """Spec: client/elicitation, "URL Mode Elicitation Requests"."""
    mcp = MCPServer("x")

    def sign_in() -> ElicitURL:
        return ElicitURL("Please sign in.", "https://example.com/")

    @mcp.tool
    async def show(signed_in: Annotated[None, Resolve(sign_in)]) -> str:
        return f"signed in: {signed_in}"

    asked, done = play(mcp, message("show"), {"action": "accept"})
    assert questions(asked)[only(asked)]["params"]["mode"] == "url"
    assert text(done) == "signed in: None"


def test_two_resolvers_of_one_name_keep_their_questions_apart() -> None:
    """Ours: closures of one factory."""
    mcp = MCPServer("x")

    def asking(what: str) -> Callable[[], Elicit[Word]]:
        def ask() -> Elicit[Word]:
            return Elicit(f"Which {what}?", Word)

        return ask

    @mcp.tool
    async def show(
        one: Annotated[Word, Resolve(asking("colour"))], two: Annotated[Word, Resolve(asking("size"))]
    ) -> str:
        return f"{one.word} {two.word}"

    asked = send(mcp, message("show"))
    answers = {
        key: accepted(word=request["params"]["message"].removeprefix("Which "))
        for key, request in questions(asked).items()
    }
    assert text(send(mcp, retry(message("show"), asked, answers))) == "colour? size?"


def test_a_dependency_may_ask_and_cleans_up_behind_each_round() -> None:
    """Ours: Depends beside Resolve; both questions in one round."""
    mcp = MCPServer("x")
    seen: list[str] = []

    async def connect(ctx: Context[Any]) -> AsyncIterator[str]:
        answer = await ctx.elicit("Which word?", Word, key="dependency")
        seen.append("open")
        yield answer.action
        seen.append("closed")

    def opened() -> Iterator[str]:
        seen.append("begun")
        try:
            yield "opened"
        finally:
            seen.append("ended")

    @mcp.tool
    async def show(
        first: Annotated[str, Depends(opened)],
        action: Annotated[str, Depends(connect)],
        word: Annotated[Word, Resolve(ask_word)],
    ) -> str:
        return f"{first} {action} {word.word}"

    asked, done = play(mcp, message("show"), accepted(word="x"))
    assert len(questions(asked)) == 2
    assert text(done) == "opened accept x"
    assert seen == ["begun", "ended", "begun", "open", "closed", "ended"]


def test_a_failing_resolver_fails_the_call() -> None:
    """Ours: a ToolError is told, and a question beside it is not asked."""
    mcp = MCPServer("x")

    def fail() -> int:
        raise ToolError("there is none")

    @mcp.tool
    async def show(word: Annotated[Word, Resolve(ask_word)], none: Annotated[int, Resolve(fail)]) -> str:
        return f"{word} {none}"

    result = send(mcp, message("show"))["result"]
    assert (result["isError"], result["content"][0]["text"]) == (True, "there is none")


# --- what is refused at registration ----------------------------------------------------------------------------------


class Login(Model):
    """Asks for what it must not."""

    password: str


class Nested(Model):
    """Has a field that no form can show."""

    words: Word


def _wants(other: int) -> int:
    return other


def _positional(item: str, /) -> str:
    return item


def _secret() -> Elicit[Login]:
    return Elicit("Who are you?", Login)


def _nested() -> Elicit[Nested] | Word:
    return Elicit("What?", Nested)


@pytest.mark.parametrize(
    ("resolver", "error", "words"),
    [
        (
            _wants,
            TypeError,
            "tool 'show': resolver _wants wants 'other', but the function has no argument of this name",
        ),
        (_positional, TypeError, "resolver '_positional': parameter 'item' is passed by name"),
        (_secret, ValueError, "field 'password' of the form Login asks for a secret"),
        (_nested, TypeError, "field 'words' of the form Nested"),
    ],
)
def test_a_resolver_that_cannot_work_is_refused_at_registration(
    resolver: Callable[..., Any], error: type[Exception], words: str
) -> None:
    """Ours: the text names the tool and the parameter or field."""
    mcp = MCPServer("x")

    async def show(item: str, value: Annotated[Any, Resolve(resolver)]) -> str:
        return f"{item} {value}"

    with pytest.raises(error) as refused:
        mcp.add_tool(show)
    assert words in str(refused.value)


def _chicken(egg: Annotated[int, "replaced below"]) -> int:
    return egg


def _egg(chicken: Annotated[int, Resolve(_chicken)]) -> int:
    return chicken


_chicken.__annotations__["egg"] = Annotated[int, Resolve(_egg)]
_egg.__annotations__["chicken"] = Annotated[int, Resolve(_chicken)]


def test_a_circle_of_resolvers_is_refused() -> None:
    """Ours: the text names the circle."""
    mcp = MCPServer("x")

    async def show(value: Annotated[int, Resolve(_chicken)]) -> str:
        return str(value)

    with pytest.raises(TypeError, match="resolvers run in a circle: _chicken -> _egg -> _chicken"):
        mcp.add_tool(show)
    with pytest.raises(TypeError, match="give the function itself"):
        Resolve(5)  # type: ignore[arg-type]


def test_a_resolver_needs_no_hash() -> None:
    """Ours: as a dependency, an instance of a dataclass is a callable like any other."""

    @dataclass
    class Asks:
        what: str

        def __call__(self) -> Elicit[Quantity]:
            return Elicit(f"How many {self.what}?", Quantity)

    mcp = MCPServer("rounds")

    @mcp.tool
    async def order(quantity: Annotated[Quantity, Resolve(Asks("books"))]) -> str:
        return f"{quantity.count}"

    assert text(play(mcp, message("order"), accepted(count=2))[-1]) == "2"
