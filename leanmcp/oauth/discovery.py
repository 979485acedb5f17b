"""Who may let a client in: from a challenge to the metadata of an authorization server.

In: the URL of the MCP server and its challenge. Out: metadata, checked.
Spec 2026-07-28: basic/authorization/authorization-server-discovery.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from msgspec import Struct

from ..transports.http_client_url import Target, parse_url
from .challenge import union
from .errors import OAuthFlowError, shown
from .models import OAuthMetadata, ProtectedResourceMetadata, decode
from .web import Web

ResourceValidator = Callable[[str, str | None], Awaitable[None]]
"""Takes the server's URL and the `resource` that it publishes; raises where they do not belong together."""

_RESOURCE = "/.well-known/oauth-protected-resource"
_OAUTH = "/.well-known/oauth-authorization-server"
_OPENID = "/.well-known/openid-configuration"


def resource_metadata_urls(server: Target, named: str | None) -> list[str]:
    """Return where the metadata of an MCP server may be, first choice first ("Protected Resource Metadata ...")."""
    base, path = _split(server.url)
    urls = [base + _RESOURCE + path] if path not in ("", "/") else []
    return list(dict.fromkeys([*([named] if named else []), *urls, base + _RESOURCE]))


def issuer_metadata_urls(issuer: str) -> list[str]:
    """Return where the metadata of an authorization server may be ("Authorization Server Metadata Discovery")."""
    base, path = _split(issuer)
    path = path.rstrip("/")
    if not path:
        return [base + _OAUTH, base + _OPENID]
    return [base + _OAUTH + path, base + _OPENID + path, base + path + _OPENID]


async def find_resource(web: Web, server: Target, named: str | None) -> ProtectedResourceMetadata | None:
    """Return the metadata of the MCP server, None where it publishes none.

    Args:
        web: asks for it.
        server: the MCP server.
        named: `resource_metadata` of its challenge.

    Raises:
        OAuthFlowError: it could not be asked, or publishes nonsense.
    """
    faults: list[str] = []
    for url in resource_metadata_urls(server, named):
        try:
            answer = await web.get(url, "the protected resource metadata")
        except OAuthFlowError as fault:
            faults.append(fault.message)
            continue
        if answer.status != 200:
            if answer.status not in (401, 403, 404, 405, 410) or url == named:
                faults.append(f"{url} answered {answer.status}")
            continue
        try:
            metadata = decode(answer.body, ProtectedResourceMetadata)
            if not metadata.authorization_servers:
                raise ValueError("authorization_servers names none")
        except ValueError as fault:
            faults.append(f"{url} holds no protected resource metadata: {fault}")
            continue
        return metadata
    if faults:
        raise OAuthFlowError(
            f"{server.shown} wants authorization, but does not say whose: {shown('; '.join(faults))}", server.shown, 401
        )
    return None


def canonical(server: Target) -> str:
    """Return what an MCP server is called in requests for tokens ("Canonical Server URI"): no bare slash, no query."""
    base, path = _split(server.url)
    return base if path == "/" else base + path


def check_resource(metadata: ProtectedResourceMetadata, server: Target) -> None:
    """Check that the metadata is about this MCP server: its own URL, or one that it lies below.

    Raises:
        OAuthFlowError: about another one, for which a token could be stolen.

    Spec: basic/authorization, "Canonical Server URI"; RFC 9728 3.3.
    """
    try:
        resource = parse_url(metadata.resource)
        _, path = _split(resource.url)
        fits = resource.origin.host == server.origin.host and resource.origin.port == server.origin.port
        fits = fits and resource.origin.scheme == server.origin.scheme and "#" not in metadata.resource
    except ValueError:
        fits, path = False, ""
    own = _split(server.url)[1].rstrip("/") + "/"
    if not fits or not own.startswith(path.rstrip("/") + "/"):
        raise OAuthFlowError(
            f"the protected resource metadata is about {shown(metadata.resource)!r}, not about {server.shown}; no "
            "token is asked for. The server's operator must correct `resource`, or you the URL",
            server.shown,
        )


