"""Who may call what: a callback that sees every call, and a policy that asks a person.

In: a call about to be sent. Out: the same call, an edited one, or CallDenied.
Spec 2026-07-28: server/tools, "User Interaction Model", "Tool" (annotations are untrusted) and "Security
Considerations"; index, "Security and Trust & Safety".
"""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import json
from collections.abc import Awaitable, Callable, Collection, Mapping
from fnmatch import fnmatchcase
from typing import Any, Literal
from weakref import WeakKeyDictionary

from msgspec import Struct

from ..calls import is_async
from ..errors import CallDenied, MCPError
from ..protocol.canonical import canonical_json
from ..types import Tool
from .callers import run_blocking
from .definitions import digest_of
from .gate import Call, Gate, plain_arguments

Verdict = bool | Mapping[str, Any] | None
OnCall = Callable[[str, dict[str, Any]], Verdict | Awaitable[Verdict]]
"""Takes the name of a tool and its arguments. True or None: call it. False: do not. A dict: call it with these."""

Rule = Literal["allow", "ask", "deny"]
Remember = Literal["never", "call", "session"]


class CallbackGate(Gate):
    """Shows each call to a callback; what the callback raises, the caller gets."""

    def __init__(self, on_call: OnCall) -> None:
        self._on_call = on_call

    async def before(self, call: Call) -> Call:
        """Let the call pass as the callback says."""
        # A copy of it is kept, to see whether the callback has edited what it was given.
        shown = plain_arguments(call.tool, call.arguments)
        verdict = self._on_call(call.tool, shown)
        if inspect.isawaitable(verdict):
            verdict = await verdict
        if verdict is False:
            call.decision = "denied"
            raise CallDenied(f"Tool {call.tool!r} of {call.server} was not called: on_call denied it")
        if isinstance(verdict, Mapping):
            shown = dict(verdict)
        elif verdict is not True and verdict is not None:
            raise TypeError(
                f"on_call returned {verdict!r}; return True or None to allow, False to deny, or a dict of arguments"
            )
        arguments = plain_arguments(call.tool, shown)
        if arguments != call.arguments:
            call.arguments, call.decision = arguments, "edited"
        return call


class Hints(Struct, frozen=True):
    """What a tool may do; where its annotations are silent or not believed, the worst.

    Args:
        read_only: it changes nothing.
        destructive: it may delete or overwrite.
        idempotent: the same call again has no further effect.
        open_world: it reaches out to things that nobody here controls.
        believed: whether the annotations of this server count.

    Spec: schema, "ToolAnnotations".
    """

    read_only: bool = False
    destructive: bool = True
    idempotent: bool = False
    open_world: bool = True
    believed: bool = False


def hints_of(tool: Tool | None, *, believed: bool) -> Hints:
    """Return what a tool may do, with the defaults of the specification.

    Args:
        tool: None where the server does not list it.
        believed: whether its server is trusted to tell the truth.
    """
    said = None if tool is None else tool.annotations
    if said is None or not believed:
        return Hints(believed=believed)
    read_only = said.read_only_hint is True
    return Hints(
        read_only=read_only,
        destructive=not read_only and said.destructive_hint is not False,
        idempotent=read_only or said.idempotent_hint is True,
        open_world=said.open_world_hint is not False,
        believed=True,
    )


class Question(Struct, frozen=True, kw_only=True):
    """What a person is asked before a tool is called.

    Args:
        server: what the program calls it.
        tool: name.
        arguments: as they will be sent; show them.
        definition: as the server describes it, untrusted text; None where it does not list the tool.
        hints: what it may do.
        reason: why this is asked, as a sentence.
    """

    server: str
    tool: str
    arguments: dict[str, Any]
    definition: Tool | None
    hints: Hints
    reason: str


Answer = bool | Remember | None
Ask = Callable[[Question], Answer | Awaitable[Answer]]
"""Returns True to allow, False or None to deny; or allows and says how long that holds: "never" (once more, please),
"call" (the same arguments again) or "session" (this tool)."""


