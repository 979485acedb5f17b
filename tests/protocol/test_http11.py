"""The request reader, rule by rule: octets in, requests or one error status out."""

from __future__ import annotations

import pytest

from leanmcp.limits import Limits
from leanmcp.protocol.http11 import BODY, HEAD, IDLE, Head, HTTPError, RequestReader
from tests.support.http11_reads import CHUNKED, HOST, get, head, one, post, read_all, status_of


def test_reader_yields_head_and_body() -> None:
    """Spec: RFC 9112 2.1."""
    raw = post(b"Content-Type: application/json", b"X-Two:\t a  b \t", b"Content-Length: 2") + b"{}"
    request = one(raw.replace(b"/mcp", b"/mcp/a%20b?x=/?&y"))
    assert (request.head.method, request.head.minor_version, request.body) == ("POST", 1, b"{}")
    assert request.head.path == "/mcp/a%20b"
    assert request.head.headers == {
        "host": "localhost:8000",
        "content-type": "application/json",
        "x-two": "a  b",
        "content-length": "2",
    }
    assert request.head.content_length == 2
    assert (request.head.chunked, request.head.keep_alive, request.head.expects_continue) == (False, True, False)
    assert request.head.repeated == frozenset()
    assert request.head.plan is None


def test_repeated_fields_are_joined_in_order_and_named() -> None:
    """Spec: RFC 9110 5.3."""
    request = one(post(b"Accept: a ", b"X: 1", b"ACCEPT:\tb\t", b"accept:"))
    assert request.head.headers["accept"] == "a, b, "
    assert request.head.repeated == {"accept"}


@pytest.mark.parametrize("blank", [b"\x0b", b"\x0c", b"\x1c", b"\x1f", b"\x7f", b"\x01", b"\x08"])
@pytest.mark.parametrize("place", [b"X:%b1", b"X: 1%b", b"X: 1%b1", b"X%b: 1", b"%bX: 1"])
def test_control_characters_in_fields_are_refused(blank: bytes, place: bytes) -> None:
    """Spec: RFC 9110 5.5."""
    assert status_of(post(place % blank)) == 400
    assert status_of(CHUNKED + b"0\r\n" + place % blank + b"\r\n\r\n") == 400


@pytest.mark.parametrize("blank", [b"\x85", b"\xa0", b"\xc2\xa0"])
def test_only_space_and_tab_are_stripped_from_values(blank: bytes) -> None:
    """Spec: RFC 9110 5.6.3."""
    value = blank + b"1" + blank
    assert one(post(b"X: " + value + b" ")).head.headers["x"] == value.decode("latin-1")


@pytest.mark.parametrize(
    "raw",
    [
        b"GET / HTTP/1.1\nHost: a\n\n",
        b"GET / HTTP/1.1\n",
        b"GET / HTTP/1.1\r\nHost: a\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\n\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nX: 1\n2\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nX: 1\r2\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nX: 1\r\r\n\r\n",
        b"GET / HTTP/1.1\rHost: a\r\r",
        b"GET /\r HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nX: 1\0\r\n\r\n",
        b"GET /\0 HTTP/1.1\r\nHost: a\r\n\r\n",
        b"\0",
        b"\x16\x03\x01\x00\xa5\x01\x00",
        CHUNKED + b"1\na",
        CHUNKED + b"1\r\na\n0\r\n\r\n",
        CHUNKED + b"1\ra",
        CHUNKED + b"1;a\0\r\n",
        CHUNKED + b"0\r\nX: 1\n\r\n",
        CHUNKED + b"0\r\nX: \0\r\n\r\n",
        CHUNKED + b"0\r\n\n",
    ],
)
def test_other_line_ends_and_nul_are_refused_as_soon_as_they_arrive(raw: bytes) -> None:
    """Spec: RFC 9112 2.2."""
    assert status_of(raw) == 400


def test_one_crlf_before_each_request_line_is_skipped() -> None:
    """Spec: RFC 9112 2.2."""
    raw = b"\r\n" + post(b"Content-Length: 1") + b"a" + b"\r\n" + post()
    for pieces in ([raw], [raw[i : i + 1] for i in range(len(raw))]):
        requests, status, _ = read_all(pieces)
        assert [r.body for r in requests] == [b"a", b""]
        assert status is None


@pytest.mark.parametrize("prefix", [b"\r\n\r\n", b"\n", b"\r", b" ", b"\t", b"\r\n ", b"\r\n\n", b"\r\r\n"])
def test_anything_else_before_a_request_line_is_refused(prefix: bytes) -> None:
    """Spec: RFC 9112 2.2."""
    assert status_of(prefix + post()) == 400


