"""What the author of an annotation meant, where it is no type that can be an argument; loaded for refusals only.

In: an annotation as it was evaluated, or the text that could not be. Out: what to write instead, None where nobody can
know.
"""

from __future__ import annotations

import sys
import typing
from collections.abc import Container, Iterator
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any, get_args, get_origin

from ..constraints import members
from ..frames import owner_of
from ..logs import logger

__all__ = ["RESULTS", "foreign", "instead_of", "type_of_value", "unresolved", "warn_of_output"]

OFFICIAL = ("mcp", "mcp_types", "fastmcp")
"""Packages whose classes look like ours."""
TOP = ("Audio", "Context", "File", "Image")
"""Classes that stand in `leanmcp`; the others stand in `leanmcp.types`."""
RESULTS = (*TOP, "AudioContent", "CallToolResult", "EmbeddedResource", "ImageContent", "ResourceLink", "TextContent")
"""Classes that are no data where a function returns them."""
_HAS_NO_JSON = "it has no JSON form that can be decoded"
_ONLY_ENCODED = (bytearray, memoryview, typing.LiteralString, typing.Never, typing.NoReturn)
"""Types that make no argument, but of which results are sent, or never come."""
_DEEPEST = 10  # an alias may contain itself
_FUTURE_ANNOTATIONS = 0x1000000  # flag of a code object: every annotation is kept as text


def instead_of(annotation: Any) -> str | None:
    """Return what to write in place of an annotation that has no JSON form."""
    name = getattr(annotation, "__name__", None)
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


def _is_authors(module: str) -> bool:
    file = getattr(sys.modules.get(module), "__file__", None)
    return module == "__main__" or (file is not None and owner_of(file) == "author")


def type_of_value(value: Any) -> str:
    """Return what to write in place of a list, dict, set or tuple that stands where a type belongs."""
    if isinstance(value, tuple) and value and all(isinstance(part, type) for part in value):
        return f"write tuple[{', '.join(part.__qualname__ for part in value)}]"
    return "write a type such as list[int]"


def warn_of_output(fault: str, annotation: Any) -> None:
    """Tell the author of a return annotation that is of no use; some types are only sent, never decoded."""
    if "it is a value and no type" in fault:
        logger.warning("%s [LM132]", fault)
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
