"""Proxies of the environment, asked by real sockets."""

from __future__ import annotations

import asyncio
import re
import ssl
from pathlib import Path

import pytest

from leanmcp.errors import CannotConnect
from leanmcp.oauth.errors import OAuthFlowError
from leanmcp.oauth.web import Web
from leanmcp.transports.http_client import HTTPTransport
from leanmcp.transports.http_client_proxy import proxy_for
from leanmcp.transports.http_client_url import parse_url
from tests.support.bad_http_server import BadServer, bad_server
from tests.support.mistakes import codes_of
from tests.support.outgoing import outgoing
from tests.support.processes import DEADLINE
from tests.support.proxy import running_proxy

BASIC = "Basic dTpwQHNz"  # u:p@ss


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the machine that runs the tests has is nothing to them."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


def test_a_plain_request_names_the_whole_url_to_the_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spec: RFC 9112 3.2.2, absolute-form; RFC 9110 11.7, the proxy's credentials, on each request."""

    async def main() -> None:
        async with asyncio.timeout(DEADLINE), bad_server() as server, running_proxy(server.port) as proxy:
            monkeypatch.setenv("HTTP_PROXY", f"http://u:p%40ss@127.0.0.1:{proxy.port}")
            transport = HTTPTransport("http://tools.example/mcp?a=1", headers={"X-Own": "1"})
            for _ in range(2):
                await transport.request(outgoing())
            await transport.close()
            assert [request.line for request in server.requests] == ["POST http://tools.example/mcp?a=1 HTTP/1.1"] * 2
            for request in server.requests:
                assert request.fields["host"] == "tools.example"
                assert request.fields["proxy-authorization"] == BASIC
                assert request.fields["x-own"] == "1"
            assert server.connections == 1

    asyncio.run(main())


def _secure(certificate: tuple[Path, Path]) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    return context


def test_an_encrypted_request_goes_through_a_tunnel(
    monkeypatch: pytest.MonkeyPatch, certificate: tuple[Path, Path]
) -> None:
    """Spec: RFC 9110 9.3.6; the proxy sees host and port, and the server nothing of the proxy's."""

    async def main() -> None:
        bad = BadServer()
        server = await asyncio.start_server(bad.serve, "127.0.0.1", 0, ssl=_secure(certificate))
        async with asyncio.timeout(DEADLINE), running_proxy(server.sockets[0].getsockname()[1]) as proxy:
            monkeypatch.setenv("https_proxy", f"u:p%40ss@127.0.0.1:{proxy.port}")
            context = ssl.create_default_context(cafile=str(certificate[0]))
            transport = HTTPTransport("https://tools.example/mcp", headers={"Authorization": "Bearer x"}, ssl=context)
            for _ in range(2):
                await transport.request(outgoing())
            await transport.close()
            assert proxy.heads == [
                f"CONNECT tools.example:443 HTTP/1.1\r\nHost: tools.example:443\r\nProxy-Authorization: {BASIC}\r\n\r\n"
            ]
            assert [request.line for request in bad.requests] == ["POST /mcp HTTP/1.1"] * 2
            assert [request.fields.get("proxy-authorization") for request in bad.requests] == [None, None]
            assert bad.requests[0].fields["authorization"] == "Bearer x"
            with pytest.raises(CannotConnect, match="its certificate is not trusted") as caught:
                await HTTPTransport("https://other.example/mcp", ssl=context).request(outgoing())
            assert codes_of(caught.value.message) == ["LM621"]
            server.close()

    asyncio.run(main())


@pytest.mark.parametrize(
    ("url", "answer", "text"),
    [
        (
            "https://tools.example/mcp",
            b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n",
            "the proxy 127.0.0.1:{port} (ALL_PROXY) answered '407 Proxy Authentication Required'; it wants "
            "ALL_PROXY=http://USER:PASSWORD@127.0.0.1:{port}",
        ),
        (
            "http://tools.example/mcp",
            b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n",
            "it wants ALL_PROXY=http://USER:PASSWORD@127.0.0.1:{port}",
        ),
        (
            "https://tools.example/mcp",
            b"HTTP/1.1 403 Forbidden\r\n\r\n",
            "the proxy 127.0.0.1:{port} (ALL_PROXY) answered '403 Forbidden'; correct the URL, or name the host in "
            "NO_PROXY",
        ),
        ("https://tools.example/mcp", b"220 mail\r\n\r\n", "the proxy 127.0.0.1:{port} (ALL_PROXY) does not answer in"),
        ("https://tools.example/mcp", b"HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\n", "does not answer in HTTP"),
        ("https://tools.example/mcp", b"HTTP/1.1 200 OK\r\nA: 1\r\n", "does not answer in HTTP"),
    ],
)
def test_a_proxy_that_does_not_want_to_is_told_of(
    monkeypatch: pytest.MonkeyPatch, url: str, answer: bytes, text: str
) -> None:
    """Ours: U13; with the variable to change. What a proxy sends before TLS stands is taken for nobody's answer."""

    async def main() -> None:
        async with asyncio.timeout(DEADLINE), running_proxy(0, answer) as proxy:
            monkeypatch.setenv("ALL_PROXY", f"http://127.0.0.1:{proxy.port}/")
            transport = HTTPTransport(url)
            with pytest.raises(CannotConnect, match=re.escape(text.format(port=proxy.port))) as caught:
                await transport.request(outgoing())
            assert caught.value.message.startswith(f"Cannot connect to {url}: ")
            assert codes_of(caught.value.message) == ["LM619"]
            await transport.close()

    asyncio.run(main())


