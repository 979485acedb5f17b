"""The Streamable HTTP endpoint on a real socket: ids, eras, Accept, JSON, and texts for people."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.endpoint import ECHO, PREFIX, raw, refused
from tests.support.processes import DEADLINE, VERSION, HTTPProcess, call, encode, http, request
from tests.support.spec import read
from tests.support.wire import Wire, ask

# --- ids, eras, sessions, Accept --------------------------------------------------------------------------------------


@pytest.mark.parametrize("request_id", [0, -1, 2**53 + 1, 2**64 + 1, "", "1", "é\u2028", "x" * 1000])
def test_an_id_comes_back_with_type_and_value(port: int, request_id: int | str) -> None:
    """Spec: basic/index, "Requests"; in results and in errors."""
    for answer in (
        ask(port, http(call("echo", {"text": ""}, request_id))),
        ask(port, http(call("nope", {}, request_id))),
    ):
        assert answer.message["id"] == request_id
        assert type(answer.message["id"]) is type(request_id)
    assert type(ask(port, raw(encode(ECHO).replace(b'"id":1', b'"id":1.0'))).message["id"]) is int


def test_a_legacy_initialize_is_told_the_versions(port: int) -> None:
    """Spec: basic/versioning; in one answer, with and without headers, and nothing is remembered of it."""
    message = {
        "jsonrpc": "2.0",
        "id": 0,
        "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "old", "version": "1"}},
    }
    for fields in (
        {"mcp_protocol_version": "", "mcp_method": ""},
        {"mcp_protocol_version": "2025-06-18", "mcp_method": ""},
    ):
        with Wire(port) as wire:
            answer = wire.send(http(message, **fields)).answer()
            assert answer.status == 400
            assert VERSION in answer.text
            assert wire.send(http(ECHO)).answer().text == "hello"


def test_sessions_and_resumption_are_ignored_and_never_offered(port: int) -> None:
    """Spec: "Earlier Streamable HTTP Revisions"."""
    answer = ask(port, http(ECHO, mcp_session_id="abc", last_event_id="5"))
    assert answer.text == "hello"
    assert "mcp-session-id" not in answer.headers


@pytest.mark.parametrize(
    "accept",
    [
        "",
        "application/json",
        "application/json, text/event-stream",
        "text/event-stream, application/json",
        "*/*",
        "text/html",
    ],
)
def test_json_is_the_answer_to_every_accept_that_allows_it(port: int, accept: str) -> None:
    """Ours: policy P6."""
    answer = ask(port, http(ECHO, accept=accept))
    assert (answer.status, answer.headers["content-type"], answer.text) == (200, "application/json", "hello")


@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        ("text/event-stream, application/json;q=0", "text/event-stream"),
        ("*/*; q=0.000,text/event-stream", "text/event-stream"),
        ("text/event-stream;q=0, application/json", "application/json"),
        ("text/event-stream, application/json;q=0.01", "application/json"),
        ("*/*, application/json;q=0", "text/event-stream"),
        ("*/*;q=0, application/json", "application/json"),
        ("text/event-stream;q=0;x, application/*;q=0", "application/json"),
        ("text/*", "text/event-stream"),
        ("application/jsonp, text/event-stream", "text/event-stream"),
        ("text/event-streams", "application/json"),
    ],
)
def test_the_most_specific_range_of_a_type_decides(port: int, accept: str, kind: str) -> None:
    """Spec: RFC 9110 12.4.2, 12.5.1; policy P6."""
    assert ask(port, http(ECHO, accept=accept)).headers["content-type"] == kind


def test_event_stream_alone_gets_one_event(port: int) -> None:
    """Ours: policy P6; refusals stay JSON."""
    for message, code in ((ECHO, None), (call("nope"), -32602)):
        with Wire(port) as wire:
            answer = wire.send(http(message, accept="Text/Event-Stream")).answer()
            assert answer.headers["content-type"].startswith("text/event-stream")
            assert answer.headers["x-accel-buffering"] == "no"
            assert answer.body.startswith(b"event: message\ndata: {")
            assert answer.body.endswith(b"}\n\n")
            event = read(answer.body.removeprefix(b"event: message\ndata: "))
            assert event.get("error", {}).get("code") == code
            assert wire.send(http(ECHO)).answer().text == "hello"
    refused(ask(port, http(request("nope/x"), accept="text/event-stream")), 404, -32601)


def test_options_may_be_asked_of_the_whole_server(port: int) -> None:
    """Spec: RFC 9110 9.3.7; it serves to see that somebody is there."""
    with Wire(port) as wire:
        answer = wire.send(b"OPTIONS * HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n").answer(to="OPTIONS")
        assert (answer.status, answer.headers["allow"], answer.body) == (204, "POST", b"")
        assert wire.send(http(ECHO)).answer().text == "hello"


@pytest.mark.parametrize("path", ["/mcp", "/mcp/", "/mcp?a=b"])
def test_both_slash_forms_are_served(port: int, path: str) -> None:
    """Ours: FIELD 65; never a redirect."""
    assert ask(port, http(ECHO, path=path)).text == "hello"


# --- people who call by hand ------------------------------------------------------------------------------------------


def test_get_root_is_a_page_that_names_the_endpoint(port: int) -> None:
    """Ours: UX U7."""
    answer = ask(port, b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", to="GET")
    assert answer.status == 200
    assert answer.headers["content-type"].startswith("text/html")
    assert b"/mcp" in answer.body
    assert b"fixture" in answer.body


@pytest.mark.parametrize(
    ("message", "fields", "named"),
    [
        (request("tools/list"), {"content_type": ""}, ["Content-Type"]),
        (
            request("tools/list"),
            {"content_type": "application/x-www-form-urlencoded", "mcp_method": ""},
            ["Mcp-Method"],
        ),
        (
            {
                "jsonrpc": "2.0",
                "id": 1,
                "method": "tools/call",
                "params": {"name": "echo", "arguments": {"text": "it's é"}},
            },
            {"mcp_protocol_version": "", "mcp_method": "", "mcp_name": ""},
            [
                "MCP-Protocol-Version",
                "Mcp-Method",
                "Mcp-Name",
                PREFIX + "protocolVersion",
                PREFIX + "clientCapabilities",
            ],
        ),
        (request("tools/list"), {"mcp_method": ""}, ["Mcp-Method"]),
        ({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, {}, [PREFIX + "protocolVersion"]),
    ],
)
@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
def test_the_printed_curl_works(
    server: HTTPProcess, message: dict[str, Any], fields: dict[str, str], named: list[str]
) -> None:
    """Ours: UX U7; everything that is missing is listed, and the call that is printed can be pasted."""
    host = f"127.0.0.1:{server.port}"
    answer = ask(server.port, http(message, host=host, **fields))
    assert answer.status in (400, 415)
    assert [name for name in named if name not in answer.text.partition("curl")[0]] == []
    command = shlex.split("curl" + answer.text.partition("curl")[2])
    done = subprocess.run([*command, "-sS"], capture_output=True, timeout=DEADLINE)
    result = read(done.stdout)["result"]
    assert result.get("tools") or result["content"][0]["text"] == "it's é"


@pytest.mark.parametrize("message", [call("n" * 100_000), request("m" * 100_000)])
def test_a_refusal_does_not_echo_what_was_sent_at_length(port: int, message: dict[str, Any]) -> None:
    """Ours: an answer is not twice the size of the request that is refused."""
    assert len(ask(port, http(message, mcp_method="", mcp_name="")).body) < 5000


# --- JSON -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [2**53 + 1, 2**63, 2**64, 2**70, -(2**70), 10**300, 0])
def test_integers_are_exact_both_ways(port: int, value: int) -> None:
    """Ours: FIELD 47."""
    answer = ask(port, http(call("number", {"value": value})))
    assert answer.text == str(value)
    assert answer.message["result"]["structuredContent"] == {"result": value}


@pytest.mark.parametrize(("opening", "closing"), [(b"[", b"]"), (b'{"a":', b"}")])
def test_deep_nesting_is_refused_quickly_and_the_limit_is_served(port: int, opening: bytes, closing: bytes) -> None:
    """Ours: policy P8."""
    body = encode(ECHO)
    for depth in (600, 100_000):
        nested = opening * depth + b"1" + closing * depth
        for text in (nested, body.replace(b'"hello"', nested), body.replace(b"{", b'{"x":' + nested + b",", 1)):
            assert ask(port, raw(text)).code in (-32600, -32700)
    assert ask(port, raw(opening * 100_000)).code in (-32600, -32700)
    nested = opening * 500 + b"1" + closing * 500
    assert ask(port, raw(body.replace(b"{", b'{"x":' + nested + b",", 1))).text == "hello"
    assert ask(port, raw(body.replace(b"hello", b"[" * 100_000))).status == 200


def test_member_names_are_exact_and_the_last_of_two_wins(port: int) -> None:
    """Ours: policy P5; headers are checked against the same parse."""
    body = encode(ECHO)
    two = body.replace(b'"name":"echo"', b'"name":"boom","Name":"nope","NAME":"x","name":"echo"')
    assert ask(port, raw(two)).text == "hello"
    first = body.replace(b'"name":"echo"', b'"name":"echo","name":"boom"')
    refused(ask(port, raw(first)), 400, -32020)
    assert ask(port, raw(body.replace(b'"id":1', b'"id":2,"id":1'))).message["id"] == 1
    assert ask(port, raw(body.replace(b'"hello"', b'"a","text":"b"'))).text == "b"


@settings(max_examples=60, deadline=None)
@given(
    message=st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(max_size=8),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["jsonrpc", "id", "method", "params", "_meta", "name", "arguments"]), inner
            )
        ),
        max_leaves=12,
    )
)
def test_any_json_gets_the_right_kind_of_answer(port: int, message: Any) -> None:
    """Ours: property; a client error with a JSON-RPC code, or 202 for what happens to be a notification."""
    with Wire(port) as wire:
        answer = wire.send(raw(msgspec.json.encode(message))).answer()
        assert (answer.status == 202 and not answer.body) or (answer.status == 400 and answer.code in (-32600, -32602))
        assert wire.send(http(ECHO)).answer().text == "hello"
