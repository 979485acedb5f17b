"""Results kept for as long as the server says.

In: method, the params that count, and a way to fetch. Out: result messages, fresh, or stale where fetching failed.
Spec 2026-07-28: server/utilities/caching.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Any, Literal, NamedTuple

from msgspec import Struct

from ..errors import CallTimeout, CannotConnect, ConnectionLost, HTTPStatusError, MCPError, TransportError
from ..logs import one_line, warn_seldom

CacheMode = Literal["use", "refresh", "bypass"]
"""Of one request: serve and keep, keep only, neither."""

MAX_TTL = 24 * 60 * 60.0  # seconds
_LISTS = {
    "notifications/tools/list_changed": ("tools/list",),
    "notifications/prompts/list_changed": ("prompts/list",),
    "notifications/resources/list_changed": ("resources/list", "resources/templates/list"),
}


class Key(NamedTuple):
    """What a kept result answers.

    Args:
        server: tells servers apart.
        method: such as `tools/list`.
        params: the cursor or URI, None without.
        partition: the authorization that it was given to, None for results that anybody may have.
    """

    server: object
    method: str
    params: str | None
    partition: object


class Kept(Struct):
    """A result message.

    Args:
        message: the whole response; decoded again for each use, so that no caller sees what another did to its copy.
        ends: time at which it gets stale.
        received: time at which it came.
    """

    message: bytes
    ends: float
    received: float


class Fetched(NamedTuple):
    """A response, what was decoded of it, and its hints; ttl_ms 0 or less: do not keep."""

    message: bytes
    result: Any
    ttl_ms: int
    scope: str


class ResponseCache:
    """Keeps results in memory; several clients may share one.

    Results for everybody (`cacheScope: public`) serve every client of the same URL, the others only the same
    authorization.

    Args:
        max_entries: results; the one used longest ago goes first.
        max_size: bytes of all together.
        clock: seconds; for tests.
    """

    def __init__(
        self,
        *,
        max_entries: int = 1000,
        max_size: int = 32 * 1024 * 1024,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._kept: OrderedDict[Key, Kept] = OrderedDict()
        self._size = 0
        self._max_entries = max_entries
        self._max_size = max_size
        self.clock = clock

    def __len__(self) -> int:
        return len(self._kept)

    def find(self, key: Key) -> Kept | None:
        """Return what is kept for a request, fresh or stale."""
        for candidate in (key, key._replace(partition=None)):
            kept = self._kept.get(candidate)
            if kept is not None and self.clock() < kept.received + MAX_TTL:
                self._kept.move_to_end(candidate)
                return kept
        return None

    def keep(self, key: Key, fetched: Fetched) -> None:
        """Keep a response in place of those that answered the same."""
        self.drop(key)
        seconds = min(fetched.ttl_ms / 1000, MAX_TTL)
        if seconds <= 0 or len(fetched.message) > self._max_size:
            return
        if fetched.scope == "public":
            key = key._replace(partition=None)
        now = self.clock()
        self._kept[key] = Kept(fetched.message, now + seconds, now)
        self._size += len(fetched.message)
        while len(self._kept) > self._max_entries or self._size > self._max_size:
            _, oldest = self._kept.popitem(last=False)
            self._size -= len(oldest.message)

    def drop(self, key: Key) -> None:
        """Forget what answers a request."""
        for candidate in (key, key._replace(partition=None)):
            kept = self._kept.pop(candidate, None)
            if kept is not None:
                self._size -= len(kept.message)

    def drop_where(self, server: object, method: str, is_meant: Callable[[str | None], bool] | None = None) -> None:
        """Forget the results of a method, of every authorization; all, or those whose params are meant."""
        for key in list(self._kept):
            if key.server == server and key.method == method and (is_meant is None or is_meant(key.params)):
                self._size -= len(self._kept.pop(key).message)


class CacheView:
    """One client's part of a cache.

    Args:
        cache: holds the results.
        server: tells this server from others.
        partition: tells this client's authorization from others.

    Attributes:
        epoch: counts what may have changed the server's answers; requests of one epoch share one answer on its way.
    """

    def __init__(self, cache: ResponseCache, server: object, partition: object) -> None:
        self._cache = cache
        self._server = server
        self._partition = partition
        self._flights: dict[tuple[str, str | None], tuple[int, asyncio.Future[Fetched]]] = {}
        self._changes = 0
        self.epoch = 0

    async def get(
        self,
        method: str,
        params: str | None,
        fetch: Callable[[], Awaitable[Fetched]],
        decode: Callable[[bytes], Any],
        mode: CacheMode,
    ) -> Any:
        """Return a result.

        Args:
            method: such as `tools/list`.
            params: the cursor or URI.
            fetch: asks the server.
            decode: makes a result of a message that is kept.
            mode: whether to serve what is kept, and whether to keep what is fetched.

        Raises:
            MCPError: of `fetch`, where nothing is kept that could be served instead.
        """
        if mode == "bypass":
            return (await fetch()).result
        key = Key(self._server, method, params, self._partition)
        kept = self._cache.find(key) if mode == "use" else None
        if kept is not None and self._cache.clock() < kept.ends:
            return decode(kept.message)
        try:
            if mode == "refresh":
                return await self._fetch(key, fetch)
            return await self._shared(key, fetch, decode)
        except MCPError as error:
            # Looked up again: a notification may have dropped it meanwhile.
            kept = self._cache.find(key) if mode == "use" and _is_outage(error) else None
            if kept is None:
                raise
            warn_seldom("%s cannot be asked again (%s); the last answer is used", method, one_line(error))
            return decode(kept.message)

    async def _shared(self, key: Key, fetch: Callable[[], Awaitable[Fetched]], decode: Callable[[bytes], Any]) -> Any:
        """Fetch, or wait for the same request that is on its way."""
        name = key.method, key.params
        while True:
            epoch, flight = self._flights.get(name, (-1, None))
            if flight is None or epoch != self.epoch:
                break
            try:
                return decode((await asyncio.shield(flight)).message)
            except asyncio.CancelledError:
                task = asyncio.current_task()
                if not flight.cancelled() or task is None or task.cancelling():
                    raise  # this request was given up, not the other one
            except CallTimeout:
                continue  # the other one's patience
        flight = asyncio.get_running_loop().create_future()
        self._flights[name] = self.epoch, flight
        try:
            return await self._fetch(key, fetch, flight)
        except MCPError as error:
            if not flight.done():
                flight.set_exception(error)
                flight.exception()  # nobody may be waiting
            raise
        finally:
            flight.cancel()
            if self._flights.get(name, (0, None))[1] is flight:
                del self._flights[name]

    async def _fetch(
        self, key: Key, fetch: Callable[[], Awaitable[Fetched]], flight: asyncio.Future[Fetched] | None = None
    ) -> Any:
        changes = self._changes
        fetched = await fetch()
        if flight is not None:
            flight.set_result(fetched)
        if changes == self._changes:  # else it may be older than what was told meanwhile
            self._cache.keep(key, fetched)
        return fetched.result

    def notified(self, method: str, params: dict[str, Any]) -> None:
        """Forget what a change notification is about."""
        if method in _LISTS:
            self._changed()
            for name in _LISTS[method]:
                self._cache.drop_where(self._server, name)
        elif method == "notifications/resources/updated":
            uri = params.get("uri")
            if isinstance(uri, str):
                self._changed()
                inside = uri.rstrip("/") + "/"
                self._cache.drop_where(
                    self._server, "resources/read", lambda kept: kept == uri or (kept or "").startswith(inside)
                )

    def _changed(self) -> None:
        self._changes += 1
        self.epoch += 1

    def drop_pages(self, method: str) -> None:
        """Forget every page of a list; one of their cursors is no longer valid."""
        self._cache.drop_where(self._server, method)


def _is_outage(error: MCPError) -> bool:
    """Return whether the server could not be asked, and did not refuse."""
    if isinstance(error, HTTPStatusError):
        return error.status is not None and error.status >= 500
    return isinstance(error, CannotConnect | ConnectionLost | CallTimeout) and isinstance(error, TransportError)
