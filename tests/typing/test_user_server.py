"""What a type checker tells our user: nothing where the code is right, and where it is wrong what is wrong."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conformance.node import CannotInstall, find_node, install
from tests.support.in_process import request
from tests.support.processes import ROOT, environment
from tests.support.type_checks import CHECK_TIMEOUT, mypy
from tests.typing import user_client, user_server

USER_SERVER = ROOT / "tests" / "typing" / "user_server.py"
PROGRAMS = [USER_SERVER, USER_SERVER.with_name("user_features.py"), USER_SERVER.with_name("user_client.py")]
PYRIGHT_NODE_MAJOR = 14

USES = """
from leanmcp import Client
from tests.typing.user_server import Book, Shelf, baskets, empty_brackets, mcp, options, plain

reveal_type(plain)
reveal_type(options)
reveal_type(Shelf.count)
reveal_type(baskets.get("x"))
right: int = plain(1)
"""
MISTAKES = {
    'plain("1")': "int",
    "wrong: str = plain(1)": "str",
    'Book(title="Dune")': "year",
    'mcp.tool(titel="x")': "overload",
    'mcp.tool(nullable="type")': "overload",
    "mcp.tool(extra_args='drop')": "tool",
    'type(mcp)("x", nullable="none")': "none",
    'mcp.resource("x://y", ttl=5)': "ttl",
    "Client(mcp, timeout=5)": "timeout",
}


@pytest.fixture
def uses(tmp_path: Path) -> Path:
    """A file that uses the server rightly, and then makes each mistake on a line of its own."""
    file = tmp_path / "uses.py"
    file.write_text("\n".join([USES, *MISTAKES, ""]))
    return file


def complaints(output: str, file: Path) -> list[str]:
    """Return the errors about one file, in order."""
    return [line for line in output.splitlines() if file.name in line and "error" in line]


def test_mypy_is_silent_about_right_code_and_names_each_mistake(uses: Path) -> None:
    """Ours: decorators keep signatures, options are typed; `mypy --strict`."""
    pytest.importorskip("mypy", reason="mypy is not installed")
    done = mypy(*map(str, PROGRAMS), str(uses))
    output = done.stdout + done.stderr
    assert [complaints(output, program) for program in PROGRAMS] == [[]] * len(PROGRAMS)
    for signature in ("def (a: int, b: int =) -> int", "def (query: str, region: str, genre:", "dict[str, int]"):
        assert f'Revealed type is "{signature}' in output
    assert '"def (self: tests.typing.user_server.Shelf, genre: tests.typing.user_server.Genre) -> int"' in output
    check_mistakes(complaints(output, uses))


def test_pyright_is_silent_about_right_code_and_names_each_mistake(uses: Path) -> None:
    """Ours: the same for the checker inside many editors."""
    try:
        pyright = [str(find_node(PYRIGHT_NODE_MAJOR)), str(install("pyright") / "pyright" / "index.js")]
    except CannotInstall as error:
        pytest.skip(f"no pyright: {error}")
    command = [*pyright, "--pythonpath", sys.executable, *map(str, PROGRAMS), str(uses)]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=CHECK_TIMEOUT, env=environment(), cwd=ROOT, check=False
    )
    output = done.stdout + done.stderr
    assert [complaints(output, program) for program in PROGRAMS] == [[]] * len(PROGRAMS)
    for signature in (
        "(a: int, b: int = 1) -> int",
        "(query: ",
        "(self: Shelf, genre: Genre) -> int",
        "dict[str, int]",
    ):
        assert f'is "{signature}' in output
    check_mistakes(complaints(output, uses))


def check_mistakes(errors: list[str]) -> None:
    """Every mistake has its error, on its line, and nothing else has one."""
    first = USES.count("\n") + 2
    lines = {int(error.split("uses.py:")[1].split(":")[0]) - first for error in errors}
    assert lines == set(range(len(MISTAKES))), errors
    for number, word in enumerate(MISTAKES.values()):
        assert any(f"uses.py:{first + number}:" in error and word in error.lower() for error in errors), (word, errors)


def test_the_server_of_the_type_checkers_runs() -> None:
    """Ours: what is clean for a checker is no fiction."""
    listed = asyncio.run(request(user_server.mcp, "tools/list", {}))["result"]["tools"]
    names = [tool["name"] for tool in listed]
    assert names[:3] == ["plain", "empty_brackets", "everything"]
    assert names[-2:] == ["count", "shelf_names"]
    arguments = {"query": "q", "region": "r", "limit": 2}
    result = asyncio.run(request(user_server.mcp, "tools/call", {"name": "everything", "arguments": arguments}))
    assert result["result"]["structuredContent"] == {"result": ["q", "r"]}


def test_the_client_of_the_type_checkers_runs() -> None:
    """Ours: the same; it calls the server of `user_features`, in this process."""
    said = asyncio.run(user_client.main())
    assert said[:6] == ["2 front for Faust", "9 to 18", "2 front for Faust", "user", "bugs", "None"]
    assert {"one.reserve", "two.ping", "library://hours", "http://127.0.0.1:9/mcp None"} <= set(said)
    assert user_client.waiting() == ["count_slowly", "2 front for Faust", "library://hours", "ToolsListChanged"]
