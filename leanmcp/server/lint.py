"""What is said of a server or tool besides its schemas: refused, or warned of where it only misleads.

In: icons and behaviour hints as they were given. Out: the icons, or an error that says what to give instead.
Spec 2026-07-28: basic/index, "`icons`"; schema page, `ToolAnnotations`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..logs import logger
from ..types import Icon, ToolAnnotations

__all__ = ["check_icons", "lint_hints"]

# An authority and no white space or control characters: browsers drop those, so that they can hide another scheme.
_HTTPS = re.compile(r"https://[^\s/?#\\\x00-\x1f\x7f]+([/?#][^\s\\\x00-\x1f\x7f]*)?", re.IGNORECASE)
_DATA = re.compile(r"data:image/[a-z0-9.+\-]+(;[a-z0-9\-]+=[a-z0-9.+\-]+)*;base64,[A-Za-z0-9+/]+={0,2}", re.IGNORECASE)
_SIZE = re.compile(r"[1-9][0-9]{0,4}x[1-9][0-9]{0,4}|any")
_MIME_TYPE = re.compile(r"image/[A-Za-z0-9.+\-]+")
_HINTS = ("read_only_hint", "destructive_hint", "idempotent_hint", "open_world_hint")


def check_icons(owner: str, icons: Sequence[Icon]) -> list[Icon]:
    """Return the icons.

    Args:
        owner: whose they are, for error texts.

    Raises:
        TypeError: something that is no `Icon`.
        ValueError: a URI that clients must reject, or a member that is not of the specification's shape.
    """
    if not isinstance(icons, list | tuple):
        raise TypeError(f"{owner}: icons={icons!r}; give a list, [Icon(src=...)], even of one")
    for icon in icons:
        if not isinstance(icon, Icon):
            raise TypeError(f"{owner}: icons= holds {icon!r}; give leanmcp.types.Icon(src=...)")
        _check_icon(owner, icon)
    return list(icons)


def _check_icon(owner: str, icon: Icon) -> None:
    shown = icon.src[:60] if isinstance(icon.src, str) else icon.src
    if not isinstance(icon.src, str) or not (_HTTPS.fullmatch(icon.src) or _DATA.fullmatch(icon.src)):
        raise ValueError(
            f"{owner}: icon {shown!r} must be an https: URL or data:image/...;base64,...; clients refuse others"
        )
    sizes = icon.sizes if icon.sizes is not None else []
    if not isinstance(sizes, list) or not all(isinstance(size, str) and _SIZE.fullmatch(size) for size in sizes):
        raise ValueError(f"{owner}: icon {shown!r} has sizes={icon.sizes!r}; give a list such as ['48x48'] or ['any']")
    if icon.theme not in (None, "light", "dark"):
        raise ValueError(f"{owner}: icon {shown!r} has theme={icon.theme!r}; give 'light' or 'dark'")
    if icon.mime_type is not None and not (isinstance(icon.mime_type, str) and _MIME_TYPE.fullmatch(icon.mime_type)):
        raise ValueError(f"{owner}: icon {shown!r} has mime_type={icon.mime_type!r}; give one such as 'image/png'")


def lint_hints(tool: str, hints: ToolAnnotations) -> None:
    """Warn of behaviour hints that say nothing or contradict each other.

    Raises:
        TypeError: something that is no `ToolAnnotations`, or a hint that is no bool.
    """
    if not isinstance(hints, ToolAnnotations):
        raise TypeError(f"tool {tool!r}: annotations={hints!r}; give leanmcp.types.ToolAnnotations(...)")
    for name in _HINTS:
        value = getattr(hints, name)
        if value is not None and not isinstance(value, bool):
            raise TypeError(f"tool {tool!r}: {name}={value!r}; give True or False")
    if not hints.read_only_hint:
        return
    if hints.destructive_hint:
        logger.warning("tool %r: read_only_hint and destructive_hint contradict each other; drop one", tool)
    for name in ("destructive_hint", "idempotent_hint"):
        if getattr(hints, name) is not None and not (name == "destructive_hint" and hints.destructive_hint):
            logger.warning("tool %r: %s means nothing on a read-only tool; leave it out", tool, name)
