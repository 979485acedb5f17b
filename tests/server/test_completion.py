"""completion/complete: who answers, what travels, and what is refused."""

from __future__ import annotations

import itertools
import threading
from collections.abc import AsyncIterator, Iterator
from typing import Annotated, Any, Literal

import pytest

from leanmcp import Context, Depends, MCPServer
from leanmcp.server.completion import matching
from leanmcp.types import (
    Completion,
    CompletionArgument,
    CompletionContext,
    PromptReference,
    ResourceTemplateReference,
)
from tests.support.completing import Result, Size, complete, shop, values
from tests.support.prompting import ask, refusal


def capabilities(mcp: MCPServer) -> Result:
    """Return what server/discover declares."""
    declared: Result = ask(mcp, "server/discover")["result"]["capabilities"]
    return declared


# --- what is declared -------------------------------------------------------------------------------------------------


def test_completions_are_declared_where_something_can_be_completed() -> None:
    """Spec: server/utilities/completion, "Capabilities"; served and declared are the same thing."""
    mcp = MCPServer("x")
    mcp.add_prompt(lambda: "", "plain")

    @mcp.prompt
    def typed(word: str, count: int = 1) -> str:
        return word

    assert "completions" not in capabilities(mcp)
    assert refusal(complete(mcp, "word", ref="typed"), -32601)
    mcp.completion("typed", "word")(lambda: ["a"])
    assert capabilities(mcp)["completions"] == {}
    assert values(complete(mcp, "word", ref="typed")) == ["a"]


def test_a_type_that_names_its_values_declares_completions() -> None:
    """Spec: server/utilities/completion, "Capabilities"."""
    assert capabilities(shop())["completions"] == {}


def test_a_handler_declares_completions() -> None:
    """Spec: server/utilities/completion, "Capabilities"."""
    mcp = MCPServer("x")
    mcp.completion()(lambda ref, argument, context: None)
    assert capabilities(mcp)["completions"] == {}


# --- values of types --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("argument", "value", "expected"),
    [
        ("size", "", ["small", "large"]),
        ("size", "l", ["large", "small"]),
        ("size", "SM", ["small"]),
        ("size", "x", []),
        ("level", "", ["1", "20"]),
        ("level", "2", ["20"]),
        ("gift", "", ["true", "false"]),
        ("gift", "f", ["false"]),
        ("colour", "", ["red", "Green", "dark red", "7"]),
        ("colour", "RE", ["red", "Green", "dark red"]),
        ("colour", "g", ["Green"]),
        ("theme", "", ["auto"]),
        ("item", "", []),
        ("count", "1", []),
    ],
)
def test_values_of_a_type_are_offered_best_first(argument: str, value: str, expected: list[str]) -> None:
    """Spec: server/utilities/completion, "Completion Results": ranked by relevance, beginnings before the rest."""
    assert values(complete(shop(), argument, value)) == expected


def test_what_is_offered_is_accepted() -> None:
    """Ours: a completed value gets the prompt."""
    mcp = shop()
    for argument in ("size", "level", "gift", "colour", "theme"):
        for value in values(complete(mcp, argument)):
            answer = ask(mcp, "prompts/get", name="order", arguments={"item": "x", argument: value})
            assert "result" in answer, answer


# --- completers -------------------------------------------------------------------------------------------------------


def test_completers_of_every_kind_are_asked() -> None:
    """Ours: def in a thread, coroutine function, generators, an endless one too."""
    here = threading.get_ident()

    def listed(value: str) -> list[str]:
        return [f"{value}{number}" for number in range(3)] + [str(threading.get_ident() == here)]

    async def awaited(value: str) -> tuple[str, ...]:
        return (value, value.upper())

    def generated(value: str) -> Iterator[str]:
        yield from (value, str(threading.get_ident() == here))

    async def streamed(value: str) -> AsyncIterator[str]:
        yield value
        yield value * 2

    for completer, expected in (
        (listed, ["a0", "a1", "a2", "False"]),
        (awaited, ["a", "A"]),
        (generated, ["a", "False"]),
        (streamed, ["a", "aa"]),
        (lambda value: {"a": 1}.keys(), ["a"]),
        (lambda value: [], []),
        (lambda value: None, []),
        (lambda value: [Size.SMALL.value], ["small"]),
    ):
        mcp = shop()
        mcp.completion("order", "item")(completer)
        assert values(complete(mcp, "item", "a")) == expected


