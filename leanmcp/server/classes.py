"""What a class with named fields declares: field names, resolved annotations, defaults, tag and docstring.

In: Struct, dataclass, TypedDict, NamedTuple and attrs classes, generic ones with their arguments. Out: `Shape`.
"""

from __future__ import annotations

import sys
import typing
from collections.abc import Callable, Iterator
from typing import Annotated, Any, ForwardRef, TypeVar, get_args, get_origin

import msgspec
from msgspec import NODEFAULT, UNSET, Struct, field

from ..constraints import absent, evaluate, field_extra
from ..fields import Model

__all__ = [
    "Shape",
    "bound_of",
    "def_name",
    "is_hashable",
    "is_supported",
    "own_doc",
    "resolve",
    "shape",
    "with_defaults",
]

_HEAP_TYPE = 1 << 9  # flag of a class that was made in Python
EMPTY_FACTORIES = (list, dict, set, frozenset, tuple)
Refuse = Callable[..., TypeError]


class FieldShape(Struct, kw_only=True):
    """One field as its class declares it; `default` is UNSET when there is none that can be published."""

    name: str
    wire_name: str
    annotation: Any
    required: bool
    default: Any = UNSET


class Shape(Struct, kw_only=True):
    """A class as the outside sees it."""

    description: str | None
    fields: list[FieldShape] = field(default_factory=list)
    closed: bool = False
    positional: bool = False
    tag_field: str | None = None
    tag: str | int | None = None


def is_supported(cls: type) -> bool:
    """True for the kinds of classes that msgspec builds itself."""
    if hasattr(cls, "__pydantic_validator__"):
        return False
    if (issubclass(cls, Struct) and cls not in (Struct, Model)) or _is_typeddict(cls) or _is_namedtuple(cls):
        return True
    # msgspec would make a dict, a set or an exception without its inside, whose first use ends the process.
    is_plain = all(base.__flags__ & _HEAP_TYPE for base in cls.__mro__[:-1])
    return is_plain and (hasattr(cls, "__dataclass_fields__") or hasattr(cls, "__attrs_attrs__"))


def is_hashable(annotation: Any) -> bool:
    """Return whether values of a type can stand in a set."""
    cls = get_origin(annotation) or annotation
    if isinstance(cls, type) and issubclass(cls, Struct) and cls.__hash__ is Struct.__hash__:
        return cls.__struct_config__.frozen or not cls.__struct_config__.eq
    return cls.__hash__ is not None


def _is_typeddict(cls: type) -> bool:
    return issubclass(cls, dict) and hasattr(cls, "__total__")


def _is_namedtuple(cls: type) -> bool:
    return issubclass(cls, tuple) and hasattr(cls, "_fields")


def shape(annotation: Any, cls: type, scope: dict[str, Any], refuse: Refuse, *, written: bool) -> Shape:
    """Return what the class declares.

    Args:
        annotation: the class, or a generic alias of it.
        scope: local names, for classes that were made inside a function.
        written: its objects are the server's, for results or for later; no client fills them.

    Raises:
        TypeError: an annotation names something that does not exist, or msgspec would not make what the class makes.
    """
    hints = _Hints(annotation, cls, scope, refuse)
    if issubclass(cls, Struct):
        return _struct_shape(cls, hints)
    result = Shape(description=own_doc(cls))
    if _is_typeddict(cls):
        result.fields = list(_typeddict_fields(cls, hints))
    elif _is_namedtuple(cls):
        result.positional = result.closed = True
        defaults = getattr(cls, "_field_defaults", {})
        for name in getattr(cls, "_fields", ()):
            result.fields.append(_field(name, hints(name), name in defaults, defaults.get(name, UNSET)))
    elif hasattr(cls, "__dataclass_fields__"):
        result.fields = list(_dataclass_fields(cls, hints, refuse, written))
    else:
        result.fields = list(_attrs_fields(cls, hints, refuse, written))
    return result


def _field(name: str, annotation: Any, optional: bool, default: Any) -> FieldShape:
    return FieldShape(name=name, wire_name=name, annotation=annotation, required=not optional, default=default)


