"""ECMA-262 regular expressions, as JSON Schema means them, in the syntax of Python's `re`.

In: the text of a `pattern` keyword. Out: text for `re.search` that matches no more than the pattern does in ECMA-262.
JSON Schema 2020-12: validation 6.3.3 `pattern`; core 6.4 "Regular Expressions".
"""

from __future__ import annotations

from .ecma import parse, python_source

__all__ = ["longest_text", "python_pattern"]


def python_pattern(pattern: str) -> str:
    r"""Return `pattern` for `re.search`: `$` ends the text, `\d` and `\w` are ASCII, `.` stops at every line end.

    Raises:
        ValueError: the pattern is no ECMA-262 pattern, uses a part of it that cannot be said in Python, or takes
            exponential time on some texts.
    """
    import re

    translated = python_source(parse(pattern))
    try:
        re.compile(translated)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"pattern {pattern!r} is not a valid regular expression: {error}") from None
    if any(sign in translated for sign in (")*", ")+", "){")):  # nothing else can double the work with each character
        from .ambiguity import is_exponential

        if is_exponential(translated):
            raise ValueError(
                f"pattern {pattern!r} can match one text in so many ways that a sender could stop the server; "
                "let each repeated part begin or end with a character that no other part takes"
            )
    return translated


def longest_text(pattern: str) -> int | None:
    """Return how many characters an ECMA-262 pattern is tried on, None for any number: 10,000 where it is quadratic."""
    from . import ambiguity

    return ambiguity.longest_text(python_pattern(pattern))
