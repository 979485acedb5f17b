"""The linear matcher: the same answers as `re`, in time that grows with the text."""

from __future__ import annotations

import random
import re
import time

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from leanmcp.schema.ecma import parse, python_source
from leanmcp.schema.linear import MAX_KEPT, NotLinear, compile_linear

ATOMS = st.sampled_from(["a", "b", ".", "^", "$", r"\b", r"\B", r"\d", r"\W", "[ab]", "[^a]", "[]", "[^]", "é", r"\n"])
QUANTIFIERS = st.sampled_from(["*", "+", "?", "{2}", "{0,2}", "{1,}", "*?", "{0}"])


def quantified(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Return patterns with more around `inner` ones."""
    return (
        st.tuples(inner, inner).map("".join)
        | st.tuples(inner, inner).map(lambda pair: f"({pair[0]}|{pair[1]})")
        | st.tuples(inner, QUANTIFIERS).map(lambda pair: f"(?:{pair[0]}){pair[1]}")
    )


PATTERNS = st.recursive(ATOMS, quantified, max_leaves=8)
TEXTS = st.text(alphabet="ab1 é\n_-", max_size=8)


@settings(max_examples=1500, deadline=None, derandomize=True)
@given(PATTERNS, st.lists(TEXTS, min_size=1, max_size=6))
def test_answers_are_those_of_re(pattern: str, texts: list[str]) -> None:
    """Ours: property, `re` as oracle."""
    tree = parse(pattern)
    expected = re.compile(python_source(tree)).search
    try:
        search = compile_linear(tree, 2000)
    except NotLinear:
        assume(False)
    for text in texts:
        assert search(text, lambda steps: None) is (expected(text) is not None), (pattern, text)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"^(a+)+$", "a" * 100_000 + "b"),
        (r"^(a|a)*$", "a" * 100_000 + "b"),
        (r"^(.*a){12}$", "a" * 50_000 + "b"),
        (r"\s+$", " " * 100_000 + "b"),
        (r"^(([a-z])+.)+[A-Z]([a-z])+$", "a" * 100_000),
    ],
)
def test_time_grows_with_the_text_alone(pattern: str, text: str) -> None:
    """Ours: what hangs a backtracking matcher is over in a moment."""
    search = compile_linear(parse(pattern), 500)
    begin = time.process_time()
    assert not search(text, lambda steps: None)
    assert time.process_time() - begin < 3


@pytest.mark.parametrize("pattern", ["((a{0,99}){0,99}){0,99}", "(?:a{500}){500}", "a{2000}", "(?=a)b", r"(a)\1"])
def test_a_pattern_without_a_small_automaton_is_refused(pattern: str) -> None:
    """Ours: the size is found out without building it."""
    with pytest.raises(NotLinear):
        compile_linear(parse(pattern), 1000)


def test_steps_are_spent_and_what_is_kept_is_bounded() -> None:
    """Ours: a pattern with many sets of states pays for each of them."""
    spent: list[int] = []
    search = compile_linear(parse("(?:a|b)*a(?:a|b){12}c"), 500)
    text = "".join(random.Random(7).choices("ab", k=40_000))
    assert not search(text, spent.append)
    assert sum(spent) > 40_000
    automaton = search.__self__  # type: ignore[attr-defined]
    assert automaton._kept <= MAX_KEPT
