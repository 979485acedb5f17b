"""Mistakes in the file that a command is pointed at, in its arguments and in mcp.json: word for word, with their codes.

Those of options, URLs and connections stand in `test_cli_mistakes.py`, whose messages have a code each, too.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from leanmcp.cli.faults import coded
from leanmcp.explanations import PAGES
from tests.support.mistakes import FOREIGN, MOST_LINES, codes_of
from tests.support.shell import leanmcp
from tests.test_cli_mistakes import LOCAL
from tests.test_cli_mistakes_remote import REMOTE

NO_PYTHON_TRACE = "Traceback"
FILES = {
    "server.py": "from leanmcp import MCPServer\nmcp = MCPServer('demo')\n@mcp.tool\n"
    "def show(flag: bool = False, size: float | None = None, tags: list[int] = [], text: str = '') -> str:\n"
    '    "Show."\n    return repr((flag, size, tags, text))\nother = 3\ndef make() -> MCPServer:\n    return mcp\n',
    "syntax.py": "from leanmcp import MCPServer\nmcp = MCPServer('x'\n",
    "indent.py": "def f():\nreturn 1\n",
    "missing.py": "import pandaz\n",
    "other.py": "from fastmcp import FastMCP\n",
    "within.py": "from leanmcp import MCPServer\nimport pandaz.frames\n",
    "typo.py": "from leanmcp import MCPServr\n",
    "exits.py": "import sys\nsys.exit('no key')\n",
    "runs.py": "from leanmcp import MCPServer\nmcp = MCPServer('x')\nmcp.run()\n",
    "key.py": "import os\nKEY = os.environ['NO_SUCH_KEY_HERE']\n",
    "deep.py": "import json\ndef load():\n    return json.loads('{')\nsettings = load()\n",
    "factory.py": "from leanmcp import MCPServer\ndef make() -> MCPServer:\n    return MCPServer('x')\n",
    "register.py": "from leanmcp import MCPServer\nmcp = MCPServer('x')\n"
    "@mcp.tool\ndef add(a, b: int) -> int:\n    return b\n",
    "asks.py": "input()\n",
    "nul.py": "x = 1\0\n",
    "comment.json": '{// all\n"mcpServers": {}}',
    "quotes.json": "{'mcpServers': {}}",
    "empty.json": "",
    "number.json": '{"mcpServers": {"a": {"command": NaN}}}',
    "mark.json": '\ufeff{"mcpServers": {}}',
    "notes.txt": "hi\n",
    "plans.txt": "migrate all of it\n",
    "nothing/notes.txt": "hi\n",
    "empty/notes.txt": "hi\n",
    "broken.json": '{"mcpServers": {"a": {"command": "x"},}}',
}
PIP = f"correct the name, or install it where leanmcp is, as in `{sys.executable} -m pip install pandaz`"
ANSWERED = "Invalid arguments for tool show:\n"

MISTAKES: list[tuple[str, list[str], str]] = [
    (
        "LM603",
        ["call"],
        "name a server first: a Python file, a URL, an entry of mcp.json, or `-- PROGRAM ...` at the end",
    ),
    ("LM604", ["call", "serve.py", "show"], "no file 'serve.py'; did you mean 'server.py'?"),
    ("LM604", ["run", "nosuch/server.py"], "no file 'nosuch/server.py'"),
    ("LM605", ["run", "."], "'.' is a folder; name a Python file in it"),
    ("LM605", ["list", "notes.txt"], "'notes.txt' is no Python file"),
    ("LM605", ["migrate", "plans.txt"], "'plans.txt' is no Python file"),
    ("LM605", ["migrate", "nothing", "empty"], "no Python files in 'nothing', 'empty'"),
    (
        "LM606",
        ["list", "server.py:other"],
        "'other' in server.py is of type int, not an MCPServer; there is server.py:mcp",
    ),
    (
        "LM606",
        ["list", "server.py:show"],
        "'show' in server.py is a tool, not an MCPServer; call it with `leanmcp call server.py show ...`",
    ),
    (
        "LM606",
        ["list", "factory.py:mcp"],
        "no object 'mcp' in factory.py; write `mcp = MCPServer(\"name\")` at its top level",
    ),
    (
        "LM606",
        ["list", "factory.py:MCPServer"],
        "'MCPServer' in factory.py is the class MCPServer, not an MCPServer; call it there, "
        '`mcp = MCPServer("name")`',
    ),
    ("LM604", ["list", "SERVER.PY"], "no file 'SERVER.PY'; did you mean 'server.py'?"),
    ("LM604", ["run", "SERVER.PY"], "no file 'SERVER.PY'; did you mean 'server.py'?"),
    ("LM604", ["list", "server.pyc"], "no file 'server.pyc'; did you mean 'server.py'?"),
    ("LM604", ["list", "server.py.mcp"], "no file 'server.py.mcp'; 'mcp' in server.py is named server.py:mcp"),
    ("LM604", ["list", "server.py::mcp"], "no file 'server.py::mcp'; 'mcp' in server.py is named server.py:mcp"),
    ("LM604", ["list", "server.py:mcp.run"], "no file 'server.py:mcp.run'; 'mcp' in server.py is named server.py:mcp"),
    ("LM604", ["list", "shop"], "no file and no module 'shop', and no mcp.json in this folder names it"),
    (
        "LM606",
        ["list", "server.py:make"],
        "'make' in server.py is of type function, not an MCPServer; call it there, `mcp = make()`, and name what it "
        "returns",
    ),
    ("LM606", ["run", "server.py:mpc"], "no object 'mpc' in server.py; did you mean 'mcp'?"),
    (
        "LM606",
        ["list", "factory.py"],
        "no MCPServer in factory.py; make() makes one: write `mcp = make()` at its top level",
    ),
    ("LM607", ["list", "syntax.py"], "{folder}/syntax.py:2: SyntaxError: '(' was never closed"),
    (
        "LM607",
        ["run", "indent.py"],
        "{folder}/indent.py:2: IndentationError: expected an indented block after function definition on line 1",
    ),
    ("LM607", ["migrate", "syntax.py"], "syntax.py:2: SyntaxError: '(' was never closed"),
    (
        "LM608",
        ["list", "other.py"],
        "{folder}/other.py:1: No module named 'fastmcp'; leanmcp does without it: `leanmcp migrate {folder}/other.py` "
        "says what to import of leanmcp instead",
    ),
    ("LM608", ["list", "missing.py"], f"{{folder}}/missing.py:1: No module named 'pandaz'; {PIP}"),
    ("LM608", ["run", "within.py"], f"{{folder}}/within.py:2: No module named 'pandaz'; {PIP}"),
    (
        "LM610",
        ["list", "typo.py"],
        "{folder}/typo.py:1: ImportError: cannot import 'MCPServr' from 'leanmcp'; did you mean 'MCPServer'?",
    ),
    (
        "LM609",
        ["list", "exits.py"],
        "{folder}/exits.py:2: the file ended the program (SystemExit: no key) before it could be served",
    ),
    (
        "LM417",
        ["list", "runs.py"],
        '{folder}/runs.py: it calls run() while it is loaded; put that under `if __name__ == "__main__":`',
    ),
    (
        "LM610",
        ["list", "key.py"],
        "{folder}/key.py:2: KeyError: 'NO_SUCH_KEY_HERE'; the variable is not set: export NO_SUCH_KEY_HERE, or have "
        "the host set it in its `env`",
    ),
    (
        "LM610",
        ["list", "asks.py"],
        "{folder}/asks.py:1: EOFError: EOF when reading a line; nobody answers input() here: read it from a file or a "
        "variable",
    ),
    ("LM607", ["list", "nul.py"], "{folder}/nul.py: SyntaxError: source code string cannot contain null bytes"),
    ("LM602", ["run", "server.py", "--http", "-p", "1"], "unknown option '-p'; did you mean '--port'?"),
    (
        "LM602",
        ["run", "server.py", "--log-level", "debug"],
        "unknown option '--log-level'; set it with logging.getLogger('leanmcp').setLevel(...)",
    ),
    ("LM602", ["run", "server.py", "--stdio"], "unknown option '--stdio'; leave it out: stdio is the default"),
    ("LM602", ["run", "server.py", "--name", "x"], "unknown option '--name'; give it to MCPServer(...)"),
    ("LM602", ["run", "server.py", "--prot", "80"], "unknown option '--prot'; did you mean '--port'?"),
    ("LM602", ["run", "server.py", "--port", "80"], "--port is an option of HTTP: add --http"),
    ("LM602", ["run", "server.py", "--port", "8000"], "--port is an option of HTTP: add --http"),
    ("LM602", ["run", "server.py", "--path", "/mcp"], "--path is an option of HTTP: add --http"),
    ("LM602", ["run", "server.py", "--host", "127.0.0.1"], "--host is an option of HTTP: add --http"),
    (
        "LM602",
        ["run", "server.py", "--http", "--port", "x"],
        "argument --port: 'x' is no whole number; see `leanmcp run --help`",
    ),
    ("LM602", ["run"], "the following arguments are required: FILE[:OBJECT]; see `leanmcp run --help`"),
    (
        "LM612",
        ["list", "a", "--config", "broken.json"],
        "broken.json is no JSON: line 1 column 39: a comma stands behind the last entry; take it out",
    ),
    (
        "LM612",
        ["list", "a", "--config", "comment.json"],
        "comment.json is no JSON: line 1 column 2: it has no comments; take them out",
    ),
    (
        "LM612",
        ["list", "a", "--config", "quotes.json"],
        "quotes.json is no JSON: line 1 column 2: texts stand between double quotation marks",
    ),
    ("LM612", ["list", "a", "--config", "empty.json"], "empty.json is no JSON: it is empty"),
    (
        "LM612",
        ["list", "a", "--config", "mark.json"],
        "mark.json is no JSON: it begins with a byte order mark; save it as UTF-8 without one",
    ),
    (
        "LM612",
        ["list", "a", "--config", "number.json"],
        "number.json is no JSON: JSON has no NaN and no Infinity, at byte 33",
    ),
    ("LM605", ["list", "a", "--config", "empty"], "empty is a folder; name the JSON file in it"),
    ("LM615", ["call", "server.py", "show", "flag:true"], "argument 'flag:true': write flag=true"),
    ("LM614", ["call", "server.py", "sho"], "no tool 'sho' in server.py; did you mean 'show'?"),
    ("LM615", ["call", "server.py", "show", "flag"], "argument 'flag': write name=value, or name:=json"),
    ("LM615", ["call", "server.py", "show", "flag=1", "flag=0"], "argument 'flag' is given 2 times"),
    (
        "LM616",
        ["call", "server.py", "show", "flg=true"],
        "tool 'show' has no argument 'flg'; did you mean 'flag'?; show(flag: boolean = false, size?: number, "
        'tags: array of integer = [], text: string = "")',
    ),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with files that have a mistake each."""
    folder = tmp_path_factory.mktemp("mistakes")
    for name, content in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(content)
    return folder


