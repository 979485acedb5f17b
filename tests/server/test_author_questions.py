"""What authors of servers get wrong about questions and their state, and the sentence that says what to write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import pytest

from leanmcp import Context, Depends, MCPServer, Model
from leanmcp.elicit import Accepted, Cancelled, Declined, Elicit, ElicitURL, Resolve
from leanmcp.server import MemoryStateStore, RequestStateSecurity
from leanmcp.types import InputRequiredResult
from tests.support.rounds import accepted, error, message, play, send
from tests.support.rounds import text as text_of

KEY = b"k" * 32


class Size(Model):
    rows: int


class Colour(Model):
    name: str


class DarkColour(Colour):
    pass


def _refusal(make: Callable[[], object]) -> str:
    with pytest.raises(TypeError) as refusal:
        make()
    return str(refusal.value)


def _registered(function: Callable[..., Any]) -> MCPServer:
    mcp = MCPServer("authors")
    mcp.add_tool(function, "tool")
    return mcp


# --- the security of states -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("option", "value", "text"),
    [
        (
            "single_use",
            True,
            "single_use=True: give a store that remembers what has been used, such as MemoryStateStore() for one "
            "process",
        ),
        (
            "bind_principal",
            "anna",
            "bind_principal='anna': give a function that gets the Context and returns who asks, such as "
            'lambda ctx: ctx.headers.get("x-user")',
        ),
        ("audience", 3, "audience=3: give a string, such as the name of the server"),
        (
            "codec",
            "secret",
            "codec= is of type str: give an object with `seal` and `unseal`, such as AESGCMRequestStateCodec(keys)",
        ),
    ],
)
def test_a_part_of_another_type_is_refused(option: str, value: Any, text: str) -> None:
    """Ours: when it is given, not when the first client answers a question."""
    options: dict[str, Any] = {option: value}
    assert _refusal(lambda: RequestStateSecurity(**options)) == f"RequestStateSecurity: {text}"


def test_a_class_is_no_store_and_a_coroutine_function_no_principal() -> None:
    """Ours: both look right, and fail with the first question."""

    async def who(ctx: Context) -> str:
        return "anna"

    store: Any = MemoryStateStore
    assert "single_use=<class" in _refusal(lambda: RequestStateSecurity(keys=[KEY], single_use=store))
    principal: Any = who
    assert _refusal(lambda: RequestStateSecurity(keys=[KEY], bind_principal=principal)) == (
        "RequestStateSecurity: bind_principal= is `async def`; write a `def`, which returns who asks at once"
    )


def test_a_number_is_no_key() -> None:
    """Ours: bytes(64) would be 64 zeros, which anybody can guess."""
    assert _refusal(lambda: RequestStateSecurity(keys=[64])) == (  # type: ignore[list-item]
        "key 0 of the requestState is of type int: give bytes or a string"
    )


@pytest.mark.parametrize("value", ["secret", KEY, True, RequestStateSecurity])
def test_what_is_no_security_is_refused_without_its_text(value: Any) -> None:
    """Ours: in the constructor, and a secret that is given by mistake stays out of the text."""
    text = _refusal(lambda: MCPServer("authors", request_state_security=value))
    assert text.startswith("MCPServer: request_state_security= is ")
    assert text.endswith(": give RequestStateSecurity(keys=[...])")
    assert "secret" not in text
    assert "kkk" not in text


# --- questions --------------------------------------------------------------------------------------------------------


async def ask_size() -> Elicit[Size]:
    return Elicit("Which size?", Size)


async def ask_untold() -> Any:
    return Elicit("Which size?", Size)


async def ask_dark() -> Elicit[DarkColour]:
    return Elicit("Which colour?", DarkColour)


async def ask_page() -> ElicitURL:
    return ElicitURL("Sign in.", "https://example.com/")


MISFIT = (
    "parameter 'colour' is Colour, but ask_size asks for Size; annotate it with Annotated[Size, Resolve(ask_size)], "
    "or let it ask for what is annotated"
)


def test_a_form_of_another_class_is_refused_at_registration() -> None:
    """Ours: the function must not get a Size where it says Colour; in tools, resolvers and dependencies."""

    async def tool(colour: Annotated[Colour, Resolve(ask_size)]) -> str:
        return colour.name

    async def outcome(colour: Annotated[Accepted[Colour] | Declined, Resolve(ask_size)]) -> str:
        return "x"

    async def resolving(it: Annotated[str, Resolve(tool)]) -> str:
        return it

    async def depending(it: Annotated[str, Depends(tool)]) -> str:
        return it

    async def signing(colour: Annotated[Colour, Resolve(ask_page)]) -> str:
        return colour.name

    assert _refusal(lambda: _registered(tool)) == f"tool 'tool': {MISFIT}"
    assert "but ask_size asks for Size" in _refusal(lambda: _registered(outcome))
    assert _refusal(lambda: _registered(resolving)) == f"resolver 'tool': {MISFIT}"
    assert _refusal(lambda: _registered(depending)) == f"dependency 'tool': {MISFIT}"
    assert _refusal(lambda: _registered(signing)) == (
        "tool 'tool': parameter 'colour' is Colour, but ask_page asks with ElicitURL, which gives None; annotate it "
        "with Accepted[None] | Declined | Cancelled to get how the question ended"
    )


def test_a_form_of_a_subclass_fits() -> None:
    """Ours: it is what the function says."""

    async def tool(
        colour: Annotated[Colour, Resolve(ask_dark)],
        either: Annotated[Size | Colour, Resolve(ask_dark)],
        any_: Annotated[Any, Resolve(ask_size)],
        how: Annotated[Accepted[Colour] | Declined | Cancelled, Resolve(ask_dark)],
        page: Annotated[Accepted[None] | Declined | Cancelled, Resolve(ask_page)],
    ) -> str:
        return colour.name

    assert [tool.name for tool in _registered(tool).tools] == ["tool"]


def test_a_form_that_is_not_announced_is_refused_when_it_is_asked(caplog: pytest.LogCaptureFixture) -> None:
    """Ours: before the user is asked, and so before the function gets what it does not expect."""

    async def tool(colour: Annotated[Colour, Resolve(ask_untold)]) -> str:
        return colour.name

    result = send(_registered(tool), message("tool"))["result"]
    assert result["isError"]
    assert "Tool 'tool' failed unexpectedly" in result["content"][0]["text"]
    assert MISFIT.replace("ask_size", "ask_untold") in caplog.text


def test_two_parameters_of_one_question_are_both_checked(caplog: pytest.LogCaptureFixture) -> None:
    """Ours: the question is asked for the first of them."""

    async def tool(size: Annotated[Size, Resolve(ask_untold)], colour: Annotated[Colour, Resolve(ask_untold)]) -> str:
        return colour.name

    _, answer = play(_registered(tool), message("tool"), accepted(rows=3))
    assert answer["result"]["isError"]
    assert MISFIT.replace("ask_size", "ask_untold") in caplog.text


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        (Size(rows=1), ": give the class Size itself, not an instance, as in Elicit(message, Size)"),
        ("Size", ", not 'Size'"),
        ({"type": "object"}, ", not {'type': 'object'}"),
    ],
)
def test_a_question_wants_a_class(schema: Any, text: str) -> None:
    """Ours: an instance is a typical slip."""
    wanted = "Elicit: schema is a class with a field for each thing to enter"
    assert _refusal(lambda: Elicit("How many?", schema)) == wanted + text


@pytest.mark.parametrize("outcome", [Declined(), Cancelled()])
def test_data_that_nobody_gave_is_explained(outcome: Any) -> None:
    """Ours: who does not check how a question ended learns it."""
    with pytest.raises(AttributeError) as fault:
        _ = outcome.data
    assert str(fault.value) == (
        f"{type(outcome).__name__} has no data: the user gave no answer; check `answer.action == 'accept'`, or "
        "isinstance(answer, Accepted), before you read answer.data"
    )
    with pytest.raises(AttributeError, match="object has no attribute 'date'"):
        _ = outcome.date
    assert not hasattr(outcome, "data")


@pytest.mark.filterwarnings("ignore:coroutine .* was never awaited")
def test_a_forgotten_await_is_hinted_at(caplog: pytest.LogCaptureFixture) -> None:
    """Ours: in the log below the exception, and in the text where the coroutine is returned."""

    async def tool(ctx: Context) -> str:
        answer: Any = ctx.elicit("Which size?", Size)
        return str(answer.data)

    async def returning(ctx: Context) -> Any:
        return ctx.elicit("Which size?", Size)

    assert send(_registered(tool), message("tool"))["result"]["isError"]
    assert "ctx.elicit(...) is a coroutine: did you forget `await`, as in `await ctx.elicit(...)`?" in caplog.text
    assert text_of(send(_registered(returning), message("tool"))) == (
        "Tool 'tool': the result has no JSON form at its root: coroutine has no JSON form; did you forget `await`, as "
        "in `await elicit(...)`?"
    )


@pytest.mark.parametrize("requests", [[Elicit("Which size?", Size)], Elicit("Which size?", Size), {1: {}}])
def test_requests_that_are_no_dict_are_told(requests: Any, caplog: pytest.LogCaptureFixture) -> None:
    """Ours: to the client that the question cannot be asked, to the log why."""

    async def tool() -> InputRequiredResult:
        return InputRequiredResult(input_requests=requests)

    code, text = error(send(_registered(tool), message("tool")))
    assert code == -32603
    assert text.startswith("'tool' asks for input, but what it asks is no question that a client understands; the serv")
    assert (
        "InputRequiredResult(input_requests=...) takes a dict, of a key of yours to its question, as in "
        '{"size": Elicit(message, YourForm)}, not '
    ) in caplog.text


@pytest.mark.parametrize("request_", [Elicit, Size, "Which size?", {"method": "ask"}, ["size"]])
def test_members_that_are_no_request_are_told(request_: Any, caplog: pytest.LogCaptureFixture) -> None:
    """Ours: what a member may be."""

    async def tool() -> InputRequiredResult:
        return InputRequiredResult(input_requests={"size": request_})

    assert "no question that a client understands" in error(send(_registered(tool), message("tool")))[1]
    assert (
        "input_requests holds Elicit, ElicitURL or {'method': ..., 'params': {...}} with the method elicitation/create"
    ) in caplog.text
