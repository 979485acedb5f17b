"""The official Python client answers questions asked in each of the three ways, over stdio and over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest
from mcp import Client, MCPError
from mcp.types import ElicitRequestFormParams, ElicitRequestURLParams, ElicitResult, TextContent, TextResourceContents

from tests.support.processes import DEADLINE, ROOT
from tests.test_official_client import Target, serving, text_of

ASKING = ROOT / "tests" / "fixtures" / "asking.py"
ORDER = ROOT / "examples" / "order" / "server.py"
TEA = {"item": "tea"}
Answer = Callable[[Any], ElicitResult]


def accept(**content: Any) -> Answer:
    """Return what fills in every form alike."""
    return lambda params: ElicitResult(action="accept", content=content or None)


def decline(params: Any) -> ElicitResult:
    """Say no."""
    return ElicitResult(action="decline")


def cancel(params: Any) -> ElicitResult:
    """Close the question."""
    return ElicitResult(action="cancel")


@pytest.fixture(scope="module", params=["stdio", "http"])
def target(request: pytest.FixtureRequest) -> Iterator[Target]:
    """A server that asks in every way."""
    with serving(request.param, ASKING) as where:
        yield where


@pytest.fixture(scope="module", params=["stdio", "http"])
def orders(request: pytest.FixtureRequest) -> Iterator[Target]:
    """The example."""
    with serving(request.param, ORDER) as where:
        yield where


def use(target: Target, answer: Answer | None, conversation: Callable[[Client], Awaitable[None]]) -> list[Any]:
    """Hold a conversation with a client that answers so; return the params of what it was asked."""
    asked: list[Any] = []

    async def callback(context: Any, params: Any) -> ElicitResult:
        asked.append(params)
        assert answer is not None
        return answer(params)

    async def main() -> None:
        async with asyncio.timeout(DEADLINE):
            async with Client(target, elicitation_callback=None if answer is None else callback) as client:
                await conversation(client)

    asyncio.run(main())
    return asked


@pytest.mark.parametrize(
    ("tool", "answer", "said", "rounds"),
    [
        ("declared", accept(count=3), "3 tea", 1),
        ("declared", decline, "quantity: the user was asked for it, and the question was declined", 1),
        ("declared", cancel, "quantity: the user was asked for it, and the question was closed without an answer", 1),
        ("downward", accept(count=3), "tea: 3, accept, charged", 2),
        ("downward", decline, "tea: decline", 1),
        ("downward", cancel, "tea: cancel", 1),
        ("by_hand", accept(count=3), "['tea']: accept", 1),
        ("by_hand", decline, "['tea']: decline", 1),
        ("by_hand", cancel, "['tea']: cancel", 1),
    ],
)
def test_each_way_comes_to_each_of_its_ends(target: Target, tool: str, answer: Answer, said: str, rounds: int) -> None:
    """Spec: basic/patterns/mrtr, "Basic Workflow"; client/elicitation, "Response Actions"."""

    async def conversation(client: Client) -> None:
        assert text_of(await client.call_tool(tool, TEA)) == said

    asked = use(target, answer, conversation)
    assert len(asked) == rounds
    for params in asked:
        assert isinstance(params, ElicitRequestFormParams)
        assert params.requested_schema["properties"]["count"]["type"] == "integer"


def test_a_page_is_opened(target: Target) -> None:
    """Spec: client/elicitation, "URL Mode Elicitation Requests"."""

    async def conversation(client: Client) -> None:
        assert text_of(await client.call_tool("page")) == "accept"

    [params] = use(target, accept(), conversation)
    assert isinstance(params, ElicitRequestURLParams)
    assert params.url == "https://example.com/"


def test_prompts_and_resources_ask_too(target: Target) -> None:
    """Spec: basic/patterns/mrtr, "Supported Requests"."""

    async def conversation(client: Client) -> None:
        prompt = await client.get_prompt("prompt", {"item": "tea"})
        content = prompt.messages[0].content
        assert isinstance(content, TextContent)
        assert content.text == "tea: accept"
        [read] = (await client.read_resource("stock://tea")).contents
        assert isinstance(read, TextResourceContents)
        assert read.text == "tea: accept"

    assert len(use(target, accept(count=1), conversation)) == 2


def test_a_wrong_answer_is_asked_for_again(target: Target) -> None:
    """Spec: client/elicitation, "Form Mode Security" 3."""
    answers = iter([accept(count="many"), accept(count=2)])

    async def conversation(client: Client) -> None:
        assert text_of(await client.call_tool("declared", TEA)) == "2 tea"

    first, second = use(target, lambda params: next(answers)(params), conversation)
    assert first.message == "How many tea?"
    assert second.message.startswith("How many tea?\n\nPlease correct: count: ")


def test_a_client_without_callback_is_told_what_it_lacks(target: Target) -> None:
    """Spec: basic/patterns/mrtr, "Server Requirements (Basic Workflow)" 7; U15."""

    async def conversation(client: Client) -> None:
        for tool in ("declared", "downward", "by_hand"):
            with pytest.raises(MCPError, match="elicitation_callback=") as refused:
                await client.call_tool(tool, TEA)
            assert refused.value.code == -32021
        assert text_of(await client.call_tool("plain", TEA)) == "tea"

    assert use(target, None, conversation) == []


def test_the_example_takes_an_order(orders: Target) -> None:
    """Ours: examples/order, all three tools."""

    def answer(params: Any) -> ElicitResult:
        message = params.message
        if message.startswith("How many"):
            return ElicitResult(action="accept", content={"count": 2})
        if message.startswith("How shall"):
            return ElicitResult(action="accept", content={"speed": "fast", "email": "ann@example.com"})
        if message.startswith("Please pay"):
            return ElicitResult(action="accept")
        return ElicitResult(action="accept", content={"confirmed": "tea" not in message})

    async def conversation(client: Client) -> None:
        assert text_of(await client.call_tool("order", TEA)) == "2 x tea for 8, fast to ann@example.com."
        unknown = await client.call_tool("order", {"item": "milk"})
        assert unknown.is_error, "nothing is asked about arguments that do not fit"
        bought = text_of(await client.call_tool("buy", {"item": "champagne"}))
        assert bought.startswith("Bought champagne, reservation R")
        assert text_of(await client.call_tool("delete_orders")) == f"{bought.rpartition('R')[2][:-1]} orders deleted."

    asked = use(orders, answer, conversation)
    assert [params.message.partition("?")[0] for params in asked][-3:] == [
        "champagne costs 90. Go on",
        "Please pay 90.",
        "Delete all your orders",
    ]


def test_the_example_stops_where_the_user_does(orders: Target) -> None:
    """Ours: examples/order."""

    async def conversation(client: Client) -> None:
        bought = await client.call_tool("buy", {"item": "champagne"})
        assert text_of(bought).startswith("Nothing was bought; reservation R")
        assert text_of(await client.call_tool("buy", TEA)) == "Nothing was bought."
        assert text_of(await client.call_tool("delete_orders")) == "Nothing was deleted."
        ordered = await client.call_tool("order", TEA)
        assert ordered.is_error

    use(orders, decline, conversation)
