"""W3C trace context and baggage, as `_meta` or the header fields of a request carry them.

In: texts that strangers wrote. Out: `TraceContext` and mappings; what is malformed counts as absent, and never raises.
Spec 2026-07-28: basic/index, "OpenTelemetry trace context"; W3C Trace Context level 2; W3C Baggage.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import msgspec

MAX_STATE_MEMBERS = 32  # Trace Context 3.3.1.1
MAX_STATE_SIZE = 32 * 514  # characters: 32 members of the largest key and value, with their commas
MAX_BAGGAGE_MEMBERS = 180  # Baggage 3.3.2, the grammar
MAX_BAGGAGE_SIZE = 8192  # bytes that everybody must pass on (Baggage 3.3.3); more is not read

NOTHING: Mapping[str, str] = MappingProxyType({})

_PARENT = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?", re.ASCII | re.DOTALL).fullmatch
_STATE_KEY = re.compile(r"[a-z0-9][a-z0-9_\-*/@]{0,255}", re.ASCII).fullmatch
_STATE_VALUE = re.compile(r"[ -+\--<>-~]{0,255}[!-+\--<>-~]", re.ASCII).fullmatch
_NAME = r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+"
_OCTETS = r"[!#-+\--:<-\[\]-~]*"
# Blanks are taken once and never given back: a long run of them must not cost its square.
_VALUE = rf"[ \t]*+=[ \t]*+({_OCTETS})[ \t]*+"
_PROPERTY = rf";[ \t]*+{_NAME}[ \t]*+(?:=[ \t]*+{_OCTETS}[ \t]*+)?"
_BAGGAGE_MEMBER = re.compile(rf"({_NAME}){_VALUE}(?:{_PROPERTY})*", re.ASCII).fullmatch
_ESCAPE = re.compile(rb"%([0-9A-Fa-f]{2})").sub


class TraceContext(msgspec.Struct, frozen=True):
    """Where a request stands in a distributed trace.

    Args:
        trace_id: of the whole trace, 32 hexadecimal digits.
        parent_id: of the caller's span, 16 hexadecimal digits; also called its span id.
        flags: the trace flags as a number; bit 0 is `sampled`.
        tracestate: what tracing systems keep beside it, leftmost first; empty where malformed.
        baggage: names and values that travel with the request; see `read_baggage`.
        traceparent: as it came.
    """

    trace_id: str
    parent_id: str
    flags: int
    traceparent: str
    tracestate: Mapping[str, str] = NOTHING
    baggage: Mapping[str, str] = NOTHING

    @property
    def span_id(self) -> str:
        """Another name of `parent_id`."""
        return self.parent_id

    @property
    def sampled(self) -> bool:
        """Whether the caller records its part of the trace."""
        return bool(self.flags & 1)


def read_trace(meta: Mapping[str, Any], headers: Mapping[str, str]) -> TraceContext | None:
    """Return the trace that a request belongs to, None where it names none.

    Args:
        meta: its `_meta`; the header fields are looked at only where this has no `traceparent`.
        headers: its HTTP header fields, names in lower case.
    """
    source = meta if "traceparent" in meta else headers
    return parse_trace(source.get("traceparent"), source.get("tracestate"), read_baggage(meta, headers))


def read_baggage(meta: Mapping[str, Any], headers: Mapping[str, str]) -> Mapping[str, str]:
    """Return the baggage of a request, of its `_meta` before that of its HTTP header fields."""
    source = meta if "baggage" in meta else headers
    return parse_baggage(source.get("baggage"))


def parse_trace(traceparent: object, tracestate: object, baggage: Mapping[str, str] = NOTHING) -> TraceContext | None:
    """Return what a `traceparent` says, None where it is malformed.

    Later versions are read as far as this one goes (Trace Context 4.3, "Versioning of traceparent").
    """
    match = _PARENT(traceparent) if isinstance(traceparent, str) else None
    if match is None:
        return None
    version, trace_id, parent_id, flags, more = match.groups()
    if version == "ff" or (version == "00" and more is not None):
        return None
    if trace_id.strip("0") == "" or parent_id.strip("0") == "":
        return None
    return TraceContext(trace_id, parent_id, int(flags, 16), match.string, parse_tracestate(tracestate), baggage)


def parse_tracestate(tracestate: object) -> Mapping[str, str]:
    """Return the members of a `tracestate` in order; one that is malformed or repeated spoils it all.

    Spec: Trace Context 3.3.1, and 3.3.1.1 (empty members are allowed).
    """
    if not isinstance(tracestate, str) or len(tracestate) > MAX_STATE_SIZE:
        return NOTHING
    found: dict[str, str] = {}
    for member in tracestate.split(","):
        member = member.strip(" \t")
        if member == "":
            continue
        key, equals, value = member.partition("=")
        if not equals or key in found or not (_STATE_KEY(key) and _STATE_VALUE(value)):
            return NOTHING
        found[key] = value
    return MappingProxyType(found) if len(found) <= MAX_STATE_MEMBERS else NOTHING


def parse_baggage(baggage: object) -> Mapping[str, str]:
    """Return names and percent-decoded values of a `baggage`; of a repeated name the last value counts.

    Properties of a member are checked and left out. A malformed member spoils it all: what somebody garbled is not to
    be believed in parts. Octets that are no UTF-8 become U+FFFD.

    Spec: Baggage 3.3.1.
    """
    if not isinstance(baggage, str) or len(baggage) > MAX_BAGGAGE_SIZE:
        return NOTHING
    members = baggage.split(",")
    if len(members) > MAX_BAGGAGE_MEMBERS:
        return NOTHING
    found: dict[str, str] = {}
    for member in members:
        match = _BAGGAGE_MEMBER(member.strip(" \t"))
        if match is None:
            return NOTHING
        found[match[1]] = _percent_decoded(match[2])
    return MappingProxyType(found)


def _percent_decoded(value: str) -> str:
    """Return a value as its author wrote it; a percent sign that introduces nothing stands for itself."""
    if "%" not in value:
        return value
    octets = _ESCAPE(lambda match: bytes.fromhex(match[1].decode("ascii")), value.encode("ascii"))
    return octets.decode("utf-8", "replace")
