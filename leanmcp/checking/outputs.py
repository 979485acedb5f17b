"""Rules about schemas that nothing fits, of arguments and of results.

Spec 2026-07-28: server/tools, "Output Schema".
"""

from __future__ import annotations

from collections.abc import Iterator

from .possible import impossible
from .record import Hit, Rule, Server

__all__ = ["RULES"]


def _input_impossible(server: Server) -> Iterator[Hit]:
    for part in server.of("tool"):
        for where, why in impossible(part.schema("inputSchema")):
            text = f"no argument can fit its inputSchema at {where}: {why}"
            yield Hit(part.place, part.label, text, "correct the schema, or the annotations that it is made of")


def _output_impossible(server: Server) -> Iterator[Hit]:
    for part in server.of("tool"):
        for where, why in impossible(part.schema("outputSchema")):
            text = f"no result can fit its outputSchema at {where}: {why}"
            yield Hit(part.place, part.label, text, "correct the schema, or the annotations that it is made of")


def _output_root(server: Server) -> Iterator[Hit]:
    for part in server.of("tool"):
        schema = part.entry.get("outputSchema")
        if isinstance(schema, dict) and schema.get("type") != "object":
            text = "its results are no objects, which clients of protocol version 2025-11-25 refuse"
            yield Hit(part.place, part.label, text, 'return an object, or let it be wrapped in {"result": ...}')


RULES = (
    Rule(
        "LC401",
        "input-impossible",
        "error",
        "A part of an inputSchema contradicts itself, so that no argument fits it.",
        "Correct the schema, or the annotations that it is made of.",
        _input_impossible,
    ),
    Rule(
        "LC402",
        "output-impossible",
        "error",
        "A part of an outputSchema contradicts itself, so that no result fits it.",
        "Correct the schema, or the annotations that it is made of.",
        _output_impossible,
    ),
    Rule(
        "LC403",
        "output-root",
        "hint",
        "An outputSchema is of no object: clients of protocol version 2025-11-25 refuse such results.",
        'Return an object, or let it be wrapped in {"result": ...}.',
        _output_root,
    ),
)
