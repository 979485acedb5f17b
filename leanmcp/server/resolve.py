"""`Resolve`: parameters that the user fills in, or that a function works out of what is known.

In: markers in a signature. Out: values, of functions that give them or ask for them.
Spec 2026-07-28: basic/patterns/mrtr; client/elicitation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, get_args, get_origin, is_typeddict

from ..constraints import members
from ..errors import InvalidParams, ToolError
from .calling import InputRequired
from .derive import type_text
from .elicitation import Accepted, Cancelled, Declined, Elicit, ElicitURL, Question
from .forms import form_of
from .providers import Plan, Provider, ProviderSource
from .registration import refuse_generator
from .source import Source

if TYPE_CHECKING:
    from .injection import Scope

__all__ = ["Resolve"]

_OUTCOMES = (Accepted, Declined, Cancelled)


class Resolve(Provider):
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

    __slots__ = ()

    marker, noun, nouns = "Resolve", "resolver", "resolvers"
    instead = "annotate it with Context, Annotated[..., Resolve(...)] or Depends"

    def __init__(self, fn: Callable[..., Any]) -> None:
        super().__init__(fn)

    @property
    def fn(self) -> Callable[..., Any]:
        """What was given."""
        return self.function

    @property
    def name(self) -> str:
        """What the function is called in error texts."""
        return _name(self.function)

    def _siblings(self, source: Source) -> dict[str, Provider]:
        return {name: marker for name, (marker, _) in source.provided.items() if isinstance(marker, Resolve)}

    def check_kind(self, subject: str, name: str, kind: Any) -> None:
        """Make sure that what the user enters is what the parameter is annotated with, where that can be known.

        Raises:
            TypeError: the function asks for another class.
        """
        for form in self.plan().forms:
            if not admits(kind, form):
                raise TypeError(f"{subject}: {_misfit(name, kind, form, self.function)}")

    def _planned(self, context_type: type | None) -> Plan:
        refuse_generator(f"{self.noun} {self.name!r}", self.function)
        source = ProviderSource(self.function, self.name, context_type, noun=self.noun)
        forms: list[Any] = []
        for part in members(source.return_annotation) or (source.return_annotation,):
            if get_origin(part) is Elicit and not isinstance(get_args(part)[0], TypeVar):
                form_of(get_args(part)[0])  # a form that cannot be shown stops the start, not the first question
                forms.append(get_args(part)[0])
            elif part is ElicitURL:
                forms.append(type(None))
        return Plan(
            context_parameter=source.context_parameter,
            provided=dict(source.provided),
            arguments=source.arguments,
            forms=forms,
        )

    async def provide(self, scope: Scope, name: str, annotation: Any) -> Any:
        """Return the value for one call; raises InputRequired where the user has to be asked first."""
        value = await self._value(scope, name, annotation)
        # A resolver may serve parameters of several types, and its question is known when it is asked first.
        if isinstance(value, Accepted) and not (isinstance(value.data, dict) or admits(annotation, type(value.data))):
            raise TypeError(_misfit(name, annotation, type(value.data), self.function))
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
        key = (Resolve, self._key)
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
        plan = self.plan()
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
        value = await scope.home.run(self.function, **values)
        if isinstance(value, Question):
            form = value.schema if isinstance(value, Elicit) else type(None)
            if not admits(annotation, form):
                raise TypeError(_misfit(parameter, annotation, form, self.function))
            return await scope.context.rounds.ask(value, None, _name(self.function))
        return value


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
