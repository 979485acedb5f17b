"""Which asyncio interface the HTTP server should stand on: the same parsing and dispatch behind each of them.

In: options. Out: CPU per request, function entries per request and memory per idle connection of each prototype,
as figures and as ratios to the bare protocol.
Every prototype reads with `RequestReader`, decodes the envelope and the params, runs a coroutine tool where
`asyncio.current_task()` is a task, encodes the answer and hands it over in one write. They differ in what stands
between the socket and that work: a task per call, a task per connection, a StreamReader.
"""

from __future__ import annotations

import argparse
import asyncio
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Coroutine
from pathlib import Path
from types import FrameType
from typing import Any, cast

import msgspec
import orjson
import uvloop

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import load, report
from leanmcp.limits import Limits
from leanmcp.protocol import jsonrpc
from leanmcp.protocol.http11 import RequestReader
from leanmcp.protocol.meta import CallToolParams

LIMITS = Limits()
_READ_SIZE = 64 * 1024
_IDLE = 1000  # connections held to weigh one
_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
_RESULT = b',"result":{"resultType":"complete","content":[{"type":"text","text":'
_AFTER_TEXT = b'}],"structuredContent":{"result":'
_END = b'},"isError":false}}'


# --- the work, the same for all -----------------------------------------------------------------------------------


class Arguments(msgspec.Struct):
    """Arguments of the tool."""

    text: str


_decode_params = msgspec.json.Decoder(CallToolParams).decode
_decode_arguments = msgspec.json.Decoder(Arguments).decode


async def echo(text: str) -> str:
    """Return the text."""
    return text


async def respond(body: bytes) -> bytes:
    """Return the whole answer to one body."""
    envelope = jsonrpc.decode(body, LIMITS)
    params = _decode_params(envelope.params)
    value = await echo(_decode_arguments(params.arguments).text)
    text = orjson.dumps(value)
    parts = (
        b'{"jsonrpc":"2.0","id":',
        jsonrpc.encode_id(cast("int", envelope.id)),
        _RESULT,
        text,
        _AFTER_TEXT,
        text,
        _END,
    )
    return b"".join((_HEAD % sum(map(len, parts)), *parts))


# --- the prototypes -----------------------------------------------------------------------------------------------


class TaskPerCall(asyncio.Protocol):
    """The bare protocol; each call is a task."""

    _transport: asyncio.Transport

    def __init__(self) -> None:
        self._reader = RequestReader(LIMITS)
        self._create_task = asyncio.get_running_loop().create_task
        self._task: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        request = self._reader.feed(data)
        if request is not None:
            self._task = self._create_task(self._answer(request.body))

    async def _answer(self, body: bytes) -> None:
        self._transport.write(await respond(body))


class TaskPerConnection(asyncio.Protocol):
    """The bare protocol; one task serves the connection and waits for the next request on a future."""

    _transport: asyncio.Transport

    def __init__(self) -> None:
        self._reader = RequestReader(LIMITS)
        self._loop = asyncio.get_running_loop()
        self._next: asyncio.Future[bytes] = self._loop.create_future()
        self._task = self._loop.create_task(self._serve())

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        request = self._reader.feed(data)
        if request is not None:
            self._next.set_result(request.body)

    def connection_lost(self, error: Exception | None) -> None:
        self._task.cancel()

    async def _serve(self) -> None:
        while True:
            body = await self._next
            self._next = self._loop.create_future()
            self._transport.write(await respond(body))


class StreamSubclass(asyncio.StreamReaderProtocol):
    """StreamReaderProtocol whose input goes past its StreamReader; each call is a task."""

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        super().__init__(asyncio.StreamReader(loop=loop), loop=loop)
        self._requests = RequestReader(LIMITS)
        self._create_task = loop.create_task
        self._task: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._output = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        request = self._requests.feed(data)
        if request is not None:
            self._task = self._create_task(self._answer(request.body))

    async def _answer(self, body: bytes) -> None:
        self._output.write(await respond(body))


