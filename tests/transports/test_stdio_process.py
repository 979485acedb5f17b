"""A stdio server as a process: what its streams may be, and how it ends."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import socket
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests.support.processes import DEADLINE, ROOT, call, encode, environment, run_stdio, stdio_command, stdio_server
from tests.support.spec import read

TOOLS = "tests/fixtures/tools.py"
ECHO = encode(call("echo", {"text": "hello"})) + b"\n"


def echoes(count: int) -> bytes:
    """Return calls with an id of their own each."""
    return b"".join(encode(call("echo", {"text": "hello"}, number)) + b"\n" for number in range(count))


def run(data: bytes = b"", redirect: str = "", **streams: Any) -> subprocess.CompletedProcess[bytes]:
    """Run a server through a shell that redirects its streams."""
    command = ["/bin/sh", "-c", f'exec "$0" "$@" {redirect}', *stdio_command(TOOLS)]
    if not streams:
        streams = {"input": data}
    return subprocess.run(command, capture_output=True, env=environment(), cwd=ROOT, timeout=DEADLINE, **streams)


def texts(output: bytes) -> list[str]:
    """Return the first text block of each result."""
    return [read(line)["result"]["content"][0]["text"] for line in output.splitlines()]


def start(**streams: Any) -> subprocess.Popen[bytes]:
    """Start a server on the streams given; standard error is a pipe."""
    return subprocess.Popen(stdio_command(TOOLS), stderr=subprocess.PIPE, env=environment(), cwd=ROOT, **streams)


def finish(process: subprocess.Popen[bytes], code: int = 0) -> bytes:
    """Wait for the end of a server and return its log."""
    try:
        log = process.communicate(timeout=DEADLINE)[1]
    finally:
        process.kill()
    assert process.returncode == code
    return log


def receive(fd: int, count: int = 1) -> list[str]:
    """Read results from a descriptor; every wait is bounded."""
    data = b""
    while data.count(b"\n") < count:
        ready, _, _ = select.select((fd,), (), (), DEADLINE)
        piece = os.read(fd, 1 << 16) if ready else b""
        assert piece, data
        data += piece
    return texts(data)


# --- streams ----------------------------------------------------------------------------------------------------------


def test_input_may_be_a_regular_file(tmp_path: Path) -> None:
    """Ours: `server < calls.jsonl`; the loop cannot poll a file, and nothing is lost at its end."""
    path = tmp_path / "calls.jsonl"
    path.write_bytes(echoes(3000))
    done = run(redirect=f"< {path}")
    assert texts(done.stdout) == ["hello"] * 3000
    assert (done.returncode, done.stderr) == (0, b"")


def test_input_may_be_the_null_device_or_empty() -> None:
    """Ours: end of input at once."""
    for done in (run(redirect="< /dev/null"), run()):
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_unreadable_input_is_at_its_end() -> None:
    """Ours: a descriptor that cannot be read ends the server; no traceback, no server that waits for ever."""
    done = run(redirect="0> /dev/null")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_streams_may_be_a_socket_pair() -> None:
    """Ours: hosts that start their children so (Node does); input ends when the peer ends its output."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        process = start(stdin=theirs, stdout=theirs)
        theirs.close()
        ours.settimeout(DEADLINE)
        ours.sendall(ECHO)
        assert receive(ours.fileno()) == ["hello"]
        ours.sendall(b"".join(encode(call("blob", {"size": 3_000_000}, number)) + b"\n" for number in range(2)))
        assert [len(text) for text in receive(ours.fileno(), 2)] == [3_000_000] * 2
        ours.shutdown(socket.SHUT_WR)
        assert finish(process) == b""


def test_streams_may_be_a_terminal() -> None:
    """Ours: by hand; a line on standard error says what this is, Ctrl-D ends it."""
    ours, theirs = pty.openpty()
    process = start(stdin=theirs, stdout=subprocess.PIPE)
    os.close(theirs)
    assert process.stdout is not None
    os.write(ours, ECHO)
    assert receive(process.stdout.fileno()) == ["hello"]
    os.write(ours, b"\x04")
    assert b"leanmcp call" in finish(process)
    os.close(ours)


