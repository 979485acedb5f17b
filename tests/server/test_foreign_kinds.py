"""Types that another package brings along: schema, conversion, faults."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from leanmcp.schema.faults import Fault
from leanmcp.server import derive, foreign_schema
from leanmcp.server.nodes import ForeignNode, Node
from leanmcp.server.signature import InvalidArguments, Signature


@dataclass
class Point:
    x: int


class Celsius:
    """Stands for a type of another package."""

    def __init__(self, degrees: float) -> None:
        self.degrees = degrees


@pytest.fixture
def celsius(monkeypatch: pytest.MonkeyPatch) -> None:
    def explain(value: Any) -> Iterator[Fault]:
        if not isinstance(value, dict) or "degrees" not in value:
            yield Fault("degrees", "Field required")

    def convert(value: Any) -> Celsius:
        return Celsius(value["degrees"])

    def schema() -> dict[str, Any]:
        return {"$ref": "#/$defs/Point", "$defs": {"Point": {"type": "object"}}}

    def hook(annotation: Any, deriver: derive.Deriver) -> Node | None:
        if annotation is not Celsius:
            return None
        return ForeignNode(
            annotation=Celsius, convert=convert, schema=schema, explain=explain, admits_string=lambda: False
        )

    monkeypatch.setattr(derive, "foreign_node", hook)


@pytest.mark.usefixtures("celsius")
def test_a_foreign_kind_of_type_joins_with_its_definitions() -> None:
    """Ours: the seam for packages that build their own objects; their definitions never replace ours."""

    def tool(place: Point, value: Celsius, other: list[Celsius]) -> None: ...

    signature = Signature(tool, tool_name="tool")
    assert signature.input_schema["properties"]["value"] == {"$ref": "#/$defs/Point_2"}
    assert signature.input_schema["$defs"]["Point_2"] == {"type": "object"}
    arguments: Any = signature.decode(b'{"place":{"x":1},"value":{"degrees":3.5},"other":[{"degrees":1}]}')
    assert arguments.value.degrees == 3.5
    assert type(arguments.other[0]) is Celsius
    with pytest.raises(InvalidArguments, match=r"other\[0\]\.degrees: Field required"):
        signature.recover(b'{"place":{"x":1},"value":{"degrees":3},"other":[{}]}')


def test_a_schema_over_the_limits_lets_everything_pass() -> None:
    """Ours: an Enum of 20,000 members; the package that made the values has checked them."""
    shape = foreign_schema.shape_of({"$ref": "#/$defs/Code"}, {"Code": {"enum": list(range(20_000))}})
    assert shape.is_valid("anything")
    assert "string" in shape.admits
