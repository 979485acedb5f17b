"""Files that a command cannot load, or that Python loads as something else: word for word, with their codes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from leanmcp.cli.faults import coded
from tests.support.mistakes import FOREIGN, codes_of
from tests.support.processes import DEADLINE, environment
from tests.support.shell import leanmcp

SERVER = 'from leanmcp import MCPServer\nmcp = MCPServer("x")\n'
TOOL = '@mcp.tool\ndef hi() -> str:\n    "Hi."\n    return "x"\n'
LIFESPAN = "from leanmcp import MCPServer\n@contextlib.asynccontextmanager\nasync def life(server):\n"
MAIN = 'if __name__ == "__main__":\n    mcp.run()\n'
FILES = {
    # packages
    "shop/__init__.py": "",
    "shop/prices.py": "PRICE = 3\n",
    "shop/server.py": f"from .prices import PRICE\n{SERVER}{TOOL}",
    "shop/whole.py": f"from shop.prices import PRICE\n{SERVER}{TOOL}",
    "flat/server.py": "from .prices import PRICE\n",
    "flat/bare.py": "from . import prices\n",
    "flat/helped.py": f"from helper import x\n{SERVER}{TOOL}",
    "helper.py": "x = 1\n",
    "box/__init__.py": f"{SERVER}{TOOL}app = mcp\n",
    "near.py": "import helpers\n",
    "sub.py": f"import json.nothing\n{SERVER}",
    "ring/server.py": f"import tools\n{SERVER}",
    "ring/tools.py": f"from server import mcp\n{TOOL}",
    # names
    "typo.py": f"{SERVER}@mcp.resouce('a://b')\ndef r() -> str:\n    return ''\n",
    "hides.py": f"{SERVER}@mcp.tool\ndef mcp(q: str) -> str:\n    'M.'\n    return q\n\n@mcp.tool\ndef r(): ...\n",
    "list.py": f"{SERVER}@mcp.tool\ndef list() -> str:\n    'L.'\n    return ''\n\nx: list[int] = []\n",
    "module.py": "import leanmcp\nmcp = leanmcp('x')\n",
    "clock.py": "import datetime\nnow = datetime(2026, 1, 1)\n",
    "name.py": "mcp = MCPServer('x')\n",
    "former.py": "from leanmcp.server.fastmcp import FastMCP\n",
    "hint.py": "def f(x: Annotated[int, 3]) -> int:\n    return x\n",
    "path.py": "print(os.getcwd())\n",
    "task.py": "import asyncio\nasync def poll() -> None: ...\nasyncio.create_task(poll())\n",
    "secret/server.py": "from uuid import API_KEY\n",
    "secret/uuid.py": "API_KEY = 1\n",
    # no server
    "class.py": "from leanmcp import MCPServer\nmcp = MCPServer\n",
    "coroutine.py": "async def make() -> None: ...\nmcp = make()\n",
    "low.py": "from mcp.server.lowlevel import Server\nmcp = Server('x')\n",
    "one.py": f"{SERVER}{TOOL}def create_app() -> MCPServer:\n    return mcp\n",
}
RELATIVE = "ImportError: attempted relative import with no known parent package"

MISTAKES: list[tuple[str, list[str], str]] = [
    (
        "LM610",
        ["shop", "server"],
        f"{{folder}}/shop/server.py:1: {RELATIVE}; it is a part of a package: in {{folder}}, name it shop.server "
        "instead of by its file",
    ),
    (
        "LM610",
        ["flat", "server"],
        f"{{folder}}/flat/server.py:1: {RELATIVE}; server.py is in no package, there is no __init__.py beside it: "
        "write `from prices import PRICE`",
    ),
    (
        "LM610",
        ["", "flat/bare.py"],
        f"{{folder}}/flat/bare.py:1: {RELATIVE}; bare.py is in no package, there is no __init__.py beside it: "
        "write `import prices`",
    ),
    (
        "LM608",
        ["", "flat/helped.py"],
        "{folder}/flat/helped.py:1: No module named 'helper'; helper.py is in {folder}, not beside helped.py: from "
        "here, name it flat.helped",
    ),
    (
        "LM608",
        ["flat", "../shop/whole.py"],
        "{folder}/shop/whole.py:1: No module named 'shop'; shop/ is in {folder}, not beside whole.py: in {folder}, "
        "name it shop.whole",
    ),
    (
        "LM608",
        ["", "near.py"],
        "{folder}/near.py:1: No module named 'helpers'; did you mean 'helper'? helper.py is beside near.py",
    ),
    (
        "LM608",
        ["", "former.py"],
        "{folder}/former.py:1: No module named 'leanmcp.server.fastmcp'; the server is MCPServer: from leanmcp import "
        "MCPServer, Context",
    ),
    (
        "LM608",
        ["", "sub"],
        "{folder}/sub.py:1: No module named 'json.nothing'; json is there, and has no module 'nothing'",
    ),
    (
        "LM610",
        ["", "typo.py"],
        "{folder}/typo.py:3: AttributeError: 'MCPServer' object has no attribute 'resouce'; did you mean 'resource'?",
    ),
    (
        "LM610",
        ["", "hides.py"],
        "{folder}/hides.py:8: AttributeError: 'function' object has no attribute 'tool'; mcp is the function of line 4 "
        "here, and hides the server of that name: rename one of the two",
    ),
    (
        "LM610",
        ["", "list.py"],
        "{folder}/list.py:8: TypeError: 'function' object is not subscriptable; list is the function of line 4 here, "
        "and hides Python's own list: rename it",
    ),
    (
        "LM610",
        ["", "module.py"],
        "{folder}/module.py:2: TypeError: 'module' object is not callable; leanmcp is a module: write "
        "leanmcp.MCPServer(...)",
    ),
    (
        "LM610",
        ["", "clock.py"],
        "{folder}/clock.py:2: TypeError: 'module' object is not callable; datetime is a module: write "
        "datetime.datetime(...)",
    ),
    (
        "LM610",
        ["", "name.py"],
        "{folder}/name.py:1: NameError: name 'MCPServer' is not defined; from leanmcp import MCPServer",
    ),
    (
        "LM610",
        ["", "hint.py"],
        "{folder}/hint.py:1: NameError: name 'Annotated' is not defined; from typing import Annotated",
    ),
    ("LM610", ["", "path.py"], "{folder}/path.py:1: NameError: name 'os' is not defined; import os"),
    (
        "LM610",
        ["", "task.py"],
        "{folder}/task.py:3: RuntimeError: no running event loop; none runs while a file is loaded: start it in "
        "lifespan=",
    ),
    (
        "LM632",
        ["secret", "server.py"],
        "{folder}/secret/server.py:1: ImportError: cannot import name 'API_KEY' from 'uuid' ({library}/uuid.py); "
        "{folder}/secret/uuid.py has the name of Python's own module 'uuid', which is loaded: rename it",
    ),
    (
        "LM606",
        ["", "class.py"],
        'no MCPServer in class.py; mcp is the class MCPServer: call it, `mcp = MCPServer("name")`',
    ),
    (
        "LM606",
        ["", "coroutine.py"],
        "no MCPServer in coroutine.py; mcp is a coroutine, for make() is `async def`: write it with `def`",
    ),
    (
        "LM606",
        ["", "low.py"],
        "no MCPServer in low.py; mcp is a Server of the official SDK: `leanmcp migrate low.py` changes it",
    ),
    (
        "LM606",
        ["", "one.py:create_app()"],
        "'create_app()' is a call, not an MCPServer; write `mcp = create_app()` in one.py, and name one.py:mcp",
    ),
    ("LM604", ["", "one.app"], "no file and no module 'one.app'; 'app' in one is named one:app"),
    ("LM604", ["", "box.app"], "no file and no module 'box.app'; 'app' in box is named box:app"),
    ("LM604", ["", "requirements.txt"], "no file 'requirements.txt'"),
    ("LM604", ["", "server.js"], "no file 'server.js'"),
    ("LM605", ["", "flat"], "'flat' is a folder; name a Python file in it"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with files that have a mistake each, and packages."""
    folder = tmp_path_factory.mktemp("loading")
    for name, content in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(content)
    return folder


