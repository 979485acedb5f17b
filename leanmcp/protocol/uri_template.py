"""URI templates: parsed once, expanded from values, and matched against URIs.

In: a template and values, or a template and a URI. Out: a URI, or the values in it.
RFC 6570 whole, level 4 included; matching, which the RFC leaves open (1.4), is described at `UriTemplate.match`.
Spec 2026-07-28: server/resources, "Resource Templates".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote

__all__ = ["NO_URI", "Expression", "InvalidUriTemplate", "Operator", "UriTemplate", "Variable", "escape"]

MAX_TEMPLATE = 8192  # characters
MAX_VARIABLES = 100
MAX_URI = 64 * 1024  # characters of a URI that is matched; a longer one fits nothing
RESERVED = ":/?#[]@!$&'()*+,;="

Values = dict[str, str | list[str]]


class InvalidUriTemplate(ValueError):
    """A template that RFC 6570 does not allow; the text says where and what to write instead.

    Args:
        message: what is wrong.
        template: the whole template.
        position: index of the character at fault.
    """

    def __init__(self, message: str, *, template: str, position: int | None = None) -> None:
        super().__init__(message)
        self.template = template
        self.position = position


class Operator(NamedTuple):
    """How an expression expands: the table of RFC 6570, appendix A."""

    sign: str
    first: str
    separator: str
    named: bool
    if_empty: str
    """What stands behind a name whose value is empty."""
    reserved: bool
    """Whether reserved characters stay as they are."""


OPERATORS = {
    operator.sign: operator
    for operator in (
        Operator("", "", ",", False, "", False),
        Operator("+", "", ",", False, "", True),
        Operator("#", "#", ",", False, "", True),
        Operator(".", ".", ".", False, "", False),
        Operator("/", "/", "/", False, "", False),
        Operator(";", ";", ";", True, "", False),
        Operator("?", "?", "&", True, "=", False),
        Operator("&", "&", "&", True, "=", False),
    )
}


class Variable(NamedTuple):
    """One variable of an expression."""

    name: str
    operator: str
    """`+`, `#`, `.`, `/`, `;`, `?`, `&`, or empty."""
    explode: bool = False
    """Written `{name*}`: its value is a list."""
    prefix: int = 0
    """Written `{name:3}`: the most characters of it that are shown; 0 for all."""


class Expression(NamedTuple):
    """What stands in one pair of braces."""

    operator: Operator
    variables: list[Variable]


Part = str | Expression


class UriTemplate:
    """A parsed template; made by `parse`, never changed, equal to another of the same text.

    Attributes:
        template: the text.
        parts: literals and expressions in order.
        variables: in order of appearance; one that is used twice stands there twice.
    """

    __slots__ = ("_matcher", "parts", "template", "variables")

    def __init__(self, template: str, parts: list[Part]) -> None:
        from .uri_matcher import Matcher  # knows this module's parts

        self.template = template
        self.parts = parts
        self.variables = [variable for part in parts if isinstance(part, Expression) for variable in part.variables]
        self._matcher = Matcher(parts)

    @staticmethod
    def is_template(value: str) -> bool:
        """Tell whether a text has an expression in it; it may be malformed all the same."""
        return "}" in value.partition("{")[2]

    @classmethod
    def parse(cls, template: str) -> UriTemplate:
        """Return the template that a text stands for.

        Raises:
            InvalidUriTemplate: it is malformed, over 8,192 characters or has over 100 variables.
        """
        if len(template) > MAX_TEMPLATE:
            raise InvalidUriTemplate(f"a URI template has at most {MAX_TEMPLATE} characters", template=template)
        parsed = cls(template, list(_parts(template)))
        if len(parsed.variables) > MAX_VARIABLES:
            raise InvalidUriTemplate(f"a URI template has at most {MAX_VARIABLES} variables", template=template)
        return parsed

    @property
    def variable_names(self) -> list[str]:
        """The names of the variables, each once, in order of appearance."""
        return list(dict.fromkeys(variable.name for variable in self.variables))

    @property
    def query_variable_names(self) -> frozenset[str]:
        """The variables that a URI may leave out: those of `{?...}` and `{&...}` at the end of the template."""
        return self._matcher.optional

    def expand(self, variables: Mapping[str, Any]) -> str:
        """Return the URI of these values; one that is missing or None leaves no trace.

        Args:
            variables: texts, numbers, lists of them, or mappings of texts (which `*` writes as `key=value`).

        Raises:
            TypeError: a value of another type.
            ValueError: a list or mapping for a variable with a prefix (`{name:3}`), or a lone surrogate.

        Spec: RFC 6570 3.2.
        """
        return "".join(escape(part, True) if isinstance(part, str) else _expand(part, variables) for part in self.parts)

    def match(self, uri: str) -> Values | None:
        """Return the values that expand to `uri`, None where it does not fit.

        Values are percent-decoded once, and must be UTF-8 then; a malformed escape anywhere fits nothing. `{name}`,
        `{.name}`, `{/name}` and `{;name}` never hold a raw `/`, `?` or `#`; `{+name}` and `{#name}` hold anything.
        A plain `{name}` or `{+name}` has at least one character. `{?...}` and `{&...}` at the end of the template fit
        in any order and may be left out, so that the result lacks them; names that are not in the template, or twice
        there, do not fit. Exploded variables give lists, empty ones included. Where a URI can be read in several ways,
        the first variable takes as much as it can, as in a regular expression.

        The time is linear in the length of the URI, whatever the template.
        """
        return self._matcher.match(uri) if len(uri) <= MAX_URI else None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UriTemplate) and self.template == other.template

    def __hash__(self) -> int:
        return hash(self.template)

    def __str__(self) -> str:
        return self.template

    def __repr__(self) -> str:
        return f"UriTemplate({self.template!r})"


# --- parsing --------------------------------------------------------------------------------------------------------

_NAME = r"(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})+(?:\.(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})+)*"
_VARIABLE = re.compile(rf"({_NAME})(?:(\*)|:([1-9][0-9]{{0,3}}))?")
# What neither a URI (RFC 3986 2) nor a literal of a template (RFC 6570 2.1, with its erratum on apostrophes) may hold.
# Characters outside of ASCII stand for their percent-encoded UTF-8 (RFC 3987).
NO_URI = re.compile(r"""[\x00-\x20"<>\\^`{|}\x7f]|%(?![0-9A-Fa-f]{2})""")


