"""A Python file as text: where the nodes of its tree are, and edits at these places; all else stays byte for byte.

In: the bytes of a file. Out: its text with edits, and the bytes to write. Encoding and line ends are kept.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

_LINE_END = re.compile(r"\r\n|\r|\n")


class Left(NamedTuple):
    """Something that a person has to change.

    Args:
        line: from 1.
        name: what it is.
        advice: what to do.
    """

    line: int
    name: str
    advice: str


class Source:
    """The text of one file.

    Args:
        content: its bytes.

    Raises:
        SyntaxError, UnicodeDecodeError: it is no Python.
    """

    def __init__(self, content: bytes) -> None:
        self.encoding = tokenize.detect_encoding(io.BytesIO(content).readline)[0]
        self.text = content.decode(self.encoding)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of wrong escapes in strings: none of our business
            self.tree = ast.parse(self.text)
        self._starts = [0, *(match.end() for match in _LINE_END.finditer(self.text))]
        found = _LINE_END.search(self.text)
        self.line_end = "\n" if found is None else found[0]
        self._edits: dict[tuple[int, int], str] = {}

    def offset(self, line: int, column: int) -> int:
        """Return where in the text a place of the tree is; columns of a tree count bytes of UTF-8."""
        start = self._starts[line - 1]
        end = self._starts[line] if line < len(self._starts) else len(self.text)
        return start + len(self.text[start:end].encode()[:column].decode())

    def span(self, node: Any) -> tuple[int, int]:
        """Return where a node begins and ends."""
        return self.offset(node.lineno, node.col_offset), self.offset(node.end_lineno, node.end_col_offset)

    def text_of(self, node: Any) -> str:
        """Return the text of a node."""
        start, end = self.span(node)
        return self.text[start:end]

    def line_before(self, node: Any) -> str:
        """Return what stands on its line before a node."""
        return self.text[self._starts[node.lineno - 1] : self.span(node)[0]]

    def comments(self, node: Any) -> Iterator[tuple[int, str]]:
        """Yield place and text of the comments inside a statement."""
        start = self.span(node)[0]
        text = self.text_of(node)
        lines = [0, *(match.end() for match in _LINE_END.finditer(text))]
        for token in tokenize.generate_tokens(io.StringIO(text, newline="").readline):
            if token.type == tokenize.COMMENT:
                yield start + lines[token.start[0] - 1] + token.start[1], token.string.rstrip("\r\n")

    def replace(self, start: int, end: int, text: str) -> None:
        """Put a text in the place of another."""
        if self.text[start:end] != text:
            self._edits[start, end] = text

    def edited(self) -> str:
        """Return the text with all edits."""
        pieces, at = [], 0
        for (start, end), text in sorted(self._edits.items()):
            pieces += [self.text[at:start], text]
            at = end
        return "".join([*pieces, self.text[at:]])

    def encoded(self) -> bytes:
        """Return the bytes to write."""
        return self.edited().encode(self.encoding)
