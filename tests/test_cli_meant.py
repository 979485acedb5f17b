"""What is said of options, words and names that mean something at another place, or to another tool."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.mistakes import codes_of
from tests.support.shell import leanmcp

SERVER = """\
from leanmcp import MCPServer, Model
mcp = MCPServer("demo")
class Where(Model):
    town: str
@mcp.tool
def find(where: Where, pages: list[int] = [], loud: bool = False, limit: int = 5) -> str:
    "Find it."
    return ""
@mcp.prompt
def ask(about: str) -> str:
    return about
@mcp.resource("data://hours")
def hours() -> str:
    return "9 to 18"
"""
FILES = {
    "server.py": SERVER,
    "reads.py": "DATA = open('data.txt').read()\n",
    "app/reads.py": "DATA = open('data.txt').read()\n",
    "app/data.txt": "1\n",
    "held.py": "from leanmcp import MCPServer\nclass App:\n    server = MCPServer('x')\n",
    "listed.py": "from leanmcp import MCPServer\nSERVERS = {'a': MCPServer('x')}\n",
    "late.py": "from leanmcp import MCPServer\nasync def make(name): return MCPServer(name)\n",
    "build.py": "from leanmcp import MCPServer\ndef make(name, port=3): return MCPServer(name)\n",
    "official.py": "from mcp.server import Server\nserver = Server('x')\n@server.list_tools()\nasync def f(): ...\n",
}
URL = "http://127.0.0.1:8000/mcp"
SIGNATURE = "find(where: object, pages: array of integer = [], loud: boolean = false, limit: integer = 5)"
AT_TOP = "at its top level"

MISTAKES = [
    *[
        ("LM602", ["list", "server.py", option], f"unknown option '{option}'; {advice}")
        for option, advice in (
            ("--format", "give --json, or leave it out"),
            ("--quiet", "leave it out: data alone goes to standard output"),
            ("--port", f"name a server that runs by its URL, such as {URL}"),
            ("--url", "the server stands first, without an option"),
            ("--tools", "write it without dashes: tools"),
        )
    ],
    (
        "LM602",
        ["call", "server.py", "find", "--data", "{}"],
        "unknown option '--data'; give --args JSON; an argument has no dashes: 'data={}'",
    ),
    (
        "LM602",
        ["check", "server.py", "--select", "LC204"],
        "unknown option '--select'; rules are left out with --ignore RULE",
    ),
    ("LM602", ["explain", "--list"], "unknown option '--list'; leave it out: without a word, all codes are listed"),
    (
        "LM602",
        ["install", "cursor", "server.py", "--with", "numpy"],
        "unknown option '--with'; leave it out: the entry starts this Python, with its packages",
    ),
    ("LM602", ["run", "server.py", "-t", "http"], "unknown option '-t'; did you mean '--transport'?"),
    (
        "LM602",
        ["run", "server.py", "--env", "A=1"],
        "unknown option '--env'; set it in front of the command: NAME=VALUE leanmcp run ...",
    ),
    ("LM602", ["check", "server.py", "held.py"], "'held.py' is one word too many; one server is checked at a time"),
    ("LM602", ["install", "cursor", "vscode", "x"], "'x' is one word too many; one host is given at a time"),
    (
        "LM602",
        ["install", "x.py"],
        "unknown host 'x.py'; the host stands first: `leanmcp install HOST x.py`, one of claude-desktop, claude-code, "
        "cursor, vscode, windsurf, gemini-cli, json",
    ),
    *[
        ("LM601", [word, "server.py"], f"unknown command {word!r}; did you mean `leanmcp {meant}`?")
        for word, meant in (("get", "read"), ("docs", "explain"), ("upgrade", "migrate"), ("watch", "run --reload"))
    ],
    (
        "LM604",
        ["call", "server.py/find"],
        "no file 'server.py/find'; a tool is a word of its own: `leanmcp call server.py find`",
    ),
    ("LM603", ["list", "tools"], "the server stands first: `leanmcp list server.py tools`"),
    (
        "LM603",
        ["list", "--", "python"],
        "python alone reads its program from standard input; name one, such as `-- python server.py`",
    ),
    (
        "LM614",
        ["call", "server.py", "ask"],
        "no tool 'ask' in server.py; it is a prompt: `leanmcp prompt server.py ask`",
    ),
    (
        "LM614",
        ["call", "server.py", "hours"],
        "no tool 'hours' in server.py; it is a resource: `leanmcp read server.py data://hours`",
    ),
    (
        "LM614",
        ["prompt", "server.py", "find"],
        "no prompt 'find' in server.py; it is a tool: `leanmcp call server.py find`",
    ),
    (
        "LM614",
        ["read", "server.py", "ask"],
        "no resource 'ask' in server.py (Resource not found: 'ask'); it is a prompt: `leanmcp prompt server.py ask`",
    ),
    (
        "LM615",
        ["call", "server.py", "find", "where=x", "y"],
        "argument 'y': write name=value, such as y=true; a text with blanks stands in quotes: 'where=x y'",
    ),
    (
        "LM615",
        ["call", "server.py", "find", "limit:=six"],
        "argument 'limit' is not JSON: invalid character, at byte 0; a text is given with = alone, limit=six",
    ),
    (
        "LM615",
        ["call", "server.py", "find", "--args", "limit=5"],
        "--args is not JSON: invalid character, at byte 0; name=value stands without --args",
    ),
    *[
        (
            "LM616",
            ["call", "server.py", "find", f"{name}=1"],
            f"tool 'find' has no argument {name!r}; {advice}; {SIGNATURE}",
        )
        for name, advice in (
            ("where.town", "it is given as a whole: where:='{\"town\": ...}'"),
            ("town", "that is a member of where: where:='{\"town\": ...}'"),
            ("pages[]", "its items are given one by one: pages=... pages=..."),
        )
    ],
    (
        "LM610",
        ["list", "app/reads.py"],
        "{folder}/app/reads.py:1: FileNotFoundError: [Errno 2] No such file or directory: 'data.txt'; it is looked for "
        "in {folder}, where the command runs, and stands beside reads.py: write Path(__file__).parent / 'data.txt'",
    ),
    (
        "LM610",
        ["list", "reads.py"],
        "{folder}/reads.py:1: FileNotFoundError: [Errno 2] No such file or directory: 'data.txt'",
    ),
    (
        "LM610",
        ["list", "official.py"],
        "{folder}/official.py:3: AttributeError: 'Server' object has no attribute 'list_tools'; that is a Server of "
        "the official SDK: `leanmcp migrate {folder}/official.py` says what to write",
    ),
    *[
        ("LM606", ["list", file], f"no MCPServer in {file}; {advice} {AT_TOP}")
        for file, advice in (
            ("held.py", "App.server is one: write `mcp = App.server`"),
            ("listed.py", "SERVERS['a'] is one: write `mcp = SERVERS['a']`"),
            ("late.py", "make() makes one, but is `async def`: write it with `def`, and `mcp = make()`"),
            ("build.py", "make() makes one: write `mcp = make(name)`"),
        )
    ],
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with files."""
    folder = tmp_path_factory.mktemp("meant")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.mark.parametrize(("code", "words", "said"), MISTAKES, ids=[" ".join(words) for _, words, _ in MISTAKES])
