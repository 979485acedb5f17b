"""Each command against the same server in process, over HTTP, as a command, and from an mcp.json."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from tests.support.processes import DEADLINE, ROOT, environment, http_server
from tests.support.shell import leanmcp

SERVER = ROOT / "tests" / "fixtures" / "shell.py"
PROGRAM = [sys.executable, "-m", "leanmcp", "run", str(SERVER)]
WAYS = ("file", "object", "module", "http", "unix", "program", "entry", "http entry")


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """The server over HTTP."""
    with http_server(SERVER) as server:
        yield server.url


@pytest.fixture(scope="module")
def socket(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The server on a Unix socket."""
    path = tmp_path_factory.mktemp("socket") / "mcp.sock"
    process = subprocess.Popen([*PROGRAM, "--uds", str(path)], stderr=subprocess.PIPE, env=environment())
    try:
        assert process.stderr is not None
        assert b"demo" in process.stderr.readline()
        yield path
    finally:
        process.terminate()
        process.communicate(timeout=DEADLINE)


Words = Callable[..., list[str]]


@pytest.fixture(params=WAYS)
def words(request: pytest.FixtureRequest, url: str, socket: Path, tmp_path: Path) -> Words:
    """Return what turns a command into words that reach the server in one of the ways."""
    way = request.param
    config = tmp_path / "hosts.json"
    entries = {
        "local": {"command": sys.executable, "args": PROGRAM[1:], "env": {"PYTHONPATH": str(ROOT)}},
        "remote": {"type": "http", "url": url, "headers": {"X-Who": "anna"}},
    }
    config.write_bytes(msgspec.json.encode({"mcpServers": entries}))

    def made(command: str, *rest: str) -> list[str]:
        if way == "program":
            return [command, *rest, "--env", f"PYTHONPATH={ROOT}", "--", *PROGRAM]
        target = {
            "file": [str(SERVER)],
            "object": [f"{SERVER}:mcp"],
            "module": ["tests.fixtures.shell:mcp"],
            "http": [url],
            "unix": [f"unix:{socket}"],
            "entry": ["local", "--config", str(config)],
            "http entry": ["remote", "--config", str(config)],
        }[way]
        return [command, *target, *rest]

    return made


