"""Rounds over real processes: status codes, hosts that share a key, and both transports."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from leanmcp.server.request_state import REFUSAL
from tests.support.processes import ROOT, encode, http, http_server, stdio_server
from tests.support.rounds import FORMS, Message, accepted, error, message, only, questions, retry, text
from tests.support.spec import read
from tests.support.wire import Answer, ask

ASKING = ROOT / "tests" / "fixtures" / "asking.py"
TEA = {"item": "tea"}
SHARED = "0123456789abcdef" * 4
OTHER = "fedcba9876543210" * 4
NEWER = "aaaabbbbccccdddd" * 4


@pytest.fixture(scope="module")
def hosts() -> Iterator[list[int]]:
    """Three processes: two that share a key, of which the second one has a newer one as well, and a stranger."""
    with ExitStack() as stack:
        keys = [SHARED, f"{NEWER},{SHARED}", OTHER]
        yield [stack.enter_context(http_server(ASKING, LEANMCP_STATE_KEY=key)).port for key in keys]


def post(port: int, request: Message, **fields: str) -> Answer:
    """Send one request on a connection of its own."""
    params = request["params"]
    return ask(port, http(request, mcp_name=params.get("name", params.get("uri")), **fields))


def sent(port: int, request: Message, **fields: str) -> Message:
    """Return the answer to one request, which has status 200."""
    answer = post(port, request, **fields)
    assert answer.status == 200
    found: Message = answer.message
    return found


@pytest.mark.parametrize(
    "request_",
    [
        message("declared", TEA),
        message("by_hand", TEA),
        message("prompt", TEA, method="prompts/get"),
        message("stock://tea", method="resources/read"),
    ],
    ids=["declared", "by hand", "prompt", "resource"],
)
def test_a_round_begun_on_one_host_ends_on_another(hosts: list[int], request_: Message) -> None:
    """Ours: nothing but the key is shared (M17, FIELD 9)."""
    for begun, ended in ((0, 1), (1, 0)):
        asked = sent(hosts[begun], request_)
        answered = retry(request_, asked, {only(asked): accepted(count=3)})
        if (begun, ended) == (1, 0):  # the first host does not know the newer key yet, with which the second one seals
            assert error(sent(hosts[ended], answered)) == (-32602, REFUSAL)
        else:
            assert sent(hosts[ended], answered)["result"]["resultType"] == "complete"


def test_rounds_may_go_from_host_to_host_and_steps_are_done_once(hosts: list[int]) -> None:
    """Ours: what earlier rounds left travels on."""
    request = message("downward", TEA)
    asked = sent(hosts[0], request)
    again = sent(hosts[0], retry(request, asked, {only(asked): accepted(count=2)}))
    done = sent(hosts[1], retry(request, again, {only(again): accepted(count=3)}))
    assert text(done) == "tea: 2, accept, charged"


def test_a_host_with_another_key_refuses(hosts: list[int]) -> None:
    """Spec: basic/patterns/mrtr 4."""
    asked = sent(hosts[0], message("declared", TEA))
    assert error(sent(hosts[2], retry(message("declared", TEA), asked, {}))) == (-32602, REFUSAL)


def test_one_flipped_bit_is_refused(hosts: list[int]) -> None:
    """Spec: basic/patterns/mrtr 4; a bit of the payload, and one of the seal."""
    asked = sent(hosts[0], message("declared", TEA))
    state = asked["result"]["requestState"]
    for place in (10, -1):
        flipped = state[:place] + chr(ord(state[place]) ^ 1) + (state[place + 1 :] if place != -1 else "")
        request = retry(message("declared", TEA), asked, {}, requestState=flipped)
        assert error(sent(hosts[0], request)) == (-32602, REFUSAL)


def test_another_tool_and_other_arguments_are_refused(hosts: list[int]) -> None:
    """Spec: basic/patterns/mrtr 5."""
    asked = sent(hosts[0], message("declared", TEA))
    for other in (message("plain", TEA), message("declared", {"item": "coffee"})):
        assert error(sent(hosts[0], retry(other, asked, {}))) == (-32602, REFUSAL)


def test_another_principal_is_refused(hosts: list[int]) -> None:
    """Spec: basic/patterns/mrtr 5; who that is, a field says that a trusted proxy sets."""
    asked = sent(hosts[0], message("declared", TEA), x_user="ann")
    again = retry(message("declared", TEA), asked, {only(asked): accepted(count=3)})
    assert error(sent(hosts[0], again, x_user="bob")) == (-32602, REFUSAL)
    assert error(sent(hosts[0], again)) == (-32602, REFUSAL)
    assert text(sent(hosts[1], again, x_user="ann")) == "3 tea"


@pytest.mark.parametrize(
    ("request_", "required"),
    [
        (message("declared", TEA, capabilities={}), {"elicitation": {"form": {}}}),
        (message("downward", TEA, capabilities={}), {"elicitation": {"form": {}}}),
        (message("by_hand", TEA, capabilities={}), {"elicitation": {"form": {}}}),
        (message("page", capabilities=FORMS), {"elicitation": {"url": {}}}),
        (message("roots", capabilities=FORMS), {"roots": {}}),
        (message("prompt", TEA, method="prompts/get", capabilities={}), {"elicitation": {"form": {}}}),
        (message("stock://tea", method="resources/read", capabilities={}), {"elicitation": {"form": {}}}),
    ],
    ids=["declared", "downward", "by hand", "page", "roots", "prompt", "resource"],
)
def test_what_the_client_did_not_declare_is_status_400(
    hosts: list[int], request_: Message, required: dict[str, Any]
) -> None:
    """Spec: basic/patterns/mrtr 7; schema, MissingRequiredClientCapabilityError; HTTP 400."""
    answer = post(hosts[0], request_)
    assert (answer.status, answer.code) == (400, -32021)
    assert answer.headers["content-type"] == "application/json"
    assert answer.message["error"]["data"] == {"requiredCapabilities": required}
    assert answer.message["id"] == request_["id"]


def test_a_client_that_takes_event_streams_only_gets_its_question_as_an_event(hosts: list[int]) -> None:
    """Spec: basic/transports/streamable-http, "Sending Messages"."""
    answer = post(hosts[0], message("declared", TEA), accept="text/event-stream")
    assert (answer.status, answer.headers["content-type"]) == (200, "text/event-stream")


def test_rounds_on_stdio() -> None:
    """Spec: basic/transports/stdio; the same messages, one line each."""
    with stdio_server(ASKING) as process:
        assert process.stdin is not None
        assert process.stdout is not None

        def exchange(request: Message) -> Message:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(encode(request) + b"\n")
            process.stdin.flush()
            found: Message = read(process.stdout.readline())
            assert found["id"] == request["id"]
            return found

        request = message("downward", TEA)
        asked = exchange(request)
        again = exchange(retry(request, asked, {only(asked): accepted(count=2)}))
        assert questions(again)[only(again)]["params"]["message"] == "Really?"
        assert text(exchange(retry(request, again, {only(again): {"action": "decline"}}))) == "tea: 2, decline, charged"
        tampered = retry(request, again, {}, requestState=again["result"]["requestState"] + "-TAMPERED")
        assert error(exchange(tampered)) == (-32602, REFUSAL)
        assert exchange(message("page", capabilities=FORMS))["error"]["code"] == -32021
