"""Python annotations to nodes: the one place that knows which types a tool may take and return.

In: resolved or string annotations, with `Field`, `msgspec.Meta`, pydantic's `FieldInfo` and `annotated_types` metadata.
Out: `Node` trees. Refusals are TypeErrors at registration that name tool, parameter, type and the way out.
"""

from __future__ import annotations

import collections.abc
import datetime
import decimal
import enum
import os
import sys
import types
import typing
import uuid
from collections.abc import Iterable
from functools import partial
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin

import msgspec
from msgspec import Meta, UnsetType

from ..constraints import Constraints, absent, annotate, contradiction, exact_for, fitting, members, spread
from . import classes, metadata
from .nodes import (
    AnyNode,
    ArrayNode,
    BoolNode,
    ChoiceNode,
    ForeignNode,
    MapNode,
    Node,
    Notes,
    NullNode,
    NumberNode,
    ObjectNode,
    Property,
    RefNode,
    TextNode,
    UnionNode,
    alternatives,
    walk,
)

__all__ = ["Deriver", "foreign_node", "type_text"]

NUMBERS: dict[Any, str] = {int: "int", float: "float", decimal.Decimal: "Decimal"}
TEXTS: dict[Any, str] = {
    str: "str",
    bytes: "bytes",
    datetime.datetime: "datetime",
    datetime.date: "date",
    datetime.time: "time",
    datetime.timedelta: "timedelta",
    uuid.UUID: "UUID",
}
SEQUENCES = {
    list,
    collections.abc.Collection,
    collections.abc.Iterable,
    collections.abc.MutableSequence,
    collections.abc.Sequence,
}
SETS = {set: set, frozenset: frozenset, collections.abc.Set: set, collections.abc.MutableSet: set}
MAPPINGS = {dict, collections.abc.Mapping, collections.abc.MutableMapping}
WRAPPERS = {typing.Required, typing.NotRequired, typing.Final, typing.ClassVar}


