"""The client examples run as their first lines say."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.support.processes import DEADLINE, ROOT, environment

EXAMPLES = ROOT / "examples"


def run(program: Path, *arguments: str, entered: str = "") -> list[str]:
    """Run a program, and return the lines that it printed."""
    done = subprocess.run(
        [sys.executable, str(program), *arguments],
        input=entered,
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        env=environment(),
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def test_host_asks_logs_and_pins(tmp_path: Path) -> None:
    """Spec: server/tools, "Security Considerations": consent, shown arguments, checked results, an audit log."""
    audit, pins = tmp_path / "audit.jsonl", tmp_path / "pins.json"
    printed = run(EXAMPLES / "host" / "host.py", str(audit), str(pins), entered="y\nn\n")
    assert printed[:3] == ["search_books: reads", "add_book: changes things", "check_stock: changes things"]
    text = "\n".join(printed[3:])
    assert text.startswith("-> {'result': \"Found")
    assert text.count("Call it? [y/N]") == 2
    assert "book = {'title': 'Dune Messiah', 'author': 'Frank Herbert', 'year': 1969}" in text
    assert "Added 'Dune' by Frank Herbert (1965)." in text
    assert printed[-1].endswith("-> Tool 'add_book' of bookshop was not called: the user did not consent")
    records = [json.loads(line) for line in audit.read_bytes().splitlines()]
    assert [(record["tool"], record["decision"], record["outcome"]) for record in records] == [
        ("search_books", "allowed", "ok"),
        ("add_book", "consented", "ok"),
        ("add_book", "denied", "denied"),
    ]
    assert set(json.loads(pins.read_bytes())["servers"]["bookshop"]) == {"search_books", "add_book", "check_stock"}


def test_host_refuses_tools_that_are_no_longer_what_they_were(tmp_path: Path) -> None:
    """Ours: the second run compares with what the first has pinned."""
    audit, pins = tmp_path / "audit.jsonl", tmp_path / "pins.json"
    run(EXAMPLES / "host" / "host.py", str(audit), str(pins), entered="n\nn\n")
    content = json.loads(pins.read_bytes())
    content["servers"]["bookshop"]["add_book"]["digest"] = "sha256:other"
    pins.write_text(json.dumps(content))
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / "host" / "host.py"), str(audit), str(pins)],
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        env=environment(),
    )
    assert done.returncode == 1
    assert "ToolChanged: Since it was pinned, tool 'add_book' of bookshop is changed" in done.stderr


def test_group_names_tools_and_goes_on_without_a_server() -> None:
    """Spec: server/tools, "Tool Names"."""
    printed = run(EXAMPLES / "group" / "group.py")
    assert printed[0].startswith("WARNING server 'maps' is left out: Cannot connect")
    assert printed[1:] == [
        "books.search_books",
        "books.add_book",
        "books.check_stock",
        "films.check_stock",
        "{'title': 'Dune', 'copies': 4}",
        "{'result': 4}",
        "missing: maps",
    ]


def test_notebook_cells_run_one_after_the_other() -> None:
    """Ours: blocking calls, without `with`."""
    printed = run(EXAMPLES / "notebook" / "cells.py")
    assert [line.split()[0] for line in printed[:3]] == ["search_books", "add_book", "check_stock"]
    assert printed[3] == "Found 3 books matching 'dune' (showing up to 5)."
    assert printed[4] == "Dune 4"
    assert "limit: Input should be less than or equal to 50" in "\n".join(printed[5:])
