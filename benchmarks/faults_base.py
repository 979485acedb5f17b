"""What the fault benchmarks share: a server as a child process with its meters, messages, a row of the report."""

from __future__ import annotations

import gc
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from benchmarks import load
from benchmarks.servers import ROOT, TARGETS

DEADLINE = 30.0  # seconds; no wait is longer, unless it says so
MB = 1024 * 1024
_PORT = re.compile(r"http://127\.0\.0\.1:(\d+)")
_META = {
    "io.modelcontextprotocol/protocolVersion": load.VERSION,
    "io.modelcontextprotocol/clientCapabilities": {},
}
_SERVER_CORE = max(os.sched_getaffinity(0))
_now = time.perf_counter


class Options(msgspec.Struct, frozen=True):
    """How much is measured.

    Args:
        quick: fewer of everything, and small deadlines.
    """

    quick: bool = False

    def count(self, full: int) -> int:
        """Return `full`, or a tenth of it in a quick run."""
        return max(10, full // 10) if self.quick else full


class Row(msgspec.Struct):
    """One line of the report.

    Args:
        measure: what was measured.
        figure: what came out, with its unit.
        goal: what RELIABILITY asks for.
        holds: whether the figure reaches the goal; None where nothing is asked for.
    """

    measure: str
    figure: str
    goal: str
    holds: bool | None


def at_most(measure: str, value: float, goal: float, unit: str, note: str = "") -> Row:
    """Return the row of a figure that must not be larger than `goal`."""
    return Row(measure, f"{_short(value)} {unit}{note}", f"at most {_short(goal)} {unit}", value <= goal)


def equal(measure: str, value: object, goal: object, note: str = "") -> Row:
    """Return the row of a count that must be exactly `goal`."""
    return Row(measure, f"{value}{note}", str(goal), value == goal)


def _short(value: float) -> str:
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2
    return f"{value:,.{digits}f}"


def raise_descriptor_limit() -> None:
    """Allow this process and its servers as many descriptors as the system gives."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def keep_to_other_cores() -> None:
    """Leave the last core to the servers."""
    cores = os.sched_getaffinity(0)
    if len(cores) > 1:
        os.sched_setaffinity(0, cores - {_SERVER_CORE})


# --- messages -----------------------------------------------------------------------------------------------------


def call(tool: str, request_id: int = 1, /, **arguments: object) -> bytes:
    """Return a tools/call request as JSON."""
    params = {"_meta": _META, "name": tool, "arguments": arguments}
    return msgspec.json.encode({"jsonrpc": "2.0", "id": request_id, "method": "tools/call", "params": params})


def line(tool: str, request_id: int = 1, /, **arguments: object) -> bytes:
    """Return a tools/call request as a line of stdio."""
    return call(tool, request_id, **arguments) + b"\n"


def cancel(request_id: int) -> bytes:
    """Return the notification that cancels a call, as a line of stdio."""
    message = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": request_id}}
    return msgspec.json.encode(message) + b"\n"


def post(tool: str, request_id: int = 1, /, **arguments: object) -> bytes:
    """Return a tools/call request on HTTP."""
    body = call(tool, request_id, **arguments)
    return head(tool, len(body)) + body


def head(tool: str, size: int) -> bytes:
    """Return the head of a tools/call request whose body has `size` bytes."""
    return (
        "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: application/json\r\nContent-Type: application/json\r\n"
        f"MCP-Protocol-Version: {load.VERSION}\r\nMcp-Method: tools/call\r\nMcp-Name: {tool}\r\n"
        f"Content-Length: {size}\r\n\r\n"
    ).encode()


# --- servers ------------------------------------------------------------------------------------------------------


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """How a server differs from the default; 0 changes nothing.

    Args:
        timeout: seconds, for the deadlines of a connection.
        drain: seconds that calls have after SIGTERM.
        descriptors: how many it may open.
    """

    timeout: float = 0
    drain: float = 0
    descriptors: int = 0


DEFAULT = Settings()


class Process:
    """A server in a child process, with its standard error in a file, kept on one core."""

    def __init__(self, *options: str, settings: Settings = DEFAULT, pipes: bool = False) -> None:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "MALLOC_"))}
        environment = {
            **kept,
            "PYTHONPATH": str(ROOT),
            "FAULTS_TIMEOUT": str(settings.timeout),
            "FAULTS_DRAIN": str(settings.drain),
        }
        target = str(TARGETS / "leanmcp_faults.py")
        command = [target] if settings.drain else ["-m", "leanmcp", "run", target, *options]
        self._log = tempfile.TemporaryFile()  # noqa: SIM115  it is closed by `end`
        piped = subprocess.PIPE if pipes else subprocess.DEVNULL
        self.process = subprocess.Popen(
            [sys.executable, *command],
            stdin=piped,
            stdout=piped,
            stderr=self._log,
            env=environment,
            bufsize=0,
        )
        self.pid = self.process.pid
        os.sched_setaffinity(self.pid, {_SERVER_CORE})
        if settings.descriptors:
            resource.prlimit(self.pid, resource.RLIMIT_NOFILE, (settings.descriptors, settings.descriptors))

    def log(self) -> bytes:
        """Return what it wrote to standard error."""
        return os.pread(self._log.fileno(), 64 * MB, 0)

    def cpu(self) -> float:
        """Return its CPU seconds."""
        return load.cpu_seconds(self.pid)

    def rss(self) -> int:
        """Return its resident bytes."""
        return self._status("VmRSS")

    def peak(self) -> int:
        """Return the most resident bytes since `forget_peak`."""
        return self._status("VmHWM")

    def forget_peak(self) -> None:
        """Measure the peak from here on."""
        Path(f"/proc/{self.pid}/clear_refs").write_text("5")

    def descriptors(self) -> int:
        """Return how many descriptors it has open."""
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def signal(self) -> float:
        """Send SIGTERM; return when."""
        self.process.send_signal(signal.SIGTERM)
        return _now()

    def exit(self, since: float, timeout: float = DEADLINE) -> float:
        """Wait for its end; return the seconds since `since`."""
        self.process.wait(timeout)
        return _now() - since

    def end(self) -> None:
        """End it by its handle."""
        self.process.kill()
        self.process.communicate()
        self._log.close()

    def _status(self, name: str) -> int:
        status = Path(f"/proc/{self.pid}/status").read_text()
        return int(status.partition(f"{name}:")[2].split()[0]) * 1024


class HTTPServer(Process):
    """A server on a free port."""

    def __init__(self, settings: Settings = DEFAULT) -> None:
        super().__init__("--http", "--port", "0", settings=settings)
        until(lambda: _PORT.search(self.log().decode()) is not None or self.process.poll() is not None)
        match = _PORT.search(self.log().decode())
        if match is None:
            text = self.log().decode()[-500:]
            self.end()
            raise RuntimeError(f"the server did not start: {text}")
        self.port = int(match[1])
        self.started_with = len(self.log())
        with self.connect() as sock:
            for number in range(300):
                ask(sock, post("echo", number, text="warm up"))
        time.sleep(0.5)  # what is loaded once serving has started
        self.first_descriptors = self.descriptors()

    def connect(self, octets: bytes = b"", *, receive_buffer: int = 0) -> socket.socket:
        """Return a connection, after sending `octets` on it."""
        sock = socket.socket()
        sock.settimeout(DEADLINE)
        if receive_buffer:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        sock.connect(("127.0.0.1", self.port))
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if octets:
            sock.sendall(octets)
        return sock

    def connect_many(self, count: int, octets: bytes = b"") -> list[socket.socket]:
        """Return many connections that the server has accepted."""
        open_before = self.descriptors()
        socks = [self.connect(octets) for _ in range(count)]
        until(lambda: self.descriptors() >= open_before + count)
        time.sleep(0.3)
        return socks

    def log_growth(self) -> int:
        """Return the bytes of log since it serves."""
        return len(self.log()) - self.started_with

    def good_client(self, seconds: float) -> load.Sample:
        """Return the latencies of a client with one kept connection, in a process of its own."""
        return load.run(load.Job("http", self.pid, seconds, 0.2, port=self.port, connections=1))

    def counts(self, sock: socket.socket) -> dict[str, int]:
        """Return what the tool `counts` says."""
        counts: dict[str, int] = ask(sock, post("counts"))["result"]["structuredContent"]
        return counts


@contextmanager
def http_server(settings: Settings = DEFAULT) -> Iterator[HTTPServer]:
    """Run a server while the block runs."""
    server = HTTPServer(settings)
    try:
        yield server
    finally:
        server.end()


def ask(sock: socket.socket, request: bytes) -> Any:
    """Return the answer to one request on a kept connection, decoded."""
    sock.sendall(request)
    return msgspec.json.decode(receive(sock))


def receive(sock: socket.socket) -> bytes:
    """Return the body of one answer.

    Raises:
        ConnectionError: the connection ended first.
    """
    data = b""
    while b"\r\n\r\n" not in data:
        data += _more(sock)
    start, _, body = data.partition(b"\r\n\r\n")
    length = re.search(rb"\r\nContent-Length: (\d+)", start)
    missing = (int(length[1]) if length else 0) - len(body)
    pieces = [body]
    while missing > 0:
        pieces.append(_more(sock))
        missing -= len(pieces[-1])
    return b"".join(pieces)


def _more(sock: socket.socket) -> bytes:
    data = sock.recv(MB)
    if not data:
        raise ConnectionError("the server closed the connection")
    return data


def close_all(socks: list[socket.socket]) -> None:
    """Close connections."""
    for sock in socks:
        sock.close()
    socks.clear()
    gc.collect()


def until(condition: Callable[[], bool], timeout: float = DEADLINE, pause: float = 0.002) -> float:
    """Wait until something holds; return the seconds that took.

    Raises:
        TimeoutError: it does not come to hold.
    """
    started = _now()
    while not condition():
        if _now() - started > timeout:
            raise TimeoutError("waited in vain")
        time.sleep(pause)
    return _now() - started
