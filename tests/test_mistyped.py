"""The known name that a mistyped one stands for."""

from __future__ import annotations

import difflib

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from leanmcp.mistyped import closest, did_you_mean


@pytest.mark.parametrize(
    ("name", "known", "found"),
    [
        ("qurey", ["limit", "query"], "query"),
        ("QUERY", ["query"], "query"),
        ("getuser", ["getUser"], "getUser"),
        ("a", ["A", "a"], "A"),
        ("colour", ["query"], None),
        ("desc", ["description", "name"], "description"),
        ("desc", ["description", "descending order"], None),
        ("de", ["description"], None),
        ("x", [], None),
        ("x" * 128 + "y" * 1_000_000, ["x" * 128], "x" * 128),
    ],
)
def test_closest_is_the_known_name_most_like_the_given_one(name: str, known: list[str], found: str | None) -> None:
    """Ours: case is no difference, the start of one name stands for it; 128 characters of a stranger's are compared."""
    assert closest(name, known) == found


WORDS = st.text("abcA_-", max_size=9) | st.text(max_size=5)


@given(WORDS, st.lists(WORDS, max_size=6), st.sampled_from([0.4, 0.6, 0.8]))
def test_likeness_is_that_of_difflib(name: str, known: list[str], cutoff: float) -> None:
    """Ours: property; the standard library as oracle, which takes 200 KiB more."""
    folded: dict[str, str] = {}
    for candidate in known:
        folded.setdefault(candidate.lower(), candidate)
    found = difflib.get_close_matches(name.lower(), folded, n=1, cutoff=cutoff)
    assume(found or not any(one.startswith(name.lower()) for one in folded))
    assert closest(name, known, cutoff=cutoff) == (folded[found[0]] if found else None)


def test_cutoff_says_how_alike_two_names_must_be() -> None:
    """Ours: among thousands of programs, far relatives are noise."""
    assert closest("abxy", ["abcd"], cutoff=0.5) == "abcd"
    assert closest("abxy", ["abcd"], cutoff=0.75) is None


def test_the_hint_ends_a_sentence_or_is_empty() -> None:
    """Ours: it follows what was refused."""
    assert did_you_mean("ordr", ["order"]) == "; did you mean 'order'?"
    assert did_you_mean("ordr", ["shelf"]) == ""
