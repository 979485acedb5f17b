"""The bus: changes of several servers, of other processes, and of programs that do not serve."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Awaitable, Callable

import msgspec
import pytest

from leanmcp import MCPServer, logs, run
from leanmcp.server.subscriptions import (
    InMemorySubscriptionBus,
    PromptsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    ServerEvent,
    ToolsListChanged,
)
from tests.support.lines import Lines, soon
from tests.support.listening import PROMPTS, RESOURCES, TOOLS, listen, told
from tests.support.processes import DEADLINE


async def tool() -> None:
    """Do nothing."""


class Remote:
    """A bus such as one over a network: `publish` is a coroutine function, events arrive in a thread."""

    def __init__(self) -> None:
        self.published: list[ServerEvent] = []
        self.threads: set[threading.Thread] = set()
        self._listeners: list[Callable[[ServerEvent], None]] = []

    async def publish(self, event: ServerEvent, /) -> None:
        await asyncio.sleep(0)
        self.published.append(event)
        self.threads.add(threading.current_thread())
        await asyncio.to_thread(self.arrive, event)

    def arrive(self, event: ServerEvent) -> None:
        """Hand an event to the listeners."""
        for listener in list(self._listeners):
            listener(event)

    def subscribe(self, listener: Callable[[ServerEvent], None], /) -> Callable[[], None]:
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)


class Local(InMemorySubscriptionBus):
    """A bus that remembers."""

    def __init__(self) -> None:
        super().__init__()
        self.published: list[ServerEvent] = []

    def publish(self, event: ServerEvent, /) -> Awaitable[None]:
        self.published.append(event)
        return super().publish(event)


def serving(name: str, bus: InMemorySubscriptionBus | Remote) -> MCPServer:
    """Return a server of everything."""
    mcp = MCPServer(name, subscriptions=bus)
    mcp.declare("prompts", {"listChanged": True})
    mcp.declare("resources", {"listChanged": True, "subscribe": True})
    return mcp


def test_servers_on_one_bus_tell_each_others_changes() -> None:
    """Ours: issue 6, the seam that joins workers; each stream is told once, of what it asked for."""
    bus = InMemorySubscriptionBus()
    one, other = serving("one", bus), serving("other", bus)

    async def main() -> None:
        async with asyncio.timeout(DEADLINE):
            first, second = Lines(one), Lines(other)
            first.send(listen(1, toolsListChanged=True))
            second.send(listen(2, uris=["a:1"], resourcesListChanged=True))
            other.add_tool(tool)
            one.notify_resource_updated("a:1")
            one.notify_resources_changed()
            assert told([await first.message(1)]) == [(1, TOOLS)]
            await second.message(2)
            assert told(second.messages) == [(2, RESOURCES), (2, "a:1")]
            first.endpoint.end_streams()
            other.add_tool(tool, "again")
            second.endpoint.end_streams()
            assert len(told(first.messages + second.messages)) == 3

    asyncio.run(main())


def test_events_are_published_by_type() -> None:
    """Ours: the vocabulary of the official SDK."""
    bus = Local()
    mcp = serving("busy", bus)

    async def main() -> None:
        async with run.entered(mcp):
            mcp.notify_tools_changed()
            mcp.notify_prompts_changed()
            mcp.notify_resources_changed()
            mcp.notify_resource_updated("a:1")

    asyncio.run(main())
    assert bus.published == [ToolsListChanged(), PromptsListChanged(), ResourcesListChanged(), ResourceUpdated("a:1")]


def test_what_is_registered_before_serving_is_no_change() -> None:
    """Ours: workers that start must not wake the clients of those that run; a resource's update is one, though."""
    bus = Local()
    mcp = serving("starting", bus)
    mcp.add_tool(tool)
    mcp.notify_prompts_changed()
    assert bus.published == []
    mcp.notify_resource_updated("a:1")
    assert bus.published == [ResourceUpdated("a:1")]


@pytest.mark.parametrize(
    "event", [ToolsListChanged(), PromptsListChanged(), ResourcesListChanged(), ResourceUpdated("file:///ü")]
)
def test_events_survive_json(event: ServerEvent) -> None:
    """Ours: a bus between processes encodes them."""
    data = msgspec.json.encode(event)
    assert msgspec.json.decode(data, type=ServerEvent) == event
    assert hash(msgspec.json.decode(data, type=ServerEvent)) == hash(event)


