"""Which version and era a client settles on, and what it tells where there is none."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest

from leanmcp.client import Client, negotiation
from leanmcp.client.legacy import LegacyMetadata
from leanmcp.errors import (
    CallTimeout,
    CannotConnect,
    ConnectionLost,
    Forbidden,
    HTTPStatusError,
    InternalError,
    MCPError,
    MethodNotFound,
    NotAnMCPServer,
    NotFound,
    Unauthorized,
    VersionMismatch,
)
from leanmcp.types import DiscoverResult, Implementation
from tests.support.scripted import DISCOVERED, DONE, Failure, Mute, Scripted, only

INITIALIZED = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "old", "version": "1"},
    "instructions": "be gentle",
}
UNSUPPORTED = {"supported": ["2026-07-28", "2025-11-25"], "requested": "2026-07-28"}


class DualScripted(Scripted):
    """A scripted server that can be spoken to in both eras.

    Attributes:
        sent: notifications and responses of the client.
        ends: how many sessions were ended.
    """

    def __init__(self, answer: Any, **options: Any) -> None:
        super().__init__(answer, **options)
        self.sent: list[dict[str, Any]] = []
        self.ends = 0
        self.version: str | None = None
        self.asked: Any = None
        self.told: Any = None
        self.renew: Any = None

    def legacy(self) -> DualScripted:
        """Carry the messages of earlier versions, too."""
        return self

    async def send(self, message: bytes, /) -> None:
        """Keep a message."""
        self.sent.append(msgspec.json.decode(message))

    async def listen(self) -> None:
        """Nothing to do."""

    async def end(self) -> None:
        """Count."""
        self.ends += 1


async def _tools(transport: Scripted, **options: Any) -> str:
    """Connect, list, and return the version."""
    async with asyncio.timeout(10), transport.client(**options) as client:
        await client.list_tools()
        return client.protocol_version


def versions(transport: Scripted) -> list[str | None]:
    """Return the versions that requests have named."""
    key = "io.modelcontextprotocol/protocolVersion"
    return [message["params"].get("_meta", {}).get(key) for message in transport.requests]


# --- this era -----------------------------------------------------------------------------------------------------


def test_discovery_tells_about_the_server() -> None:
    """Spec: server/discover."""
    found = {
        **DISCOVERED,
        "capabilities": {"tools": {}, "prompts": {}},
        "instructions": "use it",
        "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "s", "version": "2"}},
    }

    async def main() -> None:
        async with Scripted(only(server_discover=found)).client() as client:
            assert client.protocol_version == "2026-07-28"
            assert client.server_info == Implementation(name="s", version="2")
            assert client.server_capabilities == {"tools": {}, "prompts": {}}
            assert client.instructions == "use it"

    asyncio.run(main())


def test_a_pinned_version_and_a_known_server_need_no_round_trip() -> None:
    """Spec: basic/versioning: discovery is optional; ours: FEATURES N30."""
    known = DiscoverResult(supported_versions=["2026-07-28"], capabilities={"tools": {}}, instructions="i")

    async def main() -> None:
        for options in ({"mode": "2026-07-28"}, {"prior_discover": known}):
            asked: list[str] = []
            transport = Scripted(lambda method, _, asked=asked: asked.append(method))  # type: ignore[misc]
            async with transport.client(**options) as client:
                assert asked == []
                assert client.instructions == ("i" if "prior_discover" in options else None)

    asyncio.run(main())


def test_a_refused_version_is_tried_again_with_a_mutual_one() -> None:
    """Spec: basic/versioning, "Protocol Version Negotiation": at once, and once."""
    refused = Failure(-32022, "Unsupported protocol version", UNSUPPORTED, status=400)
    transport = Scripted(only(server_discover=[refused, DISCOVERED], tools_list=[refused, {"tools": []}]))
    assert asyncio.run(_tools(transport)) == "2026-07-28"
    assert transport.methods == ["tools/list", "tools/list"]

    endless = Scripted(only(tools_list=refused))
    with pytest.raises(MCPError) as caught:
        asyncio.run(_tools(endless))
    assert caught.value.code == -32022
    assert len(endless.requests) == 2


@pytest.mark.parametrize("data", [{"supported": ["2027-01-01", "2099-01-01"], "requested": "2026-07-28"}, None, {}])
@pytest.mark.parametrize("mode", ["auto", "2026-07-28"])
def test_no_mutual_version_names_both_lists(data: Any, mode: str) -> None:
    """Spec: basic/versioning: an error to the user; CONFORMANCE 7, "-32022 retry with no mutual version"."""
    refused = Failure(-32022, "no", data, status=400)
    transport = DualScripted(only(server_discover=refused, tools_list=refused))
    with pytest.raises(VersionMismatch) as caught:
        asyncio.run(_tools(transport, mode=mode))
    assert "2026-07-28" in str(caught.value)
    for version in data["supported"] if data else ["none that it names"]:
        assert version in str(caught.value)
    assert "initialize" not in transport.methods


def test_discovery_without_a_mutual_version_names_both_lists() -> None:
    """Spec: server/discover: choose one of `supportedVersions`."""
    transport = Scripted(only(server_discover={**DISCOVERED, "supportedVersions": ["2099-01-01"]}))
    with pytest.raises(VersionMismatch, match=r"2099-01-01.*2026-07-28"):
        asyncio.run(_tools(transport))


def test_modes_that_are_none_are_refused_at_once() -> None:
    """Ours."""
    with pytest.raises(ValueError, match=r"mode='2024-01-01': give 'auto', 'legacy' or a version: 2026-07-28"):
        Client("http://localhost/mcp", mode="2024-01-01")


# --- the way back to earlier versions -----------------------------------------------------------------------------

SIGNS = [
    (True, Failure(-32601, "Method not found", status=200)),
    (True, Failure(-32600, "Bad Request: no session", status=400)),
    (True, Failure(-32602, "Invalid request parameters", status=200)),
    (True, Failure(-32000, "Server not initialized", status=400)),
    (True, HTTPStatusError("400 with HTML", "x", 400)),
    (True, HTTPStatusError("405", "x", 405)),
    (True, NotFound("404", "x", 404)),
    (True, {"resultType": "complete"}),
    (False, Failure(-32601, "Method not found")),
    (False, Failure(-32602, "Invalid")),
    (False, Failure(1234, "who are you")),
]


@pytest.mark.parametrize(("over_http", "answer"), SIGNS)
def test_signs_of_an_earlier_era_lead_to_the_handshake(over_http: bool, answer: Any) -> None:
    """Spec: basic/versioning, "Backward Compatibility": anything that is no modern error; no code in particular."""
    transport = DualScripted(
        only(server_discover=answer, initialize=INITIALIZED, tools_list={"tools": []}), over_http=over_http
    )
    assert asyncio.run(_tools(transport)) == "2025-11-25"
    assert transport.methods == ["initialize", "tools/list"]
    assert transport.sent == [{"jsonrpc": "2.0", "method": "notifications/initialized"}]
    assert transport.version == "2025-11-25"
    assert transport.ends == 1


NO_SIGNS = [
    (Unauthorized("401", "x", 401), Unauthorized),
    (Forbidden("403", "x", 403), Forbidden),
    (HTTPStatusError("502 with HTML", "x", 502), HTTPStatusError),
    (HTTPStatusError("429", "x", 429), HTTPStatusError),
    (NotAnMCPServer("200 with HTML", "x", 200), NotAnMCPServer),
    (CannotConnect("refused", "x"), CannotConnect),
    (ConnectionLost("gone", "x"), ConnectionLost),
    (Failure(-32020, "Header mismatch", status=400), MCPError),
    (Failure(-32021, "Missing capability", status=400), MCPError),
    (Failure(-32603, "Overloaded", status=503), InternalError),
]


@pytest.mark.parametrize(("answer", "kind"), NO_SIGNS)
def test_other_failures_are_told_as_they_are(answer: Any, kind: type[MCPError]) -> None:
    """Spec: basic/versioning: recognized modern errors never lead to the handshake; ours: FIELD 76."""
    transport = DualScripted(only(server_discover=answer, initialize=INITIALIZED), over_http=True)
    with pytest.raises(kind):
        asyncio.run(_tools(transport))
    assert transport.methods == []
    assert transport.closed == 1


def test_a_mute_server_is_tried_with_the_handshake_on_a_pipe_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spec: basic/transports/stdio, "Backward Compatibility": no answer within a reasonable time."""
    monkeypatch.setattr(negotiation, "_PROBE_TIME", 0.01)
    answer = only(server_discover=Mute, initialize=INITIALIZED, tools_list={"tools": []})
    assert asyncio.run(_tools(DualScripted(answer))) == "2025-11-25"
    negotiation._legacy_servers.clear()
    with pytest.raises(CallTimeout, match="server/discover"):
        asyncio.run(_tools(DualScripted(answer, over_http=True), read_timeout_seconds=0.01))