class Deriver:
    """Makes nodes for the types of one tool; a class met twice is one ObjectNode.

    Args:
        tool: named in refusals.
        noun: what else it is than a tool, for the same.
        scope: names of the function's closure and of the functions around it.
        output: types are returned, not taken: Decimal is a string then and a set has unique items.
        kept: their values are read back as this server wrote them; no client filled them.
    """

    def __init__(
        self,
        tool: str,
        scope: dict[str, Any] | None = None,
        *,
        output: bool = False,
        kept: bool = False,
        noun: str = "tool",
    ) -> None:
        self.tool, self.noun = tool, noun
        self.scope = scope or {}
        self.output, self.kept = output, kept
        self.objects: dict[Any, ObjectNode] = {}
        self._argument = self._where = "type"
        self._aliases: list[Any] = []
        self.inside = False  # inside a class, whose annotations msgspec reads by itself

    def derive(self, annotation: Any, where: str) -> Node:
        """Return the node of a parameter's or result's annotation.

        Raises:
            TypeError: the type cannot travel as JSON or msgspec cannot tell the members of a union apart.
        """
        self._argument = self._where = where
        node = self.node(annotation)
        for ref in walk(node):
            if isinstance(ref, RefNode) and not ref.target.recursive:
                ref.target.recursive = _reaches_itself(ref.target)
        try:
            msgspec.json.Decoder(node.annotation)
        except (TypeError, ValueError, NameError, AttributeError, NotImplementedError) as error:
            from .reworded import reworded  # of mistakes only

            raise self.refusal(annotation, *reworded(error)) from error
        return node

    def refusal(
        self, annotation: Any, reason: str, instead: str = "change the type or pass input_schema="
    ) -> TypeError:
        """Return the error that says where, which type, why, and what to do."""
        if self.noun != "tool":
            instead = instead.removesuffix(" or pass input_schema=")
        where = f"{self.noun} {self.tool!r}: {self._where}"
        return TypeError(f"{where} has type {type_text(annotation)}: {reason}; {instead}")

    def node(self, annotation: Any, constraints: Constraints | None = None) -> Node:
        """Return the node of any annotation, with constraints that `Annotated` put around it."""
        limits = constraints or Constraints()
        annotation = classes.resolve(annotation, self.scope, self.refusal)
        if isinstance(annotation, list | dict | set | tuple):
            from .slips import type_of_value  # of mistakes only

            raise self.refusal(annotation, "it is a value and no type", type_of_value(annotation))
        if isinstance(annotation, Meta) or metadata.is_field_info(annotation):
            raise self.refusal(annotation, "it is no type", "write Annotated[int, Field(...)]")
        if isinstance(annotation, int | float | bytes):
            instead = "write its type, or Literal[...] for this alone"
            raise self.refusal(annotation, "it is a value and no type", instead)
        foreign = foreign_node(annotation, self)
        if foreign is not None:
            if limits.given():
                raise self._misfit(annotation, limits.given())
            return foreign
        origin = get_origin(annotation)
        if origin is Annotated:
            return self._annotated(annotation, limits)
        if origin in WRAPPERS:
            return self.node(get_args(annotation)[0], limits)
        if type(annotation).__name__ == "TypeAliasType" or type(origin).__name__ == "TypeAliasType":
            return self._alias(annotation, origin, limits)
        if hasattr(annotation, "__supertype__"):
            return self.node(annotation.__supertype__, limits)
        if isinstance(annotation, TypeVar):
            return self.node(classes.bound_of(annotation), limits)
        union = members(annotation)
        if union is not None:
            return self._union(annotation, union, limits)
        misfit = set(limits.given()) - fitting(annotation)
        if misfit:
            raise self._misfit(annotation, misfit)
        return self._plain(annotation, origin or annotation, limits)

    def _misfit(self, annotation: Any, names: Iterable[str]) -> TypeError:
        return self.refusal(annotation, f"constraint {', '.join(sorted(names))} does not fit it", "leave it out")

    def _plain(self, annotation: Any, base: Any, limits: Constraints) -> Node:
        if base is Any or base is object:
            return AnyNode()
        if base is msgspec.Raw and self.kept:
            return AnyNode(annotation=base)
        if base is None or base is type(None):
            return NullNode(annotation=None)
        if base is bool:
            return BoolNode(annotation=bool)
        if base is Literal:
            return self._literal(annotation)
        if base in NUMBERS:
            return self._number(base, limits)
        if base in TEXTS:
            return TextNode(kind=TEXTS[base], limits=limits, annotation=self._bounded(base, limits))
        if base in SEQUENCES:
            return self._array(list, annotation, limits)
        if base in SETS:
            return self._array(SETS[base], annotation, limits)
        if base is tuple:
            return self._tuple(annotation, limits)
        if base in MAPPINGS:
            return self._mapping(annotation, limits)
        if isinstance(base, type) and issubclass(base, enum.Enum):
            return self._enum(base)
        if isinstance(base, type) and classes.is_supported(base):
            return self._object(classes.with_defaults(annotation), base)
        if isinstance(base, type) and issubclass(base, os.PathLike):
            return self._path(annotation, base)
        from .slips import instead_of  # of mistakes only

        instead = instead_of(base) or "use a type that JSON can carry or pass input_schema="
        raise self.refusal(annotation, "it has no JSON form that can be decoded", instead)

    # Annotated ---------------------------------------------------------------------------------------------------

    def _annotated(self, annotation: Any, limits: Constraints) -> Node:
        inner, *marks = get_args(annotation)
        try:
            read = metadata.read(marks)
        except TypeError as error:
            reason, fixed, instead = str(error).partition("; ")
            raise (self.refusal(inner, reason, instead) if fixed else self.refusal(inner, reason)) from None
        for mark in marks:
            if metadata.is_unread(mark):
                from .slips import warn_beside  # of mistakes only

                warn_beside(mark, partial(self.refusal, inner))
        constraints = read.constraints.merge(limits)
        if (fault := contradiction(constraints)) is not None:
            raise self.refusal(inner, fault, "correct the constraint")
        node = self.node(inner, constraints)
        notes = metadata.merge_notes(read.notes, node.notes)
        if notes.header is not None:
            self._check_header(annotation, node)
        node.notes = notes
        if self.inside and not read.native:
            node.exact = False
        return node

    def _check_header(self, annotation: Any, node: Node) -> None:
        for part in alternatives(node):
            integer = isinstance(part, NumberNode) and part.kind == "int"
            if not (integer or isinstance(part, TextNode | BoolNode | NullNode | ChoiceNode)):
                raise self.refusal(annotation, "Header marks strings, integers and booleans only", "leave Header out")

    def _bounded(self, base: Any, limits: Constraints) -> Any:
        try:
            return annotate(base, limits)
        except (TypeError, ValueError) as error:
            raise self.refusal(base, str(error), "correct the constraint") from None

    # Scalars -----------------------------------------------------------------------------------------------------

    def _number(self, base: Any, limits: Constraints) -> Node:
        for name, value in limits.given().items():
            if isinstance(value, bool) or not isinstance(value, int | float | decimal.Decimal) or value != value:
                raise self.refusal(base, f"constraint {name}={value!r} is no number", "correct the constraint")
        exact = Constraints() if base is decimal.Decimal else exact_for(base, limits)
        return NumberNode(
            kind=NUMBERS[base], limits=limits, annotation=self._bounded(base, exact), exact=exact == limits
        )

    def _literal(self, annotation: Any) -> Node:
        values = _literal_values(annotation)
        if not values or not all(
            value is None or (isinstance(value, bool | int | str) and type(value) in (bool, int, str))
            for value in values
        ):
            from .slips import instead_of_literal  # of mistakes only

            instead = instead_of_literal(values)
            raise self.refusal(annotation, "JSON has strings, integers, booleans and null for a Literal", instead)
        return ChoiceNode(values=values, annotation=annotation)

    def _enum(self, base: type[enum.Enum]) -> Node:
        values = tuple(member.value for member in base)
        if not values or not (all(type(v) is int for v in values) or all(isinstance(v, str) for v in values)):
            raise self.refusal(base, "an Enum needs members that are all strings or all integers")
        own_lookup = base._missing_.__func__ is not enum.Enum._missing_.__func__  # type: ignore[attr-defined]
        notes = Notes(description=classes.own_doc(base))
        return ChoiceNode(values=values, annotation=base, exact=not own_lookup, notes=notes)

    def _path(self, annotation: Any, base: type) -> Node:
        import pathlib

        from ..schema import faults as say

        kind = pathlib.Path if base is os.PathLike else base
        if not issubclass(kind, pathlib.PurePath):
            raise self.refusal(annotation, "it cannot be made from a string", "take a pathlib.Path")

        def convert(value: Any) -> Any:
            if not isinstance(value, str):
                raise TypeError(say.expected("string"))
            return kind(value)

        def explain(value: Any) -> list[say.Fault]:
            return [] if isinstance(value, str) else [say.Fault("", say.expected("string"), value, "type")]

        return ForeignNode(
            annotation=annotation,
            convert=convert,
            schema=lambda: {"format": "path", "type": "string"},
            explain=explain,
            admits_string=lambda: True,
        )

    # Containers --------------------------------------------------------------------------------------------------

    def _array(self, base: Any, annotation: Any, limits: Constraints) -> Node:
        if len(given := get_args(annotation)) > 1:
            raise self.refusal(annotation, "a list has items of one type", "write list[A | B], or tuple[A, B]")
        item = (*given, Any)[0]
        items = self.node(item)
        if base is not list and not (self.output or all(map(classes.is_hashable, members(item) or (item,)))):
            raise self.refusal(annotation, "a set holds what has a hash", "take a list, or make the class frozen")
        concrete = self._bounded(_subscript(base, items.annotation), limits)
        return ArrayNode(items=items, limits=limits, annotation=concrete, unique=self.output and base is not list)

    def _tuple(self, annotation: Any, limits: Constraints) -> Node:
        args = get_args(annotation)
        if not args and annotation is not tuple and annotation is not typing.Tuple:  # noqa: UP006
            return ArrayNode(limits=Constraints(min_length=0, max_length=0), annotation=annotation)
        if not args or (len(args) == 2 and args[1] is ...):
            items = self.node((*args, Any)[0])
            concrete = self._bounded(_subscript(tuple, items.annotation, ...), limits)
            return ArrayNode(items=items, limits=limits, annotation=concrete)
        if limits.given():
            raise self.refusal(annotation, "a tuple of fixed length takes no length constraint", "leave it out")
        prefix = tuple(self.node(arg) for arg in args)
        fixed = Constraints(min_length=len(prefix), max_length=len(prefix))
        concrete = _subscript(tuple, *(part.annotation for part in prefix))
        return ArrayNode(prefix=prefix, limits=fixed, annotation=concrete)

    def _mapping(self, annotation: Any, limits: Constraints) -> Node:
        args = get_args(annotation) or (Any, Any)
        if len(args) != 2:
            raise self.refusal(annotation, "a dict has keys of one type and values of one", "write dict[str, A | B]")
        key = TextNode(annotation=str) if args[0] is Any else self.node(args[0])
        value = self.node(args[1])
        textual = isinstance(key, ChoiceNode) and all(isinstance(entry, str) for entry in key.values)
        integer = isinstance(key, NumberNode) and key.kind == "int"
        if not (textual or integer or isinstance(key, TextNode)):
            raise self.refusal(annotation, "JSON objects have string keys; str, int, Enum and Literal of str fit")
        concrete = self._bounded(_subscript(dict, key.annotation, value.annotation), limits)
        return MapNode(key=key, value=value, limits=limits, annotation=concrete)

    # Unions and classes --------------------------------------------------------------------------------------------

    def _union(self, annotation: Any, union: tuple[Any, ...], limits: Constraints) -> Node:
        present = tuple(member for member in union if member is not UnsetType)
        try:
            parts = [self.node(member, fitting) for member, fitting in spread(present, limits)]
        except TypeError as error:
            if str(error).startswith(f"{self.noun} "):
                raise
            raise self.refusal(annotation, str(error), "leave it out") from None
        parts.sort(key=lambda part: isinstance(part, NullNode))
        objects = [part for part in parts if isinstance(part, RefNode)]
        for part in objects if len(objects) > 1 else ():
            part.exact = part.exact or part.target.tag_field is not None
        types_ = tuple(part.annotation for part in parts)
        return UnionNode(members=tuple(parts), annotation=typing.Union[types_]) if len(parts) > 1 else parts[0]  # noqa: UP007

    def _object(self, annotation: Any, base: type) -> Node:
        target = self.objects.get(annotation)
        if target is None:
            target = self.objects[annotation] = ObjectNode(name=classes.def_name(annotation), annotation=annotation)
            where, self._where = self._where, f"class {target.name} ({self._argument})"
            inside, self.inside = self.inside, True
            shape = classes.shape(annotation, base, self.scope, self.refusal, written=self.output or self.kept)
            target.description = shape.description
            target.closed, target.positional = shape.closed, shape.positional
            target.tag_field, target.tag = shape.tag_field, shape.tag
            for entry in shape.fields:
                self._where = f"field {entry.name!r} of {target.name} ({self._argument})"
                part = self._field(entry, base)
                target.properties.append(
                    Property(
                        name=entry.name,
                        wire_name=entry.wire_name,
                        node=part,
                        required=entry.required,
                        default=entry.default,
                    )
                )
            self._where, self.inside = where, inside
        # msgspec asks for the tag in unions only; the schema always does.
        return RefNode(target=target, annotation=annotation, exact=target.tag_field is None)

    def _field(self, entry: classes.FieldShape, owner: type) -> Node:
        node = self.node(entry.annotation)
        for mark in metadata.split(entry.annotation)[1]:
            settings = metadata.field_settings(mark)
            if settings is None or self.kept:
                continue
            if settings.alias not in (None, entry.wire_name):
                raise self.refusal(
                    entry.annotation, "alias= has no effect there", "use a Model and make Field the default"
                )
            has_default = not absent(settings.default) or settings.default_factory is not None
            if has_default and entry.required and not self.output:
                instead = "write NotRequired[...]" if issubclass(owner, dict) else "write it behind a = of its own"
                raise self.refusal(entry.annotation, "default= has no effect there", instead)
        return node

    def _alias(self, annotation: Any, origin: Any, limits: Constraints) -> Node:
        if annotation in self._aliases:
            raise self.refusal(annotation, "a type alias that refers to itself cannot be decoded", "use a class")
        self._aliases.append(annotation)
        alias = origin if type(origin).__name__ == "TypeAliasType" else annotation
        value = classes.resolve(alias.__value__, self.scope, self.refusal)
        if origin is alias:
            value = value[get_args(annotation)]
        node = self.node(value, limits)
        self._aliases.pop()
        return node


