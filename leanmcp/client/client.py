"""Client: one class for every way to reach a server.

In: a server object, a URL, a command or a Unix socket. Out: typed results, errors that tell what to do.
Spec 2026-07-28: basic/index; basic/versioning; server/tools.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ..errors import Absent, ConnectionLost, TransportError, explained, without
from ..logs import logger
from ..protocol.meta import LOG_LEVEL
from ..types import DiscoverResult, Implementation
from .answers import Answers, ElicitationCallback, InputCallback
from .cache import CacheView, ResponseCache
from .caller import NotificationCallback, Patience
from .mirrored import Mirrors
from .negotiation import Settings, check_mode, connect
from .options import MISSING, check_options, unknown_options
from .verbs import Verbs

if TYPE_CHECKING:
    from typing import Never, Self

    from .audit import Audit, AuditSink
    from .checks import ResultChecks
    from .consent import OnCall, Policy
    from .gate import Gate
    from .negotiation import Connected
    from .pins import Pins, PinStore
    from .transport import Transport


class Client(Verbs):
    """A client of one MCP server.

    Args:
        server: an MCPServer (in this process), an `http(s)://` URL, StdioServerParameters (a child process) or
            `unix:/path`.
        mode: "auto" asks what the server speaks and falls back to the handshake of earlier versions; "legacy" begins
            with that; a version such as "2026-07-28" is spoken without asking.
        prior_discover: what `discover()` returned at another time; the server is not asked again.
        read_timeout_seconds: seconds that an answer may take, None for ever.
        max_total_seconds: seconds in all, however much progress is reported.
        reset_on_progress: whether each progress report starts `read_timeout_seconds` again.
        elicitation_callback: `async def answer(context, params) -> ElicitResult`, for forms
            (ElicitRequestFormParams) and for pages to visit (ElicitRequestURLParams), which it opens itself, after the
            user has seen the whole URL and agreed.
        elicitation_modes: what it can show: "form", "url" or both.
        input_callbacks: for other questions, by method (`sampling/createMessage`, `roots/list`),
            `async def answer(context, params) -> dict`.
        input_required_max_rounds: how often a server may ask before it completes a request.
        capabilities: further ones to declare, such as `{"extensions": {...}}`.
        notification_callback: `def told(method, params)`, for every notification that nothing else here takes; what it
            raises is logged.
        log_level: asks for `notifications/message` from this level on (deprecated).
        cache: True keeps results as long as the server allows; a ResponseCache may be shared by several clients.
        headers: sent with every HTTP request; for a URL or `unix:/path` only.
        auth: supplies HTTP headers that change; likewise.
        raise_exceptions: with a server in this process only, raise what its functions raise by mistake, for tests.
        client_info: name and version to report.
        on_call: `def on_call(tool, arguments)`, or `async def`, sees every tool call once, before anything is sent:
            True or None allows it, False denies it (CallDenied), a dict is sent instead of the arguments.
        trust: a Policy, which decides what a person is asked about.
        audit: a path, to which a line is appended for every tool call; or a function that takes records; or an Audit.
        pin: a path or a mapping, where the tools are recorded the first time, and compared from then on
            (ToolChanged); or Pins.
        check: ResultChecks, or True for the usual ones: results and definitions are checked before they are handed out
            (InvalidResult). Default: so for every server but one in this process, with the output schemas of the tools
            that have been listed. False: unchecked.
        gates: what else looks at tool calls; see `leanmcp.client.gate`.
        label: what questions, audit lines and pins call this server; default: its URL, command or name.

    Use it as `async with Client(...) as client`; once left, it can be entered again.
    """

    @explained
    def __init__(
        self,
        server: Any,
        *,
        mode: str = "auto",
        prior_discover: DiscoverResult | None = None,
        read_timeout_seconds: float | None = 60.0,
        max_total_seconds: float | None = None,
        reset_on_progress: bool = False,
        elicitation_callback: ElicitationCallback | None = None,
        elicitation_modes: Sequence[str] = ("form", "url"),
        input_callbacks: Mapping[str, InputCallback] | None = None,
        input_required_max_rounds: int = 10,
        capabilities: Mapping[str, Any] | None = None,
        notification_callback: NotificationCallback | None = None,
        log_level: str | None = None,
        cache: bool | ResponseCache = True,
        headers: Mapping[str, str] | None = None,
        auth: Any = None,
        raise_exceptions: bool = False,
        client_info: Implementation | None = None,
        on_call: OnCall | None = None,
        trust: Policy | None = None,
        audit: Audit | AuditSink | None = None,
        pin: Pins | PinStore | None = None,
        check: ResultChecks | bool | None = None,
        gates: Sequence[Gate] = (),
        label: str = "",
        **unknown: Never,
    ) -> None:
        check_options(locals())
        if unknown:
            raise unknown_options(unknown, Client.__init__)
        from ..connect import check_target, kind_of  # the one way up: the layer that joins client and transports

        self._server = server
        self._way = {"headers": headers, "auth": auth, "raise_exceptions": raise_exceptions}
        check_target(server, label=label, **self._way)
        self._mode = check_mode(mode)
        self._prior = prior_discover
        self._patience = Patience(read_timeout_seconds, reset_on_progress, max_total_seconds)
        self._answers = Answers(elicitation_callback, elicitation_modes, input_callbacks, capabilities)
        self._max_rounds = input_required_max_rounds
        self._notification_callback = notification_callback
        self._meta = None if log_level is None else {LOG_LEVEL: log_level}
        self._cache = (ResponseCache() if cache else None) if isinstance(cache, bool) else cache
        self._info = client_info or Implementation(name="leanmcp", version=_version())
        self._transport: Transport | None = None
        self.label = label
        # A server in this process has checked its results itself, and is the program's own.
        usual = check is None and kind_of(server) != "server"
        if usual or check or gates or (on_call, trust, audit, pin) != (None,) * 4:
            from .gate import guards_of  # a client that trusts its server loads nothing of it

            self._guards = guards_of(
                on_call=on_call,
                trust=trust,
                audit=audit,
                pin=pin,
                check="known" if usual else check or False,
                others=gates,
                label=label,
                origin=server if isinstance(server, str) and server.startswith("http") else None,
            )

    # --- connecting ---------------------------------------------------------------------------------------------------

    async def __aenter__(self) -> Self:
        from ..connect import transport_to  # see the constructor

        if self._transport is not None:
            raise RuntimeError("this client is connected already; make another one, or leave the block first")
        self._loop = asyncio.get_running_loop()
        transport = self._transport = transport_to(self._server, **self._way)
        self._view = self._cache_view(transport)
        watches = self._notified if self._notification_callback is not None else None
        settings = Settings(self._info, self._answers, self._patience, self._notified, watches)
        try:
            await transport.start()
            connected = await connect(transport, self._mode, self._prior, settings)
        except TransportError as error:  # its text says what happened; the way through here says nothing more
            await self._abandon(transport)
            raise error.with_traceback(None) from None
        except BaseException:
            await self._abandon(transport)
            raise
        if self._transport is not transport:
            await _let_go(transport, connected)
            raise ConnectionLost(f"{transport.where} was closed by this client while it connected", transport.where)
        self._connected, self._caller = connected, connected.caller
        if connected.session is None and (hear := getattr(transport, "hear", None)) is not None:
            hear(self._notified)
        is_mirrored = connected.session is None and getattr(transport, "has_headers", False)
        self._mirrors = Mirrors() if is_mirrored else None
        return self

    if not TYPE_CHECKING:  # type checkers refuse it by themselves

        def __enter__(self) -> Any:
            raise TypeError("use `async with Client(...) as client`; a program without async uses SyncClient")

        def __exit__(self, *error: object) -> None:  # without it, `with` would not ask for the other one
            pass

        def __await__(self) -> Any:
            raise TypeError("a client is entered, not awaited: use `async with Client(...) as client`")

        def __getattr__(self, name: str) -> Any:
            from ..elsewhere import no_member  # of mistakes only

            raise no_member(self, name) from None

        disconnect = Absent("write `await client.close()`, or leave its block")
        session = Absent("its methods are the client's own, as in `await client.call_tool(...)`")

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def set_label(self, label: str) -> None:
        """Call the server something else in questions, audit lines and pins."""
        self.label = label
        if self._guards is not None:
            self._guards.label = label

    async def close(self) -> None:
        """Let go of the server; legal from any task, in any order, more than once; from other event loops too."""
        if self._transport is not None and self._loop is not asyncio.get_running_loop():
            return await self._close_there(self._loop)
        transport, self._transport = self._transport, None
        connected, self._connected, self._caller = self._connected, None, None
        if transport is None:
            return None
        for end in () if connected is None else list(connected.caller.at_close):
            end()
        try:
            await _let_go(transport, connected)
        finally:
            if self._guards is not None:
                await self._guards.close()

    async def _close_there(self, loop: asyncio.AbstractEventLoop) -> None:
        """Close it on the event loop where it lives."""
        if loop.is_closed():  # and with it all that could be closed in order; the rest ends with its last reference
            self._transport = self._connected = self._caller = None
        elif loop.is_running():
            await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(self.close(), loop))
        else:
            raise RuntimeError("the client lives on an event loop that does not run at the moment; close it there")

    async def _abandon(self, transport: Transport) -> None:
        """Let go of a server to which no connection came about; `close` may have been faster, and another may be up."""
        if self._transport is transport:
            self._transport = None
        await transport.close()

    def _cache_view(self, transport: Transport) -> CacheView | None:
        if self._cache is None:
            return None
        server, partition = getattr(transport, "cache_key", None) or (object(), None)  # else nobody shares with it
        return CacheView(self._cache, server, partition)

    def _notified(self, method: str, params: dict[str, Any]) -> None:
        if self._view is not None:
            self._view.notified(method, params)
        if self._guards is not None:
            self._guards.notified(method)
        if self._notification_callback is not None:
            try:
                self._notification_callback(method, params)
            except Exception:  # a channel that many requests share must not fail one of them for it
                logger.exception("notification_callback failed")

    # --- what is known of the server ----------------------------------------------------------------------------------

    @property
    def protocol_version(self) -> str:
        """The version agreed on."""
        return self._live().caller.metadata.version

    @property
    def server_info(self) -> Implementation | None:
        """What the server calls itself, None where it does not say; for displays and logs, not verified."""
        return self._live().server_info

    @property
    def server_capabilities(self) -> dict[str, Any]:
        """What the server can do, by capability; empty where it was not asked."""
        found = self._live().found
        return {} if found is None else found.capabilities

    @property
    def instructions(self) -> str | None:
        """How to use the server, for the model."""
        found = self._live().found
        return None if found is None else found.instructions


_ENTERED = "it connects when its block is entered: `async with Client(...) as client`"
without(Client, {**MISSING, **dict.fromkeys(("connect", "initialize"), _ENTERED)})


async def _let_go(transport: Transport, connected: Connected | None) -> None:
    """Close a session, where there is one, and the transport in any case."""
    try:
        if connected is not None and connected.session is not None:
            await connected.session.close()
    finally:
        await transport.close()


def _version() -> str:
    from .. import __version__

    return __version__
