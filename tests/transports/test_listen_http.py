"""Subscriptions over HTTP: the stream to the letter, who is refused, every way in which a stream ends."""

from __future__ import annotations

import contextlib
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.events import BOTH, EventWire, events_of
from tests.support.listening import (
    ACKNOWLEDGED,
    ALL,
    PROMPTS,
    RESOURCES,
    TOOLS,
    UPDATED,
    listen,
    same_id,
    subscription_id,
    told,
)
from tests.support.processes import DEADLINE, ROOT, HTTPProcess, call, environment, http, http_server, request
from tests.support.wire import Wire, ask

LISTENING = ROOT / "tests" / "fixtures" / "listening.py"
ECHO = http(call("echo", {"text": "hello"}))


@pytest.fixture(scope="module")
def shared() -> Iterator[HTTPProcess]:
    """The server of this module."""
    with http_server(LISTENING) as process:
        yield process


@pytest.fixture
def port(shared: HTTPProcess) -> int:
    """Its port; every stream of the test before is gone."""
    until_open(shared.port, 0)
    return shared.port


@contextlib.contextmanager
def running(options: str) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """Run the server with options of `run`; give the process and its port."""
    script = f"from tests.fixtures.listening import mcp\nmcp.run('http', port=0, {options})\n"
    process = subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.PIPE, env=environment(), cwd=ROOT)
    try:
        assert process.stderr is not None
        yield process, int(process.stderr.readline().split(b"127.0.0.1:")[1].split(b"/")[0])
    finally:
        process.kill()
        process.communicate(timeout=DEADLINE)


@pytest.fixture
def own() -> Iterator[HTTPProcess]:
    """A server for a test that ends it."""
    with http_server(LISTENING) as process:
        yield process


def counts(port: int) -> dict[str, int]:
    """Return what the server has open, besides the connection that asks."""
    found: dict[str, int] = ask(port, http(call("counts"))).message["result"]["structuredContent"]
    return found


def until_open(port: int, number: int) -> dict[str, int]:
    """Ask until so many streams are open."""
    end = time.monotonic() + DEADLINE
    while (found := counts(port))["streams"] != number:
        assert time.monotonic() < end, f"there are {found['streams']} streams, not {number}"
    return found


def opened(port: int, message: dict[str, Any], accept: str = BOTH, **settings: Any) -> EventWire:
    """Return a stream that is acknowledged."""
    wire = EventWire(port, **settings).call(message, accept)
    wire.head()
    assert wire.event()["method"] == ACKNOWLEDGED
    return wire


def do(port: int, tool: str, **arguments: Any) -> None:
    """Call a tool on a connection of its own."""
    assert ask(port, http(call(tool, arguments))).message["result"]["isError"] is False


# --- the stream -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("accept", [BOTH, "text/event-stream", "*/*"])
def test_a_stream_begins_with_head_and_acknowledgement(port: int, accept: str) -> None:
    """Spec: basic/transports/streamable-http, "Receiving Messages"; head and first event come at once."""
    with EventWire(port) as wire:
        wire.call(listen(2**70, uris=["a:1"]), accept)
        fields = wire.head()
        assert (fields["transfer-encoding"], fields["connection"]) == ("chunked", "close")
        first = wire.event()
        assert (first["method"], first["params"]["notifications"]) == (ACKNOWLEDGED, {"resourceSubscriptions": ["a:1"]})
        assert same_id(first, 2**70)
        do(port, "update", uris=["a:0", "a:1"])
        second = wire.event()
        assert (second["method"], second["params"]["uri"], same_id(second, 2**70)) == (UPDATED, "a:1", True)