def test_a_terminal_that_others_made_non_blocking_is_served() -> None:
    """Ours: the flag belongs to the open file, which other programs share."""
    ours, theirs = pty.openpty()
    os.set_blocking(theirs, False)
    process = start(stdin=theirs, stdout=theirs)
    os.close(theirs)
    os.write(ours, encode(call("blob", {"size": 100_000})) + b"\n")
    data = b""
    while data.count(b"x" * 99) < 2 * (100_000 // 99) or not data.endswith(b"\n"):
        assert select.select((ours,), (), (), DEADLINE)[0]
        data += os.read(ours, 1 << 16)
    os.write(ours, b"\x04")
    finish(process)
    os.close(ours)


@pytest.mark.parametrize("end", [b"", b"\n"])
def test_output_may_be_a_regular_file(tmp_path: Path, end: bytes) -> None:
    """Ours: every answer is in it when the process has ended."""
    path = tmp_path / "answers.jsonl"
    done = run(echoes(500).strip() + end, redirect=f"> {path}")
    assert texts(path.read_bytes()) == ["hello"] * 500
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.parametrize("device", ["/dev/null", "/dev/full"])
def test_output_that_takes_nothing_ends_quietly(device: str) -> None:
    """Ours: no traceback."""
    done = run(ECHO, redirect=f"> {device}")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.parametrize("busy", [True, False])
def test_a_closed_output_ends_the_server(busy: bool) -> None:
    """Ours: nobody is there to read; no traceback, no spinning, no log that grows."""
    with stdio_server(TOOLS) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(ECHO)
        process.stdin.flush()
        assert receive(process.stdout.fileno()) == ["hello"]
        process.stdout.close()
        if busy:
            process.stdin.write(ECHO)
            process.stdin.flush()
        assert process.wait(DEADLINE) == 0
        assert process.stderr is not None
        assert process.stderr.read() == b""
        process.stdout = None


def test_standard_error_may_be_a_pipe_that_is_closed() -> None:
    """Ours: a host that does not want the log; calls go on."""
    with stdio_server(TOOLS) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stderr.close()
        process.stderr = None
        process.stdin.write(encode(call("boom", request_id=2)) + b"\n" + ECHO)
        process.stdin.flush()
        results = receive(process.stdout.fileno(), 2)
        assert "hello" in results
        process.stdin.close()
        process.stdin = None
        assert process.wait(DEADLINE) == 0


@pytest.mark.parametrize(
    ("redirect", "answers"), [("<&-", 0), (">&-", 0), ("2>&-", 2), ("2>&- <&-", 0), ("<&- >&- 2>&-", 0)]
)
def test_descriptors_may_be_closed_at_start(redirect: str, answers: int) -> None:
    """Ours: a closed one is like the null device, also for tools that print."""
    done = run(encode(call("noisy", request_id=2)) + b"\n" + ECHO, redirect=redirect)
    assert sorted(texts(done.stdout)) == ["0", "hello"][:answers]
    assert done.returncode == 0
    assert b"Traceback" not in done.stderr


# --- the end ----------------------------------------------------------------------------------------------------------


def test_end_of_input_ends_an_idle_server_at_once() -> None:
    """Spec: basic/transports/stdio, "Shutdown"; FIELD 25."""
    with stdio_server(TOOLS) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(ECHO)
        process.stdin.flush()
        assert receive(process.stdout.fileno()) == ["hello"]
        started = time.monotonic()
        process.stdin.close()
        process.stdin = None
        assert process.wait(DEADLINE) == 0
        assert time.monotonic() - started < 1


@pytest.mark.parametrize("tool", ["block", "slow", "stubborn"])
def test_end_of_input_waits_for_no_call_for_ever(tool: str) -> None:
    """Ours: RELIABILITY; exit within 2 s, blocked threads included."""
    started = time.monotonic()
    messages, log, code = run_stdio(TOOLS, encode(call(tool, {"seconds": 60}, 2)) + b"\n" + ECHO)
    assert time.monotonic() - started < 3
    assert [message["id"] for message in messages] == [1]
    assert code == 0
    assert "Traceback" not in log


def test_sigterm_answers_running_calls_and_exits_with_0() -> None:
    """Ours: RELIABILITY; 20 of 20."""
    with stdio_server(TOOLS) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(
            b"".join(encode(call("slow", {"seconds": 0.5}, n)) + b"\n" for n in range(20)) + ECHO[:-1] + b"\n"
        )
        process.stdin.flush()
        first = process.stdout.readline()
        assert b'"id":1,' in first
        process.send_signal(signal.SIGTERM)
        output, log = process.communicate(timeout=DEADLINE)
    assert texts(output) == ["slept"] * 20
    assert (log, process.returncode) == (b"", 0)


@pytest.mark.parametrize(
    ("signals", "code"),
    [((signal.SIGINT,), 130), ((signal.SIGTERM, signal.SIGTERM), 143), ((signal.SIGINT, signal.SIGINT), 130)],
)
def test_sigint_and_a_second_signal_end_the_server_soon(signals: tuple[signal.Signals, ...], code: int) -> None:
    """Ours: 130 after SIGINT; the second signal ends the process at once; no traceback."""
    with stdio_server(TOOLS) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(encode(call("slow", {"seconds": 60}, 2)) + b"\n" + ECHO)
        process.stdin.flush()
        process.stdout.readline()
        started = time.monotonic()
        for number, which in enumerate(signals):
            if number:  # a signal that is still pending would swallow its twin
                process.stdin.write(ECHO)
                process.stdin.flush()
                process.stdout.readline()
            process.send_signal(which)
        log = process.communicate(timeout=DEADLINE)[1]
        # One signal gives the call 1.5 s, which the second one must not wait for.
        assert time.monotonic() - started < (2.5 if len(signals) == 1 else 1.2)
    assert process.returncode == code
    assert log in (b"", b"slow was cancelled\n")


@pytest.mark.skipif(not hasattr(fcntl, "F_GETPIPE_SZ"), reason="pipes tell their size on Linux only")
def test_output_holds_some_large_answers() -> None:
    """Ours: a page of a list takes one write, not one for each of the 64 KiB that a pipe holds by itself."""
    with stdio_server(TOOLS) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(ECHO)
        process.stdin.flush()
        assert receive(process.stdout.fileno()) == ["hello"]
        assert fcntl.fcntl(process.stdout, fcntl.F_GETPIPE_SZ) >= 256 * 1024
