"""Handles: names for what a tool keeps between calls, in place of sessions, which the protocol does not have.

In: a value to keep. Out: an unguessable name that later calls give back as an ordinary argument.
`Handles` keeps values in memory and is called directly, in `async def` and `def` tools alike; `StoredHandles` keeps
them in a store that several processes share and is awaited. A refusal is a ToolError that lets the model start again.
Spec 2026-07-28: server/tools, "Stateful Tools".
"""

from __future__ import annotations

import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Generic, Never, Protocol, TypeVar

import msgspec

from ..errors import ToolError, explained
from ..logs import logger
from ..schema.faults import quoted
from .derive import Deriver
from .encoding import encode_json
from .nodes import typed_decoder

__all__ = ["Handles", "Store", "StoredHandles"]

DAY = 24 * 3600.0
V = TypeVar("V")
Owner = Callable[[Any], str]


class _Policy:
    """What both kinds of handles share: names, owners, lifetime and the sentences about them."""

    def __init__(self, kind: str, prefix: str | None, ttl: float, sliding: bool, owner: Owner | None) -> None:
        if not ttl > 0:
            raise ValueError(f"ttl={ttl!r}: give a lifetime in seconds; whoever knows a handle may use it until then")
        if not kind.isidentifier():
            raise ValueError(f"kind={kind!r}: give one word, such as 'basket'")
        self.kind = kind
        self._prefix = (_short(kind) if prefix is None else prefix) + "_"
        self._ttl = float(ttl)
        self._sliding = sliding
        self._owner = owner

    @property
    def retention(self) -> str:
        """How long handles live, as a sentence for the description of the tool that creates them."""
        rule = f"{_duration(self._ttl)} without use" if self._sliding else f"{_duration(self._ttl)} after creation"
        return f"{_plural(self.kind).capitalize()} expire {'after ' if self._sliding else ''}{rule}."

    def _new_handle(self) -> str:
        return self._prefix + os.urandom(16).hex()

    def _caller(self, ctx: Any) -> str:
        """Return who calls, an empty text without `owner=`; TypeError where no context or no name came."""
        if self._owner is None:
            return ""
        if ctx is None:
            raise TypeError(f"these handles have owner=; pass the Context, as in get({self.kind}_id, ctx)")
        name = self._owner(ctx)
        if not isinstance(name, str) or not name:
            raise TypeError(f"owner= returned {name!r}; it must return who calls, or raise")
        return name

    def _unknown(self, handle: str) -> ToolError:
        # One text for every cause, so that nobody learns which handles others have.
        return ToolError(
            f"{self.kind} {quoted(str(handle))} is expired or unknown; create a new one with create_{self.kind}"
        )


class _Kept(msgspec.Struct, Generic[V]):
    value: V
    owner: str
    expires: float


