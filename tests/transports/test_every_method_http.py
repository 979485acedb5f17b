"""What holds for every method over HTTP: eras, headers against the body, and nothing kept between two requests."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from tests.support.endpoint import refused
from tests.support.events import BOTH, EventWire
from tests.support.every import CLIENT, KINDS, LISTS, PREFIX, Kind, tool
from tests.support.listening import ACKNOWLEDGED, listen
from tests.support.processes import META, ROOT, VERSION, http, http_server, request
from tests.support.wire import Answer, Wire, ask

LISTEN = Kind("subscriptions/listen", {"notifications": {}}, "")
# A sealed state, and the id of a line in the log, differ each time.
ALIKE = [kind for kind in KINDS if kind.definition != "InputRequiredResult" and kind.params.get("name") != "boom"]
NAMED = [kind for kind in KINDS if kind.method in ("tools/call", "prompts/get", "resources/read")]
of_every_kind = pytest.mark.parametrize("kind", [*KINDS, LISTEN], ids=str)
of_named_kinds = pytest.mark.parametrize("kind", NAMED, ids=str)


@pytest.fixture(scope="module")
def ports() -> Iterator[list[int]]:
    """Two processes of one server."""
    with ExitStack() as stack:
        fixture = ROOT / "tests" / "fixtures" / "everything.py"
        yield [stack.enter_context(http_server(fixture)).port for _ in range(2)]


@pytest.fixture(scope="module")
def port(ports: list[int]) -> int:
    """The port of one of them."""
    return ports[0]


def base64_of(value: str) -> str:
    """Return a header value in the base64 form."""
    return f"=?base64?{base64.b64encode(value.encode()).decode()}?="


def name_of(kind: Kind) -> str:
    """Return what Mcp-Name mirrors."""
    name: str = kind.params.get("uri") or kind.params["name"]
    return name


# --- eras -------------------------------------------------------------------------------------------------------------

NEXT = "2027-01-01"
OLD = "2025-11-25"
OTHERS = ["initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe", "nope/x"]
EVERY_METHOD = [*[kind for kind in KINDS if kind.definition != "InputRequiredResult"], LISTEN] + [
    Kind(method, {}, "") for method in OTHERS
]


@pytest.mark.parametrize("kind", EVERY_METHOD, ids=str)
@pytest.mark.parametrize(
    ("client", "header", "version", "code"),
    [
        ("modern, header left out", "", VERSION, -32020),
        ("modern, legacy header", OLD, VERSION, -32020),
        ("modern, header of a later version", NEXT, VERSION, -32020),
        ("later version", NEXT, NEXT, -32022),
        ("later version, our header", VERSION, NEXT, -32020),
        ("later version, header left out", "", NEXT, -32020),
        ("legacy version in both", OLD, OLD, -32022),
        ("legacy", OLD, None, -32602),
        ("legacy, before there was a header", "", None, -32602),
        ("no metadata, our header", VERSION, None, -32602),
        ("no metadata, header of a later version", NEXT, None, -32602),
    ],
)
def test_every_method_meets_every_era_alike(
    port: int, kind: Kind, client: str, header: str, version: str | None, code: int
) -> None:
    """Spec: basic/versioning; basic/transports/streamable-http, "Protocol Version Header"."""
    message = kind.message("a", {} if version is None else CLIENT | {PREFIX + "protocolVersion": version})
    if version is None:
        del message["params"]["_meta"]
    answer = ask(port, http(message, mcp_protocol_version=header, accept=BOTH))
    refused(answer, 400, code, "a")
    if code == -32022:
        assert answer.message["error"]["data"] == {"supported": [VERSION], "requested": version}


@pytest.mark.parametrize("method", OTHERS)
def test_methods_that_are_gone_are_404(port: int, method: str) -> None:
    """Spec: basic/transports/streamable-http, "Protocol Version Header"; whatever of the legacy era they are."""
    refused(ask(port, http(request(method, request_id="a"))), 404, -32601, "a")


@of_every_kind
def test_every_method_answers_a_modern_client(port: int, kind: Kind) -> None:
    """Spec: basic/transports/streamable-http, "Receiving Messages"; the first frame, where the answer is a stream."""
    with EventWire(port) as wire:
        wire.call(kind.message("a"))
        if kind is LISTEN:
            wire.head()
            assert wire.event()["method"] == ACKNOWLEDGED
        else:
            answer = wire.answer()
            assert (answer.status, answer.message["id"]) == (200, "a")
            assert "result" in answer.message


# --- headers ----------------------------------------------------------------------------------------------------------


@of_every_kind
@pytest.mark.parametrize("method", ["", "nope", "TOOLS/LIST", "tools/call, tools/call"])
def test_every_method_is_held_against_its_header(port: int, kind: Kind, method: str) -> None:
    """Spec: basic/transports/streamable-http, "Server Validation"."""
    refused(ask(port, http(kind.message("a"), mcp_method=method, accept=BOTH)), 400, -32020, "a")


@of_named_kinds
def test_every_name_is_held_against_its_header(port: int, kind: Kind) -> None:
    """Spec: basic/transports/streamable-http, "Server Validation" and "Value Encoding"."""
    name = name_of(kind)
    message = kind.message("a")
    for good in (name, base64_of(name), f" \t{name} "):
        assert ask(port, http(message, mcp_name=good)).status == 200
    broken = base64_of(name)[:-3].rstrip("=") + "=====?="
    for bad in ("", name.upper(), name + "x", base64_of(name + "x"), base64_of(name)[:-2], broken, "=?base64?!?="):
        refused(ask(port, http(message, mcp_name=bad)), 400, -32020, "a")


@pytest.mark.parametrize(
    ("inner", "region", "instant", "good"),
    [
        ({"region": "eu", "instant": 5}, "eu", "5", True),
        ({"region": "zürich 世界"}, base64_of("zürich 世界"), "", True),
        ({"region": "=?base64?ZXU=?="}, base64_of("=?base64?ZXU=?="), "", True),
        ({"instant": 2**53 + 1}, "", str(2**53 + 1), True),
        ({"instant": 2**63 + 1}, "", str(2**63 + 1), True),
        ({"region": None, "instant": None}, "", "", None),
        ({}, "", "", True),
        (None, "", "", None),
        ("absent", "", "", True),
        ({"region": "eu"}, "", "", False),
        ({"region": "zürich"}, base64_of("zurich"), "", False),
        ({"region": "=?base64?ZXU=?="}, "=?base64?ZXU=?=", "", False),
        ({"instant": 2**53 + 1}, "", str(2**53), False),
        ({"instant": 2**63 + 1}, "", str(2**63), False),
        ({"instant": 5}, "", "5.5", False),
        ({"region": None}, "null", "", False),
        ({"region": None}, base64_of(""), "", False),
        ({}, "eu", "", False),
        ("absent", "eu", "", False),
        (None, "", "5", False),
    ],
)
def test_inner_arguments_are_held_against_their_headers(
    port: int, inner: Any, region: str, instant: str, good: bool | None
) -> None:
    """Spec: basic/transports/streamable-http, "Server Behavior for Custom Headers"; null and absent have no header.

    A `good` of None is a call whose headers are right and whose arguments the schema refuses.
    """
    message = tool("place", **({} if inner == "absent" else {"place": inner})).message("a")
    answer = ask(port, http(message, mcp_param_region=region, mcp_param_instant=instant))
    if good is False:
        refused(answer, 400, -32020, "a")
        return
    result = answer.message["result"]
    assert (answer.status, result["isError"]) == (200, good is None)
    if good:
        found = inner if isinstance(inner, dict) else {}
        assert answer.text == f"{found.get('region')} {found.get('instant')}"


# --- nothing is kept --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ALIKE, ids=str)
def test_every_method_is_answered_first_and_alike_by_each_process(ports: list[int], kind: Kind) -> None:
    """Spec: basic/index, "Statelessness": no request needs another one before it, on its connection or elsewhere."""
    answers = [ask(port, http(kind.message("a"))).message for port in (*ports, *ports)]
    assert "result" in answers[0]
    assert answers == [answers[0]] * 4


def test_a_list_may_be_walked_over_two_processes(ports: list[int]) -> None:
    """Spec: server/utilities/pagination; basic/index, "Statelessness": a page from each in turn."""
    for method, member in LISTS.items():
        walks = []
        for order in (ports, ports[::-1], ports[:1]):
            names: list[str] = []
            params: dict[str, Any] = {}
            for turn in range(10):
                result = ask(order[turn % len(order)], http(request(method, params))).message["result"]
                names += [entry["name"] for entry in result[member]]
                if "nextCursor" not in result:
                    break
                params = {"cursor": result["nextCursor"]}
            walks.append(names)
        assert len(walks[0]) == len(set(walks[0])) > 2
        assert walks[0] == walks[1] == walks[2]


def test_a_connection_remembers_nothing_of_its_client(port: int) -> None:
    """Spec: basic/index, "Statelessness": version and capabilities count for the request that carries them."""

    def capable(capabilities: dict[str, Any]) -> bytes:
        return http(tool("sender").message(meta=META | {PREFIX + "clientCapabilities": capabilities}))

    def capabilities_of(answer: Answer) -> Any:
        return answer.message["result"]["structuredContent"]["capabilities"]

    asks = tool("order", item="tea")
    with Wire(port) as wire:
        assert capabilities_of(wire.send(capable({"elicitation": {}})).answer()) == {"elicitation": {}}
        assert capabilities_of(wire.send(capable({})).answer()) == {}
        assert wire.send(http(asks.message())).answer().message["result"]["resultType"] == "input_required"
        refused(wire.send(http(asks.message(meta=META))).answer(), 400, -32021)
        later = META | {PREFIX + "protocolVersion": NEXT}
        refused(wire.send(http(asks.message(meta=later), mcp_protocol_version=NEXT)).answer(), 400, -32022)
        assert wire.send(http(asks.message())).answer().status == 200


def test_one_id_may_be_that_of_several_clients(ports: list[int]) -> None:
    """Spec: basic/index, "Requests": an id is unique among those of its own sender."""
    with EventWire(ports[0]) as one, EventWire(ports[0]) as two, EventWire(ports[1]) as three:
        for wire in (one, two, three):
            wire.call(listen("same"))
            wire.head()
            assert wire.event()["params"]["_meta"] == {PREFIX + "subscriptionId": "same"}
