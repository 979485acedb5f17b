"""`Field`, `Model` and `Header`: what a signature says about its values, without pydantic.

In: keyword constraints and class bodies. Out: `msgspec.Meta` in `Annotated`, and msgspec Structs.
Spec 2026-07-28: server/tools, "Tool"; basic/transports/streamable-http, "Custom headers" (x-mcp-header).
"""

from __future__ import annotations

import enum
import sys
from collections.abc import Callable, Mapping, Sequence
from types import FrameType
from typing import Any, Never, dataclass_transform

import msgspec
from msgspec import UNSET

from .constraints import (
    EXTRA_KEY,
    LENGTHS,
    NUMERIC,
    Constraints,
    FieldExtra,
    absent,
    build_meta,
    evaluate,
    exact_for,
    field_extra,
    push,
)
from .errors import OF_PYDANTIC, explained, option_names, without

__all__ = ["Field", "Header", "Model"]

_ELSEWHERE = {
    **dict.fromkeys(("min", "minimum"), "; give ge= for a number, min_length= for a text or a list"),
    **dict.fromkeys(("max", "maximum"), "; give le= for a number, max_length= for a text or a list"),
    **dict.fromkeys(("enum", "const", "choices"), "; annotate the parameter with Literal[...]"),
    **dict.fromkeys(("min_items", "minLength"), "; give min_length="),
    **dict.fromkeys(("max_items", "maxLength"), "; give max_length="),
    **dict.fromkeys(("exclude", "hidden"), "; what clients must not send is Annotated[Type, Depends(function)]"),
    **dict.fromkeys(("validator", "frozen", "strict", "type"), "; leave it out, and check the value in the function"),
    **dict.fromkeys(("format", "deprecated", "readOnly"), "; it is published with json_schema_extra={{{0!r}: ...}}"),
    "optional": "; what has a default may be left out",
    "required": "; what has no default is required",
    "regex": "; give pattern=",
    "nullable": "; annotate the parameter with X | None",
}
"""Options that other libraries have: what to write here."""
_VALUES = (str, int, float, list, dict, set, tuple, type(None), msgspec.Meta)
"""Types of what stands in the body of a Model as the default of a field."""


@explained
def Field(  # noqa: N802 - the name that pydantic gave it
    default: Any = ...,
    *,
    default_factory: Callable[[], Any] | None = None,
    alias: str | None = None,
    title: str | None = None,
    description: str | None = None,
    examples: Sequence[Any] | None = None,
    gt: float | None = None,
    ge: float | None = None,
    lt: float | None = None,
    le: float | None = None,
    multiple_of: float | None = None,
    min_length: int | None = None,
    max_length: int | None = None,
    pattern: str | None = None,
    json_schema_extra: Mapping[str, Any] | None = None,
    **unknown: Never,
) -> Any:
    """Describe and bound a parameter or a field of a `Model`.

    Use it in `Annotated[int, Field(ge=1)]`, or as the default: `year: int = Field(ge=1450)` stays required.

    Args:
        default: the value when the argument is left out; without it the argument is required. Type checkers know of it
            in a `Model` where it is given by name, `Field(default=1)`.
        default_factory: makes the default, such as `list`.
        alias: the name on the wire.
        title, description, examples: published, for people and the model.
        gt, ge, lt, le, multiple_of: bounds of numbers.
        min_length, max_length: characters of a text, items of a list, members of a dict.
        pattern: an ECMA-262 regular expression, not anchored unless it says so.
        json_schema_extra: further keywords for the published schema; they are not enforced.

    Raises:
        ValueError: both defaults are given, or constraints that contradict each other.
    """
    for name in unknown:
        from .mistyped import did_you_mean  # of mistakes only

        instead = _ELSEWHERE.get(name, "").format(name) or did_you_mean(name, option_names(Field))
        raise TypeError(f"Field: unknown option {name!r}{instead}")
    if default is not ... and default_factory is not None:
        raise ValueError("Field: give default or default_factory, not both")
    for name, text in (("title", title), ("description", description), ("pattern", pattern), ("alias", alias)):
        if not (text is None or isinstance(text, str)):
            raise TypeError(f"Field: {name}={text!r}; give a string")
    for name, length in (("min_length", min_length), ("max_length", max_length)):
        if not (length is None or (type(length) is int and length >= 0)):
            raise ValueError(f"Field: {name}={length!r}; give a whole number, 0 or more")
    if not (examples is None or isinstance(examples, list | tuple)):
        raise TypeError(f"Field: examples={examples!r}; give a list")
    if not (default_factory is None or callable(default_factory)):
        raise TypeError(f"Field: default_factory={default_factory!r}; give a function, such as list")
    if not (json_schema_extra is None or isinstance(json_schema_extra, Mapping)):
        raise TypeError(f"Field: json_schema_extra={json_schema_extra!r}; give a dict")
    if isinstance(multiple_of, int | float) and not multiple_of > 0:
        raise ValueError(f"Field: multiple_of={multiple_of!r}; give a number above 0")
    for one, other in ((("gt", gt), ("ge", ge)), (("lt", lt), ("le", le))):
        if one[1] is not None and other[1] is not None:
            raise ValueError(f"Field: {one[0]}={one[1]!r} and {other[0]}={other[1]!r}; give one of them")
    constraints = Constraints(
        gt=gt,
        ge=ge,
        lt=lt,
        le=le,
        multiple_of=multiple_of,
        min_length=min_length,
        max_length=max_length,
        pattern=pattern,
    )
    exact = exact_for(None, constraints)
    if set(exact.given()) & set(NUMERIC):
        # Meta takes no numbers beside lengths; a union such as int | str may.
        exact = exact.without((*LENGTHS, "pattern"))
    extra = FieldExtra(
        default=UNSET if default is ... else default,
        default_factory=default_factory,
        alias=alias,
        pattern=exact.pattern,
        held=constraints.without(exact.given()),
    )
    return build_meta(
        exact,
        title=title,
        description=description,
        examples=None if examples is None else list(examples),
        extra_json_schema=None if json_schema_extra is None else dict(json_schema_extra),
        extra={EXTRA_KEY: extra},
    )