def python(file: str, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run `python FILE` with an input that ends at once."""
    return subprocess.run(
        [sys.executable, file],
        cwd=cwd,
        env=environment() | variables,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=DEADLINE,
    )


@pytest.mark.parametrize(
    ("code", "words", "said"), MISTAKES, ids=lambda value: " ".join(value) if isinstance(value, list) else ""
)
def test_a_file_that_does_not_load_says_what_to_write(folder: Path, code: str, words: list[str], said: str) -> None:
    """Ours: goals U9 to U11: exactly this on one line, exit code 2."""
    place, target = words
    done = leanmcp("list", target, cwd=folder / place, PYTHONSAFEPATH="1")  # as the script, which is not in there
    expected = said.replace("{folder}", str(folder)).replace("{library}", str(Path(subprocess.__file__).parent))
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"leanmcp: {expected} [{code}]\n")
    assert codes_of(expected) == [code]
    assert not FOREIGN.search(said)


def test_modules_that_import_each_other_are_named(folder: Path) -> None:
    """Ours: goal U11: what Python knows of the circle, and where it closes."""
    done = leanmcp("list", "server.py", cwd=folder / "ring")
    place = folder / "ring"
    assert done.stderr.splitlines() == [
        f"leanmcp: {place}/tools.py:1: ImportError: cannot import name 'mcp' from 'server' ({place}/server.py); "
        "server.py and tools.py import each other: define it in a third file, and import it from there in both [LM610]",
        f'  File "{place}/server.py", line 1, in <module>',
        "    import tools",
        f'  File "{place}/tools.py", line 1, in <module>',
        "    from server import mcp",
    ]


@pytest.mark.parametrize("target", ["shop.server", "flat.helped", "box", "box:app", "./box", "shop.whole"])
def test_what_the_messages_propose_works(folder: Path, target: str) -> None:
    """Ours: goal U10; a package is a module, whether it is named as a folder or not."""
    done = leanmcp("list", target, cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert "hi()" in done.stdout


def test_a_file_sees_itself_in_argv(tmp_path: Path) -> None:
    """Ours: as `python server.py` has it; the words of our command are not the file's."""
    file = tmp_path / "server.py"
    file.write_text(f"import sys\nfrom leanmcp import MCPServer\nmcp = MCPServer(' '.join(sys.argv))\n{TOOL}")
    done = leanmcp("discover", "server.py", "--json", cwd=tmp_path)
    assert f'"{file}"' in done.stdout
    done = leanmcp("list", "server.py", "--", "--db", "x", cwd=tmp_path)
    said = "server.py gets no arguments here; to start it as a program with some, write `-- python server.py --db x`"
    assert (done.returncode, done.stderr) == (2, f"leanmcp: {said} [LM602]\n")
    assert coded(said).endswith("[LM602]")


@pytest.mark.parametrize("feature", ["tool", "prompt"])
@pytest.mark.parametrize("call", ["", '("name")'])
def test_a_decorator_of_the_class_is_refused_at_its_line(tmp_path: Path, feature: str, call: str) -> None:
    """Ours: the function would be registered nowhere; so it is with `mcp = MCPServer`, without parentheses."""
    file = tmp_path / "server.py"
    said = f'MCPServer.{feature} is used on the class; write @mcp.{feature}, with mcp = MCPServer("name")'
    for name, first in (("MCPServer", SERVER), ("app", "from leanmcp import MCPServer\napp = MCPServer\n")):
        file.write_text(f"{first}@{name}.{feature}{call}\ndef hi(): ...\n")
        done = leanmcp("list", file)
        assert (done.returncode, done.stderr) == (2, f"leanmcp: {file}:3: TypeError: {said} [LM227]\n")
    assert codes_of(said) == ["LM227"]


def test_a_module_that_runs_while_it_is_loaded_is_told(tmp_path: Path) -> None:
    """Ours: a name of a module is no other than the name of a file: it would serve here, and never come back."""
    (tmp_path / "server.py").write_text(f"{SERVER}{TOOL}mcp.run()\n")
    done = leanmcp("list", "server", cwd=tmp_path)
    said = 'server: it calls run() while it is loaded; put that under `if __name__ == "__main__":`'
    assert (done.returncode, done.stderr) == (2, f"leanmcp: {said} [LM417]\n")


# --- files with the names of Python's modules ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "file"), [("json", "json.py"), ("types", "types.py"), ("logging", "server.py"), ("socket", "server.py")]
)
def test_a_file_that_hides_a_module_of_pythons_is_named(tmp_path: Path, name: str, file: str) -> None:
    """Ours: the server itself or a file beside it; `python FILE` fails with its path, commands load it and warn."""
    (tmp_path / f"{name}.py").write_text("X = 1\n")
    (tmp_path / file).write_text(SERVER + TOOL + MAIN)
    said = f"{tmp_path}/{name}.py hides Python's own module '{name}' from every program beside it; rename it"
    done = python(file, tmp_path)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == f"ImportError: {said} [LM632]"
    assert codes_of(said) == ["LM632"]
    loaded = leanmcp("list", tmp_path / file)
    assert (loaded.returncode, loaded.stderr) == (0, f"WARNING {said} [LM632]\n")
    assert "hi()" in loaded.stdout
    checked = leanmcp("check", file, cwd=tmp_path, PYTHONSAFEPATH="1")
    assert f"{name}.py: LC001 registration: logged: {said} [LM632]\n" in checked.stdout


