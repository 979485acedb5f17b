"""What the author of an annotation meant, where it is no type that can be an argument; loaded for refusals only.

In: an annotation as it was evaluated, or the text that could not be. Out: what to write instead, None where nobody can
know.
"""

from __future__ import annotations

import sys
import typing
from collections.abc import Callable, Container, Iterator
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any, get_args, get_origin

from ..constraints import members
from ..frames import owner_of
from ..logs import logger

__all__ = [
    "RESULTS",
    "foreign",
    "instead_of",
    "instead_of_literal",
    "type_of_value",
    "unresolved",
    "warn_beside",
    "warn_of_output",
]

OFFICIAL = ("mcp", "mcp_types", "fastmcp")
"""Packages whose classes look like ours."""
TOP = ("Audio", "Context", "File", "Image")
"""Classes that stand in `leanmcp`; the others stand in `leanmcp.types`."""
RESULTS = (*TOP, "AudioContent", "CallToolResult", "EmbeddedResource", "ImageContent", "ResourceLink", "TextContent")
"""Classes that are no data where a function returns them."""
_MADE = "it is the base of classes; write one with your fields, class Name({}), and name that"
_NOT_SENT = "clients send no files; take a path or an address, as str"
_SHAPES = {
    **dict.fromkeys(("AsyncIterator", "AsyncIterable", "Generator", "Iterator"), "write list[...] of what it gives"),
    **{name: _MADE.format(name) for name in ("NamedTuple", "TypedDict", "Protocol", "Struct", "Model")},
    **dict.fromkeys(("Audio", "File", "Image"), _NOT_SENT),
    "MCPServer": "use the server that the module made; what belongs to the request is in ctx: Context",
    "ReadOnly": "leave ReadOnly out, and write the type inside",
    "Optional": "write the type inside, Optional[int], or int | None",
    "Union": "write the types inside, Union[int, str], or int | str",
}
"""Types that are none by themselves, by name: what to write instead."""
_HAS_NO_JSON = "it has no JSON form that can be decoded"
_ONLY_ENCODED = (bytearray, memoryview, typing.LiteralString, typing.Never, typing.NoReturn)
"""Types that make no argument, but of which results are sent, or never come."""
_DEEPEST = 10  # an alias may contain itself
_FUTURE_ANNOTATIONS = 0x1000000  # flag of a code object: every annotation is kept as text


def instead_of(annotation: Any) -> str | None:
    """Return what to write in place of an annotation that has no JSON form."""
    name = getattr(annotation, "__name__", None)
    shape = _SHAPES.get(str(getattr(annotation, "_name", None) or name))
    if shape is not None and not _is_authors(str(getattr(annotation, "__module__", ""))):
        return shape
    if annotation is ...:
        return "write tuple[int, ...] for a tuple of any length"
    if isinstance(annotation, FunctionType | BuiltinFunctionType):
        if annotation is any:
            return "any is a function; write typing.Any"
        return f"{name} is a function and no type; write the type of the value"
    if isinstance(annotation, ModuleType):
        short = str(name).rpartition(".")[2]
        inside = short if isinstance(getattr(annotation, short, None), type) else "..."
        return f"{short} is a module; write a type in it, {short}.{inside}"
    if not isinstance(annotation, type):
        return None
    if name == "Context":
        return f"that is {annotation.__module__}.Context; the one of the request comes from leanmcp import Context"
    own = vars(annotation)
    has_fields = bool(own.get("__annotations__")) or isinstance(own.get("__init__"), FunctionType)
    if has_fields and _is_authors(annotation.__module__):
        return f"make it a @dataclass, or class {name}(Model), from leanmcp import Model"
    return None


def instead_of_literal(values: tuple[Any, ...]) -> str:
    """Return what to write in place of a Literal that holds what is no constant, or nothing."""
    first = next((value for value in values if not isinstance(value, str | int | None)), None)
    if isinstance(first, type):
        return f"write {first.__name__} for any value of it, Literal['a', 'b'] for some"
    if isinstance(first, list | tuple | set):
        return f"write the values themselves, Literal[{', '.join(map(repr, first))}]"
    return "write Literal['a', 'b']" if first is None else "change the type or pass input_schema="


