"""The errors of schemas and of values, and the JSON pointers in their texts.

In: a place inside a schema, or the faults of a value. Out: a text that names it. RFC 6901.
"""

from __future__ import annotations

from collections.abc import Sequence

from .faults import Fault, listing

__all__ = ["InvalidValue", "Place", "SchemaError", "pointer"]

MAX_POINTER = 300  # characters
Place = tuple["str | int", ...]


class InvalidValue(ValueError):
    """A value that does not fit its schema; `faults` has everything that is wrong with it, the text a line for each."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        self.faults = list(faults)
        super().__init__(listing(faults))


class SchemaError(ValueError):
    """A schema that cannot be enforced; `pointer` is the JSON pointer of what is wrong in it, `#` for the root.

    Args:
        place: of the keyword or the subschema that is wrong; empty for the schema itself.
        why: what is wrong with it, as the rest of a sentence.
        keyword: False where the place is a subschema as a whole.
    """

    def __init__(self, place: Place, why: str, *, keyword: bool = True) -> None:
        self.pointer = pointer(place)
        what = repr(str(place[-1])[:80]) if keyword and place else "the schema"
        super().__init__(f"{what} at {self.pointer} {why}")


def pointer(place: Place) -> str:
    """Return a JSON pointer; the root is `#`, because an empty text tells nobody anything."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in place)[:MAX_POINTER] or "#"
