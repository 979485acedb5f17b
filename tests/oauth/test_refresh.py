"""Refresh tokens: when they are used, by whom, and what happens when they are not taken."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest

from leanmcp.client import Client
from leanmcp.oauth import InMemoryTokenStorage, OAuthFlowError, OAuthToken, OAuthTokenError
from tests.support.authorization import AuthorizationServer, Reply, World, world
from tests.support.processes import VERSION


@asynccontextmanager
async def logged_in(**options: Any) -> AsyncIterator[tuple[World, Client, InMemoryTokenStorage]]:
    """Run both servers and a client that has logged in; `left` are the seconds that its token is good for."""
    async with world() as made:
        left = options.pop("left", 3600)
        storage = InMemoryTokenStorage()
        provider = made.provider(storage=storage, **options)
        async with Client(made.server.url, mode=VERSION, auth=provider, cache=False) as client:
            await client.list_tools()
            await age(storage, left)
            yield made, client, storage


async def age(storage: InMemoryTokenStorage, left: float) -> None:
    """Have the token end in `left` seconds: the storage holds the object that the provider has."""
    tokens = await storage.get_tokens()
    assert tokens is not None
    tokens.expires_at = time.time() + left


def grants(made: World) -> list[str]:
    """Return what tokens were asked for with."""
    return [form["grant_type"] for form in made.issuer.token_requests]


def test_token_is_replaced_before_it_expires() -> None:
    """Spec: basic/authorization, "Refresh Tokens". Ours: half a minute before, so that no request meets a 401."""

    async def main() -> None:
        async with logged_in(left=29) as (made, client, _):
            await client.list_tools()
            assert grants(made) == ["authorization_code", "refresh_token"]
            assert [bool(token) for token in made.server.tokens] == [False, True, True]
            assert made.server.tokens[1] != made.server.tokens[2]
            await client.list_tools()
            assert len(grants(made)) == 2

    asyncio.run(main())


@pytest.mark.parametrize("left", [0, 3600])
def test_token_that_another_program_has_replaced_is_used(left: float) -> None:
    """Ours: programs that share a file; a refresh token that is used twice may end all tokens of the user."""

    async def main() -> None:
        async with logged_in() as (made, client, storage):
            other = made.provider(storage=storage)
            async with Client(made.server.url, mode=VERSION, auth=other, cache=False) as second:
                await second.list_tools()
                made.issuer.valid.clear()
                await age(storage, left)
                await client.list_tools()
                await second.list_tools()
            assert grants(made) == ["authorization_code", "refresh_token"]
            assert made.logins == 1

    asyncio.run(main())


def test_storage_that_keeps_the_first_token_for_ever_is_not_believed() -> None:
    """Ours: what was replaced here is not taken for what another program has brought."""

    class Fixed(InMemoryTokenStorage):
        async def set_tokens(self, tokens: OAuthToken) -> None:
            if await self.get_tokens() is None:
                await super().set_tokens(tokens)

    async def main() -> None:
        async with world() as made:
            made.issuer.lifetime = None
            provider = made.provider(storage=Fixed())
            async with Client(made.server.url, mode=VERSION, auth=provider, cache=False) as client:
                for _ in range(3):
                    await client.list_tools()
                    made.issuer.valid.clear()
            assert grants(made) == ["authorization_code", "refresh_token", "refresh_token"]

    asyncio.run(main())


def test_token_that_lasts_is_kept() -> None:
    """Ours: no refresh without need; `refresh_skew` says when."""

    async def main() -> None:
        async with logged_in(left=29, refresh_skew=1) as (made, client, _):
            await client.list_tools()
            assert grants(made) == ["authorization_code"]

    asyncio.run(main())


def test_rotated_refresh_token_replaces_the_old_one() -> None:
    """Spec: security-considerations, "Token Theft": servers rotate; each refresh token is good once."""

    async def main() -> None:
        async with logged_in(left=0) as (made, client, storage):
            for _ in range(3):
                await client.list_tools()
                await age(storage, 0)
            used = [form["refresh_token"] for form in made.issuer.token_requests[1:]]
            assert used == [f"refresh-{made.issuer.port}-{number}" for number in (1, 2, 3)]
            kept = await storage.get_tokens()
            assert kept is not None
            assert kept.refresh_token == f"refresh-{made.issuer.port}-4"
            assert made.logins == 1

    asyncio.run(main())


def test_refresh_token_that_is_not_rotated_is_used_again() -> None:
    """Spec: RFC 6749 6: the server may issue no new one."""

    async def main() -> None:
        async with logged_in(left=0) as (made, client, storage):
            made.issuer.denies = [Reply(200, {"access_token": "fresh", "token_type": "Bearer", "expires_in": 3600})]
            made.issuer.valid["fresh"] = ""
            await client.list_tools()
            kept = await storage.get_tokens()
            assert kept is not None
            assert (kept.access_token, kept.refresh_token) == ("fresh", f"refresh-{made.issuer.port}-1")

    asyncio.run(main())


def test_parallel_requests_refresh_once() -> None:
    """Ours: single flight; a rotating server would take a second use for theft."""

    async def main() -> None:
        async with logged_in(left=0) as (made, client, _):
            await asyncio.gather(*(client.list_tools() for _ in range(20)))
            assert grants(made) == ["authorization_code", "refresh_token"]
            assert made.logins == 1

    asyncio.run(main())


def test_refused_token_is_refreshed_before_anybody_is_asked() -> None:
    """Ours: a token can be withdrawn before it expires."""

    async def main() -> None:
        async with logged_in() as (made, client, _):
            made.issuer.valid.clear()
            await client.list_tools()
            assert grants(made) == ["authorization_code", "refresh_token"]
            assert made.logins == 1

    asyncio.run(main())


def test_dead_refresh_token_leads_to_a_login() -> None:
    """Spec: "Refresh Tokens": must not assume; RFC 6749 5.2 (invalid_grant)."""

    async def main() -> None:
        async with logged_in(left=0) as (made, client, _):
            made.issuer.denies = [Reply(400, {"error": "invalid_grant"})]
            await client.list_tools()
            assert grants(made) == ["authorization_code", "refresh_token", "authorization_code"]
            assert made.logins == 2

    asyncio.run(main())


def test_refreshed_token_that_is_refused_leads_to_a_login_at_once() -> None:
    """Ours: a server that takes no refreshed token is not refreshed at for ever."""

    async def main() -> None:
        async with logged_in() as (made, client, _):
            made.issuer.valid.clear()
            made.issuer.denies = [Reply(200, {"access_token": "useless", "token_type": "Bearer"})]
            await client.list_tools()
            assert grants(made) == ["authorization_code", "refresh_token", "authorization_code"]
            assert made.logins == 2

    asyncio.run(main())


def test_failing_token_endpoint_costs_no_token() -> None:
    """Ours: a server error is no reason to ask a person; the refresh token stays for the next request."""

    async def main() -> None:
        async with logged_in(left=0) as (made, client, _):
            made.issuer.denies = [Reply(503)]
            with pytest.raises(OAuthTokenError, match="503"):
                await client.list_tools()
            await client.list_tools()
            assert grants(made) == ["authorization_code", "refresh_token", "refresh_token"]
            assert made.logins == 1

    asyncio.run(main())


def test_token_that_is_good_for_a_moment_is_used_when_it_cannot_be_replaced() -> None:
    """Ours: the skew is ours, the server still takes the token."""

    async def main() -> None:
        async with logged_in(left=29) as (made, client, _):
            made.issuer.denies = [Reply(503)]
            await client.list_tools()
            assert grants(made) == ["authorization_code", "refresh_token"]
            assert made.server.tokens[1] == made.server.tokens[2]

    asyncio.run(main())


def test_refresh_goes_on_when_its_request_is_cancelled() -> None:
    """Ours: the old refresh token is used up by then; the answer must not be lost."""

    async def main() -> None:
        async with logged_in(left=0) as (made, client, storage):
            task = asyncio.create_task(client.list_tools())
            while len(made.issuer.token_requests) < 2:
                await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await client.list_tools()
            assert grants(made) == ["authorization_code", "refresh_token"]
            kept = await storage.get_tokens()
            assert kept is not None
            assert kept.refresh_token == f"refresh-{made.issuer.port}-2"

    asyncio.run(main())


def test_stored_tokens_are_used_by_the_next_program() -> None:
    """Ours: TokenStorage; with the issuer known, the refresh finds its way."""

    async def main() -> None:
        async with logged_in(left=0) as (made, _, storage):
            provider = made.provider(storage=storage)
            async with Client(made.server.url, mode=VERSION, auth=provider) as client:
                await client.list_tools()
            assert made.logins == 1
            assert len(made.issuer.clients) == 1
            assert grants(made) == ["authorization_code", "refresh_token"]

    asyncio.run(main())


def test_stored_tokens_of_another_server_are_not_sent() -> None:
    """Spec: "Token Handling": no tokens other than those of the MCP server's authorization server."""

    async def main() -> None:
        async with world() as made:
            storage = InMemoryTokenStorage()
            await storage.set_tokens(OAuthToken(access_token="other", resource="https://other.example/mcp"))
            async with Client(made.server.url, mode=VERSION, auth=made.provider(storage=storage)) as client:
                await client.list_tools()
            assert "Bearer other" not in made.server.tokens

    asyncio.run(main())


