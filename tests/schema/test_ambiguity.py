"""Which regular expressions may take exponential time, told from their text, and held against the clock's proxy."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leanmcp.schema.ambiguity import is_exponential
from leanmcp.schema.patterns import longest_text, python_pattern

EXPONENTIAL = [
    r"^(a+)+$",
    r"(a*)*b",
    r"^(\w+\s?)*$",
    r"(a?a?)*c",
    r"^(([a-z])+.)+[A-Z]([a-z])+$",
    r"(x+x+)+y",
    r"^(?:a|b|ab)*c",
    r"(a|aa)+$",
    r"(a{1,3}){20}b",
    r"(\d+,?)+$",
    r"(?:[^x]|[a-f])*y",
    r"(a)(\1a|b*)*c",
    r"^(?=(a+)+$)b",
    r"^(?!(?:a|a)*c)a",
    r"^x(?<=(?:a|a){40}x)",
]
QUICK = [
    "",
    r"^\w\d$",
    r"\d{4}",
    r"^\d{4}-\d{2}-\d{2}$",
    r"^[\w.+-]+@[\w-]+(\.[\w-]+)+$",
    r"^(\.\d{1,3}){3}$",
    r"^((25[0-5]|2[0-4]\d|1?\d?\d)(\.|$)){4}",
    r"^#?([a-f0-9]{6}|[a-f0-9]{3})$",
    r"^[a-z0-9]+(?:-[a-z0-9]+)*$",
    r"^(\d+)(,\d+)*$",
    r"^(?:[a-z]{2}\d?){1,5}$",
    r"^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$",
    r"^(a|b)*$",
    r"^([a-z]+-)*[a-z]+$",
    r"^(?=.*\d)(?=.*[a-z])[a-z\d]{8,}$",
    r"^(?!x)(?:(?!--)[a-z-])+$",
]
SLOW = {
    r"a+b": 10_000,
    r"^a*a*$": 10_000,
    r"\S+@\S+": 464,
    r"^\s*(.*?)\s*$": 464,
    r"^a*a*a*a*$": 100,
    r"(a)\1*b": 10_000,
    r"^(?:a(?=a*b))*c": 10_000,
    r"(?=a*b)c": 10_000,
    r"^(?=a*a*a*b)c": 464,
    "(" + "ab?" * 150 + ")*": 10_000,  # too long to be looked at
}


@pytest.mark.parametrize("pattern", EXPONENTIAL)
def test_a_pattern_that_doubles_its_work_is_refused(pattern: str) -> None:
    """Ours: FIELD row 49, where the schema is made."""
    with pytest.raises(ValueError, match="in so many ways that a sender could stop the server"):
        python_pattern(pattern)


@pytest.mark.parametrize("pattern", QUICK)
def test_common_patterns_are_quick_on_every_text(pattern: str) -> None:
    """Ours: no limit of length for these."""
    assert longest_text(pattern) is None


@pytest.mark.parametrize(("pattern", "longest"), SLOW.items())
def test_the_longest_text_falls_with_the_power_of_the_time(pattern: str, longest: int) -> None:
    """Ours: about 10 ** 8 steps at most, whatever is sent."""
    assert python_pattern(pattern)
    assert longest_text(pattern) == longest


PARTS = st.recursive(
    st.sampled_from(["a", "b", "[ab]", ".", "a?", "b*", "a+", "b{0,2}"]),
    lambda inner: (
        st.tuples(inner, inner).map("".join)
        | st.tuples(inner, inner).map(lambda pair: f"(?:{pair[0]}|{pair[1]})")
        | st.tuples(inner, st.sampled_from("*+?")).map(lambda pair: f"(?:{pair[0]}){pair[1]}")
    ),
    max_leaves=6,
)


@settings(max_examples=400, deadline=None)
@given(PARTS, st.text("ab", min_size=1, max_size=3))
def test_what_is_not_refused_ends(pattern: str, pump: str) -> None:
    """Ours: property; a text of 32 characters that fails at its end would take minutes where the work doubles."""
    if not is_exponential(pattern):
        re.search(f"^(?:{pattern})$", (pump * 32)[:32] + "!")
