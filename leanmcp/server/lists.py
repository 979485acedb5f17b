"""Named entries that any thread may change, and the lists of them: encoded once for each state, in pages.

In: entries, then a cursor or none. Out: the segments of one response, made as prefix + id + suffix.
Spec 2026-07-28: server/discover; server/tools, "Capabilities" (deterministic order, lists that change over time) and
"Listing Tools"; server/utilities/caching; server/utilities/pagination.
"""

from __future__ import annotations

import binascii
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeVar

import msgspec
from msgspec import UnsetType

from ..errors import InvalidParams, explained
from ..protocol.jsonrpc import RESPONSE_START, RequestId, Segments, encode_id
from ..protocol.meta import SERVER_INFO

_RESULT = b',"result":'
MAX_CURSOR = 128  # characters; ours are shorter
MAX_DIGITS = 18  # of a serial number; int() stays cheap


class CacheHint(msgspec.Struct, frozen=True):
    """How long, and for whom, a client may keep a result.

    Args:
        ttl_ms: milliseconds that the result stays fresh; 0 is stale at once.
        scope: `public` where every caller gets the same answer, else `private`.

    Raises:
        ValueError: a negative ttl or an unknown scope.
    """

    ttl_ms: int = 0
    scope: Literal["public", "private"] = "private"

    @explained
    def __post_init__(self) -> None:
        if type(self.ttl_ms) is not int or self.ttl_ms < 0:
            raise ValueError(f"CacheHint(ttl_ms={self.ttl_ms}): give 0 or more milliseconds")
        if self.scope not in ("public", "private"):
            raise ValueError(f"CacheHint(scope={self.scope!r}): give 'public' or 'private'")


DEFAULT_HINT = CacheHint()
CACHEABLE = (
    "server/discover",
    "tools/list",
    "prompts/list",
    "resources/list",
    "resources/templates/list",
    "resources/read",
)


def checked_hints(hints: Mapping[str, CacheHint] | None) -> dict[str, CacheHint]:
    """Return the hints of a server by method.

    Raises:
        TypeError, ValueError: something that is no hint, or a method whose results nobody may keep.
    """
    if hints is not None and not isinstance(hints, Mapping):
        raise TypeError(f"cache_hints={hints!r}: give CacheHint(...) by method, such as {{'tools/list': ...}}")
    for method, hint in (hints or {}).items():
        if not isinstance(hint, CacheHint):
            raise TypeError(f"cache_hints[{method!r}] is {hint!r}; give a CacheHint(ttl_ms=..., scope=...)")
        if method not in CACHEABLE:
            raise ValueError(f"cache_hints names {method!r}; cacheable methods are {', '.join(CACHEABLE)}")
    return dict(hints or {})


def checked_page_size(page_size: int) -> int:
    """Return the entries on one page of a list; refuse what is no number of them."""
    if isinstance(page_size, bool) or not isinstance(page_size, int) or page_size < 0:
        raise ValueError(f"page_size={page_size!r}: give the number of entries on a page, 0 for no pages")
    return page_size


class EncodedResult:
    """A cacheable result that waits for an id.

    Args:
        members: the members of the result besides `resultType`, the cache hint and `_meta`.
        hint: `ttlMs` and `cacheScope`.
        server_info: the JSON of `serverInfo`.
    """

    __slots__ = ("_rest",)

    def __init__(self, members: dict[str, Any], hint: CacheHint, server_info: bytes) -> None:
        result = {
            "resultType": "complete",
            **members,
            "ttlMs": hint.ttl_ms,
            "cacheScope": hint.scope,
            "_meta": {SERVER_INFO: msgspec.Raw(server_info)},
        }
        self._rest = _RESULT + msgspec.json.encode(result) + b"}"

    def answer(self, request_id: RequestId) -> Segments:
        """Return the response to the request `request_id`."""
        return [RESPONSE_START, encode_id(request_id), self._rest]


# --- entries ----------------------------------------------------------------------------------------------------------


class Named(Protocol):
    """What a registry can hold."""

    @property
    def name(self) -> str:
        """The name that it is found by."""

    @property
    def entry(self) -> Any:
        """What is listed."""


E = TypeVar("E", bound=Named)


class Shown(tuple[E, ...]):
    """The entries of a registry that are shown, to be read; whatever would change them says what to do instead."""

    __slots__ = ()

    if not TYPE_CHECKING:  # type checkers know what a tuple has

        def __getattr__(self, name: str) -> Any:
            from ..mistakes import noted  # of mistakes only

            raise noted(AttributeError(f"mcp.tools has no {name!r}: {_TO_READ}", name=name))

        @explained
        def __getitem__(self, key: object) -> Any:
            if isinstance(key, str):
                raise TypeError(f"mcp.tools[{key!r}]: {_TO_READ}")
            return super().__getitem__(key)

        @explained
        def __contains__(self, key: object) -> bool:
            if isinstance(key, str):
                raise TypeError(f"{key!r} in mcp.tools: {_TO_READ}")
            return super().__contains__(key)

        @explained
        def _refuse(self, *given: object) -> Any:
            raise TypeError(f"mcp.tools cannot be changed: {_TO_READ}")

        __setitem__ = __delitem__ = __iadd__ = _refuse

        @explained
        def __call__(self, *given: object) -> Any:
            raise TypeError("mcp.tools cannot be called: the decorator is @mcp.tool")