class Handles(_Policy, Generic[V]):
    """Values kept in this process, under unguessable names of 128 random bits.

    Every method may be called from any thread and never waits for anything but a lock. The values themselves are not
    copied: two `def` tools that change one value at once need a lock of their own, `async def` tools none as long as
    they do not await in between. Other processes do not see them; see `StoredHandles`.

    Expired values go when somebody creates or uses a handle; there is no timer.

    Args:
        ttl: seconds that a handle lives.
        owner: from a tool's Context to who calls, such as an account; a handle is of no use to anybody else then.
            Without it whoever knows a handle may use it.
        kind: one word for what is kept; it names the prefix ("basket" gives `bsk_...`) and the tool `create_basket`
            that refusals point to.
        prefix: in place of the one made of `kind`.
        sliding: each use starts the lifetime anew; False counts from creation, whatever happens in between.
        max_handles: values kept at once; one more drops the one that has gone unused for longest. The log tells it the
            first time.
        clock: seconds that never go back; for tests.
    """

    @explained
    def __init__(
        self,
        *misplaced: Never,
        ttl: float = DAY,
        owner: Owner | None = None,
        kind: str = "handle",
        prefix: str | None = None,
        sliding: bool = True,
        max_handles: int = 10_000,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if misplaced:
            name = "kind" if isinstance(misplaced[0], str) else "ttl"
            raise TypeError(f"Handles takes its options by name; write Handles({name}={misplaced[0]!r})")
        super().__init__(kind, prefix, ttl, sliding, owner)
        if isinstance(max_handles, bool) or not isinstance(max_handles, int) or max_handles < 1:
            raise ValueError(f"max_handles={max_handles!r}: give a positive number")
        self._max = max_handles
        self._clock = clock
        self._lock = threading.Lock()
        self._is_full = False
        # Oldest first: all live equally long, so that the order of expiry is that of creation, or of last use.
        self._kept: OrderedDict[str, _Kept[V]] = OrderedDict()

    def create(self, value: V, ctx: Any = None) -> str:
        """Keep a value and return its handle."""
        owner, handle = self._caller(ctx), self._new_handle()
        with self._lock:
            now = self._sweep()
            while len(self._kept) >= self._max:
                self._kept.popitem(last=False)
                if not self._is_full:
                    logger.warning("over %d of kind %s: those unused for longest are dropped", self._max, self.kind)
                    self._is_full = True
            self._kept[handle] = _Kept(value, owner, now + self._ttl)
        return handle

    def get(self, handle: str, ctx: Any = None) -> V:
        """Return the value behind a handle.

        Raises:
            ToolError: the handle is expired, unknown or somebody else's; the text is the same.
        """
        owner = self._caller(ctx)
        with self._lock:
            return self._use(handle, owner).value

    def update(self, handle: str, value: V, ctx: Any = None) -> None:
        """Put another value behind a handle.

        Raises:
            ToolError: as `get`.
        """
        owner = self._caller(ctx)
        with self._lock:
            self._use(handle, owner).value = value

    def delete(self, handle: str, ctx: Any = None) -> None:
        """Forget a handle and its value.

        Raises:
            ToolError: as `get`.
        """
        owner = self._caller(ctx)
        with self._lock:
            self._use(handle, owner)
            del self._kept[handle]

    def __len__(self) -> int:
        """How many values are kept."""
        with self._lock:
            self._sweep()
            return len(self._kept)

    def _use(self, handle: str, owner: str) -> _Kept[V]:
        """Lock held: return what is behind a handle of `owner`'s, its lifetime begun anew where that slides."""
        now = self._sweep()
        kept = self._kept.get(handle)
        if kept is None or kept.owner != owner:
            raise self._unknown(handle)
        if self._sliding:
            kept.expires = now + self._ttl
            self._kept.move_to_end(handle)
        return kept

    def _sweep(self) -> float:
        """Lock held: drop what has expired and return the time."""
        now = self._clock()
        while self._kept:
            oldest = next(iter(self._kept.values()))
            if now < oldest.expires:
                break
            self._kept.popitem(last=False)
        return now


class Store(Protocol):
    """Where `StoredHandles` keeps its records: bytes under a key, for a time.

    Each method is one step: no other process sees half of it. Keys are printable ASCII of at most 128 characters. A
    record must not be returned once its time is over. What a method raises fails the call and is logged; the model is
    told no more than that. Redis: `SET key record PX ttl NX` or `XX`, `GET`, `PEXPIRE`, `DEL`.
    """

    async def put(self, key: str, record: bytes, ttl: float | None, *, new: bool) -> bool:
        """Keep a record and return True; return False and change nothing where there is one already (`new`) or none.

        Args:
            ttl: seconds to keep it, None to leave the time of the record that is replaced.
        """
        ...

    async def get(self, key: str) -> bytes | None:
        """Return a record, None where there is none."""
        ...

    async def touch(self, key: str, ttl: float) -> None:
        """Keep a record for `ttl` seconds from now on; do nothing where there is none."""
        ...

    async def delete(self, key: str) -> bool:
        """Forget a record; return whether there was one."""
        ...


class StoredHandles(_Policy, Generic[V]):
    """Values kept in a store, for servers of several processes; for `async def` tools.

    A value travels as JSON, so that each `get` gives a copy: changes count after `update`, and of two updates at once
    the last one wins.

    Args:
        store: where records are kept; see `Store`.
        type: what the values are, as for a tool's parameter.
        ttl, owner, kind, prefix, sliding: as for `Handles`. The store alone says how many it keeps.
    """

    @explained
    def __init__(
        self,
        store: Store,
        type: Any,  # noqa: A002  msgspec's own word for it
        *,
        ttl: float = DAY,
        owner: Owner | None = None,
        kind: str = "handle",
        prefix: str | None = None,
        sliding: bool = True,
    ) -> None:
        super().__init__(kind, prefix, ttl, sliding, owner)
        self._store = store
        node = Deriver(kind, kept=True, noun="handles").derive(tuple[str, type], "type=")
        self._decode: Callable[[bytes], tuple[str, V]] = typed_decoder(node)

    async def create(self, value: V, ctx: Any = None) -> str:
        """Keep a value and return its handle."""
        record = encode_json((self._caller(ctx), value))
        handle = self._new_handle()
        if not await self._store.put(handle, record, self._ttl, new=True):
            raise RuntimeError("the store has a record under a new random key")
        return handle

    async def get(self, handle: str, ctx: Any = None) -> V:
        """Return a copy of the value behind a handle.

        Raises:
            ToolError: the handle is expired, unknown or somebody else's; the text is the same.
        """
        _, value = await self._find(handle, ctx)
        if self._sliding:
            await self._store.touch(handle, self._ttl)
        return value

    async def update(self, handle: str, value: V, ctx: Any = None) -> None:
        """Put another value behind a handle.

        Raises:
            ToolError: as `get`.
        """
        owner, _ = await self._find(handle, ctx)
        record = encode_json((owner, value))
        if not await self._store.put(handle, record, self._ttl if self._sliding else None, new=False):
            raise self._unknown(handle)

    async def delete(self, handle: str, ctx: Any = None) -> None:
        """Forget a handle and its value.

        Raises:
            ToolError: as `get`.
        """
        await self._find(handle, ctx)
        if not await self._store.delete(handle):
            raise self._unknown(handle)

    async def _find(self, handle: str, ctx: Any) -> tuple[str, V]:
        caller = self._caller(ctx)
        # A handle comes from the model: only what looks like one of ours becomes a key.
        record = await self._store.get(handle) if self._is_ours(handle) else None
        if record is None:
            raise self._unknown(handle)
        owner, value = self._decode(record)
        if owner != caller:
            raise self._unknown(handle)
        return owner, value

    def _is_ours(self, handle: str) -> bool:
        digits = handle.removeprefix(self._prefix)
        return len(digits) == 32 and handle.startswith(self._prefix) and set(digits) <= set("0123456789abcdef")


# Words --------------------------------------------------------------------------------------------------------------


def _short(kind: str) -> str:
    """Return the first letter and the next two consonants: basket is bsk."""
    return (kind[0] + "".join(letter for letter in kind[1:] if letter.lower() not in "aeiou_"))[:3].lower()


def _plural(word: str) -> str:
    word = word.replace("_", " ")
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return word[:-1] + "ies"
    return word + ("es" if word.endswith(("s", "x", "ch", "sh")) else "s")


def _duration(seconds: float) -> str:
    for unit, size in (("day", DAY), ("hour", 3600), ("minute", 60)):
        count, rest = divmod(seconds, size)
        if rest == 0 and count >= (2 if unit == "day" else 1):
            return f"{count:.0f} {unit}{'' if count == 1 else 's'}"
    return f"{seconds:g} second{'' if seconds == 1 else 's'}"
