"""URIs, icons and texts that a stranger has written: what must not be followed or shown, and what does not show.

In: what a server sent. Out: what is wrong with it, or what is left of it.
Spec 2026-07-28: basic/index, "`icons`"; server/resources, "Common URI Schemes". RFC 3986; Unicode TR 36.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from urllib.parse import urlsplit

from ..types import Icon

# What browsers and desktops run, or open with the rights of the page that links to it.
UNSAFE_SCHEMES = frozenset(["about", "blob", "chrome", "filesystem", "hcp", "its", "jar", "javascript", "jscript"]) | {
    *("livescript", "mhtml", "mk", "mocha", "search-ms", "shell", "vbscript", "view-source")
}
IMAGE_TYPES = frozenset(["image/png", "image/jpeg", "image/jpg", "image/svg+xml", "image/webp", "image/gif"])
MAX_ICON = 512 * 1024  # characters of a data: URI

_URI = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]*):")
_NOT_IN_URIS = re.compile(r"[\x00-\x20\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
_PORTS = {"http": 80, "https": 443}

# Control characters but tab and line ends; the controls that turn the direction of writing; tags and other characters
# that no screen shows, with which texts for models are smuggled past people. Joiners and marks of scripts are left.
_HIDDEN = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u2060-\u2064\ufff9-\ufffb\U000e0000-\U000e007f"
_hidden = re.compile(f"[{_HIDDEN}]")
_hidden_json = re.compile(rf"(?:^|[^\\])(?:\\\\)*(\\[bf]|\\u00[01][0-9a-fA-F])|[{_HIDDEN}]")
_KINDS = (
    ("characters that turn the direction of writing", re.compile("[\u202a-\u202e\u2066-\u2069]")),
    ("characters that do not show", re.compile("[\u2060-\u2064\ufff9-\ufffb\U000e0000-\U000e007f]")),
)


def hidden_characters(text: str, *, in_json: bool = False) -> str:
    """Return which kinds of hidden characters a text has, as a phrase; empty where it has none.

    Args:
        in_json: the text is JSON, in which control characters are escaped.
    """
    if (_hidden_json if in_json else _hidden).search(text) is None:
        return ""
    kinds = [name for name, pattern in _KINDS if pattern.search(text)]
    return " and ".join(kinds) or "control characters"


def without_hidden(text: str) -> str:
    """Return a text without its hidden characters."""
    return _hidden.sub("", text)


def uri_fault(uri: str, schemes: Collection[str] | None = None) -> str | None:
    """Return why a URI must not be followed, as the end of a sentence; None where nothing speaks against it.

    Args:
        uri: of a link or of contents.
        schemes: the only ones allowed; None: all that cannot run anything.
    """
    if _NOT_IN_URIS.search(uri):
        return "has spaces or characters that do not show"
    match = _URI.match(uri)
    if match is None:
        return None if schemes is None else "has no scheme"
    scheme = match[1].lower()
    if schemes is not None:
        return None if scheme in schemes else f"has the scheme {scheme}:, not one of {', '.join(sorted(schemes))}"
    if scheme in UNSAFE_SCHEMES or scheme.startswith("ms-"):
        return f"has the scheme {scheme}:, which can run something"
    if scheme == "data" and not _is_plain_data(uri):
        return "has data that can run something"
    return None


def _is_plain_data(uri: str) -> bool:
    kind = uri[5:].partition(",")[0].partition(";")[0].strip().lower()
    return kind in ("", "text/plain", "text/csv", "text/markdown", "application/json", "application/octet-stream") or (
        kind.startswith(("image/", "audio/", "video/")) and kind != "image/svg+xml"
    )


def safe_icons(icons: Iterable[Icon], server: str | None) -> list[Icon]:
    """Return the icons that may be shown: images in `data:` URIs, and `https:` URLs of the server's own origin.

    To fetch one, send no credentials and follow no redirect to another origin; look at its bytes before it is drawn.

    Args:
        icons: as the server sent them.
        server: its URL; None where it has none, so that no URL is of its origin.

    Spec: basic/index, "`icons`".
    """
    return [icon for icon in icons if _is_safe_icon(icon.src, server)]


def _is_safe_icon(source: str, server: str | None) -> bool:
    if _NOT_IN_URIS.search(source):
        return False
    scheme = source.partition(":")[0].lower()
    if scheme == "data":
        kind = source[5:].partition(",")[0].partition(";")[0].lower()
        return kind in IMAGE_TYPES and len(source) <= MAX_ICON
    if scheme != "https" or server is None:
        return False
    mine = _origin(source)
    return mine is not None and mine == _origin(server)


def _origin(url: str) -> tuple[str, str, int] | None:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    if parts.hostname is None or parts.username is not None or parts.scheme not in _PORTS or "\\" in url:
        return None
    return parts.scheme, parts.hostname.rstrip(".").lower(), port or _PORTS[parts.scheme]
