"""Defaults held against the schemas that publish them; loaded where one of a tool is not of the plainest kind.

In: the properties of a signature. Out: nothing, or a TypeError at registration. What the schema says must hold for what
the function gets, and a default is published in the schema that it would break.
Spec 2026-07-28: server/tools, "Tool" (inputSchema).
"""

from __future__ import annotations

from typing import Any

from msgspec import UNSET

from .derive import type_text
from .explain import explain
from .metadata import is_marker
from .nodes import Property
from .publish import json_value

__all__ = ["default_fault"]


def default_fault(entry: Property, annotation: Any) -> str | None:
    """Return why a default cannot be, None for one that fits, or that has no JSON form and so is not published.

    Args:
        entry: the parameter or field.
        annotation: its type, for the text.
    """
    if is_marker(entry.default):
        return "what gives a value in place of the client stands with a parameter of a function, not with a field"
    value = json_value(entry.default)
    faults = [] if value is UNSET else explain(entry.node, value)
    if not faults:
        return None
    kind = type_text(annotation)
    if value is None:
        return f"the default None is no {kind}; write {entry.name}: {kind} | None = None"
    where = f"{faults[0].path}: " if faults[0].path else ""
    return (
        f"the default {entry.default!r} does not fit {kind}: {where}{faults[0].message}; correct the default or the "
        "annotation"
    )
