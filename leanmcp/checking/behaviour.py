"""Rules about what tools say of their behaviour, and about functions that hold everything else up.

Spec 2026-07-28: schema page, `ToolAnnotations`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from .record import Hit, Part, Server, each, rule

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
# First words of names: what changes something, and what does not. Words that are nouns too, or change nothing but a
# value, are left out: `order_history`, `add` of a calculator, `replace` of a text, `check_out`.
_CHANGES = re.compile(
    r"approve|cancel|create|delete|deploy|destroy|disable|enable|erase|install|modify|overwrite|publish|purge|reboot|"
    r"remove|rename|restart|revoke|save|send|shutdown|submit|uninstall|unlock|update|upload|wipe|write"
)
_READS = re.compile(r"count|describe|exists|fetch|find|get|inspect|list|lookup|peek|query|read|search|show|view")


def _hints(part: Part) -> dict[str, Any]:
    hints = part.entry.get("annotations")
    return hints if isinstance(hints, dict) else {}


@rule(
    "LC501",
    "hints-missing",
    "hint",
    "A tool does not say whether it changes something, so that hosts take it for destructive.",
    "Give annotations=ToolAnnotations(read_only_hint=...).",
)
@each("tool")
def _hints_missing(part: Part) -> Iterator[Hit]:
    hints = _hints(part)
    if not any(isinstance(hints.get(name), bool) for name in ("readOnlyHint", "destructiveHint")):
        yield part.hit("it does not say whether it changes something; hosts take it for destructive")


@rule(
    "LC502",
    "hints-contradict",
    "warning",
    "A tool has readOnlyHint and destructiveHint, which contradict each other.",
    "Drop one of them.",
    r"contradict each other",
)
@each("tool")
def _hints_contradict(part: Part) -> Iterator[Hit]:
    hints = _hints(part)
    if hints.get("readOnlyHint") is True and hints.get("destructiveHint") is True:
        yield part.hit("readOnlyHint and destructiveHint contradict each other")


@rule(
    "LC506",
    "hints-idle",
    "hint",
    "A read-only tool has a destructiveHint or an idempotentHint, which mean nothing there.",
    "Leave it out.",
    r"means nothing on a read-only tool",
)
@each("tool")
def _hints_idle(part: Part) -> Iterator[Hit]:
    hints = _hints(part)
    idle = [] if hints.get("destructiveHint") in (None, True) else ["destructiveHint"]
    idle += [] if hints.get("idempotentHint") is None else ["idempotentHint"]
    if hints.get("readOnlyHint") is True and idle:
        verb = "mean" if len(idle) > 1 else "means"
        yield part.hit(f"{' and '.join(idle)} {verb} nothing on a read-only tool")


@rule(
    "LC503",
    "hints-name",
    "warning",
    "The name of a tool and its hints say different things, such as `delete_file` that is read-only.",
    "Correct the hint, or rename the tool.",
)
@each("tool")
def _hints_name(part: Part) -> Iterator[Hit]:
    words = _WORDS.findall(part.name)
    verb = words[0].lower() if words else ""
    hints = _hints(part)
    if _CHANGES.fullmatch(verb) and hints.get("readOnlyHint") is True:
        yield part.hit(f"its name says {verb!r}, but its readOnlyHint that it changes nothing")
    if _READS.fullmatch(verb) and hints.get("destructiveHint") is True and hints.get("readOnlyHint") is not True:
        yield part.hit(f"its name says {verb!r}, but its destructiveHint that it destroys something")


@rule(
    "LC504",
    "on-loop",
    "hint",
    "A `def` function has thread=False: while it runs, the server answers nobody else.",
    "Leave thread=False to work of microseconds.",
)
def _on_loop(server: Server) -> Iterator[Hit]:
    for part in server.parts:
        if part.on_loop:
            yield part.hit("thread=False: while this `def` function runs, the server answers nobody else")


@rule(
    "LC505",
    "stalls",
    "warning",
    "A coroutine function calls what blocks, such as time.sleep(), and holds up everything that the server does.",
    "Write `def`, which runs in a thread, or await something.",
)
def _stalls(server: Server) -> Iterator[Hit]:
    for part in server.parts:
        for place, call in part.stalls:
            yield Hit(place, part.label, f"{call}() in `async def` holds up everything that the server does")


@rule(
    "LC507",
    "covered",
    "warning",
    "A decorator stands above the one that registers: clients reach the function without it.",
    "Put the decorator that registers on top.",
)
def _covered(server: Server) -> Iterator[Hit]:
    for part in server.parts:
        if part.covered:
            decorator = "resource" if part.kind == "template" else part.kind
            text = f"a decorator above @mcp.{decorator} has no effect on what clients reach"
            yield part.hit(text, f"put @mcp.{decorator} on top, above the others")
