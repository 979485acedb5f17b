"""What tools leave behind keeps no server, and what they fork ends none."""

from __future__ import annotations

import signal

import pytest

from tests.support.processes import DEADLINE, call, encode, http, http_server, run_stdio
from tests.support.wire import ask

TOOLS = "tests/fixtures/leftovers.py"
THREADS = ["thread", "executor", "default_executor"]


@pytest.mark.parametrize("tool", THREADS)
def test_threads_that_tools_have_left_do_not_keep_a_stdio_server(tool: str) -> None:
    """Ours: FIELD 25; it ends soon after its input, and names them."""
    messages, log, code = run_stdio(TOOLS, encode(call(tool)) + b"\n")
    assert messages[0]["result"]["structuredContent"] == {"result": "left"}
    assert ("although threads still run" in log) == (tool != "thread")  # it is a daemon, as the tool's own is
    assert code == 0


@pytest.mark.parametrize("tool", THREADS)
def test_threads_that_tools_have_left_do_not_keep_an_http_server(tool: str) -> None:
    """Ours: FIELD 29."""
    with http_server(TOOLS) as server:
        assert ask(server.port, http(call(tool))).status == 200
        server.process.send_signal(signal.SIGTERM)
        log = server.process.communicate(timeout=DEADLINE)[1]
    assert (b"although threads still run" in log) == (tool != "thread")
    assert server.process.returncode == 0


def test_forks_of_tools_end_without_the_server() -> None:
    """Ours: FIELD 12 and 31; neither the SIGTERM of a `multiprocessing.Pool` nor a fork that leaves its tool."""
    calls = [call("processes", request_id=1), call("fork", {"end": "exit 3"}, 2), call("processes", request_id=3)]
    messages, log, code = run_stdio(TOOLS, b"".join(encode(one) + b"\n" for one in calls))
    results = {message["id"]: message["result"]["structuredContent"]["result"] for message in messages}
    assert results == {1: [1, 2], 2: 3, 3: [1, 2]}
    assert (log, code) == ("", 0)
