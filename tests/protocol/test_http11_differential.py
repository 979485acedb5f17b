"""The request reader against h11, and against itself when the input is cut in other places.

We accept a subset of what h11 accepts, with equal method, target, fields, body and boundaries. One leading CRLF, which
h11 refuses and RFC 9112 2.2 asks to skip, is stripped before h11 sees a request; trailers, which we drop, are not
compared. `LEANMCP_FUZZ_EXAMPLES=100000` makes the run longer.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

import h11
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from leanmcp.limits import Limits
from leanmcp.protocol.http11 import IDLE, HTTPError, Request, RequestReader

EXAMPLES = int(os.environ.get("LEANMCP_FUZZ_EXAMPLES", "300"))
fuzz = settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)
SMALL = Limits(max_request_line=60, max_head_size=220, max_fields=6, max_body_size=12)

Read = tuple[str, str, int, tuple[tuple[str, str], ...], bool, bytes]


def as_read(request: Request) -> Read:
    head = request.head
    return head.method, head.path, head.minor_version, tuple(head.headers.items()), head.keep_alive, request.body


def outcome(pieces: Iterable[bytes], limits: Limits) -> tuple[list[Read], int | None, bool]:
    """Return the requests, the status of the error that ended them, and whether the end of input would cut one."""
    reader = RequestReader(limits)
    requests: list[Read] = []
    try:
        for piece in pieces:
            request = reader.feed(piece)
            while request is not None:
                requests.append(as_read(request))
                request = reader.next_request()
    except HTTPError as error:
        return requests, error.status, False
    return requests, None, reader.phase != IDLE


def held_outcome(raw: bytes, size: int, limits: Limits) -> tuple[list[Read], int | None, bool]:
    """As `outcome`, but everything is held in pieces of `size` before the first request is asked for."""
    reader = RequestReader(limits)
    for i in range(0, len(raw), size):
        reader.hold(raw[i : i + size])
    requests: list[Read] = []
    try:
        while (request := reader.next_request()) is not None:
            requests.append(as_read(request))
    except HTTPError as error:
        return requests, error.status, False
    return requests, None, reader.phase != IDLE


def octets(raw: bytes) -> list[bytes]:
    return [raw[i : i + 1] for i in range(len(raw))]


def requests_with_octets(raw: bytes) -> list[tuple[Request, bytes]]:
    """Return each accepted request and the octets it was read from."""
    reader = RequestReader()
    reader.hold(raw)
    found: list[tuple[Request, bytes]] = []
    start = 0
    try:
        while (request := reader.next_request()) is not None:
            end = len(raw) - reader.buffered
            found.append((request, raw[start:end]))
            start = end
    except HTTPError:
        pass
    return found


def assert_h11_agrees(request: Request, raw: bytes) -> None:
    connection = h11.Connection(h11.SERVER, max_incomplete_event_size=2**20)
    connection.receive_data(raw.removeprefix(b"\r\n"))
    event = connection.next_event()
    assert isinstance(event, h11.Request)
    head = request.head
    assert event.method.decode() == head.method
    assert (event.http_version >= b"1.1") == (head.minor_version == 1)

    fields: dict[str, str] = {}
    for name, value in event.headers:
        key, text = name.decode(), value.decode("latin-1")
        fields[key] = f"{fields[key]}, {text}" if key in fields else text
    target = event.target.decode()
    if target.startswith("/") or target == "*":
        assert target.partition("?")[0] == head.path
    else:
        # First difference: h11 hands on an absolute-form target as sent; RFC 9112 3.2.2 lets it override Host.
        scheme, _, rest = target.partition("://")
        assert scheme.lower() in ("http", "https")
        authority = head.headers["host"]
        assert rest.startswith(authority)
        assert head.path == (rest[len(authority) :].partition("?")[0] or "/")
        fields["host"] = authority
    if head.chunked:
        # Second difference: h11 lower-cases the value of Transfer-Encoding, and of no other field.
        assert head.headers["transfer-encoding"].lower() == fields["transfer-encoding"] == "chunked"
        fields["transfer-encoding"] = head.headers["transfer-encoding"]
    assert fields == head.headers
    assert connection.they_are_waiting_for_100_continue is head.expects_continue

    body = bytearray()
    while isinstance(event := connection.next_event(), h11.Data):
        body += event.data
    assert isinstance(event, h11.EndOfMessage)
    assert bytes(body) == request.body
    assert connection.trailing_data == (b"", False)
    connection.send(h11.Response(status_code=200, headers=[("content-length", "0")]))
    connection.send(h11.EndOfMessage())
    assert (connection.our_state is h11.DONE) == head.keep_alive


METHODS = [b"POST", b"GET", b"HEAD", b"OPTIONS", b"DELETE", b"PUT", b"post", b"BREW", b"CONNECT", b""]
TARGETS = [
    b"/mcp",
    b"/",
    b"*",
    b"/a%20b?c=%2F",
    b"//a",
    b"http://h",
    b"HTTPS://h:1/x?y",
    b"http://[::1]?q",
    b"http://u@h/",
    b"/%zz",
    b"/#f",
    b"a",
    b"/\xe9",
]
VERSIONS = [b"HTTP/1.1", b"HTTP/1.0", b"HTTP/1.2", b"HTTP/1.9", b"HTTP/2.0", b"HTTP/1.10", b"http/1.1", b"HTTP/1.1 "]
FIELDS = [
    b"Content-Type: application/json",
    b"Accept: a,b",
    b"accept:\tc ",
    b"X: \xe9\x85\xa0",
    b"X:",
    b"Connection: close",
    b"Connection: keep-alive, x",
    b"connection: a, CLOSE ,b",
    b"Expect: 100-continue",
    b"Expect: 100-Continue",
    b"Upgrade: h2c",
]
ODD_FIELDS = [
    b"Host: a",
    b"Host: [::1]:80",
    b"host:b:80",
    b"Host: a b",
    b"Expect: x",
    b"Transfer-Encoding: chunked",
    b"transfer-encoding:CHUNKED ",
    b"Transfer-Encoding: gzip, chunked",
    b"Content-Length: 0",
    b"Content-Length: 3",
    b"content-length:007 ",
    b"Content-Length: +3",
    b"Content-Length: 3, 3",
    b"Content-Length: 13",
    b" X: folded",
    b"X : 1",
]
BODIES = [
    b"",
    b"abc",
    b"0123456",
    b"0\r\n\r\n",
    b"3\r\nabc\r\n0\r\n\r\n",
    b'3;a=b;c="d e"\r\nabc\r\n2\r\n\r\n\r\n0\r\nX: 1\r\n\r\n',
    b"00a\r\n0123456789\r\n0;x\r\nX: 1\r\nHost: evil\r\n\r\n",
    b"5\r\nabc\r\n0\r\n\r\n",
    b"D\r\n0123456789abc\r\n0\r\n\r\n",
]
LINE_ENDS = [b"\r\n"] * 30 + [b"\n", b"\r", b"\r\r\n", b" \r\n", b"\r\n "]
NASTY = [b"\r\n", b"\n", b"\r", b"\0", b" ", b"\t", b":", b",", b";", b"\xa0", b"\x85", b"\xb2", b"0", b"%", b"\x0b"]


def mostly(usual: list[bytes], odd: list[bytes]) -> st.SearchStrategy[bytes]:
    return st.sampled_from(usual * (1 + 8 * len(odd) // len(usual)) + odd)


@st.composite
def request_octets(draw: st.DrawFn) -> bytes:
    """A request that is valid more often than not."""
    line = b" ".join(
        (draw(mostly(METHODS[:6], METHODS)), draw(mostly(TARGETS[:2], TARGETS)), draw(mostly(VERSIONS[:1], VERSIONS)))
    )
    fields = draw(st.lists(mostly(FIELDS, ODD_FIELDS), max_size=5, unique=True))
    if draw(st.integers(0, 9)):
        fields.insert(0, b"Host: localhost:8000")
    body = draw(st.sampled_from(BODIES))
    if draw(st.integers(0, 9)):
        fields = [f for f in fields if not f.lower().startswith((b"content-length", b"transfer-encoding"))]
        chunked = body.endswith(b"\r\n") and draw(st.booleans())
        fields.append(b"Transfer-Encoding: chunked" if chunked else b"Content-Length: %d" % len(body))
    raw = draw(st.sampled_from([b""] * 12 + [b"\r\n"] * 3 + [b"\r\n\r\n", b" "]))
    end = b"\r\n"
    if draw(st.integers(0, 9)) == 0:
        end = draw(st.sampled_from(LINE_ENDS))
    return raw + end.join((line, *fields)) + b"\r\n\r\n" + body


@st.composite
def streams(draw: st.DrawFn) -> bytes:
    """Some requests in a row, perhaps with some octets changed."""
    raw = b"".join(draw(st.lists(request_octets(), min_size=1, max_size=3)))
    for _ in range(draw(st.sampled_from([0, 0, 0, 1, 1, 2, 5]))):
        at = draw(st.integers(0, len(raw)))
        cut = draw(st.sampled_from([0, 0, 1, 1, 2, 10]))
        new = draw(st.one_of(st.just(b""), st.sampled_from(NASTY), st.binary(min_size=1, max_size=3)))
        raw = raw[:at] + new + raw[at + cut :]
    return raw


@fuzz
@given(streams())
def test_what_the_reader_accepts_h11_accepts_with_equal_events(raw: bytes) -> None:
    """Ours: property, h11 as oracle; two readers that disagree are request smuggling."""
    for request, its_octets in requests_with_octets(raw):
        assert_h11_agrees(request, its_octets)


@fuzz
@given(streams(), st.sampled_from([Limits(), SMALL]))
def test_whole_and_octet_by_octet_agree(raw: bytes, limits: Limits) -> None:
    """Ours: property; the network cuts where it likes."""
    whole = outcome([raw], limits)
    assert outcome(octets(raw), limits) == whole
    assert held_outcome(raw, 1, limits) == whole
    assert held_outcome(raw, 7, limits) == whole


@settings(fuzz, max_examples=max(1, EXAMPLES // 6))
@given(streams(), st.sampled_from([Limits(), SMALL]))
def test_whole_and_split_at_every_position_agree(raw: bytes, limits: Limits) -> None:
    """Ours: property, as above."""
    whole = outcome([raw], limits)
    for i in range(1, len(raw)):
        assert outcome([raw[:i], raw[i:]], limits) == whole


@fuzz
@given(
    st.one_of(
        st.binary(max_size=300), st.lists(st.sampled_from(NASTY + FIELDS + ODD_FIELDS + BODIES + TARGETS)).map(b"".join)
    ),
    st.data(),
)
def test_any_octets_give_requests_or_an_http_error(raw: bytes, data: st.DataObject) -> None:
    """Ours: property; nothing else is ever raised, however the octets are cut."""
    for prefix in (
        b"",
        b"POST /mcp HTTP/1.1\r\nHost: a\r\n",
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n",
    ):
        stream = prefix + raw
        cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=5)))
        pieces = [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
        whole = outcome([stream], Limits())
        assert outcome(pieces, Limits()) == whole
        assert whole[1] in (None, 400, 413, 414, 417, 431, 501, 505)
        for request, its_octets in requests_with_octets(stream):
            assert_h11_agrees(request, its_octets)


def test_the_generator_reaches_both_sides() -> None:
    """Ours: a property over refused input only would hold for a reader that refuses everything."""
    statuses: set[int | None] = set()
    accepted = 0

    @settings(max_examples=1000, deadline=None, database=None, derandomize=True)
    @given(streams())
    def run(raw: bytes) -> None:
        nonlocal accepted
        requests, status, _ = outcome([raw], Limits())
        accepted += len(requests)
        statuses.add(status)

    run()
    assert accepted >= 100
    assert statuses >= {None, 400}
    assert len(statuses) >= 4  # which of the rarer refusals come up depends on the version of hypothesis
