"""What a server says about a tool, as something to compare: one digest, and differences that people can read.

In: tools of tools/list. Out: canonical JSON, its digest, differences of two.
Spec 2026-07-28: server/tools, "Tool".
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from ..protocol.canonical import canonical_json
from ..types import Tool

_LEFT_OUT = ("_meta", "icons")
MAX_SHOWN = 300  # characters of one value in a difference
MAX_LINES = 60  # differences in one text


def definition_of(tool: Tool) -> dict[str, Any]:
    """Return what a definition says, in plain JSON values.

    That is name, title, description, inputSchema with its `x-mcp-header` members, outputSchema and annotations.
    `_meta` and icons are left out: servers put things there that change from day to day.
    """
    members: dict[str, Any] = msgspec.to_builtins(tool)
    return {name: value for name, value in members.items() if name not in _LEFT_OUT}


def digest_of(tool: Tool | Mapping[str, Any]) -> str:
    """Return `sha256:` and the hexadecimal digest of a definition's canonical JSON.

    See `protocol.canonical` for its form.

    Args:
        tool: a tool, or what `definition_of` has made of it.
    """
    definition = definition_of(tool) if isinstance(tool, Tool) else tool
    return "sha256:" + hashlib.sha256(canonical_json(definition)).hexdigest()


def difference(old: Mapping[str, Any] | None, new: Mapping[str, Any] | None) -> str:
    """Return the differences of two definitions, a line for each side of each, `-` for the old and `+` for the new one.

    Characters that do not show, or that turn the direction of writing, are escaped.
    """
    before, after = dict(_members(old)) if old else {}, dict(_members(new)) if new else {}
    lines: list[str] = []
    for path in sorted(before.keys() | after.keys()):
        one, other = before.get(path), after.get(path)
        if one == other:
            continue
        start = 0 if one is None or other is None else _first_difference(one, other)
        lines += [f"- {path}: {_clip(one, start)}"] if one is not None else []
        lines += [f"+ {path}: {_clip(other, start)}"] if other is not None else []
    if len(lines) > MAX_LINES:
        lines[MAX_LINES:] = [f"  and {len(lines) - MAX_LINES} lines more"]
    return "\n".join(lines)


def _members(value: Any) -> Iterator[tuple[str, str]]:
    """Yield the path and the JSON of each value that holds no others."""
    open_values: list[tuple[str, Any]] = [("", value)]
    while open_values:
        path, value = open_values.pop()
        if isinstance(value, Mapping) and value:
            open_values += [(f"{path}.{_name(name)}" if path else _name(name), inner) for name, inner in value.items()]
        elif isinstance(value, list) and value:
            open_values += [(f"{path}[{number}]", inner) for number, inner in enumerate(value)]
        else:
            yield path, json.dumps(value)  # in ASCII, so that nothing hides


def _name(name: str) -> str:
    return name if name.isidentifier() and name.isascii() else json.dumps(name)


def _first_difference(one: str, other: str) -> int:
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _clip(text: str, start: int) -> str:
    """Return what fits of a text, so that what stands at `start` can be seen."""
    if len(text) <= MAX_SHOWN:
        return text
    first = max(0, start - 40)
    cut = text[first : first + MAX_SHOWN]
    return ("..." if first else "") + cut + ("..." if first + MAX_SHOWN < len(text) else "")
