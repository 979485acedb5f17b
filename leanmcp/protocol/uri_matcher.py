"""A URI taken apart by a template, in linear time.

In: the parts of a template, once; then URIs. Out: values, or None.
A set of places in the URI is one integer, a bit for each place. From the last part of the template to the first, the
places where the rest of the template fits are found by a few operations on such integers: whatever the template, and
whatever the URI, there is nothing to go back over. Then one walk forward gives every variable as much as it can take.
RFC 6570 has no such direction; ours.
"""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import quote, unquote_to_bytes

from .uri_template import NO_URI, Expression, Part, Values, Variable, escape

_SEGMENT = "/?#"  # what one segment of a path never holds
_ASCII = "".join(map(chr, range(0x21, 0x7F)))

Bindings = list[tuple[Variable, str | list[str]]]


class _Literal(NamedTuple):
    data: bytes


class _Capture(NamedTuple):
    """The place of a variable."""

    variable: Variable
    flags: bytes
    """For `bytes.translate`: `1` for what may be in it."""
    least: int
    """Bytes that it has at least."""
    lead: str = ""
    """What an exploded variable begins with, unless it is empty; the `=` of `{;name}` likewise."""
    separator: str = ""


_Atom = _Literal | _Capture


class Matcher:
    """Takes URIs apart.

    Args:
        parts: of the template.

    Attributes:
        optional: names of the variables that a URI may leave out.
    """

    __slots__ = ("_amps", "_atoms", "_prefix", "_query", "_repeats", "optional")

    def __init__(self, parts: list[Part]) -> None:
        path, query, self._amps = _split_query(parts)
        self._query = {variable.name: variable for variable in query}
        self.optional = frozenset(self._query)
        self._atoms = _atoms(path)
        first = self._atoms[0] if self._atoms else None
        self._prefix = first.data.decode("ascii") if isinstance(first, _Literal) else ""
        variables = [variable for part in parts if isinstance(part, Expression) for variable in part.variables]
        prefixed = any(variable.prefix for variable in variables)
        self._repeats = prefixed or len({variable.name for variable in variables}) < len(variables)

    def match(self, uri: str) -> Values | None:
        """Return the values in `uri`, None where it does not fit."""
        if not uri.isascii():
            try:
                uri = quote(uri, safe=_ASCII)  # RFC 3987 3.1
            except UnicodeEncodeError:  # a lone surrogate
                return None
        if not uri.startswith(self._prefix) or NO_URI.search(uri) is not None:
            return None
        query = None
        if self._query:
            uri, query = self._cut(uri)
        found = self._take(uri)
        if found is None or (query is not None and not self._read_query(query, found)):
            return None
        try:
            decoded = [(variable, _decoded(value)) for variable, value in found]
        except UnicodeDecodeError:
            return None
        if self._repeats:
            return _agreed(decoded)
        return {variable.name: value for variable, value in decoded}

    # --- the query ----------------------------------------------------------------------------------------------

    def _cut(self, uri: str) -> tuple[str, str | None]:
        """Return the URI before the variables of its query, and these."""
        at = uri.find("?")
        for _number in range(self._amps):
            at = uri.find("&", at + 1) if at >= 0 else at
        return (uri, None) if at < 0 else (uri[:at], uri[at + 1 :])

    def _read_query(self, query: str, found: Bindings) -> bool:
        lists: dict[str, list[str]] = {}
        seen: set[str] = set()
        for pair in query.split("&"):
            name, _, value = pair.partition("=")
            variable = self._query.get(name)
            if variable is None or "#" in value or (name in seen and not variable.explode):
                return False
            seen.add(name)
            if not variable.explode:
                found.append((variable, value))
            elif name in lists:
                lists[name].append(value)
            else:
                lists[name] = [value]
                found.append((variable, lists[name]))
        return True

    # --- the rest -----------------------------------------------------------------------------------------------

    def _take(self, uri: str) -> Bindings | None:
        data = uri.encode("ascii")
        fits = self._fits(data)
        if fits is None:
            return None
        size, at = len(data), 0
        found: Bindings = []
        for number, atom in enumerate(self._atoms):
            if isinstance(atom, _Literal):
                at += len(atom.data)
                continue
            end = data.translate(atom.flags).find(b"0", at)
            behind = size - end if end >= 0 else 0
            # Bit q stands for the place q bytes before the end: the lowest one is the furthest place.
            places = fits[number + 1] >> behind
            furthest = size - behind - ((places & -places).bit_length() - 1)
            text = data[at:furthest].decode("ascii")
            value = _value(atom, text)
            if value is None:
                return None
            found.append((atom.variable, value))
            at = furthest
        return found

    def _fits(self, data: bytes) -> list[int] | None:
        """Return for each atom, and the end, the places where it and all behind it fit; None where the first do not."""
        size = len(data)
        # A place inside of a percent triplet, or between two triplets of one character, is none.
        percent, inner = int(b"0" + data.translate(_PERCENT), 2), int(b"0" + data.translate(_CONTINUATION), 2)
        places = ~(percent | percent >> 1 | (percent & inner << 1) << 1)
        fits = [1]
        for atom in reversed(self._atoms):
            after = fits[-1]
            if isinstance(atom, _Literal):
                here = after << len(atom.data) & _occurrences(data, atom.data)
            else:
                fitting = int(b"0" + data.translate(atom.flags), 2) << 1
                # Adding carries each start to the end of its run of fitting bytes.
                starts = after << 1 & fitting
                here = ((fitting + starts) ^ fitting) & fitting | starts
                if not atom.least:
                    here |= after
            here &= places
            if not here:
                return None
            fits.append(here)
        return fits[::-1] if fits[-1] >> size & 1 else None


