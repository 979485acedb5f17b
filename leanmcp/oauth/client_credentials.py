"""Programs that act for themselves: no person, no browser.

In: credentials of a client, bound to their authorization server. Out: tokens.
Spec 2026-07-28: basic/authorization, "MCP Authorization Extensions" (OAuth client credentials); RFC 6749 4.4, 7523.
"""

from __future__ import annotations

import ssl as tls
import time
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from msgspec import Struct

from .discovery import Grounds
from .models import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from .provider import OAuthClientProvider
from .storage import TokenStorage
from .token_endpoint import JWT, AssertionProvider, request_token

if TYPE_CHECKING:
    from typing import Unpack


class _Options(TypedDict, total=False):
    allow_private_addresses: bool | None
    ssl: tls.SSLContext | None
    refresh_skew: float


class _OwnAccount(OAuthClientProvider):
    """Asks for tokens in its own name; a challenge for more scopes is met once like any other."""

    def __init__(
        self,
        server_url: str,
        storage: TokenStorage | None,
        client: OAuthClientInformationFull,
        scope: str | None,
        options: _Options,
    ) -> None:
        described = OAuthClientMetadata(grant_types=["client_credentials"], scope=scope)
        super().__init__(server_url, described, storage, client_information=client, **options)

    _needs_person = False

    async def _obtain(self, grounds: Grounds, scope: str | None) -> OAuthToken:
        client = await self._ids.get(grounds.metadata, scope)
        grant = {"grant_type": "client_credentials", "resource": grounds.resource, "scope": scope}
        return await request_token(self._web, grounds.metadata, client, grant, self._sign())


class ClientCredentialsOAuthProvider(_OwnAccount):
    """Authorizes a program by a client id and secret.

    Args:
        server_url: of the MCP server.
        storage: keeps tokens; default: in memory.
        client_id, client_secret: from the authorization server.
        token_endpoint_auth_method: how they are shown.
        scope: asked for where the challenge of the server names none.
        issuer: the authorization server that they belong to, which alone gets to see them. Without it, the MCP server
            decides who does.
        allow_private_addresses, ssl, refresh_skew: as OAuthClientProvider.
    """

    def __init__(
        self,
        server_url: str,
        storage: TokenStorage | None,
        client_id: str,
        client_secret: str,
        token_endpoint_auth_method: Literal["client_secret_basic", "client_secret_post"] = "client_secret_basic",  # noqa: S107  a method
        scope: str | None = None,
        issuer: str | None = None,
        **options: Unpack[_Options],
    ) -> None:
        client = OAuthClientInformationFull(
            client_id=client_id,
            client_secret=client_secret,
            token_endpoint_auth_method=token_endpoint_auth_method,
            issuer=issuer,
        )
        super().__init__(server_url, storage, client, scope, options)


class PrivateKeyJWTOAuthProvider(_OwnAccount):
    """Authorizes a program by assertions that it signs, or that somebody signs for it.

    Args:
        server_url: of the MCP server.
        storage: keeps tokens; default: in memory.
        client_id: at the authorization server.
        assertion_provider: takes the audience (the issuer) and returns a JWT; see SignedJWTParameters and
            static_assertion_provider.
        scope: asked for where the challenge of the server names none.
        issuer: the authorization server that the client belongs to, which alone gets assertions.
        allow_private_addresses, ssl, refresh_skew: as OAuthClientProvider.
    """

    def __init__(
        self,
        server_url: str,
        storage: TokenStorage | None,
        client_id: str,
        assertion_provider: AssertionProvider,
        scope: str | None = None,
        issuer: str | None = None,
        **options: Unpack[_Options],
    ) -> None:
        client = OAuthClientInformationFull(client_id=client_id, token_endpoint_auth_method=JWT, issuer=issuer)
        super().__init__(server_url, storage, client, scope, options)
        self._assertion_provider = assertion_provider

    def _sign(self) -> AssertionProvider:
        return self._assertion_provider


class SignedJWTParameters(Struct, kw_only=True):
    """How assertions are signed; needs the extra `oauth`.

    Args:
        issuer, subject: of the assertions; both the client id, as a rule.
        signing_key: private key as PEM.
        signing_algorithm: RS256, PS256, ES256 with their 384 and 512, or EdDSA.
        lifetime_seconds: of one assertion.
        additional_claims: further ones.
    """

    issuer: str
    subject: str
    signing_key: str
    signing_algorithm: str = "RS256"
    lifetime_seconds: int = 300
    additional_claims: dict[str, Any] | None = None

    def __repr__(self) -> str:
        return f"SignedJWTParameters(issuer={self.issuer!r}, subject={self.subject!r}, signing_key='***')"

    def create_assertion_provider(self) -> AssertionProvider:
        """Return what PrivateKeyJWTOAuthProvider wants.

        Raises:
            ImportError: `cryptography` is not installed.
            ValueError: the key does not fit the algorithm.
        """
        from .signed_jwt import sign  # the extra's package, only for those who have keys

        def signed(audience: str) -> str:
            claims = {
                "iss": self.issuer,
                "sub": self.subject,
                "aud": audience,
                "exp": int(time.time()) + self.lifetime_seconds,
                **(self.additional_claims or {}),
            }
            return sign(claims, self.signing_key, self.signing_algorithm)

        async def provide(audience: str) -> str:
            return signed(audience)

        signed("")  # tells of a wrong key now
        return provide


def static_assertion_provider(token: str) -> AssertionProvider:
    """Return what PrivateKeyJWTOAuthProvider wants, for an assertion made elsewhere."""

    async def provide(audience: str) -> str:
        return token

    return provide
