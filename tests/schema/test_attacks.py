"""Hostile schemas, values and texts: bounded time and memory, no code, no files, no network, and right verdicts.

Each runs in a process of its own, with bounds on CPU and memory that end it.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.processes import ROOT, environment

FIXTURES = Path(__file__).parents[1] / "fixtures"
REFUSED = {
    *("remote reference", "remote dynamic reference", "remote base", "remote dialect", "file reference"),
    *("remote reference in a definition", "named group of Python", "deep schema", "very deep schema", "deep const"),
    *("very deep const", "extremely deep const", "many properties", "very many properties", "many branches"),
    *("very many branches", "very many parts", "self reference", "mutual references", "long chain", "very long chain"),
    *("look ahead", "back reference", "nested counts", "long pattern", "huge number", "division by zero"),
    *("division by no number", "division by infinity", "infinite bound", "not a number", "large schema"),
}
REFUSED_OF_STRANGERS = {"nested properties", "several properties", "exponential height", "look ahead, quick"}
TOO_LONG = {"exponential allOf", "exponential anyOf", "exponential oneOf", "exponential height", "recursive oneOf"}
INVALID = {
    *("names by case", "names by sign", "names by accent", "digits of others", "nested not", "nested anyOf"),
    *("several properties", "nested quantifiers", "overlapping branches", "counted loops", "look ahead, quick"),
    *("trailing space", "no number as a value", "infinity as a value", "huge digits"),
}
VALID = {
    *("names by case, other way", "names by sign, other way", "names by accent, other way", "reference in const"),
    *("reference in enum", "reference in default", "reference in examples", "reference in an unknown word"),
    *("content is left alone", "letters of others", "line end behind the end", "dollar in a class", "named group"),
    *("nested items", "nested properties", "many references", "deep value", "deep union value", "huge value"),
    *("tiny divisor", "colliding hashes", "colliding hashes in objects", "unique objects", "wide value"),
    "dynamic scopes",
}


def lines_of(script: str, profile: str) -> list[str]:
    """Run a fixture without a measurement of its own, and return what it printed."""
    variables = {name: value for name, value in environment().items() if not name.startswith("COVERAGE_")}
    done = subprocess.run(
        [sys.executable, str(FIXTURES / script), profile],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
        env=variables,
        cwd=ROOT,
    )
    assert done.returncode == 0, f"ended with {done.returncode} at {done.stdout[-300:]!r}: {done.stderr[-2000:]}"
    return done.stdout.splitlines()


@pytest.mark.parametrize("profile", ["trusted", "untrusted"])
def test_no_schema_and_no_value_hangs_crashes_or_fools_the_check(profile: str) -> None:
    """Spec: basic/index, "Composition-Keyword Resource Use"; SCHEMA, attack matrix."""
    by_outcome: dict[str, set[str]] = {}
    for line in lines_of("hostile_schemas.py", profile):
        name, outcome = line.split("\t")
        by_outcome.setdefault(outcome, set()).add(name)
    strangers = REFUSED_OF_STRANGERS if profile == "untrusted" else set()
    assert by_outcome == {
        "refused": REFUSED | strangers,
        "steps": TOO_LONG - strangers,
        "invalid": INVALID - strangers,
        "valid": VALID - strangers,
    }


@pytest.mark.parametrize("profile", ["trusted", "untrusted"])
def test_no_text_of_a_schema_is_anything_but_data(profile: str) -> None:
    """Ours: hostile texts in every position, with a canary, and the interpreter's audit events watched."""
    *told, last = lines_of("hostile_texts.py", profile)
    assert not told
    done, texts, schemas, verdicts = last.split()
    assert done == "done"
    assert int(texts) >= 52
    assert int(schemas) >= 2_000
    assert int(verdicts) >= 7_000
