"""Calls through a real nginx with the configuration of examples/deploy, TLS included."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from leanmcp import Client
from leanmcp.client import ToolsListChanged
from leanmcp.errors import HTTPStatusError, NotFound
from leanmcp.transports.http_client import HTTPTransport
from tests.support.processes import DEADLINE, ROOT, VERSION, call, end, http, http_server
from tests.support.wire import Answer, Wire

NAME = "mcp.example.com"
AROUND = """
daemon off;
worker_processes 1;
{user}
pid {folder}/nginx.pid;
error_log stderr;
events {{ worker_connections 256; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    {configuration}
}}
"""


class Proxy:
    """A running nginx: its port, and what a client needs to trust it."""

    def __init__(self, port: int, context: ssl.SSLContext) -> None:
        self.port = port
        self.context = context

    def client(self) -> Client:
        """Return a client of the server behind it."""
        return Client(HTTPTransport(f"https://127.0.0.1:{self.port}/mcp", ssl=self.context), mode=VERSION)

    def ask(self, host: str, **fields: str) -> Answer:
        """Call `seen_from` under a name."""
        with Wire(self.port) as wire:
            wire.socket = self.context.wrap_socket(wire.socket, server_hostname=NAME)
            return wire.send(http(call("seen_from"), host=host, **fields)).answer()


@pytest.fixture(scope="module")
def nginx() -> str:
    """The program."""
    found = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
    if found is None:
        pytest.skip("nginx is not installed")
    return found


@pytest.fixture(scope="module")
def tls(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate of both names, and its key."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("the openssl command is not installed")
    folder = tmp_path_factory.mktemp("tls")
    paths = folder / "certificate.pem", folder / "key.pem"
    kind = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2")
    names = ("-subj", f"/CN={NAME}", "-addext", f"subjectAltName=DNS:{NAME},IP:127.0.0.1")
    files = ("-out", str(paths[0]), "-keyout", str(paths[1]))
    subprocess.run([openssl, "req", "-x509", *kind, *names, *files], check=True, capture_output=True, timeout=DEADLINE)
    return paths


@pytest.fixture(scope="module")
def proxy(nginx: str, tls: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    """A server, and nginx before it."""
    folder = tmp_path_factory.mktemp("nginx")
    with (
        http_server("tests/fixtures/behind_proxy.py", "--allowed-host", NAME) as server,
        socket.create_server(("127.0.0.1", 0), backlog=64) as listening,
    ):
        port = listening.getsockname()[1]
        text = (ROOT / "examples/deploy/nginx.conf").read_text()
        for shown, here in (
            ("listen 443 ssl;", f"listen 127.0.0.1:{port} ssl;"),
            ("server 127.0.0.1:8000;", f"server 127.0.0.1:{server.port};"),
            (f"/etc/ssl/{NAME}.pem", str(tls[0])),
            (f"/etc/ssl/private/{NAME}.key", str(tls[1])),
        ):
            assert text.count(shown) == 1, shown
            text = text.replace(shown, here)
        user = "user root;" if os.geteuid() == 0 else ""  # who may read the folder
        file = folder / "nginx.conf"
        file.write_text(AROUND.format(folder=folder, configuration=text, user=user))
        with _running([nginx, "-p", str(folder), "-c", str(file)], listening):
            yield Proxy(port, ssl.create_default_context(cafile=str(tls[0])))


@contextmanager
def _running(command: list[str], listening: socket.socket) -> Iterator[None]:
    """Run nginx while the block runs, on a socket handed over in the way that nginx hands its own to its successor."""
    tested = subprocess.run([*command, "-t"], capture_output=True, text=True, timeout=DEADLINE)
    assert tested.returncode == 0, tested.stderr
    descriptor = listening.fileno()
    process = subprocess.Popen(
        command,
        pass_fds=[descriptor],
        env={**os.environ, "NGINX": f"{descriptor};"},
        stderr=subprocess.PIPE,
    )
    listening.close()  # if nginx ends, clients are refused instead of kept waiting
    try:
        yield
    finally:
        end(process, DEADLINE)


def test_call_comes_through(proxy: Proxy) -> None:
    """Ours: U30; headers that mirror the body, too, and nothing of the client's connection."""

    async def main() -> None:
        async with asyncio.timeout(DEADLINE), proxy.client() as client:
            seen = await client.call_tool("seen_from", type=dict)
            assert seen["host"] == "127.0.0.1"
            assert (seen["x-forwarded-for"], seen["x-forwarded-proto"]) == ("127.0.0.1", "https")
            assert "size" in [tool.name async for tool in client.tools()]

    asyncio.run(main())


