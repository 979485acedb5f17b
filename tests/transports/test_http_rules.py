"""Rules 1 to 10 of a strict HTTP/1.1 server, on a real socket: how a request is read."""

from __future__ import annotations

import pytest

from tests.support.raw_http import BODY, accepted, chunked, chunks, post, refused
from tests.support.wire import Wire, ask


@pytest.mark.parametrize(
    "length",
    ["+{}", "-{}", "{}_0", "0x{}", "{}²", "\xa0{}", "{}\x85", "{} {}", "{}, {}", "{}.0", "1e3", "", "9" * 5000, '"{}"'],
)
def test_rule_01_numbers_are_ascii_digits_and_blanks_are_space_and_tab(port: int, length: str) -> None:
    """Spec: RFC 9110 8.6; what `int`, `strip` and `isdigit` would have taken is refused."""
    refused(port, post(Content_Length=length.format(len(BODY), len(BODY))), 400)


def test_rule_01_space_and_tab_around_a_value_are_stripped(port: int) -> None:
    """Spec: RFC 9112 5.1."""
    accepted(port, post(Content_Length=f" \t {len(BODY)} \t ", Content_Type="\tapplication/json\t"))


@pytest.mark.parametrize(
    "raw",
    [
        post().replace(b"\r\nHost", b"\nHost", 1),
        post().replace(b"\r\nMcp-Name", b"\nMcp-Name", 1),
        post().replace(b"\r\nHost", b"\rHost", 1),
        post(User_Agent="a\rb"),
        post(User_Agent="a\0b"),
        post("POST /mcp\0 HTTP/1.1"),
        post().replace(b"\r\n\r\n", b"\n\n", 1),
        post().replace(b"\r\n\r\n", b"\r\n\n", 1),
        chunked(b"5\nhello\r\n0\r\n\r\n"),
        chunked(chunks(BODY, trailers=b"A: b\n")),
        chunked(chunks(BODY, trailers=b"A: \0\r\n")),
    ],
)
def test_rule_02_lines_end_with_crlf_and_hold_no_other_cr_lf_or_nul(port: int, raw: bytes) -> None:
    """Spec: RFC 9112 2.2; ours: no lenient line ends."""
    refused(port, raw, 400)


@pytest.mark.parametrize(("before", "good"), [(b"\r\n", True), (b"\r\n\r\n", False), (b"\n", False), (b" ", False)])
def test_rule_03_one_empty_line_before_a_request_is_skipped(port: int, before: bytes, good: bool) -> None:
    """Spec: RFC 9112 2.2."""
    accepted(port, before + post()) if good else refused(port, before + post(), 400)


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("POST  /mcp HTTP/1.1", 400),
        ("POST /mcp  HTTP/1.1", 400),
        ("POST\t/mcp HTTP/1.1", 400),
        ("POST /mcp HTTP/1.1 ", 400),
        ("POST /mcp", 400),
        ("POST /mcp http/1.1", 400),
        ("POST /mcp HTTP/1.1x", 400),
        ("POST /mcp HTTP/1.", 400),
        ("POST /mcp HTTP/1.10", 400),
        ("POST /mcp HTTP/01.1", 400),
        ("POST /mcp HTTP/1.²", 400),
        ("POST /mcp HTTPS/1.1", 400),
        ("P(ST /mcp HTTP/1.1", 400),
        ("POST /mcp HTTP/2.0", 505),
        ("PRI * HTTP/2.0", 505),
        ("POST /mcp HTTP/0.9", 505),
        ("post /mcp HTTP/1.1", 501),
        ("BREW /mcp HTTP/1.1", 501),
    ],
)
def test_rule_04_a_request_line_is_read_to_the_letter(port: int, line: str, status: int) -> None:
    """Spec: RFC 9112 3 and 2.3; RFC 9110 9.1 and 15.6.6."""
    refused(port, post(line), status)


@pytest.mark.parametrize("minor", "23456789")
def test_rule_04_a_higher_minor_version_counts_as_1_1(port: int, minor: str) -> None:
    """Spec: RFC 9110 2.5."""
    accepted(port, post(f"POST /mcp HTTP/1.{minor}"))


@pytest.mark.parametrize(
    "target",
    [
        "mcp",
        "/mcp#x",
        "/mcp%",
        "/mcp%4",
        "/mcp%zz",
        "/m\xe9p",
        "*",
        "/mcp?a^b",
        "http:///mcp",
        "http://u@h/mcp",
        "ftp://h/mcp",
    ],
)
def test_rule_05_a_target_follows_the_uri_grammar(port: int, target: str) -> None:
    """Spec: RFC 9112 3.2, RFC 3986; 400."""
    refused(port, post(f"POST {target} HTTP/1.1"), 400)


