"""WWW-Authenticate: what a protected server wants.

In: the header field. Out: the parameters of its Bearer challenge.
Spec 2026-07-28: basic/authorization, "Scope Challenge Handling"; RFC 9110 11.6.1, 6750 3, 9728 5.1.
"""

from __future__ import annotations

import re

from msgspec import Struct

# Possessive throughout: nothing is given back, so that a field full of blanks costs no more than any other.
_ELEMENT = re.compile(
    r"""\s*+,?+\s*+(?:
        (?P<name>[\w!\#$%&'*+.^`|~-]++)\s*+=\s*+(?:"(?P<quoted>(?:[^"\\]|\\.)*+)"|(?P<plain>[^\s,"=]++))(?=\s*+(?:,|$))
        |(?P<scheme>[\w!\#$%&'*+.^`|~-]++)(?:\s++(?P<token68>[A-Za-z0-9._~+/-]++=*+)(?=\s*+(?:,|$)))?
    )""",
    re.VERBOSE,
)
_MAX_SIZE = 8192  # characters looked at


class Challenge(Struct, frozen=True):
    """A Bearer challenge.

    Args:
        resource_metadata: URL of the protected resource metadata.
        scope: needed for this request.
        error: such as `insufficient_scope`.
    """

    resource_metadata: str | None = None
    scope: str | None = None
    error: str | None = None


def parse_challenge(field: str) -> Challenge:
    """Return the first Bearer challenge of a WWW-Authenticate field, an empty one where there is none."""
    scheme, at = "", 0
    found: dict[str, str] = {}
    field = field[:_MAX_SIZE]
    while at < len(field) and (match := _ELEMENT.match(field, at)) is not None:
        at = match.end()
        if match["scheme"] is not None:
            if scheme == "bearer":
                break
            scheme = match["scheme"].lower()
        elif scheme == "bearer":
            value = match["plain"] if match["quoted"] is None else re.sub(r"\\(.)", r"\1", match["quoted"])
            found.setdefault(match["name"].lower(), value)
    known = {name: found.get(name) or None for name in Challenge.__struct_fields__}
    return Challenge(**known)


def union(*scopes: str | None) -> str | None:
    """Return all scopes once, in the order of their first mention; None where there are none."""
    names = dict.fromkeys(name for scope in scopes if scope for name in scope.split())
    return " ".join(names) or None
