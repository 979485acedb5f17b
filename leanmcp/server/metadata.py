"""What stands in `Annotated[...]` beside the type, in every dialect that a signature may use.

In: `msgspec.Meta` (made by `Field` or by hand), a plain string, `Header`, pydantic's `FieldInfo`, `annotated_types`
objects and documentation markers, the foreign ones read by attribute and class name. Out: constraints and notes.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Annotated, Any, get_args, get_origin

import msgspec
from msgspec import UNSET, Meta, Struct

from ..constraints import Constraints, FieldExtra, absent, field_extra, read_meta
from ..fields import Field, Header
from .nodes import Notes

__all__ = ["Marks", "field_settings", "is_marker", "is_unread", "merge_notes", "read", "split"]

BOUNDS = {"Gt": "gt", "Ge": "ge", "Lt": "lt", "Le": "le", "MultipleOf": "multiple_of"}
LENGTHS = {"MinLen": "min_length", "MaxLen": "max_length"}
GROUPS = {"Interval": ("gt", "ge", "lt", "le"), "Len": ("min_length", "max_length")}
KEYWORDS = {
    "minimum": "ge",
    "maximum": "le",
    "exclusiveMinimum": "gt",
    "exclusiveMaximum": "lt",
    "multipleOf": "multiple_of",
    "minLength": "min_length",
    "maxLength": "max_length",
    "minItems": "min_length",
    "maxItems": "max_length",
    "pattern": "pattern",
}
"""What checks a value in JSON Schema, and its name in `Field`."""
FOREIGN_PACKAGES = ("pydantic", "annotated_types")
HARMLESS = ("Strict", "Unit", "Discriminator", "Tag")
# Where what gives a value that is not the client's is made; `Depends` of others looks like ours to the eye.
MARKER_MODULES = tuple(f"leanmcp.server.{name}" for name in ("context", "elicitation", "injection", "resolve"))
FOREIGN_MARKERS = ("Depends", "Security")
_NO_MARKS = (int, float, list, tuple, set, frozenset, range)
_FUNCTIONS = (FunctionType, BuiltinFunctionType, MethodType)


class Marks(Struct, kw_only=True):
    """The metadata of one `Annotated`.

    Args:
        native: msgspec reads the same constraints from the same place, with the same meaning.
    """

    constraints: Constraints = Constraints()
    notes: Notes = Notes()
    native: bool = True


def read(marks: Iterable[Any]) -> Marks:
    """Return constraints and notes; a later mark wins.

    Raises:
        TypeError: a mark asks for a check that nobody would do.
    """
    result = Marks()
    for mark in marks:
        found, notes, native = _read_one(mark)
        result.constraints = result.constraints.merge(found)
        result.notes = merge_notes(notes, result.notes)
        result.native = result.native and (native or not found.given())
    return result


def _read_one(mark: Any) -> tuple[Constraints, Notes, bool]:
    if isinstance(mark, Meta):
        notes = Notes(
            title=mark.title, description=mark.description, examples=mark.examples, extra=mark.extra_json_schema
        )
        extra = field_extra(mark)
        if extra is not None:
            return read_meta(mark), notes, not extra.held.given()
        return read_meta(mark), notes, mark.pattern is None
    if isinstance(mark, str):
        return Constraints(), Notes(description=mark), True
    if isinstance(mark, Header):
        return Constraints(), Notes(header=mark.name), True
    if is_field_info(mark):
        return _read_field_info(mark)
    if is_marker(mark):
        raise TypeError(
            "what gives a value in place of the client stands beside the type of a parameter, not of a field"
        )
    if mark is Field or mark is Header:
        name = mark.__name__
        raise TypeError(f"{name} is not called, and so has no effect; write Annotated[..., {name}(...)]")
    if isinstance(mark, _FUNCTIONS):
        name, instead = mark.__name__, f"write Depends({mark.__name__}) for its value"
        if name == "<lambda>":
            name, instead = "the lambda", "check the argument in the function, or with Field(...)"
        raise TypeError(f"nobody calls {name}, which stands beside it; {instead}")
    if isinstance(mark, dict) and (keyword := next((name for name in KEYWORDS if name in mark), None)) is not None:
        raise TypeError(f"the dict beside it says nothing here; write Field({KEYWORDS[keyword]}={mark[keyword]!r})")
    documentation = getattr(mark, "documentation", None)
    if isinstance(documentation, str):
        return Constraints(), Notes(description=documentation), True
    return Constraints(**_foreign(mark)), Notes(), False


def is_marker(thing: Any) -> bool:
    """True for what says that a value is not the client's, in a right place or a wrong one, called or not."""
    if hasattr(thing, "provide") or type(thing).__name__ in FOREIGN_MARKERS:
        return True
    return getattr(thing, "__module__", None) in MARKER_MODULES


