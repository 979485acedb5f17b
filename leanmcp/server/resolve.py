"""`Resolve`: parameters that the user fills in, or that a function works out of what is known.

In: markers in a signature. Out: values, of functions that give them or ask for them.
Spec 2026-07-28: basic/patterns/mrtr; client/elicitation.
"""

from __future__ import annotations

from collections.abc import Callable
from types import CoroutineType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, get_args, get_origin, is_typeddict

from ..calls import is_async, key_of
from ..constraints import members
from ..errors import InvalidParams, ToolError
from .calling import InputRequired, Provided
from .context import Context
from .derive import type_text
from .elicitation import Accepted, Cancelled, Declined, Elicit, ElicitURL, Question
from .forms import form_of
from .injection import ProviderSource
from .source import Source

if TYPE_CHECKING:
    from .injection import Scope

__all__ = ["Resolve"]

_OUTCOMES = (Accepted, Declined, Cancelled)


class Resolve:
    """Fills a parameter with what `fn` returns: `size: Annotated[Size, Resolve(ask_size)]`.

    `fn` returns a value, or `Elicit(...)` or `ElicitURL(...)`, which asks the user; the parameter then gets what the
    user entered. Where the user declines or cancels, the call ends with an error that says so, unless the parameter is
    annotated to take that, too: `Annotated[Accepted[Size] | Declined | Cancelled, Resolve(ask_size)]`.

    Args:
        fn: `async def`, or `def`, which runs in a worker thread. Its parameters get a Context, values of their own
            markers (`Annotated[..., Resolve(...)]`, `Depends`) and the function's arguments by name. It is called once
            in each round, whoever wants its value, and questions that do not depend on each other are asked in one.

    Raises:
        TypeError: nothing that can be called.
    """

    __slots__ = ("_plan", "fn")

    def __init__(self, fn: Callable[..., Any]) -> None:
        if not callable(fn):
            raise TypeError(f"Resolve({fn!r}): give the function itself, without calling it")
        self.fn = fn
        self._plan: _Plan | None = None

    def check(self, source: Source) -> None:
        """Make sure, when a function is registered, that every parameter on the way will have a value.

        Raises:
            TypeError: one will not, or the resolvers run in a circle.
        """
        names = {parameter.name for parameter in source.parameters if parameter.kind is not parameter.POSITIONAL_ONLY}
        names |= {name for name, (marker, _) in source.provided.items() if isinstance(marker, Resolve)}
        self._check(source, None if source.takes_rest else names, ())

    def check_kind(self, subject: str, name: str, kind: Any) -> None:
        """Make sure that what the user enters is what the parameter is annotated with, where that can be known.

        Raises:
            TypeError: the function asks for another class.
        """
        for form in self._planned().forms:
            if not admits(kind, form):
                raise TypeError(f"{subject}: {_misfit(name, kind, form, self.fn)}")

    def _check(self, source: Source, names: set[str] | None, path: tuple[Callable[..., Any], ...]) -> None:
        if any(key_of(known) == key_of(self.fn) for known in path):
            circle = " -> ".join(_name(function) for function in (*path, self.fn))
            raise TypeError(f"{source.subject}: resolvers run in a circle: {circle}")
        plan = self._planned(source.context_type)
        for name, required in plan.arguments.items():
            if required and names is not None and name not in names:
                raise TypeError(
                    f"{source.subject}: resolver {_name(self.fn)} wants {name!r}, but the function "
                    "has no argument of this name; annotate it with Context, Annotated[..., Resolve(...)] or Depends"
                )
            sibling = source.provided.get(name, (None, None))[0]
            if isinstance(sibling, Resolve):
                sibling._check(source, names, (*path, self.fn))
        for name, (marker, kind) in plan.provided.items():
            if isinstance(marker, Resolve):
                marker.check_kind(f"resolver {_name(self.fn)!r}", name, kind)
                marker._check(source, names, (*path, self.fn))
            elif hasattr(marker, "check"):
                marker.check(source)

    def _planned(self, context_type: type | None = Context) -> _Plan:
        if self._plan is None:
            self._plan = _Plan.of(self.fn, context_type)
        return self._plan

    async def provide(self, scope: Scope, name: str, annotation: Any) -> Any:
        """Return the value for one call; raises InputRequired where the user has to be asked first."""
        value = await self._value(scope, name, annotation)
        # A resolver may serve parameters of several types, and its question is known when it is asked first.
        if isinstance(value, Accepted) and not (isinstance(value.data, dict) or admits(annotation, type(value.data))):
            raise TypeError(_misfit(name, annotation, type(value.data), self.fn))
        if takes_outcome(annotation):
            return value if isinstance(value, _OUTCOMES) else Accepted(value)
        if not isinstance(value, _OUTCOMES):
            return value
        if isinstance(value, Accepted):
            return value.data
        done = "declined" if isinstance(value, Declined) else "closed without an answer"
        text = f"{name}: the user was asked for it, and the question was {done}"
        raise ToolError(text) if scope.method == "tools/call" else InvalidParams(text)

    async def _value(self, scope: Scope, parameter: str, annotation: Any) -> Any:
        key = (Resolve, key_of(self.fn))
        found = scope.values.get(key)
        if found is None:
            try:
                found = scope.values[key] = (await self._resolve(scope, parameter, annotation),)
            except InputRequired as asked:
                found = scope.values[key] = asked
        if isinstance(found, InputRequired):
            raise found
        return found[0]

    async def _resolve(self, scope: Scope, parameter: str, annotation: Any) -> Any:
        plan = self._planned()
        values: dict[str, Any] = {}
        if plan.context_parameter is not None:
            values[plan.context_parameter] = scope.context
        wanted = dict(plan.provided)
        for name in plan.arguments:
            if name in scope.given:
                values[name] = scope.given[name]
            elif name in scope.provided:
                wanted[name] = scope.provided[name]
        await scope.fill(values, wanted)
        value = await self._call(scope, values)
        if isinstance(value, Question):
            form = value.schema if isinstance(value, Elicit) else type(None)
            if not admits(annotation, form):
                raise TypeError(_misfit(parameter, annotation, form, self.fn))
            return await scope.context.rounds.ask(value, None, _name(self.fn))
        return value

    async def _call(self, scope: Scope, values: dict[str, Any]) -> Any:
        if is_async(self.fn):
            return await self.fn(**values)
        value = await scope.home.threads.run(self.fn, kwargs=values)
        return await value if type(value) is CoroutineType else value


