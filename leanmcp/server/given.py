"""JSON Schemas written by hand: compiled once at registration, published as they stand, enforced exactly.

In: a schema as plain values. Out: `Given`, which finds every fault of a value; a ValueError where a schema is none, or
cannot be enforced, so that nothing is published which does not hold. Nothing is ever fetched.
Spec 2026-07-28: basic/index, "JSON Schema Usage".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import UNSET, Struct

from .. import schema as json_schema
from ..logs import logger
from ..mistyped import closest
from ..schema import SchemaError, Validator
from ..schema.dialects import DIALECTS
from ..schema.faults import Fault
from .publish import json_value

__all__ = ["Given", "compile_schema"]


class Given(Struct, frozen=True):
    """A schema written by hand.

    Args:
        schema: as it is published: the same members in the same order.
        validator: as it is enforced.
    """

    schema: dict[str, Any]
    validator: Validator

    def takes(self, value: Any) -> bool:
        """Tell whether plain JSON values fit; then 5.0 becomes 5 in place where only integers do."""
        fits = self.validator.is_valid(value)
        if fits:
            self.validator.fold(value)
        return fits

    def faults(self, value: Any) -> list[Fault]:
        """Return everything that is wrong with plain JSON values; those that fit are folded as in `takes`."""
        found = self.validator.faults(value)
        if not found:
            self.validator.fold(value)
        return found


def compile_schema(schema: object, label: str) -> Given:
    """Return a schema in the form that is enforced.

    Args:
        schema: plain JSON values, an object at the root.
        label: what it is, for error texts.

    Raises:
        TypeError: no JSON object.
        ValueError: no JSON Schema, or one that cannot be enforced: an unsupported dialect, a reference that leads
            away, a limit; the text has its JSON pointer.
    """
    copy = json_value(schema)
    if not isinstance(schema, dict) or copy is UNSET:
        what = type(schema).__name__
        if isinstance(schema, dict):
            what = next((f"{key!r}: {value!r}" for key, value in _members(schema) if json_value(value) is UNSET), what)
        raise TypeError(f"{label} must be a JSON Schema as a dict of plain JSON values, not {what}")
    try:
        given = Given(copy, json_schema.compile(copy))
    except SchemaError as error:
        raise ValueError(f"{label}: {error}") from None
    _lint_keywords(copy, label)
    return given


def _members(schema: Any) -> Iterator[tuple[object, Any]]:
    """Yield the members of a dict, of those inside of it too, the innermost first."""
    for key, value in schema.items() if isinstance(schema, dict) else enumerate(schema):
        if isinstance(value, dict | list):
            yield from _members(value)
        yield key, value


def _lint_keywords(schema: dict[str, Any], label: str) -> None:
    """Warn of members at the root that are no keywords and are written much like one: nobody enforces them."""
    known = {keyword for dialect in DIALECTS.values() for keyword in dialect.keywords}
    for name in schema:
        meant = None if name in known else closest(name, known, cutoff=0.8)
        if meant is not None:
            logger.warning("%s has the member %r, which is no keyword; did you mean %r?", label, name, meant)
