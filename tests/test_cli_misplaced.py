"""Words that are right at a wrong place, or in the spelling of another tool: what to type instead, word for word."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from leanmcp import Client, StdioServerParameters
from leanmcp.cli.faults import UsageError
from leanmcp.cli.options import bare_token
from leanmcp.errors import NotAnMCPServer
from tests.support.bad_http_server import answer, bad_server
from tests.support.mistakes import codes_of
from tests.support.processes import ROOT
from tests.support.shell import leanmcp

SERVER = (
    "from leanmcp import MCPServer\nmcp = MCPServer('demo')\n@mcp.tool\ndef add(a: int, b: int) -> int:\n    'Add.'\n"
    "    return a + b\n@mcp.tool\ndef greet(name: str, loud: bool = False, tags: list[str] = [], opts: dict = {}, "
    "when: int | None = None) -> str:\n    'Greet.'\n    return f'{name} {loud} {tags} {opts} {when}'\n"
    "if __name__ == '__main__':\n    mcp.run()\n"
)
COMMANDS = (
    "run, list, call, read, prompt, discover, complete, listen, install, check, migrate, explain, version, completion"
)
OF_RUN = (
    "--allowed-host, --allowed-origin, --cors, --fd, --help, --host, --http, --path, --port, --reload, --reload-dir, "
    "--ssl-cert, --ssl-key, --transport, --uds"
)
TWO = "'server.py' and `-- python server.py` are two servers; leave out one of them"
BEHIND = "a program that starts a server stands at the end, behind `--`: `leanmcp call add a=1 b=2 -- python server.py`"
VARIABLE = "a variable's name has letters, digits and _ only, and no digit in front"
NO_JSON = 'is no JSON; write \'tags=["x","y"]\', or each item as tags=...'

ROWS: list[tuple[str, list[str], str]] = [
    # Commands.
    *(
        ("LM601", [name, "server.py"], f"unknown command {name!r}; did you mean `leanmcp {meant}`?")
        for name, meant in (
            ("serve", "run"),
            ("start", "run"),
            ("dev", "run"),
            ("test", "run"),
            ("inspect", "list"),
            ("tools", "list"),
            ("uninstall", "install HOST NAME --remove"),
        )
    ),
    ("LM601", ["boom"], f"unknown command 'boom'; there is {COMMANDS}"),
    # Options.
    (
        "LM602",
        ["--json", "call"],
        "unknown option '--json'; there is --help, --version; options of a command follow it",
    ),
    (
        "LM602",
        ["run", "server.py", "--workers", "4"],
        "unknown option '--workers'; a server is one process; start several behind a proxy",
    ),
    ("LM602", ["run", "server.py", "--shell"], f"unknown option '--shell'; there is {OF_RUN}"),
    ("LM602", ["run", "server.py", "--repath"], "unknown option '--repath'; did you mean '--path'?"),
    ("LM602", ["call", "server.py", "add", "--a", "1"], "unknown option '--a'; an argument has no dashes: a=1"),
    ("LM602", ["call", "server.py", "add", "--a=1"], "unknown option '--a'; an argument has no dashes: a=1"),
    (
        "LM602",
        ["call", "server.py", "greet", "-name"],
        "unknown option '-name'; the tool stands behind the server, without an option; an argument has no dashes: "
        "name=VALUE",
    ),
    ("LM602", ["install", "cursor", "x", "--uninstall"], "unknown option '--uninstall'; did you mean '--remove'?"),
    (
        "LM602",
        ["install", "cursor", "npx", "-y", "foo"],
        "unknown option '-y'; the program that starts a server stands at the end, behind `--`, as in `-- npx -y ...`",
    ),
    ("LM602", ["install", "json", "server.py", "--env", "API KEY=3"], f"--env 'API KEY': {VARIABLE}"),
    ("LM602", ["list", "server.py", "--env", "3X=3"], f"--env '3X': {VARIABLE}"),
    (
        "LM602",
        ["list", "http://127.0.0.1:1/mcp", "--token", "Basic x"],
        "--token: a token has no blanks; for another scheme give --header 'Authorization: ...'",
    ),
    (
        "LM602",
        ["check", "server.py", "--ignore", "LC204", "LC206"],
        "'LC206' is one word too many; rules are joined by commas: --ignore LC204,LC206",
    ),
    ("LM602", ["check", "server.py", "LC206"], "'LC206' is one word too many; see `leanmcp check --help`"),
    # Hosts.
    (
        "LM602",
        ["install", "server.py", "cursor"],
        "unknown host 'server.py'; the host stands first: `leanmcp install cursor server.py`",
    ),
    ("LM602", ["install", "claude", "x"], "unknown host 'claude'; did you mean 'claude-desktop' or 'claude-code'?"),
    # What `run` takes.
    (
        "LM605",
        ["run", "https://example.com/mcp"],
        "'https://example.com/mcp' is no Python file: `run` serves one; `leanmcp list https://example.com/mcp` talks "
        "to a server",
    ),
    (
        "LM602",
        ["run", "--", "python", "server.py"],
        "'server.py' is one word too many; it serves a Python file itself, and takes no program: "
        "`leanmcp run server.py`",
    ),
    ("LM602", ["run", "server.py", "http"], "'http' is one word too many; to serve HTTP, write --http"),
    ("LM602", ["run", "server.py", "stdio"], "'stdio' is one word too many; leave it out: stdio is the default"),
    ("LM602", ["run", "server.py", "80"], "'80' is one word too many; the port is --http --port 80"),
    ("LM602", ["run", "server.py", "--http", "80"], "'80' is one word too many; the port is --port 80"),
    (
        "LM602",
        ["run", "server.py", "--http=80"],
        "argument --http: it takes no value; the port is --port 80; see `leanmcp run --help`",
    ),
    ("LM602", ["run", "-m", "shop"], "unknown option '-m'; name the module alone: `leanmcp run shop`"),
    # The order.
    ("LM603", ["call", "add", "server.py", "a=1"], "the server stands first: `leanmcp call server.py add a=1`"),
    ("LM603", ["list", "tools", "server.py"], "the server stands first: `leanmcp list server.py tools`"),
    ("LM603", ["read", "cfg://a", "server.py:mcp"], "the server stands first: `leanmcp read server.py:mcp cfg://a`"),
    ("LM603", ["call", "add", "http://h/", "a=1"], "the server stands first: `leanmcp call http://h/ add a=1`"),
    ("LM603", ["call", "add", "a=1", "b=2", "python", "server.py"], BEHIND),
    ("LM603", ["call", "python", "server.py", "add", "a=1", "b=2"], BEHIND),
    ("LM603", ["call", "server.py", "add", "a=1", "--", "python", "server.py"], TWO),
    (
        "LM603",
        ["call", "server.py", "greet", "--", "name=x"],
        "'name=x' is no program; arguments stand before `--`, and without it where the server is a file or URL",
    ),
    (
        "LM603",
        ["list", "--", "KEY=1", "python", "server.py"],
        "'KEY=1' is no program; a variable of the server's process is given with --env KEY=1",
    ),
    ("LM604", ["call", "add", "a=server.py"], "no file, module or server 'add'; there is joined"),
    # URLs.
    ("LM611", ["list", ":8961"], "':8961' is no URL; did you mean 'http://127.0.0.1:8961/mcp'?"),
    ("LM611", ["list", "8961"], "'8961' is no URL; did you mean 'http://127.0.0.1:8961/mcp'?"),
    # Arguments.
    (
        "LM614",
        ["call", "server.py", "add(a=1,b=2)"],
        "no tool 'add(a=1,b=2)' in server.py; arguments are words of their own, as in `add name=value`, without "
        "parentheses",
    ),
    (
        "LM615",
        ["call", "server.py", "add", '{"a":1}'],
        'argument \'{"a":1}\': all arguments at once are one JSON object behind --args: --args \'{"name": "value"}\'',
    ),
    (
        "LM615",
        ["call", "server.py", "add", "--args", "args.json"],
        "--args is not JSON; a file is given with an @: --args @args.json",
    ),
    ("LM615", ["call", "server.py", "add", "a", "=", "1"], "argument 'a': write a=1, without blanks"),
    ("LM615", ["call", "server.py", "add", "a", "=1"], "argument 'a': write a=1, without blanks"),
    ("LM615", ["call", "server.py", "add", "a=", "1"], "argument '1': write a=1, without blanks"),
    ("LM615", ["call", "server.py", "greet", "name:", "Anna"], "argument 'name:': write name=Anna"),
    ("LM615", ["call", "server.py", "add", "1", "2"], "argument '1': write name=value, or name:=json"),
    ("LM615", ["call", "server.py", "greet", "name=A", "tags=[x,y]"], f"argument 'tags': [x,y] {NO_JSON}"),
    ("LM615", ["call", "server.py", "greet", "name=A", "tags=['x', 'y']"], f"argument 'tags': ['x', 'y'] {NO_JSON}"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a server."""
    folder = tmp_path_factory.mktemp("misplaced")
    (folder / "server.py").write_text(SERVER)
    (folder / "mcp.json").write_text('{"mcpServers": {"joined": {"command": "python server.py"}}}')
    return folder


