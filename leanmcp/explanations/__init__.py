"""The code of each message about a mistake, and the page about it.

In: the text of a message, or a code. Out: the code, or the page, as pages.md has it. Imported once a mistake was made,
or by `leanmcp explain`; a program without mistakes never loads this package.
"""

from __future__ import annotations

import pkgutil
import re
from dataclasses import dataclass

_PAGE = re.compile(
    r"^## (LM\d{3}): (.+)\n\n```regexp\n(.+)\n```\n\n((?:.+\n)+)"
    r"\n```wrong\n((?:.*\n)+?)```\n\n```right\n((?:.*\n)+?)```$",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Page:
    """One kind of mistake.

    Args:
        code: "LM", then three digits. It never changes, and is never given to another mistake.
        title: one line.
        pattern: regular expression that is found in every message about this mistake, and in no other; it leaves out
            names, values and places.
        why: some sentences, as one text without line ends.
        wrong: short code that makes the mistake: Python, or lines for a shell that begin with "$ ".
        right: the same, mended.
    """

    code: str
    title: str
    pattern: str
    why: str
    wrong: str
    right: str

    def tells(self, message: str) -> bool:
        """Return whether a message is about this mistake."""
        return re.search(self.pattern, message) is not None  # compiled once: re keeps the last 512


def _read() -> dict[str, Page]:
    text = pkgutil.get_data(__name__, "pages.md")  # from a zip file, too
    assert text is not None, "loaders of files and of zip files read data"
    found = _PAGE.findall(text.decode())
    pages = (Page(code, title, pattern, " ".join(why.split()), *codes) for code, title, pattern, why, *codes in found)
    return {page.code: page for page in pages}


PAGES: dict[str, Page] = _read()
"""By code, in the order of the codes."""


def code_for(text: str) -> str | None:
    """Return the code of the mistake that a message is about, None when no page knows it."""
    for page in PAGES.values():
        if page.tells(text):
            return page.code
    return None
