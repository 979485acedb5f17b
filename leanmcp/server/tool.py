"""One tool: a function, the plan of its arguments, and the way of one call.

In: raw argument bytes. Out: the segments of one response; MCPError passes through.
Everything that can be known at registration is worked out there.
"""

from __future__ import annotations

import asyncio
import inspect
import os
from collections.abc import Callable
from types import CoroutineType, TracebackType
from typing import TYPE_CHECKING, Any

import msgspec

from ..errors import InvalidParams, MCPError, ToolError
from ..logs import logger
from ..protocol.headers import ParamHeader, check_params, plan_params
from ..protocol.jsonrpc import RequestId, Segments
from ..protocol.meta import CallToolParams
from ..types import Tool as ToolEntry
from .context import Context
from .results import ResultEncoder
from .signature import InvalidArguments, Signature
from .threads import ThreadPool

if TYPE_CHECKING:
    from ..protocol.http11 import Head  # stdio never loads the HTTP reader

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_DECODE_FAULTS = (msgspec.DecodeError, RecursionError, UnicodeDecodeError)


class Tool:
    """A registered tool.

    Args:
        function: what to call; bound, so that its signature holds only what the model sends (and a Context).
        signature: the plan of its arguments.
        entry: what tools/list says of it.
        results: encoder of its results.
        threads: pool for a `def` function; None runs it on the loop.
        lifespan: returns the value that `lifespan=` yielded.
    """

    __slots__ = (
        "_decode",
        "_function",
        "_is_async",
        "_lifespan",
        "_plain",
        "_results",
        "_signature",
        "_threads",
        "entry",
        "mirrored",
        "name",
    )

    def __init__(
        self,
        function: Callable[..., Any],
        signature: Signature,
        entry: ToolEntry,
        results: ResultEncoder,
        threads: ThreadPool | None,
        lifespan: Callable[[], Any],
    ) -> None:
        self.entry = entry
        self.name = entry.name
        self.mirrored = _mirrored(entry)
        self._function = function
        self._signature = signature
        self._decode = signature.decode
        self._results = results
        self._threads = threads
        self._lifespan = lifespan
        self._is_async = is_async(function)
        self._plain = self._is_async and signature.positional

    async def call(self, params: CallToolParams, request_id: RequestId, head: Head | None) -> Segments:
        """Run the tool and return the response.

        Arguments that do not fit, ToolError and unexpected exceptions answer as `isError` results.

        Raises:
            InvalidParams: `arguments` is no object.
            HeaderMismatch: a mirrored header differs from its argument.
            MCPError: the tool raised one.
        """
        if self.mirrored and head is not None:
            check_params(self.mirrored, head.headers, head.repeated, _any_json(params.arguments))
        try:
            arguments = self._decode(params.arguments)
        except _DECODE_FAULTS:
            try:
                arguments = self._signature.recover(_object(params.arguments))
            except InvalidArguments as refusal:
                return self._results.error(refusal.text, request_id)
        try:
            if self._plain:
                value = await self._function(*msgspec.structs.astuple(arguments))
            else:
                value = await self._invoke(arguments, params, request_id, head)
            return self._results.encode(value, request_id)
        except ToolError as error:
            return self._results.error(str(error) or f"Tool {self.name!r} failed", request_id)
        except MCPError:
            raise
        except BaseException as error:
            if isinstance(error, asyncio.CancelledError | GeneratorExit) and _is_cancelled():
                raise
            return self._results.error(self._mask(error), request_id)

    async def _invoke(
        self, arguments: msgspec.Struct, params: CallToolParams, request_id: RequestId, head: Head | None
    ) -> Any:
        """Call a function that is no plain coroutine function of positional parameters."""
        args, kwargs = self._signature.bind(arguments)
        if self._signature.context_parameter is not None:
            kwargs[self._signature.context_parameter] = Context(request_id, params, head, self._lifespan())
        if self._is_async:
            return await self._function(*args, **kwargs)
        if self._threads is None:
            value = self._function(*args, **kwargs)
        else:
            value = await self._threads.run(self._function, args, kwargs)
        # A plain wrapper around a coroutine function hands back a coroutine.
        return await value if type(value) is CoroutineType else value

    def _mask(self, error: BaseException) -> str:
        """Log an unexpected exception whole and return the text that the wire may have (policy P3)."""
        log_id = os.urandom(4).hex()
        trace = _own_frames(error.__traceback__)
        logger.error("tool %s failed [%s]", self.name, log_id, exc_info=(type(error), error, trace))
        return f"Tool {self.name!r} failed unexpectedly; the server's log has the details under id {log_id}"


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


def _own_frames(trace: TracebackType | None) -> TracebackType | None:
    """Return the traceback from the first frame that is not ours, the user's."""
    while trace is not None and trace.tb_frame.f_code.co_filename.startswith(_PACKAGE):
        if trace.tb_next is None:
            return trace
        trace = trace.tb_next
    return trace