@pytest.mark.parametrize("from_thread", [False, True])
def test_publish_may_be_a_coroutine_function(from_thread: bool) -> None:
    """Ours: it runs on the loop that serves, whichever thread the change was made in."""
    bus = Remote()
    mcp = serving("remote", bus)

    async def main() -> None:
        async with asyncio.timeout(DEADLINE), run.entered(mcp):
            lines = Lines(mcp)
            lines.send(listen(1, promptsListChanged=True))
            if from_thread:
                await asyncio.to_thread(mcp.notify_prompts_changed)
            else:
                mcp.notify_prompts_changed()
            assert told([await lines.message(1)]) == [(1, PROMPTS)]
            lines.endpoint.end_streams()

    asyncio.run(main())
    assert bus.published == [PromptsListChanged()]
    assert bus.threads == {threading.main_thread()}


def test_an_event_of_another_process_reaches_the_streams() -> None:
    """Ours: it comes in whatever thread the bus reads in."""
    bus = Remote()
    mcp = serving("remote", bus)

    async def main() -> None:
        async with asyncio.timeout(DEADLINE):
            lines = Lines(mcp)
            lines.send(listen(1, uris=["a:1"]))
            await asyncio.to_thread(bus.arrive, ResourceUpdated("a:2"))
            await asyncio.to_thread(bus.arrive, ResourceUpdated("a:1"))
            await lines.message(1)
            assert told(lines.messages) == [(1, "a:1")]
            lines.endpoint.end_streams()
            assert bus._listeners == []

    asyncio.run(main())


def test_a_coroutine_needs_a_loop_that_serves() -> None:
    """Ours: a program that does not serve awaits its bus by itself, and is told so."""
    mcp = serving("idle", Remote())
    with pytest.raises(RuntimeError, match="await the publish of your bus yourself"):
        mcp.notify_resource_updated("a:1")


@pytest.mark.parametrize("later", [False, True])
def test_a_bus_that_fails_fails_no_change(
    later: bool, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: the tool is there, and the log says that nobody was told."""
    monkeypatch.setattr(logs, "_said", {})  # the same warning is not said twice in a second

    class Broken(Remote):
        async def fail(self) -> None:
            raise ConnectionError("no bus today")

        def publish(self, event: ServerEvent, /) -> asyncio.Future[None]:  # type: ignore[override]
            if later:
                return self.fail()  # type: ignore[return-value]
            raise ConnectionError("no bus today")

    mcp = serving("unlucky", Broken())

    async def main() -> None:
        async with asyncio.timeout(DEADLINE), run.entered(mcp):
            mcp.add_tool(tool)
            while not caplog.messages:
                await asyncio.sleep(0)

    with caplog.at_level(logging.WARNING, "leanmcp"):
        asyncio.run(main())
    assert [entry.name for entry in mcp.tools] == ["tool"]
    assert "did not take ToolsListChanged()" in caplog.messages[0]
    assert "no bus today" in caplog.messages[0]


def test_a_published_event_may_be_awaited_or_not() -> None:
    """Ours: programs written for the official SDK await; those with threads cannot."""
    bus = InMemorySubscriptionBus()
    seen: list[ServerEvent] = []
    end = bus.subscribe(seen.append)

    async def main() -> None:
        await bus.publish(ToolsListChanged())
        bus.publish(ResourceUpdated("a:1"))
        end()
        end()
        await bus.publish(ToolsListChanged())

    asyncio.run(main())
    assert seen == [ToolsListChanged(), ResourceUpdated("a:1")]


def test_a_listener_that_fails_keeps_nothing_from_the_others(caplog: pytest.LogCaptureFixture) -> None:
    """Ours: and what is no event is not taken for one."""
    bus = InMemorySubscriptionBus()
    mcp = serving("hearing", bus)

    def fail(event: ServerEvent) -> None:
        raise ValueError("not today")

    async def main() -> None:
        bus.subscribe(fail)
        lines = Lines(mcp)
        lines.send(listen(1))
        await bus.publish("tools changed")  # type: ignore[arg-type]
        await bus.publish(ToolsListChanged())
        await soon(lines.message(1))
        assert told(lines.messages) == [(1, TOOLS)]
        lines.endpoint.end_streams()

    asyncio.run(main())
    assert len(caplog.records) == 3
    assert "a bus carries ServerEvent values, not 'tools changed'" in caplog.text