def test_a_module_of_the_working_folder_that_stops_the_command_is_named(tmp_path: Path) -> None:
    """Ours: `python -m leanmcp` looks there first, `leanmcp` does not."""
    (tmp_path / "logging.py").write_text("X = 1\n")
    (tmp_path / "server.py").write_text(SERVER + TOOL)
    done = leanmcp("list", "server.py", cwd=tmp_path)
    said = f"{tmp_path}/logging.py hides Python's own module 'logging' from every program beside it; rename it"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"leanmcp: {said} [LM632]\n")


def test_a_file_that_hides_what_only_serving_needs_is_named(tmp_path: Path) -> None:
    """Ours: goal U11: whatever is missing of it."""
    (tmp_path / "uvloop.py").touch()
    (tmp_path / "server.py").write_text(SERVER + TOOL + MAIN)
    done = python("server.py", tmp_path)
    said = f"{tmp_path}/uvloop.py hides a package that leanmcp needs from every program beside it; rename it"
    assert done.stderr.splitlines()[-2:] == [f"AttributeError: {said}", "LM632: run `leanmcp explain LM632`"]
    assert done.stderr.count("\n") == 5


def test_a_file_that_is_called_leanmcp_is_named(tmp_path: Path) -> None:
    """Ours: nothing of ours runs under `python leanmcp.py`; the commands load it."""
    (tmp_path / "leanmcp.py").write_text(SERVER + TOOL)
    loaded = leanmcp("list", tmp_path / "leanmcp.py")
    assert loaded.returncode == 0
    said = f"{tmp_path}/leanmcp.py hides leanmcp itself from every program beside it; rename it"
    assert loaded.stderr == f"WARNING {said} [LM632]\n"
    assert codes_of(said) == ["LM632"]


