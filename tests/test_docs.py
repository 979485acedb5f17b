"""Everything that the tutorial, the recipes and the notes on deployment show is run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import llms
from tests.support.documents import Desk, blocks, commands, matches
from tests.support.processes import ROOT
from tests.support.type_checks import mypy

EXAMPLES = ROOT / "examples"
DOCUMENTS = {
    str(path.relative_to(EXAMPLES)): path for path in sorted(EXAMPLES.rglob("*.md")) if path.parent.name != "shelf"
}
COLLECTED = ("conftest.py", "pyproject.toml", "pytest.ini")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    """A desk that is tidied up."""
    desk = Desk(tmp_path)
    yield desk
    desk.leave()


@pytest.mark.parametrize("name", DOCUMENTS)
def test_document_does_what_it_says(name: str, desk: Desk) -> None:
    """Ours: U29; each command prints what the document shows below it."""
    desk.follow(DOCUMENTS[name].read_text())


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_file_of_a_document_is_used(name: str) -> None:
    """Ours: code that no command runs, and no other file imports, could be wrong."""
    found = blocks(DOCUMENTS[name].read_text())
    typed = " ".join(command for block in found if block.language == "console" for command, _ in commands(block))
    files = [block for block in found if block.language != "console"]
    for file in files:
        module = Path(file.name).stem
        imported = any(re.search(rf"\b(?:from|import) {module}\b", other.text) for other in files)
        collected = "pytest" in typed and (module.startswith("test_") or file.name in COLLECTED)
        configured = any(file.name in other.text for other in files if other is not file)
        assert file.name in typed or imported or collected or configured, f"{name}: nothing runs {file.name}"


@pytest.mark.parametrize("name", DOCUMENTS)
def test_links_lead_somewhere(name: str) -> None:
    """Ours: paths are those of the repository."""
    path = DOCUMENTS[name]
    for target in LINK.findall(path.read_text()):
        if not target.startswith(("https://", "#")):
            assert (path.parent / target.partition("#")[0]).exists(), f"{name} links to {target}"


def test_servers_of_documents_are_typed(tmp_path: Path) -> None:
    """Ours: U27; what is copied out of a document passes a strict type checker."""
    files = []
    for number, path in enumerate(DOCUMENTS.values()):
        for block in blocks(path.read_text()):
            if block.name == "server.py":
                files.append(tmp_path / f"server_{number}.py")
                files[-1].write_text(block.text)
    done = mypy("--follow-imports=silent", *map(str, files), MYPYPATH=str(ROOT))
    assert (done.returncode, len(files) > 15) == (0, True), done.stdout


@pytest.mark.parametrize("folder", ["tutorial", "recipes"])
def test_overview_names_every_document(folder: str) -> None:
    """Ours: in the order of the file names."""
    linked = LINK.findall((EXAMPLES / folder / "README.md").read_text())
    files = sorted(path.name for path in (EXAMPLES / folder).glob("*.md") if path.name != "README.md")
    assert [link for link in linked if link in files] == files


def test_shown_output_may_leave_things_out() -> None:
    """Ours: `...` stands for text or lines; everything else is exact."""
    assert matches("one\ntwo\nthree\n", "one\n...\nthree\n")
    assert matches("took 12 ms\n", "took ... ms\n")
    assert not matches("one\ntwo\n", "one\n")
    assert not matches("", "one\n")
    assert not matches("a.b\n", "axb\n")


def test_document_that_is_wrong_is_found(desk: Desk) -> None:
    """Ours: the check itself."""
    with pytest.raises(AssertionError, match="line 1: echo two"):
        desk.follow("```console\n$ echo one\none\n$ echo two\nthree\n```\n")
    with pytest.raises(AssertionError, match="without a file name"):
        desk.follow("```python\nprint(1)\n```\n")


def test_overview_for_models_is_up_to_date() -> None:
    """Ours: U29; it is made of the README and the overviews."""
    assert llms.FILE.read_text() == llms.text(), "run `python -m tests.support.llms`"


def test_overview_for_models_leads_somewhere() -> None:
    """Ours: files, and headings of the README."""
    headings = {
        llms.anchor(found) for found in re.findall(r"^## (.+)$", (ROOT / "README.md").read_text(), re.MULTILINE)
    }
    targets = LINK.findall(llms.FILE.read_text())
    assert len(targets) > 40
    for target in targets:
        path, _, anchor = target.partition("#")
        assert (EXAMPLES / path).is_file(), target
        assert not anchor or anchor in headings, target
