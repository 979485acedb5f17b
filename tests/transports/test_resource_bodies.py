"""Large files over HTTP: sent in pieces, as fast as they are read, and never half as whole."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import os
import select
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest

from leanmcp import Limits
from leanmcp.protocol.http11 import Head, Request
from leanmcp.protocol.pieces import Lazy
from leanmcp.protocol.response import Response
from leanmcp.transports.http_server import HTTPConnection, HTTPServer
from tests.support.events import EventWire
from tests.support.lines import asking
from tests.support.processes import DEADLINE, HTTPProcess, encode, http, http_server, request, run_stdio
from tests.support.wire import Answer, Wire

SERVER = "tests/fixtures/resources.py"
BYTES = bytes(range(256)) * 8192  # 2 MiB
TEXT = 'é "quoted"\n' * 100_000
HUGE = 48 * 1024 * 1024


def reading(uri: str, request_id: int = 1) -> dict[str, Any]:
    """Return a resources/read request."""
    return request("resources/read", {"uri": uri}, request_id)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that are served."""
    path = tmp_path_factory.mktemp("files")
    (path / "a.bin").write_bytes(BYTES)
    (path / "a.txt").write_text(TEXT)
    with (path / "huge.bin").open("wb") as file:
        file.truncate(HUGE)
    return path


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[HTTPProcess]:
    """A server of these files."""
    with http_server(SERVER, FOLDER=str(folder)) as process:
        yield process


def contents_of(message: Any) -> dict[str, Any]:
    """Return the one element of contents of a checked response."""
    [contents] = message["result"]["contents"]
    assert isinstance(contents, dict)
    return contents


def check_bytes(answer: Answer) -> None:
    """Check an answer that carries a.bin."""
    assert answer.status == 200
    assert int(answer.headers["content-length"]) == len(answer.body)
    contents = contents_of(answer.message)
    assert (contents["uri"], contents["mimeType"]) == ("files://a.bin", "application/octet-stream")
    assert base64.b64decode(contents["blob"], validate=True) == BYTES


def test_a_file_comes_whole_and_the_connection_goes_on(server: HTTPProcess) -> None:
    """Ours: with its length announced; what was sent ahead is answered behind it, in order."""
    ahead = http(reading("files://a.txt", 2)) + http(reading("text://x", 3))
    with Wire(server.port) as wire:
        wire.send(http(reading("files://a.bin")) + ahead)
        check_bytes(wire.answer())
        text = wire.answer()
        assert text.message["id"] == 2
        assert contents_of(text.message) == {"uri": "files://a.txt", "mimeType": "text/plain", "text": TEXT}
        assert contents_of(wire.answer().message)["text"] == "x"
        wire.send(http(reading("files://a.bin")))
        check_bytes(wire.answer())


def test_a_file_is_the_last_event_of_a_stream(server: HTTPProcess) -> None:
    """Spec: basic/transports/streamable-http, "Receiving Messages"; the connection goes on behind the stream."""
    with EventWire(server.port) as wire:
        for _ in range(2):
            progress, answer = wire.call(asking(reading("slow://a.bin"))).stream()
            assert progress["method"] == "notifications/progress"
            assert base64.b64decode(contents_of(answer)["blob"]) == BYTES
        wire.send(http(reading("files://a.bin"), accept="text/event-stream"))
        only = wire.answer()
        assert only.headers["content-type"] == "text/event-stream"
        event = only.body.removeprefix(b"event: message\ndata: ").removesuffix(b"\n\n")
        assert base64.b64decode(contents_of(msgspec.json.decode(event))["blob"]) == BYTES


@pytest.mark.parametrize("version", ["1.0", "1.1"])
def test_the_end_of_the_input_is_no_end_of_the_answer(server: HTTPProcess, version: str) -> None:
    """Ours: a client that has said all it has to say gets its answer, and then the end of the connection."""
    octets = http(reading("files://a.bin")).replace(b"HTTP/1.1", f"HTTP/{version}".encode())
    with Wire(server.port, receive_buffer=4096) as wire:
        wire.send(octets)
        select.select([wire.socket], [], [], DEADLINE)
        wire.half_close()
        check_bytes(wire.answer())
        assert wire.ended()


