"""One tool: a function, the plan of its arguments, and the way of one call.

In: raw argument bytes. Out: the segments of one response; MCPError passes through.
Everything that can be known at registration is worked out there.
"""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Callable
from types import CodeType, CoroutineType
from typing import Any

import msgspec

from ..calls import CallTimeout
from ..errors import InvalidParams, MCPError, ToolError
from ..logs import logger
from ..protocol.headers import ParamHeader, check_params, plan_params
from ..protocol.jsonrpc import RequestId, Segments
from ..protocol.meta import CallToolParams
from ..types import Tool as ToolEntry
from .context import Context, Exchange
from .encoding import ResultError
from .fault_log import FaultLog
from .results import ResultEncoder
from .signature import ArgumentPlan, InvalidArguments
from .threads import ThreadPool

_DECODE_FAULTS = (msgspec.DecodeError, RecursionError, UnicodeDecodeError)


Sanitize = Callable[[Any], Any]
"""Takes what a tool returned, or the text of an error, and returns what may go out."""


class Home(msgspec.Struct, frozen=True):
    """What a tool needs of the server that it belongs to.

    Args:
        server_info: the JSON of `serverInfo`.
        threads: pool for `def` functions.
        lifespan: returns the value that `lifespan=` yielded.
        sanitize: applied after the tool's own.
        faults: where what goes wrong inside tools is logged.
        cleanup_grace: seconds that a call has for its clean-up once its time is over.
    """

    server_info: bytes
    threads: ThreadPool
    lifespan: Callable[[], Any]
    sanitize: Sanitize | None
    faults: FaultLog
    cleanup_grace: float