def test_refresh_token_stays_with_its_server_when_another_takes_over() -> None:
    """Spec: client-registration, "Authorization Server Binding"; authorization-server-discovery, "... Location"."""

    async def main() -> None:
        async with logged_in() as (made, client, _):
            old, new = made.issuer, await made.add(AuthorizationServer())
            made.server.issuer = new
            await client.list_tools()
            assert [form["grant_type"] for form in new.token_requests] == ["authorization_code"]
            assert new.token_requests[0]["client_id"] == f"client-{new.port}-0"
            asked = len(old.got)
            assert made.server.tokens[-1] == f"Bearer access-{new.port}-1"
            made.server.issuer = old  # and back: what was registered there is known still
            await client.list_tools()
            assert len(old.clients) == 1
            assert len(old.got) > asked
            for one, other in ((old, new), (new, old)):
                secrets = (f"client-{one.port}", f"refresh-{one.port}", f"access-{one.port}")
                assert not any(secret in got.body.decode() for got in other.got for secret in secrets)

    asyncio.run(main())


def test_token_of_a_server_no_longer_in_charge_is_not_sent_again() -> None:
    """Spec: basic/authorization, "Token Handling"."""

    async def main() -> None:
        async with logged_in() as (made, client, _):
            made.server.issuer = await made.add(AuthorizationServer())
            made.changes = {"code": "", "error": "access_denied"}
            with pytest.raises(OAuthFlowError, match="access_denied"):
                await client.list_tools()
            made.changes = {}
            await client.list_tools()
            new = f"Bearer access-{made.server.issuer.port}-1"
            assert made.server.tokens[2:] == [made.server.tokens[1], "", new]

    asyncio.run(main())


