"""What the decoder has against a type, in words of ours: why it is refused, and what to write instead.

In: its exception. Out: two parts of a sentence. Imported once a type was refused.
"""

from __future__ import annotations

__all__ = ["reworded"]

_CHANGE = "change the type or pass input_schema="
_TAGGED = "make them Models with a tag each, class Name(Model, tag=True)"
_UNIONS = (
    ("array-like", "write one list of both, such as list[int | str]"),
    ("int-like", "keep one of them"),
    ("str-like", "keep one of them"),
    ("dict-like", f"keep one of them, or {_TAGGED}"),
    ("dataclass", _TAGGED),
    ("TypedDict", _TAGGED),
    ("Struct types must be tagged", _TAGGED),
)


def reworded(error: Exception) -> tuple[str, str]:
    """Return what is wrong with a type, and what to do."""
    text = str(error).partition("\n")[0].partition(" - type ")[0]
    for kind, advice in _UNIONS if "type union" in text.lower() else ():
        if kind in text:
            return "JSON does not tell the members of this union apart", advice
    return text[:1].lower() + text[1:] if text[:2] != text[:2].upper() else text, _CHANGE
