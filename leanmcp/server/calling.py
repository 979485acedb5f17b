"""A user's function, called: on the loop or in a worker thread, within its time, with what the request provides.

In: bound arguments, and the params and Exchange of one request. Out: what the function returned.
Spec 2026-07-28: server/tools, server/prompts, server/resources; basic/patterns/mrtr, "Server Requirements".
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import os
import time
from collections.abc import Callable, Hashable, Mapping
from functools import cached_property
from types import CodeType, CoroutineType
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import UNSET

from ..calls import TimeLimit, is_async
from ..errors import ToolError
from ..limits import Limits
from ..protocol.jsonrpc import Segments
from ..protocol.meta import RequestMeta, RetryParams
from ..types import BlobResourceContents, InputRequiredResult, TextResourceContents
from .context import Context, Exchange

if TYPE_CHECKING:
    from .extensions import Extension
    from .fault_log import FaultLog
    from .injection import Dependency, Scope
    from .request_state import RequestStateSecurity
    from .threads import ThreadPool

STATE_KEY_VARIABLES = ("LEANMCP_STATE_KEY", "LEANMCP_STATE_KEY_FILE")
NOUNS = {"tools/call": "Tool", "prompts/get": "Prompt", "resources/read": "Resource"}
"""What a method runs, of those that may ask the client."""
LATE = (
    "its Context was used after the call had been answered, which reaches nobody; take `ctx: Context` in each call, "
    "and do not keep it"
)
Sanitize = Callable[[Any], Any]
"""Takes what a tool returned, or the text of an error, and returns what may go out."""


def check_sanitize(given: object) -> None:
    """Refuse what cannot be called on results.

    Raises:
        TypeError: it is no function.
    """
    if not (given is None or callable(given)):
        raise TypeError(f"sanitize={given!r}: give a function from a value to what may go out")


class Host(Protocol):
    """The server, as far as a running function can reach it."""

    name: str
    lifespan_value: Any
    extensions: Mapping[str, Extension]

    def notify_tools_changed(self) -> None: ...
    def notify_prompts_changed(self) -> None: ...
    def notify_resources_changed(self) -> None: ...
    def notify_resource_updated(self, uri: str) -> None: ...
    async def read_within(
        self, uri: str, meta: RequestMeta, exchange: Exchange
    ) -> list[TextResourceContents | BlobResourceContents]: ...


class Home:
    """What a user's function needs of the server that it belongs to.

    Args:
        server_info: the JSON of `serverInfo`.
        host: the server itself.
        sanitize: applied after the tool's own.
        limits: the server's.
        security: how `requestState` is protected; default: with the keys of the environment, else with one of this
            server's own, made here, so that processes forked later share it.

    Attributes:
        cleanup_grace: seconds that a call has for its clean-up once its time is over.
        overrides: what takes the place of a dependency, by its function; for tests.
    """

    overrides: dict[Hashable, Dependency]

    def __init__(
        self,
        server_info: bytes,
        host: Host,
        sanitize: Sanitize | None,
        limits: Limits,
        security: RequestStateSecurity | None = None,
    ) -> None:
        check_sanitize(sanitize)
        self.overrides = {}
        if security is not None:
            from .request_state import check_security  # whoever has such an object has loaded it

            check_security(security)
        self._given_security = security
        self._state_key = os.urandom(32)
        self.server_info = server_info
        self.host = host
        self.sanitize = sanitize
        self.cleanup_grace = limits.cleanup_grace
        self._most_threads = limits.threads
        if security is None and any(name in os.environ for name in STATE_KEY_VARIABLES):
            _ = self.state_security  # a key that cannot be used stops the start, not the first question

    @cached_property
    def state_security(self) -> RequestStateSecurity:
        """How `requestState` is protected."""
        from .request_state import RequestStateSecurity, keys_of  # most servers never ask

        if self._given_security is not None:
            return self._given_security
        # One key for the life of the server: all its requests, and all processes forked from this one.
        return RequestStateSecurity(keys=keys_of(os.environ) or [self._state_key])

    @cached_property
    def threads(self) -> ThreadPool:
        """The pool for `def` functions."""
        from .threads import ThreadPool  # a server of coroutines needs none

        return ThreadPool(self._most_threads)

    async def run(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Return what a function gives: on the loop that of coroutine functions, any other one in a worker thread."""
        if is_async(function):
            return await function(*args, **kwargs)
        value = await self.threads.run(function, args, kwargs)
        return await value if inspect.isawaitable(value) else value  # of a plain wrapper around a coroutine function

    @cached_property
    def faults(self) -> FaultLog:
        """Where what goes wrong inside functions is logged."""
        from .fault_log import FaultLog  # loaded when serving has started

        return FaultLog()


