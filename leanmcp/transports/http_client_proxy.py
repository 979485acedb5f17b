"""Proxies that the environment names: HTTPS_PROXY, HTTP_PROXY and ALL_PROXY, in either case, and NO_PROXY.

In: origins. Out: sockets that lead to a proxy, or through it. What is encrypted stays so from end to end, in a tunnel;
of a plain request, the proxy reads everything. This machine itself is never asked for through a proxy.
RFC 9110 9.3.6 (CONNECT), 11.7 (Proxy-Authorization); RFC 9112 3.2.2 (absolute-form).
"""

from __future__ import annotations

import asyncio
import os
import re
import socket
from base64 import b64encode
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from ..errors import CannotConnect
from .http_client_connection import Connection, Head, open_socket
from .http_client_url import Origin

_MAX_HEAD = 64 * 1024  # bytes of the answer to CONNECT
_STATUS = re.compile(rb"HTTP/1\.[01] (\d{3})([^\r\n]*)\r\n")
_ENTRY = re.compile(r"(?:\*?\.)?(?:\[(?P<v6>[^\[\]]+)\]|(?P<host>[^:]+))(?::(?P<port>\d+))?|(?P<bare>[0-9a-f:.]+)")


class Proxy(Struct, frozen=True):
    """A proxy.

    Args:
        origin: of the proxy itself, the peer to connect to.
        variable: of the environment, that names it.
        fields: header lines that it wants, empty where it asks for no password.
    """

    origin: Origin
    variable: str
    fields: bytes

    @property
    def shown(self) -> str:
        """How error texts name it."""
        return f"the proxy {_authority(self.origin)} ({self.variable})"

    async def open(self, origin: Origin, where: str) -> socket.socket:
        """Return a connected socket: to the proxy; for https, through it to `origin`.

        Args:
            origin: of the server.
            where: what error texts call that.

        Raises:
            OSError: nobody listens where the proxy should.
            CannotConnect: the proxy refuses, or is none.
        """
        sock = await open_socket(self.origin)
        try:
            if origin.scheme == "https":
                await self._tunnel(sock, origin, where)
        except BaseException:
            sock.close()
            raise
        return sock

    async def _tunnel(self, sock: socket.socket, origin: Origin, where: str) -> None:
        """Have the proxy connect `sock` to `origin`."""
        loop = asyncio.get_running_loop()
        peer = _authority(origin).encode()
        await loop.sock_sendall(sock, b"CONNECT %b HTTP/1.1\r\nHost: %b\r\n%b\r\n" % (peer, peer, self.fields))
        head = await _read_head(sock)
        status = _STATUS.match(head)
        # What comes behind the head is no answer of the server's: nothing was asked, and nobody has proved who he is.
        if status is None or (status[1][:1] == b"2" and not head.endswith(b"\r\n\r\n")):
            raise CannotConnect(f"Cannot connect to {where}: {self.shown} does not answer in HTTP", where)
        if status[1][:1] != b"2":
            raise self.refusal(int(status[1]), status[2].decode("latin-1").strip(), where)

    def refusal(self, status: int, reason: str, where: str) -> CannotConnect:
        """Return what an answer of the proxy's own means."""
        fix = "correct the URL, or name the host in NO_PROXY"
        if status == 407:
            fix = f"it wants {self.variable}=http://USER:PASSWORD@{_authority(self.origin)}"
        said = f"{status} {reason}".rstrip()
        return CannotConnect(f"Cannot connect to {where}: {self.shown} answered {said[:80]!r}; {fix}", where)


