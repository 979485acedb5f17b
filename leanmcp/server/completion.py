"""completion/complete: values for an argument of a prompt or a variable of a resource template, while it is typed.

In: the params of one request. Out: segments with at most 100 values, or MCPError raised. Who answers, in this order:

1. the completer that was registered for this argument: `@mcp.completion("review", "language")`;
2. the handler for everything: `@mcp.completion()`, unless it returns None;
3. the values that the parameter's type names, `Literal`, `Enum` or `bool`: those that begin with the text, then those
   that hold it, letters alike in both cases, each group in the order of the declaration.

An argument that nobody completes has no values. What runs functions is limited to `Limits.completions_per_second`,
because a program that asks for every prefix would read out what they know (spec, "Security").
Spec 2026-07-28: server/utilities/completion.
"""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Coroutine, Iterable, Mapping, Sequence, Sized
from itertools import islice
from typing import TYPE_CHECKING, Any

import msgspec

from ..calls import is_async
from ..errors import InternalError, InvalidParams
from ..mistyped import did_you_mean
from ..protocol.jsonrpc import RESPONSE_START, Segments, encode_id
from ..protocol.meta import Params, RetryParams
from ..types import Completion, CompletionArgument, CompletionContext, PromptReference, ResourceTemplateReference
from .app import Method
from .calling import Callee, Home
from .context import Context, Exchange
from .encoding import ResultError, encode_json, server_member
from .failures import protocol_error
from .registration import check_limit
from .source import Source

if TYPE_CHECKING:
    from .app import MCPServer

__all__ = ["Bucket", "Completions", "matching"]

MAX_VALUES = 100
MAX_SEARCHED = 100_000
"""Values that are taken of an iterable which does not say how many it has; more may be without end."""
Reference = PromptReference | ResourceTemplateReference
Known = Mapping[str, Sequence[str]]
"""The arguments of a prompt, or the variables of a template: by name, the values that the type spells out."""


class CompleteParams(Params, frozen=True, kw_only=True):
    """Params of completion/complete."""

    ref: Reference
    argument: CompletionArgument
    context: CompletionContext | msgspec.UnsetType = msgspec.UNSET


# --- values -----------------------------------------------------------------------------------------------------------


def matching(values: Sequence[str], text: str) -> Completion:
    """Return the values that begin with a text, then those that hold it; upper and lower case are alike."""
    text = text.casefold()
    folded = [(value.casefold(), value) for value in values]
    first = [value for key, value in folded if key.startswith(text)]
    rest = [value for key, value in folded if text in key and not key.startswith(text)]
    return _cut(first + rest)


def _cut(values: list[str]) -> Completion:
    """Return the best of all the values there are."""
    return Completion(values=values[:MAX_VALUES], total=len(values), has_more=len(values) > MAX_VALUES)


def _collect(value: object, whole: bool) -> Any:
    """Return the completion in what a function returned, None for None.

    A coroutine or an asynchronous iterable is returned as it is. Of an iterable that may be endless no more is taken
    than travels, unless the `whole` of it is to be searched.

    Raises:
        ResultError: it holds no values.
    """
    if value is None:
        return None
    if isinstance(value, Completion):
        if whole:
            return value
        values = list(value.values)
        more = len(values) > MAX_VALUES
        total = len(values) if more and value.total is None else value.total
        return Completion(values=values[:MAX_VALUES], total=total, has_more=True if more else value.has_more)
    if isinstance(value, AsyncIterable) or inspect.isawaitable(value):
        return value
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise ResultError(f"A completer returns a list of texts, or a Completion, not {type(value).__name__}")
    if whole and isinstance(value, Sized):
        return Completion(values=list(value))
    if whole:
        return _whole(list(islice(value, MAX_SEARCHED + 1)))
    if isinstance(value, Sequence):
        return _cut(list(value))
    return _counted(list(islice(value, MAX_VALUES + 1)))


def _whole(values: list[Any]) -> Completion:
    """Return all the values there are, to be searched; ResultError where they may have no end."""
    if len(values) > MAX_SEARCHED:
        raise ResultError(
            f"A completer without parameters gives over {MAX_SEARCHED:,} values; let it take (value), the text so far, "
            "and give those that match, or return a list"
        )
    return Completion(values=values)


def _counted(taken: list[Any]) -> Completion:
    """Return the completion of values whose number is known only if they have all been taken."""
    if len(taken) <= MAX_VALUES:
        return _cut(taken)
    return Completion(values=taken[:MAX_VALUES], has_more=True)


async def _collect_async(value: Any, whole: bool) -> Completion | None:
    """Return the completion in what was awaited."""
    if not isinstance(value, AsyncIterable):
        found: Completion | None = _collect(value, whole)
        return found
    taken: list[Any] = []
    try:
        async for item in value:
            taken.append(item)
            if len(taken) > (MAX_SEARCHED if whole else MAX_VALUES):
                break
            if len(taken) % MAX_VALUES == 0:
                await asyncio.sleep(0)  # a generator that awaits nothing must not hold everybody else up
    finally:
        if isinstance(value, AsyncGenerator):
            await value.aclose()
    return _whole(taken) if whole else _counted(taken)