@pytest.mark.parametrize(
    "target",
    ["/mcp?", "/mcp?a=%20&b=/?", "/mcp/", "http://127.0.0.1/mcp", "HTTP://localhost:1/mcp?x", "https://[::1]/mcp"],
)
def test_rule_05_both_forms_of_a_target_are_served(port: int, target: str) -> None:
    """Spec: RFC 9112 3.2.1 and 3.2.2."""
    accepted(port, post(f"POST {target} HTTP/1.1"))


def test_rule_05_an_absolute_target_overrides_host(port: int) -> None:
    """Spec: RFC 9112 3.2.2; so the Host rule applies to it."""
    assert accepted(port, post("POST http://localhost/mcp HTTP/1.1", Host="evil.example")).status == 200
    assert ask(port, post("POST http://evil.example/mcp HTTP/1.1")).status == 421


def test_rule_05_a_request_line_of_8000_octets_works_and_a_longer_one_is_414(port: int) -> None:
    """Spec: RFC 9112 3; complete or not."""
    accepted(port, post(f"POST /mcp?{'q' * (8000 - 19)} HTTP/1.1"))
    refused(port, post(f"POST /mcp?{'q' * 9000} HTTP/1.1"), 414)
    with Wire(port) as wire:
        assert wire.send(b"POST /" + b"q" * 9000).answer().status == 414


@pytest.mark.parametrize(
    "field",
    [
        b"A : b",
        b"A b: c",
        b": b",
        b"A",
        b" A: b",
        b"\tA: b",
        b"A(: b",
        b"\xc4: b",
        b"A: b\x01",
        b"A: b\x7f",
        b"A: b\r\n c",
    ],
)
def test_rule_06_a_field_line_is_read_to_the_letter(port: int, field: bytes) -> None:
    """Spec: RFC 9112 5; no folding, no blank before the colon."""
    refused(port, post("POST /mcp HTTP/1.1", field), 400)


def test_rule_06_limits_of_a_head_are_431_and_generous(port: int) -> None:
    """Ours: policy P8; spec: RFC 6585 5."""
    accepted(port, post("POST /mcp HTTP/1.1", b"X-Long: " + b"v" * 4096, *(b"X-%d: y" % n for n in range(60))))
    accepted(port, post("POST /mcp HTTP/1.1", b"X-Text: \xe9\t!", b"X-Empty:"))
    refused(port, post("POST /mcp HTTP/1.1", *(b"X-%d: y" % n for n in range(120))), 431)
    refused(port, post("POST /mcp HTTP/1.1", b"X-Long: " + b"v" * 70_000), 431)


@pytest.mark.parametrize("rest", [b"X-Long: " + b"v" * 70_000, b"X: y\r\n" * 101, b"X" * 70_000])
def test_rule_06_limits_hold_while_a_head_is_incomplete(port: int, rest: bytes) -> None:
    """Ours: nothing is stored beyond a limit."""
    with Wire(port) as wire:
        assert wire.send(b"POST /mcp HTTP/1.1\r\n" + rest).answer().status == 431
        assert wire.ended()


@pytest.mark.parametrize(
    "host", ["", "a b", "a@b", "a/b", "a?b", "a#b", "a:1:2", "a:x", "a:-1", "[::1", "::1", "[1::2::3]", "a\x80b", ":80"]
)
def test_rule_07_host_follows_its_grammar(port: int, host: str) -> None:
    """Spec: RFC 9112 3.2; checked before any allow-list."""
    refused(port, post(Host=host), 400)


def test_rule_07_there_is_exactly_one_host_and_one_content_type(port: int) -> None:
    """Spec: RFC 9112 3.2."""
    refused(port, post(drop="Host"), 400)
    refused(port, post("POST /mcp HTTP/1.1", b"host: 127.0.0.1"), 400)
    refused(port, post("POST /mcp HTTP/1.0", b"host: 127.0.0.1"), 400)
    refused(port, post("POST /mcp HTTP/1.1", b"Content-Type: application/json"), 400)
    accepted(port, post(Host="LOCALHOST:8000"))
    accepted(port, post(Host="[::1]:80"))


