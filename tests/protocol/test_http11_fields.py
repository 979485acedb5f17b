"""Header fields, their limits, and Host."""

from __future__ import annotations

import ipaddress

import pytest

from leanmcp.limits import Limits
from tests.support.http11_reads import CHUNKED, POST, head, one, post, status_of


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
