"""What `run --reload` is made of: lines between two servers, and files that change."""

from __future__ import annotations

import os
import tracemalloc
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leanmcp.cli import reloading_lines
from leanmcp.cli.reloading_files import Files, Roots, forget_bytecode
from leanmcp.cli.reloading_lines import LineRelay
from leanmcp.protocol.jsonrpc import RequestId


def _line(**members: Any) -> bytes:
    return msgspec.json.encode({"jsonrpc": "2.0", **members}) + b"\n"


def _taken(data: bytearray) -> list[Any]:
    """Return the messages that have gathered, and take them away."""
    messages = [msgspec.json.decode(line) for line in bytes(data).splitlines()]
    data.clear()
    return messages


@pytest.fixture
def lines() -> LineRelay:
    relay = LineRelay()
    relay.attach()
    return relay


# --- lines --------------------------------------------------------------------------------------------------------


@given(st.lists(st.binary(max_size=8).filter(lambda data: b"\n" not in data), max_size=9), st.integers(1, 7))
def test_lines_arrive_as_they_were_sent(sent: list[bytes], size: int) -> None:
    """Ours: property; in pieces of any size, and while no server takes lines for a time."""
    relay = LineRelay()
    data = b"".join(line + b"\n" for line in sent)
    pieces = [data[index : index + size] for index in range(0, len(data), size)]
    for index, piece in enumerate(pieces):
        if index == len(pieces) // 2:
            assert relay.to_server == b""
            relay.attach()
        relay.receive(piece)
    relay.attach()
    assert relay.to_server == data
    for piece in pieces:
        relay.answer(piece)
    assert relay.to_client == data


def test_half_a_line_stays_with_nobody(lines: LineRelay) -> None:
    """Ours: what a server wrote half before it crashed is no message."""
    lines.answer(b'{"jsonrpc":')
    lines.detach("gone")
    lines.attach()
    lines.answer(_line(id=1, result={}))
    assert _taken(lines.to_client) == [{"jsonrpc": "2.0", "id": 1, "result": {}}]


@pytest.mark.parametrize("request_id", [1, "1", 2**53, "ä"])
def test_only_open_requests_are_answered_for_a_server_that_ended(lines: LineRelay, request_id: RequestId) -> None:
    """Spec: basic/index, "Responses": with the id of the request, in value and type."""
    lines.receive(_line(id="done", method="tools/list") + _line(id=request_id, method="tools/call"))
    lines.receive(_line(id="over", method="tools/call"))
    lines.receive(_line(method="notifications/cancelled", params={"requestId": "over"}))
    assert lines.waits
    lines.answer(_line(id="done", result={}))
    _taken(lines.to_client)
    lines.detach("It was replaced")
    expected = {"jsonrpc": "2.0", "id": request_id, "error": {"code": -32603, "message": "It was replaced"}}
    assert _taken(lines.to_client) == [expected]
    assert not lines.waits


def test_what_is_no_message_passes_too(lines: LineRelay) -> None:
    """Ours: the server refuses it, as without a watcher."""
    odd = [b"nonsense", b"", b"[1]", b'{"id":1.5,"method":"x"}', b'{"method":7}', b"\xff", b'{"id":null}']
    odd.append(b'{"method":"notifications/cancelled","params":{"requestId":{}}}')
    lines.receive(b"\n".join(odd) + b"\n")
    assert bytes(lines.to_server).splitlines() == odd
    lines.answer(b"\n".join(odd) + b"\n")
    assert bytes(lines.to_client).splitlines() == odd
    assert not lines.waits


def test_lines_wait_for_the_next_server_but_for_what_helps_the_old_one_to_end(lines: LineRelay) -> None:
    """Ours: a cancellation of a call that runs, not one of a call that waits."""
    lines.receive(_line(id=1, method="tools/call"))
    lines.hold()
    _taken(lines.to_server)
    later = [_line(id=2, method="tools/call"), _line(method="notifications/cancelled", params={"requestId": 2})]
    lines.receive(b"".join(later))
    assert lines.to_server == b""
    cancel = _line(method="notifications/cancelled", params={"requestId": 1})
    lines.receive(cancel)
    assert lines.to_server == cancel
    lines.to_server.clear()
    assert not lines.waits
    lines.detach("It was replaced")
    assert lines.to_client == b""
    lines.attach()
    assert lines.to_server == b"".join(later)


def test_a_subscription_is_no_call_to_wait_for(lines: LineRelay) -> None:
    """Spec: basic/patterns/subscriptions; it ends with its server only."""
    lines.receive(_line(id="s", method="subscriptions/listen"))
    assert not lines.waits
    lines.detach("gone")
    assert [message["id"] for message in _taken(lines.to_client)] == ["s"]


def test_who_is_ahead_is_held_back() -> None:
    """Ours: lines wait in memory up to a limit; half a line is read to its end."""
    relay = LineRelay()
    relay.receive(b"x" * 2_000_000)
    assert not relay.client_is_ahead
    relay.receive(b"\n")
    assert relay.client_is_ahead
    relay.attach()
    relay.to_server.clear()
    assert not relay.client_is_ahead
    relay.answer(b"x" * 2_000_000 + b"\n")
    assert relay.server_is_ahead


