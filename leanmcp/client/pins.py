"""Pinned tools: what a server said about its tools when it was trusted, and what it says now.

In: pages of tools/list. Out: the same pages without tools that nobody has accepted, or ToolChanged.

The file is JSON, replaced as a whole, readable by its owner only; it may be kept with the program and reviewed:

    {"version": 1, "servers": {"<label or URL>": {"<tool>": {"digest": "sha256:...", "definition": {...}}}}}

`definition` is there for the differences; `digest` decides. See `definitions` for what it covers.
Spec 2026-07-28: server/tools, "Security Considerations"; index, "Tool Safety".
"""

from __future__ import annotations

import asyncio
import json
import os
import threading
from collections.abc import Callable, Iterable, MutableMapping, Sequence
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from ..errors import ToolChanged
from ..logs import logger
from ..private_files import replace_file
from ..types import Tool
from .definitions import definition_of, difference, digest_of
from .gate import Call, Gate

PinStore = str | os.PathLike[str] | MutableMapping[str, Any]
"""A path; or a mapping of server to tools, which is the member `servers` of the file, in memory."""

_VERSION = 1
_MAX_WALKS = 100  # lists that are being read page by page at one time


class Change(Struct, frozen=True, kw_only=True):
    """How one tool differs from what is pinned.

    Args:
        server: label or URL.
        tool: name.
        kind: "changed", "new" or "removed".
        definition: what the server says now; None for one that was removed.
        diff: the differences, `-` what is pinned, `+` what the server says now.
    """

    server: str
    tool: str
    kind: Literal["changed", "new", "removed"]
    definition: dict[str, Any] | None
    diff: str

    def __str__(self) -> str:
        return f"tool {self.tool!r} of {self.server} is {self.kind}" + (f":\n{self.diff}" if self.diff else "")


