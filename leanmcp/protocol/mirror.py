"""Values of the body written into Mcp-* headers; `headers.py` reads them back.

In: names, URIs and arguments. Out: header values of visible ASCII and blanks.
Spec 2026-07-28: basic/transports/streamable-http, "Value Encoding" and "Client Behavior".
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterable
from typing import Any

from ..errors import InvalidParams
from .headers import SENTINEL_END, SENTINEL_START, ParamHeader, argument_at

# A tab inside would be legal too, but it is a control character, and proxies turn it into a blank.
_PLAIN = re.compile(r"(?:[!-~](?:[ -~]*[!-~])?)?")
_SAFE_INTEGER = 2**53 - 1


def encode_value(text: str) -> str:
    """Return `text` as a header value: as it is, or as base64 between `=?base64?` and `?=`.

    Base64 carries what is not visible ASCII and inner blanks, and what could be taken for such a value itself.

    Raises:
        UnicodeEncodeError: half a surrogate pair, which has no UTF-8.
    """
    if _PLAIN.fullmatch(text) and not (text.startswith(SENTINEL_START) and text.endswith(SENTINEL_END)):
        return text
    encoded = binascii.b2a_base64(text.encode(), newline=False).decode()
    return f"{SENTINEL_START}{encoded}{SENTINEL_END}"


def mirror_params(plan: Iterable[ParamHeader], arguments: Any) -> dict[str, str]:
    """Return the Mcp-Param-* fields of one call; absent and null arguments have none.

    Args:
        plan: the tool's mirrored arguments, from `plan_params`.
        arguments: as they are sent.

    Raises:
        InvalidParams: an argument that no header can carry.
    """
    fields: dict[str, str] = {}
    for param in plan:
        value = argument_at(arguments, param.path)
        if value is not None:
            fields[param.header] = encode_value(_text_of(value, ".".join(param.path), param.header))
    return fields


def _text_of(value: Any, where: str, header: str) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int):
        raise InvalidParams(f"{where}: must be a string, an integer or a boolean, because {header} mirrors it")
    if abs(value) > _SAFE_INTEGER:
        raise InvalidParams(f"{where}: must lie within ±(2**53 - 1), because {header} mirrors it")
    return str(value)