def _struct_shape(cls: type[Struct], hints: _Hints) -> Shape:
    config = cls.__struct_config__
    result = Shape(description=own_doc(cls), closed=config.forbid_unknown_fields, positional=config.array_like)
    result.tag_field, result.tag = config.tag_field, config.tag
    for name in cls.__struct_fields__:
        hints(name)  # makes local names known before msgspec reads the class
    for entry in msgspec.structs.fields(cls):
        result.fields.append(
            FieldShape(
                name=entry.name,
                wire_name=entry.encode_name,
                annotation=hints(entry.name),
                required=entry.required,
                default=_published(entry.default, entry.default_factory, NODEFAULT),
            )
        )
    return result


def _check_init(cls: type, entry: Any, refuse: Refuse, written: bool) -> None:
    """Refuse a field that is not the caller's to fill: msgspec would let the client do it."""
    if not (entry.init or written):
        raise refuse(cls, f"field {entry.name} has init=False, but clients could fill it", "take a class without it")


def _dataclass_fields(cls: type, hints: _Hints, refuse: Refuse, written: bool) -> Iterator[FieldShape]:
    import dataclasses

    for entry in dataclasses.fields(cls):
        _check_init(cls, entry, refuse, written)
        if field_extra(entry.default) is not None or type(entry.default).__name__ == "FieldInfo":
            raise refuse(
                cls, f"field {entry.name} has Field as its default", "write Annotated[..., Field(...)] or use Model"
            )
        optional = entry.default is not dataclasses.MISSING or entry.default_factory is not dataclasses.MISSING
        default = _published(entry.default, entry.default_factory, dataclasses.MISSING)
        yield _field(entry.name, hints(entry.name), optional, default)


def _attrs_fields(cls: Any, hints: _Hints, refuse: Refuse, written: bool) -> Iterator[FieldShape]:
    for entry in cls.__attrs_attrs__:
        _check_init(cls, entry, refuse, written)
        if entry.converter is not None and not written:
            raise refuse(cls, f"the converter of field {entry.name} would not be run", "convert in the function")
        if entry.name.startswith("_") and written:
            raise refuse(cls, f"field {entry.name} would be left out of what is written, for its _", "rename it")
        nothing = type(entry.default).__name__ == "_Nothing"
        factory = getattr(entry.default, "factory", None) if type(entry.default).__name__ == "Factory" else None
        default = UNSET if nothing else _published(UNSET if factory else entry.default, factory, UNSET)
        yield _field(entry.name, hints(entry.name, entry.type), not nothing, default)


def _typeddict_fields(cls: Any, hints: _Hints) -> Iterator[FieldShape]:
    for name in cls.__annotations__:
        required = name in cls.__required_keys__
        annotation, marks = hints(name), ()
        while (origin := get_origin(annotation)) in (Annotated, typing.Required, typing.NotRequired):
            # With string annotations `__required_keys__` is wrong; the wrapper tells the truth.
            if origin is Annotated:
                marks = (*annotation.__metadata__, *marks)
            else:
                required = origin is typing.Required
            annotation = get_args(annotation)[0]
        yield _field(name, Annotated[(annotation, *marks)] if marks else annotation, not required, UNSET)


def _published(default: Any, factory: Any, missing: Any) -> Any:
    if factory in EMPTY_FACTORIES:
        return factory()
    return UNSET if default is missing or absent(default) else default


