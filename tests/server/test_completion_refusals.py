"""completion/complete: what is refused, what fails, and what cannot be registered."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from leanmcp import Limits, MCPError, MCPServer, ToolError
from leanmcp.server import completion as module
from leanmcp.server.completion import Bucket
from leanmcp.types import Completion, CompletionArgument, InputRequiredResult
from tests.support.completing import Result, Size, complete, shop, values
from tests.support.prompting import ask, refusal

# --- refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ref", "argument", "text"),
    [
        ({"type": "ref/prompt", "name": "ordr"}, "item", "Unknown prompt: 'ordr'; did you mean 'order'?"),
        (
            {"type": "ref/prompt", "name": "order"},
            "itm",
            "Unknown argument 'itm' of prompt 'order'; it has item, size,",
        ),
        ({"type": "ref/prompt", "name": "order"}, "", "Unknown argument '' of prompt 'order'"),
        ({"type": "ref/resource", "uri": "shop://{item}"}, "item", "Unknown resource template: 'shop://{item}'"),
        ({"type": "ref/tool", "name": "order"}, "item", "Invalid params"),
        ({"name": "order"}, "item", "Invalid params"),
        ({"type": "ref/prompt"}, "item", "Invalid params"),
        ("order", "item", "Invalid params"),
    ],
)
def test_an_unknown_reference_or_argument_is_invalid_params(ref: Any, argument: str, text: str) -> None:
    """Spec: server/utilities/completion, "Error Handling"."""
    answer = ask(shop(), "completion/complete", ref=ref, argument={"name": argument, "value": ""})
    assert refusal(answer, -32602).startswith(text)


@pytest.mark.parametrize(
    "params",
    [
        {"argument": {"name": "item", "value": 5}},
        {"argument": {"name": "item"}},
        {"argument": None},
        {},
        {"argument": {"name": "item", "value": ""}, "context": {"arguments": {"size": 5}}},
        {"argument": {"name": "item", "value": ""}, "context": "large"},
    ],
)
def test_params_of_another_shape_are_invalid(params: Result) -> None:
    """Spec: schema, CompleteRequestParams; server/utilities/completion, "Security": validate all completion inputs."""
    answer = ask(shop(), "completion/complete", ref={"type": "ref/prompt", "name": "order"}, **params)
    assert refusal(answer, -32602)


def test_a_hidden_prompt_is_not_completed() -> None:
    """Spec: server/utilities/completion, "Security": no disclosure by completion."""
    mcp = shop()
    mcp.disable_prompt("order")
    assert refusal(complete(mcp, "size"), -32602) == "Unknown prompt: 'order'"


def test_what_goes_wrong_in_a_completer_leaks_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """Spec: server/utilities/completion, "Error Handling", -32603; policy P3."""
    mcp = shop()

    @mcp.completion("order", "item")
    def items(value: str) -> list[str]:
        raise ValueError("the password is hunter2")

    text = refusal(complete(mcp, "item"), -32603)
    assert text.startswith("Completion 'order:item' failed unexpectedly; the server's log has the details under id ")
    assert "hunter2" in caplog.text


@pytest.mark.parametrize(
    ("raised", "code", "text"),
    [(ToolError("ask later"), -32603, "ask later"), (MCPError(1234, "on purpose"), 1234, "on purpose")],
)
def test_an_error_raised_on_purpose_can_be_read(raised: Exception, code: int, text: str) -> None:
    """Ours: as for prompts."""
    mcp = shop()

    @mcp.completion("order", "item")
    async def items(value: str) -> list[str]:
        raise raised

    assert refusal(complete(mcp, "item"), code) == text


@pytest.mark.parametrize(
    ("returned", "text"),
    [
        ("python", "Completion 'order:item': a completer returns a list of texts, or a Completion, not str"),
        ({"python": 1}, "not dict"),
        (5, "not int"),
        ([1, 2], "Completion 'order:item': a completer returns texts; int is none"),
        ([Size.SMALL], "Completion 'order:item': a completer returns texts; Size is none"),
        (["\ud800"], "lone surrogate"),
    ],
)
def test_what_holds_no_values_is_a_fault_of_the_author(returned: Any, text: str) -> None:
    """Spec: schema, CompleteResult: values are strings."""
    for completer in (lambda value: returned, lambda: returned):
        mcp = shop()
        mcp.completion("order", "item")(completer)
        assert text in refusal(complete(mcp, "item"), -32603)


def test_a_number_that_is_none_is_a_fault_of_the_author() -> None:
    """Spec: schema, CompleteResult: `total` is an integer, `hasMore` a boolean."""
    number: Any = "many"
    for completion, name in (
        (Completion(values=[], total=number), "total"),
        (Completion(values=[], has_more=number), "has_more"),
    ):
        mcp = shop()
        mcp.completion("order", "item")(lambda value, found=completion: found)
        assert f"Completion 'order:item': Completion({name}='many'): give " in refusal(complete(mcp, "item"), -32603)


def test_a_completion_cannot_ask_the_client(caplog: pytest.LogCaptureFixture) -> None:
    """Spec: basic/patterns/mrtr: only tools/call, prompts/get and resources/read may ask."""
    mcp = shop()
    mcp.completion("order", "item")(lambda value: InputRequiredResult(input_requests={}))
    assert refusal(complete(mcp, "item"), -32603)


def test_functions_are_not_asked_faster_than_the_limit() -> None:
    """Spec: server/utilities/completion, "Security": appropriate rate limiting."""
    mcp = MCPServer("x", limits=Limits(completions_per_second=1e-6))
    mcp.add_prompt(lambda word: "", "p")
    asked: list[str] = []
    mcp.completion("p", "word")(lambda value: asked.append(value))
    assert values(complete(mcp, "word", "first", ref="p")) == []
    text = refusal(complete(mcp, "word", ref="p"), -32603)
    assert text == "Too many completion requests, over 1e-06 a second; ask again when typing pauses"
    assert asked == ["first"]


def test_a_bucket_fills_with_time() -> None:
    """Ours: `rate` at once after a pause, and `rate` a second in the long run."""
    bucket = Bucket(3, 0.0)
    assert [bucket.take(0.0) for _ in range(4)] == [True, True, True, False]
    assert [bucket.take(1 / 3), bucket.take(1 / 3)] == [True, False]
    assert [bucket.take(100.0) for _ in range(4)] == [True, True, True, False]
    slow = Bucket(0.5, 0.0)
    assert [slow.take(now) for now in (0.0, 1.0, 2.0)] == [True, False, True]


# --- registration mistakes --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "function", "error", "text"),
    [
        (
            ("ordr", "item"),
            lambda: ["a"],
            ValueError,
            "Unknown prompt: 'ordr'; did you mean 'order'.",
        ),
        (
            ("order", "itm"),
            lambda: ["a"],
            ValueError,
            "Unknown argument 'itm' of prompt 'order'; it has item.*did you mean",
        ),
        (("shop://{x}", "x"), lambda: ["a"], ValueError, "Unknown resource template: 'shop://{x}'; register it before"),
        (("order",), lambda: ["a"], TypeError, "give both, or none of them"),
        (("order", "item"), lambda a, b, c: [], TypeError, "takes a, b, c; give parameters for value, arguments"),
        ((), lambda value: [], TypeError, "takes value; give parameters for ref, argument, context"),
        (("order", "item"), lambda *a: [], TypeError, r"a completion cannot take \*a"),
        (("order", "item"), ["a"], TypeError, "is no function"),
    ],
)
def test_a_mistake_is_told_at_registration(arguments: Any, function: Any, error: type[Exception], text: str) -> None:
    """Ours: the text names what is wrong and what there is."""
    with pytest.raises(error, match=text):
        shop().completion(*arguments)(function)


@pytest.mark.parametrize("timeout", [0, -1, True, "5", float("inf")])
def test_a_timeout_that_is_none_is_told_at_registration(timeout: Any) -> None:
    """Ours: as for tools, prompts and resources."""
    with pytest.raises(ValueError, match=r"timeout=.*: give a positive number, or None for no limit"):
        shop().completion("order", "item", timeout=timeout)(lambda: ["a"])
    with pytest.raises(ValueError, match="give a positive number"):
        shop().completion(timeout=timeout)(lambda ref, argument, context: None)


async def never(value: str) -> list[str]:
    await asyncio.Event().wait()
    raise AssertionError(value)


async def never_ending(value: str) -> AsyncIterator[str]:
    yield value
    await asyncio.Event().wait()


@pytest.mark.parametrize(
    "completer",
    [never, never_ending, lambda value: never(value), lambda value: never_ending(value)],
    ids=["awaited", "generated", "wrapped", "wrapped generator"],
)
def test_a_completion_ends_at_its_timeout(completer: Any) -> None:
    """Ours: as for tools, prompts and resources; what a plain wrapper returns has no more time."""
    mcp = shop()
    mcp.completion("order", "item", timeout=0.2)(completer)  # which a thread on a busy machine has begun by then
    text = refusal(complete(mcp, "item"), -32603)
    assert text == "Completion 'order:item' did not finish within 0.2 seconds"


def test_a_handler_ends_at_its_timeout() -> None:
    """Ours: the one for everything, too."""
    mcp = shop()

    async def handler(ref: Any, argument: CompletionArgument, context: Any) -> list[str]:
        return await never(argument.value)

    mcp.completion(timeout=0.01)(handler)
    assert refusal(complete(mcp, "item"), -32603) == "Completion 'handler' did not finish within 0.01 seconds"


def test_members_of_a_retry_mean_nothing() -> None:
    """Spec: schema, CompleteRequestParams has neither; what a client adds is ignored."""
    mcp = shop()
    mcp.completion("order", "item")(lambda value: ["a"])
    for more in ({"requestState": "x"}, {"requestState": 5}, {"inputResponses": [None]}):
        assert values(complete(mcp, "item", **more)) == ["a"]


def test_values_without_end_hold_nobody_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: of a completer without parameters all is searched, but no more than memory can hold."""
    monkeypatch.setattr(module, "MAX_SEARCHED", 300)

    def endless() -> Iterator[str]:
        while True:
            yield "a"

    async def endless_async() -> AsyncIterator[str]:
        for value in endless():
            yield value

    for completer in (endless, endless_async):
        mcp = shop()
        mcp.completion("order", "item")(completer)
        assert "gives over 300 values" in refusal(complete(mcp, "item"), -32603)
    mcp = shop()
    mcp.completion("order", "item")(lambda: ["a"] * 301)
    assert complete(mcp, "item")["result"]["completion"]["total"] == 301