def test_every_command_reaches_every_kind_of_server(words: Words) -> None:
    """Ours: U19; the same words and the same output everywhere."""
    for command, printed in (
        (["call", "add", "a=1", "b=2"], "3\n"),
        (["call", "say", "text=5", "tags=a", "tags=5", "numbers=7", "loud=True"], "'5' ['a', '5'] [7] True\n"),
        (["read", "lib://hours"], "9 to 18"),
        (["read", "lib://books/7"], "book 7"),
        (["prompt", "review", "code=x"], "user:\nReview x in python.\n"),
        (["complete", "review", "language=ru"], "rust\n"),
    ):
        done = leanmcp(*words(*command), cwd=ROOT)
        assert (done.returncode, done.stdout) == (0, printed), done.stderr
    done = leanmcp(*words("list"), cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert "  add(a: integer, b: integer = 1)" in done.stdout
    for section in ("tools", "resources", "templates", "prompts"):
        assert f"{section}\n" in done.stdout
    done = leanmcp(*words("discover", "--json"), cwd=ROOT)
    found = msgspec.json.decode(done.stdout)
    assert found["server"] == {"name": "demo", "version": "2.0", "description": "For tests."}
    assert (found["protocolVersion"], found["instructions"]) == ("2026-07-28", "Be nice.\nBe quick.")
    done = leanmcp(*words("call", "fail", "why=no luck"), cwd=ROOT)
    assert (done.returncode, done.stdout, done.stderr.splitlines()[-1]) == (1, "", "no luck")


def test_entries_are_found_in_the_folder_and_their_variables_filled_in(tmp_path: Path, url: str) -> None:
    """Ours: `${VAR}` as the common hosts write it; a file that is given explicitly comes first."""
    (tmp_path / ".mcp.json").write_bytes(
        msgspec.json.encode(
            {
                "mcpServers": {
                    "local": {
                        "command": "${PYTHON}",
                        "args": ["-m", "leanmcp", "run", "${workspaceFolder}/env.py"],
                        "env": {"PYTHONPATH": "${env:ROOT}", "GREETING": "${GREETING:-hello}"},
                    },
                    "remote": {"url": "${URL}"},
                }
            }
        )
    )
    (tmp_path / "env.py").write_text(
        "import os\nfrom leanmcp import MCPServer\nmcp = MCPServer('env')\n@mcp.tool\ndef show(name: str) -> str:\n"
        "    return os.environ.get(name, 'nothing')\n"
    )
    known: dict[str, str] = {"PYTHON": sys.executable, "ROOT": str(ROOT), "URL": url}
    shown = ["call", "local", "show", "name=GREETING"]

    def said(*words: str, **variables: str) -> str:
        return leanmcp(*words, cwd=tmp_path, stdin=b"", **known, **variables).stdout

    assert said(*shown) == "hello\n"
    assert said(*shown, GREETING="salve") == "salve\n"
    assert said(*shown, "--env", "GREETING=hej") == "hej\n"
    assert said(*shown, "--env", "GREETING", GREETING="ciao") == "ciao\n"
    assert said("call", "remote", "add", "a=1") == "2\n"
    (tmp_path / "other.json").write_text('{"servers": {"local": {"url": "${URL}"}}}')
    assert said("call", "local", "add", "a=1", "--config", "other.json") == "2\n"


def test_variables_and_folder_of_a_server_that_is_started_here(tmp_path: Path) -> None:
    """Ours: --env and --cwd mean the same for a file and for a command."""
    (tmp_path / "env.py").write_text(
        "import os\nfrom leanmcp import MCPServer\nmcp = MCPServer('env')\n@mcp.tool\ndef show() -> str:\n"
        "    return os.environ['GREETING'] + ' ' + os.path.basename(os.getcwd())\n"
    )
    folder = tmp_path / "inner"
    folder.mkdir()
    options = ["--env", "GREETING=hej", "--cwd", "inner"]
    assert leanmcp("call", "env.py", "show", *options, cwd=tmp_path).stdout == "hej inner\n"
    program = ["--env", f"PYTHONPATH={ROOT}", "--", sys.executable, "-m", "leanmcp", "run", "../env.py"]
    assert leanmcp("call", "show", *options, *program, cwd=tmp_path).stdout == "hej inner\n"


def test_headers_and_tokens_are_sent(tmp_path: Path) -> None:
    """Ours: --header, --token, LEANMCP_TOKEN and the headers of an entry, whose own come last."""
    file = tmp_path / "headers.py"
    file.write_text(
        "from leanmcp import Context, MCPServer\nmcp = MCPServer('headers')\n@mcp.tool\n"
        "async def show(ctx: Context) -> str:\n"
        "    return f\"{ctx.headers.get('authorization')} {ctx.headers.get('x-who')}\"\n"
    )
    with http_server(file) as server:
        config = tmp_path / "mcp.json"
        entry = {"url": server.url, "headers": {"X-Who": "entry", "Authorization": "Bearer entry"}}
        config.write_bytes(msgspec.json.encode({"mcpServers": {"it": entry, "bare": {"url": server.url}}}))
        call = ["call", server.url, "show"]
        assert leanmcp(*call).stdout == "None None\n"
        assert leanmcp(*call, "--token", "t1", "--header", "X-Who: anna").stdout == "Bearer t1 anna\n"
        assert leanmcp(*call, LEANMCP_TOKEN="t2").stdout == "Bearer t2 None\n"
        assert leanmcp("call", "it", "show", cwd=tmp_path, LEANMCP_TOKEN="t2").stdout == "Bearer entry entry\n"
        assert leanmcp("call", "bare", "show", cwd=tmp_path, LEANMCP_TOKEN="t2").stdout == "None None\n"
        assert leanmcp("call", "it", "show", "--token", "t3", cwd=tmp_path).stdout == "Bearer t3 entry\n"


def test_listen_prints_changes_until_the_server_ends(tmp_path: Path) -> None:
    """Ours: a line for each event, at once, text or JSON."""
    file = tmp_path / "changing.py"
    file.write_text(
        "from leanmcp import MCPServer\nmcp = MCPServer('changing')\n"
        "@mcp.resource('lib://x')\ndef x() -> str: return ''\n"
        "@mcp.tool\ndef change() -> None:\n    mcp.notify_resource_updated('lib://x')\n    mcp.notify_tools_changed()\n"
    )
    with http_server(file) as server:
        command = [sys.executable, "-m", "leanmcp", "listen", server.url, "tools", "lib://x"]
        processes = [
            subprocess.Popen([*command, *more], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment())
            for more in ([], ["--json"])
        ]
        try:
            for process in processes:
                assert process.stderr is not None
                assert process.stderr.readline() == b"listening to tools, lib://x (Ctrl-C stops)\n"
            assert leanmcp("call", server.url, "change").returncode == 0
            for process, expected in zip(
                processes,
                (
                    {b"tools\n", b"updated lib://x\n"},
                    {b'{"event":"tools"}\n', b'{"event":"updated","uri":"lib://x"}\n'},
                ),
                strict=True,
            ):
                assert process.stdout is not None
                assert {process.stdout.readline(), process.stdout.readline()} == expected
            server.process.terminate()
            for process in processes:
                _, errors = process.communicate(timeout=DEADLINE)
                assert (process.returncode, errors) == (0, b"the server has ended the subscription\n")
        finally:
            for process in processes:
                if process.poll() is None:
                    process.kill()
                    process.communicate(timeout=DEADLINE)


def test_verbose_prints_what_the_server_logs(tmp_path: Path) -> None:
    """Ours: -v, cleaned; without it nothing."""
    file = tmp_path / "old.py"
    file.write_text(LOGGING)
    command = ["call", "log", "--mode", "legacy", "--", sys.executable, str(file)]
    assert leanmcp(*command).stderr == ""
    verbose = leanmcp(*command[:2], "-v", *command[2:]).stderr.splitlines()
    assert verbose[1:] == ["info db: \\x1b[31mslow", "notifications/tools/list_changed {}"]


LOGGING = """
import json, sys

def send(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)

for line in sys.stdin:
    message = json.loads(line)
    method, number = message.get("method"), message.get("id")
    if method == "initialize":
        info = {"name": "old", "version": "1"}
        send(id=number, result={"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info})
    elif method == "tools/list":
        send(id=number, result={"tools": [{"name": "log", "inputSchema": {"type": "object"}}]})
    elif method == "tools/call":
        send(method="notifications/message", params={"level": "info", "logger": "db", "data": "\\x1b[31mslow"})
        send(method="notifications/tools/list_changed")
        send(id=number, result={"content": []})
"""
