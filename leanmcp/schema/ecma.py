r"""ECMA-262 regular expressions with the `u` flag, read into a tree and said in Python's syntax.

In: the text of a pattern. Out: a tree of `Part`s for the linear matcher, and text for `re.search`.
JSON Schema 2020-12: core 6.4 "Regular Expressions"; ECMA-262 22.2.1 "Patterns". White space and line ends are ECMA's,
`\d` and `\w` are ASCII, `$` ends the text, `.` stops at every line end.
"""

from __future__ import annotations

import functools
import re

from msgspec import Struct
from msgspec.structs import replace

__all__ = ["WORD", "Part", "Ranges", "complement", "parse", "python_source"]

LAST = 0x10FFFF
MAX_NESTING = 50  # groups inside each other
MAX_COUNT = 100_000  # of a quantifier
Ranges = tuple[tuple[int, int], ...]
DIGIT: Ranges = ((0x30, 0x39),)
WORD: Ranges = ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A))
LINE_ENDS: Ranges = ((0x0A, 0x0A), (0x0D, 0x0D), (0x2028, 0x2029))
SPACE: Ranges = (
    *((0x09, 0x0D), (0x20, 0x20), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A)),
    *((0x2028, 0x2029), (0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000), (0xFEFF, 0xFEFF)),
)
SHORTHANDS = {"d": DIGIT, "w": WORD, "s": SPACE}
CONTROLS = {"f": 0x0C, "n": 0x0A, "r": 0x0D, "t": 0x09, "v": 0x0B}
ASSERTIONS = ("start", "end", "edge", "look")
HEX = frozenset("0123456789abcdefABCDEF")
_REFERENCE = re.compile("[1-9][0-9]*")


class Part(Struct, frozen=True):
    """A piece of a pattern.

    Args:
        kind: "set", "sequence", "either", "repeat", "group", "start", "end", "edge", "look" or "back".
        ranges: characters of a set.
        parts: what it is made of.
        least, most: rounds of a repeat, None for any number; `lazy` takes as few as it can.
        number: of a group, or of the group that a back reference names; that one may be `optional`.
        negated: of an edge or a look; `behind` looks at what came before.
    """

    kind: str
    ranges: Ranges = ()
    parts: tuple[Part, ...] = ()
    least: int = 0
    most: int | None = None
    lazy: bool = False
    number: int = 0
    optional: bool = False
    negated: bool = False
    behind: bool = False


def complement(ranges: Ranges) -> Ranges:
    """Return every other character."""
    result: list[tuple[int, int]] = []
    at = 0
    for low, high in sorted(ranges):
        if low > at:
            result.append((at, low - 1))
        at = max(at, high + 1)
    if at <= LAST:
        result.append((at, LAST))
    return tuple(result)


def parse(pattern: str) -> Part:
    """Read a pattern.

    Raises:
        ValueError: no ECMA-262 pattern, or a part of it that is not supported.
    """
    return _Parser(pattern).run()


