"""5.0 turned into 5 where only integers fit, so that a function gets an `int`.

In: a root `Node` and a value that fits it. Out: the value, changed in place.
JSON Schema 2020-12: core 4.2.1 "Instance Data Model": 5.0 is an integer.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .assertions import OutOfSteps, Run
from .interpreter import holds
from .ir import Node
from .profiles import Profile

__all__ = ["fold"]


def fold(root: Node, value: Any, profile: Profile) -> Any:
    """Return a value with its whole numbers as integers wherever a schema lets nothing else in."""
    if not _has_whole_float(value):
        return value
    run = Run(profile, value)
    holder = [value]
    todo: list[tuple[Any, Any, list[Node]]] = [(holder, 0, [root])]
    try:
        while todo:
            container, key, nodes = todo.pop()
            inner = container[key]
            nodes = _applying(run, nodes, inner)
            if type(inner) is float and inner.is_integer() and any(node.whole for node in nodes):
                container[key] = int(inner)
            elif isinstance(inner, dict):
                todo += ((inner, name, below) for name in inner if (below := _of_member(run, nodes, name)))
            elif isinstance(inner, list):
                todo += ((inner, at, below) for at in range(len(inner)) if (below := _of_item(nodes, at)))
    except OutOfSteps:
        pass  # what is left stays a float, which fits as well
    return holder[0]


def _has_whole_float(value: Any) -> bool:
    todo = [value]
    while todo:
        piece = todo.pop()
        if isinstance(piece, dict):
            todo += piece.values()
        elif isinstance(piece, list):
            todo += piece
        elif type(piece) is float and piece.is_integer():
            return True
    return False


def _applying(run: Run, nodes: list[Node], value: Any) -> list[Node]:
    """Return nodes and all that apply in their place; of branches, those that take the value."""
    found = list(dict.fromkeys(nodes))
    for node in found:
        run.spend(node.cost)
        found += (inner for inner in _certain(run, node, value) if inner not in found)
    return found


def _certain(run: Run, node: Node, value: Any) -> Iterator[Node]:
    yield from node.same
    yield from node.all_of
    for branch in (*node.any_of, *node.one_of):
        if holds(run, branch, value, None):
            yield branch
    if node.condition is not None:
        met = holds(run, node.condition, value, None)
        for part in (node.condition, node.then) if met else (node.otherwise,):
            if part is not None:
                yield part
    if isinstance(value, dict):
        yield from (inner for name, inner in node.dependent if name in value)


def _of_member(run: Run, nodes: list[Node], name: str) -> list[Node]:
    below: list[Node] = []
    for node in nodes:
        own = [node.properties[name]] if name in node.properties else []
        own += [inner for pattern, inner in node.patterns if pattern.search(name, run.spend)]
        if not own and node.additional is not None:
            own = [node.additional]
        if not own and node.unevaluated_names is not None:
            own = [node.unevaluated_names]
        below += own
    return below


def _of_item(nodes: list[Node], at: int) -> list[Node]:
    below: list[Node] = []
    for node in nodes:
        further = node.rest if node.rest is not None else node.unevaluated_items
        if at < len(node.prefix):
            below.append(node.prefix[at])
        elif further is not None:
            below.append(further)
    return below
