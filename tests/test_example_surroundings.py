"""What stands around calls, in the examples: transactions, middleware, traces and an extension; on both transports."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from typing import Any, Literal

import msgspec
import pytest
from mcp import Client, MCPError
from mcp.client import ClientExtension, NotificationBinding
from mcp.types import Request, RequestParams, Result
from pydantic import BaseModel

from tests.support.events import BOTH, EventWire
from tests.support.processes import (
    DEADLINE,
    META,
    ROOT,
    call,
    encode,
    environment,
    http,
    http_server,
    request,
    run_stdio,
)
from tests.support.wire import ask
from tests.test_official_client import serving

GUARDED = ROOT / "examples" / "guarded" / "server.py"
SEARCH = ROOT / "examples" / "search" / "server.py"
TRACE = "0af7651916cd43dd8448eb211c80319c"
TRACEPARENT = f"00-{TRACE}-00f067aa0ba902b7-01"


def with_meta(message: dict[str, Any], **meta: Any) -> dict[str, Any]:
    """Return a request with further members of `_meta`."""
    return {**message, "params": {**message["params"], "_meta": {**META, **meta}}}


def key(value: str) -> dict[str, str]:
    """Return the member of `_meta` that signs in."""
    return {"com.example/key": value}


# --- middleware and traces --------------------------------------------------------------------------------------------


def test_guarded_knows_who_calls_on_stdio() -> None:
    """Ours: middleware around a `def` tool; a trace in `_meta`; a line about each request in the log."""
    messages = [
        with_meta(call("whoami", {}, 1), **key("key-of-anna")),
        with_meta(call("whoami", {}, 2), **key("key-of-bert")),
        with_meta(call("whoami", {}, 3), **key("stolen")),
        with_meta(call("trace", {}, 4), traceparent=TRACEPARENT),
        with_meta(call("trace", {}, 5), traceparent=TRACEPARENT.upper()),
    ]
    done = subprocess.run(
        [sys.executable, str(GUARDED)],
        input=b"\n".join(map(encode, messages)) + b"\n",
        capture_output=True,
        timeout=DEADLINE,
        env=environment(),
    )
    answers = {message["id"]: message for message in map(msgspec.json.decode, done.stdout.splitlines())}
    said = {number: answers[number]["result"]["structuredContent"]["result"] for number in (1, 2, 4, 5)}
    assert said == {1: "anna", 2: "bert", 4: f"{TRACE}, sampled", 5: "none"}
    assert answers[3]["error"] == {"code": 401, "message": "unknown key; leave it out to be a guest"}
    lines = done.stderr.decode().splitlines()
    assert len(lines) == len(messages)
    assert all(re.fullmatch(r"tools/call \w+ (done|failed) in [0-9.]+ ms, (no )?trace( \w+)?", line) for line in lines)
    assert [line for line in lines if TRACE in line]


def test_guarded_reads_header_fields_on_http() -> None:
    """Ours: the header field signs in; a trace of the last hop counts only where `_meta` has none."""
    other = TRACEPARENT.replace(TRACE, TRACE[::-1])
    with http_server(GUARDED) as server:

        def said(message: dict[str, Any], **fields: str) -> str:
            text: str = ask(server.port, http(message, **fields)).text
            return text

        assert said(call("whoami"), x_api_key="key-of-anna") == "anna"
        assert said(call("whoami")) == "guest"
        assert said(call("trace"), traceparent=TRACEPARENT) == f"{TRACE}, sampled"
        assert said(with_meta(call("trace"), traceparent=other), traceparent=TRACEPARENT) == f"{TRACE[::-1]}, sampled"
        limited = [said(call("whoami")) for _ in range(101)]
        assert limited[-1] == "too many calls; wait a minute"
        assert said(call("whoami"), x_api_key="key-of-bert") == "bert"


# --- the extension ----------------------------------------------------------------------------------------------------


class Found(BaseModel):
    """What the server notifies of."""

    title: str


class SearchClient(ClientExtension):
    """The client's half of the extension."""

    identifier = "com.example/search"

    def __init__(self) -> None:
        self.found: list[str] = []

    def notifications(self) -> list[NotificationBinding[Found]]:
        return [NotificationBinding(method="notifications/com.example/found", params_type=Found, handler=self._note)]

    async def _note(self, params: Found) -> None:
        self.found.append(params.title)


class SearchParams(RequestParams):
    """Params of the method."""

    query: str
    limit: int = 10


class SearchRequest(Request[SearchParams, Literal["com.example/search"]]):
    """The request."""

    method: Literal["com.example/search"] = "com.example/search"
    params: SearchParams


class SearchResult(Result):
    """Its result."""

    titles: list[str]


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_the_official_client_uses_the_extension(transport: str) -> None:
    """Spec: basic/versioning, "Extension Negotiation"; declared by both sides, or refused with what is missing."""
    extension = SearchClient()

    async def main() -> None:
        message = SearchRequest(params=SearchParams(query="dune"))
        with serving(transport, SEARCH) as target:
            async with asyncio.timeout(DEADLINE), Client(target, extensions=[extension]) as client:
                assert client.server_capabilities.extensions == {"com.example/search": {"books": 5}}
                result = await client.session.send_request(message, SearchResult)
                assert result.titles == ["Dune", "Dune Messiah"]
                while len(extension.found) < 2:  # told of by a queue of the client's own
                    await asyncio.sleep(0)
                empty = SearchRequest(params=SearchParams(query=""))
                with pytest.raises(MCPError, match=r"params\.query: String should have at least 1 character"):
                    await client.session.send_request(empty, SearchResult)
            async with asyncio.timeout(DEADLINE), Client(target) as client:
                with pytest.raises(MCPError, match=r"declares the extension 'com\.example/search'") as refused:
                    await client.session.send_request(message, SearchResult)
                assert refused.value.code == -32021
                assert refused.value.error.data == {"requiredCapabilities": {"extensions": {"com.example/search": {}}}}

    asyncio.run(main())
    assert sorted(extension.found) == ["Dune", "Dune Messiah"]


def test_the_extension_on_http() -> None:
    """Spec: basic/index, "Per-request protocol fields": HTTP 400; the notes turn the answer into a stream."""
    search = request("com.example/search", {"query": "dune"})
    declared: dict[str, Any] = {"extensions": {"com.example/search": {}}}
    with http_server(SEARCH) as server:
        answer = ask(server.port, http(search))
        assert (answer.status, answer.code) == (400, -32021)
        with EventWire(server.port) as wire:
            message = with_meta(search, **{"io.modelcontextprotocol/clientCapabilities": declared})
            wire.call(message, BOTH).head()
            events = [msgspec.json.decode(wire.chunk().split(b"data: ")[1]) for _ in range(3)]
            assert [event["params"]["title"] for event in events[:2]] == ["Dune", "Dune Messiah"]
            assert events[2]["result"]["titles"] == ["Dune", "Dune Messiah"]


def test_the_search_runs_as_a_program() -> None:
    """Ours: `leanmcp run FILE`, on stdio; a client without the extension has the tool."""
    [answer], log, exit_code = run_stdio(SEARCH, encode(call("search_books", {"query": "emma"})))
    assert answer["result"]["structuredContent"] == {"result": ["Emma"]}
    assert (log, exit_code) == ("", 0)
