"""examples/llms.txt: what there is to read about leanmcp, for a model that is to write a server or a client.

In: the headings of README.md, and the overviews of the tutorial, the recipes and the examples. Out: links, a line each.
Make it anew with `python -m tests.support.llms`; `tests/test_docs.py` tells when that is due.
"""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "examples" / "llms.txt"
LEFT_OUT = ("Benchmarks", "Layout")

_FENCED = re.compile(r"^```.*?^```\n", re.MULTILINE | re.DOTALL)
_ENTRY = re.compile(r"^(?:\d+\.|-) \[([^\]]+)\]\(([^)]+)\): (.+)$", re.MULTILINE)
_ROW = re.compile(r"^\| `(\w+)` \| (.+) \|$", re.MULTILINE)


def text() -> str:
    """Return what the file has to say now."""
    readme = _FENCED.sub("", (ROOT / "README.md").read_text())
    summary = readme.partition("\n\n")[2].partition("\n\n")[0]
    lines = ["# leanmcp", "", f"> {summary}", "", "Import from `leanmcp`; every name is typed and documented.", ""]
    lines += ["## Reference", ""]
    for section in readme.split("\n## ")[1:]:
        heading, _, body = section.partition("\n\n")
        if heading not in LEFT_OUT:
            lines.append(f"- [{heading}](../README.md#{anchor(heading)}){_first_sentence(body)}")
    for title, folder in (("Tutorial", "tutorial"), ("Recipes", "recipes"), ("Deployment", "deploy")):
        lines += ["", f"## {title}", ""]
        overview = (ROOT / "examples" / folder / "README.md").read_text()
        lines += [f"- [{name}]({folder}/{link}): {about}" for name, link, about in _ENTRY.findall(overview)]
    lines += ["", "## Examples", ""]
    examples = readme.partition("\n## Examples\n")[2].partition("\n## ")[0]
    lines += [f"- [{name}]({_program(name)}): {about}" for name, about in _ROW.findall(examples)]
    return "\n".join(lines) + "\n"


def anchor(heading: str) -> str:
    """Return what a link to a heading ends with, as GitHub makes it."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def _first_sentence(body: str) -> str:
    """Return a colon and the sentence that a section begins with, empty where it begins with something else."""
    paragraph = " ".join(body.partition("\n\n")[0].split())
    if not paragraph or paragraph.startswith(("|", "-", "#")):
        return ""
    sentence = re.match(r".+?(?:\.(?= |$)|:$)", paragraph)
    return "" if sentence is None else f": {sentence[0].rstrip(':')}"


def _program(name: str) -> str:
    [first, *_] = sorted(path.name for path in (ROOT / "examples" / name).glob("*.py"))
    return f"{name}/{first}"


if __name__ == "__main__":
    FILE.write_text(text())
