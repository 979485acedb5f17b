"""The authorization code grant: a person says yes in a browser.

In: metadata of an authorization server and a client of it. Out: a token.
Spec 2026-07-28: basic/authorization, "Authorization Response Validation"; basic/authorization/security-considerations,
"Authorization Code Protection", "Mix-Up Attacks", "Open Redirection".
"""

from __future__ import annotations

import base64
import hashlib
import secrets
from collections.abc import Awaitable, Callable
from urllib.parse import urlencode

from .errors import OAuthFlowError, shown
from .models import AuthorizationCodeResult, Discreet, OAuthClientInformationFull, OAuthMetadata, OAuthToken
from .token_endpoint import request_token
from .web import Web

RedirectHandler = Callable[[str], Awaitable[None]]
"""Leads the user to a URL."""
CallbackHandler = Callable[[], Awaitable[AuthorizationCodeResult]]
"""Waits until the user comes back, and returns the parameters of the redirect."""


class PKCEParameters(Discreet):
    """A secret of one authorization, and what may be seen of it (RFC 7636)."""

    code_verifier: str
    code_challenge: str

    @classmethod
    def generate(cls) -> PKCEParameters:
        """Return a new pair."""
        verifier = secrets.token_urlsafe(64)
        return cls(verifier, _base64url(hashlib.sha256(verifier.encode()).digest()))


class Pending(Discreet):
    """An authorization request that somebody is asked about: what its answer is held against."""

    url: str
    issuer: str
    state: str
    pkce: PKCEParameters


def check_pkce(metadata: OAuthMetadata) -> None:
    """Check that the server protects authorization codes.

    Raises:
        OAuthFlowError: it does not say so.
    """
    methods = metadata.code_challenge_methods_supported
    if not methods or "S256" not in methods:
        says = "says nothing of PKCE" if not methods else f"offers PKCE only with {shown(', '.join(methods))}"
        raise OAuthFlowError(
            f"{metadata.issuer} {says}, and this client goes through no authorization without PKCE S256; its operator "
            "must list it in code_challenge_methods_supported",
            metadata.issuer,
        )


def prepare(
    web: Web,
    metadata: OAuthMetadata,
    client: OAuthClientInformationFull,
    redirect_uri: str,
    resource: str,
    scope: str | None,
) -> Pending:
    """Return an authorization request.

    Raises:
        OAuthFlowError: the server has no PKCE, or no endpoint that may be opened in a browser.
    """
    check_pkce(metadata)
    endpoint = metadata.authorization_endpoint
    if endpoint is None:
        raise OAuthFlowError(f"{metadata.issuer} has no authorization_endpoint", metadata.issuer)
    # A file: or app: URL would start something on this machine. The URL is shown, too: in ASCII, nothing hides in it.
    endpoint = web.check(endpoint, "the authorization endpoint").url
    pkce, state = PKCEParameters.generate(), secrets.token_urlsafe(32)
    parameters = {
        "response_type": "code",
        "client_id": client.client_id,
        "redirect_uri": redirect_uri,
        "state": state,
        "code_challenge": pkce.code_challenge,
        "code_challenge_method": "S256",
        "resource": resource,
    }
    if scope is not None:
        parameters["scope"] = scope
        if "offline_access" in scope.split():
            parameters["prompt"] = "consent"  # OpenID Connect Core 11
    url = f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(parameters)}"
    return Pending(url, metadata.issuer, state, pkce)


def check_answer(answer: AuthorizationCodeResult, pending: Pending, metadata: OAuthMetadata) -> str:
    """Return the code of an answer to `pending`; what another server or stranger says is neither used nor shown.

    Raises:
        OAuthFlowError: it is no answer to `pending`, or a refusal.
    """
    if answer.state is None or not secrets.compare_digest(answer.state.encode(), pending.state.encode()):
        raise OAuthFlowError(
            "an authorization response came whose state is not the one that was sent; it is dropped. Start again",
            pending.issuer,
        )
    if answer.iss is None and metadata.authorization_response_iss_parameter_supported:
        raise OAuthFlowError(
            f"an authorization response came without iss, which {pending.issuer} promises to send; it is dropped",
            pending.issuer,
        )
    if answer.iss is not None and answer.iss != pending.issuer:
        raise OAuthFlowError(
            f"an authorization response came from another server than {pending.issuer}; it is dropped", pending.issuer
        )
    if answer.error or not answer.code:
        said = f"{shown(answer.error or 'no code')}: {shown(answer.error_description or '')}".strip(": ")
        raise OAuthFlowError(f"{pending.issuer} did not authorize this client ({said})", pending.issuer)
    return answer.code


async def redeem(
    web: Web,
    metadata: OAuthMetadata,
    client: OAuthClientInformationFull,
    code: str,
    pending: Pending,
    redirect_uri: str,
    resource: str,
    scope: str | None,
) -> OAuthToken:
    """Exchange a code for a token.

    Raises:
        OAuthTokenError: the server refuses.
    """
    grant = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": redirect_uri,
        "code_verifier": pending.pkce.code_verifier,
        "resource": resource,
    }
    token = await request_token(web, metadata, client, grant)
    if token.scope is None:
        token.scope = scope
    return token


def _base64url(octets: bytes) -> str:
    return base64.urlsafe_b64encode(octets).decode().rstrip("=")
