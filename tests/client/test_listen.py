"""Subscriptions: typed events, a visible end, and what happens after a loss."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from leanmcp.client import (
    PromptsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    SubscriptionLost,
    ToolsListChanged,
    listen,
)
from leanmcp.errors import CallTimeout, ConnectionLost, MCPError, MethodNotFound
from leanmcp.protocol.meta import SubscriptionFilter
from tests.support.scripted import Failure, Scripted

KEY = "io.modelcontextprotocol/subscriptionId"


class Stream:
    """One subscriptions/listen request at a server.

    Args:
        scripted: the transport.
        number: of the request.
    """

    def __init__(self, scripted: Scripted, number: int) -> None:
        self._scripted = scripted
        self._number = number
        self.id = scripted.requests[number]["id"]
        self.wanted = scripted.requests[number]["params"]["notifications"]
        self.outcome: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

    def acknowledge(self, **honored: Any) -> None:
        """Agree to what was asked, or to `honored`."""
        self.tell("notifications/subscriptions/acknowledged", notifications=honored or self.wanted)

    def tell(self, method: str, identifier: Any = None, **params: Any) -> None:
        """Send a notification."""
        meta = {KEY: self.id if identifier is None else identifier}
        self._scripted.notify(method, {"_meta": meta, **params}, self._number)

    def end(self) -> None:
        """End it with its result."""
        self.outcome.set_result({"resultType": "complete", "_meta": {KEY: self.id}})

    def fail(self, error: Exception | None = None) -> None:
        """Break it off."""
        self.outcome.set_exception(error or ConnectionLost("gone", "x"))


class Server:
    """A server that is asked for subscriptions, and the client of it."""

    def __init__(self) -> None:
        self.streams: asyncio.Queue[Stream] = asyncio.Queue()
        self.scripted = Scripted(self._answer)

    async def _answer(self, method: str, params: dict[str, Any]) -> Any:
        if method == "subscriptions/listen":
            stream = Stream(self.scripted, len(self.scripted.requests) - 1)
            self.streams.put_nowait(stream)
            return await stream.outcome
        if method == "tools/list":
            return {"tools": [], "ttlMs": 60_000, "cacheScope": "private"}
        return None


@asynccontextmanager
async def listening(**options: Any) -> AsyncIterator[tuple[Any, Stream, Server, Any]]:
    """Listen to something and yield the subscription, its stream, the server and the client."""
    server = Server()
    options = options or {"tools_list_changed": True}
    async with asyncio.timeout(10), server.scripted.client() as client:
        subscription = client.listen(**options)
        entering = asyncio.ensure_future(subscription.__aenter__())
        stream = await server.streams.get()
        stream.acknowledge()
        assert await entering is subscription
        try:
            yield subscription, stream, server, client
        finally:
            await subscription.close()


def test_events_are_typed_and_the_end_ends_the_loop() -> None:
    """Spec: basic/patterns/subscriptions, "Receiving Notifications", "Graceful Closure"."""

    async def main() -> None:
        options = {
            "tools_list_changed": True,
            "prompts_list_changed": True,
            "resources_list_changed": True,
            "resource_subscriptions": ["a:b"],
        }
        async with listening(**options) as (subscription, stream, _, _client):
            assert stream.wanted == {
                "toolsListChanged": True,
                "promptsListChanged": True,
                "resourcesListChanged": True,
                "resourceSubscriptions": ["a:b"],
            }
            assert subscription.state == "open"
            assert subscription.honored == SubscriptionFilter(True, True, True, ["a:b"])
            stream.tell("notifications/tools/list_changed")
            stream.tell("notifications/prompts/list_changed")
            stream.tell("notifications/resources/list_changed")
            stream.tell("notifications/resources/updated", uri="a:b")
            stream.tell("notifications/progress", progress=1)
            stream.end()
            assert [event async for event in subscription] == [
                ToolsListChanged(),
                PromptsListChanged(),
                ResourcesListChanged(),
                ResourceUpdated("a:b"),
            ]
            assert subscription.state == "ended"

    asyncio.run(main())


def test_what_the_server_does_not_honor_is_visible() -> None:
    """Spec: basic/patterns/subscriptions, "Acknowledgment": SHOULD check the acknowledged filter."""

    async def main() -> None:
        server = Server()
        async with asyncio.timeout(10), server.scripted.client() as client:
            entering = asyncio.ensure_future(
                client.listen(tools_list_changed=True, resource_subscriptions=["a:b"]).__aenter__()
            )
            (await server.streams.get()).acknowledge(toolsListChanged=True)
            subscription = await entering
            assert subscription.honored == SubscriptionFilter(tools_list_changed=True)
            await subscription.close()
            assert subscription.state == "ended"
        assert server.scripted.cancelled == ["subscriptions/listen"]

    asyncio.run(main())


def test_events_that_were_not_asked_for_or_belong_elsewhere_are_dropped() -> None:
    """Spec: basic/patterns/subscriptions: the id correlates, with its type; nothing precedes the acknowledgment."""

    async def main() -> None:
        server = Server()
        async with asyncio.timeout(10), server.scripted.client() as client:
            entering = asyncio.ensure_future(client.listen(tools_list_changed=True).__aenter__())
            stream = await server.streams.get()
            stream.tell("notifications/tools/list_changed")
            stream.acknowledge()
            subscription = await entering
            stream.tell("notifications/prompts/list_changed")
            stream.tell("notifications/resources/updated", uri="a:b")
            stream.tell("notifications/tools/list_changed", identifier=stream.id + 1)
            stream.tell("notifications/tools/list_changed", identifier=str(stream.id))
            stream.end()
            assert [event async for event in subscription] == []

    asyncio.run(main())


def test_equal_events_are_one_until_they_are_read() -> None:
    """Ours: they say that something is worth reading again, not how often it changed."""

    async def main() -> None:
        async with listening(resource_subscriptions=["a:"]) as (subscription, stream, *_):
            for uri in ("a:1", "a:2", "a:1"):
                stream.tell("notifications/resources/updated", uri=uri)
            assert await anext(subscription) == ResourceUpdated("a:1")
            stream.tell("notifications/resources/updated", uri="a:1")
            assert await anext(subscription) == ResourceUpdated("a:2")
            assert await anext(subscription) == ResourceUpdated("a:1")

    asyncio.run(main())


def test_an_event_drops_what_is_kept_before_it_is_read() -> None:
    """Spec: server/utilities/caching, "Interaction with Notifications"."""

    async def main() -> None:
        async with listening() as (subscription, stream, server, client):
            await client.list_tools()
            await client.list_tools()
            assert server.scripted.methods.count("tools/list") == 1
            stream.tell("notifications/tools/list_changed")
            await anext(subscription)
            await client.list_tools()
            assert server.scripted.methods.count("tools/list") == 2

    asyncio.run(main())


def test_a_loss_is_raised_after_what_came_before_it() -> None:
    """Spec: basic/patterns/subscriptions: a close without a result is an unexpected disconnect."""

    async def main() -> None:
        async with listening() as (subscription, stream, *_):
            stream.tell("notifications/tools/list_changed")
            stream.fail()
            assert await anext(subscription) == ToolsListChanged()
            for _ in range(2):
                with pytest.raises(SubscriptionLost, match="gone; listen again") as caught:
                    await anext(subscription)
                assert isinstance(caught.value.__cause__, ConnectionLost)
            assert subscription.state == "lost"

    asyncio.run(main())


def test_a_server_may_tear_it_down_with_a_notification() -> None:
    """Spec: basic/patterns/cancellation: notifications/cancelled of the listen request."""

    async def main() -> None:
        async with listening() as (subscription, stream, *_):
            stream.tell("notifications/cancelled", requestId=stream.id)
            assert [event async for event in subscription] == []
            assert subscription.state == "ended"

    asyncio.run(main())


@pytest.mark.parametrize(
    ("error", "kind"),
    [(Failure(-32601), MethodNotFound), (Failure(5), MCPError), (ConnectionLost("gone", "x"), ConnectionLost)],
)
@pytest.mark.parametrize("relisten", [False, True])
def test_a_refusal_is_raised_on_entering(error: Exception, kind: type[Exception], relisten: bool) -> None:
    """Ours."""

    async def main() -> None:
        def answer(method: str, params: dict[str, Any]) -> Any:
            if method == "subscriptions/listen":
                raise error
            return None

        async with asyncio.timeout(10), Scripted(answer).client() as client:
            with pytest.raises(kind):
                async with client.listen(tools_list_changed=True, relisten=relisten):
                    raise AssertionError

    asyncio.run(main())


def test_what_is_acknowledged_without_a_filter_honors_nothing() -> None:
    """Ours: the stream is open all the same, and an end of an unknown kind is a loss."""

    async def main() -> None:
        async with listening() as (subscription, stream, _, _client):
            stream.acknowledge(toolsListChanged="yes")
            assert subscription.honored == SubscriptionFilter()
            stream.outcome.set_result({"resultType": "task"})
            with pytest.raises(SubscriptionLost, match="ended the subscription with resultType 'task'"):
                await anext(subscription)

    asyncio.run(main())


def test_a_server_that_never_acknowledges_ends_at_the_timeout() -> None:
    """Ours: every wait is bounded."""

    async def main() -> None:
        server = Server()
        async with asyncio.timeout(10), server.scripted.client(read_timeout_seconds=0.01) as client:
            with pytest.raises(CallTimeout, match="did not acknowledge"):
                async with client.listen(tools_list_changed=True):
                    raise AssertionError
            assert server.scripted.cancelled == ["subscriptions/listen"]

    asyncio.run(main())


def test_an_end_before_the_acknowledgment_is_a_loss() -> None:
    """Spec: basic/patterns/subscriptions: the acknowledgment MUST come first."""

    async def main() -> None:
        server = Server()
        async with asyncio.timeout(10), server.scripted.client() as client:
            entering = asyncio.ensure_future(client.listen(tools_list_changed=True).__aenter__())
            (await server.streams.get()).end()
            with pytest.raises(SubscriptionLost, match="before it had acknowledged"):
                await entering

    asyncio.run(main())


# --- listening again ----------------------------------------------------------------------------------------------


def test_a_lost_stream_is_opened_again_and_everything_counts_as_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: FEATURES N9; nothing is replayed, so that whatever was subscribed to is worth reading again."""
    monkeypatch.setattr(listen, "_FIRST_PAUSE", 0.001)

    async def main() -> None:
        options = {"tools_list_changed": True, "resource_subscriptions": ["a:b"], "relisten": True}
        async with listening(**options) as (subscription, stream, server, client):
            await client.list_tools()
            stream.fail()
            second = await server.streams.get()
            assert second.id != stream.id
            assert subscription.state == "waiting"
            assert subscription.attempts == 1
            second.acknowledge()
            assert subscription.state == "open"
            assert await anext(subscription) == ToolsListChanged()
            assert await anext(subscription) == ResourceUpdated("a:b")
            await client.list_tools()
            assert server.scripted.methods.count("tools/list") == 2
            stream.tell("notifications/tools/list_changed")  # a straggler of the first stream
            second.tell("notifications/resources/updated", uri="a:b")
            assert await anext(subscription) == ResourceUpdated("a:b")
            second.end()
            assert [event async for event in subscription] == []

    asyncio.run(main())


