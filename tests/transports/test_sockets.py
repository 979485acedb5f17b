"""Where HTTP is served: Unix sockets, inherited descriptors, TLS."""

from __future__ import annotations

import asyncio
import os
import select
import shutil
import signal
import socket
import ssl
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from leanmcp import MCPServer
from leanmcp.errors import BindError
from tests.support.listening import ACKNOWLEDGED, listen, subscription_id
from tests.support.processes import DEADLINE, ROOT, call, end, environment, http
from tests.support.spec import read

LONG = "tests/fixtures/long_calls.py"
ECHO = http(call("echo", {"text": "hello"}), connection="close")

WITHOUT_UVLOOP = """
import sys
sys.modules["uvloop"] = None
from leanmcp.cli import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture(params=["uvloop", "asyncio"])
def command(request: pytest.FixtureRequest) -> list[str]:
    """The command that serves, on each of the event loops."""
    start = ["-m", "leanmcp"] if request.param == "uvloop" else ["-c", WITHOUT_UVLOOP]
    return [sys.executable, *start, "run", LONG]


PLAIN = [sys.executable, "-m", "leanmcp", "run", LONG]


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder whose path is short enough for the address of a socket."""
    path = Path("/tmp") / f"leanmcp-{os.getpid()}-{id(tmp_path)}"
    path.mkdir()
    yield path
    shutil.rmtree(path)


@contextmanager
def serving(command: list[str], *options: str, **settings: Any) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """Run a server; give its process and its first line."""
    process = subprocess.Popen([*command, *options], stderr=subprocess.PIPE, env=environment(), cwd=ROOT, **settings)
    try:
        assert process.stderr is not None
        ready, _, _ = select.select((process.stderr,), (), (), DEADLINE)
        assert ready
        yield process, process.stderr.readline().decode()
    finally:
        end(process, patience=5)


def unix(path: Path | str) -> socket.socket:
    """Connect to a Unix socket."""
    client = socket.socket(socket.AF_UNIX)
    client.settimeout(DEADLINE)
    client.connect(os.fspath(path))
    return client


def ask(client: socket.socket) -> str:
    """Call echo on a connection and read to its end."""
    with client:
        client.sendall(ECHO)
        data = b""
        while piece := client.recv(1 << 16):
            data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 OK"), data
    text: str = read(body)["result"]["content"][0]["text"]
    return text


# --- Unix sockets -----------------------------------------------------------------------------------------------------


def test_a_unix_socket_is_served_and_its_file_goes_at_the_end(command: list[str], folder: Path) -> None:
    """Ours: FIELD 69."""
    path = folder / "mcp.sock"
    with serving(command, "--uds", str(path)) as (process, line):
        assert f"http+unix:{path}:/mcp" in line
        assert stat.S_ISSOCK(path.stat().st_mode)
        assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~_umask()
        assert [ask(unix(path)) for _ in range(3)] == ["hello"] * 3
        process.send_signal(signal.SIGTERM)
        assert process.wait(DEADLINE) == 0
        assert not path.exists()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_the_file_of_a_server_that_died_is_replaced(folder: Path) -> None:
    """Ours: a crash must not need a hand to start again."""
    path = folder / "mcp.sock"
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(os.fspath(path))
        stale.listen()
    assert path.exists()
    with serving(PLAIN, "--uds", str(path)):
        assert ask(unix(path)) == "hello"


def test_a_server_that_was_replaced_leaves_the_others_file_alone(folder: Path) -> None:
    """Ours: the new one may come before the old one has ended."""
    path = folder / "mcp.sock"
    with serving(PLAIN, "--uds", str(path)) as (old, _):
        path.unlink()
        with serving(PLAIN, "--uds", str(path)):
            old.send_signal(signal.SIGTERM)
            assert old.wait(DEADLINE) == 0
            assert ask(unix(path)) == "hello"


