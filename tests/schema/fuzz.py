"""Random schemas of all keywords and values that nearly fit, judged by every engine and by another validator.

    python -m tests.schema.fuzz --minutes 60 [--seed N]

In: seeds, each of which makes one schema and its values. Out: where verdicts differ, one JSON object a line, and exit
code 1 where there are such. Schemas and values are a dozen or so levels deep, which the other validator's stack stands,
and a schema that applies to one value without end is refused by ours before the other one sees it.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any

import jsonschema_rs

from leanmcp import schema as json_schema
from leanmcp.schema import faults as say
from tests.support.schema_engines import compiled, interpreted, linear

from .fuzz_schemas import document
from .fuzz_values import Near

__all__ = ["EXPLAINED", "VALUES", "Near", "Tally", "document", "oracle", "run"]

VALUES = 25  # for each schema


def oracle(written: Any) -> Callable[[Any], bool]:
    """Return the verdict of the other validator."""
    verdict: Callable[[Any], bool] = jsonschema_rs.Draft202012Validator(written, offline=True).is_valid
    return verdict


def plain_anchors(written: Any) -> Any:
    """Return a schema without `$ref` to a dynamic anchor: a JSON pointer to the same place stands there instead."""
    goals = {"m": "/$defs/p", "n": "/$defs/q"}  # whether or not they are dynamic

    def rewritten(part: Any) -> Any:
        if isinstance(part, list):
            return [rewritten(inner) for inner in part]
        if not isinstance(part, dict):
            return part
        copy = {name: rewritten(inner) for name, inner in part.items()}
        if isinstance(target := part.get("$ref"), str):
            place, _, fragment = target.partition("#")
            copy["$ref"] = f"{place}#{goals.get(fragment, fragment)}"
        return copy

    return rewritten(written)


def without_dependencies(written: Any) -> Any:
    """Return a schema without the keyword that 2019-09 split in two; no member of a value has that name here."""
    if isinstance(written, list):
        return [without_dependencies(inner) for inner in written]
    if not isinstance(written, dict):
        return written
    return {name: without_dependencies(inner) for name, inner in written.items() if name != "dependencies"}


# What the other validator does otherwise: the clause, and the same schema said in another way, on which both agree.
EXPLAINED: dict[str, Callable[[Any], Any]] = {
    "core 6.5: `dependencies` is no keyword of 2020-12, and is ignored": without_dependencies,
    "core 8.2.2: `$dynamicAnchor` is a plain anchor for `$ref`": plain_anchors,
}


class Tally(Counter[str]):
    """How many schemas and values were judged, and what came of them."""

    def __init__(self) -> None:
        super().__init__()
        self.disagreements: list[dict[str, Any]] = []

    def judge(self, seed: int) -> None:
        """Judge the schema and the values of a seed."""
        random = Random(seed)
        written = document(random)
        try:
            engines = [compiled(written), interpreted(written), linear(written)]
            validator = json_schema.compile(written)
        except json_schema.SchemaError as error:
            self["refused"] += 1
            if "without end" not in str(error):
                self._differ(seed, written, "schema", str(error))
            return
        try:
            expected = oracle(written)
        except ValueError as error:
            return self._differ(seed, written, "schema", f"refused by the other one: {error}")
        self["schemas"] += 1
        near = Near(random, written)
        fitting = 0
        for _ in range(VALUES):
            value = near.value()
            verdict = expected(value)
            fitting += verdict
            self["values"] += 1
            found = validator.faults(value)
            verdicts = [engine(value) for engine in engines]
            if any(ours is not verdict for ours in (*verdicts, not found)):
                if len({*verdicts, not found}) == 1 and self._explained(written, value, verdicts[0]):
                    continue
                self._differ(seed, written, value, f"{verdict}, but {verdicts}, {[fault.message for fault in found]}")
            elif verdict:
                folded = validator.fold(json.loads(json.dumps(value)))
                if folded != value or not expected(folded):
                    self._differ(seed, written, value, f"folded to {folded}")
            self["too complex"] += any(fault.message == say.TOO_COMPLEX for fault in found)
        self["fitting"] += fitting
        self["mixed"] += 0 < fitting < VALUES

    def _explained(self, written: Any, value: Any, ours: bool) -> bool:
        """Tell whether the other validator agrees as soon as the schema avoids what it is known for."""
        for clause, said_otherwise in EXPLAINED.items():
            written = said_otherwise(written)
            if oracle(written)(value) is ours:
                self[clause] += 1
                return True
        return False

    def _differ(self, seed: int, written: Any, value: Any, what: str) -> None:
        self["disagreements"] += 1
        self.disagreements.append({"seed": seed, "what": what, "value": value, "schema": written})


def run(seeds: range) -> Tally:
    """Judge each seed."""
    tally = Tally()
    for seed in seeds:
        tally.judge(seed)
    return tally


def main() -> int:
    """Judge seed after seed until the time is over."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=1_000_000)
    options = parser.parse_args()
    begin = told = time.monotonic()
    tally, seed, shown = Tally(), options.seed, 0
    while time.monotonic() < begin + options.minutes * 60:
        tally.judge(seed)
        seed += 1
        for disagreement in tally.disagreements[shown:][:20]:
            print(json.dumps(disagreement), flush=True)
        shown = len(tally.disagreements)
        if time.monotonic() > told + 60:
            told = time.monotonic()
            print(f"after {told - begin:.0f} s, seed {seed}: {dict(tally)}", file=sys.stderr, flush=True)
    print(f"{time.monotonic() - begin:.0f} s, seeds {options.seed} to {seed - 1}: {dict(tally)}", file=sys.stderr)
    return 1 if tally.disagreements else 0


if __name__ == "__main__":
    sys.exit(main())
