"""Constraints on a value, in the three dialects that annotations use, brought to one form.

In: `msgspec.Meta`, pydantic's `FieldInfo` and `annotated_types` objects, the latter two read by name because neither
package is ever imported here. Out: `Constraints`, and `msgspec.Meta` for the part that msgspec enforces exactly.
"""

from __future__ import annotations

import types
import typing
from typing import Annotated, Any, Literal, get_args, get_origin

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

__all__ = ["Constraints", "FieldExtra", "annotate", "evaluate", "field_extra", "members", "push"]

EXTRA_KEY = "leanmcp"
NUMERIC = ("gt", "ge", "lt", "le", "multiple_of")
LENGTHS = ("min_length", "max_length")
ALL = (*NUMERIC, *LENGTHS, "pattern", "tz")
_PAIR = 2
_BOUNDS = (  # what is least, what is most, whether both may be the same
    ("ge", "le", True),
    ("gt", "le", False),
    ("ge", "lt", False),
    ("gt", "lt", False),
    ("min_length", "max_length", True),
)


class Constraints(Struct, frozen=True, kw_only=True):
    """What a value must obey besides its type; None is no constraint. `pattern` is the ECMA-262 text as published.

    Args:
        tz: whether a time has a zone.
    """

    gt: Any = None
    ge: Any = None
    lt: Any = None
    le: Any = None
    multiple_of: Any = None
    min_length: int | None = None
    max_length: int | None = None
    pattern: str | None = None
    tz: bool | None = None

    def given(self) -> dict[str, Any]:
        """Return the constraints that there are, by name."""
        return {name: value for name in ALL if (value := getattr(self, name)) is not None}

    def merge(self, other: Constraints) -> Constraints:
        """Return both together; where both have one, the other's counts."""
        return Constraints(**{**self.given(), **other.given()}) if other.given() else self

    def without(self, names: typing.Iterable[str]) -> Constraints:
        """Return the constraints that are not named."""
        return Constraints(**{name: value for name, value in self.given().items() if name not in names})


class FieldExtra(Struct, kw_only=True):
    """What a `Field` carries in `Meta.extra` because `Meta` has no place for it.

    Args:
        pattern: as written, while `Meta.pattern` holds its translation.
        held: constraints that msgspec cannot enforce exactly; the explaining validator does it.
        capped: `Meta.max_length` is not the author's: it keeps long texts away from a pattern that may be slow.
    """

    default: Any = UNSET
    default_factory: typing.Callable[[], Any] | None = None
    alias: str | None = None
    pattern: str | None = None
    held: Constraints = Constraints()
    capped: bool = False


def field_extra(meta: Any) -> FieldExtra | None:
    """Return what `Field` put into a Meta, None for every other object."""
    if not isinstance(meta, Meta) or not meta.extra:
        return None
    extra = meta.extra.get(EXTRA_KEY)
    return extra if isinstance(extra, FieldExtra) else None


def read_meta(meta: Meta) -> Constraints:
    """Return the constraints of a Meta, those that `Field` held back included."""
    own = Constraints(**{name: value for name in ALL if (value := getattr(meta, name)) is not None})
    extra = field_extra(meta)
    if extra is None:
        return own
    if extra.capped:
        own = own.without(("max_length",))
    return own.merge(extra.held).merge(Constraints(pattern=extra.pattern))


def exact_for(annotation: Any, constraints: Constraints) -> Constraints:
    """Return the constraints that msgspec enforces on this type exactly as JSON Schema means them."""
    integers_only = _base(annotation) is int
    unfit = [name for name in NUMERIC if not _exact_number(name, getattr(constraints, name), integers_only)]
    return constraints.without(unfit)


def contradiction(constraints: Constraints) -> str | None:
    """Return which two constraints leave no value, None for those that leave some."""
    given = constraints.given()
    if len(given) < _PAIR:
        return None
    for low, high, may_be_same in _BOUNDS:
        least, most = given.get(low), given.get(high)
        if not (isinstance(least, int | float) and isinstance(most, int | float)):
            continue
        if least > most or (least == most and not may_be_same):
            return f"{low}={least!r} and {high}={most!r} leave no value"
    return None


def _exact_number(name: str, value: Any, integers_only: bool) -> bool:
    if value is None:
        return True
    if name == "multiple_of":
        import fractions  # noqa: F401  what explains that a number is none; a failure must not load it
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    if isinstance(value, float):
        # A float remainder refuses 0.3 as a multiple of 0.1.
        return name != "multiple_of" and not integers_only
    return -(2**63) < value < 2**63