def _is_authors(module: str) -> bool:
    file = getattr(sys.modules.get(module), "__file__", None)
    return module == "__main__" or (file is not None and owner_of(file) == "author")


def type_of_value(value: Any) -> str:
    """Return what to write in place of a list, dict, set or tuple that stands where a type belongs."""
    if isinstance(value, tuple) and value and all(isinstance(part, type) for part in value):
        return f"write tuple[{', '.join(part.__qualname__ for part in value)}]"
    return "write a type such as list[int]"


def warn_beside(mark: Any, refusal: Callable[[str, str], TypeError]) -> None:
    """Tell the author of a value beside a type that nobody reads it, and what to write instead."""
    fault = f"the {type(mark).__name__} beside it says nothing here"
    instead = "a description is a text, a bound is Field(ge=...)"
    if hasattr(mark, "json_schema_extra"):
        fault, instead = "the json_schema_extra beside it says nothing here, for it is a function", "give a dict"
    elif isinstance(mark, range) and mark:
        instead = "write Field(ge={}, le={})".format(*sorted((mark[0], mark[-1])))
    elif isinstance(mark, list | tuple | set | frozenset) and mark:
        instead = f"for these values only, write Literal[{', '.join(map(repr, mark))}]"
    logger.warning("%s [LM143]", refusal(fault, instead))


def warn_of_output(fault: str, annotation: Any) -> None:
    """Tell the author of a return annotation that is of no use; some types are only sent, never decoded."""
    if "it is a value and no type" in fault:
        logger.warning("%s [LM132]", fault)
    elif "would be left out" in fault:
        logger.warning("%s", fault)
    elif _HAS_NO_JSON in fault and not any(part in _ONLY_ENCODED for part in members(annotation) or (annotation,)):
        if not isinstance(annotation, FunctionType | BuiltinFunctionType | ModuleType):
            instead = "return a dict, a dataclass or a Model"
            fault = f"{fault.partition('; ')[0]}; calls fail unless JSON can say what it returns: {instead}"
        logger.warning("%s [LM130]", fault)


def unresolved(annotation: object, error: Exception, code: Any) -> str:
    """Return what is wrong with an annotation whose text cannot be evaluated.

    Args:
        code: of the function, None where there is none.
    """
    if "made by the server" in str(error):
        return f"has type {annotation!r}: {error}"
    text = str(annotation)
    is_late = bool(getattr(code, "co_flags", 0) & _FUTURE_ANNOTATIONS)
    is_text = text[:1] in ("'", '"') if is_late else text.isidentifier() and text.islower()
    instead = "import or define the name where the function is, not under TYPE_CHECKING only"
    if isinstance(error, NameError) and is_text:
        given = text.partition(" ")[0].strip("'\"")
        instead = f'for fixed texts write Literal["{given}", ...], for a type import the name where the function is'
    first = getattr(annotation, "__origin__", None)
    kinds = [mark for mark in getattr(annotation, "__metadata__", ()) if isinstance(mark, type)]
    if isinstance(first, typing.ForwardRef) and kinds:
        instead = f"the type stands first, Annotated[{kinds[0].__name__}, {first.__forward_arg__!r}]"
    elif not isinstance(error, NameError | AttributeError) or "__module__" in str(error):
        is_turned = "Annotated[" in text and not isinstance(error, TypeError)
        instead = "the type stands first in Annotated[type, ...]" if is_turned else "correct how the type is written"
    return f"has type {annotation!r}, which cannot be resolved: {error}; {instead}"


def foreign(annotation: Any, names: Container[str]) -> str | None:
    """Return what is wrong with a type that holds a class of another MCP library, None where it holds none.

    Args:
        names: of the classes that are meant.
    """
    for part in _parts(annotation):
        if isinstance(part, type) and part.__name__ in names and part.__module__.partition(".")[0] in OFFICIAL:
            home = "leanmcp" if part.__name__ in TOP else "leanmcp.types"
            return f"{part.__module__}.{part.__name__}, of another MCP library; from {home} import {part.__name__}"
    return None


def _parts(annotation: Any, depth: int = 0) -> Iterator[Any]:
    yield get_origin(annotation) or annotation
    if depth < _DEEPEST:
        for part in get_args(annotation):
            yield from _parts(part, depth + 1)
