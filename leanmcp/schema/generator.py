"""Nodes to Python code that gives a verdict, for schemas of one's own.

In: a root `Node`. Out: a function of a value that returns True or False, or raises `OutOfSteps`.
Functions are queued, named and assembled by fastjsonschema's generator; what stands in them is ours, because its own
keywords are not those of 2020-12. No text of a schema gets into the code. Nothing but this module knows fastjsonschema.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from fastjsonschema.generator import CodeGenerator  # type: ignore[import-untyped, unused-ignore]
from msgspec.structs import replace

from .assertions import Run
from .generator_plan import Plan, plan
from .generator_writer import Writer
from .ir import Node
from .profiles import Profile

__all__ = ["generate"]

Verdict = Callable[[Any], bool]


def generate(root: Node, profile: Profile) -> Verdict | None:
    """Return the verdict as code, None for a schema that is too large for it.

    The code raises RecursionError for a value that is nested too deeply; the interpreter is not.
    """
    known = plan(root, profile.max_generated)
    if known is None:
        return None
    generator = _Generator(root, known, profile)
    namespace = generator.global_state
    code = compile(generator.func_code, "<generated from a JSON Schema>", "exec", dont_inherit=True)
    exec(code, namespace)  # noqa: S102  our own text; what a schema says is in the namespace
    return cast(Verdict, namespace["verdict"])


class _Generator(CodeGenerator):  # type: ignore[misc, unused-ignore]
    """fastjsonschema's queue of functions and its code, with functions of ours; the same members since 2.16."""

    def __init__(self, root: Node, known: Plan, profile: Profile) -> None:
        super().__init__({})  # type: ignore[no-untyped-call, unused-ignore]
        self._needed_validation_functions.clear()
        self._nodes: dict[str, tuple[Node, bool]] = {}
        self._names: dict[str, str] = {}
        self._writer = Writer(known, self._code, self._function)
        self._start = self._function(root, False)
        self._spends = id(root) in known.spending
        self._profile = replace(profile, steps=profile.generated_steps)

    def _function(self, node: Node, marking: bool) -> str:
        """Return the name of the function of a node, which is written in its turn."""
        key = f"{'marking' if marking else 'verdict'} {id(node)}"
        if key not in self._names:
            self._nodes[key] = (node, marking)
            self._names[key] = self._needed_validation_functions[key] = f"f{len(self._names)}"
        return self._names[key]

    def generate_validation_function(self, uri: str, name: str) -> None:
        """Write one function."""
        self._validation_functions_done.add(uri)
        self._writer.function(name, *self._nodes[uri])

    def generate_func_code(self) -> None:
        """Write all functions, and the one that is called."""
        super().generate_func_code()  # type: ignore[no-untyped-call, unused-ignore]
        self._code += self._writer.tail
        if self._spends:
            self._code += ["def verdict(x):", f"    return {self._start}(x, Run(PROFILE, x))"]
        else:
            self._code.append(f"verdict = {self._start}")

    @property
    def global_state(self) -> dict[str, Any]:
        """What the code refers to."""
        return {**super().global_state, **self._writer.constants.values, "Run": Run, "PROFILE": self._profile}
