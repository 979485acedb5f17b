"""The items of an array, in generated code.

In: a node, and a variable that holds a list. Out: lines that return False where an item does not fit.
JSON Schema 2020-12: core 10.3.1 "Keywords for Applying Subschemas to Arrays", 11.2 `unevaluatedItems`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .generator_plan import evaluated_items
from .ir import Node

if TYPE_CHECKING:
    from .generator_writer import Writer

__all__ = ["items", "unevaluated_items"]


def items(w: Writer, node: Node, x: str, seen: str | None) -> None:
    """Write the checks of items; `seen` is a set that gets the positions of those looked at."""
    start = len(node.prefix)
    if any(inner.verdict is not True for inner in node.prefix):
        length = w.variable()
        w.line(f"{length} = len({x})")
        for at, inner in enumerate(node.prefix):
            if inner.verdict is not True:
                item = w.variable()
                with w.block(f"if {length} > {w.constant(at)}:"):
                    w.line(f"{item} = {x}[{w.constant(at)}]")
                    w.check(inner, item)
    if seen is not None and node.rest is not None:
        w.line(f"{seen}.update(range(len({x})))")
    elif seen is not None and start:
        w.line(f"{seen}.update(range(min(len({x}), {w.constant(start)})))")
    if node.rest is not None:
        _behind(w, start, node.rest, x)
    if node.contains is not None:
        _contains(w, node, node.contains, x, seen if node.contains_marks else None)


def _contains(w: Writer, node: Node, inner: Node, x: str, seen: str | None) -> None:
    """Write the count of the items that fit, which ends when there are enough."""
    if seen is None and node.max_contains is None and node.min_contains == 0:
        return
    count, at, item = w.variable(), w.variable(), w.variable()
    w.line(f"{count} = {w.constant(0)}")
    w.charge(x, inner)
    head = f"for {at}, {item} in enumerate({x}):" if seen is not None else f"for {item} in {x}:"
    with w.block(head), w.block(f"if {w.fits(inner, item)}:"):
        w.line(f"{count} += 1")
        if seen is not None:
            w.line(f"{seen}.add({at})")
        elif node.max_contains is None:
            w.line(f"if {count} >= {w.constant(node.min_contains)}: break")
        else:
            w.line(f"if {count} > {w.constant(node.max_contains)}: return False")
    if node.min_contains:
        w.line(f"if {count} < {w.constant(node.min_contains)}: return False")
    if seen is not None and node.max_contains is not None:
        w.line(f"if {count} > {w.constant(node.max_contains)}: return False")


def unevaluated_items(w: Writer, node: Node, inner: Node, x: str, own: str | None, seen: str | None) -> None:
    """Write the check of items that nothing has looked at; `own` is the set of the others, None where it is known."""
    if own is None:
        _behind(w, evaluated_items(node) or 0, inner, x)
    elif inner.verdict is False:
        w.line(f"if len({own}) < len({x}): return False")
    elif inner.verdict is None:
        at, item = w.variable(), w.variable()
        w.charge(x, inner)
        with w.block(f"for {at}, {item} in enumerate({x}):"), w.block(f"if {at} not in {own}:"):
            w.check(inner, item)
    if seen is not None:
        w.line(f"{own}.update(range(len({x})))")


def _behind(w: Writer, start: int, inner: Node, x: str) -> None:
    """Write the check of the items behind the first `start`; less than none of them means that there are no others."""
    if start < 0 or inner.verdict is True:
        return
    if inner.verdict is False:
        w.line(f"if len({x}) > {w.constant(start)}: return False")
        return
    item = w.variable()
    w.charge(x, inner)
    with w.block(f"for {item} in {x}[{w.constant(start)}:]:" if start else f"for {item} in {x}:"):
        w.check(inner, item)
