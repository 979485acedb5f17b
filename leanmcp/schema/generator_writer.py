"""The body of the function that checks one subschema, and what is written in place of a call of it.

In: nodes. Out: lines of Python that return False where a value does not fit, and go on where it does.
A node that nothing else uses is written where it applies, unless lines get too deep for Python.
JSON Schema 2020-12: core 10 "Applying Subschemas", 11 "Unevaluated Locations".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from .generator_items import items, unevaluated_items
from .generator_members import members, unevaluated_names
from .generator_plain import Constants, Kinds, all_of, plain
from .generator_plan import HEAVY, Plan, evaluated_items, evaluated_names
from .generator_unions import in_place, merged, one_of_is_any_of
from .ir import ALL_KINDS, Node

__all__ = ["Writer"]

MAX_INDENT = 14  # Python takes 100, but only 20 loops and the like inside each other
MAX_INLINE = 24  # nodes written inside each other
MAX_TEXT = 600  # characters of an expression that is written wherever a node is used
MAX_PARTS = 6  # unions inside each other in one expression
CHARGED = 16  # nodes written into one function for each step that it costs
NO_KINDS: Kinds = frozenset()
OBJECT: Kinds = frozenset(("object",))
ARRAY: Kinds = frozenset(("array",))


class Writer:
    """Writes functions, one after the other.

    Args:
        code: where lines go.
        function: returns the name of the function of a node; True for the one that takes a set `s` for what it
            evaluates.
    """

    def __init__(self, plan: Plan, code: list[str], function: Callable[[Node, bool], str]) -> None:
        self.plan = plan
        self.constants = Constants()
        self._code = code
        self._function = function
        self._indent = 0
        self._inline = 0
        self._variables = 0
        self._cost = 0
        self.counted = False
        self.tail: list[str] = []
        self._shared: dict[str, str] = {}

    # Lines ----------------------------------------------------------------------------------------------------------

    def line(self, text: str) -> None:
        self._code.append("    " * self._indent + text)

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """Indent what is written inside; a block that stays empty does nothing."""
        self.line(head)
        length = len(self._code)
        self._indent += 1
        yield
        if len(self._code) == length:
            self.line("pass")
        self._indent -= 1

    def variable(self) -> str:
        self._variables += 1
        return f"v{self._variables}"

    def constant(self, value: object) -> str:
        return self.constants.add(value)

    def demand(self, condition: str) -> None:
        """Write that a value does not fit where a condition is not met."""
        if condition == "True":
            return
        if condition == "False":
            self.line("return False")
        elif " and " in condition or " or " in condition or " if " in condition or condition.count(" is ") != 1:
            self.line(f"if not ({condition}): return False")
        else:
            negated = condition.replace(" is not ", " is ") if " is not " in condition else None
            self.line(f"if {negated or condition.replace(' is ', ' is not ')}: return False")

    def charge(self, x: str, *inner: Node) -> None:
        """Write that a walk over a value costs steps, with `inner` to be checked in each round."""
        if self.counted:
            self.line(f"r.spend(len({x}))")
        elif any(self.plan.paths[id(node)] > HEAVY for node in inner):
            weight = sum(self.plan.paths[id(node)] for node in inner) // CHARGED
            self.line(f"r.spend(len({x}) * {self.constant(weight)})")

    # Functions ------------------------------------------------------------------------------------------------------

    def function(self, name: str, node: Node, marking: bool) -> None:
        """Write the function of a node."""
        self.counted = id(node) in self.plan.counted
        self._indent = self._inline = self._variables = self._cost = 0
        with self.block(f"def {name}({self._parameters(node, 'x', 's' if marking else None)}):"):
            at = len(self._code)
            expression = None if marking else self.expression(node, "x", None, own=True)
            if expression is not None:
                self.line(f"return {expression}")
            else:
                self._body(node, "x", None, "s" if marking else None)
                self.line("return True")
            if self.counted:
                cost = 1 + self._cost // CHARGED
                self._code[at:at] = [f"    r.steps -= {cost}", "    if r.steps < 0: r.spend(0)"]

    def _parameters(self, node: Node, x: str, seen: str | None) -> str:
        spends = ["r"] if id(node) in self.plan.spending else []
        return ", ".join([x, *spends, *([seen] if seen is not None else [])])

    def call(self, node: Node, x: str, seen: str | None) -> str:
        """Return the call of the function of a node."""
        return f"{self._function(node, seen is not None)}({self._parameters(node, x, seen)})"

    def table(self, properties: dict[str, Node], apart: Iterable[str]) -> str:
        """Return the name of a table of functions by the names of members, True where there is nothing to check."""
        table = self.constant(dict.fromkeys((*properties, *apart), True))
        for name, inner in properties.items():
            if inner.verdict is not True:
                self.tail.append(f"{table}[{self.constant(name)}] = {self._checker(inner)}")
        return table

    def _checker(self, node: Node) -> str:
        """Return the name of the function of a node, the same one for all that ask the same of a value itself."""
        cost = self._cost
        expression = self.expression(node, "x", None) if node.leaf else None
        self._cost = cost
        if expression is None:
            return self._function(node, False)
        if expression not in self._shared:
            self._shared[expression] = f"g{len(self._shared)}"
            self.tail += [f"def {self._shared[expression]}(x):", f"    return {expression}"]
        return self._shared[expression]

    # Expressions ----------------------------------------------------------------------------------------------------

    def fits(self, node: Node, x: str, known: Kinds = None, seen: str | None = None) -> str:
        """Return an expression that is True where a value fits: the conditions themselves, or a call."""
        if seen is not None and node.marks:
            return self.call(node, x, seen)
        expression = self.expression(node, x, known)
        return self.call(node, x, None) if expression is None else expression

    def expression(self, node: Node, x: str, known: Kinds, parts: int = 0, *, own: bool = False) -> str | None:
        """Return the conditions of a node that needs no statements, None where it does or where they get long.

        Args:
            own: this is the function of the node.
        """
        if node.has_members or node.has_items or node.condition is not None or node.dependent or parts > MAX_PARTS:
            return None
        if node.unevaluated_names is not None or node.unevaluated_items is not None:
            return None
        if not node.leaf and not own and self.plan.uses[id(node)] > 1:
            return None
        cost, self._cost = self._cost, self._cost + node.cost
        found = plain(node, x, known, self.constants, counted=self.counted)
        conditions: list[str | None] = [*found.conditions]
        if node.in_place:
            conditions += self._parts(node, x, found.kinds, parts + 1)
        if None not in conditions:
            text = all_of([condition for condition in conditions if condition is not None])
            if len(text) <= MAX_TEXT or own or (node.leaf and self.plan.uses.get(id(node), 2) == 1):
                return text
        self._cost = cost
        return None

    def _parts(self, node: Node, x: str, known: Kinds, parts: int) -> list[str | None]:
        """Return an expression, or None, for each of the subschemas in the same place."""
        found: list[str | None] = []
        if known is None and not _refuses_strangers(node):
            found.append(f"type({x}) in PLAIN")
        found += [self._part(inner, x, known, parts) for inner in (*node.same, *node.all_of)]
        if node.any_of:
            found.append(self._either(merged(node.any_of), x, known, parts))
        if node.one_of:
            simple = one_of_is_any_of(node.one_of)
            found.append(self._either(merged(node.one_of), x, known, parts) if simple else None)
        if node.negated is not None:
            negated = self._part(node.negated, x, known, parts)
            found.append(None if negated is None else f"not ({negated})")
        return found

    def _either(self, branches: list[Node], x: str, known: Kinds, parts: int) -> str | None:
        found = [self._part(branch, x, known, parts) for branch in branches]
        texts = [f"({text})" if " and " in text else text for text in found if text is not None]
        return " or ".join(texts) if len(texts) == len(found) else None

    def _part(self, node: Node, x: str, known: Kinds, parts: int) -> str | None:
        text = self.expression(node, x, known, parts)
        return self.call(node, x, None) if text is None else text

    # Statements -----------------------------------------------------------------------------------------------------

    def check(self, node: Node, x: str, known: Kinds = None, seen: str | None = None) -> None:
        """Write the check of a value against a node."""
        seen = seen if node.marks else None
        text = self.expression(node, x, known) if seen is None else None
        if text is not None:
            self.demand(text)
        elif self.plan.uses[id(node)] > 1 or self._indent > MAX_INDENT or self._inline > MAX_INLINE:
            self.demand(self.call(node, x, seen))
        else:
            self._inline += 1
            self._body(node, x, known, seen)
            self._inline -= 1

    def _body(self, node: Node, x: str, known: Kinds, seen: str | None) -> None:
        self._cost += node.cost
        found = plain(node, x, known, self.constants, counted=self.counted)
        for condition in found.conditions:
            self.demand(condition)
        known = found.kinds
        if known == NO_KINDS:
            return
        own = self._own(node, seen)
        known = self._below(node, x, known, own)
        if node.in_place:
            in_place(self, node, x, known, own)
        if node.unevaluated_names is not None or node.unevaluated_items is not None:
            self._unevaluated(node, x, known, own, seen)

    def _own(self, node: Node, seen: str | None) -> str | None:
        """Return the set for what a node evaluates; None where nobody asks, or where it is known beforehand."""
        names, items = node.unevaluated_names, node.unevaluated_items
        if names is None and items is None:
            return seen
        known = names is None or evaluated_names(node) is not None
        if seen is None and known and (items is None or evaluated_items(node) is not None):
            return None
        own = self.variable()
        self.line(f"{own} = set()")
        return own

    def _below(self, node: Node, x: str, known: Kinds, seen: str | None) -> Kinds:
        """Write the checks of members and items, and that nothing else but JSON is let through; return what is left."""
        possible = ALL_KINDS if known is None else known
        with_members = node.has_members and "object" in possible
        with_items = node.has_items and "array" in possible
        if with_members and known == OBJECT:
            members(self, node, x, seen)
        elif with_members:
            with self.block(f"if type({x}) is dict:"):
                members(self, node, x, seen)
        if with_items and known == ARRAY:
            items(self, node, x, seen)
        elif with_items:
            with self.block(f"{'elif' if with_members else 'if'} type({x}) is list:"):
                items(self, node, x, seen)
        if known is None and _refuses_strangers(node):
            return None
        if known is None:
            self.line(f"{'elif' if with_members or with_items else 'if'} type({x}) not in PLAIN: return False")
        return possible

    def _unevaluated(self, node: Node, x: str, known: Kinds, own: str | None, seen: str | None) -> None:
        possible = ALL_KINDS if known is None else known
        if node.unevaluated_names is not None and "object" in possible:
            with self.block(f"if type({x}) is dict:"):
                unevaluated_names(self, node, node.unevaluated_names, x, own, seen)
        if node.unevaluated_items is not None and "array" in possible:
            with self.block(f"if type({x}) is list:"):
                unevaluated_items(self, node, node.unevaluated_items, x, own, seen)
        if seen is not None:
            self.line(f"{seen} |= {own}")


def _refuses_strangers(node: Node) -> bool:
    """True where a subschema in the same place refuses what is no JSON; all do but the one that takes everything."""
    certain = any(inner.verdict is not True for inner in (*node.same, *node.all_of))
    return certain or any(
        branches and all(branch.verdict is not True for branch in branches) for branches in (node.any_of, node.one_of)
    )
