"""A protected server and an authorization server that we did not write."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from urllib.error import HTTPError
from urllib.parse import parse_qs, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

import pytest

from leanmcp.client import Client
from leanmcp.oauth import AuthorizationCodeResult, InMemoryTokenStorage, OAuthClientMetadata, OAuthClientProvider
from tests.support.authorization import REDIRECT_URI
from tests.support.processes import DEADLINE, VERSION
from tests.transports.test_http_client_peers import process


class Stay(HTTPRedirectHandler):
    """Follows nothing."""

    def redirect_request(self, *arguments: object) -> Request | None:
        """Return no request."""
        return None


def location(url: str) -> str:
    """Return where a page redirects to."""
    try:
        build_opener(Stay).open(url, timeout=DEADLINE).close()
    except HTTPError as redirect:
        with redirect:
            return redirect.headers["Location"]
    raise AssertionError(f"{url} does not redirect")


class Person:
    """Opens the URL, and is sent back."""

    def __init__(self) -> None:
        self.asked = 0
        self._location = ""

    async def go(self, url: str) -> None:
        """Open the URL."""
        self.asked += 1
        self._location = await asyncio.to_thread(location, url)

    async def come_back(self) -> AuthorizationCodeResult:
        """Return the parameters of the redirect."""
        given = {name: values[0] for name, values in parse_qs(urlsplit(self._location).query).items()}
        return AuthorizationCodeResult(code=given["code"], state=given["state"], iss=given.get("iss"))


@pytest.fixture(scope="module")
def official() -> Iterator[str]:
    """The URL of a protected server of the official SDK."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.set_inheritable(True)
        with process("tests/fixtures/official_protected.py", str(listener.fileno()), fd=listener.fileno()):
            yield f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"


@pytest.mark.parametrize("mode", [VERSION, "legacy"])
def test_login_use_and_refresh(official: str, mode: str) -> None:
    """Spec: basic/authorization, against the official SDK's server in both eras; registration, PKCE, rotation."""

    async def main() -> None:
        person, storage = Person(), InMemoryTokenStorage()
        described = OAuthClientMetadata(client_name="leanmcp", redirect_uris=[REDIRECT_URI])
        auth = OAuthClientProvider(official, described, storage, person.go, person.come_back)
        async with asyncio.timeout(DEADLINE), Client(official, mode=mode, auth=auth, cache=False) as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == ["logout"]
            before = await storage.get_tokens()
            await client.call_tool("logout")
            await client.list_tools()
            after = await storage.get_tokens()
        assert before is not None
        assert after is not None
        assert before.scope == after.scope == "user"
        assert before.access_token != after.access_token
        assert before.refresh_token != after.refresh_token
        assert before.resource == official
        assert person.asked == 1

    asyncio.run(main())
