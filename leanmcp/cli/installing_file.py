"""One member of a JSON file that other programs own, changed without touching the rest.

In: the text of a file, and an entry. Out: the text with the entry added, replaced or taken away, and every other byte
as it was. What is no JSON is refused with its place: a file with comments would lose them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from .faults import UsageError

_decoder = json.JSONDecoder()
_BLANK = " \t\r\n"
_MARK = "\ufeff"  # that some editors begin a file with


class _Member(NamedTuple):
    """Where a member stands: its name begins, its value begins, its value ends."""

    name: str
    start: int
    value: int
    end: int


class JSONFile:
    """The text of a file, and what it says.

    Args:
        path: for texts.
        content: its bytes; nothing for a file that is not there.

    Raises:
        UsageError: no JSON object.
    """

    def __init__(self, path: str, content: bytes) -> None:
        self._path = path
        try:
            text = content.decode()
        except UnicodeDecodeError as fault:
            raise UsageError(f"{path}: byte {fault.start} is no UTF-8; it is left as it is") from None
        self._mark = _MARK if text.startswith(_MARK) else ""
        self.text = text.removeprefix(_MARK)
        self._line_end = "\r\n" if "\r\n" in self.text else "\n"
        if not self.text.strip():
            self.text = "{}" + self._line_end
        try:
            self._value = json.loads(self.text)
        except json.JSONDecodeError as fault:
            from .config_mistakes import no_json  # of mistakes only

            why = no_json(self.text.encode(), fault)
            by_hand = "it is left as it is; `leanmcp install json` prints the entry"
            raise UsageError(f"{path} is no JSON: {why}; {by_hand}") from None
        except RecursionError:
            raise UsageError(f"{path}: too deep; it is left as it is") from None
        if not isinstance(self._value, dict):
            raise UsageError(f"{path}:1: a JSON object is expected; it is left as it is")

    def content(self) -> bytes:
        """Return the bytes of the file."""
        return (self._mark + self.text).encode()

    def entries(self, servers: str) -> dict[str, Any]:
        """Return the entries under a member.

        Raises:
            UsageError: the member is no object.
        """
        found = self._value.get(servers, {})
        if not isinstance(found, dict):
            raise UsageError(f"{self._path}: {servers!r} is expected to be an object; it is left as it is")
        return found

    def put(self, servers: str, name: str, entry: Mapping[str, Any]) -> None:
        """Add or replace an entry."""
        start = self._start()
        holder = self._find(start, servers)
        if holder is None:
            self._add(start, servers, {name: entry})
        elif (member := self._find(holder.value, name)) is None:
            self._add(holder.value, name, entry)
        else:
            self._replace(member, entry)
        self._value = json.loads(self.text)

    def remove(self, servers: str, name: str) -> None:
        """Take away an entry that is there, as often as it is."""
        while name in self.entries(servers):
            self._remove_last(servers, name)
            self._value = json.loads(self.text)

    def _remove_last(self, servers: str, name: str) -> None:
        holder = self._find(self._start(), servers)
        assert holder is not None
        members = self._members(holder.value)
        index = max(index for index, member in enumerate(members) if member.name == name)
        if index + 1 < len(members):
            start, end = members[index].start, members[index + 1].start
        elif index:
            start, end = members[index - 1].end, members[index].end
        else:
            start, end = holder.value + 1, holder.end - 1
        self.text = self.text[:start] + self.text[end:]

    # --- where things stand -----------------------------------------------------------------------------------------

    def _start(self) -> int:
        return self._skip(0)

    def _skip(self, index: int) -> int:
        while self.text[index] in _BLANK:
            index += 1
        return index

    def _members(self, start: int) -> list[_Member]:
        """Return the members of the object that begins at an index."""
        found: list[_Member] = []
        index = self._skip(start + 1)
        while self.text[index] != "}":
            first = self._skip(index + 1) if self.text[index] == "," else index
            name, end = _decoder.raw_decode(self.text, first)
            value = self._skip(self._skip(end) + 1)
            end = _decoder.raw_decode(self.text, value)[1]
            found.append(_Member(name, first, value, end))
            index = self._skip(end)
        return found

    def _find(self, start: int, name: str) -> _Member | None:
        """Return a member; of several the last, which is the one that counts."""
        return next((member for member in reversed(self._members(start)) if member.name == name), None)

    # --- how it is written ------------------------------------------------------------------------------------------

    def _indent(self, index: int) -> str | None:
        """Return the indentation of what begins at an index, None where it does not begin its line."""
        before = self.text[self.text.rfind("\n", 0, index) + 1 : index]
        return before if not before.strip(" \t") and "\n" in self.text[:index] else None

    def _unit(self) -> str:
        """Return the indentation of one level, as the file has it."""
        members = self._members(self._start())
        return (self._indent(members[0].start) if members else None) or "  "

    def _rendered(self, value: Any, indent: str) -> str:
        text = json.dumps(value, ensure_ascii=False, indent=self._unit())
        return text.replace("\n", self._line_end + indent)

    def _add(self, start: int, name: str, value: Any) -> None:
        """Add a member at the end of the object that begins at an index."""
        members = self._members(start)
        label = json.dumps(name, ensure_ascii=False)
        if not members:
            line = self.text[self.text.rfind("\n", 0, start) + 1 : start]
            outer = line[: len(line) - len(line.lstrip(" \t"))]
            inner = outer + self._unit()
            end = self._skip(start + 1)
            body = f"{self._line_end}{inner}{label}: {self._rendered(value, inner)}{self._line_end}{outer}"
            self.text = self.text[: start + 1] + body + self.text[end:]
            return
        last = members[-1]
        indent = self._indent(last.start)
        if indent is None:  # all on one line, like this one
            body = f", {label}: {json.dumps(value, ensure_ascii=False)}"
        else:
            body = f",{self._line_end}{indent}{label}: {self._rendered(value, indent)}"
        self.text = self.text[: last.end] + body + self.text[last.end :]

    def _replace(self, member: _Member, value: Any) -> None:
        indent = self._indent(member.start)
        body = json.dumps(value, ensure_ascii=False) if indent is None else self._rendered(value, indent)
        self.text = self.text[: member.value] + body + self.text[member.end :]
