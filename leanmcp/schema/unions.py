"""Words for what has alternatives: the closest branch of a union, and what `not` excludes.

In: branches and what each of them had against a value. Out: the faults of the one that was most likely meant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from msgspec import UNSET

from . import faults as say
from .assertions import Found, Path
from .ir import Node, in_place
from .values import kind_of

__all__ = ["accepted_names", "closest", "label", "unwanted"]

NULL_ONLY = frozenset(("null",))
MAX_NODES = 200  # that are looked at for the names they accept, or for a tag


def closest(branches: tuple[Node, ...], attempts: list[Found], value: Any, path: Path) -> Found:
    """Return what the branch that a value is meant for has against it."""
    kind = kind_of(value)
    fitting = [number for number, branch in enumerate(branches) if kind in branch.admits]
    if not fitting:
        return _no_branch(branches, attempts, value, path)
    if len(fitting) > 1 and kind == "object":
        tag, tagged = _tag([branches[number] for number in fitting])
        if tag is not None:
            sent = value.get(tag)
            number = tagged.get(sent) if isinstance(sent, str) else None
            if number is None:
                message = say.one_of(tuple(tagged))
                if tag not in value:
                    return [((path, tag), f"{say.REQUIRED}; {message}", UNSET, "")]
                return [((path, tag), message, sent, "")]
            return attempts[fitting[number]]
    if all(branches[number].choices for number in fitting):
        values = [choice for number in fitting for choice in branches[number].choices[0].values]
        return [(path, say.one_of(values), value, "")]
    fitted = [attempts[number] for number in fitting]
    if len(fitted) > 1 and all(len(attempt) == 1 and attempt[0][1] == say.REQUIRED for attempt in fitted):
        # Any one of these members would do; members of members are no names of this value.
        places = dict.fromkeys(attempt[0][0] for attempt in fitted)
        names = [place[1] for place in places if place is not None and place[0] is path]
        if len(places) == len(names) > 1:
            return [(path, say.one_required([str(name) for name in names]), UNSET, "")]
    return min(fitted, key=lambda attempt: _rank(attempt, path))


def _rank(attempt: Found, path: Path) -> tuple[bool, int]:
    return any(where is path and kind == "type" for where, _, _, kind in attempt), len(attempt)


def _no_branch(branches: tuple[Node, ...], attempts: list[Found], value: Any, path: Path) -> Found:
    """Say that no branch takes values of this kind; where null stands beside one branch, that branch says it."""
    present = [number for number, branch in enumerate(branches) if branch.admits and branch.admits != NULL_ONLY]
    if len(present) == 1:
        return attempts[present[0]]
    kinds = frozenset[str]().union(*(branch.admits for branch in branches))
    if "number" in kinds:
        kinds -= {"integer"}
    return [(path, say.expected(*sorted(kinds)) if kinds else say.NOT_PERMITTED, value, "type" if kinds else "")]


def _tag(branches: list[Node]) -> tuple[str | None, dict[str, int]]:
    """Return the required property whose const or enum tells objects apart, and the branch for each of its values."""
    if len(branches) > MAX_NODES:
        return None, {}
    candidates = [_constants(branch) for branch in branches]
    for name in candidates[0]:
        tagged: dict[str, int] = {}
        count = 0
        for number, constants in enumerate(candidates):
            values = constants.get(name, ())
            if not values:
                break
            count += len(values)
            tagged.update(dict.fromkeys(values, number))
        else:
            if count == len(tagged):
                return name, tagged
    return None, {}


def _constants(branch: Node) -> dict[str, tuple[str, ...]]:
    """Return the required properties of an object that must be one of some strings, as written."""
    found: dict[str, tuple[str, ...]] = {}
    parts = _together(branch)
    required = {name for part in parts for name in part.required}
    for part in parts:
        for name, inner in part.properties.items():
            for node in _together(inner) if name in required else ():
                for choice in node.choices:
                    if choice.texts and not choice.others:
                        found.setdefault(name, choice.values)
    return found


def _together(node: Node) -> list[Node]:
    """Return a node and those that hold wherever it does."""
    return _closure(node, lambda part: (*part.same, *part.all_of))


def _closure(node: Node, around: Callable[[Node], Iterable[Node]]) -> list[Node]:
    """Return a node and what is reached from it, each once, up to a number."""
    found = [node]
    seen = {id(node)}
    for part in found:
        for inner in around(part):
            if id(inner) not in seen and len(found) < MAX_NODES:
                seen.add(id(inner))
                found.append(inner)
    return found


def accepted_names(node: Node) -> list[str]:
    """Return the names of the members that a node knows, in place and in the order of the schema."""
    nodes = [node] if node.unevaluated_names is None else _closure(node, in_place)
    names: dict[str, None] = {}
    for part in nodes:
        names |= {name: None for name, inner in part.properties.items() if inner.verdict is not False}
    return list(names)


def label(branch: Node, number: int) -> str:
    """Name a branch by its title, or by its number."""
    return say.quoted(branch.title) if branch.title else f"number {number}"


def unwanted(node: Node) -> str:
    """Say what a value should not be."""
    while not node.leaf and len(node.same) == 1 and not node.has_members and not node.has_items:
        node = node.same[0]
    if node.leaf and node.choices:
        return say.excluded(say.one_of(node.choices[0].values))
    if node.leaf and node.names:
        return say.excluded(say.expected(*node.names))
    if node.leaf and node.required:
        return say.excluded_names(node.required)
    return say.excluded("")
