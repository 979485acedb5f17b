"""OAuthClientProvider: gets tokens for one MCP server, and keeps them good.

In: challenges of the server. Out: the Authorization field of each request.
Spec 2026-07-28: basic/authorization; basic/authorization/client-registration.

Whatever asks the authorization server is done once for all requests that wait for it: parallel 401s lead to one login,
parallel expiries to one refresh. The context of each request remembers which token it was sent with, so that a late 401
about a token that has been replaced meanwhile only sends the request again.
"""

from __future__ import annotations

import ssl as tls
import time
from collections.abc import Mapping
from contextvars import ContextVar

from ..logs import logger
from ..transports.http_client_url import parse_url
from .authorization_code import CallbackHandler, RedirectHandler, check_answer, prepare, redeem
from .challenge import Challenge, parse_challenge, union
from .discovery import Discovery, Grounds, ResourceValidator
from .errors import OAuthFlowError, OAuthTokenError
from .models import Discreet, OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from .one_at_a_time import OneAtATime
from .registration import ClientIds, check_metadata_url
from .storage import InMemoryTokenStorage, TokenStorage
from .token_endpoint import AssertionProvider, request_token
from .web import Web

_SKEW = 30.0  # seconds before its end that a token counts as expired: clocks differ, and requests travel
_MAX_STEP_UPS = 3  # for one set of scopes
_DEAD_GRANT = (400, 401)  # statuses; others of the token endpoint may pass


class _Sent(Discreet):
    """What the requests of a context carried.

    Args:
        token: of the latest.
        count: how many there have been.
        renewed: `count` when the latest challenge was met: the next request is the same one again.
        by_login: whether that took more than a refresh token.
    """

    token: str | None = None
    count: int = 0
    renewed: int = -1
    by_login: bool = False


_sent: ContextVar[_Sent] = ContextVar("leanmcp_oauth_sent")
_NOTHING_SENT = _Sent()