@pytest.mark.parametrize("size", [1, 7, 64])
def test_a_line_that_is_too_long_is_refused_and_not_kept(size: int) -> None:
    """Ours: P8; whatever the pieces it comes in, also at the end of input, and lines around it pass."""
    relay = LineRelay()
    relay.attach(max_line_size=20)
    data = b"a" * 20 + b"\n" + b"b" * 21 + b"\n" + b"c\n" + b"d" * 99
    for start in range(0, len(data), size):
        relay.receive(data[start : start + size])
    relay.receive(b"")
    assert relay.to_server == b"a" * 20 + b"\nc\n"
    refusal = {"jsonrpc": "2.0", "error": {"code": -32600, "message": "Invalid request: longer than 20 bytes"}}
    assert _taken(relay.to_client) == [refusal] * 2


def test_no_more_of_a_line_is_held_than_is_allowed() -> None:
    """Ours: P8; a client that never ends its line takes no memory of the watcher."""
    relay = LineRelay()
    piece = b"x" * 65536
    tracemalloc.start()
    try:
        for _ in range(640):
            relay.receive(piece)
        held, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 1_000_000
    assert peak < 40_000_000  # the limit is 16 MiB, and a buffer that grows is there twice


def test_blank_lines_count_too() -> None:
    """Ours: a client that sends nothing else is held back as well."""
    relay = LineRelay()
    relay.receive(b"\n" * 20_000)
    assert relay.client_is_ahead


def test_each_line_that_waits_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: a host that asks and asks while there is no server costs no more at each line."""
    relay = LineRelay()
    relay.attach()
    relay.receive(_line(id="open", method="tools/call"))
    relay.hold()
    looked: list[bytes] = []
    peek = reloading_lines._peek

    def counted(line: bytes) -> Any:
        looked.append(line)
        return peek(line)

    monkeypatch.setattr(reloading_lines, "_peek", counted)
    for number in range(100):
        relay.receive(_line(id=number, method="tools/call"))
    assert len(looked) == 100


def test_the_end_of_input_is_passed_on_behind_everything() -> None:
    """Ours: also behind a last line without an end."""
    relay = LineRelay()
    relay.receive(_line(id=1, method="tools/list").rstrip())
    relay.receive(b"")
    assert (relay.ended, relay.is_done) == (True, False)
    relay.attach()
    assert relay.to_server == _line(id=1, method="tools/list")
    relay.to_server.clear()
    assert relay.is_done


# --- files --------------------------------------------------------------------------------------------------------


def test_changes_are_told_once(tmp_path: Path) -> None:
    """Ours: content, names that come and names that go."""
    file, new = tmp_path / "a.py", tmp_path / "b.py"
    file.write_text("1")
    files = Files(Roots([str(tmp_path)]))
    files.add(str(file))
    assert files.changes() == []
    file.write_text("22")
    assert files.changes() == [str(file)]
    assert files.changes() == []
    new.write_text("")
    (tmp_path / "c.txt").write_text("")
    assert files.changes() == [str(new)]
    assert files.changes() == []
    file.unlink()
    assert files.changes() == [str(file)]
    assert files.changes() == []
    file.write_text("1")
    assert files.changes() == [str(file)]


def test_a_file_that_was_written_after_it_could_be_read_counts_as_changed(tmp_path: Path) -> None:
    """Ours: the server may have imported what was there before."""
    file = tmp_path / "a.py"
    file.write_text("1")
    written = file.stat().st_mtime_ns
    for since, changes in ((written - 1, [str(file)]), (written, [])):
        files = Files(Roots([str(tmp_path)]))
        files.add(str(file), since)
        assert files.changes() == changes


@pytest.mark.parametrize(
    ("path", "watched"),
    [
        ("a.py", True),
        ("package/a.py", True),
        ("a.txt", False),
        (".venv/lib/a.py", False),
        ("env/lib/python3.12/site-packages/a.py", False),
        (".git/a.py", False),
        ("__pycache__/a.py", False),
        ("../a.py", False),
        ("../projects/a.py", False),
    ],
)
def test_only_the_users_own_code_is_watched(tmp_path: Path, path: str, watched: bool) -> None:
    """Ours: no hidden folder, no installed package, nothing beside the project."""
    roots = Roots([str(tmp_path / "project")])
    assert roots.watch(os.path.normpath(tmp_path / "project" / path)) is watched


def test_the_watchers_own_code_is_not_watched() -> None:
    """Ours: it runs already; a new server would begin with the old one all the same."""
    root = Path(__file__).resolve().parents[1]
    roots = Roots([str(root)])
    assert roots.watch(str(root / "tests" / "a.py"))
    assert not roots.watch(str(root / "leanmcp" / "run.py"))


def test_bytecode_of_a_changed_file_is_deleted(tmp_path: Path) -> None:
    """Ours: Python compares whole seconds."""
    file = tmp_path / "a.py"
    cached = Path(cache_from_source(str(file)))
    cached.parent.mkdir()
    cached.write_bytes(b"old")
    forget_bytecode(str(file))
    assert not cached.exists()
    forget_bytecode(str(file))