async def serve_streams(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Serve one connection on asyncio streams, which give each connection a task."""
    requests = RequestReader(LIMITS)
    while data := await reader.read(_READ_SIZE):
        request = requests.feed(data)
        if request is not None:
            writer.write(await respond(request.body))
            await writer.drain()
    writer.close()


Start = Callable[[], Coroutine[Any, Any, asyncio.Server]]


def _on_protocol(factory: Callable[[], asyncio.BaseProtocol]) -> Start:
    async def start() -> asyncio.Server:
        return await asyncio.get_running_loop().create_server(factory, "127.0.0.1", 0)

    return start


async def _on_streams() -> asyncio.Server:
    return await asyncio.start_server(serve_streams, "127.0.0.1", 0)


PROTOTYPES: dict[str, Start] = {
    "Protocol, a task per call": _on_protocol(TaskPerCall),
    "Protocol, a task per connection": _on_protocol(TaskPerConnection),
    "StreamReaderProtocol subclass, a task per call": _on_protocol(StreamSubclass),
    "start_server streams": _on_streams,
}


# --- as a server --------------------------------------------------------------------------------------------------


async def _serve(name: str) -> None:
    listener = await PROTOTYPES[name]()
    print(listener.sockets[0].getsockname()[1], flush=True)
    await listener.serve_forever()


class Server:
    """One prototype in a process of its own."""

    def __init__(self, name: str) -> None:
        command = [sys.executable, str(Path(__file__).resolve()), "--serve", name]
        # Connections are cut in the middle of a call when a round ends; what streams say about that is not wanted.
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline())

    def idle_kib(self) -> float:
        """Return the memory of one connection that has made a call and is kept."""
        request = load.head(self.port) + load.message(1_000_000_000)
        first = _connect(self.port, request)  # what the first call of all loads is not counted
        before = self._memory_kib()
        connections = [_connect(self.port, request) for _ in range(_IDLE)]
        used = self._memory_kib() - before
        for connection in (first, *connections):
            connection.close()
        return used / _IDLE

    def _memory_kib(self) -> int:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0])


def _connect(port: int, request: bytes) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port))
    connection.sendall(request)
    connection.recv(65536)
    return connection


# --- measuring ----------------------------------------------------------------------------------------------------


async def count_entries(name: str, calls: int = 200) -> float:
    """Return Python function entries per request, coroutine resumptions included, in this process."""
    listener = await PROTOTYPES[name]()
    port = listener.sockets[0].getsockname()[1]
    request = load.head(port) + load.message(1_000_000_000)
    loop = asyncio.get_running_loop()
    with socket.create_connection(("127.0.0.1", port)) as client:
        client.setblocking(False)

        async def call() -> None:
            await loop.sock_sendall(client, request)
            await loop.sock_recv(client, 65536)

        for _ in range(10):
            await call()
        entries: Counter[str] = Counter()

        def note(frame: FrameType, event: str, argument: object) -> None:
            if event == "call":
                entries[frame.f_code.co_qualname] += 1

        sys.setprofile(note)
        for _ in range(calls):
            await call()
        sys.setprofile(None)
    own = sum(count for function, count in entries.items() if "count_entries" not in function)
    listener.close()
    await asyncio.sleep(0)
    return own / calls


def measure(names: list[str], seconds: float, rounds: int) -> dict[str, list[load.Sample]]:
    """Load each prototype in turn, round by round."""
    samples: dict[str, list[load.Sample]] = {name: [] for name in names}
    for _ in range(rounds):
        for name in names:
            server = Server(name)
            try:
                job = load.Job("http", server.process.pid, seconds, seconds / 4, port=server.port)
                samples[name].append(load.run(job))
            finally:
                server.process.kill()
                server.process.communicate()
    return samples


def _weigh(name: str) -> float:
    server = Server(name)
    try:
        return server.idle_kib()
    finally:
        server.process.kill()
        server.process.communicate()


def main() -> None:
    """Measure and print; or, with --serve, be one of the servers."""
    parser = argparse.ArgumentParser(description="Protocol or streams for the HTTP server.")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every sample there")
    parser.add_argument("--seconds", type=float, default=3, help="timed seconds of a round (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="default: %(default)s")
    parser.add_argument("--quick", action="store_true", help="one round of one second")
    parser.add_argument("--serve", choices=PROTOTYPES, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve is not None:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            return runner.run(_serve(options.serve))
    if options.quick:
        options.seconds, options.rounds = 1.0, 1

    environment = report.environment("uvloop")
    names = list(PROTOTYPES)
    samples = measure(names, options.seconds, options.rounds)
    first = [sample.cpu_us for sample in samples[names[0]]]
    rows = []
    for name in names:
        cpu = [sample.cpu_us for sample in samples[name]]
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            entries = runner.run(count_entries(name))
        quotients = [own / other for own, other in zip(cpu, first, strict=True)]
        rows.append([name, report.spread(cpu), report.spread(quotients, 2), f"{entries:.1f}", f"{_weigh(name):.1f}"])
    print(f"{report.listing(environment)}\n")
    header = ("prototype", "CPU µs/request", "ratio", "entries/request", "KiB per idle connection")
    print(report.table(header, rows))
    if options.json is not None:
        options.json.write_bytes(msgspec.json.encode({"environment": environment, "samples": samples}))


if __name__ == "__main__":
    main()
