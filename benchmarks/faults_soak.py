"""A server that is used in every way for minutes: good and bad calls, clients that leave, streams, large answers."""

from __future__ import annotations

import socket
import statistics
import time
from collections.abc import Callable, Iterator

from benchmarks.faults_base import (
    MB,
    HTTPServer,
    Options,
    Row,
    ask,
    at_most,
    equal,
    head,
    http_server,
    post,
    receive,
    until,
)
from benchmarks.faults_listen import open_streams

_MINUTES, _WARM_UP = 10, 1.0  # the heap finds its size in the first minute
_QUICK_MINUTES, _QUICK_WARM_UP = 1.0, 0.25
_EVERY = 2.0  # seconds between two samples

_now = time.perf_counter
Step = Callable[[HTTPServer, socket.socket, int], None]


def mixed(options: Options) -> Iterator[Row]:
    """Mixed work for ten minutes: resident memory and descriptors at its end, and how fast they grow."""
    minutes = _QUICK_MINUTES if options.quick else _MINUTES
    warm_up = _QUICK_WARM_UP if options.quick else _WARM_UP
    with http_server() as server:
        with server.connect() as kept:
            began, sampled, number = _now(), 0.0, 0
            samples: list[tuple[float, int]] = []
            while (passed := _now() - began) < minutes * 60:
                _STEPS[number % len(_STEPS)](server, kept, number)
                number += 1
                if passed > warm_up * 60 and passed - sampled > _EVERY:
                    sampled = passed
                    samples.append((passed / 60, server.rss()))
        until(lambda: server.descriptors() <= server.first_descriptors)
        label = f"{number:,} steps of mixed work in {minutes:g} min"
        memory = [rss for _, rss in samples]
        tenth = max(1, len(memory) // 10)
        growth = statistics.median(memory[-tenth:]) - statistics.median(memory[:tenth])
        yield at_most(f"{label}: growth of memory after the first {warm_up:g} min", growth / MB, 2, "MB")
        slope = statistics.linear_regression([at for at, _ in samples], memory).slope
        # A minute is too short for a slope: what the allocator keeps is a step of some 100 kB.
        if options.quick:
            yield Row("slope", f"{slope / MB:+.2f} MB/min", "measured in the long run", None)
        else:
            yield at_most(f"{label}: slope", slope / MB, 0.1, "MB/min")
        yield equal(f"{label}: descriptors left", server.descriptors() - server.first_descriptors, 0)


def _kept(server: HTTPServer, kept: socket.socket, number: int) -> None:
    for offset in range(50):
        ask(kept, post("echo", number + offset, text=f"call {number}"))


def _fresh(server: HTTPServer, kept: socket.socket, number: int) -> None:
    for _ in range(10):
        with server.connect() as sock:
            ask(sock, post("echo", number, text="fresh"))


def _refused(server: HTTPServer, kept: socket.socket, number: int) -> None:
    assert ask(kept, post("echo", number, txet="x"))["result"]["isError"]
    assert ask(kept, post("length", number, text=[number]))["result"]["isError"]
    assert "error" in ask(kept, post(f"unknown{number}", number))
    assert ask(kept, post("boom", number, secret=str(number)))["result"]["isError"]


def _large(server: HTTPServer, kept: socket.socket, number: int) -> None:
    ask(kept, post("blob", number, size=1000 + number % 300_000))
    ask(kept, post("rows", number, count=number % 2000))
    ask(kept, post("length", number, text="x" * (number % 500_000)))


def _left(server: HTTPServer, kept: socket.socket, number: int) -> None:
    """Leave in the middle of calls, bodies, heads and answers."""
    socks = [server.connect(post("slow", number, seconds=30)) for _ in range(5)]
    socks += [server.connect(head("echo", 1000) + b'{"half'), server.connect(b"POST /mcp HT"), server.connect()]
    socks.append(server.connect(post("blob", number, size=2_000_000), receive_buffer=4096))
    socks[-1].recv(1)
    for sock in socks:
        sock.close()


def _waited(server: HTTPServer, kept: socket.socket, number: int) -> None:
    """Let calls wait, on the loop and in threads."""
    socks = [server.connect(post(tool, number, seconds=0.01)) for tool in ("slow", "block") * 5]
    for sock in socks:
        receive(sock)
        sock.close()


def _listened(server: HTTPServer, kept: socket.socket, number: int) -> None:
    streams = open_streams(server, 5)
    ask(kept, post("change", number, count=3))
    for stream in streams:
        stream.close()


def _malformed(server: HTTPServer, kept: socket.socket, number: int) -> None:
    for octets in (b"\x00\xff\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n", head("echo", 5) + b'{"a":'):
        with server.connect(octets) as sock:
            sock.recv(65536)


_STEPS: tuple[Step, ...] = (_kept, _fresh, _refused, _large, _left, _kept, _waited, _listened, _malformed)
