"""Mirrored Mcp-* headers checked against the body, and the Host and Origin rules.

In: lower-cased header dict, decoded request. Out: None, or HeaderMismatch raised.
Spec 2026-07-28: basic/transports/streamable-http, "Server Validation" and "Security & Endpoint"; server/tools,
"x-mcp-header".
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from ..errors import HeaderMismatch

SENTINEL_START, SENTINEL_END = "=?base64?", "?="
_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_INTEGER = re.compile(r"(-?[0-9]{1,400})(?:\.0{1,400})?")
_MIRRORED_TYPES = {"string", "integer", "boolean"}
_SECRET = re.compile(r"passw|secret|token|credential|api[-_ ]?key|private[-_ ]?key|ssn|authori[sz]ation", re.IGNORECASE)


def decode_value(name: str, value: str) -> str:
    """Return the text that a client put into header `name`.

    A value between `=?base64?` and `?=` is base64 of UTF-8 with the strict alphabet and padding; with only one of
    the two marks it is literal text ("Value Encoding").

    Raises:
        HeaderMismatch: a byte outside ASCII, bad base64 or bad UTF-8.
    """
    if not value.isascii():
        raise HeaderMismatch(f"{name} holds a byte outside ASCII; send such text as =?base64?...?=")
    marks = len(SENTINEL_START) + len(SENTINEL_END)
    if len(value) < marks or not (value.startswith(SENTINEL_START) and value.endswith(SENTINEL_END)):
        return value
    encoded = value[len(SENTINEL_START) : -len(SENTINEL_END)]
    try:
        data = binascii.a2b_base64(encoded, strict_mode=True)
        # Stray bits behind the last character would give one text two spellings.
        if binascii.b2a_base64(data, newline=False).decode() != encoded:
            raise HeaderMismatch(f"{name} is not canonical base64: {value[:64]!r}")
        return data.decode()
    except (binascii.Error, UnicodeDecodeError):
        raise HeaderMismatch(f"{name} is not valid base64 of UTF-8: {value[:64]!r}") from None


class ParamHeader(msgspec.Struct, frozen=True):
    """One argument that travels in a header too.

    Args:
        header: lower-cased field name, `mcp-param-region`.
        path: property names that lead to the value from the root of the arguments.
        kind: `string`, `integer` or `boolean`.
    """

    header: str
    path: tuple[str, ...]
    kind: str


class HeaderPlan(msgspec.Struct, frozen=True):
    """The mirrored arguments of one tool, found at registration, and warnings for its author."""

    params: tuple[ParamHeader, ...]
    warnings: tuple[str, ...]


def plan_params(schema: Mapping[str, Any]) -> HeaderPlan:
    """Return the `x-mcp-header` annotations of an inputSchema.

    Raises:
        ValueError: an annotation that a client would have to reject the tool for.
    """
    params = [_param(path, node) for path, node in _reachable(schema, ())]
    found = sum(1 for _ in _annotated(schema))
    if found != len(params):
        raise ValueError(
            "x-mcp-header stands where a chain of `properties` does not lead (under $ref, items, anyOf, ...); "
            "mirror a plain parameter of the tool instead"
        )
    seen: set[str] = set()
    for param in params:
        if param.header in seen:
            raise ValueError(f"x-mcp-header {param.header.removeprefix('mcp-param-')!r} is used twice")
        seen.add(param.header)
    warnings = tuple(
        f"parameter {'.'.join(param.path)!r} looks secret, but {param.header} shows it to every proxy on the way"
        for param in params
        if _SECRET.search(param.header) or _SECRET.search(param.path[-1])
    )
    return HeaderPlan(tuple(params), warnings)


def _reachable(schema: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any]]]:
    """Yield the annotated properties that a chain of `properties` keys leads to."""
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return
    for name, node in properties.items():
        if isinstance(node, Mapping):
            if "x-mcp-header" in node:
                yield (*path, name), node
            yield from _reachable(node, (*path, name))


_SUBSCHEMA_MAPS = {"properties", "$defs", "definitions", "patternProperties", "dependentSchemas"}
_DATA = {"const", "enum", "default", "examples"}


def _annotated(schema: object) -> Iterator[object]:
    """Yield every `x-mcp-header` in a schema position, wherever it stands."""
    if isinstance(schema, list):
        for item in schema:
            yield from _annotated(item)
    if not isinstance(schema, Mapping):
        return
    if "x-mcp-header" in schema:
        yield schema["x-mcp-header"]
    for keyword, value in schema.items():
        if keyword in _SUBSCHEMA_MAPS and isinstance(value, Mapping):
            for node in value.values():
                yield from _annotated(node)
        elif keyword not in _DATA:
            yield from _annotated(value)


def _param(path: tuple[str, ...], node: Mapping[str, Any]) -> ParamHeader:
    name, where = node["x-mcp-header"], ".".join(path)
    if not isinstance(name, str) or not _TOKEN.fullmatch(name):
        raise ValueError(f"parameter {where!r}: x-mcp-header {name!r} must be an HTTP token such as 'Region'")
    kind = node.get("type")
    if not isinstance(kind, str) or kind not in _MIRRORED_TYPES:
        raise ValueError(
            f"parameter {where!r}: x-mcp-header needs the type string, integer or boolean, not {kind or 'several'!r}"
        )
    return ParamHeader("mcp-param-" + name.lower(), path, kind)


def check_params(
    plan: Iterable[ParamHeader], headers: Mapping[str, str], repeated: frozenset[str], arguments: Any
) -> None:
    """Compare the Mcp-Param-* headers with the arguments that they mirror.

    Args:
        plan: the tool's mirrored arguments.
        headers: lower-cased names; `repeated` holds those that came more than once.
        arguments: the decoded arguments, any JSON value.

    Raises:
        HeaderMismatch: a header is missing, superfluous, repeated or different ("Server Behavior for Custom Headers").
    """
    for param in plan:
        if param.header in repeated:
            raise HeaderMismatch(f"{param.header} is sent more than once")
        value, sent = argument_at(arguments, param.path), headers.get(param.header)
        where = ".".join(param.path)
        if value is None:
            if sent is not None:
                raise HeaderMismatch(f"{param.header} is sent, but the argument {where} is absent")
        elif sent is None:
            raise HeaderMismatch(f"{param.header} is missing; it must mirror the argument {where}")
        elif not _equal(decode_value(param.header, sent), value):
            raise HeaderMismatch(f"{param.header} is {sent[:64]!r} but the argument {where} differs")


def argument_at(arguments: Any, path: tuple[str, ...]) -> Any:
    """Return the argument that property names lead to, None where there is none."""
    for name in path:
        if not isinstance(arguments, dict):
            return None
        arguments = arguments.get(name)
    return arguments


def _equal(sent: str, value: Any) -> bool:
    if isinstance(value, str):
        return sent == value
    if isinstance(value, bool):
        return sent == ("true" if value else "false")
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int):
        # Numerically, but never through a float: 2**53 + 1 differs from 2**53.
        match = _INTEGER.fullmatch(sent)
        return match is not None and int(match[1]) == value
    return False  # an object or array where a primitive is due; validation of the arguments says so


# --- Host and Origin ----------------------------------------------------------------------------------------------

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})
_ORIGIN = re.compile(r"(https?)://(\[[0-9a-f:.]+\]|[a-z0-9._\-]+)(?::([0-9]{1,5}))?")


class HostRule:
    """Decides whether a Host or Origin is one of ours; DNS rebinding is refused by default.

    Args:
        allowed_hosts: `name`, `name:port` or `*`; loopback names are always allowed, any port.
        allowed_origins: `scheme://name[:port]` exactly, or `*`; loopback origins are always allowed, any port.

    Spec: basic/transports/streamable-http, "Security & Endpoint" 1.
    """

    __slots__ = ("_any_host", "_any_origin", "_hosts", "_origins")

    def __init__(self, allowed_hosts: Iterable[str] = (), allowed_origins: Iterable[str] = ()) -> None:
        self._hosts = {host.lower() for host in allowed_hosts} | _LOOPBACK
        self._origins = {origin.lower().rstrip("/") for origin in allowed_origins}
        self._any_host = "*" in self._hosts
        self._any_origin = "*" in self._origins

    def host(self, host: str) -> bool:
        """Return whether the Host header `host` names this server; ports count only where an entry has one."""
        host = host.lower()
        return self._any_host or host in self._hosts or _without_port(host) in self._hosts

    def origin(self, origin: str) -> bool:
        """Return whether a page of `origin` may call this server; `null` never may."""
        origin = origin.lower()
        match = _ORIGIN.fullmatch(origin)
        if origin == "null":
            return False
        if self._any_origin or origin in self._origins:
            return True
        return match is not None and match[2] in _LOOPBACK


def _without_port(host: str) -> str:
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdigit() else host
