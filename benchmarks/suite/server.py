"""A server under test: a child process on a free loopback port or on pipes, asked once, ended by its own handle."""

from __future__ import annotations

import http.client
import os
import resource
import select
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

from benchmarks.generator.answers import WrongAnswer, events
from benchmarks.generator.job import FIRST_ID
from benchmarks.suite.environments import TARGETS, Environment
from benchmarks.suite.messages import Dialect, call, method
from benchmarks.suite.rivals import Rival
from benchmarks.suite.workloads import Workload

_START_TIMEOUT = 60.0  # seconds
_ANSWER_TIMEOUT = 30.0
_POLL = 0.001  # seconds between two attempts to connect


class Server:
    """A running server that has answered once.

    Attributes:
        dialect: how it is talked to.
        start_ms: from starting the process to having the first answer to the workload's request.
        answer: that answer, decoded.
        size: its octets.
    """

    def __init__(self, rival: Rival, environment: Environment, workload: Workload, transport: str, size: int) -> None:
        self._rival = rival
        self._workload = workload
        self.transport = transport
        port = _free_port()
        self.port = port
        self.dialect = Dialect(rival.revision, port)
        self._number = FIRST_ID + 900_000_000
        self._connection: http.client.HTTPConnection | None = None
        piped = subprocess.PIPE if transport == "stdio" else subprocess.DEVNULL
        variables = _variables(rival, environment, workload)
        command = _command(rival, environment, workload, transport, port, size)
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  closed by `end`
        started = time.perf_counter()
        self.process = subprocess.Popen(
            command, stdin=piped, stdout=piped, stderr=self._errors, env=variables, bufsize=0, preexec_fn=_limits
        )
        try:
            self._greet(started + _START_TIMEOUT)
            body = self._ask(workload)
            self.start_ms = (time.perf_counter() - started) * 1e3
            self.answer = events(body)
            self.size = len(body)
        except BaseException:
            self.end()
            raise

    def end(self) -> None:
        """End the process by its handle."""
        if self._connection is not None:
            self._connection.close()
        self.process.kill()
        self.process.communicate()
        self._errors.close()

    def pin(self) -> None:
        """Keep the process on one core, and off the others, which are the load generator's.

        Figures are per core. A server that passes each message from thread to thread (mcp on stdio) needs a third less
        CPU when its threads share a core; a server of one thread does not care.
        """
        core = max(os.sched_getaffinity(0))
        for thread in os.listdir(f"/proc/{self.process.pid}/task"):
            os.sched_setaffinity(int(thread), {core})

    def ask(self, workload: Workload) -> list[Any]:
        """Make one call."""
        return events(self._ask(workload))

    @property
    def pipes(self) -> tuple[int, int]:
        """The descriptors that answers come from and requests go to."""
        return self._output.fileno(), self._input.fileno()

    @property
    def _input(self) -> IO[bytes]:
        assert self.process.stdin is not None
        return self.process.stdin

    @property
    def _output(self) -> IO[bytes]:
        assert self.process.stdout is not None
        return self.process.stdout

    def _greet(self, deadline: float) -> None:
        """Wait until the server can be reached, and open a session where its revision has them."""
        while self.transport == "http":
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                break
            except ConnectionRefusedError:
                if time.perf_counter() > deadline or self.process.poll() is not None:
                    raise WrongAnswer(f"{self._rival.name} does not start: {self._complaint()}") from None
                time.sleep(_POLL)
        if self.dialect.shakes_hands:
            request, notification = self.dialect.handshake()
            self._exchange(request, "initialize")
            self._exchange(notification, "notifications/initialized", answered=False)

    def _ask(self, workload: Workload) -> bytes:
        self._number += 1
        body = call(self.dialect, workload, self._number)
        return self._exchange(body, method(workload), workload.tool)

    def _exchange(self, body: bytes, method_name: str, name: str = "", *, answered: bool = True) -> bytes:
        if self.transport == "stdio":
            return self._exchange_lines(body, answered)
        raw = self.dialect.head(method_name, name).decode().splitlines()[1:-1]
        fields = dict(line.split(": ", 1) for line in raw)
        if self._connection is None:
            self._connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=_ANSWER_TIMEOUT)
        try:
            self._connection.request("POST", "/mcp", body, fields)
            response = self._connection.getresponse()
            answer = response.read()
        except (http.client.HTTPException, OSError) as error:
            raise WrongAnswer(f"{type(error).__name__}: {error}") from None
        if answered and not answer.lstrip().startswith((b"{", b"event:", b"data:", b"id:", b":")):
            raise WrongAnswer(f"HTTP {response.status}: {answer[:200]!r}")
        self.dialect.session = response.headers.get("Mcp-Session-Id") or self.dialect.session
        return answer

    def _complaint(self) -> str:
        """Return the last line that the server has written to standard error."""
        self._errors.seek(0)
        lines = self._errors.read()[-2000:].decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else "it says nothing"

    def _exchange_lines(self, body: bytes, answered: bool) -> bytes:
        self._input.write(body + b"\n")
        received = b""
        while answered:
            if not select.select([self._output], [], [], _ANSWER_TIMEOUT)[0]:
                raise WrongAnswer("no answer on stdio")
            data = self._output.read(1 << 20)
            if not data:
                raise WrongAnswer(f"the server ended behind {received[-300:]!r}: {self._complaint()}")
            received += data
            if received.endswith(b"\n") and "method" not in events(received)[-1]:
                break
        return received


def _command(
    rival: Rival, environment: Environment, workload: Workload, transport: str, port: int, size: int
) -> list[str]:
    target = rival.stdio_target if transport == "stdio" and rival.stdio_target else rival.target
    command = [part.replace("{target}", str(TARGETS / target)) for part in environment.command]
    if rival.floor:
        return [*command, *([str(port)] if transport == "http" else []), *([str(size)] if size else [])]
    return [*command, transport, str(port), str(workload.tools), str(workload.page)]


def _variables(rival: Rival, environment: Environment, workload: Workload) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    own = rival.variables | environment.variables
    if workload.tool == "progress":
        own = own | rival.streams
    return kept | own | ({"BENCH_ENTRIES": "1"} if workload.kind == "entries" else {})


def _limits() -> None:
    """Allow as many descriptors as the system gives: 10,000 connections need them."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


@contextmanager
def running(
    rival: Rival, environment: Environment, workload: Workload, transport: str, size: int = 0
) -> Iterator[Server]:
    """Run a server while the block runs."""
    server = Server(rival, environment, workload, transport, size)
    try:
        yield server
    finally:
        server.end()
