"""The request reader, rule by rule: octets in, requests or one error status out."""

from __future__ import annotations

import ipaddress
import sys
import tracemalloc
from collections.abc import Iterable
from types import FrameType

import pytest

from leanmcp.limits import Limits
from leanmcp.protocol import http11_body, http11_grammar
from leanmcp.protocol.http11 import BODY, HEAD, IDLE, Head, HTTPError, Request, RequestReader

HOST = b"Host: localhost:8000\r\n"
POST = b"POST /mcp HTTP/1.1\r\n" + HOST
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"


def head(*fields: bytes, line: bytes = b"POST /mcp HTTP/1.1") -> bytes:
    return b"".join(part + b"\r\n" for part in (line, *fields)) + b"\r\n"


def post(*fields: bytes) -> bytes:
    return head(b"Host: localhost:8000", *fields)


def get(target: bytes, *, method: bytes = b"GET", version: bytes = b"HTTP/1.1") -> bytes:
    return head(b"Host: localhost", line=method + b" " + target + b" " + version)


def read_all(pieces: Iterable[bytes], limits: Limits | None = None) -> tuple[list[Request], int | None, RequestReader]:
    """Feed as a connection does; return the requests, the status of the error that followed, and the reader."""
    reader = RequestReader(limits or Limits())
    requests: list[Request] = []
    try:
        for piece in pieces:
            request = reader.feed(piece)
            while request is not None:
                requests.append(request)
                request = reader.next_request()
    except HTTPError as error:
        return requests, error.status, reader
    return requests, None, reader


def one(raw: bytes, limits: Limits | None = None) -> Request:
    requests, status, reader = read_all([raw], limits)
    assert status is None
    assert reader.phase == IDLE
    [request] = requests
    return request


def status_of(raw: bytes, limits: Limits | None = None) -> int | None:
    """Return the status that refuses `raw`, the same whole and octet by octet; None when nothing is refused."""
    requests, status, _ = read_all([raw], limits)
    bytewise, bytewise_status, _ = read_all([raw[i : i + 1] for i in range(len(raw))], limits)
    assert (len(requests), status) == (len(bytewise), bytewise_status)
    if status is not None:
        assert requests == []
    return status


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


# What a request is


def test_reader_yields_head_and_body() -> None:
    """Spec: RFC 9112 2.1."""
    raw = post(b"Content-Type: application/json", b"X-Two:\t a  b \t", b"Content-Length: 2") + b"{}"
    request = one(raw.replace(b"/mcp", b"/mcp/a%20b?x=/?&y"))
    assert (request.head.method, request.head.minor_version, request.body) == ("POST", 1, b"{}")
    assert request.head.target == "/mcp/a%20b?x=/?&y"
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


# Rule 1: octets


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


# Rule 2: line ends


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


# Rule 3: one CRLF before a request line


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


# Rule 4: request line


@pytest.mark.parametrize(
    ("line", "status"),
    [
        (b"GET / HTTP/2.0", 505),
        (b"PRI * HTTP/2.0", 505),
        (b"GET / HTTP/0.9", 505),
        (b"GET / HTTP/9.1", 505),
        (b"GET / HTTP/1.10", 400),
        (b"GET / HTTP/11.1", 400),
        (b"GET / HTTP/1.", 400),
        (b"GET / HTTP/1", 400),
        (b"GET / HTTP/1,1", 400),
        (b"GET / HTTP/1.1 ", 400),
        (b"GET / HTTP/1.1x", 400),
        (b"GET / HTTP/1.\xb2", 400),
        (b"GET / http/1.1", 400),
        (b"GET / Http/1.1", 400),
        (b"GET / XHTTP/1.1", 400),
        (b"GET /", 400),
        (b"GET", 400),
        (b"GET  / HTTP/1.1", 400),
        (b"GET /  HTTP/1.1", 400),
        (b"GET\t/ HTTP/1.1", 400),
        (b"GET /\tHTTP/1.1", 400),
        (b" GET / HTTP/1.1", 400),
        (b"GET / a HTTP/1.1", 400),
        (b"GET HTTP/1.1", 400),
        (b" / HTTP/1.1", 400),
        (b"G(T / HTTP/1.1", 400),
        (b"G\xc9T / HTTP/1.1", 400),
        (b"GET: / HTTP/1.1", 400),
        (b"get / HTTP/1.1", 501),
        (b"Post / HTTP/1.1", 501),
        (b"BREW / HTTP/1.1", 501),
        (b"GETS / HTTP/1.1", 501),
        (b"CONNECT a:80 HTTP/1.1", 501),
        (b"CONNECT / HTTP/1.1", 501),
    ],
)
def test_malformed_request_lines_are_refused(line: bytes, status: int) -> None:
    """Spec: RFC 9112 2.3 and 3; RFC 9110 9.1."""
    assert status_of(head(b"Host: a", line=line)) == status


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"])
def test_known_methods_are_read(method: str) -> None:
    """Spec: RFC 9110 9.3; whether a method is allowed is for the endpoint to say."""
    assert one(get(b"/", method=method.encode())).head.method == method


