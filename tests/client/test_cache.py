"""Results kept for as long as the server says, and not longer, for those they are for."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from leanmcp import MCPError
from leanmcp.client import ResponseCache
from leanmcp.errors import CallTimeout, CannotConnect, ConnectionLost, HTTPStatusError, Unauthorized
from tests.support.caching import Clock, first_name, listing, reading, text_of
from tests.support.scripted import DONE, Failure, Mute, Scripted, only


def test_a_result_is_served_until_its_time_is_over() -> None:
    """Spec: server/utilities/caching, "Freshness Calculation"."""

    async def main() -> None:
        clock = Clock()
        transport = Scripted(only(prompts_list=[listing("a"), listing("b")]))
        async with transport.client(cache=ResponseCache(clock=clock)) as client:
            assert await first_name(client) == "a"
            clock.now += 0.999
            assert await first_name(client) == "a"
            clock.now += 0.001
            assert await first_name(client) == "b"
        assert len(transport.requests) == 2

    asyncio.run(main())


@pytest.mark.parametrize("ttl", [0, -5, -(10**30), "1000", None, True])
def test_results_without_a_time_are_not_kept(ttl: Any) -> None:
    """Spec: server/utilities/caching, "Time-to-Live (TTL) Field": negative is 0; ours: so is what is no number."""

    async def main() -> None:
        transport = Scripted(only(prompts_list=[listing("a", ttl), listing("b", ttl)]))
        async with transport.client() as client:
            assert [await first_name(client), await first_name(client)] == ["a", "b"]

    asyncio.run(main())


def test_a_day_is_the_longest_time() -> None:
    """Ours: FEATURES N3."""

    async def main() -> None:
        clock = Clock()
        transport = Scripted(only(prompts_list=[listing("a", 10**15), listing("b")]))
        async with transport.client(cache=ResponseCache(clock=clock)) as client:
            assert await first_name(client) == "a"
            clock.now += 24 * 3600 - 1
            assert await first_name(client) == "a"
            clock.now += 1
            assert await first_name(client) == "b"

    asyncio.run(main())


def test_callers_do_not_share_what_they_get() -> None:
    """Ours: a caller that changes its result changes nobody else's."""

    async def main() -> None:
        async with Scripted(only(prompts_list=listing("a"))).client() as client:
            (await client.list_prompts()).prompts.clear()
            assert await first_name(client) == "a"

    asyncio.run(main())


def test_each_request_has_its_own_mode() -> None:
    """Ours: as `mcp.Client`: use, refresh, bypass."""

    async def main() -> None:
        transport = Scripted(only(prompts_list=[listing(name) for name in "abcde"]))
        async with transport.client() as client:
            assert await first_name(client) == "a"
            assert await first_name(client, cache_mode="refresh") == "b"
            assert await first_name(client) == "b"
            assert await first_name(client, cache_mode="bypass") == "c"
            assert await first_name(client) == "b"
            assert await first_name(client, meta={"x": 1}) == "d"
            assert await first_name(client) == "d"
            with pytest.raises(ValueError, match="cache_mode='never'"):
                await first_name(client, cache_mode="never")

    asyncio.run(main())


def test_one_switch_turns_it_all_off() -> None:
    """Ours: issue point 4."""

    async def main() -> None:
        transport = Scripted(
            only(prompts_list=[listing("a"), listing("b")], resources_read=[reading("a"), reading("b")])
        )
        async with transport.client(cache=False) as client:
            assert [await first_name(client), await first_name(client)] == ["a", "b"]
            await client.read_resource("a:b")
            assert await text_of(client, "a:b") == "b"

    asyncio.run(main())


def test_the_key_is_method_and_params() -> None:
    """Spec: server/utilities/caching, "Cache Key"."""

    async def main() -> None:
        def answer(method: str, params: dict[str, Any]) -> Any:
            if method == "resources/read":
                return reading(params["uri"])
            return {**listing("x"), "resources": []} if method != "server/discover" else None

        transport = Scripted(answer)
        async with transport.client() as client:
            for _ in range(2):
                assert await text_of(client, "a:1") == "a:1"
                assert await text_of(client, "a:2") == "a:2"
                for cursor in (None, "", "c"):
                    await client.list_prompts(cursor=cursor)
                    await client.list_resources(cursor=cursor)
        assert len(transport.requests) == 8

    asyncio.run(main())


