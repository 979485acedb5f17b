"""Objects of dataclasses hold their defaults themselves."""

from __future__ import annotations

from dataclasses import dataclass, field

from leanmcp.server.completed import complete


@dataclass
class Node:
    name: str
    children: list[Node] = field(default_factory=list)
    parent: Node | None = None
    weight: int = 1


def undone(name: str) -> Node:
    """Return what msgspec makes of `{"name": ...}`: defaults that are no factories stay in the class."""
    node = Node.__new__(Node)
    vars(node).update(name=name, children=[])
    return node


def test_objects_that_refer_to_each_other_are_completed_once() -> None:
    """Ours: as `__post_init__` may have it, of a tree whose leaves know their parents."""
    root, leaf = undone("root"), undone("leaf")
    root.children.append(leaf)
    leaf.parent = root
    assert complete(root) is root
    assert list(vars(root)) == list(vars(leaf)) == ["name", "children", "parent", "weight"]
    assert (vars(root)["weight"], vars(leaf)["parent"]) == (1, root)


def test_what_is_complete_is_not_written() -> None:
    """Ours: a default is one object for all calls, which other threads read meanwhile."""

    class Guarded(dict[str, object]):
        def clear(self) -> None:
            raise AssertionError("written")

    @dataclass(frozen=True)
    class Shared:
        depth: int = 3

        @property
        def __dict__(self) -> Guarded:  # type: ignore[override]
            return Guarded(depth=3)

    shared = Shared()
    assert complete([shared, {"a": shared}]) == [shared, {"a": shared}]
