"""Lists that are asked for again and again: the answers are those of before, without decoding the requests."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leanmcp import MCPServer
from leanmcp.protocol.http11 import RequestReader
from leanmcp.server.http_endpoint import HTTPEndpoint
from leanmcp.server.line_endpoint import LineEndpoint
from tests.support.lines import Lines, run
from tests.support.processes import http, request

LISTS = ("tools/list", "resources/list", "resources/templates/list", "prompts/list")


async def noop() -> str:
    """Do nothing."""
    return ""


def make(**options: Any) -> MCPServer:
    """Return a server with two pages of tools, and a prompt and resources."""
    mcp = MCPServer("repeats", page_size=2, **options)
    for name in ("a", "b", "c"):
        mcp.add_tool(noop, name)
    mcp.add_prompt(noop, "prompt")
    mcp.add_resource(noop, "a:1")
    return mcp


def names(message: dict[str, Any]) -> list[str]:
    """Return the names on a page of tools."""
    return [tool["name"] for tool in message["result"]["tools"]]


@pytest.mark.parametrize("method", LISTS)
def test_third_request_of_a_kind_is_not_decoded(method: str, decoded: list[bytes]) -> None:
    """Ours: whatever its number, and however many digits that has."""

    async def conversation(lines: Lines) -> None:
        lines.send(request(method, request_id=1), request(method, request_id=2))
        count = len(decoded)
        for number in (3, 0, 10, 999_999_999_999_999):
            lines.send(request(method, request_id=number))
        assert len(decoded) == count
        first, *others = lines.messages
        assert [other["id"] for other in others] == [2, 3, 0, 10, 999_999_999_999_999]
        assert all(other["result"] == first["result"] for other in others)

    run(make(), conversation)


def test_request_is_known_in_other_hands_too(decoded: list[bytes]) -> None:
    """Ours: with blanks, as Python's json writes it, and with members in another order."""

    async def conversation(lines: Lines) -> None:
        for text in ('{"id": %d, "method": "tools/list", "params": %s, "jsonrpc": "2.0"}', '{"id":%d,%s}'):
            params = json.dumps(request("tools/list")["params"])
            if text.endswith("%s}"):
                params = f'"method":"tools/list","jsonrpc":"2.0","params":{params}'
            for number in (5, 6, 7, 8):
                count = len(decoded)
                lines.endpoint.receive((text % (number, params)).encode())
            assert len(decoded) == count
        assert [message["id"] for message in lines.messages] == [5, 6, 7, 8] * 2

    run(make(), conversation)


def test_pages_are_told_apart() -> None:
    """Ours: one page is remembered, the one that was asked for last; a walk through all of them costs nothing more."""

    async def conversation(lines: Lines) -> None:
        lines.send(*(request("tools/list", request_id=number) for number in (1, 2, 3)))
        second = {"cursor": lines.messages[0]["result"]["nextCursor"]}
        for number in (4, 5, 6):
            lines.send(request("tools/list", second, request_id=number), request("tools/list", request_id=number))
        assert [names(message) for message in lines.messages[3:]] == [["c"], ["a", "b"]] * 3

    run(make(), conversation)


def test_change_of_a_list_is_seen_at_once() -> None:
    """Ours: what is added, hidden or removed, with or without a listener."""
    mcp = make()

    async def conversation(lines: Lines) -> None:
        def ask() -> list[str]:
            lines.send(*(request("tools/list", request_id=number) for number in (1, 2, 3)))
            return names(lines.messages[-1])

        assert ask() == ["a", "b"]
        mcp.remove_tool("a")
        assert ask() == ["b", "c"]
        mcp.disable_tool("b")
        assert ask() == ["c"]
        mcp.add_tool(noop, "d")
        assert ask() == ["c", "d"]

    run(mcp, conversation)


