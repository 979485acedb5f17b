"""What a tool may ask about the request it serves.

A parameter annotated `Context` receives it, whatever its name; it never shows in the schema.

In: the params and Exchange of one request. Out: what its client said, and what it is told meanwhile.
Spec 2026-07-28: basic/index, "Per-request protocol fields"; basic/patterns/progress.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Mapping
from types import MappingProxyType, SimpleNamespace
from typing import TYPE_CHECKING, Any, Generic, Protocol, cast

import msgspec

from ..errors import MissingRequiredClientCapability, Unmade
from ..protocol.jsonrpc import RequestId, Segments
from ..protocol.meta import ClientInfo, Params, RetryParams, decode_late, decode_meta

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    from ..protocol.http11 import Head  # stdio never loads the HTTP reader
    from ..protocol.trace import TraceContext
    from ..types import BlobResourceContents, TextResourceContents
    from .calling import Callee
    from .elicitation import Accepted, Cancelled, Declined
    from .mrtr import Rounds
    from .progress import Progress

if TYPE_CHECKING:
    L = TypeVar("L", default=Any)  # so that a bare `Context` is `Context[Any]` to a type checker
else:
    from typing import TypeVar

    L = TypeVar("L")
T = TypeVar("T")
_NO_HEADERS: Mapping[str, str] = MappingProxyType({})


class Channel(Protocol):
    """The stream of one call, for what is sent before its answer."""

    def notify(self, message: Segments, request_id: RequestId, /) -> None:
        """Send one notification of a call, unless that has been cancelled."""


class Exchange(msgspec.Struct, frozen=True):
    """What a handler knows of a request besides its params."""

    id: RequestId
    """The JSON-RPC id to answer."""
    head: Head | None
    """The HTTP head, None on stdio."""
    channel: Channel | None
    """Takes notifications before the answer; None where the client takes none."""
    message: bytes
    """The whole request, as it came."""
    state: SimpleNamespace | None = None
    """What middleware leaves for the function; None without any."""


class RequestView:
    """What can be known of a request: read by functions as `Context`, and by middleware as `Request`."""

    __slots__ = ("_exchange", "_params")
    _params: Params
    _exchange: Exchange

    def __init__(self, params: Params, exchange: Exchange) -> None:
        self._params = params
        self._exchange = exchange

    @property
    def request_id(self) -> int | str:
        """The JSON-RPC id of the request."""
        return self._exchange.id

    @property
    def protocol_version(self) -> str:
        """The revision that the request is made in, such as "2026-07-28"."""
        return self._params.meta.protocol_version

    @property
    def client_info(self) -> ClientInfo | None:
        """Name and version that the client reports; not verified, for logs and displays only."""
        info = self._params.meta.client_info
        return info if isinstance(info, ClientInfo) else None

    @property
    def client_capabilities(self) -> dict[str, Any]:
        """The capabilities that the client declared for this request, as plain JSON values."""
        return {name: decode_late(raw) for name, raw in self._params.meta.client_capabilities.items()}

    @property
    def headers(self) -> Mapping[str, str]:
        """HTTP header fields, names in lower case; empty on stdio."""
        head = self._exchange.head
        return _NO_HEADERS if head is None else MappingProxyType(head.headers)

    @property
    def client_extensions(self) -> dict[str, dict[str, Any]]:
        """The extensions that the client declared for this request: identifier to settings.

        Spec: basic/versioning, "Extension Negotiation".
        """
        declared = self.client_capabilities.get("extensions")
        found = declared.items() if isinstance(declared, dict) else ()
        return {identifier: settings for identifier, settings in found if isinstance(settings, dict)}

    if not TYPE_CHECKING:  # type checkers know what there is

        def __getattr__(self, name: str) -> Any:
            """Say what stands for a member that there is not; asked for those only."""
            from ..elsewhere import no_member  # of mistakes only

            raise no_member(self, name) from None

    def require_extension(self, identifier: str) -> dict[str, Any]:
        """Return the client's settings of an extension, or refuse the request of a client that did not declare it.

        Raises:
            MissingRequiredClientCapability: -32021 with `data.requiredCapabilities`, HTTP 400.
        """
        settings = self.client_extensions.get(identifier)
        if settings is None:
            text = f"This request needs a client that declares the extension {identifier!r}"
            raise MissingRequiredClientCapability(text, {"extensions": {identifier: {}}})
        return settings

    @property
    def meta(self) -> dict[str, Any]:
        """The request's whole `_meta` as plain JSON values, keys that nobody knows included.

        Spec: basic/index, "`_meta`".
        """
        return decode_late(self._exchange.message, decode_meta).params.meta

    @property
    def trace(self) -> TraceContext | None:
        """The W3C trace that the caller's span belongs to, None where none came or it is malformed.

        `_meta.traceparent` counts; only without one, on HTTP, the header fields of that name do: they tell of the last
        hop, perhaps of a proxy. `tracestate` is taken from the same place.

        Spec: basic/index, "OpenTelemetry trace context".
        """
        from ..protocol.trace import read_trace  # few functions ask

        return read_trace(self.meta, self.headers)

    @property
    def baggage(self) -> Mapping[str, str]:
        """The W3C baggage in `_meta`, else, on HTTP, in the header field; empty where none came or it is malformed."""
        from ..protocol.trace import read_baggage  # as above

        return read_baggage(self.meta, self.headers)

    @property
    def state(self) -> SimpleNamespace:
        """Attributes of this one request: what middleware and dependencies leave for the function."""
        if self._exchange.state is None:
            self._exchange = msgspec.structs.replace(self._exchange, state=SimpleNamespace())
        return cast(SimpleNamespace, self._exchange.state)


class Context(RequestView, Generic[L]):
    """The request that a tool call belongs to; made only for tools that ask for it.

    Attributes:
        lifespan: the value that the server's `lifespan=` yielded.
        deadline: value of `time.monotonic()` at which the tool's `timeout=` ends the call; None without one.
        cancelled: whether the call was cancelled or timed out. A coroutine learns it by CancelledError; a `def` tool
            that works for long looks here.
    """

    __slots__ = ("_callee", "_closed", "_progress", "_rounds", "cancelled", "deadline", "lifespan")
    _params: RetryParams

    def __init__(self, params: RetryParams, exchange: Exchange, callee: Callee, deadline: float | None = None) -> None:
        self.lifespan: L = callee.home.host.lifespan_value
        self.deadline = deadline
        self._callee = callee
        self.cancelled = False
        self._closed = False
        self._params = params
        self._exchange = exchange
        self._progress: Progress | None = None
        self._rounds: Rounds | None = None
        token = params.meta.progress_token
        if exchange.channel is not None and not isinstance(token, msgspec.UnsetType):  # 0 and "" are tokens
            from .progress import Progress  # loaded by the first call whose client asks

            self._progress = Progress(token, self._notify)

    @property
    def request_context(self) -> Context[L]:
        """Alias for code written against the official SDK: `ctx.request_context.lifespan_context`."""
        return self

    @property
    def lifespan_context(self) -> L:
        """Alias of `lifespan`, the value that `lifespan=` yielded."""
        return self.lifespan

    def require_capability(self, name: str, *inner: str) -> None:
        """Refuse the request unless the client declared a capability.

        Args:
            name: such as "elicitation", which stands for forms when nothing follows.
            inner: what is inside it, such as "url" or "form".

        Raises:
            MissingRequiredClientCapability: -32021 with `data.requiredCapabilities`, HTTP 400.

        Spec: basic/index, "Per-request protocol fields"; client/elicitation, "Capabilities".
        """
        from .client_requests import declares, missing  # few functions ask

        if not declares((name, *inner), self._params.meta.client_capabilities):
            raise missing([(name, *inner)])

    # --- multi round trips ---------------------------------------------------------------------------------------

    @property
    def rounds(self) -> Rounds:
        """What earlier rounds have left, and what this one adds; for the methods below."""
        if self._rounds is None:
            from .mrtr import Rounds  # most requests are done in one round

            self._rounds = Rounds(self, self._params, self._callee)
        return self._rounds

    @property
    def questions(self) -> dict[str, dict[str, Any]]:
        """The requests that the client has to answer before this one can be completed."""
        return {} if self._rounds is None else self._rounds.questions

    async def check_state(self) -> None:
        """Verify the request's `requestState`, and use it up where it may be used once only.

        Raises:
            InvalidParams: it is none of this server's, or not of this request.
        """
        await self.rounds.claim()

    @property
    def input_responses(self) -> dict[str, Any] | None:
        """The client's answers to the `input_requests` of the last round, None in the first one.

        By key, an ElicitResult, or plain JSON for other requests than elicitation. Only well-formed answers to what
        was asked are here; all others are as if the client had not sent them, so that a missing key means: ask again.

        Spec: basic/patterns/mrtr, "Error Handling".
        """
        return None if self._params.input_responses is msgspec.UNSET else self.rounds.responses

    @property
    def request_state(self) -> Any:
        """The `request_state` of the InputRequiredResult of the last round; None in the first one."""
        return self.rounds.carried.state

    async def elicit(
        self, message: str, schema: type[T], *, key: str | None = None
    ) -> Accepted[T] | Declined | Cancelled:
        """Ask the user to fill in a form, and return how that ended.

        The request ends here, and begins again with the answer: the function runs from its first line, and this call
        returns at once. What has an effect, and stands in front of a question, belongs into `once`. Questions of
        parallel tasks (`asyncio.gather`, `asyncio.TaskGroup`) are asked together.

        Args:
            message: tells the user what is needed, and why.
            schema: the class to fill in; see `leanmcp.elicit.Elicit`.
            key: names the question on the wire; default: made of its text, and its place among those of the same text.
                A question that has changed since it was asked is asked again.

        Raises:
            MissingRequiredClientCapability: the client cannot show forms; -32021.
            TypeError, ValueError: no such form can be shown, or it asks for a secret.

        Spec: client/elicitation, "Form Mode Elicitation Requests"; basic/patterns/mrtr.
        """
        from .elicitation import Elicit

        outcome: Accepted[T] | Declined | Cancelled = await self.rounds.ask(Elicit(message, schema), key)
        return outcome

    async def elicit_url(
        self, message: str, url: str, *, key: str | None = None
    ) -> Accepted[None] | Declined | Cancelled:
        """Ask the user to open a page, and return how that ended; otherwise as `elicit`.

        Accepted means that the user agreed to open the page, not that anything has been done there: look at what the
        page has left, and ask again where there is nothing yet.

        Spec: client/elicitation, "URL Mode Elicitation Requests".
        """
        from .elicitation import ElicitURL

        outcome: Accepted[None] | Declined | Cancelled = await self.rounds.ask(ElicitURL(message, url), key)
        return outcome

    async def once(self, key: str, function: Callable[[], Any], *, type: Any = None) -> Any:  # noqa: A002
        """Return what `function` returned, and call it in the first round only that comes here.

        For what must not be done twice and stands in front of a question: `await ctx.once("charge", charge)`. The
        value travels in the sealed state and comes back as plain JSON values, in the first round, too; clients can read
        it, unless `AESGCMRequestStateCodec` hides it. A round that ends with an error leaves no state, and a client may
        begin anew or send an old state again: what must happen once whatever a client does needs a record of its own.

        Args:
            key: names the step.
            function: without arguments; `async def`, or `def`, which runs in a worker thread.
            type: what the value is read as, such as a Struct.

        Raises:
            ResultError: the value has no JSON form.
        """
        return await self.rounds.once(key, function, type)

    # --- extensions -----------------------------------------------------------------------------------------------

    async def notify(self, method: str, params: Mapping[str, Any] | None = None) -> bool:
        """Send a notification of an extension on the stream of this call, before its answer.

        Return False, and send nothing, where the client did not declare the extension or takes no notifications, and
        once the call has been answered.

        Raises:
            ValueError: no extension of the server has such a notification.
        """
        from .extensions import encode_notification  # few servers have any

        message = encode_notification(self._callee.home.host.extensions, method, params, self)
        if message is None or self._closed or self._exchange.channel is None:
            return False
        self._notify(message)
        await asyncio.sleep(0)  # as in report_progress
        return True

    # --- change notifications -------------------------------------------------------------------------------------

    async def notify_tools_changed(self) -> None:
        """Tell those who listen that the list of tools has changed; `def` tools have `MCPServer.notify_tools_changed`.

        Clients are told by the streams they have opened for it, never by the answer to this call.
        """
        self._callee.home.host.notify_tools_changed()
        await asyncio.sleep(0)  # as in report_progress

    async def notify_prompts_changed(self) -> None:
        """Tell those who listen that the list of prompts has changed."""
        self._callee.home.host.notify_prompts_changed()
        await asyncio.sleep(0)

    async def notify_resources_changed(self) -> None:
        """Tell those who listen that the list of resources has changed."""
        self._callee.home.host.notify_resources_changed()
        await asyncio.sleep(0)

    async def notify_resource_updated(self, uri: str) -> None:
        """Tell those who listen to exactly this `uri` that the resource has changed."""
        self._callee.home.host.notify_resource_updated(uri)
        await asyncio.sleep(0)

    # --- resources ------------------------------------------------------------------------------------------------

    async def read_resource(self, uri: str) -> list[TextResourceContents | BlobResourceContents]:
        """Return the contents of a resource of this server, as a client with this request's `_meta` would get them.

        Raises:
            ResourceNotFoundError: there is none.
            ResourceError: it failed, or asks the client, which it cannot do here. Not caught in a tool, its text goes
                to the model, as that of a ToolError.

        Spec: server/resources.
        """
        if not isinstance(uri, str):
            raise TypeError(f"ctx.read_resource({uri!r:.60}): give the URI of the resource, a text")
        return await self._callee.home.host.read_within(uri, self._params.meta, self._exchange)

    # --- progress -------------------------------------------------------------------------------------------------

    async def report_progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Tell the client how far the call is, if it asked; nothing is sent, and nothing costs, if it did not.

        Args:
            progress: rises with each report; one that does not is dropped. Reports in quick succession are held back,
                and the last of them is sent.
            total: what `progress` rises to, where that is known.
            message: what is being done.

        Raises:
            ValueError: a number that is not finite.

        Spec: basic/patterns/progress.
        """
        self.progress(progress, total, message)
        if self._progress is not None:
            await asyncio.sleep(0)  # a loop of reports must not hold everybody else up

    def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Report progress from a `def` tool, from any thread; otherwise as `report_progress`."""
        progress, total = _finite(progress), None if total is None else _finite(total)
        if self._closed:
            self.is_over()
        if self._progress is not None:
            self._progress.report(progress, total, message)

    def is_over(self) -> bool:
        """Return whether the call has been answered, which the log is told; a cancelled one may not know it yet."""
        is_over = self._closed and not self.cancelled and not self.questions
        if is_over:
            self._callee.warn_late()
        return is_over

    def _notify(self, notification: bytes) -> None:
        if self._exchange.channel is not None:
            self._exchange.channel.notify([notification], self._exchange.id)

    def close(self, *, cancelled: bool = False) -> None:
        """End the reports of a call that has ended; of one that was not cancelled the last one is sent."""
        self._closed = True
        self.cancelled = self.cancelled or cancelled
        if self._progress is not None:
            self._progress.drop() if cancelled else self._progress.finish()


def _finite(value: float) -> float:
    """Return a number as JSON has it, of whatever numeric type it is, or raise where it is not finite, or none."""
    if type(value) is int:
        return value
    try:
        value = int(value) if isinstance(value, int) else float(value)
    except (TypeError, ValueError):
        raise TypeError(f"progress {value!r} is no number; a text is the third one, message=") from None
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"progress {value} is no finite number")
    return value


# As in `ctx: Context()`; a default costs the calls of those nothing who make one.
_unmade = Unmade("Context is made by the server for each request; write ctx: Context")
Context.__init__.__defaults__ = (_unmade, _unmade, _unmade, None)
