"""The long job: its progress is seen, it ends when it is cancelled, and no draft stays; on both transports."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import Any

import pytest

from tests.support.events import BOTH, EventWire, values
from tests.support.lines import asking, cancelled
from tests.support.processes import (
    DEADLINE,
    ROOT,
    call,
    encode,
    environment,
    http,
    http_server,
    run_stdio,
    stdio_server,
)
from tests.support.spec import read
from tests.support.wire import ask

LONGJOB = ROOT / "examples" / "longjob" / "server.py"
ENDLESS = asking(call("render", {"pages": 10_000, "seconds_per_page": 0.01}))
SHORT = asking(call("render", {"pages": 3, "seconds_per_page": 0}))
HASH = asking(call("fingerprint", {"text": "a", "rounds": 5000}))


@pytest.mark.parametrize(
    ("message", "steps", "text"),
    [
        (SHORT, [1, 2, 3], "A report of 3 pages."),
        (HASH, [1000, 2000, 3000, 4000, 5000], "cf23a8e11c770fa7355aedc082a7627c8fc6f0f924a0b7a6a0f651fcf068c575"),
    ],
)
@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_progress_comes_before_the_result(transport: str, message: dict[str, Any], steps: list[int], text: str) -> None:
    """Spec: basic/patterns/progress."""
    if transport == "stdio":
        *notes, answer = run_stdio(LONGJOB, encode(message))[0]
    else:
        with http_server(LONGJOB) as server, EventWire(server.port) as wire:
            *notes, answer = wire.call(message, BOTH).stream()
    assert values(notes) == steps
    assert {note["params"]["total"] for note in notes} == {steps[-1]}
    assert not answer["result"]["isError"]
    assert answer["result"]["content"][0]["text"] == text


def test_a_cancelled_job_leaves_no_draft_on_stdio() -> None:
    """Spec: basic/patterns/cancellation; there is no answer to it."""
    with stdio_server(LONGJOB) as process:

        def send(message: dict[str, Any]) -> None:
            assert process.stdin is not None
            process.stdin.write(encode(message) + b"\n")
            process.stdin.flush()

        def receive() -> Any:
            assert process.stdout is not None
            return read(process.stdout.readline())

        send(ENDLESS)
        assert receive()["params"]["progress"] == 1
        send(cancelled())
        send(call("unfinished", {}, "drafts"))
        message = receive()
        while "method" in message:  # sent before the cancellation arrived
            message = receive()
        deadline = time.monotonic() + DEADLINE
        while message["result"]["structuredContent"]:
            assert time.monotonic() < deadline
            send(call("unfinished", {}, "drafts"))
            message = receive()
            assert message["id"] == "drafts"
        send(SHORT)
        assert values([receive() for _ in range(3)]) == [1, 2, 3]


def test_a_client_that_leaves_cancels_its_job_on_http() -> None:
    """Spec: closing the stream is the signal."""
    with http_server(LONGJOB) as server:

        def drafts() -> dict[str, int]:
            found: dict[str, int] = ask(server.port, http(call("unfinished"))).message["result"]["structuredContent"]
            return found

        with EventWire(server.port) as wire:
            wire.call(ENDLESS, BOTH).head()
            assert wire.event()["params"]["progress"] == 1
            assert list(drafts()) == ["draft-1"]
        deadline = time.monotonic() + DEADLINE
        while drafts():
            assert time.monotonic() < deadline


def test_it_runs_as_a_program() -> None:
    """Ours: `python FILE`, which is how a host starts it."""
    done = subprocess.run(
        [sys.executable, str(LONGJOB)],
        input=encode(call("unfinished")),
        capture_output=True,
        timeout=DEADLINE,
        env=environment(),
    )
    assert read(done.stdout)["result"]["structuredContent"] == {}
    assert (done.returncode, done.stderr) == (0, b"")