def test_what_was_meant_is_told_at_the_shell(folder: Path, code: str, words: list[str], said: str) -> None:
    """Ours: goals U9 to U11 and U21: exactly this on one line, exit code 2."""
    done = leanmcp(*words, cwd=folder)
    expected = said.replace("{folder}", str(folder))
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"leanmcp: {expected} [{code}]\n")
    assert code in codes_of(expected)


@pytest.mark.parametrize(
    ("words", "doubt"),
    [
        (["limit=1,loud=true"], "limit=1,loud=true is one argument; did you mean two, limit=1 loud=true?"),
        (["limit==1"], "limit==1: did you mean limit=1?"),
        (["pages=[1,2"], "pages=[1,2 was sent as a text, for it is no JSON"),
    ],
)
def test_a_value_that_is_refused_is_doubted(folder: Path, words: list[str], doubt: str) -> None:
    """Ours: goal U21; the server says what it expects, and the command what was probably meant."""
    done = leanmcp("call", "server.py", "find", 'where:={"town":"x"}', *words, cwd=folder)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == f"leanmcp: {doubt}"


def test_several_codes_are_explained_at_once() -> None:
    """Ours: goal U10; a code is known however it is written."""
    done = leanmcp("explain", "LM101", "LM230")
    assert [line for line in done.stdout.splitlines() if line.startswith("LM")] == [
        "LM101: a parameter has no type",
        "LM230: mcp.tools is changed",
    ]
    for written in ("L101", "lm-101", "E101"):
        said = f"leanmcp: there is no code {written!r}; did you mean `leanmcp explain LM101`?\n"
        assert leanmcp("explain", written).stderr == said