@pytest.mark.parametrize("there", ["server", "busy server", "file", "folder"])
def test_what_is_in_use_is_refused_and_left_alone(folder: Path, there: str) -> None:
    """Ours: one line that says so, and no wait for a server that is too busy to accept."""
    path = folder / "mcp.sock"
    waiting = []
    with socket.socket(socket.AF_UNIX) as other:
        if there == "file":
            path.write_text("precious")
        elif there == "folder":
            path.mkdir()
        else:
            other.bind(os.fspath(path))
            other.listen(0)
            while there == "busy server":
                client = socket.socket(socket.AF_UNIX)
                client.setblocking(False)
                waiting.append(client)
                try:
                    client.connect(os.fspath(path))
                except BlockingIOError:
                    break
        done = subprocess.run(
            [*PLAIN, "--uds", str(path)], capture_output=True, env=environment(), cwd=ROOT, timeout=DEADLINE
        )
        for client in waiting:
            client.close()
    assert done.returncode == 1
    assert done.stderr.count(b"\n") == 1
    assert f"cannot listen on {path}: a file is there, or a server that uses it" in done.stderr.decode()
    assert path.exists()


@pytest.mark.parametrize("place", ["nowhere/at/all.sock", "x" * 200])
def test_a_path_that_cannot_be_is_told_in_one_line(place: str, folder: Path) -> None:
    """Ours: missing folders and paths that are too long."""
    with pytest.raises(BindError, match="cannot listen on"):
        asyncio.run(MCPServer("x").run_async("http", uds=folder / place))


@pytest.mark.parametrize("mode", [0o600, 0o660, 0o777, None])
def test_mode_and_owner_are_set_before_anybody_can_connect(
    folder: Path, mode: int | None, capfd: pytest.CaptureFixture[str]
) -> None:
    """Ours: FIELD 69; an owner that cannot be set leaves no file behind."""
    path = folder / "mcp.sock"
    mcp = MCPServer("modes")

    async def main() -> None:
        owner = (os.getuid(), -1)
        serving = asyncio.ensure_future(mcp.run_async("http", uds=path, uds_mode=mode, uds_owner=owner))
        async with asyncio.timeout(DEADLINE):
            while "Ctrl-C" not in capfd.readouterr().err:
                await asyncio.sleep(0)
        found = path.stat()
        assert stat.S_IMODE(found.st_mode) == (0o666 & ~_umask() if mode is None else mode)
        assert found.st_uid == os.getuid()
        serving.cancel()
        with pytest.raises(asyncio.CancelledError):
            await serving
        assert not path.exists()

    asyncio.run(main())


@pytest.mark.skipif(os.getuid() == 0, reason="root may give files away")
def test_an_owner_that_cannot_be_set_leaves_no_file(folder: Path) -> None:
    """Ours."""
    with pytest.raises(BindError):
        asyncio.run(MCPServer("x").run_async("http", uds=folder / "s", uds_owner=(0, 0)))
    assert list(folder.iterdir()) == []


# --- inherited descriptors --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["tcp", "unix"])
def test_an_inherited_descriptor_is_served(command: list[str], folder: Path, kind: str) -> None:
    """Ours: FIELD 69; as systemd hands it over, and its file is systemd's."""
    path = folder / "mcp.sock"
    if kind == "tcp":
        listening = socket.create_server(("127.0.0.1", 0))
    else:
        listening = socket.socket(socket.AF_UNIX)
        listening.bind(os.fspath(path))
        listening.listen()
    with listening:
        fd = listening.fileno()
        with serving(command, "--fd", str(fd), pass_fds=(fd,)) as (process, line):
            assert f"http on descriptor {fd}" in line
            for _ in range(3):
                client = unix(path) if kind == "unix" else socket.create_connection(listening.getsockname(), DEADLINE)
                assert ask(client) == "hello"
            process.send_signal(signal.SIGTERM)
            assert process.wait(DEADLINE) == 0
        assert kind == "tcp" or path.exists()