@pytest.mark.parametrize(("version", "minor"), [(b"HTTP/1.0", 0), (b"HTTP/1.1", 1), (b"HTTP/1.2", 1), (b"HTTP/1.9", 1)])
def test_later_minor_versions_count_as_1(version: bytes, minor: int) -> None:
    """Spec: RFC 9110 2.5."""
    assert one(get(b"/", version=version)).head.minor_version == minor


# Rule 5: target


@pytest.mark.parametrize(
    "target",
    [b"/", b"//", b"/a//b/../c", b"/?", b"/??a", b"/a?b=/c?d", b"/%00%aF%Ff", b"/-._~!$&'()*+,;=:@", b"/a;b=c?%20"],
)
def test_origin_form_is_kept_as_sent(target: bytes) -> None:
    """Spec: RFC 9112 3.2.1."""
    request = one(get(target))
    assert request.head.target == target.decode()
    assert request.head.path == target.decode().split("?")[0]


@pytest.mark.parametrize(
    "target",
    [
        *(b"/a" + bytes([c]) for c in b'"<>[]\\^`{|}#\x01\x7f\x80\xa0\xff'),
        *(b"/?a" + bytes([c]) for c in b'"<>[]\\^`{|}#\x85'),
        b"/%",
        b"/%2",
        b"/%2g",
        b"/%g2",
        b"/?%",
        b"/%\xb2\xb2",
        b"/%+1",
        b"a",
        b"a/b",
        b"?a",
        b"#",
        b"/#",
        b"*",
        b"**",
        b"localhost:80",
    ],
)
def test_malformed_targets_are_refused(target: bytes) -> None:
    """Spec: RFC 9112 3.2; RFC 3986 3.3 and 3.4."""
    assert status_of(get(target)) == 400


def test_asterisk_form_is_for_options_only() -> None:
    """Spec: RFC 9112 3.2.4."""
    request = one(get(b"*", method=b"OPTIONS"))
    assert (request.head.target, request.head.path) == ("*", "*")
    for method in (b"GET", b"POST", b"HEAD", b"DELETE"):
        assert status_of(get(b"*", method=method)) == 400
    for target in (b"*?", b"**", b"*/", b"/*#"):
        assert status_of(get(target, method=b"OPTIONS")) == 400


@pytest.mark.parametrize(
    ("target", "host", "rest"),
    [
        (b"http://a/mcp?x=1", "a", "/mcp?x=1"),
        (b"HTTP://A:80/", "A:80", "/"),
        (b"hTtPs://a.example", "a.example", "/"),
        (b"http://a?x", "a", "/?x"),
        (b"http://[::1]:8000/mcp", "[::1]:8000", "/mcp"),
        (b"http://a:/", "a:", "/"),
        (b"http://a//b", "a", "//b"),
        (b"http://%41/", "%41", "/"),
    ],
)
def test_absolute_form_overrides_host(target: bytes, host: str, rest: str) -> None:
    """Spec: RFC 9112 3.2.2."""
    request = one(get(target))
    assert request.head.headers["host"] == host
    assert request.head.target == rest
    assert request.head.path == rest.split("?")[0]


