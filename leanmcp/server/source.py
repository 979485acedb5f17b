"""The callable behind a tool: parameters with resolved annotations, seen through partials, methods and decorators.

In: a callable. Out: `Source`. Refusals are TypeErrors that name tool, parameter and the way out.
"""

from __future__ import annotations

import builtins
import functools
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from types import CodeType
from typing import TYPE_CHECKING, Any, get_origin

from ..constraints import evaluate, members
from . import metadata

if TYPE_CHECKING:
    from .calling import Provided

__all__ = ["Source"]

KINDS = inspect.Parameter
_DATA = (str, int, float, bool, bytes, list, dict, set, tuple)


class Source:
    """A callable, taken apart.

    Args:
        given: its schema is written by hand, so that parameters need no annotation and `**` takes the rest.
        noun: what the function makes, for error texts.
        untyped: the type of parameters without annotation; default: they are refused.

    Attributes:
        subject: what it makes and its name, for error texts.
        parameters: those that are arguments, in order.
        annotations: resolved, by parameter name.
        context_parameter: the one that is annotated with `context_type`.
        provided: by parameter name, what gives the value of a parameter that is no argument, and its type.
        takes_rest: there is a `**` parameter; only where the schema is given.
        return_annotation: resolved, `inspect.Signature.empty` when there is none.
        scope: closure and enclosing locals.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        tool_name: str,
        context_type: type | None,
        *,
        given: bool = False,
        noun: str = "tool",
        untyped: Any = inspect.Parameter.empty,
    ) -> None:
        self.tool_name, self.noun = tool_name, noun
        self.subject = f"{noun} {tool_name!r}"
        self._by_hand = ", or pass input_schema=" if noun == "tool" else ""
        self._untyped = Any if given else untyped
        self.context_type = context_type
        self.context_parameter: str | None = None
        self._provided: dict[str, tuple[Provided, Any]] = {}
        self.provided: Mapping[str, tuple[Provided, Any]] = self._provided
        self.given, self.takes_rest = given, False
        if isinstance(function, classmethod | staticmethod) or not callable(function):
            raise TypeError(f"{self.subject}: {function!r} is no function; register it from the finished class")
        plain = _plain_function(function)
        self.module = _globals(plain)
        self.scope = _scope(plain)
        self._code = getattr(plain, "__code__", None)
        if inspect.ismethod(function):
            _check_self(self.subject, function.__func__)
        try:
            signature = inspect.signature(function)
        except ValueError as error:
            raise TypeError(f"{self.subject}: {error}; write a function around it") from None
        self.annotations: dict[str, Any] = {}
        kinds = {parameter.kind for parameter in signature.parameters.values()}
        self._is_wrapper = {KINDS.VAR_POSITIONAL, KINDS.VAR_KEYWORD} <= kinds
        self.parameters = [p for p in signature.parameters.values() if self._is_argument(p)]
        self.return_annotation = signature.return_annotation
        if self.return_annotation is not inspect.Signature.empty:
            self.return_annotation = self._resolve("return value", self.return_annotation)
        if "mcp" in sys.modules or "fastmcp" in sys.modules:
            self._check_foreign()
        self._check_provided()

    def _check_provided(self) -> None:
        """Let the markers of provided parameters see, at registration, whether they can do their work."""
        for name, (marker, kind) in self.provided.items():
            if hasattr(marker, "check_kind"):
                marker.check_kind(self.subject, name, kind)
            if hasattr(marker, "check"):
                marker.check(self)

    def _check_foreign(self) -> None:
        """Refuse classes of another MCP library that would pass for plain data."""
        from .slips import RESULTS, foreign  # of programs that have both

        hints = [(f"parameter {name!r}", kind, ("Context",)) for name, kind in self.annotations.items()]
        for where, kind, names in (*hints, ("return value", self.return_annotation, RESULTS)):
            if (fault := foreign(kind, names)) is not None:
                raise TypeError(f"{self.subject}: {where} has type {fault}")

    def _is_argument(self, parameter: inspect.Parameter) -> bool:
        """Check a parameter, resolve its annotation, and keep the context parameter aside."""
        name = parameter.name
        where = f"{self.subject}: parameter {name!r}"
        if self.given and parameter.kind is KINDS.VAR_KEYWORD:
            self.takes_rest = True
            return False
        if parameter.kind in (KINDS.VAR_POSITIONAL, KINDS.VAR_KEYWORD):
            raise self._starred(where, parameter)
        if parameter.annotation is KINDS.empty:
            self._check_untyped(where, parameter)
            annotation = self._untyped
        else:
            annotation = self._resolve(f"parameter {name!r}", parameter.annotation)
        self.annotations[name] = annotation
        self._check_marks(where, parameter, annotation)
        kind, marks = metadata.split(annotation)
        provider = next((mark for mark in (parameter.default, *marks) if hasattr(type(mark), "provide")), None)
        if provider is not None:
            if parameter.kind is KINDS.POSITIONAL_ONLY:
                raise TypeError(f"{where}: a provided value is passed by name; move the parameter behind the /")
            self._provided[name] = provider, kind
            return False
        if not self._is_context(annotation):
            return True
        if self.context_parameter is not None:
            raise TypeError(f"{where}: {self.context_parameter!r} takes the context already; keep one of them")
        if parameter.kind is KINDS.POSITIONAL_ONLY:
            raise TypeError(f"{where}: the context is passed by name; move the parameter behind the /")
        self.context_parameter = name
        return False

    def _starred(self, where: str, parameter: inspect.Parameter) -> TypeError:
        stars = "*" if parameter.kind is KINDS.VAR_POSITIONAL else "**"
        instead = self._by_hand.replace(",", "")
        if self._is_wrapper:
            instead += "; if this is the inner function of a decorator, put @functools.wraps(function) above it"
        return TypeError(f"{where}: a {self.noun} cannot take {stars}{parameter.name}; name each argument{instead}")

    def _check_untyped(self, where: str, parameter: inspect.Parameter) -> None:
        """Refuse a parameter without annotation, where its type is not known all the same."""
        name = parameter.name
        if name in ("self", "cls"):
            instead = f"register the bound one, as in add_{self.noun}(obj.method)"
            raise TypeError(f"{where}: an unbound method has no {name}; {instead}")
        wanted = name == "ctx" or (name == "context" and self._untyped is KINDS.empty)
        if wanted and self.context_type is not None and not self.given:
            raise TypeError(f"{where} has no type; annotate it, as in {name}: Context, from leanmcp import Context")
        if self._untyped is KINDS.empty and not hasattr(type(parameter.default), "provide"):
            raise TypeError(f"{where} has no type; annotate it, as in {name}: str{self._by_hand}")

    def _check_marks(self, where: str, parameter: inspect.Parameter, annotation: Any) -> None:
        """Refuse a marker that has no effect where it stands: clients would choose what the server is to give."""
        if not any(map(metadata.is_marker, (annotation, parameter.default))) and get_origin(annotation) is None:
            return
        from .misplaced import misplaced  # of few parameters

        fault = misplaced(parameter.name, annotation, parameter.default, may_take_outcome=self.given)
        if fault is not None:
            raise TypeError(f"{where}: {fault}")

    def _resolve(self, where: str, annotation: Any) -> Any:
        try:
            return evaluate(annotation, {**self.module, **self.scope}, {})
        except Exception as error:  # a text is code, which may raise anything
            from .slips import unresolved  # of mistakes only

            raise TypeError(f"{self.subject}: {where} {unresolved(annotation, error, self._code)}") from None

    def _is_context(self, annotation: Any) -> bool:
        if self.context_type is None:
            return False
        annotation = metadata.split(annotation)[0]
        union = members(annotation)
        if union is not None:
            return any(self._is_context(member) for member in union)
        base = get_origin(annotation) or annotation
        return isinstance(base, type) and issubclass(base, self.context_type)


def _check_self(subject: str, function: Any) -> None:
    """Refuse a method whose first parameter has a type: it gets the object, so that `self` was forgotten."""
    code = getattr(function, "__code__", None)
    if code is None or hasattr(function, "__wrapped__") or code.co_flags & inspect.CO_VARARGS:
        return
    first = code.co_varnames[0] if code.co_argcount else None
    if first is None or (first not in ("self", "cls") and _is_data(function.__annotations__.get(first))):
        rest = ", ".join(code.co_varnames[: code.co_argcount])
        found = "no parameter" if first is None else f"the first parameter {first!r} has a type"
        raise TypeError(
            f"{subject}: {found}, so self is missing; write def {function.__name__}(self{rest and ', '}{rest})"
        )


def _is_data(annotation: Any) -> bool:
    """Return whether an annotation is that of an argument; of an object it names a class of the author's."""
    kind = get_origin(annotation) or annotation
    name = kind if isinstance(kind, str) else getattr(kind, "__name__", "")
    return getattr(builtins, name.partition("[")[0].partition(" ")[0], None) in _DATA


def _plain_function(function: Any) -> Any:
    """Follow partials, methods, callable objects and decorators to the function that was written."""
    while True:
        if hasattr(function, "__wrapped__"):
            function = inspect.unwrap(function)
        elif isinstance(function, functools.partial):
            function = function.func
        elif inspect.ismethod(function):
            function = function.__func__
        elif not inspect.isfunction(function) and inspect.isfunction(vars(type(function)).get("__call__")):
            function = vars(type(function))["__call__"]
        else:
            return function


def _globals(function: Any) -> dict[str, Any]:
    """Return the names of the module that a function, or a class without a constructor in Python, stands in."""
    if hasattr(function, "__globals__"):
        found: dict[str, Any] = function.__globals__
        return found
    module = sys.modules.get(getattr(function, "__module__", None) or "")
    return {} if module is None else vars(module)


def _scope(function: Any) -> dict[str, Any]:
    """Return the names around a function: its closure, and the locals of the running functions it stands in."""
    scope: dict[str, Any] = {}
    code = getattr(function, "__code__", None)
    if type(code) is not CodeType:  # of a mock it only looks like one
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
