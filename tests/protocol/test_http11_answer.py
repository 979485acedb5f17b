"""The quick reader takes what h11 takes, and means the same by it."""

from __future__ import annotations

import h11
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from leanmcp.protocol.http11_answer import read_plain

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
    if plain is not None:
        rest = b"y" * plain.left
        assert (plain.pairs, plain.body + rest, True) == by_h11(data + rest)
        assert plain.fields == {name.lower(): value for name, value in plain.pairs}


def test_plain_answer_is_taken() -> None:
    """Ours: what the server of this project sends must not miss the quick way."""
    plain = read_plain(GOOD)
    assert plain is not None
    assert (plain.fields[b"content-type"], plain.body, plain.left) == (b"application/json", b"{}", 0)


def test_persistence_said_aloud_is_taken() -> None:
    """Ours: Node's servers say with each answer what HTTP/1.1 does anyway."""
    assert read_plain(GOOD.replace(b"Date: Mon", b"Connection: keep-alive\r\nKeep-Alive: timeout=5")) is not None


@pytest.mark.parametrize("cut", range(len(GOOD) - 2))
def test_part_of_a_head_is_left_to_h11(cut: int) -> None:
    """Ours: what is not whole is not taken."""
    assert read_plain(GOOD[:cut]) is None


@pytest.mark.parametrize("missing", [1, 2])
def test_body_may_come_later(missing: int) -> None:
    """Ours: many servers write the head by itself."""
    plain = read_plain(GOOD[:-missing])
    assert plain is not None
    assert (plain.body, plain.left) == (b"{}"[: 2 - missing], missing)


def test_more_than_the_answer_is_left_to_h11() -> None:
    """Ours: the connection is broken, which is the business of its parser."""
    assert read_plain(GOOD + b"H") is None


@pytest.mark.parametrize(
    "field",
    [
        b"Transfer-Encoding: chunked",
        b"Connection: close",
        b"Connection: keep-alive, x",
        b"Content-Encoding: gzip",
        b"Date: 2",
    ],
)
def test_whatever_changes_the_connection_is_left_to_h11(field: bytes) -> None:
    """Ours: framing, persistence, codings and repeated fields are not guessed at."""
    assert read_plain(GOOD.replace(b"Date: Mon", b"Date: Mon\r\n" + field)) is None