class InputRequired(BaseException):
    """The request cannot be completed before the client has answered; raised through the user's function.

    No Exception: an `except Exception` in a tool must not swallow a question.

    Args:
        result: what is asked.
        context: of the call, once it is known.
    """

    def __init__(self, result: InputRequiredResult, context: Context[Any] | None = None) -> None:
        super().__init__("the client has to answer first")
        self.result = result
        self.context = context


class TimedOut(ToolError):
    """A call took longer than its `timeout=` allows."""


class Provided(Protocol):
    """A parameter that the request provides, not the client; stands in `Annotated[T, ...]` or as the default."""

    async def provide(self, scope: Scope, name: str, annotation: Any) -> Any:
        """Return the value of parameter `name` for one call."""


class Wiring(Protocol):
    """The parameters of a function that are no arguments."""

    context_parameter: str | None
    provided: Mapping[str, tuple[Provided, Any]]


class Callee:
    """A user's function and how it is called.

    Args:
        function: bound, so that its signature holds only what is passed to it.
        wiring: which parameters get a Context or a provided value.
        home: what it needs of its server.
        method: that calls it, such as `tools/call`.
        name: of the tool or prompt, or the URI of the resource.
        timeout: seconds that a call may take, None for no limit.
        in_thread: whether a `def` function runs in a worker thread instead of on the loop.

    Attributes:
        provided: the markers of parameters that are no arguments, each with the parameter's type.
        running: calls that have begun and whose function has not returned.
    """

    __slots__ = (
        "_context_parameter",
        "_in_thread",
        "_timeout",
        "function",
        "home",
        "is_async",
        "method",
        "name",
        "provided",
        "running",
    )

    def __init__(
        self,
        function: Callable[..., Any],
        wiring: Wiring,
        home: Home,
        *,
        method: str,
        name: str,
        timeout: float | None = None,
        in_thread: bool = True,
    ) -> None:
        self.function = function
        self.home = home
        self.method = method
        self.name = name
        self.is_async = is_async(function)
        self.running = 0
        self._context_parameter = wiring.context_parameter
        self.provided = wiring.provided
        self._in_thread = in_thread and not self.is_async
        self._timeout = timeout

    async def call(self, args: tuple[Any, ...], kwargs: dict[str, Any], params: RetryParams, exchange: Exchange) -> Any:
        """Call the function.

        Raises:
            InputRequired: it asks the client first; `ask` makes the response.
            TimedOut: it took too long.
            InvalidParams: `requestState` is none of ours.
        """
        context: Context[Any] | None = None
        if self._context_parameter is not None or self.provided or params.request_state is not UNSET:
            deadline = None if self._timeout is None else time.monotonic() + self._timeout
            context = Context(params, exchange, self, deadline)
            if params.request_state is not UNSET:
                await context.check_state()
            if self._context_parameter is not None:
                kwargs[self._context_parameter] = context
        self.running += 1
        try:
            value = await self._run_in_time(args, kwargs, context)
        except BaseException as error:
            if context is not None:
                context.close(cancelled=isinstance(error, asyncio.CancelledError | TimedOut))
            question = _question_in(error)
            if question is None:
                raise
            raise question from None
        if context is not None:
            context.close()
        if isinstance(value, InputRequiredResult):
            raise InputRequired(value, context)
        if context is not None and context.questions:
            # `except BaseException` or `gather(return_exceptions=True)` caught it: this value knows no answer.
            raise InputRequired(InputRequiredResult(input_requests=context.questions), context)
        return value

    def warn_late(self) -> None:
        """Tell the log of a Context that is used when its call has been answered."""
        self.home.faults.warn(self.name, RuntimeError(LATE), noun=NOUNS.get(self.method, "Method").lower())

    def ask(self, asked: InputRequired, params: RetryParams, exchange: Exchange) -> Segments:
        """Return the response that asks the client.

        Raises:
            MissingRequiredClientCapability: for something that it did not declare.
        """
        from .mrtr import input_required  # most servers never ask

        return input_required(asked, self, params, exchange)

    async def _run_in_time(self, args: tuple[Any, ...], kwargs: dict[str, Any], context: Context[Any] | None) -> Any:
        """Run the function; one that is cancelled because its time is over answers that."""
        if self._timeout is None:
            return await self._run_provided(args, kwargs, context)
        scope = TimeLimit(self._timeout, self.home.cleanup_grace)
        try:
            with scope:
                return await self._run_provided(args, kwargs, context)
        except (asyncio.CancelledError, TimeoutError):
            if not scope.expired or scope.cancelled:
                raise  # the function's own, or the client's
            noun = "Completion" if self.method == "completion/complete" else NOUNS.get(self.method, "Method")
            raise TimedOut(f"{noun} {self.name!r} did not finish within {self._timeout:g} seconds") from None

    async def _run_provided(self, args: tuple[Any, ...], kwargs: dict[str, Any], context: Context[Any] | None) -> Any:
        """Run the function with its provided values, and clean them up behind it."""
        if not self.provided or context is None:
            return await self._run(args, kwargs)
        from .injection import Scope  # few functions have any

        async with Scope(context, kwargs) as scope:
            try:
                await scope.fill(kwargs, self.provided)
            except BaseException:
                self._leave()
                raise
            value = await self._run(args, kwargs)
            if isinstance(value, InputRequiredResult):  # in here, so that no dependency takes it for a success
                raise InputRequired(value, context)
            return value

    async def _run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if self._in_thread:
            # A thread cannot be cancelled: its place is free when the function returns, not when its caller gives up.
            value = await self.home.threads.run(self.function, args, kwargs, self._leave)
            if type(value) is CoroutineType:  # of a plain wrapper around a coroutine function
                self.running += 1
                try:
                    return await value
                finally:
                    self._leave()
            return value
        try:
            value = self.function(*args, **kwargs)
            if self.is_async or type(value) is CoroutineType:
                value = await value
            return value
        finally:
            self._leave()

    def _leave(self) -> None:
        self.running -= 1


def _question_in(error: BaseException) -> BaseException | None:
    """Return the question that ends a call where parallel tasks asked some, or the failure of another one of them.

    None where `error` is no group with a question in it.
    """
    if not isinstance(error, BaseExceptionGroup):
        return None
    asked, others = error.split(InputRequired)
    if asked is None or others is not None:
        return None if asked is None else others
    question: BaseException = asked
    while isinstance(question, BaseExceptionGroup):
        question = question.exceptions[0]
    return question


def code_of(function: Callable[..., Any]) -> CodeType | None:
    """Return the code that runs when `function` is called, None where it is not Python's."""
    function = inspect.unwrap(function)
    while isinstance(function, functools.partial):
        function = function.func
    function = getattr(function, "__func__", function)
    code = getattr(function, "__code__", None) or getattr(type(function).__call__, "__code__", None)
    return code if isinstance(code, CodeType) else None
