"""MCPServer: the registry of tools, and the methods that answer one decoded request.

In: the decoded params of one request, and its Exchange. Out: response segments at once, or a coroutine that gives them.
Nothing here knows sockets or pipes; `leanmcp.run` joins the server with a transport.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from types import CodeType, GenericAlias
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar, overload

import msgspec

from ..calls import Stream
from ..errors import InvalidParams, explained, option_names
from ..limits import DEFAULT_LIMITS, Limits
from ..protocol.jsonrpc import Segments
from ..protocol.meta import MODERN_VERSIONS, CallToolParams, ListenParams, ListParams, Params
from ..types import Icon, Implementation, ToolAnnotations
from .calling import Home, Sanitize
from .context import Exchange
from .features import FeatureMethods
from .lists import (
    DEFAULT_HINT,
    CacheHint,
    EncodedResult,
    Named,
    Pages,
    Registry,
    Shown,
    checked_hints,
    checked_page_size,
)
from .registration import ToolOptions, ToolSpec, check_options, check_switch, checked_icons, make_tool
from .tool import Tool

if TYPE_CHECKING:
    from typing import Never, Unpack

    from .extensions import Extension
    from .keywords import ToolKeywords
    from .middleware import Middleware
    from .request_state import RequestStateSecurity
    from .subscriptions import SubscriptionBus

F = TypeVar("F", bound=Callable[..., Any])
E = TypeVar("E", bound=Named)
Answer = Segments | Coroutine[Any, Any, Segments] | Stream
Lifespan = Callable[["MCPServer"], AbstractAsyncContextManager[Any]]
_ABOUT_CHANGES = ("listChanged", "subscribe")  # settings of capabilities


class Method(NamedTuple):
    """One RPC method: how its params are decoded, and who answers."""

    decoder: msgspec.json.Decoder[Any]
    handle: Callable[[Any, Exchange], Answer]
    mirrored: str | None = None
    """The attribute of the params that travels in the Mcp-Name header too."""
    source: Registry[Any] | None = None
    """What the answer lists, where equal params have equal answers until it changes."""


class MCPServer(FeatureMethods):
    """An MCP server that offers tools, and resources and prompts beside them.

    Args:
        name: programmatic name, reported in `serverInfo`.
        title: name for people.
        description: what the server is for.
        instructions: guidance for the model that uses the tools.
        website_url: where people read more.
        icons: images for user interfaces, at `https:` or `data:` URIs.
        version: your server's version, reported in `serverInfo`.
        lifespan: `lifespan(server)` gives an async context manager, entered once per process before the first request;
            the value that it yields is `Context.lifespan`.
        cache_hints: method name (`server/discover`, `tools/list` and the other lists, `resources/read`) to CacheHint;
            the default is stale at once, private.
        page_size: entries on one page of a list; 0 puts all on one.
        limits: see `Limits`.
        strict_names: refuse tool names outside `[A-Za-z0-9_.-]{1,128}`; else warn.
        schema_titles: keep the `title` of each property in published schemas.
        inline_schemas: write models in place of their use instead of under `$defs`.
        nullable: how `X | None` is published: "anyOf", or "type" for `{"type": [..., "null"]}`.
        native_output: arrays and scalars travel as they are instead of as `{"result": value}`; per tool `wrap_result`.
        echo_values: repeat what was sent in the text about invalid arguments.
        extra_args: "forbid" refuses unknown arguments, "ignore" drops them; per tool too.
        coerce: accept JSON in a string where the parameter admits no string, once strict decoding failed; per tool too.
        sanitize: takes what a tool, prompt or resource returned, or the text of an error, and returns what may go out.
        request_state_security: how the state of a request that asks its client is protected; see
            `leanmcp.server.RequestStateSecurity`.
        middleware: coroutine functions around every method, the first one outermost; see `middleware`.
        extensions: see `leanmcp.server.Extension`.
        subscriptions: carries changes to other servers and processes that share it, see `SubscriptionBus` in
            `leanmcp.server.subscriptions`; default: this server alone. False is `listen=False`.
        listen: serve `subscriptions/listen`, and say so; False for places where an open stream costs a worker.

    Raises:
        TypeError, ValueError: an option that cannot be; the text names it.
    """

    @explained
    def __init__(
        self,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        instructions: str | None = None,
        website_url: str | None = None,
        icons: Sequence[Icon] | None = None,
        version: str = "",
        *,
        lifespan: Lifespan | None = None,
        cache_hints: Mapping[str, CacheHint] | None = None,
        page_size: int = 0,
        limits: Limits | None = None,
        strict_names: bool = True,
        schema_titles: bool = True,
        inline_schemas: bool = False,
        nullable: Literal["anyOf", "type"] = "anyOf",
        native_output: bool = False,
        echo_values: bool = True,
        extra_args: Literal["forbid", "ignore"] = "forbid",
        coerce: bool = True,
        sanitize: Sanitize | None = None,
        request_state_security: RequestStateSecurity | None = None,
        middleware: Sequence[Middleware] = (),
        extensions: Sequence[Extension] = (),
        subscriptions: SubscriptionBus | Literal[False] | None = None,
        listen: bool = True,
        **unknown: Never,
    ) -> None:
        if unknown:
            check_options("MCPServer", unknown, option_names(MCPServer.__init__)[1:])
        self.name = name or "leanmcp-server"
        self.title = title
        self.version = version
        self.instructions = instructions
        self.limits = limits or DEFAULT_LIMITS
        if lifespan is not None:
            from .lifespans import check_lifespan  # of servers that have one

            check_lifespan(lifespan)
        self.lifespan = lifespan
        self.lifespan_value: Any = None
        info = Implementation(
            name=self.name,
            version=version,
            title=title,
            description=description,
            website_url=website_url,
            icons=checked_icons("the server", icons),
        )
        self.server_info = _checked_info(info, instructions, limits)
        self._hints = checked_hints(cache_hints)
        self._options = ToolOptions(
            strict_names=strict_names,
            schema_titles=schema_titles,
            inline_schemas=inline_schemas,
            nullable=nullable,
            native_output=native_output,
            echo_values=echo_values,
            extra_args=extra_args,
            coerce=coerce,
        )
        self._home = Home(self.server_info, self, sanitize, self.limits, request_state_security)
        self._page_size = checked_page_size(page_size)
        self._tools: Registry[Tool] = Registry("tool", self.notify_tools_changed)
        self._tool_pages = self.pages("tools/list", "tools", self._tools)
        self._declared = self._described = 0
        self._description: EncodedResult | None = None
        check_switch("listen", listen)
        self.listen = listen and subscriptions is not False
        self.capabilities: dict[str, Any] = {}
        self.declare("tools", {"listChanged": True})
        self.methods: dict[str, Method] = {}
        self.serve_method("server/discover", Method(msgspec.json.Decoder(Params), self._discover))
        self.serve_method("tools/list", Method(msgspec.json.Decoder(ListParams), self._list_tools, source=self._tools))
        if self.listen:
            self.serve_method("subscriptions/listen", Method(msgspec.json.Decoder(ListenParams), self._listen))
        if subscriptions:
            self._share_changes(subscriptions)
        self.serve_method("tools/call", Method(msgspec.json.Decoder(CallToolParams), self._start_call, "name"))
        self._surround(extensions, middleware)

    if not TYPE_CHECKING:  # type checkers know what there is
        __class_getitem__ = classmethod(GenericAlias)  # MCPServer[AppState], as programs for the official SDK have it

        def __getattr__(self, name: str) -> Any:
            """Say what stands for a member that there is not; asked for those only."""
            from ..elsewhere import no_member  # of mistakes only

            raise no_member(self, name) from None

    def serve_method(self, name: str, method: Method) -> None:
        """Answer `name` from now on."""
        self.methods[name] = method if self._chain is None else self._chain.wrap(name, method)

    def declare(self, capability: str, settings: dict[str, Any]) -> None:
        """Report a capability from now on; nothing about changes where nobody can listen."""
        told = {name: value for name, value in settings.items() if self.listen or name not in _ABOUT_CHANGES}
        self.capabilities[capability] = told
        self._declared += 1

    def pages(self, method: str, member: str, registry: Registry[E]) -> Pages[E]:
        """Return the answers to a list method."""
        return Pages(
            method,
            member,
            registry,
            page_size=self._page_size,
            hint=self._hints.get(method, DEFAULT_HINT),
            server_name=self.name,
            server_info=self.server_info,
        )

    # --- registration ---------------------------------------------------------------------------------------------

    @overload
    def tool(self, name: F, /) -> F: ...
    @overload
    def tool(
        self,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        annotations: ToolAnnotations | None = None,
        icons: Sequence[Icon] | None = None,
        meta: dict[str, Any] | None = None,
        structured_output: bool | None = None,
        *,
        replace: bool = False,
        **options: Unpack[ToolKeywords],
    ) -> Callable[[F], F]: ...
    @explained
    def tool(self, *args: Any, **options: Any) -> Any:
        """Register a function as a tool; works as `@mcp.tool` and as `@mcp.tool(...)`. Options: see `add_tool`."""
        if args and callable(args[0]):
            self.add_tool(*args, **options)
            return args[0]
        if args and not isinstance(args[0], str):
            from .decorated import check_decorated  # of few decorators

            check_decorated(args[0], "tool", sys._getframe(2))
        if not isinstance(self, MCPServer):  # the function itself, below `@MCPServer.tool`
            raise TypeError('MCPServer.tool is used on the class; write @mcp.tool, with mcp = MCPServer("name")')

        @explained
        def register(function: F) -> F:
            self.add_tool(function, *args, **options)
            return function

        return register

    @explained
    def add_tool(
        self,
        fn: Callable[..., Any],
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        annotations: ToolAnnotations | None = None,
        icons: Sequence[Icon] | None = None,
        meta: dict[str, Any] | None = None,
        structured_output: bool | None = None,
        *,
        replace: bool = False,
        **options: Unpack[ToolKeywords],
    ) -> None:
        """Register `fn` as a tool.

        Args:
            fn: function, coroutine function, bound method, partial or callable object; every parameter is annotated,
                unless `input_schema` is given.
            name: default: the function's name.
            title: name for people.
            description: text for the model; default: the docstring.
            annotations: behaviour hints; see `ToolAnnotations` for what holds without them.
            icons: images for user interfaces, at `https:` or `data:` URIs.
            meta: the entry's `_meta`.
            structured_output: True demands an output schema, False sends text only; default: a schema where the return
                annotation gives one.
            input_schema: a JSON Schema (2020-12) written by hand, published and enforced exactly as it stands. `fn`
                gets plain JSON values: all in one parameter `arguments: dict`, or each under its name, converted to the
                parameter's annotation where there is one; `**kwargs` takes the properties that have no parameter.
            output_schema: a JSON Schema (2020-12) of the structured content, published exactly as it stands; a result
                that it refuses becomes an error.
            wrap_result: True sends `{"result": value}`, False the value itself; default: wrap what is no object, unless
                the server has `native_output` or `output_schema` is given.
            extra_args: overrides the server's.
            coerce: overrides the server's.
            timeout: seconds that a call may take; then it is cancelled and answers an error that says so.
            max_concurrency: calls of this tool at once; one more answers an error that says so.
            max_result: bytes of the largest response; a larger result is an error that says so.
            sanitize: takes what the tool returned, or the text of an error, and returns what may go out.
            thread: a `def` function runs in a worker thread; False runs it on the event loop, for work of microseconds.
            replace: replace a tool of the same name, in its place in the list, instead of refusing.

        Any thread may call this, `remove_tool`, `disable_tool` and `enable_tool` while the server runs: calls that have
        begun end with the tool they began with, later requests see the change.

        Raises:
            TypeError: a signature that cannot be published; the text names tool, parameter and fix.
            ValueError: a bad or taken name; a schema that cannot be enforced, or an icon that no client may fetch.
        """
        check_options("add_tool", options, ToolSpec.__struct_fields__)
        spec = ToolSpec(
            name=name,
            title=title,
            description=description,
            annotations=annotations,
            icons=icons,
            meta=meta,
            structured_output=structured_output,
            **options,
        )
        tool = make_tool(fn, spec, self._options.override(spec.extra_args, spec.coerce), self._home)
        self._tools.add(tool, replace=replace)

    @explained
    def add_tools(self, source: object) -> None:
        """Register every method of an instance, class or module that `leanmcp.tool` marks; see `marks.marked`.

        Raises:
            TypeError, ValueError: nothing is marked, or as `add_tool`.
        """
        from .marks import some_marked  # few servers mark theirs

        for function, mark in some_marked(source):
            self.add_tool(function, *mark.args, **mark.options)

    @explained
    def remove_tool(self, name: str) -> None:
        """Take a tool off the list.

        Raises:
            ValueError: there is no such tool.
        """
        self._tools.remove(name)

    @explained
    def disable_tool(self, name: str) -> None:
        """Hide a tool: it is neither listed nor called until `enable_tool`, and keeps its place in the list.

        Raises:
            ValueError: there is no such tool.
        """
        self._tools.set_enabled(name, False)

    @explained
    def enable_tool(self, name: str) -> None:
        """Show a tool again that `disable_tool` has hidden.

        Raises:
            ValueError: there is no such tool.
        """
        self._tools.set_enabled(name, True)

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools that are not disabled, in order of registration."""
        return Shown(self._tools)

    def tool_codes(self) -> dict[CodeType, str]:
        """Return the code objects of the tools' functions, with the tools' names."""
        return {tool.code: tool.name for tool in self.tools if tool.code is not None}

    # --- serving --------------------------------------------------------------------------------------------------

    @explained
    def run(self, transport: str = "stdio", *unnamed: Never, **options: Any) -> None:
        """Serve until end of input or a signal. Transports and options: see `leanmcp.run.run`."""
        from ..run import run  # the one way up: the layer that joins server and transports, when a program starts

        run(self, transport, *unnamed, **options)

    async def run_async(self, transport: str = "stdio", *unnamed: Never, **options: Any) -> None:
        """Serve inside a running event loop. Transports and options: see `leanmcp.run.serve`."""
        from ..run import serve

        try:
            await serve(self, transport, *unnamed, **options)
        except Exception as error:
            from ..mistakes import shorten  # of mistakes only

            shorten(error)
            raise

    # --- methods --------------------------------------------------------------------------------------------------

    def _discover(self, params: Params, exchange: Exchange) -> Answer:
        declared = self._declared  # read first: another thread may declare something meanwhile
        if self._description is None or self._described != declared:
            hint = self._hints.get("server/discover", DEFAULT_HINT)
            self._description = EncodedResult(self._describe(), hint, self.server_info)
            self._described = declared
        return self._description.answer(exchange.id)

    def _describe(self) -> dict[str, Any]:
        members: dict[str, Any] = {"supportedVersions": list(MODERN_VERSIONS), "capabilities": self.capabilities}
        if self.instructions is not None:
            members["instructions"] = self.instructions
        return members

    def _list_tools(self, params: ListParams, exchange: Exchange) -> Answer:
        return self._tool_pages.answer(params.cursor, exchange.id)

    def _start_call(self, params: CallToolParams, exchange: Exchange) -> Coroutine[Any, Any, Segments]:
        """Return the call of a tool, ready to run; InvalidParams where there is none."""
        tool = self._tools.visible.get(params.name)
        if tool is None:
            raise self._unknown_tool(params.name)
        return tool.call(params, exchange)

    def _unknown_tool(self, name: str) -> InvalidParams:
        from ..mistyped import did_you_mean  # a failure path; loaded with the rest of them when serving has started

        hint = did_you_mean(name, [tool.name for tool in self._tools])
        return InvalidParams(f"Unknown tool: {name[:128]!r}{hint}")


def _checked_info(info: Implementation, instructions: object, limits: object) -> bytes:
    """Return the JSON of `serverInfo`; TypeError for a wrong type, which would make clients refuse every answer."""
    if not (limits is None or isinstance(limits, Limits)):
        raise TypeError(f"limits={limits!r}: give Limits(max_body_size=..., ...)")
    if not (instructions is None or isinstance(instructions, str)):
        raise TypeError(f"instructions={instructions!r}: give a string")
    for name in ("name", "title", "description", "version", "website_url"):
        value = getattr(info, name)
        if not (value is None or isinstance(value, str)):
            raise TypeError(f"MCPServer: {name}={value!r}; give a string")
    if info.website_url is not None and "://" not in info.website_url:
        raise ValueError(f"MCPServer: website_url={info.website_url!r}; give a URL, with its scheme")
    try:
        return msgspec.json.encode(info)
    except ValueError as fault:
        raise TypeError(f"MCPServer: name, title, description, version and the like are strings: {fault}") from None