@pytest.mark.parametrize(
    ("code", "words", "said"), MISTAKES, ids=lambda value: " ".join(value) if isinstance(value, list) else ""
)
def test_a_mistake_is_told_in_a_line_with_its_code(folder: Path, code: str, words: list[str], said: str) -> None:
    """Ours: goals U9 to U11, U21: exactly this, exit code 2, nothing on standard output."""
    done = leanmcp(*words, cwd=folder)
    expected = said.replace("{folder}", str(folder))
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"leanmcp: {expected} [{code}]\n")
    assert codes_of(expected) == [code]
    assert not FOREIGN.search(said)


def test_a_file_of_a_package_is_named_as_a_module(tmp_path: Path) -> None:
    """Ours: goal U10: a file with relative imports runs as a part of its package only; the name that is told works."""
    inner = tmp_path / "shop" / "mcp"
    inner.mkdir(parents=True)
    for file in (inner / "__init__.py", inner.parent / "__init__.py"):
        file.touch()
    (inner.parent / "prices.py").write_text("PRICE = 3\n")
    source = "from leanmcp import MCPServer\nfrom ..prices import PRICE\nmcp = MCPServer('shop')\n"
    (inner / "server.py").write_text(f"{source}@mcp.tool\ndef price() -> int:\n    'Price.'\n    return PRICE\n")
    told = leanmcp("list", "shop/mcp/server.py", cwd=tmp_path).stderr
    assert f"in {tmp_path}, name it shop.mcp.server instead of by its file [LM610]" in told
    done = leanmcp("list", "shop.mcp.server", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "price" in done.stdout


def test_what_a_file_raises_ends_in_its_own_line(folder: Path) -> None:
    """Ours: goal U11: the frames of the library that it called are left out."""
    done = leanmcp("list", "deep.py", cwd=folder)
    lines = [line for line in done.stderr.splitlines() if line.strip(" ^~")]
    place = f"{folder}/deep.py"
    assert lines[0].startswith(f"leanmcp: {place}:3: JSONDecodeError: ")
    assert lines[0].endswith(" [LM610]")
    assert lines[1:] == [
        f'  File "{place}", line 4, in <module>',
        "    settings = load()",
        f'  File "{place}", line 3, in load',
        "    return json.loads('{')",
    ]


def test_a_file_that_is_named_does_not_depend_on_mcp_json(tmp_path: Path) -> None:
    """Ours: a broken mcp.json is told where it is needed only."""
    (tmp_path / "mcp.json").write_text("{")
    done = leanmcp("list", "serve.py", cwd=tmp_path)
    assert done.stderr == "leanmcp: no file 'serve.py' [LM604]\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["flag=yes"], 'flag: Input should be a valid boolean, got "yes"\nleanmcp: flag=yes: did you mean flag=true?'),
        (["flag=1"], "flag: Input should be a valid boolean, got 1\nleanmcp: flag=1: did you mean flag=true?"),
        (
            ["size=None"],
            'size: Input should be a valid number, got "None"\nleanmcp: size=None: did you mean size=null?',
        ),
        (["tags=a"], 'tags[0]: Input should be a valid integer, got "a"'),
        (
            ["tags=1,2"],
            'tags[0]: Input should be a valid integer, got "1,2"\n'
            "leanmcp: tags was sent with one item, '1,2'; several are written tags=1 tags=2",
        ),
        (
            ["flag=perhaps", "size=big"],
            'flag: Input should be a valid boolean, got "perhaps"\nsize: Input should be a valid number, got "big"',
        ),
    ],
)
def test_a_value_that_does_not_fit_is_told_by_the_server(folder: Path, words: list[str], said: str) -> None:
    """Ours: exit code 1, the text that a model would get, and how a value of another language is written here."""
    done = leanmcp("call", "server.py", "show", *words, cwd=folder)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", ANSWERED + said + "\n")


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["flag=true", "size=null"], "(True, None, [], '')"),
        (["flag=True", "size=2", "tags=1", "tags=2"], "(True, 2.0, [1, 2], '')"),
        (["tags=[1,2]", "text=1"], "(False, None, [1, 2], '1')"),
        (["text=true"], "(False, None, [], 'true')"),
    ],
)
def test_usual_spellings_of_values_are_taken(folder: Path, words: list[str], shown: str) -> None:
    """Ours: what is clear is no mistake."""
    done = leanmcp("call", "server.py", "show", *words, cwd=folder)
    assert (done.returncode, done.stdout, done.stderr) == (0, shown + "\n", "")


