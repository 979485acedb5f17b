"""The callable behind a tool: parameters with resolved annotations, seen through partials, methods and decorators.

In: a callable. Out: `Source`. Refusals are TypeErrors that name tool, parameter and the way out.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from typing import Any, get_origin

from ..constraints import members
from . import classes, metadata

__all__ = ["Source"]

KINDS = inspect.Parameter


class Source:
    """A callable, taken apart.

    Args:
        given: its schema is written by hand, so that parameters need no annotation and `**` takes the rest.

    Attributes:
        parameters: those that are arguments, in order.
        annotations: resolved, by parameter name.
        context_parameter: the one that is annotated with `context_type`.
        takes_rest: there is a `**` parameter; only where the schema is given.
        return_annotation: resolved, `inspect.Signature.empty` when there is none.
        scope: closure and enclosing locals.
    """

    def __init__(
        self, function: Callable[..., Any], tool_name: str, context_type: type | None, *, given: bool = False
    ) -> None:
        self.tool_name = tool_name
        self.context_type = context_type
        self.context_parameter: str | None = None
        self.given, self.takes_rest = given, False
        if isinstance(function, classmethod | staticmethod) or not callable(function):
            raise TypeError(f"tool {tool_name!r}: {function!r} is no function; register it from the finished class")
        plain = _plain_function(function)
        self.module = getattr(plain, "__globals__", {})
        self.scope = _scope(plain)
        try:
            signature = inspect.signature(function)
        except ValueError as error:
            raise TypeError(f"tool {tool_name!r}: {error}; write a function around it") from None
        self.annotations: dict[str, Any] = {}
        self.parameters = [p for p in signature.parameters.values() if self._is_argument(p)]
        self.return_annotation = signature.return_annotation
        if self.return_annotation is not inspect.Signature.empty:
            self.return_annotation = self._resolve("return value", self.return_annotation)

    def _is_argument(self, parameter: inspect.Parameter) -> bool:
        """Check a parameter, resolve its annotation, and keep the context parameter aside."""
        name = parameter.name
        where = f"tool {self.tool_name!r}: parameter {name!r}"
        if self.given and parameter.kind is KINDS.VAR_KEYWORD:
            self.takes_rest = True
            return False
        if parameter.kind in (KINDS.VAR_POSITIONAL, KINDS.VAR_KEYWORD):
            stars = "*" if parameter.kind is KINDS.VAR_POSITIONAL else "**"
            raise TypeError(f"{where}: a tool cannot take {stars}{name}; name each argument or pass input_schema=")
        if parameter.annotation is inspect.Parameter.empty:
            if name in ("self", "cls"):
                raise TypeError(
                    f"{where}: an unbound method has no {name}; register the bound one, as in add_tool(obj.method)"
                )
            if self.given:
                self.annotations[name] = Any
                return True
            raise TypeError(f"{where} has no type; annotate it, as in {name}: str, or pass input_schema=")
        annotation = self.annotations[name] = self._resolve(f"parameter {name!r}", parameter.annotation)
        if not self._is_context(annotation):
            return True
        if self.context_parameter is not None:
            raise TypeError(f"{where}: {self.context_parameter!r} takes the context already; keep one of them")
        if parameter.kind is KINDS.POSITIONAL_ONLY:
            raise TypeError(f"{where}: the context is passed by name; move the parameter behind the /")
        self.context_parameter = name
        return False

    def _resolve(self, where: str, annotation: Any) -> Any:
        try:
            return classes.evaluate(annotation, {**self.module, **self.scope}, {})
        except (NameError, AttributeError, SyntaxError, TypeError) as error:
            raise TypeError(
                f"tool {self.tool_name!r}: {where} has type {annotation!r}, which cannot be resolved: {error}; "
                "import or define the name where the function is, not under TYPE_CHECKING only"
            ) from None

    def _is_context(self, annotation: Any) -> bool:
        if self.context_type is None:
            return False
        annotation = metadata.split(annotation)[0]
        union = members(annotation)
        if union is not None:
            return any(self._is_context(member) for member in union)
        base = get_origin(annotation) or annotation
        return isinstance(base, type) and issubclass(base, self.context_type)


def _plain_function(function: Any) -> Any:
    """Follow partials, methods, callable objects and decorators to the function that was written."""
    while True:
        if hasattr(function, "__wrapped__"):
            function = function.__wrapped__
        elif hasattr(function, "func") and hasattr(function, "keywords"):
            function = function.func
        elif inspect.ismethod(function):
            function = function.__func__
        elif not inspect.isfunction(function) and inspect.isfunction(vars(type(function)).get("__call__")):
            function = vars(type(function))["__call__"]
        else:
            return function


def _scope(function: Any) -> dict[str, Any]:
    """Return the names around a function: its closure, and the locals of the running functions it stands in."""
    scope: dict[str, Any] = {}
    code = getattr(function, "__code__", None)
    if code is None:
        return scope
    for frame in reversed(list(_frames())):
        outer = frame.f_code
        if outer.co_filename == code.co_filename and code.co_qualname.startswith(f"{outer.co_qualname}.<locals>."):
            scope.update(frame.f_locals)
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=False):
        try:
            scope[name] = cell.cell_contents
        except ValueError:  # not assigned yet
            continue
    return scope


def _frames() -> Iterator[Any]:
    frame = sys._getframe(1)
    while frame is not None:
        yield frame
        frame = frame.f_back  # type: ignore[assignment]