@pytest.mark.parametrize(
    "target",
    [
        b"http://",
        b"http:///mcp",
        b"http://:80/",
        b"http://?a",
        b"http://u@a/",
        b"http://u:p@a/",
        b"http://@a/",
        b"http://a:b/",
        b"http://a:8\xb2/",
        b"http://a:-1/",
        b"http://[::1/",
        b"http://[::1]x/",
        b"http://::1/",
        b"http://a/#f",
        b"http://a#f",
        b"http://a/%zz",
        b"http:/a",
        b"http:a",
        b"http//a",
        b"://a/",
        b"ftp://a/",
        b"http\xc5\xbf://a/",
        b"http://a\\b/",
    ],
)
def test_malformed_absolute_forms_are_refused(target: bytes) -> None:
    """Spec: RFC 9112 3.2.2; RFC 9110 4.2.1 and 4.2.4."""
    assert status_of(get(target)) == 400


def test_absolute_form_does_not_replace_a_missing_or_bad_host() -> None:
    """Spec: RFC 9112 3.2."""
    assert status_of(head(line=b"GET http://a/ HTTP/1.1")) == 400
    assert status_of(head(b"Host: a@b", line=b"GET http://a/ HTTP/1.1")) == 400
    assert one(head(line=b"GET http://a/ HTTP/1.0")).head.headers == {"host": "a"}


def test_request_line_of_8000_octets_is_read_and_a_longer_one_than_the_limit_is_414() -> None:
    """Spec: RFC 9112 3."""

    def with_length(n: int) -> bytes:
        return get(b"/" + b"a" * (n - len(b"GET / HTTP/1.1")))

    assert len(one(with_length(8000)).head.target) > 7900
    assert one(with_length(8192)).head.method == "GET"
    assert status_of(with_length(8193)) == 414
    assert status_of(b"GET /" + b"a" * 8188) == 414  # it is incomplete, and already too long
    assert status_of(b"A" * 8193) == 414
    assert status_of(b"A" * 8192) is None
    assert status_of(with_length(100_000)) == 414
    small = Limits(max_request_line=20)
    assert one(with_length(20), small).head.method == "GET"
    assert status_of(with_length(21), small) == 414
    assert status_of(get(b"http://a/" + b"b" * 20), small) == 414


# Rule 6: fields


@pytest.mark.parametrize(
    "field",
    [
        b"X",
        b": 1",
        b":",
        b"X : 1",
        b"X\t: 1",
        b" X: 1",
        b"\tX: 1",
        b" ",
        b"X\xc9: 1",
        b"X(: 1",
        b"X@Y: 1",
        b"X Y: 1",
        b"X;: 1",
        b'"X": 1',
        b"X/1: 1",
        b"X[0]: 1",
        b"X{: 1",
        b"X=: 1",
    ],
)
def test_malformed_fields_are_refused_wherever_they_stand(field: bytes) -> None:
    """Spec: RFC 9112 5.1 and 5.2."""
    assert status_of(post(field)) == 400
    assert status_of(post(field, b"Y: 2")) == 400
    assert status_of(head(field, b"Host: a")) == 400
    assert status_of(CHUNKED + b"0\r\n" + field + b"\r\n\r\n") == 400
    assert status_of(CHUNKED + b"0\r\nX: 1\r\n" + field + b"\r\n\r\n") == 400


@pytest.mark.parametrize("fold", [b"X: 1\r\n 2", b"X: 1\r\n\t2", b"X: 1\r\n ", b"X:\r\n 1"])
def test_folded_values_are_refused(fold: bytes) -> None:
    """Spec: RFC 9112 5.2."""
    assert status_of(post(fold)) == 400
    assert status_of(head(fold, b"Host: a")) == 400