_TO_READ = (
    "it is read only; register with mcp.add_tool(function), take away with mcp.remove_tool(name), compare `tool.name`"
)


class _Place(msgspec.Struct, Generic[E]):
    """Where an entry stands: its serial number, which no other entry ever has, and whether it is shown."""

    serial: int
    entry: E
    enabled: bool = True


class Registry(Generic[E]):
    """Entries by name.

    Every method is safe in any thread. A change is one step for readers: the event loop sees the entry of before or of
    after, never a half-made one, and calls that have begun end with the entry they began with.

    Args:
        noun: what an entry is, for error texts.
        changed: told after each change, in the thread that made it.
        instead: what to give where a name is taken, likewise.

    Attributes:
        visible: the enabled entries by name; look names up in it, but never iterate or change it.
        version: grows with every change.
    """

    __slots__ = ("_instead", "_listeners", "_lock", "_noun", "_places", "_serial", "version", "visible")

    def __init__(self, noun: str, changed: Callable[[], None], instead: str = "another name=") -> None:
        self._noun = noun
        self._instead = instead
        self._listeners: tuple[Callable[[], None], ...] = (changed,)
        self._lock = threading.Lock()
        self._places: dict[str, _Place[E]] = {}
        self._serial = 0
        self.visible: dict[str, E] = {}
        self.version = 0

    def add(self, entry: E, *, replace: bool = False) -> None:
        """Put an entry at the end; one that replaces another takes its place, and is as hidden as the other was.

        Raises:
            ValueError: the name is taken and `replace` is False.
        """
        with self._lock:
            place = self._places.get(entry.name)
            if place is not None and not replace:
                raise ValueError(
                    f"{self._noun} {entry.name!r} is registered already; give {self._instead} or replace=True"
                )
            if place is None:
                self._serial += 1
                place = self._places[entry.name] = _Place(self._serial, entry)
            place.entry = entry
            self._show(entry.name, place)
        self._tell()

    def remove(self, name: str) -> None:
        """Take an entry away; one that is added under its name later comes last.

        Raises:
            ValueError: there is no such entry.
        """
        with self._lock:
            self._find(name)
            del self._places[name]
            self.visible.pop(name, None)
            self.version += 1
        self._tell()

    def set_enabled(self, name: str, enabled: bool) -> None:
        """Show an entry, or hide it so that it is as good as unknown; its place in the list is kept.

        Raises:
            ValueError: there is no such entry.
        """
        with self._lock:
            place = self._find(name)
            if place.enabled == enabled:
                return
            place.enabled = enabled
            self._show(name, place)
        self._tell()

    def listen(self, heard: Callable[[], None]) -> None:
        """Tell `heard` after each change too, in the thread that made it."""
        with self._lock:
            self._listeners += (heard,)

    def ignore(self, heard: Callable[[], None]) -> None:
        """Tell `heard` of no further change."""
        with self._lock:
            self._listeners = tuple(one for one in self._listeners if one != heard)

    def every(self) -> list[E]:
        """Return the entries, hidden ones too."""
        with self._lock:
            return [place.entry for place in self._places.values()]

    def snapshot(self) -> tuple[int, list[tuple[int, E]]]:
        """Return the version, and the enabled entries with their serial numbers in order."""
        with self._lock:
            places = sorted(self._places.values(), key=lambda place: place.serial)
            return self.version, [(place.serial, place.entry) for place in places if place.enabled]

    def __iter__(self) -> Iterator[E]:
        return iter([entry for _, entry in self.snapshot()[1]])

    def _tell(self) -> None:
        for heard in self._listeners:
            heard()

    def _find(self, name: str) -> _Place[E]:
        if not isinstance(name, str):
            shown = getattr(name, "__name__", type(name).__name__)
            raise TypeError(f"{shown} is no name of a {self._noun}; give it as text, such as {shown!r}")
        place = self._places.get(name)
        if place is None:
            from ..mistyped import did_you_mean  # of mistakes only

            raise ValueError(f"there is no {self._noun} {name!r}{did_you_mean(name, self._places)}")
        return place

    def _show(self, name: str, place: _Place[E]) -> None:
        if place.enabled:
            self.visible[name] = place.entry
        else:
            self.visible.pop(name, None)
        self.version += 1


