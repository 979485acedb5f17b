"""MCPServer: the registry of tools, and the dispatch of one decoded request.

In: an Envelope and, on HTTP, the request head. Out: response segments at once, or a coroutine that gives them.
Nothing here knows sockets or pipes; `leanmcp.run` joins the server with a transport.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar, overload

import msgspec

from ..errors import InvalidParams
from ..limits import DEFAULT_LIMITS, Limits
from ..protocol.jsonrpc import RequestId, Segments
from ..protocol.meta import MODERN_VERSIONS, CallToolParams, ListParams, Params
from ..types import Icon, Implementation, ToolAnnotations
from .fault_log import FaultLog
from .lists import DEFAULT_HINT, CacheHint, EncodedResult
from .registration import ToolOptions, ToolSpec, make_tool
from .threads import ThreadPool
from .tool import Home, Sanitize, Tool

if TYPE_CHECKING:
    from ..protocol.http11 import Head  # stdio never loads the HTTP reader

F = TypeVar("F", bound=Callable[..., Any])
Answer = Segments | Coroutine[Any, Any, Segments]
Lifespan = Callable[["MCPServer"], AbstractAsyncContextManager[Any]]
CACHEABLE = ("server/discover", "tools/list")


class Method(NamedTuple):
    """One RPC method: how its params are decoded, and who answers."""

    decoder: msgspec.json.Decoder[Any]
    handle: Callable[[Any, RequestId, Head | None], Answer]
    mirrors_name: bool
    """Whether `params.name` travels in the Mcp-Name header."""


class MCPServer:
    """An MCP server that offers tools.

    Args:
        name: programmatic name, reported in `serverInfo`.
        title: name for people.
        description: what the server is for.
        instructions: guidance for the model that uses the tools.
        website_url: where people read more.
        icons: images for user interfaces.
        version: your server's version, reported in `serverInfo`.
        lifespan: `lifespan(server)` gives an async context manager, entered once per process before the first request;
            the value that it yields is `Context.lifespan`.
        cache_hints: method name (`server/discover`, `tools/list`) to CacheHint; the default is stale at once, private.
        limits: see `Limits`.
        strict_names: refuse tool names outside `[A-Za-z0-9_.-]{1,128}`; else warn.
        schema_titles: keep the `title` of each property in published schemas.
        inline_schemas: write models in place of their use instead of under `$defs`.
        nullable: how `X | None` is published: "anyOf", or "type" for `{"type": [..., "null"]}`.
        echo_values: repeat what was sent in the text about invalid arguments.
        extra_args: "forbid" refuses unknown arguments, "ignore" drops them; per tool too.
        coerce: accept JSON in a string where the parameter admits no string, once strict decoding failed; per tool too.
        sanitize: takes what a tool returned, or the text of an error, and returns what may go out.

    Raises:
        TypeError, ValueError: an option that cannot be; the text names it.
    """

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
        limits: Limits | None = None,
        strict_names: bool = True,
        schema_titles: bool = True,
        inline_schemas: bool = False,
        nullable: Literal["anyOf", "type"] = "anyOf",
        echo_values: bool = True,
        extra_args: Literal["forbid", "ignore"] = "forbid",
        coerce: bool = True,
        sanitize: Sanitize | None = None,
    ) -> None:
        self.name = name or "leanmcp-server"
        self.title = title
        self.version = version
        self.instructions = instructions
        self.limits = limits or DEFAULT_LIMITS
        self.lifespan = lifespan
        self.lifespan_value: Any = None
        info = Implementation(
            name=self.name,
            version=version,
            title=title,
            description=description,
            website_url=website_url,
            icons=list(icons) if icons else None,
        )
        self.server_info = msgspec.json.encode(info)
        self._hints = _checked_hints(cache_hints)
        self._options = ToolOptions(
            strict_names=strict_names,
            schema_titles=schema_titles,
            inline_schemas=inline_schemas,
            nullable=nullable,
            echo_values=echo_values,
            extra_args=extra_args,
            coerce=coerce,
        )
        self._home = Home(
            self.server_info, ThreadPool(self.limits.threads), lambda: self.lifespan_value, sanitize, FaultLog()
        )
        self._tools: dict[str, Tool] = {}
        self._encoded: dict[str, EncodedResult] = {}
        self.methods: dict[str, Method] = {
            "server/discover": Method(msgspec.json.Decoder(Params), self._discover, False),
            "tools/list": Method(msgspec.json.Decoder(ListParams), self._list_tools, False),
            "tools/call": Method(msgspec.json.Decoder(CallToolParams), self._call_tool, True),
        }

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
        extra_args: Literal["forbid", "ignore"] | None = None,
        coerce: bool | None = None,
        max_result: int | None = None,
        sanitize: Sanitize | None = None,
        thread: bool | None = None,
        replace: bool = False,
    ) -> Callable[[F], F]: ...
    def tool(self, name: Any = None, *args: Any, **options: Any) -> Any:
        """Register a function as a tool; works as `@mcp.tool` and as `@mcp.tool(...)`. Options: see `add_tool`."""
        if callable(name):
            self.add_tool(name)
            return name

        def register(function: F) -> F:
            self.add_tool(function, name, *args, **options)
            return function

        return register

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
        extra_args: Literal["forbid", "ignore"] | None = None,
        coerce: bool | None = None,
        max_result: int | None = None,
        sanitize: Sanitize | None = None,
        thread: bool | None = None,
        replace: bool = False,
    ) -> None:
        """Register `fn` as a tool.

        Args:
            fn: function, coroutine function, bound method, partial or callable object; every parameter is annotated.
            name: default: the function's name.
            title: name for people.
            description: text for the model; default: the docstring.
            annotations: behaviour hints.
            icons: images for user interfaces.
            meta: the entry's `_meta`.
            structured_output: True demands an output schema, False sends text only; default: a schema where the return
                annotation gives one.
            extra_args: overrides the server's.
            coerce: overrides the server's.
            max_result: bytes of the largest response; a larger result is an error that says so.
            sanitize: takes what the tool returned, or the text of an error, and returns what may go out.
            thread: a `def` function runs in a worker thread; False runs it on the event loop, for work of microseconds.
            replace: replace a tool of the same name instead of refusing.

        Raises:
            TypeError: a signature that cannot be published; the text names tool, parameter and fix.
            ValueError: a bad or taken name.
        """
        if inspect.isclass(name) or not (name is None or isinstance(name, str)):
            raise TypeError(f"tool name must be a string, not {name!r}")
        spec = ToolSpec(
            name=name,
            title=title,
            description=description,
            annotations=annotations,
            icons=icons,
            meta=meta,
            structured_output=structured_output,
            max_result=max_result,
            sanitize=sanitize,
            thread=thread,
        )
        tool = make_tool(fn, spec, self._options.override(extra_args, coerce), self._home)
        if tool.name in self._tools and not replace:
            raise ValueError(f"tool {tool.name!r} is registered already; give another name= or replace=True")
        self._tools[tool.name] = tool
        self._encoded.clear()

    def remove_tool(self, name: str) -> None:
        """Take a tool off the list.

        Raises:
            ValueError: there is no such tool.
        """
        if name not in self._tools:
            raise ValueError(f"there is no tool {name!r}")
        del self._tools[name]
        self._encoded.clear()

    @property
    def tools(self) -> Iterable[Tool]:
        """The registered tools in order of registration."""
        return self._tools.values()

    # --- serving --------------------------------------------------------------------------------------------------

    def run(self, transport: str = "stdio", **options: Any) -> None:
        """Serve until end of input or a signal. Transports and options: see `leanmcp.run.run`."""
        from ..run import run  # the one way up: the layer that joins server and transports, when a program starts

        run(self, transport, **options)

    async def run_async(self, transport: str = "stdio", **options: Any) -> None:
        """Serve inside a running event loop. Transports and options: see `leanmcp.run.serve`."""
        from ..run import serve

        await serve(self, transport, **options)

    # --- methods --------------------------------------------------------------------------------------------------

    def _discover(self, params: Params, request_id: RequestId, head: Head | None) -> Answer:
        return self._cached("server/discover", self._describe).answer(request_id)

    def _describe(self) -> dict[str, Any]:
        members: dict[str, Any] = {"supportedVersions": list(MODERN_VERSIONS), "capabilities": {"tools": {}}}
        if self.instructions is not None:
            members["instructions"] = self.instructions
        return members

    def _list_tools(self, params: ListParams, request_id: RequestId, head: Head | None) -> Answer:
        if params.cursor is not msgspec.UNSET:
            raise InvalidParams(f"Unknown cursor {params.cursor[:64]!r}: the list of tools has one page")
        return self._cached("tools/list", self._tool_entries).answer(request_id)

    def _tool_entries(self) -> dict[str, Any]:
        return {"tools": [tool.entry for tool in self._tools.values()]}

    def _cached(self, method: str, members: Callable[[], dict[str, Any]]) -> EncodedResult:
        encoded = self._encoded.get(method)
        if encoded is None:
            encoded = EncodedResult(members(), self._hints.get(method, DEFAULT_HINT), self.server_info)
            self._encoded[method] = encoded
        return encoded

    def _call_tool(self, params: CallToolParams, request_id: RequestId, head: Head | None) -> Answer:
        tool = self._tools.get(params.name)
        if tool is None:
            raise self._unknown_tool(params.name)
        return tool.call(params, request_id, head)

    def _unknown_tool(self, name: str) -> InvalidParams:
        import difflib  # a failure path; loaded with the rest of them when serving has started

        close = difflib.get_close_matches(name, self._tools, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        return InvalidParams(f"Unknown tool: {name[:128]!r}{hint}")


def _checked_hints(hints: Mapping[str, CacheHint] | None) -> dict[str, CacheHint]:
    for method in hints or ():
        if method not in CACHEABLE:
            raise ValueError(f"cache_hints names {method!r}; cacheable methods are {', '.join(CACHEABLE)}")
    return dict(hints or {})