def test_public_name_is_handed_on_and_checked(proxy: Proxy) -> None:
    """Ours: nginx hands on the name that was called; leanmcp serves the one that is allowed, and no other."""
    assert proxy.ask(NAME).message["result"]["structuredContent"]["host"] == NAME
    assert proxy.ask("evil.example").status == 421
    assert proxy.ask(NAME, origin="https://evil.example").status == 403


def test_client_cannot_say_where_it_comes_from(proxy: Proxy) -> None:
    """Ours."""
    answer = proxy.ask(NAME, x_forwarded_for="10.9.8.7")
    assert answer.message["result"]["structuredContent"]["x-forwarded-for"] == "127.0.0.1"


def test_progress_arrives_while_the_call_runs(proxy: Proxy) -> None:
    """Ours: no buffering; the call ends only because its progress has come."""

    async def main() -> None:
        async with asyncio.timeout(DEADLINE), proxy.client() as client:

            async def told(progress: float, total: float | None, message: str | None) -> None:
                assert message == "waiting"
                await client.call_tool("release")

            assert await client.call_tool("wait_for_release", progress_callback=told, type=str) == "released"

    asyncio.run(main())


def test_client_that_leaves_ends_its_call(proxy: Proxy) -> None:
    """Ours: nginx closes the server's side too."""

    async def main() -> None:
        async with asyncio.timeout(DEADLINE), proxy.client() as client:
            begun = asyncio.Event()

            async def told(progress: float, total: float | None, message: str | None) -> None:
                begun.set()

            hanging = asyncio.create_task(client.call_tool("hang", progress_callback=told))
            await begun.wait()
            hanging.cancel()
            assert await client.call_tool("end_of_hang", type=str) == "cancelled"

    asyncio.run(main())


def test_changes_are_told(proxy: Proxy) -> None:
    """Ours: a stream opens although it has nothing to say yet, and says it when there is something."""

    async def main() -> None:
        async with (
            asyncio.timeout(DEADLINE),
            proxy.client() as client,
            client.listen(tools_list_changed=True) as changes,
        ):
            assert changes.honored.tools_list_changed
            await client.call_tool("grow")
            assert isinstance(await anext(changes), ToolsListChanged)

    asyncio.run(main())


def test_bodies_up_to_the_limit_pass(proxy: Proxy) -> None:
    """Ours: nginx's own limit is 1 MiB unless it is raised."""

    async def main() -> None:
        async with asyncio.timeout(DEADLINE), proxy.client() as client:
            assert await client.call_tool("size", {"text": "x" * 3_000_000}, type=int) == 3_000_000
            with pytest.raises(HTTPStatusError) as caught:
                await client.call_tool("size", {"text": "x" * 5_000_000})
            assert caught.value.status == 413

    asyncio.run(main())


def test_nothing_but_the_endpoint_is_served(proxy: Proxy) -> None:
    """Ours."""

    async def main() -> None:
        url = f"https://127.0.0.1:{proxy.port}/other"
        async with asyncio.timeout(DEADLINE):
            with pytest.raises(NotFound):
                async with Client(HTTPTransport(url, ssl=proxy.context), mode=VERSION) as client:
                    await client.list_tools()

    asyncio.run(main())
