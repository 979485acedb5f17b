"""A person authorizes the client: what is sent, and what is made of what comes back."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest

from leanmcp.client import Client
from leanmcp.errors import Unauthorized
from leanmcp.oauth import (
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthFlowError,
    OAuthTokenError,
    PKCEParameters,
)
from leanmcp.oauth.authorization_code import prepare
from leanmcp.oauth.models import OAuthMetadata
from leanmcp.oauth.web import Web
from leanmcp.transports.http_client_url import parse_url
from tests.oauth.test_discovery import list_tools
from tests.support.authorization import REDIRECT_URI, Reply, world
from tests.support.processes import VERSION


def test_first_request_is_refused_and_the_second_carries_a_token() -> None:
    """Spec: basic/authorization, "Authorization Flow Steps" and "Token Requirements" 1."""

    async def main() -> None:
        async with world() as made:
            async with Client(made.server.url, mode=VERSION, auth=made.provider()) as client:
                await client.list_tools()
                await client.list_tools(cache_mode="refresh")
            token = f"Bearer access-{made.issuer.port}-1"
            assert made.server.tokens == ["", token, token]
            asked, (form,) = made.issuer.asked[0], made.issuer.token_requests
            assert asked["redirect_uri"] == REDIRECT_URI
            assert asked["client_id"] == form["client_id"] == f"client-{made.issuer.port}-0"
            assert len(asked["state"]) >= 32
            assert "scope" not in asked
            assert set(form) == {"grant_type", "code", "redirect_uri", "code_verifier", "resource", "client_id"}
            assert all("?" not in got.target for got in made.server.got)

    asyncio.run(main())


def test_pkce_pairs_are_new_each_time_and_long_enough() -> None:
    """Spec: security-considerations, "Authorization Code Protection"; RFC 7636 4.1."""
    pairs = [PKCEParameters.generate() for _ in range(10)]
    assert len({pair.code_verifier for pair in pairs}) == 10
    assert all(re.fullmatch(r"[A-Za-z0-9\-._~]{43,128}", pair.code_verifier) for pair in pairs)
    assert all(pair.code_verifier not in repr(pair) for pair in pairs)


@pytest.mark.parametrize(
    ("methods", "text"),
    [(None, "says nothing of PKCE"), ([], "says nothing of PKCE"), (["plain"], "offers PKCE only with plain")],
)
def test_server_without_pkce_is_refused(methods: Any, text: str) -> None:
    """Spec: "Authorization Code Protection": without code_challenge_methods_supported, refuse to proceed."""

    async def main() -> None:
        async with world() as made:
            made.issuer.extra["code_challenge_methods_supported"] = methods
            with pytest.raises(OAuthFlowError, match=text):
                await list_tools(made)
            assert made.logins == 0

    asyncio.run(main())


@pytest.mark.parametrize("state", [None, "", "another", "ü"])
def test_answer_with_another_state_is_dropped(state: str | None) -> None:
    """Spec: security-considerations, "Open Redirection": discard results without the original state."""

    async def main() -> None:
        async with world() as made:
            made.changes = {"state": state}
            with pytest.raises(OAuthFlowError, match="state is not the one that was sent"):
                await list_tools(made)
            assert made.issuer.token_requests == []

    asyncio.run(main())


@pytest.mark.parametrize("promised", [True, False])
@pytest.mark.parametrize("iss", ["right", "absent", "{}/", "https://attacker.example", "HTTP{}"])
def test_iss_is_compared_letter_by_letter(promised: bool, iss: str) -> None:
    """Spec: basic/authorization, "Authorization Response Validation", all four rows of the table."""

    async def main() -> None:
        async with world() as made:
            made.issuer.extra["authorization_response_iss_parameter_supported"] = promised or None
            issuer = made.issuer.issuer
            sent = {"right": issuer, "absent": None, "HTTP{}": issuer.replace("http", "HTTP")}
            made.changes = {"iss": sent.get(iss, iss.format(issuer))}
            if iss == "right" or (iss == "absent" and not promised):
                await list_tools(made)
                return
            with pytest.raises(OAuthFlowError, match="it is dropped"):
                await list_tools(made)
            assert made.issuer.token_requests == []

    asyncio.run(main())


def test_error_of_the_server_is_told() -> None:
    """Ours: a refusal is readable; control characters in it are not shown."""

    async def main() -> None:
        async with world() as made:
            made.changes = {"code": "", "error": "access_denied", "error_description": "not\x1b[2J you"}
            with pytest.raises(OAuthFlowError, match=re.escape("(access_denied: not [2J you)")):
                await list_tools(made)

    asyncio.run(main())


def test_error_of_another_server_is_not_told() -> None:
    """Spec: "Authorization Response Validation": on mismatch neither error nor error_description is shown."""

    async def main() -> None:
        async with world() as made:
            made.changes = {"code": "", "error": "evil", "error_description": "call 555", "iss": "https://evil.example"}
            with pytest.raises(OAuthFlowError) as caught:
                await list_tools(made)
            assert "evil" not in caught.value.message
            assert "555" not in caught.value.message

    asyncio.run(main())


@pytest.mark.parametrize(
    ("challenge", "published", "own", "asked"),
    [
        ("a b", ["c"], None, "a b"),
        (None, ["c", "d"], None, "c d"),
        (None, None, None, None),
        (None, ["c"], "e", "e"),
        ("a", ["c"], "e", "a"),
    ],
)
def test_scopes_come_from_the_challenge_or_the_metadata(
    challenge: str | None, published: list[str] | None, own: str | None, asked: str | None
) -> None:
    """Spec: basic/authorization, "Scope Selection Strategy". Ours: the user's own choice before the metadata's."""

    async def main() -> None:
        async with world() as made:
            made.server.challenge = {"scope": challenge} if challenge else {}
            made.server.extra = {"scopes_supported": published} if published else {}
            described = OAuthClientMetadata(redirect_uris=[REDIRECT_URI], scope=own)
            await list_tools(made, client_metadata=described)
            assert made.issuer.asked[0].get("scope") == asked

    asyncio.run(main())


@pytest.mark.parametrize("listed", [True, False])
@pytest.mark.parametrize("wanted", [True, False])
def test_offline_access_is_asked_for_where_it_is_listed_and_wanted(listed: bool, wanted: bool) -> None:
    """Spec: basic/authorization, "Refresh Tokens"."""

    async def main() -> None:
        async with world() as made:
            made.server.challenge = {"scope": "a"}
            made.issuer.extra["scopes_supported"] = ["a", "offline_access"] if listed else ["a"]
            grants = ["authorization_code", *(["refresh_token"] if wanted else [])]
            described = OAuthClientMetadata(redirect_uris=[REDIRECT_URI], grant_types=grants)
            await list_tools(made, client_metadata=described)
            asked = made.issuer.asked[0]
            assert asked["scope"] == ("a offline_access" if listed and wanted else "a")
            assert asked.get("prompt") == ("consent" if listed and wanted else None)
            assert made.issuer.clients[0]["grant_types"] == grants

    asyncio.run(main())


@pytest.mark.parametrize(
    ("endpoint", "text"),
    [
        ("file:///bin/sh", "no usable URL"),
        ("javascript:alert(1)", "no usable URL"),
        ("http://as.example/authorize", "must be https"),
        (None, "has no authorization_endpoint"),
    ],
)
def test_nothing_but_web_pages_is_shown_to_the_user(endpoint: str | None, text: str) -> None:
    """Ours: a URL that a server chose starts no program (CVE-2025-6514 of another client)."""

    async def main() -> None:
        async with world() as made:
            made.issuer.extra["authorization_endpoint"] = endpoint
            with pytest.raises(OAuthFlowError, match=text):
                await list_tools(made)
            assert made.logins == 0

    asyncio.run(main())


def test_page_that_is_shown_to_the_user_hides_nothing() -> None:
    """Ours: it is printed on terminals; what they obey, and what turns the direction of writing, is encoded."""

    async def main() -> None:
        async with world() as made:
            web = Web(parse_url(made.server.url))
            metadata = OAuthMetadata(
                issuer=made.issuer.issuer,
                token_endpoint=f"{made.issuer.origin}/token",
                authorization_endpoint=f" {made.issuer.origin}/a\x9b2J\u202e?x=\u202e",
                code_challenge_methods_supported=["S256"],
            )
            client = OAuthClientInformationFull(client_id="me")
            pending = prepare(web, metadata, client, REDIRECT_URI, made.server.url, None)
            assert pending.url.startswith(f"{made.issuer.origin}/a%C2%9B2J%E2%80%AE?x=%E2%80%AE&response_type=code&")

    asyncio.run(main())


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        (
            Reply(400, {"error": "invalid_grant", "error_description": "code is used"}),
            "(400, invalid_grant: code is used)",
        ),
        (Reply(500, b"<h1>secret trace</h1>"), "refuses to give a token (500)"),
        (Reply(200, {"token_type": "Bearer"}), "missing required field `access_token`"),
        (Reply(200, {"access_token": "x", "token_type": "DPoP"}), "type 'DPoP'; only Bearer"),
        (Reply(200, {"access_token": "x\r\nEvil: y"}), "fits into no header field"),
        (Reply(302, b"", Location="https://evil.example"), "refuses to give a token (302)"),
    ],
)
def test_token_endpoint_that_gives_no_token(reply: Reply, text: str) -> None:
    """Ours: errors tell what happened; nothing is followed or sent again."""

    async def main() -> None:
        async with world() as made:
            made.issuer.denies = [reply]
            with pytest.raises(OAuthTokenError, match=re.escape(text)) as caught:
                await list_tools(made)
            assert caught.value.where == f"{made.issuer.origin}/token"
            assert len(made.issuer.token_requests) == 1
            assert made.server.tokens == [""]

    asyncio.run(main())


def test_brand_new_token_that_is_refused_ends_it() -> None:
    """Ours: one login for one request; the error is the server's 401."""

    async def main() -> None:
        async with world() as made:
            made.server.replies["/mcp"] = Reply(401, b"", WWW_Authenticate="Bearer")
            with pytest.raises(Unauthorized, match="not, or no longer, accepted"):
                await list_tools(made)
            assert made.logins == 1
            assert len(made.server.tokens) == 2

    asyncio.run(main())


def test_without_handlers_the_error_names_them() -> None:
    """Ours: nothing is opened without the user's callback."""

    async def main() -> None:
        async with world() as made:
            provider = made.provider()
            provider._redirect_handler = None
            async with Client(made.server.url, mode=VERSION, auth=provider) as client:
                with pytest.raises(OAuthFlowError, match=r"pass redirect_uris, redirect_handler and callback_handler"):
                    await client.list_tools()
            assert made.issuer.clients == []

    asyncio.run(main())
