"""What goes wrong while a client gets itself authorized; the texts hold no secret and tell what to do.

In: where it went wrong, and why. Out: MCPErrors that name the URL and tell an endpoint's own words apart from ours.
RFC 6749 4.1.2.1, 5.2.
"""

from __future__ import annotations

from ..errors import Unauthorized

_SHOWN = 200  # characters of what an authorization server says


class OAuthFlowError(Unauthorized):
    """Authorization did not succeed."""


class OAuthRegistrationError(OAuthFlowError):
    """The authorization server gives this client no usable client id."""


class OAuthTokenError(OAuthFlowError):
    """The token endpoint gives no usable token.

    Args:
        message: what happened and what to do.
        where: the token endpoint.
        status: HTTP status.
        error: code of RFC 6749 5.2, such as `invalid_grant`.
    """

    error: str = ""

    def __init__(self, message: str, where: str = "", status: int | None = None, error: str = "") -> None:
        super().__init__(message, where, status)
        self.error = error


def shown(text: str, *secrets: str | None) -> str:
    """Return the start of a stranger's text on one line, without any of `secrets`."""
    for secret in secrets:
        if secret:
            text = text.replace(secret, "***")
    printable = "".join(letter if letter.isprintable() else " " for letter in text)
    return " ".join(printable.split())[:_SHOWN]
