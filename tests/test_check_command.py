"""The command `leanmcp check`: exit codes, output, and every kind of target."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from leanmcp.checking import RULES
from tests.support.processes import DEADLINE, ROOT, environment, http_server
from tests.support.shell import at_terminal, leanmcp

SERVER = '''
from typing import Annotated
from leanmcp import Field, MCPServer

{head}
mcp = MCPServer("demo", instructions="Add."{options})

@mcp.tool
def add(a: Annotated[int, Field(description="One.")], b: Annotated[int, Field(description="Other.")]) -> int:
    """Add two numbers."""
    return a + b
{more}
'''
HINT = "LC501 hints-missing: tool 'add': it does not say whether it changes something; hosts take it for destructive"
WARNING = "\n@mcp.tool\ndef silent() -> str:\n    return ''\n"
ERROR = (
    "\nmcp.add_tool(lambda arguments: None, 'two', description='Do it.', input_schema={'type': 'object', 'properties': "
)
ERROR += "{'x': {'type': 'integer', 'minimum': 2, 'maximum': 1, 'description': 'X.'}}})\n"


ASKS = """
from dataclasses import dataclass
from typing import Annotated
from leanmcp import MCPServer
from leanmcp.elicit import Elicit, Resolve

mcp = MCPServer("x")

@dataclass
class Login:
    password: str

def ask() -> Elicit[Login]:
    return Elicit("Who?", Login)

@mcp.tool
def f(login: Annotated[Login, Resolve(ask)]) -> str:
    return ""
