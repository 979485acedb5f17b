"""Subscriptions: what an open stream costs, how fast a change reaches all, and what clients do that do not read."""

from __future__ import annotations

import select
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec

from benchmarks import load
from benchmarks.faults_base import (
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
    until,
)

_META = msgspec.json.decode(call("echo"))["params"]["_meta"]
_ACKNOWLEDGED = b"notifications/subscriptions/acknowledged"
_CHANGED = b"notifications/tools/list_changed"
_UPDATED = b"notifications/resources/updated"
_RESULT = b'"resultType":"complete"'
_LAST_CHUNK = b"0\r\n\r\n"
_TOOLS = {"toolsListChanged": True}
_RESOURCES = 500
_MANY = {"resourceSubscriptions": [f"faults://resource/{number}" for number in range(_RESOURCES)]}
_DRAIN = 2.0  # seconds


def _listen(notifications: dict[str, Any]) -> bytes:
    """Return a request for a stream."""
    params = {"_meta": _META, "notifications": notifications}
    message = {"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": params}
    body = msgspec.json.encode(message)
    return (
        "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: application/json, text/event-stream\r\n"
        "Content-Type: application/json\r\nMcp-Method: subscriptions/listen\r\n"
        f"MCP-Protocol-Version: {load.VERSION}\r\nContent-Length: {len(body)}\r\n\r\n"
    ).encode() + body


def open_streams(
    server: HTTPServer, count: int, notifications: dict[str, Any] = _TOOLS, receive_buffer: int = 0
) -> list[socket.socket]:
    """Return the sockets of open, acknowledged streams."""
    socks = []
    for _ in range(count):
        socks.append(server.connect(_listen(notifications), receive_buffer=receive_buffer))
        data = b""
        while _ACKNOWLEDGED not in data or not data.endswith(b"\n\n\r\n"):
            data += socks[-1].recv(65536)
    return socks


def streams(options: Options) -> Iterator[Row]:
    """1,000 idle streams and one change: memory, the time until all are reached, what is left when they have gone."""
    count = options.count(1000)
    with http_server() as server, server.connect() as good:
        warm = open_streams(server, 100)
        before = server.rss()
        socks = open_streams(server, count)
        yield at_most("memory of a listen stream", (server.rss() - before) / count / 1024, 6, "KiB")
        times = [_reach(socks, good) for _ in range(5)]
        reached = sorted(milliseconds for milliseconds, _ in times)
        yield at_most(
            f"{count} streams: reached by one change, median", reached[2], 50, "ms", f" (max {reached[4]:.0f})"
        )
        once = sum(number == 1 for _, numbers in times for number in numbers)
        yield equal(f"{count} streams, 5 changes: reached exactly once each time", once, 5 * count)
        cpu, began = server.cpu(), time.perf_counter()
        time.sleep(1 if options.quick else 20)
        idle = (server.cpu() - cpu) / (time.perf_counter() - began) * 100
        yield at_most(f"{count} idle streams: CPU", idle, 5, "%", ", comments every 15 s included")
        began = time.perf_counter()
        close_all(socks)
        until(lambda: server.descriptors() <= server.first_descriptors + 101)
        yield at_most(f"{count} streams: freed after", time.perf_counter() - began, 0.2, "s")
        close_all(warm)
        kept = server.rss()
        for _ in range(3):
            close_all(open_streams(server, count))
            until(lambda: server.descriptors() <= server.first_descriptors + 1)
        yield at_most(f"3 times {count} streams leave: memory", (server.rss() - kept) / MB, 2, "MB")


