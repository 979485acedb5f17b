"""Names that nobody knows, and the known ones that were probably meant.

In: a name as somebody has written it, and the names that there are. Out: one of them, or the end of a sentence.
Ours: an error tells what to send instead.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

__all__ = ["closest", "did_you_mean", "no_dict"]

_MAX_NAME = 128  # characters that are compared: the time is a product of both lengths, and strangers choose one


def closest(name: str, known: Iterable[str], *, cutoff: float = 0.6) -> str | None:
    """Return the known name that is most like `name`, upper and lower case being the same; None where none is.

    Args:
        name: as it was written.
        known: the names that there are.
        cutoff: how alike the two must be, from 0 to 1.
    """
    import difflib  # of failures only; a program that serves loads it in idle time

    folded: dict[str, str] = {}
    for candidate in known:
        folded.setdefault(candidate.lower(), candidate)
    found = difflib.get_close_matches(name[:_MAX_NAME].lower(), folded, n=1, cutoff=cutoff)
    return folded[found[0]] if found else None


def did_you_mean(name: str, known: Iterable[str], *, cutoff: float = 0.6) -> str:
    """Return the end of a sentence that refuses `name`: `; did you mean 'close'?`, or nothing."""
    found = closest(name, known, cutoff=cutoff)
    return "" if found is None else f"; did you mean {found!r}?"


def no_dict(value: Any, key: object) -> TypeError:
    """Return the error of a Struct that was used as a dict or a list.

    Args:
        value: the Struct.
        key: between the brackets.
    """
    kind = type(value)
    names = dict(zip(kind.__struct_encode_fields__, kind.__struct_fields__, strict=True))
    name = names.get(key) if isinstance(key, str) else None
    if name is None and key in kind.__struct_fields__:
        name = str(key)
    if name is not None:
        advice = f"write `.{name}`"
    elif isinstance(key, int | slice):
        name = next((name for name in kind.__struct_fields__ if isinstance(getattr(value, name), list)), None)
        advice = f"it has {', '.join(kind.__struct_fields__)}" if name is None else f"its list is `.{name}`"
    elif "structured_content" in kind.__struct_fields__:
        advice = "what the tool returned is `.structured_content`, or the result of call_tool(..., type=dict)"
    else:
        advice = f"it has {', '.join(kind.__struct_fields__)}"
    return TypeError(f"{kind.__name__} is no dict and no list: {advice}")