def test_a_change_on_one_connection_is_told_on_others(port: int) -> None:
    """Spec: basic/patterns/subscriptions, "Multiple Concurrent Subscriptions"; each stream what it asked for."""
    kinds = {"toolsListChanged": TOOLS, "promptsListChanged": PROMPTS, "resourcesListChanged": RESOURCES}
    with contextlib.ExitStack() as stack:
        filters: dict[str, dict[str, Any]] = {name: {name: True} for name in kinds}
        wires = {name: stack.enter_context(opened(port, listen(name, **filters[name]))) for name in kinds}
        both = stack.enter_context(opened(port, listen(0, uris=["end:1"], **ALL)))
        do(port, "change")
        assert sorted(both.event()["method"] for _ in range(3)) == sorted(kinds.values())
        for name, wire in wires.items():
            assert told([wire.event()]) == [(name, kinds[name])]
        do(port, "update", uris=["end:1"])
        assert both.event()["params"]["uri"] == "end:1"
        assert select.select([wire.socket for wire in wires.values()], [], [], 0)[0] == []


def test_a_tool_that_is_added_in_a_thread_is_told_and_listed(port: int) -> None:
    """Ours: FIELD 121."""
    with opened(port, listen("live")) as wire:
        do(port, "install", name="installed")
        assert told([wire.event()]) == [("live", TOOLS)]
        tools = ask(port, http(request("tools/list"))).message["result"]["tools"]
        assert tools[-1]["name"] == "installed"


@pytest.mark.parametrize("accept", ["", "application/json"])
def test_a_client_that_reads_no_streams_is_refused(port: int, accept: str) -> None:
    """Ours: policy P6; 406 with the id, and the connection goes on."""
    with Wire(port) as wire:
        answer = wire.send(http(listen("x"), accept=accept)).answer()
        assert (answer.status, answer.code, answer.message["id"]) == (406, -32600, "x")
        assert "text/event-stream" in answer.text
        assert wire.send(ECHO).answer().text == "hello"
    assert counts(port)["streams"] == 0


@pytest.mark.parametrize(
    ("fields", "status", "code"),
    [({"mcp_method": "tools/list"}, 400, -32020), ({"mcp_protocol_version": ""}, 400, -32020)],
)
def test_headers_are_held_against_the_body(port: int, fields: dict[str, str], status: int, code: int) -> None:
    """Spec: basic/transports/streamable-http, "Server Validation"; for this method as for every other."""
    with Wire(port) as wire:
        answer = wire.send(http(listen(), accept=BOTH, **fields)).answer()
        assert (answer.status, answer.code) == (status, code)


def test_a_malformed_filter_is_refused(port: int) -> None:
    """Spec: schema, SubscriptionFilter; -32602 and HTTP 200, as all faults behind the dispatch (policy P10)."""
    with Wire(port) as wire:
        answer = wire.send(http(listen(uris=[1]), accept=BOTH)).answer()  # type: ignore[list-item]
        assert (answer.status, answer.code) == (200, -32602)
        assert wire.send(ECHO).answer().text == "hello"


def test_http_1_0_gets_a_stream_without_chunks(port: int) -> None:
    """Ours: its end is the end of the connection, as it is in HTTP/1.0."""
    with EventWire(port) as wire:
        wire.send(http(listen(), accept=BOTH).replace(b"HTTP/1.1", b"HTTP/1.0", 1))
        fields = wire.head()
        assert (fields["connection"], "transfer-encoding" in fields) == ("close", False)
        do(port, "change")
        body = b""
        while TOOLS.encode() not in body or not body.endswith(b"\n\n"):
            body += wire.socket.recv(65536) if wire._data == b"" else wire._data
            wire._data = b""
        assert [message["method"] for message in events_of(body)] == [ACKNOWLEDGED, TOOLS]


def test_json_response_leaves_subscriptions_as_they_are() -> None:
    """Ours: that option is about answers; a stream of changes has no other form."""
    with running("json_response=True, cors=['https://app.example']") as (_, port), EventWire(port) as wire:
        wire.call(listen(), origin="https://app.example")
        assert wire.head()["access-control-allow-origin"] == "https://app.example"
        assert wire.event()["method"] == ACKNOWLEDGED


# --- what streams take ------------------------------------------------------------------------------------------------


