"""Defaults held against the schemas that publish them; loaded where one of a tool is not of the plainest kind.

In: the properties of a signature. Out: nothing, or a TypeError at registration. What the schema says must hold for what
the function gets, and a default is published in the schema that it would break.
Spec 2026-07-28: server/tools, "Tool" (inputSchema).
"""

from __future__ import annotations

import enum
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

from msgspec import UNSET

from .derive import type_text
from .explain import explain
from .metadata import is_marker
from .nodes import AnyNode, ChoiceNode, Node, Property, TextNode, alternatives
from .publish import json_value

__all__ = ["default_fault"]


def _of_its_type(node: Node, default: Any) -> str | None:
    """Return what to write for a text or a number that only JSON turns into the type; None for one that needs it not.

    The function would get it as it stands.
    """
    if type(default) not in (str, int):
        return None
    instead = None
    for part in alternatives(node):
        if isinstance(part, ChoiceNode) and isinstance(part.annotation, enum.EnumMeta):
            if default in part.values:
                instead = f"write {part.annotation.__name__}.{part.annotation(default).name}"
        elif isinstance(part, TextNode) and part.kind != "str":
            if type(default) is str and not explain(part, default):
                instead = f"give a {type_text(part.annotation)}"
        elif not explain(part, default):
            return None
    return instead


def _called(default: Any) -> str | None:
    """Return the call of a function, or of a class of Python's own, that is a default itself; None of anything else."""
    is_class = isinstance(default, type) and default.__module__ == "builtins"
    if is_class or isinstance(default, FunctionType | BuiltinFunctionType | MethodType):
        return f"{default.__name__}()"
    return None


def default_fault(entry: Property, annotation: Any) -> str | None:
    """Return why a default cannot be, None for one that fits, or that has no JSON form and so is not published.

    Args:
        entry: the parameter or field.
        annotation: its type, for the text.
    """
    if is_marker(entry.default):
        return "what gives a value in place of the client stands with a parameter of a function, not with a field"
    if type(entry.default).__name__ == "Field" and type(entry.default).__module__ == "dataclasses":
        written = getattr(entry.default, "default", None)
        shown = "..." if type(written).__name__ == "_MISSING_TYPE" else repr(written)
        kind = type_text(annotation)
        return f"the default dataclasses.field() does not fit {kind}; write {entry.name}: {kind} = {shown}"
    if (instead := _called(entry.default)) is not None and not isinstance(entry.node, AnyNode):
        kind = type_text(annotation)
        return f"the default {instead[:-2]} does not fit {kind}; call it, {entry.name}: {kind} = {instead}"
    value = json_value(entry.default)
    faults = [] if value is UNSET else explain(entry.node, value)
    kind = type_text(annotation)
    if not faults:
        instead = _of_its_type(entry.node, entry.default)
        given = "an int" if type(entry.default) is int else "a str"
        return instead and f"the default {entry.default!r} is {given} and no {kind}; {instead}"
    if value is None:
        return f"the default None is no {kind}; write {entry.name}: {kind} | None = None"
    where = f"{faults[0].path}: " if faults[0].path else ""
    instead = _member_named(entry.node, entry.default) or "correct the default or the annotation"
    return f"the default {entry.default!r} does not fit {kind}: {where}{faults[0].message}; {instead}"


def _member_named(node: Node, default: Any) -> str | None:
    """Return what to write for the name of an enumeration's member, None for everything else."""
    for part in alternatives(node):
        enumeration = part.annotation
        if isinstance(enumeration, enum.EnumMeta) and default in list(enumeration.__members__):
            return f"write {enumeration.__name__}.{default}"
    return None