def test_a_server_that_has_gone_mute_is_lost_after_as_many_attempts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: every wait is bounded, that for the acknowledgment of a stream that was opened again too."""
    monkeypatch.setattr(listen, "_FIRST_PAUSE", 0.001)
    monkeypatch.setattr(listen, "_LONGEST_PAUSE", 0.001)  # being open for longer forgives what was before

    async def main() -> None:
        server = Server()
        async with asyncio.timeout(10), server.scripted.client(read_timeout_seconds=0.02) as client:
            subscription = client.listen(tools_list_changed=True, relisten=True, max_attempts=3)
            entering = asyncio.ensure_future(subscription.__aenter__())
            first = await server.streams.get()
            first.acknowledge()
            await entering
            first.fail()
            with pytest.raises(SubscriptionLost, match=r"did not acknowledge .* within 0\.02 seconds"):
                await anext(subscription)
            assert server.scripted.methods == ["subscriptions/listen"] * 3

    asyncio.run(main())


def test_pauses_grow_and_attempts_are_capped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: FIELD 141: a server that closes at once meets no storm."""
    pauses: list[float] = []
    sleep = asyncio.sleep

    async def note(seconds: float) -> None:
        pauses.append(seconds)
        await sleep(0)

    monkeypatch.setattr(asyncio, "sleep", note)

    async def main() -> None:
        async with listening(tools_list_changed=True, relisten=True, max_attempts=9) as (
            subscription,
            stream,
            server,
            _,
        ):
            stream.fail()
            for _ in range(8):
                stream = await server.streams.get()
                stream.acknowledge()
                stream.fail()
            assert await anext(subscription) == ToolsListChanged()
            with pytest.raises(SubscriptionLost):
                await anext(subscription)
            assert subscription.attempts == 9

    asyncio.run(main())
    limits = [min(0.5 * 2**number, 30) for number in range(8)]
    assert len(pauses) == 8
    assert all(limit / 2 <= pause <= limit for pause, limit in zip(pauses, limits, strict=True))


