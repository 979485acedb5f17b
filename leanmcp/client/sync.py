"""A client whose methods wait, for scripts and notebooks.

In: plain calls of any thread, with or without a running event loop. Out: results. The client itself lives on an event
loop in a thread of its own.
Ours; the protocol is that of `Client`.
"""

from __future__ import annotations

import asyncio
import inspect
import os
import threading
import weakref
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from concurrent.futures import CancelledError
from functools import wraps
from types import TracebackType
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar, overload

from ..calls import is_async
from ..errors import ConnectionLost
from ..logs import logger
from ..types import CallToolResult, Implementation
from .callers import WaitingThread, current, run_blocking
from .client import Client

if TYPE_CHECKING:
    from typing import Self

    from ..events import Event
    from .caller import ProgressCallback
    from .listen import Subscription

P = ParamSpec("P")
T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])

_CALLBACKS = ("on_call", "elicitation_callback")
_GRACE = 5.0  # seconds that closing waits for a server to leave
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
        self._home: _Home | None = None
        self._connecting: _Home | None = None
        self._is_closed = False

    def __enter__(self) -> Self:
        self._connected()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    if not TYPE_CHECKING:  # type checkers refuse it by themselves

        async def __aenter__(self) -> Any:
            raise TypeError("use `with SyncClient(...) as client`; inside of `async def`, `async with Client(...)`")

        async def __aexit__(self, *error: object) -> None:  # without it, `async with` would not ask for the other one
            pass

    def close(self) -> None:
        """Let go of the server; legal from any thread, more than once. What is running fails, connecting too."""
        self._is_closed = True
        home = self._connecting
        if home is not None:  # in another thread, which holds the lock
            home.finalizer()
        with self._lock:
            home, self._home = self._home, None
        if home is not None:
            home.finalizer()

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
        input_responses: Mapping[str, Any] | None = None,
        request_state: str | None = None,
        meta: dict[str, Any] | None = None,
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
        input_responses: Mapping[str, Any] | None = None,
        request_state: str | None = None,
        meta: dict[str, Any] | None = None,
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

    def _connected(self) -> _Home:
        """Return where the client lives, connected."""
        with self._lock:
            if self._is_closed:
                raise RuntimeError("this client is closed; make another one")
            if self._home is None:
                home = _Home(self._client)
                home.finalizer = weakref.finalize(self, home.end)
                self._connecting = home
                try:
                    if self._is_closed:  # a moment ago, when there was nothing yet to let go of
                        raise _closed()
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


class _Home:
    """The thread and the event loop of one client."""

    finalizer: Callable[[], Any]

    def __init__(self, client: Client) -> None:
        self._client = client
        self._process = os.getpid()
        self._ready = threading.Event()
        # A daemon: a program that ends does not wait for it longer than `end` does.
        self._thread = threading.Thread(target=self._run, name="leanmcp-sync-client", daemon=True)
        self._thread.start()
        self._ready.wait()

    def _run(self) -> None:
        asyncio.run(self._live())

    async def _live(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        self._ready.set()
        await self._stop.wait()

    def wait(self, begin: Callable[[WaitingThread], Coroutine[Any, Any, T]]) -> T:
        """Run a coroutine on the loop, and what it wants of this thread here, until it is done."""
        if threading.current_thread() is self._thread:
            raise RuntimeError("SyncClient was called on its own event loop; use Client in `async def` callbacks")
        if self._process != os.getpid():
            raise RuntimeError(
                "this SyncClient was connected before the process forked; make another one in each process"
            )
        thread = WaitingThread()
        ended = threading.Event()
        task: asyncio.Task[Any] | None = None
        is_given_up = False

        async def work() -> T:
            nonlocal task
            task = asyncio.current_task()
            current.set(thread)
            try:
                if is_given_up:
                    raise asyncio.CancelledError
                return await begin(thread)
            finally:
                ended.set()

        def give_up() -> None:
            nonlocal is_given_up
            is_given_up = True
            if task is not None:
                task.cancel()

        coroutine = work()
        try:
            running = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
            running.add_done_callback(lambda _: thread.over())
            thread.wait()
        except RuntimeError:  # the loop is closed: another thread has closed the client a moment ago
            coroutine.close()
            raise _closed() from None
        except BaseException:
            # Ctrl-C, here or in a callback: the server is told, for a moment, and the caller goes on with it. It may
            # come before `running` has its value, when the call is on its way already.
            if not self._loop.is_closed():
                self._loop.call_soon_threadsafe(give_up)
                ended.wait(1.0)
            raise
        try:
            return running.result()
        except CancelledError:
            raise _closed() from None

    def end(self) -> None:
        """Close the client, and end the thread; bounded, because programs that end call it."""
        if threading.current_thread() is self._thread:
            self._stop.set()  # the garbage collector came by
            return
        if self._process != os.getpid():
            return  # the thread and the server are the parent's
        try:
            asyncio.run_coroutine_threadsafe(self._client.close(), self._loop).result(_GRACE)
            self._loop.call_soon_threadsafe(self._stop.set)
        except Exception as fault:
            logger.warning("a client could not be closed: %s: %s", type(fault).__name__, fault)
        self._thread.join(_GRACE)


def _closed() -> ConnectionLost:
    return ConnectionLost("the client was closed before the call had ended")


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
