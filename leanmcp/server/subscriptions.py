"""Change notifications: what has changed, who wants to know, and the streams that tell them.

In: events of a bus, from any thread. Out: notifications on the streams whose filter asked for them. A burst is merged
into one notification for each stream, and so is what a client that reads slowly has missed: a change is a hint to read
again, and one hint is as good as many.
Spec 2026-07-28: basic/patterns/subscriptions.
"""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections import deque
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

import msgspec
import orjson

from ..calls import Outlet, Stream
from ..errors import InvalidParams, Overloaded
from ..events import PromptsListChanged, ResourcesListChanged, ResourceUpdated, ToolsListChanged
from ..logs import warn_seldom
from ..protocol.jsonrpc import RESPONSE_START, RequestId, Segments, encode_id
from ..protocol.meta import SERVER_INFO, SUBSCRIPTION_ID, SubscriptionFilter
from .bus import InMemorySubscriptionBus, ServerEvent, SubscriptionBus

if TYPE_CHECKING:
    from .features import FeatureMethods

__all__ = [
    "InMemorySubscriptionBus",
    "PromptsListChanged",
    "ResourceUpdated",
    "ResourcesListChanged",
    "ServerEvent",
    "SubscriptionBus",
    "ToolsListChanged",
]

_QUIET = 0.005  # seconds without a change that end a burst: a thread that registers tools is slower than the loop turns
_MOST_WAITS = 20  # a burst that does not end is told of all the same, ten times a second
_SLICE = 256  # notifications in one turn of the loop, 2 to 3 ms: thousands of streams must hold nobody up
_AT_ONCE = 32  # notifications for one stream in one turn, about 6 kB: a stream that stalls keeps no more unsent
_URI_COST = 64  # bytes that a URI takes besides its own


# --- messages ---------------------------------------------------------------------------------------------------------


def _start(method: bytes) -> bytes:
    return b'{"jsonrpc":"2.0","method":"notifications/%s","params":{"_meta":{"%s":' % (method, SUBSCRIPTION_ID.encode())


_KINDS: dict[type, int] = {ToolsListChanged: 1, PromptsListChanged: 2, ResourcesListChanged: 4}
_CHANGED = {
    1: _start(b"tools/list_changed"),
    2: _start(b"prompts/list_changed"),
    4: _start(b"resources/list_changed"),
}
_UPDATED = _start(b"resources/updated")
_ACKNOWLEDGED = _start(b"subscriptions/acknowledged")


def honoured(wanted: SubscriptionFilter, capabilities: dict[str, Any]) -> SubscriptionFilter:
    """Return what of a filter is served: what was asked for, of what the server declares."""

    def declares(capability: str, setting: str) -> bool:
        return bool(capabilities.get(capability, {}).get(setting))

    return SubscriptionFilter(
        tools_list_changed=wanted.tools_list_changed and declares("tools", "listChanged"),
        prompts_list_changed=wanted.prompts_list_changed and declares("prompts", "listChanged"),
        resources_list_changed=wanted.resources_list_changed and declares("resources", "listChanged"),
        resource_subscriptions=wanted.resource_subscriptions if declares("resources", "subscribe") else [],
    )


# --- the server's part ------------------------------------------------------------------------------------------------