class _Hints:
    """Resolves the annotations of a class field by field, type arguments filled in."""

    def __init__(self, annotation: Any, cls: type, scope: dict[str, Any], refuse: Refuse) -> None:
        self.cls = cls
        self.scope = scope
        self.refuse = refuse
        self.arguments: dict[type, dict[Any, Any]] = {}
        self.names: dict[type, tuple[dict[str, Any], dict[str, Any]]] = {}
        self._learn(annotation if get_origin(annotation) is not None else cls, {})

    def _learn(self, base: Any, outer: dict[Any, Any]) -> None:
        """Note which type arguments every generic base was given."""
        cls = get_origin(base) or base
        if not isinstance(cls, type) or cls in self.arguments or cls in (object, typing.Generic):
            return
        parameters = getattr(cls, "__parameters__", ())
        given = tuple(_substitute(argument, outer) for argument in get_args(base))
        self.arguments[cls] = dict(zip(parameters, given, strict=False))
        for parent in cls.__dict__.get("__orig_bases__", cls.__bases__):
            self._learn(parent, self.arguments[cls])

    def __call__(self, name: str, otherwise: Any = Any) -> Any:
        for cls in self.cls.__mro__:
            annotations = cls.__dict__.get("__annotations__", {})  # noqa: RUF063 - the dict itself
            if name in annotations:
                resolved = self._resolve(cls, annotations, name)
                return _substitute(resolved, self.arguments.get(cls, {}))
        return otherwise

    def _resolve(self, cls: type, annotations: dict[str, Any], name: str) -> Any:
        if cls not in self.names:  # once per class: copied for each of 10,000 fields, this took half a minute
            module = vars(sys.modules[cls.__module__]) if cls.__module__ in sys.modules else {}
            parameters = {p.__name__: p for p in getattr(cls, "__type_params__", ())}
            self.names[cls] = module, {**vars(cls), **parameters}
        module, local = self.names[cls]
        try:
            return evaluate(annotations[name], module, local)
        except NameError:
            pass
        try:
            resolved = evaluate(annotations[name], {**module, **self.scope}, local)
        except NameError as error:
            raise self.refuse(cls, f"field {name}: {error}", "define or import the name where the class is") from None
        # msgspec looks into the module only; a class made inside a function gets the object instead of its name.
        annotations[name] = resolved
        return resolved


def _substitute(annotation: Any, arguments: dict[Any, Any]) -> Any:
    if isinstance(annotation, TypeVar):
        return arguments.get(annotation, annotation)
    parameters = getattr(annotation, "__parameters__", ())
    if not parameters or isinstance(annotation, type):
        return annotation
    return annotation[tuple(arguments.get(parameter, parameter) for parameter in parameters)]


def resolve(annotation: Any, scope: dict[str, Any], refuse: Refuse) -> Any:
    """Resolve a string that is still in an annotation, from local names only."""
    if not isinstance(annotation, str | ForwardRef):
        return annotation
    try:
        return evaluate(annotation, scope, {})
    except NameError as error:
        raise refuse(annotation, str(error), "define or import the name at run time") from None


def bound_of(variable: Any) -> Any:
    """Return what a type variable stands for where nobody says it; PEP 696 for defaults."""
    if getattr(variable, "has_default", bool)():
        return variable.__default__
    if constraints := getattr(variable, "__constraints__", ()):
        return typing.Union[constraints]  # noqa: UP007 - built at run time
    bound = getattr(variable, "__bound__", None)
    return Any if bound is None else bound


def with_defaults(annotation: Any) -> Any:
    """Return a generic class that was given no types with the defaults of its variables, where it has some."""
    variables = getattr(annotation, "__parameters__", ()) if isinstance(annotation, type) else ()
    if not any(getattr(variable, "has_default", bool)() for variable in variables):
        return annotation
    return annotation[tuple(map(bound_of, variables))]


def own_doc(cls: type) -> str | None:
    """Return the docstring that the author of the class wrote, None when there is none or Python made it."""
    doc = cls.__dict__.get("__doc__")
    if not isinstance(doc, str) or doc == "An enumeration.":
        return None
    generated = hasattr(cls, "__dataclass_fields__") or _is_namedtuple(cls)
    if generated and doc.startswith(f"{cls.__name__}(") and doc.endswith(")"):
        return None
    import inspect

    return inspect.cleandoc(doc) or None


def def_name(annotation: Any) -> str:
    """Return the name under `$defs`: `Book`, `Page_int`."""
    origin = get_origin(annotation)
    name = getattr(origin or annotation, "__name__", "Type")
    if origin is not None:
        name = "_".join([name, *map(def_name, get_args(annotation))])
    return "".join(c if c.isascii() and (c.isalnum() or c in "_.-") else "_" for c in name)