def test_streams_take_no_place_of_calls(port: int) -> None:
    """Ours: `max_in_flight` is 3 here; ten streams and a call."""
    with contextlib.ExitStack() as stack:
        for number in range(10):
            stack.enter_context(opened(port, listen(number)))
        assert ask(port, ECHO).text == "hello"
        assert counts(port)["streams"] == 10


def test_streams_over_the_limit_are_refused(tmp_path: Path) -> None:
    """Ours: Limits.max_streams; 503 with Retry-After and the id, and a stream that ends makes place."""
    file = tmp_path / "few.py"
    file.write_text("from leanmcp import Limits, MCPServer\nmcp = MCPServer('few', limits=Limits(max_streams=2))\n")
    with (
        http_server(file) as server,
        opened(server.port, listen(1)) as first,
        opened(server.port, listen(2)),
        Wire(server.port) as wire,
    ):
        answer = wire.send(http(listen("3"), accept=BOTH)).answer()
        assert (answer.status, answer.code, answer.message["id"]) == (503, -32603, "3")
        assert answer.headers["retry-after"] == "1"
        assert "Limits.max_streams" in answer.text
        first.socket.close()
        while not served(server.port):
            assert wire.send(http(request("tools/list"))).answer().status == 200


def served(port: int) -> bool:
    """Return whether a stream is opened, and no 503 comes."""
    with EventWire(port) as wire:
        wire.call(listen())
        while b"\r\n\r\n" not in wire._data:
            wire._receive()
        return wire._data.startswith(b"HTTP/1.1 200 ")


def test_what_is_sent_behind_a_stream_is_not_answered(port: int) -> None:
    """Spec: RFC 9112 9.6; the head said `close`. The end of input behind it is noticed, however much was sent."""
    with opened(port, listen()) as wire:
        wire.send(ECHO * 2000)
        do(port, "change")
        assert wire.event()["method"] == TOOLS
        wire.half_close()
        assert wire.rest() == b""
    until_open(port, 0)


@pytest.mark.parametrize("how", ["close", "reset", "half-close"])
def test_a_client_that_leaves_frees_its_stream(port: int, how: str) -> None:
    """Spec: basic/transports/streamable-http, "Cancellation"."""
    wires = [opened(port, listen(number)) for number in range(20)]
    assert counts(port)["streams"] == 20
    for wire in wires:
        if how == "reset":
            wire.reset()
        elif how == "close":
            wire.socket.close()
        else:
            wire.half_close()
    until_open(port, 0)
    for wire in wires:
        if how == "half-close":
            assert wire.rest() == b""  # no result: the server did not end it
        wire.socket.close()


def test_a_client_that_left_before_its_stream_was_there_frees_it_too(port: int) -> None:
    """Ours: end of input right behind the request, and behind a call that is still running."""
    for ahead in (b"", http(call("slow", {"seconds": 0.02}))):
        with Wire(port) as wire:
            wire.send(ahead + http(listen(), accept=BOTH)).half_close()
            while not wire.ended_or_more():
                wire._data = b""
    until_open(port, 0)


def test_a_stream_behind_a_call_waits_for_it(port: int) -> None:
    """Ours: pipelined on one connection, answered in order."""
    with EventWire(port) as wire:
        wire.send(http(call("slow", {"seconds": 0.05})) + http(listen("behind"), accept=BOTH))
        assert wire.answer().text == "slept"
        wire.head()
        assert subscription_id(wire.event()) == "behind"


