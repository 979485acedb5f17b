"""Which version and era a client settles on, and what it tells where there is none."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from leanmcp.client import Client, negotiation
from leanmcp.errors import (
    CallTimeout,
    CannotConnect,
    ConnectionLost,
    Forbidden,
    HTTPStatusError,
    InternalError,
    MCPError,
    NotAnMCPServer,
    NotFound,
    Unauthorized,
    VersionMismatch,
)
from leanmcp.types import DiscoverResult, Implementation
from tests.support.scripted import DISCOVERED, Failure, Mute, Scripted, only
from tests.support.two_eras import INITIALIZED, DualScripted, tools_of

UNSUPPORTED = {"supported": ["2026-07-28", "2025-11-25"], "requested": "2026-07-28"}


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
    assert asyncio.run(tools_of(transport)) == "2026-07-28"
    assert transport.methods == ["tools/list", "tools/list"]

    endless = Scripted(only(tools_list=refused))
    with pytest.raises(MCPError) as caught:
        asyncio.run(tools_of(endless))
    assert caught.value.code == -32022
    assert len(endless.requests) == 2


@pytest.mark.parametrize("data", [{"supported": ["2027-01-01", "2099-01-01"], "requested": "2026-07-28"}, None, {}])
@pytest.mark.parametrize("mode", ["auto", "2026-07-28"])
def test_no_mutual_version_names_both_lists(data: Any, mode: str) -> None:
    """Spec: basic/versioning: an error to the user; CONFORMANCE 7, "-32022 retry with no mutual version"."""
    refused = Failure(-32022, "no", data, status=400)
    transport = DualScripted(only(server_discover=refused, tools_list=refused))
    with pytest.raises(VersionMismatch) as caught:
        asyncio.run(tools_of(transport, mode=mode))
    assert "2026-07-28" in str(caught.value)
    for version in data["supported"] if data else ["none that it names"]:
        assert version in str(caught.value)
    assert "initialize" not in transport.methods


def test_discovery_without_a_mutual_version_names_both_lists() -> None:
    """Spec: server/discover: choose one of `supportedVersions`."""
    transport = Scripted(only(server_discover={**DISCOVERED, "supportedVersions": ["2099-01-01"]}))
    with pytest.raises(VersionMismatch, match=r"2099-01-01.*2026-07-28"):
        asyncio.run(tools_of(transport))


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
    assert asyncio.run(tools_of(transport)) == "2025-11-25"
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
        asyncio.run(tools_of(transport))
    assert transport.methods == []
    assert transport.closed == 1


def test_a_mute_server_is_tried_with_the_handshake_on_a_pipe_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spec: basic/transports/stdio, "Backward Compatibility": no answer within a reasonable time."""
    monkeypatch.setattr(negotiation, "_PROBE_TIME", 0.01)
    answer = only(server_discover=Mute, initialize=INITIALIZED, tools_list={"tools": []})
    assert asyncio.run(tools_of(DualScripted(answer))) == "2025-11-25"
    negotiation._legacy_servers.clear()
    with pytest.raises(CallTimeout, match="server/discover"):
        asyncio.run(tools_of(DualScripted(answer, over_http=True), read_timeout_seconds=0.01))


def test_a_slow_server_of_this_era_is_recognized_by_its_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spec: basic/versioning: a modern server names its versions when it refuses `initialize`."""
    monkeypatch.setattr(negotiation, "_PROBE_TIME", 0.01)
    refused = Failure(-32601, "Method not found", {"supported": ["2026-07-28"]})
    transport = DualScripted(only(server_discover=[Mute, DISCOVERED], initialize=refused, tools_list={"tools": []}))
    assert asyncio.run(tools_of(transport)) == "2026-07-28"


def test_a_server_that_refuses_both_is_told_by_its_first_answer() -> None:
    """Ours: FIELD 76, one error, no endless retry."""
    transport = DualScripted(
        only(server_discover=NotFound("404 HTML", "x", 404), initialize=NotFound("404 HTML", "x", 404)), over_http=True
    )
    with pytest.raises(NotFound):
        asyncio.run(tools_of(transport))
    assert transport.methods == ["initialize"]


def test_a_server_of_this_era_without_discovery_is_used_all_the_same() -> None:
    """Spec: basic/transports/streamable-http: 404 with -32601 is an answer of this era."""
    unknown = Failure(-32601, "Method not found", status=404)
    transport = DualScripted(
        only(server_discover=unknown, initialize=unknown, tools_list={"tools": []}), over_http=True
    )
    assert asyncio.run(tools_of(transport)) == "2026-07-28"


def test_a_listed_earlier_version_is_mutual() -> None:
    """Spec: basic/versioning: "retries with a mutually supported version"; that one begins with a handshake."""
    refused = Failure(-32022, "no", {"supported": ["2099-01-01", "2025-06-18"], "requested": "2026-07-28"})
    initialized = {**INITIALIZED, "protocolVersion": "2025-06-18"}
    transport = DualScripted(only(server_discover=refused, initialize=initialized, tools_list={"tools": []}))
    assert asyncio.run(tools_of(transport)) == "2025-06-18"
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

    assert asyncio.run(tools_of(DualScripted(answer))) == "2025-11-25"
    assert asyncio.run(tools_of(DualScripted(answer))) == "2025-11-25"
    assert len(probes) == 1
    state["legacy"] = False
    assert asyncio.run(tools_of(DualScripted(answer))) == "2026-07-28"
    assert asyncio.run(tools_of(DualScripted(answer))) == "2026-07-28"
    assert len(probes) == 3


def test_the_servers_met_last_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: a process that meets many servers does not grow for ever."""
    monkeypatch.setattr(negotiation, "_MAX_LEGACY_SERVERS", 2)
    probed: list[str] = []

    def meet(where: str) -> None:
        def answer(method: str, params: dict[str, Any]) -> Any:
            if method == "server/discover":
                probed.append(where)
                raise Failure(-32601)
            return INITIALIZED if method == "initialize" else {"tools": []}

        transport = DualScripted(answer)
        transport.where = where
        assert asyncio.run(tools_of(transport)) == "2025-11-25"

    for where in ("a", "b", "a", "c", "a", "c", "b"):
        meet(where)
    assert probed == ["a", "b", "c", "b"]  # when "c" came, "b" had been met least recently


def test_a_handshake_with_an_unknown_version_names_both() -> None:
    """Spec 2025-11-25: basic/lifecycle, "Version Negotiation"."""
    transport = DualScripted(only(initialize={**INITIALIZED, "protocolVersion": "2024-11-05"}))
    with pytest.raises(VersionMismatch, match=r"2024-11-05.*2025-11-25, 2025-06-18"):
        asyncio.run(tools_of(transport, mode="legacy"))
    assert transport.ends == 1


def test_a_transport_of_this_era_only_says_so() -> None:
    """Ours."""
    with pytest.raises(VersionMismatch, match="cannot speak 2025-11-25"):
        asyncio.run(tools_of(Scripted(only()), mode="legacy"))
