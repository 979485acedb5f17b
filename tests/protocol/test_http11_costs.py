"""What reading costs: heads that are reused, function entries, and work on single octets."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
from types import FrameType

import pytest

from leanmcp.protocol import http11_body, http11_grammar
from leanmcp.protocol.http11 import IDLE, RequestReader
from tests.support.http11_reads import CHUNKED, POST, post, read_all
from tests.support.processes import DEADLINE, ROOT, environment


def function_entries(call: object, *arguments: object) -> list[str]:
    """Return the names of the Python functions entered by `call(*arguments)`."""
    entered: list[str] = []

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            entered.append(frame.f_code.co_name)

    assert callable(call)
    sys.setprofile(note)
    try:
        call(*arguments)
    finally:
        sys.setprofile(None)
    return entered


def test_an_identical_head_is_the_identical_object() -> None:
    """Ours: a head is a pure function of its octets; comparing is cheaper than parsing."""
    reader = RequestReader()
    raw = post(b"Content-Length: 1")
    first = reader.feed(raw + b"a")
    assert first is not None
    first.head.plan = "kept"
    other = reader.feed(raw + b"b" + b"\r\n" + raw + b"c")
    assert other is not None
    following = reader.next_request()
    assert following is not None
    assert reader.feed(raw) is None
    split = reader.feed(b"d")
    assert split is not None
    assert [r.body for r in (other, following, split)] == [b"b", b"c", b"d"]
    assert first.head is other.head is following.head is split.head
    changed = reader.feed(post(b"content-length: 1") + b"e")
    assert changed is not None
    assert changed.head is not first.head
    assert changed.head.plan is None


def test_identical_chunked_heads_are_reused_too() -> None:
    """Ours: as above."""
    requests, _, _ = read_all([CHUNKED + b"0\r\n\r\n", CHUNKED + b"1\r\na\r\n0\r\n\r\n"])
    assert requests[0].head is requests[1].head
    assert [r.body for r in requests] == [b"", b"a"]


def test_a_large_head_is_not_kept() -> None:
    """Ours: an idle connection holds little."""
    raw = post(b"X: " + b"a" * 8000)
    requests, _, reader = read_all([raw, raw])
    assert requests[0].head is not requests[1].head
    requests.clear()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        reader.feed(post(b"Content-Length: 100000") + b"a" * 50_000)
        reader.feed(b"a" * 50_000)
        reader.hold(raw * 10)
        while reader.next_request() is not None:
            pass
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert reader.phase == IDLE
    assert after - before < 4000


def test_a_request_costs_at_most_three_function_entries() -> None:
    """Ours: a Python function entry is the unit of cost."""
    reader = RequestReader()
    same = post(b"Content-Length: 1") + b"a"
    reader.feed(same)
    assert function_entries(reader.feed, same) == ["feed"]
    other = post(b"Content-Length: 1", b"X: 1") + b"a"
    assert function_entries(reader.feed, other) == ["feed", "next_request", "__init__"]


class CountingPattern:
    """Counts the octets that a search runs over."""

    def __init__(self) -> None:
        self.searched = 0
        self.pattern = http11_grammar._LINE_BREAKERS

    def search(self, data: bytes, position: int) -> object:
        found = self.pattern.search(data, position)
        self.searched += (len(data) if found is None else found.end()) - position
        return found


@pytest.mark.parametrize(
    "raw",
    [
        POST + b"X: " + b"a" * 30_000 + b"\r\n\r\n",
        POST + b"".join(b"X-%d: %b\r\n" % (i, b"a" * 300) for i in range(90)) + b"\r\n",
        CHUNKED + b"1\r\na\r\n" * 4000 + b"0\r\n\r\n",
        CHUNKED + b"1;" + b"a" * 4000 + b"\r\na\r\n0\r\nX: " + b"a" * 30_000 + b"\r\n\r\n",
    ],
)
def test_work_on_single_octets_is_linear(raw: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: each octet is searched at most twice, and costs a bounded number of function entries."""
    counting = CountingPattern()
    monkeypatch.setattr(http11_grammar, "_LINE_BREAKERS", counting)
    entered = function_entries(read_all, [raw[i : i + 1] for i in range(len(raw))])
    assert counting.searched <= 2 * len(raw) + 10
    assert len(entered) <= 12 * len(raw)
    monkeypatch.undo()
    requests, status, reader = read_all([raw[i : i + 1] for i in range(len(raw))])
    assert (len(requests), status, reader.buffered) == (1, None, 0)


ALL_PATTERNS = r"""
import importlib, itertools, pkgutil, re
from leanmcp import protocol

PAIRS = list(itertools.product(" \t,;:=/a0%.-", repeat=2))
for module in pkgutil.iter_modules(protocol.__path__, "leanmcp.protocol."):
    for pattern in vars(importlib.import_module(module.name)).values():
        if isinstance(pattern, re.Pattern):
            for start, pair in itertools.product(("", "a", "100-continue"), PAIRS):
                text = start + "".join(pair) * 100 + "\0"
                pattern.fullmatch(text.encode() if isinstance(pattern.pattern, bytes) else text)
"""


def test_no_pattern_has_two_ways_through_a_text() -> None:
    """Ours: one that has would look for a match for years; `Expect: , , , x` was such a text."""
    subprocess.run([sys.executable, "-c", ALL_PATTERNS], check=True, timeout=DEADLINE, cwd=ROOT, env=environment())


def test_a_large_body_in_pieces_is_joined_once() -> None:
    """Ours: pieces are kept as they came, so 4 MiB in 64 KiB pieces are copied once."""
    size, piece = 4 * 1024 * 1024, b"a" * 65536
    reader = RequestReader()
    reader.feed(post(b"Content-Length: %d" % size))
    for _ in range(size // len(piece) - 1):
        assert reader.feed(piece) is None
    assert isinstance(reader._body, http11_body.SizedBody)
    assert all(kept is piece for kept in reader._body._pieces)
    assert reader.buffered == size - len(piece)
    request = reader.feed(piece)
    assert request is not None
    assert request.body == b"a" * size


@pytest.mark.parametrize("start", [post(b"Content-Length: 200000"), CHUNKED + b"30d40\r\n"])
def test_a_body_in_single_octets_takes_no_object_each(start: bytes) -> None:
    """Ours: a peer must not make the server hold many times what it sent."""
    reader = RequestReader()
    reader.feed(start)
    for _ in range(100_000):
        reader.feed(b"aa"[:1])
    assert reader._body is not None
    assert len(reader._body._pieces) == 1


def test_pipelined_requests_are_not_copied_once_per_request() -> None:
    """Ours: a segment of many requests costs what its octets cost."""
    for raw in (post(b"Content-Length: 1") + b"a", CHUNKED + b"1\r\na\r\n0\r\n\r\n"):
        reader = RequestReader()
        segment = raw * 100
        reader.feed(segment)
        for _ in range(98):
            assert reader.next_request() is not None
            assert reader._data is segment
        assert reader.next_request() is not None
        assert reader._data == b""
