"""Processes: start line, loops, lifespan, serving inside a loop of one's own."""

from __future__ import annotations

import asyncio
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from leanmcp import MCPServer
from leanmcp.errors import BindError
from tests.support.processes import DEADLINE, ROOT, call, encode, environment, http, http_server, run_stdio
from tests.support.spec import read
from tests.support.wire import Wire

FIXTURE = ROOT / "tests" / "fixtures" / "tools.py"

COUNTING = """
from contextlib import asynccontextmanager
from leanmcp import Context, MCPServer
import sys

@asynccontextmanager
async def lifespan(server):
    print("entered", file=sys.stderr, flush=True)
    yield 7
    print("left", file=sys.stderr, flush=True)

mcp = MCPServer("counting", lifespan=lifespan)

@mcp.tool
async def value(ctx: Context[int]) -> int:
    "Return the value."
    return ctx.lifespan
"""

WITHOUT_UVLOOP = """
import sys
sys.modules["uvloop"] = None
from leanmcp.cli import main
sys.exit(main(sys.argv[1:]))
"""


def test_start_prints_one_line(tmp_path: Path) -> None:
    """Ours: U6."""
    file = tmp_path / "server.py"
    source = "from leanmcp import MCPServer\nmcp = MCPServer('demo')\n@mcp.tool\ndef f() -> int: 'doc'; return 1\n"
    file.write_text(source)
    with http_server(file) as process:
        assert process.started == f'leanmcp 0.1.0 "demo" 1 tool http://127.0.0.1:{process.port}/mcp (Ctrl-C stops)\n'
        process.process.send_signal(signal.SIGTERM)
        _, rest = process.process.communicate(timeout=DEADLINE)
        assert rest == b""


def test_stdio_is_silent_when_it_is_no_terminal() -> None:
    """Ours: U6."""
    messages, errors, code = run_stdio(FIXTURE, encode(call("echo", {"text": "hi"})) + b"\n")
    assert (len(messages), errors, code) == (1, "", 0)


def test_lifespan_is_entered_once_for_a_process_on_http(tmp_path: Path) -> None:
    """Ours: FIELD row 6."""
    file = tmp_path / "server.py"
    file.write_text(COUNTING)
    with (
        http_server(file) as process,
        socket.create_connection(("127.0.0.1", process.port), DEADLINE) as client,
        client.makefile("rb") as stream,
    ):
        assert process.started.startswith("entered\n")
        for number in range(100):
            client.sendall(http(call("value", {}, number)))
            assert b"200 OK" in stream.readline()
            length = 0
            while (line := stream.readline()) != b"\r\n":
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            assert read(stream.read(length))["result"]["structuredContent"] == {"result": 7}
        process.process.send_signal(signal.SIGTERM)
        _, rest = process.process.communicate(timeout=DEADLINE)
    assert rest == b"left\n"


def test_lifespan_is_left_at_end_of_input(tmp_path: Path) -> None:
    """Ours: FIELD row 6, on stdio."""
    file = tmp_path / "server.py"
    file.write_text(COUNTING)
    messages, errors, _ = run_stdio(file, encode(call("value")) + b"\n")
    assert messages[0]["result"]["structuredContent"] == {"result": 7}
    assert errors == "entered\nleft\n"


def test_lifespan_that_waits_for_ever_is_cancelled(tmp_path: Path) -> None:
    """Ours: FIELD 25; a group of tasks that run for ever keeps no server whose client has gone."""
    file = tmp_path / "server.py"
    file.write_text(
        "import asyncio\nfrom contextlib import asynccontextmanager\nimport leanmcp.slow_lifespan\n"
        "leanmcp.slow_lifespan._MOST = 0.1\n\n@asynccontextmanager\nasync def lifespan(server):\n"
        "    async with asyncio.TaskGroup() as group:\n        task = group.create_task(asyncio.sleep(60))\n"
        "        task.add_done_callback(print)\n        yield\n\nmcp = leanmcp.MCPServer('x', lifespan=lifespan)\n"
    )
    _, log, code = run_stdio(file, b"")
    assert "<Task cancelled" in log
    assert log.endswith("TimeoutError\n")
    assert code == 1