def test_values_may_be_empty_and_hold_obs_text() -> None:
    """Spec: RFC 9110 5.5."""
    request = one(post(b"A:", b"B:  ", b"C:\t", b"!#$%&'*+-.^_`|~0: \xe9\xff:x:y"))
    assert [request.head.headers[n] for n in ("a", "b", "c")] == ["", "", ""]
    assert request.head.headers["!#$%&'*+-.^_`|~0"] == "\xe9\xff:x:y"


def test_default_limits_take_a_field_of_4_kb_and_60_fields() -> None:
    """Ours: HTTP rule 6."""
    assert one(post(b"X: " + b"a" * 4096)).head.headers["x"] == "a" * 4096
    assert len(one(post(*(b"X-%d: 1" % i for i in range(60)))).head.headers) == 61


def test_too_many_fields_are_431() -> None:
    """Ours: Limits.max_fields."""
    fields = [b"X-%d: 1" % i for i in range(100)]
    assert one(post(*fields[:99])).head.minor_version == 1
    assert status_of(post(*fields)) == 431
    assert status_of(POST + b"".join(f + b"\r\n" for f in fields)) == 431  # while the head is incomplete
    assert status_of(post(*[b"X: 1"] * 100)) == 431
    assert status_of(post(b"X: 1", b"Y: 2"), Limits(max_fields=2)) == 431


def test_a_head_over_the_limit_is_431_also_while_a_line_is_incomplete() -> None:
    """Ours: Limits.max_head_size."""
    limits = Limits(max_head_size=1000)
    fits = post(b"X: " + b"a" * (1000 - len(post(b"X: "))))
    assert len(fits) == 1000
    assert one(fits, limits).head.minor_version == 1
    assert status_of(fits, limits) is None
    assert status_of(fits.replace(b"aa", b"aaa", 1), limits) == 431
    assert status_of(fits[:-4] + b"\r\nY: 1\r\n\r\n", limits) == 431
    assert status_of(POST + b"X: " + b"a" * 1000, limits) == 431
    assert status_of(POST + b"X" * 70_000) == 431
    assert status_of(POST + b"X: " + b"a" * 70_000) == 431


def test_the_body_does_not_count_towards_the_head() -> None:
    """Ours: Limits.max_head_size."""
    raw = post(b"Content-Length: 5000") + b"a" * 5000
    assert len(one(raw, Limits(max_head_size=200)).body) == 5000


# Rule 7: Host and Content-Type


@pytest.mark.parametrize(
    "host",
    [
        b"localhost",
        b"localhost:8000",
        b"a:",
        b"127.0.0.1:1",
        b"a_b.example",
        b"[::1]",
        b"[::1]:8000",
        b"[2001:db8::1:2]",
        b"[::ffff:1.2.3.4]",
        b"%C3%A9",
        b"  a  ",
        b"a:000080",
    ],
)
def test_hosts_are_read(host: bytes) -> None:
    """Spec: RFC 9110 7.2; RFC 3986 3.2.2."""
    assert one(head(b"Host:" + host)).head.headers["host"] == host.strip(b" ").decode()


@pytest.mark.parametrize(
    "host",
    [
        b"",
        b" ",
        b":80",
        b"a:b",
        b"a:8x",
        b"a:+1",
        b"a:-1",
        b"a:1_0",
        b"a:\xb2",
        b"a: 80",
        b"a :80",
        b"a:80:80",
        b"::1",
        b"[::1",
        b"::1]",
        b"[]",
        b"[::1]80",
        b"[::1]a",
        b"[g::1]",
        b"[::1%25eth0]",
        b"[::1%eth0]",
        b"[1:2:3:4:5:6:7:8:9]",
        b"[1.2.3.4]",
        b"[::1]]",
        b"a@b",
        b"@b",
        b"a/b",
        b"a/",
        b"a?b",
        b"a#b",
        b"a b",
        b"a\tb",
        b"a, b",
        b"http://a",
        b"a\\b",
        b"a%",
        b"a%4",
        b"a%zz",
        b"\xe9",
        b"a\xa0",
        b"a\x85",
        b"<a>",
        b'"a"',
        b"a|b",
        b"{a}",
        b"a^b",
    ],
)
def test_malformed_hosts_are_refused_in_both_versions(host: bytes) -> None:
    """Spec: RFC 9112 3.2."""
    assert status_of(head(b"Host: " + host)) == 400
    assert status_of(head(b"Host: " + host, line=b"GET / HTTP/1.0")) == 400


