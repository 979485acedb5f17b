"""pydantic's models, dataclasses and own types as parameters and results.

In: annotations that pydantic builds, alone or as alternatives of one union. Out: `ForeignNode`s; `plain` for results.
pydantic is never imported here: `derive` loads this module only when the user's program has imported pydantic.
"""

from __future__ import annotations

import enum
import sys
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin

import msgspec

from ..constraints import members
from ..errors import ToolError
from ..logs import logger
from ..schema.faults import Fault, path_text
from . import classes, foreign_schema, metadata
from .nodes import ForeignNode, Node
from .pydantic_faults import Entry, entries, is_lenient, settle

if TYPE_CHECKING:
    from ..schema import Validator
    from .derive import Deriver

__all__ = ["kind_of", "plain"]

_encode = msgspec.json.Encoder(decimal_format="number").encode
_NOT_CHECKED = "Input could not be checked; the server's log has the details"


def kind_of(annotation: Any, deriver: Deriver) -> Node | None:
    """Return the node of a type that pydantic builds, None for other types.

    Raises:
        TypeError: pydantic cannot build it, or it stands where only msgspec can look.
    """
    inner, marks = metadata.split(annotation)
    union = members(inner)
    if union is None:
        return _node(annotation, deriver) if not marks and _is_ours(annotation) else None
    alternatives = [member for member in union if member is not type(None)]
    if len(alternatives) < 2 or not any(map(_is_ours, alternatives)):
        return None
    if not marks:
        return _node(annotation, deriver)
    chooses = [mark for mark in marks if _discriminates(mark)]
    if not chooses:
        return None  # asked again without the marks
    node = _node(Annotated[(inner, *chooses)], deriver)
    node.notes = metadata.read(mark for mark in marks if mark not in chooses).notes
    return node


def _is_ours(annotation: Any) -> bool:
    annotation = metadata.split(annotation)[0]
    base = get_origin(annotation) or annotation
    if not isinstance(base, type):
        return base is not None and base is getattr(sys.modules["pydantic"], "JsonValue", None)
    if hasattr(base, "__pydantic_validator__"):
        return True
    own = hasattr(base, "__get_pydantic_core_schema__")
    return own and not issubclass(base, enum.Enum) and not classes.is_supported(base)


def _discriminates(mark: Any) -> bool:
    return type(mark).__name__ == "Discriminator" or getattr(mark, "discriminator", None) is not None


class _AnyInstance(type):
    """Makes stand-ins that msgspec hands to the converter and whose result it takes, whatever it is."""

    def __instancecheck__(cls, instance: object) -> bool:
        return True


def _node(annotation: Any, deriver: Deriver) -> Node:
    pydantic = sys.modules["pydantic"]
    if annotation is pydantic.BaseModel:
        raise deriver.refusal(annotation, "it has no fields", "name your own model or pass input_schema=")
    is_model = isinstance(annotation, type) and issubclass(annotation, pydantic.BaseModel)
    if deriver.inside and not is_model:
        raise deriver.refusal(
            annotation, "only pydantic models can stand in a class that msgspec builds", "make that class a model too"
        )
    mode = "serialization" if deriver.output else "validation"
    try:
        if is_model and not annotation.__pydantic_complete__:
            annotation.model_rebuild(raise_errors=False, _types_namespace=deriver.scope)
        adapter = pydantic.TypeAdapter(annotation)
        found, rest = pydantic.TypeAdapter.json_schemas([("it", mode, adapter)])
    except Exception as error:
        reason = str(error).partition("\n")[0]
        raise deriver.refusal(annotation, f"pydantic: {reason}") from error
    schema, definitions = found["it", mode], rest.get("$defs", {})
    if deriver.output and _is_encoded_otherwise(annotation, pydantic):
        raise deriver.refusal(
            annotation, "aliases, computed fields and serializers of a dataclass are not applied", "return a BaseModel"
        )

    @cache
    def shape() -> Validator:
        return foreign_schema.shape_of(schema, definitions)

    checker: _Checker | _ResultChecker = _Checker(annotation, adapter, shape)
    if deriver.output:
        checker = _ResultChecker(shape, annotation if deriver.inside else None)
    return ForeignNode(
        annotation=annotation if deriver.inside else _AnyInstance(f"Foreign_{id(adapter):x}", (), {}),
        convert=checker.convert,
        schema=lambda: {**schema, "$defs": definitions} if definitions else dict(schema),
        explain=checker.explain,
        admits_string=lambda: "string" in shape().admits,
    )


