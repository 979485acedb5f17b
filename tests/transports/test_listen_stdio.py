"""Subscriptions on the one channel of stdio: their ends, a peer that does not read, and calls beside them."""

from __future__ import annotations

import signal
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.support.lines import cancelled
from tests.support.listening import ACKNOWLEDGED, TOOLS, UPDATED, listen, same_id, subscription_id, told
from tests.support.processes import DEADLINE, ROOT, call, encode, request, run_stdio, stdio_server
from tests.support.spec import read

LISTENING = ROOT / "tests" / "fixtures" / "listening.py"
CANCELLED = "notifications/cancelled"


class Peer:
    """The other end of a server's pipes."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process

    def send(self, *messages: dict[str, Any]) -> None:
        """Write messages, in one write."""
        assert self.process.stdin is not None
        self.process.stdin.write(b"".join(encode(message) + b"\n" for message in messages))
        self.process.stdin.flush()

    def read(self) -> dict[str, Any]:
        """Read one message."""
        assert self.process.stdout is not None
        message: dict[str, Any] = read(self.process.stdout.readline())
        return message

    def answer(self, request_id: int | str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """Read up to the answer to a request; return it and what came before."""
        before = []
        while (message := self.read()).get("id") != request_id:
            before.append(message)
        return message, before

    def rest(self) -> list[dict[str, Any]]:
        """Read to the end."""
        assert self.process.stdout is not None
        return [read(line) for line in self.process.stdout.read().splitlines()]

    def count(self) -> int:
        """Return how many streams are open."""
        self.send(call("counts", {}, "counts"))
        found: int = self.answer("counts")[0]["result"]["structuredContent"]["streams"]
        return found


@pytest.fixture
def peer() -> Iterator[Peer]:
    """A running server."""
    with stdio_server(LISTENING) as process:
        yield Peer(process)


def check_end(messages: list[dict[str, Any]], *request_ids: int | str) -> None:
    """Check the last messages: the result of each stream, then the notification that it was torn down."""
    results, notices = messages[: len(request_ids)], messages[len(request_ids) :]
    for request_id, result, notice in zip(request_ids, results, notices, strict=True):
        assert (result["id"], result["result"]["resultType"]) == (request_id, "complete")
        assert (notice["method"], notice["params"]["requestId"]) == (CANCELLED, request_id)
        assert same_id(result, request_id)
        assert same_id(notice, request_id)


def test_end_of_input_ends_streams_with_their_result() -> None:
    """Spec: basic/patterns/subscriptions, "Graceful Closure"; basic/patterns/cancellation; calls are answered too."""
    sent = [listen(1), listen("1", uris=["a:1"]), call("echo", {"text": "hello"}, 2)]
    messages, log, code = run_stdio(LISTENING, b"".join(encode(message) + b"\n" for message in sent))
    assert [message["method"] for message in messages[:2]] == [ACKNOWLEDGED] * 2
    answers = [message for message in messages[2:] if message.get("id") == 2]
    assert len(answers) == 1
    check_end([message for message in messages[2:] if message not in answers], 1, "1")
    assert (log, code) == ("", 0)


def test_sigterm_ends_streams_and_answers_calls(peer: Peer) -> None:
    """Spec: basic/transports/stdio, "Shutdown"; the result before the last answer, the notification behind it."""
    peer.send(listen("a"), call("slow", {"seconds": 0.3}, 2))
    assert peer.read()["method"] == ACKNOWLEDGED
    peer.send(call("echo", {"text": "read"}, 3))
    peer.answer(3)
    peer.process.send_signal(signal.SIGTERM)
    result, answer, notice = peer.rest()
    check_end([result, notice], "a")
    assert answer["id"] == 2
    assert peer.process.wait(DEADLINE) == 0


def test_a_stream_that_is_opened_at_the_end_is_ended_too(peer: Peer) -> None:
    """Ours: it is read with the last lines, behind calls for which there was no place before."""
    assert peer.process.stdin is not None
    peer.send(*(call("slow", {"seconds": 0.1}, number) for number in range(3)), listen("late"))
    peer.process.stdin.close()
    messages = peer.rest()
    peer.process.stdin = None
    assert sorted(message["id"] for message in messages if "content" in message.get("result", {})) == [0, 1, 2]
    acknowledged, *end = [message for message in messages if "content" not in message.get("result", {})]
    assert (acknowledged["method"], subscription_id(acknowledged)) == (ACKNOWLEDGED, "late")
    check_end(end, "late")


def test_changes_are_told_between_the_answers_of_calls(peer: Peer) -> None:
    """Spec: basic/transports/stdio, "Receiving Messages"; one channel, and each stream knows its own by its id."""
    peer.send(listen(1), listen("1"), listen(3, uris=["a:1"]))
    assert [subscription_id(peer.read()) for _ in range(3)] == [1, "1", 3]
    peer.send(call("install", {"name": "installed"}, 4), call("update", {"uris": ["a:1", "a:2"]}, 5))
    answers: set[int] = set()
    changes: list[dict[str, Any]] = []
    while len(answers) + len(changes) < 5:
        message = peer.read()
        if "id" in message:
            answers.add(message["id"])
        else:
            changes.append(message)
    assert answers == {4, 5}
    assert Counter(told(changes)) == Counter([(1, TOOLS), ("1", TOOLS), (3, "a:1")])
    peer.send(request("tools/list", {}, 6))
    answer, between = peer.answer(6)
    assert (answer["result"]["tools"][-1]["name"], between) == ("installed", [])


def test_a_cancelled_stream_is_silent_and_gone(peer: Peer) -> None:
    """Spec: basic/patterns/cancellation; also while calls take every place, so that other lines wait."""
    peer.send(listen(1), listen(2))
    assert [peer.read()["method"], peer.read()["method"]] == [ACKNOWLEDGED] * 2
    peer.send(*(call("slow", {"seconds": 0.3}, number) for number in (10, 11)), call("change", {}, 12), cancelled(1))
    messages = [peer.read() for _ in range(4)]
    assert told(messages) in ([(2, TOOLS)], [(1, TOOLS), (2, TOOLS)])  # a change may be told before it is read
    peer.send(*(call("slow", {"seconds": 0.1}, number) for number in (20, 21, 22)), cancelled(2))
    for _ in range(3):
        peer.read()
    assert peer.count() == 0
    peer.send(call("change", {}, 30))
    assert peer.answer(30)[1] == []


def test_a_peer_that_does_not_read_gets_merged_news_once_it_reads(peer: Peer) -> None:
    """Ours: RELIABILITY, stalled listeners; what waits is bounded by the filter, however much has changed."""
    uris = [f"resource://number/{number:03}" for number in range(500)]
    peer.send(listen(1, uris=uris))
    assert peer.read()["method"] == ACKNOWLEDGED
    with stdio_server(LISTENING) as other:
        peer.send(call("update", {"uris": uris, "times": 60, "pause": 0.02}, 2))
        clock = Peer(other)  # somewhere else, the same time goes by
        clock.send(call("update", {"uris": [], "times": 75, "pause": 0.02}, 3))
        clock.answer(3)
    assert peer.process.stdout is not None
    counts: Counter[str] = Counter()
    answered = False
    while not answered or min(counts.values()) < 1 or len(counts) < len(uris):
        message = msgspec.json.decode(peer.process.stdout.readline())
        if message.get("id") == 2:
            answered = True
        else:
            assert (message["method"], subscription_id(message)) == (UPDATED, 1)
            counts[message["params"]["uri"]] += 1
    assert max(counts.values()) <= 5
    peer.send(call("echo", {"text": "still here"}, 4))
    assert peer.answer(4)[0]["result"]["content"][0]["text"] == "still here"


def test_streams_of_a_peer_that_left_do_not_hold_the_process(tmp_path: Path) -> None:
    """Ours: nobody reads any more, and nobody is left to be told."""
    with stdio_server(LISTENING) as process:
        peer = Peer(process)
        peer.send(listen(1))
        assert peer.read()["method"] == ACKNOWLEDGED
        assert process.stdout is not None
        process.stdout.close()
        peer.send(call("change", {}, 2))
        assert process.wait(DEADLINE) == 0
        assert process.stderr is not None
        assert process.stderr.read() == b""
        process.stdout = None
