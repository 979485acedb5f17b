"""`leanmcp migrate`: files of the official SDK that run here afterwards, and what else is in them stays."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import types
from pathlib import Path

import msgspec
import pytest

from leanmcp.cli import migrating_names as names
from tests import test_tutorial
from tests.support.processes import ROOT
from tests.support.shell import leanmcp
from tests.test_cli_migrating import migrated

V1 = '''\
"""A server of version 1."""

from contextlib import asynccontextmanager

from mcp.server.fastmcp import Context, FastMCP
from mcp.types import TextContent, ToolAnnotations


@asynccontextmanager
async def lifespan(server: FastMCP):
    yield {"greeting": "Hello"}


mcp = FastMCP("Greeter", instructions="Greets.", lifespan=lifespan)


@mcp.tool(annotations=ToolAnnotations(readOnlyHint=True))
async def greet(name: str, ctx: Context) -> list[TextContent]:
    """Greet somebody."""
    await ctx.report_progress(1, 1)
    return [TextContent(type="text", text=f"{ctx.request_context.lifespan_context['greeting']}, {name}!")]


@mcp.resource("greeting://{name}")
def greeting(name: str) -> str:
    """A greeting."""
    return f"Hello, {name}!"


@mcp.prompt()
def ask(name: str) -> str:
    """Ask for a greeting."""
    return f"Greet {name}."


if __name__ == "__main__":
    mcp.run(transport="stdio")
'''


def test_a_program_of_version_1_runs_here(tmp_path: Path) -> None:
    """Ours: migrated, and called."""
    (tmp_path / "server.py").write_text(V1)
    done = leanmcp("migrate", "server.py", cwd=tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (0, 1)
    assert "+from leanmcp import Context, MCPServer\n" in done.stdout
    assert (tmp_path / "server.py").read_text() == V1
    done = leanmcp("migrate", "server.py", "--write", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "changed server.py\n")
    assert leanmcp("call", "server.py", "greet", "name=Ada", cwd=tmp_path).stdout == "Hello, Ada!\n"
    assert leanmcp("read", "server.py", "greeting://Bob", cwd=tmp_path).stdout == "Hello, Bob!"
    assert "Greet Eve." in leanmcp("prompt", "server.py", "ask", "name=Eve", cwd=tmp_path).stdout
    done = leanmcp("migrate", "server.py", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.skipif(not test_tutorial.TEXTS, reason=f"the tutorial is not there: {test_tutorial.SEEDS}")
def test_the_programs_of_the_tutorial_run_here(tmp_path: Path) -> None:
    """Ours: the official SDK's own introduction, with nothing left to do."""
    pytest.importorskip("pydantic")
    programs = test_tutorial.programs()
    for number, program in enumerate(programs):
        (tmp_path / f"step{number}.py").write_text(program)
    done = leanmcp("migrate", ".", "--write", cwd=tmp_path)
    assert (done.returncode, done.stderr.count("changed ")) == (0, len(programs))
    assert "search_books(" in leanmcp("list", "step0.py", "tools", cwd=tmp_path).stdout
    done = leanmcp("call", "step2.py", "search_books", "query=dune", "genre=fiction", cwd=tmp_path)
    assert done.stdout == "Found 3 books matching 'dune' in fiction (showing up to 10).\n"
    book = 'book={"title": "Dune", "author": "Herbert", "year": 1965}'
    assert leanmcp("call", "step3.py", "add_book", book, cwd=tmp_path).stdout == "Added 'Dune' by Herbert (1965).\n"


