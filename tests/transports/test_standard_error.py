"""Standard error: a host that never reads it stops nothing, and one that reads it loses nothing."""

from __future__ import annotations

import os
import re
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
import pytest

from tests.support.processes import DEADLINE, ROOT, call, encode, environment, http, stdio_command
from tests.support.wire import Wire

LONG = "tests/fixtures/long_calls.py"
MEGABYTES = 10
LINES = MEGABYTES * 10_000  # of 100 bytes
COUNT = re.compile(rb"\[leanmcp: (\d+) bytes of standard error were dropped\]\n")
START = re.compile(rb"leanmcp .*\(Ctrl-C stops\)\n")
# Python's unbuffered streams lose what one write does not take.
BUFFERED = environment() | {"PYTHONUNBUFFERED": ""}
TALKERS = ["chatter", "chatter_on_loop", "chatty_child"]


class Server:
    """A server on either transport whose standard error the test holds."""

    def __init__(self, transport: str, log: int) -> None:
        command = stdio_command(LONG)
        streams: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self.wire: Wire | None = None
        sock = None
        if transport == "http":
            sock = socket.create_server(("127.0.0.1", 0))
            command += ["--fd", str(sock.fileno())]
            streams = {"pass_fds": (sock.fileno(),), "stdin": subprocess.DEVNULL}
        self.process = subprocess.Popen(command, stderr=log, env=environment(), cwd=ROOT, **streams)
        if sock is not None:
            self.wire = Wire(sock.getsockname()[1])
            sock.close()

    def ask(self, message: dict[str, Any]) -> Any:
        """Call a tool and return its result."""
        if self.wire is not None:
            return self.wire.send(http(message)).answer().message["result"]
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(encode(message) + b"\n")
        self.process.stdin.flush()
        ready, _, _ = select.select((self.process.stdout,), (), (), DEADLINE)
        assert ready, "no answer"
        return msgspec.json.decode(self.process.stdout.readline())["result"]

    def end(self) -> None:
        """End it by signal; it does not wait for anybody who reads."""
        if self.wire is not None:
            self.wire.socket.close()
        started = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(DEADLINE) == 0
        assert time.monotonic() - started < 3
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                stream.close()


@contextmanager
def serving(transport: str) -> Iterator[tuple[Server, int]]:
    """Serve with a pipe as standard error; give the server and the end that reads."""
    reader, writer = os.pipe()
    server = Server(transport, writer)
    os.close(writer)
    try:
        yield server, reader
    finally:
        if server.process.poll() is None:
            server.process.kill()
            server.process.wait(DEADLINE)
        for stream in (server.process.stdin, server.process.stdout):
            if stream is not None:
                stream.close()
        if server.wire is not None:
            server.wire.socket.close()
        os.close(reader)


def read_until(fd: int, pattern: re.Pattern[bytes]) -> bytes:
    """Read until a pattern has come."""
    data = b""
    deadline = time.monotonic() + DEADLINE
    while not pattern.search(data):
        ready, _, _ = select.select((fd,), (), (), max(0.0, deadline - time.monotonic()))
        piece = os.read(fd, 1 << 16) if ready else b""
        assert piece, f"{data[-300:]!r}"
        data += piece
    return data


def read_all(fd: int) -> bytes:
    """Read to the end."""
    data = bytearray()
    while piece := os.read(fd, 1 << 20):
        data += piece
    return bytes(data)


@pytest.mark.parametrize("talker", TALKERS)
@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_ten_megabytes_that_nobody_reads_stop_nothing(transport: str, talker: str) -> None:
    """Ours: FIELD 23; every call is answered, the count is told as soon as somebody reads, and the end comes soon."""
    with serving(transport) as (server, log):
        arguments = {"size": MEGABYTES * 1_000_000} if talker == "chatty_child" else {"lines": LINES}
        assert not server.ask(call(talker, arguments))["isError"]
        assert server.ask(call("echo", {"text": "alive"}, 2))["content"][0]["text"] == "alive"
        # Nothing more is written: the count comes all the same.
        written = LINES * (99 if talker == "chatter" else 100)
        text, told = read_until(log, COUNT), 0
        while told < written:  # what was on its way when we began to read follows the count
            text = START.sub(b"", text)
            counts = list(COUNT.finditer(text))
            told = len(text) + sum(int(count[1]) - len(count[0]) for count in counts)
            if told < written:
                text += read_until(log, re.compile(rb"\n"))
        assert told - written <= len(counts)  # perhaps a line feed before each
        assert all(text[: count.start()].endswith(b"\n") for count in counts), "a count has a line of its own"
        server.ask(call("chatter", {"lines": 1}, 3))
        assert read_until(log, re.compile(rb"000000 x+\n")).endswith(b"x\n")
        server.end()
        assert read_all(log) == b""


