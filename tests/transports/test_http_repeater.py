"""A client that asks for the same list again and again: its requests are answered without being read."""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
import uvloop
from hypothesis import given
from hypothesis import strategies as st

from leanmcp import Limits, MCPServer
from leanmcp.server.http_endpoint import HTTPEndpoint
from leanmcp.transports.http_server import HTTPConnection, HTTPServer
from tests.support.processes import DEADLINE, call, http, request

LOOPS = pytest.mark.parametrize("new_loop", [asyncio.new_event_loop, uvloop.new_event_loop])
Loop = Callable[[], asyncio.AbstractEventLoop]


async def echo(text: str = "") -> str:
    """Return the text."""
    return text


def make(tools: int, description: int = 100, **options: Any) -> MCPServer:
    """Return a server with tools whose list takes some `tools * description` bytes."""
    mcp = MCPServer("repeats", **options)
    for number in range(tools):
        mcp.add_tool(echo, f"echo_{number}", description="d" * description)
    return mcp


def listing(number: int, method: str = "tools/list") -> bytes:
    """Return a request for a list."""
    return http(request(method, request_id=number))


class Peer:
    """A client on a real socket."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, server: HTTPServer) -> None:
        self.reader = reader
        self.writer = writer
        self.server = server

    async def answer(self) -> tuple[bytes, Any]:
        """Return the head and the message of one answer."""
        async with asyncio.timeout(DEADLINE):
            head = await self.reader.readuntil(b"\r\n\r\n")
            length = int(head.split(b"Content-Length: ")[1].split(b"\r\n")[0])
            return head, json.loads(await self.reader.readexactly(length))

    async def ask(self, octets: bytes) -> Any:
        """Send a request and return its answer."""
        self.writer.write(octets)
        return (await self.answer())[1]


def talk(
    mcp: MCPServer,
    conversation: Callable[[Peer], Coroutine[Any, Any, None]],
    new_loop: Loop = uvloop.new_event_loop,
    certificate: tuple[Path, Path] | None = None,
) -> None:
    """Serve `mcp` on a free port and run a conversation with it, perhaps on TLS."""
    ours = theirs = None
    if certificate is not None:
        ours, theirs = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.create_default_context(cafile=str(certificate[0]))
        ours.load_cert_chain(*certificate)

    async def main() -> None:
        server = HTTPServer(HTTPEndpoint(mcp), Limits())
        listener = await asyncio.get_running_loop().create_server(server.connection, "127.0.0.1", 0, ssl=ours)
        port = listener.sockets[0].getsockname()[1]
        reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=theirs, limit=1 << 24)
        try:
            await conversation(Peer(reader, writer, server))
        finally:
            writer.close()
            listener.close()
            await server.drain(1)

    with asyncio.Runner(loop_factory=new_loop) as runner:
        runner.run(main())


@LOOPS
@pytest.mark.parametrize("tools", [1, 300, 3000])
def test_third_request_is_answered_without_being_read(new_loop: Loop, tools: int, decoded: list[bytes]) -> None:
    """Ours: a small list, one of some 100 KB, and one that no socket takes at once."""

    async def conversation(peer: Peer) -> None:
        first = await peer.ask(listing(11))
        await peer.ask(listing(12))
        decoded.clear()
        for number in range(13, 30):
            assert await peer.ask(listing(number)) == {**first, "id": number}
        assert decoded == []
        assert (await peer.ask(http(call("echo_0", {"text": "between"}, 30))))["id"] == 30
        assert await peer.ask(listing(31)) == {**first, "id": 31}
        assert decoded == []

    talk(make(tools), conversation, new_loop)


@LOOPS
def test_client_that_does_not_read_gets_its_answers_whole_and_in_order(new_loop: Loop) -> None:
    """Ours: what the kernel does not take is the transport's, and what follows comes behind it."""

    async def conversation(peer: Peer) -> None:
        first = await peer.ask(listing(11))
        await peer.ask(listing(12))
        for number in range(13, 60):
            peer.writer.write(listing(number) if number % 5 else http(call("echo_0", {"text": "x"}, number)))
            await asyncio.sleep(0)  # so that each is a piece of its own
        for number in range(13, 60):
            head, message = await peer.answer()
            assert head.startswith(b"HTTP/1.1 200 OK\r\n")
            assert message == {**first, "id": number} if number % 5 else message["id"] == number

    talk(make(2000, 500), conversation, new_loop)