@pytest.mark.parametrize(
    ("what", "why"),
    [
        ("closed", "it is not open"),
        ("file", "it is no socket"),
        ("datagram", "it is a socket without connections"),
        ("connection", "it is a connection"),
    ],
)
def test_a_descriptor_that_is_no_listening_socket_is_told_in_one_line(
    command: list[str], what: str, why: str, tmp_path: Path
) -> None:
    """Ours: FIELD 69."""
    connection, other = socket.socketpair()
    datagram = socket.socket(type=socket.SOCK_DGRAM)
    with connection, other, datagram, (tmp_path / "file").open("w") as file:
        fds = {"closed": 77, "file": file.fileno(), "datagram": datagram.fileno(), "connection": connection.fileno()}
        fd = fds[what]
        passed = (fd,) if what != "closed" else ()
        done = subprocess.run(
            [*command, "--fd", str(fd)],
            pass_fds=passed,
            capture_output=True,
            env=environment(),
            cwd=ROOT,
            timeout=DEADLINE,
        )
    assert done.returncode == 1
    assert done.stderr.count(b"\n") == 1, done.stderr.decode()
    assert f"cannot listen on descriptor {fd}: {why}" in done.stderr.decode()


# --- TLS --------------------------------------------------------------------------------------------------------------


@contextmanager
def tls(command: list[str], certificate: tuple[Path, Path]) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """Serve over TLS; give the process and its port."""
    cert, key = map(str, certificate)
    with serving(command, "--http", "--port", "0", "--ssl-cert", cert, "--ssl-key", key) as (process, line):
        assert "https://127.0.0.1:" in line, line
        yield process, int(line.partition("127.0.0.1:")[2].partition("/")[0])


def connect(port: int, certificate: tuple[Path, Path], **settings: Any) -> ssl.SSLSocket:
    """Connect with a check of the certificate."""
    context = ssl.create_default_context(cafile=str(certificate[0]))
    for name, value in settings.items():
        setattr(context, name, value)
    client = socket.create_connection(("127.0.0.1", port), DEADLINE)
    return context.wrap_socket(client, server_hostname="127.0.0.1")


def test_tls_is_served(command: list[str], certificate: tuple[Path, Path]) -> None:
    """Ours: large answers too, and nothing below TLS 1.2."""
    with tls(command, certificate) as (process, port):
        assert ask(connect(port, certificate)) == "hello"
        with connect(port, certificate, maximum_version=ssl.TLSVersion.TLSv1_2) as client:
            assert client.version() == "TLSv1.2"
        text = "x" * 400_000  # twice in the answer, which is not so large that it is warned of
        with connect(port, certificate) as client, client.makefile("rb") as stream:
            client.sendall(http(call("echo", {"text": text}), connection="close"))
            while stream.readline() != b"\r\n":
                pass
            assert read(stream.read())["result"]["content"][0]["text"] == text
        process.send_signal(signal.SIGTERM)
        assert process.communicate(timeout=DEADLINE)[1] == b""
        assert process.returncode == 0


def test_a_tls_client_that_says_no_goodbye_does_not_hold_the_end_up(
    command: list[str], certificate: tuple[Path, Path]
) -> None:
    """Ours: RELIABILITY, SIGTERM; kept connections end at once, whether or not anybody reads them."""
    with tls(command, certificate) as (process, port), connect(port, certificate) as idle:
        idle.sendall(http(call("echo", {"text": "kept"})))
        assert b"200 OK" in idle.recv(1 << 16)
        with connect(port, certificate) as other:
            other.sendall(ECHO)  # never read, answered with `Connection: close`
            started = time.monotonic()
            process.send_signal(signal.SIGTERM)
            assert process.wait(DEADLINE) == 0
            assert time.monotonic() - started < 2


