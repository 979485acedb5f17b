"""Rules about names: their characters and length, and names that are easily taken for each other.

Spec 2026-07-28: server/tools, "Tool Names". The 64 characters are what model vendors take.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from .record import Hit, Part, Server, each, rule
from .schemas import inputs, properties_of

_NAME = re.compile(r"[A-Za-z0-9_.\-]{1,128}")
_ARGUMENT = re.compile(r"[A-Za-z0-9_.\-]{1,64}")
_OUTSIDE = re.compile(r"[^A-Za-z0-9_.\-]+")
_LONGEST = 128  # characters, of the specification
_PORTABLE = 64  # characters, of model vendors


@rule(
    "LC101",
    "name-characters",
    "error",
    "The name of a tool or prompt is empty, over 128 characters, or has others than A-Z a-z 0-9 _ . -.",
    "Rename it.",
    r"strict_names=False only warns",
)
@each("tool", "prompt")
def _name_characters(part: Part) -> Iterator[Hit]:
    if _NAME.fullmatch(part.name):
        return
    better = _OUTSIDE.sub("_", part.name).strip("_")[:_PORTABLE]
    rename = f"rename it, for example to {better!r}" if better else "give it a name"
    if not part.name:
        text = "its name is empty"
    elif len(part.name) > _LONGEST:
        text = f"its name has {len(part.name)} characters, over {_LONGEST}"
    else:
        text = "its name has characters besides A-Z a-z 0-9 _ . -, which clients and model vendors refuse"
    yield part.hit(text, rename)


@rule(
    "LC102",
    "name-length",
    "warning",
    "The name of a tool or prompt has more than 64 characters, which some hosts refuse.",
    "Shorten it.",
    r"some hosts refuse more than 64",
)
def _name_length(server: Server) -> Iterator[Hit]:
    for part in server.of("tool", "prompt"):
        if _PORTABLE < len(part.name) <= _LONGEST:
            text = f"its name has {len(part.name)} characters; some hosts refuse more than {_PORTABLE}"
            yield part.hit(text, "shorten it; hosts may put the server's name in front")


@rule(
    "LC103",
    "name-dots",
    "hint",
    "The name of a tool has a dot: the specification allows it, some model vendors do not.",
    "Write an underscore.",
)
@each("tool")
def _name_dots(part: Part) -> Iterator[Hit]:
    if "." in part.name and _NAME.fullmatch(part.name):
        yield part.hit("its name has a dot, which some model vendors refuse", f"write {part.name.replace('.', '_')!r}")


@rule(
    "LC104",
    "argument-name",
    "warning",
    "The name of an argument is not of 1 to 64 of A-Z a-z 0-9 _ . -, as some model vendors demand.",
    "Rename it.",
    r"some hosts refuse the property name",
)
@each("tool", "prompt")
def _argument_name(part: Part) -> Iterator[Hit]:
    for name in dict.fromkeys(_arguments(part, nested=True)):
        if not _ARGUMENT.fullmatch(name):
            text = f"the argument {name[:80]!r} is not of 1 to {_PORTABLE} of A-Z a-z 0-9 _ . -, as some model "
            text += "vendors demand"
            yield part.hit(text)


@rule(
    "LC105",
    "duplicate-name",
    "error",
    "Two tools, prompts, resources or templates have the same name or URI.",
    "Rename one of them.",
)
def _duplicate_name(server: Server) -> Iterator[Hit]:
    for kind in ("tool", "prompt", "resource", "template"):
        seen: set[str] = set()
        for part in server.of(kind):
            if part.name and part.name in seen:
                yield part.hit(f"there are two {kind}s of this name; clients find one of them only")
            seen.add(part.name)


@rule(
    "LC106",
    "similar-names",
    "warning",
    "Two names differ only by case or separators, so that a model takes one for the other.",
    "Rename one of them after what it does.",
)
def _similar_names(server: Server) -> Iterator[Hit]:
    for kind in ("tool", "prompt"):
        parts = list(server.of(kind))
        twins = _twins(part.name for part in parts)
        for part in parts:
            if part.name in twins:
                text = f"it is easily taken for {kind} {twins[part.name]!r}, which differs only by case or separators"
                yield part.hit(text)
    for part in server.of("tool", "prompt"):
        for name, twin in _twins(_arguments(part)).items():
            yield part.hit(f"the argument {name!r} is easily taken for {twin!r}", "rename one of them")


def _twins(names: Iterable[str]) -> dict[str, str]:
    """Return the names that are the same as an earlier one but for case and separators, each with that one."""
    first: dict[str, str] = {}
    found: dict[str, str] = {}
    for name in dict.fromkeys(names):
        known = first.setdefault(_bare(name), name)
        if known != name and _bare(name):
            found[name] = known
    return found


def _bare(name: str) -> str:
    return "".join(character for character in name.lower() if character.isalnum())


def _arguments(part: Part, nested: bool = False) -> Iterator[str]:
    """Yield the names of the arguments of a tool or a prompt, for a tool those of values inside of values too."""
    if part.kind == "prompt":
        listed: Any = part.entry.get("arguments")
        for argument in listed if isinstance(listed, list) else ():
            if isinstance(argument, dict) and isinstance(argument.get("name"), str):
                yield argument["name"]
    elif nested:
        for found in inputs(part):
            yield from properties_of(found.schema)
    else:
        yield from properties_of(part.schema("inputSchema"))
