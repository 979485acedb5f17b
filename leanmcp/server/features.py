"""The parts of MCPServer that load when a server uses them: change notifications, resources, prompts, completion.

In: what a program registers and announces. Out: calls of the modules behind each feature.
Spec 2026-07-28: server/prompts; server/utilities/completion; basic/patterns/subscriptions.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, cast, overload

from ..errors import InvalidParams, explained
from .feature_resources import ResourceMethods
from .registration import check_options

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from contextlib import AbstractContextManager
    from typing import Never

    from ..calls import Stream
    from ..limits import Limits
    from ..protocol.meta import ListenParams
    from ..types import Icon, PromptReference, ResourceTemplateReference
    from .app import MCPServer
    from .calling import Home
    from .completion import Completions
    from .context import Exchange
    from .extensions import Extension
    from .lists import Registry
    from .middleware import Chain, Middleware
    from .prompts import Prompts
    from .registration import ToolOptions
    from .resources import Resources
    from .subscriptions import SubscriptionBus, Subscriptions
    from .tool import Tool

F = TypeVar("F", bound=Callable[..., Any])
_SETTLED = {"description", "icons", "name", "title", "version", "website_url"}
_SETTLED |= {"coerce", "debug", "extra_args", "lifespan", "limits", "middleware", "page_size", "strict_names", "tools"}
_SETTLED |= {"host", "log_level", "path", "port", "timeout"}
"""What is given to the constructor or to `run`; set later, it would have no effect."""


class FeatureMethods(ResourceMethods):
    """What MCPServer offers besides tools."""

    _home: Home
    _options: ToolOptions
    _tools: Registry[Tool]
    listen: bool
    limits: Limits
    server_info: bytes
    capabilities: dict[str, Any]
    serving_loop: AbstractEventLoop | None = None
    """The event loop that serves, while one does."""
    _subscriptions: Subscriptions | None = None
    _chain: Chain | None = None
    extensions: Mapping[str, Extension] = {}
    """The extensions of the server, by identifier."""

    # --- what surrounds every method --------------------------------------------------------------------------------

    if not TYPE_CHECKING:  # type checkers know what may be set

        def __setattr__(self, name: str, value: Any) -> None:
            if name in _SETTLED and "server_info" in self.__dict__ and type(self).__module__.startswith("leanmcp."):
                from .decorated import check_setting  # of few programs

                check_setting(name, value)
            super().__setattr__(name, value)

    def _surround(self, extensions: Sequence[Extension], middleware: Sequence[Middleware]) -> None:
        """Add what `extensions=` and `middleware=` say."""
        if extensions:
            from .extensions import install  # few servers have any

            self.extensions = install(cast("MCPServer", self), self._home, extensions)
        if callable(middleware):
            name = getattr(middleware, "__name__", type(middleware).__name__)
            raise TypeError(f"middleware={name}: give a list, [{name}]")
        for function in middleware:
            self.middleware.append(function)

    @property
    def middleware(self) -> Chain:
        """The functions around every method, outermost first: `mcp.middleware.append(fn)`, or `@mcp.middleware`.

        `async def fn(request, call_next)` returns what `await call_next(request)` gave, or a result of its own, or
        raises ToolError or MCPError. See `leanmcp.server.Request` and `leanmcp.server.Outcome`.
        """
        if self._chain is None:
            from .middleware import Chain  # as above

            self._chain = Chain(cast("MCPServer", self), self._home)
        return self._chain

    @explained
    def override(self, dependency: Callable[..., Any], replacement: Callable[..., Any]) -> AbstractContextManager[None]:
        """Put another function in the place of one that `Depends` names, while a `with` block runs; for tests.

        Args:
            dependency: the function in `Depends(dependency)`, wherever it stands.
            replacement: may take what a dependency may take, such as nothing: `lambda: fake`.

        Raises:
            TypeError: as `Depends`.
        """
        from .injection import override  # tests only

        return override(self._home.overrides, dependency, replacement)

    # --- change notifications -------------------------------------------------------------------------------------

    def notify_tools_changed(self) -> None:
        """Tell those who listen that the list of tools has changed; from any thread.

        Adding, removing, hiding and showing tools does so by itself. Changes in quick succession are told of once.

        Spec: server/tools, "List Changed Notification".
        """
        if self._subscriptions is not None:  # else nobody has ever listened
            from .subscriptions import ToolsListChanged

            self._subscriptions.publish_list(ToolsListChanged())

    def notify_prompts_changed(self) -> None:
        """Tell those who listen that the list of prompts has changed; otherwise as `notify_tools_changed`."""
        if self._subscriptions is not None:
            from .subscriptions import PromptsListChanged

            self._subscriptions.publish_list(PromptsListChanged())

    def notify_resources_changed(self) -> None:
        """Tell those who listen that the list of resources has changed; otherwise as `notify_tools_changed`."""
        if self._subscriptions is not None:
            from .subscriptions import ResourcesListChanged

            self._subscriptions.publish_list(ResourcesListChanged())

    def notify_resource_updated(self, uri: str) -> None:
        """Tell those who listen to exactly this `uri` that the resource has changed; from any thread.

        Updates in quick succession are told of once. With a bus (`subscriptions=`), this works in a program that does
        not serve, too.

        Spec: server/resources, "Subscriptions".
        """
        resources: Resources | None = self.__dict__.get("_resource_table")
        if resources is not None:  # a program without any may publish for those that serve them
            resources.warn_unless_served(str(uri))
        if self._subscriptions is not None:
            from .subscriptions import ResourceUpdated

            self._subscriptions.publish(ResourceUpdated(str(uri)))

    def _share_changes(self, bus: SubscriptionBus) -> None:
        """Publish on a given bus; TypeError where it is none."""
        if isinstance(bus, bool) or not (hasattr(bus, "publish") and hasattr(bus, "subscribe")):
            raise TypeError(f"subscriptions={bus!r}: give a SubscriptionBus, or leave it out for this server alone")
        from .subscriptions import Subscriptions  # as in `_listen`

        self._subscriptions = Subscriptions(self, bus)

    def _listen(self, params: ListenParams, exchange: Exchange) -> Stream:
        """Answer subscriptions/listen; errors as `Subscriptions.stream`."""
        if self._subscriptions is None:
            from .subscriptions import Subscriptions  # most servers have no listeners

            self._subscriptions = Subscriptions(self)
        return self._subscriptions.stream(exchange.id, params.notifications)

    # --- prompts --------------------------------------------------------------------------------------------------

    @overload
    def prompt(self, name: F, /) -> F: ...
    @overload
    def prompt(
        self,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        icons: Sequence[Icon] | None = None,
        *,
        meta: dict[str, Any] | None = None,
        timeout: float | None = None,
        thread: bool | None = None,
        replace: bool = False,
    ) -> Callable[[F], F]: ...
    @explained
    def prompt(self, *args: Any, **options: Any) -> Any:
        """Register a function as a prompt; works as `@mcp.prompt` and as `@mcp.prompt(...)`. Options: `add_prompt`."""
        if args and callable(args[0]):
            self.add_prompt(*args, **options)
            return args[0]
        if args and not isinstance(args[0], str):
            from .decorated import check_decorated  # of few decorators

            check_decorated(args[0], "prompt", sys._getframe(2))
        if not isinstance(self, FeatureMethods):  # the function itself, below `@MCPServer.prompt`
            raise TypeError('MCPServer.prompt is used on the class; write @mcp.prompt, with mcp = MCPServer("name")')
        if options:
            from .prompts import PromptSpec  # loaded by the first prompt

            check_options("prompt", options, (*PromptSpec.__struct_fields__, "replace"))

        @explained
        def register(function: F) -> F:
            self.add_prompt(function, *args, **options)
            return function

        return register

    @explained
    def add_prompt(
        self,
        fn: Callable[..., Any],
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        icons: Sequence[Icon] | None = None,
        *,
        meta: dict[str, Any] | None = None,
        timeout: float | None = None,
        thread: bool | None = None,
        replace: bool = False,
        **unknown: Never,
    ) -> None:
        """Register `fn` as a prompt.

        Args:
            fn: as for `add_tool`. Arguments of a prompt are texts on the wire: a parameter annotated otherwise gets
                what the text stands for, see `leanmcp.server.texts`; one without annotation gets the text. It returns
                a text, a message or a list of messages; see `leanmcp.server.prompt_messages`.
            name: default: the function's name.
            title: name for people.
            description: what the prompt is for; default: the docstring.
            icons: images for user interfaces, at `https:` or `data:` URIs.
            meta: the entry's `_meta`.
            timeout: seconds that it may take; then it is cancelled and answers an error that says so.
            thread: a `def` function runs in a worker thread; False runs it on the event loop, for work of microseconds.
            replace: replace a prompt of the same name, in its place in the list, instead of refusing.

        Any thread may call this, `remove_prompt`, `disable_prompt` and `enable_prompt` while the server runs. The first
        prompt makes the server declare `prompts`; one with an argument whose type names its values (`Literal`, `Enum`,
        `bool`) makes it complete them.

        Raises:
            TypeError: a signature that cannot be published; the text names prompt, parameter and fix.
            ValueError: a bad or taken name, or an icon that no client may fetch.
        """
        from .prompts import PromptSpec, make_prompt  # loaded by the first prompt

        check_options("add_prompt", unknown, (*PromptSpec.__struct_fields__, "replace"))
        spec = PromptSpec(
            name=name, title=title, description=description, icons=icons, meta=meta, timeout=timeout, thread=thread
        )
        prompt = make_prompt(fn, spec, self._options, self._home)
        prompts = self._made_prompts()
        prompts.registry.add(prompt, replace=replace)
        prompts.serve()
        if any(prompt.arguments.offered.values()):
            self._served_completions()

    @explained
    def remove_prompt(self, name: str) -> None:
        """Take a prompt off the list.

        Raises:
            ValueError: there is no such prompt.
        """
        self._made_prompts().registry.remove(name)

    @explained
    def disable_prompt(self, name: str) -> None:
        """Hide a prompt: it is neither listed nor got until `enable_prompt`, and keeps its place in the list.

        Raises:
            ValueError: there is no such prompt.
        """
        self._made_prompts().registry.set_enabled(name, False)

    @explained
    def enable_prompt(self, name: str) -> None:
        """Show a prompt again that `disable_prompt` has hidden.

        Raises:
            ValueError: there is no such prompt.
        """
        self._made_prompts().registry.set_enabled(name, True)

    def _made_prompts(self) -> Prompts:
        """Return the prompts, made when they are first asked for; threads that do so at once get the same ones."""
        prompts: Prompts | None = self.__dict__.get("_prompts")
        if prompts is None:
            from .prompts import Prompts

            prompts = self.__dict__.setdefault("_prompts", Prompts(cast("MCPServer", self)))
        return prompts

    # --- completion -----------------------------------------------------------------------------------------------

    @overload
    def completion(self, ref: F, /) -> F: ...
    @overload
    def completion(
        self,
        ref: str | PromptReference | ResourceTemplateReference | None = None,
        argument: str | None = None,
        *,
        timeout: float | None = None,
    ) -> Callable[[F], F]: ...
    @explained
    def completion(self, ref: Any = None, argument: str | None = None, *, timeout: float | None = None) -> Any:
        """Register what completes arguments while they are typed, as a decorator.

        Args:
            ref: name of a prompt, or URI template of a resource, that is registered already.
            argument: name of the argument, or of the variable. The function takes nothing, and returns all values, of
                which those that match are sent; or `(value)`, the text so far, or `(value, arguments)` with those that
                are settled, a dict of texts, and returns what to send, best first: a list or any other iterable of
                texts, a `Completion`, or None for the values that the parameter's type names.
            timeout: seconds that it may take; then it is cancelled and answers an error that says so.

        Without `ref` and `argument` the function is asked for everything else: `handler(ref, argument, context)` gets
        PromptReference or ResourceTemplateReference, CompletionArgument, and CompletionContext or None; None passes.

        Raises:
            TypeError: one of `ref` and `argument` without the other, or a function with another signature.
            ValueError: there is no such prompt, template or argument; or a timeout that is no positive number.
        """
        if callable(ref) and argument is None:
            self._made_completions().handle(ref)
            return ref
        if callable(ref) or not isinstance(argument, str | None):
            raise TypeError("completion(ref, argument): both are texts, ('review', 'language'); give one argument")
        if (ref is None) != (argument is None):
            raise TypeError("completion(ref, argument): give both, or none of them for one handler")

        @explained
        def register(function: F) -> F:
            if argument is None:
                self._made_completions().handle(function, timeout)
            else:
                self._made_completions().add(function, ref, argument, timeout)
            return function

        return register

    def _made_completions(self) -> Completions:
        completions: Completions | None = self.__dict__.get("_completions")
        if completions is None:
            from .completion import Completions

            made = Completions(cast("MCPServer", self), self._home, self._prompt_arguments, self._template_arguments)
            completions = self.__dict__.setdefault("_completions", made)
        return completions

    def _served_completions(self) -> Completions:
        """Return the completions, served from now on."""
        completions = self._made_completions()
        completions.serve()
        return completions

    def _prompt_arguments(self, name: str) -> Mapping[str, Sequence[str]]:
        """Return the arguments of a prompt, with the values that their types name."""
        prompts: Prompts | None = self.__dict__.get("_prompts")
        if prompts is None:
            raise InvalidParams(f"Unknown prompt: {name[:128]!r}")
        return prompts.find(name).arguments.offered