def test_change_of_the_list_is_seen_at_once() -> None:
    """Ours."""
    mcp = make(200)

    async def conversation(peer: Peer) -> None:
        for number in range(11, 16):
            answer = await peer.ask(listing(number))
        assert len(answer["result"]["tools"]) == 200
        mcp.remove_tool("echo_7")
        for number in range(16, 20):
            assert len((await peer.ask(listing(number)))["result"]["tools"]) == 199

    talk(mcp, conversation)


def test_server_that_ends_says_so_in_its_last_answer() -> None:
    """Spec: RFC 9112 9.6."""

    async def conversation(peer: Peer) -> None:
        for number in range(11, 15):
            await peer.ask(listing(number))
        peer.server.draining = True
        peer.writer.write(listing(15))
        head, _ = await peer.answer()
        assert b"\r\nConnection: close\r\n" in head
        async with asyncio.timeout(DEADLINE):
            assert await peer.reader.read() == b""

    talk(make(200), conversation)


def test_tls_stays_between(certificate: tuple[Path, Path], decoded: list[bytes]) -> None:
    """Ours: on TLS, nothing goes into the socket as it is."""

    async def conversation(peer: Peer) -> None:
        first = await peer.ask(listing(11))
        await peer.ask(listing(12))
        decoded.clear()
        for number in range(13, 20):
            assert await peer.ask(listing(number)) == {**first, "id": number}
        assert decoded == []

    talk(make(300), conversation, certificate=certificate)


def test_two_connections_with_one_head_do_not_get_each_others_answers() -> None:
    """Ours: requests of the same size for two pages, whose answers have two sizes."""

    async def conversation(peer: Peer) -> None:
        port = peer.writer.get_extra_info("peername")[1]
        other = Peer(*await asyncio.open_connection("127.0.0.1", port, limit=1 << 24), peer.server)
        second = (await peer.ask(listing(11)))["result"]["nextCursor"]
        third = (await peer.ask(http(request("tools/list", {"cursor": second}, 12))))["result"]["nextCursor"]
        assert len(second) == len(third)
        for number in range(13, 40):
            count, cursor = (10, second) if number % 3 else (5, third)
            asked = http(request("tools/list", {"cursor": cursor}, number))
            for client in (peer, other)[number % 2 :]:
                answer = await client.ask(asked)
                assert answer["id"] == number
                assert len(answer["result"]["tools"]) == count
        other.writer.close()

    talk(make(25, page_size=10), conversation)


# --- any octets -------------------------------------------------------------------------------------------------------


class Noting(asyncio.Transport):
    """A transport that notes what is written."""

    def __init__(self, sock: socket.socket | None = None) -> None:
        super().__init__({"socket": sock})
        self.octets = b""
        self.ended = False
        self.waiting = 0
        self.closing = False

    def write(self, data: bytes | bytearray | memoryview[Any]) -> None:
        self.octets += data

    def writelines(self, pieces: Any) -> None:
        self.write(b"".join(pieces))

    def get_write_buffer_size(self) -> int:
        return self.waiting

    def is_closing(self) -> bool:
        return self.closing

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None:
        self.ended = True

    def resume_reading(self) -> None:
        pass


def repeating(transport: Noting, tools: int) -> HTTPConnection:
    """Return a connection whose client has asked for one list some times."""
    connection = HTTPConnection(HTTPServer(HTTPEndpoint(make(tools)), Limits()))
    connection.connection_made(transport)
    for number in range(11, 15):
        connection.data_received(listing(number))
    return connection


def test_body_that_looks_like_the_request_is_a_body() -> None:
    """Ours: within a request, nothing is taken for another one."""

    async def main() -> None:
        transport = Noting()
        connection = repeating(transport, tools=1)
        inner = listing(15)
        transport.octets = b""
        connection.data_received(http(inner, mcp_method="tools/list").removesuffix(inner))
        connection.data_received(inner)
        assert b'"code":-32700' in transport.octets

    asyncio.run(main())


def test_client_that_sends_head_and_body_apart_costs_no_object_each() -> None:
    """Ours: what answers is made once for a connection."""

    async def main() -> None:
        transport = Noting()
        connection = repeating(transport, tools=1)
        made = connection._repeater
        assert made is not None
        transport.octets = b""
        for number in range(15, 18):
            head, _, body = listing(number).partition(b"\r\n\r\n")
            connection.data_received(head + b"\r\n\r\n")
            connection.data_received(body)
        assert connection._repeater is made
        connection.data_received(listing(18))
        assert transport.octets.count(b"HTTP/1.1 200 OK") == 4
        assert b'"id":18,' in transport.octets

    asyncio.run(main())


