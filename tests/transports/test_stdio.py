"""The stdio transport: framing, stdout, cancellation and errors, on a real process with pipes."""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import time
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.processes import DEADLINE, META, VERSION, call, encode, request, run_stdio, stdio_server
from tests.support.spec import read

TOOLS = "tests/fixtures/tools.py"


class Pipe:
    """A stdio server and its messages, one at a time; every wait is bounded."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self.process = process
        self._input, self._output = process.stdin, process.stdout.fileno()
        self._data = b""

    def send(self, *messages: Any, end: bytes = b"\n") -> Pipe:
        """Write messages: octets as they are, anything else as JSON; one write for all."""
        self._input.write(b"".join((m if isinstance(m, bytes) else msgspec.json.encode(m)) + end for m in messages))
        self._input.flush()
        return self

    def receive(self, timeout: float = DEADLINE) -> dict[str, Any]:
        """Read one message."""
        line = self._line(timeout)
        assert line is not None, "no message"
        message: dict[str, Any] = read(line)
        assert message["jsonrpc"] == "2.0"
        return message

    def quiet(self, seconds: float) -> bool:
        """Return whether nothing comes for some time."""
        return self._line(seconds) is None

    def alive(self) -> bool:
        """Return whether the next call is answered, with nothing before it."""
        return text_of(self.send(call("echo", {"text": "alive"}, "alive")).receive()) == "alive"

    def _line(self, timeout: float) -> bytes | None:
        deadline = time.monotonic() + timeout
        pieces = [self._data]
        while b"\n" not in pieces[-1]:
            ready, _, _ = select.select((self._output,), (), (), max(0.0, deadline - time.monotonic()))
            piece = os.read(self._output, 1 << 20) if ready else b""
            if not piece:
                self._data = b"".join(pieces)
                return None
            pieces.append(piece)
        line, _, self._data = b"".join(pieces).partition(b"\n")
        return line


@contextlib.contextmanager
def started(target: str = TOOLS, **variables: str) -> Iterator[Pipe]:
    """Run a server of its own."""
    with stdio_server(target, **variables) as process:
        yield Pipe(process)


@pytest.fixture(scope="module")
def pipe() -> Iterator[Pipe]:
    """One server for all tests that leave it as it was."""
    with started() as pipe:
        yield pipe


def text_of(message: dict[str, Any]) -> str:
    """Return the first text block of a result."""
    text: str = message["result"]["content"][0]["text"]
    return text


def refused(message: dict[str, Any], code: int, request_id: Any = None) -> None:
    """Check an error and its id; None: the id is left out."""
    assert message["error"]["code"] == code
    assert ("id" in message) == (request_id is not None)
    assert message.get("id") == request_id
    assert type(message.get("id")) is type(request_id)


def cancel(request_id: Any) -> dict[str, Any]:
    """Return notifications/cancelled."""
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": request_id}}


# --- framing ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b" \t\n", b"\n\n\r\n \n"])
def test_a_newline_ends_a_message_and_blank_lines_are_none(pipe: Pipe, end: bytes) -> None:
    """Spec: basic/transports/stdio; ours: FIELD 17."""
    pipe.send(call("echo", {"text": "a"}, 1), call("echo", {"text": "b"}, 2), end=end)
    assert [text_of(pipe.receive()), text_of(pipe.receive())] == ["a", "b"]
    assert pipe.alive()


@pytest.mark.parametrize("text", ["a\u2028b", "a\u2029b", "a\u0085b\x0bc", "é日本", "\U0001f600", "a\\nb\nc\rd"])
def test_only_the_octet_0a_ends_a_message(pipe: Pipe, text: str) -> None:
    """Ours: FIELD 16; unescaped where JSON allows it."""
    assert text_of(pipe.send(call("echo", {"text": text})).receive()) == text


@pytest.mark.parametrize("cut", [1, 7, 1000])
def test_a_message_is_read_however_it_is_cut(pipe: Pipe, cut: int) -> None:
    """Ours: octets arrive in any pieces."""
    line = encode(call("echo", {"text": "héllo"})) + b"\n"
    for start in range(0, len(line), cut):
        pipe.send(line[start : start + cut], end=b"")
    assert text_of(pipe.receive()) == "héllo"


@pytest.mark.parametrize("size", [65_535, 65_536, 65_537, 5_000_000])
def test_long_lines_pass_both_ways(pipe: Pipe, size: int) -> None:
    """Ours: FIELD 15; `size` is that of the whole line."""
    frame = len(encode(call("echo", {"text": ""})))
    text = "x" * (size - frame)
    assert text_of(pipe.send(call("echo", {"text": text})).receive()) == text


def test_a_line_over_the_limit_is_skipped_and_the_next_call_answered(pipe: Pipe) -> None:
    """Ours: policy P8; without id."""
    pipe.send(b"x" * 17_000_000)
    refused(pipe.receive(), -32600)
    pipe.send(call("echo", {"text": "x" * 17_000_000}))
    refused(pipe.receive(), -32600)
    assert pipe.alive()


@pytest.mark.parametrize("end", [b"\n", b""])
def test_calls_before_end_of_input_are_answered(end: bytes) -> None:
    """Ours: UX U8; with and without a final newline."""
    data = b"\n".join(encode(call(tool, {"seconds": 0.3}, tool)) for tool in ("slow", "block")) + end
    messages, log, code = run_stdio(TOOLS, data)
    assert {message["id"]: text_of(message) for message in messages} == {"slow": "slept", "block": "blocked"}
    assert (log, code) == ("", 0)


def test_none_of_many_pipelined_calls_is_lost_at_end_of_input() -> None:
    """Ours: RELIABILITY; more than `max_in_flight`, through a reader that starts late."""
    calls = [
        call("add" if number % 7 == 0 else "echo", {"a": 1} if number % 7 == 0 else {"text": "a"}, number)
        for number in range(3000)
    ]
    messages, log, code = run_stdio(TOOLS, b"\n".join(map(encode, calls)))
    assert sorted(message["id"] for message in messages) == list(range(3000))
    assert (log, code) == ("", 0)


def test_a_client_that_writes_before_it_reads_is_held_back_not_lost() -> None:
    """Ours: back-pressure; answers wait in the pipe, then everything goes on."""
    with started() as pipe:
        rest = memoryview(b"".join(encode(call("echo", {"text": "x" * 2000}, n)) + b"\n" for n in range(2000)))
        assert pipe.process.stdin is not None
        fd = pipe.process.stdin.fileno()
        os.set_blocking(fd, False)
        ids: list[int] = []
        stalled = False
        while len(ids) < 2000:
            writable = select.select((), (fd,), (), 0 if stalled else 0.2)[1] if rest else []
            if writable:
                rest = rest[os.write(fd, rest) :]
            else:
                stalled = stalled or bool(rest)
                ids.append(pipe.receive()["id"])
        assert stalled
        assert ids == list(range(2000))
        os.set_blocking(fd, True)


# --- standard output --------------------------------------------------------------------------------------------------


def test_nothing_but_messages_reaches_standard_output() -> None:
    """Spec: basic/transports/stdio; print, fd 1 and child processes go to standard error, a child reads nothing."""
    messages, log, code = run_stdio(TOOLS, encode(call("noisy")))
    assert [text_of(message) for message in messages] == ["0"]
    hint = "WARNING print() goes to standard error: standard output carries the protocol; use logging, or print(..., "
    hint += "file=sys.stderr) [LM507]"
    assert sorted(log.splitlines()) == [hint, "child ''", "from fd 1", "from print"]
    assert code == 0


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "utf-16"])
def test_messages_are_utf_8_whatever_the_locale_says(encoding: str) -> None:
    """Spec: basic/transports, "Messages"; FIELD 18."""
    messages, _, _ = run_stdio(TOOLS, encode(call("echo", {"text": "é日本"})), PYTHONIOENCODING=encoding, LC_ALL="C")
    assert text_of(messages[0]) == "é日本"


def test_the_root_logger_is_left_alone(pipe: Pipe) -> None:
    """Ours: FIELD 24."""
    assert text_of(pipe.send(call("root_handlers")).receive()) == "0"


# --- errors -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "code", "request_id"),
    [
        (b"not json", -32700, None),
        (b"{", -32700, None),
        (b'{"a":"\xff"}', -32700, None),
        (b"\xff\xfe\x00", -32700, None),
        (b"\0", -32700, None),
        (b"{}{}", -32700, None),
        (b"[" * 100_000, -32600, None),
        (b'{"foo":1}', -32600, None),
        (b"[]", -32600, None),
        (b"[" + encode(call("echo")) + b"]", -32600, None),
        (b'"text"', -32600, None),
        (b'{"jsonrpc":"2.0","id":1,"result":{}}', -32600, None),
        (b'{"jsonrpc":"2.0","id":null,"method":"tools/list"}', -32600, None),
        (b'{"jsonrpc":"1.0","id":"x","method":"tools/list"}', -32600, "x"),
        (b'{"jsonrpc":"2.0","id":2,"method":"tools/list"}', -32602, 2),
        (b'{"jsonrpc":"2.0","id":3,"method":"nope/x","params":{}}', -32602, 3),
        (encode(request("nope/x", request_id=4)), -32601, 4),
        (encode(request("ping", request_id=4)), -32601, 4),
        (encode(call("nope", request_id="n")), -32602, "n"),
        (encode(call("needs", {"capability": "roots"}, 5)), -32021, 5),
    ],
)
def test_a_bad_line_gets_one_error_and_the_next_line_works(pipe: Pipe, line: bytes, code: int, request_id: Any) -> None:
    """Spec: basic/index; FIELD 19, 21, 22, 43: each message stands alone."""
    refused(pipe.send(line).receive(), code, request_id)
    assert pipe.alive()


@pytest.mark.parametrize("version", ["2025-11-25", "1900-01-01", ""])
def test_an_unsupported_version_is_told_the_supported_ones(pipe: Pipe, version: str) -> None:
    """Spec: basic/versioning; on stdio `_meta` alone says the version."""
    params = {"_meta": META | {"io.modelcontextprotocol/protocolVersion": version}}
    for method in ("tools/list", "nope/x"):
        message = pipe.send({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).receive()
        refused(message, -32022, 1)
        assert message["error"]["data"] == {"supported": [VERSION], "requested": version}


@pytest.mark.parametrize(
    "first", [b"nonsense", b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}', b"[]", b"\xff"]
)
def test_an_odd_first_message_pins_no_era(first: bytes) -> None:
    """Ours: FIELD 22; initialize is told the versions."""
    lines = [
        first,
        b'{"jsonrpc":"2.0","method":"notifications/initialized"}',
        encode(request("server/discover", request_id=1)),
    ]
    messages, _, code = run_stdio(TOOLS, b"\n".join(lines))
    assert len(messages) == 2
    if b"initialize" in first:
        assert VERSION in messages[0]["error"]["message"]
    assert messages[1]["result"]["supportedVersions"] == [VERSION]
    assert code == 0


# --- ids and cancellation ---------------------------------------------------------------------------------------------


def test_an_id_in_flight_is_refused_and_its_first_call_goes_on(pipe: Pipe) -> None:
    """Ours: two answers with one id could not be told apart."""
    pipe.send(call("slow", {"seconds": 0.3}, 1), call("echo", {"text": "second"}, 1))
    refused(pipe.receive(), -32600, 1)
    assert text_of(pipe.receive()) == "slept"
    assert text_of(pipe.send(call("echo", {"text": "third"}, 1)).receive()) == "third"


def test_a_number_and_a_string_are_different_ids(pipe: Pipe) -> None:
    """Spec: basic/index, "Requests"."""
    pipe.send(call("slow", {"seconds": 30}, 1), call("slow", {"seconds": 0.1}, "1"), cancel(1))
    message = pipe.receive()
    assert (message["id"], text_of(message)) == ("1", "slept")
    assert pipe.alive()


@pytest.mark.parametrize("apart", [True, False])
def test_a_cancelled_call_stops_and_nothing_more_is_sent_for_it(apart: bool) -> None:
    """Spec: basic/patterns/cancellation; also when the notification comes in the same piece as the call."""
    with started() as pipe:
        if apart:
            pipe.send(call("slow", {"seconds": 30}, 5))
            assert pipe.alive()
            pipe.send(cancel(5))
        else:
            pipe.send(call("slow", {"seconds": 30}, 5), cancel(5))
        assert pipe.process.stderr is not None
        assert pipe.process.stderr.readline() == b"slow was cancelled\n"
        assert pipe.quiet(0.3)
        assert text_of(pipe.send(call("echo", {"text": "again"}, 5)).receive()) == "again"  # the id is free
        assert pipe.process.stdin is not None
        pipe.process.stdin.close()
        pipe.process.stdin = None
        assert pipe.process.wait(DEADLINE) == 0


def test_calls_that_begin_late_are_cancelled_by_what_waits_behind_them() -> None:
    """Ours: with every place taken, the cancellation of what has begun just now is not left waiting for a place."""
    with started("tests/fixtures/tight.py") as pipe:
        slow = [call("slow", {"seconds": 30}, number) for number in range(6)]
        pipe.send(*slow, call("echo", {"text": "last"}, 9), *(cancel(number) for number in range(6)))
        message = pipe.receive()
        assert (message["id"], text_of(message)) == (9, "last")


def test_nothing_is_sent_for_a_cancelled_call_that_goes_on() -> None:
    """Spec: basic/transports/stdio, "Cancellation": MUST NOT send any further messages for it."""
    with started() as pipe:
        pipe.send(call("stubborn", {"seconds": 30}, 5), cancel(5))
        assert pipe.process.stderr is not None
        assert pipe.process.stderr.readline() == b"stubborn was cancelled\n"
        assert pipe.quiet(0.3)
        assert pipe.alive()


@pytest.mark.parametrize(
    "params", [{"requestId": 99}, {"requestId": None}, {"requestId": [1]}, {}, [], None, "x", {"requestId": True}]
)
def test_a_cancellation_that_names_no_call_is_ignored(pipe: Pipe, params: Any) -> None:
    """Spec: basic/patterns/cancellation, "Error Handling"; unknown, finished, repeated or malformed."""
    notification = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}
    pipe.send(call("slow", {"seconds": 0.05}, 1), notification, notification)
    assert text_of(pipe.receive()) == "slept"
    pipe.send(cancel(1), cancel(1), {"jsonrpc": "2.0", "method": "notifications/cancelled"})
    assert pipe.alive()


def test_other_notifications_are_ignored(pipe: Pipe) -> None:
    """Spec: JSON-RPC 4.1: no answer, even to a known method."""
    pipe.send({"jsonrpc": "2.0", "method": "tools/list"}, {"jsonrpc": "2.0", "method": "nope", "params": 5})
    assert pipe.alive()


def test_blocking_tools_do_not_deafen_the_channel(pipe: Pipe) -> None:
    """Ours: RELIABILITY; an echo behind 50 blocked threads."""
    pipe.send(*(call("block", {"seconds": 0.4}, number) for number in range(50)))
    started_at = time.monotonic()
    assert pipe.alive()
    assert time.monotonic() - started_at < 0.35
    assert {text_of(pipe.receive()) for _ in range(50)} == {"blocked"}


@settings(max_examples=80, deadline=None)
@given(data=st.binary(max_size=120) | st.text(max_size=40).map(str.encode), inside=st.integers(0, 60))
def test_any_octets_get_messages_and_the_next_call_is_answered(pipe: Pipe, data: bytes, inside: int) -> None:
    """Ours: property; each line that is not blank and no notification gets at most one answer, always a message."""
    line = encode(call("echo", {"text": "a"}, "odd"))
    pipe.send(line[:inside] + data + line[inside:], call("echo", {"text": "alive"}, "good"))
    for _ in range(data.count(b"\n") + 2):
        message = pipe.receive()
        if message.get("id") == "good":
            return
        assert "result" in message or message["error"]["code"] in (-32700, -32600, -32601, -32602, -32022)
    raise AssertionError("the good call was not answered")
