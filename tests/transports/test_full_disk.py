"""A disk for logs that is full."""

from __future__ import annotations

import os
import signal
import socket
import subprocess

import pytest

from tests.support.processes import DEADLINE, ROOT, call, encode, environment, http, stdio_command
from tests.support.spec import read
from tests.support.wire import ask

TOOLS = "tests/fixtures/tools.py"
# Buffered, as it is without the variable: what could not be written is tried again at the end.
BUFFERED = environment() | {"PYTHONUNBUFFERED": ""}

pytestmark = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")


def test_stdio_goes_on_and_ends_in_order() -> None:
    """Ours: FIELD 23; neither a failing tool, which is logged, nor the exit code minds."""
    data = encode(call("boom")) + b"\n" + encode(call("echo", {"text": "hello"}, 2)) + b"\n"
    with open("/dev/full", "wb") as full:
        command = stdio_command(TOOLS)
        done = subprocess.run(
            command, input=data, stdout=subprocess.PIPE, stderr=full, timeout=DEADLINE, env=BUFFERED, cwd=ROOT
        )
    answers = {message["id"]: message["result"]["isError"] for message in map(read, done.stdout.splitlines())}
    assert answers == {1: True, 2: False}
    assert done.returncode == 0


def test_http_starts_goes_on_and_ends_in_order() -> None:
    """Ours: FIELD 23; the line that tells the URL is not worth a server."""
    with socket.create_server(("127.0.0.1", 0)) as sock, open("/dev/full", "wb") as full:
        command = [*stdio_command(TOOLS), "--fd", str(sock.fileno())]
        fds, null = (sock.fileno(),), subprocess.DEVNULL
        process = subprocess.Popen(command, stdin=null, stderr=full, pass_fds=fds, env=BUFFERED, cwd=ROOT)
        try:
            port = sock.getsockname()[1]
            assert ask(port, http(call("boom"))).message["result"]["isError"]
            assert not ask(port, http(call("echo", {"text": "hello"}))).message["result"]["isError"]
            process.send_signal(signal.SIGTERM)
            assert process.wait(DEADLINE) == 0
        finally:
            process.kill()
            process.wait(DEADLINE)
