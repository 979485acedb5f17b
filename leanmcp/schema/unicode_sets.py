r"""The sets of characters behind `\p{...}`.

In: the name of a general category, long or short, or of a property that Python's Unicode data has. Out: its ranges.
ECMA-262 22.2.1 "UnicodePropertyValueExpression". Scripts are not in Python's data.
"""

from __future__ import annotations

import functools
import unicodedata
from itertools import groupby

from .ecma import LAST, Ranges, complement

__all__ = ["property_ranges"]

LONG = {
    "Letter": "L",
    "Cased_Letter": "LC",
    "Uppercase_Letter": "Lu",
    "Lowercase_Letter": "Ll",
    "Titlecase_Letter": "Lt",
    "Modifier_Letter": "Lm",
    "Other_Letter": "Lo",
    "Mark": "M",
    "Combining_Mark": "M",
    "Nonspacing_Mark": "Mn",
    "Spacing_Mark": "Mc",
    "Enclosing_Mark": "Me",
    "Number": "N",
    "Decimal_Number": "Nd",
    "digit": "Nd",
    "Letter_Number": "Nl",
    "Other_Number": "No",
    "Punctuation": "P",
    "punct": "P",
    "Connector_Punctuation": "Pc",
    "Dash_Punctuation": "Pd",
    "Open_Punctuation": "Ps",
    "Close_Punctuation": "Pe",
    "Initial_Punctuation": "Pi",
    "Final_Punctuation": "Pf",
    "Other_Punctuation": "Po",
    "Symbol": "S",
    "Math_Symbol": "Sm",
    "Currency_Symbol": "Sc",
    "Modifier_Symbol": "Sk",
    "Other_Symbol": "So",
    "Separator": "Z",
    "Space_Separator": "Zs",
    "Line_Separator": "Zl",
    "Paragraph_Separator": "Zp",
    "Other": "C",
    "Control": "Cc",
    "cntrl": "Cc",
    "Format": "Cf",
    "Surrogate": "Cs",
    "Private_Use": "Co",
    "Unassigned": "Cn",
}
CASED = ("Lu", "Ll", "Lt")
PLAIN: dict[str, Ranges] = {
    "Any": ((0, LAST),),
    "ASCII": ((0, 0x7F),),
    "ASCII_Hex_Digit": ((0x30, 0x39), (0x41, 0x46), (0x61, 0x66)),
}


@functools.lru_cache(maxsize=64)
def property_ranges(name: str) -> Ranges:
    """Return the characters that have a property.

    Raises:
        KeyError: no such property, or none that can be told.
    """
    if name in PLAIN:
        return PLAIN[name]
    if name == "Assigned":
        return complement(tuple(_categories()["Cn"]))
    for prefix in ("General_Category=", "gc="):
        name = name.removeprefix(prefix)
    short = LONG.get(name, name)
    categories = _categories()
    wanted = (
        CASED if short == "LC" else [key for key in categories if key == short or (len(short) == 1 and key[0] == short)]
    )
    if not wanted:
        raise KeyError(name)
    return complement(complement(tuple(part for key in wanted for part in categories[key])))


@functools.cache
def _categories() -> dict[str, list[tuple[int, int]]]:
    """Return the ranges of each general category; one look at every character, about 0.15 s."""
    found: dict[str, list[tuple[int, int]]] = {}
    at = 0
    for category, run in groupby(map(unicodedata.category, map(chr, range(LAST + 1)))):
        length = sum(1 for _ in run)
        found.setdefault(category, []).append((at, at + length - 1))
        at += length
    return found
