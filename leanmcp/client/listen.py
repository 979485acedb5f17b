"""`subscriptions/listen` as an async iterator of typed events.

In: a filter. Out: ToolsListChanged, PromptsListChanged, ResourcesListChanged, ResourceUpdated. A stream that the server
ends says so by ending the loop; one that breaks off raises SubscriptionLost, or is opened again where that is wanted.
Spec 2026-07-28: basic/patterns/subscriptions.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from ..errors import CallTimeout, ConnectionLost, InvalidResult, MCPError, SubscriptionLost, TransportError
from ..events import Event, PromptsListChanged, ResourcesListChanged, ResourceUpdated, ToolsListChanged
from ..logs import logger, one_line, warn_seldom
from ..protocol.meta import SUBSCRIPTION_ID, SubscriptionFilter
from .caller import Caller, Patience
from .messages import result_of

_ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
_MAX_WAITING = 1024  # events that nobody has read yet; equal ones count once
_SPELLING = (
    "enter it first: `async with client.listen(...) as changes:`, and inside of it `async for event in changes:`"
)
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 30.0  # seconds between two attempts, doubled each time


_CHANGED: dict[str, tuple[str, Event]] = {
    "notifications/tools/list_changed": ("tools_list_changed", ToolsListChanged()),
    "notifications/prompts/list_changed": ("prompts_list_changed", PromptsListChanged()),
    "notifications/resources/list_changed": ("resources_list_changed", ResourcesListChanged()),
}
_UPDATED = "notifications/resources/updated"


def event_of(method: str, params: dict[str, Any], wanted: SubscriptionFilter) -> Event | None:
    """Return the event of a notification, None where it is none of those wanted."""
    if method in _CHANGED:
        name, event = _CHANGED[method]
        return event if getattr(wanted, name) else None
    uri = params.get("uri")
    if method == _UPDATED and isinstance(uri, str) and wanted.resource_subscriptions:
        return ResourceUpdated(uri)
    return None


class Subscription:
    """An open stream of events: `async with client.listen(...) as sub: async for event in sub: ...`.

    Equal events that have not been read yet are one: an event says that something is worth reading again, not how
    often it has changed.

    Args:
        caller: of the client.
        wanted: which events.
        changed: takes every notification before its event can be read; forgets what is cached.
        relisten: open the stream again when it breaks off.
        max_attempts: attempts in a row without success until SubscriptionLost.

    Attributes:
        honored: the events that the server has agreed to send; look for what is missing.
        state: "open"; "waiting" for the next attempt; "ended" by the server or by leaving the block; "lost".
        attempts: attempts in a row that have failed.
    """

    def __init__(
        self,
        caller: Caller,
        wanted: SubscriptionFilter,
        changed: Callable[[str, dict[str, Any]], None],
        *,
        relisten: bool = False,
        max_attempts: int = 20,
    ) -> None:
        self._caller = caller
        self._wanted = wanted
        self._changed = changed
        self._relisten = relisten
        self._max_attempts = max_attempts
        self._waiting: dict[Event, None] = {}
        self._news = asyncio.Event()
        self._acknowledged: asyncio.Future[None] | None = None
        self._task: asyncio.Task[None] | None = None
        self._error: MCPError | None = None
        self.honored = SubscriptionFilter()
        self.state: Literal["open", "waiting", "ended", "lost"] = "waiting"
        self.attempts = 0

    # --- opening and closing ------------------------------------------------------------------------------------------

    async def __aenter__(self) -> Subscription:
        if self._task is not None:
            raise RuntimeError("this subscription has been entered; call client.listen() for another one")
        self._caller.check_loop()
        loop = asyncio.get_running_loop()
        self._caller.at_close.add(self._client_closed)
        self._acknowledged = loop.create_future()
        self._task = loop.create_task(self._run())
        try:
            await asyncio.shield(self._acknowledged)
        except BaseException:
            await self._stop()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """End the subscription; legal from any task, more than once."""
        await self._stop()
        if self.state in ("open", "waiting"):
            self.state = "ended"
        self._news.set()

    def _client_closed(self) -> None:
        """Be lost at once: no later attempt can succeed."""
        if self.state in ("open", "waiting"):
            where = self._caller.transport.where
            self._end("lost", ConnectionLost(f"{where} was closed by this client", where))
        if self._task is not None:
            self._task.cancel()

    async def _stop(self) -> None:
        self._caller.at_close.discard(self._client_closed)
        if self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.wait((self._task,))

    # --- the stream ---------------------------------------------------------------------------------------------------

    async def _run(self) -> None:
        """Hold the stream, and open it again; the outcome is in `state`."""
        pause = _FIRST_PAUSE
        loop = asyncio.get_running_loop()
        while True:
            opened = loop.time()
            try:
                await self._listen_once()
            except MCPError as error:
                if self.state == "open" and loop.time() - opened > _LONGEST_PAUSE:
                    self.attempts, pause = 0, _FIRST_PAUSE
                self.attempts += 1
                refused = not isinstance(error, TransportError) or isinstance(error, InvalidResult)
                if self._gives_up(error, refused):
                    return
            except Exception as fault:
                logger.exception("a subscription failed inside leanmcp")
                return self._end("lost", SubscriptionLost(repr(fault), self._caller.transport.where))
            else:
                return self._end("ended", None)
            self.state = "waiting"
            seconds = random.uniform(pause / 2, pause)  # noqa: S311  jitter, so that clients do not come back at once
            pause = min(2 * pause, _LONGEST_PAUSE)
            await asyncio.sleep(seconds)

    def _gives_up(self, error: MCPError, refused: bool) -> bool:
        """Return whether the end of a stream is final, and note it."""
        if self._acknowledged is not None and not self._acknowledged.done():
            self._acknowledged.set_exception(error)
            self._acknowledged.exception()
            self._end("lost", error)
            return True
        if self._relisten and not refused and self.attempts < self._max_attempts:
            where, fault = self._caller.transport.where, one_line(error)
            logger.info("subscription to %s lost, attempt %d: %s", where, self.attempts, fault)
            return False
        self._end("lost", error)
        return True

    def _end(self, state: Literal["ended", "lost"], error: MCPError | None) -> None:
        self.state, self._error = state, error
        if self._acknowledged is not None and not self._acknowledged.done():
            where = self._caller.transport.where
            self._acknowledged.set_exception(
                SubscriptionLost(f"{where} ended the subscription before it had acknowledged it", where)
            )
            self._acknowledged.exception()
        self._news.set()

    async def _listen_once(self) -> None:
        """Hold one stream until the server ends it; raises where it breaks off."""
        members = b'"notifications":' + msgspec.json.encode(self._wanted)
        patience = self._caller.patience
        seconds = patience.timeout if patience.most is None else patience.most
        stream = _Stream(self, seconds)
        torn_down = asyncio.get_running_loop().create_task(stream.torn_down.wait())
        request = asyncio.get_running_loop().create_task(
            self._caller.request(
                result_of, "subscriptions/listen", members, patience=Patience(None), notified=stream.notified
            )
        )
        try:
            await asyncio.wait((request, torn_down), return_when=asyncio.FIRST_COMPLETED)
            if request.done():
                kind, _ = await request
                if kind != "complete":
                    raise InvalidResult(f"The server ended the subscription with resultType {kind[:64]!r}")
            elif stream.is_late:
                where = self._caller.transport.where
                raise CallTimeout(
                    f"{where} did not acknowledge subscriptions/listen within {seconds:g} seconds; give more with "
                    "read_timeout_seconds=",
                    where,
                )
        finally:
            stream.close()
            for task in (request, torn_down):
                task.cancel()
            await asyncio.gather(request, torn_down, return_exceptions=True)

    def _acknowledge(self, params: dict[str, Any]) -> None:
        """Take the acknowledgment of a stream."""
        try:
            self.honored = msgspec.convert(params.get("notifications", {}), SubscriptionFilter)
        except msgspec.ValidationError as fault:
            warn_seldom("%s acknowledged a subscription with no filter: %s", self._caller.transport.where, fault)
            self.honored = SubscriptionFilter()
        again = self.state == "waiting" and self._acknowledged is not None and self._acknowledged.done()
        self.state = "open"
        if again:
            self._missed()
        elif self._acknowledged is not None and not self._acknowledged.done():
            self._acknowledged.set_result(None)

    def _missed(self) -> None:
        """Take it that everything has changed while nobody listened."""
        for method, (name, _) in _CHANGED.items():
            if getattr(self.honored, name):
                self._take(method, {})
        for uri in self.honored.resource_subscriptions:
            self._take(_UPDATED, {"uri": uri})

    def _take(self, method: str, params: dict[str, Any]) -> None:
        event = event_of(method, params, self._wanted)
        if event is None or self.state != "open":
            return
        self._changed(method, params)
        if event not in self._waiting and len(self._waiting) >= _MAX_WAITING:
            where = self._caller.transport.where
            self._end("lost", SubscriptionLost(f"more than {_MAX_WAITING} events wait to be read", where))
            if self._task is not None:
                self._task.cancel()
            return
        self._waiting[event] = None
        self._news.set()

    # --- reading ------------------------------------------------------------------------------------------------------

    if not TYPE_CHECKING:  # type checkers refuse it by themselves

        def __await__(self) -> Any:
            raise TypeError(_SPELLING)

    def __aiter__(self) -> Subscription:
        if self._task is None:
            raise RuntimeError(_SPELLING)
        return self

    async def __anext__(self) -> Event:
        """Return the next event.

        Raises:
            SubscriptionLost: the stream broke off, and is not opened again.
        """
        if self._task is None:
            raise RuntimeError(_SPELLING)
        while not self._waiting:
            if self.state == "ended":
                raise StopAsyncIteration
            if self.state == "lost":
                where = self._caller.transport.where
                raise SubscriptionLost(
                    f"the subscription to {where} was lost: {self._error}; listen again, and read again what matters",
                    where,
                ) from self._error
            self._news.clear()
            await self._news.wait()
        event = next(iter(self._waiting))
        del self._waiting[event]
        return event


class _Stream:
    """One stream of a subscription, told from those before it.

    Args:
        subscription: gets its events.
        seconds: until the acknowledgment, None for ever.

    Attributes:
        torn_down: set when the server says that it has ended the stream, or is late.
        is_late: whether no acknowledgment came in time.
    """

    def __init__(self, subscription: Subscription, seconds: float | None) -> None:
        self._subscription = subscription
        self._id: object = None
        self._is_open = False
        self.torn_down = asyncio.Event()
        self.is_late = False
        self._timer = None if seconds is None else asyncio.get_running_loop().call_later(seconds, self._late)

    def _late(self) -> None:
        self.is_late = True
        self.torn_down.set()

    def close(self) -> None:
        """Wait for no acknowledgment any more."""
        if self._timer is not None:
            self._timer.cancel()

    def notified(self, method: str, params: dict[str, Any]) -> None:
        """Take a notification; the first one tells the id that the others must have."""
        meta = params.get("_meta")
        identifier = meta.get(SUBSCRIPTION_ID) if isinstance(meta, dict) else None
        subscription = self._subscription
        if method == _ACKNOWLEDGED:
            self.close()
            self._id, self._is_open = identifier, True
            subscription._acknowledge(params)
        elif not self._is_open or identifier != self._id or type(identifier) is not type(self._id):
            where = subscription._caller.transport.where
            warn_seldom("%s sent %.80r on a subscription that it does not belong to", where, method)
        elif method == "notifications/cancelled":
            self.torn_down.set()
        else:
            subscription._take(method, params)


def listen_filter(
    tools_list_changed: bool, prompts_list_changed: bool, resources_list_changed: bool, uris: Sequence[str]
) -> SubscriptionFilter:
    """Return the filter of a subscription.

    Raises:
        TypeError: a text in place of a list of URIs.
        ValueError: it asks for nothing.
    """
    if isinstance(uris, str):
        raise TypeError(f"resource_subscriptions={uris!r}: give a list, [{uris!r}]")
    wanted = SubscriptionFilter(tools_list_changed, prompts_list_changed, resources_list_changed, list(uris))
    if wanted == SubscriptionFilter():
        raise ValueError("client.listen() needs something to listen to, such as tools_list_changed=True")
    return wanted