@pytest.mark.parametrize("how", ["close", "unwrap", "drop"])
def test_a_tls_client_that_leaves_cancels_its_call_and_leaves_no_log(
    command: list[str], certificate: tuple[Path, Path], how: str
) -> None:
    """Spec: "Cancellation"; strangers must not fill a log, with noise in place of a handshake neither."""
    with tls(command, certificate) as (process, port):
        client = connect(port, certificate)
        client.sendall(http(call("hold")))
        _wait_for(port, certificate, running=1)
        if how == "unwrap":
            threading.Thread(target=_unwrap, args=(client,), daemon=True).start()
        elif how == "close":
            client.close()
        else:
            os.close(client.detach())
        _wait_for(port, certificate, running=0)
        for noise in (b"", ECHO, b"\x16\x03\x01" + b"x" * 200):
            with socket.create_connection(("127.0.0.1", port), DEADLINE) as stranger:
                stranger.sendall(noise)
        assert ask(connect(port, certificate)) == "hello"
        process.send_signal(signal.SIGTERM)
        assert process.communicate(timeout=DEADLINE)[1] == b""
        assert process.returncode == 0


def test_a_listen_stream_over_tls_ends_with_its_result(command: list[str], certificate: tuple[Path, Path]) -> None:
    """Spec: basic/patterns/subscriptions, "Graceful Closure"; whoever says no goodbye does not hold the end up."""
    message = http(listen("tls"), accept="text/event-stream")
    with (
        tls(command, certificate) as (process, port),
        connect(port, certificate) as client,
        client.makefile("rb") as stream,
    ):
        client.sendall(message)
        while ACKNOWLEDGED.encode() not in stream.readline():
            pass
        with connect(port, certificate) as leaver:
            leaver.sendall(message)
            assert leaver.recv(1 << 16)
        process.send_signal(signal.SIGTERM)
        rest = stream.read()
        assert rest.endswith(b"\r\n0\r\n\r\n")
        data = rest.partition(b"data: ")[2].partition(b"\n\n")[0]
        assert subscription_id(read(data)) == "tls"
        assert process.communicate(timeout=DEADLINE)[1] == b""
        assert process.returncode == 0


def _unwrap(client: ssl.SSLSocket) -> None:
    try:
        client.unwrap().close()
    except OSError:
        client.close()


def _wait_for(port: int, certificate: tuple[Path, Path], running: int) -> None:
    """Ask until so many calls run."""
    deadline = time.monotonic() + DEADLINE
    found = -1
    while found != running:
        assert time.monotonic() < deadline
        with connect(port, certificate) as client, client.makefile("rb") as stream:
            client.sendall(http(call("counts"), connection="close"))
            data = stream.read()
        found = msgspec.json.decode(data.partition(b"\r\n\r\n")[2])["result"]["structuredContent"]["running"]


@pytest.mark.parametrize("half", ["--ssl-cert", "--ssl-key"])
def test_half_of_a_certificate_is_a_usage_error(half: str, tmp_path: Path) -> None:
    """Ours: exit code 2, and what is missing."""
    command = [*PLAIN, "--http", half, str(tmp_path / "x.pem")]
    done = subprocess.run(command, capture_output=True, env=environment(), cwd=ROOT, timeout=DEADLINE)
    assert (done.returncode, done.stderr) == (2, b"leanmcp: TLS needs both --ssl-cert and --ssl-key\n")


def test_a_certificate_that_is_not_there_is_told_in_one_line(tmp_path: Path) -> None:
    """Ours: with the file's name."""
    path = str(tmp_path / "missing.pem")
    command = [*PLAIN, "--http", "--port", "0", "--ssl-cert", path]
    done = subprocess.run(
        [*command, "--ssl-key", path], capture_output=True, env=environment(), cwd=ROOT, timeout=DEADLINE
    )
    assert done.returncode == 1
    assert done.stderr.count(b"\n") == 1
    assert "missing.pem" in done.stderr.decode()