# --- the end of the server --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", [b"HTTP/1.1", b"HTTP/1.0"])
def test_sigterm_ends_streams_with_their_result(version: bytes) -> None:
    """Spec: basic/patterns/subscriptions, "Graceful Closure"; FIELD 29: the process does not wait for listeners."""
    with running("drain=1000") as (process, port):
        wires = [EventWire(port) for _ in range(3)]
        for number, wire in enumerate(wires):
            wire.send(http(listen(number), accept=BOTH).replace(b"HTTP/1.1", version, 1))
            wire.head()
        until_open(port, 3)
        process.send_signal(signal.SIGTERM)
        for number, wire in enumerate(wires):
            with wire:
                if version == b"HTTP/1.1":
                    assert wire.event()["method"] == ACKNOWLEDGED
                    result = wire.event()
                    assert wire.chunk() == b""
                    assert wire.rest() == b""
                else:
                    result = events_of(wire.rest())[-1]
                assert (result["id"], same_id(result, number)) == (number, True)
                assert result["result"]["resultType"] == "complete"
                assert result["result"]["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "listening"
        assert process.wait(DEADLINE) == 0
        assert process.stderr is not None
        assert process.stderr.read() == b""


def test_sigterm_ends_streams_before_calls_and_answers_the_calls(own: HTTPProcess) -> None:
    """Ours: RELIABILITY, drain order."""
    with opened(own.port, listen(1)) as wire, Wire(own.port) as caller:
        caller.send(http(call("slow", {"seconds": 1.0})))
        own.process.send_signal(signal.SIGTERM)
        assert wire.event()["result"]["resultType"] == "complete"
        assert select.select([caller.socket], [], [], 0)[0] == []
        assert caller.answer().text == "slept"
    assert own.process.wait(DEADLINE) == 0


def test_a_stream_that_is_asked_for_while_the_server_ends_is_ended_at_once() -> None:
    """Ours: acknowledged first, all the same; its client knows to go elsewhere."""
    message = http(listen("late"), accept=BOTH)
    with running("drain=1000") as (process, port), opened(port, listen(1)) as wire, EventWire(port) as late:
        late.send(message[:-1])
        assert ask(port, ECHO).text == "hello"
        process.send_signal(signal.SIGTERM)
        assert wire.event()["id"] == 1
        late.send(message[-1:])
        late.head()
        assert late.event()["method"] == ACKNOWLEDGED
        assert late.event()["id"] == "late"
        assert late.chunk() == b""
        assert process.wait(DEADLINE) == 0


def test_sigterm_does_not_wait_for_calls_and_listeners_that_do_not_end() -> None:
    """Ours: RELIABILITY and FIELD 29; a call of a minute, and a listener that reads nothing, until `drain` is over."""
    with (
        running("drain=0.3") as (process, port),
        opened(port, listen(1)) as wire,
        opened(port, listen(2, uris=["a:1"])) as lazy,
        Wire(port) as caller,
    ):
        caller.send(http(call("slow", {"seconds": 60})))
        do(port, "update", uris=["a:1"])
        process.send_signal(signal.SIGTERM)
        assert wire.event()["id"] == 1
        assert process.wait(DEADLINE) == 0
        assert lazy.event()["method"] == UPDATED
        assert process.stderr is not None
        assert b"slow was cancelled" in process.stderr.read()


# --- many -------------------------------------------------------------------------------------------------------------


def test_a_thousand_streams_are_told_once_each_and_leave_nothing(own: HTTPProcess) -> None:
    """Ours: acceptance F."""
    counts(own.port)  # the first call has a task
    before = until_open(own.port, 0)
    wires = [opened(own.port, listen(number)) for number in range(1000)]
    assert counts(own.port)["streams"] == 1000
    assert counts(own.port)["tasks"] == before["tasks"]
    do(own.port, "change")
    for number, wire in enumerate(wires):
        assert told([wire.event()]) == [(number, TOOLS)]
    do(own.port, "install", name="installed")
    for number, wire in enumerate(wires):
        assert told([wire.event()]) == [(number, TOOLS)]
        assert wire._data == b""
    assert select.select([wire.socket for wire in wires][:500], [], [], 0)[0] == []
    for wire in wires:
        wire.socket.close()
    after = until_open(own.port, 0)
    assert after["objects"] == 0
    assert (after["tasks"], after["descriptors"]) == (before["tasks"], before["descriptors"])
