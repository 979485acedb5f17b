"""What is known of a graph of nodes before code is written for it.

In: a root `Node`. Out: a `Plan`: which nodes are used twice and so become functions, which of those count steps.
JSON Schema 2020-12: core 11 "Keywords for Unevaluated Locations".
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from .ir import Node, in_place

__all__ = ["HEAVY", "Plan", "evaluated_items", "evaluated_names", "plan"]

ALL = -1  # items: whatever there is
HEAVY = 256  # nodes below one that is repeated: from here on, each round costs steps


class Plan(Struct, frozen=True, eq=False):
    """Nodes by their `id`, in a graph that is kept alive elsewhere.

    Args:
        uses: how often each node is referred to; the root once more.
        paths: how many nodes each one leads to, by every way that there is.
        counted: nodes whose visits take steps, because nothing else bounds how many there are.
        spending: nodes whose check needs the steps, for itself or for a node below.
    """

    uses: dict[int, int]
    paths: dict[int, int]
    counted: set[int]
    spending: set[int]


def plan(root: Node, max_nodes: int) -> Plan | None:
    """Look at every node that can be reached, None where there are more than `max_nodes`."""
    nodes: dict[int, Node] = {id(root): root}
    uses = {id(root): 1}
    users: dict[int, list[int]] = {id(root): []}
    todo = [root]
    while todo:
        node = todo.pop()
        for inner in below(node):
            uses[id(inner)] = uses.get(id(inner), 0) + 1
            users.setdefault(id(inner), []).append(id(node))
            if id(inner) not in nodes:
                nodes[id(inner)] = inner
                todo.append(inner)
                if len(nodes) > max_nodes:
                    return None
    paths, cyclic = _paths(root)
    counted = _counted(cyclic, nodes) if paths[id(root)] <= max_nodes else set(nodes)
    spending = counted | {key for key, node in nodes.items() if _searches_slowly(node) or _repeats(node, paths)}
    rest = list(spending)
    while rest:
        for user in users[rest.pop()]:
            if user not in spending:
                spending.add(user)
                rest.append(user)
    return Plan(uses, paths, counted, spending)


def below(node: Node) -> Iterator[Node]:
    """Yield every node that a node refers to, once for each reference."""
    if node.leaf:
        return
    yield from in_place(node)
    yield from node.properties.values()
    yield from node.prefix
    yield from _repeated(node)


def _repeated(node: Node) -> Iterator[Node]:
    """Yield what applies to as many members or items as there are."""
    for _, inner in node.patterns:
        yield inner
    others = (node.additional, node.member_names, node.rest, node.contains)
    for part in (*others, node.unevaluated_names, node.unevaluated_items):
        if part is not None:
            yield part


def _repeats(node: Node, paths: dict[int, int]) -> bool:
    return any(paths[id(inner)] > HEAVY for inner in _repeated(node))


def _searches_slowly(node: Node) -> bool:
    matchers = [matcher for matcher, _ in node.patterns]
    if node.pattern is not None and node.pattern.longest is None:
        matchers.append(node.pattern)
    return any(matcher.find is None or matcher.short is not None for matcher in matchers)


def _paths(root: Node) -> tuple[dict[int, int], set[int]]:
    """Return how many nodes each one leads to, and which lead to themselves."""
    paths: dict[int, int] = {}
    cyclic: set[int] = set()
    for group in _components(root):
        inner = [id(part) for node in group for part in below(node)]
        if len(group) > 1 or id(group[0]) in inner:
            cyclic.update(map(id, group))
        total = 1 + sum(paths.get(key, 0) for key in inner)
        paths.update((id(node), total) for node in group)
    return paths, cyclic


def _counted(cyclic: set[int], nodes: dict[int, Node]) -> set[int]:
    """Return recursive nodes and all below them."""
    found = set(cyclic)
    todo = list(cyclic)
    while todo:
        for part in below(nodes[todo.pop()]):
            if id(part) not in found:
                found.add(id(part))
                todo.append(id(part))
    return found


def _components(root: Node) -> Iterator[list[Node]]:
    """Yield the strongly connected components, innermost first; Tarjan 1972, without recursion."""
    order = {id(root): 0}
    lowest = {id(root): 0}
    open_nodes, is_open = [root], {id(root)}
    todo = [(root, below(root))]
    while todo:
        node, inside = todo[-1]
        key = id(node)
        inner = next(inside, None)
        if inner is None:
            todo.pop()
            if todo:
                user = id(todo[-1][0])
                lowest[user] = min(lowest[user], lowest[key])
            if lowest[key] == order[key]:
                at = next(at for at in reversed(range(len(open_nodes))) if open_nodes[at] is node)
                group = open_nodes[at:]
                del open_nodes[at:]
                is_open.difference_update(map(id, group))
                yield group
        elif id(inner) not in order:
            order[id(inner)] = lowest[id(inner)] = len(order)
            open_nodes.append(inner)
            is_open.add(id(inner))
            todo.append((inner, below(inner)))
        elif id(inner) in is_open:
            lowest[key] = min(lowest[key], order[id(inner)])


# What is looked at whatever the value ---------------------------------------------------------------------------


def evaluated_names(node: Node) -> frozenset[str] | None:
    """Return the names that a node evaluates where it fits, None where that depends on the value.

    Only for a node with `unevaluated_names`, which takes all others.
    """
    names: set[str] = set()
    for part in _unconditional(node):
        if part.patterns or _may_mark(part):
            return None
        if part.additional is not None or (part is not node and part.unevaluated_names is not None):
            return None  # takes every name; rare enough to be left to the general way
        names.update(part.properties)
    return frozenset(names)


def evaluated_items(node: Node) -> int | None:
    """Return how many items a node evaluates where it fits, ALL for all, None where that depends on the value."""
    count = 0
    for part in _unconditional(node):
        if (part.contains is not None and part.contains_marks) or _may_mark(part):
            return None
        if part.rest is not None or (part is not node and part.unevaluated_items is not None):
            count = ALL
        elif count != ALL:
            count = max(count, len(part.prefix))
    return count


def _unconditional(node: Node) -> list[Node]:
    """Return a node and all that applies to the same value without any condition."""
    found, known = [node], {id(node)}
    for part in found:
        for inner in (*part.same, *part.all_of):
            if id(inner) not in known:
                known.add(id(inner))
                found.append(inner)
    return found


def _may_mark(node: Node) -> bool:
    """True where a branch that need not apply may evaluate something."""
    branches = [*node.any_of, *node.one_of, *(inner for _, inner in node.dependent)]
    branches += [branch for branch in (node.condition, node.then, node.otherwise) if branch is not None]
    return any(branch.marks for branch in branches)
