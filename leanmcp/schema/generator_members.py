"""The members of an object, in generated code.

In: a node, and a variable that holds a dict. Out: lines that return False where a member does not fit.
JSON Schema 2020-12: core 10.3.2 "Keywords for Applying Subschemas to Objects", 11.3 `unevaluatedProperties`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .generator_plain import all_of, required, search
from .generator_plan import evaluated_names
from .ir import Node

if TYPE_CHECKING:
    from .generator_writer import Writer

__all__ = ["members", "unevaluated_names"]

WIDE = 256  # properties; a table of functions takes 240 MB less for ten thousand of them, and is half as fast


def members(w: Writer, node: Node, x: str, seen: str | None) -> None:
    """Write the checks of members; `seen` is a set that gets the names of those looked at."""
    closed = node.additional is not None and node.additional.verdict is False and not node.patterns
    if len(node.properties) > WIDE:
        _from_table(w, node, x, closed=closed)
    else:
        _one_by_one(w, node, x, closed=closed)
    if node.member_names is not None:
        _names(w, node.member_names, x)
    if seen is not None and node.additional is not None:
        w.line(f"{seen}.update({x})")
    elif seen is not None and node.properties:
        w.line(f"{seen}.update({x}.keys() & {w.constant(frozenset(node.properties))})")
    if node.patterns or (node.additional is not None and not closed and node.additional.verdict is not True):
        _further(w, node, x, seen if node.additional is None else None)


def _one_by_one(w: Writer, node: Node, x: str, *, closed: bool) -> None:
    """Write each property by itself, and count them where there may be no others."""
    if node.properties:
        w.demand(all_of(required((name for name in node.required if _is_plain(node, name)), x, w.constants)))
    needed = [name for name in node.properties if name in node.required]
    count = w.variable()
    optional = [name for name in node.properties if name not in node.required]
    if closed and optional:
        w.line(f"{count} = {w.constant(len(needed))}")
    elif closed:
        count = w.constant(len(needed))
    values = {name: w.variable() for name in needed if not _is_plain(node, name)}
    if values:
        with w.block("try:"):
            for name, value in values.items():
                w.line(f"{value} = {x}[{w.constant(name)}]")
        w.line("except KeyError: return False")
    for name, inner in node.properties.items():
        if name in values:
            w.check(inner, values[name])
        elif name not in node.required and (closed or inner.verdict is not True):
            with w.block(f"if {w.constant(name)} in {x}:"):
                if closed:
                    w.line(f"{count} += 1")
                _value(w, inner, f"{x}[{w.constant(name)}]")
    if closed:
        w.line(f"if len({x}) != {count}: return False")


def _is_plain(node: Node, name: str) -> bool:
    """True where all that is asked of a member is to be there."""
    inner = node.properties.get(name)
    return inner is None or inner.verdict is True


def _value(w: Writer, inner: Node, item: str) -> None:
    """Write the check of a member; one that is looked at once gets no variable."""
    text = w.expression(inner, item, None)
    if text is not None and text.count(item) <= 1:
        w.demand(text)
    elif inner.verdict is None:
        value = w.variable()
        w.line(f"{value} = {item}")
        w.check(inner, value)


def _from_table(w: Writer, node: Node, x: str, *, closed: bool) -> None:
    """Write a walk over the members that there are, with a function for each name; True where none is needed."""
    w.demand(all_of(required(node.required, x, w.constants)))
    apart = {name: inner for name, inner in node.properties.items() if id(inner) in w.plan.spending}
    table = w.table({name: inner for name, inner in node.properties.items() if name not in apart}, apart)
    name, value, check = w.variable(), w.variable(), w.variable()
    w.charge(x)
    with w.block(f"for {name}, {value} in {x}.items():"):
        w.line(f"{check} = {table}.get({name})")
        if closed:
            w.line(f"if {check} is None: return False")
        w.line(f"if {check} is not True and {check} is not None and not {check}({value}): return False")
    for key, inner in apart.items():
        with w.block(f"if {w.constant(key)} in {x}:"):
            _value(w, inner, f"{x}[{w.constant(key)}]")


def _names(w: Writer, inner: Node, x: str) -> None:
    if inner.verdict is True:
        return
    name = w.variable()
    w.charge(x, inner)
    with w.block(f"for {name} in {x}:"):
        w.check(inner, name, frozenset(("string",)))


def _further(w: Writer, node: Node, x: str, seen: str | None) -> None:
    """Write a walk over members, by the patterns of their names, and for those that nothing else takes."""
    additional = node.additional if node.additional is not None and node.additional.verdict is not True else None
    name, value, taken = w.variable(), w.variable(), w.variable()
    names = w.constant(frozenset(node.properties))
    w.charge(x, *(inner for _, inner in node.patterns), *(() if additional is None else (additional,)))
    if not node.patterns and additional is not None and not node.properties:
        with w.block(f"for {value} in {x}.values():"):
            w.check(additional, value)
        return
    with w.block(f"for {name}, {value} in {x}.items():"):
        if node.patterns and additional is not None:
            w.line(f"{taken} = {name} in {names}")
        for pattern, inner in node.patterns:
            with w.block(f"if {search(pattern, name, w.constants)}:"):
                if additional is not None:
                    w.line(f"{taken} = True")
                if seen is not None:
                    w.line(f"{seen}.add({name})")
                w.check(inner, value)
        if additional is not None:
            with w.block(f"if not {taken}:" if node.patterns else f"if {name} not in {names}:"):
                w.check(additional, value)


def unevaluated_names(w: Writer, node: Node, inner: Node, x: str, own: str | None, seen: str | None) -> None:
    """Write the check of members that nothing has looked at; `own` is the set of the others, None where it is known."""
    names = evaluated_names(node) if own is None else None
    known = own if names is None else w.constant(names)
    if inner.verdict is False:
        w.line(f"if not {x}.keys() <= {known}: return False")
    elif inner.verdict is None:
        name, value = w.variable(), w.variable()
        w.charge(x, inner)
        with w.block(f"for {name}, {value} in {x}.items():"), w.block(f"if {name} not in {known}:"):
            w.check(inner, value)
    if seen is not None:
        w.line(f"{own}.update({x})")