@pytest.mark.parametrize(
    ("coding", "statuses"),
    [
        ("", (400,)),
        ("identity", (400, 501)),
        ("gzip", (501,)),
        ("gzip, chunked", (400, 501)),
        ("chunked, chunked", (400,)),
        ("chunked;q=1", (400, 501)),
        ("chun\u212aed".encode().decode("latin-1"), (400,)),
        ("chunked,", (400,)),
        ('"chunked"', (400,)),
        ("\x0bchunked", (400,)),
    ],
)
def test_rule_08_transfer_encoding_is_chunked_or_refused(port: int, coding: str, statuses: tuple[int, ...]) -> None:
    """Spec: RFC 9112 6.1."""
    refused(port, chunked(chunks(BODY), coding=coding), *statuses)


def test_rule_08_chunked_stands_alone(port: int) -> None:
    """Spec: RFC 9112 6.1 and 6.3: two framings on one request can hide a second request."""
    accepted(port, chunked(chunks(BODY), coding=" \tCHUNKED "))
    refused(port, post(Transfer_Encoding="chunked", body=chunks(BODY)), 400)
    refused(port, chunked(chunks(BODY)).replace(b"\r\n\r\n", b"\r\nTransfer-Encoding: chunked\r\n\r\n", 1), 400)
    refused(port, chunked(chunks(BODY), "POST /mcp HTTP/1.0"), 400)


def test_rule_09_there_is_one_content_length(port: int) -> None:
    """Spec: RFC 9112 6.3."""
    refused(port, post("POST /mcp HTTP/1.1", b"Content-Length: %d" % len(BODY)), 400)
    refused(port, post("POST /mcp HTTP/1.1", b"Content-Length: 0"), 400)
    accepted(port, post(Content_Length=f"{len(BODY):019d}"))


@pytest.mark.parametrize("expect", [None, "100-continue"])
@pytest.mark.parametrize("length", [4 * 1024 * 1024 + 1, 10**12, 10**18])
def test_rule_09_too_large_a_body_is_refused_before_it_is_sent(port: int, length: int, expect: str | None) -> None:
    """Spec: RFC 9110 15.5.14; instead of 100."""
    with Wire(port) as wire:
        answer = wire.send(post(Content_Length=str(length), Expect=expect, body=b"")).answer()
        assert (answer.status, answer.headers["connection"]) == (413, "close")
        assert wire.ended()


@pytest.mark.parametrize(
    "body",
    [
        b"2\r\nabcdef\r\n0\r\n\r\n",
        b"+5\r\nhello\r\n0\r\n\r\n",
        b"0x5\r\nhello\r\n0\r\n\r\n",
        b"1_0\r\nhello\r\n0\r\n\r\n",
        b"-5\r\nhello\r\n0\r\n\r\n",
        b" 5\r\nhello\r\n0\r\n\r\n",
        b"5 \r\nhello\r\n0\r\n\r\n",
        b"\r\nhello\r\n0\r\n\r\n",
        b"g\r\nhello\r\n0\r\n\r\n",
        b"00000000000000005\r\nhello\r\n0\r\n\r\n",
        b"5;\r\nhello\r\n0\r\n\r\n",
        b'5;a="b\r\nhello\r\n0\r\n\r\n',
        b"5;a=\x00\r\nhello\r\n0\r\n\r\n",
        b"5\r\nhelloX\r\n0\r\n\r\n",
        b"5\r\nhello\n0\r\n\r\n",
        b"5\r\nhello\r\n0\r\nA : b\r\n\r\n",
        b"5\r\nhello\r\n0\r\n folded\r\n\r\n",
    ],
)
def test_rule_10_a_chunk_is_read_to_the_letter(port: int, body: bytes) -> None:
    """Spec: RFC 9112 7.1."""
    refused(port, chunked(body), 400)


def test_rule_10_extensions_and_trailers_are_dropped_and_capped(port: int) -> None:
    """Spec: RFC 9112 7.1.1 and 7.1.2."""
    pieces = chunks(BODY[:5], BODY[5:], extension=b';a;b=c;d="e;f"', trailers=b"Mcp-Name: other\r\n")
    accepted(port, chunked(pieces))
    refused(port, chunked(chunks(BODY, extension=b";" + b"x" * 5000)), 400)
    refused(port, chunked(chunks(*[b"x"] * 3000, extension=b";abc")), 400)
    refused(port, chunked(chunks(BODY, trailers=b"A: b\r\n" * 101)), 431)
    refused(port, chunked(b"400001\r\n"), 413)
