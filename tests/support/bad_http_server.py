"""A scripted HTTP server: each request is answered by the octets, pauses and deaths that a test lists."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import msgspec

from .processes import DEADLINE


class Step:
    """Something that a server does besides sending octets."""


CLOSE = Step()
"""Close the connection."""
RESET = Step()
"""Close it with a reset."""
WAIT = Step()
"""Wait until the test sets `go`."""
MUTE = Step()
"""Say nothing until the client leaves."""

Script = Sequence[bytes | Step]


class Request:
    """A request as it came.

    Attributes:
        line: the request line.
        fields: names in lower case.
        body: decoded JSON, None where there is none.
        connection: the number of its connection, from 0.
    """

    def __init__(self, line: str, fields: dict[str, str], body: Any, connection: int) -> None:
        self.line = line
        self.fields = fields
        self.body = body
        self.connection = connection


class BadServer:
    """Answers the next request with the next script; with `good` when there is none.

    Attributes:
        scripts: still to come.
        requests: what came.
        connections: how many there have been.
        go: set by the test to end WAIT.
        left: set when the client has left while a script was MUTE.
    """

    def __init__(self, *scripts: Script) -> None:
        self.scripts = list(scripts)
        self.requests: list[Request] = []
        self.connections = 0
        self.open = 0
        self.go = asyncio.Event()
        self.left = asyncio.Event()
        self.port = 0

    @property
    def url(self) -> str:
        """Where to send requests."""
        return f"http://127.0.0.1:{self.port}/mcp"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection."""
        number, self.connections = self.connections, self.connections + 1
        self.open += 1
        try:
            while (request := await _read(reader, number)) is not None:
                self.requests.append(request)
                script = self.scripts.pop(0) if self.scripts else [good(request)]
                if not await self._act(script, reader, writer):
                    return
        except ConnectionError:
            return
        finally:
            self.open -= 1
            writer.close()

    async def _act(self, script: Script, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Do what a script says; return whether the connection goes on."""
        for step in script:
            if isinstance(step, bytes):
                writer.write(step)
                await writer.drain()
            elif step is WAIT:
                await self.go.wait()
            elif step is MUTE:
                await reader.read()
                self.left.set()
                return False
            else:
                if step is RESET:
                    writer.transport.abort()
                return False
        return True


async def _read(reader: asyncio.StreamReader, number: int) -> Request | None:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except asyncio.IncompleteReadError:
        return None
    line, *lines = head.removesuffix("\r\n\r\n").split("\r\n")
    fields: dict[str, str] = {}
    for field in lines:
        match = re.fullmatch(r"([!-9;-~]+): ([ -~\x80-\xff]*)", field)
        assert match is not None, field
        assert match[1].lower() not in fields, f"{match[1]} twice"
        fields[match[1].lower()] = match[2]
    body = await reader.readexactly(int(fields.get("content-length", "0")))
    return Request(line, fields, msgspec.json.decode(body) if body else None, number)


@asynccontextmanager
async def bad_server(*scripts: Script) -> AsyncIterator[BadServer]:
    """Run a scripted server while the block runs, on the same loop."""
    bad = BadServer(*scripts)
    server = await asyncio.start_server(bad.serve, "127.0.0.1", 0)
    bad.port = server.sockets[0].getsockname()[1]
    try:
        yield bad
    finally:
        server.close()
        async with asyncio.timeout(DEADLINE):
            while bad.open:  # handlers end when their clients have left; no task outlives a test
                await asyncio.sleep(0)
            await server.wait_closed()


def answer(body: bytes, content_type: str = "application/json", status: str = "200 OK", *fields: str) -> bytes:
    """Return a whole answer."""
    head = [f"HTTP/1.1 {status}", f"Content-Type: {content_type}", f"Content-Length: {len(body)}", *fields]
    return "".join(f"{line}\r\n" for line in head).encode("latin-1") + b"\r\n" + body


def result(request_id: object = 1, **members: Any) -> bytes:
    """Return a response."""
    return msgspec.json.encode({"jsonrpc": "2.0", "id": request_id, "result": {"resultType": "complete", **members}})


def error(code: int, message: str, request_id: object = 1, **data: Any) -> bytes:
    """Return an error response."""
    body = {"code": code, "message": message, **({"data": data} if data else {})}
    return msgspec.json.encode({"jsonrpc": "2.0", "id": request_id, "error": body})


def good(request: Request) -> bytes:
    """Return the right answer to any request."""
    return answer(result((request.body or {}).get("id"), content=[]))


STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


def chunk(*data: bytes) -> bytes:
    """Return one chunk; an empty one is the last."""
    joined = b"".join(data)
    return b"%x\r\n%s\r\n" % (len(joined), joined)


def event(message: bytes) -> bytes:
    """Return one event."""
    return b"event: message\ndata: " + message + b"\n\n"


def note(method: str, **params: Any) -> bytes:
    """Return a notification."""
    return msgspec.json.encode({"jsonrpc": "2.0", "method": method, "params": params})
