"""Where a request goes: a URL split into the peer to connect to and the target to ask for.

In: URLs as users type them. Out: Target, or ValueError that proposes what was meant.
RFC 3986; RFC 9110 4.2 (http and https), 7.2 (Host).
"""

from __future__ import annotations

import re
from urllib.parse import quote, unquote_to_bytes, urljoin, urlsplit

from msgspec import Struct

_PORTS = {"http": 80, "https": 443}
_SCHEME = re.compile(r"(https?):/{0,3}(?=[^/])", re.IGNORECASE)
_BARE_HOST = re.compile(r"(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._\-]+)(?::[0-9]{1,5})?(?:/\S*)?")
_HOST = re.compile(r"[A-Za-z0-9._~:\-]+(?:%[A-Za-z0-9._~\-]+)?")  # a name or an address; behind % a network interface
_LOOPBACK = re.compile(r"localhost|127(?:\.[0-9]{1,3}){3}|\[?::1\]?")
_BLANK = re.compile(r"[\s\x00-\x1f\x7f]")
_KEPT = "%/:?#[]@!$&'()*+,;=~-._"


class Origin(Struct, frozen=True):
    """A peer: connections to one are interchangeable, and credentials of one are never shown to another.

    Args:
        scheme: `http` or `https`.
        host: name or address without brackets.
        port: TCP port.
        socket: path of a Unix socket to connect to instead.
    """

    scheme: str
    host: str
    port: int
    socket: str = ""

    @property
    def is_local(self) -> bool:
        """Whether nothing that is sent there leaves this machine."""
        return bool(self.socket or _LOOPBACK.fullmatch(self.host))


class Target(Struct, frozen=True):
    """One URL.

    Args:
        origin: the peer.
        path: path and query, as the request line carries them.
        host: value of the Host field.
        shown: the URL without its query, which may hold a secret; for error texts.
        url: whole, without fragment.
    """

    origin: Origin
    path: str
    host: str
    shown: str
    url: str

    @property
    def is_local(self) -> bool:
        """Whether nothing of a request leaves this machine."""
        return self.origin.is_local


def parse_url(url: str, socket: str = "") -> Target:
    """Return where `url` leads.

    Args:
        url: absolute, `http` or `https`.
        socket: path of a Unix socket that reaches its host.

    Raises:
        ValueError: no such URL; the text proposes one.
    """
    url = url.strip(" ")
    if not re.match(r"https?://[^/]", url, re.IGNORECASE) or re.search(r"[\s\x00-\x1f\x7f]", url):
        raise ValueError(_no_url(url))
    try:
        parts = urlsplit(url if url.isascii() else quote(url, safe=_KEPT))
        port = parts.port
    except ValueError as fault:
        raise ValueError(f"{url!r} is no URL: {_of_urllib(str(fault))}") from None
    if parts.username is not None:
        raise ValueError(
            "a URL must not hold a user name or password, which end up in logs; send them with "
            "headers={'Authorization': ...}"
        )
    if not parts.hostname or port == 0:
        raise ValueError(f"{url!r} is no URL: it names no host, or port 0")
    host = _ascii_host(url, parts.hostname)
    scheme = parts.scheme
    path = quote(parts.path or "/", safe=_KEPT) + (f"?{parts.query}" if parts.query else "")
    name = f"[{host}]" if ":" in host else host
    authority = name if port is None or port == _PORTS[scheme] else f"{name}:{port}"
    base = f"{scheme}://{authority}"
    return Target(
        origin=Origin(scheme, host, port or _PORTS[scheme], socket),
        path=path,
        host=authority,
        shown=f"unix:{socket}" if socket else base + path.partition("?")[0],
        url=base + path,
    )


def follow(target: Target, location: str) -> Target | None:
    """Return where a redirect leads, None where that is another origin, no URL of ours, or nowhere."""
    if not location:
        return None
    try:
        led = parse_url(urljoin(target.url, location), target.origin.socket)
    except ValueError:
        return None
    return led if led.origin == target.origin else None


def _ascii_host(url: str, host: str) -> str:
    if "%" in host:
        host = unquote_to_bytes(host).decode(errors="replace")
    try:
        ascii_host = host if host.isascii() else host.encode("idna").decode()
    except UnicodeError:
        ascii_host = ""
    # Line ends that were percent-encoded would end the Host field, and begin another one.
    if not _HOST.fullmatch(ascii_host):
        raise ValueError(f"{url!r} is no URL: {host!r} is no host name")
    return ascii_host


def _of_urllib(text: str) -> str:
    """Return why a URL cannot be split, in our words."""
    if "Port" in text:
        return "behind the last colon stands the port, a number from 1 to 65535"
    return "an address in brackets is one of IPv6, such as http://[::1]:8000/mcp" if "IPv6" in text else text


def _no_url(url: str) -> str:
    """Say what is wrong with `url` and what was probably meant."""
    if match := _SCHEME.match(url):
        host, slash, path = url[match.end() :].strip().partition("/")
        host, path = _BLANK.sub("", host), _BLANK.sub(lambda found: quote(found[0]), path)
        return f"{url!r} is no URL; did you mean '{match[1].lower()}://{host}{slash}{path}'?"
    if "://" in url and not url.lower().startswith(("http:", "https:")):
        return f"{url!r}: MCP is spoken over http:// and https://, not {url.partition('://')[0]}://"
    if url.isdecimal():
        return f"{url!r} is no URL; did you mean 'http://localhost:{url}/mcp'?"
    if url in ("stdio", "http", "https", "sse") or url.startswith(("http//", "https//")) or url.endswith(".json"):
        return f"{url!r} is no URL; give one such as 'http://localhost:8000/mcp', or StdioServerParameters(...)"
    if _BARE_HOST.fullmatch(url):
        name = url.partition("/")[0]
        scheme = "http" if _LOOPBACK.match(name) or ":" in name else "https"
        return f"{url!r} is no URL; did you mean '{scheme}://{url if '/' in url else url + '/mcp'}'?"
    return f"{url!r} is no URL; give one such as 'http://localhost:8000/mcp'"
