"""Connections that end right behind an answer, or while nobody looks, and what is sent again for it."""

from __future__ import annotations

import asyncio
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from leanmcp.errors import ConnectionLost
from leanmcp.limits import HTTPClientLimits
from leanmcp.protocol.outgoing import OutgoingRequest
from leanmcp.transports import http_client_pool
from leanmcp.transports.http_client import HTTPTransport
from leanmcp.transports.http_client_connection import Connection
from tests.support.bad_http_server import CLOSE, Script, answer, result
from tests.support.outgoing import decoded, outgoing, talking
from tests.support.processes import DEADLINE
from tests.support.stdio_talk import LOOPS, both_loops, run

Peer = socket.socket


def _reset(peer: Peer) -> None:
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    peer.close()


ENDS: dict[str, Callable[[Peer], None]] = {
    "end": Peer.close,
    "half": lambda peer: peer.shutdown(socket.SHUT_WR),
    "reset": _reset,
}


class Server:
    """A server whose every step is the test's, so that it acts while the client's loop stands still.

    Args:
        listener: bound and listening, not blocking.
    """

    def __init__(self, listener: socket.socket) -> None:
        self._listener = listener
        self.is_local = listener.family == socket.AF_UNIX
        self.seen: list[bytes] = []

    def client(self) -> HTTPTransport:
        """Return a client of it."""
        name = self._listener.getsockname()
        if isinstance(name, str):
            return HTTPTransport("http://localhost/mcp", uds=name)
        return HTTPTransport(f"http://127.0.0.1:{name[1]}/mcp")

    async def accept(self) -> Peer:
        """Return the next connection."""
        peer, _ = await asyncio.get_running_loop().sock_accept(self._listener)
        peer.setblocking(False)
        return peer

    async def read(self, peer: Peer) -> None:
        """Read one small request."""
        self.seen.append(await asyncio.get_running_loop().sock_recv(peer, 65536))

    async def reply(self, peer: Peer, number: int) -> None:
        """Read one small request and answer it."""
        await self.read(peer)
        peer.send(answer(result(number)))

    async def served(self, client: HTTPTransport, peer: Peer, request: OutgoingRequest) -> bytes:
        """Return what the client makes of the answer on a connection."""
        response, _ = await asyncio.gather(client.request(request), self.reply(peer, request.id))
        return response


@pytest.fixture(params=["tcp", "unix"])
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Server]:
    """Yield a server on either kind of socket."""
    family = socket.AF_INET if request.param == "tcp" else socket.AF_UNIX
    address = ("127.0.0.1", 0) if request.param == "tcp" else str(tmp_path / "socket")
    with socket.socket(family) as listener:
        listener.bind(address)
        listener.listen()
        listener.setblocking(False)
        yield Server(listener)


@both_loops
@pytest.mark.parametrize("end", ENDS)
def test_end_right_behind_an_answer_costs_no_call(loop: str, end: str, server: Server) -> None:
    """Ours: RFC 9112 9.3; the loop has had no turn to see it, the system has."""

    async def main() -> None:
        client = server.client()
        await client.start()
        peer = await server.accept()
        await server.served(client, peer, outgoing(request_id=0))
        ENDS[end](peer)
        call = asyncio.ensure_future(client.request(outgoing()))
        fresh = await server.accept()
        await server.reply(fresh, 1)
        assert decoded(await call)["id"] == 1
        assert [request.count(b'"id":1,') for request in server.seen] == [0, 1]
        await client.close()
        peer.close()
        fresh.close()

    run(loop, main())


