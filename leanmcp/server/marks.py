"""`tool`: marks functions and methods as tools before there is a server to register them with.

In: functions in a class body or a module. Out: for `MCPServer.add_tools`, the marked callables of an object, bound,
with the options of their marks.
"""

from __future__ import annotations

import inspect
import weakref
from collections.abc import Callable, Iterator, Sequence
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, overload

from ..errors import explained
from ..logs import logger
from ..types import Icon, ToolAnnotations

if TYPE_CHECKING:
    from typing import Unpack

    from .app import MCPServer
    from .keywords import ToolKeywords

__all__ = ["marked", "some_marked", "tool", "warn_of_forgotten"]

F = TypeVar("F", bound=Callable[..., Any])
ATTRIBUTE = "__leanmcp_tool__"
_IN_MODULES: list[weakref.ref[FunctionType]] = []
"""Functions outside of classes that are marked."""


class Mark(NamedTuple):
    """The arguments of one `tool(...)`."""

    args: tuple[Any, ...]
    options: dict[str, Any]


@overload
def tool(name: F, /) -> F: ...
@overload
def tool(
    name: str | None = None,
    title: str | None = None,
    description: str | None = None,
    annotations: ToolAnnotations | None = None,
    icons: Sequence[Icon] | None = None,
    meta: dict[str, Any] | None = None,
    structured_output: bool | None = None,
    *,
    replace: bool = False,
    **options: Unpack[ToolKeywords],
) -> Callable[[F], F]: ...
@explained
def tool(name: Any = None, *args: Any, **options: Any) -> Any:
    """Mark a function for `MCPServer.add_tools`; works as `@tool` and as `@tool(...)`. Options: see `add_tool`.

    Raises:
        TypeError: an option that `add_tool` does not have, or a mark on what cannot be called.
    """
    if name is not None and not isinstance(name, str):
        return _mark(name, Mark((), {}))
    mark = Mark((name, *args), options)
    _check(mark)
    return explained(lambda function: _mark(function, mark))


def _check(mark: Mark) -> None:
    from .app import MCPServer  # whose options these are
    from .registration import ToolSpec, check_options

    bound = inspect.signature(MCPServer.add_tool).bind(None, None, *mark.args, **mark.options)
    check_options("tool", bound.arguments.get("options", {}), ToolSpec.__struct_fields__)


def _mark(function: Any, mark: Mark) -> Any:
    if isinstance(function, type) or not (callable(function) or isinstance(function, classmethod | staticmethod)):
        raise TypeError(f"@tool marks functions and methods, not {function!r}; put it below @property and the like")
    setattr(function, ATTRIBUTE, mark)
    if isinstance(function, FunctionType) and "." not in function.__qualname__:
        _IN_MODULES.append(weakref.ref(function))
    return function


def warn_of_forgotten(server: MCPServer) -> None:
    """Warn once of marked functions that are not registered, in the module of the server, or where it has no tools."""
    registered = {tool.code for tool in server._tools.every()}
    names = []
    for function in filter(None, [reference() for reference in _IN_MODULES]):
        beside = any(value is server for value in list(function.__globals__.values()))
        if function.__code__ not in registered and (beside or not registered):
            names.append(function.__name__)
    if names:
        logger.warning(
            "%s: marked with @tool, and not registered; write @mcp.tool in its place, or mcp.add_tool(%s) [LM228]",
            ", ".join(names),
            names[0],
        )


def marked(source: object) -> Iterator[tuple[Callable[..., Any], Mark]]:
    """Yield the marked callables of an instance, a class or a module, bound, and their marks.

    The order is that of the definitions, base classes first. An override keeps the place of the method it overrides,
    and its mark too unless it has one of its own; `name = None` in a subclass takes the tool away.

    Raises:
        TypeError: an instance method, found on a class.
    """
    for name, mark in _marks(source).items():
        function = getattr(source, name)
        raw = inspect.getattr_static(source, name)
        if isinstance(source, type) and not isinstance(raw, classmethod | staticmethod):
            raise TypeError(
                f"{source.__name__}.{name} is a method of instances; give one, as in add_tools({source.__name__}(...))"
            )
        yield function, mark


def some_marked(source: object) -> list[tuple[Callable[..., Any], Mark]]:
    """Return what `marked` yields.

    Raises:
        TypeError, ValueError: nothing is marked.
    """
    found = list(marked(source))
    if not found:
        raise _unmarked(source)
    return found


def _unmarked(source: object) -> Exception:
    """Return the error about an object in which nothing is marked."""
    if isinstance(source, list | tuple | set | frozenset | dict):
        found = type(source).__name__
        return TypeError(f"add_tools takes an object, class or module, not a {found}; call add_tool for each function")
    if inspect.isroutine(source):
        return TypeError(
            f"add_tools takes an object, class or module, not a function; write add_tool({source.__name__})"
        )
    shown = getattr(source, "__name__", None) or f"an object of {type(source).__name__}"
    return ValueError(f"{shown} has no tools; mark its methods with @tool, from leanmcp import tool")


def _marks(source: object) -> dict[str, Mark]:
    found: dict[str, Mark] = {}
    for namespace in _namespaces(source):
        for name, value in namespace.items():
            if value is None:
                found.pop(name, None)
                continue
            mark = _mark_of(value)
            if mark is not None:
                found[name] = mark
    return found


def _namespaces(source: object) -> Iterator[dict[str, Any]]:
    if isinstance(source, ModuleType):
        first = {id(value): name for name, value in reversed(vars(source).items())}  # two names are one tool
        yield {name: value for name, value in vars(source).items() if first[id(value)] == name}
        return
    cls = source if isinstance(source, type) else type(source)
    yield from (dict(vars(base)) for base in reversed(cls.__mro__))
    if cls is not source:
        yield dict(getattr(source, "__dict__", {}))


def _mark_of(value: Any) -> Mark | None:
    if isinstance(value, classmethod | staticmethod):
        mark = vars(value).get(ATTRIBUTE) or getattr(value.__func__, ATTRIBUTE, None)
    else:
        mark = inspect.getattr_static(value, ATTRIBUTE, None)
    return mark if isinstance(mark, Mark) else None
