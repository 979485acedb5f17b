"""For whom results are kept: those who are authorized alike, at the same server."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import Mapping

import pytest

from leanmcp.client import Client, ResponseCache
from leanmcp.transports.http_client import HTTPTransport
from tests.support.bad_http_server import answer, bad_server, result
from tests.support.caching import first_name, listing
from tests.support.processes import VERSION
from tests.support.scripted import Scripted, only


class _Auth:
    async def headers(self, url: str, /) -> dict[str, str]:
        return {}

    async def challenged(self, status: int, headers: Mapping[str, str], body: bytes, /) -> bool:
        return False


@pytest.mark.parametrize(("scope", "shared"), [("public", True), ("private", False)])
def test_private_results_stay_with_their_authorization(scope: str, shared: bool) -> None:
    """Spec: server/utilities/caching, "Cache Scope Field": MUST NOT be shared across authorization contexts."""

    async def main() -> None:
        cache = ResponseCache()
        names = {}
        for token in ("one", "two", "one"):
            transport = Scripted(only(prompts_list=listing(token, 60_000, scope)), over_http=True)
            async with transport.client(cache=cache, headers={"Authorization": token}) as client:
                names[token] = await first_name(client)
                asked = len(transport.requests)
        assert names == ({"one": "one", "two": "one"} if shared else {"one": "one", "two": "two"})
        assert asked == 0

    asyncio.run(main())


def test_each_auth_object_is_an_authorization() -> None:
    """Ours: who it stands for is unknown, so that nobody else gets what it got."""

    async def main() -> None:
        cache = ResponseCache()
        for name in ("a", "b"):
            transport = Scripted(only(prompts_list=listing(name)), over_http=True)
            async with transport.client(cache=cache, auth=_Auth()) as client:
                assert await first_name(client) == name

    asyncio.run(main())


@pytest.mark.parametrize(
    ("other", "server", "authorization"),
    [
        (HTTPTransport("http://h/mcp?key=1", headers={"authorization": "one"}), True, True),
        (HTTPTransport("http://h/mcp?key=1", headers={"Authorization": "two"}), True, False),
        (HTTPTransport("http://h/mcp?key=1", headers={"Authorization": "one"}, auth=_Auth()), True, False),
        (HTTPTransport("http://h/mcp?key=2", headers={"Authorization": "one"}), False, True),
        (HTTPTransport("http://h/mcp?key=1", headers={"Authorization": "one"}, uds="/run/a"), False, True),
    ],
)
def test_a_transport_made_by_hand_has_its_own_credentials(
    other: HTTPTransport, server: bool, authorization: bool
) -> None:
    """Spec: server/utilities/caching, "Cache Scope Field": MUST NOT be shared across authorization contexts.

    Those of the transport count, and a key in the query of its URL is one too.
    """
    own = HTTPTransport("http://h/mcp?key=1", headers={"Authorization": "one"}).cache_key
    for same in (lambda one, two: one == two, lambda one, two: hash(one) == hash(two)):
        assert (same(own[0], other.cache_key[0]), same(own[1], other.cache_key[1])) == (server, authorization)


def test_what_one_token_got_is_shown_to_no_other() -> None:
    """Spec: server/utilities/caching, "Cache Scope Field"; by transports made by hand, over a socket."""

    async def main() -> None:
        async with bad_server() as server:
            cache = ResponseCache()
            for token in ("one", "two"):
                server.scripts = [[answer(result(1, **listing(token)))]]
                transport = HTTPTransport(server.url, headers={"Authorization": token})
                async with Client(transport, mode=VERSION, cache=cache) as client:
                    assert await first_name(client) == token

    asyncio.run(main())


def test_an_auth_object_is_nobody_else_after_its_end() -> None:
    """Ours: an object made later may get the number of one that is gone; it is held on to as long as what it got."""
    held = _Auth()
    gone, number = weakref.ref(held), id(held)
    key = HTTPTransport("http://h/mcp", auth=held).cache_key
    del held
    gc.collect()
    assert gone() is not None
    assert id(gone()) == number
    assert key != HTTPTransport("http://h/mcp", auth=_Auth()).cache_key
    assert key == HTTPTransport("http://h/mcp", auth=gone()).cache_key


def test_other_servers_share_nothing() -> None:
    """Ours: not even public results, which say so themselves."""

    async def main() -> None:
        cache = ResponseCache()
        for name, over_http in (("a", True), ("b", True), ("c", False), ("d", False)):
            transport = Scripted(only(prompts_list=listing(name, 1000, "public")), over_http=over_http)
            transport.where = name if over_http else "same"
            async with transport.client(cache=cache) as client:
                assert await first_name(client) == name

    asyncio.run(main())