class Pins:
    """Remembers what the tools of servers were when they were trusted.

    Args:
        store: a path, or a mapping. Clients of one file see at once what is accepted through other Pins of it.
        first_use: what a server says the first time it is met is trusted and recorded; else nothing is, before it has
            been accepted.
        on_change: what becomes of a list in which a pinned tool has changed: "raise" raises ToolChanged; "drop" leaves
            the tool out. To call it raises ToolChanged either way.
        on_new: what becomes of tools that came after the others were pinned: "drop" leaves them out of lists, and
            calling one raises ToolChanged; "raise"; "allow" lets them pass, not pinned. A new tool can mislead a model
            as well as a changed one.
        on_report: gets every change once, new and removed tools too; without it they are logged as warnings.

    Raises:
        ValueError: the store is no such store.
    """

    def __init__(
        self,
        store: PinStore,
        *,
        first_use: bool = True,
        on_change: Literal["raise", "drop"] = "raise",
        on_new: Literal["drop", "raise", "allow"] = "drop",
        on_report: Callable[[Change], None] | None = None,
    ) -> None:
        if on_change not in ("raise", "drop") or on_new not in ("drop", "raise", "allow"):
            raise ValueError(f"on_change={on_change!r}, on_new={on_new!r}: give 'raise' or 'drop'; on_new also 'allow'")
        self._path = None if isinstance(store, MutableMapping) else Path(store)
        self._servers: MutableMapping[str, Any] = store if isinstance(store, MutableMapping) else {}
        self._first_use = first_use
        self._on_change = on_change
        self._on_new = on_new
        self._on_report = on_report
        self._reported: set[tuple[str, str, str, str]] = set()
        self._writing = threading.Lock()  # one change after the other, each upon what the file says
        self._stamp: tuple[int, int, int] | None = None  # of the file, when it was read
        self._load()

    def gate(self) -> Gate:
        """Return the gate that holds a client to these pins."""
        return _PinGate(self)

    def accept(self, changes: ToolChanged | Change | Iterable[Change]) -> None:
        """Pin what the servers say now.

        Args:
            changes: those of an exception, or some of them, after somebody has read them.
        """
        if isinstance(changes, ToolChanged):
            changes = changes.changes
        with self._writing:
            self._load()
            for change in [changes] if isinstance(changes, Change) else changes:
                tools = self._servers.setdefault(change.server, {})
                if change.definition is None:
                    tools.pop(change.tool, None)
                else:
                    tools[change.tool] = _pin(change.definition)
            self._save()

    # --- what the gate asks -------------------------------------------------------------------------------------------

    def knows(self, server: str) -> bool:
        """Return whether anything is pinned of a server, even that it has no tools."""
        self._refresh()
        return server in self._servers

    def record(self, server: str, tools: Iterable[Tool]) -> None:
        """Pin tools of a server, in addition to those that are pinned."""
        with self._writing:
            self._load()
            self._servers.setdefault(server, {}).update({tool.name: _pin(definition_of(tool)) for tool in tools})
            self._save()

    def compare(self, server: str, tool: Tool) -> Change | None:
        """Return how a tool differs from its pin; None: not at all."""
        pinned = self._servers.get(server, {}).get(tool.name)
        definition = definition_of(tool)
        if pinned is None:
            return Change(
                server=server, tool=tool.name, kind="new", definition=definition, diff=difference(None, definition)
            )
        digest = pinned if isinstance(pinned, str) else pinned["digest"]
        if digest == digest_of(definition):
            return None
        known = None if isinstance(pinned, str) else pinned.get("definition")
        diff = difference(known, definition) if known is not None else f"- {digest}\n+ {digest_of(definition)}"
        return Change(server=server, tool=tool.name, kind="changed", definition=definition, diff=diff)

    def sift(self, server: str, tools: Sequence[Tool]) -> list[Tool]:
        """Return the tools that may be shown.

        Raises:
            ToolChanged: there is one that may not, and `on_change` or `on_new` says so.
        """
        self._refresh()
        kept: list[Tool] = []
        fatal: list[Change] = []
        for tool in tools:
            change = self.compare(server, tool)
            if change is None:
                kept.append(tool)
                continue
            self.report(change)
            what = self._on_change if change.kind == "changed" else self._on_new
            if what == "raise":
                fatal.append(change)
            elif what == "allow":
                kept.append(tool)
        if fatal:
            raise _changed(fatal)
        return kept

    def refuse(self, server: str, tool: Tool) -> None:
        """Let a tool be called that is what it was.

        Raises:
            ToolChanged: it is not.
        """
        self._refresh()
        change = self.compare(server, tool)
        if change is not None and (change.kind == "changed" or self._on_new != "allow"):
            raise _changed([change])

    def report_removed(self, server: str, names: Iterable[str]) -> None:
        """Report the pinned tools that are not among all the names of a server's list."""
        for name in sorted(set(self._servers.get(server, {})) - set(names)):
            self.report(Change(server=server, tool=name, kind="removed", definition=None, diff=""))

    def report(self, change: Change) -> None:
        """Tell of a change, once."""
        digest = "" if change.definition is None else digest_of(change.definition)
        key = (change.server, change.tool, change.kind, digest)
        if key in self._reported:
            return
        self._reported.add(key)
        if self._on_report is not None:
            self._on_report(change)
        else:
            logger.warning("since it was pinned, %s", change)

    @property
    def first_use(self) -> bool:
        """Whether a server is trusted the first time it is met."""
        return self._first_use

    # --- the file -----------------------------------------------------------------------------------------------------

    def _refresh(self) -> None:
        """Read the file again, if somebody has accepted something there meanwhile.

        A file that is gone changes nothing here: a server that is known would be trusted once more.
        """
        if self._path is not None and _stamp(self._path) not in (None, self._stamp):
            with self._writing:
                self._load()

    def _load(self) -> None:
        """Read what the file says now: another program may have written to it."""
        if self._path is not None:
            self._stamp = _stamp(self._path)
            try:
                text = self._path.read_bytes()
            except FileNotFoundError:
                self._servers = {}
                return
            self._servers = _servers_of(text, self._path)
        _check(self._servers, self._path or "pin=")

    def _save(self) -> None:
        """Write the file, as a whole."""
        if self._path is None:
            return
        content = {"version": _VERSION, "servers": dict(self._servers)}
        text = json.dumps(content, indent=1, sort_keys=True, ensure_ascii=True) + "\n"
        replace_file(self._path, text.encode())


