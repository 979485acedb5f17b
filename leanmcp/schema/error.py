"""The one error of schemas, and the JSON pointers in its texts.

In: a place inside a schema. Out: a text that names it. RFC 6901.
"""

from __future__ import annotations

__all__ = ["Place", "SchemaError", "pointer"]

MAX_POINTER = 300  # characters
Place = tuple["str | int", ...]


class SchemaError(ValueError):
    """A schema that cannot be enforced.

    Args:
        place: of the keyword or the subschema that is wrong.
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
