"""Request lines and targets: what is read, and what is refused."""

from __future__ import annotations

import pytest

from leanmcp.limits import Limits
from tests.support.http11_reads import get, head, one, status_of


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


@pytest.mark.parametrize(
    "target",
    [b"/", b"//", b"/a//b/../c", b"/?", b"/??a", b"/a?b=/c?d", b"/%00%aF%Ff", b"/-._~!$&'()*+,;=:@", b"/a;b=c?%20"],
)
def test_path_of_origin_form_is_kept_as_sent(target: bytes) -> None:
    """Spec: RFC 9112 3.2.1."""
    assert one(get(target)).head.path == target.decode().split("?")[0]


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
    assert request.head.path == "*"
    for method in (b"GET", b"POST", b"HEAD", b"DELETE"):
        assert status_of(get(b"*", method=method)) == 400
    for target in (b"*?", b"**", b"*/", b"/*#"):
        assert status_of(get(target, method=b"OPTIONS")) == 400


@pytest.mark.parametrize(
    ("target", "host", "path"),
    [
        (b"http://a/mcp?x=1", "a", "/mcp"),
        (b"HTTP://A:80/", "A:80", "/"),
        (b"hTtPs://a.example", "a.example", "/"),
        (b"http://a?x", "a", "/"),
        (b"http://[::1]:8000/mcp", "[::1]:8000", "/mcp"),
        (b"http://a:/", "a:", "/"),
        (b"http://a//b", "a", "//b"),
        (b"http://%41/", "%41", "/"),
    ],
)
def test_absolute_form_overrides_host(target: bytes, host: str, path: str) -> None:
    """Spec: RFC 9112 3.2.2."""
    request = one(get(target))
    assert request.head.headers["host"] == host
    assert request.head.path == path


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

    assert len(one(with_length(8000)).head.path) > 7900
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
