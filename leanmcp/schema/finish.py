"""What can be told of nodes once all of them are known.

In: the nodes of one schema, filled. Out: the same, with what back ends ask of them; endless references refused.
JSON Schema 2020-12: core 9.4.1 "Guarding Against Infinite Recursion", 11 "Keywords for Unevaluated Locations".
"""

from __future__ import annotations

from collections.abc import Iterator

from .error import SchemaError
from .ir import ALL_KINDS, Node, in_place
from .profiles import Profile
from .values import kind_of

__all__ = ["finish"]

SIZES = 16  # entries that are looked up in about the time of a step


def finish(nodes: list[Node], profile: Profile) -> None:
    """Work out the derived members of every node.

    Raises:
        SchemaError: a subschema that applies to its own value without end, or through too many others.
    """
    for node in nodes:
        _sort(node)
    lengths: dict[int, int] = {}
    for node in nodes:
        for done in _innermost_first(node, lengths):
            length = lengths[id(done)] = 1 + max((lengths[id(inner)] for inner in in_place(done)), default=0)
            if length > profile.max_in_place:
                raise SchemaError((), f"has over {profile.max_in_place} subschemas for one value, at {done.place}")
            _derive(done)


def _innermost_first(start: Node, done: dict[int, int]) -> Iterator[Node]:
    """Yield a node after all that apply in its place, each once; iterative, as deep as there are nodes."""
    if id(start) in done:
        return
    open_nodes = {id(start)}
    todo = [(start, in_place(start))]
    while todo:
        node, inside = todo[-1]
        inner = next(inside, None)
        if inner is None:
            todo.pop()
            open_nodes.discard(id(node))
            yield node
        elif id(inner) in open_nodes:
            raise SchemaError((), f"refers to itself without end, at {inner.place}")
        elif id(inner) not in done:
            open_nodes.add(id(inner))
            todo.append((inner, in_place(inner)))


def _sort(node: Node) -> None:
    """Tell which kinds of value there is something to check of."""
    members = node.properties or node.patterns or node.dependent or node.additional is not None
    node.has_members = bool(members) or node.member_names is not None
    items = node.prefix or node.rest is not None or node.contains is not None
    node.has_items = bool(items)
    node.in_place = any(True for _ in in_place(node))
    node.has_texts = node.pattern is not None or node.min_length is not None or node.max_length is not None
    unevaluated = node.unevaluated_names is not None or node.unevaluated_items is not None
    node.leaf = not (node.has_members or node.has_items or node.in_place or unevaluated)
    if node.verdict is None and node.leaf and _is_empty(node):
        node.verdict = True
    entries = len(node.properties) + len(node.required) + len(node.patterns) + len(node.dependent)
    others = sum(len(choice.others) for choice in node.choices) + sum(len(names) for _, names in node.required_with)
    node.cost = 1 + (entries + others) // SIZES


def _is_empty(node: Node) -> bool:
    limits = (node.min_items, node.max_items, node.min_members, node.max_members, node.kinds)
    given = node.choices or node.numbers or node.has_texts or node.unique or node.required or node.required_with
    return not given and all(limit is None for limit in limits)


def _derive(node: Node) -> None:
    """Work out what depends on the nodes in the same place, all of which are done."""
    admits = ALL_KINDS if node.kinds is None else node.kinds
    if node.verdict is False:
        admits = frozenset()
    for choice in node.choices:
        admits &= frozenset(map(kind_of, choice.values))
    for inner in (*node.same, *node.all_of):
        admits &= inner.admits
    for branches in (node.any_of, node.one_of):
        if branches:
            admits &= frozenset[str]().union(*(branch.admits for branch in branches))
    node.admits = admits
    node.whole = "integer" in admits and "number" not in admits
    own = node.has_members or node.has_items or node.unevaluated_names is not None or node.unevaluated_items is not None
    node.marks = own or any(inner.marks for inner in in_place(node) if inner is not node.negated)
