"""The readers of answers take what h11 takes, and mean the same by it."""

from __future__ import annotations

from itertools import pairwise

import h11
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from leanmcp.protocol.http11_answer import AnyHead, ChunkedAnswer, SizedAnswer, head_end, read_head, read_plain

GOOD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nDate: Mon\r\nContent-Length: 2\r\n\r\n{}"
LINES = st.sampled_from(
    b"""Content-Type: application/json|content-length: 2|Content-Length: 2|Content-Length: 3|Content-Length: +2|
Content-Length: 2, 2|Content-Length: 02|X: 1|X:1|X:|X: |X:  1|X: 1 |X: a b|X : 1| X: 1|X\t: 1|X: \t1|X|: 1|
X: \xe9|X: \x01|
Transfer-Encoding: chunked|Connection: close|Connection: keep-alive|Keep-Alive: timeout=5|Upgrade: h2c|
Content-Encoding: gzip""".replace(b"|\n", b"|").split(b"|")
)
STARTS = st.sampled_from(
    b"HTTP/1.1 200 OK|HTTP/1.1 200 |HTTP/1.1 200|HTTP/1.0 200 OK|HTTP/1.1 204 No Content|HTTP/1.1 100 Continue|"
    b"http/1.1 200 OK|HTTP/1.1 200 O\xe9|HTTP/1.1  200 OK|\r\nHTTP/1.1 200 OK".split(b"|")
)
ANSWERS = st.builds(
    lambda start, lines, end, body: end.join([start, *lines, b"", b""]) + body,
    STARTS,
    st.lists(LINES, max_size=6),
    st.sampled_from([b"\r\n", b"\r\n", b"\r\n", b"\n", b"\r"]),
    st.sampled_from([b"{}", b"{}", b"", b"{", b"{}x", b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"]),
)


def by_h11(data: bytes) -> tuple[list[tuple[bytes, bytes]], bytes, bool]:
    """Return what h11 makes of an answer to a POST: fields, body, and whether another exchange may follow."""
    connection = h11.Connection(h11.CLIENT)
    connection.send(h11.Request(method="POST", target="/", headers=[("Host", "x"), ("Content-Length", "0")]))
    connection.send(h11.EndOfMessage())
    connection.receive_data(data)
    head = connection.next_event()
    assert isinstance(head, h11.Response)
    assert head.status_code == 200
    body = b""
    while isinstance(event := connection.next_event(), h11.Data):
        body += bytes(event.data)
    assert isinstance(event, h11.EndOfMessage)
    reusable = connection.their_state is h11.DONE and connection.trailing_data == (b"", False)
    return [(bytes(name), bytes(value)) for name, value in head.headers.raw_items()], body, reusable


@given(ANSWERS)
@example(GOOD)
def test_what_is_taken_h11_reads_the_same_way(data: bytes) -> None:
    """Ours: property, h11 as oracle; a disagreement would mix up the answers of one connection."""
    plain = read_plain(data)
    if plain is not None and (length := plain.fields.get(b"content-length")) is not None:
        body = SizedAnswer(int(length))
        found = body.feed(plain.rest)
        rest = b"y" * body.left
        assert (plain.pairs, found + rest, not body.rest) == by_h11(data + rest)
        assert plain.fields == {name.lower(): value for name, value in plain.pairs}


def test_plain_answer_is_taken() -> None:
    """Ours: what the server of this project sends must not miss the quick way."""
    plain = read_plain(GOOD)
    assert plain is not None
    assert (plain.fields[b"content-type"], plain.rest) == (b"application/json", b"{}")


def test_persistence_said_aloud_is_taken() -> None:
    """Ours: Node's servers say with each answer what HTTP/1.1 does anyway."""
    assert read_plain(GOOD.replace(b"Date: Mon", b"Connection: keep-alive\r\nKeep-Alive: timeout=5")) is not None


@pytest.mark.parametrize("cut", range(len(GOOD) - 2))
def test_part_of_a_head_is_not_taken_for_a_whole_one(cut: int) -> None:
    """Ours: what is not whole is not taken."""
    assert read_plain(GOOD[:cut]) is None
    assert head_end(bytearray(GOOD[:cut]), 0) < 0


@pytest.mark.parametrize("missing", [1, 2])
def test_body_may_come_later(missing: int) -> None:
    """Ours: many servers write the head by itself."""
    plain = read_plain(GOOD[:-missing])
    assert plain is not None
    assert plain.rest == b"{}"[: 2 - missing]


CHUNKED = GOOD.replace(b"Content-Length: 2", b"Transfer-Encoding: chunked")[:-2]
CHUNKS = st.lists(
    st.sampled_from(
        b"""0|1|2|a|00|02|1;|1;x|2;x=y|3;"|2 |2\t | 2|+2|0x2|2g||g|00000000000000002|x|xy|0123456789|\r\n|\n|\r|
\r\nx: y\r\n|\r\n\r\n""".replace(b"|\n", b"|").split(b"|")
    ),
    max_size=12,
).map(b"\r\n".join)


@given(CHUNKS, st.lists(st.integers(0, 60), max_size=5))
@example(b"2\r\n{}\r\n0\r\n\r\n", [1, 4])
@example(b"2 ;x\r\n{}\r\n0\r\nx: y\r\n\r\nHTTP", [])
def test_chunks_are_read_as_h11_reads_them_wherever_they_are_cut(raw: bytes, cuts: list[int]) -> None:
    """Ours: property, h11 as oracle; more is taken in trailers and extensions only, which are dropped."""
    expected: tuple[bytes, bool, bytes] | None
    connection = h11.Connection(h11.CLIENT)
    connection.send(h11.Request(method="GET", target="/", headers=[("Host", "x")]))
    connection.send(h11.EndOfMessage())
    connection.receive_data(CHUNKED + raw)
    content = b""
    try:
        assert isinstance(connection.next_event(), h11.Response)
        while isinstance(event := connection.next_event(), h11.Data):
            content += bytes(event.data)
        expected = content, isinstance(event, h11.EndOfMessage), connection.trailing_data[0]
    except h11.RemoteProtocolError:
        expected = None
    body, found = ChunkedAnswer(), b""
    edges = sorted({0, len(raw), *(min(cut, len(raw)) for cut in cuts)})
    try:
        for start, end in pairwise(edges):
            found += body.feed(raw[start:end])
    except ValueError:
        assert expected is None or not expected[1]
        return
    if expected is not None and expected[1]:
        assert (found, body.is_complete, body.rest) == expected
    elif expected is not None:
        assert (found, body.is_complete) == expected[:2]


def test_more_than_fits_between_two_chunks_is_refused() -> None:
    """Ours: bounded."""
    for start in (b"1;", b"0\r\nx: "):
        body = ChunkedAnswer()
        assert body.feed(start + b"x" * 16_000) == b""
        with pytest.raises(ValueError, match="octets stand between two chunks"):
            body.feed(b"x" * 400)


@pytest.mark.parametrize(
    "field",
    [
        b"Transfer-Encoding: gzip",
        b"Connection: close",
        b"Connection: keep-alive, x",
        b"Content-Encoding: gzip",
        b"Date: 2",
    ],
)
def test_whatever_changes_the_connection_is_not_plain(field: bytes) -> None:
    """Ours: framing, persistence, codings and repeated fields are not guessed at."""
    assert read_plain(GOOD.replace(b"Date: Mon", b"Date: Mon\r\n" + field)) is None


ODD_STARTS = st.sampled_from(
    b"HTTP/1.1 404 Not Found|HTTP/1.1 200|HTTP/1.1 200 |HTTP/1.0 200 OK|HTTP/1.1 204 No Content|HTTP/1.1 100 Continue|"
    b"HTTP/1.1 101 Switching|HTTP/1.1 099 ?|HTTP/1.1 999 ?|HTTP/1.1 20|HTTP/1.1 2000|HTTP/1.1 200OK|http/1.1 200 OK|"
    b"HTTP/1.1 200 O\xe9|HTTP/1.1 200 O\x00|HTTP/1.1 200 O\tK|HTTP/1.1 200 O\rK|HTTP/1.1  200 OK|HTTP/2.0 200 OK|"
    b"HTTP/1.11 200 OK|HTTP/1 200 OK|ICY 200 OK|\r\nHTTP/1.1 200 OK| HTTP/1.1 200 OK".split(b"|")
)
ODD_LINES = st.one_of(
    LINES,
    st.sampled_from(
        b""" folded|\tfolded: x| |\t\t|X: a\r|X: a\rb|X: \x0b|X: \x0c|X: a\x00|:|: x|X\xe9: 1|X: \xff|
Connection: Close, x|connection: x,close|Connection: x|Content-Length: 2,3|Content-Length: 2,|Content-Length: 2 ,2|
Content-Length: \t2|Content-Length:|Content-Length: 123456789012345678901|Transfer-Encoding: Chunked|
Transfer-Encoding: gzip, chunked|Transfer-Encoding: identity""".replace(b"|\n", b"|").split(b"|")
    ),
    st.binary(max_size=6),
)
ODD_HEADS = st.builds(
    lambda start, lines, end: start + b"".join(before + line for before, line in lines) + end,
    ODD_STARTS,
    st.lists(st.tuples(st.sampled_from([b"\r\n", b"\r\n", b"\n", b"\r\r\n"]), ODD_LINES), max_size=6),
    st.sampled_from([b"\r\n\r\n", b"\r\n\r\n", b"\n\n", b"\n\r\n", b"\r\n\n"]),
)


@given(ODD_HEADS)
@example(b"HTTP/1.1 404 Not Found\r\nX: a\r\n  b \r\nContent-Length: 2, 2\r\ncontent-length: 2\r\n\r\n")
def test_heads_are_read_as_h11_reads_them(raw: bytes) -> None:
    """Ours: property, h11 as oracle; a connection whose answer frames its body in both ways has no other one."""
    connection = h11.Connection(h11.CLIENT)
    connection.send(h11.Request(method="POST", target="/", headers=[("Host", "x"), ("Content-Length", "0")]))
    connection.send(h11.EndOfMessage())
    connection.receive_data(raw)
    expected: AnyHead | None
    try:
        event = connection.next_event()
        assert isinstance(event, h11.Response | h11.InformationalResponse)
        options = b",".join(value for name, value in event.headers if name == b"connection").lower().split(b",")
        framed = {b"content-length", b"transfer-encoding"} <= {name for name, _ in event.headers}
        keeps = event.http_version > b"1.0" and b"close" not in map(bytes.strip, options) and not framed
        expected = AnyHead(event.status_code, event.headers.raw_items(), keeps)
    except h11.RemoteProtocolError:
        expected = None
    found: AnyHead | None
    try:
        found = read_head(raw[: head_end(bytearray(raw), 0)])
    except ValueError:
        found = None
    assert found == expected


@given(ODD_HEADS, st.integers(0, 100))
def test_end_of_a_head_is_found_wherever_it_is_cut(raw: bytes, cut: int) -> None:
    """Ours: an octet is looked at no more than three times."""
    start, end = bytearray(raw[:cut]), head_end(bytearray(raw), 0)
    if head_end(start, 0) < 0:
        assert head_end(bytearray(raw), len(start)) == end
