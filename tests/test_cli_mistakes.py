"""Mistakes at the command line: what is said, word for word, and the exit code. Never a traceback."""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec
import pytest

from leanmcp.cli.faults import coded
from tests.support.processes import ROOT
from tests.support.shell import leanmcp

SERVER = ROOT / "tests" / "fixtures" / "shell.py"
ADD = "add(a: integer, b: integer = 1)"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with files that people get wrong."""
    folder = tmp_path_factory.mktemp("shell")
    (folder / "server.py").write_text(SERVER.read_text())
    (folder / "notes.txt").write_text("hi")
    (folder / "server.js").write_text("")
    (folder / "bytes").write_bytes(b"\xff")
    (folder / "two.py").write_text("from leanmcp import MCPServer\none = MCPServer('1')\ntwo = MCPServer('2')\n")
    (folder / "empty.py").write_text("x = 1\n")
    (folder / "mcp.json").write_bytes(
        msgspec.json.encode(
            {
                "mcpServers": {
                    "github": {"command": "no-such-program-here"},
                    "unset": {"url": "http://127.0.0.1:1/${NO_SUCH_VARIABLE}"},
                    "input": {"command": "x", "env": {"KEY": "${input:key}"}},
                    "old": {"type": "sse", "url": "http://127.0.0.1:1/sse"},
                    "neither": {"urll": "http://127.0.0.1:1/"},
                    "wrong": {"command": "x", "args": "y"},
                    "number": {"command": "x", "args": [5]},
                    "lists": {"command": "x", "env": ["A=1"]},
                    "secret": {"command": "x", "env": {"PIN": 4711}},
                    "line": "python x.py",
                    "words": {"command": ["python", "x.py"]},
                    "both": {"command": "x", "url": "http://127.0.0.1:1/mcp"},
                    "blank": {"command": ""},
                    "slip": {"command": "x", "argz": ["y"], "disabled": False, "envFile": ".env"},
                    "other": {"serverUrl": "http://127.0.0.1:1/mcp"},
                    "home": {"command": "python", "args": ["~/x.py"]},
                }
            }
        )
    )
    (folder / "broken.json").write_text("{")
    (folder / "other.json").write_text("[]")
    return folder


LOCAL: list[tuple[list[str], int, str]] = [
    # The command and its options.
    (["cal", "server.py"], 2, "unknown command 'cal'; did you mean 'call'?"),
    (
        ["server.py"],
        2,
        "'server.py' is no command; did you mean `leanmcp run server.py` or `leanmcp list server.py`?",
    ),
    (
        ["run", "server.py", "--http", "--allowed-host", "http://mcp.example.com"],
        2,
        "allowed host 'http://mcp.example.com': a host is a name alone, 'mcp.example.com'",
    ),
    (
        ["run", "server.py", "--http", "--allowed-origin", "example.com"],
        2,
        "allowed origin 'example.com': an origin is a scheme and a name, 'https://example.com'",
    ),
    (
        ["run", "server.py", "--http", "--reload", "--host", "http://localhost"],
        2,
        "host 'http://localhost': a host is a name alone, 'localhost'",
    ),
    (["--verison"], 2, "unknown option '--verison'; did you mean '--version'?; options of a command follow it"),
    (["call", "server.py", "add", "a=1", "--jsn"], 2, "unknown option '--jsn'; did you mean '--json'?"),
    (
        ["call", "server.py", "add", "--timeout", "soon"],
        2,
        "argument --timeout: 'soon' is no number of seconds; see `leanmcp call --help`",
    ),
    (
        ["call", "server.py", "add", "--output"],
        2,
        "argument --output: expected one argument; see `leanmcp call --help`",
    ),
    (
        ["list", "server.py", "--mode", "2024-11-05"],
        2,
        "--mode '2024-11-05': give 'auto', 'legacy' or a version: 2026-07-28, 2025-11-25, 2025-06-18",
    ),
    (["list", "server.py", "tolls"], 2, "unknown list 'tolls'; did you mean 'tools'?"),
    (["discover", "server.py", "x"], 2, "'x' is one word too many; discover takes a server only"),
    (["list", "server.py", "--token", "x"], 2, "--token is an option of HTTP; server.py runs in this process"),
    (
        ["list", "http://127.0.0.1:1/mcp", "--cwd", "/"],
        2,
        "--cwd is an option of servers that are started here; http://127.0.0.1:1/mcp runs already",
    ),
    (["list", "http://h/", "--header", "X"], 2, "--header 'X': write 'Name: value'"),
    (
        ["list", "http://h/", "--header", "Host: x"],
        2,
        "header 'Host' belongs to the protocol; the client sets it itself",
    ),
    (
        ["list", "http://h/", "--header", "Authorization: x", "--token", "y"],
        2,
        "--token and --header both set Authorization; give one of them",
    ),
    (
        ["list", "server.py", "--env", "NO_SUCH_VARIABLE"],
        2,
        "--env NO_SUCH_VARIABLE: there is no such variable here to hand on; write NO_SUCH_VARIABLE=VALUE",
    ),
    # The target.
    (
        ["list"],
        2,
        "name a server first: a Python file, a URL, an entry of mcp.json, or `-- PROGRAM ...` at the end",
    ),
    (
        ["list", "--"],
        2,
        "behind `--` the command that starts a server is expected, such as `-- python server.py`",
    ),
    (["list", "sever.py"], 2, "no file 'sever.py'; did you mean 'server.py'?"),
    (["list", "server.py:mpc"], 2, "no object 'mpc' in server.py; did you mean 'mcp'?"),
    (["list", "two.py"], 2, "several servers in two.py; choose one: two.py:one, two.py:two"),
    (["list", "empty.py"], 2, 'no MCPServer in empty.py; write `mcp = MCPServer("name")` at its top level'),
    (
        ["list", "server.js"],
        2,
        "'server.js' is no Python file; to start it, put `-- node server.js` at the end instead",
    ),
    (
        ["list", "python server.py"],
        2,
        "no file 'python server.py'; to start a server by its command, put `-- python server.py` at the end instead",
    ),
    (["list", "localhost:8000"], 2, "'localhost:8000' is no URL; did you mean 'http://localhost:8000/mcp'?"),
    (["list", "http:/localhost/mcp"], 2, "'http:/localhost/mcp' is no URL; did you mean 'http://localhost/mcp'?"),
    (
        ["list", "ws://localhost/mcp"],
        2,
        "'ws://localhost/mcp': MCP is spoken over http:// and https://, not ws://",
    ),
    (["list", "githb"], 2, "no file, module or server 'githb'; did you mean 'github'?"),
    (
        ["list", "x", "--config", "broken.json"],
        2,
        "broken.json is no JSON: line 1 column 2: Expecting property name enclosed in double quotes",
    ),
    (["list", "x", "--config", "none.json"], 2, "none.json: No such file or directory"),
    (
        ["list", "x", "--config", "other.json"],
        2,
        'other.json has no servers; it is expected to begin with {"mcpServers": {"NAME": {...}}}',
    ),
    (["list", "gitub", "--config", "mcp.json"], 2, "mcp.json has no server 'gitub'; did you mean 'github'?"),
    (
        ["list", "unset"],
        2,
        "mcp.json: server 'unset': ${NO_SUCH_VARIABLE} is not set; export NO_SUCH_VARIABLE, or write "
        "${NO_SUCH_VARIABLE:-default}",
    ),
    (
        ["list", "input"],
        2,
        "mcp.json: server 'input': ${input:key} is no variable; give the value with --env or --header",
    ),
    (
        ["list", "old"],
        2,
        "mcp.json: server 'old': the HTTP+SSE transport of 2024-11-05 is not spoken here; give a Streamable HTTP URL",
    ),
    (
        ["list", "neither"],
        2,
        "mcp.json: server 'neither': there is no member 'urll'; did you mean 'url'?",
    ),
    (["list", "wrong"], 2, "mcp.json: server 'wrong': `args` is a list of texts: write [\"y\"]"),
    (["list", "number"], 2, "mcp.json: server 'number': `args` is a list of texts: write \"5\" for 5"),
    (["list", "lists"], 2, 'mcp.json: server \'lists\': `env` is an object of texts: write {"NAME": "value"}'),
    (
        ["list", "secret"],
        2,
        "mcp.json: server 'secret': `env` is an object of texts: put the value of PIN between quotation marks",
    ),
    (
        ["list", "line"],
        2,
        'mcp.json: server \'line\': an entry is an object; write {"command": "python", "args": ["x.py"]}',
    ),
    (
        ["list", "words"],
        2,
        "mcp.json: server 'words': `command` is one text; what stands behind it goes into \"args\"",
    ),
    (["list", "both"], 2, "mcp.json: server 'both' needs `command` or `url`, one of them; it has both"),
    (["list", "blank"], 2, "mcp.json: server 'blank' needs `command` or `url`, one of them; command is empty"),
    (["list", "slip"], 2, "mcp.json: server 'slip': there is no member 'argz'; did you mean 'args'?"),
    (["list", "other"], 2, "mcp.json: server 'other': there is no member 'serverUrl'; did you mean 'url'?"),
    (["list", "home"], 2, "mcp.json: server 'home': '~/x.py' is for a shell; write '${userHome}/x.py'"),
    (
        ["list", "github"],
        3,
        "no-such-program-here cannot be started: there is no program 'no-such-program-here' in PATH; give its whole "
        "path",
    ),
    # Names and arguments.
    (["call", "server.py", "ad", "a=1"], 2, "no tool 'ad' in server.py; did you mean 'add'?"),
    (["call", "server.py", "ADD", "a=1"], 2, "no tool 'ADD' in server.py; did you mean 'add'?"),
    (
        ["call", "server.py"],
        2,
        "name a tool of 'demo': add, say, fail, steps, endless, book, page, evil, media, table",
    ),
    (["call", "server.py", "add", "a"], 2, "argument 'a': write name=value, or name:=json"),
    (["call", "server.py", "add", "a:={"], 2, "argument 'a' is not JSON: the JSON ends too early"),
    (["call", "server.py", "add", "b=1"], 2, f"tool 'add' needs a; {ADD}"),
    (["call", "server.py", "add", "a=1", "bb=1"], 2, f"tool 'add' has no argument 'bb'; did you mean 'b'?; {ADD}"),
    (["call", "server.py", "add", "a=1", "zzz=1"], 2, f"tool 'add' has no argument 'zzz'; {ADD}"),
    (["call", "server.py", "add", "a=1", "a=2"], 2, "argument 'a' is given 2 times"),
    (["call", "server.py", "add", "--args", "[1]"], 2, '--args: a JSON object is expected, such as {"a": 1}'),
    (["call", "server.py", "add", "--args", "{"], 2, "--args is not JSON: the JSON ends too early"),
    (["call", "server.py", "add", "@none"], 2, "argument '@none': none: No such file or directory"),
    (
        ["call", "server.py", "say", "text=@anna"],
        2,
        "argument 'text=@anna': anna: No such file or directory; a text that begins with @ is written with two, @@",
    ),
    (["call", "server.py", "say", "text=@bytes"], 2, "argument 'text' is no UTF-8 text"),
    (["call", "server.py", "media", "--output", "notes.txt"], 2, "--output notes.txt: File exists"),
    (
        ["read", "server.py", "lib://hour"],
        2,
        "no resource 'lib://hour' in server.py (Resource not found: 'lib://hour': did you mean 'lib://hours'?)",
    ),
    (["read", "server.py"], 2, "name a URI of 'demo': lib://hours, lib://logo, lib://books/{number}"),
    (["prompt", "server.py", "reviews"], 2, "no prompt 'reviews' in server.py; did you mean 'review'?"),
    (["prompt", "server.py", "review"], 2, "prompt 'review' needs code; review(code, language?)"),
    (
        ["prompt", "server.py", "review", "code=x", "lang=y"],
        2,
        "prompt 'review' has no argument 'lang'; did you mean 'language'?; review(code, language?)",
    ),
    (
        ["complete", "server.py", "review"],
        2,
        "give a prompt or a resource template, and the argument to complete as name=start",
    ),
    (["listen", "server.py", "tool"], 2, "'tool' is neither a list nor a URI; did you mean 'tools'?"),
    # The server.
    (
        ["call", "server.py", "book"],
        1,
        "server.py has a question, which nobody can answer here; run the command on a terminal (-32021)",
    ),
    (
        ["list", "http://127.0.0.1:1/mcp"],
        3,
        "Cannot connect to http://127.0.0.1:1/mcp: connection refused, nobody listens on port 1; start the server or "
        "correct the address",
    ),
    (
        ["list", "unix:none.sock"],
        3,
        "Cannot connect to unix:{folder}/none.sock: there is no such socket; start the server or correct the path",
    ),
    (
        ["list", "--", "./server.py"],
        3,
        "./server.py cannot be started: '{folder}/./server.py' is not executable; write `-- {python} ./server.py`",
    ),
    (
        ["list", "--", "{python}", "-c", "raise SystemExit(7)"],
        3,
        "{python} -c 'raise SystemExit(7)' exited with code 7 before it had answered",
    ),
]


@pytest.mark.parametrize(
    ("words", "code", "said"), LOCAL, ids=lambda value: " ".join(value) if isinstance(value, list) else ""
)
def test_mistake_is_told_in_a_line(folder: Path, words: list[str], code: int, said: str) -> None:
    """Ours: U13, U20, U21."""
    filled = [word.replace("{python}", sys.executable) for word in words]
    done = leanmcp(*filled, cwd=folder)
    expected = said.replace("{folder}", str(folder)).replace("{python}", sys.executable)
    assert (done.returncode, done.stdout, done.stderr) == (code, "", f"leanmcp: {coded(expected)}\n")


def test_resource_that_is_not_there_is_told_with_the_reason(tmp_path: Path) -> None:
    """Ours: U20: what the server says of it, and whether it has any."""
    lent = "from leanmcp import MCPServer, ResourceNotFoundError\nmcp = MCPServer('x')\n"
    lent += "@mcp.resource('books://7')\ndef book() -> str:\n    raise ResourceNotFoundError('it is lent.')\n"
    (tmp_path / "lent.py").write_text(lent)
    (tmp_path / "bare.py").write_text("from leanmcp import MCPServer\nmcp = MCPServer('x')\n")
    done = leanmcp("read", "lent.py", "books://7", cwd=tmp_path)
    expected = "leanmcp: no resource 'books://7' in lent.py (Resource not found: 'books://7': it is lent) [LM614]\n"
    assert (done.returncode, done.stderr) == (2, expected)
    done = leanmcp("read", "bare.py", "books://7", cwd=tmp_path)
    expected = "leanmcp: no resource 'books://7' in bare.py: the server has no resources [LM614]\n"
    assert (done.returncode, done.stderr) == (2, expected)


def test_lifespan_that_fails_is_told_with_its_place(tmp_path: Path) -> None:
    """Ours: U11; the user's own line, no traceback of ours."""
    file = tmp_path / "server.py"
    file.write_text(
        "from contextlib import asynccontextmanager\nfrom leanmcp import MCPServer\n\n\n@asynccontextmanager\n"
        "async def lifespan(server):\n    raise RuntimeError('no database')\n    yield\n\n\n"
        "mcp = MCPServer('x', lifespan=lifespan)\n"
    )
    done = leanmcp("list", file)
    assert (done.returncode, done.stderr) == (2, f"leanmcp: {file}:7: RuntimeError: no database [LM610]\n")


def test_standard_error_of_a_child_is_shown_once() -> None:
    """Ours: it is printed as it comes, and not again in the error."""
    code = "import sys; print('\\x1b[31mmissing key', file=sys.stderr); sys.exit(3)"
    done = leanmcp("list", "--", sys.executable, "-c", code)
    assert done.returncode == 3
    assert done.stderr.splitlines()[0] == "\\x1b[31mmissing key"
    assert len(done.stderr.splitlines()) == 2
    assert done.stderr.splitlines()[1].endswith("exited with code 3 before it had answered [LM626]")


def test_help_names_the_exit_codes_and_every_kind_of_target() -> None:
    """Ours: U20."""
    for words in (["--help"], ["help"], ["call", "--help"], ["help", "call"]):
        done = leanmcp(*words)
        assert (done.returncode, done.stderr) == (0, "")
        for text in ("exit codes:", "not authorized", "TARGET is one of", "-- npx -y"):
            assert text in done.stdout
    assert leanmcp().returncode == 2
    assert "usage: leanmcp COMMAND" in leanmcp().stderr
    for command in ("run", "list", "read", "prompt", "discover", "complete", "listen"):
        assert f"usage: leanmcp {command}" in leanmcp(command, "--help").stdout
