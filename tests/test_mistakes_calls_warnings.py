"""Warnings, once each, of what works but not well: large results, no descriptions, and `print` on stdio."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.support.failing import run_calls
from tests.support.mistakes import codes_of
from tests.support.processes import DEADLINE, call, encode, environment, run_stdio

WARNED = (
    "WARNING no description: tool0, tool1, tool2, tool3, tool4, tool5, tool6, tool7 and 2 more; write a docstring, or "
    "description=... [LM521]",
    "WARNING print() goes to standard error: standard output carries the protocol; use logging, or print(..., "
    "file=sys.stderr) [LM507]",
)


def test_a_large_result_is_told_once_for_each_tool() -> None:
    """Ours: goal U16."""
    source = "@mcp.tool\nasync def begin() -> str:\n    return 'x' * 1_000_000\n"
    source += "@mcp.tool\nasync def tool() -> list[str]:\n    return ['x' * 1_000_000]\n"
    seen = run_calls(source, {}, "begin", "begin", "tool", "tool")
    assert [line.split()[2] for line in seen.log.splitlines()] == ["begin:", "tool:"]


def test_a_large_result_within_a_limit_of_its_own_is_not_told() -> None:
    """Ours: the author has said how large it may be."""
    source = "@mcp.tool(max_result=3_000_000)\nasync def tool() -> str:\n    return 'x' * 1_000_000\n"
    assert run_calls(source, {}, "tool").log == ""


def test_tools_without_a_description_are_told_once_on_one_line(tmp_path: Path) -> None:
    """Ours: goal U12: when a server starts, with their names."""
    names = [f"tool{number}" for number in range(10)]
    source = "from leanmcp import MCPServer\nmcp = MCPServer('demo')\n"
    source += "".join(f"@mcp.tool\ndef {name}() -> int:\n    return 1\n" for name in names)
    source += "@mcp.tool\ndef told() -> int:\n    'Say it.'\n    print('hi')\n    print('ho')\n    return 1\n"
    (tmp_path / "server.py").write_text(source)
    messages, log, code = run_stdio(tmp_path / "server.py", encode(call("told")) + b"\n")
    assert (len(messages), code) == (1, 0)
    assert sorted(log.splitlines()) == [*WARNED, "hi", "ho"]  # one line each, in whatever order they arrive
    assert [codes_of(line.removeprefix("WARNING ")) for line in WARNED] == [["LM521"], ["LM507"]]


def test_what_is_printed_before_a_server_starts_reaches_no_client(tmp_path: Path) -> None:
    """Ours: goal U15: `python server.py`, whose output waits in a buffer until then."""
    source = "from leanmcp import MCPServer\nmcp = MCPServer('demo')\nprint('at the top')\nmcp.run()\n"
    variables = {name: value for name, value in environment().items() if name != "PYTHONUNBUFFERED"}
    command = [sys.executable, "-c", source]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, env=variables, timeout=DEADLINE)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"at the top\n")
