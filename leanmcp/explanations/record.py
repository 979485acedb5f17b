"""What a page says about one kind of mistake."""

from __future__ import annotations

import re
from dataclasses import dataclass


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
