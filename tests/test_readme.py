"""Everything that the README shows is run."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

import leanmcp
from leanmcp.limits import DEFAULT_LIMITS
from tests.support.processes import DEADLINE, ROOT, call, encode, environment, http_server
from tests.support.spec import read

README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


def blocks(language: str) -> list[str]:
    """Return the README's code blocks in one language."""
    return [text for name, text in BLOCKS if name == language]


@pytest.mark.parametrize(
    ("number", "arguments", "printed"),
    [
        (0, ["add", "a=1", "b=2"], "3\n"),
        (1, ["find", "query=dune"], '[{"title":"Dune","year":1965}]\n'),
        (2, ["add", "a=1", "b=2"], "3\n"),
        (3, ["export", "rows=3"], "3 rows\n"),
    ],
)
def test_python_block_runs(tmp_path: Path, number: int, arguments: list[str], printed: str) -> None:
    """Ours: U29."""
    assert len(blocks("python")) == 4
    file = tmp_path / "server.py"
    file.write_text(blocks("python")[number])
    done = subprocess.run(
        [sys.executable, "-m", "leanmcp", "call", str(file), *arguments],
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        env=environment(),
    )
    assert done.stdout == printed, done.stderr


def test_first_server_is_called_by_the_command_below_it() -> None:
    """Ours: U1, install, write a file, call."""
    command = re.search(r"`leanmcp (call server\.py [^`]+)`", README)
    assert command is not None
    assert command[1] == "call server.py add a=1 b=2"


def test_start_command_and_curl_work() -> None:
    """Ours: the first command's server answers the README's curl (U7)."""
    start, curl, tests = blocks("sh")
    served = re.search(r"&& \.venv/bin/leanmcp run (\S+) --http$", start.strip())
    assert served is not None
    with http_server(served[1]) as process:
        command = shlex.split(curl.replace("127.0.0.1:8000", f"127.0.0.1:{process.port}").replace("\\\n", " "))
        assert command[0] == "curl"
        done = subprocess.run([*command, "-s"], capture_output=True, text=True, timeout=DEADLINE)
        answer = read(done.stdout.encode())
    assert answer["result"]["structuredContent"]["result"].startswith("Found 3 books matching 'dune'")
    assert tests.strip().endswith(".venv/bin/python -m pytest")


def test_host_configuration_starts_the_bookshop() -> None:
    """Ours: the mcp.json snippet, with the paths of this clone."""
    (snippet,) = blocks("json")
    entry = msgspec.json.decode(snippet)["mcpServers"]["bookshop"]
    assert entry["command"].endswith("/.venv/bin/leanmcp")
    arguments = [argument.replace("/path/to/leanmcp", str(ROOT)) for argument in entry["args"]]
    done = subprocess.run(
        [sys.executable, "-m", "leanmcp", *arguments],
        input=encode(call("search_books", {"query": "dune"})) + b"\n",
        capture_output=True,
        timeout=DEADLINE,
        env=environment(),
    )
    assert read(done.stdout)["result"]["isError"] is False


def test_ci_runs_the_second_command() -> None:
    """Ours: what CI runs is what a person runs."""
    ci = (ROOT / ".ci" / "run").read_text()
    for part in blocks("sh")[2].strip().split(" && "):
        name = part.removeprefix(".venv/bin/").split()[0]
        assert name in ci
    assert ci.rstrip().endswith(".venv/bin/python -m pytest")


def test_limits_table_is_true() -> None:
    """Ours: every limit is named in the README, with its default."""
    section = README.partition("## Limits and defaults")[2].partition("## ")[0]
    shown = {
        name for row in section.splitlines() for name in re.findall(r"`(\w+)`", row.split("|")[1] if "|" in row else "")
    }
    assert shown == set(DEFAULT_LIMITS.__struct_fields__)
    assert "| `max_depth`, `max_elements` | 512, 1,000,000 |" in section


def test_readme_and_changelog_know_the_version() -> None:
    """Ours: the changelog has a section for this version."""
    assert f"## {leanmcp.__version__}" in (ROOT / "CHANGELOG.md").read_text()
