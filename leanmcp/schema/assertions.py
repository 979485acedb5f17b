"""What a subschema asks of a value itself, its members and items apart.

In: a `Node` and a plain JSON value. Out: whether it fits, and what is found wrong where that is collected.
JSON Schema 2020-12: validation 6.1 to 6.5.
"""

from __future__ import annotations

from typing import Any

from msgspec import UNSET

from . import faults as say
from .faults import Fault, path_text
from .ir import Choice, Node
from .profiles import Profile
from .values import KINDS, count_values, equal, has_duplicates, is_multiple

__all__ = ["FAULTY", "FINE", "STOP", "Found", "OutOfSteps", "Path", "Run", "fault", "faults_of", "plain"]

FINE, FAULTY, STOP = 0, 1, 2  # STOP: of another kind, so that nothing below is worth a word
ITEMS_PER_STEP = 16
# Path is a linked list, so that a valid value costs no text.
Path = tuple[Any, "str | int"] | None
Found = list[tuple[Path, str, Any, str]]
"""Where, what, the value there, and the kind of a `Fault`."""


class OutOfSteps(Exception):
    """A check has taken all the steps that it may."""


class Run:
    """The steps that are left of one check."""

    __slots__ = ("_more", "_value", "steps")

    def __init__(self, profile: Profile, value: Any) -> None:
        self.steps = profile.steps
        self._more = profile.steps_per_value
        self._value = value

    def spend(self, steps: int) -> None:
        """Take steps from the budget, which grows with the value once it is used up.

        Raises:
            OutOfSteps: nothing is left.
        """
        self.steps -= steps
        if self.steps < 0:
            self.steps += self._more * count_values(self._value) if self._more else 0
            self._more = 0
            if self.steps < 0:
                raise OutOfSteps


def fault(found: Found | None, path: Path, message: str, value: Any = UNSET, kind: str = "") -> None:
    """Keep what is wrong, where that is collected."""
    if found is not None:
        found.append((path, message, value, kind))


def faults_of(found: Found) -> list[Fault]:
    """Return what was found in the form that has words for a path."""
    faults = []
    for path, message, value, kind in found:
        parts: list[str | int] = []
        while path is not None:
            path, part = path
            parts.append(part)
        faults.append(Fault(path_text(parts[::-1]), message, value, kind))
    return faults


def plain(run: Run, node: Node, value: Any, path: Path, found: Found | None) -> int:
    """Check a value itself."""
    run.steps -= node.cost
    if run.steps < 0:
        run.spend(0)
    if node.verdict is not None:
        if not node.verdict:
            fault(found, path, say.NOT_PERMITTED, value)
        return FINE if node.verdict else STOP
    kind = KINDS.get(type(value))
    if kind is None:
        fault(found, path, say.NOT_JSON, kind="type")
        return STOP
    kinds = node.kinds
    if kinds is not None and kind not in kinds and not (kind == "number" and "integer" in kinds and value.is_integer()):
        if found is not None:
            fault(found, path, say.expected(*node.names), value, "type")
        return STOP
    for choice in node.choices:
        if not _is_chosen(run, choice, value):
            if found is not None:
                fault(found, path, say.one_of(choice.values) if choice.values else say.NOT_PERMITTED, value)
            return STOP
    if kind == "string":
        return _text(run, node, value, path, found) if node.has_texts else FINE
    if kind == "object":
        return _object(node, value, path, found)
    if kind == "array":
        return _array(run, node, value, path, found)
    if node.numbers and kind in ("integer", "number"):
        return _number(node, value, path, found)
    return FINE


def _is_chosen(run: Run, choice: Choice, value: Any) -> bool:
    if isinstance(value, str):
        return value in choice.texts
    if isinstance(value, list | dict):
        run.spend(len(value) // ITEMS_PER_STEP)
    return any(equal(value, other) for other in choice.others)


def _number(node: Node, value: float, path: Path, found: Found | None) -> int:
    state = FINE
    for name, limit, divisor in node.numbers:
        if name == "ge":
            fits = value >= limit
        elif name == "le":
            fits = value <= limit
        elif name == "multiple_of":
            fits = is_multiple(value, divisor)
        else:
            fits = value > limit if name == "gt" else value < limit
        if not fits:
            fault(found, path, say.bound(name, limit), value)
            state = FAULTY
    return state


def _text(run: Run, node: Node, value: str, path: Path, found: Found | None) -> int:
    state = FINE
    if node.min_length is not None and len(value) < node.min_length:
        fault(found, path, say.text_length("min_length", node.min_length), value)
        state = FAULTY
    if node.max_length is not None and len(value) > node.max_length:
        fault(found, path, say.text_length("max_length", node.max_length), value)
        return FAULTY  # a pattern is not worth its time any more
    pattern = node.pattern
    if pattern is None:
        return state
    if pattern.longest is not None and len(value) > pattern.longest:
        fault(found, path, say.text_length("max_length", pattern.longest), value)
        return FAULTY
    if not pattern.search(value, run.spend):
        fault(found, path, say.pattern(pattern.source), value)
        return FAULTY
    return state


def _array(run: Run, node: Node, value: list[Any], path: Path, found: Found | None) -> int:
    state = FINE
    if node.min_items is not None and len(value) < node.min_items:
        fault(found, path, say.item_count("min_length", node.min_items, len(value)), value)
        state = FAULTY
    if node.max_items is not None and len(value) > node.max_items:
        fault(found, path, say.item_count("max_length", node.max_items, len(value)), value)
        state = FAULTY
    if node.unique and len(value) > 1:
        run.spend(count_values(value) if any(isinstance(item, list | dict) for item in value) else len(value))
        if has_duplicates(value):
            fault(found, path, say.DUPLICATE_ITEMS, value)
            state = FAULTY
    return state


def _object(node: Node, value: dict[str, Any], path: Path, found: Found | None) -> int:
    state = FINE
    size = len(value)
    if node.min_members is not None and size < node.min_members:
        fault(found, path, say.item_count("min_length", node.min_members, size, "Object", "member"), value)
        state = FAULTY
    if node.max_members is not None and size > node.max_members:
        fault(found, path, say.item_count("max_length", node.max_members, size, "Object", "member"), value)
        state = FAULTY
    for name in node.required:
        if name not in value:
            if found is None:
                return FAULTY
            state = FAULTY
            if name not in node.properties:  # those are told in their turn among the properties
                fault(found, (path, name), say.REQUIRED)
    for name, others in node.required_with:
        if name in value:
            for other in others:
                if other not in value:
                    fault(found, (path, other), say.required_with(name))
                    state = FAULTY
    return state