class _Plan(NamedTuple):
    """How a resolver is called.

    Args:
        arguments: by name, those it takes from the function's own, and whether it needs them.
        forms: the classes that it says it asks for.
    """

    context_parameter: str | None
    provided: dict[str, tuple[Provided, Any]]
    arguments: dict[str, bool]
    forms: list[Any]

    @classmethod
    def of(cls, function: Callable[..., Any], context_type: type | None) -> _Plan:
        """Read a function; TypeError where a parameter cannot be passed by name."""
        source = ProviderSource(function, _name(function), context_type, noun="resolver")
        forms: list[Any] = []
        for part in members(source.return_annotation) or (source.return_annotation,):
            if get_origin(part) is Elicit and not isinstance(get_args(part)[0], TypeVar):
                form_of(get_args(part)[0])  # a form that cannot be shown stops the start, not the first question
                forms.append(get_args(part)[0])
            elif part is ElicitURL:
                forms.append(type(None))
        return cls(source.context_parameter, dict(source.provided), source.arguments, forms)


def takes_outcome(annotation: Any) -> bool:
    """Return whether a parameter takes how a question ended, and not only what was entered."""
    parts = members(annotation) or (annotation,)
    return any((get_origin(part) or part) in _OUTCOMES for part in parts)


def admits(annotation: Any, kind: Any) -> bool:
    """Return whether a parameter takes what a form of class `kind` makes; True where that cannot be known."""
    parts = members(annotation)
    if parts is not None:
        return any(admits(part, kind) for part in parts)
    wanted = get_origin(annotation) or annotation
    if wanted is Accepted and get_args(annotation):
        return admits(get_args(annotation)[0], kind)
    if wanted in (Declined, Cancelled):
        return False
    if annotation is None:
        return kind is type(None)
    base = get_origin(kind) or kind
    if not isinstance(wanted, type) or not isinstance(base, type) or wanted in (Accepted, Any, base):
        return True
    try:
        return issubclass(base, wanted)
    except TypeError:  # a Protocol, or a TypedDict, which only its own class stands for
        return not is_typeddict(wanted)


def _misfit(name: str, annotation: Any, form: Any, function: Callable[..., Any]) -> str:
    if form is type(None):
        return (
            f"parameter {name!r} is {type_text(annotation)}, but {_name(function)} asks with ElicitURL, which gives "
            f"None; annotate it with Accepted[None] | Declined | Cancelled to get how the question ended"
        )
    return (
        f"parameter {name!r} is {type_text(annotation)}, but {_name(function)} asks for {type_text(form)}; annotate "
        f"it with Annotated[{type_text(form)}, Resolve({_name(function)})], or let it ask for what is annotated"
    )


def _name(function: Callable[..., Any]) -> str:
    name: str = getattr(function, "__name__", type(function).__name__)
    return "question" if name == "<lambda>" else name