def test_values_are_taken_while_what_they_come_from_is_open() -> None:
    """Ours: a provided value is cleaned up behind the last value, and an endless generator is closed."""
    mcp = shop()
    events: list[str] = []

    async def connection() -> AsyncIterator[str]:
        yield "open"
        events.append("connection closed")

    @mcp.completion("order", "item")
    async def items(value: str, db: Annotated[str, Depends(connection)]) -> AsyncIterator[str]:
        try:
            while True:
                yield db
        finally:
            events.append("items closed")

    assert complete(mcp, "item")["result"]["completion"] == {"values": ["open"] * 100, "hasMore": True}
    assert events == ["items closed", "connection closed"]


def test_a_completer_without_parameters_returns_all_and_what_matches_is_sent() -> None:
    """Ours: the same order as for the values of types; more than a page of them is searched, too."""
    mcp = shop()

    @mcp.completion("order", "item")
    def items() -> list[str]:
        return [f"item {number}" for number in range(500)] + ["needle", "a needle"]

    @mcp.completion("order", "count")
    async def counts() -> AsyncIterator[str]:
        for number in range(300):
            yield str(number)

    assert values(complete(mcp, "item", "Needle")) == ["needle", "a needle"]
    assert complete(mcp, "count", "29")["result"]["completion"]["values"][:3] == ["29", "290", "291"]


def test_settled_arguments_are_passed_on() -> None:
    """Spec: server/utilities/completion, "Requesting Completions": `context.arguments`."""
    mcp = shop()

    @mcp.completion("order", "item")
    def items(value: str, arguments: dict[str, str]) -> list[str]:
        return [f"{value}-{arguments.get('size', 'none')}"]

    assert values(complete(mcp, "item", "pen", context={"arguments": {"size": "large"}})) == ["pen-large"]
    assert values(complete(mcp, "item", "pen", context={})) == ["pen-none"]
    assert values(complete(mcp, "item", "pen")) == ["pen-none"]


def test_a_completer_gets_the_context_and_keeps_its_defaults() -> None:
    """Ours: Context by annotation; a parameter with a default is the author's own."""
    mcp = shop()

    @mcp.completion("order", "item")
    def items(ctx: Context[Any], value: str, unit: str = "kg") -> list[str]:
        return [f"{value} {unit} {ctx.request_id}"]

    @mcp.completion("order", "count")
    def counts(value: str, arguments: dict[str, str], /, *, ctx: Context[Any]) -> list[str]:
        return [f"{value} {arguments} {ctx.request_id}"]

    assert values(complete(mcp, "item", "2")) == ["2 kg 1"]
    assert values(complete(mcp, "count", "2", context={"arguments": {"item": "pen"}})) == ["2 {'item': 'pen'} 1"]


def test_a_completer_comes_before_the_type_and_may_pass() -> None:
    """Ours: None stands for "nothing of my own"."""
    mcp = shop()

    @mcp.completion("order", "size")
    def sizes(value: str) -> list[str] | None:
        return ["huge"] if value == "h" else None

    assert values(complete(mcp, "size", "h")) == ["huge"]
    assert values(complete(mcp, "size", "l")) == ["large", "small"]


def test_one_handler_answers_what_no_completer_does() -> None:
    """Ours: the official SDK's way, `handler(ref, argument, context)`, behind the completers and before the types."""
    mcp = shop()
    seen: list[Any] = []

    @mcp.completion()
    async def handle(
        ref: PromptReference | ResourceTemplateReference,
        argument: CompletionArgument,
        context: CompletionContext | None,
    ) -> Completion | None:
        seen.append((ref, argument, context))
        return Completion(values=["from the handler"], total=1, has_more=False) if argument.name == "item" else None

    mcp.completion("order", "count")(lambda: ["1"])
    assert values(complete(mcp, "item", "p", context={"arguments": {"size": "large"}})) == ["from the handler"]
    assert values(complete(mcp, "size", "l")) == ["large", "small"]
    assert values(complete(mcp, "count")) == ["1"]
    assert seen == [
        (
            PromptReference(name="order"),
            CompletionArgument(name="item", value="p"),
            CompletionContext(arguments={"size": "large"}),
        ),
        (PromptReference(name="order"), CompletionArgument(name="size", value="l"), None),
    ]


