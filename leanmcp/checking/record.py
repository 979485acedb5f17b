"""A server described in plain data, and what a rule says about it.

In: entries in the form of the wire, whoever has read them. Out: the structs that rules take and give.
Spec 2026-07-28: schema page, `Tool`, `Prompt`, `Resource`, `ResourceTemplate`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal

from msgspec import Struct

__all__ = [
    "KNOWN",
    "SEVERITIES",
    "Completed",
    "Finding",
    "Hit",
    "Kind",
    "Part",
    "Place",
    "Question",
    "Rule",
    "Server",
    "Severity",
    "each",
    "rule",
]

Severity = Literal["error", "warning", "hint"]
Kind = Literal["tool", "prompt", "resource", "template"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "hint")
_LONGEST_LABEL = 80  # characters
_NAMED_BY = {"tool": "name", "prompt": "name", "resource": "uri", "template": "uriTemplate"}


class Place(Struct, frozen=True, order=True):
    """Where something stands: a file and a line of it, 0 for none; of a server elsewhere, what the user calls it."""

    file: str
    line: int = 0


class Part(Struct, kw_only=True):
    """One entry of a list.

    Args:
        kind: of which list.
        entry: as it is listed.
        place: of its function.
        on_loop: it is a `def` function that runs on the event loop.
        stalls: calls in its coroutine function that hold the event loop up.
        covered: its module has another function under its name, made of it by a decorator further up.
        unguarded: variables of a template whose values are not checked for what leads out of a folder.
        takes_any_text: every variable of a template takes any text.
    """

    kind: Kind
    entry: dict[str, Any]
    place: Place
    on_loop: bool = False
    stalls: list[tuple[Place, str]] = []
    covered: bool = False
    unguarded: tuple[str, ...] = ()
    takes_any_text: bool = False

    @property
    def name(self) -> str:
        """What it is called by."""
        name = self.entry.get(_NAMED_BY[self.kind])
        return name if isinstance(name, str) else ""

    @property
    def is_named(self) -> bool:
        """Whether there is a name, though it may be empty."""
        return isinstance(self.entry.get(_NAMED_BY[self.kind]), str)

    @property
    def label(self) -> str:
        """What texts call it."""
        name = self.name if len(self.name) <= _LONGEST_LABEL else f"{self.name[:_LONGEST_LABEL]}..."
        return f"{self.kind} {name!r}"

    def hit(self, text: str, fix: str | None = None) -> Hit:
        """Return what is wrong with it, see `Hit`."""
        return Hit(self.place, self.label, text, fix)

    def text(self, member: str) -> str:
        """Return a text of the entry, empty where there is none."""
        value = self.entry.get(member)
        return value.strip() if isinstance(value, str) else ""

    def schema(self, member: str) -> dict[str, Any]:
        """Return a schema of the entry, empty where there is none."""
        value = self.entry.get(member)
        return value if isinstance(value, dict) else {}


class Question(Struct, kw_only=True):
    """A question to the user, as far as it can be read off the source.

    Args:
        owner: the function that asks.
        secret: why it must not be asked in a form.
        unfit: why no form can show it.
    """

    owner: str
    place: Place
    secret: str = ""
    unfit: str = ""


class Completed(Struct, kw_only=True):
    """An argument that a function completes.

    Args:
        owner: "prompt 'x'" or "template 'x'".
        known: the arguments of the owner; None: there is no such owner any more.
    """

    owner: str
    argument: str
    place: Place
    known: tuple[str, ...] | None


class Server(Struct, kw_only=True):
    """What rules look at.

    Args:
        label: what texts call it.
        place: of the server itself.
        info: its `serverInfo`.
        parts: tools, prompts, resources and templates, in the order of their lists.
        enforced: its schemas have been compiled already, when they were registered.
        logged: warnings of its registration.
        tools_bytes: bytes of the tools in tools/list.
    """

    label: str
    place: Place
    info: dict[str, Any] = {}
    instructions: str = ""
    parts: list[Part] = []
    questions: list[Question] = []
    completed: list[Completed] = []
    enforced: bool = False
    logged: list[tuple[Place, str]] = []
    tools_bytes: int = 0

    def hit(self, text: str, fix: str | None = None) -> Hit:
        """Return what is wrong with it as a whole, see `Hit`."""
        return Hit(self.place, self.label, text, fix)

    def of(self, *kinds: Kind) -> Iterator[Part]:
        """Yield the parts of some kinds; without those that have no name, of which there is nothing more to say."""
        return (part for part in self.parts if part.kind in kinds and part.is_named)


class Hit(Struct, frozen=True):
    """What a rule found.

    Args:
        owner: what it is about, such as "tool 'add'".
        text: what is wrong.
        fix: what to do; None for what the rule says.
    """

    place: Place
    owner: str
    text: str
    fix: str | None = None


class Finding(Struct, frozen=True, omit_defaults=False):
    """One line of the report; in JSON an object with these members."""

    rule: str
    name: str
    severity: Severity
    file: str
    line: int
    on: str
    text: str
    fix: str


Look = Callable[[Server], Iterator[Hit]]


class Rule(Struct, frozen=True):
    """One thing to look for.

    Args:
        id: "LC", then three digits; it never changes, and is never given to another rule.
        name: in words.
        about: what it says, one sentence.
        fix: what to do, one sentence.
        replaces: regular expression of a warning of registration that says the same.
        look: finds it.
    """

    id: str
    name: str
    severity: Severity
    about: str
    fix: str
    replaces: str
    look: Look


KNOWN: list[Rule] = []
"""All rules, as their modules are imported."""


def rule(code: str, name: str, severity: Severity, about: str, fix: str, replaces: str = "") -> Callable[[Look], Look]:
    """Make a rule of a function that looks at a server; see `Rule`."""

    def made(look: Look) -> Look:
        KNOWN.append(Rule(code, name, severity, about, fix, replaces, look))
        return look

    return made


def each(*kinds: Kind) -> Callable[[Callable[[Part], Iterator[Hit]]], Look]:
    """Have a function look at each part of some kinds."""

    def made(look: Callable[[Part], Iterator[Hit]]) -> Look:
        return lambda server: (hit for part in server.of(*kinds) for hit in look(part))

    return made