def test_id_of_another_length_needs_another_head() -> None:
    """Spec: RFC 9112 6.3; the body ends where the head says, and is no JSON then."""

    async def main() -> None:
        transport = Noting()
        connection = repeating(transport, tools=1)
        transport.octets = b""
        connection.data_received(listing(15).replace(b'"id":15', b'"id":155'))
        assert b'"code":-32700' in transport.octets

    asyncio.run(main())


@pytest.mark.parametrize(("waiting", "closing"), [(1, False), (0, True)])
def test_nothing_goes_past_what_waits_or_into_what_closes(waiting: int, closing: bool) -> None:
    """Ours: a transport that closes has let go of its descriptor; what waits in it comes first."""

    async def main() -> None:
        ours, theirs = socket.socketpair()
        with ours, theirs:
            ours.setblocking(False)
            theirs.setblocking(False)
            transport = Noting(ours)
            connection = repeating(transport, tools=300)
            assert theirs.recv(1 << 20).startswith(b"HTTP/1.1 200 OK")
            transport.octets, transport.waiting, transport.closing = b"", waiting, closing
            connection.data_received(listing(15))
            assert b'"id":15,' in transport.octets
            with pytest.raises(BlockingIOError):
                theirs.recv(1)

    asyncio.run(main())


BODIES = st.sampled_from(
    [json.dumps(request("tools/list", request_id=number)) for number in (1, 2, 3, 10)]
    + [
        json.dumps(request("tools/list", request_id=1)).replace('"id": 1', f'"id": {text}')
        for text in ("x", "01", '"1"')
    ]
    + [json.dumps(request("prompts/list", request_id=1)), json.dumps(request("tools/list"))[:-1], "{}"]
)
FIELDS: st.SearchStrategy[dict[str, str]] = st.sampled_from(
    [{}, {}, {}, {"accept": "text/event-stream"}, {"connection": "close"}, {"mcp_method": "prompts/list"}]
)


def sent(body: str, fields: dict[str, str], chunked: bool) -> bytes:
    """Return a request for a list."""
    octets = body.encode()
    fields = {"mcp_method": "tools/list", **fields}
    if not chunked:
        return http(octets, **fields)
    head = http(octets, transfer_encoding="chunked", content_length="", **fields).partition(b"\r\n\r\n")[0]
    return b"%b\r\n\r\n%x\r\n%b\r\n0\r\n\r\n" % (head, len(octets), octets)


@given(
    st.lists(st.tuples(BODIES, FIELDS, st.booleans(), st.integers(0, 3)), min_size=3, max_size=12),
    st.booleans(),
)
def test_answers_are_those_to_connections_that_remember_nothing(
    requests: list[tuple[str, dict[str, str], bool, int]], same: bool
) -> None:
    """Ours: property; whatever is sent, whole, cut in two or several at once."""

    async def main() -> None:
        mcp = make(3)
        server = HTTPServer(HTTPEndpoint(mcp), Limits())
        transport = Noting()
        connection = HTTPConnection(server)
        connection.connection_made(transport)
        waiting = b""
        for body, fields, chunked, cut in requests:
            octets = sent(requests[0][0] if same else body, requests[0][1] if same else fields, chunked and not same)
            waiting += octets
            if cut == 3:
                continue  # together with the next one
            pieces = [waiting] if cut else [waiting[:-9], waiting[-9:]]
            for piece in pieces:
                connection.data_received(piece)
            waiting = b""
            if transport.ended:
                break
        connection.data_received(waiting)
        fresh = Noting()
        for body, fields, chunked, _ in requests:
            if fresh.ended:
                break
            alone = HTTPConnection(HTTPServer(HTTPEndpoint(mcp), Limits()))
            alone.connection_made(fresh)
            alone.data_received(
                sent(requests[0][0] if same else body, requests[0][1] if same else fields, chunked and not same)
            )
        assert without_dates(transport.octets) == without_dates(fresh.octets)

    asyncio.run(main())


def without_dates(octets: bytes) -> list[bytes]:
    """Return the lines of some answers but those that change with the second."""
    return [line for line in octets.split(b"\r\n") if not line.startswith(b"Date: ")]