def test_a_dead_reader_raises_the_same_error_again_and_holds_nothing() -> None:
    """Ours: whatever follows a framing error is no request."""
    reader = RequestReader()
    with pytest.raises(HTTPError) as first:
        reader.feed(b"BREW / HTTP/1.1\r\n\r\n" + post())
    reader.hold(post())
    assert reader.buffered == 0
    assert reader.head is None
    for call in (reader.next_request, lambda: reader.feed(post()), lambda: reader.feed(b"")):
        with pytest.raises(HTTPError) as again:
            call()
        assert (again.value.status, again.value.message) == (first.value.status, first.value.message)


def test_error_messages_hold_nothing_that_the_peer_sent() -> None:
    """Ours: an echoed octet may be markup, or a line end."""
    for raw in (get(b"/<script>"), post(b"<script>"), get(b"/", method=b"SCRIPT"), post(b"Host: <script>")):
        with pytest.raises(HTTPError) as error:
            RequestReader().feed(raw)
        assert "script" not in error.value.message.lower()


@pytest.mark.parametrize("method", [b"GET", b"HEAD", b"DELETE", b"OPTIONS", b"PUT", b"TRACE"])
def test_the_body_of_any_method_is_consumed(method: bytes) -> None:
    """Spec: RFC 9112 6: presence of a body does not depend on the method."""
    line = method + b" / HTTP/1.1"
    smuggled = get(b"/smuggled")
    sized = head(b"Host: a", b"Content-Length: %d" % len(smuggled), line=line) + smuggled
    chunked = head(b"Host: a", b"Transfer-Encoding: chunked", line=line) + b"%x\r\n%b\r\n0\r\n\r\n" % (
        len(smuggled),
        smuggled,
    )
    assert one(sized).body == one(chunked).body == smuggled


def test_without_framing_there_is_no_body() -> None:
    """Spec: RFC 9112 6.3."""
    requests, status, _ = read_all([post() + post()])
    assert [r.body for r in requests] == [b"", b""]
    assert status is None


@pytest.mark.parametrize(
    ("fields", "keep_alive"),
    [
        ([], True),
        ([b"Connection: keep-alive"], True),
        ([b"Connection:"], True),
        ([b"Connection: closed"], True),
        ([b"Connection: x-close, upgrade"], True),
        ([b"Connection: close x"], True),
        ([b"Connection: cl\xf6se"], True),
        ([b"Connection: close"], False),
        ([b"Connection: CLOSE"], False),
        ([b"Connection: keep-alive, Close"], False),
        ([b"Connection: close,upgrade"], False),
        ([b"Connection: a\t,\tclose ,b"], False),
        ([b"Connection: ,close"], False),
        ([b"Connection: keep-alive", b"X: 1", b"connection: close"], False),
        ([b"Connection: close", b"Connection: keep-alive"], False),
    ],
)
def test_close_is_found_in_any_connection_line(fields: list[bytes], keep_alive: bool) -> None:
    """Spec: RFC 9112 9.3 and 9.6; RFC 9110 7.6.1."""
    assert one(post(*fields)).head.keep_alive is keep_alive


def test_http_1_0_closes() -> None:
    """Spec: RFC 9112 9.3; keep-alive in 1.0 is optional and not offered."""
    assert one(head(line=b"GET / HTTP/1.0")).head.keep_alive is False
    assert one(head(b"Connection: keep-alive", line=b"GET / HTTP/1.0")).head.keep_alive is False


@pytest.mark.parametrize("value", [b"100-continue", b"100-CONTINUE", b"100-Continue , 100-continue"])
def test_continue_is_wanted_until_an_octet_of_the_body_arrives(value: bytes) -> None:
    """Spec: RFC 9110 10.1.1."""
    for framing, body in ((b"Content-Length: 2", b"ab"), (b"Transfer-Encoding: chunked", b"2\r\nab\r\n0\r\n\r\n")):
        raw = post(b"Expect: " + value, framing)
        reader = RequestReader()
        assert not reader.wants_continue
        assert reader.feed(raw) is None
        assert reader.wants_continue
        assert reader.head is not None
        assert reader.head.expects_continue
        assert reader.feed(b"") is None
        assert reader.wants_continue
        assert reader.feed(body[:1]) is None
        assert not reader.wants_continue
        request = reader.feed(body[1:])
        assert request is not None
        assert request.body == b"ab"
        assert reader.head is None

        assert reader.feed(raw + body[:1]) is None
        assert not reader.wants_continue
        assert reader.feed(body[1:]) is not None


def test_continue_is_not_wanted_without_a_body_or_by_1_0() -> None:
    """Spec: RFC 9110 10.1.1."""
    reader = RequestReader()
    assert reader.feed(post(b"Expect: 100-continue")) is not None
    assert not reader.wants_continue
    old = head(b"Expect: 100-continue", b"Content-Length: 1", line=b"POST / HTTP/1.0")
    assert reader.feed(old) is None
    assert not reader.wants_continue
    assert reader.head is not None
    assert not reader.head.expects_continue