# --- errors -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "error",
    [
        ConnectionLost("gone", "x"),
        CannotConnect("refused", "x"),
        CallTimeout("late", "x"),
        HTTPStatusError("x", "x", 503),
    ],
)
def test_a_stale_result_serves_while_the_server_is_down(error: Exception, caplog: pytest.LogCaptureFixture) -> None:
    """Spec: server/utilities/caching: "MAY serve stale responses if errors occur during re-fetching"."""

    async def main() -> None:
        clock = Clock()
        transport = Scripted(only(prompts_list=[listing("a"), error, error, listing("b")]))
        async with transport.client(cache=ResponseCache(clock=clock)) as client:
            await first_name(client)
            clock.now += 5
            assert await first_name(client) == "a"
            with pytest.raises(MCPError):
                await first_name(client, cache_mode="refresh")
            assert await first_name(client) == "b"

    asyncio.run(main())
    assert "the last answer is used" in caplog.text


@pytest.mark.parametrize("error", [Failure(-32603), Unauthorized("401", "x", 401), HTTPStatusError("x", "x", 400)])
def test_a_refusal_is_told(error: Exception) -> None:
    """Ours: only an outage is bridged."""

    async def main() -> None:
        clock = Clock()
        transport = Scripted(only(prompts_list=[listing("a"), error]))
        async with transport.client(cache=ResponseCache(clock=clock)) as client:
            await first_name(client)
            clock.now += 5
            with pytest.raises(MCPError):
                await first_name(client)

    asyncio.run(main())


# --- one flight ---------------------------------------------------------------------------------------------------


def test_equal_requests_at_once_are_one() -> None:
    """Ours: FEATURES N5."""

    async def main() -> None:
        go = asyncio.Event()

        async def answer(method: str, params: dict[str, Any]) -> Any:
            if method == "prompts/list":
                await go.wait()
                return listing("a", 0)
            return None

        transport = Scripted(answer)
        async with asyncio.timeout(10), transport.client() as client:
            tasks = [asyncio.ensure_future(first_name(client)) for _ in range(5)]
            tasks.append(asyncio.ensure_future(first_name(client, cursor="other")))
            while len(transport.requests) < 2:
                await asyncio.sleep(0)
            go.set()
            assert await asyncio.gather(*tasks) == ["a"] * 6
        assert len(transport.requests) == 2

    asyncio.run(main())


def test_a_request_after_a_call_does_not_join_an_older_one() -> None:
    """Ours: what a tool has changed must be seen by who asks afterwards."""

    async def main() -> None:
        go = asyncio.Event()

        async def answer(method: str, params: dict[str, Any]) -> Any:
            if method == "prompts/list":
                name = f"n{len(transport.requests)}"
                await go.wait()
                return listing(name)
            return DONE if method == "tools/call" else None

        transport = Scripted(answer)
        async with asyncio.timeout(10), transport.client() as client:
            before = asyncio.ensure_future(first_name(client))
            while not transport.requests:
                await asyncio.sleep(0)
            await client.call_tool("changes")
            after = asyncio.ensure_future(first_name(client))
            while len(transport.requests) < 3:
                await asyncio.sleep(0)
            go.set()
            assert [await before, await after] == ["n1", "n3"]

    asyncio.run(main())


def test_giving_up_one_of_several_leaves_the_others() -> None:
    """Ours: whoever began; errors are shared, somebody else's patience is not."""

    async def main() -> None:
        transport = Scripted(only(prompts_list=[Mute, listing("a")]))
        async with asyncio.timeout(10), transport.client() as client:
            first, second, third = (asyncio.ensure_future(first_name(client)) for _ in range(3))
            while not transport.requests:
                await asyncio.sleep(0)
            await asyncio.sleep(0)
            second.cancel()
            first.cancel()
            assert await third == "a"
            for task in (first, second):
                with pytest.raises(asyncio.CancelledError):
                    await task
        assert len(transport.requests) == 2

    asyncio.run(main())