def foreign_node(annotation: Any, deriver: Deriver) -> Node | None:
    """Return the node of a type that msgspec cannot build and another package can; None for every other type."""
    if sys.modules.get("pydantic") is None:
        return None  # no type of the user's can be pydantic's
    from .pydantic_kinds import kind_of

    return kind_of(annotation, deriver)


def _subscript(base: Any, *arguments: Any) -> Any:
    return base[arguments]


def _literal_values(annotation: Any) -> tuple[Any, ...]:
    values: list[Any] = []
    for value in get_args(annotation):
        values.extend(_literal_values(value) if get_origin(value) is Literal else (value,))
    return tuple(values)


def _reaches_itself(target: ObjectNode) -> bool:
    return any(
        isinstance(node, RefNode) and node.target is target for entry in target.properties for node in walk(entry.node)
    )


def type_text(annotation: Any) -> str:
    """Return a type as its author would write it, without modules and metadata."""
    union = members(annotation)
    if union is not None:
        return " | ".join(map(type_text, union))
    if get_origin(annotation) is Annotated:
        return type_text(get_args(annotation)[0])
    if annotation is type(None):
        return "None"
    if isinstance(annotation, Meta) or metadata.is_field_info(annotation):
        return "Field(...)"
    if isinstance(annotation, type) and get_origin(annotation) is None:
        return annotation.__qualname__
    if isinstance(annotation, types.FunctionType | types.BuiltinFunctionType | types.ModuleType):
        return annotation.__name__
    if isinstance(annotation, tuple):
        return f"({', '.join(map(type_text, annotation))})"
    return str(annotation).replace("typing.", "")
