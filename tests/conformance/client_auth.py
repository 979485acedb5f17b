"""What the conformance client does in the scenarios `auth/*`: connect, list, call, with authorization.

In: the server's URL and the facts of the scenario. Out: nothing, or the error that stops the client.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.error import HTTPError
from urllib.parse import parse_qs, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from leanmcp.client import Client
from leanmcp.oauth import (
    AuthorizationCodeResult,
    ClientCredentialsOAuthProvider,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthClientProvider,
    PrivateKeyJWTOAuthProvider,
    SignedJWTParameters,
)

Scenario = Callable[[str, dict[str, Any]], Awaitable[None]]
REDIRECT_URI = "http://localhost:3030/callback"
METADATA_URL = "https://conformance-test.local/client-metadata.json"


class _Stay(HTTPRedirectHandler):
    def redirect_request(self, *arguments: Any) -> Request | None:
        """Follow nothing: the redirect is the answer."""
        return None


class Browser:
    """Agrees to everything at once, and is sent back with a code."""

    def __init__(self) -> None:
        self._location = ""

    async def go(self, url: str) -> None:
        """Ask the authorization server."""
        self._location = await asyncio.to_thread(_location, url)

    async def come_back(self) -> AuthorizationCodeResult:
        """Return what its redirect carries."""
        given = {name: values[0] for name, values in parse_qs(urlsplit(self._location).query).items()}
        return AuthorizationCodeResult(
            code=given.get("code", ""), state=given.get("state"), iss=given.get("iss"), error=given.get("error")
        )


def _location(url: str) -> str:
    try:
        with build_opener(_Stay).open(url, timeout=10) as answer:
            return str(answer.headers.get("Location", ""))
    except HTTPError as redirect:
        with redirect:
            return str(redirect.headers.get("Location", ""))


def with_person(url: str, context: dict[str, Any]) -> OAuthClientProvider:
    """Return a provider for a client that a person authorizes."""
    browser = Browser()
    given = None
    if "client_id" in context:
        given = OAuthClientInformationFull(
            client_id=context["client_id"], client_secret=context.get("client_secret"), issuer=context.get("issuer")
        )
    return OAuthClientProvider(
        url,
        OAuthClientMetadata(client_name="leanmcp conformance", redirect_uris=[REDIRECT_URI]),
        redirect_handler=browser.go,
        callback_handler=browser.come_back,
        client_metadata_url=METADATA_URL,
        client_information=given,
    )


async def use(url: str, context: dict[str, Any]) -> None:
    """Connect, list, and call each tool."""
    await _use(url, with_person(url, context))


async def use_twice(url: str, context: dict[str, Any]) -> None:
    """Go on with the same credentials after the authorization server has changed."""
    await _use(url, with_person(url, context), times=2)


async def with_secret(url: str, context: dict[str, Any]) -> None:
    """Authorize by a client secret."""
    await _use(url, ClientCredentialsOAuthProvider(url, None, context["client_id"], context["client_secret"]))


async def with_key(url: str, context: dict[str, Any]) -> None:
    """Authorize by a signed assertion."""
    signed = SignedJWTParameters(
        issuer=context["client_id"],
        subject=context["client_id"],
        signing_key=context["private_key_pem"],
        signing_algorithm=context["signing_algorithm"],
    )
    await _use(url, PrivateKeyJWTOAuthProvider(url, None, context["client_id"], signed.create_assertion_provider()))


async def leave_out(url: str, context: dict[str, Any]) -> None:
    """Do nothing: an extension of authorization that this client does not have; the checks of the suite say so."""
    print(f"{context.get('name', 'this scenario')} needs an extension that is not supported", file=sys.stderr)


async def _use(url: str, auth: OAuthClientProvider, times: int = 1) -> None:
    async with Client(url, auth=auth) as client:
        for _ in range(times):
            for tool in (await client.list_tools()).tools:
                await client.call_tool(tool.name, {})


SCENARIOS: dict[str, Scenario] = {
    "auth/client-credentials-basic": with_secret,
    "auth/client-credentials-jwt": with_key,
    "auth/authorization-server-migration": use_twice,
    "auth/dpop": leave_out,
    "auth/dpop-nonce": leave_out,
    "auth/enterprise-managed-authorization": leave_out,
    "auth/wif-jwt-bearer": leave_out,
}


def find(name: str) -> Scenario | None:
    """Return what to do in a scenario, None where it is not about authorization."""
    return SCENARIOS.get(name, use) if name.startswith("auth/") else None
