"""A value of any supported type survives the whole way: argument, function, result, and both published schemas.

`LEANMCP_FUZZ_EXAMPLES=100000` makes the run longer.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from leanmcp import MCPServer
from leanmcp.server.encoding import encode_other
from tests.support.in_process import request
from tests.support.typed_values import CONVERTED, typed

EXAMPLES = int(os.environ.get("LEANMCP_FUZZ_EXAMPLES", "150"))
PROPERTY = settings(
    max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck), print_blob=True
)


@pytest.fixture(scope="module")
def loop() -> Iterator[asyncio.Runner]:
    """One event loop for all examples."""
    with asyncio.Runner() as runner:
        yield runner


@PROPERTY
@given(data=st.data())
def test_a_value_comes_through_a_call_unchanged(loop: asyncio.Runner, data: st.DataObject) -> None:
    """Ours: property; the function sees the value, the result fits outputSchema, and is a good argument again."""
    annotation, values = data.draw(typed(more=tuple(CONVERTED)))
    value = data.draw(values)
    server, seen = _server(annotation)
    tool = loop.run(request(server, "tools/list", {}))["result"]["tools"][0]
    takes, returns = (Draft202012Validator(tool[name]) for name in ("inputSchema", "outputSchema"))
    arguments = msgspec.json.decode(msgspec.json.encode({"value": value}, enc_hook=encode_other))
    for _ in range(2):
        takes.validate(arguments)
        result = loop.run(request(server, "tools/call", {"name": "same", "arguments": arguments}))["result"]
        assert result["isError"] is False, result["content"]
        assert seen.pop() == value
        returns.validate(result["structuredContent"])
        returned = result["structuredContent"]
        arguments = {"value": returned["result"] if _is_wrapped(tool) else returned}


def _server(annotation: Any) -> tuple[MCPServer, list[Any]]:
    """Return a server whose tool returns its argument, and the list of what the function was given."""
    server, seen = MCPServer("values"), []

    async def same(value: Any) -> Any:
        seen.append(value)
        return value

    same.__annotations__ = {"value": annotation, "return": annotation}
    server.add_tool(same, structured_output=True)
    return server, seen


def _is_wrapped(tool: dict[str, Any]) -> bool:
    """Tell `{"result": value}` by the name that it is published under."""
    return bool(tool["outputSchema"].get("title") == "sameOutput")