def _check_texts(values: Sequence[object]) -> None:
    for value in values:
        if not isinstance(value, str):
            raise ResultError(f"A completer returns texts; {type(value).__name__} is none")


def _encode(completion: Completion) -> bytes:
    """Return the member `completion`; ResultError where a value is no text, or a number none."""
    _check_texts(completion.values)
    for name, kind in (("total", int), ("has_more", bool)):
        value = getattr(completion, name)
        if value is not None and type(value) is not kind:
            raise ResultError(f"Completion({name}={value!r}): give {kind.__name__} or None")
    return encode_json(completion)


# --- completers -------------------------------------------------------------------------------------------------------


class Completer:
    """A function that completes.

    Args:
        function: takes what `names` says, a Context where one is annotated, and what the request provides.
        name: whom it completes, for error texts.
        most: what it may take, in order; parameters with a default are left alone.
        least: how many of these it must take.
        home: what it needs of its server.
        timeout: seconds that a completion may take, None for no limit.

    Attributes:
        function: as it was given.
        takes: how many of these it takes.

    Raises:
        TypeError: another signature.
        ValueError: a timeout that is no positive number.
    """

    __slots__ = ("_callee", "_names", "_positional", "function", "name", "takes")

    def __init__(
        self,
        function: Callable[..., Any],
        name: str,
        most: Sequence[str],
        least: int,
        home: Home,
        timeout: float | None = None,
    ) -> None:
        check_limit("timeout", timeout)
        source = Source(function, name, Context, noun="completion", untyped=Any)
        taken = [parameter for parameter in source.parameters if parameter.default is inspect.Parameter.empty]
        if not least <= len(taken) <= len(most):
            text = f"takes {', '.join(p.name for p in taken) or 'nothing'}; give parameters for {', '.join(most)}"
            raise TypeError(f"completion {name!r}: {getattr(function, '__name__', function)!r} {text}")
        self.name = name
        self.function = function
        self.takes = len(taken)
        self._positional = sum(parameter.kind is inspect.Parameter.POSITIONAL_ONLY for parameter in taken)
        self._names = [parameter.name for parameter in taken]
        self._callee = Callee(
            _collecting(function, whole=not taken),
            source,
            home,
            method="completion/complete",
            name=name,
            timeout=timeout,
        )

    async def __call__(self, values: Sequence[Any], params: CompleteParams, exchange: Exchange) -> Completion | None:
        """Call the function with the first of `values`, as many as it takes."""
        args = tuple(values[: self._positional])
        kwargs = dict(zip(self._names[self._positional :], values[self._positional :], strict=False))
        found: Completion | None = await self._callee.call(args, kwargs, RetryParams(meta=params.meta), exchange)
        return found


def _collecting(function: Callable[..., Any], whole: bool) -> Callable[..., Any]:
    """Return the function, taking the values out of what it returned while the call lasts: in its thread, where it has
    one, and before the values that the request provides are cleaned up.
    """
    if _is_async_generator(function):

        async def generated(*args: Any, **kwargs: Any) -> Completion | None:
            return await _collect_async(function(*args, **kwargs), whole)

        return generated
    if is_async(function):

        async def awaited(*args: Any, **kwargs: Any) -> Completion | None:
            return await _collect_async(await function(*args, **kwargs), whole)

        return awaited

    def called(*args: Any, **kwargs: Any) -> Any:
        value = _collect(function(*args, **kwargs), whole)
        if value is None or isinstance(value, Completion):
            return value
        return _awaited(value, whole)  # of a plain wrapper around a coroutine function; the call waits for it

    return called


async def _awaited(value: Any, whole: bool) -> Completion | None:
    return await _collect_async(await value if inspect.isawaitable(value) else value, whole)


def _is_async_generator(function: Callable[..., Any]) -> bool:
    return inspect.isasyncgenfunction(function) or inspect.isasyncgenfunction(type(function).__call__)


class Bucket:
    """Lets `rate` things happen a second; after a pause, as many at once, and at least one.

    Args:
        rate: things a second.
        now: seconds of a monotonic clock, passed in by tests.
    """

    __slots__ = ("_level", "_most", "_since", "rate")

    def __init__(self, rate: float, now: float) -> None:
        self.rate = rate
        self._level = self._most = max(1.0, rate)
        self._since = now

    def take(self, now: float) -> bool:
        """Return whether one more may happen at `now`."""
        self._level = min(self._most, self._level + (now - self._since) * self.rate)
        self._since = now
        if self._level < 1:
            return False
        self._level -= 1
        return True


# --- the method -------------------------------------------------------------------------------------------------------