# --- pages ------------------------------------------------------------------------------------------------------------


class Cursors:
    """The cursors of one list.

    A cursor holds the list's name and the serial number of the last entry that was sent: it goes on at the right place
    whatever was added or removed since, in every process that registered the same entries in the same order. A checksum
    over both, and over the server's name, tells our cursors from others; it keeps no secret, because a cursor gives
    nothing that the list does not.

    Args:
        method: the list's method, such as `tools/list`.
        server_name: the name in `serverInfo`.
    """

    __slots__ = ("_method", "_salt")

    def __init__(self, method: str, server_name: str) -> None:
        self._method = method
        self._salt = server_name.encode("utf-8", "surrogatepass") + b"\0"

    def make(self, serial: int) -> str:
        """Return the cursor behind the entry `serial`; never the empty string."""
        return self._seal(f"{self._method}:{serial}".encode())

    def read(self, cursor: str) -> int:
        """Return the serial number in a cursor that `make` gave, in this process or another.

        Raises:
            InvalidParams: every other string.
        """
        method, _, digits = self._open(cursor).decode("latin-1").rpartition(":")
        if method != self._method and method:
            raise InvalidParams(f"This cursor belongs to {method}, not to {self._method}")
        if not (method and digits.isdecimal() and len(digits) <= MAX_DIGITS):
            raise self._unknown(cursor)
        return int(digits)

    def _seal(self, payload: bytes) -> str:
        checksum = binascii.crc32(self._salt + payload).to_bytes(4, "big")
        text = binascii.b2a_base64(checksum + payload, newline=False).decode()
        return text.rstrip("=").replace("+", "-").replace("/", "_")

    def _open(self, cursor: str) -> bytes:
        """Return the payload of a cursor of any list of this server."""
        if len(cursor) <= MAX_CURSOR and cursor.isascii():
            text = cursor.replace("-", "+").replace("_", "/")
            try:
                payload = binascii.a2b_base64(text + "=" * (-len(text) % 4))[4:]
            except binascii.Error:
                raise self._unknown(cursor) from None
            if self._seal(payload) == cursor:
                return payload
        raise self._unknown(cursor)

    def _unknown(self, cursor: str) -> InvalidParams:
        return InvalidParams(f"Unknown cursor {cursor[:64]!r}; ask for {self._method} without one to start again")


class Pages(Generic[E]):
    """The answers to one list method; used by the event loop only, while any thread changes the registry.

    Args:
        method: such as `tools/list`.
        member: the result's member that holds the entries, such as `tools`.
        registry: what is listed.
        page_size: entries per page; 0 puts all on one.
        hint: the same on every page.
        server_name: enters the cursors' checksum.
        server_info: the JSON of `serverInfo`.
    """

    def __init__(
        self,
        method: str,
        member: str,
        registry: Registry[E],
        *,
        page_size: int,
        hint: CacheHint,
        server_name: str,
        server_info: bytes,
    ) -> None:
        self._member = member
        self._registry = registry
        self._page_size = page_size
        self._hint = hint
        self._server_info = server_info
        self._cursors = Cursors(method, server_name)
        self._version = -1
        self._entries: list[tuple[int, E]] = []
        self._starts: dict[int, int] = {}
        self._encoded: dict[int, EncodedResult] = {}

    def answer(self, cursor: str | UnsetType, request_id: RequestId) -> Segments:
        """Return the response that holds the page behind `cursor`, the first one without a cursor.

        Raises:
            InvalidParams: the cursor is none of this list.
        """
        if self._version != self._registry.version:
            self._version, self._entries = self._registry.snapshot()
            self._starts = {serial: at + 1 for at, (serial, _) in enumerate(self._entries)}
            self._encoded.clear()
        start = 0 if isinstance(cursor, UnsetType) else self._behind(self._cursors.read(cursor))
        page = self._encoded.get(start)
        if page is None:
            page = self._encode(start)
        return page.answer(request_id)

    def _behind(self, serial: int) -> int:
        """Return where the entries behind a serial number begin, also when its own entry is gone."""
        start = self._starts.get(serial)
        return sum(known <= serial for known in self._starts) if start is None else start

    def _encode(self, start: int) -> EncodedResult:
        size = self._page_size or len(self._entries)
        shown = self._entries[start : start + size]
        members: dict[str, Any] = {self._member: [item.entry for _, item in shown]}
        if start + size < len(self._entries):
            members["nextCursor"] = self._cursors.make(shown[-1][0])
        # Pages that start between the usual places come from lists that changed meanwhile: few, but never unbounded.
        if len(self._encoded) > 16 + 2 * len(self._entries) // max(1, size):
            self._encoded.clear()
        page = self._encoded[start] = EncodedResult(members, self._hint, self._server_info)
        return page