class ProxiedConnection(Connection):
    """A connection through a proxy.

    Args:
        proxy: the proxy; the others see `Connection`.
    """

    __slots__ = ("_proxy",)

    def __init__(self, proxy: Proxy, *args: Any) -> None:
        super().__init__(*args)
        self._proxy = proxy

    async def exchange(self, request: bytes, body: bytes = b"") -> Head:
        """Send a request, the whole URL in a plain one, and return the head of its answer.

        Raises:
            CannotConnect: the proxy wants a password.
        """
        if self.origin.scheme == "https":
            return await super().exchange(request, body)
        line, _, rest = request.partition(b"\r\n")
        verb, _, path = line.partition(b" ")
        url = b"http://%b%b" % (_authority(self.origin, 80).encode(), path)
        head = await super().exchange(b"%b %b\r\n%b%b" % (verb, url, self._proxy.fields, rest), body)
        if head.status == 407:
            raise self._proxy.refusal(407, "Proxy Authentication Required", self.where)
        return head

    async def addresses(self) -> list[str]:
        """Return the addresses of the peer as far as they are known here; the proxy may know others."""
        loop = asyncio.get_running_loop()
        try:
            found = await loop.getaddrinfo(self.origin.host, self.origin.port, type=socket.SOCK_STREAM)
        except OSError:
            return []
        return [str(entry[4][0]) for entry in found]


def proxy_for(origin: Origin, environment: Mapping[str, str] = os.environ) -> Proxy | None:
    """Return the proxy that leads to `origin`, None where the environment names none.

    Raises:
        CannotConnect: what it names is none.
    """
    if origin.is_local or _is_excluded(origin, _value(environment, "no_proxy")[1]):
        return None
    name, value = _value(environment, f"{origin.scheme}_proxy")
    if name.isupper() and origin.scheme == "http" and "REQUEST_METHOD" in environment:
        value = ""  # of a CGI program: a client's field `Proxy` came in as HTTP_PROXY
    if not name:
        name, value = _value(environment, "all_proxy")
    return _parsed(name, value, _authority(origin)) if value else None


def _value(environment: Mapping[str, str], name: str) -> tuple[str, str]:
    """Return a variable and its value, in lower case before upper case; an empty one switches off."""
    found = next((spelled for spelled in (name, name.upper()) if spelled in environment), "")
    return found, environment.get(found, "").strip()


def _parsed(name: str, value: str, where: str) -> Proxy:
    """Return the proxy that a variable names, of `value`, which is not empty."""
    try:
        parts = urlsplit(value if "://" in value else f"http://{value}")
        port = parts.port or 80
    except ValueError:
        parts, port = urlsplit(""), 0
    if parts.scheme != "http" or not parts.hostname:
        what = f"{parts.scheme}://" if parts.hostname else "no proxy"  # never the value, which may hold a password
        raise CannotConnect(f"Cannot connect to {where}: {name} names {what}; give http://HOST:PORT or unset it", where)
    fields = b""
    if parts.username is not None:
        secret = f"{unquote(parts.username)}:{unquote(parts.password or '')}".encode()
        fields = b"Proxy-Authorization: Basic %b\r\n" % b64encode(secret)
    return Proxy(Origin("http", parts.hostname, port), name, fields)


def _is_excluded(origin: Origin, excluded: str) -> bool:
    """Return whether NO_PROXY names an origin: by host, domain, address, network, each with a port or without."""
    for entry in excluded.lower().replace(",", " ").split():
        if entry == "*" or ("/" in entry and _is_inside(origin.host, entry)):
            return True
        match = _ENTRY.fullmatch(entry)
        if match is None or match["port"] not in (None, str(origin.port)):
            continue
        host = match["host"] or match["v6"] or match["bare"]
        if origin.host == host or origin.host.endswith("." + host):
            return True
    return False


def _is_inside(host: str, network: str) -> bool:
    import ipaddress  # few name networks

    try:
        return ipaddress.ip_address(host) in ipaddress.ip_network(network, strict=False)
    except ValueError:
        return False


async def _read_head(sock: socket.socket) -> bytes:
    """Return the head of the answer to CONNECT and what came with it; nothing where the head has no end."""
    loop = asyncio.get_running_loop()
    head = b""
    while b"\r\n\r\n" not in head:
        piece = await loop.sock_recv(sock, _MAX_HEAD)
        head += piece
        if not piece or len(head) > _MAX_HEAD:
            return b""
    return head


def _authority(origin: Origin, usual: int = 0) -> str:
    """Return host and port of an origin, without the port where it is the usual one."""
    host = f"[{origin.host}]" if ":" in origin.host else origin.host
    return host if origin.port == usual else f"{host}:{origin.port}"