class Completions:
    """What completes on one server, and the method that serves it.

    Args:
        server: whose prompts and resource templates are completed; nothing is served before `serve`.
        home: what completers need of it.
        prompt: the arguments of the prompt of a name; raises InvalidParams.
        template: the variables of a resource template; raises InvalidParams.
    """

    def __init__(
        self, server: MCPServer, home: Home, prompt: Callable[[str], Known], template: Callable[[str], Known]
    ) -> None:
        self._server = server
        self._home = home
        self._prompt, self._template = prompt, template
        self._handler: Completer | None = None
        self._completers: dict[tuple[str, str, str], Completer] = {}
        self._bucket = Bucket(server.limits.completions_per_second, time.monotonic())
        self._end = b',"_meta":{' + server_member(server.server_info) + b"}}}"

    def serve(self) -> None:
        """Declare the capability and answer the method."""
        if "completion/complete" in self._server.methods:
            return
        self._server.declare("completions", {})
        self._server.serve_method("completion/complete", Method(msgspec.json.Decoder(CompleteParams), self._complete))

    def handle(self, function: Callable[..., Any], timeout: float | None = None) -> None:
        """Let a function complete what no completer is registered for: `function(ref, argument, context)`.

        Raises:
            TypeError, ValueError: see `Completer`.
        """
        self._handler = Completer(function, "handler", ("ref", "argument", "context"), 3, self._home, timeout)
        self.serve()

    def add(
        self, function: Callable[..., Any], ref: Reference | str, argument: str, timeout: float | None = None
    ) -> None:
        """Let a function complete one argument.

        Raises:
            TypeError: it has another signature than `()`, `(value)` or `(value, arguments)`; see `Completer`.
            ValueError: there is no such prompt, template or argument; see `Completer`.
        """
        ref = _reference(ref)
        key = _key(ref, argument)
        try:
            self._offered(ref, argument)
        except InvalidParams as fault:
            before = "" if "did you mean" in fault.message else "; register it before"
            raise ValueError(f"completion({key[1]!r}, {argument!r}): {fault.message}{before}") from None
        name = f"{key[1]}:{argument}"
        self._completers[key] = Completer(function, name, ("value", "arguments"), 0, self._home, timeout)
        self.serve()

    def _complete(self, params: CompleteParams, exchange: Exchange) -> Segments | Coroutine[Any, Any, Segments]:
        """Answer one request; InvalidParams for an argument that there is not, InternalError for too many requests."""
        ref, argument = params.ref, params.argument
        offered = self._offered(ref, argument.name)
        completer = self._completers.get(_key(ref, argument.name)) or self._handler
        if completer is None:
            return self._answer(matching(offered, argument.value), exchange)
        if not self._bucket.take(time.monotonic()):
            raise InternalError(
                f"Too many completion requests, over {self._bucket.rate:g} a second; ask again when typing pauses"
            )
        return self._run(completer, offered, params, exchange)

    async def _run(
        self, completer: Completer, offered: Sequence[str], params: CompleteParams, exchange: Exchange
    ) -> Segments:
        argument = params.argument
        context = params.context if isinstance(params.context, CompletionContext) else None
        values: tuple[Any, ...] = params.ref, argument, context
        if completer is not self._handler:
            values = argument.value, (context and context.arguments) or {}
        try:
            found = await completer(values, params, exchange)
            if found is None:
                found = matching(offered, argument.value)
            elif completer.takes == 0:
                _check_texts(found.values)
                found = matching(found.values, argument.value)
            return self._answer(found, exchange)
        except BaseException as error:
            raise protocol_error(error, "completion", completer.name, self._home) from None

    def _answer(self, completion: Completion, exchange: Exchange) -> Segments:
        start = b',"result":{"resultType":"complete","completion":'
        return [RESPONSE_START, encode_id(exchange.id), start, _encode(completion), self._end]

    def _offered(self, ref: Reference, argument: str) -> Sequence[str]:
        """Return the values that the type of an argument names; InvalidParams where there is no such argument."""
        if isinstance(ref, PromptReference):
            known, owner = self._prompt(ref.name), f"prompt {ref.name[:128]!r}"
        else:
            known, owner = self._template(ref.uri), f"resource template {ref.uri[:128]!r}"
        if argument not in known:
            names = ", ".join(known) or "none"
            raise InvalidParams(
                f"Unknown argument {argument[:128]!r} of {owner}; it has {names}{did_you_mean(argument, known)}"
            )
        return known[argument]


def _reference(ref: Reference | str) -> Reference:
    """Return what a text refers to: a URI has a scheme or a variable, the name of a prompt neither."""
    if not isinstance(ref, str):
        return ref
    return ResourceTemplateReference(uri=ref) if "://" in ref or "{" in ref else PromptReference(name=ref)


def _key(ref: Reference, argument: str) -> tuple[str, str, str]:
    return ref.type, ref.name if isinstance(ref, PromptReference) else ref.uri, argument
