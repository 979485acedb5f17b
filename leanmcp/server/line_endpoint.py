"""The stdio binding: lines in, response segments out, on one shared channel.

In: one line at a time. Out: `send(segments)` for each answer, in the order in which calls end.
Spec 2026-07-28: basic/transports/stdio; basic/patterns/cancellation; basic/patterns/subscriptions.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from types import CoroutineType
from typing import TYPE_CHECKING, Any

import msgspec

from ..calls import Starter, Stream, end_call
from ..errors import InternalError, InvalidRequest, MCPError, ParseError, UnsupportedProtocolVersion
from ..logs import logger, warn_seldom
from ..protocol import jsonrpc
from ..protocol.jsonrpc import DECODE_FAULTS, RequestId, Segments
from ..protocol.meta import (
    MODERN_VERSIONS,
    SUBSCRIPTION_ID,
    Params,
    decode_params,
    decode_plain_call,
    method_not_found,
)
from .app import MCPServer
from .context import Exchange

if TYPE_CHECKING:
    from .repeats import Repeats

Send = Callable[[Segments], None]
_any_params = msgspec.json.Decoder(Params)


def _nothing() -> None:
    pass


class CancelledParams(msgspec.Struct):
    """Params of notifications/cancelled."""

    request_id: int | str = msgspec.field(name="requestId")


_decode_cancelled = msgspec.json.Decoder(CancelledParams).decode


class LineEndpoint:
    """Answers the lines of one byte stream.

    Args:
        server: whose methods are served.
        send: takes the segments of one message; framing is the transport's.
        freed: told of a call that ended without an answer.
        tell: takes the segments of one notification, which may be dropped; default: `send`.
    """

    __slots__ = (
        "_cancelled",
        "_expected",
        "_freed",
        "_limits",
        "_loop",
        "_methods",
        "_repeats",
        "_send",
        "_starter",
        "_tell",
        "calls",
        "stalled",
        "streams",
    )

    def __init__(
        self, server: MCPServer, send: Send, freed: Callable[[], None] | None = None, tell: Send | None = None
    ) -> None:
        self._methods = server.methods
        self._limits = server.limits
        self._send = send
        self._tell = tell or send
        self._freed = freed or _nothing
        self._loop = asyncio.get_running_loop()
        self._starter = Starter(self._loop)
        self._repeats: Repeats | None = None  # of a client that asks for lists
        self.calls: dict[RequestId, asyncio.Task[None]] = {}
        """Calls in flight by id; 1 and "1" are different ids."""
        self._cancelled: set[RequestId] = set()
        self._expected: dict[RequestId, int] = {}  # how many cancellations of an id wait for their turn
        self.streams: dict[RequestId, Stream] = {}
        """Open subscriptions by the id of their request."""
        self.stalled = False
        """Whether the peer is behind with reading."""

    def receive(self, line: bytes | None) -> None:
        """Take one line; None stands for one that was longer than the limit allows."""
        request_id: RequestId | None = None
        try:
            if line is None or line.find(b'"tools/call"') < 0:  # `in` makes an exception of each, first
                return self._receive_slowly(line)
            if len(line) > self._limits.max_depth or not line.isascii():
                jsonrpc.check_bytes(line, self._limits)
            try:
                call = decode_plain_call(line)
            except DECODE_FAULTS:
                return self._receive_slowly(line)
            if (
                call.id in self.calls
                or call.id in self.streams
                or call.params.meta.protocol_version not in MODERN_VERSIONS
            ):
                return self._receive_slowly(line)
            request_id = call.id
            call_of_tool: Any = self._methods["tools/call"].handle(call.params, Exchange(request_id, None, self, line))
            outcome = self._starter.start(call_of_tool, self, request_id)
        except (Exception, asyncio.CancelledError) as error:
            return self._fail(error, request_id, line)
        if type(outcome) is list:
            return self._send(outcome)
        return self._settle(outcome, request_id)

    def _receive_slowly(self, line: bytes | None) -> None:
        """Take a line that is no plain tools/call request, or that is wrong in some way."""
        repeats = self._repeats
        if repeats is not None and line is not None and not (self.calls or self.streams):  # whose ids are taken
            repeated = repeats.answer(line)
            if repeated is not None:
                return self._send([*repeated])
        request_id: RequestId | None = None
        try:
            if line is None:
                raise InvalidRequest(f"Invalid request: longer than {self._limits.max_line_size} bytes")
            envelope = jsonrpc.decode(line, self._limits)
            if envelope.id is msgspec.UNSET:
                return self._notified(envelope.method, envelope.params)
            request_id = envelope.id
            if request_id in self.calls or request_id in self.streams:
                raise InvalidRequest(f"Invalid request: id {repr(request_id)[:64]} is still in flight")
            method = self._methods.get(envelope.method)
            if method is None and envelope.method == "initialize":
                raise method_not_found(envelope.method, self._methods)
            params = decode_params(envelope.params, _any_params if method is None else method.decoder)
            if params.meta.protocol_version not in MODERN_VERSIONS:
                raise UnsupportedProtocolVersion(params.meta.protocol_version, MODERN_VERSIONS)
            if method is None:
                raise method_not_found(envelope.method, self._methods)
            exchange = Exchange(request_id, None, self, line)
            outcome: Any
            if method.source is not None:
                if repeats is None:
                    from .repeats import Repeats  # of clients that ask for lists

                    repeats = self._repeats = Repeats(self._methods, self._limits)
                outcome = repeats.ask(line, envelope, method, params, exchange)
            else:
                outcome = method.handle(params, exchange)
            if type(outcome) is CoroutineType:
                outcome = self._starter.start(outcome, self, request_id)
        except (Exception, asyncio.CancelledError) as error:
            return self._fail(error, request_id, line)
        return self._settle(outcome, request_id)

    def _settle(self, outcome: Segments | Stream | asyncio.Task[None] | None, request_id: RequestId) -> None:
        """Send the answer to a request, or note what goes on."""
        if isinstance(outcome, list):
            self._send(outcome)
        elif isinstance(outcome, Stream):
            self._open(request_id, outcome)
        elif outcome is not None:
            self.calls[request_id] = outcome
            if request_id in self._expected:
                self._cancel(request_id)

    def _fail(self, error: BaseException, request_id: RequestId | None, line: bytes | None) -> None:
        """Answer a request whose handling has raised `error`; a blank line is none."""
        if not isinstance(error, MCPError):
            self._send(self._own_fault(error, request_id))
        elif request_id is not None or line is None or line.strip():
            self._refuse(error, request_id)

    def _open(self, request_id: RequestId, stream: Stream) -> None:
        self.streams[request_id] = stream
        self._send(stream.open(self))
        if request_id in self._expected:
            self._cancel(request_id)

    def _refuse(self, error: MCPError, request_id: RequestId | None) -> None:
        if isinstance(error, ParseError) and request_id is None:
            warn_seldom(
                "standard input had a line that is not JSON; a host writes one JSON-RPC message a line. "
                "By hand: leanmcp call FILE TOOL name=value"
            )
        self._send([jsonrpc.encode_error(error, error.request_id if request_id is None else request_id)])

    async def go_on(self, rest: Awaitable[Segments | Stream], request_id: RequestId) -> None:
        """Wait for an answer that was not there in the first step, and send it."""
        outcome: Segments | Stream
        try:
            outcome = await rest
        except MCPError as error:
            outcome = [jsonrpc.encode_error(error, request_id)]
        except asyncio.CancelledError as error:
            self.calls.pop(request_id, None)
            if request_id in self._cancelled:  # nothing more is sent for a cancelled id
                self._cancelled.discard(request_id)
                self._freed()
            else:
                self._send(self._own_fault(error, request_id))
            raise
        except Exception as error:
            outcome = self._own_fault(error, request_id)
        self.calls.pop(request_id, None)
        if request_id in self._cancelled:  # the tool went on all the same
            self._cancelled.discard(request_id)
            return self._freed()
        return self._settle(outcome, request_id)

    def notify(self, message: Segments, request_id: RequestId) -> None:
        """Send a notification of a call in flight; of a cancelled one nothing more is sent."""
        if request_id not in self._cancelled:
            self._tell(message)

    # --- subscriptions ----------------------------------------------------------------------------------------------

    def send(self, messages: list[Segments]) -> None:
        """Send messages of a subscription."""
        for message in messages:
            self._send(message)

    def output_stalled(self, stalled: bool) -> None:
        """Note that the peer stopped or went on reading; what subscriptions have missed follows."""
        self.stalled = stalled
        if not stalled:
            for stream in self.streams.values():
                stream.resume()

    def end_streams(self) -> list[Segments]:
        """End every subscription with its result; return the notifications that say so once more.

        Spec: basic/patterns/subscriptions, "Graceful Closure"; basic/patterns/cancellation, which asks for the latter.
        """
        streams, self.streams = self.streams, {}
        for stream in streams.values():
            self.send(stream.end())
        return [_torn_down(request_id) for request_id in streams]

    # --- the end of calls -------------------------------------------------------------------------------------------

    def cancel_all(self) -> list[asyncio.Task[None]]:
        """Cancel every call in flight, and return them; none of them is answered any more."""
        tasks = list(self.calls.values())
        self._cancelled.update(self.calls)
        for task in tasks:
            self._loop.call_soon(end_call, task, self._limits.cleanup_grace)
        return tasks

    def close(self) -> None:
        """Let go of what waits for further calls."""
        self._starter.close()

    def _own_fault(self, error: BaseException, request_id: RequestId | None) -> Segments:
        """Return the answer to a request that failed by no fault of its own."""
        if isinstance(error, asyncio.CancelledError):  # nobody asked for it, and the client waits
            return [jsonrpc.encode_error(InternalError("The tool cancelled its own call"), request_id)]
        logger.exception("a request failed inside leanmcp")
        return [jsonrpc.encode_error(InternalError("Internal error"), request_id)]

    def cancel(self, line: bytes) -> bool:
        """Take a line before its turn if it cancels a call in flight; return whether it did.

        If not, it is expected in its turn; a call that begins before that is cancelled at once.
        """
        if b"cancelled" not in line:
            return False
        try:
            envelope = jsonrpc.decode(line, self._limits)
        except MCPError:
            return False  # answered in its turn
        request_id = None if envelope.id is not msgspec.UNSET else _cancelled_by(envelope.method, envelope.params)
        if request_id is None or self._cancel(request_id):
            return request_id is not None
        self._expected[request_id] = self._expected.get(request_id, 0) + 1
        return False

    def _notified(self, method: str, params: msgspec.Raw) -> None:
        """Cancel the call, or end the subscription, that notifications/cancelled names; ignore all others."""
        request_id = _cancelled_by(method, params)
        if request_id is None:
            return
        expected = self._expected.pop(request_id, 0)
        if expected > 1:
            self._expected[request_id] = expected - 1
        self._cancel(request_id)

    def _cancel(self, request_id: RequestId) -> bool:
        """Cancel a call, or end a subscription; return whether there is one."""
        stream = self.streams.pop(request_id, None)
        if stream is not None:
            stream.close()
            return True
        task = self.calls.get(request_id)
        if task is None or request_id in self._cancelled:  # once: a second one would cut the clean-up short
            return False
        self._cancelled.add(request_id)
        # Not at once: a task that has not begun would end without running `go_on`, and keep its id in flight.
        self._loop.call_soon(end_call, task, self._limits.cleanup_grace)
        return True


def _cancelled_by(method: str, params: msgspec.Raw) -> RequestId | None:
    """Return the id that a notification cancels, None for other or malformed ones."""
    if method != "notifications/cancelled":
        return None
    try:
        return _decode_cancelled(params).request_id
    except (msgspec.DecodeError, RecursionError):
        return None


def _torn_down(request_id: RequestId) -> Segments:
    """Return the notification that a subscription has been torn down."""
    encoded = jsonrpc.encode_id(request_id)
    start = b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"_meta":{"%s":' % SUBSCRIPTION_ID.encode()
    return [start, encoded, b'},"requestId":', encoded, b',"reason":"The server ends."}}']