# On the metaclass too, by which PEP 681 makes Model neither frozen nor not, so that a subclass may choose.
@dataclass_transform(kw_only_default=True, field_specifiers=(Field,))
class _ModelMeta(msgspec.StructMeta):
    """Turns every `Field(...)` default of a class body into `Annotated[type, Meta]`."""

    @explained
    def __new__(mcls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **options: Any) -> _ModelMeta:
        options.setdefault("kw_only", True)
        scope = sys._getframe(2)  # behind that of `explained`
        annotations = dict(namespace.get("__annotations__", {}))
        for attribute, value in namespace.items():
            if attribute not in annotations and (attribute == "__init__" or _is_value(attribute, value)):
                _refuse_attribute(name, attribute, value, bases)
        for field, annotation in annotations.items():
            annotations[field] = _resolved(annotation, scope)
            extra = field_extra(namespace.get(field))
            if extra is None:
                continue
            try:
                annotations[field] = push(annotations[field], namespace.pop(field))
            except TypeError as error:
                raise TypeError(f"{name}.{field}: {error}") from None
            if extra.alias is not None or not absent(extra.default) or extra.default_factory is not None:
                namespace[field] = _struct_field(extra)
        if annotations:
            namespace["__annotations__"] = annotations
        return super().__new__(mcls, name, bases, namespace, **options)


def _is_value(name: str, value: Any) -> bool:
    """Return whether an attribute of a class body is a plain value, as if it were the default of a field."""
    return isinstance(value, _VALUES) and not (name.startswith("_") or isinstance(value, enum.Enum))


def _refuse_attribute(model: str, name: str, value: Any, bases: tuple[type, ...]) -> None:
    """Refuse what a Model cannot have; an override of a constant of a base class is none of it."""
    if name == "__init__":
        raise TypeError(f"{model}.__init__: a Model makes its own __init__; write __post_init__(self) for checks")
    if any(name not in getattr(base, "__struct_fields__", ()) and hasattr(base, name) for base in bases):
        return
    shown = "Field(...)" if isinstance(value, msgspec.Meta) else repr(value)
    kind = "str" if isinstance(value, msgspec.Meta) or value is None else type(value).__name__
    raise TypeError(
        f"{model}.{name} has no type, so that it is no field; write {name}: {kind} = {shown},"
        f" or {name}: ClassVar = {shown} for a constant"
    )


def _struct_field(extra: FieldExtra) -> Any:
    if extra.default_factory is not None:
        return msgspec.field(default_factory=extra.default_factory, name=extra.alias)
    if absent(extra.default):
        return msgspec.field(name=extra.alias)
    return msgspec.field(default=extra.default, name=extra.alias)


def _resolved(annotation: Any, scope: FrameType) -> Any:
    """Evaluate a string annotation where the class stands; a ClassVar or a name still unknown stays text."""
    if not isinstance(annotation, str):
        return annotation
    try:
        return evaluate(annotation, scope.f_globals, dict(scope.f_locals))
    except (NameError, AttributeError, TypeError):
        return annotation


@dataclass_transform(kw_only_default=True, field_specifiers=(Field,))
class Model(msgspec.Struct, metaclass=_ModelMeta):
    """Base of argument and result models: a keyword-only msgspec Struct that understands `Field` defaults."""


without(Model, OF_PYDANTIC)


class Header:
    """Marks a parameter that clients mirror into the HTTP field `Mcp-Param-<name>`.

    `region: Annotated[str, Header("Region")]` publishes `"x-mcp-header": "Region"`.

    Raises:
        ValueError: the name is no HTTP token.
    """

    __slots__ = ("name",)

    @explained
    def __init__(self, name: str) -> None:
        if not isinstance(name, str):
            raise TypeError(f"Header({name!r}): give the name of an HTTP field, a string")
        if not name or not name.isascii() or not all(c.isalnum() or c in "!#$%&'*+-.^_`|~" for c in name):
            raise ValueError(f"Header({name!r}): an HTTP field name has letters, digits and !#$%&'*+-.^_`|~ only")
        self.name = name

    def __repr__(self) -> str:
        return f"Header({self.name!r})"
