"""How long a regular expression may take, told from its text alone.

In: a pattern in Python's syntax. Out: whether some texts take exponential time, and how long a text is tried at all.
The pattern becomes a Glushkov automaton: a position per character class, and the positions that may follow each, as
often as there are ways to get there. Two ways from one position back to itself over the same text is what backtracking
doubles with each round; a loop whose text another loop behind it takes as well costs one more power of the length
(Weideman et al. 2016, "Analyzing Matching Time Behavior of Backtracking Regular Expression Matchers"). Look-around is
a way that leads nowhere, and a back reference any text.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable, Iterator
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

from .ecma import LAST, Ranges, complement

__all__ = ["is_exponential", "longest_text"]

MAX_POSITIONS = 200  # a longer pattern is not analysed
MAX_STEPS = 10**8 + 1  # a second or so, and no root of it is rounded down
MAX_SEEN = 20_000  # states of one question; a pattern that has more is taken for slow
MAX_COPIES = 9  # `(ab){2,9}` is written out; more rounds count as any number
ANY: Ranges = ((0, LAST),)


@functools.lru_cache(maxsize=256)
def is_exponential(pattern: str) -> bool:
    """Return whether some text makes a backtracking matcher try twice as much with each character more."""
    automaton = _build(pattern)
    return automaton is not None and automaton.doubles()


@functools.lru_cache(maxsize=256)
def longest_text(pattern: str) -> int | None:
    """Return how many characters may be searched with about 10 ** 8 steps, None where the time is linear."""
    automaton = _build(pattern)
    degree = 2 if automaton is None else automaton.degree()
    return None if degree == 1 else int(MAX_STEPS ** (1 / degree))


def _build(pattern: str) -> _Automaton | None:
    automaton, tree = _Automaton(), parser.parse(pattern)
    try:
        first = automaton.read(tree)[0]
        if not tree or tree[0] != (codes.AT, codes.AT_BEGINNING):  # a search begins everywhere: any text comes first
            _, end, _ = automaton.loop(automaton.position(ANY), 1)
            automaton.connect(end, first)
    except _TooLong:
        return None
    return automaton


class _TooLong(Exception):
    """There are more positions than are looked at."""


Part = tuple[Counter[int], Counter[int], int]
"""Positions that may begin and end a part, as often as there are ways, and in how many ways it may be empty."""


class _Automaton:
    """The positions of a pattern, their characters and their followers."""

    def __init__(self) -> None:
        self.characters: list[Ranges] = []
        self.follow: list[Counter[int]] = []

    def read(self, items: Iterable[Any]) -> Part:
        """Read a sequence."""
        whole: Part = (Counter(), Counter(), 1)
        for code, argument in items:
            whole = self._join(whole, self._item(code, argument))
        return whole

    def _item(self, code: Any, argument: Any) -> Part:
        if code is codes.LITERAL:
            return self.position(((argument, argument),))
        if code is codes.NOT_LITERAL:
            return self.position(complement(((argument, argument),)))
        if code is codes.ANY:
            return self.position(ANY)
        if code is codes.IN:
            return self.position(_class(argument))
        if code is codes.BRANCH:
            return _either([self.read(branch) for branch in argument[1]])
        if code is codes.SUBPATTERN:
            return self.read(argument[3])
        if code in (codes.MAX_REPEAT, codes.MIN_REPEAT):
            return self._repeat(*argument)
        if code is codes.GROUPREF_EXISTS:
            return _either([self.read(branch) for branch in argument[1:] if branch is not None])
        if code is codes.GROUPREF:
            return self.loop(self.position(ANY), 1)
        if code in (codes.ASSERT, codes.ASSERT_NOT):  # tried in full, and then the text is read once more
            return self.read(argument[1])[0], Counter(), 1
        return Counter(), Counter(), 1  # an anchor

    def position(self, characters: Ranges) -> Part:
        if len(self.characters) >= MAX_POSITIONS:
            raise _TooLong
        here = len(self.characters)
        self.characters.append(characters)
        self.follow.append(Counter())
        return Counter({here: 1}), Counter({here: 1}), 0

    def _repeat(self, least: int, most: Any, body: Any) -> Part:
        if most is codes.MAXREPEAT or most > MAX_COPIES:
            return self.loop(self.read(body), int(least == 0))
        whole: Part = (Counter(), Counter(), 1)
        for number in range(most):
            first, last, empty = self.read(body)
            whole = self._join(whole, (first, last, empty + (number >= least)))
        return whole

    def loop(self, part: Part, optional: int) -> Part:
        first, last, empty = part
        self.connect(last, first)
        return first, last, empty + optional

    def _join(self, left: Part, right: Part) -> Part:
        self.connect(left[1], right[0])
        first, last = left[0] + _times(right[0], left[2]), right[1] + _times(left[1], right[2])
        return first, last, min(left[2] * right[2], 2)

    def connect(self, ends: Counter[int], starts: Counter[int]) -> None:
        for end, ways in ends.items():
            for start, more in starts.items():
                self.follow[end][start] = min(self.follow[end][start] + ways * more, 2)

    def degree(self) -> int:
        """Return the power of the length that a search may take, where it is not exponential."""
        loops = [start for start in range(len(self.follow)) if start in self._reach(start)]
        pairs = [
            (one, other)
            for one in loops
            for other in self._reach(one).intersection(loops)
            if one not in self._reach(other) and self._overlap(one, other)
        ]

        @functools.cache
        def chain(start: int) -> int:
            behind = (other for one, other in pairs if one == start or one in self._reach(start))
            return max((1 + chain(other) for other in behind), default=0)

        return 1 + max(map(chain, loops), default=0)

    def _overlap(self, one: int, other: int) -> bool:
        """Return whether some text leads from `one` to itself, from `one` to `other`, and from `other` to itself."""
        seen = {(one, one, other)}
        todo = list(seen)
        while todo and len(seen) < MAX_SEEN:
            for after in self._steps(*todo.pop(), one, other):
                if after == (one, other, other):
                    return True
                if after not in seen:
                    seen.add(after)
                    todo.append(after)
        return bool(todo)

    def _steps(self, a: int, b: int, c: int, one: int, other: int) -> Iterator[tuple[int, int, int]]:
        for left in self.follow[a]:
            if one in self._reach(left):
                for middle in self.follow[b]:
                    if other in self._reach(middle) and self._meet(left, middle):
                        for right in self.follow[c]:
                            if other in self._reach(right) and self._meet(left, right) and self._meet(middle, right):
                                yield left, middle, right

    def _meet(self, one: int, other: int) -> bool:
        return any(a <= d and c <= b for a, b in self.characters[one] for c, d in self.characters[other])

    def doubles(self) -> bool:
        """Return whether some position comes back to itself in two ways over one text."""
        return any(self._doubles_at(start) for start in range(len(self.follow)) if start in self._reach(start))

    @functools.cache  # noqa: B019 - an automaton lives as long as one question
    def _reach(self, start: int) -> frozenset[int]:
        seen: set[int] = set()
        todo = [start]
        while todo:
            for after in self.follow[todo.pop()]:
                if after not in seen:
                    seen.add(after)
                    todo.append(after)
        return frozenset(seen)

    def _doubles_at(self, start: int) -> bool:
        """Walk two copies at once from `start`; they have parted once they stand apart or took one of two ways."""
        begin = (start, start, False)
        seen = {begin}
        todo = [begin]
        while todo:
            one, other, parted = todo.pop()
            for left, ways in self.follow[one].items():
                for right in self.follow[other]:
                    if (left != right and not self._meet(left, right)) or start not in self._reach(left):
                        continue
                    after = (left, right, parted or left != right or (one == other and ways > 1))
                    if after == (start, start, True):
                        return True
                    if after not in seen:
                        seen.add(after)
                        todo.append(after)
        return False


def _times(ways: Counter[int], number: int) -> Counter[int]:
    return Counter({position: min(count * number, 2) for position, count in ways.items() if number})


def _either(parts: list[Part]) -> Part:
    first: Counter[int] = Counter()
    last: Counter[int] = Counter()
    for part in parts:
        first += part[0]
        last += part[1]
    return first, last, sum(part[2] for part in parts)


def _class(items: Any) -> Ranges:
    ranges: list[tuple[int, int]] = []
    negated = False
    for code, argument in items:
        if code is codes.NEGATE:
            negated = True
        elif code is codes.LITERAL:
            ranges.append((argument, argument))
        elif code is codes.RANGE:
            ranges.append(argument)
        else:  # a category, which our own translation never writes
            ranges.append((0, LAST))
    return complement(tuple(ranges)) if negated else tuple(ranges)