def test_a_refusal_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: a server that no longer wants it is not asked again."""
    monkeypatch.setattr(listen, "_FIRST_PAUSE", 0.001)

    async def main() -> None:
        async with listening(tools_list_changed=True, relisten=True) as (subscription, stream, server, _):
            stream.fail()
            (await server.streams.get()).fail(Failure(-32601, "no more"))
            with pytest.raises(SubscriptionLost, match="no more"):
                await anext(subscription)

    asyncio.run(main())


# --- limits and mistakes ------------------------------------------------------------------------------------------


def test_events_that_nobody_reads_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: a server cannot fill the memory; what is missing is not hidden."""
    monkeypatch.setattr(listen, "_MAX_WAITING", 3)

    async def main() -> None:
        async with listening(resource_subscriptions=["a:"]) as (subscription, stream, *_):
            for number in range(10):
                stream.tell("notifications/resources/updated", uri=f"a:{number}")
            read = [await anext(subscription) for _ in range(3)]
            assert read == [ResourceUpdated(f"a:{number}") for number in range(3)]
            with pytest.raises(SubscriptionLost, match="more than 3 events"):
                await anext(subscription)

    asyncio.run(main())


def test_closing_ends_a_loop_in_another_task() -> None:
    """Ours: from any task, more than once."""

    async def main() -> None:
        async with listening() as (subscription, *_):

            async def read() -> list[Any]:
                return [event async for event in subscription]

            task = asyncio.ensure_future(read())
            await asyncio.sleep(0)
            await subscription.close()
            await subscription.close()
            assert await task == []
            with pytest.raises(RuntimeError, match="has been entered"):
                await subscription.__aenter__()

    asyncio.run(main())


@pytest.mark.parametrize("broken", [False, True])
def test_closing_the_client_ends_what_would_be_opened_again(broken: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: on a closed client no attempt can succeed, and none is made; the reader hears of it at once."""
    monkeypatch.setattr(listen, "_FIRST_PAUSE", 1000.0)

    async def main() -> None:
        async with listening(tools_list_changed=True, relisten=True) as (subscription, stream, server, client):
            reading = asyncio.ensure_future(anext(subscription))
            if broken:
                stream.fail()
                while subscription.state != "waiting":
                    await asyncio.sleep(0)
            await client.close()
            with pytest.raises(SubscriptionLost, match="was closed by this client"):
                await reading
            assert server.scripted.methods == ["subscriptions/listen"]

    asyncio.run(main())


def test_a_filter_must_ask_for_something() -> None:
    """Ours."""

    async def main() -> None:
        async with Server().scripted.client() as client:
            with pytest.raises(ValueError, match="needs something to listen to"):
                client.listen()
            with pytest.raises(TypeError, match="give a list"):
                client.listen(resource_subscriptions="a:b")

    asyncio.run(main())