class Subscriptions:
    """What a server does with changes: it hands them to its bus, and the bus to the streams of each event loop.

    Args:
        server: whose changes these are.
        bus: its own one unless one is given; then others may listen, too.
    """

    def __init__(self, server: FeatureMethods, bus: SubscriptionBus | None = None) -> None:
        self.bus = bus or InMemorySubscriptionBus()
        self._server = server
        self._is_shared = bus is not None
        self._hubs: dict[asyncio.AbstractEventLoop, Hub] = {}

    def stream(self, request_id: RequestId, wanted: SubscriptionFilter) -> Subscription:
        """Return a stream of what is served of `wanted`, not open yet.

        Raises:
            Overloaded: too many are open.
            InvalidParams: its filter is too large.
        """
        limits, uris = self._server.limits, wanted.resource_subscriptions
        hub = self._hubs.get(asyncio.get_running_loop())
        if hub is not None and len(hub.streams) >= limits.max_streams:
            raise Overloaded("too many open streams (Limits.max_streams)")
        if sum(map(len, uris), _URI_COST * len(uris)) > limits.max_filter_size:
            raise InvalidParams(
                f"Invalid params: resourceSubscriptions takes more than {limits.max_filter_size} bytes, each URI "
                f"counted with {_URI_COST} more (Limits.max_filter_size); listen on several streams"
            )
        return Subscription(self, request_id, honoured(wanted, self._server.capabilities))

    def hub(self) -> Hub:
        """Return the hub of the running loop."""
        loop = asyncio.get_running_loop()
        hub = self._hubs.get(loop)
        if hub is None:
            hub = self._hubs[loop] = Hub(self.bus, loop, lambda: self._hubs.pop(loop, None))
        return hub

    def result(self, encoded_id: bytes) -> Segments:
        """Return the final result of a stream (basic/patterns/subscriptions, "Graceful Closure")."""
        meta = b',"result":{"resultType":"complete","_meta":{"%s":' % SERVER_INFO.encode()
        key = b',"%s":' % SUBSCRIPTION_ID.encode()
        return [RESPONSE_START, encoded_id, meta, self._server.server_info, key, encoded_id, b"}}}"]

    def publish_list(self, event: ServerEvent) -> None:
        """Tell that a list has changed, unless nobody has seen it yet: what a program registers before it serves."""
        if self._hubs or self._server.serving_loop is not None:
            self.publish(event)

    def publish(self, event: ServerEvent) -> None:
        """Hand an event to the bus, from any thread; that it takes none is logged, and fails no change.

        Raises:
            RuntimeError: the bus has an `async def publish`, and no loop serves.
        """
        if not (self._hubs or self._is_shared):
            return
        try:
            published = self.bus.publish(event)
        except Exception as error:
            return _lament(event, error)
        if inspect.iscoroutine(published):
            loop = self._server.serving_loop or next(iter(self._hubs), None)
            if loop is None:
                published.close()
                raise RuntimeError(f"nothing is served yet: await the publish of your bus yourself, with {event!r}")
            asyncio.run_coroutine_threadsafe(_published(published, event), loop)
        return None


async def _published(publishing: Coroutine[Any, Any, None], event: ServerEvent) -> None:
    try:
        await publishing
    except Exception as error:
        _lament(event, error)


def _lament(event: ServerEvent, error: Exception) -> None:
    warn_seldom("the subscription bus did not take %r: %r", event, error)


# --- streams ----------------------------------------------------------------------------------------------------------


class Subscription(Stream):
    """One `subscriptions/listen` stream.

    Args:
        home: of the server that it is opened on.
        request_id: of the request, and so the id of the subscription.
        granted: what it is told of.

    Attributes:
        kinds: bits of the lists whose changes it is told of.
        uris: the resources whose updates it is told of.
        queued: whether the hub has its turn noted down.
    """

    __slots__ = ("_home", "_hub", "_id", "_missed", "_missed_uris", "_outlet", "kinds", "queued", "uris")
    _hub: Hub

    def __init__(self, home: Subscriptions, request_id: RequestId, granted: SubscriptionFilter) -> None:
        self._home = home
        self._id = encode_id(request_id)
        self._outlet: Outlet | None = None
        self._missed = 0
        self._missed_uris: dict[str, None] | None = None
        self.kinds = granted.tools_list_changed + 2 * granted.prompts_list_changed + 4 * granted.resources_list_changed
        self.uris = tuple(dict.fromkeys(granted.resource_subscriptions))
        self.queued = False

    def open(self, outlet: Outlet) -> Segments:
        """Return the acknowledgement, with the filter as it is honoured, and listen from here on."""
        self._outlet = outlet
        self._hub = self._home.hub()
        self._hub.add(self)
        kinds = self.kinds
        granted = SubscriptionFilter(bool(kinds & 1), bool(kinds & 2), bool(kinds & 4), list(self.uris))
        return [_ACKNOWLEDGED, self._id, b'},"notifications":', msgspec.json.encode(granted), b"}}"]

    def miss(self, kind: int, uri: str | None = None) -> None:
        """Note what the client is to be told."""
        if uri is None:
            self._missed |= kind
        elif self._missed_uris is None:
            self._missed_uris = {uri: None}
        else:
            self._missed_uris[uri] = None
        self._queue()

    def _queue(self) -> None:
        if not self.queued:
            self.queued = True
            self._hub.queue(self)

    def deliver(self, most: int) -> int:
        """Send at most so many notifications, unless the client is behind; return how many there were."""
        outlet = self._outlet
        if outlet is None or outlet.stalled:
            return 0
        if notifications := self._take(most):
            outlet.send(notifications)
        if self._missed_uris is not None:
            self._queue()
        return len(notifications)

    def _take(self, most: int | None = None) -> list[Segments]:
        """Return the next notifications that are due."""
        missed, self._missed = self._missed, 0
        taken: list[Segments] = [[start, self._id, b"}}}"] for kind, start in _CHANGED.items() if missed & kind]
        if (uris := self._missed_uris) is not None:
            for uri in list(uris)[:most]:
                del uris[uri]
                taken.append([_UPDATED, self._id, b'},"uri":', orjson.dumps(uri), b"}}"])
            if not uris:
                self._missed_uris = None
        return taken

    def resume(self) -> None:
        """Tell what was missed meanwhile."""
        if self._missed or self._missed_uris is not None:
            self._queue()

    def end(self) -> list[Segments]:
        """Return what is due, then the result; a client that is behind gets the result alone, and reads anew anyway."""
        outlet = self._outlet
        if outlet is None:
            return []
        self._hub.collect()
        due = [] if outlet.stalled else self._take()
        self.close()
        return [*due, self._home.result(self._id)]

    def close(self) -> None:
        """Listen no longer."""
        if self._outlet is not None:
            self._outlet = None
            self._hub.discard(self)


