"""Many requests, one authorization; and more scopes when they are asked for."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from leanmcp.client import Client
from leanmcp.client.waiting import waited
from leanmcp.errors import Forbidden
from leanmcp.oauth import OAuthFlowError
from tests.support.authorization import Got, Reply, World, world
from tests.support.processes import DEADLINE, VERSION


def client_of(made: World, **options: Any) -> Client:
    """Return a client that asks nothing when it is entered."""
    return Client(made.server.url, mode=VERSION, auth=made.provider(), cache=False, **options)


async def until(made: World, requests: int) -> None:
    """Wait until so many MCP requests have come."""
    async with asyncio.timeout(DEADLINE):
        while len(made.server.tokens) < requests:
            await asyncio.sleep(0)


def test_parallel_challenges_lead_to_one_login() -> None:
    """Spec: CONFORMANCE 7: parallel 401s authorise once."""

    async def main() -> None:
        async with world() as made, client_of(made) as client:
            made.gate = asyncio.Event()
            calls = [asyncio.create_task(client.list_tools()) for _ in range(10)]
            await until(made, 10)
            made.gate.set()
            await asyncio.gather(*calls)
            assert made.logins == 1
            assert len(made.issuer.clients) == 1
            assert made.server.tokens == [""] * 10 + [f"Bearer access-{made.issuer.port}-1"] * 10

    asyncio.run(main())


def test_late_challenge_of_an_old_token_only_sends_again() -> None:
    """Ours: a 401 that was under way while another request logged in."""

    async def main() -> None:
        async with world() as made:
            held, release = asyncio.Event(), asyncio.Event()
            usual = made.server.answer

            async def answer(got: Got) -> Reply:
                first = not held.is_set() and got.path == "/mcp"
                reply = await usual(got)
                if first:
                    held.set()
                    await release.wait()
                return reply

            made.server.answer = answer  # type: ignore[method-assign]
            async with client_of(made) as client:
                late = asyncio.create_task(client.list_tools())
                await held.wait()
                await client.list_tools()
                release.set()
                await late
            assert made.logins == 1
            assert len(made.issuer.token_requests) == 1

    asyncio.run(main())


def test_login_goes_on_for_those_who_still_wait() -> None:
    """Ours: cancelling one of two requests ends nothing."""

    async def main() -> None:
        async with world() as made, client_of(made) as client:
            made.gate = asyncio.Event()
            first, second = (asyncio.create_task(client.list_tools()) for _ in range(2))
            await until(made, 2)
            await made.opened.wait()
            first.cancel()
            with pytest.raises(asyncio.CancelledError):
                await first
            made.gate.set()
            await second
            assert made.logins == 1

    asyncio.run(main())


def test_login_ends_with_the_last_who_waits() -> None:
    """Ours: nobody is waited for in vain, and the next request asks again."""

    async def main() -> None:
        async with world() as made, client_of(made) as client:
            made.gate = asyncio.Event()
            call = asyncio.create_task(client.list_tools())
            await made.opened.wait()
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            made.gate.set()
            await client.list_tools()
            assert made.logins == 2
            assert len(made.issuer.token_requests) == 1

    asyncio.run(main())


def test_failed_login_fails_all_who_wait() -> None:
    """Ours: one error for everybody, and no second login for the same refusal."""

    async def main() -> None:
        async with world() as made, client_of(made) as client:
            made.gate = asyncio.Event()
            made.changes = {"error": "access_denied", "code": ""}
            calls = [asyncio.create_task(client.list_tools()) for _ in range(3)]
            await until(made, 3)
            await made.opened.wait()
            made.gate.set()
            for outcome in await asyncio.gather(*calls, return_exceptions=True):
                assert isinstance(outcome, OAuthFlowError)
                assert "access_denied" in outcome.message

    asyncio.run(main())


def test_step_up_waits_for_a_login_that_is_under_way() -> None:
    """Ours: one piece of work at a time; what another one has settled is not asked for again."""

    async def main() -> None:
        async with world() as made, client_of(made) as client:
            await client.list_tools()
            made.gate = asyncio.Event()
            made.issuer.refreshes = False
            made.server.needs = "b"
            made.opened.clear()
            first = asyncio.create_task(client.call_tool("x"))
            await made.opened.wait()
            made.server.needs = "c"
            second = asyncio.create_task(client.call_tool("x"))
            await until(made, 4)
            made.gate.set()
            await asyncio.gather(first, second, return_exceptions=True)
            made.server.needs = ""
            assert [asked.get("scope") for asked in made.issuer.asked][:2] == [None, "b"]
            assert {asked["scope"] for asked in made.issuer.asked[2:]} == {"b c"}

    asyncio.run(main())


def test_step_up_asks_for_the_union() -> None:
    """Spec: basic/authorization, "Step-Up Authorization Flow" 2."""

    async def main() -> None:
        async with world() as made, client_of(made) as client:
            made.server.challenge = {"scope": "a b"}
            await client.list_tools()
            made.server.needs = "b c"
            await client.call_tool("x")
            assert [asked["scope"] for asked in made.issuer.asked] == ["a b", "a b c"]
            made.issuer.valid.clear()
            await client.call_tool("x")  # refreshed: the scopes stay
            made.issuer.valid.clear()
            made.issuer.denies = [Reply(400, {"error": "invalid_grant"})]
            await client.call_tool("x")
            assert made.issuer.asked[-1]["scope"] == "a b c"
            assert len(made.issuer.asked) == 3

    asyncio.run(main())


def test_scopes_that_somebody_refused_are_not_asked_for_again() -> None:
    """Ours: one tool that wants more than it is given does not raise what every later login asks for."""

    async def main() -> None:
        async with world() as made, client_of(made) as client:
            made.issuer.refreshes = False
            made.server.challenge = {"scope": "a"}
            await client.list_tools()
            made.server.needs = "admin"
            made.changes = {"code": "", "error": "access_denied"}
            with pytest.raises(OAuthFlowError, match="access_denied"):
                await client.call_tool("x")
            made.changes = {}
            made.issuer.valid.clear()
            await client.list_tools()
            assert [asked["scope"] for asked in made.issuer.asked] == ["a", "a admin", "a"]

    asyncio.run(main())


def test_login_and_step_up_within_one_request() -> None:
    """Spec: "Step-Up Authorization Flow": 401 first, then 403, then the answer."""

    async def main() -> None:
        async with world() as made, client_of(made) as client:
            made.server.challenge = {"scope": "a"}
            made.server.needs = "b"
            await client.call_tool("x")
            assert [asked["scope"] for asked in made.issuer.asked] == ["a", "a b"]

    asyncio.run(main())


def test_step_up_that_does_not_help_is_final() -> None:
    """Spec: "Step-Up Authorization Flow" 4: treat it as a permanent failure; track attempts."""

    async def main() -> None:
        async with world() as made, client_of(made) as client:
            await client.list_tools()
            made.server.replies["/mcp"] = Reply(
                403, b"", WWW_Authenticate='Bearer error="insufficient_scope", scope="never"'
            )
            with pytest.raises(Forbidden):
                await client.call_tool("x")
            assert [asked.get("scope") for asked in made.issuer.asked] == [None, "never"]
            for _ in range(5):
                with pytest.raises(Forbidden):
                    await client.call_tool("x")
            assert len(made.issuer.asked) == 4  # three attempts for the same scopes, then none

    asyncio.run(main())


def test_other_403_asks_nobody() -> None:
    """Spec: "Error Handling": 403 without insufficient_scope is no challenge."""

    async def main() -> None:
        async with world() as made, client_of(made) as client:
            await client.list_tools()
            for field in ("", 'Bearer error="access_denied"', "Basic error=insufficient_scope"):
                made.server.replies["/mcp"] = Reply(403, b"", WWW_Authenticate=field)
                with pytest.raises(Forbidden):
                    await client.list_tools()
            assert made.logins == 1

    asyncio.run(main())


def test_time_of_a_person_is_not_the_servers() -> None:
    """Ours: the time limit of each request stands still while somebody logs in."""

    async def main() -> None:
        async with world() as made, client_of(made) as client:
            made.gate = asyncio.Event()
            calls = [asyncio.create_task(client.list_tools()) for _ in range(2)]
            await made.opened.wait()
            await until(made, 2)
            async with asyncio.timeout(DEADLINE):
                while not all(waited(call) > 0 for call in calls):
                    await asyncio.sleep(0)
            made.gate.set()
            await asyncio.gather(*calls)
            await asyncio.sleep(0)
            assert all(waited(call) == 0 for call in calls)  # nothing is kept of tasks that are over

    asyncio.run(main())
