"""One tool: a function, the plan of its arguments, and the way of one call.

In: raw argument bytes. Out: the segments of one response; MCPError passes through.
Everything that can be known at registration is worked out there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import CodeType
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import UNSET
from msgspec.structs import astuple

from ..errors import InvalidParams, MCPError, ToolError
from ..logs import logger
from ..protocol.jsonrpc import DECODE_FAULTS, RequestId, Segments
from ..protocol.meta import CallToolParams
from ..types import Tool as ToolEntry
from .calling import Callee, Home, InputRequired, Sanitize, code_of
from .context import Exchange
from .encoding import ResultError
from .results import ResultEncoder
from .signature import ArgumentPlan, InvalidArguments

if TYPE_CHECKING:
    from ..protocol.http11 import Head


WORDLESS = "it raised a ToolError without a text: say what is wrong, and what to send instead"


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
        "_callee",
        "_check_headers",
        "_decode",
        "_function",
        "_home",
        "_max_concurrency",
        "_plain",
        "_results",
        "_sanitize",
        "_signature",
        "entry",
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
        in_thread: bool = True,
    ) -> None:
        self.entry = entry
        self.name = entry.name
        self._check_headers = _header_check(entry)
        self._function = function
        self._signature = signature
        self._decode = signature.decode
        self._results = results
        self._home = home
        self._callee = Callee(
            function, signature, home, method="tools/call", name=entry.name, timeout=timeout, in_thread=in_thread
        )
        self._sanitize = sanitize
        self._max_concurrency = max_concurrency
        unlimited = timeout is None and max_concurrency is None and sanitize is None
        self._plain = self._callee.is_async and signature.positional and unlimited

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
        request_id, head = exchange.id, exchange.head
        if self._check_headers is not None and head is not None:
            self._check_headers(head, params.arguments)
        try:
            try:
                arguments = self._decode(params.arguments)
            except DECODE_FAULTS:
                arguments = self._signature.recover(object_of(params.arguments))
            if self._plain and params.request_state is UNSET:
                value = await self._function(*astuple(arguments))
            else:
                value = await self._invoke(arguments, params, exchange)
            return self._results.encode(value, request_id)
        except InputRequired as asked:
            return self._callee.ask(asked, params, exchange)
        except InvalidArguments as refusal:
            from .recover import of_other_params  # of mistakes only

            return self._results.error([refusal.text + of_other_params(params, exchange.message)], request_id)
        except ToolError as error:
            return self._refuse(error, request_id)
        except MCPError:
            raise
        except BaseException as error:
            if isinstance(error, asyncio.CancelledError | GeneratorExit) and is_cancelled():
                raise
            return self._mask(error, request_id)

    def _refuse(self, error: ToolError, request_id: RequestId) -> Segments:
        """Return the result of a failure that the model may read."""
        if isinstance(error, ResultError):
            self._home.faults.warn(self.name, error)
            error = ToolError(error.of("tool", self.name))
        try:
            blocks = error.content if error.content is not None else [str(error)]
            if not any(blocks):
                self._home.faults.warn(self.name, RuntimeError(WORDLESS))
                blocks = [f"Tool {self.name!r} failed"]
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
        running = self._callee.running
        if self._max_concurrency is not None and running >= self._max_concurrency:
            raise ToolError(f"Tool {self.name!r} is busy: {running} calls are running; try again in a moment")
        args, kwargs = self._signature.bind(arguments)
        value = await self._callee.call(args, kwargs, params, exchange)
        return value if self._sanitize is None else self._sanitize(value)


def _header_check(entry: ToolEntry) -> Callable[[Head, msgspec.Raw], None] | None:
    """Return the comparison of the arguments with the headers that mirror them, None where there are no such."""
    if b"x-mcp-header" not in msgspec.json.encode(entry.input_schema):
        return None
    from ..protocol.headers import check_params, plan_params  # few tools mirror anything

    try:
        plan = plan_params(entry.input_schema)
    except ValueError as fault:
        raise ValueError(f"tool {entry.name!r}: {fault}") from None
    for warning in plan.warnings:
        logger.warning("tool %r: %s", entry.name, warning)

    def check(head: Head, arguments: msgspec.Raw) -> None:
        check_params(plan.params, head.headers, head.repeated, _any_json(arguments))

    return check if plan.params else None


def _any_json(raw: msgspec.Raw) -> Any:
    try:
        return msgspec.json.decode(raw)
    except DECODE_FAULTS:
        return None  # the decoder of the arguments says what is wrong with them


def object_of(raw: msgspec.Raw, form: str = "an object") -> bytes:
    """Return the bytes of an arguments object, null for none; InvalidParams for anything else (policy P10)."""
    data = bytes(raw)
    if data == b"null":
        return b"{}"
    if not data.startswith(b"{"):
        raise InvalidParams(f"Invalid params: `arguments` must be {form}")
    return data


def is_cancelled() -> bool:
    """Return whether the running task is being cancelled, and not only told so by what it awaits."""
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0
