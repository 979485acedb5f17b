"""How a client sends requests: with headers that mirror, answers to questions, and results that are kept.

In: encoded params. Out: typed results.
Spec 2026-07-28: basic/patterns/mrtr; basic/transports/streamable-http, "Client Behavior"; server/utilities/caching.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from ..errors import HeaderMismatch, InvalidParams, MethodNotFound, UnknownResource
from ..types import CallToolResult, ListToolsResult
from .answers import Answers, ClientRequestContext
from .cache import CacheMode, CacheView, Fetched
from .caller import Caller, Manner
from .messages import Asked, ResponseDecoder, encode_arguments
from .results import CALL, READ, TOOLS

if TYPE_CHECKING:
    from typing import Unpack

    from .gate import Guards
    from .mirrored import Mirrors
    from .negotiation import Connected

T = TypeVar("T")
_encode = msgspec.json.encode


class Requests:
    """The requests of one client, connected or not."""

    _answers: Answers
    _max_rounds: int
    _meta: dict[str, Any] | None
    _connected: Connected | None = None
    _caller: Caller | None = None
    _mirrors: Mirrors | None = None
    _view: CacheView | None = None
    _guards: Guards | None = None

    def _live(self) -> Connected:
        if self._connected is None:
            raise RuntimeError("the client is not connected; use it as `async with Client(...) as client`")
        return self._connected

    async def _request(
        self, decode: Callable[[bytes], T], method: str, members: bytes = b"", **how: Unpack[Manner]
    ) -> T:
        if self._meta is not None:
            how["meta"] = {**self._meta, **(how.get("meta") or {})}
        return await self._live().caller.request(decode, method, members, **how)

    # --- tools --------------------------------------------------------------------------------------------------------

    async def _rounds(
        self, name: str, arguments: Any, extra: bytes, timeout: float | None, how: Manner, once: bool = False
    ) -> CallToolResult | Asked:
        """Call a tool, answer what it asks, and return its complete result.

        Args:
            name, arguments, timeout: as `call_tool`.
            extra: members of the first request that continue another one, with a comma in front of each.
            how: name, progress and `_meta` of each request.
            once: return what it asks instead of answering.
        """
        members = b'"name":%s,"arguments":%s' % (_encode(name), encode_arguments(name, arguments))
        progress = how["progress"]
        if progress is not None and not callable(progress):
            raise TypeError(
                f"call_tool({name!r}): progress_callback={progress!r}: give a function: "
                "`def told(progress, total, message)`"
            )
        caller = self._caller
        if timeout is not None and caller is not None:
            how["patience"] = caller.patience.within(timeout)
        if caller is None or self._mirrors is not None or self._meta is not None:
            result = await self._call(name, arguments, members + extra, how)
        else:
            result = await caller.request(CALL, "tools/call", members + extra, **how)
        if self._view is not None:
            self._view.epoch += 1
        if once or not isinstance(result, Asked):
            return result

        async def send(more: bytes) -> CallToolResult | Asked:
            return await self._call(name, arguments, _joined(members, more), how)

        return await self._answered(result, send, "tools/call", name)

    async def _call(self, name: str, arguments: Any, members: bytes, how: Manner) -> CallToolResult | Asked:
        """Send a tools/call where more than the plain way may be due."""
        mirrors = self._mirrors
        if mirrors is None:
            return await self._request(CALL, CALL.method, members, **how)
        headers = await mirrors.headers(name, arguments, self._tool_page)
        first: Manner = {**how, "headers": headers, "repeatable": name in mirrors.repeatable}
        try:
            return await self._request(CALL, CALL.method, members, **first)
        except HeaderMismatch as mismatch:
            second: Manner = {**how, "headers": await mirrors.again(name, arguments, self._tool_page, mismatch)}
        return await self._request(CALL, CALL.method, members, **second)

    async def _tool_page(self, cursor: str | None, refresh: bool, meta: dict[str, Any] | None = None) -> Any:
        return await self._tools(cursor, meta, "refresh" if refresh else "use")

    async def _tools(self, cursor: str | None, meta: dict[str, Any] | None, mode: CacheMode) -> ListToolsResult:
        page: ListToolsResult = await self._list(TOOLS, cursor, meta, mode)
        if self._mirrors is not None:
            page = self._mirrors.take(page)
        if self._guards is not None:
            page = await self._guards.take(self._live().caller.transport.where, page, cursor)
        return page

    # --- questions ----------------------------------------------------------------------------------------------------

    async def _answered(self, asked: Asked, send: Callable[[bytes], Awaitable[T | Asked]], method: str, name: str) -> T:
        """Answer what is asked, and send the request again until its result is complete."""
        from .rounds import answer_rounds  # most servers never ask

        where = self._live().caller.transport.where
        context = ClientRequestContext(where, "", method, name)
        return await answer_rounds(asked, send, self._answers, context, self._max_rounds)

    async def _ask(
        self, decode: ResponseDecoder[T], members: bytes, name: str, meta: dict[str, Any] | None, first: T | Asked
    ) -> T:
        """Return the result of prompts/get or resources/read that begins with `first`."""
        if not isinstance(first, Asked):
            return first

        async def send(more: bytes) -> T | Asked:
            return await self._request(decode, decode.method, _joined(members, more), name=name, meta=meta)

        return await self._answered(first, send, decode.method, name)

    # --- results that may be kept -------------------------------------------------------------------------------------

    async def _list(
        self, decode: ResponseDecoder[Any], cursor: str | None, meta: dict[str, Any] | None, mode: CacheMode
    ) -> Any:
        """Return one page of a list; a cursor that is refused drops every page."""
        members = b"" if cursor is None else b'"cursor":' + _encode(cursor)
        try:
            page = await self._kept(decode.complete, decode.method, members, cursor, meta, mode)
        except InvalidParams:
            if cursor is not None and self._view is not None:
                self._view.drop_pages(decode.method)
            raise
        except MethodNotFound:
            # Asked all the same: what was discovered may be older than the server's first resource or prompt.
            if decode is TOOLS or not self._lacks(decode.method):
                raise
            return decode.empty()
        if self._guards is not None:
            self._guards.look(page)
        return page

    def _lacks(self, method: str) -> bool:
        """Return whether the server has said what it can do, and that this is nothing of it."""
        found = self._live().found
        return found is not None and method.partition("/")[0] not in found.capabilities

    def _without(self, error: MethodNotFound, method: str) -> MethodNotFound:
        """Return the error of a method that a server lacks, which says so where the server did."""
        if not self._lacks(method):
            return error
        noun = method.partition("/")[0]
        return MethodNotFound(f"{self._live().caller.transport.where} has no {noun}: {error.message}", error.data)

    async def _read(self, uri: str, members: bytes, meta: dict[str, Any] | None, mode: CacheMode) -> Any:
        """Return the first result of resources/read."""
        try:
            return await self._kept(READ, READ.method, members, uri, meta, mode, name=uri)
        except InvalidParams as error:
            if isinstance(error.data, dict) and error.data.get("uri") == uri and type(error) is InvalidParams:
                unknown = UnknownResource(error.message, error.data)
                raise unknown from None
            raise
        except MethodNotFound as error:
            raise self._without(error, READ.method) from None

    async def _kept(
        self,
        decode: Callable[[bytes], Any],
        method: str,
        members: bytes,
        params: str | None,
        meta: dict[str, Any] | None,
        mode: CacheMode,
        name: str | None = None,
    ) -> Any:
        """Send a request whose result may be kept.

        Args:
            decode: of its result.
            method: such as `tools/list`.
            members: of its params.
            params: what tells its results apart.
            meta: further members of `_meta`; such a request always reaches the server.
            mode: see CacheMode.
            name: mirrored as Mcp-Name.
        """
        if mode not in ("use", "refresh", "bypass"):
            raise ValueError(f"cache_mode={mode!r}: give 'use', 'refresh' or 'bypass'")

        def keep(message: bytes) -> Fetched:
            result = decode(message)
            if isinstance(result, Asked):  # "Interim results ... are not cacheable"
                return Fetched(message, result, 0, "private")
            return Fetched(message, result, result.ttl_ms or 0, result.cache_scope or "private")

        async def fetch() -> Fetched:
            return await self._request(keep, method, members, name=name, meta=meta)

        self._live().caller.check_loop()  # what is on its way belongs to the other one
        if self._view is None:
            return (await fetch()).result
        if meta is not None and mode == "use":
            mode = "refresh"
        return await self._view.get(method, params, fetch, decode, mode)


def _joined(members: bytes, more: bytes) -> bytes:
    return members + b"," + more if more else members