"""


@pytest.fixture
def server(tmp_path: Path) -> Path:
    return _written(tmp_path)


def _written(folder: Path, more: str = "", head: str = "", options: str = "") -> Path:
    file = folder / "server.py"
    file.write_text(SERVER.format(more=more, head=head, options=options))
    return file


def _checked(folder: Path, *words: str, more: str = "") -> subprocess.CompletedProcess[str]:
    _written(folder, more)
    return leanmcp("check", "server.py", *words, cwd=folder)


# --- exit codes -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("more", "words", "code", "summary"),
    [
        ("", [], 0, "Nothing found but 1 hint (shown with --hints)."),
        ("", ["--strict", "--hints"], 0, "1 hint."),
        ("", ["--strict", "--ignore", "LC501"], 0, "Nothing found."),
        (WARNING, [], 0, "1 warning, 2 hints (shown with --hints)."),
        (WARNING, ["--strict"], 1, "1 warning, 2 hints (shown with --hints)."),
        (WARNING, ["--strict", "--ignore", "tool-description"], 0, "Nothing found but 2 hints (shown with --hints)."),
        (WARNING, ["--strict", "--ignore", "lc201,hints-missing"], 0, "Nothing found."),
        (ERROR, [], 1, "1 error, 2 hints (shown with --hints)."),
        (ERROR, ["--ignore", "LC401", "--ignore", "LC501"], 0, "Nothing found."),
    ],
)
def test_exit_code_counts_errors_and_with_strict_warnings(
    tmp_path: Path, more: str, words: list[str], code: int, summary: str
) -> None:
    """Ours: for CI; hints never count."""
    done = _checked(tmp_path, *words, more=more)
    assert (done.returncode, done.stderr) == (code, "")
    assert done.stdout.splitlines()[-1].startswith(summary)


def test_findings_are_lines_in_groups(tmp_path: Path) -> None:
    """Ours: `file:line: RULE name: what: text; fix`, the summary last."""
    done = _checked(tmp_path, "--hints", more=WARNING)
    assert done.stdout == (
        "warnings\n"
        "server.py:13: LC201 tool-description: tool 'silent': the model is not told what it does: it has no "
        "description; write a docstring, or give description=\n"
        "hints\n"
        f"server.py:8: {HINT}; give annotations=ToolAnnotations(read_only_hint=...)\n"
        f"server.py:13: {HINT.replace('add', 'silent')}; give annotations=ToolAnnotations(read_only_hint=...)\n"
        "1 warning, 2 hints. 2 tools, about 169 tokens (bytes / 4).\n"
    )


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["check"], "name a server first"),
        (["check", "{dir}/sever.py"], "did you mean 'server.py'"),
        (["check", "{dir}/server.py", "more"], "'more' is one word too many; see `leanmcp check --help`"),
        (["check", "{dir}/server.py", "--ignore", "LC999"], "--ignore 'LC999': there is no such rule"),
        (["check", "{dir}/server.py", "--ignore", "tool-descripton"], "did you mean 'tool-description'"),
        (["check", "{dir}/server.py", "--hint"], "unknown option '--hint'; did you mean '--hints'"),
        (["check", "{dir}/server.py", "--token", "x"], "--token is an option of HTTP"),
        (["check", "{dir}/bad.py"], "bad.py:4: TypeError: tool 'f': parameter 'x' has no type; annotate it"),
        (["check", "{dir}/syntax.py"], "syntax.py:1: SyntaxError"),
        (["check", "{dir}/asks.py"], "field 'password' of the form Login asks for a secret (password)"),
    ],
)
def test_mistakes_of_the_user_are_exit_code_2(server: Path, words: list[str], expected: str) -> None:
    """Ours: a server that cannot be loaded says what registration says."""
    bad = "from leanmcp import MCPServer\nmcp = MCPServer('x')\n\n@mcp.tool\ndef f(x) -> str:\n    return x\n"
    (server.parent / "bad.py").write_text(bad)
    (server.parent / "syntax.py").write_text("def f(:\n")
    (server.parent / "asks.py").write_text(ASKS)
    done = leanmcp(*(word.replace("{dir}", str(server.parent)) for word in words))
    assert (done.returncode, done.stdout) == (2, "")
    assert expected in done.stderr
    assert len(done.stderr.splitlines()) <= 12


def test_a_server_that_nobody_reaches_is_exit_code_3() -> None:
    """Ours: U20."""
    done = leanmcp("check", "http://127.0.0.1:9/mcp")
    assert (done.returncode, done.stdout) == (3, "")
    assert "connection refused" in done.stderr


# --- output -----------------------------------------------------------------------------------------------------------


def test_json_has_every_finding(tmp_path: Path) -> None:
    """Ours: hints too; the shape that the README describes."""
    done = _checked(tmp_path, "--json", more=WARNING)
    told = msgspec.json.decode(done.stdout)
    assert list(told) == ["target", "findings", "counts", "tools", "tokens"]
    assert told["target"] == "server.py"
    assert told["counts"] == {"error": 0, "warning": 1, "hint": 2}
    assert (told["tools"], told["tokens"]) == (2, 169)
    assert told["findings"][0] == {
        "rule": "LC201",
        "name": "tool-description",
        "severity": "warning",
        "file": "server.py",
        "line": 13,
        "on": "tool 'silent'",
        "text": "the model is not told what it does: it has no description",
        "fix": "write a docstring, or give description=",
    }
    assert done.returncode == 0


def test_json_of_nothing_is_the_same_shape(tmp_path: Path) -> None:
    """Ours: a program need not look first."""
    told = msgspec.json.decode(_checked(tmp_path, "--json", "--ignore", "LC501").stdout)
    assert (told["findings"], told["counts"]) == ([], {"error": 0, "warning": 0, "hint": 0})


def test_rules_are_listed() -> None:
    """Ours: no server is needed for it."""
    done = leanmcp("check", "--rules")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines] == [rule.id for rule in RULES]
    row = (
        "LC201  tool-description         warning  A tool has no description, from which a model learns when to call it."
    )
    assert f"{row} Write a docstring, or give description=." in lines
    rules: list[dict[str, Any]] = msgspec.json.decode(leanmcp("check", "--rules", "--json").stdout)
    assert [rule["rule"] for rule in rules] == [rule.id for rule in RULES]
    assert list(rules[0]) == ["rule", "name", "severity", "about", "fix"]


def test_help_names_the_exit_codes() -> None:
    """Ours: U20."""
    text = leanmcp("check", "--help").stdout
    assert "0    nothing found, or only what does not count: hints, and warnings without --strict" in text
    assert "1    findings" in text
    assert text.count("exit codes:") == 1


def test_colours_are_for_terminals(tmp_path: Path) -> None:
    """Ours: U24."""
    _written(tmp_path, WARNING + ERROR)
    with at_terminal("check", "server.py", cwd=tmp_path) as terminal:
        assert terminal.finish() == 1
    assert "\x1b[31merrors\x1b[0m" in terminal.shown
    assert "\x1b[1mLC201 tool-description\x1b[0m" in terminal.shown
    with at_terminal("check", "server.py", cwd=tmp_path, NO_COLOR="1") as terminal:
        assert terminal.finish() == 1
    assert "\x1b" not in terminal.shown


def test_what_the_file_prints_is_no_part_of_the_report(tmp_path: Path) -> None:
    """Ours: data on standard output, all else on standard error."""
    file = _written(tmp_path, head="print('loading')")
    done = leanmcp("check", file, "--json")
    assert "loading\n" in done.stderr
    assert msgspec.json.decode(done.stdout)["tools"] == 1


def test_what_registration_warns_of_is_a_finding(tmp_path: Path) -> None:
    """Ours: told once, with the line that was running."""
    more = (
        "\n@mcp.tool('users')\ndef f(x: int) -> int:\n    '''F.\n\n    Args:\n        x: X.\n        y: Y.\n    '''\n"
    )
    done = _checked(tmp_path, more=more)
    line = "server.py:13: LC001 registration: logged: tool 'users': the docstring describes 'y', no parameter of the"
    assert f"{line} function\n" in done.stdout
    assert done.stderr == ""


def test_the_server_is_not_started(tmp_path: Path) -> None:
    """Ours: before it starts; a lifespan opens databases."""
    head = "from contextlib import asynccontextmanager\n@asynccontextmanager\nasync def life(server):\n"
    head += "    print('started')\n    yield\n"
    file = _written(tmp_path, head=head, options=", lifespan=life")
    done = leanmcp("check", file)
    assert (done.returncode, done.stderr) == (0, "")


# --- targets ----------------------------------------------------------------------------------------------------------


def _rules_of(done: subprocess.CompletedProcess[str]) -> list[tuple[str, str]]:
    return sorted((one["rule"], one["on"]) for one in msgspec.json.decode(done.stdout)["findings"])


@pytest.mark.parametrize("way", ["object", "module", "http", "program", "entry"])
def test_every_target_is_checked_by_the_same_rules(tmp_path: Path, way: str) -> None:
    """Ours: U19; what the wire shows."""
    file = _written(tmp_path, WARNING + ERROR)
    expected = _rules_of(leanmcp("check", file, "--json"))
    assert ("LC201", "tool 'silent'") in expected
    program = [sys.executable, "-m", "leanmcp", "run", str(file)]
    if way == "object":
        done = leanmcp("check", f"{file}:mcp", "--json")
    elif way == "module":
        done = leanmcp("check", "server:mcp", "--json", cwd=tmp_path)
    elif way == "http":
        with http_server(file) as served:
            done = leanmcp("check", served.url, "--json")
    elif way == "program":
        done = leanmcp("check", "--json", "--env", f"PYTHONPATH={ROOT}", "--", *program)
    else:
        entry = {"command": program[0], "args": program[1:], "env": {"PYTHONPATH": str(ROOT)}}
        (tmp_path / "mcp.json").write_bytes(msgspec.json.encode({"mcpServers": {"mine": entry}}))
        done = leanmcp("check", "mine", "--json", cwd=tmp_path)
        assert {one["file"] for one in msgspec.json.decode(done.stdout)["findings"]} == {"mine"}
    assert _rules_of(done) == expected
    assert done.returncode == 1


def test_pages_are_read_to_their_end(tmp_path: Path) -> None:
    """Spec: server/utilities/pagination."""
    file = _written(tmp_path, WARNING + ERROR, options=", page_size=1")
    with http_server(file) as served:
        assert msgspec.json.decode(leanmcp("check", served.url, "--json").stdout)["tools"] == 3


EXAMPLES = [path for path in sorted((ROOT / "examples").rglob("*.py")) if "MCPServer(" in path.read_text()]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: str(path.relative_to(ROOT / "examples")))
def test_nothing_is_found_in_the_examples(path: Path, tmp_path: Path) -> None:
    """Ours: acceptance; the tutorial describes arguments from its third step on."""
    ignored = ["--ignore", "argument-description"] if "tutorial" in path.parts else []
    done = leanmcp("check", path, "--strict", *ignored, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Nothing found")


def test_check_loads_what_it_needs_only(server: Path) -> None:
    """Ours: U18, under half a second; counted in modules."""
    code = (
        f"from leanmcp.cli import main; assert main(['check', {str(server)!r}]) == 0\n"
        "import sys; print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=DEADLINE, env=environment(), check=True
    )
    loaded = set(done.stderr.split())
    heavy = {"h11", "fastjsonschema", "uvloop", "pydantic", "leanmcp.run", "leanmcp.schema.validator", "difflib"}
    assert "leanmcp.checking.local" in loaded
    assert not loaded & (heavy | {"leanmcp.checking.wire", "leanmcp.transports.http_client"})
