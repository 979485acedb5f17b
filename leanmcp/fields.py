"""`Field`, `Model` and `Header`: what a signature says about its values, without pydantic.

In: keyword constraints and class bodies. Out: `msgspec.Meta` in `Annotated`, and msgspec Structs.
Spec 2026-07-28: server/tools, "Tool"; basic/transports/streamable-http, "Custom headers" (x-mcp-header).
"""

from __future__ import annotations

import sys
import types
import typing
from collections.abc import Callable, Mapping, Sequence
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
    exact_for,
    field_extra,
    push,
)

__all__ = ["Field", "Header", "Model"]


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

        known = Field.__code__.co_varnames[: Field.__code__.co_kwonlyargcount + 1]
        raise TypeError(f"Field: unknown option {name!r}{did_you_mean(name, known)}")
    if default is not ... and default_factory is not None:
        raise ValueError("Field: give default or default_factory, not both")
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

    def __new__(mcls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **options: Any) -> _ModelMeta:
        options.setdefault("kw_only", True)
        scope = sys._getframe(1)
        annotations = dict(namespace.get("__annotations__", {}))
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


def _struct_field(extra: FieldExtra) -> Any:
    if extra.default_factory is not None:
        return msgspec.field(default_factory=extra.default_factory, name=extra.alias)
    if absent(extra.default):
        return msgspec.field(name=extra.alias)
    return msgspec.field(default=extra.default, name=extra.alias)


def _resolved(annotation: Any, scope: types.FrameType) -> Any:
    """Evaluate a string annotation where the class stands; a ClassVar or a name still unknown stays text."""
    if not isinstance(annotation, str):
        return annotation
    holder = types.SimpleNamespace(__annotations__={"it": annotation})
    try:
        return typing.get_type_hints(holder, scope.f_globals, dict(scope.f_locals), include_extras=True)["it"]
    except (NameError, AttributeError, TypeError):
        return annotation


@dataclass_transform(kw_only_default=True, field_specifiers=(Field,))
class Model(msgspec.Struct, metaclass=_ModelMeta):
    """Base of argument and result models: a keyword-only msgspec Struct that understands `Field` defaults."""


class Header:
    """Marks a parameter that clients mirror into the HTTP field `Mcp-Param-<name>`.

    `region: Annotated[str, Header("Region")]` publishes `"x-mcp-header": "Region"`.

    Raises:
        ValueError: the name is no HTTP token.
    """

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        if not name or not name.isascii() or not all(c.isalnum() or c in "!#$%&'*+-.^_`|~" for c in name):
            raise ValueError(f"Header({name!r}): an HTTP field name has letters, digits and !#$%&'*+-.^_`|~ only")
        self.name = name

    def __repr__(self) -> str:
        return f"Header({self.name!r})"
