"""Which engine matches a pattern: `re` where its time is known, the linear matcher everywhere else.

In: a pattern and a profile. Out: a `Matcher`. A pattern of the trusted profile is tried by `re` on texts for which that
takes about as many steps as they have characters; longer texts, and patterns that can take exponential time, go to the
linear matcher. Where there is none, because of look-around, the length of a text is bounded instead.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from . import ecma
from .ir import Matcher, Spend
from .linear import NotLinear, compile_linear
from .profiles import Profile

__all__ = ["matcher"]

SHORT = 256  # characters on which a quadratic search takes less than the linear one needs to begin
ENDLESS = 1 << 62  # steps
Search = Callable[[str, Spend], bool]


def matcher(pattern: str, profile: Profile) -> Matcher:
    """Return how a pattern is matched.

    Raises:
        ValueError: no ECMA-262 pattern, or one that takes too long or too much memory.
    """
    if len(pattern) > profile.max_pattern:
        raise ValueError(f"it has over {profile.max_pattern} characters")
    part = ecma.parse(pattern)
    if not profile.backtracking:
        return Matcher(pattern, compile_linear(part, profile.max_states))
    source = ecma.python_source(part)
    try:
        compiled = re.compile(source)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"pattern {pattern!r} cannot be said in Python: {error}") from None
    find, search = compiled.search, _by_re(compiled)
    if not any(sign in source for sign in "*+{"):
        return Matcher(pattern, search, find=find)
    from .ambiguity import is_exponential, longest_text

    exponential = is_exponential(source)
    longest = longest_text(source)
    if longest is None and not exponential:
        return Matcher(pattern, search, find=find)
    try:
        linear = compile_linear(part, profile.max_states)
    except NotLinear as error:
        if exponential:
            raise ValueError(
                f"pattern {pattern!r} can match one text in so many ways that a sender could stop "
                f"the server, and {error}"
            ) from None
        return Matcher(pattern, _by_re(compiled, longest), longest, find, longest)
    if exponential:
        return Matcher(pattern, linear)
    return Matcher(pattern, _by_length(search, linear), None, find, SHORT)


def _by_re(compiled: re.Pattern[str], longest: int | None = None) -> Search:
    find = compiled.search

    def search(text: str, spend: Spend) -> bool:
        # The name of a member may be longer than a text that is tried; there is no other answer to it.
        spend(len(text) // SHORT if longest is None or len(text) <= longest else ENDLESS)
        return find(text) is not None

    return search


def _by_length(short: Search, long: Search) -> Search:
    def search(text: str, spend: Spend) -> bool:
        return short(text, spend) if len(text) <= SHORT else long(text, spend)

    return search
