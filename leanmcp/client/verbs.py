"""What a client can ask of a server, a method each.

In: plain arguments. Out: typed results. Spec 2026-07-28: server/*; basic/patterns/subscriptions.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, overload

import msgspec

from ..errors import MethodNotFound, explained
from ..types import (
    CallToolResult,
    CompleteResult,
    DiscoverResult,
    GetPromptResult,
    InputRequiredResult,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    Prompt,
    PromptReference,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    ResourceTemplateReference,
    Tool,
)
from .cache import CacheMode
from .caller import Manner, ProgressCallback
from .messages import Asked, ResponseDecoder, plain_result
from .pages import Entries, every_entry
from .requests import Requests
from .results import COMPLETE, DISCOVER, PROMPT, PROMPTS, READ, RESOURCES, TEMPLATES, failure_of, typed_content

if TYPE_CHECKING:
    from typing import Unpack

    from .keywords import RetryKeywords
    from .listen import Subscription

T = TypeVar("T")
_encode = msgspec.json.encode
_NO_OBJECTS = (str, bytes, list, tuple, set, int, float)  # which arguments of a tool never are
_METHOD = re.compile(r"[!#-\[\]-~]+")  # what JSON and a header carry as it is


class Verbs(Requests):
    """The methods of a client."""

    @explained
    async def discover(self, *, cache_mode: CacheMode = "use") -> DiscoverResult:
        """Return what the server is and can do; in earlier protocol versions, what the handshake said."""
        connected = self._live()
        if connected.session is not None and connected.found is not None:
            return connected.found
        found: DiscoverResult = await self._kept(DISCOVER.complete, DISCOVER.method, b"", None, None, cache_mode)
        connected.found = found
        return found

    # --- lists --------------------------------------------------------------------------------------------------------

    @explained
    async def list_tools(
        self, *, cursor: str | None = None, meta: dict[str, Any] | None = None, cache_mode: CacheMode = "use"
    ) -> ListToolsResult:
        """Return one page of the tools.

        Over HTTP, tools whose `x-mcp-header` annotations are invalid are left out with a warning.

        Args:
            cursor: `next_cursor` of the page before; None for the first one.
            meta: further members of the request's `_meta`.
            cache_mode: "use" what is kept, "refresh" it, or "bypass" the cache.
        """
        return await self._tools(cursor, meta, cache_mode)

    @explained
    async def list_resources(
        self, *, cursor: str | None = None, meta: dict[str, Any] | None = None, cache_mode: CacheMode = "use"
    ) -> ListResourcesResult:
        """Return one page of the resources; see `list_tools`."""
        page: ListResourcesResult = await self._list(RESOURCES, cursor, meta, cache_mode)
        return page

    @explained
    async def list_resource_templates(
        self, *, cursor: str | None = None, meta: dict[str, Any] | None = None, cache_mode: CacheMode = "use"
    ) -> ListResourceTemplatesResult:
        """Return one page of the resource templates; see `list_tools`."""
        page: ListResourceTemplatesResult = await self._list(TEMPLATES, cursor, meta, cache_mode)
        return page

    @explained
    async def list_prompts(
        self, *, cursor: str | None = None, meta: dict[str, Any] | None = None, cache_mode: CacheMode = "use"
    ) -> ListPromptsResult:
        """Return one page of the prompts; see `list_tools`."""
        page: ListPromptsResult = await self._list(PROMPTS, cursor, meta, cache_mode)
        return page

    @explained
    def tools(self, *, cache_mode: CacheMode = "use") -> AsyncIterator[Tool]:
        """Yield every tool, of all pages: `async for tool in client.tools()`.

        Raises:
            InvalidResult: the pages have no end.
        """
        pages = every_entry(lambda cursor: self._tools(cursor, None, cache_mode), "tools", "name", "tools")
        return Entries(pages, "tools")

    @explained
    def resources(self, *, cache_mode: CacheMode = "use") -> AsyncIterator[Resource]:
        """Yield every resource; see `tools`."""
        return self._every(RESOURCES, "resources", "uri", cache_mode)

    @explained
    def resource_templates(self, *, cache_mode: CacheMode = "use") -> AsyncIterator[ResourceTemplate]:
        """Yield every resource template; see `tools`."""
        return self._every(TEMPLATES, "resource_templates", "uri_template", cache_mode)

    @explained
    def prompts(self, *, cache_mode: CacheMode = "use") -> AsyncIterator[Prompt]:
        """Yield every prompt; see `tools`."""
        return self._every(PROMPTS, "prompts", "name", cache_mode)

    def _every(self, decode: ResponseDecoder[Any], member: str, key: str, mode: CacheMode) -> AsyncIterator[Any]:
        noun = member.replace("_", " ")
        return Entries(every_entry(lambda cursor: self._list(decode, cursor, None, mode), member, key, noun), member)

    # --- tools --------------------------------------------------------------------------------------------------------

    @overload
    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        read_timeout_seconds: float | None = None,
        progress_callback: ProgressCallback | None = None,
        *,
        type: type[T],
        **retry: Unpack[RetryKeywords],
    ) -> T: ...
    @overload
    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        read_timeout_seconds: float | None = None,
        progress_callback: ProgressCallback | None = None,
        *,
        type: None = None,
        raise_on_error: bool = False,
        **retry: Unpack[RetryKeywords],
    ) -> CallToolResult: ...
    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        read_timeout_seconds: float | None = None,
        progress_callback: ProgressCallback | None = None,
        *,
        type: Any = None,  # noqa: A002  the name that `typing` users look for
        raise_on_error: bool = False,
        **retry: Unpack[RetryKeywords],
    ) -> Any:
        """Call a tool.

        Args:
            name: of the tool.
            arguments: anything that msgspec can encode.
            read_timeout_seconds: of each request of this call; default: the client's.
            progress_callback: `def told(progress, total, message)`, or `async def`; told in order.
            type: return the structured content as this type instead of the whole result; a failure raises ToolError.
            raise_on_error: raise ToolError where the result says `isError`; without it, look at `result.is_error`.
            input_responses, request_state: continue a call by hand; see `call_tool_once`.
            meta: further members of the request's `_meta`.

        Content blocks of unknown types are plain dicts.

        Raises:
            MCPError: see `leanmcp.errors`.
            RoundLimit: the server kept asking.
        """
        if self._connected is None:
            self._live()  # refuses; further in, its traceback would be longer than a screen
        if not isinstance(name, str) or isinstance(arguments, _NO_OBJECTS):
            raise _miscalled(name, arguments)
        extra, meta = _continued("call_tool", retry) if retry else _AT_FIRST
        how: Manner = {"name": name, "progress": progress_callback, "meta": meta}
        result: Any
        if self._guards is None:
            result = await self._rounds(name, arguments, extra, read_timeout_seconds, how)
        else:
            result = await self._guards.call(
                self._live().caller.transport.where,
                name,
                arguments,
                self.tools,
                lambda call: self._rounds(name, call.arguments, extra, read_timeout_seconds, how),
            )
        if type is not None:
            return typed_content(result, type, name)
        if raise_on_error and result.is_error:
            raise failure_of(result)
        return result

    async def call_tool_once(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        read_timeout_seconds: float | None = None,
        progress_callback: ProgressCallback | None = None,
        **retry: Unpack[RetryKeywords],
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool and return what it asks instead of answering, for a program that answers later or elsewhere.

        Args:
            name, arguments, read_timeout_seconds, progress_callback, meta: as `call_tool`.
            input_responses: answers, by the keys of `InputRequiredResult.input_requests`.
            request_state: `InputRequiredResult.request_state`, as it was; nothing where there was none.
        """
        where = self._live().caller.transport.where
        if not isinstance(name, str) or isinstance(arguments, _NO_OBJECTS):
            raise _miscalled(name, arguments)
        extra, meta = _continued("call_tool_once", retry) if retry else _AT_FIRST
        how: Manner = {"name": name, "progress": progress_callback, "meta": meta}

        async def send(arguments: Any) -> CallToolResult | InputRequiredResult:
            result = await self._rounds(name, arguments, extra, read_timeout_seconds, how, once=True)
            return _by_hand(result) if isinstance(result, Asked) else result

        if self._guards is None:
            return await send(arguments)
        guarded: CallToolResult | InputRequiredResult = await self._guards.call(
            where, name, arguments, self.tools, lambda call: send(call.arguments)
        )
        return guarded

    # --- resources, prompts, completion ------------------------------------------------------------------------------

    async def read_resource(
        self,
        uri: str,
        *,
        cache_mode: CacheMode = "use",
        **retry: Unpack[RetryKeywords],
    ) -> ReadResourceResult:
        """Read a resource.

        Args:
            uri: of it, exactly as it was listed or as its template gives.
            cache_mode: see `list_tools`; a result that needed answers is never kept.
            input_responses, request_state, meta: as `call_tool`.

        Raises:
            UnknownResource: there is none.
            MCPError: see `leanmcp.errors`.
        """
        if not isinstance(uri, str):
            raise TypeError(f"read_resource({uri!r:.60}): give the URI of the resource, a text")
        members = b'"uri":' + _encode(uri)
        extra, meta = _continued("read_resource", retry) if retry else _AT_FIRST
        if extra:
            found = await self._request(READ, READ.method, members + extra, name=uri, meta=meta)
        else:
            found = await self._read(uri, members, meta, cache_mode)
        return await self._ask(READ, members, uri, meta, found)

    async def get_prompt(
        self,
        name: str,
        arguments: Mapping[str, str] | None = None,
        **retry: Unpack[RetryKeywords],
    ) -> GetPromptResult:
        """Get the messages of a prompt.

        Args:
            name: of the prompt.
            arguments: texts.
            input_responses, request_state, meta: as `call_tool`.
        """
        if not isinstance(name, str):
            raise TypeError(f"get_prompt({name!r:.60}): give the name of the prompt, a text")
        members = b'"name":%s,"arguments":%s' % (_encode(name), _encode(arguments or {}))
        extra, meta = _continued("get_prompt", retry) if retry else _AT_FIRST
        try:
            found = await self._request(PROMPT, PROMPT.method, members + extra, name=name, meta=meta)
        except MethodNotFound as error:
            raise self._without(error, PROMPT.method) from None
        return await self._ask(PROMPT, members, name, meta, found)

    @explained
    async def complete(
        self,
        ref: PromptReference | ResourceTemplateReference,
        argument: Mapping[str, str],
        context_arguments: Mapping[str, str] | None = None,
        *,
        meta: dict[str, Any] | None = None,
    ) -> CompleteResult:
        """Complete an argument of a prompt or a resource template.

        Args:
            ref: what the argument belongs to.
            argument: `{"name": ..., "value": ...}`, the value as far as it has been typed.
            context_arguments: arguments that are settled.
            meta: further members of the request's `_meta`.
        """
        members = b'"ref":%s,"argument":%s' % (_encode(ref), _encode(argument))
        if context_arguments is not None:
            members += b',"context":' + _encode({"arguments": context_arguments})
        return await self._request(COMPLETE.complete, COMPLETE.method, members, meta=meta)

    # --- changes ------------------------------------------------------------------------------------------------------

    @explained
    def listen(
        self,
        *,
        tools_list_changed: bool = False,
        prompts_list_changed: bool = False,
        resources_list_changed: bool = False,
        resource_subscriptions: Sequence[str] = (),
        relisten: bool = False,
        max_attempts: int = 20,
    ) -> Subscription:
        """Listen to changes: `async with client.listen(tools_list_changed=True) as sub: async for event in sub: ...`.

        Entering waits until the server has agreed; `sub.honored` says to what. The loop ends when the server ends the
        subscription, and raises SubscriptionLost where it breaks off: what changed meanwhile is not told later. What
        the events are about is dropped from the cache before they can be read.

        Args:
            tools_list_changed, prompts_list_changed, resources_list_changed: which lists.
            resource_subscriptions: URIs of resources.
            relisten: open the subscription again when it breaks off, with growing pauses; everything that was
                subscribed to counts as changed then.
            max_attempts: attempts in a row until it counts as lost.

        Raises:
            MCPError: on entering, the server's refusal; earlier protocol versions have no subscriptions.
        """
        from .listen import Subscription, listen_filter  # few programs listen

        wanted = listen_filter(tools_list_changed, prompts_list_changed, resources_list_changed, resource_subscriptions)
        connected = self._live()
        if connected.session is not None:
            raise MethodNotFound(
                f"{connected.caller.transport.where} speaks {self._live().caller.metadata.version}, which has no "
                "subscriptions/listen; pass notification_callback= and subscribe_resource()"
            )
        return Subscription(connected.caller, wanted, self._changed, relisten=relisten, max_attempts=max_attempts)

    def _changed(self, method: str, params: dict[str, Any]) -> None:
        if self._view is not None:
            self._view.notified(method, params)
        if self._guards is not None:
            self._guards.notified(method)

    # --- anything else ------------------------------------------------------------------------------------------------

    async def request(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        name: str | None = None,
        read_timeout_seconds: float | None = None,
        progress_callback: ProgressCallback | None = None,
        meta: dict[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Send any request, such as one of an extension, and return its result as it is, `resultType` included.

        Args:
            method: such as `tasks/get`.
            params: without `_meta`, which is added.
            name: mirrored as Mcp-Name over HTTP.
            read_timeout_seconds: default: the client's.
            progress_callback: told of progress.
            meta: further members of `_meta`.
        """
        if not isinstance(params, Mapping | None):
            raise TypeError(f"request({method!r}): params={params!r:.60}: give a dict, such as {{'name': value}}")
        if not isinstance(method, str) or not _METHOD.fullmatch(method):
            raise ValueError(f"method={method!r}: give visible ASCII without quotes, such as 'tasks/get'")
        encoded = _encode({key: value for key, value in (params or {}).items() if key != "_meta"})
        patience = self._live().caller.patience.within(read_timeout_seconds)
        return await self._request(
            plain_result, method, encoded[1:-1], name=name, meta=meta, patience=patience, progress=progress_callback
        )

    async def send_ping(self) -> None:
        """Ask a server of an earlier protocol version whether it is there; this version has no `ping`."""
        await self._legacy_request("ping", {})

    async def set_logging_level(self, level: str) -> None:
        """Tell a server of an earlier protocol version what to log; in this version it is `Client(log_level=)`."""
        await self._legacy_request("logging/setLevel", {"level": level})

    async def subscribe_resource(self, uri: str) -> None:
        """Have a server of an earlier protocol version tell of updates; in this version it is `listen`."""
        await self._legacy_request("resources/subscribe", {"uri": uri})

    async def unsubscribe_resource(self, uri: str) -> None:
        """Undo `subscribe_resource`."""
        await self._legacy_request("resources/unsubscribe", {"uri": uri})

    async def _legacy_request(self, method: str, params: dict[str, Any]) -> None:
        if self._live().session is None:
            version = self._live().caller.metadata.version
            raise MethodNotFound(f"{method} belongs to earlier protocol versions; this server speaks {version}")
        await self.request(method, params)


_AT_FIRST: tuple[bytes, dict[str, Any] | None] = b"", None


def _continued(method: str, retry: RetryKeywords) -> tuple[bytes, dict[str, Any] | None]:
    """Return the members that continue a request, with a comma in front of each, and those of its `_meta`.

    Raises:
        TypeError: an option that `method` does not have.
    """
    from .rounds import check_retry, retry_members  # as in _answered

    check_retry(method, retry)
    return retry_members(retry.get("input_responses"), retry.get("request_state")), retry.get("meta")


def _miscalled(name: object, arguments: object) -> TypeError:
    from .rounds import miscalled  # of mistakes only

    return miscalled(name, arguments)


def _by_hand(asked: Asked) -> InputRequiredResult:
    from .rounds import by_hand

    return by_hand(asked)
