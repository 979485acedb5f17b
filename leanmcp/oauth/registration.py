"""Which client id this client has at an authorization server.

In: metadata of the server, what is known of the client. Out: its id there.
Spec 2026-07-28: basic/authorization/client-registration.
"""

from __future__ import annotations

import time
from typing import cast
from urllib.parse import urlsplit

import msgspec

from ..logs import logger
from .errors import OAuthRegistrationError, OAuthTokenError, shown
from .models import OAuthClientInformationFull, OAuthClientMetadata, OAuthMetadata, decode
from .storage import TokenStorage
from .token_endpoint import BASIC, NONE, POST, authentication_method
from .web import Web

_PREFERRED = (NONE, BASIC, POST)  # a program on the user's machine keeps no secret anyway (RFC 8252 8.4)
_FORGOTTEN = ("invalid_client", "unauthorized_client")


def check_metadata_url(url: str) -> str:
    """Return the URL of a Client ID Metadata Document.

    Raises:
        ValueError: it cannot be a client id.

    Spec: "Client ID Metadata Documents", "Implementation Requirements".
    """
    parts = urlsplit(url)
    if parts.scheme != "https" or not parts.netloc or parts.path in ("", "/") or parts.fragment or "@" in parts.netloc:
        raise ValueError(
            f"client_metadata_url={url!r}: give an https URL with a path, such as 'https://example.com/client.json'"
        )
    return url


class ClientIds:
    """What a client is called at each authorization server; no server hears what it is called at another.

    Args:
        web: carries registrations.
        storage: keeps what they came to.
        described: the client.
        given: registered by hand.
        metadata_url: of its Client ID Metadata Document.

    Spec: "Client Registration" (order), "Authorization Server Binding".
    """

    def __init__(
        self,
        web: Web,
        storage: TokenStorage,
        described: OAuthClientMetadata,
        given: OAuthClientInformationFull | None,
        metadata_url: str | None,
    ) -> None:
        self._web = web
        self._storage = storage
        self._described = described
        self._given = given
        self._metadata_url = metadata_url
        self._dead: set[str] = set()

    async def known(self, metadata: OAuthMetadata) -> OAuthClientInformationFull | None:
        """Return the client id at a server, None where it has none yet.

        Raises:
            OAuthRegistrationError: the client was registered by hand with another server.
        """
        issuer = metadata.issuer
        if self._given is not None:
            if self._given.issuer is None:
                logger.warning("client %s has no issuer=; it is %s from now on", self._given.client_id, issuer)
                self._given.issuer = issuer
            if self._given.issuer != issuer:
                raise OAuthRegistrationError(
                    f"this client is registered with {self._given.issuer}, but {issuer} is in charge; register it "
                    "there too, its credentials are shown to nobody else",
                    issuer,
                )
            return self._given
        find = getattr(self._storage, "get_client_info_for", None)
        client = await (self._storage.get_client_info() if find is None else find(issuer))
        if client is None or client.issuer not in (None, issuer) or client.client_id in self._dead:
            return None
        if client.client_secret and client.client_secret_expires_at and client.client_secret_expires_at <= time.time():
            return None
        if client.issuer is None:
            client.issuer = issuer
            await self._storage.set_client_info(client)
        return cast(OAuthClientInformationFull, client)

    async def get(self, metadata: OAuthMetadata, scope: str | None) -> OAuthClientInformationFull:
        """Return the client id at a server: given, kept, the metadata document's URL, or registered now.

        Raises:
            OAuthRegistrationError: there is none to be had.
        """
        client = await self.known(metadata)
        if client is not None:
            return client
        if self._metadata_url and metadata.client_id_metadata_document_supported:
            client = OAuthClientInformationFull(
                client_id=self._metadata_url, token_endpoint_auth_method=NONE, issuer=metadata.issuer
            )
        else:
            client = await register(self._web, metadata, self._described, scope)
        await self._storage.set_client_info(client)
        return client

    def note(self, client: OAuthClientInformationFull, fault: OAuthTokenError) -> None:
        """Register anew next time, where a server has forgotten a client that registered itself."""
        if fault.error in _FORGOTTEN and client is not self._given:
            self._dead.add(client.client_id)


async def register(
    web: Web, metadata: OAuthMetadata, described: OAuthClientMetadata, scope: str | None
) -> OAuthClientInformationFull:
    """Register with a server ("Dynamic Client Registration").

    Args:
        web: carries the request.
        metadata: of the server.
        described: the client.
        scope: that it will ask for first.

    Raises:
        OAuthRegistrationError: the server does not register it, or so that it can do nothing with it.
        OAuthFlowError: it cannot be reached.
    """
    where = metadata.registration_endpoint
    if where is None:
        raise OAuthRegistrationError(
            f"{metadata.issuer} does not know this client and registers none by itself; register one there by hand and "
            "pass client_information=OAuthClientInformationFull(client_id=..., issuer=...)",
            metadata.issuer,
        )
    asked = msgspec.to_builtins(described)
    asked |= {
        "application_type": described.application_type,
        "grant_types": described.grant_types,
        "response_types": described.response_types,
    }
    method = described.token_endpoint_auth_method or _method(metadata)
    if method is not None:
        asked["token_endpoint_auth_method"] = method
    if scope is not None:
        asked["scope"] = scope
    headers = {"Content-Type": "application/json"}
    answer = await web.post(where, "the registration endpoint", msgspec.json.encode(asked), headers)
    if answer.status not in (200, 201):
        raise OAuthRegistrationError(
            f"{where} does not register this client ({answer.status}): {shown(answer.body.decode(errors='replace'))}. "
            f"It was asked for application_type={described.application_type!r} and {described.redirect_uris}",
            where,
            answer.status,
        )
    try:
        client = decode(answer.body, OAuthClientInformationFull)
    except ValueError as fault:
        raise OAuthRegistrationError(f"{where} answered {answer.status}, but no client: {fault}", where) from None
    given = authentication_method(client, metadata)
    if given not in (NONE, BASIC, POST) or (given != NONE and not client.client_secret):
        raise OAuthRegistrationError(
            f"{where} registered this client for {shown(given)!r}, with {'a' if client.client_secret else 'no'} "
            "secret; it cannot use that",
            where,
        )
    client.issuer = metadata.issuer
    return client


def _method(metadata: OAuthMetadata) -> str | None:
    """Return how to authenticate, of what the server advertises; None leaves it to the server."""
    advertised = metadata.token_endpoint_auth_methods_supported
    if advertised is None:
        return None
    return next((method for method in _PREFERRED if method in advertised), None)