def test_a_client_of_version_2_runs_here(tmp_path: Path) -> None:
    """Ours: the official client's own tests, which we keep, need their imports changed."""
    file = tmp_path / "client.py"
    file.write_text(
        "import asyncio\nimport sys\n\nimport mcp\nfrom mcp import Client, StdioServerParameters\n"
        "from mcp.types import TextContent\n\n\nasync def main() -> None:\n"
        "    server = StdioServerParameters(command=sys.executable, args=['-m', 'leanmcp', 'run', sys.argv[1]])\n"
        "    async with Client(server) as client:\n"
        "        try:\n            await client.call_tool('nothing', {})\n"
        "        except mcp.MCPError as error:\n            print(error.error.code)\n"
        "        result = await client.call_tool('say', {'text': 'x'})\n"
        "        assert isinstance(result.content[0], TextContent) and not result.is_error\n"
        "        print(result.content[0].text)\n\n\nasyncio.run(main())\n"
    )
    assert leanmcp("migrate", file, "--write").returncode == 0
    command = [sys.executable, str(file), str(ROOT / "tests" / "fixtures" / "shell.py")]
    variables = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=variables, check=False)
    assert (done.stdout, done.returncode) == ("-32602\n'x' None None False\n", 0), done.stderr


@pytest.mark.parametrize("path", sorted((ROOT / "tests").glob("test_official_client*.py")), ids=lambda path: path.stem)
def test_uses_of_the_official_client_need_no_hand(path: Path) -> None:
    """Ours: what our own tests import from the official client exists here."""
    text, left = migrated(path.read_text())
    assert left == []
    assert "from mcp" not in text
    module = types.ModuleType("imports")
    lines = [line for line in text.splitlines() if line.startswith("from leanmcp")]
    exec(compile("\n".join(lines), str(path), "exec"), module.__dict__)


def test_bytes_that_are_no_import_stay(tmp_path: Path) -> None:
    """Ours: line ends, encoding, mode, a missing last line end, a link."""
    file = tmp_path / "latin.py"
    content = (
        "# -*- coding: latin-1 -*-\r\nfrom mcp.server.mcpserver import Elicit, MCPServer\r\nx = 'é'\f\t# ü".encode(
            "latin-1"
        )
    )
    file.write_bytes(content)
    file.chmod(0o750)
    link = tmp_path / "link.py"
    link.symlink_to(file)
    assert leanmcp("migrate", link, "--write").returncode == 0
    old = b"from mcp.server.mcpserver import Elicit, MCPServer\r\n"
    new = b"from leanmcp.elicit import Elicit\r\nfrom leanmcp import MCPServer\r\n"
    assert file.read_bytes() == content.replace(old, new)
    assert stat.S_IMODE(file.stat().st_mode) == 0o750
    assert link.is_symlink()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["latin.py", "link.py"]


def test_a_mark_of_byte_order_stays(tmp_path: Path) -> None:
    """Ours."""
    file = tmp_path / "marked.py"
    file.write_bytes(b"\xef\xbb\xbffrom mcp import Client\n")
    assert leanmcp("migrate", file, "--write").returncode == 0
    assert file.read_bytes() == b"\xef\xbb\xbffrom leanmcp import Client\n"


