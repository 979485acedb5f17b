"""Faults of calls on HTTP: large, slow, cancelled, failing and blocking ones."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from benchmarks.faults_base import (
    MB,
    HTTPServer,
    Options,
    Row,
    ask,
    at_most,
    close_all,
    equal,
    head,
    http_server,
    post,
    receive,
    until,
)


def answers(options: Options) -> Iterator[Row]:
    """Ten answers of 20 MB that nobody reads, then clients that leave; idle ones connect in between."""
    rounds = 2 if options.quick else 5
    for name, request in (("text", post("blob", size=10_000_000)), ("list", post("rows", count=260_000))):
        with http_server() as server:
            before = server.rss()
            held: list[socket.socket] = []
            unread, after = 0, 0
            for _ in range(rounds):
                socks = [server.connect(request, receive_buffer=4096) for _ in range(10)]
                for sock in socks:
                    sock.recv(1)
                time.sleep(0.5)
                unread = max(unread, server.rss() - before)
                held += server.connect_many(50)
                _leave(server, socks)
                after = max(after, server.rss() - before)
            close_all(held)
            with server.connect() as sock:
                started = time.perf_counter()
                sock.sendall(request)
                size = len(receive(sock))
                seconds = time.perf_counter() - started
            label = f"ten unread answers of {size / 1e6:.0f} MB, {name}"
            yield at_most(f"{label}: memory", unread / (10 * size), 1.3, "x")
            yield at_most(f"{label}: left after {rounds} rounds", after / MB, 32, "MB")
            yield at_most(f"one that is read, {name}: time", seconds, 1, "s")


def _leave(server: HTTPServer, socks: list[socket.socket]) -> None:
    left = server.descriptors() - len(socks)
    close_all(socks)
    until(lambda: server.descriptors() <= left)
    time.sleep(0.3)


def bodies(options: Options) -> Iterator[Row]:
    """A body of 10 MB, refused on its head; bodies up to the limit."""
    with http_server() as server:
        before = server.rss()
        started = time.perf_counter()
        with server.connect(head("length", 10 * MB)) as sock:
            said = sock.recv(4096)
        seconds = time.perf_counter() - started
        figure = f"{said[9:12].decode()} after {seconds * 1000:.1f} ms, {(server.rss() - before) / MB:+.2f} MB"
        yield Row("10 MB body, none of it sent", figure, "413 before reading", said.startswith(b"HTTP/1.1 413"))
        size = 4 * MB - 400
        server.forget_peak()
        before = server.rss()
        for _ in range(2 if options.quick else 5):
            with server.connect(post("length", text="x" * size)) as sock:
                assert str(size).encode() in receive(sock)
        yield at_most("4 MB bodies, one after the other: peak", (server.peak() - before) / size, 3, "x")


def slow(options: Options) -> Iterator[Row]:
    """2,000 slow calls in flight: memory of each, connection included."""
    count = 2000 if not options.quick else 500
    with http_server() as server, server.connect() as control:
        before = server.rss()
        socks = [server.connect(post("slow", seconds=60)) for _ in range(count - 1)]
        # The limit of calls in flight is reached by the last one, so nothing is asked here.
        time.sleep(1)
        yield at_most("memory of a slow call in flight", (server.rss() - before) / count / 1024, 12, "KiB")
        sample = server.good_client(1.0)
        yield at_most(f"good client, {count - 1} slow calls: p99", sample.p99_us / 1000, 20, "ms")
        close_all(socks)
        until(lambda: server.counts(control)["cancelled"] == count - 1)
        yield equal("descriptors they leave", server.descriptors() - server.first_descriptors - 1, 0)


def cancel(options: Options) -> Iterator[Row]:
    """1,000 calls cancelled by disconnecting."""
    count = 1000
    with http_server() as server, server.connect() as control:
        socks = [server.connect(post("slow", seconds=60)) for _ in range(count)]
        until(lambda: server.counts(control)["started"] == count)
        close_all(socks)
        started = time.perf_counter()
        until(lambda: server.counts(control)["cancelled"] == count)
        yield at_most(f"{count} calls cancelled by disconnect", time.perf_counter() - started, 0.2, "s")
        counts = server.counts(control)
        yield equal("calls that ended all the same", counts["ended"], 0)


def boom(options: Options) -> Iterator[Row]:
    """A tool that fails on each call."""
    count = options.count(2000)
    with http_server() as server, server.connect() as sock:
        cpu = _cpu_each(server, "echo", count, text="hello")
        before = server.log_growth()
        failing = _cpu_each(server, "boom", count)
        yield at_most("CPU of a failing call, HTTP", failing, 40, "µs", f" (a good one {cpu:.0f})")
        yield at_most("failing call / good call, HTTP", failing / cpu, 2, "x")
        yield at_most(f"log of {count} failing calls, HTTP", (server.log_growth() - before) / 1000, 64, "kB")
        answer = ask(sock, post("boom"))["result"]
        masked = answer["isError"] and "secret" not in str(answer)
        yield Row("text of the exception, HTTP", "masked" if masked else "shown", "masked", masked)


def _cpu_each(server: HTTPServer, tool: str, count: int, **arguments: object) -> float:
    """Return the CPU of a call in microseconds, with a call at a time on each of 16 connections."""
    request = post(tool, **arguments)
    socks = [server.connect() for _ in range(16)]
    cpu = 0.0
    for number in range(-10, count // len(socks)):
        if number == 0:
            cpu = server.cpu()
        for sock in socks:
            sock.sendall(request)
        for sock in socks:
            receive(sock)
    cpu = server.cpu() - cpu
    close_all(socks)
    return cpu / (count // 16 * 16) * 1e6


def block(options: Options) -> Iterator[Row]:
    """100 calls that hold a worker thread each, and a good client."""
    with http_server() as server, ThreadPoolExecutor(1) as pool:
        good = pool.submit(server.good_client, 2.0)
        time.sleep(0.5)
        socks = [server.connect(post("block", seconds=0.5)) for _ in range(100)]
        started = time.perf_counter()
        for sock in socks:
            receive(sock)
        seconds = time.perf_counter() - started
        close_all(socks)
        sample = good.result()
        yield at_most("100 blocking calls: good client p99, HTTP", sample.p99_us / 1000, 20, "ms")
        yield at_most("100 blocking calls of 0.5 s: until all are answered", seconds, 1, "s")
