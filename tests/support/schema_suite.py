"""The official JSON Schema test suite beside this project, as data and as the tools of a server.

In: `../shared/json-schema-test-suite`. Out: groups of tests, and for each 2020-12 group an `input_schema` of a tool.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

SHARED = Path(__file__).resolve().parents[3] / "shared"
TESTS = SHARED / "json-schema-test-suite" / "tests"
RUNNER = SHARED / "tools" / "suite_runner.py"
ELSEWHERE = "localhost:1234"
# Mandatory tests, and those among the rest whose schema is somewhere else.
COUNTS = {
    "draft2020-12": (1250, 49),
    "draft2019-09": (1223, 36),
    "draft7": (904, 23),
    "draft6": (816, 23),
    "draft4": (601, 17),
}


class Group(NamedTuple):
    """A schema with values that fit or do not."""

    name: str
    schema: Any
    tests: list[Any]


def groups(draft: str, files: str = "*.json") -> Iterator[Group]:
    """Yield the groups of a draft in the order of their files."""
    for file in sorted((TESTS / draft).glob(files)):
        for group in json.loads(file.read_text()):
            yield Group(f"{file.name}: {group['description']}", group["schema"], group["tests"])


class ToolCase(NamedTuple):
    """A group as a tool: `wrapped` where the value travels as the member `x` of the arguments."""

    tool: str
    group: Group
    schema: dict[str, Any]
    wrapped: bool

    def arguments(self, value: Any) -> Any:
        """Return the arguments that carry a value."""
        return {"x": value} if self.wrapped else value


def tool_cases() -> Iterator[ToolCase]:
    """Yield each mandatory group of 2020-12 as a tool with a schema of its own."""
    for number, group in enumerate(groups("draft2020-12")):
        schema = group.schema
        is_object = isinstance(schema, dict) and schema.get("type") == "object"
        # A call whose arguments are no object is none: what the suite says about such values needs a member, too.
        wrapped = not (is_object and all(isinstance(test["data"], dict) for test in group.tests))
        if wrapped:
            inner = {"$id": f"urn:case:{number}", **schema} if isinstance(schema, dict) else schema
            schema = {"type": "object", "properties": {"x": inner}}
        yield ToolCase(f"case_{number}", group, schema, wrapped)
