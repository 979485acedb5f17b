"""Rules 11 to 17 of a strict HTTP/1.1 server, on a real socket: what is answered, when, and what ends."""

from __future__ import annotations

import re
import socket
import time
import uuid
from email.utils import parsedate_to_datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.processes import call, encode, http
from tests.support.raw_http import BODY, GOOD, accepted, chunked, chunks, post, refused
from tests.support.wire import Wire, ask


def test_rule_11_a_refusal_arrives_although_the_client_is_still_sending(port: int) -> None:
    """Spec: RFC 9112 9.6: no reset destroys the answer."""
    with Wire(port) as wire:
        wire.send(post(Content_Length="99999999", body=b""))
        for _ in range(64):
            wire.send(b"x" * 65536)
        assert wire.answer().status == 413
        assert wire.ended()


@pytest.mark.parametrize(
    ("raw", "status"),
    [
        (post("POST /nope HTTP/1.1"), 404),
        (post("DELETE /mcp HTTP/1.1"), 405),
        (post("GET /mcp HTTP/1.1"), 405),
        (post(Content_Type="text/plain"), 415),
        (post(body=b"x" * len(BODY)), 400),
        (chunked(chunks(GOOD), "PUT /mcp HTTP/1.1"), 405),
        (post("GET / HTTP/1.1", Content_Length=str(len(GOOD)), body=GOOD), 200),
    ],
)
def test_rule_12_a_body_never_becomes_the_next_request(port: int, raw: bytes, status: int) -> None:
    """Spec: RFC 9112 9.3: it is read whatever the answer is."""
    with Wire(port) as wire:
        assert wire.send(raw + GOOD).answer().status == status
        assert wire.answer().message["id"] == "next"


@pytest.mark.parametrize("value", ["close", "CLOSE", "keep-alive, Close", "a,\tclose ,b", ",close"])
def test_rule_13_close_ends_the_connection_and_nothing_runs_behind_it(port: int, value: str) -> None:
    """Spec: RFC 9112 9.6."""
    assert refused(port, post(Connection=value), 200).text == "hello"
    both = post("POST /mcp HTTP/1.1", b"Connection: close", Connection="keep-alive")
    refused(port, both, 200)


def test_rule_13_other_options_keep_the_connection_and_1_0_does_not(port: int) -> None:
    """Spec: RFC 9112 9.3."""
    accepted(port, post(Connection="keep-alive, closed, x-close"))
    refused(port, post("POST /mcp HTTP/1.0"), 200)


@pytest.mark.parametrize("expect", ["100-continue", "100-Continue"])
def test_rule_14_a_client_that_waits_is_told_to_go_on_once(port: int, expect: str) -> None:
    """Spec: RFC 9110 10.1.1."""
    with Wire(port) as wire:
        assert wire.send(post(Expect=expect, body=b"")).answer().status == 100
        assert wire.send(BODY[:5], BODY[5:]).answer().text == "hello"
        assert wire.send(post(Expect=expect)).answer().status == 200  # the body was there at once


@pytest.mark.parametrize(
    ("raw", "status"),
    [
        (post(Expect="100-continue", Host="evil.example", body=b""), 421),
        (post("POST /nope HTTP/1.1", Expect="100-continue", body=b""), 404),
        (post("PUT /mcp HTTP/1.1", Expect="100-continue", body=b""), 405),
        (post(Expect="100-continue", Content_Type="text/plain", body=b""), 415),
        (post(Expect="200-ok", body=b""), 417),
        (post(Expect="100-continue, x", body=b""), 417),
    ],
)
def test_rule_14_a_refusal_takes_the_place_of_100(port: int, raw: bytes, status: int) -> None:
    """Spec: RFC 9110 10.1.1."""
    with Wire(port) as wire:
        assert wire.send(raw).answer().status == status
        assert wire.ended()


def test_rule_14_http_1_0_gets_no_100_and_upgrade_and_range_are_ignored(port: int) -> None:
    """Spec: RFC 9110 10.1.1, 7.8 and 14.2."""
    refused(port, post("POST /mcp HTTP/1.0", Expect="100-continue"), 200)
    accepted(port, post(Connection="Upgrade", Upgrade="h2c"))
    accepted(port, post(Range="bytes=0-1"))


_DATE = re.compile(r"(Mon|Tue|Wed|Thu|Fri|Sat|Sun), [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2} GMT")