@pytest.mark.parametrize(
    "value", [b"200-ok", b"100-continue, x", b"100-continue;a=b", b"100-continu", b'"100-continue"']
)
def test_other_expectations_are_417_in_1_1_and_ignored_in_1_0(value: bytes) -> None:
    """Spec: RFC 9110 10.1.1."""
    assert status_of(post(b"Expect: " + value)) == 417
    assert status_of(post(b"Expect: 100-continue", b"Expect: " + value)) == 417
    assert status_of(head(b"Expect: " + value, line=b"POST / HTTP/1.0")) is None


def test_an_unacceptable_head_never_wants_continue() -> None:
    """Spec: RFC 9110 10.1.1."""
    for bad in (b"Host: a", b"Content-Length: +1", b"Content-Length: 99999999"):
        reader = RequestReader()
        with pytest.raises(HTTPError):
            reader.feed(post(b"Expect: 100-continue", bad))
        assert not reader.wants_continue


def test_upgrade_and_range_are_ignored() -> None:
    """Spec: RFC 9110 7.8 and 14.2."""
    upgrade = post(b"Connection: Upgrade, HTTP2-Settings", b"Upgrade: h2c", b"Range: bytes=0-1", b"Content-Length: 1")
    requests, status, _ = read_all([upgrade + b"a" + post()])
    assert [r.body for r in requests] == [b"a", b""]
    assert status is None


def test_phase_and_buffered_follow_the_octets() -> None:
    """Ours: the connection derives its deadlines and its back-pressure from them."""
    reader = RequestReader()
    seen = [(reader.phase, reader.buffered)]
    for piece in (b"POST", b" /mcp HTTP/1.1\r\n" + HOST + b"Content-Length: 3\r\n\r\n", b"a", b"bc"):
        reader.feed(piece)
        seen.append((reader.phase, reader.buffered))
    assert seen == [(IDLE, 0), (HEAD, 4), (BODY, 0), (BODY, 1), (IDLE, 0)]


@pytest.mark.parametrize("raw", [post(b"Content-Length: 3") + b"abc", CHUNKED + b"3\r\nabc\r\n0\r\nX: 1\r\n\r\n"])
def test_no_part_of_a_request_is_a_request(raw: bytes) -> None:
    """Spec: RFC 9112 8."""
    for cut in range(1, len(raw)):
        requests, status, reader = read_all([raw[:cut]])
        assert (requests, status) == ([], None)
        assert reader.phase != IDLE
        assert reader.phase == (HEAD if cut < raw.index(b"\r\n\r\n") + 4 else BODY)


def test_pipelined_requests_come_in_order_before_the_error_that_follows() -> None:
    """Spec: RFC 9112 9.3.2."""
    first, second = post(b"Content-Length: 1") + b"1", CHUNKED + b"1\r\n2\r\n0\r\n\r\n"
    for bad, status in ((b"BREW / HTTP/1.1\r\n\r\n", 501), (b"\r\n\r\n", 400), (post(b"Host: b"), 400)):
        raw = first + second + first + bad
        for pieces in ([raw], [raw[i : i + 1] for i in range(len(raw))]):
            requests, error, _ = read_all(pieces)
            assert [r.body for r in requests] == [b"1", b"2", b"1"]
            assert error == status


def test_held_octets_are_read_when_the_next_request_is_asked_for() -> None:
    """Ours: one request at a time is answered; what arrives meanwhile waits."""
    reader = RequestReader()
    request = post(b"Content-Length: 3") + b"abc"
    assert reader.feed(request + request[:10]) is not None
    for i in range(10, len(request)):
        reader.hold(request[i : i + 1])
    reader.hold(request + b"BREW")
    assert reader.phase == HEAD
    assert reader.buffered == 2 * len(request) + 4
    for _ in range(2):
        following = reader.next_request()
        assert following is not None
        assert following.body == b"abc"
        assert type(following.body) is bytes
    assert reader.next_request() is None
    assert reader.buffered == 4
    assert reader.feed(b"") is None
    with pytest.raises(HTTPError):
        reader.feed(b" / HTTP/1.1\r\n")


def test_holding_makes_an_idle_reader_expect_a_head() -> None:
    """Ours: held octets are seen by the deadlines."""
    reader = RequestReader()
    reader.hold(b"")
    assert reader.phase == IDLE
    reader.hold(post())
    assert reader.phase == HEAD
    assert reader.next_request() is not None
    assert reader.next_request() is None
    assert reader.phase == IDLE


def test_head_is_made_of_its_octets_alone() -> None:
    """Ours: what an endpoint test needs is one call away."""
    assert Head(post(), Limits()).headers == one(post()).head.headers
