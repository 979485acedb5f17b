"""Rules about what models and people read: descriptions that are missing, too long, or no descriptions at all.

Spec 2026-07-28: server/tools, "Tool" and "Security Considerations"; server/discover, `instructions`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ..client.strangers import hidden_characters
from .record import Hit, Part, Server, each, rule
from .schemas import by_reference, properties_of, some_of, walk

_LONGEST = 1024  # characters of a description; some model vendors refuse or cut longer ones
_LONGEST_INSTRUCTIONS = 2048  # characters; hosts cut them


@rule(
    "LC201",
    "tool-description",
    "warning",
    "A tool has no description, from which a model learns when to call it.",
    "Write a docstring, or give description=.",
    r"(no|without( a)?) description",
)
@each("tool")
def _tool_description(part: Part) -> Iterator[Hit]:
    if not part.text("description"):
        yield part.hit("the model is not told what it does: it has no description")


@rule(
    "LC202",
    "prompt-description",
    "warning",
    "A prompt has no description, from which people learn what it is for.",
    "Write a docstring, or give description=.",
)
@each("prompt")
def _prompt_description(part: Part) -> Iterator[Hit]:
    if not part.text("description"):
        yield part.hit("people cannot tell what it is for: it has no description")


@rule(
    "LC203",
    "resource-description",
    "hint",
    "A resource or a template has neither description nor title.",
    "Write a docstring, or give description=.",
)
@each("resource", "template")
def _resource_description(part: Part) -> Iterator[Hit]:
    if not part.text("description") and not part.text("title"):
        yield part.hit("it has neither description nor title")


@rule(
    "LC204",
    "argument-description",
    "warning",
    "An argument of a tool or prompt has no description.",
    "Describe it under `Args:` in the docstring, or with Field(description=...).",
)
@each("tool", "prompt")
def _argument_description(part: Part) -> Iterator[Hit]:
    bare = [name for name, text in _described(part) if not text]
    if bare:
        yield part.hit(f"{_listed('argument', bare)} no description")


@rule(
    "LC205",
    "field-description",
    "hint",
    "A field inside of an argument has no description.",
    "Describe it with Field(description=...).",
)
@each("tool")
def _field_description(part: Part) -> Iterator[Hit]:
    root = part.schema("inputSchema")
    bare = []
    for sub in walk(root):
        inner = properties_of(sub.schema).items() if sub.schema is not root else ()
        for name, schema in inner:
            if not _described_by(schema, root):
                bare.append(f"{sub.where}.{name}")
    if bare:
        yield part.hit(f"{_listed('field', bare)} no description")


def _described(part: Part) -> Iterator[tuple[str, str]]:
    """Yield the arguments, each with its description."""
    if part.kind == "tool":
        root = part.schema("inputSchema")
        for name, schema in properties_of(root).items():
            yield name, _described_by(schema, root)
        return
    listed: Any = part.entry.get("arguments")
    for argument in listed if isinstance(listed, list) else ():
        if isinstance(argument, dict):
            yield str(argument.get("name")), str(argument.get("description") or "")


def _described_by(schema: dict[str, Any], root: dict[str, Any]) -> str:
    """Return the description of a schema, of what it refers to, or of one of its branches."""
    branches = [schema, by_reference(schema, root)]
    for keyword in ("anyOf", "oneOf", "allOf"):
        inner = schema.get(keyword)
        branches += (
            [by_reference(one, root) for one in inner if isinstance(one, dict)] if isinstance(inner, list) else []
        )
    return next((text for branch in branches if isinstance(text := branch.get("description"), str) and text), "")


def _listed(noun: str, names: list[str]) -> str:
    shown = some_of([repr(name) for name in names])
    return f"the {noun} {shown} has" if len(names) == 1 else f"the {noun}s {shown} have"


@rule(
    "LC206",
    "instructions",
    "hint",
    "A server with tools has no instructions, which tell models how the tools work together.",
    "Give MCPServer(instructions=...).",
)
def _instructions(server: Server) -> Iterator[Hit]:
    if not server.instructions and any(server.of("tool")):
        yield server.hit("it has no instructions, with which models learn how its tools work together")


@rule(
    "LC207",
    "description-length",
    "warning",
    "A description has over 1,024 characters, or instructions over 2,048: some hosts cut them.",
    "Say first what it is for, and shorten the rest.",
)
def _description_length(server: Server) -> Iterator[Hit]:
    for part in server.parts:
        if len(part.text("description")) > _LONGEST:
            text = f"its description has {len(part.text('description')):,} characters; some hosts cut what is over "
            yield part.hit(text + f"{_LONGEST:,}", "say first what it is for, and move the rest")
        for name, description in _described(part) if part.kind in ("tool", "prompt") else ():
            if len(description) > _LONGEST:
                text = f"the description of {name!r} has {len(description):,} characters; some hosts cut what is over "
                yield part.hit(text + f"{_LONGEST:,}", "shorten it")
    if len(server.instructions) > _LONGEST_INSTRUCTIONS:
        text = f"its instructions have {len(server.instructions):,} characters; some hosts cut what is over "
        yield server.hit(text + f"{_LONGEST_INSTRUCTIONS:,}", "shorten them")


_EMPTY_WORDS = re.compile(
    r"(?i)\W*((todo|fixme|xxx|tbd|wip)\b.*|(no )?description|n/?a|test|lorem ipsum.*)\W*", re.DOTALL
)


@rule(
    "LC208",
    "description-placeholder",
    "warning",
    "A description repeats the name, or is a placeholder such as TODO.",
    "Say what it does, and when to use it.",
)
@each("tool", "prompt")
def _description_placeholder(part: Part) -> Iterator[Hit]:
    text = part.text("description")
    if not text:
        return
    bare = "".join(character for character in text.lower() if character.isalnum())
    repeats = bare == "".join(character for character in part.name.lower() if character.isalnum())
    if repeats or _EMPTY_WORDS.fullmatch(text):
        what = "repeats the name" if repeats else "is a placeholder"
        yield part.hit(f"its description {text!r} {what}")


# --- texts that are not what they look like ---------------------------------------------------------------------------


def _texts(server: Server) -> Iterator[tuple[Any, str, str, str]]:
    """Yield the place, the owner, the member and the text of everything that models or people read."""
    for part in server.parts:
        for member, text in _strings(part.entry):
            yield part.place, part.label, member, text
    for member, text in _strings(server.info):
        yield server.place, server.label, member, text
    if server.instructions:
        yield server.place, server.label, "instructions", server.instructions


def _strings(value: Any) -> Iterator[tuple[str, str]]:
    """Yield the texts inside of a JSON value, names of members too, each with where it stands."""
    todo: list[tuple[str, Any]] = [("", value)]
    while todo:
        where, inner = todo.pop()
        if isinstance(inner, str):
            yield where, inner
        elif isinstance(inner, dict):
            for name, member in reversed(inner.items()):
                path = f"{where}.{name}" if where else str(name)
                todo += [(path, member), (path, str(name))]
        elif isinstance(inner, list):
            todo += [(where, item) for item in reversed(inner)]


@rule(
    "LC209",
    "hidden-characters",
    "error",
    "A text has characters that do not show, with which models are told what people do not see.",
    "Take them out.",
)
def _hidden_characters(server: Server) -> Iterator[Hit]:
    seen = set()
    for place, owner, member, text in _texts(server):
        found = hidden_characters(text)
        shown = "the name of a member" if hidden_characters(member) else f"`{member}`"
        if found and (owner, shown) not in seen:
            seen.add((owner, shown))
            yield Hit(place, owner, f"{shown} has {found}", "take them out; clients flag or refuse such texts")


_INJECTION = re.compile(
    r"(?i)(?P<ignore>\b(?:ignore|disregard|forget|override)\s+(?:\w+\s+){0,3}(?:previous|prior|above|earlier|other|system)\s+"
    r"(?:\w+\s+)?(?:instructions?|prompts?|rules?|messages?|tools?))"
    r"|(?P<secret>\b(?:do\s+not|don't|never|without)\s+(?:tell(?:ing)?|inform(?:ing)?|mention(?:ing)?|notify(?:ing)?)\s+"
    r"(?:\w+\s+){0,4}(?:user|human|anyone)\b)"
    r"|(?P<tag></?(?:important|system|secret|instructions?|hidden)>)"
    r"|(?P<prompt>\b(?:reveal|print|repeat|send|leak)\s+(?:\w+\s+){0,3}system\s+prompt\b)"
)


@rule(
    "LC210",
    "injection",
    "warning",
    "A text looks like one that takes a model over, such as `ignore previous instructions`.",
    "Describe what it does, and leave what the model should do to the host.",
)
def _injection(server: Server) -> Iterator[Hit]:
    seen = set()
    for place, owner, member, text in _texts(server):
        match = _INJECTION.search(text)
        if match and (owner, member) not in seen:
            seen.add((owner, member))
            quoted = " ".join(match[0].split())[:60]
            said = f"`{member}` says {quoted!r}, as texts do that take a model over"
            yield Hit(place, owner, said)
