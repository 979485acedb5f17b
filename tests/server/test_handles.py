"""Handles: who may use them, for how long, and what a model reads when it may not."""

from __future__ import annotations

import asyncio
import dataclasses
import decimal
import logging
import pathlib
import re
import threading
from collections.abc import Callable
from typing import Annotated, Any

import attrs
import msgspec
import pydantic
import pytest

from leanmcp import Context, Field, Handles, MCPServer, Model, ToolError
from leanmcp.server.handles import Store, StoredHandles
from tests.support.spec import request


class Clock:
    """A clock that tests move."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class MemoryStore:
    """A store as its contract says, on the same clock."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.records: dict[str, tuple[bytes, float]] = {}

    def _live(self, key: str) -> bool:
        return key in self.records and self.clock() < self.records[key][1]

    async def put(self, key: str, record: bytes, ttl: float | None, *, new: bool) -> bool:
        if self._live(key) is new:
            return False
        self.records[key] = (record, self.records[key][1] if ttl is None else self.clock() + ttl)
        return True

    async def get(self, key: str) -> bytes | None:
        return self.records[key][0] if self._live(key) else None

    async def touch(self, key: str, ttl: float) -> None:
        if self._live(key):
            self.records[key] = (self.records[key][0], self.clock() + ttl)

    async def delete(self, key: str) -> bool:
        live = self._live(key)
        self.records.pop(key, None)
        return live


class Asked:
    """Either kind of handles, called the same way."""

    def __init__(self, handles: Handles[Any] | StoredHandles[Any]) -> None:
        self.handles = handles

    def __call__(self, method: str, *arguments: Any) -> Any:
        outcome = getattr(self.handles, method)(*arguments)
        return asyncio.run(outcome) if asyncio.iscoroutine(outcome) else outcome


Make = Callable[..., Asked]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["memory", "stored"])
def make(request: pytest.FixtureRequest, clock: Clock) -> Make:
    """Return a maker of handles with a lifetime of 60 seconds."""

    def build(**options: Any) -> Asked:
        options = {"ttl": 60, "kind": "basket", **options}
        if request.param == "memory":
            return Asked(Handles(clock=clock, **options))
        store: Store = MemoryStore(clock)
        return Asked(StoredHandles(store, list[str], **options))

    return build


def refusal(ask: Asked, method: str, *arguments: Any) -> str:
    """Return the text that the model reads."""
    with pytest.raises(ToolError) as caught:
        ask(method, *arguments)
    return str(caught.value)


def test_value_comes_back_until_it_is_deleted(make: Make) -> None:
    """Spec: server/tools, "Stateful Tools"."""
    ask = make()
    handle = ask("create", ["a"])
    assert ask("get", handle) == ["a"]
    ask("update", handle, ["b"])
    assert ask("get", handle) == ["b"]
    ask("delete", handle)
    for method, rest in (("get", ()), ("update", (["c"],)), ("delete", ())):
        expected = f"basket '{handle}' is expired or unknown; create a new one with create_basket"
        assert refusal(ask, method, handle, *rest) == expected


def test_handle_is_unguessable_and_says_nothing(make: Make) -> None:
    """Spec: server/tools, "Stateful Tools": entropy and opacity; 128 random bits."""
    ask = make()
    handles = {ask("create", ["a"]) for _ in range(50)}
    assert len(handles) == 50
    assert all(re.fullmatch(r"bsk_[0-9a-f]{32}", handle) for handle in handles)
    assert ask.handles.kind == "basket"
    assert make(prefix="x")("create", []).startswith("x_")


def test_each_use_starts_the_lifetime_anew(make: Make, clock: Clock) -> None:
    """Ours: `sliding`, the default: a handle lives as long as it is used."""
    ask = make()
    handle = ask("create", ["a"])
    for method, rest in (("get", ()), ("update", (["b"],)), ("get", ())):
        clock.now += 59
        ask(method, handle, *rest)
    clock.now += 60
    assert "is expired or unknown; create a new one with create_basket" in refusal(ask, "get", handle)


def test_fixed_lifetime_counts_from_creation(make: Make, clock: Clock) -> None:
    """Ours: `sliding=False`."""
    ask = make(sliding=False)
    handle = ask("create", ["a"])
    clock.now += 59
    ask("get", handle)
    ask("update", handle, ["b"])
    assert ask("get", handle) == ["b"]
    clock.now += 1
    refusal(ask, "get", handle)


