"""What is wrong with arguments, and the text that lets a model send better ones.

In: faults found by any validator; types and schemas are its business, not ours. Out: one refusal text.
The sentences are those of pydantic v2 for JSON input. Spec 2026-07-28: server/tools, "Error Handling".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import UNSET, Struct

from ..logs import clipped
from ..mistyped import closest

__all__ = ["Fault", "listing", "path_text", "phrase"]

MAX_FAULTS = 20
MAX_LINE = 300  # characters
MAX_TEXT = 4096  # bytes of UTF-8
MAX_VALUE = 60  # characters of an echoed value
MAX_CANDIDATES = 200  # accepted names that a wrong one is compared with; a call may hold a hundred wrong ones
MAX_NAMES = 12  # accepted names or values listed in one sentence


class Fault(Struct, frozen=True):
    """One thing wrong.

    Args:
        path: where, as `path_text` writes it; empty for the arguments as a whole.
        message: one sentence without the value.
        value: what was sent, UNSET when nothing was.
        kind: "type" when the value has another JSON type than asked for, else empty.
    """

    path: str
    message: str
    value: Any = UNSET
    kind: str = ""

    def below(self, above: str) -> Fault:
        """Return the fault of a value as one of the value that holds it, there at `above`."""
        dot = "." if above and self.path and self.path[0] != "[" else ""
        return Fault(above + dot + self.path, self.message, self.value, self.kind)


def path_text(parts: Iterable[str | int]) -> str:
    """Return `book.year` or `tags[1]`; a name that is no plain word stands in brackets and quotes."""
    text = ""
    for part in parts:
        if isinstance(part, int):
            text += f"[{part}]"
        elif part.replace("-", "_").isidentifier() and part.isprintable():
            text += f".{clipped(part, MAX_VALUE)}" if text else clipped(part, MAX_VALUE)
        else:
            text += f"[{clip_json(part)}]" if text else clip_json(part)
    return text


def phrase(
    tool_name: str,
    faults: Sequence[Fault],
    *,
    echo_values: bool = True,
    what: str = "arguments for",
    noun: str = "tool",
) -> str:
    """Return the whole refusal: a head line, then one line per fault, at most 20 faults and 4 KiB.

    Args:
        what: "arguments for" or "result of".
        noun: what bears the name.
    """
    text = f"Invalid {what} {noun} {clipped(_printable(tool_name), 128)}:"
    return "\n".join([text, *_lines(faults, echo_values, MAX_TEXT - len(text.encode()))])


def listing(faults: Sequence[Fault], *, echo_values: bool = True) -> str:
    """Return one line per fault, at most 20 faults and 4 KiB; an empty text for none."""
    return "\n".join(_lines(faults, echo_values, MAX_TEXT))


def _lines(faults: Sequence[Fault], echo_values: bool, room: int) -> list[str]:
    lines = list(dict.fromkeys(_line(fault, echo_values) for fault in faults[: MAX_FAULTS * 5]))
    left_over = max(0, len(faults) - MAX_FAULTS * 5)
    room -= 32  # for what says how many are left out
    shown: list[str] = []
    for line in lines[:MAX_FAULTS]:
        room -= len(line.encode()) + 1
        if room < 0:
            break
        shown.append(line)
    rest = len(lines) - len(shown) + left_over
    return [*shown, *([f"... and {rest} more"] if rest else [])]


def _line(fault: Fault, echo_values: bool) -> str:
    path = f"{fault.path}: " if fault.path else ""
    got = f", got {clip_json(fault.value)}" if echo_values and fault.value is not UNSET else ""
    return clipped(_printable(path + fault.message), MAX_LINE - len(got)) + got


# Sentences ---------------------------------------------------------------------------------------------------------

REQUIRED = "Field required"
NOT_FINITE = "Input should be a finite number"
TOO_DEEP = "Input is nested too deeply"
DUPLICATE_ITEMS = "List items should be unique"
NOT_PERMITTED = "Input is not permitted here"
TOO_COMPLEX = "Input takes too many steps to check"
NOT_JSON = "Input should be plain JSON"
TYPES = {
    "string": "a valid string",
    "integer": "a valid integer",
    "number": "a valid number",
    "boolean": "a valid boolean",
    "null": "null",
    "array": "a valid array",
    "object": "an object",
}
BOUNDS = {
    "gt": "greater than",
    "ge": "greater than or equal to",
    "lt": "less than",
    "le": "less than or equal to",
    "multiple_of": "a multiple of",
}


def expected(*names: str) -> str:
    """Say which JSON types, or which other kinds of value, would do."""
    return f"Input should be {_either([TYPES.get(name, name) for name in dict.fromkeys(names)])}"


def bound(name: str, limit: object) -> str:
    return f"Input should be {BOUNDS[name]} {clip_json(limit)}"


def text_length(name: str, limit: int) -> str:
    return f"String should have {_count(name, limit, 'character')}"


def item_count(name: str, limit: int, actual: int, what: str = "List", noun: str = "item") -> str:
    return f"{what} should have {_count(name, limit, noun)} after validation, not {actual}"


def pattern(text: str) -> str:
    return f"String should match pattern {quoted(text)}"


def one_of(values: Sequence[object]) -> str:
    """Name the values of an enum or a Literal."""
    shown = [quoted(value) if isinstance(value, str) else clip_json(value) for value in values[:MAX_NAMES]]
    if len(values) > MAX_NAMES:
        return f"Input should be {', '.join(shown)} or one of {len(values) - MAX_NAMES} more"
    return f"Input should be {_either(shown)}"


def unknown_name(name: str, accepted: Sequence[str]) -> str:
    """Refuse a name that the object does not have, with the closest one that it has."""
    if not accepted:
        return "Extra inputs are not permitted; there are none to give"
    names = ", ".join(clipped(_printable(name), MAX_VALUE) for name in accepted[:MAX_NAMES])
    text = f"Extra inputs are not permitted; accepted names: {names}"
    if len(accepted) > MAX_NAMES:
        text += f" and {len(accepted) - MAX_NAMES} more"
    if len(accepted) > MAX_CANDIDATES:
        return text
    meant = closest(name[:MAX_VALUE], accepted)
    return text if meant is None else f"{text}; did you mean {quoted(meant)}?"


def bad_name(message: str) -> str:
    """Say why the name of a member is refused."""
    if message == NOT_PERMITTED:
        return "Name is not permitted"
    return f"Name is not permitted: {message.replace('Input', 'Name', 1)}"


def required_with(name: str) -> str:
    """Ask for a member because another one is there."""
    return f"{REQUIRED} beside {quoted(name)}"


def contained(name: str, limit: int, actual: int) -> str:
    """Say how many items of a list should be of a kind."""
    return f"List should contain {_count(name, limit, 'item')} as 'contains' describes, not {actual}"


def several_fit(titles: Sequence[str]) -> str:
    """Refuse a value that more than one alternative takes where exactly one should."""
    return f"Input should fit exactly one alternative, but fits {len(titles)}: {', '.join(titles[:MAX_NAMES])}"


def excluded(sentence: str) -> str:
    """Turn what a value should be into what it should not be."""
    if sentence.startswith("Input should be "):
        return f"Input should not be {sentence.removeprefix('Input should be ')}"
    return "Input should not fit what 'not' describes"


def excluded_names(names: Sequence[str]) -> str:
    """Refuse members that may not be there, or not together."""
    shown = " and ".join(map(quoted, names[:MAX_NAMES]))
    return f"Input should not have {shown}{' together' if len(names) > 1 else ''}"


def one_required(names: Sequence[str]) -> str:
    """Ask for one of several members."""
    return f"Input should have {_either([quoted(name) for name in names[:MAX_NAMES]])}"


def _count(name: str, limit: int, noun: str) -> str:
    side = "at least" if name == "min_length" else "at most"
    return f"{side} {limit} {noun}{'' if limit == 1 else 's'}"


def _either(alternatives: Sequence[str]) -> str:
    if len(alternatives) < 2:
        return "".join(alternatives)
    return f"{', '.join(alternatives[:-1])} or {alternatives[-1]}"


# Values ------------------------------------------------------------------------------------------------------------


def quoted(text: str) -> str:
    """Return a string in single quotes, as pydantic writes enum values, clipped."""
    return "'" + clipped(_printable(text), MAX_VALUE) + "'"


def clip_json(value: object) -> str:
    """Return the compact JSON of any value, cut after MAX_VALUE characters; the work is bounded by that."""
    out: list[str] = []
    left = MAX_VALUE + 1
    # Iterative: each piece is a literal text (in a tuple of one) or a value still to be written.
    todo: list[Any] = [value]
    while todo and left > 0:
        piece = todo.pop()
        if isinstance(piece, _Piece):
            text = piece
        elif isinstance(piece, dict):
            inner: list[Any] = [_Piece("{")]
            for index, (key, item) in enumerate(piece.items()):
                if index >= left:
                    break
                inner += [_Piece("," if index else ""), str(key), _Piece(":"), item]
            todo.extend(reversed([*inner, _Piece("}")]))
            continue
        elif isinstance(piece, list | tuple):
            items: list[Any] = [_Piece("[")]
            for index, item in enumerate(piece[:left]):
                items += [_Piece("," if index else ""), item]
            todo.extend(reversed([*items, _Piece("]")]))
            continue
        else:
            text = _Piece(_scalar(piece, left))
        out.append(text)
        left -= len(text)
    return clipped("".join(out), MAX_VALUE)


class _Piece(str):
    """Text that is JSON already."""

    __slots__ = ()


def _scalar(value: object, limit: int) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        body = value[:limit].replace("\\", "\\\\").replace('"', '\\"')
        return f'"{_printable(body)}"'
    if isinstance(value, int):
        # str() of a huge integer is refused by the interpreter.
        return (
            str(value)
            if value.bit_length() < 256
            else f"{'-' if value < 0 else ''}(integer of {value.bit_length()} bits)"
        )
    return _printable(str(value))


def _printable(text: str) -> str:
    """Escape control characters, line ends, lone surrogates and invisible marks, so that the text stays one line."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else _escaped(c) for c in text)


def _escaped(character: str) -> str:
    short = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(character)
    if short is not None:
        return short
    code = ord(character)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
