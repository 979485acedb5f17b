"""Secrets show up nowhere but where they belong."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest

from leanmcp.client import Client
from leanmcp.errors import MCPError
from leanmcp.oauth import (
    AuthorizationCodeResult,
    InMemoryTokenStorage,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthToken,
)
from leanmcp.oauth.authorization_code import Pending, PKCEParameters
from leanmcp.oauth.provider import _Sent
from tests.support.authorization import Got, Reply, world
from tests.support.processes import VERSION


@pytest.mark.parametrize(
    "value",
    [
        OAuthToken(access_token="hidden", refresh_token="hidden"),
        OAuthClientInformationFull(client_id="shown", client_secret="hidden"),
        AuthorizationCodeResult(code="hidden", state="hidden", iss="https://shown.example"),
        PKCEParameters("hidden", "shown"),
        Pending("https://shown.example?state=hidden", "https://shown.example", "hidden", PKCEParameters("hidden", "x")),
        _Sent("hidden", 3),
    ],
)
def test_no_repr_shows_a_secret(value: Any) -> None:
    """Spec: security-considerations, "Token Theft": tokens in logs."""
    assert "hidden" not in repr(value)
    assert "hidden" not in str(value)
    assert "hidden" not in str(getattr(value, "__rich_repr__", list)())


def test_repr_shows_what_is_not_secret() -> None:
    """Ours: enough to tell what is wrong."""
    token = OAuthToken(access_token="x", scope="a", issuer="https://as.example")
    assert repr(token) == (
        "OAuthToken(access_token='***', token_type='Bearer', scope='a', issuer='https://as.example')"
    )
    assert "redirect_uris=['http://localhost/b']" in repr(OAuthClientMetadata(redirect_uris=["http://localhost/b"]))


def test_no_log_and_no_error_shows_a_secret(caplog: pytest.LogCaptureFixture) -> None:
    """Ours: a whole life of a client, with refusals that repeat what was sent, at the level of debugging."""
    told: list[str] = []

    async def main() -> None:
        async with world() as made:
            provider = made.provider(
                storage=InMemoryTokenStorage(),
                client_information=OAuthClientInformationFull(
                    client_id="me", client_secret="client-secret-x", issuer=made.issuer.issuer
                ),
            )
            made.issuer.extra["token_endpoint_auth_methods_supported"] = ["client_secret_post"]
            made.issuer.extra["authorization_response_iss_parameter_supported"] = None
            async with Client(made.server.url, mode=VERSION, auth=provider, cache=False) as client:
                await client.list_tools()
                made.issuer.valid.clear()
                usual = made.issuer.answer
                for status in (400, 500):

                    async def echo(got: Got, status: int = status) -> Reply:
                        if got.path != "/token":
                            return await usual(got)
                        return Reply(
                            status, {"error": "invalid_grant", "error_description": " ".join(got.form.values())}
                        )

                    made.issuer.answer = echo  # type: ignore[method-assign]
                    with pytest.raises(MCPError) as caught:
                        await client.list_tools()
                    told.append(f"{caught.value!r} {caught.value} {caught.value.data!r}")
            forms = made.issuer.token_requests
            secrets = [f"access-{made.issuer.port}-1", *(form[name] for form in forms for name in SECRET & form.keys())]
            assert [form["grant_type"] for form in forms] == [
                "authorization_code",
                "refresh_token",
                "authorization_code",
                "refresh_token",
            ]
            assert len(told) == 2
            texts = [*told, caplog.text, repr(provider), repr(vars(provider))]
            assert not [secret for secret in secrets for text in texts if secret in text]

    caplog.set_level(logging.DEBUG)
    asyncio.run(main())


SECRET = {"code", "code_verifier", "refresh_token", "client_secret"}