def _parts(template: str) -> Iterator[Part]:
    at = 0
    while at < len(template):
        brace = template.find("{", at)
        end = len(template) if brace < 0 else brace
        if end > at:
            yield _literal(template, at, end)
        if brace < 0:
            return
        closing = template.find("}", brace)
        if closing < 0:
            raise InvalidUriTemplate("'{' is never closed; write {name}", template=template, position=brace)
        yield _expression(template, brace + 1, closing)
        at = closing + 1


def _literal(template: str, start: int, end: int) -> str:
    text = template[start:end]
    fault = NO_URI.search(text)
    if fault is not None:
        where = start + fault.start()
        raise InvalidUriTemplate(
            f"{fault[0]!r} at {where} cannot stand in a URI; percent-encode it", template=template, position=where
        )
    return text


def _expression(template: str, start: int, end: int) -> Expression:
    body = template[start:end]
    sign = body[:1]
    if sign and sign in "=,!@|":
        raise InvalidUriTemplate(
            f"operator {sign!r} at {start} is reserved; use one of + # . / ; ? &", template=template, position=start
        )
    operator = OPERATORS.get(sign) or OPERATORS[""]
    variables = []
    for text in body[len(operator.sign) :].split(","):
        found = _VARIABLE.fullmatch(text)
        if found is None:
            raise InvalidUriTemplate(
                f"{{{body}}}: {text!r} is no variable; write a name of A-Z a-z 0-9 _, or name* for a list",
                template=template,
                position=start,
            )
        variables.append(Variable(found[1], operator.sign, found[2] is not None, int(found[3] or 0)))
    return Expression(operator, variables)


# --- expansion ------------------------------------------------------------------------------------------------------

_TRIPLET = re.compile(r"(%[0-9A-Fa-f]{2})")


def escape(text: str, reserved: bool) -> str:
    """Percent-encode all but unreserved characters, and reserved ones and triplets where they may stay."""
    if not reserved:
        return quote(text, safe="")
    pieces = _TRIPLET.split(text)
    return "".join(piece if at % 2 else quote(piece, safe=RESERVED) for at, piece in enumerate(pieces))


def _expand(expression: Expression, values: Mapping[str, Any]) -> str:
    operator = expression.operator
    shown = []
    for variable in expression.variables:
        value = values.get(variable.name)
        if value is not None:
            text = _expand_variable(operator, variable, value)
            if text is not None:
                shown.append(text)
    return operator.first + operator.separator.join(shown) if shown else ""


def _expand_variable(operator: Operator, variable: Variable, value: Any) -> str | None:
    """Return what one variable comes to, None for an empty list, which counts as undefined."""
    name, reserved = variable.name, operator.reserved
    if isinstance(value, Mapping):
        pairs = [(escape(str(key), reserved), escape(_text(name, item), reserved)) for key, item in value.items()]
        if variable.explode:
            return operator.separator.join(f"{key}={item}" for key, item in pairs) if pairs else None
        return _joined(operator, variable, [text for pair in pairs for text in pair])
    if isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray):
        items = [escape(_text(name, item), reserved) for item in value]
        if not variable.explode:
            return _joined(operator, variable, items)
        if operator.named:
            items = [_named(operator, name, item) for item in items]
        return operator.separator.join(items) if items else None
    text = _text(name, value)
    text = escape(text[: variable.prefix] if variable.prefix else text, reserved)
    return _named(operator, name, text) if operator.named else text


def _joined(operator: Operator, variable: Variable, items: list[str]) -> str | None:
    if variable.prefix:
        raise ValueError(f"{{{variable.name}:{variable.prefix}}} takes a text; a list has no first characters")
    if not items:
        return None
    text = ",".join(items)
    return _named(operator, variable.name, text) if operator.named else text


def _named(operator: Operator, name: str, text: str) -> str:
    return f"{name}={text}" if text else name + operator.if_empty


def _text(name: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    raise TypeError(f"{name}: a URI template takes texts, numbers, lists or mappings of them, not {value!r}")