@pytest.mark.parametrize(
    ("raw", "to", "status"),
    [
        (GOOD, "POST", 200),
        (http({"jsonrpc": "2.0", "method": "notifications/x"}), "POST", 202),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", "GET", 200),
        (b"HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n", "HEAD", 200),
        (b"HEAD /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n", "HEAD", 405),
        (b"OPTIONS /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n", "OPTIONS", 405),
        (b"HEAD /nope HTTP/1.1\r\nHost: localhost\r\n\r\n", "HEAD", 404),
        (b"nonsense\r\n\r\n", "POST", 400),
        (b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999\r\n\r\n", "POST", 413),
        (post(Host="evil.example"), "POST", 421),
    ],
)
def test_rule_15_every_answer_is_complete(port: int, raw: bytes, to: str, status: int) -> None:
    """Spec: RFC 9110 6.6.1, 8.6, 9.3.2, 15.5.6; the connection says what follows the answer."""
    with Wire(port) as wire:
        answer = wire.send(raw).answer(to=to)
        assert answer.status == status
        assert _DATE.fullmatch(answer.headers["date"])
        assert abs(parsedate_to_datetime(answer.headers["date"]).timestamp() - time.time()) < 3
        assert "transfer-encoding" not in answer.headers
        assert answer.headers["content-length"].isdecimal()
        assert (answer.headers.get("allow") == "POST") == (status == 405)
        assert (answer.body == b"") == (to == "HEAD" or status == 202)
        if answer.headers.get("connection") == "close":
            assert wire.ended()
        else:
            assert wire.send(GOOD).answer().status == 200


@pytest.mark.parametrize("target", ["/", "/mcp", "/nope"])
def test_rule_15_head_announces_what_get_would_send(port: int, target: str) -> None:
    """Spec: RFC 9110 8.6."""
    octets = f" {target} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
    answers = ask(port, b"HEAD" + octets, to="HEAD"), ask(port, b"GET" + octets)
    assert answers[0].headers["content-length"] == answers[1].headers["content-length"]


def test_rule_15_an_early_error_has_no_body_for_head_either(port: int) -> None:
    """Spec: RFC 9110 9.3.2."""
    with Wire(port) as wire:
        assert wire.send(b"HEAD /mcp HTTP/1.1\r\n\r\n").answer(to="HEAD").status == 400
        assert wire.ended()


@pytest.mark.parametrize(
    ("raw", "status"),
    [
        (b"", None),
        (b"POST /mcp HT", 408),
        (b"POST /mcp HTTP/1.1\r\nHost: ", 408),
        (post(body=BODY[:9]), 408),
        (chunked(b"5\r\nhe"), 408),
    ],
)
def test_rule_16_a_request_that_does_not_arrive_is_given_up(tight: int, raw: bytes, status: int | None) -> None:
    """Ours: policy P8; 408 where a request has begun, silence where none has."""
    with Wire(tight) as wire:
        wire.send(raw)
        if status is not None:
            answer = wire.answer()
            assert (answer.status, answer.headers["connection"]) == (status, "close")
        assert wire.ended()


def test_rule_16_octets_that_trickle_in_buy_no_time(tight: int) -> None:
    """Ours: a deadline is for the whole head, not for the next octet."""
    started = time.monotonic()
    with Wire(tight) as wire:
        wire.socket.settimeout(0.2)
        for octet in b"POST /mcp HTTP/1.1\r\nX-Slow: " + b"v" * 100:
            wire.send(bytes([octet]))
            try:
                assert wire.socket.recv(12) == b"HTTP/1.1 408"
            except TimeoutError:
                continue
            break
    assert time.monotonic() - started < 6


@pytest.mark.parametrize("cut", [1, 20, 400])
@pytest.mark.parametrize("framing", ["length", "chunks"])
def test_rule_16_half_a_request_never_runs(port: int, framing: str, cut: int) -> None:
    """Spec: RFC 9112 8."""
    key = uuid.uuid4().hex
    body = encode(call("mark", {"key": key}))
    if framing == "length":
        whole = post(Mcp_Name="mark", Content_Length=str(len(body)), body=body)
    else:
        whole = chunked(chunks(body)).replace(b"Mcp-Name: echo", b"Mcp-Name: mark")
    with Wire(port) as wire:
        assert wire.send(whole[:-cut]).half_close().ended()
    assert ask(port, http(call("mark", {"key": key}))).text == "1"


@pytest.mark.parametrize("bad", [b"nonsense\r\n\r\n", post(drop="Host"), chunked(b"zz\r\n")])
def test_rule_17_answers_keep_the_order_of_requests(port: int, bad: bytes) -> None:
    """Spec: RFC 9112 9.3.2; also when a bad one follows in the same segment."""
    calls = [
        http(call("slow" if n % 3 == 1 else "add", {"seconds": 0.05} if n % 3 == 1 else {"a": n}, n)) for n in range(9)
    ]
    with Wire(port) as wire:
        wire.send(b"".join(calls) + bad + GOOD)
        assert [wire.answer().message["id"] for _ in range(9)] == list(range(9))
        assert wire.answer().status == 400
        assert wire.ended()


@settings(max_examples=40, deadline=None)
@given(raw=st.binary(min_size=1, max_size=200), inside=st.integers(0, len(GOOD)))
def test_any_octets_get_a_client_error_or_nothing_and_the_server_lives(port: int, raw: bytes, inside: int) -> None:
    """Ours: property; octets put anywhere into a good request never cost more than their connection."""
    with Wire(port) as wire:
        wire.send(GOOD[:inside] + raw + GOOD[inside:]).half_close()
        while not wire.ended_or_more():
            assert wire.answer().status in {100, 200, 202, 400, 404, 405, 413, 414, 415, 417, 421, 431, 501, 505}
    assert ask(port, GOOD).status == 200


def test_a_half_close_behind_an_answer_that_is_being_read_loses_no_request(port: int) -> None:
    """Ours: what arrived whole has its turn when the client has read what comes before it."""
    with Wire(port, receive_buffer=100_000) as wire:
        wire.send(*(http(call("blob", {"size": 70_000}, number)) for number in range(80)))
        wire.socket.recv(1, socket.MSG_PEEK)
        wire.send(http(call("echo", {"text": "hello"}, "last"))).half_close()
        assert [wire.answer().message["id"] for _ in range(81)] == [*range(80), "last"]
        assert wire.ended()
