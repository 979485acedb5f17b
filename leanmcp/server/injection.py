"""Values that a request provides to the parameters of a function, and their clean-up.

In: markers in a signature (`Depends`, `Resolve`). Out: values, made once per call and let go of behind it.

A function behind `Depends` is called as tools are: `async def` on the event loop, `def` in a worker thread, so that
none of them holds the loop up. It may be a generator, with or without `@contextmanager` above it: what it yields is the
value, and what stands behind the `yield` runs when the function that wanted the value has ended, in whatever way.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import sys
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, nullcontext
from functools import partial
from types import CoroutineType, MethodType, TracebackType
from typing import Any, cast

from ..calls import is_async, key_of
from ..errors import MCPError, ToolError, explained
from .calling import Home, InputRequired, Provided
from .context import Context
from .providers import Plan, Provider, ProviderSource

__all__ = ["Dependency", "Depends", "Scope", "override"]

_UNSET = object()


@explained
def Depends(dependency: Callable[..., Any], *, use_cache: bool = True, thread: bool = True) -> Any:  # noqa: N802
    """Let each call of a function get a parameter's value from `dependency`, not from the client.

    It stands in the annotation, `db: Annotated[Connection, Depends(connect)]`, or as the default, and the parameter
    does not show in the schema.

    Args:
        dependency: function, coroutine function, generator function of either kind, class, or callable object. Its
            parameters get a Context, other dependencies, and arguments of the function by their names.
        use_cache: call it once for each call, whoever depends on it; False calls it for every parameter anew.
        thread: a `def` dependency runs in a worker thread; False runs it on the event loop, for work of microseconds.

    Raises:
        TypeError: nothing that can be called.
    """
    return Dependency(dependency, use_cache=use_cache, thread=thread)


class Dependency(Provider):
    """What `Depends` makes."""

    __slots__ = ("_thread", "_use_cache")

    marker, noun, nouns = "Depends", "dependency", "dependencies"
    instead = "give it a default, or Annotated[..., Depends(...)]"

    def __init__(self, function: Callable[..., Any], *, use_cache: bool = True, thread: bool = True) -> None:
        super().__init__(function)
        self._use_cache = use_cache
        self._thread = thread

    def _planned(self, context_type: type | None) -> Plan:
        source = _DependencySource(_signed(self.function), self.name, context_type, noun=self.noun)
        return Plan(
            context_parameter=source.context_parameter,
            provided=dict(source.provided),
            arguments=source.arguments,
            manager=_manager(self.function),
        )

    async def provide(self, scope: Scope, name: str, annotation: Any) -> Any:
        """Return the value for one call."""
        key = self._key
        if self._use_cache and key in scope.values:
            return scope.values[key]
        stand_in = scope.home.overrides.get(key, self)
        value = await stand_in._make(scope)
        scope.values[key] = value
        return value

    async def _make(self, scope: Scope) -> Any:
        plan, values = self.plan(), {}
        if plan.context_parameter is not None:
            values[plan.context_parameter] = scope.context
        for name, (marker, annotation) in plan.provided.items():
            values[name] = await marker.provide(scope, name, annotation)
        for name, required in plan.arguments.items():
            if name in scope.given:
                values[name] = scope.given[name]
            elif required:
                raise TypeError(f"dependency {self.name} wants the argument {name!r}, which was not given")
        call = partial(self.function, **values)
        if plan.manager is None:
            return await self._call(call, scope)
        manager = plan.manager(call)
        if not hasattr(manager, "__aenter__"):
            manager = _Threaded(manager, scope.home) if self._thread else _OnLoop(manager)
        manager = _Named(manager, self.name)
        return await scope.enter_async_context(manager)

    async def _call(self, call: Callable[[], Any], scope: Scope) -> Any:
        if is_async(self.function):
            return await call()
        value = await _in_thread(scope.home, call) if self._thread else call()
        return await value if type(value) is CoroutineType else value  # of a plain wrapper around a coroutine function


class _DependencySource(ProviderSource):
    def _resolve(self, where: str, annotation: Any) -> Any:
        return Any if where == "return value" else super()._resolve(where, annotation)


def _signed(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return what has the signature: of a class its constructor, which knows the names of its module."""
    if inspect.isclass(function) and not hasattr(function, "__signature__"):
        for constructor in (function.__init__, function.__new__):
            if inspect.isfunction(constructor):
                return MethodType(constructor, object())
    return function