def pins_of(given: Pins | PinStore) -> Pins:
    """Return the pins that `pin=` stands for."""
    return given if isinstance(given, Pins) else Pins(given)


class _Walk(Struct):
    """What the pages of one list have held so far; `is_first` while nothing was pinned when it began."""

    tools: dict[str, Tool]
    is_first: bool


class _PinGate(Gate):
    def __init__(self, pins: Pins) -> None:
        self._pins = pins
        # By the cursor that leads on from what has been read; lists may be read side by side.
        self._walks: dict[str, _Walk] = {}
        self._seen: dict[str, Tool] = {}

    async def before(self, call: Call) -> Call:
        try:
            await self._compare(call)
        except ToolChanged:
            call.decision = "refused"
            raise
        return call

    async def _compare(self, call: Call) -> None:
        try:
            await call.define()
        except ToolChanged:
            # Of some tool of the list; this one may be what it was.
            if call.tool not in self._seen:
                raise
        tool = self._seen.get(call.tool)
        if tool is None:
            raise ToolChanged(
                f"Tool {call.tool!r} of {call.server} was not called: the server does not list it, so that it cannot "
                "be compared with what is pinned",
                [],
            )
        self._pins.refuse(call.server, tool)

    async def listed(
        self, server: str, tools: Sequence[Tool], *, cursor: str | None, next_cursor: str | None
    ) -> Sequence[Tool]:
        page = {tool.name: tool for tool in tools}
        before = _Walk({}, not self._pins.knows(server)) if cursor is None else self._walks.get(cursor)
        self._seen |= page
        if before is not None:
            walk = _Walk(before.tools | page, before.is_first)
            if next_cursor is None:
                await self._read_all(server, walk)
            else:
                self._walks[next_cursor] = walk
                while len(self._walks) > _MAX_WALKS:
                    del self._walks[next(iter(self._walks))]
            if walk.is_first and self._pins.first_use:
                return tools
        return self._pins.sift(server, tools)

    async def _read_all(self, server: str, walk: _Walk) -> None:
        """Pin a server that is met the first time; report what another one lists no more."""
        self._seen = dict(walk.tools)
        if walk.is_first and self._pins.first_use:
            if not self._pins.knows(server):
                await asyncio.to_thread(self._pins.record, server, list(walk.tools.values()))
        else:
            self._pins.report_removed(server, walk.tools)


def _stamp(path: Path) -> tuple[int, int, int] | None:
    """Return what tells one content of a file from the next: it is replaced as a whole; None where there is none."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def _pin(definition: dict[str, Any]) -> dict[str, Any]:
    return {"digest": digest_of(definition), "definition": definition}


def _changed(changes: Sequence[Change]) -> ToolChanged:
    text = "\n".join(str(change) for change in changes)
    return ToolChanged(f"Since it was pinned, {text}\nRead it; to go on with it, Pins.accept(error)", changes)


def _servers_of(text: bytes, path: Path) -> dict[str, Any]:
    try:
        content = json.loads(text)
    except ValueError as fault:
        raise ValueError(f"{path} is no file of pins: {fault}") from None
    if not isinstance(content, dict) or content.get("version") != _VERSION:
        raise ValueError(f"{path} is no file of pins of version {_VERSION}; move it away to begin with a new one")
    servers = content.get("servers")
    if not isinstance(servers, dict):
        raise ValueError(f"{path} is no file of pins: it has no object `servers`")
    return servers


def _check(servers: MutableMapping[str, Any], where: object) -> None:
    """Refuse pins that are none, before they are taken for nothing pinned."""
    for server, tools in servers.items():
        if not isinstance(tools, MutableMapping):
            raise ValueError(f"{where}: give the tools of server {server!r} as an object of digests by name")
        for name, pin in tools.items():
            digest = pin.get("digest") if isinstance(pin, dict) else pin
            if not isinstance(digest, str) or not digest.startswith("sha256:"):
                raise ValueError(
                    f"{where}: the pin of tool {name!r} of {server!r} must be 'sha256:...', not {digest!r}"
                )