def test_somebody_elses_handle_is_told_exactly_like_an_unknown_one(make: Make, clock: Clock) -> None:
    """Spec: server/tools, "Stateful Tools", Authorization; FIELD row 130: no oracle, and no use that counts."""
    ask = make(owner=lambda who: who)
    handle = ask("create", ["a"], "ann")
    unknown = handle[:-1] + ("0" if handle[-1] != "0" else "1")
    for method, rest in (("get", ()), ("update", (["x"],)), ("delete", ())):
        told = refusal(ask, method, handle, *rest, "bob")
        assert told.replace(handle, "") == refusal(ask, method, unknown, *rest, "bob").replace(unknown, "")
    assert ask("get", handle, "ann") == ["a"]
    clock.now += 59
    refusal(ask, "get", handle, "bob")
    clock.now += 1
    refusal(ask, "get", handle, "ann")


@pytest.mark.parametrize("who", [None, "", 5])
def test_owner_must_be_told(make: Make, who: Any) -> None:
    """Ours: nameless callers never share; the author forgot the context, or the function let somebody in."""
    ask = make(owner=lambda ctx: who if ctx == "ctx" else ctx)
    with pytest.raises(TypeError, match="owner="):
        ask("create", [], "ctx")
    with pytest.raises(TypeError, match="pass the Context"):
        ask("create", [])
    with pytest.raises(TypeError, match="pass the Context"):
        ask("get", "bsk_0")


def test_owner_function_may_refuse(make: Make) -> None:
    """Ours: what it raises reaches the model when it is a ToolError."""

    def owner(ctx: Any) -> str:
        raise ToolError("sign in first")

    assert refusal(make(owner=owner), "create", [], "ctx") == "sign in first"


@pytest.mark.parametrize("handle", ["", "bsk_", "bsk_\x00" + "0" * 31, "x" * 10_000, "'\n\u202e", "bsk_" + "G" * 32])
def test_any_string_is_an_unknown_handle(make: Make, handle: str) -> None:
    """Ours: handles come from models; the text that repeats them is short and of one line."""
    text = refusal(make(), "get", handle)
    assert len(text) < 160
    assert text.isprintable()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"ttl": 24 * 3600}, "Baskets expire after 24 hours without use."),
        ({"ttl": 3600, "sliding": False}, "Baskets expire 1 hour after creation."),
        ({"ttl": 7 * 86400}, "Baskets expire after 7 days without use."),
        ({"ttl": 90, "kind": "query"}, "Queries expire after 90 seconds without use."),
        ({"ttl": 60, "kind": "box"}, "Boxes expire after 1 minute without use."),
        ({"ttl": 0.5, "kind": "dry_run"}, "Dry runs expire after 0.5 seconds without use."),
        ({"ttl": 1}, "Baskets expire after 1 second without use."),
    ],
)
def test_retention_is_a_sentence_for_the_description(make: Make, options: dict[str, Any], sentence: str) -> None:
    """Spec: server/tools, "Stateful Tools", Lifetime."""
    retention = make(**options).handles.retention
    assert retention == sentence


@pytest.mark.parametrize(
    "options", [{"ttl": 0}, {"ttl": -1}, {"ttl": float("nan")}, {"kind": "two words"}, {"kind": ""}]
)
def test_options_that_cannot_be_are_refused(make: Make, options: dict[str, Any]) -> None:
    """Ours: a lifetime is bounded, for a handle is a key to whoever finds it."""
    with pytest.raises(ValueError, match=next(iter(options))):
        make(**options)


# Memory -------------------------------------------------------------------------------------------------------------


def test_memory_is_bounded_and_drops_what_was_unused_for_longest(caplog: pytest.LogCaptureFixture) -> None:
    """Ours: told in the log once."""
    handles: Handles[int] = Handles(max_handles=3)
    first, second, third = (handles.create(number) for number in range(3))
    handles.get(first)
    with caplog.at_level(logging.WARNING, "leanmcp"):
        fourth = handles.create(3)
        fifth = handles.create(4)
    assert len(handles) == 3
    assert [handles.get(handle) for handle in (first, fourth, fifth)] == [0, 3, 4]
    for dropped in (second, third):
        with pytest.raises(ToolError):
            handles.get(dropped)
    assert len(caplog.records) == 1
    with pytest.raises(ValueError, match="max_handles"):
        Handles(max_handles=0)


def test_expired_values_are_let_go_without_timers() -> None:
    """Ours: swept by whoever comes next."""
    clock = Clock()
    handles: Handles[int] = Handles(ttl=60, clock=clock)
    for number in range(100):
        handles.create(number)
        clock.now += 1
    assert len(handles) == 59  # the last one was made a second ago
    clock.now += 100
    handles.create(0)
    assert len(handles._kept) == 1


def test_threads_may_use_handles_at_once() -> None:
    """Ours: for `def` tools."""
    handles: Handles[int] = Handles(max_handles=50)
    faults: list[BaseException] = []

    def work() -> None:
        try:
            for number in range(300):
                handle = handles.create(number)
                assert handles.get(handle) == number
                handles.update(handle, -number)
                handles.delete(handle)
        except BaseException as fault:
            faults.append(fault)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert faults == []
    assert len(handles) == 0


