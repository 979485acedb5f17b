"""Token requests: how the client shows who it is, and what comes back.

In: parameters of a grant. Out: an OAuthToken, or an OAuthTokenError with the server's code.
Spec 2026-07-28: basic/authorization, "Resource Parameter Implementation"; RFC 6749 2.3.1, 3.2, 5; RFC 7523 2.2.
"""

from __future__ import annotations

import base64
import time
from collections.abc import Awaitable, Callable, Mapping
from urllib.parse import quote_plus

import msgspec
from msgspec import Struct

from .errors import OAuthTokenError, shown
from .models import OAuthClientInformationFull, OAuthMetadata, OAuthToken, decode
from .web import Web, form

NONE, BASIC, POST, JWT = "none", "client_secret_basic", "client_secret_post", "private_key_jwt"
AssertionProvider = Callable[[str], Awaitable[str]]
"""Returns a signed assertion for an audience, which is the issuer of the authorization server."""

_ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
_FORM = {"Content-Type": "application/x-www-form-urlencoded"}
_LONGEST_LIFE = 10**9  # seconds; some write numbers that are no times any more
_SENT_SECRETS = ("code", "code_verifier", "refresh_token", "client_secret", "client_assertion")


class _Refusal(Struct):
    error: str = ""
    error_description: str = ""


_decode_refusal = msgspec.json.Decoder(_Refusal).decode


def authentication_method(client: OAuthClientInformationFull, metadata: OAuthMetadata) -> str:
    """Return how `client` shows who it is: as it was registered, else as the server advertises."""
    if client.token_endpoint_auth_method:
        return client.token_endpoint_auth_method
    if not client.client_secret:
        return NONE
    advertised = metadata.token_endpoint_auth_methods_supported
    if advertised is None or BASIC in advertised:
        return BASIC  # RFC 8414 2: the default
    return POST if POST in advertised else BASIC


async def request_token(
    web: Web,
    metadata: OAuthMetadata,
    client: OAuthClientInformationFull,
    grant: Mapping[str, str | None],
    sign: AssertionProvider | None = None,
) -> OAuthToken:
    """Ask the token endpoint.

    Args:
        web: carries the request.
        metadata: of the authorization server.
        client: its id and secret of this server.
        grant: parameters, `resource` and `scope` among them; None is left out.
        sign: makes assertions for `private_key_jwt`.

    Raises:
        OAuthTokenError: the server refuses, or answers no usable token.
        OAuthFlowError: it cannot be reached.
    """
    fields = {**grant, "client_id": client.client_id}  # beside Basic too: the official SDK's server looks for it there
    headers = dict(_FORM)
    method = authentication_method(client, metadata)
    where = metadata.token_endpoint
    if method == BASIC and client.client_secret:
        pair = f"{quote_plus(client.client_id)}:{quote_plus(client.client_secret)}"
        headers["Authorization"] = "Basic " + base64.b64encode(pair.encode()).decode()
    elif method == JWT and sign is not None:
        fields |= {"client_assertion_type": _ASSERTION_TYPE, "client_assertion": await sign(metadata.issuer)}
    elif method in (NONE, POST):
        fields["client_secret"] = client.client_secret if method == POST else None
    else:
        lacks = "no key to sign with" if method == JWT else "no secret" if method == BASIC else "no idea of that"
        raise OAuthTokenError(f"{where} wants the client to use {shown(method)!r}, but it has {lacks}", where)
    answer = await web.post(where, "the token endpoint", form(fields), headers)
    if answer.status not in (200, 201):
        secrets = [fields.get(name) for name in _SENT_SECRETS]
        raise _refused(
            answer.status, answer.body, where, [*secrets, client.client_secret, headers.get("Authorization")]
        )
    try:
        token = decode(answer.body, OAuthToken)
    except ValueError as fault:
        raise OAuthTokenError(
            f"{where} answered {answer.status}, but no token: {fault}", where, answer.status
        ) from None
    if token.token_type.lower() != "bearer":
        raise OAuthTokenError(f"{where} gave a token of type {shown(token.token_type)!r}; only Bearer is usable", where)
    if not all("!" <= letter <= "~" for letter in token.access_token):
        raise OAuthTokenError(f"{where} gave a token that fits into no header field", where)
    token.token_type = "Bearer"  # noqa: S105  a kind, no token
    life = token.expires_in = None if token.expires_in is None else min(token.expires_in, _LONGEST_LIFE)
    token.expires_at = time.time() + life if life is not None and life > 0 else None  # 0 is how some say "unknown"
    token.issuer = metadata.issuer
    token.resource = grant.get("resource")
    if token.scope is None:
        token.scope = grant.get("scope")  # RFC 6749 5.1: left out where it is what was asked for
    return token


def _refused(status: int, body: bytes, where: str, secrets: list[str | None]) -> OAuthTokenError:
    try:
        refusal = _decode_refusal(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        refusal = _Refusal()  # a page; it may hold anything, and tells little
    said = ": ".join(
        part for part in (shown(refusal.error, *secrets), shown(refusal.error_description, *secrets)) if part
    )
    return OAuthTokenError(
        f"{where} refuses to give a token ({status}{', ' if said else ''}{said})", where, status, refusal.error
    )
