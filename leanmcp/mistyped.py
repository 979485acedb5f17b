"""Names that nobody knows, and the known ones that were probably meant.

In: a name as somebody has written it, and the names that there are. Out: one of them, or the end of a sentence.
Ours: an error tells what to send instead.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

__all__ = ["closest", "did_you_mean", "no_dict", "wrongly_made"]

_LEAST_SHORT = 3  # characters of a name that stands for a longer one
_MAX_NAME = 128  # characters that are compared: the time is a product of both lengths, and strangers choose one


def closest(name: str, known: Iterable[str], *, cutoff: float = 0.6) -> str | None:
    """Return the known name that is most like `name`, or the one that it abbreviates, in any case; None where none is.

    Args:
        name: as it was written.
        known: the names that there are.
        cutoff: how alike the two must be, from 0 to 1.
    """
    word = name[:_MAX_NAME].lower()
    folded: dict[str, str] = {}
    for candidate in known:
        folded.setdefault(candidate.lower(), candidate)
    # Nothing is more alike than the characters that both have, in any order: that is counted faster.
    near = [one for one in folded if _ratio((Counter(one) & Counter(word)).total(), one, word) >= cutoff]
    nearest = max(((_ratio(_in_common(one, word), one, word), one) for one in near), default=None)
    if nearest is not None and nearest[0] >= cutoff:
        return folded[nearest[1]]
    longer = [one for one in folded if len(word) >= _LEAST_SHORT and one.startswith(word)]
    return folded[longer[0]] if len(longer) == 1 else None


def _ratio(shared: int, one: str, other: str) -> float:
    """Return how alike two words are that share so many characters, from 0 to 1."""
    return 2 * shared / (len(one) + len(other)) if one or other else 1.0


def _in_common(one: str, other: str) -> int:
    """Return how many characters the words share in the same order: their longest common piece, then what is beside it.

    Ratcliff and Metzener, "Pattern Matching: The Gestalt Approach". `difflib` measures the same (the tests hold both
    against each other), but its import takes as much memory as all other sentences about mistakes.
    """
    places: dict[str, list[int]] = {}
    for at, character in enumerate(other):
        places.setdefault(character, []).append(at)
    shared, pairs = 0, [(0, len(one), 0, len(other))]
    while pairs:
        start, end, other_start, other_end = pairs.pop()
        size, found, other_found = 0, start, other_start
        ending_before: dict[int, int] = {}  # sizes of the pieces that end before this character, by their last place
        for at in range(start, end):
            ending_here: dict[int, int] = {}
            for place in places.get(one[at], ()):
                if other_start <= place < other_end:
                    length = ending_here[place] = ending_before.get(place - 1, 0) + 1
                    if length > size:
                        size, found, other_found = length, at - length + 1, place - length + 1
            ending_before = ending_here
        if size:
            shared += size
            pairs += [(start, found, other_start, other_found)]
            pairs += [(found + size, end, other_found + size, other_end)]
    return shared


def did_you_mean(name: str, known: Iterable[str], *, cutoff: float = 0.6) -> str:
    """Return the end of a sentence that refuses `name`: `; did you mean 'close'?`, or nothing."""
    found = closest(name, known, cutoff=cutoff)
    return "" if found is None else f"; did you mean {found!r}?"


def wrongly_made(kind: type[Any], error: TypeError) -> TypeError:
    """Return the error of a Struct's constructor in words of ours, with the name of the class.

    Args:
        kind: the Struct.
        error: the decoder's; another one is returned as it is.
    """
    from .mistakes import noted

    text, name = str(error), kind.__name__
    if text.startswith("Unexpected keyword argument "):
        given = text.removeprefix("Unexpected keyword argument ").strip("'")
        return noted(TypeError(f"{name}: unknown option {given!r}{did_you_mean(given, kind.__struct_fields__)}"))
    if text.startswith("Missing required argument "):
        missing = text.removeprefix("Missing required argument ").strip("'")
        return noted(TypeError(f"{name}: {missing}= is missing; it is called as {name}({missing}=...)"))
    if text == "Extra positional arguments provided":
        known = ", ".join(f"{field}=..." for field in kind.__struct_fields__[:3])
        return noted(TypeError(f"{name}: an option has no name; write {name}({known})"))
    return error


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