def _manager(function: Callable[..., Any]) -> Callable[[Callable[[], Any]], Any] | None:
    """Return what makes a context manager of a call, for generator functions and those behind @contextmanager."""
    if inspect.isclass(function):
        return None
    target = function if inspect.isroutine(function) or isinstance(function, partial) else type(function).__call__
    if inspect.isasyncgenfunction(target):
        return lambda call: asynccontextmanager(call)()
    if inspect.isgeneratorfunction(target):
        return lambda call: contextmanager(call)()
    inner = inspect.unwrap(target)
    if inner is not target and (inspect.isasyncgenfunction(inner) or inspect.isgeneratorfunction(inner)):
        return _opened
    return None


def _opened(call: Callable[[], Any]) -> Any:
    """Return what a decorated generator function gives, as a context manager."""
    made = call()
    if inspect.isasyncgen(made):
        return asynccontextmanager(lambda: made)()
    if inspect.isgenerator(made):
        return contextmanager(lambda: made)()
    return made if hasattr(made, "__enter__") or hasattr(made, "__aenter__") else nullcontext(made)


@contextmanager
def override(
    overrides: dict[Hashable, Dependency], dependency: Callable[..., Any], replacement: Callable[..., Any]
) -> Iterator[None]:
    """Put `replacement` in the place of `dependency` while the block runs."""
    stand_in = Dependency(replacement)
    stand_in.plan()
    key = key_of(dependency)
    before = overrides.get(key)
    overrides[key] = stand_in
    try:
        yield
    finally:
        if before is None:
            del overrides[key]
        else:
            overrides[key] = before


# --- one call ---------------------------------------------------------------------------------------------------------


