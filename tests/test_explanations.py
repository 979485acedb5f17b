"""The pages about mistakes: each one makes its mistake, says what is told of it, and mends it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from leanmcp import explanations
from leanmcp.explanations import PAGES, Page, code_for
from tests.support.mistakes import FILE, FOREIGN, MOST_LINES, PRELUDE, codes_of, run_file, run_program, serve_file
from tests.support.shell import leanmcp

STARTS = re.compile(r"\.run\(|\brun_async\(")
AT_REGISTRATION = [page for page in PAGES.values() if page.code < "LM500" and not STARTS.search(page.wrong)]
AT_START = [page for page in PAGES.values() if page.code < "LM500" and STARTS.search(page.wrong)]
BY_THE_COMMAND = ("LM417",)  # python itself runs such a file


@pytest.mark.parametrize("page", AT_REGISTRATION, ids=lambda page: page.code)
def test_a_page_of_registration_makes_its_mistake_and_mends_it(page: Page) -> None:
    """Ours: goal U10; its pattern knows the message, and no other page does."""
    told = run_program(PRELUDE + page.wrong)
    assert told is not None, "nobody minds"
    assert codes_of(told.message) == [page.code]
    assert told.notes[0].startswith(page.code)
    assert told.text.count("\n") <= MOST_LINES
    assert run_program(PRELUDE + page.right) is None


@pytest.mark.parametrize("page", AT_START, ids=lambda page: page.code)
def test_a_page_of_the_start_makes_its_mistake_and_mends_it(tmp_path: Path, page: Page) -> None:
    """Ours: goal U10; as above, in processes of their own."""
    if page.code in BY_THE_COMMAND:
        (tmp_path / FILE).write_text(PRELUDE + page.wrong)
        told = leanmcp("list", FILE, cwd=tmp_path).stderr
    else:
        told = run_file(tmp_path, PRELUDE + page.wrong).stderr
    message = [line for line in told.splitlines() if not line.startswith(page.code)][-1]
    assert codes_of(message) == [page.code]
    assert page.code in told, "the page is named"
    if '"http"' in page.right:
        assert serve_file(tmp_path, PRELUDE + page.right) == 0
        return
    done = run_file(tmp_path, PRELUDE + page.right)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("page", PAGES.values(), ids=lambda page: page.code)
def test_a_page_is_short_and_complete(page: Page) -> None:
    """Ours: a code that never changes, one line of title, some of why, and code that fits on a screen."""
    assert re.fullmatch(r"LM[1-7]\d\d", page.code)
    assert "\n" not in page.title
    assert "\n" not in page.why
    assert len(page.title) <= 90
    assert page.why.endswith((".", ")."))
    assert page.wrong != page.right
    assert all(len(line) <= 120 for code in (page.wrong, page.right) for line in code.splitlines())
    re.compile(page.pattern)


def test_the_codes_are_in_order_and_their_titles_differ() -> None:
    """Ours: `leanmcp explain` lists them as they are."""
    assert list(PAGES) == sorted(PAGES)
    assert len({page.title for page in PAGES.values()}) == len(PAGES)


def test_a_text_about_nothing_has_no_code() -> None:
    """Ours: a user's own exceptions are not explained."""
    for text in ("", "boom", "division by zero", "'int' object is not iterable", "name 'x' is not defined"):
        assert code_for(text) is None


def test_titles_name_no_library() -> None:
    """Ours: goal U14; pages may name them where they help."""
    assert not [page.code for page in PAGES.values() if FOREIGN.search(page.title)]


def test_no_page_is_left_out() -> None:
    """Ours: a page that is written in another form than the others would not be found."""
    text = Path(explanations.__file__).with_name("pages.md").read_text("utf-8")
    assert re.findall(r"^##? *(LM\d*)", text, re.MULTILINE) == list(PAGES)


def test_the_pages_are_read_out_of_a_zip_file(tmp_path: Path) -> None:
    """Ours: programs are shipped as one file (zipapp)."""
    package = Path(explanations.__file__).parent.parent
    with zipfile.ZipFile(tmp_path / "leanmcp.zip", "w") as archive:
        for file in package.rglob("*"):
            if file.suffix in (".py", ".md"):
                archive.write(file, file.relative_to(package.parent))
    ran = subprocess.run(
        [sys.executable, "-m", "leanmcp", "explain", "LM101"],
        env={**os.environ, "PYTHONPATH": str(tmp_path / "leanmcp.zip")},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert ran.stdout.startswith("LM101: "), ran.stderr
