"""Arguments that travel as texts, of prompts and in URIs: what a text stands for, by the type of its parameter.

In: the node of a type. Out: what turns a text into a JSON value, which the typed decoder takes like that of a tool.

- `str`, and any union with it: the text exactly as it came;
- `Literal`, `Enum`: the value that the text spells; numbers and booleans among them as JSON writes them;
- `bool`: true or false, and yes, no, on, off, 1, 0, in any case, as people type them;
- date, time, datetime, timedelta, UUID, Decimal, Path, bytes: what the same text gives a tool;
- int, float, list, dict, classes and whatever else JSON writes without quotes: the text is read as JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from .nodes import (
    AnyNode,
    ArrayNode,
    BoolNode,
    ChoiceNode,
    ForeignNode,
    MapNode,
    Node,
    NumberNode,
    Property,
    RefNode,
    TextNode,
    alternatives,
)

__all__ = ["argument_reader", "is_structured", "offered", "read_texts", "text_reader"]

_WORDS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


def _takes_text(node: Node) -> bool:
    """Return whether any text at all may be a value."""
    if isinstance(node, TextNode):
        return node.kind == "str"
    return isinstance(node, AnyNode) or (isinstance(node, ForeignNode) and node.admits_string())


def _spelled(value: object) -> str:
    """Return the text that stands for a value of a Literal or an Enum."""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def offered(node: Node) -> tuple[str, ...]:
    """Return the texts that a parameter's type names one by one, in the order of its declaration."""
    found: list[str] = []
    for part in alternatives(node):
        if isinstance(part, BoolNode):
            found += ["true", "false"]
        elif isinstance(part, ChoiceNode):
            found += [_spelled(value) for value in part.values if value is not None]
    return tuple(dict.fromkeys(found))


def text_reader(node: Node) -> Callable[[str], Any] | None:
    """Return what turns a text into the JSON value that it stands for, None where the text is the value."""
    parts = alternatives(node)
    if any(map(_takes_text, parts)):
        return None
    choices = [value for part in parts if isinstance(part, ChoiceNode) for value in part.values]
    spelled = {_spelled(value): value for value in choices}
    is_bool = any(isinstance(part, BoolNode) for part in parts) and not any(isinstance(p, NumberNode) for p in parts)
    words = _WORDS if is_bool else {}
    return lambda text: spelled[text] if text in spelled else words.get(text.strip().lower(), text)


def argument_reader(entry: Property) -> Callable[[str], Any] | None:
    """Return `text_reader` of an argument, which gives UNSET for an empty text that stands for nothing.

    As forms mean it: what has a default is left out then.
    """
    reader = text_reader(entry.node)
    if reader is None or entry.required or "" in offered(entry.node):
        return reader
    return lambda text: reader(text) if text else msgspec.UNSET


def read_texts(readers: Mapping[str, Callable[[Any], Any]], texts: Mapping[str, Any]) -> bytes:
    """Return the JSON of arguments, those that have a reader read by it, without what stands for nothing."""
    read = {name: readers[name](text) if name in readers else text for name, text in texts.items()}
    return msgspec.json.encode({name: value for name, value in read.items() if value is not msgspec.UNSET})


def is_structured(node: Node) -> bool:
    """Return whether a value is an array or an object, which a text has to write in JSON."""
    return any(isinstance(part, ArrayNode | MapNode | RefNode) for part in alternatives(node))
