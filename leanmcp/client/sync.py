"""A client whose methods wait, for scripts and notebooks.

In: plain calls of any thread, with or without a running event loop. Out: results. The client itself lives on an event
loop in a thread of its own.
Ours; the protocol is that of `Client`.
"""

from __future__ import annotations

import asyncio
import inspect
import threading
import weakref
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from functools import wraps
from types import TracebackType
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar, overload

from ..calls import is_async
from ..errors import Absent, without
from ..types import CallToolResult, Implementation
from .callers import WaitingThread, run_blocking
from .client import Client
from .home import Home, closed
from .options import MISSING, check_options

if TYPE_CHECKING:
    from typing import Self, Unpack

    from ..events import Event
    from .caller import ProgressCallback
    from .keywords import RetryKeywords
    from .listen import Subscription

P = ParamSpec("P")
T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])

_CALLBACKS = ("on_call", "elicitation_callback")
_END: Any = object()


def _blocking(
    method: Callable[Concatenate[Client, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[SyncClient, P], T]:
    """Return a method that does the same and waits for it."""

    @wraps(method)
    def wait(self: SyncClient, /, *args: P.args, **options: P.kwargs) -> T:
        return self._wait(lambda _: method(self._client, *args, **options))

    return wait


def _each(
    method: Callable[Concatenate[Client, P], AsyncIterator[T]],
) -> Callable[Concatenate[SyncClient, P], Iterator[T]]:
    """Return a method that yields the same and waits for each."""

    @wraps(method)
    def iterate(self: SyncClient, /, *args: P.args, **options: P.kwargs) -> Iterator[T]:
        entries = method(self._client, *args, **options)
        while (entry := self._wait(lambda _: _next(entries))) is not _END:
            yield entry

    return iterate


def _documented(original: Callable[..., Any]) -> Callable[[F], F]:
    """Return a decorator that hands on name, signature and docstring."""

    def decorate(function: F) -> F:
        wraps(original)(function)
        return function

    return decorate


async def _next(entries: AsyncIterator[T]) -> T:
    return await anext(entries, _END)


class SyncClient:
    """A client of one MCP server whose methods return results instead of coroutines.

        with SyncClient("http://127.0.0.1:8000/mcp") as client:
            print(client.call_tool("add", {"a": 1, "b": 2}).structured_content)

    Without `with`, it connects with the first call, until `close()`; a program that ends closes it. Any number of
    threads may use it at once. Interrupting a call (Ctrl-C) cancels it at the server too.

    Plain functions among the callbacks (`on_call`, `elicitation_callback`, `input_callbacks`, `Policy(ask=)`, a
    function for `audit=`, `progress_callback=`) run in the thread that waits for the call, and may use this client;
    what is not part of a call runs in a thread of a pool. `async def` ones run on the client's event loop, and so does
    `notification_callback`, which must not wait.

    Args:
        server, options: as Client.
    """

    def __init__(self, server: Any, **options: Any) -> None:
        check_options(options)
        for name in _CALLBACKS:
            if options.get(name) is not None:
                options[name] = _in_caller(options[name])
        if callable(options.get("audit")):
            options["audit"] = _in_caller(options["audit"])
        if isinstance(options.get("input_callbacks"), Mapping):
            options["input_callbacks"] = {
                method: _in_caller(callback) for method, callback in options["input_callbacks"].items()
            }
        self._client = Client(server, **options)
        self._lock = threading.RLock()  # what runs in this thread while it connects may use the client
        self._home: Home | None = None
        self._connecting: Home | None = None
        self._is_closed = False

    def __enter__(self) -> Self:
        self._connected()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        fault = self._close(is_logged=error is not None)
        if fault is not None and error is None:
            raise fault

    if not TYPE_CHECKING:  # type checkers refuse it by themselves

        async def __aenter__(self) -> Any:
            raise TypeError("use `with SyncClient(...) as client`; inside of `async def`, `async with Client(...)`")

        async def __aexit__(self, *error: object) -> None:  # without it, `async with` would not ask for the other one
            pass

        disconnect = Absent("write `client.close()`, or leave its block")
        session = Absent("its methods are the client's own, as in `client.call_tool(...)`")

    def close(self) -> None:
        """Let go of the server; legal from any thread, more than once. What is running fails, connecting too.

        What goes wrong is logged; the end of a `with` block raises it, such as what a lifespan raises at its end.
        """
        self._close(is_logged=True)

    def _close(self, is_logged: bool) -> BaseException | None:
        """Let go of the server, and return what it raised at its end."""
        self._is_closed = True
        home = self._connecting
        if home is not None:  # in another thread, which holds the lock
            home.finalizer()
        with self._lock:
            home, self._home = self._home, None
        if home is None:
            return None
        home.is_logged = is_logged
        fault: BaseException | None = home.finalizer()
        return fault

    # --- the same methods ---------------------------------------------------------------------------------------------

    discover = _blocking(Client.discover)
    list_tools = _blocking(Client.list_tools)
    list_resources = _blocking(Client.list_resources)
    list_resource_templates = _blocking(Client.list_resource_templates)
    list_prompts = _blocking(Client.list_prompts)
    tools = _each(Client.tools)
    resources = _each(Client.resources)
    resource_templates = _each(Client.resource_templates)
    prompts = _each(Client.prompts)
    read_resource = _blocking(Client.read_resource)
    get_prompt = _blocking(Client.get_prompt)
    complete = _blocking(Client.complete)
    send_ping = _blocking(Client.send_ping)
    set_logging_level = _blocking(Client.set_logging_level)
    subscribe_resource = _blocking(Client.subscribe_resource)
    unsubscribe_resource = _blocking(Client.unsubscribe_resource)

    @overload
    def call_tool(
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
    def call_tool(
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
    @_documented(Client.call_tool)
    def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        read_timeout_seconds: float | None = None,
        progress_callback: ProgressCallback | None = None,
        **options: Any,
    ) -> Any:
        return self._wait(
            lambda thread: self._client.call_tool(
                name, arguments, read_timeout_seconds, _told(progress_callback, thread), **options
            )
        )

    @_documented(Client.call_tool_once)
    def call_tool_once(self, *args: Any, progress_callback: ProgressCallback | None = None, **options: Any) -> Any:
        return self._wait(
            lambda thread: self._client.call_tool_once(
                *args, progress_callback=_told(progress_callback, thread), **options
            )
        )

    @_documented(Client.request)
    def request(self, *args: Any, progress_callback: ProgressCallback | None = None, **options: Any) -> dict[str, Any]:
        return self._wait(
            lambda thread: self._client.request(*args, progress_callback=_told(progress_callback, thread), **options)
        )

    @_documented(Client.listen)
    def listen(self, **options: Any) -> SyncSubscription:
        self._connected()
        return SyncSubscription(self, self._client.listen(**options))

    # --- what is known of the server ----------------------------------------------------------------------------------

    @property
    def protocol_version(self) -> str:
        """The version agreed on."""
        self._connected()
        return self._client.protocol_version

    @property
    def server_info(self) -> Implementation | None:
        """What the server calls itself, None where it does not say; not verified."""
        self._connected()
        return self._client.server_info

    @property
    def server_capabilities(self) -> dict[str, Any]:
        """What the server can do, by capability."""
        self._connected()
        return self._client.server_capabilities

    @property
    def instructions(self) -> str | None:
        """How to use the server, for the model."""
        self._connected()
        return self._client.instructions

    # --- waiting ------------------------------------------------------------------------------------------------------

    def _connected(self) -> Home:
        """Return where the client lives, connected."""
        with self._lock:
            if self._is_closed:
                raise RuntimeError("this client is closed; make another one")
            if self._home is None:
                home = Home(self._client)
                home.finalizer = weakref.finalize(self, home.end)
                self._connecting = home
                try:
                    if self._is_closed:  # a moment ago, when there was nothing yet to let go of
                        raise closed()
                    home.wait(lambda _: self._client.__aenter__())
                except BaseException:
                    home.finalizer()
                    raise
                finally:
                    self._connecting = None
                self._home = home
            return self._home

    def _wait(self, begin: Callable[[WaitingThread], Coroutine[Any, Any, T]]) -> T:
        return self._connected().wait(begin)


_ENTERED = "it connects when its block is entered, `with SyncClient(...) as client`, or with a call"
without(SyncClient, {**MISSING, **dict.fromkeys(("connect", "initialize"), _ENTERED)})


class SyncSubscription:
    """An open stream of events: `with client.listen(...) as sub: for event in sub: ...`; see `Client.listen`.

    Args:
        client: whose loop it lives on.
        subscription: the stream.
    """

    def __init__(self, client: SyncClient, subscription: Subscription) -> None:
        self._client = client
        self._subscription = subscription

    def __enter__(self) -> Self:
        self._client._wait(lambda _: self._subscription.__aenter__())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client._wait(lambda _: self._subscription.__aexit__(None, None, None))

    @property
    def honored(self) -> Any:
        """What the server has agreed to."""
        return self._subscription.honored

    def __iter__(self) -> Iterator[Event]:
        while (event := self._client._wait(lambda _: _next(self._subscription))) is not _END:
            yield event

    def get(self, timeout: float) -> Event | None:
        """Return the next event, None where the server has ended the subscription.

        Args:
            timeout: seconds.

        Raises:
            TimeoutError: none came within that time.
            SubscriptionLost: the stream broke off, and is not opened again.
        """
        event = self._client._wait(lambda _: asyncio.wait_for(_next(self._subscription), timeout))
        return None if event is _END else event


def _in_caller(callback: Callable[..., Any]) -> Callable[..., Any]:
    """Return a callback that runs a plain function in the thread that waits for the call."""
    if is_async(callback) or not callable(callback):  # Client says what is wrong with it
        return callback

    async def run(*args: Any) -> Any:
        value = await run_blocking(callback, *args)
        return await value if inspect.isawaitable(value) else value

    return run


def _told(callback: ProgressCallback | None, thread: WaitingThread) -> ProgressCallback | None:
    """Return a progress callback that runs in the waiting thread; it is not called in the context of the call."""
    if callback is None or is_async(callback):
        return callback

    async def told(progress: float, total: float | None, message: str | None) -> None:
        await thread.run(callback, progress, total, message)

    return told
