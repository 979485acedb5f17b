"""Faults of connections on HTTP: silent, stalled, idle, short, reset, and more than there are descriptors for."""

from __future__ import annotations

import os
import socket
import statistics
import struct
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from benchmarks import load
from benchmarks.faults_base import (
    DEADLINE,
    MB,
    HTTPServer,
    Options,
    Row,
    Settings,
    ask,
    at_most,
    call,
    close_all,
    equal,
    head,
    http_server,
    post,
    receive,
)
from benchmarks.servers import RIVALS, running

_HALF_HEAD = head("echo", 2048)[:100]
_HALF_BODY = head("echo", 2048) + call("echo", 1, text="x" * 2048)[:1024]
_PER_ADDRESS = 5000  # connections from one source address


def held(options: Options) -> Iterator[Row]:
    """2,000 connections that say nothing, half a head, half a body: memory, and what a good client notices."""
    count = options.count(2000)
    for name, octets, goal in (("silent", b"", 4), ("half head", _HALF_HEAD, 4), ("half body, 1 kB", _HALF_BODY, 8)):
        with http_server() as server:
            connect = partial(server.connect_many, count, octets)
            yield from _holding(server, connect, count, f"{name} connection", goal)


def idle(options: Options) -> Iterator[Row]:
    """5,000 idle kept connections: memory, what a good client notices, how many are cut within 60 s."""
    count = options.count(5000)
    with http_server() as server:
        socks: list[socket.socket] = []

        def connect() -> list[socket.socket]:
            socks.extend(server.connect_many(count))
            for sock in socks:
                ask(sock, post("echo", text="hello"))
            return socks

        started = time.perf_counter()
        yield from _holding(server, connect, count, "idle kept connection", 5, keep=True)
        wait = 0 if options.quick else 61
        time.sleep(max(0.0, wait - (time.perf_counter() - started)))
        yield equal(f"idle, cut within {wait} s", sum(map(_is_closed, socks)), 0, f" of {count}")
        close_all(socks)


def _holding(
    server: HTTPServer,
    connect: Callable[[], list[socket.socket]],
    count: int,
    name: str,
    goal: float,
    *,
    keep: bool = False,
) -> Iterator[Row]:
    server.good_client(0.5)
    before = server.rss()
    socks = connect()
    yield at_most(f"memory of a {name}", (server.rss() - before) / count / 1024, goal, "KiB")
    with http_server() as other:  # in turn with one that nobody else uses, so that a noisy second falls on both
        samples = [(server.good_client(0.5), other.good_client(0.5)) for _ in range(3)]
    ours, calm = (statistics.median(sample.p50_us for sample in column) for column in zip(*samples, strict=True))
    figure = f"{ours:.0f} µs, {ours / calm - 1:+.0%} ({calm:.0f} without)"
    yield Row(f"good client, {count} {name}s: p50", figure, "±20 %", ours <= calm * 1.2)
    yield at_most(f"good client, {count} {name}s: p99", max(sample.p99_us for sample, _ in samples) / 1000, 20, "ms")
    if not keep:
        close_all(socks)


def _is_closed(sock: socket.socket) -> bool:
    sock.setblocking(False)
    try:
        return sock.recv(1, socket.MSG_PEEK) == b""
    except BlockingIOError:
        return False
    except ConnectionError:
        return True


def stalled(options: Options) -> Iterator[Row]:
    """How long half a head and half a body are kept, and what they are told."""
    small = 2.0 if options.quick else 0.0
    with http_server(Settings(timeout=small)) as server:
        kinds = (("head", _HALF_HEAD, b"HTTP/1.1 408"), ("body", _HALF_BODY, b"HTTP/1.1 408"), ("silent", b"", b""))
        for name, octets, expected in kinds:
            started = time.perf_counter()
            with server.connect(octets) as sock:
                sock.settimeout(80)
                said = sock.recv(4096)
            seconds = time.perf_counter() - started
            at_least = small or (0 if name == "silent" else 10)
            most = 4 if small else (60 if name == "silent" else 30)
            holds = at_least <= seconds <= most and said.startswith(expected) and bool(said) == bool(expected)
            goal = f"{at_least:g} to {most} s" + (", 408" if expected else ", silently")
            figure = f"{seconds:.1f} s, {said[:12].decode() or 'silently'}"
            yield Row(f"stalled {name} closed after", figure, goal, holds)
    yield from _stalled_together(options.count(2000))


def _stalled_together(count: int) -> Iterator[Row]:
    """Many that are over their time in the same second."""
    with http_server(Settings(timeout=2)) as server, server.connect() as good:
        socks = server.connect_many(count, _HALF_HEAD)
        slowest, end = 0.0, time.perf_counter() + 4
        while (now := time.perf_counter()) < end:
            ask(good, post("echo", text="hello"))
            slowest = max(slowest, time.perf_counter() - now)
        told = sum(sock.recv(4096).startswith(b"HTTP/1.1 408") for sock in socks)
        close_all(socks)
        yield equal(f"{count} heads that stall together: answered 408", told, count)
        yield at_most(f"{count} heads that stall together: slowest call of a good client", slowest * 1000, 50, "ms")


