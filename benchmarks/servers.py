"""How each server is started, asked once, measured for memory and ended.

Servers are child processes on free loopback ports or on pipes; each is ended by its own handle.
"""

from __future__ import annotations

import http.client
import os
import select
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Literal

import msgspec

from benchmarks import load

ROOT = Path(__file__).resolve().parents[1]
TARGETS = ROOT / "benchmarks" / "targets"
_START_TIMEOUT = 30.0  # seconds
_POLL = 0.001  # seconds between two attempts to connect

Command = Callable[[int], list[str]]


class Rival(msgspec.Struct, frozen=True):
    """One server under load.

    Args:
        name: as the tables show it.
        transport: "http" or "stdio".
        command: takes a free port, which stdio ignores, and returns the command line.
        echoes: whether it answers with the id and the text of the request; floors do not.
    """

    name: str
    transport: Literal["http", "stdio"]
    command: Command
    echoes: bool = True

    @property
    def key(self) -> str:
        """The name of its row."""
        return f"{self.name}, {self.transport}"


def _leanmcp(*options: str) -> list[str]:
    return [sys.executable, "-m", "leanmcp", "run", str(TARGETS / "leanmcp_echo.py"), *options]


def _target(name: str, *options: str) -> list[str]:
    return [sys.executable, str(TARGETS / name), *options]


RIVALS = (
    Rival("floor", "http", lambda port: _target("floor_http.py", str(port)), echoes=False),
    Rival("leanmcp", "http", lambda port: _leanmcp("--http", "--port", str(port))),
    Rival("mcp", "http", lambda port: _target("mcp_echo.py", "http", str(port))),
    Rival("floor", "stdio", lambda port: _target("floor_stdio.py"), echoes=False),
    Rival("leanmcp", "stdio", lambda port: _leanmcp()),
    Rival("mcp", "stdio", lambda port: _target("mcp_echo.py", "stdio")),
)


class Server:
    """A running server that has answered once.

    Attributes:
        port: where it listens, which stdio ignores.
        start_ms: from starting the process to having that answer.
        answer: it, decoded.
    """

    def __init__(self, rival: Rival) -> None:
        self._rival = rival
        self.port = free_port()
        piped = subprocess.PIPE if rival.transport == "stdio" else subprocess.DEVNULL
        started = time.perf_counter()
        self.process = subprocess.Popen(
            rival.command(self.port),
            stdin=piped,
            stdout=piped,
            stderr=subprocess.DEVNULL,
            env=_environment(),
            bufsize=0,
        )
        try:
            raw = self._ask_by_line() if rival.transport == "stdio" else self._ask_by_http(started + _START_TIMEOUT)
            self.start_ms = (time.perf_counter() - started) * 1e3
            self.answer: dict[str, Any] = msgspec.json.decode(raw)
            self._check()
        except BaseException:
            self.end()
            raise

    def end(self) -> None:
        """End the process by its handle."""
        self.process.kill()
        self.process.communicate()

    def memory_mb(self) -> float:
        """Return its resident memory now, in megabytes of 1024 * 1024 bytes."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0]) / 1024

    def pin(self) -> None:
        """Keep the process on one core, and off the others, which are the load generator's.

        Figures are per core. A server that passes each message from thread to thread (mcp on stdio) needs a third less
        CPU when its threads share a core; a server of one thread does not care.
        """
        core = max(os.sched_getaffinity(0))
        for thread in os.listdir(f"/proc/{self.process.pid}/task"):
            os.sched_setaffinity(int(thread), {core})

    def load(self, seconds: float, warm_up: float, *, window: int = 64) -> load.Sample:
        """Put it under load; `window` is the number of stdio requests in flight."""
        job = load.Job(
            self._rival.transport, self.process.pid, seconds, warm_up, window=window, echoes=self._rival.echoes
        )
        if self._rival.transport == "http":
            job.port = self.port
            return load.run(job)
        job.reads, job.writes = self._output.fileno(), self._input.fileno()
        return load.run(job, (job.reads, job.writes))

    @property
    def _input(self) -> IO[bytes]:
        assert self.process.stdin is not None
        return self.process.stdin

    @property
    def _output(self) -> IO[bytes]:
        assert self.process.stdout is not None
        return self.process.stdout

    def _ask_by_line(self) -> bytes:
        self._input.write(load.message(1) + b"\n")
        line = b""
        while not line.endswith(b"\n"):
            if not select.select([self._output], [], [], _START_TIMEOUT)[0]:
                raise TimeoutError(f"{self._rival.key} does not answer")
            data = self._output.read(65536)
            if not data:
                raise RuntimeError(f"{self._rival.key} ended")
            line += data
        return line

    def _ask_by_http(self, deadline: float) -> bytes:
        fields = dict(line.split(": ", 1) for line in load.head(self.port).decode().splitlines()[1:-1])
        body = load.message(1)
        fields["Content-Length"] = str(len(body))
        while True:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=_START_TIMEOUT)
            try:
                connection.request("POST", "/mcp", body, fields)
                response = connection.getresponse()
                answer = response.read()
                if response.status != 200:
                    raise RuntimeError(f"{self._rival.key} answers {response.status}: {answer!r}")
                return answer
            except ConnectionRefusedError:
                if time.perf_counter() > deadline or self.process.poll() is not None:
                    raise TimeoutError(f"{self._rival.key} does not start") from None
                time.sleep(_POLL)
            finally:
                connection.close()

    def _check(self) -> None:
        result = self.answer.get("result", {})
        text = result.get("content", [{}])[0].get("text")
        if self.answer.get("id") != 1 or text != load.TEXT or result.get("isError", False):
            raise RuntimeError(f"{self._rival.key} does not echo: {self.answer}")


@contextmanager
def running(rival: Rival) -> Iterator[Server]:
    """Run a server while the block runs."""
    server = Server(rival)
    try:
        yield server
    finally:
        server.end()


def _environment() -> dict[str, str]:
    """Return the environment of a server: the project importable, and byte code cached, as it is once installed."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    paths = filter(None, (str(ROOT), os.environ.get("PYTHONPATH")))
    return {**kept, "PYTHONPATH": os.pathsep.join(paths)}


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port