class Policy:
    """Decides which calls need a person's consent, and asks for it.

    A rule that names the tool comes first: `deny`, then `ask`, then `allow`. All other tools are asked about where they
    may be destructive, which is every tool whose server is not believed.

    Args:
        ask: gets the question and returns the answer; a plain function runs in a thread, so that it may wait for
            input. Without it, what would be asked is denied. One question is open at a time.
        allow, deny, always_ask: patterns of tool names, `*` and `?` as in file names; with the server's label and a
            colon in front, `files:delete_*`, they mean that server's tools only.
        believe: the servers whose annotations are believed, by label or URL; a single text is one of them, True means
            all that this policy is given to.
        ask_for: without a rule, "destructive" asks about what may delete or overwrite; "writing" about everything that
            is not read-only; "everything" asks always.
        remember: how long consent holds where the answer does not say: "never", each call is asked about; "call", the
            same tool with the same arguments; "session", the tool, until the policy is thrown away. A tool that its
            server describes differently is asked about again.

    Raises:
        ValueError: a word that is none of these.
    """

    def __init__(
        self,
        ask: Ask | None = None,
        *,
        allow: Collection[str] = (),
        deny: Collection[str] = (),
        always_ask: Collection[str] = (),
        believe: bool | str | Collection[str] = False,
        ask_for: Literal["destructive", "writing", "everything"] = "destructive",
        remember: Remember = "never",
    ) -> None:
        if ask_for not in ("destructive", "writing", "everything"):
            raise ValueError(f"ask_for={ask_for!r}: give 'destructive', 'writing' or 'everything'")
        if remember not in ("never", "call", "session"):
            raise ValueError(f"remember={remember!r}: give 'never', 'call' or 'session'")
        self._ask = ask
        self._rules: list[tuple[Rule, tuple[str, ...]]] = [
            ("deny", _patterns(deny)),
            ("ask", _patterns(always_ask)),
            ("allow", _patterns(allow)),
        ]
        self._believed = believe if isinstance(believe, bool) else _patterns(believe)
        self._ask_for = ask_for
        self._remember: Remember = remember
        self._consents: set[str] = set()
        # One question at a time in each event loop; a policy may serve clients of several.
        self._turns: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()

    def gate(self) -> Gate:
        """Return the gate that enforces this policy."""
        return _PolicyGate(self)

    def forget(self) -> None:
        """Ask again about everything that was consented to."""
        self._consents.clear()

    def believes(self, server: str) -> bool:
        """Return whether the annotations of a server's tools count."""
        return self._believed if isinstance(self._believed, bool) else server in self._believed

    def rule(self, server: str, tool: str) -> Rule | None:
        """Return what the patterns say about a tool; None where they say nothing."""
        for rule, patterns in self._rules:
            for pattern in patterns:
                # Servers choose the names of their tools: one called `files:read` must not pass for a tool of `files`.
                named = fnmatchcase(tool, pattern) and (rule != "allow" or ":" not in pattern)
                if named or fnmatchcase(f"{server}:{tool}", pattern):
                    return rule
        return None

    def reason_to_ask(self, tool: str, hints: Hints) -> str | None:
        """Return why a person has to be asked about a tool without a rule; None: no need to."""
        if self._ask_for == "everything":
            return f"Every call of {tool!r} needs consent."
        if not hints.believed:
            return f"{tool!r} may do anything: its server is not one whose description of it is believed."
        if hints.destructive:
            return f"{tool!r} may delete or overwrite."
        if self._ask_for == "writing" and not hints.read_only:
            return f"{tool!r} changes something."
        return None

    async def decide(self, call: Call) -> str:
        """Return how a call came to be allowed: "allowed" by the policy, "consented" to, or so "remembered".

        Raises:
            CallDenied: it is not.
        """
        rule = self.rule(call.server, call.tool)
        if rule == "deny":
            raise CallDenied(f"Tool {call.tool!r} of {call.server} was not called: the policy denies it")
        if rule == "allow":
            return "allowed"
        definition = await _definition(call)
        hints = hints_of(definition, believed=self.believes(call.server))
        reason = f"The policy asks about {call.tool!r}." if rule == "ask" else self.reason_to_ask(call.tool, hints)
        if reason is None:
            return "allowed"
        loop = asyncio.get_running_loop()
        async with self._turns.setdefault(loop, asyncio.Lock()):
            # Looked up in turn: the answer before may have settled this one too.
            tool_key, call_key = _keys(call, definition)
            if tool_key in self._consents or call_key in self._consents:
                return "remembered"
            await self._consent(
                Question(
                    server=call.server,
                    tool=call.tool,
                    arguments=plain_arguments(call.tool, call.arguments),
                    definition=definition,
                    hints=hints,
                    reason=reason,
                ),
                {"session": tool_key, "call": call_key},
            )
        return "consented"

    async def _consent(self, question: Question, keys: Mapping[str, str]) -> None:
        where = f"Tool {question.tool!r} of {question.server} was not called"
        if self._ask is None:
            raise CallDenied(f"{where}: {question.reason} Nobody can be asked; give Policy(ask=...) or allow=[...]")
        if is_async(self._ask):
            answer = self._ask(question)
        else:
            answer = await run_blocking(self._ask, question)
        if inspect.isawaitable(answer):
            answer = await answer
        if answer is False or answer is None:
            raise CallDenied(f"{where}: the user did not consent")
        if answer is not True and answer not in ("never", "call", "session"):
            raise TypeError(f"Policy(ask=) returned {answer!r}; return True, False, 'call' or 'session'")
        key = keys.get(self._remember if answer is True else answer)
        if key is not None:
            self._consents.add(key)


class _PolicyGate(Gate):
    def __init__(self, policy: Policy) -> None:
        self._policy = policy

    async def before(self, call: Call) -> Call:
        try:
            decision = await self._policy.decide(call)
        except CallDenied:
            call.decision = "denied"
            raise
        call.decision = decision if call.decision == "allowed" else f"{call.decision}, {decision}"
        return call


def _patterns(given: str | Collection[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


async def _definition(call: Call) -> Tool | None:
    """Return how the server describes a tool; a server that cannot tell describes nothing, which means the worst."""
    try:
        return await call.define()
    except MCPError:
        return None


def _keys(call: Call, definition: Tool | None) -> tuple[str, str]:
    """Return what consent is remembered by, for the tool and for this very call."""
    described = "" if definition is None else digest_of(definition)
    tool = json.dumps([call.server, call.tool, described])
    return tool, f"{tool} {hashlib.sha256(canonical_json(call.arguments)).hexdigest()}"
