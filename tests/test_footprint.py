"""What an import and a start cost, counted in modules."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.support.processes import ROOT, environment, http_server

HEAVY = ("pydantic", "h11", "fastjsonschema", "uvloop", "difflib", "email.message", "http.client", "unittest")


def _modules(code: str) -> set[str]:
    code += "; import sys; print('\\n'.join(sys.modules))"
    unmeasured = {name: value for name, value in environment().items() if not name.startswith("COVERAGE_")}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=30, env=unmeasured
    )
    return set(done.stdout.split())


@pytest.mark.parametrize(
    "code",
    [
        "import leanmcp",
        "import leanmcp; leanmcp.MCPServer",
        "from leanmcp.server import MCPServer",
        "import leanmcp.cli",
    ],
)
def test_import_pulls_under_200_modules_and_nothing_heavy(code: str) -> None:
    """Ours: DESIGN, "Gates that keep it lean"."""
    modules = _modules(code)
    assert len(modules) < 200
    assert not modules & set(HEAVY)


def test_command_line_imports_nothing_of_the_server() -> None:
    """Ours: `leanmcp --help` answers at once (U3)."""
    modules = _modules("import leanmcp.cli")
    assert not {"asyncio", "msgspec", "orjson", "leanmcp.server", "leanmcp.run"} & modules


def _modules_of_command(*words: str) -> set[str]:
    """Return what a command has imported when it has printed its result."""
    return _modules(f"from leanmcp.cli import main; assert main({list(words)!r}) == 0")


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["help"], ["call", "--help"]])
def test_help_imports_next_to_nothing(words: list[str]) -> None:
    """Ours: U3; argparse for the options of a command, not for the overview."""
    code = f"""
import leanmcp.cli
try:
    leanmcp.cli.main({words!r})
except SystemExit:
    pass
"""
    modules = _modules(code + "pass")
    assert not {"asyncio", "msgspec", "logging", "leanmcp.run", "leanmcp.client", "leanmcp.server"} & modules
    assert ("argparse" in modules) == (words[0] == "call")


def test_commands_import_one_side_only() -> None:
    """Ours: U3; a client of a URL has no use for a server, nor for what saves, asks or logs in."""
    with http_server(ROOT / "tests" / "fixtures" / "shell.py") as server:
        modules = _modules_of_command("call", server.url, "say", "text=x")
    own = {f"leanmcp.cli.{name}" for name in ("serving", "loading", "config", "questions", "form_fields")}
    assert not {"leanmcp.run", "leanmcp.server", "leanmcp.oauth", "leanmcp.in_process", "uvloop", "difflib"} & modules
    assert not {"shutil", "bz2", "lzma", "tempfile", "webbrowser"} & modules
    assert not own & modules


SCHEMA = {
    f"leanmcp.schema.{name}" for name in ("validator", "compiler", "interpreter", "documents", "ecma", "ambiguity")
}
TYPED = (
    "from leanmcp import MCPServer\nmcp = MCPServer('x')\n@mcp.tool\nasync def echo(text: str) -> str: return text\n"
)


def test_only_a_schema_written_by_hand_loads_what_reads_it() -> None:
    """Ours: at registration, so that the first call waits for nothing."""
    assert not _modules(TYPED + "pass") & SCHEMA
    assert not _modules("import leanmcp.schema") & SCHEMA
    given = TYPED + "mcp.add_tool(lambda arguments: None, 'given', input_schema={'type': 'object'})\npass"
    assert _modules(given) >= SCHEMA - {"leanmcp.schema.ambiguity"}


def test_what_stands_around_calls_loads_with_its_first_use() -> None:
    """Ours: dependencies, middleware, extensions and traces cost a server nothing that has none."""
    names = ("injection", "middleware", "extensions", "whole_results")
    surroundings = {f"leanmcp.server.{name}" for name in names} | {"leanmcp.protocol.trace"}
    assert not _modules(TYPED + "import leanmcp.run") & surroundings
    assert "leanmcp.server.injection" in _modules("from leanmcp import Depends")
    assert "leanmcp.server.extensions" in _modules("from leanmcp.server import Extension")


def test_serving_imports_under_200_modules() -> None:
    """Ours: registration of a typed tool and one call over the line endpoint included."""
    code = (
        "import asyncio\n"
        "from leanmcp import MCPServer\n"
        "from tests.support.in_process import request\n"
        "mcp = MCPServer('x')\n"
        "@mcp.tool\n"
        "async def echo(text: str) -> str: return text\n"
        "answer = asyncio.run(request(mcp, 'tools/call', {'name': 'echo', 'arguments': {'text': 'hi'}}))\n"
        "assert answer['result']['structuredContent'] == {'result': 'hi'}\n"
        "pass"
    )
    modules = {name for name in _modules(code) if name.partition(".")[0] != "tests"}
    assert len(modules) < 200
    assert not modules & set(HEAVY)
