"""Addresses as people type them: where they lead, or what was meant."""

from __future__ import annotations

import re
from typing import NamedTuple

import pytest

from leanmcp.connect import transport_to
from leanmcp.transports.http_client import HTTPTransport
from leanmcp.transports.http_client_url import Origin, follow, parse_url


@pytest.mark.parametrize(
    ("url", "origin", "path", "host"),
    [
        ("http://localhost:8000/mcp", Origin("http", "localhost", 8000), "/mcp", "localhost:8000"),
        ("https://Example.COM/mcp?key=s", Origin("https", "example.com", 443), "/mcp?key=s", "example.com"),
        ("HTTP://example.com:80", Origin("http", "example.com", 80), "/", "example.com"),
        ("http://[::1]:8000/a/b/", Origin("http", "::1", 8000), "/a/b/", "[::1]:8000"),
        ("https://example.com/a%20b#part", Origin("https", "example.com", 443), "/a%20b", "example.com"),
        ("https://bücher.example/ж", Origin("https", "xn--bcher-kva.example", 443), "/%D0%B6", "xn--bcher-kva.example"),
        (" http://localhost/mcp ", Origin("http", "localhost", 80), "/mcp", "localhost"),
    ],
)
def test_url_leads_somewhere(url: str, origin: Origin, path: str, host: str) -> None:
    """Ours: RFC 3986; the Host field leaves a default port out (RFC 9110 7.2)."""
    target = parse_url(url)
    assert (target.origin, target.path, target.host) == (origin, path, host)
    assert "?" not in target.shown


@pytest.mark.parametrize(
    ("address", "text"),
    [
        ("http:/localhost:8000/mcp", "did you mean 'http://localhost:8000/mcp'?"),
        ("http:localhost:8000/mcp", "did you mean 'http://localhost:8000/mcp'?"),
        ("https:///example.com/mcp", "did you mean 'https://example.com/mcp'?"),
        ("localhost:8000", "did you mean 'http://localhost:8000/mcp'?"),
        ("localhost", "did you mean 'http://localhost/mcp'?"),
        ("127.0.0.1:8000/mcp", "did you mean 'http://127.0.0.1:8000/mcp'?"),
        ("[::1]:8000", "did you mean 'http://[::1]:8000/mcp'?"),
        ("example.com/mcp", "did you mean 'https://example.com/mcp'?"),
        ("htpp://localhost/mcp", "over http:// and https://, not htpp://"),
        ("ws://localhost/mcp", "not ws://"),
        ("http://", "is no URL"),
        ("", "is no URL; give one such as 'http://localhost:8000/mcp'"),
        ("http://localhost:99999/mcp", "is no URL: behind the last colon stands the port, a number from 1 to 65535"),
        ("http://localhost:0/mcp", "port 0"),
        ("http://localhost:eighty/mcp", "is no URL: behind the last colon stands the port, a number from 1 to 65535"),
        ("http://user:secret@localhost/mcp", "must not hold a user name or password"),
        ("http://local host/mcp", "did you mean 'http://localhost/mcp'?"),
        ("http://localhost/my tools", "did you mean 'http://localhost/my%20tools'?"),
        ("http://localhost/mcp\r\nX: 1", "is no URL"),
        ("http://[::1/mcp", "is no URL: an address in brackets is one of IPv6, such as http://[::1]:8000/mcp"),
        ("http://a%0d%0aEvil:80/mcp", "is no host name"),
        ("http://a%00/mcp", "is no host name"),
        ("http://a%2fb/mcp", "is no host name"),
        ("http://a%20b/mcp", "is no host name"),
        ("http://\u00e4%0a/mcp", "is no host name"),
        ("unix:", "give the absolute path of a Unix socket"),
        ("unix:relative.sock", "give the absolute path of a Unix socket"),
    ],
)
def test_slip_is_answered_with_what_was_meant(address: str, text: str) -> None:
    """Ours: U13, before anything is sent."""
    with pytest.raises(ValueError, match=re.escape(text)):
        transport_to(address)


@pytest.mark.parametrize(
    ("address", "where"),
    [
        ("http://localhost:8000/mcp?key=secret", "http://localhost:8000/mcp"),
        ("unix:/run/mcp.sock", "unix:/run/mcp.sock"),
        ("unix:///run/mcp.sock", "unix:/run/mcp.sock"),
    ],
)
def test_place_shows_no_secret(address: str, where: str) -> None:
    """Ours: `where` stands in logs and error texts; keys in a query do not."""
    assert transport_to(address).where == where


def test_other_things_are_no_server() -> None:
    """Ours: the text lists what is one, and repeats no settings, which hold keys; a transport made by hand is."""

    class StdioServerParameters(NamedTuple):  # another package's
        command: str
        env: dict[str, str]

    with pytest.raises(TypeError, match="give an MCPServer, a URL, StdioServerParameters or 'unix:/path'"):
        transport_to(8000)
    for settings in ({"command": "x", "env": {"KEY": "hidden"}}, StdioServerParameters("x", {"KEY": "hidden"})):
        with pytest.raises(TypeError) as raised:
            transport_to(settings)
        assert "hidden" not in str(raised.value)
    transport = HTTPTransport("http://localhost/mcp")
    assert transport_to(transport) is transport


@pytest.mark.parametrize(
    ("location", "led"),
    [
        ("/other", "http://localhost:8000/other"),
        ("b?x=1", "http://localhost:8000/a/b?x=1"),
        ("http://localhost:8000/x", "http://localhost:8000/x"),
        ("HTTP://LOCALHOST:8000/x", "http://localhost:8000/x"),
        ("http://localhost:8001/x", None),
        ("https://localhost:8000/x", None),
        ("//example.com/x", None),
        ("http://user@localhost:8000/x", None),
        ("file:///etc/passwd", None),
        ("", None),
    ],
)
def test_redirect_leads_within_the_origin_or_nowhere(location: str, led: str | None) -> None:
    """Ours: scheme, host and port make an origin (RFC 9110 4.3.1)."""
    target = follow(parse_url("http://localhost:8000/a/mcp"), location)
    assert (None if target is None else target.url) == led
