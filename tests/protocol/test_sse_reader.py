"""Event streams, whole or cut anywhere."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leanmcp.protocol.sse import event
from leanmcp.protocol.sse_reader import Event, EventReader, OversizedEvent

PARTS = st.sampled_from(
    [
        b"data: a",
        b"data:b",
        b"data",
        b"data:",
        b"data:  c",
        b"event: message",
        b"event:x",
        b"event",
        b"id: 7",
        b"id: \0",
        b"id",
    ]
    + [
        b"retry: 10",
        b"retry: x",
        b":",
        b": comment",
        b"other: 1",
        "data: ж\u2028ж".encode(),
        b"\xef\xbb\xbf",
        b"\xff",
        b" data: z",
    ]
    + [b"\n", b"\r", b"\r\n", b"\n\n", b"\r\r", b"\r\n\r\n"] * 3
)


def read(*pieces: bytes) -> list[Event]:
    """Feed pieces to a new reader and return its events."""
    reader = EventReader(1000)
    return [found for piece in pieces for found in reader.feed(piece)]


@given(st.lists(PARTS, max_size=40).map(b"".join))
def test_stream_reads_the_same_whole_and_one_byte_at_a_time(stream: bytes) -> None:
    """Ours: property; where the network cuts a stream means nothing."""
    whole, bytewise = EventReader(1000), EventReader(1000)
    events = whole.feed(stream)
    assert [found for octet in stream for found in bytewise.feed(bytes([octet]))] == events
    assert (bytewise.last_id, bytewise.retry) == (whole.last_id, whole.retry)


@given(st.lists(PARTS, max_size=40).map(b"".join), st.integers(min_value=0, max_value=200))
def test_stream_reads_the_same_cut_in_two(stream: bytes, cut: int) -> None:
    """Ours: property; a CR and its LF may be parted too."""
    assert read(stream[:cut], stream[cut:]) == read(stream)


@given(st.lists(PARTS, max_size=40).map(b"".join))
def test_line_ends_are_equal(stream: bytes) -> None:
    """Spec: HTML, "Parsing an event stream": CRLF, LF and CR end a line."""
    plain = stream.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    assert read(stream) == read(plain) == read(plain.replace(b"\n", b"\r")) == read(plain.replace(b"\n", b"\r\n"))


@pytest.mark.parametrize(
    ("stream", "events"),
    [
        (b"data: one\n\n", [Event(b"one")]),
        (b"data: one\ndata: two\n\n", [Event(b"one\ntwo")]),
        (b"data:one\n\ndata:  two\n\n", [Event(b"one"), Event(b" two")]),
        (b"data\n\n", [Event(b"")]),
        (b"data:\ndata:\n\n", [Event(b"\n")]),
        (b"event: ping\ndata: 1\n\ndata: 2\n\n", [Event(b"1", "ping"), Event(b"2")]),
        (b"event: ping\n\ndata: 2\n\n", [Event(b"2")]),
        (b"id: 5\ndata: 1\n\ndata: 2\n\n", [Event(b"1", id="5"), Event(b"2", id="5")]),
        (b"id: 5\ndata: 1\n\nid\ndata: 2\n\n", [Event(b"1", id="5"), Event(b"2")]),
        (b"id: a\0b\ndata: 1\n\n", [Event(b"1")]),
        (b": comment\n:\n\ndata: 1\n: inside\ndata: 2\n\n", [Event(b"1\n2")]),
        (b"\xef\xbb\xbfdata: 1\n\n\xef\xbb\xbfdata: 2\n\n", [Event(b"1")]),
        (b"Data: 1\ndata : 2\n data: 3\n\n", []),
        (b"data: 1\n", []),
        (b"data: 1", []),
        ("data: ж\u2028ж\x85\n\n".encode(), [Event("ж\u2028ж\x85".encode())]),
    ],
)
def test_events_follow_the_standard(stream: bytes, events: list[Event]) -> None:
    """Spec: HTML, "Interpreting an event stream"."""
    assert read(stream) == events


def test_event_is_there_with_its_last_carriage_return() -> None:
    """Ours: it does not wait for a line feed that may never come."""
    reader = EventReader(100)
    assert reader.feed(b"data: 1\r\r") == [Event(b"1")]
    assert reader.feed(b"\ndata: 2\n\n") == [Event(b"2")]


def test_reader_keeps_the_id_and_the_time_to_wait() -> None:
    """Spec: HTML, "Interpreting an event stream": `id` without data counts too, `retry` takes digits only."""
    reader = EventReader(100)
    assert reader.feed(b"id: 9\nretry: 1500\n\nretry: soon\nretry: -1\n\n") == []
    assert (reader.last_id, reader.retry) == ("9", 1500)


def test_reader_reads_what_the_server_writes() -> None:
    """Ours: both halves of the project agree."""
    message = b'{"jsonrpc":"2.0","id":1,"result":{}}'
    assert read(b"".join(event([message[:5], message[5:]]))) == [Event(message)]


@pytest.mark.parametrize(
    "stream",
    [b"data: " + b"x" * 1001 + b"\n\n", b"data: " + b"x" * 1001, b"data\n" * 1001, b": " + b"x" * 1001],
    ids=["line", "unfinished", "lines", "comment"],
)
@pytest.mark.parametrize("step", [1, 7, 10_000])
def test_event_has_a_size(stream: bytes, step: int) -> None:
    """Ours: what a server may make the client hold is bounded, however it comes."""
    reader = EventReader(1000)
    pieces = [stream[at : at + step] for at in range(0, len(stream), step)]
    with pytest.raises(OversizedEvent):
        [reader.feed(piece) for piece in pieces]


def test_comments_and_events_of_fair_size_go_on_for_ever() -> None:
    """Ours: the size is of one event, not of the stream."""
    reader = EventReader(1000)
    for number in range(5000):
        assert reader.feed(b": keep alive\n\nevent: message\ndata: %d\n\n" % number) == [Event(b"%d" % number)]


def test_many_short_lines_take_little_more_than_their_size() -> None:
    """Ours: the limit of an event is one of memory too."""
    reader = EventReader(1_000_000)
    lines = b"data:ab\n" * 200_000
    tracemalloc.start()
    try:
        assert reader.feed(lines) == []
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 1_500_000
    [found] = reader.feed(b"\n")
    assert found.data == b"\n".join([b"ab"] * 200_000)
