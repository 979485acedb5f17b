r"""ECMA-262 patterns: what is read, what is refused, and that both engines agree on what is read."""

from __future__ import annotations

import re

import pytest

from leanmcp.schema.ecma import parse, python_source
from leanmcp.schema.linear import compile_linear
from leanmcp.schema.matchers import matcher
from leanmcp.schema.profiles import PROFILES


def free(steps: int) -> None:
    """Spend nothing."""


@pytest.mark.parametrize(
    ("pattern", "matches", "misses"),
    [
        ("^a$", ["a"], ["a\n", "b"]),
        (r"^\d+$", ["5"], ["٣", ""]),
        (r"^\w$", ["_"], ["é"]),
        (r"^\s$", ["\ufeff", "\u2029"], ["\x1c", "\x85"]),
        (r"^[\s\d]$", [" ", "1"], ["a"]),
        (r"^[^\W\d]+$", ["ab_"], ["1", "-"]),
        ("^.$", ["𝄞", "\x85"], ["\n", "\u2028", ""]),
        (r"^[]$", [], ["", "a"]),
        (r"^[^]$", ["\n"], [""]),
        (r"^\p{Lu}\p{Ll}+$", ["Émile"], ["émile", "E1"]),
        (r"^\P{L}$", ["1"], ["a"]),
        (r"^\p{General_Category=Decimal_Number}$", ["٣"], ["x"]),
        (r"^[\p{Letter}-]+$", ["a-é"], ["1"]),
        (r"^\p{LC}\p{ASCII}\p{Any}$", ["aa\n"], ["ééé"]),
        (r"^\cC$", ["\x03"], ["C"]),
        (r"^\u{1F600}$", ["😀"], ["u"]),
        (r"^\ud83d\ude00$", ["😀"], []),
        (r"^[\ud83d\ude00-\ud83d\ude02]$", ["😁"], ["a"]),
        (r"^\x41\u0042\0$", ["AB\x00"], ["ABC"]),
        (r"^[\b\-\]]+$", ["\b-]"], ["b"]),
        (r"^[--/]$", ["-", ".", "/"], ["0"]),
        (r"^[+--]$", ["+", ",", "-"], ["."]),
        (r"^[a-]$", ["a", "-"], ["b"]),
        (r"\bcat\b", ["a cat.", "écat"], ["cats"]),
        (r"\Bat", ["cat"], ["at"]),
        (r"^(?:a|bc){2}$", ["abc", "aa"], ["a"]),
        (r"^a{2,}?b{0}c{1,2}$", ["aac", "aaacc"], ["ac", "aabc"]),
        (r"^a|b$", ["ax", "xb"], ["xa"]),
        (r"^(a|)+$", ["", "aa"], ["b"]),
        (r"^()*$", [""], ["a"]),
        (r"^[.^$*+?(){}|]+$", ["^$.(){}"], ["a"]),
        (r"^\/\.\-$", ["/.-"], ["x"]),
        (r"}]", ["}]"], ["}"]),
        (r"a$|^b", ["xa", "bx"], ["ax", "xb"]),
    ],
)
def test_both_engines_read_a_pattern_as_ecma_262_does(pattern: str, matches: list[str], misses: list[str]) -> None:
    """Spec: JSON Schema core 6.4; ECMA-262 22.2."""
    python = re.compile(python_source(parse(pattern))).search
    linear = compile_linear(parse(pattern), 500)
    for text in matches:
        assert python(text), text
        assert linear(text, free), text
    for text in misses:
        assert not python(text), text
        assert not linear(text, free), text


@pytest.mark.parametrize(
    ("pattern", "matches", "misses"),
    [
        (r"^(a)\1$", ["aa"], ["a"]),
        (r"^(?<x>a|b)\k<x>$", ["bb"], ["ab"]),
        (r"^(?:(a)|b)\1$", ["aa", "b"], ["a", "ab"]),
        (r"^(a)\1{2}0$", ["aaa0"], ["aa0"]),
        (r"a(?=b)", ["ab"], ["ac"]),
        (r"(?<!a)b", ["cb"], ["ab"]),
        (r"^(?!(a))\1c$", ["c"], ["ac"]),
    ],
)
def test_look_around_and_back_references_need_trust(pattern: str, matches: list[str], misses: list[str]) -> None:
    """Ours: they take time that nobody can bound."""
    search = matcher(pattern, PROFILES["trusted"]).search
    assert [text for text in matches if not search(text, free)] == []
    assert [text for text in misses if search(text, free)] == []
    with pytest.raises(ValueError, match="look-around and back references"):
        matcher(pattern, PROFILES["untrusted"])


@pytest.mark.parametrize(
    "pattern",
    [
        *("(", ")", "[", "[a", "*", "a**", "a++", "a{2,1}", "{", "a{", "a{x}", "(?i)a", "(?P<a>b)", "(?<1>a)"),
        *("(?<a>b)(?<a>c)", r"\1", r"(\1)", r"(a)*\1", r"\2(a)", r"\k<a>", r"\k", r"\p{Script=Greek}", r"\p{Nope}"),
        *(
            r"\p",
            r"\u12",
            r"\x1",
            r"\u{110000}",
            r"\c1",
            r"\a",
            r"\Z",
            r"\01",
            "\\",
            "[b-a]",
            r"[a-\d]",
            "^*",
            "a{999999}",
        ),
        *("(?=a)*", "(" * 60 + ")" * 60, r"(?<=a+)b", "(?>a)", "(?#x)"),
    ],
)
def test_what_cannot_be_said_is_refused(pattern: str) -> None:
    """Ours: refused where the schema is compiled, by both profiles."""
    for profile in PROFILES.values():
        with pytest.raises(ValueError, match=r"."):
            matcher(pattern, profile)


def test_a_pattern_that_takes_exponential_time_is_matched_all_the_same() -> None:
    """Ours: by the linear matcher, where there is no look-around."""
    trusted = PROFILES["trusted"]
    assert not matcher(r"^(a+)+$", trusted).search("a" * 5000 + "b", free)
    assert not matcher(r"\s+$", trusted).search(" " * 50_000 + "b", free)
    assert matcher(r"^a*a*$", trusted).longest is None
    assert matcher(r"^a*a*(?=b)", trusted).longest == 10_000
    with pytest.raises(ValueError, match="in so many ways"):
        matcher(r"^(a+)+(?=b)", trusted)