def is_unread(mark: Any) -> bool:
    """True for what nobody here reads beside a type; other libraries may."""
    if callable(getattr(mark, "json_schema_extra", None)):
        return True
    return isinstance(mark, _NO_MARKS) or (isinstance(mark, type) and mark.__module__ == "builtins")


def is_field_info(mark: Any) -> bool:
    """True for pydantic's FieldInfo."""
    return type(mark).__name__ == "FieldInfo" and hasattr(mark, "metadata")


def _read_field_info(info: Any) -> tuple[Constraints, Notes, bool]:
    found: dict[str, Any] = {}
    for part in info.metadata:
        found.update(_foreign(part))
    if info.validation_alias is not None and not isinstance(info.validation_alias, str):
        raise TypeError("Field has more than one alias; give one name")
    if getattr(info, "default_factory_takes_validated_data", None):
        raise TypeError("default_factory of Field takes the other values; give one without arguments")
    extra = {"deprecated": True} if getattr(info, "deprecated", None) else {}
    notes = Notes(
        title=info.title,
        description=info.description,
        examples=None if info.examples is None else list(info.examples),
        extra=extra | (info.json_schema_extra if isinstance(info.json_schema_extra, dict) else {}) or None,
    )
    return Constraints(**found), notes, False


def _foreign(mark: Any) -> dict[str, Any]:
    """Read one `annotated_types` object, or pydantic's private holder of `pattern` and the like, by name."""
    kind = type(mark).__name__
    if kind in BOUNDS or kind in LENGTHS:
        name = BOUNDS.get(kind) or LENGTHS[kind]
        return {name: getattr(mark, name)}
    if kind in GROUPS:
        found = {name: getattr(mark, name) for name in GROUPS[kind] if getattr(mark, name) is not None}
        return {name: value for name, value in found.items() if (name, value) != ("min_length", 0)}
    if kind in ("_PydanticGeneralMetadata", "PydanticGeneralMetadata"):
        return _general(vars(mark))
    if kind == "StringConstraints":
        return _general({name: getattr(mark, name) for name in mark.__dataclass_fields__})
    if type(mark).__module__.partition(".")[0] in FOREIGN_PACKAGES and kind not in HARMLESS:
        raise TypeError(f"{kind} in Annotated would not be run; put it in a pydantic model or check in the function")
    return {}


def _general(settings: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in settings.items():
        if value is None or value is False or name == "strict":
            continue
        if name not in ("pattern", "min_length", "max_length", "multiple_of"):
            raise TypeError(f"{name}= of Field is not enforced here; leave it out or use a pydantic model")
        found[name] = getattr(value, "pattern", value)
    return found


def field_settings(mark: Any) -> FieldExtra | None:
    """Return default, default factory and alias that a `Field` of either kind carries, None for other marks."""
    if not is_field_info(mark):
        return field_extra(mark)
    alias = mark.alias if mark.validation_alias is None else mark.validation_alias
    return FieldExtra(
        default=UNSET if absent(mark.default) else mark.default,
        default_factory=mark.default_factory,
        alias=alias if isinstance(alias, str) else None,
    )


def split(annotation: Any) -> tuple[Any, tuple[Any, ...]]:
    """Return the type inside `Annotated` and its marks, none for other annotations."""
    if get_origin(annotation) is Annotated:
        inner, *marks = get_args(annotation)
        return inner, tuple(marks)
    return annotation, ()


def merge_notes(first: Notes, second: Notes) -> Notes:
    """Return `first`, completed from `second`."""
    missing = {name: getattr(second, name) for name in Notes.__struct_fields__ if getattr(first, name) is None}
    return msgspec.structs.replace(first, **missing)
