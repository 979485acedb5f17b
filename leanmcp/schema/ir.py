"""A schema as it is enforced: references followed, dialects and dynamic scopes gone.

In: nothing; these are records that `compiler` fills. Out: read by every back end.
JSON Schema 2020-12: core 7.7 "Keyword Behavior", 10 and 11 (applicators); validation 6 (assertions).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from .values import KINDS

if TYPE_CHECKING:
    from fractions import Fraction

__all__ = ["ALL_KINDS", "Choice", "Matcher", "Node", "Spend", "choice_of", "in_place"]

ALL_KINDS = frozenset(KINDS.values())
Spend = Callable[[int], None]
"""Takes steps from the budget of a check."""


class Matcher(Struct, frozen=True, eq=False):
    """A pattern.

    Args:
        source: as written.
        search: tells whether it matches somewhere in a text, and spends steps.
        longest: how many characters it is tried on, None for any number.
        find: the same without steps, None where it cannot be had; true for texts up to `short` characters, None for
            every text.
    """

    source: str
    search: Callable[[str, Spend], bool]
    longest: int | None = None
    find: Callable[[str], object] | None = None
    short: int | None = None


class Choice(Struct, frozen=True, eq=False):
    """The values of an enum or a const; `texts` are the strings among them, `others` the rest."""

    values: tuple[Any, ...]
    texts: frozenset[str]
    others: tuple[Any, ...]


def choice_of(values: tuple[Any, ...]) -> Choice:
    """Return the choice of some values, sorted."""
    texts = frozenset(value for value in values if isinstance(value, str))
    return Choice(values, texts, tuple(value for value in values if not isinstance(value, str)))


class Node(Struct, eq=False):
    """One subschema, or one for each dynamic scope that it is used in; what is empty or None is not asked for.

    Args:
        place: JSON pointer.
        verdict: True where everything fits, False where nothing does, None where there is something to check.
        kinds: kinds of value allowed by `type`; a number without a fraction is an "integer", every other a "number".
        names: the types as written.
        numbers: limits by name, in the order of the schema: gt, ge, lt, le, multiple_of.
        prefix, rest: for the first items of an array, and for those behind them.
        contains_marks: the items that `contains` takes count as evaluated (2020-12).
        same: what `$ref`, `$dynamicRef` and `$recursiveRef` name.
        unevaluated_names, unevaluated_items: for what no other subschema has looked at.
        admits: kinds that everything together lets through.
        whole: of the numbers, only integers fit.
        marks: it may evaluate names or items for an `unevaluated*` further out.
        leaf: it has no subschemas.
        cost: steps of one visit.
        title: of the schema, for messages about branches.
    """

    place: str
    verdict: bool | None = None
    kinds: frozenset[str] | None = None
    names: tuple[str, ...] = ()
    choices: tuple[Choice, ...] = ()
    numbers: tuple[tuple[str, Any, int | Fraction], ...] = ()
    min_length: int | None = None
    max_length: int | None = None
    pattern: Matcher | None = None
    min_items: int | None = None
    max_items: int | None = None
    unique: bool = False
    min_members: int | None = None
    max_members: int | None = None
    required: tuple[str, ...] = ()
    required_with: tuple[tuple[str, tuple[str, ...]], ...] = ()
    properties: dict[str, Node] = field(default_factory=dict)
    patterns: tuple[tuple[Matcher, Node], ...] = ()
    additional: Node | None = None
    member_names: Node | None = None
    dependent: tuple[tuple[str, Node], ...] = ()
    prefix: tuple[Node, ...] = ()
    rest: Node | None = None
    contains: Node | None = None
    min_contains: int = 1
    max_contains: int | None = None
    contains_marks: bool = False
    same: tuple[Node, ...] = ()
    all_of: tuple[Node, ...] = ()
    any_of: tuple[Node, ...] = ()
    one_of: tuple[Node, ...] = ()
    negated: Node | None = None
    condition: Node | None = None
    then: Node | None = None
    otherwise: Node | None = None
    unevaluated_names: Node | None = None
    unevaluated_items: Node | None = None
    title: str = ""
    admits: frozenset[str] = ALL_KINDS
    whole: bool = False
    marks: bool = False
    leaf: bool = True
    has_texts: bool = False
    has_items: bool = False
    has_members: bool = False
    in_place: bool = False
    cost: int = 1

    def branches(self) -> Iterator[Node]:
        """Yield what applies to the same value and may fail without harm."""
        yield from self.any_of
        yield from self.one_of
        for node in (self.negated, self.condition):
            if node is not None:
                yield node


def in_place(node: Node) -> Iterator[Node]:
    """Yield what applies to the same value as a node."""
    yield from node.same
    yield from node.all_of
    yield from node.branches()
    for _, inner in node.dependent:
        yield inner
    for branch in (node.then, node.otherwise):
        if branch is not None:
            yield branch