async def find_issuer(web: Web, issuer: str) -> OAuthMetadata:
    """Return the metadata of an authorization server.

    Args:
        web: asks for it.
        issuer: its identifier, which the metadata must repeat letter by letter.

    Raises:
        OAuthFlowError: there is none, or it is another server's.
    """
    target = web.check(issuer, "the authorization server")
    if "?" in issuer or "#" in issuer:
        raise OAuthFlowError(f"{shown(issuer)!r} is no issuer: it has a query or a fragment", target.shown)
    faults: list[str] = []
    for url in issuer_metadata_urls(issuer):
        try:
            answer = await web.get(url, "the metadata of the authorization server")
        except OAuthFlowError as fault:
            faults.append(fault.message)
            continue
        if answer.status != 200:
            faults.append(f"{url} answered {answer.status}")
            continue
        try:
            metadata = decode(answer.body, OAuthMetadata)
        except ValueError as fault:
            faults.append(f"{url} holds no such metadata: {fault}")
            continue
        if metadata.issuer == issuer:
            return metadata
        faults.append(f"{url} is about issuer {metadata.issuer!r}, which is not {issuer!r}")
    told = "; ".join(shown(fault) for fault in faults)
    raise OAuthFlowError(f"{shown(issuer)} publishes no metadata of an authorization server: {told}", target.shown)


class Grounds(Struct):
    """All that a token is asked for with.

    Args:
        metadata: of the authorization server.
        resource: the MCP server, as it calls itself.
        scopes: that its metadata lists, separated by blanks.
    """

    metadata: OAuthMetadata
    resource: str
    scopes: str | None = None


class Discovery:
    """Finds the grounds of authorization at one MCP server.

    Args:
        web: asks for metadata.
        server: the MCP server.
        issuer: the only authorization server that will do, None for any.
        validate: judges the `resource` of the server instead of `check_resource`.
    """

    def __init__(self, web: Web, server: Target, issuer: str | None, validate: ResourceValidator | None) -> None:
        self._web = web
        self._server = server
        self._issuer = issuer
        self._validate = validate

    async def find(self, named: str | None) -> Grounds:
        """Return whom to ask for which resource.

        Args:
            named: URL of the metadata that a challenge names.

        Raises:
            OAuthFlowError: nobody, or nobody that will do.
        """
        published = await find_resource(self._web, self._server, named)
        if self._validate is not None:
            await self._validate(self._server.url, None if published is None else published.resource)
        elif published is not None:
            check_resource(published, self._server)
        metadata = await find_issuer(self._web, self._choose(published))
        if published is None:
            return Grounds(metadata, canonical(self._server))
        return Grounds(metadata, published.resource, union(*(published.scopes_supported or ())))

    def _choose(self, published: ProtectedResourceMetadata | None) -> str:
        if published is None:
            if self._issuer is None:
                raise OAuthFlowError(
                    f"{self._server.shown} wants authorization, but publishes no protected resource metadata that says "
                    "whose; if you know the authorization server, pass issuer=",
                    self._server.shown,
                    401,
                )
            return self._issuer
        named = published.authorization_servers
        if self._issuer is None:
            return named[0]
        if self._issuer not in named:
            raise OAuthFlowError(
                f"{self._server.shown} takes tokens of {shown(', '.join(named))}, but this client is registered with "
                f"{self._issuer}; its credentials are shown to nobody else. Register it there too",
                self._server.shown,
            )
        return self._issuer

    def fits(self, resource: str) -> bool:
        """Return whether a token for `resource` may be sent to the server."""
        if self._validate is not None:
            return True
        try:
            check_resource(ProtectedResourceMetadata(resource=resource, authorization_servers=[]), self._server)
        except OAuthFlowError:
            return False
        return True


def _split(url: str) -> tuple[str, str]:
    """Return scheme and authority, and the path."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}", parts.path