def test_a_proxy_that_is_not_there_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: U13; it is the proxy that does not listen, not the server."""
    monkeypatch.setenv("https_proxy", "http://no-such-proxy.invalid:3128")
    text = (
        "Cannot connect to https://tools.example/mcp through the proxy no-such-proxy.invalid:3128 (https_proxy): "
        "the host name 'no-such-proxy.invalid' does not resolve; check its spelling"
    )

    async def main() -> None:
        async with asyncio.timeout(DEADLINE):
            with pytest.raises(CannotConnect, match=re.escape(text)):
                await HTTPTransport("https://tools.example/mcp").start()

    asyncio.run(main())


def test_a_proxy_is_no_way_to_private_addresses(
    monkeypatch: pytest.MonkeyPatch, certificate: tuple[Path, Path]
) -> None:
    """Spec: security-considerations, "Communication Security" 1; a name that means nothing here is the proxy's."""

    async def main() -> None:
        bad = BadServer()
        server = await asyncio.start_server(bad.serve, "127.0.0.1", 0, ssl=_secure(certificate))
        async with asyncio.timeout(DEADLINE), running_proxy(server.sockets[0].getsockname()[1]) as proxy:
            monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{proxy.port}")
            context = ssl.create_default_context()
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            web = Web(parse_url("https://tools.example/mcp"), allow_private=False, ssl=context)
            with pytest.raises(OAuthFlowError, match=r"10\.0\.0\.1, an address of a private network"):
                await web.get("https://10.0.0.1/x", "the document")
            assert bad.requests == []
            assert (await web.get("https://no-such-host.invalid/x", "the document")).status == 200
            server.close()

    asyncio.run(main())


@pytest.mark.parametrize(
    ("url", "environment", "variable"),
    [
        ("https://a.example/", {"https_proxy": "http://p:1"}, "https_proxy"),
        ("https://a.example/", {"HTTPS_PROXY": "p:1"}, "HTTPS_PROXY"),
        ("https://a.example/", {"https_proxy": "p:1", "HTTPS_PROXY": "q:1"}, "https_proxy"),
        ("https://a.example/", {"https_proxy": "", "HTTPS_PROXY": "q:1", "all_proxy": "r:1"}, None),
        ("https://a.example/", {"http_proxy": "p:1"}, None),
        ("https://a.example/", {"all_proxy": "p:1"}, "all_proxy"),
        ("http://a.example/", {"HTTP_PROXY": "p:1"}, "HTTP_PROXY"),
        ("http://a.example/", {"HTTP_PROXY": "p:1", "REQUEST_METHOD": "GET"}, None),
        ("http://a.example/", {"http_proxy": "p:1", "REQUEST_METHOD": "GET"}, "http_proxy"),
        ("http://localhost/", {"http_proxy": "p:1"}, None),
        ("http://127.0.0.2:80/", {"all_proxy": "p:1"}, None),
        ("http://[::1]/", {"all_proxy": "p:1"}, None),
        ("http://a.example/", {}, None),
    ],
)
def test_the_environment_names_the_proxy(url: str, environment: dict[str, str], variable: str | None) -> None:
    """Ours: as curl and httpx read it; never for this machine, and never from a field of a CGI request."""
    proxy = proxy_for(parse_url(url).origin, environment)
    assert (None if proxy is None else proxy.variable) == variable


@pytest.mark.parametrize(
    ("host", "excluded", "direct"),
    [
        ("a.example", "*", True),
        ("a.example", "b.example, A.Example", True),
        ("a.example", "example", True),
        ("a.example", ".example", True),
        ("a.example", "*.example", True),
        ("a.example", "ample", False),
        ("a.example:8443", "a.example:8443", True),
        ("a.example", "a.example:8443", False),
        ("10.1.2.3", "10.0.0.0/8", True),
        ("11.1.2.3", "10.0.0.0/8", False),
        ("a.example", "10.0.0.0/8", False),
        ("10.1.2.3", "10.1.2.3", True),
        ("[fd00::1]", "fd00::1", True),
        ("[fd00::1]:8443", "[fd00::1]:8443", True),
        ("[fd00::1]", "fd00::/8", True),
        ("a.example", ":, /, ,", False),
    ],
)
def test_no_proxy_names_who_is_asked_directly(host: str, excluded: str, direct: bool) -> None:
    """Ours: hosts, domains, addresses and networks, each with a port or without."""
    environment = {"https_proxy": "http://p:1", "NO_PROXY": excluded}
    assert (proxy_for(parse_url(f"https://{host}/").origin, environment) is None) is direct


@pytest.mark.parametrize("value", ["socks5://p:1", "https://p:1", "http://", "http://p:x", "http://u:secret@:1"])
def test_what_is_no_proxy_is_told(value: str) -> None:
    """Ours: U10; without the value, in which a password may stand."""
    with pytest.raises(CannotConnect, match=r"^Cannot connect to a\.example:443: https_proxy names ") as caught:
        proxy_for(parse_url("https://a.example/").origin, {"https_proxy": value})
    assert "secret" not in caught.value.message
    assert codes_of(caught.value.message) == ["LM619"]
