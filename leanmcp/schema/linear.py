r"""A matcher whose time grows with the text alone, whatever the pattern.

In: a pattern as a tree (`ecma.parse`). Out: whether it matches somewhere in a text. Look-around and back references
cannot be had; `^`, `$` and `\b` can. The pattern becomes a non-deterministic automaton (Thompson 1968), whose sets of
states are worked out as texts need them and kept, up to a number of transitions.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable

from msgspec import Struct

from .ecma import WORD, Part

__all__ = ["NotLinear", "compile_linear"]

MAX_KEPT = 20_000  # transitions, a hundred bytes each
CHARACTERS_PER_STEP = 64
START, WORDLY, OTHER, END = range(4)  # what stands before or behind a place in the text


class NotLinear(ValueError):
    """The pattern has no automaton, or too large a one."""


class _Move(Struct, eq=False):
    """A state of the automaton: takes a character where it has bounds, or leads on under a condition.

    Args:
        bounds: where the characters taken begin and end, in turn; None for a state that takes none.
        edge: "start", "end", "edge" or "no edge" for a state that leads on only there.
        after: states behind it; none for the last one.
    """

    bounds: tuple[int, ...] | None = None
    edge: str = ""
    after: tuple[int, ...] = ()


class _Known(dict[str, "_Known"]):
    """A set of states behind a character of some kind, with the sets that it turns into."""

    __slots__ = ("before", "states")

    def __init__(self, states: frozenset[int], before: int) -> None:
        super().__init__()
        self.states = states
        self.before = before


MATCH = _Known(frozenset(), OTHER)
Spend = Callable[[int], None]


def compile_linear(pattern: Part, max_states: int) -> Callable[[str, Spend], bool]:
    """Return the search for a pattern; it spends steps.

    Raises:
        NotLinear: look-around, a back reference, or over `max_states` states.
    """
    builder = _Builder(max_states)
    end = builder.add(_Move())
    start = builder.build(pattern, end)
    return _Automaton(builder.moves, start, anchored=_is_anchored(pattern)).search


def _is_anchored(part: Part) -> bool:
    """True for a pattern that can match at the start of a text only."""
    if part.kind == "either":
        return all(map(_is_anchored, part.parts))
    if part.kind in ("sequence", "group"):
        return bool(part.parts) and _is_anchored(part.parts[0])
    return part.kind == "start"


class _Builder:
    """Writes the automaton from its end to its start."""

    def __init__(self, max_states: int) -> None:
        self.moves: list[_Move] = []
        self.max_states = max_states

    def add(self, move: _Move) -> int:
        if len(self.moves) >= self.max_states:
            raise NotLinear(f"it needs over {self.max_states} states")
        self.moves.append(move)
        return len(self.moves) - 1

    def build(self, part: Part, after: int) -> int:
        """Return the state at which a part begins that goes on at `after`."""
        if part.kind == "set":
            bounds = tuple(edge for low, high in part.ranges for edge in (low, high + 1))
            return self.add(_Move(bounds=bounds, after=(after,)))
        if part.kind == "either":
            return self.add(_Move(after=tuple(self.build(branch, after) for branch in part.parts)))
        if part.kind == "repeat":
            return self.repeat(part, after)
        if part.kind in ("sequence", "group"):
            for piece in reversed(part.parts):
                after = self.build(piece, after)
            return after
        if part.kind in ("start", "end", "edge"):
            return self.add(_Move(edge=f"no {part.kind}" if part.negated else part.kind, after=(after,)))
        raise NotLinear("look-around and back references take time that nobody can bound")

    def repeat(self, part: Part, after: int) -> int:
        body = part.parts[0]
        if part.most is None:
            loop = self.add(_Move())
            self.moves[loop].after = (self.build(body, loop), after)
            here = loop
        else:
            here = after
            for _ in range(part.most - part.least):
                here = self.add(_Move(after=(self.build(body, here), after)))
        for _ in range(part.least):
            before = here
            here = self.build(body, before)
            if here == before:  # the body is empty: more rounds of it change nothing
                break
        return here


class _Automaton:
    """An automaton with the sets of states that texts have led to so far."""

    def __init__(self, moves: list[_Move], start: int, *, anchored: bool) -> None:
        self._moves = moves
        self._again = frozenset[int]() if anchored else frozenset((start,))
        self._begin = frozenset((start,))
        self._known: dict[tuple[frozenset[int], int], _Known] = {}
        self._kept = 0

    def search(self, text: str, spend: Spend) -> bool:
        """Tell whether the pattern matches somewhere."""
        spend(len(text) // CHARACTERS_PER_STEP)
        here = self._set(self._begin, START)
        for character in text:
            following = here.get(character)
            if following is None:
                following = self._step(here, character, spend)
            if following is MATCH:
                return True
            if not following.states:
                return False
            here = following
        return (here.get("") or self._step(here, "", spend)) is MATCH

    def _set(self, states: frozenset[int], before: int) -> _Known:
        known = self._known.get((states, before))
        if known is None:
            known = self._known[states, before] = _Known(states, before)
        return known

    def _step(self, here: _Known, character: str, spend: Spend) -> _Known:
        """Work out one transition and keep it; "" stands for the end of the text."""
        code = ord(character) if character else -1
        behind = END if code < 0 else WORDLY if _holds(WORD_BOUNDS, code) else OTHER
        taking, matched, visited = self._closure(here.states, here.before, behind)
        spend(1 + visited)
        if matched:
            following = MATCH
        else:
            moves = (self._moves[state] for state in taking)
            reached = frozenset(move.after[0] for move in moves if _holds(move.bounds or (), code))
            following = self._set(reached | self._again, behind)
        self._kept += 1
        if self._kept > MAX_KEPT:
            self._known, self._kept = {}, 0
            here.clear()
        here[character] = following
        return following

    def _closure(self, states: frozenset[int], before: int, behind: int) -> tuple[list[int], bool, int]:
        """Return the states that take a character, whether the last one is reached, and how many were visited."""
        todo = list(states)
        seen = set(todo)
        taking: list[int] = []
        while todo:
            state = todo.pop()
            move = self._moves[state]
            if move.bounds is not None:
                taking.append(state)
            elif not move.after:
                return [], True, len(seen)
            elif not move.edge or _is_at(move.edge, before, behind):
                for after in move.after:
                    if after not in seen:
                        seen.add(after)
                        todo.append(after)
        return taking, False, len(seen)


def _is_at(edge: str, before: int, behind: int) -> bool:
    if edge == "start":
        return before == START
    if edge == "end":
        return behind == END
    return ((before == WORDLY) != (behind == WORDLY)) == (edge == "edge")


def _holds(bounds: tuple[int, ...], code: int) -> bool:
    return bisect_right(bounds, code) % 2 == 1


WORD_BOUNDS = tuple(edge for low, high in WORD for edge in (low, high + 1))