def _status(server: HTTPProcess, name: str) -> int:
    """Return a number of kB from the process's status."""
    lines = Path(f"/proc/{server.process.pid}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(name)).split()[1])


def _descriptors(server: HTTPProcess) -> int:
    return len(os.listdir(f"/proc/{server.process.pid}/fd"))


def _idle(server: HTTPProcess) -> int:
    """Return how many descriptors an idle server has, once it has answered and nobody is connected."""
    with Wire(server.port) as wire:
        contents_of(wire.send(http(reading("text://x"))).answer().message)
        connected = _descriptors(server)
    _until(lambda: _descriptors(server) < connected)
    return _descriptors(server)


def _until(condition: Any) -> None:
    deadline = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < deadline
        select.select([], [], [], 0.01)


def _drop(sock: socket.socket, size: int) -> int:
    """Receive `size` bytes, or to the end, and keep none; return how many came."""
    dropped = 0
    while dropped < size and (piece := sock.recv(min(1 << 16, size - dropped))):
        dropped += len(piece)
    return dropped


def _read_huge(server: HTTPProcess) -> None:
    with Wire(server.port) as wire:
        wire.send(http(reading("files://huge.bin")))
        assert _drop(wire.socket, HUGE // 3 * 4) == HUGE // 3 * 4


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads /proc")
def test_memory_does_not_grow_with_the_file(folder: Path) -> None:
    """Ours: RELIABILITY, "unread answers": neither while a file of 48 MiB is read, nor while ten are left unread."""
    with http_server(SERVER, FOLDER=str(folder)) as server:
        with Wire(server.port) as wire:
            wire.send(http(reading("files://a.bin"))).answer()
        before = _status(server, "VmHWM")
        _read_huge(server)
        assert _status(server, "VmHWM") - before < 16 * 1024
        unread = [Wire(server.port, receive_buffer=4096) for _ in range(10)]
        for wire in unread:
            wire.send(http(reading("files://huge.bin")))
            assert _drop(wire.socket, 200_000) == 200_000
        _read_huge(server)  # in this time the others would have been read as far
        assert _status(server, "VmHWM") - before < 32 * 1024
        for wire in unread:
            wire.socket.close()


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="reads /proc")
def test_a_client_that_leaves_frees_file_and_connection(server: HTTPProcess) -> None:
    """Ours: RELIABILITY; whether it reads nothing or half of the answer, and whether it hangs up or cuts."""
    before = _idle(server)
    for read in (0, 1_000_000):
        for cut in (False, True):
            wire = Wire(server.port, receive_buffer=4096)
            wire.send(http(reading("files://huge.bin")))
            assert _drop(wire.socket, 20_000 + read) == 20_000 + read
            wire.reset() if cut else wire.socket.close()
    _until(lambda: _descriptors(server) == before)
    with Wire(server.port) as wire:
        check_bytes(wire.send(http(reading("files://a.bin"))).answer())


def test_a_file_that_shrinks_cuts_the_answer_off(server: HTTPProcess, folder: Path) -> None:
    """Ours: RFC 9112 8: a client sees that less came than was announced."""
    path = folder / "shrinks.bin"
    with path.open("wb") as file:
        file.truncate(HUGE)
    with Wire(server.port, receive_buffer=4096) as wire:
        wire.send(http(reading("files://shrinks.bin")))
        assert _drop(wire.socket, 20_000) == 20_000
        os.truncate(path, 1_000_000)
        try:
            rest = _drop(wire.socket, 2 * HUGE)
        except ConnectionResetError:
            rest = 0
        assert 20_000 + rest < HUGE


def test_a_client_that_does_not_read_is_cut_off(folder: Path) -> None:
    """Ours: `Limits.write_timeout`; a slow one that reads is not."""
    with http_server(SERVER, FOLDER=str(folder), WRITE_TIMEOUT="1") as server:
        idle = _idle(server)
        with Wire(server.port, receive_buffer=4096) as wire:
            wire.send(http(reading("files://huge.bin")))
            _until(lambda: _descriptors(server) > idle + 1)
            _until(lambda: _descriptors(server) <= idle)
        with Wire(server.port) as wire:
            check_bytes(wire.send(http(reading("files://a.bin"))).answer())


def test_a_server_that_ends_sends_what_it_began(folder: Path) -> None:
    """Ours: SIGTERM; the answer is whole, and what was sent behind it says that the connection ends."""
    with http_server(SERVER, FOLDER=str(folder)) as server, Wire(server.port, receive_buffer=4096) as wire:
        wire.send(http(reading("files://a.bin")), http(reading("text://x", 2)))
        select.select([wire.socket], [], [], DEADLINE)
        server.process.send_signal(signal.SIGTERM)
        check_bytes(wire.answer())
        last = wire.answer()
        assert (last.message["id"], last.headers["connection"]) == (2, "close")
        assert wire.ended()
        server.process.wait(DEADLINE)


def test_on_stdio_a_file_is_one_line(folder: Path) -> None:
    """Ours: whole, up to 64 MiB."""
    messages, log, code = run_stdio(SERVER, encode(reading("files://a.bin")) + b"\n", FOLDER=str(folder))
    assert base64.b64decode(contents_of(messages[0])["blob"]) == BYTES
    assert (log, code) == ("", 0)


class Broken(Lazy):
    """A part of an answer that cannot be made."""

    def __len__(self) -> int:
        return 100_000

    async def read(self) -> bytes:
        raise RuntimeError("can't start new thread")

    def whole(self) -> bytes:
        raise AssertionError


class Counted(Lazy):
    """A part of an answer that comes in two pieces."""

    def __init__(self) -> None:
        self.reads = 0

    def __len__(self) -> int:
        return 100_000

    async def read(self) -> bytes:
        self.reads += 1
        return b"1" * 50_000 if self.reads < 3 else b""

    def whole(self) -> bytes:
        raise AssertionError


class Answering:
    """An endpoint that has one answer."""

    def __init__(self, part: Lazy, *, stalled: bool = False) -> None:
        self.part = part
        self.stalled = stalled

    def admit(self, head: Head) -> None:
        """Let every request in."""

    def fields(self, headers: dict[str, str]) -> bytes:
        """Add nothing."""
        return b""

    def stream_fields(self, head: Head) -> None:
        """Answer with no event stream."""

    def respond(self, request: Request, channel: HTTPConnection) -> Response:
        """Answer, perhaps a client that is behind with reading."""
        if self.stalled:
            channel.pause_writing()
            channel._unsent = 5_000  # what it is behind has settled
        return Response(200, cast("list[bytes]", [b"[", self.part, b"]"]))

    def failure(self, error: Exception, request: Request) -> Response:
        """Answer nothing later, so that nothing can fail."""
        raise error


def test_whatever_goes_wrong_on_the_way_cuts_the_answer_off() -> None:
    """Ours: as a file that shrinks; a connection that waits for ever would tell nobody."""

    async def main() -> None:
        server = HTTPServer(Answering(Broken()), Limits())
        async with asyncio.timeout(DEADLINE):
            listener = await asyncio.get_running_loop().create_server(server.connection, "127.0.0.1", 0)
            async with listener:
                reader, writer = await asyncio.open_connection(*listener.sockets[0].getsockname()[:2])
                writer.write(http(reading("files://a.bin")))
                with contextlib.suppress(ConnectionResetError):
                    assert len(await reader.read()) < 100_000
                assert not server.connections
                writer.close()

    asyncio.run(main())


def test_an_answer_begins_when_the_client_has_read_what_went_before() -> None:
    """Ours: one piece at a time is in memory, however far behind the client is."""

    async def main() -> None:
        part = Counted()
        server = HTTPServer(Answering(part, stalled=True), Limits())
        async with asyncio.timeout(DEADLINE):
            listener = await asyncio.get_running_loop().create_server(server.connection, "127.0.0.1", 0)
            async with listener:
                reader, writer = await asyncio.open_connection(*listener.sockets[0].getsockname()[:2])
                writer.write(http(reading("files://a.bin")))
                while not part.reads:
                    await asyncio.sleep(0)
                for _ in range(10):
                    await asyncio.sleep(0)
                assert part.reads == 1
                [sender] = server.connections
                assert sender._unsent == float("inf"), "how long it may take is settled anew"
                sender.resume_writing()
                await reader.readuntil(b"\r\n\r\n")
                assert await reader.readexactly(100_002) == b"[%b]" % (b"1" * 100_000)
                writer.close()

    asyncio.run(main())