class _Parser:
    """Reads a pattern from left to right; groups recurse, to a bounded depth."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0
        self.groups = 0
        self.depth = 0
        self.names: dict[str, int] = {}
        self.repeated: set[int] = set()  # groups inside of a quantifier
        self.optional: set[int] = set()  # groups that may take no part
        self.open: set[int] = set()  # groups that are not closed yet

    def run(self) -> Part:
        whole = self.either()
        if self.at < len(self.pattern):
            raise self.wrong("a bare )", r"write \) for the bracket")
        return whole

    def refusal(self, why: str) -> ValueError:
        return ValueError(f"pattern {self.pattern[:200]!r}{why}")

    def wrong(self, what: str, instead: str) -> ValueError:
        return self.refusal(f": {what} has no meaning in JSON Schema; {instead}")

    def peek(self, length: int = 1) -> str:
        return self.pattern[self.at : self.at + length]

    def take(self, text: str) -> bool:
        if not self.pattern.startswith(text, self.at):
            return False
        self.at += len(text)
        return True

    def either(self) -> Part:
        opened = self.groups
        branches = [self.sequence()]
        while self.take("|"):
            branches.append(self.sequence())
        if len(branches) > 1:
            self.optional.update(range(opened + 1, self.groups + 1))
        return branches[0] if len(branches) == 1 else Part("either", parts=tuple(branches))

    def sequence(self) -> Part:
        parts: list[Part] = []
        while self.at < len(self.pattern) and self.peek() not in "|)":
            opened = self.groups
            part = self.atom()
            if self.peek() and self.peek() in "*+?{":
                part = self.quantified(part)
                self.repeated.update(range(opened + 1, self.groups + 1))
            parts.append(part)
        return parts[0] if len(parts) == 1 else Part("sequence", parts=tuple(parts))

    def atom(self) -> Part:
        character = self.peek()
        if character == "\\":
            return self.escape()
        if character == "[":
            return Part("set", self.character_class())
        if character == "(":
            return self.group()
        if character in "*+?":
            raise self.wrong(f"nothing to repeat before {character}", f"write \\{character} for the character")
        if character == "{":
            raise self.wrong("a bare {", r"write {0,5} for a count or \{ for the brace")
        self.at += 1
        if character in "^$":
            return Part("start" if character == "^" else "end")
        if character == ".":
            return Part("set", complement(LINE_ENDS))
        return Part("set", ((ord(character), ord(character)),))

    def quantified(self, part: Part) -> Part:
        if part.kind in ASSERTIONS:
            raise self.wrong("a repeated assertion", "leave the quantifier out")
        least, most = self.count()
        lazy = self.take("?")
        if self.peek() == "+":
            raise self.wrong("a possessive quantifier", "leave out the second +")
        if self.peek() and self.peek() in "*?":
            raise self.wrong("a quantifier of a quantifier", "put the inner one into (?: )")
        return Part("repeat", parts=(part,), least=least, most=most, lazy=lazy)

    def count(self) -> tuple[int, int | None]:
        if self.take("*"):
            return 0, None
        if self.take("+"):
            return 1, None
        if self.take("?"):
            return 0, 1
        inner, closed, _ = self.pattern[self.at + 1 :].partition("}")
        low, comma, high = inner.partition(",")
        if not closed or not _is_count(low) or (high and not _is_count(high)):
            raise self.wrong("a bare {", r"write {0,5} for a count or \{ for the brace")
        self.at += len(inner) + 2
        least, most = int(low), (int(high) if high else None) if comma else int(low)
        if max(least, most or 0) > MAX_COUNT or (most is not None and most < least):
            raise self.wrong(f"the count {{{inner}}}", f"numbers go up, to {MAX_COUNT} at most")
        return least, most

    # Groups ---------------------------------------------------------------------------------------------------------

    def group(self) -> Part:
        self.depth += 1
        if self.depth > MAX_NESTING:
            raise self.refusal(f": over {MAX_NESTING} groups inside each other")
        if self.take("(?:"):
            part = self.either()
            if part.kind in ASSERTIONS:
                part = Part("sequence", parts=(part,))  # which may be repeated
        elif look := self.look():
            opened = self.groups
            part = replace(look, parts=(self.either(),))
            self.optional.update(range(opened + 1, self.groups + 1) if look.negated else ())
        elif self.take("(?<"):
            name, closed, _ = self.pattern[self.at :].partition(">")
            if not closed or not name.replace("$", "_").isidentifier() or name in self.names:
                raise self.wrong(f"a group named {name[:40]!r}", "names are identifiers, each once")
            self.at += len(name) + 1
            self.names[name] = self.groups + 1
            part = self.capture()
        elif self.peek(2) == "(?":
            opening = repr(self.peek(3))
            raise self.wrong(opening, "only (?:, (?=, (?!, (?<=, (?<! and (?<name> open a special group")
        else:
            self.at += 1
            part = self.capture()
        if not self.take(")"):
            raise self.refusal(" is not a valid regular expression: a group is not closed")
        self.depth -= 1
        return part

    def capture(self) -> Part:
        self.groups += 1
        number = self.groups
        self.open.add(number)
        inner = self.either()
        self.open.discard(number)
        return Part("group", parts=(inner,), number=number)

    def look(self) -> Part | None:
        for opening in ("(?=", "(?!", "(?<=", "(?<!"):
            if self.take(opening):
                return Part("look", negated=opening.endswith("!"), behind="<" in opening)
        return None

    # Characters -----------------------------------------------------------------------------------------------------

    def escape(self) -> Part:
        letter = self.pattern[self.at + 1 : self.at + 2]
        if letter in ("b", "B"):
            self.at += 2
            return Part("edge", negated=letter == "B")
        if letter == "k":
            name, closed, _ = self.pattern[self.at + 2 :].partition(">")
            if not closed or not name.startswith("<"):
                raise self.wrong(r"\k", r"write \k<name>")
            self.at += len(name) + 3
            return self.back(name[1:])
        if number := _REFERENCE.match(self.pattern, self.at + 1):
            self.at = number.end()
            return self.back(int(number[0][:6]))
        ranges = self.shorthand()
        if ranges is None:
            code = self.literal()
            ranges = ((code, code),)
        return Part("set", ranges)

    def back(self, name: int | str) -> Part:
        number = self.names.get(name, 0) if isinstance(name, str) else name
        if number == 0 or number > self.groups or number in self.repeated | self.open:
            raise self.refusal(f": group {str(name)[:40]!r} is referred to where it may not be complete")
        return Part("back", number=number, optional=number in self.optional)

    def shorthand(self) -> Ranges | None:
        r"""Read `\d`, `\W`, `\p{L}` and their like; leave every other escape."""
        letter = self.pattern[self.at + 1 : self.at + 2]
        if letter.lower() == "p" and letter:
            name, closed, _ = self.pattern[self.at + 2 :].partition("}")
            if not closed or not name.startswith("{"):
                raise self.wrong(f"\\{letter}", r"write \p{L}")
            self.at += len(name) + 3
            from .unicode_sets import property_ranges

            try:
                found = property_ranges(name[1:])
            except KeyError:
                raise self.refusal(f": the property {name[1:41]!r} is not supported") from None
        elif letter and letter.lower() in SHORTHANDS:
            self.at += 2
            found = SHORTHANDS[letter.lower()]
        else:
            return None
        return complement(found) if letter.isupper() else found

    def literal(self) -> int:
        """Read an escape that stands for one character, inside a class or outside."""
        rest = self.pattern[self.at + 1 : self.at + 12]
        letter = rest[:1]
        code: int | None = None
        length = 1
        if letter == "u" and rest[1:2] == "{":
            digits, closed, _ = rest[2:].partition("}")
            if closed and digits and HEX.issuperset(digits) and int(digits, 16) <= LAST:
                code, length = int(digits, 16), len(digits) + 3
        elif letter in ("x", "u"):
            width = 2 if letter == "x" else 4
            digits = rest[1 : 1 + width]
            if len(digits) == width and HEX.issuperset(digits):
                code, length = int(digits, 16), 1 + width
            second = rest[7:11]
            if letter == "u" and rest[5:7] == "\\u" and len(second) == 4 and HEX.issuperset(second):
                code, length = _paired(code or 0, int(second, 16), length)
        elif letter == "c" and rest[1:2].isascii() and rest[1:2].isalpha():
            code, length = ord(rest[1]) % 32, 2
        elif letter == "0" and not (rest[1:2] and rest[1:2] in "0123456789"):
            code = 0
        elif letter in CONTROLS:
            code = CONTROLS[letter]
        elif letter and not letter.isalnum():
            code = ord(letter)
        if code is None:
            raise self.wrong(f"\\{letter}", "write the characters themselves")
        self.at += 1 + length
        return code

    def character_class(self) -> Ranges:
        self.at += 1
        negated = self.take("^")
        ranges: list[tuple[int, int]] = []
        while not self.take("]"):
            low = self.member()
            # A hyphen behind a set is one, in browsers and in schemas that were only ever tried there.
            if isinstance(low, int) and self.peek() == "-" and self.peek(2) not in ("-", "-]"):
                self.at += 1
                high = self.member()
                if not isinstance(high, int):
                    raise self.wrong("a range up to a set of characters", r"write \- for the hyphen")
                if high < low:
                    raise self.wrong("a range that goes down", r"write \- for the hyphen")
                ranges.append((low, high))
            elif isinstance(low, int):
                ranges.append((low, low))
            else:
                ranges += low
        merged = complement(complement(tuple(ranges)))
        return complement(merged) if negated else merged

    def member(self) -> int | Ranges:
        """Read one character or one set of them inside a class."""
        character = self.peek()
        if not character:
            raise self.refusal(" is not a valid regular expression: a class is not closed")
        if character != "\\":
            self.at += 1
            return ord(character)
        if self.take("\\b"):
            return 0x08
        found = self.shorthand()
        return self.literal() if found is None else found


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= 9


def _paired(first: int, second: int, length: int) -> tuple[int, int]:
    """Join the two halves of a character beyond U+FFFF."""
    if 0xD800 <= first < 0xDC00 <= second < 0xE000:
        return 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00), length + 6
    return first, length


# Python -------------------------------------------------------------------------------------------------------------


def python_source(part: Part) -> str:
    """Return a pattern in the syntax of `re`."""
    if part.kind == "set":
        return _set_source(part.ranges)
    inner = [python_source(piece) for piece in part.parts]
    if part.kind == "sequence":
        return "".join(
            f"(?:{text})" if piece.kind == "either" else text for piece, text in zip(part.parts, inner, strict=True)
        )
    if part.kind == "either":
        return "|".join(inner)
    if part.kind == "repeat":
        body = inner[0] if part.parts[0].kind in ("set", "group", "back") else f"(?:{inner[0]})"
        if part.parts[0].kind == "back" and not part.parts[0].optional:
            body = f"\\{part.parts[0].number}"
        return body + _count_source(part) + ("?" if part.lazy else "")
    if part.kind == "group":
        return f"({inner[0]})"
    if part.kind == "look":
        return f"(?{'<' if part.behind else ''}{'!' if part.negated else '='}{inner[0]})"
    if part.kind == "back":
        # A group that took no part matches the empty text in ECMA-262, nothing at all in Python.
        return f"(?({part.number})\\{part.number}|)" if part.optional else f"(?:\\{part.number})"
    # Python's own \B does not match the empty text.
    edge = r"(?!(?a:\b))" if part.negated else r"(?a:\b)"
    return {"start": "^", "end": r"\Z"}.get(part.kind, edge)


def _count_source(part: Part) -> str:
    plain = {(0, None): "*", (1, None): "+", (0, 1): "?"}.get((part.least, part.most))
    return plain or f"{{{part.least},{'' if part.most is None else part.most}}}"


@functools.lru_cache(maxsize=256)
def _set_source(ranges: Ranges) -> str:
    if not ranges:
        return "(?!)"
    if len(ranges) == 1 and ranges[0][0] == ranges[0][1]:
        return _character(ranges[0][0])
    inverse = complement(ranges)
    sign, shown = ("^", inverse) if inverse and len(inverse) < len(ranges) else ("", ranges)
    pieces = (_character(low) if low == high else f"{_character(low)}-{_character(high)}" for low, high in shown)
    return f"[{sign}{''.join(pieces)}]"


def _character(code: int) -> str:
    character = chr(code)
    if character.isascii() and character.isalnum():
        return character
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