def test_the_decorator_works_bare() -> None:
    """Ours: `@mcp.completion`, and the function stays what it was."""
    mcp = shop()

    @mcp.completion
    def handle(ref: Any, argument: Any, context: Any) -> list[str]:
        return ["x"]

    assert handle(None, None, None) == ["x"]
    assert values(complete(mcp, "item")) == ["x"]


def complete_uri(mcp: MCPServer, uri: str, variable: str, value: str = "", **more: Any) -> Result:
    """Return the response to completion/complete for a variable of a template."""
    ref = {"type": "ref/resource", "uri": uri}
    return ask(mcp, "completion/complete", ref=ref, argument={"name": variable, "value": value}, **more)


# --- resource templates -----------------------------------------------------------------------------------------------


def test_variables_of_a_template_are_completed() -> None:
    """Spec: server/utilities/completion, "Reference Types": ref/resource by the URI template."""
    mcp = MCPServer("x")
    uri = "db://{table}/{mode}"

    @mcp.resource(uri)
    def rows(table: str, mode: Literal["full", "brief"]) -> str:
        return table

    assert capabilities(mcp)["completions"] == {}
    assert values(complete_uri(mcp, uri, "mode", "b")) == ["brief"]
    assert values(complete_uri(mcp, uri, "table", "b")) == []

    @mcp.completion(uri, "table")
    def tables(value: str, arguments: dict[str, str]) -> list[str]:
        return [f"{value}ooks of {arguments['mode']}"]

    context = {"arguments": {"mode": "full"}}
    assert values(complete_uri(mcp, uri, "table", "b", context=context)) == ["books of full"]
    assert "it has table, mode; did you mean 'mode'?" in refusal(complete_uri(mcp, uri, "mod"), -32602)
    assert refusal(complete_uri(mcp, "db://{x}", "x"), -32602) == "Unknown resource template: 'db://{x}'"


def test_a_template_of_plain_texts_completes_nothing() -> None:
    """Spec: server/utilities/completion, "Capabilities"; a prompt of the template's name is another thing."""
    mcp = MCPServer("x")
    mcp.add_resource(lambda name: name, "notes://{name}", name="notes")
    assert "completions" not in capabilities(mcp)
    mcp.add_prompt(lambda name: name, "notes")
    mcp.completion("notes", "name")(lambda: ["of the prompt"])
    assert values(complete(mcp, "name", ref="notes")) == ["of the prompt"]
    assert values(complete_uri(mcp, "notes://{name}", "name")) == []


def test_the_handler_is_asked_for_templates_too() -> None:
    """Ours: it tells the two kinds of references apart by their class."""
    mcp = MCPServer("x")
    mcp.add_resource(lambda name: name, "notes://{name}", name="notes")

    @mcp.completion()
    def handle(ref: Any, argument: CompletionArgument, context: Any) -> list[str]:
        assert isinstance(ref, ResourceTemplateReference)
        return [f"{ref.uri} {argument.name} {argument.value}"]

    assert values(complete_uri(mcp, "notes://{name}", "name", "a")) == ["notes://{name} name a"]


# --- how many ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("returned", "count", "total", "has_more"),
    [
        ([str(number) for number in range(100)], 100, 100, False),
        ([str(number) for number in range(101)], 100, 101, True),
        ((str(number) for number in range(100)), 100, 100, False),
        (map(str, itertools.count()), 100, None, True),
        (Completion(values=["a"] * 101), 100, 101, True),
        (Completion(values=["a"] * 101, total=5000, has_more=False), 100, 5000, True),
        (Completion(values=["a"], total=7, has_more=True), 1, 7, True),
        (Completion(values=["a"]), 1, None, None),
    ],
)
def test_at_most_100_values_travel(returned: Any, count: int, total: int | None, has_more: bool | None) -> None:
    """Spec: server/utilities/completion, "Completion Results": maximum 100, total, hasMore."""
    mcp = shop()
    mcp.completion("order", "item")(lambda value: returned)
    completion = complete(mcp, "item")["result"]["completion"]
    assert len(completion["values"]) == count
    assert (completion.get("total"), completion.get("hasMore")) == (total, has_more)


def test_values_of_a_type_are_cut_too() -> None:
    """Spec: server/utilities/completion, "Completion Results"."""
    found = matching([f"v{number}" for number in range(250)], "v")
    assert (len(found.values), found.total, found.has_more) == (100, 250, True)
