"""Challenges, redirects, and requests that are no JSON-RPC, on the same connections."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import pytest

from leanmcp.errors import ConnectionLost, Forbidden, HTTPStatusError, TransportError, Unauthorized
from leanmcp.protocol.sse_reader import Event
from tests.support.bad_http_server import (
    CLOSE,
    MUTE,
    STREAM,
    WAIT,
    answer,
    bad_server,
    chunk,
)
from tests.support.outgoing import decoded, outgoing, talking


class Tokens:
    """Hands out t0, then t1, ... after each challenge, as often as it is told to."""

    def __init__(self, challenges: int) -> None:
        self.left = challenges
        self.number = 0
        self.seen: list[tuple[int, str, bytes]] = []
        self.urls: set[str] = set()

    async def headers(self, url: str) -> Mapping[str, str]:
        """Return the token of the day."""
        self.urls.add(url)
        return {"Authorization": f"Bearer t{self.number}"}

    async def challenged(self, status: int, headers: Mapping[str, str], body: bytes) -> bool:
        """Make a new token, if there is one."""
        self.seen.append((status, headers["www-authenticate"], body))
        self.number += 1
        self.left -= 1
        return self.left >= 0


DENIED = answer(b"who?", "text/plain", "401 Unauthorized", 'WWW-Authenticate: Bearer resource_metadata="x"')
SCOPE = answer(b"more", "text/plain", "403 Forbidden", 'WWW-Authenticate: Bearer error="insufficient_scope"')


def test_challenge_is_met_with_new_headers() -> None:
    """Spec: basic/authorization: a 401 for a token, a 403 for its scopes."""

    async def main() -> None:
        auth = Tokens(2)
        async with talking([DENIED], [SCOPE], auth=auth) as (client, server):
            assert decoded(await client.request(outgoing()))["id"] == 1
            sent = [request.fields["authorization"] for request in server.requests]
            assert sent == ["Bearer t0", "Bearer t1", "Bearer t2"]
            assert [(status, body) for status, _, body in auth.seen] == [(401, b"who?"), (403, b"more")]
            assert (auth.urls, server.connections) == ({server.url}, 1)

    asyncio.run(main())


@pytest.mark.parametrize(
    ("script", "challenges", "requests", "kind"),
    [(DENIED, 0, 1, Unauthorized), (DENIED, 99, 4, Unauthorized), (SCOPE, 99, 4, Forbidden), (SCOPE, 1, 2, Forbidden)],
)
def test_challenges_end(script: bytes, challenges: int, requests: int, kind: type[TransportError]) -> None:
    """Ours: a helper that always says yes does not make the client knock for ever."""

    async def main() -> None:
        async with talking(*[[script]] * 6, auth=Tokens(challenges)) as (client, server):
            with pytest.raises(kind):
                await client.request(outgoing())
            assert len(server.requests) == requests

    asyncio.run(main())


@pytest.mark.parametrize("status", ["307 Temporary Redirect", "308 Permanent Redirect"])
def test_redirect_within_the_origin_is_followed(status: str) -> None:
    """Ours: row 65; `/mcp` to `/mcp/` keeps method, body and token."""

    async def main() -> None:
        script = [answer(b"", "text/plain", status, "Location: /mcp/?v=2")]
        async with talking(script, headers={"Authorization": "Bearer t"}) as (client, server):
            assert decoded(await client.request(outgoing()))["id"] == 1
            first, second = server.requests
            assert (second.line, second.body) == ("POST /mcp/?v=2 HTTP/1.1", first.body)
            assert second.fields["authorization"] == "Bearer t"

    asyncio.run(main())


def test_redirects_end() -> None:
    """Ours: a circle of redirects is an error."""

    async def main() -> None:
        script = [answer(b"", "text/plain", "307 Temporary Redirect", "Location: /mcp")]
        async with talking(*[script] * 9) as (client, server):
            with pytest.raises(HTTPStatusError, match="307"):
                await client.request(outgoing())
            assert len(server.requests) == 4

    asyncio.run(main())


@pytest.mark.parametrize(
    "location", ["http://localhost:{port}/mcp", "https://127.0.0.1:{port}/mcp", "//127.0.0.2:{port}/mcp"]
)
def test_token_never_goes_to_another_origin(location: str) -> None:
    """Spec: basic/authorization; scheme, host and port make an origin."""

    async def main() -> None:
        async with bad_server() as other:
            script = [
                answer(b"", "text/plain", "307 Temporary Redirect", "Location: " + location.format(port=other.port))
            ]
            async with talking(script, headers={"Authorization": "Bearer t"}, auth=Tokens(9)) as (client, server):
                with pytest.raises(HTTPStatusError, match="only 307 and 308 within the origin are followed"):
                    await client.request(outgoing())
                assert (len(server.requests), other.connections) == (1, 0)

    asyncio.run(main())


# --- anything else over the same pool -----------------------------------------------------------------------------


def test_whatever_is_sent_to_the_endpoint_has_its_credentials_and_answers_challenges() -> None:
    """Ours: the DELETE that ends a session of an earlier revision."""

    async def main() -> None:
        async with talking([DENIED], [b"HTTP/1.1 204 No Content\r\n\r\n"], auth=Tokens(1)) as (client, server):
            async with client.open("DELETE", headers={"Mcp-Session-Id": "s1"}) as ended:
                assert (ended.head.status, await ended.read()) == (204, b"")
            last = server.requests[-1]
            assert (last.line, last.fields["mcp-session-id"]) == ("DELETE /mcp HTTP/1.1", "s1")
            assert (last.fields["authorization"], "content-length" in last.fields) == ("Bearer t1", False)

    asyncio.run(main())


def test_stream_is_handed_out_as_it_comes() -> None:
    """Ours: the standalone stream of earlier revisions, with its id to resume from."""

    async def main() -> None:
        pieces = [chunk(b"id: 7\nretry: 500\ndata: a\n\n"), chunk(b": hello\n\n"), chunk(b"event: x\ndata: b\n\n")]
        async with talking([STREAM, *pieces, WAIT, chunk()], [answer(b"no", "text/plain")]) as (client, server):
            found: list[Event] = []
            async with client.open("GET", headers={"Accept": "text/event-stream", "Last-Event-ID": "6"}) as stream:
                assert (stream.head.status, stream.kind) == (200, b"text/event-stream")
                async for one in stream.events():
                    found.append(one)
                    if len(found) == 2:
                        server.go.set()
            assert found == [Event(b"a", id="7"), Event(b"b", "x", "7")]
            assert (stream.last_id, stream.retry) == ("7", 500)
            assert server.requests[0].fields["last-event-id"] == "6"
            async with client.open("POST", body=b"{}") as other:
                assert await other.read() == b"no"
            assert server.connections == 1

    asyncio.run(main())


def test_leaving_a_stream_closes_its_connection() -> None:
    """Ours: half a stream must not become the next answer."""

    async def main() -> None:
        async with talking([STREAM, chunk(b"data: a\n\n"), MUTE]) as (client, server):
            async with client.open("GET") as stream:
                async for one in stream.events():
                    assert one.data == b"a"
                    break
            await server.left.wait()
            assert decoded(await client.request(outgoing()))["id"] == 1

    asyncio.run(main())


def test_stream_that_is_cut_off_says_so() -> None:
    """Ours: the caller resumes, or gives up."""

    async def main() -> None:
        async with talking([STREAM, chunk(b"data: a\n\n"), CLOSE]) as (client, _):
            with pytest.raises(ConnectionLost, match="in the middle of its answer"):
                async with client.open("GET") as stream:
                    assert [one async for one in stream.events()] == []

    asyncio.run(main())
