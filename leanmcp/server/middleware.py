"""Functions around every method: each sees the request before the method does, and the answer behind it.

In: the params and Exchange of one request. Out: what the method answered, or what a middleware put in its place.
Without middleware nothing is wrapped. A chain costs a message four Python function entries, and two for each function
in it, its own included: about 2 µs for one, and as much for each further (`tests/test_call_budget.py` counts).
`params`, `meta` and `result` are decoded when they are read.
A cache hint speaks of the answer that the server made. What a middleware puts in its place may depend on the caller, so
it is `private` unless it says otherwise, and so are all answers of that method from then on: a list has one scope on
all its pages, and what one caller gets whole must not be shared with those who get a part.
What is refused before a method is found never gets here: malformed messages, headers that do not mirror the body,
versions and methods that are not served. So the names of methods that a middleware sees are few.
Spec 2026-07-28: server/utilities/caching, "Choosing a Cache Scope", "Interaction with Pagination".
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable, Iterator
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import msgspec

from ..calls import Stream, is_async
from ..errors import MCPError, ToolError
from ..logs import logger
from ..protocol.jsonrpc import Segments
from ..protocol.meta import Params, decode_late
from ..protocol.pieces import joined
from .calling import Home, code_of
from .context import Exchange, RequestView
from .lists import CACHEABLE
from .results import ResultEncoder
from .whole_results import CORE_RESULT_TYPES, encode_result

if TYPE_CHECKING:
    from .app import MCPServer, Method

__all__ = ["CallNext", "Chain", "Middleware", "Outcome", "Request", "wrap"]


class _ParamsOnly(msgspec.Struct):
    params: dict[str, Any]


class _ResultOnly(msgspec.Struct):
    result: dict[str, Any]


# A hint of the server's own stands right before `_meta`, the last member.
_PUBLIC = b'"cacheScope":"public","_meta":{'
_PRIVATE = b'"cacheScope":"private","_meta":{'

_decode_params = msgspec.json.Decoder(_ParamsOnly).decode
_decode_result = msgspec.json.Decoder(_ResultOnly).decode


class Request(RequestView):
    """A request on its way to its method.

    Besides what is here it has `request_id`, `meta`, `headers`, `client_info`, `client_capabilities`,
    `client_extensions`, `require_extension`, `protocol_version`, `trace`, `baggage` and `state` of `Context`.

    Attributes:
        method: such as "tools/call".
        name: of the tool or prompt, or the URI that is read; None for methods without.
    """

    __slots__ = ("_home", "method", "name")

    def __init__(self, method: str, name: str | None, params: Params, exchange: Exchange, home: Home) -> None:
        self.method = method
        self.name = name
        self._params = params
        self._exchange = exchange
        self._home = home

    @property
    def params(self) -> dict[str, Any]:
        """The params as plain JSON values, decoded anew each time; changing them changes nothing."""
        return decode_late(self._exchange.message, _decode_params).params

    @property
    def lifespan(self) -> Any:
        """The value that the server's `lifespan=` yielded."""
        return self._home.host.lifespan_value

    lifespan_context = lifespan

    def answer(self, value: object) -> Outcome:
        """Return a result of one's own as an Outcome, which is what returning it from a middleware does.

        Raises:
            TypeError, ResultError: it is none; see `encode_result`.
            MissingRequiredClientCapability: its `resultType` is an extension's that the client did not declare.
        """
        segments, result_type = encode_result(value, self.method, self.request_id, self._home.server_info)
        if result_type not in CORE_RESULT_TYPES:
            from .extensions import check_result_type  # where there is such a type, there are extensions

            check_result_type(result_type, self._home.host.extensions, self)
        return Outcome(segments, self.method in CACHEABLE, is_own=True)

    def refuse(self, error: BaseException, function: Callable[..., Any]) -> Outcome:
        """Return what answers for an exception that is no MCPError: of a tool an error result.

        Raises:
            MCPError: other methods have no error results, and nor have exceptions that nobody raised on purpose.
            BaseException: `error` itself, where it is the end of a request that was cancelled.
        """
        if isinstance(error, ToolError) and self.method == "tools/call":
            try:
                blocks: list[Any] = [str(error)] if error.content is None else error.content
                if self._home.sanitize is not None:
                    blocks = [self._home.sanitize(block) for block in blocks]
                return Outcome(ResultEncoder(self._home.server_info).error(blocks, self.request_id))
            except Exception as second:  # of the sanitizer, or of a text that cannot even be made
                error = second
        from .failures import protocol_error  # a failure path

        name = getattr(function, "__qualname__", type(function).__name__)
        raise protocol_error(error, "middleware", name, self._home) from None


class Outcome:
    """What a method answered, or the stream that it opened.

    Args:
        answer: its segments, or the stream.
        has_hint: whether a cache hint is in it.
        is_own: whether a middleware has made it.
    """

    __slots__ = ("_has_hint", "_result", "answer", "is_own")

    def __init__(self, answer: Segments | Stream, has_hint: bool = False, *, is_own: bool = False) -> None:
        self.answer = answer
        self.is_own = is_own
        self._has_hint = has_hint
        self._result: dict[str, Any] | None = None

    @property
    def result(self) -> dict[str, Any]:
        """The result as plain JSON values, decoded when it is first read; empty for a stream.

        To answer something else, return it changed: `return {**outcome.result, ...}`. `cacheScope` is not in it: add
        `"cacheScope": "public"` to what every caller gets alike.
        """
        if self._result is None:
            self._result = {} if isinstance(self.answer, Stream) else _decode_result(joined(self.answer)).result
            if self._has_hint:
                self._result.pop("cacheScope", None)
        return self._result

    @property
    def is_error(self) -> bool:
        """Whether a tool answered `isError`; protocol errors come out of `call_next` as MCPError."""
        return self.result.get("isError") is True

    @property
    def is_stream(self) -> bool:
        """Whether the request opened a stream, as subscriptions/listen does."""
        return isinstance(self.answer, Stream)