def build_meta(constraints: Constraints, **notes: Any) -> Meta:
    """Return a Meta with the constraints, the pattern translated to Python."""
    given = constraints.given()
    if constraints.pattern is not None:
        from .schema.patterns import longest_text, python_pattern  # loaded by the first pattern

        given["pattern"] = python_pattern(constraints.pattern)
        longest = longest_text(constraints.pattern)
        if constraints.max_length is None and longest is not None:
            given["max_length"] = max(longest, constraints.min_length or 0)
            extra = notes.get("extra", {}).get(EXTRA_KEY)
            if extra is not None:
                extra.capped = True
    return Meta(**given, **notes)


def annotate(annotation: Any, constraints: Constraints) -> Any:
    """Return `annotation` with the constraints in the form that msgspec decodes by; all of them must be exact."""
    return Annotated[annotation, build_meta(constraints)] if constraints.given() else annotation


def members(annotation: Any) -> tuple[Any, ...] | None:
    """Return the members of a union, None for every other annotation."""
    return get_args(annotation) if get_origin(annotation) in (typing.Union, types.UnionType) else None


def evaluate(annotation: Any, module: dict[str, Any], local: dict[str, Any]) -> Any:
    """Return an annotation with every string and forward reference in it resolved.

    Raises:
        NameError: a name is unknown.
    """
    holder = types.SimpleNamespace(__annotations__={"it": annotation})
    return typing.get_type_hints(holder, module, local, include_extras=True)["it"]


def push(annotation: Any, meta: Meta) -> Any:
    """Return `Annotated[annotation, meta]`, the constraints moved to the members of a union that they fit.

    Raises:
        TypeError: a constraint fits no member.
    """
    union = members(annotation)
    constraints = read_meta(meta)
    if union is None or not constraints.given():
        return Annotated[annotation, meta]
    parts = spread(union, constraints)
    extra = field_extra(meta)
    notes = Meta(
        title=meta.title,
        description=meta.description,
        examples=meta.examples,
        extra_json_schema=meta.extra_json_schema,
        extra=None
        if extra is None
        else {EXTRA_KEY: msgspec.structs.replace(extra, pattern=None, held=Constraints(), capped=False)},
    )
    bounded = []
    for member, fitting in parts:
        exact = exact_for(member, fitting)
        held = fitting.without(exact.given())
        carried = FieldExtra(pattern=exact.pattern, held=held)
        bounded.append(Annotated[member, build_meta(exact, extra={EXTRA_KEY: carried})] if fitting.given() else member)
    return Annotated[typing.Union[tuple(bounded)], notes]  # noqa: UP007 - built at run time


def spread(union: tuple[Any, ...], constraints: Constraints) -> list[tuple[Any, Constraints]]:
    """Give every member of a union the constraints that fit it.

    Raises:
        TypeError: a constraint fits no member.
    """
    parts = [(member, constraints.without(set(ALL) - fitting(member))) for member in union]
    for name in constraints.given():
        if not any(getattr(part, name) is not None for _, part in parts):
            raise TypeError(f"constraint {name} fits no member of the union")
    return parts


def fitting(annotation: Any) -> frozenset[str]:
    """Return the names of the constraints that fit a type."""
    from decimal import Decimal

    base = _base(annotation)
    if base in (int, float, Decimal):
        return frozenset(NUMERIC)
    if base is str:
        return frozenset((*LENGTHS, "pattern"))
    if getattr(base, "__module__", "") == "datetime":
        return frozenset(("tz",))
    if base in (bytes, list, set, frozenset, tuple, dict) or getattr(base, "__module__", "") == "collections.abc":
        return frozenset(LENGTHS)
    return frozenset()


def _base(annotation: Any) -> Any:
    """Strip Annotated, NewType and type arguments down to the class."""
    while True:
        origin = get_origin(annotation)
        if origin is Annotated:
            annotation = get_args(annotation)[0]
        elif hasattr(annotation, "__supertype__"):
            annotation = annotation.__supertype__
        elif origin is not None and origin is not Literal:
            return origin
        else:
            return annotation


def absent(value: Any) -> bool:
    """True for the markers by which the dialects say that there is no default."""
    return value is ... or isinstance(value, UnsetType) or type(value).__name__ == "PydanticUndefinedType"


CONTAINERS = (list, dict, set)
"""The types of defaults that a function could change."""


def fresh(value: Any) -> Any:
    """Return a copy of a default for one call: new containers, as deep as they go, with the same things in them."""
    if type(value) is list:
        return [fresh(item) for item in value]
    if type(value) is dict:
        return {name: fresh(item) for name, item in value.items()}
    return set(value) if type(value) is set else value
