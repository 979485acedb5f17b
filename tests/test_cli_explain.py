"""`leanmcp explain` and `leanmcp version`."""

from __future__ import annotations

import json
import subprocess
import sys

import msgspec
import pytest

import leanmcp as package
from leanmcp.cli import COMMANDS, main
from leanmcp.explanations import PAGES
from tests.support.processes import DEADLINE, environment
from tests.support.shell import leanmcp


def test_a_code_prints_its_page(capsys: pytest.CaptureFixture[str]) -> None:
    """Ours: goal U10."""
    assert main(["explain", "LM203"]) == 0
    shown = capsys.readouterr().out
    page = PAGES["LM203"]
    assert shown.splitlines()[0] == f"LM203: {page.title}"
    for code in (page.wrong, page.right):
        assert all(f"    {line}" in shown.splitlines() for line in code.splitlines())


def test_no_code_lists_all(capsys: pytest.CaptureFixture[str]) -> None:
    """Ours: one line each."""
    assert main(["explain"]) == 0
    assert capsys.readouterr().out.splitlines() == [f"{page.code}  {page.title}" for page in PAGES.values()]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["lm203"], "LM203"),
        (["leanmcp: server.py:3: TypeError: add_tool: unknown option 'titel' [LM203]"], "LM203"),
        (["TypeError:", "tool", "'add':", "parameter", "'a'", "has no type; annotate it, as in a: str"], "LM101"),
        (["LM101: run `leanmcp explain LM101`"], "LM101"),
        (["LM999 and LM401 are named"], "LM401"),
        (["'python ' server.py cannot be started: there is no file 'python '"], "LM627"),
    ],
)
def test_a_pasted_message_finds_its_page(words: list[str], code: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Ours: as it was printed, in quotes or without."""
    assert main(["explain", *words, "--json"]) == 0
    page = json.loads(capsys.readouterr().out)
    assert page == {name: getattr(PAGES[code], name) for name in ("code", "title", "why", "wrong", "right")}


def test_the_list_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    """Ours: goal U20."""
    assert main(["explain", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert listed == {"codes": [{"code": page.code, "title": page.title} for page in PAGES.values()]}


@pytest.mark.parametrize(
    ("code", "why"),
    [
        (
            "-32602",
            "The request was dispatched, but its params name nothing that exists here. In a program it is "
            "InvalidParams of leanmcp.errors.",
        ),
        (
            "32601",
            "The method is not served here. In a program it is MethodNotFound of leanmcp.errors, and the status "
            "404 over HTTP.",
        ),
        ("-32002", "A resource does not exist, in protocol versions before 2026-07-28; now it is -32602."),
    ],
)
def test_a_code_of_json_rpc_has_a_page(code: str, why: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Spec: basic/index, "Error Codes"."""
    assert main(["explain", code, "--json"]) == 0
    page = json.loads(capsys.readouterr().out)
    assert (page["code"], page["why"]) == (f"-{code.lstrip('-')}", why)
    assert main(["explain", code]) == 0
    assert capsys.readouterr().out.startswith(f"{page['code']}: an error of JSON-RPC\n\n{why[:20]}")


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["LM2O3"], "no page knows this message; `leanmcp explain` lists all codes"),
        (["LM998"], "there is no code 'LM998'; `leanmcp explain` lists all codes"),
        (["LM2003"], "there is no code 'LM2003'; did you mean `leanmcp explain "),
        (["-32050"], "no page knows this message; `leanmcp explain` lists all codes"),
        (["LM203", "LM204", "--json"], "--json shows one page at a time; give one code"),
        (["203"], "there is no code '203'; did you mean `leanmcp explain LM203`?"),
        (["a parametr has no type"], "no page knows this message; did you mean `leanmcp explain LM101`?"),
        (["boom"], "no page knows this message; `leanmcp explain` lists all codes"),
    ],
)
def test_what_has_no_page_is_a_mistake(words: list[str], text: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Ours: goal U21; exit code 2."""
    assert main(["explain", *words]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith(f"leanmcp: {text}")


def test_mistakes_on_the_command_line_end_with_their_code(tmp_path: object) -> None:
    """Ours: goal U10; at the end of the first line."""
    done = leanmcp("run", "--http", "x" * 5)
    assert done.returncode == 2
    assert done.stderr.startswith("leanmcp: no ")


def test_version_tells_of_everything_in_use(capsys: pytest.CaptureFixture[str]) -> None:
    """Ours: goal U19; what a report begins with."""
    assert main(["version", "--json"]) == 0
    about = json.loads(capsys.readouterr().out)
    assert list(about) == ["leanmcp", "python", "platform", "packages"]
    assert about["leanmcp"] == package.__version__
    assert about["python"].startswith(".".join(map(str, sys.version_info[:3])))
    assert about["packages"]["msgspec"] == msgspec.__version__
    assert main(["version"]) == 0
    lines = [line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines()]
    assert dict(lines[:3]) == {name: about[name] for name in ("leanmcp", "python", "platform")}
    assert dict(lines[3:]) == about["packages"]


@pytest.mark.parametrize("words", [["explain", "LM203"], ["version"]])
def test_they_load_nothing_of_the_server(words: list[str]) -> None:
    """Ours: goal U3; nor the client, nor a network."""
    code = (
        f"import sys; from leanmcp.cli import main; assert main({words!r}) == 0; "
        "print(*(name for name in sys.modules if name.startswith(('leanmcp.server', 'leanmcp.client', 'msgspec'))), "
        "file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=DEADLINE, env=environment(), check=True
    )
    assert done.stderr.split() == []


def test_both_are_commands() -> None:
    """Ours: goal U19."""
    assert {"explain", "version"} <= COMMANDS.keys()
