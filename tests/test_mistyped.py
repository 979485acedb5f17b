"""The known name that a mistyped one stands for."""

from __future__ import annotations

import pytest

from leanmcp.mistyped import closest, did_you_mean


@pytest.mark.parametrize(
    ("name", "known", "found"),
    [
        ("qurey", ["limit", "query"], "query"),
        ("QUERY", ["query"], "query"),
        ("getuser", ["getUser"], "getUser"),
        ("a", ["A", "a"], "A"),
        ("colour", ["query"], None),
        ("x", [], None),
        ("x" * 128 + "y" * 1_000_000, ["x" * 128], "x" * 128),
    ],
)
def test_closest_is_the_known_name_most_like_the_given_one(name: str, known: list[str], found: str | None) -> None:
    """Ours: case is no difference, and only the first 128 characters of a stranger's name are compared."""
    assert closest(name, known) == found


def test_cutoff_says_how_alike_two_names_must_be() -> None:
    """Ours: among thousands of programs, far relatives are noise."""
    assert closest("abxy", ["abcd"], cutoff=0.5) == "abcd"
    assert closest("abxy", ["abcd"], cutoff=0.75) is None


def test_the_hint_ends_a_sentence_or_is_empty() -> None:
    """Ours: it follows what was refused."""
    assert did_you_mean("ordr", ["order"]) == "; did you mean 'order'?"
    assert did_you_mean("ordr", ["shelf"]) == ""
