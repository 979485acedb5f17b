"""What servers may have this machine ask for, and who gets to see a token."""

from __future__ import annotations

import asyncio
import ssl
from typing import Any

import pytest

from leanmcp.client import Client
from leanmcp.oauth import OAuthClientMetadata, OAuthClientProvider, OAuthFlowError
from leanmcp.oauth import web as web_module
from leanmcp.oauth.web import MAX_SIZE, Web
from leanmcp.transports.http_client_url import parse_url
from leanmcp.transports.http_fetch import HTTPAnswer
from tests.oauth.test_discovery import list_tools
from tests.support.authorization import OAUTH, REDIRECT_URI, RESOURCE, Host, Reply, world
from tests.support.bad_http_server import MUTE, answer, bad_server
from tests.support.processes import DEADLINE, VERSION


class Resolver:
    """Answers `getaddrinfo` of the running loop from a table, and counts what is fetched."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, **addresses: str) -> None:
        self.fetched: list[tuple[str, str]] = []
        loop = asyncio.get_running_loop()

        async def getaddrinfo(host: str, *_: Any, **__: Any) -> list[Any]:
            return [(0, 0, 0, "", (addresses[host.partition(".")[0]], 443))]

        async def fetch(method: str, target: Any, **options: Any) -> HTTPAnswer:
            address = addresses[target.origin.host.partition(".")[0]]
            self.fetched.append((target.url, address))
            options["admit"](address)
            return HTTPAnswer(200, {}, b"{}")

        monkeypatch.setattr(loop, "getaddrinfo", getaddrinfo)
        monkeypatch.setattr(web_module, "fetch", fetch)


@pytest.mark.parametrize(
    ("server", "private", "target", "admitted"),
    [
        ("public", None, "other", True),
        ("public", None, "inside", False),
        ("public", None, "metadata", False),
        ("public", None, "localname", False),
        ("public", None, "public", True),
        ("public", None, "mapped", True),
        ("public", None, "multicast", False),
        ("public", None, "shared", False),
        ("public", None, "zone", False),
        ("public", None, "sixtofour", False),
        ("public", None, "translated", False),
        ("public", None, "translated2", True),
        ("public", True, "inside", True),
        ("inside", None, "inside2", True),
        ("inside", None, "other", True),
        ("inside", False, "inside2", False),
        ("inside", False, "inside", True),
    ],
)
def test_private_addresses_are_for_servers_that_have_one(
    monkeypatch: pytest.MonkeyPatch, server: str, private: bool | None, target: str, admitted: bool
) -> None:
    """Ours: RFC 9728 7.7 (SSRF); the address of the connected socket counts, not that of an earlier look-up."""

    async def main() -> None:
        resolver = Resolver(
            monkeypatch,
            public="93.184.216.34",
            other="2606:2800:220:1::1",
            inside="10.0.0.5",
            inside2="fd00::7",
            metadata="169.254.169.254",
            localname="::ffff:127.0.0.1",
            mapped="::ffff:93.184.216.34",
            multicast="224.0.0.1",
            shared="100.64.0.1",
            zone="fe80::1%eth0",
            sixtofour="2002:7f00:1::",
            translated="64:ff9b::10.0.0.1",
            translated2="64:ff9b::93.184.216.34",
        )
        web = Web(parse_url(f"https://{server}.example/mcp"), private)
        if admitted:
            await web.get(f"https://{target}.example/x", "the document")
        else:
            with pytest.raises(OAuthFlowError, match="an address of a private network; pass allow_private_addresses"):
                await web.get(f"https://{target}.example/x", "the document")
        assert [url for url, _ in resolver.fetched] == [f"https://{target}.example/x"]

    asyncio.run(main())


@pytest.mark.parametrize(
    ("url", "text"),
    [
        ("http://as.example/x", "must be https"),
        ("http://10.0.0.1/x", "must be https"),
        ("http://localhost:8080/x", "on this machine"),
        ("https://127.0.0.1/x", "on this machine"),
        ("ftp://as.example/x", "no usable URL"),
        ("https://user:pw@as.example/x", "no usable URL"),
        ("//as.example/x", "no usable URL"),
    ],
)
def test_server_on_the_internet_names_no_plain_http_and_not_this_machine(url: str, text: str) -> None:
    """Spec: security-considerations, "Communication Security" 1."""
    web = Web(parse_url("https://mcp.example/mcp"))
    with pytest.raises(OAuthFlowError, match=text):
        web.check(url, "the document")


def test_address_is_checked_before_an_octet_is_sent() -> None:
    """Ours: a private peer is left without having been asked anything."""

    async def main() -> None:
        async with asyncio.timeout(DEADLINE), bad_server() as server:
            web = Web(parse_url("http://localhost:1/mcp"), allow_private=False)
            with pytest.raises(OAuthFlowError, match=r"to 127\.0\.0\.1, an address of a private network; pass"):
                await web.get(server.url, "the document")
            assert server.requests == []

    asyncio.run(main())


def test_large_document_is_given_up() -> None:
    """Ours: metadata are bounded, by their announced and by their real size."""

    async def main() -> None:
        async with asyncio.timeout(DEADLINE):
            big = b'{"a": "%b"}' % (b"x" * MAX_SIZE)
            endless = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"%x\r\n%b\r\n" % (len(big), big)
            async with bad_server([answer(big)], [endless, MUTE]) as server:
                web = Web(parse_url(server.url))
                for _ in range(2):
                    with pytest.raises(OAuthFlowError, match=f"more than {MAX_SIZE} bytes"):
                        await web.get(server.url, "the document")

    asyncio.run(main())


def test_mute_server_is_given_up() -> None:
    """Ours: every wait is bounded."""

    async def main() -> None:
        async with asyncio.timeout(DEADLINE), bad_server([MUTE]) as server:
            web = Web(parse_url(server.url), timeout=0.05)
            with pytest.raises(OAuthFlowError, match=r"did not answer within 0\.05 seconds"):
                await web.get(server.url, "the document")

    asyncio.run(main())


def test_compressed_document_is_refused() -> None:
    """Ours: a small one may hold an endless document."""

    async def main() -> None:
        async with asyncio.timeout(DEADLINE):
            async with bad_server([answer(b"x", "application/json", "200 OK", "Content-Encoding: gzip")]) as server:
                with pytest.raises(OAuthFlowError, match="compressed"):
                    await Web(parse_url(server.url)).get(server.url, "the document")

    asyncio.run(main())


def test_redirects_of_metadata_stay_within_the_origin() -> None:
    """Ours: within it they are followed, three times; to another origin never."""

    async def main() -> None:
        async with world() as made:
            made.issuer.replies = {
                OAUTH: Reply(302, b"", Location="/real"),
                "/real": Reply(200, made.issuer.metadata()),
            }
            await list_tools(made)
            other = Host()
            await made.add(other)  # type: ignore[arg-type]
            made.issuer.replies["/real"] = Reply(307, b"", Location=f"{other.origin}/real")
            with pytest.raises(OAuthFlowError, match="answered 307"):
                await list_tools(made)
            assert other.got == []
            made.issuer.replies["/real"] = Reply(302, b"", Location="/real")
            with pytest.raises(OAuthFlowError, match="answered 302"):
                await list_tools(made)

    asyncio.run(main())


def test_token_goes_to_the_server_alone() -> None:
    """Spec: "Token Handling"; metadata of the same host are asked for without it, redirects elsewhere not followed."""

    async def main() -> None:
        async with world() as made:
            other = Host()
            await made.add(other)  # type: ignore[arg-type]
            async with Client(made.server.url, mode=VERSION, auth=made.provider(), cache=False) as client:
                await client.list_tools()
                made.issuer.valid.clear()
                await client.list_tools()
                made.server.replies["/mcp"] = Reply(307, b"", Location=f"{other.origin}/mcp")
                with pytest.raises(Exception, match="only 307 and 308 within the origin are followed"):
                    await client.list_tools()
            assert other.got == []
            assert all("authorization" not in got.fields for got in made.server.got if got.path != "/mcp")
            assert all("authorization" not in got.fields for got in made.issuer.got)
            assert RESOURCE + "/mcp" in made.server.paths

    asyncio.run(main())


def test_provider_serves_no_other_origin() -> None:
    """Spec: "Token Handling": a provider given to the wrong client is found out."""

    async def main() -> None:
        async with world() as made:
            provider = made.provider()
            with pytest.raises(OAuthFlowError, match=r"not for https://other\.example/mcp"):
                await provider.headers("https://other.example/mcp")
            with pytest.raises(OAuthFlowError, match="not for"):
                await provider.headers(made.server.url.replace(str(made.server.port), "1"))
            assert await provider.headers(made.server.url + "?x=1") == {}

    asyncio.run(main())


@pytest.mark.parametrize("url", ["http://mcp.example/mcp", "http://10.0.0.1/mcp"])
def test_server_must_be_encrypted_or_on_this_machine(url: str) -> None:
    """Spec: security-considerations, "Communication Security"; tokens in the clear are anybody's."""
    with pytest.raises(ValueError, match="over https:// only"):
        OAuthClientProvider(url, OAuthClientMetadata(redirect_uris=["http://localhost/back"]))


@pytest.mark.parametrize("uri", ["http://app.example/back", "app:/back"])
def test_redirect_must_be_encrypted_or_on_this_machine(uri: str) -> None:
    """Spec: "Communication Security" 2: redirect URIs are localhost or https."""
    with pytest.raises(ValueError, match=r"redirect_uris|is no URL|MCP is spoken"):
        OAuthClientProvider("https://mcp.example/mcp", OAuthClientMetadata(redirect_uris=[uri]))


def test_certificates_of_the_users_own_are_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: parameter `ssl`, for authorization servers with a private authority."""
    seen: list[object] = []

    async def fetch(*_: Any, ssl: object, **__: Any) -> HTTPAnswer:
        seen.append(ssl)
        return HTTPAnswer(404, {}, b"")

    async def main() -> None:
        monkeypatch.setattr(web_module, "fetch", fetch)
        context = ssl.create_default_context()
        described = OAuthClientMetadata(redirect_uris=[REDIRECT_URI])
        provider = OAuthClientProvider("https://127.0.0.1/mcp", described, ssl=context)
        with pytest.raises(OAuthFlowError, match="publishes no protected resource metadata"):
            await provider.challenged(401, {}, b"")
        assert seen == [context, context]

    asyncio.run(main())