def _table(ones: str, *, but: bool) -> bytes:
    """Return the table that makes `1` of the given characters, or of all but these, and `0` of the others."""
    return bytes(ord("1") if (chr(code) in ones) is not but else ord("0") for code in range(256))


_PERCENT = _table("%", but=False)
_CONTINUATION = _table("89ABab", but=False)  # what follows the `%` of a byte that goes on with a character


def _occurrences(data: bytes, literal: bytes) -> int:
    flags = bytearray(b"0") * (len(data) + 1)
    at = data.find(literal)
    while at >= 0:
        flags[at] = ord("1")
        at = data.find(literal, at + 1)
    return int(flags, 2)


# --- what a capture holds -------------------------------------------------------------------------------------------


def _value(atom: _Capture, text: str) -> str | list[str] | None:
    """Return the value in the text of a capture, still percent-encoded; None where it is none after all."""
    if not atom.variable.explode:
        if not atom.lead or not text:
            return text
        return text[len(atom.lead) :] if text.startswith(atom.lead) else None
    if not text:
        return []
    if not text.startswith(atom.lead):
        return None
    items = text[len(atom.lead) :].split(atom.separator)
    if atom.variable.operator not in (";", "?", "&"):
        return items
    name = atom.variable.name
    pairs = [item.partition("=") for item in items]
    return [value for _, _, value in pairs] if all(found == name for found, _, _ in pairs) else None


def _decoded(value: str | list[str]) -> str | list[str]:
    """Percent-decode once; UnicodeDecodeError where that is no UTF-8."""
    if isinstance(value, list):
        return [unquote_to_bytes(item).decode() if "%" in item else item for item in value]
    return unquote_to_bytes(value).decode() if "%" in value else value


def _agreed(found: Bindings) -> Values | None:
    """Return the values where a variable stands several times, or is cut short: they must agree."""
    values: Values = {}
    short: dict[str, tuple[int, str]] = {}
    for variable, value in found:
        if variable.prefix and isinstance(value, str):
            size, known = short.get(variable.name, (0, ""))
            longer, shorter = (value, known) if variable.prefix >= size else (known, value)
            if len(value) > variable.prefix or not longer.startswith(shorter):
                return None
            short[variable.name] = max(size, variable.prefix), longer
        elif values.setdefault(variable.name, value) != value:
            return None
    for name, (size, text) in short.items():
        value = values.setdefault(name, text)
        if not isinstance(value, str) or value[:size] != text:
            return None
    return values


# --- from parts to atoms ----------------------------------------------------------------------------------------------


def _split_query(parts: list[Part]) -> tuple[list[Part], list[Variable], int]:
    """Return the parts before the optional query, its variables, and how many `&` stand before it.

    A template that ends otherwise, or whose query has an `&`-variable without a `?` before it, has no optional query.
    """
    start = len(parts)
    while start and isinstance(part := parts[start - 1], Expression) and part.operator.sign in ("?", "&"):
        start -= 1
    tail = [part for part in parts[start:] if isinstance(part, Expression)]
    before = "".join(part for part in parts[:start] if isinstance(part, str))
    if not tail or any(part.operator.sign == "?" for part in tail[1:]):
        return parts, [], 0
    mark = before.find("?")
    if (tail[0].operator.sign == "?") is not (mark < 0):
        return parts, [], 0
    variables = [variable for part in tail for variable in part.variables]
    return parts[:start], variables, 0 if mark < 0 else before.count("&", mark) + 1


def _atoms(parts: list[Part]) -> list[_Atom]:
    atoms: list[_Atom] = []
    in_query = False
    for part in parts:
        if isinstance(part, str):
            in_query = in_query or "?" in part
            _add(atoms, escape(part, True))
        else:
            _add_expression(atoms, part, in_query)
    return atoms


def _add(atoms: list[_Atom], text: str) -> None:
    """Add a literal, joined with the one before it."""
    if not text:
        return
    if atoms and isinstance(atoms[-1], _Literal):
        atoms[-1] = _Literal(atoms[-1].data + text.encode("ascii"))
    else:
        atoms.append(_Literal(text.encode("ascii")))


def _add_expression(atoms: list[_Atom], expression: Expression, in_query: bool) -> None:
    operator = expression.operator
    several = len(expression.variables) > 1
    for number, variable in enumerate(expression.variables):
        lead = operator.separator if number else operator.first
        never = "" if operator.reserved else "&#" if operator.sign in ("?", "&") else _SEGMENT + "&" * in_query
        if variable.explode:
            flags = _table(never.replace(operator.separator, ""), but=True)
            atoms.append(_Capture(variable, flags, 0, lead, operator.separator))
            continue
        flags = _table(never + operator.separator if several or operator.sign == ";" else never, but=True)
        if operator.named:
            _add(atoms, f"{lead}{variable.name}{operator.if_empty}")
            atoms.append(_Capture(variable, flags, 0, "" if operator.if_empty else "="))
        else:
            _add(atoms, lead)
            atoms.append(_Capture(variable, flags, 0 if operator.first else 1))
