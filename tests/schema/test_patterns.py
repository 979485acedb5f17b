"""Patterns mean in Python what JSON Schema says they mean."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leanmcp.schema.patterns import python_pattern


@pytest.mark.parametrize(
    ("pattern", "matches", "misses"),
    [
        ("^a$", ["a"], ["a\n", "b", "aa"]),
        (r"^\d$", ["5"], ["٣", "५", "x"]),
        (r"^\D$", ["x", "٣"], ["5"]),
        (r"^\w$", ["a", "_", "9"], ["é", "-", "_\n"]),
        (r"^\W$", ["é", "-"], ["a"]),
        (r"^\s$", [" ", "\u00a0", "\ufeff", "\n"], ["\x1c", "a"]),
        (r"^\S$", ["a", "\x1c"], ["\ufeff"]),
        ("^.$", ["a", "\x85", "𝄞"], ["\n", "\r", "\u2028"]),
        (r"^[\d.$]+$", ["1.$"], ["a", "٣"]),
        (r"^[^\d]$", ["a", "٣"], ["1"]),
        (r"^[\w-]+$", ["a-b"], ["é"]),
        (r"^[\D]$", ["a", "٣"], ["1"]),
        (r"^[\W]$", ["é", "-", "[", "`", "{"], ["a", "Z", "_", "0"]),
        (r"^[a[b]$", ["[", "a"], ["c"]),
        (r"^[a&&b]$", ["&", "b"], ["c"]),
        (r"\bcat\b", ["a cat", "cat", "écat"], ["cats"]),
        (r"^\Ba", [], ["a"]),
        (r"^(?<year>\d{4})-\k<year>$", ["2026-2026"], ["2026-2027"]),
        (r"^(a)\1$", ["aa"], ["ab"]),
        (r"^(?:a|b){2,3}?$", ["ab", "aba"], ["a", "abab"]),
        (r"(?<=a)b(?!c)", ["ab"], ["abc", "b"]),
        (r"^\u0041\x42\/\-\.$", ["AB/-."], ["AB/-x"]),
        (r"^[\b]$", ["\b"], ["b"]),
        (r"^[^]$", ["\n", "a"], [""]),
        (r"a[]|b", ["b"], ["a", "a["]),
        (r"^\p{Lu}$", ["Ä"], ["ä", "1"]),
        (r"^\0$", ["\x00"], ["0"]),
        ("é+", ["éé"], ["e"]),
        ("", ["", "anything"], []),
    ],
)
def test_a_pattern_matches_as_in_ecma_262(pattern: str, matches: list[str], misses: list[str]) -> None:
    """Spec: JSON Schema core 6.4; the pattern is not anchored by itself."""
    search = re.compile(python_pattern(pattern)).search
    assert [text for text in matches if not search(text)] == []
    assert [text for text in misses if search(text)] == []


@pytest.mark.parametrize(
    "pattern",
    [
        r"\A",
        r"\Z",
        r"(?P<n>a)",
        r"(?i)a",
        r"(?i:a)",
        r"(?#note)",
        r"(?>a)",
        r"a++",
        r"a{1,2}+",
        r"a{,5}",
        r"a{",
        r"{a}",
        r"[a",
        r"(",
        r")",
        r"*a",
        r"\N{DASH}",
        r"\U0001F600",
        r"\012",
        r"\k",
        r"\k<a>",
        "\\",
        r"(?<=a+)b",
        r"[b-a]",
        r"a{2,1}",
    ],
)
def test_what_cannot_be_said_in_both_languages_is_refused(pattern: str) -> None:
    """Ours: refused at registration, with the pattern in the text."""
    with pytest.raises(ValueError, match="pattern") as error:
        python_pattern(pattern)
    assert repr(pattern) in str(error.value)


@settings(max_examples=500, deadline=None)
@given(st.text("ab1\\dwsDWSbBk[](){}^$.|*+?<>=!:,-&xu04P\n", max_size=12))
def test_every_text_is_translated_or_refused(pattern: str) -> None:
    """Ours: property; a ValueError and nothing else, and no warning of `re`."""
    try:
        translated = python_pattern(pattern)
    except ValueError:
        return
    re.compile(translated)


@pytest.mark.parametrize(
    ("pattern", "taken", "refused"),
    [
        ("^[+--]$", "+,-", ".0"),
        ("^[--a]$", "-.0Aa", ",b"),
        (r"^[\d-x]$", "09-x", "w."),
        (r"^[\d-x-z]$", "5-xyz", "w"),
        ("^[a-c-]$", "abc-", "d"),
        ("^[^-a]$", "b", "-a"),
    ],
)
def test_hyphens_in_a_class_are_ranges_or_themselves(pattern: str, taken: str, refused: str) -> None:
    """Spec: ECMA-262; two hyphens side by side say nothing else in Python either."""
    match = re.compile(python_pattern(pattern)).search
    assert all(map(match, taken))
    assert not any(map(match, refused))
    with pytest.raises(ValueError, match="a range up to"):
        python_pattern(r"[+-\d]")
