"""Programs that act for themselves."""

from __future__ import annotations

import asyncio
import base64
import builtins
import sys
from typing import Any

import msgspec
import pytest

from leanmcp.client import Client
from leanmcp.errors import Forbidden
from leanmcp.oauth import (
    ClientCredentialsOAuthProvider,
    OAuthClientProvider,
    OAuthFlowError,
    OAuthTokenError,
    PrivateKeyJWTOAuthProvider,
    SignedJWTParameters,
    static_assertion_provider,
)
from leanmcp.oauth.token_endpoint import AssertionProvider
from tests.support.authorization import AuthorizationServer, Reply, World, world
from tests.support.processes import VERSION


async def use(made: World, auth: OAuthClientProvider) -> None:
    """List and call."""
    async with Client(made.server.url, mode=VERSION, auth=auth, cache=False) as client:
        await client.list_tools()
        await client.call_tool("x")


@pytest.mark.parametrize("method", ["client_secret_basic", "client_secret_post"])
def test_secret_gets_a_token(method: Any) -> None:
    """Spec: RFC 6749 4.4; resource and scope as for people."""

    async def main() -> None:
        async with world() as made:
            made.server.challenge = {"scope": "a"}
            made.issuer.extra["code_challenge_methods_supported"] = None  # there is no code to protect
            auth = ClientCredentialsOAuthProvider(
                made.server.url, None, "id", "secret", method, "b", made.issuer.issuer
            )
            await use(made, auth)
            (got,) = [got for got in made.issuer.got if got.path == "/token"]
            basic = "Basic " + base64.b64encode(b"id:secret").decode()
            assert got.fields.get("authorization") == (basic if method.endswith("basic") else None)
            body = {"client_secret": "secret"} if method.endswith("post") else {}
            body |= {"client_id": "id", "grant_type": "client_credentials", "resource": made.server.url, "scope": "a"}
            assert got.form == body
            assert made.issuer.clients == []

    asyncio.run(main())


def test_expired_token_is_replaced_by_a_new_one_of_the_same_kind() -> None:
    """Spec: RFC 6749 4.4.3: no refresh token."""

    async def main() -> None:
        async with world() as made:
            auth = ClientCredentialsOAuthProvider(made.server.url, None, "id", "secret", issuer=made.issuer.issuer)
            async with Client(made.server.url, mode=VERSION, auth=auth, cache=False) as client:
                await client.list_tools()
                made.issuer.valid.clear()
                await asyncio.gather(*(client.list_tools() for _ in range(5)))
            assert [form["grant_type"] for form in made.issuer.token_requests] == ["client_credentials"] * 2

    asyncio.run(main())


def test_step_up_is_tried_once() -> None:
    """Spec: basic/authorization, "Step-Up Authorization Flow": such clients may try or abort."""

    async def main() -> None:
        async with world() as made:
            made.server.needs = "write"
            auth = ClientCredentialsOAuthProvider(
                made.server.url, None, "id", "s", scope="r", issuer=made.issuer.issuer
            )
            await use(made, auth)
            assert [form.get("scope") for form in made.issuer.token_requests] == ["r", "r write"]
            made.server.replies["/mcp"] = Reply(403, b"", WWW_Authenticate='Bearer error="insufficient_scope"')
            with pytest.raises(Forbidden):
                await use(made, auth)

    asyncio.run(main())


def test_secret_is_shown_to_its_own_server_alone() -> None:
    """Spec: client-registration, "Authorization Server Binding": the MCP server does not decide who gets it."""

    async def main() -> None:
        async with world() as made:
            thief = await made.add(AuthorizationServer())
            own = made.issuer.issuer
            made.server.issuer = thief
            auth = ClientCredentialsOAuthProvider(made.server.url, None, "id", "secret", issuer=own)
            with pytest.raises(OAuthFlowError, match="its credentials are shown to nobody else"):
                await use(made, auth)
            assert thief.got == []

    asyncio.run(main())


def test_refusal_is_told_without_the_secret() -> None:
    """Ours: a server that repeats what it was sent does not bring it into logs."""

    async def main() -> None:
        async with world() as made:
            made.issuer.denies = [Reply(401, {"error": "invalid_client", "error_description": "no client id:hidden"})]
            auth = ClientCredentialsOAuthProvider(made.server.url, None, "id", "hidden", issuer=made.issuer.issuer)
            with pytest.raises(OAuthTokenError, match=r"invalid_client: no client id:\*\*\*") as caught:
                await use(made, auth)
            assert caught.value.error == "invalid_client"

    asyncio.run(main())


