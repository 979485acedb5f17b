"""Nodes walked over values: the verdict, or everything that is wrong.

In: a root `Node` and a plain JSON value. Out: True or False, or faults in the order of the schema, of a union those of
the closest branch only. Each visit that has something below is a generator on a stack of our own, so that no depth of
schema or value can overflow Python's; each visit costs steps.
JSON Schema 2020-12: core 10 "Applying Subschemas", 11 "Unevaluated Locations".
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from . import faults as say
from .assertions import FAULTY, FINE, STOP, Found, OutOfSteps, Path, Run, fault, faults_of, plain
from .faults import Fault
from .ir import Node
from .profiles import Profile
from .unions import accepted_names, closest, label, unwanted

__all__ = ["MAX_FAULTS", "faults", "holds", "is_valid"]

MAX_FAULTS = 120  # the text shows 20; the rest is counted
MEMBERS_PER_STEP = 16


class Seen:
    """Names and items that some subschema has looked at, for `unevaluated*`; what it copies costs steps."""

    __slots__ = ("_run", "items", "names")

    def __init__(self, run: Run) -> None:
        self._run = run
        self.names: set[str] = set()
        self.items: set[int] = set()

    def branch(self) -> Seen:
        """Return an empty one, for what may fail."""
        return Seen(self._run)

    def left(self, value: Any) -> list[Any]:
        """Return the names or the positions that nobody has looked at."""
        self._run.spend(len(value) // MEMBERS_PER_STEP)
        if isinstance(value, dict):
            return [name for name in value if name not in self.names]
        return [at for at in range(len(value)) if at not in self.items]

    def add(self, other: Seen) -> None:
        self._run.spend((len(other.names) + len(other.items)) // MEMBERS_PER_STEP)
        self.names |= other.names
        self.items |= other.items

    def add_all(self, value: Any) -> None:
        if isinstance(value, dict | list):
            self._run.spend(len(value) // MEMBERS_PER_STEP)
            if isinstance(value, dict):
                self.names.update(value)
            else:
                self.items.update(range(len(value)))


Work = tuple[Node, Any, Path, Found | None, Seen | None]
"""A subschema to be checked: on what, where, what to do with faults, whom to tell what was looked at."""
Visit = Generator[Work | bool, bool, None]
"""Asks for other checks, and ends with its own verdict."""
Part = Generator[Work, bool, bool]


def is_valid(root: Node, value: Any, profile: Profile) -> bool:
    """Tell whether a value fits.

    Raises:
        OutOfSteps: it takes too long to tell.
    """
    return holds(Run(profile, value), root, value, None)


def faults(root: Node, value: Any, profile: Profile) -> list[Fault]:
    """Return what is wrong with a value that does not fit, at most 120 faults and at least one."""
    found: Found = []
    try:
        holds(Run(profile, value), root, value, found)
    except OutOfSteps:
        if not found:
            fault(found, None, say.TOO_COMPLEX)
    return faults_of(found[:MAX_FAULTS]) or [Fault("", say.NOT_PERMITTED, value)]


def holds(run: Run, node: Node, value: Any, found: Found | None) -> bool:
    """Run a check and every check that it asks for."""
    if node.leaf:
        return plain(run, node, value, None, found) == FINE
    stack: list[Visit] = [_visit(run, node, value, None, found, None)]
    reply: Any = None
    while stack:
        asked = stack[-1].send(reply)
        if asked is True or asked is False:
            stack.pop()
            reply = asked
        elif asked[0].leaf:
            reply = plain(run, asked[0], asked[1], asked[2], asked[3]) == FINE
        else:
            stack.append(_visit(run, *asked))
            reply = None
    return bool(reply)


def _visit(run: Run, node: Node, value: Any, path: Path, found: Found | None, seen: Seen | None) -> Visit:
    """Check a value itself, below, in its place, and what is left."""
    state = plain(run, node, value, path, found)
    if state == STOP or (state == FAULTY and found is None):
        yield False
        return
    fits = state == FINE
    own = Seen(run) if node.unevaluated_names is not None or node.unevaluated_items is not None else seen
    if node.has_members and isinstance(value, dict):
        fits = (yield from _members(run, node, value, path, found, own)) and fits
    elif node.has_items and isinstance(value, list):
        fits = (yield from _items(node, value, path, found, own)) and fits
    if node.in_place and (fits or found is not None):
        fits = (yield from _in_place(node, value, path, found, own)) and fits
    if own is not seen and own is not None and (fits or found is not None):
        fits = (yield from _unevaluated(node, value, path, found, own)) and fits
        if seen is not None:
            seen.add(own)
    yield fits


# Below --------------------------------------------------------------------------------------------------------------


def _members(run: Run, node: Node, value: dict[str, Any], path: Path, found: Found | None, seen: Seen | None) -> Part:
    fits = True
    for name, inner in node.properties.items():
        if name in value:
            if not (yield inner, value[name], (path, name), found, None):
                fits = False
                if found is None:
                    return False
        elif found is not None and name in node.required:
            fault(found, (path, name), say.REQUIRED)
    if seen is not None:
        seen.names.update(node.properties.keys() & value.keys())
    if node.member_names is not None:
        fits = (yield from _names(node.member_names, value, path, found)) and fits
    if (node.patterns or node.additional is not None) and (fits or found is not None):
        run.spend(len(value) * (1 + MEMBERS_PER_STEP // 4 * len(node.patterns)) // MEMBERS_PER_STEP)
        fits = (yield from _further(run, node, value, path, found, seen)) and fits
    return fits


def _names(inner: Node, value: dict[str, Any], path: Path, found: Found | None) -> Part:
    fits = True
    for name in value:
        wrong: Found | None = None if found is None else []
        if not (yield inner, name, None, wrong, None):
            fits = False
            if found is None:
                return False
            for _, message, *_ in (wrong or ())[:1]:
                fault(found, (path, name), say.bad_name(message))
            if len(found) >= MAX_FAULTS:
                return False
    return fits


def _further(run: Run, node: Node, value: dict[str, Any], path: Path, found: Found | None, seen: Seen | None) -> Part:
    """Check members by the patterns of their names, and those that neither a name nor a pattern takes."""
    fits = True
    additional = node.additional
    for name, item in value.items():
        taken = name in node.properties
        for pattern, inner in node.patterns:
            if pattern.search(name, run.spend):
                taken = True
                if seen is not None:
                    seen.names.add(name)
                fits = (yield inner, item, (path, name), found, None) and fits
        if not taken and additional is not None:
            if seen is not None:
                seen.names.add(name)
            if additional.verdict is False and found is not None:
                fits = False
                fault(found, (path, name), say.unknown_name(name, accepted_names(node)))
            elif additional.verdict is not True:
                fits = (yield additional, item, (path, name), found, None) and fits
        if not fits and (found is None or len(found) >= MAX_FAULTS):
            return False
    return fits


def _items(node: Node, value: list[Any], path: Path, found: Found | None, seen: Seen | None) -> Part:
    fits = True
    start = min(len(node.prefix), len(value))
    for at in range(start):
        fits = (yield node.prefix[at], value[at], (path, at), found, None) and fits
        if not fits and found is None:
            return False
    if seen is not None:
        seen.items.update(range(start))
    rest = node.rest
    if rest is not None and len(value) > start:
        if seen is not None:
            seen.add_all(value)
        if rest.verdict is False:
            fits = False
            fault(found, path, say.item_count("max_length", start, len(value)), value)
        elif rest.verdict is None:
            for at in range(start, len(value)):
                fits = (yield rest, value[at], (path, at), found, None) and fits
                if not fits and (found is None or len(found) >= MAX_FAULTS):
                    return False
    if node.contains is not None and (fits or found is not None):
        fits = (yield from _contains(node, node.contains, value, path, found, seen)) and fits
    return fits


def _contains(node: Node, inner: Node, value: list[Any], path: Path, found: Found | None, seen: Seen | None) -> Part:
    count = 0
    marks = seen is not None and node.contains_marks
    enough = node.min_contains if node.max_contains is None and not marks and found is None else len(value) + 1
    for at, item in enumerate(value):
        if count >= enough:
            break
        if (yield inner, item, (path, at), None, None):
            count += 1
            if marks and seen is not None:
                seen.items.add(at)
    if count < node.min_contains:
        fault(found, path, say.contained("min_length", node.min_contains, count), value)
        return False
    if node.max_contains is not None and count > node.max_contains:
        fault(found, path, say.contained("max_length", node.max_contains, count), value)
        return False
    return True


def _unevaluated(node: Node, value: Any, path: Path, found: Found | None, seen: Seen) -> Part:
    fits = True
    inner = node.unevaluated_names if isinstance(value, dict) else node.unevaluated_items
    if inner is None or not isinstance(value, dict | list):
        return True
    for part in seen.left(value):
        if inner.verdict is False and found is not None and isinstance(part, str):
            fits = False
            fault(found, (path, part), say.unknown_name(part, accepted_names(node)))
        else:
            fits = (yield inner, value[part], (path, part), found, None) and fits
        if not fits and (found is None or len(found) >= MAX_FAULTS):
            return False
    seen.add_all(value)
    return fits


# In place -----------------------------------------------------------------------------------------------------------


def _in_place(node: Node, value: Any, path: Path, found: Found | None, seen: Seen | None) -> Part:
    fits = True
    for inner in (*node.same, *node.all_of):
        fits = (yield inner, value, path, found, seen) and fits
        if not fits and found is None:
            return False
    if node.any_of:
        fits = (yield from _any(node.any_of, value, path, found, seen)) and fits
    if node.one_of and (fits or found is not None):
        fits = (yield from _one(node.one_of, value, path, found, seen)) and fits
    if node.negated is not None and (fits or found is not None) and (yield node.negated, value, path, None, None):
        fits = False
        if found is not None:
            fault(found, path, unwanted(node.negated), value)
    if node.condition is not None and (fits or found is not None):
        fits = (yield from _condition(node, node.condition, value, path, found, seen)) and fits
    if node.dependent and isinstance(value, dict):
        for name, inner in node.dependent:
            if name in value and (fits or found is not None):
                fits = (yield inner, value, path, found, seen) and fits
    return fits


def _any(branches: tuple[Node, ...], value: Any, path: Path, found: Found | None, seen: Seen | None) -> Part:
    fits = False
    attempts: list[Found] = []
    for branch in branches:
        mine = seen.branch() if seen is not None and branch.marks else None
        attempt: Found | None = None if found is None else []
        if (yield branch, value, path, attempt, mine):
            fits = True
            if seen is None:
                return True
            if mine is not None:
                seen.add(mine)
        attempts.append(attempt or [])
    if not fits and found is not None:
        found += closest(branches, attempts, value, path)
        if seen is not None:
            seen.add_all(value)  # what an unfit branch would have looked at is no news
    return fits


def _one(branches: tuple[Node, ...], value: Any, path: Path, found: Found | None, seen: Seen | None) -> Part:
    fitting: list[str] = []
    attempts: list[Found] = []
    for number, branch in enumerate(branches, 1):
        mine = seen.branch() if seen is not None and branch.marks else None
        attempt: Found | None = None if found is None else []
        if (yield branch, value, path, attempt, mine):
            fitting.append(label(branch, number))
            if seen is not None and mine is not None:
                seen.add(mine)
            if len(fitting) > 1 and found is None:
                return False
        attempts.append(attempt or [])
    if len(fitting) == 1:
        return True
    if found is not None:
        if fitting:
            fault(found, path, say.several_fit(fitting), value)
        else:
            found += closest(branches, attempts, value, path)
        if seen is not None:
            seen.add_all(value)
    return False


def _condition(node: Node, condition: Node, value: Any, path: Path, found: Found | None, seen: Seen | None) -> Part:
    mine = seen.branch() if seen is not None and condition.marks else None
    met = yield condition, value, path, None, mine
    if met and seen is not None and mine is not None:
        seen.add(mine)
    branch = node.then if met else node.otherwise
    if branch is None:
        return True
    return (yield branch, value, path, found, seen)