def _reach(socks: list[socket.socket], good: socket.socket) -> tuple[float, list[int]]:
    """Return the milliseconds from one change until the last stream has it, and how often each was told."""
    poll = select.epoll()
    by_fd = {sock.fileno(): sock for sock in socks}
    data = dict.fromkeys(by_fd, b"")
    for descriptor in by_fd:
        poll.register(descriptor, select.EPOLLIN)
    began = time.perf_counter()
    ask(good, post("change", count=1))
    missing, last = len(socks), began
    while missing:
        for descriptor, _ in poll.poll(5):
            piece = by_fd[descriptor].recv(65536)
            missing -= _CHANGED in piece and _CHANGED not in data[descriptor]
            data[descriptor] += piece
        last = time.perf_counter()
    time.sleep(0.2)
    for descriptor, _ in poll.poll(0):
        data[descriptor] += by_fd[descriptor].recv(65536)
    poll.close()
    return (last - began) * 1000, [received.count(_CHANGED) for received in data.values()]


def stalled(options: Options) -> Iterator[Row]:
    """20 streams that do not read and 20 that do, under 20,000 changes of one list, then of many resources."""
    changes = options.count(20_000)
    kinds = (
        ("changes of the list", _TOOLS, _CHANGED, post("change", count=changes)),
        (f"updates of {_RESOURCES} resources", _MANY, _UPDATED, post("update", count=changes, resources=_RESOURCES)),
    )
    for name, notifications, method, request in kinds:
        with http_server() as server, server.connect() as good:
            lazy = open_streams(server, 20, notifications, receive_buffer=4096)
            keen = open_streams(server, 20, notifications)
            ask(good, post("change", count=1))
            before = server.rss()
            with ThreadPoolExecutor(1) as pool:
                told = pool.submit(_read_all, keen, method)
                ask(good, request)
                time.sleep(0.3)
                grown = (server.rss() - before) / MB
                counts = told.result()
            yield at_most(f"20 stalled listeners, {changes} {name}: memory", grown, 4, "MB")
            figure = f"{len(counts)} of 20, each told {min(counts)} to {max(counts)} times"
            yield Row(f"reading streams still open beside them, {name}", figure, "20 of 20", len(counts) == 20)
            close_all(lazy)
            close_all(keen)


def _read_all(socks: list[socket.socket], method: bytes) -> list[int]:
    """Read streams until nothing has come for a second; return how many notifications each of those open has had."""
    poll = select.epoll()
    by_fd = {sock.fileno(): sock for sock in socks}
    counts = dict.fromkeys(by_fd, 0)
    for descriptor in by_fd:
        poll.register(descriptor, select.EPOLLIN)
    while ready := poll.poll(1):
        for descriptor, _ in ready:
            piece = by_fd[descriptor].recv(MB)
            counts[descriptor] += piece.count(method)
            if not piece:
                poll.unregister(descriptor)
                del counts[descriptor]
    poll.close()
    return list(counts.values())


def terminated(options: Options) -> Iterator[Row]:
    """SIGTERM with streams open: with nothing else, with calls that end, with calls that do not."""
    cases: tuple[tuple[str, list[bytes], float], ...] = (
        ("nothing else", [], 0.5),
        ("slow(1) under way", [post("slow", seconds=1)], 1.25),
        ("slow(60), half a body, silent", [post("slow", seconds=60), head("echo", 100) + b"{", b""], _DRAIN + 0.5),
    )
    for name, others, goal in cases:
        with http_server(Settings(drain=_DRAIN)) as server:
            socks = open_streams(server, 100) + [server.connect(octets) for octets in others]
            time.sleep(0.1)
            took = server.exit(server.signal())
            ended = sum(_rest(sock).endswith(_LAST_CHUNK) for sock in socks[:100])
            yield at_most(f"SIGTERM with 100 streams and {name}: exit (drain {_DRAIN:g} s)", took, goal, "s")
            yield equal(f"SIGTERM with 100 streams and {name}: ended by their result", ended, 100)
            close_all(socks)


def _rest(sock: socket.socket) -> bytes:
    """Return what a stream had to say to its end, nothing where it ended without a result."""
    data = b""
    while piece := sock.recv(65536):
        data += piece
    return data if _RESULT in data else b""
