"""Rules about schemas that nothing fits, of arguments and of results.

Spec 2026-07-28: server/tools, "Output Schema".
"""

from __future__ import annotations

from collections.abc import Iterator

from .possible import impossible
from .record import Hit, Part, each, rule


@rule(
    "LC401",
    "input-impossible",
    "error",
    "A part of an inputSchema contradicts itself, so that no argument fits it.",
    "Correct the schema, or the annotations that it is made of.",
)
@each("tool")
def _input_impossible(part: Part) -> Iterator[Hit]:
    for where, why in impossible(part.schema("inputSchema")):
        yield part.hit(f"no argument can fit its inputSchema at {where}: {why}")


@rule(
    "LC402",
    "output-impossible",
    "error",
    "A part of an outputSchema contradicts itself, so that no result fits it.",
    "Correct the schema, or the annotations that it is made of.",
)
@each("tool")
def _output_impossible(part: Part) -> Iterator[Hit]:
    for where, why in impossible(part.schema("outputSchema")):
        yield part.hit(f"no result can fit its outputSchema at {where}: {why}")


@rule(
    "LC403",
    "output-root",
    "hint",
    "An outputSchema is of no object: clients of protocol version 2025-11-25 refuse such results.",
    'Return an object, or let it be wrapped in {"result": ...}.',
)
@each("tool")
def _output_root(part: Part) -> Iterator[Hit]:
    schema = part.entry.get("outputSchema")
    if isinstance(schema, dict) and schema.get("type") != "object":
        yield part.hit("its results are no objects, which clients of protocol version 2025-11-25 refuse")
