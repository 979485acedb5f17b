"""Which client id is used where."""

from __future__ import annotations

import asyncio
import re
import time
from typing import Any

import msgspec
import pytest

from leanmcp.oauth import (
    InMemoryTokenStorage,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthFlowError,
    OAuthRegistrationError,
    OAuthToken,
    OAuthTokenError,
)
from tests.oauth.test_discovery import list_tools
from tests.support.authorization import REDIRECT_URI, AuthorizationServer, Reply, World, world

CLIENT_URL = "https://app.example/client.json"


class PlainStorage:
    """Keeps one client, as storages written for the official SDK do."""

    def __init__(self, client: OAuthClientInformationFull | None = None) -> None:
        self.client = client
        self.tokens: OAuthToken | None = None

    async def get_tokens(self) -> OAuthToken | None:
        """Return the tokens."""
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """Keep tokens."""
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        """Return the client."""
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Keep a client."""
        self.client = client_info


def given(made: World, **members: Any) -> OAuthClientInformationFull:
    """Return a client registered by hand."""
    return OAuthClientInformationFull(**{"client_id": "by-hand", "issuer": made.issuer.issuer, **members})


def test_registered_by_hand_comes_first() -> None:
    """Spec: client-registration, the order at its beginning."""

    async def main() -> None:
        async with world() as made:
            made.issuer.extra["client_id_metadata_document_supported"] = True
            await list_tools(made, client_information=given(made), client_metadata_url=CLIENT_URL)
            assert made.issuer.asked[0]["client_id"] == "by-hand"
            assert made.issuer.clients == []

    asyncio.run(main())


@pytest.mark.parametrize("supported", [True, False, None])
def test_metadata_document_where_it_is_supported_else_registration(supported: bool | None) -> None:
    """Spec: client-registration, "Advertising CIMD Support"."""

    async def main() -> None:
        async with world() as made:
            made.issuer.extra["client_id_metadata_document_supported"] = supported
            await list_tools(made, client_metadata_url=CLIENT_URL)
            registered = f"client-{made.issuer.port}-0"
            assert made.issuer.asked[0]["client_id"] == (CLIENT_URL if supported else registered)
            assert made.issuer.token_requests[0]["client_id"] == made.issuer.asked[0]["client_id"]

    asyncio.run(main())


def test_registration_says_what_kind_of_program_this_is() -> None:
    """Spec: client-registration, "Application Type and Redirect URI Constraints"; RFC 7591 2."""

    async def main() -> None:
        async with world() as made:
            made.server.challenge = {"scope": "a"}
            described = OAuthClientMetadata(redirect_uris=[REDIRECT_URI], client_name="Ours")
            await list_tools(made, client_metadata=described)
            assert made.issuer.clients[0] == {
                "application_type": "native",
                "client_id": f"client-{made.issuer.port}-0",
                "client_name": "Ours",
                "grant_types": ["authorization_code", "refresh_token"],
                "redirect_uris": [REDIRECT_URI],
                "response_types": ["code"],
                "scope": "a",
                "token_endpoint_auth_method": "none",
            }
            web = OAuthClientMetadata(redirect_uris=["https://app.example/back"], application_type="web")
            await list_tools(made, client_metadata=web)
            assert made.issuer.clients[1]["application_type"] == "web"

    asyncio.run(main())


def test_without_any_way_to_a_client_id_the_error_says_what_to_do() -> None:
    """Spec: client-registration 4: prompt the user to enter the client information."""

    async def main() -> None:
        async with world() as made:
            made.issuer.extra["registration_endpoint"] = None
            with pytest.raises(OAuthRegistrationError, match=r"pass client_information=.*issuer="):
                await list_tools(made)

    asyncio.run(main())


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        (Reply(400, {"error": "invalid_redirect_uri"}), "invalid_redirect_uri"),
        (Reply(201, {"client_secret": "x"}), "missing required field `client_id`"),
        (Reply(201, {"client_id": "x", "token_endpoint_auth_method": "client_secret_basic"}), "with no secret"),
        (Reply(201, {"client_id": "x", "token_endpoint_auth_method": "private_key_jwt"}), "for 'private_key_jwt'"),
    ],
)
def test_failed_registration_is_told(reply: Reply, text: str) -> None:
    """Spec: client-registration: surface a meaningful error when a registration is rejected."""

    async def main() -> None:
        async with world() as made:
            made.issuer.replies["/register"] = reply
            with pytest.raises(OAuthRegistrationError, match=re.escape(text)) as caught:
                await list_tools(made)
            if reply.status == 400:
                assert "application_type='native'" in caught.value.message
                assert REDIRECT_URI in caught.value.message
            assert made.logins == 0

    asyncio.run(main())


def test_empty_members_count_as_left_out() -> None:
    """Ours: servers write null and "" for what they do not have."""

    async def main() -> None:
        async with world() as made:
            members = {"client_id": "x", "client_secret": None, "client_uri": "", "token_endpoint_auth_method": ""}
            made.issuer.replies["/register"] = Reply(201, members)
            await list_tools(made)
            assert made.issuer.asked[0]["client_id"] == "x"

    asyncio.run(main())


def test_registration_is_used_again() -> None:
    """Ours: one registration per authorization server, not per run."""

    async def main() -> None:
        async with world() as made:
            storage = InMemoryTokenStorage()
            for _ in range(2):
                made.issuer.valid.clear()
                made.issuer.refreshes = False
                await list_tools(made, storage=storage)
            assert len(made.issuer.clients) == 1
            assert made.logins == 2

    asyncio.run(main())


def test_expired_or_forgotten_client_is_registered_anew() -> None:
    """Spec: RFC 7591 3.2.1 (client_secret_expires_at), RFC 6749 5.2 (invalid_client)."""

    async def main() -> None:
        async with world() as made:
            old = given(made, client_secret="s", client_secret_expires_at=int(time.time()) - 1)
            await list_tools(made, storage=PlainStorage(old))
            assert made.issuer.asked[-1]["client_id"] == f"client-{made.issuer.port}-0"

            storage = PlainStorage(given(made))
            provider = made.provider(storage=storage)
            made.issuer.denies = [Reply(401, {"error": "invalid_client"})]
            made.provider = lambda **_: provider  # type: ignore[method-assign]
            with pytest.raises(OAuthTokenError, match="invalid_client"):
                await list_tools(made)
            await list_tools(made)
            assert made.issuer.asked[-1]["client_id"] == f"client-{made.issuer.port}-1"

    asyncio.run(main())


@pytest.mark.parametrize("kind", ["by hand", "stored"])
def test_client_of_another_issuer_is_never_presented(kind: str) -> None:
    """Spec: client-registration, "Authorization Server Binding": an error for what was given, else a registration."""

    async def main() -> None:
        async with world() as made:
            foreign = given(made, issuer="https://old.example", client_secret="old-secret")
            if kind == "by hand":
                with pytest.raises(OAuthFlowError, match=r"registered with https://old\.example"):
                    await list_tools(made, client_information=foreign)
                assert made.issuer.got == []
                return
            await list_tools(made, storage=PlainStorage(foreign))
            assert made.issuer.asked[0]["client_id"] == f"client-{made.issuer.port}-0"
            assert not any(b"by-hand" in got.body or b"old-secret" in got.body for got in made.issuer.got)

    asyncio.run(main())


def test_client_without_issuer_is_bound_to_the_first_one() -> None:
    """Ours: storages of the official SDK know clients without `issuer`; from then on it is fixed."""

    async def main() -> None:
        async with world() as made:
            storage = PlainStorage(given(made, issuer=None))
            await list_tools(made, storage=storage)
            assert made.issuer.asked[0]["client_id"] == "by-hand"
            assert storage.client is not None
            assert storage.client.issuer == made.issuer.issuer
            by_hand = given(made, issuer=None)
            await list_tools(made, client_information=by_hand)
            made.server.issuer = await made.add(AuthorizationServer())
            with pytest.raises(OAuthRegistrationError, match="registered with"):
                await list_tools(made, client_information=by_hand, issuer=made.server.issuer.issuer)
            assert made.server.issuer.token_requests == []

    asyncio.run(main())


def test_issuer_is_chosen_among_several() -> None:
    """Spec: authorization-server-discovery, "Authorization Server Location": the client selects."""

    async def main() -> None:
        async with world() as made:
            servers = ["https://first.example", made.issuer.issuer]
            made.server.extra["authorization_servers"] = servers
            await list_tools(made, client_information=given(made))
            assert made.logins == 1

    asyncio.run(main())


@pytest.mark.parametrize(
    ("advertised", "registered", "sent"),
    [
        (["client_secret_basic"], None, "basic"),
        (["client_secret_post"], None, "post"),
        (None, None, "basic"),
        (["client_secret_basic", "client_secret_post"], "client_secret_post", "post"),
        (["none"], "none", "none"),
    ],
)
def test_secret_is_shown_as_the_server_wants(advertised: list[str] | None, registered: str | None, sent: str) -> None:
    """Spec: RFC 6749 2.3.1, 8414 2 (token_endpoint_auth_methods_supported)."""

    async def main() -> None:
        async with world() as made:
            made.issuer.extra["token_endpoint_auth_methods_supported"] = advertised
            client = given(made, client_id="a b:c", client_secret="s&=ö", token_endpoint_auth_method=registered)
            await list_tools(made, client_information=client)
            (got,) = [got for got in made.issuer.got if got.path == "/token"]
            basic = "Basic " + msgspec.json.encode(b"a+b%3Ac:s%26%3D%C3%B6").decode().strip('"')
            assert got.fields.get("authorization") == (basic if sent == "basic" else None)
            assert got.form.get("client_secret") == ("s&=ö" if sent == "post" else None)
            assert got.form["client_id"] == "a b:c"

    asyncio.run(main())


@pytest.mark.parametrize(
    "url",
    [
        "http://app.example/client.json",
        "https://app.example",
        "https://app.example/",
        "https://app.example/c#x",
        "https://u:p@app.example/c",
        "app.example/c",
    ],
)
def test_document_url_that_cannot_be_a_client_id(url: str) -> None:
    """Spec: client-registration, "Implementation Requirements": https, with a path."""

    async def main() -> None:
        async with world() as made:
            with pytest.raises(ValueError, match="client_metadata_url="):
                made.provider(client_metadata_url=url)

    asyncio.run(main())