@pytest.mark.parametrize(
    ("code", "words", "said"), ROWS, ids=lambda value: " ".join(value) if isinstance(value, list) else ""
)
def test_what_was_meant_is_told_as_it_is_typed(folder: Path, code: str, words: list[str], said: str) -> None:
    """Ours: goals U10, U20: exactly this, with one code, and exit code 2."""
    done = leanmcp(*words, cwd=folder)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"leanmcp: {said} [{code}]\n")
    assert codes_of(said) == [code]


@pytest.mark.parametrize("word", ["-h", "--help", "help"])
def test_help_of_a_command_may_stand_before_it(word: str) -> None:
    """Ours: goal U20."""
    done = leanmcp(word, "call")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("usage: leanmcp call TARGET TOOL")


@pytest.mark.parametrize(
    ("words", "code", "out", "said"),
    [
        (
            ["tags=x,y"],
            0,
            "A False ['x,y'] {} None\n",
            "tags was sent with one item, 'x,y'; several are written tags=x tags=y",
        ),
        (["loud=yes"], 1, "", "loud=yes: did you mean loud=true?"),
        (["when=None"], 1, "", "when=None: did you mean when=null?"),
        (["opts={'x': 1}"], 1, "", "opts={'x': 1}: did you mean 'opts={\"x\":1}'?"),
        (["opts={x:1}"], 1, "", "opts={x:1}: did you mean 'opts={\"x\":1}'?"),
    ],
)
def test_a_value_in_another_spelling_is_named_behind_the_result(
    folder: Path, words: list[str], code: int, out: str, said: str
) -> None:
    """Ours: the call is made as it was typed; the note goes to standard error."""
    done = leanmcp("call", "server.py", "greet", "name=A", *words, cwd=folder)
    assert (done.returncode, done.stdout) == (code, out)
    assert done.stderr.splitlines()[-1] == f"leanmcp: {said}"