def test_both_transports_work_on_asyncios_own_loop() -> None:
    """Ours: uvloop is used where it is installed, and not needed."""
    command = [sys.executable, "-c", WITHOUT_UVLOOP, "run", str(FIXTURE)]
    data = b"".join(encode(call("echo", {"text": str(number)}, number)) + b"\n" for number in range(500))
    done = subprocess.run(command, input=data, capture_output=True, timeout=DEADLINE, env=environment())
    assert len(done.stdout.splitlines()) == 500
    assert (done.stderr, done.returncode) == (b"", 0)

    process = subprocess.Popen([*command, "--http", "--port", "0"], stderr=subprocess.PIPE, env=environment())
    try:
        assert process.stderr is not None
        port = int(process.stderr.readline().split(b"127.0.0.1:")[1].split(b"/")[0])
        address = ("127.0.0.1", port)
        with socket.create_connection(address, DEADLINE) as client, client.makefile("rb") as stream:
            client.sendall(http(call("add", {"a": 1, "b": 2}), connection="close"))
            answer = stream.read()
        assert b'"structuredContent":{"result":3}' in answer
        process.send_signal(signal.SIGTERM)
        assert process.wait(DEADLINE) == 0
    finally:
        process.kill()
        process.communicate(timeout=DEADLINE)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def test_server_runs_inside_a_loop_of_ones_own(capsys: pytest.CaptureFixture[str]) -> None:
    """Ours: run_async serves until it is cancelled, and gives signals back."""
    mcp = MCPServer("inner")

    @mcp.tool
    async def echo(text: str) -> str:
        return text

    async def main() -> bytes:
        port, before = _free_port(), signal.getsignal(signal.SIGTERM)
        async with asyncio.timeout(DEADLINE):
            serving = asyncio.create_task(mcp.run_async("http", port=port))
            while "http://" not in capsys.readouterr().err:
                await asyncio.sleep(0)
            assert signal.getsignal(signal.SIGTERM) is not before
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(http(call("echo", {"text": "hi"}), connection="close"))
            answer = await reader.read()
            writer.close()
            serving.cancel()
            with pytest.raises(asyncio.CancelledError):
                await serving
            assert signal.getsignal(signal.SIGTERM) is before
        return answer

    assert b'"structuredContent":{"result":"hi"}' in asyncio.run(main())


def test_taken_port_is_an_error_that_says_what_to_do() -> None:
    """Ours: UX, port in use."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(BindError, match="the port is in use; choose another"):
            asyncio.run(MCPServer("x").run_async("http", port=taken.getsockname()[1]))


def test_unknown_transport_is_refused() -> None:
    """Ours: U21."""
    with pytest.raises(ValueError, match="unknown transport 'tcpp'"):
        asyncio.run(MCPServer("x").run_async("tcpp"))


def test_line_that_is_not_json_gets_an_error_and_a_hint() -> None:
    """Ours: U8; the hint is for a person who types into a server, and comes once a second at most."""
    messages, errors, _ = run_stdio(FIXTURE, b"hello\nhello\n" + encode(call("echo", {"text": "hi"})) + b"\n")
    assert [message.get("error", {}).get("code") for message in messages] == [-32700, -32700, None]
    (hint,) = errors.splitlines()
    assert "leanmcp call FILE TOOL" in hint


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_worker_that_loads_the_file_serves_nothing(tmp_path: Path, method: str) -> None:
    """Ours: on HTTP it would serve for ever, or find the port taken, and never come to its work."""
    file = tmp_path / "server.py"
    file.write_text(
        "import multiprocessing\nfrom leanmcp import MCPServer\nmcp = MCPServer('pool')\n\n@mcp.tool\n"
        "def work(value: int) -> int:\n    'Work.'\n"
        f"    with multiprocessing.get_context('{method}').Pool(1) as pool:\n"
        "        return pool.apply(abs, (value,))\n\nmcp.run('http', port=0)\n"
    )
    process = subprocess.Popen([sys.executable, str(file)], stderr=subprocess.PIPE, env=environment())
    try:
        assert process.stderr is not None
        line = process.stderr.readline().decode()
        with Wire(int(line.partition("127.0.0.1:")[2].partition("/")[0])) as wire:
            assert wire.send(http(call("work", {"value": -4}))).answer().text == "4"
        process.send_signal(signal.SIGTERM)
        assert process.communicate(timeout=DEADLINE)[1] == b""
        assert process.returncode == 0
    finally:
        process.kill()
        process.communicate(timeout=DEADLINE)