class OAuthClientProvider:
    """Authorizes a client at one MCP server; pass it as `Client(url, auth=...)`.

    Args:
        server_url: of the MCP server; no token of it goes anywhere else.
        client_metadata: what this client says of itself. Its `scope` is asked for where the server's challenge names
            none.
        storage: keeps tokens and registrations; default: in memory.
        redirect_handler: leads the user to a URL; nothing is opened without it.
        callback_handler: waits for the redirect; see LoopbackRedirect.
        client_metadata_url: URL of a Client ID Metadata Document, used as client id where the server supports that.
        validate_resource_url: takes the server's URL and the `resource` that it publishes, and raises where they do not
            belong together; default: `resource` must be the URL or lie above it.
        client_information: a client registered by hand. Give its `issuer`: it is shown to no other server.
        issuer: the authorization server to use, for a server that publishes none or several.
        allow_private_addresses: whether the server may name hosts in private networks; default: where it is in one.
        ssl: context for https instead of the system's certificates.
        refresh_skew: seconds before its end that a token counts as expired.

    Attributes:
        partition: keeps cached answers of different people apart.

    Raises:
        ValueError: a URL that tokens must not travel to.

    Spec: basic/authorization.
    """

    _needs_person = True

    def __init__(
        self,
        server_url: str,
        client_metadata: OAuthClientMetadata,
        storage: TokenStorage | None = None,
        redirect_handler: RedirectHandler | None = None,
        callback_handler: CallbackHandler | None = None,
        client_metadata_url: str | None = None,
        validate_resource_url: ResourceValidator | None = None,
        *,
        client_information: OAuthClientInformationFull | None = None,
        issuer: str | None = None,
        allow_private_addresses: bool | None = None,
        ssl: tls.SSLContext | None = None,
        refresh_skew: float = _SKEW,
    ) -> None:
        server = self._server = parse_url(server_url)
        if server.origin.scheme == "http" and not server.is_local:
            raise ValueError(f"{server.shown}: tokens travel over https:// only, or within this machine")
        for uri in client_metadata.redirect_uris or ():
            target = parse_url(uri)
            if target.origin.scheme == "http" and not target.is_local:
                raise ValueError(f"redirect_uris: {uri!r} must be https, or on this machine (http://127.0.0.1:...)")
        if client_metadata_url is not None:
            check_metadata_url(client_metadata_url)
        if issuer is None and client_information is not None:
            issuer = client_information.issuer
        self.partition = object()  # what one person may see is cached for nobody else
        self.client_metadata = client_metadata
        self.storage: TokenStorage = storage or InMemoryTokenStorage()
        self._redirect_handler = redirect_handler
        self._callback_handler = callback_handler
        self._web = Web(server, allow_private_addresses, ssl)
        self._discovery = Discovery(self._web, server, issuer, validate_resource_url)
        self._ids = ClientIds(self._web, self.storage, client_metadata, client_information, client_metadata_url)
        self._skew = refresh_skew
        self._loaded = False
        self._tokens: OAuthToken | None = None
        self._had: set[int] = set()  # which tokens; a storage may keep the first one for ever
        self._by_login: OAuthToken | None = None
        self._asked_scope: str | None = None
        self._grounds: Grounds | None = None
        self._step_ups: dict[str, int] = {}
        self._work = OneAtATime(server.shown)

    # --- what the transport calls -------------------------------------------------------------------------------------

    async def headers(self, url: str, /) -> Mapping[str, str]:
        """Return the Authorization field for a request to the MCP server; a token about to expire is replaced first.

        Raises:
            OAuthFlowError: `url` is another server's, or the token cannot be replaced for now.
        """
        if url != self._server.url and parse_url(url).origin != self._server.origin:
            raise OAuthFlowError(f"this provider has tokens for {self._server.shown}, not for {url}", url)
        if not self._loaded:
            await self._work.do("load", lambda: not self._loaded, self._load)
        tokens = self._tokens
        if tokens is not None and self._is_old(tokens):
            await self._work.do(f"renew {hash(tokens.access_token)}", lambda: self._tokens is tokens, self._renew)
            tokens = self._tokens
        token = None if tokens is None else tokens.access_token
        before = _sent.get(_NOTHING_SENT)
        _sent.set(_Sent(token, before.count + 1, before.renewed, before.by_login))
        return {} if token is None else {"Authorization": f"Bearer {token}"}

    async def challenged(self, status: int, headers: Mapping[str, str], body: bytes, /) -> bool:
        """Meet a challenge; return whether the request may be sent again.

        Raises:
            OAuthFlowError: authorization did not succeed; the text says why.
        """
        challenge = parse_challenge(headers.get("www-authenticate", ""))
        if status != 401 and challenge.error != "insufficient_scope":
            return False  # some other 403
        sent = _sent.get(_NOTHING_SENT)

        def is_needed() -> bool:  # not where the token has been replaced since
            return self._tokens is None or self._tokens.access_token == sent.token

        if not is_needed():
            return True
        again = sent.renewed == sent.count - 1
        if status == 401:
            if again and sent.by_login:
                return False  # it does not take a brand new token: asking for another would go on for ever
            aim, scope = f"answer {hash(sent.token)}", None
        else:
            scope = union(self._asked_scope, self._tokens.scope if self._tokens else None, challenge.scope)
            if (again and sent.by_login and scope == self._asked_scope) or not self._may_step_up(scope):
                return False
            aim = f"step up {scope}"

        async def work() -> None:
            if status == 401:
                await self._answer(challenge, may_refresh=not again)
            else:
                await self._authorize(challenge, scope)

        await self._work.do(aim, is_needed, work, self._needs_person)
        by_login = self._tokens is not None and self._tokens is self._by_login
        _sent.set(_Sent(sent.token, sent.count, sent.count, by_login))
        return True

    # --- work, one at a time ------------------------------------------------------------------------------------------

    async def _load(self) -> None:
        """Take the tokens that are stored; again, where another program may have replaced them meanwhile."""
        tokens = await self.storage.get_tokens()
        if tokens is not None and tokens.resource is not None and not self._discovery.fits(tokens.resource):
            logger.warning("the stored tokens are for %s, not for %s; not used", tokens.resource, self._server.shown)
            tokens = None
        if not self._loaded:
            self._asked_scope = tokens.scope if tokens else None
        if not self._loaded or (tokens is not None and hash(tokens.access_token) not in self._had):
            self._use(tokens)
        self._loaded = True

    def _use(self, tokens: OAuthToken | None) -> None:
        self._tokens = tokens
        if tokens is not None:
            self._had.add(hash(tokens.access_token))

    async def _renew(self) -> None:
        """Replace a token that expires, where that needs nobody; without one the server's challenge says what to do."""
        old = self._tokens
        try:
            if not await self._refresh(Challenge()):
                self._tokens = None
        except OAuthFlowError:
            if old is not None and old.expires_at is not None and old.expires_at > time.time():
                return  # it is good for a moment; the next request tries again
            raise

    async def _answer(self, challenge: Challenge, may_refresh: bool) -> None:
        """Meet a 401."""
        tokens = self._tokens
        self._grounds = None  # the authorization server may have changed
        if may_refresh and await self._refresh(challenge):
            return
        await self._authorize(challenge, self._first_scope(challenge, tokens))

    async def _authorize(self, challenge: Challenge, scope: str | None) -> None:
        """Get a token that owes nothing to an earlier one."""
        grounds = await self._discover(challenge)
        scope = self._with_offline_access(scope or grounds.scopes, grounds)
        if self._tokens is not None and self._tokens.issuer != grounds.metadata.issuer:
            self._tokens = None  # of a server that is no longer in charge
        token = await self._obtain(grounds, scope)
        self._asked_scope = scope  # not where it was refused: what somebody did not grant once is not asked for always
        self._by_login = token
        await self._keep(token)

    async def _discover(self, challenge: Challenge) -> Grounds:
        if self._grounds is None:
            self._grounds = await self._discovery.find(challenge.resource_metadata)
        return self._grounds

    async def _keep(self, token: OAuthToken) -> None:
        self._use(token)
        await self.storage.set_tokens(token)

    # --- scopes -------------------------------------------------------------------------------------------------------

    def _first_scope(self, challenge: Challenge, tokens: OAuthToken | None) -> str | None:
        """Return the scopes to ask for after a 401 ("Scope Selection Strategy")."""
        if challenge.scope:
            return union(self._asked_scope, tokens.scope if tokens else None, challenge.scope)
        return self._asked_scope or self.client_metadata.scope

    def _with_offline_access(self, scope: str | None, grounds: Grounds) -> str | None:
        """Ask for a refresh token where the server says how ("Refresh Tokens")."""
        wanted = "refresh_token" in (self.client_metadata.grant_types or ())
        if scope is None or not wanted or "offline_access" not in (grounds.metadata.scopes_supported or ()):
            return scope
        return union(scope, "offline_access")

    def _may_step_up(self, scope: str | None) -> bool:
        """Count an attempt ("Step-Up Authorization Flow": "SHOULD track scope upgrade attempts")."""
        key = " ".join(sorted((scope or "").split()))
        self._step_ups[key] = self._step_ups.get(key, 0) + 1
        return self._step_ups[key] <= _MAX_STEP_UPS

    # --- tokens -------------------------------------------------------------------------------------------------------

    def _is_old(self, tokens: OAuthToken) -> bool:
        if tokens.expires_at is None:
            return False
        life = tokens.expires_in or 0
        skew = min(self._skew, life / 2) if life > 0 else self._skew  # a short-lived token is of use, too
        return tokens.expires_at - skew <= time.time()

    def _sign(self) -> AssertionProvider | None:
        """Return what signs assertions, None where this client has no key."""
        return None

    async def _refresh(self, challenge: Challenge) -> bool:
        """Replace the tokens by means of the refresh token; return whether that was possible ("Refresh Tokens").

        Raises:
            OAuthFlowError: not for now.
        """
        old = self._tokens
        await self._load()
        tokens = self._tokens
        if tokens is not old and tokens is not None and not self._is_old(tokens):
            return True  # another program has done it; a refresh token that is used twice may end all of them
        if tokens is None or tokens.refresh_token is None:
            return False
        grounds = await self._discover(challenge)
        if tokens.issuer not in (None, grounds.metadata.issuer):
            return False  # another server is in charge now; it must not see what the old one gave
        client = await self._ids.known(grounds.metadata)
        if client is None:
            return False
        grant = {"grant_type": "refresh_token", "refresh_token": tokens.refresh_token, "resource": grounds.resource}
        try:
            token = await request_token(self._web, grounds.metadata, client, grant, self._sign())
        except OAuthTokenError as fault:
            self._ids.note(client, fault)
            if fault.status not in _DEAD_GRANT:
                raise
            logger.info("the refresh token is no longer taken: %s", fault.message)
            return False
        token.refresh_token = token.refresh_token or tokens.refresh_token
        token.scope = token.scope or tokens.scope
        await self._keep(token)
        return True

    async def _obtain(self, grounds: Grounds, scope: str | None) -> OAuthToken:
        """Have a person authorize this client."""
        redirect, callback = self._redirect_handler, self._callback_handler
        if redirect is None or callback is None or not self.client_metadata.redirect_uris:
            raise OAuthFlowError(
                f"{self._server.shown} wants a person to authorize this client; pass redirect_uris, redirect_handler "
                "and callback_handler (LoopbackRedirect has all three)",
                self._server.shown,
                401,
            )
        metadata, uri = grounds.metadata, self.client_metadata.redirect_uris[0]
        client = await self._ids.get(metadata, scope)
        pending = prepare(self._web, metadata, client, uri, grounds.resource, scope)
        self._work.asking = True
        try:
            await redirect(pending.url)
            answer = await callback()
        finally:
            self._work.asking = False
        code = check_answer(answer, pending, metadata)
        try:
            return await redeem(self._web, metadata, client, code, pending, uri, grounds.resource, scope)
        except OAuthTokenError as fault:
            self._ids.note(client, fault)
            raise
