"""What stands behind the markers of a signature, `Depends` and `Resolve`: functions that give values to parameters.

In: a function, and the signature that its marker stands in. Out: how it is called, or a TypeError at registration.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct

from ..calls import key_of
from .calling import Provided
from .context import Context
from .source import Source

__all__ = ["Plan", "Provider", "ProviderSource"]


class Plan(Struct, frozen=True, kw_only=True):
    """How a function that gives a value is called.

    Args:
        arguments: by name, those it takes from the arguments of the function that wants its value, and whether it
            needs them.
        manager: makes of a call the context manager that gives the value; None where the call gives it.
        forms: the classes that it says it asks the user for.
    """

    context_parameter: str | None
    provided: dict[str, tuple[Provided, Any]]
    arguments: dict[str, bool]
    manager: Callable[[Callable[[], Any]], Any] | None = None
    forms: Sequence[Any] = ()


class Provider(ABC):
    """A function that gives the value of a parameter, as its marker holds it.

    Attributes:
        function: what gives the value.

    Raises:
        TypeError: nothing that can be called.
    """

    __slots__ = ("_key", "_plan", "function")

    marker = noun = nouns = instead = ""

    def __init__(self, function: Callable[..., Any]) -> None:
        if not callable(function):
            raise TypeError(f"{self.marker}({function!r}): give the function itself, without calling it")
        self.function = function
        self._key = key_of(function)
        self._plan: Plan | None = None

    @property
    def name(self) -> str:
        """What the function is called in error texts."""
        return getattr(self.function, "__qualname__", type(self.function).__qualname__).rpartition("<locals>.")[2]

    def check(self, source: Source, path: tuple[Provider, ...] = ()) -> None:
        """Make sure, when a function is registered, that every parameter on the way will have a value.

        Args:
            source: the signature of that function.
            path: those of another kind that want the value.

        Raises:
            TypeError: one will not, or the functions run in a circle.
        """
        named = [parameter for parameter in source.parameters if parameter.kind is not parameter.POSITIONAL_ONLY]
        names = {parameter.name for parameter in named} | self._siblings(source).keys()
        self._check(source, None if source.takes_rest else names, path)

    def _check(self, source: Source, names: set[str] | None, path: tuple[Provider, ...]) -> None:
        if any(known._key == self._key for known in path):
            circle = " -> ".join(provider.name for provider in (*path, self))
            raise TypeError(f"{source.subject}: {self.nouns} run in a circle: {circle}")
        plan, siblings = self.plan(source.context_type), self._siblings(source)
        for name, required in plan.arguments.items():
            if required and names is not None and name not in names:
                raise TypeError(
                    f"{source.subject}: {self.noun} {self.name} wants {name!r}, but the function has no "
                    f"argument of this name; {self.instead}"
                )
            if name in siblings:
                siblings[name]._check(source, names, (*path, self))
        for name, (marker, kind) in plan.provided.items():
            if hasattr(marker, "check_kind"):
                marker.check_kind(f"{self.noun} {self.name!r}", name, kind)
            if isinstance(marker, Provider) and marker.noun == self.noun:
                marker._check(source, names, (*path, self))
            elif isinstance(marker, Provider):
                marker.check(source, (*path, self))
            elif hasattr(marker, "check"):
                marker.check(source)

    def _siblings(self, source: Source) -> dict[str, Provider]:
        """Return what gives values to other parameters of the function, and may give them to this one too."""
        return {}

    def plan(self, context_type: type | None = Context) -> Plan:
        """Return how the function is called, worked out once.

        Raises:
            TypeError: its signature cannot be read.
        """
        if self._plan is None:
            self._plan = self._planned(context_type)
        return self._plan

    @abstractmethod
    def _planned(self, context_type: type | None) -> Plan:
        """Read the signature."""


class ProviderSource(Source):
    """The signature of a function that gives a value; what it wants is checked together with whoever wants the value.

    Attributes:
        arguments: by name, those it takes from the arguments of the function that wants its value, and whether it
            needs them.

    Raises:
        TypeError: a parameter cannot be passed by name.
    """

    def __init__(self, function: Callable[..., Any], name: str, context_type: type | None, *, noun: str) -> None:
        super().__init__(function, name, context_type, given=True, noun=noun)
        self.arguments: dict[str, bool] = {}
        for parameter in self.parameters:
            if parameter.kind is parameter.POSITIONAL_ONLY:
                raise TypeError(f"{self.subject}: parameter {parameter.name!r} is passed by name; move it behind the /")
            self.arguments[parameter.name] = parameter.default is parameter.empty

    def _check_provided(self) -> None:
        pass
