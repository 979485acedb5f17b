"""ECMA-262 regular expressions, as JSON Schema means them, in the syntax of Python's `re`.

In: the text of a `pattern` keyword. Out: text for `re.search` that matches no more than the pattern does in ECMA-262.
JSON Schema 2020-12: validation 6.3.3 `pattern`; core 6.4 "Regular Expressions".
"""

from __future__ import annotations

__all__ = ["longest_text", "python_pattern"]

# ECMA-262 white space and line terminators; Python's own `\s` differs by U+FEFF and U+001C to U+001F.
_SPACE = r"\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
_LINE_ENDS = r"\n\r\u2028\u2029"
_WORD = "A-Za-z0-9_"
_SHORTHANDS = {"d": "0-9", "w": _WORD, "s": _SPACE}
_SAME_IN_BOTH = frozenset("fnrtv")


def python_pattern(pattern: str) -> str:
    r"""Return `pattern` for `re.search`: `$` ends the text, `\d` and `\w` are ASCII, `.` stops at every line end.

    Raises:
        ValueError: the pattern is no ECMA-262 pattern, uses a part of it that cannot be said in Python, or takes
            exponential time on some texts.
    """
    import re

    translated = _Translator(pattern).run()
    try:
        re.compile(translated)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"pattern {pattern!r} is not a valid regular expression: {error}") from None
    if any(sign in translated for sign in (")*", ")+", "){")):  # nothing else can double the work with each character
        from .ambiguity import is_exponential

        if is_exponential(translated):
            raise ValueError(
                f"pattern {pattern!r} can match one text in so many ways that a sender could stop the server; "
                "let each repeated part begin or end with a character that no other part takes"
            )
    return translated


def longest_text(pattern: str) -> int | None:
    """Return how many characters an ECMA-262 pattern is tried on, None for any number: 10,000 where it is quadratic."""
    from . import ambiguity

    return ambiguity.longest_text(python_pattern(pattern))


class _Translator:
    """One pass over the pattern, piece by piece."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0
        self.out: list[str] = []

    def run(self) -> str:
        while self.at < len(self.pattern):
            character = self.pattern[self.at]
            if character == "\\":
                self._escape()
            elif character == "[":
                self._character_class()
            elif character == "(":
                self._group()
            elif character in "*+?{":
                self._quantifier(character)
            else:
                self.at += 1
                self.out.append({"$": r"\Z", ".": f"[^{_LINE_ENDS}]"}.get(character, character))
        return "".join(self.out)

    def _refuse(self, what: str, instead: str) -> ValueError:
        return ValueError(f"pattern {self.pattern!r}: {what} has no meaning in JSON Schema; {instead}")

    def _escape(self) -> None:
        letter = self.pattern[self.at + 1 : self.at + 2]
        if letter in ("b", "B"):
            self.at += 2
            edge = f"(?:(?<=[{_WORD}])(?![{_WORD}])|(?<![{_WORD}])(?=[{_WORD}]))"
            self.out.append(edge if letter == "b" else f"(?!{edge})")
        elif letter == "k":
            name, closed, _ = self.pattern[self.at + 2 :].partition(">")
            if not closed or not name.startswith("<"):
                raise self._refuse(r"\k", r"write \k<name>")
            self.at += len(name) + 3
            self.out.append(f"(?P={name[1:]})")
        elif letter in "123456789" and letter:
            self.at += 2
            self.out.append("\\" + letter)
        elif letter.lower() in _SHORTHANDS and letter:
            self.at += 2
            self.out.append(f"[{'^' if letter.isupper() else ''}{_SHORTHANDS[letter.lower()]}]")
        else:
            self.out.append(self._literal_escape())

    def _literal_escape(self) -> str:
        """Read an escape that stands for one character, inside a class or outside."""
        rest = self.pattern[self.at + 1 :]
        letter = rest[:1]
        if letter in ("x", "u"):
            width = 2 if letter == "x" else 4
            digits = rest[1 : 1 + width]
            if len(digits) == width and all(digit in "0123456789abcdefABCDEF" for digit in digits):
                self.at += 2 + width
                return f"\\{letter}{digits}"
        elif letter == "0" and not rest[1:2].isdigit():
            self.at += 2
            return r"\x00"
        elif letter in _SAME_IN_BOTH and letter:
            self.at += 2
            return "\\" + letter
        elif letter and not letter.isalnum():
            self.at += 2
            return "\\" + letter if letter.isascii() else letter
        raise self._refuse(f"\\{letter}", "write the characters themselves")

    def _character_class(self) -> None:
        self.at += 1
        self.out.append("[")
        if self.pattern[self.at : self.at + 1] == "^":
            self.at += 1
            self.out.append("^")
        if self.pattern[self.at : self.at + 1] == "]":
            raise self._refuse("an empty class", r"write \] for the bracket")
        # A hyphen is escaped unless it makes a range: `--` in a class is no plain text to Python.
        left, ranged = False, False  # there is a left end for a range; its hyphen has been read
        while self.at < len(self.pattern) and self.pattern[self.at] != "]":
            character = self.pattern[self.at]
            if character == "-" and left and self.pattern[self.at + 1 : self.at + 2] != "]":
                self.at += 1
                self.out.append("-")
                left, ranged = False, True
                continue
            left, ended = not ranged, ranged
            ranged = False
            if character == "-":
                self.at += 1
                self.out.append("\\-")
                continue
            if character != "\\":
                self.at += 1
                self.out.append("\\" + character if character in "[&|~" else character)
                continue
            letter = self.pattern[self.at + 1 : self.at + 2]
            if letter and letter.lower() in _SHORTHANDS:
                if ended:
                    raise self._refuse(f"a range up to \\{letter}", r"write \- for the hyphen")
                left = False
            if letter in _SHORTHANDS:
                self.at += 2
                self.out.append(_SHORTHANDS[letter])
            elif letter in ("D", "W"):
                self.at += 2
                self.out.append(r"\x00-/:-\U0010ffff" if letter == "D" else r"\x00-/:-@\[-\^`{-\U0010ffff")
            elif letter == "b":
                self.at += 2
                self.out.append(r"\x08")
            else:
                self.out.append(self._literal_escape())
        if self.at == len(self.pattern):
            raise ValueError(f"pattern {self.pattern!r}: a class is not closed")
        self.at += 1
        self.out.append("]")

    def _group(self) -> None:
        rest = self.pattern[self.at :]
        for opening in ("(?:", "(?=", "(?!", "(?<=", "(?<!"):
            if rest.startswith(opening):
                self.at += len(opening)
                self.out.append(opening)
                return
        if rest.startswith("(?<"):
            self.at += 3
            self.out.append("(?P<")
        elif rest.startswith("(?"):
            raise self._refuse(repr(rest[:3]), "only (?:, (?=, (?!, (?<=, (?<! and (?<name> open a special group")
        else:
            self.at += 1
            self.out.append("(")

    def _quantifier(self, character: str) -> None:
        end = self.at + 1
        if character == "{":
            inner, closed, _ = self.pattern[end:].partition("}")
            low, _, high = inner.partition(",")
            if not closed or not low.isdecimal() or not low.isascii() or (high and not high.isdecimal()):
                raise self._refuse("a bare {", r"write {0,5} for a count or \{ for the brace")
            end += len(inner) + 1
        if self.pattern[end : end + 1] == "+":
            raise self._refuse("a possessive quantifier", "leave out the second +")
        self.out.append(self.pattern[self.at : end])
        self.at = end
        if self.pattern[end : end + 1] == "?":
            self.at += 1
            self.out.append("?")
