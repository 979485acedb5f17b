"""Subschemas that apply to the same value, in generated code.

In: a node, and a variable that holds a value. Out: lines that return False where the value does not fit.
JSON Schema 2020-12: core 10.2 "Keywords for Applying Subschemas in Place".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .generator_plain import Kinds
from .ir import Node, choice_of
from .values import kind_of

if TYPE_CHECKING:
    from .generator_writer import Writer

__all__ = ["in_place", "merged", "one_of_is_any_of"]

OBJECT = frozenset(("object",))


def in_place(w: Writer, node: Node, x: str, known: Kinds, seen: str | None) -> None:
    """Write the checks of what applies to the same value; `seen` is a set that gets what they have looked at."""
    for inner in (*node.same, *node.all_of):
        w.check(inner, x, known, seen)
    if node.any_of:
        _any(w, node.any_of, x, known, seen)
    if node.one_of:
        _one(w, node.one_of, x, known, seen)
    if node.negated is not None:
        w.line(f"if {w.fits(node.negated, x, known)}: return False")
    if node.condition is not None:
        _condition(w, node, node.condition, x, known, seen)
    if node.dependent and (known is None or "object" in known):
        with w.block(f"if type({x}) is dict:"):
            for name, inner in node.dependent:
                if inner.verdict is not True:
                    with w.block(f"if {w.constant(name)} in {x}:"):
                        w.check(inner, x, OBJECT, seen)


def _any(w: Writer, branches: tuple[Node, ...], x: str, known: Kinds, seen: str | None) -> None:
    if seen is not None and any(branch.marks for branch in branches):
        _each(w, branches, x, known, seen)
        return
    texts = [w.fits(branch, x, known) for branch in merged(branches)]
    w.line(f"if not ({' or '.join(f'({text})' for text in texts)}): return False")


def _one(w: Writer, branches: tuple[Node, ...], x: str, known: Kinds, seen: str | None) -> None:
    marking = seen is not None and any(branch.marks for branch in branches)
    if not marking and one_of_is_any_of(branches):
        _any(w, branches, x, known, None)
        return
    _each(w, branches, x, known, seen, alone=True)


def _each(
    w: Writer, branches: tuple[Node, ...], x: str, known: Kinds, seen: str | None, *, alone: bool = False
) -> None:
    """Write the check of every branch, of which one has to fit, and no other one where it is `alone`."""
    fits = w.variable()
    w.line(f"{fits} = False")
    for branch in branches:
        with w.block(f"if {_question(w, branch, x, known, seen)}:"):
            if alone:
                w.line(f"if {fits}: return False")
            w.line(f"{fits} = True")
            _add_marks(w, branch, seen)
    w.line(f"if not {fits}: return False")


def _condition(w: Writer, node: Node, condition: Node, x: str, known: Kinds, seen: str | None) -> None:
    marking = seen is not None and condition.marks
    if not marking and all(branch is None or branch.verdict is True for branch in (node.then, node.otherwise)):
        return
    with w.block(f"if {_question(w, condition, x, known, seen)}:"):
        _add_marks(w, condition, seen)
        if node.then is not None:
            w.check(node.then, x, known, seen)
    if node.otherwise is not None:
        with w.block("else:"):
            w.check(node.otherwise, x, known, seen)


def _question(w: Writer, branch: Node, x: str, known: Kinds, seen: str | None) -> str:
    """Return the question whether a branch fits; what it looks at goes into a new set `m`, for it may fail."""
    if seen is None or not branch.marks:
        return w.fits(branch, x, known)
    w.line("m = set()")
    return w.fits(branch, x, known, "m")


def _add_marks(w: Writer, branch: Node, seen: str | None) -> None:
    if seen is not None and branch.marks:
        w.line(f"{seen} |= m")


# Unions that are simpler than they look ---------------------------------------------------------------------------


def one_of_is_any_of(branches: tuple[Node, ...]) -> bool:
    """True where no value fits two branches: they take different kinds of value, or are different constants."""
    taken: set[str] = set()
    choices: list[Any] = []
    for branch in branches:
        if _is_choice(branch):
            choices += [(type(value) is bool, value) for value in _values(branch)]
        elif taken & branch.admits:
            return False
        else:
            taken |= branch.admits
    if any(kind in taken for branch in branches if _is_choice(branch) for kind in branch.admits):
        return False
    return len(set(choices)) == len(choices)


def merged(branches: tuple[Node, ...]) -> list[Node]:
    """Put the branches that are scalar constants together into one, which is a look into a set."""
    found = [branch for branch in branches if not _is_choice(branch)]
    if len(found) + 1 >= len(branches):
        return list(branches)
    values = tuple(value for branch in branches if _is_choice(branch) for value in _values(branch))
    return [Node("", choices=(choice_of(values),)), *found]


def _is_choice(node: Node) -> bool:
    """True for an enum or a const of scalars, perhaps with a type, and nothing else."""
    if not node.leaf or len(node.choices) != 1 or node.numbers or node.has_texts:
        return False
    return not any(isinstance(value, list | dict) for value in node.choices[0].values)


def _values(node: Node) -> list[Any]:
    return [value for value in node.choices[0].values if kind_of(value) in node.admits]