class Hub:
    """The open streams of one event loop, and what they are to be told.

    Args:
        bus: where the events come from.
        loop: on which everything but `take` runs.
        left: told when the last stream has gone.

    Attributes:
        streams: what is open.
    """

    def __init__(self, bus: SubscriptionBus, loop: asyncio.AbstractEventLoop, left: Callable[[], object]) -> None:
        self._loop = loop
        self._left = left
        self._lock = threading.RLock()  # a finaliser that publishes may run while we hold it
        self._inbox: dict[ServerEvent, None] = {}
        self._changes = 0
        self._waking = False
        self._by_kind: dict[int, dict[Subscription, None]] = {kind: {} for kind in _CHANGED}
        self._by_uri: dict[str, dict[Subscription, None]] = {}
        self._ready: deque[Subscription] = deque()
        self._delivering = False
        self.streams: set[Subscription] = set()
        self._unsubscribe = bus.subscribe(self.take)

    # --- streams ------------------------------------------------------------------------------------------------------

    def add(self, stream: Subscription) -> None:
        """Tell a stream of changes from now on."""
        self.collect()  # what has changed before it does not concern it
        self.streams.add(stream)
        for kind, listeners in self._by_kind.items():
            if stream.kinds & kind:
                listeners[stream] = None
        for uri in stream.uris:
            self._by_uri.setdefault(uri, {})[stream] = None

    def discard(self, stream: Subscription) -> None:
        """Forget a stream; without any, the bus too."""
        self.streams.discard(stream)
        for listeners in self._by_kind.values():
            listeners.pop(stream, None)
        for uri in stream.uris:
            listeners = self._by_uri[uri]
            del listeners[stream]
            if not listeners:
                del self._by_uri[uri]
        if not self.streams:
            self._leave()

    def _leave(self) -> None:
        """End: the next stream gets a new hub."""
        self._unsubscribe()
        self._left()

    # --- events -------------------------------------------------------------------------------------------------------

    def take(self, event: ServerEvent) -> None:
        """Note a change; any thread may call this.

        Raises:
            TypeError: it is no ServerEvent.
        """
        if isinstance(event, ResourceUpdated):
            if event.uri not in self._by_uri:
                return
        elif type(event) not in _KINDS:
            raise TypeError(f"a bus carries ServerEvent values, not {event!r}")
        with self._lock:
            self._inbox[event] = None
            self._changes += 1
            if self._waking:
                return
            self._waking = True
        try:
            self._loop.call_soon_threadsafe(self._wait, -1, _MOST_WAITS)
        except RuntimeError:  # the loop has ended, and its streams with it
            self._leave()

    def _wait(self, seen: int, waits: int) -> None:
        """Wait for the end of the burst, then tell of it."""
        if self._changes != seen and waits:
            self._loop.call_later(_QUIET, self._wait, self._changes, waits - 1)
            return
        with self._lock:
            self._waking = False
        self.collect()
        self._start_delivery()

    def collect(self) -> None:
        """Note with each stream what it has to tell."""
        with self._lock:
            events, self._inbox = self._inbox, {}
        for event in events:
            if isinstance(event, ResourceUpdated):
                for stream in self._by_uri.get(event.uri, ()):
                    stream.miss(0, event.uri)
            else:
                kind = _KINDS[type(event)]
                for stream in self._by_kind[kind]:
                    stream.miss(kind)

    def queue(self, stream: Subscription) -> None:
        """Note that a stream has something to tell, in one of the next turns."""
        self._ready.append(stream)
        if not self._waking:
            self._start_delivery()

    def _start_delivery(self) -> None:
        if self._ready and not self._delivering:
            self._delivering = True
            self._loop.call_soon(self._deliver)

    def _deliver(self) -> None:
        left, ready = _SLICE, self._ready
        while ready and left > 0:
            stream = ready.popleft()
            stream.queued = False
            left -= stream.deliver(_AT_ONCE)
        self._delivering = False
        self._start_delivery()