@pytest.mark.parametrize("talker", ["chatter_on_loop", "chatty_child"])
@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_a_server_whose_log_nobody_reads_ends_soon(transport: str, talker: str) -> None:
    """Ours: nothing is written to the full pipe at exit, not by Python either."""
    with serving(transport) as (server, _):
        server.ask(call(talker, {"size": 1_000_000} if talker == "chatty_child" else {"lines": 10_000}))
        server.end()


@pytest.mark.parametrize("talker", TALKERS)
def test_nothing_is_lost_while_somebody_reads(talker: str) -> None:
    """Ours: every line, in order, up to the last one before the end."""
    count = 20_000
    arguments = {"size": count * 100} if talker == "chatty_child" else {"lines": count}
    done = subprocess.run(
        stdio_command(LONG),
        input=encode(call(talker, arguments)),
        capture_output=True,
        env=environment(),
        cwd=ROOT,
        timeout=DEADLINE,
    )
    lines = done.stderr.splitlines()
    assert len(lines) == count
    assert b"dropped" not in done.stderr
    if talker != "chatty_child":
        numbers = [int(line.replace(b"WARNING ", b"").split()[0]) for line in lines]
        assert numbers == list(range(count))


@pytest.mark.parametrize("kind", ["pipe", "socket", "file", "closed"])
def test_standard_error_may_be_anything(kind: str, tmp_path: Any) -> None:
    """Ours: a pipe or socket is pumped, a file written as it is; a reader that has gone is no fault."""
    path = tmp_path / "log"
    if kind == "pipe":
        reader, writer = os.pipe()
    elif kind == "socket":
        ours, theirs = socket.socketpair()
        reader, writer = ours.detach(), theirs.detach()
    elif kind == "file":
        reader, writer = -1, os.open(path, os.O_WRONLY | os.O_CREAT)
    else:
        reader, writer = os.pipe()
        os.close(reader)
        reader = -1
    calls = encode(call("chatter", {"lines": 100})) + b"\n" + encode(call("chatter", {"lines": 100}, 2))
    process = subprocess.Popen(
        stdio_command(LONG), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=writer, env=environment(), cwd=ROOT
    )
    os.close(writer)
    started = time.monotonic()
    assert process.stdin is not None
    process.stdin.write(calls)
    process.stdin.close()
    process.stdin = None
    if reader >= 0:
        assert read_all(reader).count(b"\n") == 200
        os.close(reader)
    output = process.communicate(timeout=DEADLINE)[0]
    assert time.monotonic() - started < 5
    assert (output.count(b"\n"), process.returncode) == (2, 0)
    if kind == "file":
        assert path.read_bytes().count(b"\n") == 200


def test_a_child_that_outlives_the_server_does_not_hold_its_end_up() -> None:
    """Ours: it shares the pipe; the end of the server does not wait for its end, nor for half a second in vain."""
    times = []
    for _ in range(3):
        with serving("stdio") as (server, log):
            assert server.process.stdin is not None
            child = int(server.ask(call("orphan"))["content"][0]["text"])
            try:
                server.ask(call("chatter", {"lines": 1}, 2))
                started = time.monotonic()
                server.process.stdin.close()
                assert server.process.wait(DEADLINE) == 0
                times.append(time.monotonic() - started)
                assert b"000000 xxx" in read_until(log, re.compile(rb"x\n"))
            finally:
                os.kill(child, signal.SIGKILL)
        if times[-1] < 0.4:
            break  # a busy machine is not always busy
    assert min(times) < 0.4