def _is_encoded_otherwise(annotation: Any, pydantic: Any) -> bool:
    """True for a dataclass that msgspec, which encodes dataclasses itself, writes in another form than pydantic."""
    for part in (annotation, *get_args(annotation)):
        cls = get_origin(part) or part
        if not hasattr(cls, "__dataclass_fields__") or not hasattr(cls, "__pydantic_validator__"):
            continue
        adapter = pydantic.TypeAdapter(part)
        written = adapter.json_schema(mode="serialization")
        if set(written.get("properties", ())) - set(cls.__dataclass_fields__):
            return True
        decorators = cls.__pydantic_decorators__
        if decorators.field_serializers or decorators.model_serializers:
            return True
    return False


# Arguments --------------------------------------------------------------------------------------------------------


class _Checker:
    """Validates plain JSON values, strictly: the JSON forms of dates and enums fit, "5" for an int does not.

    `strict=False` of the author's on a model or a field holds there.
    """

    def __init__(self, annotation: Any, adapter: Any, shape: Callable[[], Validator]) -> None:
        self._annotation = annotation
        self._shape = shape
        self._validate: Callable[..., Any] = adapter.validator.validate_json
        self._refusal = sys.modules["pydantic"].ValidationError

    def convert(self, value: Any) -> Any:
        """Return the validated object.

        Raises:
            ValueError: the value does not fit; `explain` says why.
        """
        try:
            result, faults = self._checked(value)
        except Exception as error:  # a validator's own fault, which `explain` meets again and logs
            raise ValueError("a validator failed") from error
        if faults:
            raise ValueError("refused by pydantic")
        return result

    def explain(self, value: Any) -> list[Fault]:
        """Return every fault; never raises."""
        try:
            faults = self._checked(value)[1]
        except ToolError as error:
            return [Fault("", str(error), value)]
        except Exception:
            logger.exception("a validator of %s failed", self._annotation)
            return [Fault("", _NOT_CHECKED, value)]
        return [
            Fault(path_text(entry.keys), entry.message, entry.value, "type" if entry.wanted else "")
            for entry in settle(faults)
        ]

    def _checked(self, value: Any) -> tuple[Any, list[Entry]]:
        result, faults = self._run(value, strict=True)
        if any(entry.wanted == "integer" for entry in faults):
            value = self._shape().fold(msgspec.json.decode(_encode(value)))  # 5.0 is an integer
            result, faults = self._run(value, strict=True)
        excused = [entry for entry in faults if is_lenient(self._annotation, entry.keys)]
        if not excused:
            return result, faults
        result, others = self._run(value, strict=None)
        left = [entry for entry in faults if entry not in excused]
        return result, left + [entry for entry in others if is_lenient(self._annotation, entry.keys)] or others

    def _run(self, value: Any, *, strict: bool | None) -> tuple[Any, list[Entry]]:
        try:
            return self._validate(_encode(value), strict=strict), []
        except self._refusal as refusal:
            return None, entries(refusal.errors(include_url=False), value, self._annotation)


# Results ----------------------------------------------------------------------------------------------------------


class _ResultChecker:
    """Looks at the JSON of a result: objects are in form by construction, a plain dict in their place may not be.

    Args:
        shape: what the published schema says, made when it is asked for.
        cls: what msgspec wants an instance of; None where a stand-in takes anything.
    """

    def __init__(self, shape: Callable[[], Validator], cls: Any) -> None:
        self._shape, self._cls = shape, cls

    def convert(self, value: Any) -> Any:
        """Return something that passes for the object: nobody looks at it.

        Raises:
            ValueError: the value is not shaped as the published schema says.
        """
        if not self._shape().is_valid(value):
            raise ValueError("refused by the published schema")
        return object() if self._cls is None else self._cls.__new__(self._cls)

    def explain(self, value: Any) -> list[Fault]:
        """Return every fault."""
        return self._shape().faults(msgspec.json.decode(_encode(value)))


def plain(value: object) -> object:
    """Return an object of pydantic's as plain JSON values, by the same names as its published schema.

    Called by `encoding` where pydantic is loaded. Aliases, computed fields and serializers are applied; NaN and
    infinities stay floats, so that the search for them finds them.

    Raises:
        TypeError: the object is none of pydantic's, or cannot be written.
    """
    cls = type(value)
    serializer = getattr(cls, "__pydantic_serializer__", None)
    try:
        if serializer is not None:
            return serializer.to_python(value, mode="json", by_alias=True, warnings=False)
        if hasattr(cls, "__get_pydantic_core_schema__") or cls.__module__.startswith("pydantic"):
            return sys.modules["pydantic_core"].to_jsonable_python(value)
    except (ValueError, AttributeError, KeyError) as error:
        raise TypeError(f"{cls.__name__} cannot be written: {error}") from error
    raise TypeError(f"{cls.__name__} has no JSON form")
