"""Texts about parameters, taken out of a docstring: Google's, NumPy's and Sphinx's ways of writing them.

In: a docstring without indentation and the names of the parameters. Out: the description of the tool without the
section, and a text per parameter. What only looks like a section stays where it is; nothing here raises.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Collection, Iterable
from typing import Any

from msgspec import Struct, field

from ..logs import logger

__all__ = ["Docstring", "documented", "read_docstring"]

TITLES = ("Args", "Arguments", "Parameters", "Params", "Keyword Args", "Keyword Arguments", "Other Parameters")
# `name: text`, `name (type): text`, `*names: text`, `a, b: text`
GOOGLE_ENTRY = re.compile(r"(\*{0,2}\w+(?:, ?\*{0,2}\w+)*) ?(?:\((?:[^()]|\([^()]*\))*\))? ?:(?: +(.*))?$")
# `name : type`, `name: type`, `name`, `a, b : type`
NUMPY_ENTRY = re.compile(r"(\*{0,2}\w+(?:, ?\*{0,2}\w+)*)(?: ?:(?: .*)?)?$")
# `:param name: text`, `:param type name: text`, `:type name: type`
SPHINX_ENTRY = re.compile(r":(?:param|parameter|arg|argument|key|keyword|type) (?:[^:]* )?(\*{0,2}\w+) ?:(?: +(.*))?$")
SPHINX_FIELD = re.compile(r":\w+[^:]*:")


class Docstring(Struct, kw_only=True):
    """A docstring, taken apart.

    Args:
        description: what is left; None when nothing is.
        parameters: text by parameter name.
        unknown: names in sections that no parameter has.
    """

    description: str | None = None
    parameters: dict[str, str] = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)


class _Section(Struct):
    """Lines of a section of parameters, and what they say."""

    start: int
    end: int
    texts: dict[str, list[str]] = field(default_factory=dict)

    def add(self, names: str, text: str | None) -> list[str]:
        """Begin the entry of one or several names and return its lines, to be continued."""
        lines = [] if text is None else [text]
        for name in names.split(","):
            self.texts.setdefault(name.strip().lstrip("*"), lines)
        return lines


def read_docstring(text: str | None, names: Collection[str]) -> Docstring:
    """Return the description and the texts of the parameters `names`.

    A section counts when all of it has the form of entries and it names at least one of the parameters.
    """
    result = Docstring(description=text or None)
    if not text:
        return result
    lines = text.splitlines()
    found = [*_google_sections(lines), *_numpy_sections(lines), *_sphinx_sections(lines)]
    free = len(lines)  # what stands from here on is settled
    for section in sorted(found, key=lambda section: section.start, reverse=True):
        if section.end > free:
            continue
        result.unknown[:0] = [name for name in section.texts if name not in names]
        if not any(name in names for name in section.texts):
            continue
        free = section.start
        _cut(lines, section)
        for name, parts in section.texts.items():
            words = " ".join(" ".join(parts).split())
            if name in names and words:
                result.parameters[name] = words
    result.unknown = list(dict.fromkeys(result.unknown))
    if free < len(text.splitlines()):
        result.description = "\n".join(lines).strip() or None
    return result


def documented(function: Callable[..., Any], text: str | None, tool_name: str, noun: str = "tool") -> Docstring:
    """Return a function's docstring, taken apart; a name that the function does not have is told to its author."""
    try:
        parameters = inspect.signature(function).parameters
        names = set(parameters)
        while isinstance(function, functools.partial):  # what it has filled in
            function = function.func
            names |= set(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return Docstring(description=text)
    result = read_docstring(text, names)
    if result.unknown:
        from ..mistyped import did_you_mean  # of mistakes only

        shown = ", ".join(map(repr, result.unknown))
        undescribed = sorted(set(parameters) - set(result.parameters))
        near = did_you_mean(result.unknown[0], undescribed)
        if not near and len(undescribed) == 1:
            near = f"; did you mean {undescribed[0]!r}?"
        said = "%s %r: the docstring describes %s, no parameter of the function%s"
        logger.warning(said, noun, tool_name, shown, near)
    return result


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _cut(lines: list[str], section: _Section) -> None:
    """Take a section out, and one of the empty lines around it."""
    start = section.start
    del lines[start : section.end]
    while start < len(lines) and not lines[start].strip() and (start == 0 or not lines[start - 1].strip()):
        del lines[start]


def _google_sections(lines: list[str]) -> Iterable[_Section]:
    for start, line in enumerate(lines):
        title = line.strip()
        if not title.endswith(":") or title[:-1] not in TITLES:
            continue
        end = _block_end(lines, start + 1, _indent(line) + 1)
        section = _Section(start, end)
        if _read_entries(lines[start + 1 : end], section, GOOGLE_ENTRY):
            yield section


def _block_end(lines: list[str], start: int, least: int) -> int:
    """Return where a block of lines with at least that indentation ends, empty lines inside included."""
    end = start
    for index in range(start, len(lines)):
        if not lines[index].strip():
            continue
        if _indent(lines[index]) < least:
            break
        end = index + 1
    return end


def _read_entries(block: list[str], section: _Section, entry: re.Pattern[str]) -> bool:
    """Fill the section from lines that are entries, or deeper than entries; False when some line is neither."""
    depth: int | None = None
    current: list[str] = []
    for line in block:
        if not line.strip():
            continue
        depth = _indent(line) if depth is None else depth
        if _indent(line) > depth:
            current.append(line)
            continue
        match = entry.match(line.strip())
        if match is None or _indent(line) < depth:
            return False
        current = section.add(match[1], match[2] if entry is GOOGLE_ENTRY else None)
    return bool(section.texts)


def _numpy_sections(lines: list[str]) -> Iterable[_Section]:
    for start in range(len(lines) - 2):
        if lines[start].strip() not in TITLES or not _is_rule(lines, start):
            continue
        depth = _indent(lines[start])
        end = start + 2
        for index in range(start + 2, len(lines)):
            line = lines[index]
            if not line.strip():
                continue
            after_gap = not lines[index - 1].strip()
            ends = _indent(line) < depth or _is_rule(lines, index)
            if ends or (after_gap and _indent(line) == depth and NUMPY_ENTRY.match(line.strip()) is None):
                break
            end = index + 1
        section = _Section(start, end)
        if _read_entries(lines[start + 2 : end], section, NUMPY_ENTRY):
            yield section


def _is_rule(lines: list[str], index: int) -> bool:
    """True when the line after this one underlines it."""
    below = lines[index + 1].strip() if index + 1 < len(lines) else ""
    return len(below) >= 3 and set(below) == {"-"}


def _sphinx_sections(lines: list[str]) -> Iterable[_Section]:
    """Yield one section per field."""
    for start, line in enumerate(lines):
        match = SPHINX_ENTRY.match(line.strip())
        if match is None:
            continue
        end = start + 1
        while end < len(lines) and lines[end].strip() and SPHINX_FIELD.match(lines[end].strip()) is None:
            if _indent(lines[end]) <= _indent(line):
                break
            end += 1
        is_type = line.strip().startswith(":type")
        section = _Section(start, end)
        current = section.add(match[1], None if is_type else match[2])
        if not is_type:
            current += lines[start + 1 : end]
        yield section