def test_a_refusal_is_told_to_all_who_wait() -> None:
    """Ours."""

    async def main() -> None:
        async def answer(method: str, params: dict[str, Any]) -> Any:
            if method == "prompts/list":
                await asyncio.sleep(0)
                raise Failure(5, "no")
            return None

        transport = Scripted(answer)
        async with asyncio.timeout(10), transport.client() as client:
            found = await asyncio.gather(*(first_name(client) for _ in range(3)), return_exceptions=True)
            assert [type(error) for error in found] == [MCPError] * 3
        assert len(transport.requests) == 1

    asyncio.run(main())


# --- what a notification drops ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "params", "dropped"),
    [
        ("notifications/prompts/list_changed", {}, {"prompts/list"}),
        ("notifications/tools/list_changed", {}, {"tools/list"}),
        ("notifications/resources/list_changed", {}, {"resources/list", "resources/templates/list"}),
        ("notifications/resources/updated", {"uri": "a:b"}, {"resources/read a:b", "resources/read a:b/c"}),
        ("notifications/resources/updated", {"uri": "a:other"}, set()),
        ("notifications/resources/updated", {}, set()),
    ],
)
def test_a_notification_makes_results_stale(method: str, params: dict[str, Any], dropped: set[str]) -> None:
    """Spec: server/utilities/caching, "Interaction with Notifications"."""
    page = {
        **listing("a", 60_000),
        "tools": [],
        "resources": [],
        "resourceTemplates": [],
        "contents": [{"uri": "a:b", "text": "t"}],
    }

    async def main() -> None:
        transport = Scripted(lambda name, _: None if name == "server/discover" else page)
        async with transport.client() as client:

            async def everything() -> None:
                await client.list_tools()
                await client.list_prompts()
                await client.list_resources()
                await client.list_resource_templates()
                for uri in ("a:b", "a:b/c", "a:bc"):
                    await client.read_resource(uri)

            await everything()
            del transport.requests[:]
            client._notified(method, params)
            await everything()
            asked = {f"{sent['method']} {sent['params'].get('uri', '')}".strip() for sent in transport.requests}
            assert asked == dropped

    asyncio.run(main())


def test_an_answer_that_was_on_its_way_when_the_change_was_told_is_not_kept() -> None:
    """Ours: it may be older than the change."""

    async def main() -> None:
        def answer(method: str, params: dict[str, Any]) -> Any:
            if method == "prompts/list":
                if len(transport.requests) == 1:
                    client._notified("notifications/prompts/list_changed", {})
                return listing(f"n{len(transport.requests)}")
            return None

        transport = Scripted(answer)
        async with transport.client() as client:
            assert [await first_name(client), await first_name(client), await first_name(client)] == ["n1", "n2", "n2"]

    asyncio.run(main())


# --- limits -------------------------------------------------------------------------------------------------------


def test_the_cache_is_bounded() -> None:
    """Ours: by number and by size; the one used longest ago goes."""

    async def main() -> None:
        def answer(method: str, params: dict[str, Any]) -> Any:
            return reading("x" * 500) if method == "resources/read" else None

        for cache in (ResponseCache(max_entries=2), ResponseCache(max_size=1500), ResponseCache(max_size=10)):
            transport = Scripted(answer)
            async with transport.client(cache=cache) as client:
                for uri in ("a:1", "a:2", "a:1", "a:3", "a:1", "a:2"):
                    await client.read_resource(uri)
            assert len(cache) == (0 if cache._max_size == 10 else 2)
            assert len(transport.requests) == (6 if cache._max_size == 10 else 4)
            assert cache._size == sum(len(kept.message) for kept in cache._kept.values())

    asyncio.run(main())


def test_results_that_needed_answers_are_not_kept() -> None:
    """Spec: server/utilities/caching, "Cache Key": MUST NOT, as they depend on what is no part of the key."""

    async def main() -> None:
        asked = {"resultType": "input_required", "requestState": "s"}
        transport = Scripted(only(resources_read=[asked, reading("a"), asked, reading("b"), reading("c")]))
        async with transport.client() as client:
            for text in ("a", "b"):
                assert await text_of(client, "a:b") == text
            assert await text_of(client, "a:b", request_state="mine") == "c"
            assert await text_of(client, "a:b") == "c"
        again = ["requestState" in message["params"] for message in transport.requests]
        assert again == [False, True, False, True, True, False]

    asyncio.run(main())