def test_assertion_is_made_for_the_issuer() -> None:
    """Spec: RFC 7523 2.2 and its update: the audience is the issuer."""
    audiences: list[str] = []

    async def assertion(audience: str) -> str:
        audiences.append(audience)
        return "signed"

    async def main() -> None:
        async with world() as made:
            await use(
                made, PrivateKeyJWTOAuthProvider(made.server.url, None, "id", assertion, issuer=made.issuer.issuer)
            )
            form = made.issuer.token_requests[0]
            assert audiences == [made.issuer.issuer]
            assert form["client_assertion"] == "signed"
            assert form["client_assertion_type"] == "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
            assert "client_secret" not in form
            await use(made, PrivateKeyJWTOAuthProvider(made.server.url, None, "id", static_assertion_provider("fixed")))
            assert made.issuer.token_requests[1]["client_assertion"] == "fixed"

    asyncio.run(main())


def _keys() -> dict[str, Any]:
    ec = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.ec")
    from cryptography.hazmat.primitives.asymmetric import ed25519, rsa

    rsa_key = rsa.generate_private_key(65537, 2048)
    curves = {"ES256": ec.SECP256R1(), "ES384": ec.SECP384R1(), "ES512": ec.SECP521R1()}
    keys = {algorithm: ec.generate_private_key(curve) for algorithm, curve in curves.items()}
    keys |= {f"{family}{size}": rsa_key for family in ("RS", "PS") for size in ("256", "384", "512")}
    return keys | {"EdDSA": ed25519.Ed25519PrivateKey.generate()}


def test_signatures_are_verified_by_another_library() -> None:
    """Spec: RFC 7515, 7518 3, 7523 3, held against PyJWT."""
    jwt = pytest.importorskip("jwt")
    from cryptography.hazmat.primitives import serialization

    for algorithm, key in _keys().items():
        pem = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        ).decode()
        parameters = SignedJWTParameters(
            issuer="id", subject="id", signing_key=pem, signing_algorithm=algorithm, additional_claims={"x": 1}
        )
        provide = parameters.create_assertion_provider()

        async def sign(provide: AssertionProvider = provide) -> str:
            return await provide("https://as.example")

        tokens = [asyncio.run(sign()) for _ in range(2)]
        claims = [
            jwt.decode(token, key.public_key(), [algorithm], audience="https://as.example", issuer="id")
            for token in tokens
        ]
        assert claims[0]["sub"] == "id"
        assert claims[0]["x"] == 1
        assert claims[0]["exp"] - claims[0]["iat"] in (299, 300, 301)
        assert claims[0]["jti"] != claims[1]["jti"]
        assert msgspec.json.decode(base64.urlsafe_b64decode(tokens[0].split(".")[0] + "==")) == {
            "alg": algorithm,
            "typ": "JWT",
        }
        assert pem not in repr(parameters)


@pytest.mark.parametrize(
    ("pem", "algorithm", "text"),
    [("no key at all", "RS256", "no PEM private key"), ("", "RS512", "does not fit"), ("", "none", "does not fit")],
)
def test_wrong_key_is_told_at_once_and_not_shown(pem: str, algorithm: str, text: str) -> None:
    """Ours: where the program is set up, not at the first request."""
    serialization = pytest.importorskip("cryptography.hazmat.primitives.serialization")
    if not pem:
        key = _keys()["ES256"]
        shape = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        pem = key.private_bytes(*shape).decode()
    parameters = SignedJWTParameters(issuer="i", subject="i", signing_key=pem, signing_algorithm=algorithm)
    with pytest.raises(ValueError, match=text) as caught:
        parameters.create_assertion_provider()
    assert pem not in str(caught.value)


def test_without_cryptography_everything_else_works(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: the extra is for signing alone, and the error names it."""
    real = builtins.__import__

    def refuse(name: str, *rest: Any) -> Any:
        if name.startswith("cryptography"):
            raise ImportError(name)
        return real(name, *rest)

    for name in [name for name in sys.modules if name.startswith(("cryptography", "leanmcp.oauth.signed_jwt"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(builtins, "__import__", refuse)
    test_secret_gets_a_token("client_secret_basic")
    with pytest.raises(ImportError, match=r"pip install 'leanmcp\[oauth\]'"):
        SignedJWTParameters(issuer="i", subject="i", signing_key="k").create_assertion_provider()
