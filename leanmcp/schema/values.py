"""Numbers, equality and identity of JSON values, exact.

In: plain JSON values, of any size and depth. Out: yes or no, in time that grows with the size alone.
JSON Schema 2020-12: core 4.2.2 "Instance Equality"; validation 6.2.1 `multipleOf`, 6.4.3 `uniqueItems`.
"""

from __future__ import annotations

import math
from operator import eq
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fractions import Fraction

__all__ = ["KINDS", "count_values", "equal", "exact", "has_duplicates", "is_multiple", "kind_of", "text_of"]

KINDS: dict[type, str] = {
    type(None): "null",
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    list: "array",
    dict: "object",
}
EXACT = 2**53  # whole floats below are the numbers that were written
NUMBERS = {int, float}


def kind_of(value: Any) -> str:
    """Return the JSON type of a value, "integer" for every number without a fraction, 5.0 too."""
    return "integer" if type(value) is float and value.is_integer() else KINDS.get(type(value), "object")


def exact(number: float) -> int | Fraction:
    """Return the decimal number that was written, 0.3 and not its nearest float."""
    if type(number) is int or (abs(number) < EXACT and number.is_integer()):
        return int(number)
    from fractions import Fraction

    return Fraction(repr(number))


def is_multiple(number: float, of: int | Fraction) -> bool:
    """Tell whether a number is a whole multiple; one that is not finite never is."""
    if type(number) is float and not math.isfinite(number):
        return False
    return exact(number) % of == 0


def equal(value: Any, choice: Any) -> bool:
    """Equality of JSON, as deep as the choice: 1.0 is 1, true is not."""
    if isinstance(choice, dict):
        if not isinstance(value, dict) or value.keys() != choice.keys():
            return False
        return all(equal(value[name], inner) for name, inner in choice.items())
    if isinstance(choice, list):
        return isinstance(value, list) and len(value) == len(choice) and all(map(equal, value, choice))
    if isinstance(value, bool) or isinstance(choice, bool):
        return value is choice
    return bool(value == choice)


def has_duplicates(items: list[Any]) -> bool:
    """Tell whether two items are equal as JSON.

    Texts have a hash that a sender cannot guess; numbers have not, so that they are sorted.
    """
    kinds = set(map(type, items))
    if kinds == {str}:
        return len(set(items)) < len(items)
    if kinds <= NUMBERS:
        ordered = sorted(items)
        return any(map(eq, ordered, ordered[1:]))
    return len(set(map(text_of, items))) < len(items)


def text_of(value: Any) -> str:
    """Return one text for all values that are equal; iterative, so that no depth stops it."""
    out: list[str] = []
    todo: list[tuple[bool, Any]] = [(False, value)]
    while todo:
        is_text, piece = todo.pop()
        if is_text:
            out.append(piece)
        elif isinstance(piece, dict):
            todo.append((True, "}"))
            for name in sorted(piece, reverse=True):
                todo += ((False, piece[name]), (True, repr(name)))
            todo.append((True, "{"))
        elif isinstance(piece, list):
            todo.append((True, "]"))
            for item in reversed(piece):
                todo += ((False, item), (True, ","))
            todo.append((True, "["))
        elif isinstance(piece, float) and piece.is_integer():
            out.append(hex(int(piece)))
        else:
            # Hexadecimal, because a long integer has no decimal text.
            out.append(hex(piece) if type(piece) is int else repr(piece))
    return "".join(out)


def count_values(value: Any) -> int:
    """Return how many values a value holds, itself included."""
    count = 0
    todo = [value]
    while todo:
        piece = todo.pop()
        count += 1
        if isinstance(piece, dict):
            todo += piece.values()
        elif isinstance(piece, list):
            todo += piece
    return count