def test_middleware_that_comes_later_sees_every_request() -> None:
    """Ours: nothing is answered past it."""
    mcp, seen = make(), []

    async def note(asked: Any, call_next: Any) -> Any:
        seen.append(asked.method)
        return await call_next(asked)

    async def conversation(lines: Lines) -> None:
        lines.send(*(request("tools/list", request_id=number) for number in (1, 2, 3)))
        mcp.middleware.append(note)
        lines.send(*(request("tools/list", request_id=number) for number in (4, 5, 6)))
        await lines.idle()
        assert len(lines.messages) == 6

    run(mcp, conversation)
    assert seen == ["tools/list"] * 3


def test_id_in_flight_is_refused() -> None:
    """Spec: basic/index, "Requests": an id is not used twice at once."""
    mcp = make()

    async def conversation(lines: Lines) -> None:
        lines.send(*(request("tools/list", request_id=number) for number in (1, 2, 3)))
        lines.send(request("subscriptions/listen", {"notifications": {"toolsListChanged": True}}, request_id=4))
        lines.send(request("tools/list", request_id=4), request("tools/list", request_id=5))
        refusal, answer = lines.messages[-2:]
        assert (refusal["id"], refusal["error"]["code"]) == (4, -32600)
        assert (answer["id"], names(answer)) == (5, ["a", "b"])
        lines.endpoint.end_streams()

    run(mcp, conversation)


PARAMS = request("tools/list")["params"]
IDS = st.one_of(
    st.integers(-2, 12).map(str),
    st.sampled_from(
        ["01", "1.0", "1e1", "-0", "007", "1 ", " 2", '"1"', '"id"', "null", "true", "", "9" * 16, "9" * 30]
    ),
)
BODIES = st.sampled_from(
    [
        '{"jsonrpc":"2.0","id":%s,"method":"tools/list","params":' + json.dumps(PARAMS) + "}",
        '{"jsonrpc": "2.0", "id": %s, "method": "tools/list", "params": ' + json.dumps({"id": 1, **PARAMS}) + "}",
        '{"jsonrpc":"2.0","id":1,"id":%s,"method":"tools/list","params":' + json.dumps(PARAMS) + "}",
        '{"jsonrpc":"2.0","id":%s,"method":"tools/list","params":{"id":10,"_meta":'
        + json.dumps(PARAMS["_meta"])
        + "}}",
        '{"jsonrpc":"2.0","method":"tools/list","params":' + json.dumps(PARAMS) + ',"id":%s}',
        '{"jsonrpc":"2.0","id":%s,"method":"prompts/list","params":' + json.dumps(PARAMS) + "}",
    ]
)


@given(st.lists(st.tuples(BODIES, IDS), min_size=3, max_size=12), st.booleans())
def test_answers_are_those_of_an_endpoint_that_remembers_nothing(messages: list[tuple[str, str]], same: bool) -> None:
    """Ours: property; each message once more to an endpoint of its own."""
    mcp = make()

    async def conversation(lines: Lines) -> None:
        for body, request_id in messages:
            line = ((messages[0][0] if same else body) % request_id).encode()
            lines.octets.clear()
            lines.endpoint.receive(line)
            fresh: list[bytes] = []
            LineEndpoint(mcp, lambda segments: fresh.append(b"".join(segments))).receive(line)  # noqa: B023
            assert lines.octets == fresh

    run(mcp, conversation)


def test_http_head_remembers_its_list(decoded: list[bytes]) -> None:
    """Ours: what the head mirrors was compared with the first body; another body is compared with it again."""
    endpoint, reader = HTTPEndpoint(make()), RequestReader()

    def ask(octets: bytes) -> Any:
        got = reader.feed(octets)
        assert got is not None
        return endpoint.respond(got, None)  # type: ignore[arg-type]

    for number in (1, 2, 3, 4):
        count = len(decoded)
        answer = ask(http(request("tools/list", request_id=number)))
        body = answer if isinstance(answer, list) else answer.body
        assert json.loads(b"".join(body))["id"] == number
    assert len(decoded) == count
    head, body = http(request("tools/list", request_id=5)).split(b"\r\n\r\n")
    assert ask(head + b"\r\n\r\n" + body.replace(b"tools/list", b"tools/call")).status == 400