# Store --------------------------------------------------------------------------------------------------------------


def test_stored_values_are_typed_copies_that_other_processes_find() -> None:
    """Ours: two processes that share a store share the handles."""

    class Basket(msgspec.Struct):
        items: dict[str, int]

    store = MemoryStore(Clock())
    first: StoredHandles[Basket] = StoredHandles(store, Basket, kind="basket")
    second: StoredHandles[Basket] = StoredHandles(store, Basket, kind="basket")

    async def main() -> None:
        handle = await first.create(Basket({"a": 1}))
        found = await second.get(handle)
        assert found == Basket({"a": 1})
        found.items["a"] = 2
        assert await first.get(handle) == Basket({"a": 1})
        await second.update(handle, found)
        assert await first.get(handle) == Basket({"a": 2})

    asyncio.run(main())


class Item(pydantic.BaseModel):
    price: decimal.Decimal


class Places(Model):
    folder: pathlib.Path


@dataclasses.dataclass
class Area:
    width: int
    is_wide: bool = dataclasses.field(init=False, default=False)


@attrs.define
class Counted:
    count: Annotated[int, Field(default=1)] = attrs.field(converter=int)


@attrs.define
class Private:
    _count: int


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (Area, Area(2)),
        (Counted, Counted("3")),
        (dict[str, msgspec.Raw], {"a": msgspec.Raw(b"[1]")}),
        (Item, Item(price=decimal.Decimal("1.50"))),
        (dict[int, Item], {1: Item(price=decimal.Decimal(2))}),
        (Places, Places(folder=pathlib.Path("a"))),
        (pathlib.Path | None, None),
    ],
)
def test_stored_values_may_be_what_a_parameter_may_be(kind: Any, value: Any) -> None:
    """Ours: pydantic's models and paths too; what has no JSON form is told where it is kept."""
    handles: StoredHandles[Any] = StoredHandles(MemoryStore(Clock()), kind)

    async def main() -> None:
        assert await handles.get(await handles.create(value)) == value
        with pytest.raises(ToolError, match=r"no JSON form at \[1\]: nan is no JSON number"):
            await handles.create(float("nan"))

    asyncio.run(main())
    for refused, fault in ((complex, "type= has type complex"), (Private, "field _count would be left out")):
        with pytest.raises(TypeError, match=f"handles 'basket': .*{fault}"):
            StoredHandles(MemoryStore(Clock()), refused, kind="basket")


def test_store_is_asked_for_keys_of_ours_only() -> None:
    """Ours: a handle comes from the model; it is never a key of somebody else's."""
    clock = Clock()
    store = MemoryStore(clock)
    store.records["session:1"] = (b'["",["secret"]]', clock() + 60)
    handles: StoredHandles[list[str]] = StoredHandles(store, list[str], kind="basket")
    with pytest.raises(ToolError):
        asyncio.run(handles.get("session:1"))


def test_update_never_brings_a_deleted_value_back() -> None:
    """Ours: deleted between the look and the change."""
    clock = Clock()

    class Racing(MemoryStore):
        async def get(self, key: str) -> bytes | None:
            record = await super().get(key)
            self.records.clear()
            return record

    handles: StoredHandles[list[str]] = StoredHandles(Racing(clock), list[str], kind="basket")

    async def main() -> None:
        for change in (lambda handle: handles.update(handle, ["b"]), handles.delete):
            handle = await handles.create(["a"])
            with pytest.raises(ToolError):
                await change(handle)

    asyncio.run(main())


# In tools -----------------------------------------------------------------------------------------------------------


def test_handles_in_tools_answer_the_model() -> None:
    """Ours: `def` and `async def`; the owner comes from the request, and a refusal is a tool error."""
    mcp = MCPServer("handles")
    caller = "ann"
    handles: Handles[list[str]] = Handles(kind="note", owner=lambda ctx: caller)

    @mcp.tool
    def create_note(ctx: Context[Any]) -> str:
        return handles.create(["text"], ctx)

    @mcp.tool
    async def read_note(note_id: str, ctx: Context[Any]) -> list[str]:
        return handles.get(note_id, ctx)

    def call(tool: str, **arguments: Any) -> dict[str, Any]:
        params = {"name": tool, "arguments": arguments}
        result: dict[str, Any] = asyncio.run(request(mcp, "tools/call", params))["result"]
        return result

    note = call("create_note")["structuredContent"]["result"]
    assert note.startswith("nt_")
    assert call("read_note", note_id=note)["structuredContent"] == {"result": ["text"]}
    caller = "bob"
    refused = call("read_note", note_id=note)
    assert refused["isError"]
    expected = f"note '{note}' is expired or unknown; create a new one with create_note"
    assert refused["content"][0]["text"] == expected
