"""What a tool or prompt takes, in a line: `add(a: integer, b: integer = 1)`.

In: JSON Schemas, a stranger's. Out: texts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from ..logs import clipped
from ..types import Prompt, Tool
from .terminal import line

_MAX_DEPTH = 20  # references followed
_MAX_SHOWN = 60  # characters of a default or a list of values


def resolved(node: Any, root: dict[str, Any], depth: int = 0) -> dict[str, Any]:
    """Return a schema, or what it refers to; empty for what is none, or leads nowhere."""
    if not isinstance(node, dict):
        return {}
    reference = node.get("$ref")
    if not isinstance(reference, str):
        return node
    found: Any = root
    for part in reference.removeprefix("#").split("/")[1:]:
        found = found.get(part.replace("~1", "/").replace("~0", "~")) if isinstance(found, dict) else None
    if depth >= _MAX_DEPTH or not reference.startswith("#") or found is node:
        return {}
    return resolved(found, root, depth + 1)


def branches(node: Any, root: dict[str, Any], depth: int = 0) -> Iterator[dict[str, Any]]:
    """Yield the alternatives of a schema, itself where it has none."""
    node = resolved(node, root)
    for keyword in ("anyOf", "oneOf"):
        options = node.get(keyword)
        if isinstance(options, list) and "type" not in node and depth < _MAX_DEPTH:
            for option in options:
                yield from branches(option, root, depth + 1)
            return
    whole = node.get("allOf")
    if isinstance(whole, list) and len(whole) == 1 and "type" not in node and depth < _MAX_DEPTH:
        yield from branches(whole[0], root, depth + 1)
        return
    yield node


def kinds(node: Any, root: dict[str, Any]) -> set[str]:
    """Return the JSON types that a schema admits; empty where it does not say."""
    found: set[str] = set()
    for branch in branches(node, root):
        types = branch.get("type")
        if isinstance(types, str | list):
            found |= {types} if isinstance(types, str) else {kind for kind in types if isinstance(kind, str)}
            continue
        values = branch.get("enum", [branch["const"]] if "const" in branch else None)
        if not isinstance(values, list):
            return set()
        found |= {_kind_of(value) for value in values}
    return found


def _kind_of(value: Any) -> str:
    names = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}
    return names.get(type(value), "null")


def takes(schema: dict[str, Any]) -> str:
    """Return what a tool takes, between parentheses."""
    properties = schema.get("properties")
    if not isinstance(properties, dict):
        return ""
    required = schema.get("required")
    needed = required if isinstance(required, list) else []
    return ", ".join(_parameter(str(name), node, name in needed, schema) for name, node in properties.items())


def _parameter(name: str, node: Any, required: bool, root: dict[str, Any]) -> str:
    text = f"{line(name)}{'' if required or _has_default(node) else '?'}: {_type(node, root)}"
    if _has_default(node):
        text += f" = {_short(msgspec.json.encode(node['default']).decode())}"
    return text


def _has_default(node: Any) -> bool:
    return isinstance(node, dict) and node.get("default") is not None


def _type(node: Any, root: dict[str, Any]) -> str:
    names: list[str] = []
    for branch in branches(node, root):
        name = _branch_type(branch, root)
        if name not in names:
            names.append(name)
    if len(names) > 1 and "null" in names:
        names.remove("null")
    return " | ".join(names) or "any"


def _branch_type(branch: dict[str, Any], root: dict[str, Any]) -> str:
    values = branch.get("enum", [branch["const"]] if "const" in branch else None)
    if isinstance(values, list):
        return _short("|".join(line(value if isinstance(value, str) else str(value)) for value in values))
    types = branch.get("type")
    if isinstance(types, list):
        return " | ".join(str(kind) for kind in types if kind != "null") or "null"
    if types == "array" and "items" in branch:
        inner = kinds(branch["items"], root)
        return f"array of {' | '.join(sorted(inner))}" if inner else "array"
    return line(types) if isinstance(types, str) else "any"


def _short(text: str) -> str:
    return clipped(line(text), _MAX_SHOWN)


def tool_signature(tool: Tool) -> str:
    """Return name and parameters of a tool."""
    return f"{line(tool.name)}({takes(tool.input_schema)})"


def prompt_signature(prompt: Prompt) -> str:
    """Return name and arguments of a prompt."""
    arguments = ", ".join(
        f"{line(argument.name)}{'' if argument.required else '?'}" for argument in prompt.arguments or ()
    )
    return f"{line(prompt.name)}({arguments})"