def test_a_mistake_of_registration_is_told_with_its_place(folder: Path) -> None:
    """Ours: goal U11."""
    done = leanmcp("list", "register.py", cwd=folder)
    assert done.returncode == 2
    assert done.stderr.count("\n") <= MOST_LINES
    assert f"{folder}/register.py" in done.stderr
    assert "[LM101]" in done.stderr
    assert NO_PYTHON_TRACE not in done.stderr


def test_each_message_of_the_command_line_has_one_page() -> None:
    """Ours: goal U10, of the tables of `test_cli_mistakes.py`."""
    said = [row[-1] for row in LOCAL] + [row[-1].replace("{url}", "http://127.0.0.1:1/mcp") for row in REMOTE]
    assert [text for text in said if len(codes_of(text)) != 1] == []


def test_the_code_of_a_long_message_stands_at_the_end_of_its_first_line() -> None:
    """Ours: frames of a file follow it; what a server sends may be long, and is not searched to its end."""
    assert coded("unknown command 'x'\n  more") == "unknown command 'x' [LM601]\n  more"
    assert coded("x" * 1_000_000) == "x" * 1_000_000


def test_pages_of_the_command_line_have_commands() -> None:
    """Ours: lines for a shell begin with `$ leanmcp` where a page is about a command."""
    pages = [page for page in PAGES.values() if page.code.startswith("LM6")]
    for page in pages:
        shells = [line for line in (page.wrong + page.right).splitlines() if line.startswith("$ ")]
        assert shells or "\n" in page.wrong.strip() or "(" in page.wrong, page.code
