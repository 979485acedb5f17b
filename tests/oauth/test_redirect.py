"""The listener that a browser comes back to."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest

from leanmcp.client import Client
from leanmcp.errors import CannotConnect
from leanmcp.oauth import LoopbackRedirect, OAuthClientMetadata, OAuthClientProvider, OAuthFlowError
from tests.support.authorization import world
from tests.support.processes import DEADLINE, VERSION

STATE = "s-1"
URL = f"https://as.example/authorize?{urlencode({'state': STATE})}"


async def browse(redirect_uri: str, request: str) -> bytes:
    """Send octets and return the answer to its end."""
    parts = urlsplit(redirect_uri)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    writer.write(request.encode())
    answer = await reader.read()
    writer.close()
    return answer


def get(query: dict[str, str], path: str = "/callback") -> str:
    """Return a request."""
    return f"GET {path}?{urlencode(query)} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


def listening(check: Callable[[LoopbackRedirect, list[str]], Awaitable[None]], **options: Any) -> None:
    """Run `check` with a listener that has shown its URL."""

    async def main() -> None:
        shown: list[str] = []
        redirect = LoopbackRedirect(shown.append, **options)
        try:
            async with asyncio.timeout(DEADLINE):
                await redirect.redirect_handler(URL)
                await check(redirect, shown)
        finally:
            redirect.close()

    asyncio.run(main())


def test_redirect_is_received() -> None:
    """Spec: RFC 8252 7.3; all parameters of RFC 9207 and 6749 4.1.2 arrive decoded."""

    async def check(redirect: LoopbackRedirect, shown: list[str]) -> None:
        assert shown == [URL]
        query = {"code": "a b&c", "state": STATE, "iss": "https://as.example/x?"}
        answer = await browse(redirect.redirect_uri, get(query))
        result = await redirect.callback_handler()
        assert (result.code, result.state, result.iss, result.error) == ("a b&c", STATE, "https://as.example/x?", None)
        assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
        assert b"Content-Security-Policy: default-src 'none'" in answer
        assert b"a b&c" not in answer

    listening(check)


def test_error_is_received_too() -> None:
    """Spec: basic/authorization, "Authorization Response Validation": error responses are validated alike."""

    async def check(redirect: LoopbackRedirect, shown: list[str]) -> None:
        answer = await browse(redirect.redirect_uri, get({"error": "access_denied", "state": STATE}))
        result = await redirect.callback_handler()
        assert (result.code, result.error) == ("", "access_denied")
        assert b"Not authorized" in answer

    listening(check)


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (get({"code": "evil", "state": "guess"}), b"400"),
        (get({"code": "evil"}), b"400"),
        (f"GET /callback?code=x&state={STATE}&state={STATE} HTTP/1.1\r\n\r\n", b"400"),
        (get({"code": "x", "state": STATE}, "/favicon.ico"), b"404"),
        (get({"code": "x", "state": STATE}).replace("GET", "POST"), b"404"),
        ("no http\r\n\r\n", b"404"),
        ("GET " + "x" * 20_000, b""),
    ],
)
def test_strangers_do_not_end_the_wait(request_: str, status: bytes) -> None:
    """Ours: any web page can make a browser ask this port; only the right state counts."""

    async def check(redirect: LoopbackRedirect, shown: list[str]) -> None:
        try:
            answer = await browse(redirect.redirect_uri, request_)
        except ConnectionResetError:
            answer = b""
        assert answer[9:12] == status
        await browse(redirect.redirect_uri, get({"code": "good", "state": STATE}))
        assert (await redirect.callback_handler()).code == "good"

    listening(check)


def test_nobody_came_back() -> None:
    """Ours: every wait is bounded."""

    async def check(redirect: LoopbackRedirect, shown: list[str]) -> None:
        with pytest.raises(OAuthFlowError, match="nobody came back"):
            await redirect.callback_handler()

    listening(check, timeout=0.01)


def test_redirect_is_not_waited_for_before_somebody_was_sent_away() -> None:
    """Ours: nobody would come."""

    async def main() -> None:
        redirect = LoopbackRedirect(lambda url: None)
        with pytest.raises(RuntimeError, match="redirect_handler comes first"):
            await redirect.callback_handler()
        redirect.close()

    asyncio.run(main())


def test_port_is_free_again_after_the_redirect() -> None:
    """Ours: nothing listens longer than it must, and the next login has the same port."""

    async def check(redirect: LoopbackRedirect, shown: list[str]) -> None:
        await browse(redirect.redirect_uri, get({"code": "x", "state": STATE}))
        await redirect.callback_handler()
        with pytest.raises(OSError, match=r"refused|Connect call failed"):
            await browse(redirect.redirect_uri, "")
        await redirect.redirect_handler(URL)
        await browse(redirect.redirect_uri, get({"code": "y", "state": STATE}))
        assert (await redirect.callback_handler()).code == "y"

    listening(check)


def test_taken_port_is_told() -> None:
    """Ours: before anybody is asked."""
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(CannotConnect, match="cannot be listened on"):
        LoopbackRedirect(port=taken.getsockname()[1])


def test_by_default_the_url_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    """Ours: no browser is opened without the user's word; standard output stays clean."""

    async def main() -> None:
        redirect = LoopbackRedirect()
        await redirect.redirect_handler(URL)
        redirect.close()

    asyncio.run(main())
    printed = capsys.readouterr()
    assert URL in printed.err
    assert printed.out == ""


def test_whole_login_through_a_browser() -> None:
    """Ours: provider, listener and servers together."""

    async def main() -> None:
        async with world() as made:
            browsers: list[asyncio.Task[bytes]] = []

            async def show(url: str) -> None:
                result = made.issuer.authorize(url)
                query = get({"code": result.code, "state": result.state or ""})
                browsers.append(asyncio.create_task(browse(redirect.redirect_uri, query)))

            redirect = LoopbackRedirect(show)
            provider = OAuthClientProvider(
                made.server.url,
                OAuthClientMetadata(redirect_uris=[redirect.redirect_uri]),
                None,
                redirect.redirect_handler,
                redirect.callback_handler,
            )
            async with Client(made.server.url, mode=VERSION, auth=provider) as client:
                await client.list_tools()
            assert b"200 OK" in await browsers[0]
            redirect.close()

    asyncio.run(main())
