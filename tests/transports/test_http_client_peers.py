"""Servers that the HTTP client must get on with: the official SDK's, and our own behind TLS and Unix sockets."""

from __future__ import annotations

import asyncio
import re
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from leanmcp.client import Client
from leanmcp.errors import CannotConnect, MCPError, NotFound, TransportError
from leanmcp.transports.http_client import HTTPTransport
from tests.support.outgoing import outgoing
from tests.support.processes import DEADLINE, ROOT, VERSION, end, environment


@contextmanager
def process(*command: str, fd: int | None = None) -> Iterator[subprocess.Popen[bytes]]:
    """Run a server while the block runs."""
    server = subprocess.Popen(
        [sys.executable, *command],
        stderr=subprocess.PIPE,
        env=environment(),
        cwd=ROOT,
        pass_fds=() if fd is None else (fd,),
    )
    try:
        yield server
    finally:
        end(server, patience=5)


@pytest.fixture(scope="module", params=["json", "events"])
def answers(request: pytest.FixtureRequest) -> str:
    """How the official server answers."""
    how: str = request.param
    return how


@pytest.fixture(scope="module")
def official(answers: str) -> Iterator[str]:
    """The URL of a server of the official SDK, in each of its two ways to answer."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.set_inheritable(True)
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # asyncio does not, on a socket it did not make
        with process("tests/fixtures/official_http.py", str(listener.fileno()), answers, fd=listener.fileno()):
            yield f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"


def test_official_server_is_listed_and_called(official: str) -> None:
    """Spec: basic/transports/streamable-http; a server that we did not write."""

    async def main() -> None:
        async with asyncio.timeout(DEADLINE), Client(official, mode=VERSION) as client:
            assert VERSION in (await client.discover()).supported_versions
            assert [tool.name for tool in (await client.list_tools()).tools] == ["echo", "count", "fail"]
            for text in ("hello", "ж" * 100_000):
                assert (await client.call_tool("echo", {"text": text})).structured_content == {"result": text}
            failed = await client.call_tool("fail")
            assert failed.is_error

    asyncio.run(main())


def test_official_server_answers_many_at_once(official: str) -> None:
    """Ours: on many connections, each answer to its own call."""

    async def main() -> None:
        async with asyncio.timeout(DEADLINE), Client(official, mode=VERSION) as client:
            calls = (client.call_tool("echo", {"text": str(number)}) for number in range(60))
            found = [one.structured_content for one in await asyncio.gather(*calls)]
            assert found == [{"result": str(number)} for number in range(60)]

    asyncio.run(main())


def test_progress_of_the_official_server_arrives(official: str, answers: str) -> None:
    """Spec: basic/patterns/progress; a JSON answer has none before it."""
    reports: list[tuple[float, float | None, str | None]] = []

    async def main() -> None:
        async with asyncio.timeout(DEADLINE), Client(official, mode=VERSION) as client:
            await client.call_tool("count", {"to": 3}, progress_callback=lambda *report: reports.append(report))

    asyncio.run(main())
    assert reports == ([] if answers == "json" else [(1, 3, "step 1"), (2, 3, "step 2"), (3, 3, "step 3")])


def test_wrong_path_of_the_official_server_is_told(official: str) -> None:
    """Ours: U13."""

    async def main() -> None:
        async with asyncio.timeout(DEADLINE):
            transport = HTTPTransport(official.removesuffix("mcp"))
            with pytest.raises(NotFound, match=f"try {re.escape(official)}"):
                await transport.request(outgoing())
            await transport.close()

    asyncio.run(main())


# --- TLS and Unix sockets -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def secure(certificate: tuple[Path, Path]) -> Iterator[str]:
    """The URL of our own server behind TLS."""
    files = ["--ssl-cert", str(certificate[0]), "--ssl-key", str(certificate[1])]
    with process("-m", "leanmcp", "run", "tests/fixtures/tools.py", "--http", "--port", "0", *files) as server:
        assert server.stderr is not None
        match = re.search(rb"https://127\.0\.0\.1:\d+/mcp", server.stderr.readline())
        assert match is not None
        yield match[0].decode()


def test_https_works_with_a_known_authority(secure: str, certificate: tuple[Path, Path]) -> None:
    """Ours: calls, large answers, cancelled calls and the end, all without a leak."""
    context = ssl.create_default_context(cafile=str(certificate[0]))

    async def main() -> None:
        async with asyncio.timeout(DEADLINE), Client(HTTPTransport(secure, ssl=context), mode=VERSION) as client:
            assert (await client.call_tool("echo", {"text": "hello"})).structured_content == {"result": "hello"}
            assert (await client.call_tool("blob", {"size": 2_000_000})).structured_content == {
                "result": "x" * 2_000_000
            }
            with pytest.raises(TransportError, match=r"within 0\.05 seconds"):
                await client.call_tool("slow", {"seconds": 60}, read_timeout_seconds=0.05)
            assert (await client.call_tool("add", {"a": 1})).structured_content == {"result": 2}

    asyncio.run(main())


def test_certificate_of_a_stranger_is_refused(secure: str) -> None:
    """Ours: safe by default, and the text says what to do."""

    async def main() -> None:
        async with asyncio.timeout(DEADLINE):
            with pytest.raises(
                CannotConnect, match=r"its certificate is not trusted \(self.signed certificate\).* ssl="
            ):
                await Client(secure).__aenter__()

    asyncio.run(main())


def test_plain_request_to_a_tls_port_is_told_apart(secure: str) -> None:
    """Ours: http:// typed for https://."""

    async def main() -> None:
        async with asyncio.timeout(DEADLINE):
            transport = HTTPTransport(secure.replace("https:", "http:"))
            with pytest.raises(TransportError, match=r"speaks TLS on this port; use https://|closed the connection"):
                await transport.request(outgoing())
            await transport.close()

    asyncio.run(main())


def test_unix_socket_carries_http() -> None:
    """Ours: `unix:/path`; the server sees a loopback host."""
    folder = tempfile.mkdtemp(prefix="leanmcp-")  # short enough for the address of a socket
    path = f"{folder}/s"

    async def main() -> None:
        async with asyncio.timeout(DEADLINE), Client(f"unix:{path}", mode=VERSION) as client:
            assert (await client.call_tool("echo", {"text": "hello"})).structured_content == {"result": "hello"}
            with pytest.raises(MCPError) as failed:
                await client.call_tool("nothing")
            assert failed.value.code == -32602

    try:
        with process("-m", "leanmcp", "run", "tests/fixtures/tools.py", "--uds", path) as server:
            assert server.stderr is not None
            assert path.encode() in server.stderr.readline()
            asyncio.run(main())
    finally:
        shutil.rmtree(folder)