def short(options: Options) -> Iterator[Row]:
    """Connect, one call, close: CPU, and what 20,000 of them leave."""
    count = options.count(20_000)
    request = post("echo", text="hello")
    network = 1 + os.getpid() % 250  # loopback addresses of our own: ports stay in TIME_WAIT
    with http_server() as server:
        for _ in range(1000):
            _one_call(server.port, request, f"127.{network}.9.2")
        time.sleep(0.2)
        rss, descriptors, cpu = server.rss(), server.descriptors(), server.cpu()
        for number in range(count):
            _one_call(server.port, request, f"127.{network}.{number // _PER_ADDRESS}.2")
        each = (server.cpu() - cpu) / count * 1e6
        floor = f" (of a raw uvloop socket with a fixed answer {_floor(request, network):.0f})"
        yield at_most("CPU of a short connection", each, 80, "µs", floor)
        time.sleep(0.2)
        yield at_most(f"{count} short connections leave: memory", (server.rss() - rss) / MB, 2, "MB")
        yield equal(f"{count} short connections leave: descriptors", server.descriptors() - descriptors, 0)


def _floor(request: bytes, network: int) -> float:
    """Return the same of a server that does nothing."""
    with running(next(rival for rival in RIVALS if rival.key == "floor, http")) as server:
        server.pin()
        for number in range(3000):
            if number == 1000:
                cpu = load.cpu_seconds(server.process.pid)
            _one_call(server.port, request, f"127.{network}.10.2")
        return (load.cpu_seconds(server.process.pid) - cpu) / 2000 * 1e6


def _one_call(port: int, request: bytes, source: str) -> None:
    with socket.socket() as sock:
        sock.settimeout(DEADLINE)
        sock.bind((source, 0))
        sock.connect(("127.0.0.1", port))
        sock.sendall(request)
        assert b"hello" in receive(sock)


def resets(options: Options) -> Iterator[Row]:
    """Connections reset in the middle of a body and of a response."""
    count = options.count(2000)
    in_response = post("blob", size=MB)
    for name, octets in (("body", _HALF_BODY), ("response", in_response)):
        with http_server() as server, ThreadPoolExecutor(1) as pool:
            for _ in range(10):
                _reset(server, octets)
            time.sleep(0.3)
            before = server.rss()
            good = pool.submit(server.good_client, 3.0)
            time.sleep(1.0)
            for _ in range(count):
                _reset(server, octets)
                time.sleep(0.0005)
            sample = good.result()
            time.sleep(0.3)
            yield equal(f"{count} resets in a {name}: bytes of log", server.log_growth(), 0)
            yield at_most(f"{count} resets in a {name}: good client p99", sample.p99_us / 1000, 50, "ms")
            yield at_most(f"{count} resets in a {name}: memory", (server.rss() - before) / MB, 4, "MB")


def _reset(server: HTTPServer, octets: bytes) -> None:
    sock = server.connect(octets, receive_buffer=4096)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    sock.close()


def descriptors(options: Options) -> Iterator[Row]:
    """400 clients of a server that may open 256 descriptors."""
    seconds = 1.0 if options.quick else 4.0
    request = post("echo", text="hello")
    with http_server(Settings(descriptors=256)) as server:
        socks = []
        for _ in range(400):
            try:
                socks.append(server.connect(request))
            except OSError:
                continue
        served: list[socket.socket] = []
        rest: list[socket.socket] = []
        for sock in socks:
            (served if _answers(sock, 0.3 if len(rest) < 3 else 0.005) else rest).append(sock)
        cpu, lines, began = server.cpu(), server.log().count(b"\n"), time.perf_counter()
        time.sleep(seconds)
        waited = time.perf_counter() - began
        yield at_most("out of descriptors: CPU", (server.cpu() - cpu) / waited * 100, 5, "%")
        yield at_most(
            "out of descriptors: lines of log a second", (server.log().count(b"\n") - lines) / waited, 1, "lines"
        )
        again = 0
        for sock in served:
            try:
                sock.sendall(request)
                again += _answers(sock, 2)
            except OSError:
                pass
        yield Row(
            "out of descriptors: held connections served",
            f"{again} of {len(served)}; {len(rest)} refused or waiting",
            "all",
            again == len(served) >= 200,
        )
        close_all(rest)
        close_all(served[50:])
        began = time.perf_counter()
        with server.connect(request) as sock:
            sock.settimeout(DEADLINE)
            receive(sock)
        yield at_most("out of descriptors: recovery", time.perf_counter() - began, 0.5, "s")
        close_all(served)


def _answers(sock: socket.socket, timeout: float) -> bool:
    sock.settimeout(timeout)
    try:
        return b'"hello"' in receive(sock)
    except OSError:
        return False
