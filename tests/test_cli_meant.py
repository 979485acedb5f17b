"""What is said of options, words and names that mean something at another place, or to another tool."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.mistakes import codes_of
from tests.support.processes import DEADLINE, environment
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
    "searched.py": "from leanmcp.server.mcpserver import MCPServer\n",
    "packed.py": "import yaml\n",
    "conflict.py": "<<<<<<< HEAD\n",
    "coding.py": "# coding: nosuch\n",
    "asks.py": "from leanmcp import Client\n",
    "shop/__init__.py": "from .stock import stock\n",
    "config.json": '{"mcpServers": {"shop": {"command": "x"}}}',
    "windows.json": '{"mcpServers": {"shop": {"command": "C:\\Python"}}}',
    "book.ipynb": "{}",
    "plain": "x = 1\n",
    "app.pyz": "",
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
    (
        "LM608",
        ["list", "searched.py"],
        "{folder}/searched.py:1: No module named 'leanmcp.server.mcpserver'; the server is MCPServer: from leanmcp "
        "import MCPServer, Context",
    ),
    (
        "LM608",
        ["list", "packed.py"],
        "{folder}/packed.py:1: No module named 'yaml'; correct the name, or install it where leanmcp is, as in "
        f"`{sys.executable} -m pip install PyYAML`",
    ),
    ("LM607", ["list", "conflict.py"], "{folder}/conflict.py:1: SyntaxError: invalid syntax: <<<<<<< HEAD"),
    ("LM607", ["list", "coding.py"], "{folder}/coding.py: SyntaxError: unknown encoding: nosuch"),
    ("LM606", ["list", "asks.py"], "no MCPServer in asks.py; it is a client, which `python asks.py` runs"),
    (
        "LM610",
        ["list", "shop/__init__.py"],
        "{folder}/shop/__init__.py:1: ImportError: attempted relative import with no known parent package; it is a "
        "part of a package: in {folder}, name it shop instead of by its file",
    ),
    (
        "LM605",
        ["call", "config.json", "buy"],
        "'config.json' is no Python file; a server that it names is `leanmcp call shop --config config.json`",
    ),
    (
        "LM605",
        ["run", "book.ipynb"],
        "'book.ipynb' is no Python file; make one of it: `jupyter nbconvert --to script book.ipynb`",
    ),
    ("LM605", ["run", "plain"], "'plain' is no Python file; its name must end in .py"),
    (
        "LM605",
        ["list", "app.pyz"],
        "'app.pyz' is no Python file; to start it, put `-- python app.pyz` at the end instead",
    ),
    (
        "LM612",
        ["list", "shop", "--config", "windows.json"],
        r"windows.json is no JSON: line 1 column 40: a backslash is written twice, as in C:\\Python",
    ),
    (
        "LM401",
        ["run", "server.py", "--transport", "sse"],
        "unknown transport 'sse'; HTTP+SSE is not served, its successor is 'http'",
    ),
    (
        "LM602",
        ["run", "server.py", "--", "--port"],
        "'--port' is one word too many; it serves a Python file itself, and takes no program: `leanmcp run server.py`",
    ),
    ("LM611", ["install", "cursor", "x.com/mcp"], "'x.com/mcp' is no URL; did you mean 'https://x.com/mcp'?"),
    ("LM604", ["install", "cursor", "package.json"], "no file 'package.json'; did you mean 'config.json'?"),
    (
        "LM615",
        ["call", "server.py", "find", "@plain"],
        "argument '@plain' is not JSON: invalid character, at byte 0",
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
        (["pages="], "pages was sent with one empty text; an empty list is written 'pages:=[]'"),
    ],
)
def test_a_value_that_is_refused_is_doubted(folder: Path, words: list[str], doubt: str) -> None:
    """Ours: goal U21; the server says what it expects, and the command what was probably meant."""
    done = leanmcp("call", "server.py", "find", 'where:={"town":"x"}', *words, cwd=folder)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == f"leanmcp: {doubt}"


def test_a_member_without_its_object_is_doubted(folder: Path) -> None:
    """Ours: as above."""
    done = leanmcp("call", "server.py", "find", "where=town=x", cwd=folder)
    assert done.stderr.splitlines()[-1] == """leanmcp: where=town=x: did you mean 'where={"town":"x"}'?"""


def test_an_entry_is_looked_for_in_the_settings_of_hosts_of_the_folder(tmp_path: Path) -> None:
    """Ours: goal U21: mcp.json is read by itself, other files where they are named."""
    said = "leanmcp: no file and no module 'shop', and no mcp.json in this folder names it"
    assert leanmcp("list", "shop", cwd=tmp_path).stderr == f"{said} [LM604]\n"
    (tmp_path / ".cursor").mkdir()
    (tmp_path / ".cursor" / "mcp.json").touch()
    hint = "; to look in .cursor/mcp.json, give --config .cursor/mcp.json"
    assert leanmcp("list", "shop", cwd=tmp_path).stderr == f"{said}{hint} [LM604]\n"


def test_a_link_is_followed_as_python_follows_it(tmp_path: Path) -> None:
    """Ours: modules beside the file that it leads to are found; one that leads nowhere is told."""
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "names.py").write_text("NAME = 'far'\n")
    (tmp_path / "real" / "server.py").write_text(
        "from leanmcp import MCPServer\nfrom names import NAME\nmcp = MCPServer(NAME)\n"
    )
    (tmp_path / "server.py").symlink_to("real/server.py")
    (tmp_path / "gone.py").symlink_to("real/gone.py")
    assert leanmcp("discover", "server.py", cwd=tmp_path).stdout.startswith("server        far")
    said = "leanmcp: no file 'gone.py'; it is a link to 'real/gone.py', where there is none [LM604]\n"
    assert leanmcp("list", "gone.py", cwd=tmp_path).stderr == said


@pytest.mark.parametrize("words", ["list", "run", "check", "install json", "run --reload"])
def test_a_working_folder_that_was_deleted_is_told(tmp_path: Path, words: str) -> None:
    """Ours: goal U11: it is no mistake of ours."""
    (tmp_path / "server.py").write_text(SERVER)
    (tmp_path / "gone").mkdir()
    command, *more = words.split()
    typed = f'rmdir "$PWD"; exec "{sys.executable}" -m leanmcp {command} {" ".join(more)} ../server.py'
    done = subprocess.run(
        ["sh", "-c", typed], cwd=tmp_path / "gone", capture_output=True, timeout=DEADLINE, env=environment(), text=True
    )
    said = "leanmcp: the working folder has been deleted; change to another one\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", said)


def test_a_server_without_anything_tells_of_the_one_that_has_the_tools(tmp_path: Path) -> None:
    """Ours: goal U10: two servers are easily made where one was meant; lazy objects are not looked into."""
    lazy = "class Lazy:\n    @property\n    def __class__(self): raise RuntimeError\n\nsettings = Lazy()\n"
    (tmp_path / "tools.py").write_text(lazy + SERVER)
    (tmp_path / "server.py").write_text("from leanmcp import MCPServer\nimport tools\nmcp = MCPServer('shop')\n")
    said = f"`mcp` of {tmp_path}/tools.py has the tools find\n"
    assert leanmcp("list", "server.py", "tools", cwd=tmp_path).stderr == f"shop has no tools; {said}"


def test_a_server_that_completes_nothing_is_told(folder: Path) -> None:
    """Ours: goal U11."""
    (folder / "bare.py").write_text("from leanmcp import MCPServer\nmcp = MCPServer('bare')\n")
    done = leanmcp("complete", "bare.py", "ask", "about=x", cwd=folder)
    assert (done.returncode, done.stderr) == (2, "leanmcp: bare.py completes no arguments\n")


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
