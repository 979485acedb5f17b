"""Where a body ends: lengths, chunks, and everything ambiguous, which is refused."""

from __future__ import annotations

import pytest

from leanmcp.limits import Limits
from leanmcp.protocol import http11_body
from leanmcp.protocol.http11 import IDLE
from tests.support.http11_reads import CHUNKED, head, one, post, read_all, status_of


def test_repeated_content_type_is_refused() -> None:
    """Ours: two types, and a peer that checks the other one."""
    assert status_of(post(b"Content-Type: application/json", b"Content-Type: application/json")) == 400
    assert status_of(post(b"Content-Type: text/plain", b"X: 1", b"CONTENT-TYPE: application/json")) == 400


@pytest.mark.parametrize("value", [b"chunked", b"CHUNKED", b"Chunked", b" \t chunked \t "])
def test_chunked_in_any_case_is_read(value: bytes) -> None:
    """Spec: RFC 9112 6.1 and 7."""
    request = one(post(b"Transfer-Encoding:" + value) + b"3\r\nabc\r\n0\r\n\r\n")
    assert (request.body, request.head.chunked, request.head.content_length) == (b"abc", True, None)


@pytest.mark.parametrize(
    ("value", "status"),
    [
        (b"", 400),
        (b" ", 400),
        (b"chunked, chunked", 400),
        (b"chunked,", 400),
        (b",chunked", 400),
        (b"chunked;a=b", 400),
        (b"chunked chunked", 400),
        (b'"chunked"', 400),
        (b"\xa0chunked", 400),
        (b"chunked\x85", 400),
        (b"chun\xe2\x84\xaaed", 400),  # KELVIN SIGN, which lower() makes a k
        (b"chunke\xc4\x8f", 400),
        (b"gzip, chunked", 501),
        (b"gzip", 501),
        (b"identity", 501),
        (b"xchunked", 501),
        (b"chunkedx", 501),
        (b"chunked, gzip", 501),
    ],
)
def test_other_transfer_codings_are_refused(value: bytes, status: int) -> None:
    """Spec: RFC 9112 6.1 and 6.3."""
    assert status_of(post(b"Transfer-Encoding: " + value)) == status


@pytest.mark.parametrize(
    "raw",
    [
        post(b"Transfer-Encoding: chunked", b"Transfer-Encoding: chunked"),
        post(b"Transfer-Encoding: chunked", b"Transfer-Encoding:"),
        post(b"Transfer-Encoding: gzip", b"transfer-encoding: chunked"),
        post(b"Transfer-Encoding: chunked", b"Content-Length: 5"),
        post(b"Content-Length: 0", b"Transfer-Encoding: chunked"),
        post(b"Content-Length: 5", b"Transfer-Encoding: gzip"),
        post(b"Content-Length:", b"Transfer-Encoding: chunked"),
        head(b"Host: a", b"Transfer-Encoding: chunked", line=b"POST / HTTP/1.0"),
        post(b"Transfer-Encoding : chunked"),
        post(b" Transfer-Encoding: chunked"),
        post(b"X: 1\nTransfer-Encoding: chunked"),
    ],
)
def test_ambiguous_framing_is_refused(raw: bytes) -> None:
    """Spec: RFC 9112 6.1 and 6.3."""
    assert status_of(raw + b"0\r\n\r\n") == 400


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"+1",
        b"-1",
        b"1,1",
        b"1, 1",
        b"1 1",
        b"1_0",
        b"0x1",
        b"1.0",
        b"1e1",
        b"a",
        b"1a",
        b"\xb2",
        b"\xb9",
        b"1\xa0",
        b"\xa01",
        b"1\x85",
        b"\xd9\xa1",
        b"1;",
        b'"1"',
        b"1" * 20,
        b"0" * 20,
        b"1" * 5000,
    ],
)
def test_malformed_lengths_are_refused(value: bytes) -> None:
    """Spec: RFC 9110 8.6; RFC 9112 6.3."""
    assert status_of(post(b"Content-Length: " + value) + b"a") == 400


def test_repeated_lengths_are_refused_even_when_equal() -> None:
    """Spec: RFC 9112 6.3 allows refusal."""
    assert status_of(post(b"Content-Length: 1", b"Content-Length: 1") + b"a") == 400
    assert status_of(post(b"Content-Length: 1", b"content-length: 2") + b"aa") == 400
    assert status_of(post(b"Content-Length: 1", b"Content-Length:") + b"a") == 400


@pytest.mark.parametrize(("value", "size"), [(b"3", 3), (b"\t 3 \t", 3), (b"0", 0), (b"003", 3)])
def test_lengths_frame_the_body(value: bytes, size: int) -> None:
    """Spec: RFC 9112 6.2."""
    assert one(post(b"Content-Length:" + value) + b"a" * size).body == b"a" * size


def test_a_length_over_the_limit_is_413_before_the_body() -> None:
    """Spec: RFC 9110 15.5.14."""
    limits = Limits(max_body_size=10)
    assert one(post(b"Content-Length: 10") + b"a" * 10, limits).body == b"a" * 10
    assert status_of(post(b"Content-Length: 11"), limits) == 413
    assert status_of(post(b"Content-Length: 11", b"Expect: 100-continue"), limits) == 413
    assert status_of(post(b"Content-Length: " + b"9" * 19)) == 413


