"""What stands between a program and a server: each tool call passes the gates before it is sent, its result after.

In: a tool call. Out: the call as it is sent, and the result as the program gets it; or an error in place of either.
Spec 2026-07-28: server/tools, "User Interaction Model" and "Security Considerations".
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from msgspec import Struct

from ..types import CallToolResult, ListToolsResult, Tool
from .messages import encode_arguments

if TYPE_CHECKING:
    from .audit import Audit, AuditSink
    from .checks import ResultChecks
    from .consent import OnCall, Policy
    from .pins import Pins, PinStore

Define = Callable[[], Awaitable[Tool | None]]
"""Returns how the server describes a tool, None where it has no such tool."""
ListTools = Callable[[], AsyncIterator[Tool]]
Send = Callable[["Call"], Awaitable[Any]]
"""Sends a call, all its rounds, and returns the complete result."""

_MAX_KNOWN = 10_000  # tools


class Call(Struct, kw_only=True, eq=False):
    """One tool call, however many rounds it takes.

    Args:
        server: what the program calls the server: its `label=`, or else its URL, command or name.
        tool: its name at the server.
        arguments: plain JSON values that nobody else holds; what they are when the last gate has let them pass is sent.
        define: asks how the server describes the tool; answered from what is known, once it is known.
        known: what is known of that without asking.
        decision: what the gates have decided, for the audit log.
        flags: what is odd about the result, but was no reason to refuse it.
        kept: what a gate remembers of this call, by the gate.
    """

    server: str
    tool: str
    arguments: dict[str, Any]
    define: Define
    known: Callable[[], Tool | None]
    decision: str = "allowed"
    flags: list[str] = msgspec.field(default_factory=list)
    kept: dict[Gate, Any] = msgspec.field(default_factory=dict)


class Gate:
    """Base of the gates; each method may be left as it is."""

    async def before(self, call: Call) -> Call:
        """Let a call pass, change its arguments, or raise CallDenied. Once per call, not once per round."""
        return call

    async def after(self, call: Call, result: CallToolResult) -> CallToolResult:
        """Let a result pass, change it, or raise InvalidResult."""
        return result

    async def failed(self, call: Call, error: BaseException) -> None:
        """Hear that a call that came this far ended without a result: denied, failed, cancelled or refused."""

    async def listed(
        self, server: str, tools: Sequence[Tool], *, cursor: str | None, next_cursor: str | None
    ) -> Sequence[Tool]:
        """Let the tools of a page of tools/list pass, leave some out, change them, or raise ToolChanged.

        Args:
            server: as in Call.
            tools: of this page.
            cursor: of this page, None for the first one.
            next_cursor: of the next page, None for the last one.
        """
        return tools

    def entries(self, listed: Sequence[Any]) -> None:
        """Look at resources, resource templates or prompts of a list, which may be changed in place."""

    async def close(self) -> None:
        """Finish what is still to be written; the client is closed."""


async def pass_gates(gates: Sequence[Gate], call: Call, send: Send) -> Any:
    """Take a call through the gates, send it, and take its result back through them in the opposite order.

    Raises:
        CallDenied: a gate does not let the call pass; nothing was sent.
        InvalidResult: a gate does not let the result pass.
    """
    passed: list[Gate] = []
    try:
        for gate in gates:
            passed.append(gate)
            call = await gate.before(call)
        result = await send(call)
        while passed:
            result = await passed[-1].after(call, result)
            passed.pop()
    except BaseException as error:
        for gate in reversed(passed):
            await gate.failed(call, error)
        raise
    return result


_decode = msgspec.json.Decoder(dict[str, Any]).decode


def plain_arguments(tool: str, arguments: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return a copy of arguments in plain JSON values.

    Whoever still holds the original cannot change what has been approved.

    Raises:
        TypeError: something in them that JSON cannot carry.
    """
    return _decode(encode_arguments(tool, arguments))


class Guards:
    """The gates of one client, and what they need to know of its server.

    Args:
        gates: in the order that calls pass them.
        label: what the program calls the server; empty: what the transport calls it.
    """

    def __init__(self, gates: Sequence[Gate], label: str) -> None:
        self.gates = tuple(gates)
        self.label = label
        self._known: dict[str, Tool] = {}
        self._asking = asyncio.Lock()

    async def call(
        self, where: str, name: str, arguments: Mapping[str, Any] | None, list_tools: ListTools, send: Send
    ) -> Any:
        """Take a call through the gates.

        Args:
            where: what the transport calls the server.
            name: of the tool.
            arguments: as the program gave them.
            list_tools: yields every tool of the server.
            send: see Send.
        """

        async def define() -> Tool | None:
            if name not in self._known:
                async with self._asking:  # calls side by side need one list
                    if name not in self._known:
                        async for _ in list_tools():
                            pass  # `take` learns them
            return self._known.get(name)

        call = Call(
            server=self.label or where,
            tool=name,
            arguments=plain_arguments(name, arguments),
            define=define,
            known=lambda: self._known.get(name),
        )
        return await pass_gates(self.gates, call, send)

    async def take(self, where: str, page: ListToolsResult, cursor: str | None) -> ListToolsResult:
        """Take a page of tools/list through the gates, and learn its tools."""
        for gate in self.gates:
            page.tools = list(
                await gate.listed(self.label or where, page.tools, cursor=cursor, next_cursor=page.next_cursor)
            )
        if len(self._known) > _MAX_KNOWN:
            self._known.clear()
        self._known |= {tool.name: tool for tool in page.tools}
        return page

    def look(self, page: Any) -> None:
        """Show the gates a page of another list."""
        for member in ("resources", "resource_templates", "prompts"):
            if listed := getattr(page, member, None):
                for gate in self.gates:
                    gate.entries(listed)

    def notified(self, method: str) -> None:
        """Forget the tools where the server says that they have changed."""
        if method == "notifications/tools/list_changed":
            self._known.clear()

    async def close(self) -> None:
        """Let every gate finish."""
        for gate in self.gates:
            await gate.close()


def guards_of(
    *,
    on_call: OnCall | None = None,
    trust: Policy | None = None,
    audit: Audit | AuditSink | None = None,
    pin: Pins | PinStore | None = None,
    check: ResultChecks | bool | Literal["known"] = False,
    others: Sequence[Gate] = (),
    label: str = "",
    origin: str | None = None,
) -> Guards | None:
    """Return the gates that a client's parameters ask for, None where they ask for none.

    The audit log stands outermost and hears of everything; pins come before anybody is asked about a tool; `on_call`
    may edit arguments, so that people are asked after it, about what will be sent; results are checked first of all.

    Args:
        on_call, trust, audit, pin: as in Client.
        check: so too; "known": the usual ones, which do not ask the server for its tools.
        others: gates of the program's own, between `trust` and `check`.
        label: what the program calls the server.
        origin: URL of the server, None where it has none.
    """
    made: list[Gate] = []
    # Each in its own module, which a client without it does not load.
    if audit is not None:
        from .audit import audit_gate

        made.append(audit_gate(audit))
    if pin is not None:
        from .pins import pins_of

        made.append(pins_of(pin).gate())
    if on_call is not None:
        from .consent import CallbackGate

        made.append(CallbackGate(on_call))
    if trust is not None:
        made.append(trust.gate())
    made += others
    if check:
        from .checks import ResultChecks

        if not isinstance(check, ResultChecks):
            check = ResultChecks(list_tools=check is True)
        made.append(check.gate(origin))
    return Guards(made, label) if made else None