def test_a_slow_server_of_this_era_is_recognized_by_its_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spec: basic/versioning: a modern server names its versions when it refuses `initialize`."""
    monkeypatch.setattr(negotiation, "_PROBE_TIME", 0.01)
    refused = Failure(-32601, "Method not found", {"supported": ["2026-07-28"]})
    transport = DualScripted(only(server_discover=[Mute, DISCOVERED], initialize=refused, tools_list={"tools": []}))
    assert asyncio.run(_tools(transport)) == "2026-07-28"


def test_a_server_that_refuses_both_is_told_by_its_first_answer() -> None:
    """Ours: FIELD 76, one error, no endless retry."""
    transport = DualScripted(
        only(server_discover=NotFound("404 HTML", "x", 404), initialize=NotFound("404 HTML", "x", 404)), over_http=True
    )
    with pytest.raises(NotFound):
        asyncio.run(_tools(transport))
    assert transport.methods == ["initialize"]


def test_a_server_of_this_era_without_discovery_is_used_all_the_same() -> None:
    """Spec: basic/transports/streamable-http: 404 with -32601 is an answer of this era."""
    unknown = Failure(-32601, "Method not found", status=404)
    transport = DualScripted(
        only(server_discover=unknown, initialize=unknown, tools_list={"tools": []}), over_http=True
    )
    assert asyncio.run(_tools(transport)) == "2026-07-28"


def test_a_listed_earlier_version_is_mutual() -> None:
    """Spec: basic/versioning: "retries with a mutually supported version"; that one begins with a handshake."""
    refused = Failure(-32022, "no", {"supported": ["2099-01-01", "2025-06-18"], "requested": "2026-07-28"})
    initialized = {**INITIALIZED, "protocolVersion": "2025-06-18"}
    transport = DualScripted(only(server_discover=refused, initialize=initialized, tools_list={"tools": []}))
    assert asyncio.run(_tools(transport)) == "2025-06-18"
    assert transport.requests[0]["params"]["protocolVersion"] == "2025-06-18"


def test_the_verdict_is_remembered_and_reviewed() -> None:
    """Spec: basic/versioning: "cache the result", "re-probing if the cached assumption later fails"."""
    probes: list[str] = []
    state = {"legacy": True}

    def answer(method: str, params: dict[str, Any]) -> Any:
        if method == "server/discover":
            probes.append(method)
        if method == "tools/list":
            return {"tools": []}
        if state["legacy"] == (method == "initialize"):
            return INITIALIZED if method == "initialize" else DISCOVERED
        raise Failure(-32601)

    assert asyncio.run(_tools(DualScripted(answer))) == "2025-11-25"
    assert asyncio.run(_tools(DualScripted(answer))) == "2025-11-25"
    assert len(probes) == 1
    state["legacy"] = False
    assert asyncio.run(_tools(DualScripted(answer))) == "2026-07-28"
    assert asyncio.run(_tools(DualScripted(answer))) == "2026-07-28"
    assert len(probes) == 3


def test_a_handshake_with_an_unknown_version_names_both() -> None:
    """Spec 2025-11-25: basic/lifecycle, "Version Negotiation"."""
    transport = DualScripted(only(initialize={**INITIALIZED, "protocolVersion": "2024-11-05"}))
    with pytest.raises(VersionMismatch, match=r"2024-11-05.*2025-11-25, 2025-06-18"):
        asyncio.run(_tools(transport, mode="legacy"))
    assert transport.ends == 1


def test_a_transport_of_this_era_only_says_so() -> None:
    """Ours."""
    with pytest.raises(VersionMismatch, match="cannot speak 2025-11-25"):
        asyncio.run(_tools(Scripted(only()), mode="legacy"))


# --- a session of an earlier era ----------------------------------------------------------------------------------


def test_an_earlier_era_looks_the_same_from_outside() -> None:
    """Ours: DiscoverResult, server_info and calls; and its own verbs work there only."""

    async def main() -> None:
        transport = DualScripted(
            only(initialize=INITIALIZED, tools_call=DONE, ping={}, resources_subscribe={}, logging_setLevel={})
        )
        async with transport.client(mode="legacy") as client:
            assert client.server_info == Implementation(name="old", version="1")
            assert client.instructions == "be gentle"
            assert (await client.discover()).supported_versions == ["2025-11-25"]
            assert not (await client.call_tool("t")).is_error
            await client.send_ping()
            await client.subscribe_resource("file:///x")
            await client.set_logging_level("error")
            with pytest.raises(MethodNotFound, match="no subscriptions/listen"):
                client.listen(tools_list_changed=True)
        assert transport.methods[1:] == ["tools/call", "ping", "resources/subscribe", "logging/setLevel"]
        initialize = transport.requests[0]["params"]
        assert initialize["protocolVersion"] == "2025-11-25"
        assert initialize["capabilities"] == {}
        assert initialize["clientInfo"]["name"] == "leanmcp"
        assert versions(transport) == [None] * 5

        async with Scripted(only()).client() as modern:
            with pytest.raises(MethodNotFound, match="ping belongs to earlier"):
                await modern.send_ping()

    asyncio.run(main())


def test_requests_of_the_server_are_answered() -> None:
    """Spec 2025-11-25: basic/utilities/ping; client/elicitation; unknown ones get -32601."""

    async def main() -> None:
        transport = DualScripted(only(initialize=INITIALIZED))
        form = {"type": "object", "properties": {"name": {"type": "string", "default": "Ada"}}}

        async def answer(context: Any, params: Any) -> Any:
            assert context.where == "the scripted server"
            return {"action": "accept", "content": {}}

        async with transport.client(mode="legacy", elicitation_callback=answer) as client:
            assert transport.requests[0]["params"]["capabilities"] == {"elicitation": {"form": {}, "url": {}}}
            transport.asked("a", "ping", {})
            transport.asked(7, "roots/list", {})
            transport.asked(8, "elicitation/create", {"message": "who", "requestedSchema": form})
            transport.asked(9, "elicitation/create", {"message": "who", "requestedSchema": {"type": "nonsense"}})
            async with asyncio.timeout(10):
                while len(transport.sent) < 5:
                    await asyncio.sleep(0)
            assert client.protocol_version == "2025-11-25"
        answers = {message["id"]: message for message in transport.sent[1:]}
        assert answers["a"] == {"jsonrpc": "2.0", "id": "a", "result": {}}
        assert answers[7]["error"]["code"] == -32601
        assert answers[8]["result"] == {"action": "accept", "content": {"name": "Ada"}}
        assert "error" in answers[9]

    asyncio.run(main())


def test_failures_of_callbacks_are_told_without_their_text(caplog: pytest.LogCaptureFixture) -> None:
    """Ours: policy P3 holds for the client's own faults too; an MCPError is what the callback wants to say."""
    outcomes: list[Any] = [ZeroDivisionError("secret"), MCPError(77, "not today")]

    async def answer(context: Any, params: Any) -> Any:
        raise outcomes[context.request_id]

    async def main() -> list[Any]:
        transport = DualScripted(only(initialize=INITIALIZED))
        form = {"type": "object", "properties": {}}
        async with transport.client(mode="legacy", elicitation_callback=answer):
            for number in range(2):
                transport.asked(number, "elicitation/create", {"message": "m", "requestedSchema": form})
            async with asyncio.timeout(10):
                while len(transport.sent) < 3:
                    await asyncio.sleep(0)
        return [message["error"] for message in transport.sent[1:]]

    first, second = asyncio.run(main())
    assert first == {"code": -32603, "message": "The client failed to answer"}
    assert second == {"code": 77, "message": "not today"}
    assert "secret" in caplog.text