def test_scope_outlives_a_refresh() -> None:
    """Spec: RFC 6749 6: left out where it has not changed; "Step-Up Authorization Flow" 2 needs it after a restart."""

    async def main() -> None:
        async with world() as made:
            made.server.challenge = {"scope": "a"}
            storage = InMemoryTokenStorage()
            for _ in range(2):
                async with Client(made.server.url, mode=VERSION, auth=made.provider(storage=storage)) as client:
                    await client.list_tools()
                await age(storage, 0)
            made.server.needs = "b"
            async with Client(made.server.url, mode=VERSION, auth=made.provider(storage=storage)) as client:
                await client.call_tool("x")
            assert [asked["scope"] for asked in made.issuer.asked] == ["a", "a b"]
            assert grants(made) == ["authorization_code", "refresh_token", "refresh_token", "authorization_code"]

    asyncio.run(main())


class Full(InMemoryTokenStorage):
    """Has no room for tokens."""

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """Keep nothing."""
        raise OSError("No space left on device")


def test_storage_that_fails_is_told_and_the_token_is_used_all_the_same() -> None:
    """Ours: a full disk is the program's to deal with, and costs no second login."""

    async def main() -> None:
        async with world() as made:
            async with Client(made.server.url, mode=VERSION, auth=made.provider(storage=Full())) as client:
                with pytest.raises(OSError, match="No space left"):
                    await client.list_tools()
                await client.list_tools()
            assert made.logins == 1

    asyncio.run(main())


def test_expired_token_without_refresh_token_is_not_sent() -> None:
    """Ours: it would only cost a round trip."""

    async def main() -> None:
        async with logged_in() as (made, client, storage):
            tokens = await storage.get_tokens()
            assert tokens is not None
            tokens.refresh_token = None
            await age(storage, 0)
            await client.list_tools()
            assert [bool(token) for token in made.server.tokens] == [False, True, False, True]
            assert grants(made) == ["authorization_code"] * 2

    asyncio.run(main())


@pytest.mark.parametrize("life", [20, "20", 20.0, 0, None, msgspec.Raw(b"1" + b"0" * 400)])
def test_token_of_an_odd_life_is_used(life: Any) -> None:
    """Ours: the skew is never more than half of a token's life, 0 means unknown, and some mean for ever."""

    async def main() -> None:
        async with world() as made:
            made.issuer.lifetime = life
            async with Client(made.server.url, mode=VERSION, auth=made.provider()) as client:
                await client.list_tools()
            assert grants(made) == ["authorization_code"]

    asyncio.run(main())


def test_time_of_expiry_is_kept() -> None:
    """Ours: a restarted program knows it too."""

    async def main() -> None:
        before = time.time()
        async with logged_in() as (made, _, storage):
            kept = await storage.get_tokens()
            assert kept is not None
            assert kept.expires_at is not None
            assert before + 3600 <= kept.expires_at <= time.time() + 3600
            assert (kept.issuer, kept.resource) == (made.issuer.issuer, made.server.url)

    asyncio.run(main())