@pytest.mark.parametrize(
    ("chunks", "body"),
    [
        (b"0\r\n\r\n", b""),
        (b"3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n", b"abcde"),
        (b"A\r\n0123456789\r\n0\r\n\r\n", b"0123456789"),
        (b"a\r\n0123456789\r\n000\r\n\r\n", b"0123456789"),
        (b"0000000000000003\r\nabc\r\n0000000000000000\r\n\r\n", b"abc"),
        (b'3;a;b=c;d="e \\" ;\t\xe9"\r\nabc\r\n0;x=""\r\n\r\n', b"abc"),
        (b"2\r\n\r\n\r\n0\r\n\r\n", b"\r\n"),
        (b"1\r\n\0\r\n0\r\n\r\n", b"\0"),
        (b"1\r\na\r\n0\r\nX: 1\r\nContent-Length: 7\r\nHost: evil\r\nTransfer-Encoding: gzip\r\n\r\n", b"a"),
    ],
)
def test_chunks_are_decoded_and_trailers_dropped(chunks: bytes, body: bytes) -> None:
    """Spec: RFC 9112 7.1."""
    whole = one(CHUNKED + chunks)
    raw = CHUNKED + chunks
    [bytewise], _, reader = read_all([raw[i : i + 1] for i in range(len(raw))])
    assert whole.body == bytewise.body == body
    assert whole.head.headers == bytewise.head.headers == {"host": "localhost:8000", "transfer-encoding": "chunked"}
    assert reader.phase == IDLE


@pytest.mark.parametrize(
    "chunks",
    [
        b"\r\n",
        b"g\r\n",
        b"0x1\r\na\r\n",
        b"+1\r\na\r\n",
        b"-1\r\na\r\n",
        b"1_0\r\n" + b"a" * 16,
        b" 1\r\na\r\n",
        b"1 \r\na\r\n",
        b"1\t\r\na\r\n",
        b"\xb2\r\naa\r\n",
        b"\xa01\r\na\r\n",
        b"00000000000000001\r\na\r\n",
        b"1" * 5000,
        b"1;\r\na\r\n",
        b"1; a\r\na\r\n",
        b"1 ;a\r\na\r\n",
        b"1;a=\r\na\r\n",
        b"1;a =b\r\na\r\n",
        b"1;a= b\r\na\r\n",
        b"1;=b\r\na\r\n",
        b'1;a="b\r\na\r\n',
        b'1;a="b"c\r\na\r\n',
        b'1;a="\\"\r\na\r\n',
        b'1;a="\x01"\r\na\r\n',
        b"1;a=b c\r\na\r\n",
        b"1;;\r\na\r\n",
        b"1,a\r\na\r\n",
        b"1\r\nab\r\n0\r\n\r\n",
        b"1\r\na0\r\n\r\n",
        b"1\r\na\r\r\n",
        b"1\r\na\n",
        b"1\r\na \r\n",
        b"0\r\nX\r\n\r\n",
        b"0\r\n X: 1\r\n\r\n",
        b"0\r\nX: 1\r\n 2\r\n\r\n",
        b"0\r\nX : 1\r\n\r\n",
        b"0\r\n\r0",
    ],
)
def test_malformed_chunks_are_refused(chunks: bytes) -> None:
    """Spec: RFC 9112 7.1 and 7.1.1."""
    assert status_of(CHUNKED + chunks) == 400


def test_chunk_extensions_are_capped_over_the_whole_body() -> None:
    """Ours: an extension costs its sender a packet and the reader a scan; nothing reads one."""
    cap = http11_body.MAX_CHUNK_EXTENSIONS
    chunk = b"1;" + b"a" * 63 + b"\r\nx\r\n"
    assert one(CHUNKED + chunk * (cap // 64) + b"0\r\n\r\n").body == b"x" * (cap // 64)
    assert status_of(CHUNKED + chunk * (cap // 64) + b"0;a\r\n\r\n") == 400
    assert status_of(CHUNKED + b"1;" + b"a" * (cap + 16)) == 400  # while the line is incomplete


def test_a_chunked_body_is_capped_while_it_grows() -> None:
    """Spec: RFC 9110 15.5.14."""
    limits = Limits(max_body_size=10)
    assert one(CHUNKED + b"5\r\naaaaa\r\n" * 2 + b"0\r\n\r\n", limits).body == b"a" * 10
    assert status_of(CHUNKED + b"5\r\naaaaa\r\n" * 2 + b"1\r\n", limits) == 413
    assert status_of(CHUNKED + b"b\r\n", limits) == 413
    assert status_of(CHUNKED + b"ffffffffffffffff\r\n") == 413


def test_trailers_are_capped() -> None:
    """Ours: Limits.max_head_size and Limits.max_fields."""
    limits = Limits(max_head_size=300, max_fields=5)
    assert one(CHUNKED + b"0\r\n" + b"X: 1\r\n" * 5 + b"\r\n", limits).body == b""
    assert status_of(CHUNKED + b"0\r\n" + b"X: 1\r\n" * 6, limits) == 431
    assert status_of(CHUNKED + b"0\r\nX: " + b"a" * 300, limits) == 431
