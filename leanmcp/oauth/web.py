"""Requests to URLs that a server named: what may be asked, and how much is read.

In: URLs out of challenges and metadata. Out: whole small answers.
Spec 2026-07-28: basic/authorization/security-considerations, "Communication Security"; RFC 9728 7.7 (SSRF), 8414 6.2.

A server on the internet can name any URL. Without bounds it could have this machine knock at doors that are open to its
own network only, so that plain http is for this machine alone and only where the MCP server runs on it, and private
addresses are for MCP servers that have one themselves.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import ssl as tls
from collections.abc import Mapping
from urllib.parse import urlencode

from ..errors import TransportError
from ..transports.http_client_url import Target, follow, parse_url
from ..transports.http_fetch import HTTPAnswer, fetch
from .errors import OAuthFlowError

MAX_SIZE = 256 * 1024  # bytes of one answer
_TIMEOUT = 30.0  # seconds for one answer
_MAX_HOPS = 3
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


class Web:
    """Asks authorization servers on behalf of the client of one MCP server.

    Args:
        server: the MCP server.
        allow_private: whether it may lead to private addresses and to plain http on this machine; None: where it has
            such an address itself.
        ssl: context for https instead of the system's certificates.
        timeout: seconds for one answer.
    """

    def __init__(
        self,
        server: Target,
        allow_private: bool | None = None,
        ssl: tls.SSLContext | None = None,
        timeout: float = _TIMEOUT,
    ) -> None:
        self._server = server
        self._allow_private = allow_private
        self._ssl = ssl
        self._timeout = timeout

    def check(self, url: str, what: str) -> Target:
        """Return where a URL leads that is to be asked or opened.

        Raises:
            OAuthFlowError: a scheme or a host that is not admitted.
        """
        try:
            target = parse_url(url)
        except ValueError as fault:
            raise OAuthFlowError(f"{what} is no usable URL: {fault}", self._server.shown) from None
        if target.origin.scheme == "http" and not target.is_local:
            raise OAuthFlowError(f"{what} is {target.shown}, which is not encrypted; it must be https", target.shown)
        if target.is_local and not (self._server.is_local or self._allow_private):
            raise self._private(what, target)
        return target

    async def get(self, url: str, what: str) -> HTTPAnswer:
        """Ask for a document; redirects are followed within an origin.

        Raises:
            OAuthFlowError: not admitted, or nobody answers.
        """
        target = self.check(url, what)
        for _ in range(_MAX_HOPS):
            answer = await self._fetch("GET", target, what, {"Accept": "application/json"})
            led = follow(target, answer.headers.get("location", "")) if answer.status in _REDIRECTS else None
            if led is None:
                break
            target = led
        return answer

    async def post(self, url: str, what: str, body: bytes, headers: Mapping[str, str]) -> HTTPAnswer:
        """Send a request that may hold secrets; redirects are not followed.

        Raises:
            OAuthFlowError: not admitted, or nobody answers.
        """
        return await self._fetch("POST", self.check(url, what), what, {"Accept": "application/json", **headers}, body)

    async def _fetch(
        self, method: str, target: Target, what: str, headers: Mapping[str, str], body: bytes = b""
    ) -> HTTPAnswer:
        private = await self._may_be_private(target)

        def admit(address: str) -> None:
            if not (private or _is_public(address)):
                raise OAuthFlowError(
                    f"{what} leads from {target.shown} to {address}, an address of a private network; pass "
                    "allow_private_addresses=True if that is meant",
                    target.shown,
                )

        try:
            return await fetch(
                method,
                target,
                headers={"User-Agent": "leanmcp", **headers},
                body=body,
                max_size=MAX_SIZE,
                timeout=self._timeout,
                ssl=self._ssl,
                admit=admit,
            )
        except OAuthFlowError:
            raise
        except TransportError as fault:
            raise OAuthFlowError(f"{what}: {fault.message}", target.shown) from fault

    async def _may_be_private(self, target: Target) -> bool:
        """Return whether an address of a private network is one that this MCP server may lead to."""
        if self._allow_private is not None:
            return self._allow_private or target.origin == self._server.origin
        if target.origin == self._server.origin or self._server.is_local:
            return True
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(self._timeout):
                found = await loop.getaddrinfo(self._server.origin.host, 443, type=socket.SOCK_STREAM)
        except (OSError, TimeoutError):
            return False
        return not any(_is_public(str(entry[4][0])) for entry in found)

    def _private(self, what: str, target: Target) -> OAuthFlowError:
        return OAuthFlowError(
            f"{what} is {target.shown}, on this machine, but the MCP server is {self._server.shown}; pass "
            "allow_private_addresses=True if that is meant",
            target.shown,
        )


def form(parameters: Mapping[str, str | None]) -> bytes:
    """Return a body of type application/x-www-form-urlencoded, without the parameters that are None."""
    return urlencode({name: value for name, value in parameters.items() if value is not None}).encode()


def _inside(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """Return the IPv4 address that an IPv6 address leads to (RFC 4291 2.5.5.2, 3056, 6052), None where it does not."""
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour


def _is_public(address: str) -> bool:
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(parsed, ipaddress.IPv6Address):
        parsed = _inside(parsed) or parsed
    return parsed.is_global and not parsed.is_multicast
