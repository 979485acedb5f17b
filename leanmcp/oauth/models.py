"""The documents of OAuth, as far as a client reads or writes them. Secrets show up in no `repr`.

Spec 2026-07-28: basic/authorization/client-registration; RFC 6749 5.1, 7591 2, 8414 2, 9728 2.
"""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec
from msgspec import Struct

T = TypeVar("T", bound=Struct)


class Discreet(Struct, omit_defaults=True, kw_only=True):
    """Shows the fields that are set, secret ones masked."""

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        fields = ((name, getattr(self, name)) for name in self.__struct_fields__)
        return [(name, "***" if name in _SECRETS else value) for name, value in fields if value is not None]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.__rich_repr__())})"


_SECRETS = {"access_token", "refresh_token", "client_secret", "code", "code_verifier", "state", "token", "url"}


class OAuthToken(Discreet):
    """What a token endpoint answers (RFC 6749 5.1), and what this client notes beside it.

    Args:
        access_token: sent to the MCP server.
        token_type: `Bearer`.
        expires_in: seconds from when it was issued.
        scope: granted, separated by blanks.
        refresh_token: for the next access token.
        expires_at: Unix seconds.
        issuer: the authorization server it comes from.
        resource: the MCP server it is for.
    """

    access_token: str
    token_type: str = "Bearer"  # noqa: S105  a kind, no token
    expires_in: int | None = None
    scope: str | None = None
    refresh_token: str | None = None
    expires_at: float | None = None
    issuer: str | None = None
    resource: str | None = None


class AuthorizationCodeResult(Discreet):
    """The parameters that an authorization server put into its redirect, decoded.

    Args:
        code: to be exchanged for a token; empty where there is an error.
        state: as sent in the authorization request.
        iss: issuer of the server that answers (RFC 9207).
        error: code of RFC 6749 4.1.2.1, such as `access_denied`.
        error_description: for people.
    """

    code: str = ""
    state: str | None = None
    iss: str | None = None
    error: str | None = None
    error_description: str | None = None


class _Registrable(Discreet):
    redirect_uris: list[str] | None = None
    response_types: list[str] | None = None
    scope: str | None = None
    client_name: str | None = None
    client_uri: str | None = None
    logo_uri: str | None = None
    contacts: list[str] | None = None
    tos_uri: str | None = None
    policy_uri: str | None = None
    jwks_uri: str | None = None
    jwks: Any = None
    software_id: str | None = None
    software_version: str | None = None
    token_endpoint_auth_method: str | None = None


class OAuthClientMetadata(_Registrable):
    """What this client says of itself when it registers (RFC 7591 2).

    Args:
        redirect_uris: where authorization servers may send the user back to; the first one is used.
        grant_types: leave out `refresh_token` to be given none.
        application_type: `web` for an application on a host of its own, `native` for one on the user's machine.
        scope: asked for, instead of all that the MCP server lists, unless its challenge asks for more.
    """

    grant_types: list[str] | None = None
    application_type: str = "native"

    def __post_init__(self) -> None:
        if self.redirect_uris is not None:
            self.redirect_uris = [str(uri) for uri in self.redirect_uris]
        if self.grant_types is None:
            self.grant_types = ["authorization_code", "refresh_token"]
        if self.response_types is None:
            self.response_types = ["code"]


class OAuthClientInformationFull(_Registrable, kw_only=True):
    """A client as its authorization server knows it (RFC 7591 3.2.1).

    Args:
        client_id: given by the server.
        client_secret: of a confidential client.
        issuer: the server that gave them; they are shown to no other.
    """

    client_id: str
    client_secret: str | None = None
    client_id_issued_at: int | None = None
    client_secret_expires_at: int | None = None
    grant_types: list[str] | None = None
    application_type: str | None = None
    issuer: str | None = None


class OAuthMetadata(Discreet):
    """What an authorization server publishes of itself (RFC 8414 2, OpenID Connect Discovery 3)."""

    issuer: str
    token_endpoint: str
    authorization_endpoint: str | None = None
    registration_endpoint: str | None = None
    scopes_supported: list[str] | None = None
    grant_types_supported: list[str] | None = None
    token_endpoint_auth_methods_supported: list[str] | None = None
    code_challenge_methods_supported: list[str] | None = None
    client_id_metadata_document_supported: bool | None = None
    authorization_response_iss_parameter_supported: bool | None = None


class ProtectedResourceMetadata(Discreet):
    """What an MCP server publishes about who may use it (RFC 9728 2)."""

    resource: str
    authorization_servers: list[str]
    scopes_supported: list[str] | None = None
    resource_name: str | None = None


def decode(body: bytes, kind: type[T]) -> T:
    """Return the document; members that are null or an empty string count as left out, as many servers write them.

    Raises:
        ValueError: no JSON object of this kind; the text quotes nothing of it.
    """
    try:
        members = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        raise ValueError("it is no JSON") from None
    if not isinstance(members, dict):
        raise ValueError("it is no JSON object")
    try:
        return msgspec.convert(
            {name: value for name, value in members.items() if value not in (None, "")}, kind, strict=False
        )
    except msgspec.ValidationError as fault:
        raise ValueError(str(fault)) from None