def test_the_script_of_the_command_hides_nothing(tmp_path: Path) -> None:
    """Ours: what runs as `bin/leanmcp` is no module, whose name another one could have; the true cause is told."""
    script = tmp_path / "bin" / "leanmcp"
    script.parent.mkdir()
    script.write_text("import sys\nfrom leanmcp.cli import main\nsys.exit(main())\n")
    file = tmp_path / "server.py"
    file.write_text("from leanmcp import MCPServr\n")
    done = subprocess.run(
        [sys.executable, script, "list", file], env=environment(), capture_output=True, text=True, timeout=DEADLINE
    )
    said = f"{file}:1: ImportError: cannot import 'MCPServr' from 'leanmcp'; did you mean 'MCPServer'?"
    assert (done.returncode, done.stderr) == (2, f"leanmcp: {said} [LM610]\n")


LIFESPANS = [
    ("    raise RuntimeError('no database')\n    yield\n", "LM610", "{file}:5: RuntimeError: no database"),
    (
        "    os.environ['NO_SUCH_KEY_HERE']\n    yield\n",
        "LM610",
        "{file}:5: KeyError: 'NO_SUCH_KEY_HERE'; the variable is not set: export NO_SUCH_KEY_HERE, or have the host "
        "set it in its `env`",
    ),
    (
        "    json.loads('{')\n    yield\n",
        "LM610",
        "{file}:5: JSONDecodeError: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)",
    ),
]


@pytest.mark.parametrize("command", [["list"], ["run"], ["run", "--http", "--port", "0"]], ids=" ".join)
@pytest.mark.parametrize(("body", "code", "said"), LIFESPANS)
def test_what_a_lifespan_raises_is_told_with_its_line(
    tmp_path: Path, command: list[str], body: str, code: str, said: str
) -> None:
    """Ours: goal U11: it is the author's mistake, also where a function of Python's raised; no frame of ours shows."""
    file = tmp_path / "server.py"
    file.write_text(f"import contextlib, json, os\n{LIFESPAN}{body}mcp = MCPServer('x', lifespan=life)\n")
    done = leanmcp(*command, file)
    told = said.replace("{file}", str(file))
    assert (done.returncode, done.stderr) == (2 if command == ["list"] else 1, f"leanmcp: {told} [{code}]\n")
    assert codes_of(told) == [code]