def test_the_diff_can_be_applied(tmp_path: Path) -> None:
    """Ours: data on standard output, what is left on standard error with its place."""
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "a.py").write_text("from mcp import Client, ClientSession")
    (tmp_path / "inner" / ".hidden").mkdir()
    (tmp_path / "inner" / ".hidden" / "b.py").write_text("from mcp import Client\n")
    done = leanmcp("migrate", ".", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stdout == (
        "--- inner/a.py\n+++ inner/a.py\n@@ -1 +1,2 @@\n-from mcp import Client, ClientSession\n"
        "\\ No newline at end of file\n+from leanmcp import Client\n+from mcp import ClientSession\n"
        "\\ No newline at end of file\n"
    )
    first, *rest = done.stderr.splitlines()
    assert first.startswith("inner/a.py:1: mcp.ClientSession: write `async with Client(url) as client`")
    assert rest[0] == "1 left to do by hand"


def test_lines_of_a_diff_are_those_of_the_file(tmp_path: Path) -> None:
    """Ours: they end at line ends only, not at a form feed or another of Python's line boundaries."""
    (tmp_path / "a.py").write_bytes(b"from mcp import Client\nx = 1\x0c\ny = '\x1c'\rz = 1\n")
    done = leanmcp("migrate", "a.py", "--json", cwd=tmp_path)
    [file] = msgspec.json.decode(done.stdout)["files"]
    assert file["diff"] == (
        "--- a.py\n+++ a.py\n@@ -1,3 +1,3 @@\n-from mcp import Client\n+from leanmcp import Client\n"
        " x = 1\x0c\n y = '\x1c'\rz = 1\n"
    )


def test_a_folder_may_have_other_files(tmp_path: Path) -> None:
    """Ours: a template, a link to nowhere, a name that is no text, a string that Python warns of."""
    (tmp_path / "template.py").write_text("{{ cookiecutter }}: no Python\n")
    (tmp_path / "link.py").symlink_to("nowhere.py")
    (tmp_path / os.fsdecode(b"odd\xff.py")).write_text("from mcp import Client\nx = '\\d'\n")
    for option in ("--json", "--write"):
        done = leanmcp("migrate", ".", option, cwd=tmp_path, PYTHONWARNINGS="always", PYTHONIOENCODING="utf-8:strict")
        assert (done.returncode, "Warning" in done.stderr) == (0, False)
    assert (tmp_path / os.fsdecode(b"odd\xff.py")).read_text().startswith("from leanmcp import Client\n")


def test_fastmcp_2_is_left_to_a_person(tmp_path: Path) -> None:
    """Ours: it is no part of the official SDK, however alike the names are."""
    (tmp_path / "a.py").write_text(
        "import fastmcp.utilities\nfrom fastmcp import FastMCP, Context, Proxy\nfrom . import fastmcp as own\n"
    )
    done = leanmcp("migrate", ".", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines() == [
        "a.py:1: fastmcp.utilities: FastMCP 2 is not the official SDK: change it by hand, to "
        "`from leanmcp import MCPServer`",
        "a.py:2: fastmcp: FastMCP 2 is not the official SDK: change it by hand, to "
        "`from leanmcp import MCPServer, Context`",
        "2 left to do by hand",
    ]


def test_json_tells_the_same(tmp_path: Path) -> None:
    """Ours: U20."""
    (tmp_path / "a.py").write_text("from mcp import Client, ClientSession\n")
    done = leanmcp("migrate", "a.py", "--json", cwd=tmp_path)
    shown = msgspec.json.decode(done.stdout)
    assert (done.returncode, done.stderr, shown["written"]) == (1, "", False)
    [file] = shown["files"]
    assert (file["path"], file["changed"], file["left"][0]["line"]) == ("a.py", True, 1)
    assert "+from leanmcp import Client" in file["diff"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "name a Python file or a folder"),
        ([""], "no file ''"),
        (["servr.py"], "no file 'servr.py'; did you mean 'server.py'?"),
        (["bad.py"], "bad.py:2: SyntaxError"),
        (["nul.py"], "nul.py: SyntaxError: source code"),
        (["latin.py"], "latin.py: SyntaxError: invalid or missing encoding"),
        (["--wirte"], "unknown option '--wirte'; did you mean '--write'?"),
    ],
)
def test_mistakes_are_told(tmp_path: Path, words: list[str], said: str) -> None:
    """Ours: exit code 2, and nothing is written."""
    (tmp_path / "server.py").write_text("from mcp import Client\n")
    (tmp_path / "bad.py").write_text("from mcp import Client\nx = (\n")
    (tmp_path / "latin.py").write_bytes(b"# \xe9\nimport mcp\n")
    (tmp_path / "nul.py").write_bytes(b"from mcp import Client\n\0")
    done = leanmcp("migrate", "--write", *words, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert (tmp_path / "server.py").read_text() == "from mcp import Client\n"


def test_differences_are_listed() -> None:
    """Ours: the table of the README's section."""
    done = leanmcp("migrate", "--differences")
    assert (done.returncode, done.stdout.count("\n- ")) == (0, len(names.DIFFERENCES) - 1)
    shown = msgspec.json.decode(leanmcp("migrate", "--differences", "--json").stdout)
    assert shown == {"differences": list(names.DIFFERENCES)}
