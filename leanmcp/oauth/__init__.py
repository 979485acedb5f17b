"""OAuth 2.1 for clients: tokens for protected MCP servers.

    from leanmcp import Client
    from leanmcp.oauth import FileTokenStorage, LoopbackRedirect, OAuthClientMetadata, OAuthClientProvider

    browser = LoopbackRedirect()
    auth = OAuthClientProvider(
        url,
        OAuthClientMetadata(client_name="My program", redirect_uris=[browser.redirect_uri]),
        FileTokenStorage("~/.config/my-program/tokens.json", url),
        browser.redirect_handler,
        browser.callback_handler,
    )
    async with Client(url, auth=auth) as client: ...

Spec 2026-07-28: basic/authorization. All of it works without further packages but for signing with a private key, which
needs `cryptography` (extra `oauth`).
"""

from .authorization_code import PKCEParameters
from .client_credentials import (
    ClientCredentialsOAuthProvider,
    PrivateKeyJWTOAuthProvider,
    SignedJWTParameters,
    static_assertion_provider,
)
from .errors import OAuthFlowError, OAuthRegistrationError, OAuthTokenError
from .models import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
    ProtectedResourceMetadata,
)
from .provider import OAuthClientProvider
from .redirect import LoopbackRedirect
from .storage import FileTokenStorage, InMemoryTokenStorage, TokenStorage

__all__ = [
    "AuthorizationCodeResult",
    "ClientCredentialsOAuthProvider",
    "FileTokenStorage",
    "InMemoryTokenStorage",
    "LoopbackRedirect",
    "OAuthClientInformationFull",
    "OAuthClientMetadata",
    "OAuthClientProvider",
    "OAuthFlowError",
    "OAuthMetadata",
    "OAuthRegistrationError",
    "OAuthToken",
    "OAuthTokenError",
    "PKCEParameters",
    "PrivateKeyJWTOAuthProvider",
    "ProtectedResourceMetadata",
    "SignedJWTParameters",
    "TokenStorage",
    "static_assertion_provider",
]