def test_an_idle_server_ends_at_once() -> None:
    """Ours: RELIABILITY, exit 0.3 s after the end of input; the pump waits for nothing."""
    times = []
    for _ in range(3):
        with serving("stdio") as (server, _log):
            server.ask(call("echo", {"text": "x"}))
            assert server.process.stdin is not None
            started = time.monotonic()
            server.process.stdin.close()
            assert server.process.wait(DEADLINE) == 0
            times.append(time.monotonic() - started)
    assert min(times) < 0.3


@pytest.mark.parametrize(
    "fault",
    [
        "raise RuntimeError('deep ' + 'x' * 200_000)",
        "import atexit, sys\natexit.register(lambda: print('z' * 200_000, file=sys.stderr))\n1 / 0  # deep",
    ],
)
def test_the_traceback_of_a_crash_arrives_whole(fault: str, tmp_path: Any) -> None:
    """Ours: also more of it than a pipe holds, raised while the server starts."""
    file = tmp_path / "server.py"
    lines = "\n".join(f"    {line}" for line in fault.split("\n"))
    file.write_text(
        "from contextlib import asynccontextmanager\nfrom leanmcp import MCPServer\n\n@asynccontextmanager\n"
        f"async def lifespan(server):\n{lines}\n    yield\n\nMCPServer('crash', lifespan=lifespan).run()\n"
    )
    done = subprocess.run([sys.executable, str(file)], input=b"", capture_output=True, env=BUFFERED, timeout=DEADLINE)
    assert done.returncode == 1
    assert done.stderr.startswith(b"Traceback (most recent call last):\n")
    assert b"deep" in done.stderr
    assert len(done.stderr) > 200_000
    assert done.stderr.endswith((b"x\n", b"z\n"))


def test_what_faulthandler_writes_of_a_crash_arrives(tmp_path: Any) -> None:
    """Ours: it is written by the process that dies, which passes nothing on any more."""
    file = tmp_path / "server.py"
    file.write_text(
        "import os\nfrom leanmcp import MCPServer\nmcp = MCPServer('crash')\n\n@mcp.tool\n"
        'async def crash() -> None:\n    """Crash."""\n    os.abort()\n\nmcp.run()\n'
    )
    command = [sys.executable, "-X", "faulthandler", str(file)]
    line = encode(call("crash")) + b"\n"
    done = subprocess.run(command, input=line, capture_output=True, env=BUFFERED, timeout=DEADLINE)
    assert done.returncode == -signal.SIGABRT
    assert b"line 8 in crash" in done.stderr


def test_a_file_of_the_program_s_own_keeps_what_faulthandler_writes(tmp_path: Any) -> None:
    """Ours: nobody can ask which file was given."""
    file = tmp_path / "server.py"
    file.write_text(
        "import faulthandler, os\nfrom leanmcp import MCPServer\nfaulthandler.enable(open('crash.log', 'w'))\n"
        "mcp = MCPServer('crash')\n\n@mcp.tool\n"
        'async def crash() -> None:\n    """Crash."""\n    os.abort()\n\nmcp.run()\n'
    )
    line = encode(call("crash")) + b"\n"
    subprocess.run(
        [sys.executable, str(file)], input=line, capture_output=True, env=BUFFERED, timeout=DEADLINE, cwd=tmp_path
    )
    assert "line 9 in crash" in (tmp_path / "crash.log").read_text()


def test_what_is_printed_after_serving_arrives_too(tmp_path: Any) -> None:
    """Ours: the rest of a program, and what it registered for its end, on both descriptors."""
    file = tmp_path / "server.py"
    file.write_text(
        "import atexit, os, sys\nfrom leanmcp import MCPServer\n"
        "def late():\n    with open(1, 'wb', closefd=False) as stream: stream.write(b'a' * 100_000 + b'\\n')\n"
        "atexit.register(late)\n"
        "MCPServer('last').run()\nprint('after', file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, str(file)], input=b"", capture_output=True, env=BUFFERED, timeout=DEADLINE)
    assert (done.returncode, done.stdout) == (0, b"")
    assert done.stderr == b"after\n" + b"a" * 100_000 + b"\n"
