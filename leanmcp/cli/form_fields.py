"""The fields of a form: what is asked, what is proposed, and what typed text becomes.

In: the schema of a form. Out: fields, each of which turns a typed line into a value.
Spec 2026-07-28: client/elicitation, "Requested Schema".
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

import msgspec

from .terminal import line

_KINDS = {"string": "text", "integer": "whole number", "number": "number", "boolean": "yes or no"}
_FORMATS = {"date": "YYYY-MM-DD", "date-time": "YYYY-MM-DDThh:mm:ssZ", "email": "e-mail address", "uri": "URI"}
_YES, _NO = ("y", "yes", "true", "1", "on"), ("n", "no", "false", "0", "off")
_MISSING: Any = object()


class Field:
    """One field.

    Args:
        name: of the member.
        node: its schema.
        required: whether it must be there.
    """

    def __init__(self, name: str, node: dict[str, Any], required: bool) -> None:
        self.name = name
        self._node = node
        self._required = required
        self._is_list = node.get("type") == "array"
        items = node.get("items") if self._is_list else node
        self._choices = _choices(items if isinstance(items, dict) else {}, node)

    @staticmethod
    def shown(value: Any) -> str:
        """Return a value as a person reads it."""
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, list):
            return ", ".join(map(Field.shown, value))
        return line(str(value))

    def explained(self) -> list[str]:
        """Return the lines in front of the prompt."""
        title, about = self._node.get("title"), self._node.get("description")
        texts = [line(text) for text in (title, about) if isinstance(text, str) and text]
        if texts and texts[0].lower() == self.name.lower().replace("_", " "):
            del texts[0]  # the prompt says it
        lines = [": ".join(texts)] if texts else []
        lines += [f"  {number}  {line(title)}" for number, (_, title) in enumerate(self._choices, 1)]
        return lines

    def prompt(self, content: dict[str, Any]) -> str:
        """Return the prompt, with what Enter takes."""
        default = content.get(self.name, self._node.get("default", _MISSING))
        proposed = "" if default is _MISSING else f" [{self._titled(default)}]"
        return f"{line(self.name)} ({self._kind()}{'' if self._required else ', optional'}){proposed}: "

    def _titled(self, value: Any) -> str:
        if isinstance(value, list):
            return ", ".join(map(self._titled, value))
        title = next((title for choice, title in self._choices if choice == value), None)
        return self.shown(value) if title is None else line(title)

    def _kind(self) -> str:
        if self._choices:
            return "numbers, with commas between them" if self._is_list else f"1 to {len(self._choices)}"
        kind = _KINDS.get(str(self._node.get("type")), "JSON")
        low, high = self._node.get("minimum"), self._node.get("maximum")
        if low is not None and high is not None:
            kind += f", {low:g} to {high:g}"
        elif low is not None or high is not None:
            kind += f", at least {low:g}" if high is None else f", at most {high:g}"
        return _FORMATS.get(str(self._node.get("format")), kind)

    def take(self, typed: str, content: dict[str, Any]) -> str | None:
        """Put the value of a typed line into `content`; return what is wrong with it, None where nothing is."""
        if not typed:
            if self.name in content or "default" in self._node:
                content.setdefault(self.name, self._node.get("default"))
                return None
            return f"{line(self.name)}: a value is needed" if self._required else None
        try:
            value = self._value(typed)
        except ValueError as fault:
            return f"{line(self.name)}: {fault}"
        from ..schema import explain

        faults = explain({"properties": {self.name: self._node}}, {self.name: value}, profile="untrusted")
        if not faults:
            content[self.name] = value
        return faults or None

    def _value(self, typed: str) -> Any:
        if self._choices and self._is_list:
            return [self._chosen(part.strip()) for part in typed.split(",") if part.strip()]
        if self._choices:
            return self._chosen(typed)
        return _PARSERS.get(str(self._node.get("type")), msgspec.json.decode)(typed, *self._format())

    def _format(self) -> tuple[str, ...]:
        return (str(self._node.get("format", "")),) if self._node.get("type") == "string" else ()

    def _chosen(self, typed: str) -> Any:
        if typed.isdecimal() and 1 <= int(typed) <= len(self._choices):
            return self._choices[int(typed) - 1][0]
        for value, title in self._choices:
            if typed.lower() in (str(value).lower(), title.lower()):
                return value
        raise ValueError(f"{typed!r} is none of the choices; give a number from 1 to {len(self._choices)}")


def fields_of(schema: dict[str, Any]) -> list[Field]:
    """Return the fields of a form."""
    properties, required = schema.get("properties"), schema.get("required")
    if not isinstance(properties, dict):
        return []
    needed = required if isinstance(required, list) else []
    return [Field(name, node, name in needed) for name, node in properties.items() if isinstance(node, dict)]


def _choices(node: dict[str, Any], whole: dict[str, Any]) -> list[tuple[Any, str]]:
    """Return the values that may be chosen, with their titles."""
    for keyword in ("oneOf", "anyOf"):
        options = node.get(keyword)
        if (
            isinstance(options, list)
            and options
            and all(isinstance(item, dict) and "const" in item for item in options)
        ):
            return [(item["const"], str(item.get("title", item["const"]))) for item in options]
    values = node.get("enum")
    if not isinstance(values, list):
        return []
    names = whole.get("enumNames")
    titles = names if isinstance(names, list) and len(names) == len(values) else values
    return [(value, str(title)) for value, title in zip(values, titles, strict=True)]


def _text(typed: str, form: str) -> str:
    if form == "date":
        datetime.date.fromisoformat(typed)
    elif form == "date-time":
        datetime.datetime.fromisoformat(typed)
    elif form == "email" and not (0 < typed.find("@") < len(typed) - 1):
        raise ValueError("an e-mail address is expected, such as anna@example.com")
    elif form == "uri" and ":" not in typed:
        raise ValueError("a URI is expected, such as https://example.com/")
    return typed


def _boolean(typed: str) -> bool:
    if typed.lower() in _YES:
        return True
    if typed.lower() in _NO:
        return False
    raise ValueError("yes or no is expected")


def _integer(typed: str) -> int:
    try:
        return int(typed)
    except ValueError:
        raise ValueError(f"a whole number is expected, not {typed!r}") from None


def _number(typed: str) -> float:
    try:
        value = msgspec.json.decode(typed)
    except msgspec.DecodeError:
        value = None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"a number is expected, not {typed!r}")
    return value


_PARSERS: dict[str, Callable[..., Any]] = {
    "string": _text,
    "integer": _integer,
    "number": _number,
    "boolean": _boolean,
}