CallNext = Callable[[Request], Awaitable[Outcome]]
Middleware = Callable[[Request, CallNext], Awaitable[Any]]
"""`async def middleware(request, call_next)`; returns what `call_next(request)` gave, or a result of its own."""


async def _through(function: Middleware, call_next: CallNext, request: Request) -> Outcome:
    """Run one middleware; whatever stands around it sees an Outcome or an MCPError."""
    try:
        value = await function(request, call_next)
        if value is None:
            return request.refuse(_nothing(request.method, function), function)
        return value if isinstance(value, Outcome) else request.answer(value)
    except MCPError:
        raise
    except BaseException as error:  # SystemExit too: what one request runs into must not end the server
        return request.refuse(error, function)


def _nothing(method: str, function: Middleware) -> TypeError:
    """Return the error of a middleware that answers nothing, which has no frames: those would be ours."""
    code = code_of(function)
    where = "" if code is None else f" ({code.co_filename}:{code.co_firstlineno})"
    return TypeError(
        f"{method}: the middleware returned None; end it with `return await call_next(request)`, or return a result "
        f"of its own{where}"
    )


class _Wrapped:
    """One method inside a chain.

    Attributes:
        served: what the server serves in its place.
    """

    __slots__ = ("_call", "_handle", "_has_hint", "_home", "_method", "_named", "_varies", "_warns", "served")

    _call: CallNext

    def __init__(self, name: str, method: Method, functions: Iterable[Middleware], home: Home) -> None:
        self._method = name
        self._handle = method.handle
        self._named = method.mirrored
        self._home = home
        self._has_hint = name in CACHEABLE
        self._varies = False  # whether a middleware has changed an answer
        self._warns = True
        self.surround(functions)
        self.served = method._replace(handle=self.start, source=None)

    def surround(self, functions: Iterable[Middleware]) -> None:
        """Put functions around the method, the first one outermost."""
        self._call = self._innermost
        for function in reversed(list(functions)):
            self._call = partial(_through, function, self._call)

    async def start(self, params: Params, exchange: Exchange) -> Any:
        """Answer a request; stands where the method's own handle stood."""
        state = exchange.state or SimpleNamespace()
        exchange = Exchange(exchange.id, exchange.head, exchange.channel, exchange.message, state)
        name = None if self._named is None else getattr(params, self._named)
        outcome = await self._call(Request(self._method, name, params, exchange, self._home))
        return self._in_one_scope(outcome) if self._has_hint else outcome.answer

    def _in_one_scope(self, outcome: Outcome) -> Segments | Stream:
        """Return the answer, as a private one where answers of this method have been changed before."""
        answer = outcome.answer
        if isinstance(answer, Stream) or (outcome.is_own and self._varies):
            return answer
        if outcome.is_own:
            self._varies = not any(b'"cacheScope":"public"' in part for part in answer if isinstance(part, bytes))
        elif self._varies and _PUBLIC in answer[-1]:
            if self._warns:
                self._warns = False
                logger.warning(
                    "middleware changes some answers of %s, whose cache hint says public: all are private from now on; "
                    "give it CacheHint(..., 'private')",
                    self._method,
                )
            start, _, end = answer[-1].rpartition(_PUBLIC)
            return [*answer[:-1], start + _PRIVATE + end]
        return answer

    async def _innermost(self, request: Request) -> Outcome:
        answer = self._handle(request._params, request._exchange)
        return Outcome(answer if isinstance(answer, list | Stream) else await answer, self._has_hint)


def wrap(name: str, method: Method, functions: Iterable[Middleware], home: Home) -> Method:
    """Return a method with functions around it."""
    return _Wrapped(name, method, functions, home).served


class Chain:
    """The middleware of a server, outermost first; may grow while the server runs."""

    def __init__(self, server: MCPServer, home: Home) -> None:
        self._server = server
        self._home = home
        self._functions: list[Middleware] = []
        self._wrapped: dict[str, _Wrapped] = {}

    def append(self, function: Middleware) -> None:
        """Put a function around every method, inside of those that are there.

        Raises:
            TypeError: no coroutine function.
        """
        name = getattr(function, "__name__", None) or repr(function)
        if not callable(function) or not is_async(function):
            raise TypeError(f"middleware {name}: write `async def middleware(request, call_next)`")
        try:
            inspect.signature(function).bind(None, None)
        except TypeError:
            raise TypeError(f"middleware {name}: it is called with two, (request, call_next)") from None
        self._functions.append(function)
        if len(self._functions) == 1:
            for name, method in list(self._server.methods.items()):
                self._server.serve_method(name, method)
        for wrapped in self._wrapped.values():
            wrapped.surround(self._functions)

    def __call__(self, function: Middleware) -> Middleware:
        """Append a function; for use as a decorator."""
        self.append(function)
        return function

    def __iter__(self) -> Iterator[Middleware]:
        return iter(self._functions)

    def __len__(self) -> int:
        return len(self._functions)

    def wrap(self, name: str, method: Method) -> Method:
        """Return what the server serves in place of a method; the method itself as long as there is no middleware."""
        if not self._functions:
            return method
        wrapped = self._wrapped[name] = _Wrapped(name, method, self._functions, self._home)
        return wrapped.served