def test_host_is_required_once_in_1_1_and_at_most_once_in_1_0() -> None:
    """Spec: RFC 9112 3.2."""
    assert status_of(head()) == 400
    assert status_of(head(b"X-Host: a", line=b"GET / HTTP/1.2")) == 400
    assert status_of(head(b"Host: a", b"Host: a")) == 400
    assert status_of(head(b"Host: a", b"X: 1", b"hOST: b")) == 400
    assert status_of(head(b"Host: a", b"Host:")) == 400
    assert one(head(line=b"GET / HTTP/1.0")).head.headers == {}
    assert status_of(head(b"Host: a", b"Host: a", line=b"GET / HTTP/1.0")) == 400


@pytest.mark.parametrize(
    "address", ["::", "1::", "1:2:3:4:5:6:7:8", "1::8", "::2:3:4:5:6:7:8", "1:2:3:4:5:6:7::", "1:2::6:1.2.3.4"]
)
def test_ipv6_hosts_are_what_the_standard_library_takes(address: str) -> None:
    """Spec: RFC 3986 3.2.2, IPv6address."""
    for candidate in (address, address + ":9", "9:" + address, address + "::", address.replace("1", "12345")):
        try:
            expected = ipaddress.IPv6Address(candidate) is not None
        except ValueError:
            expected = False
        assert (status_of(head(b"Host: [%b]:1" % candidate.encode())) is None) == expected


def test_repeated_content_type_is_refused() -> None:
    """Ours: two types, and a peer that checks the other one."""
    assert status_of(post(b"Content-Type: application/json", b"Content-Type: application/json")) == 400
    assert status_of(post(b"Content-Type: text/plain", b"X: 1", b"CONTENT-TYPE: application/json")) == 400


# Rule 8: Transfer-Encoding


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


# Rule 9: Content-Length


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


# Rule 10: chunks


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


# Rule 11: errors


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


# Rule 12: bodies


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


# Rule 13: persistence


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


# Rule 14: Expect, Upgrade, Range


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


# Rule 16: what deadlines and the end of input need


def test_phase_and_buffered_follow_the_octets() -> None:
    """Ours: the connection derives its deadlines and its back-pressure from them."""
    reader = RequestReader()
    seen = [(reader.phase, reader.buffered, reader.at_eof())]
    for piece in (b"POST", b" /mcp HTTP/1.1\r\n" + HOST + b"Content-Length: 3\r\n\r\n", b"a", b"bc"):
        reader.feed(piece)
        seen.append((reader.phase, reader.buffered, reader.at_eof()))
    assert seen == [(IDLE, 0, False), (HEAD, 4, True), (BODY, 0, True), (BODY, 1, True), (IDLE, 0, False)]


@pytest.mark.parametrize("raw", [post(b"Content-Length: 3") + b"abc", CHUNKED + b"3\r\nabc\r\n0\r\nX: 1\r\n\r\n"])
def test_no_part_of_a_request_is_a_request(raw: bytes) -> None:
    """Spec: RFC 9112 8."""
    for cut in range(1, len(raw)):
        requests, status, reader = read_all([raw[:cut]])
        assert (requests, status) == ([], None)
        assert reader.at_eof()
        assert reader.phase == (HEAD if cut < raw.index(b"\r\n\r\n") + 4 else BODY)


# Rule 17: pipelining


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


# Speed, counted


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


def test_head_is_made_of_its_octets_alone() -> None:
    """Ours: what an endpoint test needs is one call away."""
    assert Head(post(), Limits()).headers == one(post()).head.headers
