"""What a tool may ask about the request it serves.

A parameter annotated `Context` receives it, whatever its name; it never shows in the schema.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol

import msgspec

from ..errors import MissingRequiredClientCapability
from ..protocol.jsonrpc import RequestId, Segments
from ..protocol.meta import ClientInfo, Params

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    from ..protocol.http11 import Head  # stdio never loads the HTTP reader
    from .progress import Progress

if TYPE_CHECKING:
    L = TypeVar("L", default=Any)  # so that a bare `Context` is `Context[Any]` to a type checker
else:
    from typing import TypeVar

    L = TypeVar("L")
_NO_HEADERS: Mapping[str, str] = MappingProxyType({})


class Channel(Protocol):
    """The stream of one call, for what is sent before its answer."""

    def notify(self, message: Segments, request_id: RequestId, /) -> None:
        """Send one notification of a call, unless that has been cancelled."""


class Exchange(NamedTuple):
    """What a handler knows of a request besides its params."""

    id: RequestId
    """The JSON-RPC id to answer."""
    head: Head | None
    """The HTTP head, None on stdio."""
    channel: Channel | None
    """Takes notifications before the answer; None where the client takes none."""


class Context(Generic[L]):
    """The request that a tool call belongs to; made only for tools that ask for it.

    Attributes:
        lifespan: the value that the server's `lifespan=` yielded.
        deadline: value of `time.monotonic()` at which the tool's `timeout=` ends the call; None without one.
        cancelled: whether the call was cancelled or timed out. A coroutine learns it by CancelledError; a `def` tool
            that works for long looks here.
    """

    __slots__ = ("_exchange", "_params", "_progress", "cancelled", "deadline", "lifespan")

    def __init__(self, params: Params, exchange: Exchange, lifespan: L, deadline: float | None = None) -> None:
        self.lifespan = lifespan
        self.deadline = deadline
        self.cancelled = False
        self._params = params
        self._exchange = exchange
        self._progress: Progress | None = None
        token = params.meta.progress_token
        if exchange.channel is not None and not isinstance(token, msgspec.UnsetType):  # 0 and "" are tokens
            from .progress import Progress  # loaded by the first call whose client asks

            self._progress = Progress(token, self._notify)

    @property
    def request_id(self) -> int | str:
        """The JSON-RPC id of the request."""
        return self._exchange.id

    @property
    def request_context(self) -> Context[L]:
        """Alias for code written against the official SDK: `ctx.request_context.lifespan_context`."""
        return self

    @property
    def lifespan_context(self) -> L:
        """Alias of `lifespan`, the value that `lifespan=` yielded."""
        return self.lifespan

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
        return {name: msgspec.json.decode(raw) for name, raw in self._params.meta.client_capabilities.items()}

    @property
    def headers(self) -> Mapping[str, str]:
        """HTTP header fields, names in lower case; empty on stdio."""
        head = self._exchange.head
        return _NO_HEADERS if head is None else MappingProxyType(head.headers)

    def require_capability(self, name: str) -> None:
        """Refuse the request unless the client declared capability `name`.

        Raises:
            MissingRequiredClientCapability: -32021 with `data.requiredCapabilities`, HTTP 400.

        Spec: basic/index, "Per-request protocol fields".
        """
        if name not in self._params.meta.client_capabilities:
            raise MissingRequiredClientCapability(f"This request needs the client capability {name!r}", {name: {}})

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
        if self._progress is not None:
            self._progress.report(progress, total, message)

    def _notify(self, notification: bytes) -> None:
        if self._exchange.channel is not None:
            self._exchange.channel.notify([notification], self._exchange.id)

    def close(self, *, cancelled: bool = False) -> None:
        """End the reports of a call that has ended; of one that was not cancelled the last one is sent."""
        self.cancelled = self.cancelled or cancelled
        if self._progress is not None:
            self._progress.drop() if cancelled else self._progress.finish()


def _finite(value: float) -> float:
    """Return a number as JSON has it, of whatever numeric type it is.

    Raises:
        ValueError: it is not finite.
    """
    if type(value) is int:
        return value
    value = int(value) if isinstance(value, int) else float(value)
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"progress {value} is no finite number")
    return value
