"""Questions of a server, answered, and the request sent again."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from leanmcp import MCPError
from leanmcp.client import ClientRequestContext, rounds
from leanmcp.errors import InvalidResult, RoundLimit
from leanmcp.types import (
    CallToolResult,
    ElicitRequestFormParams,
    ElicitRequestURLParams,
    ElicitResult,
    InputRequiredResult,
)
from tests.support.scripted import DONE, Failure, Mute, Scripted, only

FORM = {
    "type": "object",
    "properties": {"name": {"type": "string", "minLength": 2}, "color": {"type": "string", "default": "red"}},
    "required": ["name"],
}


def ask(*keys: str, state: str | None = None, **requests: Any) -> dict[str, Any]:
    """Return a result that asks for a form by each key, and further requests."""
    form = {"method": "elicitation/create", "params": {"message": "who", "requestedSchema": FORM}}
    found = dict.fromkeys(keys, form) | requests
    result: dict[str, Any] = {"resultType": "input_required"}
    if found:
        result["inputRequests"] = found
    return result if state is None else {**result, "requestState": state}


async def ada(context: ClientRequestContext, params: Any) -> ElicitResult:
    """Answer every form."""
    return ElicitResult(action="accept", content={"name": "Ada"})


def run(transport: Scripted, use: Any = None, **options: Any) -> Any:
    """Return what a call of a client with callbacks gives."""

    async def main() -> Any:
        async with asyncio.timeout(10), transport.client(**{"elicitation_callback": ada, **options}) as client:
            return await (client.call_tool("t", {"a": 1}) if use is None else use(client))

    return asyncio.run(main())


def test_a_question_is_answered_and_the_call_completed() -> None:
    """Spec: basic/patterns/mrtr, "Client Requirements (Basic Workflow)"."""
    asked: list[Any] = []

    async def answer(context: ClientRequestContext, params: Any) -> ElicitResult:
        asked.append((context, params))
        return await ada(context, params)

    state = 'opaque \u00e9 "quoted" \n \U0001f600'
    transport = Scripted(only(tools_call=[ask("k", state=state), DONE]))
    assert not run(transport, elicitation_callback=answer).is_error
    context, params = asked[0]
    assert context == ClientRequestContext("the scripted server", "k", "tools/call", "t")
    assert params == ElicitRequestFormParams(message="who", requested_schema=FORM)
    first, second = transport.requests
    assert second["id"] != first["id"]
    assert second["params"].pop("inputResponses") == {
        "k": {"action": "accept", "content": {"name": "Ada", "color": "red"}}
    }
    assert second["params"].pop("requestState") == state
    assert second["params"] == first["params"]


@pytest.mark.parametrize("state", [b'"\\u00e9\\u0041\\/"', b'""', b'"{\\"a\\": 1}"'])
def test_the_state_goes_back_byte_by_byte(state: bytes) -> None:
    """Spec: basic/patterns/mrtr: "echo back the exact value": not even its escapes change."""
    sent: list[bytes] = []

    class Raw(Scripted):
        async def request(self, request: Any, /) -> bytes:
            if request.method == "tools/call":
                sent.append(request.message)
                if len(sent) == 1:
                    return b'{"jsonrpc":"2.0","id":%d,"result":{"resultType":"input_required","requestState":%s}}' % (
                        request.id,
                        state,
                    )
                return b'{"jsonrpc":"2.0","id":%d,"result":{"content":[]}}' % request.id
            return await super().request(request)

    assert run(Raw(only())) == CallToolResult(content=[])
    assert b'"requestState":' + state + b"}" in sent[1]


def test_no_state_goes_back_where_none_came() -> None:
    """Spec: basic/patterns/mrtr: "MUST NOT include one in the retry"; each round has its own."""
    nothing = {**ask("k"), "requestState": None}
    transport = Scripted(only(tools_call=[ask("k", state="one"), ask("k"), nothing, ask(state="two"), DONE]))
    run(transport)
    assert [sent["params"].get("requestState") for sent in transport.requests] == [None, "one", None, None, "two"]
    assert ["inputResponses" in sent["params"] for sent in transport.requests] == [False, True, True, True, False]
    assert len({sent["id"] for sent in transport.requests}) == 5


def test_questions_and_state_stay_with_their_request() -> None:
    """Spec: basic/patterns/mrtr: "MUST NOT be used for any other request ... in parallel"."""

    async def use(client: Any) -> None:
        await asyncio.gather(*(client.call_tool("t", {"n": number}) for number in range(5)))

    def answer(method: str, params: dict[str, Any]) -> Any:
        if method != "tools/call":
            return None
        if "requestState" not in params:
            return ask("k", state=f"state {params['arguments']['n']}")
        assert params["requestState"] == f"state {params['arguments']['n']}"
        return DONE

    transport = Scripted(answer)
    run(transport, use)
    assert len(transport.requests) == 10


def test_several_questions_are_answered_at_once() -> None:
    """Ours: FEATURES N8, parallel dispatch."""
    waiting = 0
    all_there = asyncio.Event()

    async def answer(context: ClientRequestContext, params: Any) -> ElicitResult:
        nonlocal waiting
        waiting += 1
        if waiting == 3:
            all_there.set()
        await all_there.wait()
        return ElicitResult(action="accept", content={"name": str(context.request_id) * 2})

    transport = Scripted(only(tools_call=[ask("a", "b", "c"), DONE]))
    run(transport, elicitation_callback=answer)
    responses = transport.requests[1]["params"]["inputResponses"]
    assert {key: response["content"]["name"] for key, response in responses.items()} == {
        "a": "aa",
        "b": "bb",
        "c": "cc",
    }


def test_prompts_and_resources_may_ask_too() -> None:
    """Spec: basic/patterns/mrtr, "Supported Requests"."""

    async def use(client: Any) -> Any:
        assert (await client.get_prompt("p", {"x": "y"})).messages == []
        return (await client.read_resource("a:b")).contents[0].text

    contents = {"contents": [{"uri": "a:b", "text": "t"}]}
    transport = Scripted(only(prompts_get=[ask("k"), {"messages": []}], resources_read=[ask("k"), contents]))
    assert run(transport, use) == "t"
    assert [bool(sent["params"].get("inputResponses")) for sent in transport.requests] == [False, True, False, True]
    assert transport.outgoing[3].name == "a:b"


@pytest.mark.parametrize("action", ["decline", "cancel"])
def test_a_user_may_decline_and_cancel(action: Any) -> None:
    """Spec: client/elicitation, "Response Actions": without content."""

    async def answer(context: ClientRequestContext, params: Any) -> ElicitResult:
        return ElicitResult(action=action, content={"name": "typed already"})

    transport = Scripted(only(tools_call=[ask("k"), DONE]))
    run(transport, elicitation_callback=answer)
    assert transport.requests[1]["params"]["inputResponses"] == {"k": {"action": action}}


def test_a_page_to_visit_is_handed_over_whole() -> None:
    """Spec: client/elicitation, "URL Mode Elicitation Requests": accept carries no content."""
    seen: list[Any] = []

    def answer(context: ClientRequestContext, params: Any) -> ElicitResult:
        seen.append(params)
        return ElicitResult(action="accept", content={"secret": 1})

    url = "https://example.com/a/very/long/path?state=" + "x" * 500
    page = {"method": "elicitation/create", "params": {"mode": "url", "message": "log in", "url": url}}
    transport = Scripted(only(tools_call=[ask(page=page), DONE]))
    run(transport, elicitation_callback=answer)
    assert seen == [ElicitRequestURLParams(message="log in", url=url)]
    assert transport.requests[1]["params"]["inputResponses"] == {"page": {"action": "accept"}}


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "file:///etc/passwd", "data:text/html,x", "https://", "no url", "http://a\nb/", 7]
)
def test_only_web_pages_are_asked_about(url: Any) -> None:
    """Ours: a URL of another kind could do anything once it is opened."""
    page = {"method": "elicitation/create", "params": {"mode": "url", "message": "m", "url": url}}
    with pytest.raises(InvalidResult, match="visit"):
        run(Scripted(only(tools_call=[ask(page=page), DONE])))


def test_capabilities_say_what_there_are_callbacks_for() -> None:
    """Spec: client/elicitation, "Capabilities"."""
    sampling: dict[str, Any] = {"sampling/createMessage": lambda *_: {}, "roots/list": lambda *_: {}}
    for options, declared in (
        ({"elicitation_callback": None}, {}),
        ({}, {"elicitation": {"form": {}, "url": {}}}),
        ({"elicitation_modes": ["form"]}, {"elicitation": {"form": {}}}),
        ({"elicitation_callback": None, "input_callbacks": sampling}, {"sampling": {}, "roots": {}}),
    ):
        transport = Scripted(only(tools_call=DONE))
        run(transport, **options)
        meta = transport.requests[0]["params"]["_meta"]
        assert meta["io.modelcontextprotocol/clientCapabilities"] == declared
    with pytest.raises(ValueError, match="elicitation_modes="):
        run(Scripted(only()), elicitation_modes=["voice"])


def test_other_questions_go_to_raw_callbacks() -> None:
    """Ours: sampling and roots are deprecated; there is a way, but no API of their own."""
    asked: list[Any] = []

    async def sample(context: ClientRequestContext, params: dict[str, Any]) -> dict[str, Any]:
        asked.append(params)
        return {"role": "assistant", "content": {"type": "text", "text": "Paris"}, "model": "m"}

    question = {"method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 1}}
    transport = Scripted(only(tools_call=[ask(s=question, r={"method": "roots/list"}), DONE]))
    callbacks = {"sampling/createMessage": sample, "roots/list": lambda context, params: {"roots": []}}
    run(transport, input_callbacks=callbacks)
    assert asked == [question["params"]]
    assert transport.requests[1]["params"]["inputResponses"] == {
        "s": {"role": "assistant", "content": {"type": "text", "text": "Paris"}, "model": "m"},
        "r": {"roots": []},
    }


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        (ask(x={"method": "sampling/createMessage", "params": {}}), "not declared"),
        (ask(x={"method": "elicitation/create", "params": {"mode": "voice", "message": "m"}}), "mode 'voice'"),
        (ask(x={"method": "elicitation/create", "params": {"message": "m"}}), "form that is none"),
        (
            ask(x={"method": "elicitation/create", "params": {"message": "m", "requestedSchema": {"type": "nope"}}}),
            "form that is none",
        ),
        (ask(x={"params": {}}), "no request"),
        (ask(x="what"), "no request"),
        (ask(*map(str, range(101))), "asks 101 questions at once, over 100"),
        ({"resultType": "input_required"}, "no inputRequests and no state"),
        ({"resultType": "input_required", "inputRequests": []}, "invalid"),
        ({"resultType": "input_required", "inputRequests": {}, "requestState": None}, "no inputRequests and no state"),
    ],
)
def test_questions_that_may_not_be_asked_are_errors(asked: Any, text: str) -> None:
    """Spec: basic/patterns/mrtr, "Server Requirements" 6 and 7."""
    transport = Scripted(only(tools_call=[asked, DONE]))
    with pytest.raises(InvalidResult, match=text):
        run(transport)
    assert len(transport.requests) == 1


def test_nothing_is_asked_of_a_client_without_callbacks() -> None:
    """Ours: the text says what to pass."""
    with pytest.raises(InvalidResult, match="pass elicitation_callback="):
        run(Scripted(only(tools_call=ask("k"))), elicitation_callback=None)


@pytest.mark.parametrize(
    ("content", "text"), [({"name": "A"}, "name: "), ({}, "name: "), ({"name": "Ada", "color": 7}, "color: ")]
)
def test_answers_are_held_against_the_form(content: Any, text: str) -> None:
    """Spec: client/elicitation, "Requested Schema": validate before sending."""
    transport = Scripted(only(tools_call=[ask("k"), DONE]))
    with pytest.raises(ValueError, match=text):
        run(transport, elicitation_callback=lambda *_: {"action": "accept", "content": content})
    assert len(transport.requests) == 1


def test_what_a_callback_raises_or_returns_as_an_error_ends_the_call() -> None:
    """Ours: as it is, never an exception group; other questions of the round are given up."""
    stopped: list[Any] = []

    async def answer(context: ClientRequestContext, params: Any) -> ElicitResult:
        if context.request_id == "bad":
            raise ZeroDivisionError
        try:
            await asyncio.Event().wait()
        finally:
            stopped.append(context.request_id)
        raise AssertionError

    with pytest.raises(ZeroDivisionError):
        run(Scripted(only(tools_call=ask("slow", "bad", "slower"))), elicitation_callback=answer)
    assert sorted(stopped) == ["slow", "slower"]
    with pytest.raises(MCPError, match="not now"):
        run(Scripted(only(tools_call=ask("k"))), elicitation_callback=lambda *_: MCPError(1, "not now"))
    with pytest.raises(TypeError, match="must return an ElicitResult"):
        run(Scripted(only(tools_call=ask("k"))), elicitation_callback=lambda *_: "yes")


def test_a_server_that_keeps_asking_meets_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: FEATURES N8, 10 rounds by default; also without questions, which are not sent as fast as they come."""
    monkeypatch.setattr(rounds, "_PAUSES", (0.0, 0.001))
    for asked in (ask("k"), ask(state="again")):
        transport = Scripted(only(tools_call=asked))
        with pytest.raises(RoundLimit, match=r"asked 10 times about tools/call 't'.*input_required_max_rounds="):
            run(transport)
        assert len(transport.requests) == 11
    transport = Scripted(only(tools_call=ask("k")))
    with pytest.raises(RoundLimit):
        run(transport, input_required_max_rounds=2)
    assert len(transport.requests) == 3