class Scope:
    """What the provided parameters of one call share; left when the function has returned.

    Attributes:
        context: of the call.
        arguments: of the function, by name; filled up with provided values as they are made.
        given: the arguments that the client gave, and defaults of those that it did not give.
        values: kept by providers for parameters that come later.
        provided: the markers of the function, by parameter, each with the parameter's type.
        method: which request it is, such as `tools/call`.
        home: what the server has for its functions.
    """

    def __init__(self, context: Context[Any], arguments: dict[str, Any]) -> None:
        self.context = context
        self.arguments = arguments
        self.given = {name: value for name, value in arguments.items() if value is not context}
        self.values: dict[Any, Any] = {}
        self.provided = context._callee.provided
        self.method = context._callee.method
        self.home: Home = context._callee.home
        self._name = context._callee.name
        self._managers: list[AbstractAsyncContextManager[Any]] = []

    async def fill(self, values: dict[str, Any], provided: Mapping[str, tuple[Provided, Any]]) -> None:
        """Put the value of each marker in `provided` into `values`; those that ask do so in one round.

        Raises:
            InputRequired: at least one of them asks.
        """
        asked: InputRequired | None = None
        for name, (marker, annotation) in provided.items():
            try:
                values[name] = await marker.provide(self, name, annotation)
            except InputRequired as question:
                asked = asked or question  # the questions of the others travel with it
        if asked is not None:
            raise asked

    async def enter_async_context(self, manager: AbstractAsyncContextManager[Any]) -> Any:
        """Enter a manager, and leave it behind the function, the last one first."""
        value = await manager.__aenter__()
        self._managers.append(manager)
        return value

    async def __aenter__(self) -> Scope:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave every manager, whatever the others do; each sees the exception that ends the call.

        A manager cannot turn a failure into a success: nobody would have a value to answer with. An exception of its
        own answers in place of a success, and one that it raised on purpose (ToolError, MCPError) in place of another
        exception. Every other one is logged.
        """
        last = error
        while self._managers:
            try:
                await self._managers.pop().__aexit__(type(last) if last is not None else None, last, _trace(last))
            except BaseException as fault:
                last = self._next(last, fault)
        if last is not error:
            raise cast(BaseException, last)

    def _next(self, error: BaseException | None, fault: BaseException) -> BaseException:
        """Return which exception goes on, the one that ends the call or the one of a clean-up; log what is dropped."""
        if error is None or fault is error:
            return fault
        cancels = isinstance(fault, asyncio.CancelledError)
        if cancels and isinstance(error, Exception):
            return fault
        if isinstance(error, Exception) and isinstance(fault, ToolError | MCPError):
            return fault
        if not cancels:
            self.home.faults.report(self._name, fault, noun="clean-up of")
        return error


def _trace(error: BaseException | None) -> TracebackType | None:
    return None if error is None else error.__traceback__


# --- threads ----------------------------------------------------------------------------------------------------------


async def _in_thread(home: Home, function: Callable[..., Any], *args: Any) -> Any:
    """Return what a function gives in a worker thread; the context variables that it set are set here, too."""
    return await _in_context(home, contextvars.copy_context(), function, *args)


async def _in_context(home: Home, variables: contextvars.Context, function: Callable[..., Any], *args: Any) -> Any:
    value = await home.threads.run(variables.run, (function, *args))
    for variable, new in variables.items():
        if variable.get(_UNSET) is not new:
            variable.set(new)
    return value


class _Named:
    """An `async with` block of a generator function; one that does not yield exactly once is told so by its name."""

    def __init__(self, manager: Any, name: str) -> None:
        self._manager = manager
        self._name = name

    async def __aenter__(self) -> Any:
        try:
            return await self._manager.__aenter__()
        except RuntimeError as fault:
            if str(fault) != "generator didn't yield":
                raise
            text = f"dependency {self._name} ended without a `yield`; yield the value once, on every way through it"
            raise RuntimeError(text) from None

    async def __aexit__(self, *error: Any) -> Any:
        try:
            return await self._manager.__aexit__(*error)
        except RuntimeError as fault:
            if not str(fault).startswith("generator didn't stop"):
                raise
            text = f"dependency {self._name} yields more than once; what stands behind its first `yield` is clean-up"
            raise RuntimeError(text) from None


class _OnLoop:
    """A `with` block as an `async with` block, on the loop."""

    def __init__(self, manager: Any) -> None:
        self._manager = manager

    async def __aenter__(self) -> Any:
        return self._manager.__enter__()

    async def __aexit__(self, *error: Any) -> Any:
        return self._manager.__exit__(*error)


class _Threaded:
    """A `with` block as an `async with` block, in worker threads, which see one set of context variables."""

    def __init__(self, manager: Any, home: Home) -> None:
        self._manager = manager
        self._home = home
        self._variables = contextvars.copy_context()
        self._entered: list[bool] = []
        self._abandoned = False

    async def __aenter__(self) -> Any:
        try:
            return await _in_context(self._home, self._variables, self._enter)
        except BaseException:
            # The thread may be on its way still: whoever takes the mark, it or we, leaves what was entered.
            self._abandoned = True
            if self._take():  # in variables of its own: the thread may not have left the others yet
                await _in_thread(self._home, self._manager.__exit__, *sys.exc_info())
            raise

    async def __aexit__(self, *error: Any) -> Any:
        return await _in_context(self._home, self._variables, self._manager.__exit__, *error)

    def _enter(self) -> Any:
        value = self._manager.__enter__()
        self._entered.append(True)
        if self._abandoned and self._take():
            self._manager.__exit__(None, None, None)
        return value

    def _take(self) -> bool:
        try:
            return self._entered.pop()
        except IndexError:
            return False
