"""What pydantic has against a value, in our words and with our paths.

In: `ValidationError.errors()` and the plain JSON value. Out: one `Entry` per fault; of a union's alternatives only the
closest is told. Names of classes and addresses of documentation stay out.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, get_args, get_origin

from msgspec import UNSET

from ..schema import faults as say

__all__ = ["Entry", "entries", "is_lenient", "models", "settle"]

Keys = tuple[str | int, ...]
# pydantic's name of the fault to the JSON type that would do.
TYPES = {
    **dict.fromkeys(("string_type", "string_sub_type"), "string"),
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float"), "integer"),
    **dict.fromkeys(("float_type", "float_parsing"), "number"),
    **dict.fromkeys(("bool_type", "bool_parsing"), "boolean"),
    **dict.fromkeys(("list_type", "tuple_type", "set_type", "frozen_set_type", "iterable_type"), "array"),
    **dict.fromkeys(("dict_type", "mapping_type", "model_type", "model_attributes_type", "dataclass_type"), "object"),
    "none_required": "null",
}
ABSENT = ("missing", "missing_argument", "missing_keyword_only_argument", "missing_positional_only_argument")
TOO_DEEP = ("json_invalid", "recursion_loop")  # it gets valid JSON only, so that nothing else can be wrong with it
UNKNOWN = ("extra_forbidden", "unexpected_keyword_argument")


class Entry(NamedTuple):
    """One fault.

    Args:
        keys: member names and indexes from the value down.
        tags: alternatives of unions on the way: how many keys stand before each, and its name.
        wanted: the JSON type that would do, where that is all there is to say.
    """

    keys: Keys
    tags: tuple[tuple[int, str], ...]
    code: str
    message: str
    value: Any
    wanted: str = ""


def entries(errors: Sequence[Any], value: Any, annotation: Any) -> list[Entry]:
    """Return the faults, each where it is in `value`."""
    return [_entry(error, value, annotation) for error in errors]


def _entry(error: Any, value: Any, annotation: Any) -> Entry:
    code = error["type"]
    keys, tags, current = _place(error["loc"], value, code in ABSENT)
    context = error.get("ctx") or {}
    wanted = TYPES.get(code, "")
    message = say.expected(wanted) if wanted else str(error["msg"])
    if code in ABSENT:
        message = say.REQUIRED
    elif code in TOO_DEEP:
        message = say.TOO_DEEP
    elif code in UNKNOWN and keys:
        accepted = _accepted(annotation, keys[:-1])
        message = say.unknown_name(str(keys[-1]), accepted) if accepted else message
        current = UNSET
    elif code in ("value_error", "assertion_error") and "error" in context:
        message = str(context["error"]) or "Input is not valid"
    elif code in ("union_tag_invalid", "union_tag_not_found"):
        keys, message, current = _tag_fault(error, context, keys, current)
        wanted = "" if message != say.expected("object") else "object"
    return Entry(keys, tags, code, message, current, wanted)


def _place(loc: Sequence[str | int], value: Any, absent: bool) -> tuple[Keys, tuple[tuple[int, str], ...], Any]:
    """Tell the keys in a location from the names of alternatives, by walking the value."""
    keys: list[str | int] = []
    tags: list[tuple[int, str]] = []
    for index, part in enumerate(loc):
        if part == "[key]":
            value = keys[-1] if keys else value
        elif isinstance(value, list) and isinstance(part, int) and 0 <= part < len(value):
            keys.append(part)
            value = value[part]
        elif isinstance(value, dict) and str(part) in value:
            keys.append(str(part))
            value = value[str(part)]
        elif absent and index == len(loc) - 1:
            keys.append(part)
            value = UNSET
        else:
            tags.append((len(keys), str(part)))
    return tuple(keys), tuple(tags), value


def _tag_fault(error: Any, context: Any, keys: Keys, value: Any) -> tuple[Keys, str, Any]:
    if not isinstance(value, dict):
        return keys, say.expected("object"), value
    name = str(context.get("discriminator", "")).strip("'")
    below = (*keys, name) if name.isidentifier() else keys
    if error["type"] == "union_tag_not_found":
        return below, say.REQUIRED, UNSET
    alternatives = str(context.get("expected_tags", "")).split(", ")
    shown = value.get(name, value) if below != keys else value
    return below, say.expected(*alternatives), shown


# Unions -----------------------------------------------------------------------------------------------------------


def settle(found: Sequence[Entry]) -> list[Entry]:
    """Return the faults with those of every union reduced to its closest alternative, in their order."""
    slots: dict[Any, Any] = {}
    for number, entry in enumerate(found):
        if not entry.tags:
            slots[number] = [entry]
            continue
        (depth, tag), *rest = entry.tags
        branches = slots.setdefault((entry.keys[:depth],), {})
        branches.setdefault(tag, []).append(entry._replace(tags=tuple(rest)))
    settled: list[Entry] = []
    for place, slot in slots.items():
        settled += slot if isinstance(slot, list) else _closest(place[0], [settle(part) for part in slot.values()])
    return settled


def _closest(at: Keys, branches: list[list[Entry]]) -> list[Entry]:
    misses = [branch[0] for branch in branches if branch[0].keys == at and branch[0].wanted]
    if len(misses) == len(branches):
        names = [entry.wanted for entry in misses]
        return [misses[0]._replace(message=say.expected(*names))]
    return min(branches, key=lambda branch: (branch[0].keys == at and bool(branch[0].wanted), len(branch)))


# What the author allows ---------------------------------------------------------------------------------------------


def is_lenient(annotation: Any, keys: Keys) -> bool:
    """True where the author wrote `strict=False` on the model or the field that the keys lead to."""
    lenient = any(_config(model).get("strict") is False for model in models(annotation))
    for fields, model in _steps(annotation, keys):
        marks = [mark.strict for mark in fields.metadata if type(mark).__name__ == "Strict"]
        lenient = (marks[-1] if marks else _config(model).get("strict")) is False
    return lenient


def _accepted(annotation: Any, keys: Keys) -> tuple[str, ...]:
    """Return the member names of the only model that the keys lead to, nothing where there are several."""
    reached = models(annotation)
    for field, _ in _steps(annotation, keys):
        reached = models(field.annotation)
    return tuple(_wire_name(*item) for item in _fields(reached[0]).items()) if len(reached) == 1 else ()


def _steps(annotation: Any, keys: Keys) -> Iterator[tuple[Any, Any]]:
    """Yield field and model for every key that names a field."""
    reached = models(annotation)
    for key in keys:
        hits = [
            (field, model)
            for model in reached
            for name, field in _fields(model).items()
            if _wire_name(name, field) == key
        ]
        if hits:
            yield hits[0]
            reached = [model for field, _ in hits for model in models(field.annotation)]


def models(annotation: Any) -> list[Any]:
    """Return the models in an annotation; that of a RootModel's content stands for the RootModel."""
    origin = get_origin(annotation)
    cls = origin if hasattr(origin, "__pydantic_fields__") else annotation
    if not hasattr(cls, "__pydantic_fields__"):
        return [model for part in get_args(annotation) for model in models(part)]
    if issubclass(cls, sys.modules["pydantic"].RootModel) and "root" in cls.__pydantic_fields__:
        return models(cls.__pydantic_fields__["root"].annotation) or [cls]
    return [cls]


def _fields(model: Any) -> dict[str, Any]:
    fields: dict[str, Any] = model.__pydantic_fields__
    return fields


def _wire_name(name: str, field: Any) -> str:
    alias = field.validation_alias
    return alias if isinstance(alias, str) else name


def _config(model: Any) -> dict[str, Any]:
    config: dict[str, Any] = getattr(model, "model_config", None) or getattr(model, "__pydantic_config__", None) or {}
    return config