def test_a_server_that_asks_without_end_is_not_answered_without_end(caplog: pytest.LogCaptureFixture) -> None:
    """Ours: bounded."""

    async def answer(context: Any, params: Any) -> Any:
        await asyncio.Event().wait()

    async def main() -> None:
        transport = DualScripted(only(initialize=INITIALIZED))
        async with transport.client(mode="legacy", elicitation_callback=answer):
            for number in range(200):
                transport.asked(number, "elicitation/create", {"message": "m", "requestedSchema": {"type": "object"}})
            assert len(asyncio.all_tasks()) < 120

    asyncio.run(main())
    assert "more often than it is answered" in caplog.text


def test_a_question_that_the_server_takes_back_is_given_up() -> None:
    """Spec 2025-11-25: basic/utilities/cancellation."""

    async def main() -> None:
        transport = DualScripted(only(initialize=INITIALIZED))
        gone = asyncio.Event()
        asked = asyncio.Event()

        async def answer(context: Any, params: Any) -> Any:
            asked.set()
            try:
                await asyncio.Event().wait()
            finally:
                gone.set()

        form = {"type": "object", "properties": {}}
        async with asyncio.timeout(10), transport.client(mode="legacy", elicitation_callback=answer):
            transport.asked(8, "elicitation/create", {"message": "who", "requestedSchema": form})
            await asked.wait()
            transport.told("notifications/cancelled", {"requestId": 8})
            await gone.wait()
        assert len(transport.sent) == 1

    asyncio.run(main())


def test_metadata_of_an_earlier_era_holds_the_progress_token_only() -> None:
    """Spec 2025-11-25: basic/utilities/progress."""
    metadata = LegacyMetadata("2025-11-25", Implementation(name="n", version="1"), {})
    assert metadata.request(1, "m", b"") == b'{"jsonrpc":"2.0","id":1,"method":"m","params":{}}'
    with_token = msgspec.json.decode(metadata.request(2, "m", b'"a":1', 2, {"x": 1}))
    assert with_token["params"] == {"_meta": {"x": 1, "progressToken": 2}, "a": 1}