@pytest.mark.parametrize(
    ("body", "code", "said"),
    [
        ("    yield 1\n    yield 2\n", "LM409", "lifespan= yields more than once; write one `yield` in it"),
        ("    if False:\n        yield\n", "LM409", "lifespan= has ended without yielding; write one `yield` in it"),
    ],
)
def test_a_lifespan_that_does_not_yield_once_is_no_mistake_of_ours(
    tmp_path: Path, body: str, code: str, said: str
) -> None:
    """Ours: goal U10: its place, and the page."""
    file = tmp_path / "server.py"
    file.write_text(f"import contextlib\n{LIFESPAN}{body}mcp = MCPServer('x', lifespan=life)\n")
    done = leanmcp("list", file)
    assert done.stderr.splitlines()[-1] == f"leanmcp: {file}:3: TypeError: {said} [{code}]"
    assert codes_of(said) == [code]


def test_what_an_exception_was_raised_from_is_told(tmp_path: Path) -> None:
    """Ours: the cause is often what has to be mended."""
    file = tmp_path / "server.py"
    body = "    try:\n        int('x')\n    except ValueError as error:\n        raise RuntimeError('no') from error\n"
    file.write_text(f"import contextlib\n{LIFESPAN}{body}    yield\nmcp = MCPServer('x', lifespan=life)\n")
    done = leanmcp("run", file)
    assert done.stderr == (
        f"leanmcp: {file}:8: RuntimeError: no [LM610]\n"
        "caused by ValueError: invalid literal for int() with base 10: 'x'\n"
    )


@pytest.mark.parametrize("name", ["os.py", "test.py", "utils.py", "mailbox.py", "logging.txt", "pkg/json.py"])
def test_other_names_are_nobodys(tmp_path: Path, name: str) -> None:
    """Ours: what cannot be hidden, what nothing uses, and modules inside of packages."""
    (tmp_path / "pkg").mkdir()
    (tmp_path / name).write_text("")
    (tmp_path / "server.py").write_text(SERVER + TOOL + MAIN)
    assert leanmcp("list", tmp_path / "server.py").stderr == ""
    assert python("server.py", tmp_path).returncode == 0


# --- two copies of one server ----------------------------------------------------------------------------------------


def test_a_file_that_is_loaded_twice_warns(tmp_path: Path) -> None:
    """Ours: the tools are in the copy that nobody serves; without any that is no matter."""
    file = tmp_path / "server.py"
    file.write_text(f"{SERVER}import tools\n{MAIN}")
    (tmp_path / "tools.py").write_text(f"from server import mcp\n{TOOL}")
    done = python("server.py", tmp_path)
    said = (
        f"{file} is loaded twice, as __main__ and as server, and the copy that is not served has the tools hi; make "
        "the server in a file of its own, which both import"
    )
    assert (done.returncode, done.stderr) == (0, f"WARNING {said} [LM631]\n")
    assert codes_of(said) == ["LM631"]
    (tmp_path / "tools.py").write_text("import server\n")
    assert python("server.py", tmp_path).stderr == ""


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        (
            {"LEANMCP_STATE_KEY": "short"},
            "LEANMCP_STATE_KEY: key 0 of the requestState has 5 bytes; give 32 or more random ones, as "
            '`python -c "import secrets; print(secrets.token_hex(32))"` prints',
        ),
        (
            {"LEANMCP_STATE_KEY_FILE": "/no-such-file"},
            "LEANMCP_STATE_KEY_FILE=/no-such-file: No such file or directory; its lines are the keys",
        ),
    ],
)
def test_a_key_of_the_environment_is_told_by_its_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], said: str
) -> None:
    """Ours: the author of the file has not written it."""
    file = tmp_path / "server.py"
    file.write_text(SERVER + TOOL)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    done = leanmcp("list", file)
    assert (done.returncode, done.stderr) == (2, f"leanmcp: {file}:2: ValueError: {said} [LM222]\n")
    assert codes_of(said) == ["LM222"]