def test_rounds_can_be_driven_by_hand() -> None:
    """Ours: answers that come later, or from elsewhere."""

    async def use(client: Any) -> Any:
        asked = await client.call_tool_once("t", {"a": 1})
        assert isinstance(asked, InputRequiredResult)
        assert asked.request_state == "s"
        assert asked.input_requests is not None
        answers = {"k": ElicitResult(action="accept", content={"name": "Ada"})}
        done = await client.call_tool_once("t", {"a": 1}, input_responses=answers, request_state=asked.request_state)
        assert isinstance(done, CallToolResult)
        return await client.call_tool("t", {"a": 1}, input_responses=answers, request_state="s")

    transport = Scripted(only(tools_call=[ask("k", state="s"), DONE, DONE]))
    assert not run(transport, use, elicitation_callback=None).is_error
    for sent in transport.requests[1:]:
        assert sent["params"]["inputResponses"] == {"k": {"action": "accept", "content": {"name": "Ada"}}}
        assert sent["params"]["requestState"] == "s"
        assert sent["params"]["arguments"] == {"a": 1}


def test_a_call_that_is_given_up_gives_up_its_questions() -> None:
    """Ours."""

    async def main() -> None:
        asked, gone = asyncio.Event(), asyncio.Event()

        async def answer(context: ClientRequestContext, params: Any) -> ElicitResult:
            asked.set()
            try:
                await asyncio.Event().wait()
            finally:
                gone.set()
            raise AssertionError

        transport = Scripted(only(tools_call=ask("k")))
        async with asyncio.timeout(10), transport.client(elicitation_callback=answer) as client:
            task = asyncio.ensure_future(client.call_tool("t"))
            await asked.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert gone.is_set()

    asyncio.run(main())


def test_an_answer_takes_as_long_as_the_user_needs() -> None:
    """Ours: the timeout is the server's; each round has its own."""

    async def slowly(context: ClientRequestContext, params: Any) -> ElicitResult:
        await asyncio.sleep(0.6)
        return await ada(context, params)

    transport = Scripted(only(tools_call=[ask("k"), DONE]))
    assert not run(transport, elicitation_callback=slowly, read_timeout_seconds=0.5).is_error
    with pytest.raises(MCPError):
        run(Scripted(only(tools_call=[ask("k"), Failure(1), Mute])))
