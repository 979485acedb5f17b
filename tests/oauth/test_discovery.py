"""From a challenge to an authorization server."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest

from leanmcp.client import Client
from leanmcp.oauth import OAuthFlowError
from leanmcp.oauth.discovery import canonical, check_resource, issuer_metadata_urls, resource_metadata_urls
from leanmcp.oauth.models import ProtectedResourceMetadata
from leanmcp.transports.http_client_url import parse_url
from tests.support.authorization import OAUTH, OPENID, RESOURCE, AuthorizationServer, Reply, World, world
from tests.support.processes import VERSION


async def list_tools(made: World, **options: Any) -> None:
    """Use the server with a new provider."""
    async with Client(made.server.url, mode=VERSION, auth=made.provider(**options)) as client:
        await client.list_tools()


def test_metadata_is_looked_for_in_the_order_of_the_specification() -> None:
    """Spec: authorization-server-discovery, both sections about URLs."""
    server = parse_url("https://h.example/public/mcp")
    well_known = "https://h.example/.well-known"
    assert resource_metadata_urls(server, "https://h.example/x") == [
        "https://h.example/x",
        f"{well_known}/oauth-protected-resource/public/mcp",
        f"{well_known}/oauth-protected-resource",
    ]
    root = [f"{well_known}/oauth-protected-resource"]
    assert resource_metadata_urls(parse_url("https://h.example"), None) == root
    assert issuer_metadata_urls("https://h.example/tenant1") == [
        f"{well_known}/oauth-authorization-server/tenant1",
        f"{well_known}/openid-configuration/tenant1",
        "https://h.example/tenant1/.well-known/openid-configuration",
    ]
    assert issuer_metadata_urls("https://h.example/") == [
        f"{well_known}/oauth-authorization-server",
        f"{well_known}/openid-configuration",
    ]


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://h.example", "https://h.example"),
        ("https://H.example/", "https://h.example"),
        ("https://h.example:8443/a/mcp/?x=1", "https://h.example:8443/a/mcp/"),
    ],
)
def test_server_without_metadata_has_a_canonical_name(url: str, name: str) -> None:
    """Spec: basic/authorization, "Canonical Server URI"; RFC 8707 2 (no query)."""
    assert canonical(parse_url(url)) == name


@pytest.mark.parametrize("hints", [True, False])
def test_what_the_challenge_names_is_asked_first_and_then_nothing_else(hints: bool) -> None:
    """Spec: "Protected Resource Metadata Discovery Requirements"."""

    async def main() -> None:
        async with world() as made:
            made.server.hints = hints
            named = f"{made.server.origin}/elsewhere"
            if hints:
                made.server.hints = False
                made.server.challenge = {"resource_metadata": named}
                metadata = {"resource": made.server.url, "authorization_servers": [made.issuer.issuer]}
                made.server.replies["/elsewhere"] = Reply(200, metadata)
            await list_tools(made)
            assert made.server.paths == ["/mcp", "/elsewhere" if hints else f"{RESOURCE}/mcp", "/mcp"]
            assert made.logins == 1

    asyncio.run(main())


def test_root_form_comes_last() -> None:
    """Spec: "Protected Resource Metadata Discovery Requirements" 2."""

    async def main() -> None:
        async with world() as made:
            made.server.hints = False
            made.server.replies[f"{RESOURCE}/mcp"] = Reply(404)
            metadata = {"resource": made.server.origin, "authorization_servers": [made.issuer.issuer]}
            made.server.replies[RESOURCE] = Reply(200, metadata)
            await list_tools(made)
            assert made.server.paths == ["/mcp", f"{RESOURCE}/mcp", RESOURCE, "/mcp"]
            assert made.issuer.asked[0]["resource"] == made.server.origin

    asyncio.run(main())


def test_openid_metadata_appended_to_the_path_is_found_last() -> None:
    """Spec: "Authorization Server Metadata Discovery"."""

    async def main() -> None:
        async with world() as made:
            made.server.issuer = issuer = await made.add(AuthorizationServer("/tenant1"))
            issuer.replies = {OAUTH + "/tenant1": Reply(404), "/tenant1" + OPENID: Reply(200, issuer.metadata())}
            await list_tools(made)
            assert issuer.paths[:3] == [OAUTH + "/tenant1", OPENID + "/tenant1", "/tenant1" + OPENID]
            assert OAUTH not in issuer.paths

    asyncio.run(main())


@pytest.mark.parametrize("change", ["{}/", "{}/tenant", "HTTP://{}", "https://honest.example"])
def test_metadata_of_another_issuer_is_not_used(change: str) -> None:
    """Spec: "Authorization Server Metadata Discovery": `issuer` must be identical, letter by letter."""

    async def main() -> None:
        async with world() as made:
            made.issuer.extra["issuer"] = change.format(made.issuer.issuer)
            with pytest.raises(OAuthFlowError, match="is about issuer") as caught:
                await list_tools(made)
            assert made.issuer.issuer in caught.value.message
            assert made.issuer.paths == [OAUTH, OPENID]
            assert made.logins == 0

    asyncio.run(main())


@pytest.mark.parametrize(
    ("resource", "fits"),
    [
        ("https://h.example/a/mcp", True),
        ("HTTPS://H.Example/a/mcp", True),
        ("https://h.example:443/a/mcp", True),
        ("https://h.example/a/mcp/", True),
        ("https://h.example/a", True),
        ("https://h.example", True),
        ("https://h.example/", True),
        ("https://h.example/b", False),
        ("https://h.example/a/mc", False),
        ("https://h.example/a/mcp/more", False),
        ("https://h.example/a/mcp#x", False),
        ("https://h.example:8443/a/mcp", False),
        ("http://h.example/a/mcp", False),
        ("https://evil.example/a/mcp", False),
        ("https://h.example.evil.example/a/mcp", False),
        ("urn:mcp", False),
        ("", False),
    ],
)
def test_resource_must_be_the_server(resource: str, fits: bool) -> None:
    """Spec: basic/authorization, "Resource Parameter Implementation" 2; RFC 9728 3.3."""
    metadata = ProtectedResourceMetadata(resource=resource, authorization_servers=["https://as.example"])
    server = parse_url("https://h.example/a/mcp")
    if fits:
        check_resource(metadata, server)
        return
    with pytest.raises(OAuthFlowError, match=re.escape(f"is about {resource!r}, not about https://h.example/a/mcp")):
        check_resource(metadata, server)


def test_resource_of_another_server_ends_it_before_the_authorization_server_is_asked() -> None:
    """Spec: basic/authorization/security-considerations, "Token Audience Binding and Validation"."""

    async def main() -> None:
        async with world() as made:
            made.server.extra["resource"] = "https://other.example/mcp"
            with pytest.raises(OAuthFlowError, match="not about"):
                await list_tools(made)
            assert made.issuer.got == []

    asyncio.run(main())


def test_resource_travels_exactly_as_published() -> None:
    """Spec: "Resource Parameter Implementation" 1; authorization, token and refresh requests all carry it."""

    async def main() -> None:
        async with world() as made:
            published = made.server.extra["resource"] = made.server.origin.replace("http:", "HTTP:") + "/mcp/"
            async with Client(made.server.url, mode=VERSION, auth=made.provider(), cache=False) as client:
                await client.list_tools()
                made.issuer.valid.clear()
                await client.list_tools()
            assert [form["grant_type"] for form in made.issuer.token_requests] == [
                "authorization_code",
                "refresh_token",
            ]
            assert made.issuer.asked[0]["resource"] == published
            assert [form["resource"] for form in made.issuer.token_requests] == [published] * 2

    asyncio.run(main())


def test_server_without_metadata_says_what_to_pass() -> None:
    """Spec: authorization-server-discovery, "Sequence Diagram": abort or use pre-configured values."""

    async def main() -> None:
        async with world() as made:
            made.server.hints = False
            made.server.replies[f"{RESOURCE}/mcp"] = Reply(404)
            with pytest.raises(OAuthFlowError, match=r"publishes no protected resource metadata.*pass issuer="):
                await list_tools(made)
            await list_tools(made, issuer=made.issuer.issuer)
            assert made.issuer.asked[0]["resource"] == made.server.url

    asyncio.run(main())


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        (Reply(500), "answered 500"),
        (Reply(200, b"<html>", Content_Type="text/html"), "it is no JSON"),
        (Reply(200, []), "it is no JSON object"),
        (Reply(200, b"[" * 100_000), "it is no JSON"),
        (Reply(200, {"resource": "https://x.example"}), "missing required field `authorization_servers`"),
        (Reply(200, {"resource": "https://x.example", "authorization_servers": []}), "names none"),
        (Reply(200, {"resource": 5, "authorization_servers": ["https://x.example"]}), "Expected `str`, got `int`"),
    ],
)
def test_useless_metadata_is_named_in_the_error(reply: Reply, text: str) -> None:
    """Ours: errors tell what to do."""

    async def main() -> None:
        async with world() as made:
            made.server.replies[f"{RESOURCE}/mcp"] = made.server.replies[RESOURCE] = reply
            with pytest.raises(OAuthFlowError, match=re.escape(text)) as caught:
                await list_tools(made)
            assert caught.value.status == 401
            assert made.logins == 0

    asyncio.run(main())


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        (Reply(503), "answered 503"),
        (Reply(200, b"{"), "holds no such metadata: it is no JSON"),
        (Reply(200, {"issuer": "https://as.example"}), "missing required field `token_endpoint`"),
        (Reply(200, b'"' + b"x" * 300_000), "more than 262144 bytes"),
    ],
)
def test_useless_metadata_of_an_authorization_server_is_named(reply: Reply, text: str) -> None:
    """Ours: each place that was asked is in the error."""

    async def main() -> None:
        async with world() as made:
            made.issuer.replies[OAUTH] = reply
            with pytest.raises(OAuthFlowError, match=re.escape(text)) as caught:
                await list_tools(made)
            assert f"{OPENID} answered 404" in caught.value.message
            made.issuer.replies[OPENID] = Reply(200, made.issuer.metadata())
            await list_tools(made)  # the other place will do

    asyncio.run(main())


@pytest.mark.parametrize("issuer", ["{}?tenant=1", "{}#x"])
def test_issuer_has_neither_query_nor_fragment(issuer: str) -> None:
    """Spec: RFC 8414 2."""

    async def main() -> None:
        async with world() as made:
            made.server.extra["authorization_servers"] = [issuer.format(made.issuer.issuer)]
            with pytest.raises(OAuthFlowError, match="is no issuer"):
                await list_tools(made)
            assert made.issuer.got == []

    asyncio.run(main())


def test_named_metadata_that_cannot_be_had_do_not_keep_from_the_usual_place() -> None:
    """Ours: servers behind a proxy name addresses that only they can reach."""

    async def main() -> None:
        async with world() as made:
            for named in ("http://internal.example:8000/x", "http://127.0.0.1:1/x", f"{made.server.origin}/gone"):
                made.server.hints = False
                made.server.challenge = {"resource_metadata": named}
                await list_tools(made)
            assert made.logins == 3

    asyncio.run(main())


def test_own_validator_decides_about_the_resource() -> None:
    """Ours: parameter `validate_resource_url`, as in the official SDK."""
    asked: list[tuple[str, str | None]] = []

    async def validate(server: str, resource: str | None) -> None:
        asked.append((server, resource))

    async def main() -> None:
        async with world() as made:
            made.server.extra["resource"] = "https://gateway.example/mcp"
            await list_tools(made, validate_resource_url=validate)
            assert asked == [(made.server.url, "https://gateway.example/mcp")]
            assert made.issuer.asked[0]["resource"] == "https://gateway.example/mcp"

    asyncio.run(main())