@pytest.mark.parametrize(
    "word", ["tags=x", "tags=Berlin, Germany", 'tags=["x,y"]', 'tags:=["x,y"]', "tags=[a", "tags=[]"]
)
def test_plain_values_of_a_list_are_taken_without_a_word(folder: Path, word: str) -> None:
    """Ours: no false alarm."""
    done = leanmcp("call", "server.py", "greet", "name=A", word, cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_tool_behind_the_program_is_told_once_the_server_has_named_its_tools(folder: Path) -> None:
    """Ours: goal U20."""
    program = [sys.executable, "server.py"]
    done = leanmcp("call", "--env", f"PYTHONPATH={ROOT}", "--", *program, "add", "a=1", cwd=folder)
    typed = f"leanmcp call add a=1 -- {sys.executable} server.py"
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[-1] == (
        f"leanmcp: name a tool of 'demo': add, greet; tool and arguments stand before `--`: `{typed}` [LM614]"
    )


def test_a_program_in_one_word_is_told_as_it_is_typed_and_as_mcp_json_has_it(folder: Path) -> None:
    """Ours: goal U20."""
    reason = "there is no program 'python server.py'"
    done = leanmcp("list", "--", "python server.py", cwd=folder)
    assert (
        done.stderr == f"leanmcp: 'python server.py' cannot be started: {reason}; write `-- python server.py` [LM627]\n"
    )
    done = leanmcp("list", "joined", cwd=folder)
    entry = '"command": "python", "args": ["server.py"]'
    assert done.stderr == f"leanmcp: 'python server.py' cannot be started: {reason}; write {entry} [LM627]\n"


@pytest.mark.parametrize("text", ["x", "Bearer x", "bearer  x"])
def test_a_token_may_be_given_with_its_scheme(text: str) -> None:
    """Ours: RFC 6750 2.1: a token has no blanks, so that the two are told apart."""
    assert bare_token(text, "--token") == "x"


def test_a_token_of_another_scheme_is_refused() -> None:
    """Ours: `Bearer Basic x` is nothing that a server knows."""
    with pytest.raises(UsageError, match=r"^LEANMCP_TOKEN: a token has no blanks"):
        bare_token("Basic x", "LEANMCP_TOKEN")


def test_a_program_that_is_not_here_is_installed_with_a_warning(tmp_path: Path) -> None:
    """Ours: the host may run elsewhere, or with another PATH."""
    file = tmp_path / "mcp.json"
    done = leanmcp("install", "cursor", "--config", file, "--name", "nope", "--", "no-such-program", "a")
    assert done.returncode == 0
    assert done.stderr.splitlines() == [
        "leanmcp: warning: there is no program 'no-such-program' in PATH here; the host may not find it",
        f"leanmcp: 'nope' added to {file}; Cursor knows it when it starts again",
    ]


def test_rules_of_check_and_messages_of_python_have_a_page() -> None:
    """Ours: goal U21."""
    done = leanmcp("explain", "LC201")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("LC201: tool-description\n\nA rule of `leanmcp check` (warning). ")
    done = leanmcp("explain", "lc999")
    assert (done.returncode, done.stderr) == (
        2,
        "leanmcp: there is no rule 'lc999'; `leanmcp check --rules` lists all rules\n",
    )
    assert leanmcp("explain", "No module named 'numpy'").stdout.startswith("LM608: ")


def test_a_far_code_is_not_proposed() -> None:
    """Ours: goal U21."""
    said = "leanmcp: there is no code 'LM888'; `leanmcp explain` lists all codes\n"
    assert leanmcp("explain", "LM888").stderr == said


@pytest.mark.parametrize("status", ["501 Not Implemented", "405 Method Not Allowed"])
def test_a_server_that_takes_no_post_is_no_mcp_server(status: str) -> None:
    """Ours: goal U13, with what it calls itself."""

    async def main() -> None:
        refused = answer(b"no", "text/plain", status, "Server: Files/1")
        async with bad_server([refused] * 3) as bad:
            done = await asyncio.to_thread(leanmcp, "list", bad.url, "--mode", "2026-07-28")
            assert (done.returncode, done.stderr) == (
                3,
                f"leanmcp: {bad.url} answered {status}, as nothing does that speaks MCP: another server is there "
                "(Files/1), or another path is meant. It says: no [LM624]\n",
            )

    asyncio.run(main())


def test_a_program_that_sends_back_what_it_gets_is_told_at_once(folder: Path) -> None:
    """Ours: goal U13: no wait for an answer, and no handshake of an earlier version."""
    done = leanmcp("list", "--", "cat", cwd=folder)
    said = "leanmcp: cat does not speak MCP: it sends back what it is sent [LM624]\n"
    assert (done.returncode, done.stdout, done.stderr) == (3, "", said)

    async def main() -> None:
        with pytest.raises(NotAnMCPServer, match=r"^cat does not speak MCP: it sends back what it is sent$"):
            async with asyncio.timeout(20), Client(StdioServerParameters(command="cat")):
                pass

    asyncio.run(main())