@both_loops
def test_request_that_met_the_end_is_sent_again(loop: str, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Spec: RFC 9110 9.2.2, "some means to detect that the original request was never applied": the server's end came
    before the request, and with it the acknowledgment of less than all of it. For calls too."""
    monkeypatch.setattr(Connection, "is_fresh", lambda self: True)  # it came just behind the look

    async def main() -> None:
        client = server.client()
        await client.start()
        peer = await server.accept()
        await server.served(client, peer, outgoing(request_id=0))
        peer.close()
        call = asyncio.ensure_future(client.request(outgoing()))
        fresh = await server.accept()
        await server.reply(fresh, 1)
        assert decoded(await call)["id"] == 1
        assert len(server.seen) == 2
        await client.close()
        fresh.close()

    run(loop, main())


@both_loops
def test_half_of_a_request_is_none(loop: str, server: Server) -> None:
    """Ours: a server that has not had all of a call cannot have run it."""
    large = outgoing(params={"name": "echo", "arguments": {"text": "x" * 20_000_000}}, request_id=1)

    async def main() -> None:
        client = server.client()
        await client.start()
        peer = await server.accept()
        await server.served(client, peer, outgoing(request_id=0))
        call = asyncio.ensure_future(client.request(large))
        await server.read(peer)
        peer.shutdown(socket.SHUT_WR)
        fresh = await server.accept()
        size = 0
        while size < len(large.message):
            size += len(await asyncio.get_running_loop().sock_recv(fresh, 1_000_000))
        fresh.send(answer(result(1)))
        assert decoded(await call)["id"] == 1
        await client.close()
        peer.close()
        fresh.close()

    run(loop, main())


@both_loops
@pytest.mark.parametrize("end", ENDS)
def test_call_that_was_read_is_not_sent_again(loop: str, end: str, server: Server) -> None:
    """Spec: RFC 9110 9.2.2; the server may have run it, whatever came of its answer."""

    async def main() -> None:
        client = server.client()
        await client.start()
        peer = await server.accept()
        await server.served(client, peer, outgoing(request_id=0))
        call = asyncio.ensure_future(client.request(outgoing()))
        await server.read(peer)
        ENDS[end](peer)
        with pytest.raises(ConnectionLost, match="unknown, so it is not sent again"):
            await call
        assert len(server.seen) == 2
        await client.close()
        peer.close()

    run(loop, main())


@pytest.mark.parametrize("method", ["tools/list", "ping", "server/discover"])
def test_what_may_be_done_twice_is(method: str, server: Server) -> None:
    """Spec: RFC 9110 9.2.2; the methods that only read, and tools that say so."""

    async def main() -> None:
        client = server.client()
        for request in (outgoing(method), outgoing(repeatable=True)):
            await client.start()
            peer = await server.accept()
            call = asyncio.ensure_future(client.request(request))
            await server.read(peer)
            _reset(peer)
            fresh = await server.accept()
            await server.reply(fresh, 1)
            assert decoded(await call)["id"] == 1
            fresh.close()
            await client.close()
            client = server.client()

    run("uvloop", main())


@both_loops
def test_connection_that_breaks_before_its_first_request_is_lost(loop: str, server: Server) -> None:
    """Ours: uvloop would raise a RuntimeError."""

    async def main() -> None:
        client = server.client()
        connection = await client._pool.connect(client.target.origin, client.where)
        _reset(await server.accept())
        while not connection._writer.is_closing():
            await asyncio.sleep(0)
            if server.is_local:  # such a socket tells of its end only, and stays open
                connection.abort()
        with pytest.raises(ConnectionLost, match="closed the connection before it had answered"):
            await connection.exchange(b"POST / HTTP/1.1\r\n\r\n")
        client._pool.discard(connection)
        await client.close()

    run(loop, main())


def test_server_that_closes_without_saying_so_is_found_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: else every second call would be lost; after a while the client tries again."""
    monkeypatch.setattr(Connection, "is_fresh", lambda self: True)

    async def main() -> None:
        scripts: list[Script] = [[answer(result(number)), CLOSE] for number in range(6)]
        async with talking(*scripts) as (client, peer):
            await client.request(outgoing(request_id=0))
            for number in (1, 2, 3):
                assert decoded(await client.request(outgoing(request_id=number)))["id"] == number
            assert (peer.connections, len(peer.requests)) == (4, 4)
            assert not any(client._pool._idle.values())
            client._pool._keeps_from -= http_client_pool._KEPT_NONE
            await client.request(outgoing(request_id=4))
            assert any(client._pool._idle.values())

    asyncio.run(main())


def test_limits_of_a_pool_hold_for_what_is_sent_again(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: the second attempt takes the place of the first."""
    monkeypatch.setattr(Connection, "is_fresh", lambda self: True)

    async def main() -> None:
        client = server.client()
        client._pool._limits = HTTPClientLimits(max_connections=1)
        for number in (1, 2):
            await client.start()
            peer = await server.accept()
            peer.close()
            call = asyncio.ensure_future(client.request(outgoing(request_id=number)))
            fresh = await server.accept()
            await server.reply(fresh, number)
            assert decoded(await call)["id"] == number
            fresh.close()
        assert client._pool._taken == 0
        await client.close()

    run("asyncio", main())


@both_loops
def test_end_is_told_from_the_tickets_of_tls(loop: str, certificate: tuple[Path, Path]) -> None:
    """Ours: what a server sends behind its handshake is for nobody, and ends nothing."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    tickets, end, ended = threading.Event(), threading.Event(), threading.Event()

    def serve() -> None:
        plain, _ = listener.accept()
        with context.wrap_socket(plain, server_side=True) as peer:
            tickets.set()
            end.wait(DEADLINE)
            socket.socket.shutdown(peer, socket.SHUT_WR)
            ended.set()
            with suppress(ConnectionError):  # the client leaves
                peer.recv(1)

    async def main() -> None:
        url = f"https://127.0.0.1:{listener.getsockname()[1]}/mcp"
        client = HTTPTransport(url, ssl=ssl.create_default_context(cafile=str(certificate[0])))
        await client.start()
        assert tickets.wait(DEADLINE)  # the loop stands still
        [connection] = client._pool._idle[client.target.origin]
        assert connection.is_fresh()
        end.set()
        assert ended.wait(DEADLINE)
        assert not connection.is_fresh()
        await client.close()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve)
        thread.start()
        with asyncio.Runner(loop_factory=LOOPS[loop]) as runner:
            runner.run(main())
        thread.join(DEADLINE)