class Tool:
    """A registered tool.

    Args:
        function: what to call; bound, so that its signature holds only what the model sends (and a Context).
        signature: the plan of its arguments.
        entry: what tools/list says of it.
        results: encoder of its results.
        home: what it needs of its server.
        sanitize: the tool's and the server's, one after the other.
        timeout: seconds that a call may take, None for no limit.
        max_concurrency: calls of this tool at once, None for no limit.
        in_thread: whether a `def` function runs in a worker thread instead of on the loop.
    """

    __slots__ = (
        "_decode",
        "_function",
        "_home",
        "_in_thread",
        "_is_async",
        "_max_concurrency",
        "_plain",
        "_results",
        "_running",
        "_sanitize",
        "_signature",
        "_timeout",
        "entry",
        "mirrored",
        "name",
    )

    def __init__(
        self,
        function: Callable[..., Any],
        signature: ArgumentPlan,
        entry: ToolEntry,
        results: ResultEncoder,
        home: Home,
        sanitize: Sanitize | None = None,
        *,
        timeout: float | None = None,
        max_concurrency: int | None = None,
        in_thread: bool = False,
    ) -> None:
        self.entry = entry
        self.name = entry.name
        self.mirrored = _mirrored(entry)
        self._function = function
        self._signature = signature
        self._decode = signature.decode
        self._results = results
        self._home = home
        self._in_thread = in_thread
        self._is_async = is_async(function)
        self._sanitize = sanitize
        self._timeout = timeout
        self._max_concurrency = max_concurrency
        self._running = 0
        unlimited = timeout is None and max_concurrency is None and sanitize is None
        self._plain = self._is_async and signature.positional and unlimited

    @property
    def code(self) -> CodeType | None:
        """The code of the function, by which a stack tells which tool it belongs to."""
        return code_of(self._function)

    async def call(self, params: CallToolParams, exchange: Exchange) -> Segments:
        """Run the tool and return the response.

        Args:
            params: of tools/call.
            exchange: whom the answer goes to.

        Arguments that do not fit, ToolError and unexpected exceptions answer as `isError` results.

        Raises:
            InvalidParams: `arguments` is no object.
            HeaderMismatch: a mirrored header differs from its argument.
            MCPError: the tool raised one.
        """
        request_id, head, _ = exchange
        if self.mirrored and head is not None:
            check_params(self.mirrored, head.headers, head.repeated, _any_json(params.arguments))
        try:
            try:
                arguments = self._decode(params.arguments)
            except _DECODE_FAULTS:
                arguments = self._signature.recover(_object(params.arguments))
            if self._plain:
                value = await self._function(*msgspec.structs.astuple(arguments))
            else:
                value = await self._invoke(arguments, params, exchange)
            return self._results.encode(value, request_id)
        except InvalidArguments as refusal:
            return self._results.error([refusal.text], request_id)
        except ToolError as error:
            return self._refuse(error, request_id)
        except MCPError:
            raise
        except BaseException as error:
            if isinstance(error, asyncio.CancelledError | GeneratorExit) and _is_cancelled():
                raise
            return self._mask(error, request_id)

    def _refuse(self, error: ToolError, request_id: RequestId) -> Segments:
        """Return the result of a failure that the model may read."""
        if isinstance(error, ResultError):
            self._home.faults.warn(self.name, error)
        try:
            blocks = error.content if error.content is not None else [str(error) or f"Tool {self.name!r} failed"]
            if self._sanitize is not None:
                blocks = [self._sanitize(block) for block in blocks]
            return self._results.error(blocks, request_id)
        except Exception as second:  # of the sanitizer, or a text or block that cannot be sent
            return self._mask(second, request_id)

    def _mask(self, error: BaseException, request_id: RequestId) -> Segments:
        """Log an unexpected exception whole; the wire has the tool's name and the log id (policy P3)."""
        log_id = self._home.faults.report(self.name, error)
        text = f"Tool {self.name!r} failed unexpectedly; the server's log has the details under id {log_id}"
        return self._results.failure(text, request_id)

    async def _invoke(self, arguments: msgspec.Struct, params: CallToolParams, exchange: Exchange) -> Any:
        """Call a function that is no plain coroutine function of positional parameters, or that has limits."""
        if self._max_concurrency is not None and self._running >= self._max_concurrency:
            raise ToolError(f"Tool {self.name!r} is busy: {self._running} calls are running; try again in a moment")
        args, kwargs = self._signature.bind(arguments)
        context: Context[Any] | None = None
        if self._signature.context_parameter is not None:
            deadline = None if self._timeout is None else time.monotonic() + self._timeout
            lifespan = self._home.lifespan()
            context = Context(params, exchange, lifespan, deadline)
            kwargs[self._signature.context_parameter] = context
        self._running += 1
        try:
            value = await self._run_in_time(args, kwargs)
        except BaseException as error:
            if context is not None:
                context.close(cancelled=isinstance(error, asyncio.CancelledError | _TimedOut))
            raise
        if context is not None:
            context.close()
        return value if self._sanitize is None else self._sanitize(value)

    async def _run_in_time(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run the function; one that is cancelled because its time is over answers that."""
        if self._timeout is None:
            return await self._run(args, kwargs)
        scope = CallTimeout(self._timeout, self._home.cleanup_grace)
        try:
            with scope:
                return await self._run(args, kwargs)
        except (asyncio.CancelledError, TimeoutError):
            if not scope.expired or scope.cancelled:
                raise  # the tool's own, or the client's
            raise _TimedOut(f"Tool {self.name!r} did not finish within {self._timeout:g} seconds") from None

    async def _run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if self._in_thread:
            # A thread cannot be cancelled: its place is free when the function returns, not when its caller gives up.
            value = await self._home.threads.run(self._function, args, kwargs, self._leave)
            if type(value) is CoroutineType:  # of a plain wrapper around a coroutine function
                self._running += 1
                try:
                    return await value
                finally:
                    self._leave()
            return value
        try:
            value = self._function(*args, **kwargs)
            if self._is_async or type(value) is CoroutineType:
                value = await value
            return value
        finally:
            self._leave()

    def _leave(self) -> None:
        self._running -= 1


class _TimedOut(ToolError):
    """A call took longer than the tool's `timeout=` allows."""


def code_of(function: Callable[..., Any]) -> CodeType | None:
    """Return the code that runs when `function` is called, None where it is not Python's."""
    function = inspect.unwrap(function)
    while hasattr(function, "func"):
        function = function.func  # functools.partial
    function = getattr(function, "__func__", function)
    code = getattr(function, "__code__", None) or getattr(type(function).__call__, "__code__", None)
    return code if isinstance(code, CodeType) else None


def is_async(function: Callable[..., Any]) -> bool:
    """Return whether calling `function` gives a coroutine: coroutine functions, partials and objects with one."""
    call = type(function).__call__  # of an object that is no function
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)


def _mirrored(entry: ToolEntry) -> tuple[ParamHeader, ...]:
    try:
        plan = plan_params(entry.input_schema)
    except ValueError as fault:
        raise ValueError(f"tool {entry.name!r}: {fault}") from None
    for warning in plan.warnings:
        logger.warning("tool %r: %s", entry.name, warning)
    return plan.params


def _any_json(raw: msgspec.Raw) -> Any:
    try:
        return msgspec.json.decode(raw)
    except _DECODE_FAULTS:
        return None  # the decoder of the arguments says what is wrong with them


def _object(raw: msgspec.Raw) -> bytes:
    """Return the bytes of an arguments object; null stands for none.

    Raises:
        InvalidParams: the arguments are no object (policy P10).
    """
    data = bytes(raw)
    if data == b"null":
        return b"{}"
    if not data.startswith(b"{"):
        raise InvalidParams("Invalid params: `arguments` must be an object")
    return data


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0
