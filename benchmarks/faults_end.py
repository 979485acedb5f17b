"""The end of an HTTP server: SIGTERM under load, with slow calls, and with clients that never finish."""

from __future__ import annotations

import select
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator

from benchmarks.faults_base import (
    HTTPServer,
    Options,
    Row,
    Settings,
    at_most,
    close_all,
    equal,
    head,
    http_server,
    post,
    receive,
)

_CLIENTS = 16
_DRAIN = 2.0  # seconds, for the row that waits for its end


def under_load(options: Options) -> Iterator[Row]:
    """SIGTERM while 16 clients call on kept connections and 8 connect for each call."""
    total: Counter[str] = Counter()
    slowest, codes = 0.0, set()
    for _ in range(2 if options.quick else 5):
        with http_server() as server:
            counts: Counter[str] = Counter()
            threads = [
                threading.Thread(target=_client, args=(server, counts, number < _CLIENTS, number), daemon=True)
                for number in range(_CLIENTS + 8)
            ]
            for thread in threads:
                thread.start()
            time.sleep(0.7)
            since = server.signal()
            slowest = max(slowest, server.exit(since))
            codes.add(server.process.returncode)
            for thread in threads:
                thread.join(5)
            total += counts
    note = f" of {total['answered']} answers"
    yield equal("SIGTERM under load: lost on used connections", total["lost"], 0, note)
    cut = total["cut"] / max(1, total["opened"]) * 100
    yield at_most("SIGTERM under load: connections cut before their first answer", cut, 5, "%")
    yield at_most("SIGTERM under load: exit", slowest, 1, "s")
    yield equal("SIGTERM under load: exit code", ", ".join(map(str, codes)), "0")


def _client(server: HTTPServer, counts: Counter[str], keeps: bool, number: int) -> None:
    """Call until nobody accepts any more; a kept connection is opened again when the server says that it closes."""
    request = post("echo", number, text="hello")
    pause = 0.001 * (number % 4)
    while True:
        try:
            sock = server.connect()
        except OSError:
            return
        counts["opened"] += 1
        used = False
        with sock:
            while True:
                try:
                    sock.sendall(request)
                    answer = _answer(sock)
                except OSError:
                    counts["lost" if used else "cut"] += 1
                    break
                counts["answered"] += 1
                used = True
                time.sleep(pause)
                if not keeps or b"\r\nConnection: close\r\n" in answer:
                    break


def _answer(sock: socket.socket) -> bytes:
    data = b""
    while b'"hello"}' not in data:
        more = sock.recv(65536)
        if not more:
            raise ConnectionError
        data += more
    return data


def with_slow_calls(options: Options) -> Iterator[Row]:
    """SIGTERM with 100 calls of 1.5 s under way."""
    with http_server() as server:
        socks = [server.connect(post("slow", number, seconds=1.5)) for number in range(100)]
        time.sleep(0.3)
        server.signal()
        answered = 0
        for sock in socks:
            try:
                answered += b"slept" in receive(sock)
            except ConnectionError:
                continue
        last = time.perf_counter()
        took = server.exit(last)
        yield equal("SIGTERM with 100 slow(1.5): answered", answered, 100)
        yield at_most("SIGTERM with 100 slow(1.5): exit after the last answer", took, 0.2, "s")
        yield equal("SIGTERM with 100 slow(1.5): exit code", server.process.returncode, 0)
        close_all(socks)


def with_stuck_clients(options: Options) -> Iterator[Row]:
    """SIGTERM with slow(60), a blocked thread, half a body, and a silent connection; the same without calls."""
    for calls in (True, False):
        with http_server(Settings(drain=_DRAIN)) as server:
            octets = [head("echo", 100) + b"{", b"", head("echo", 100)[:50]]
            if calls:
                octets += [post("slow", seconds=60), post("block", seconds=60)]
            socks = [server.connect(data) for data in octets]
            time.sleep(0.3)
            took = server.exit(server.signal())
            with_what = "slow(60), block(60), half a body, silent" if calls else "half a body, silent"
            yield at_most(f"SIGTERM with {with_what}: exit (drain {_DRAIN:g} s)", took, _DRAIN + 0.5, "s")
            yield equal(f"SIGTERM with {with_what}: exit code", server.process.returncode, 0)
            cut = sum(bool(select.select([sock], [], [], 1)[0]) for sock in socks)
            yield equal(f"SIGTERM with {with_what}: connections ended", cut, len(socks))
            close_all(socks)
