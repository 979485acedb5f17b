"""The client that the official conformance suite runs against its own servers, written against the public API only.

    python tests/conformance/client.py URL

In: the scenario in MCP_CONFORMANCE_SCENARIO, further facts in MCP_CONFORMANCE_CONTEXT (JSON). Out: exit code 0 where
the scenario could be played to its end.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from leanmcp import MCPError
from leanmcp.client import Client, ClientRequestContext
from leanmcp.types import ElicitRequestParams, ElicitResult

Scenario = Callable[[str, dict[str, Any]], Awaitable[None]]


async def accept(context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
    """Agree to everything, with the defaults of the form."""
    return ElicitResult(action="accept", content={"confirmed": True} if _asks_to_confirm(params) else {})


def _asks_to_confirm(params: ElicitRequestParams) -> bool:
    schema = getattr(params, "requested_schema", None)
    return schema is not None and "confirmed" in schema.get("properties", {})


async def list_tools(url: str, context: dict[str, Any]) -> None:
    """Connect and list: initialize, request-metadata, json-schema-ref-no-deref."""
    async with Client(url) as client:
        await client.list_tools()


async def call_tools(url: str, context: dict[str, Any]) -> None:
    """List, and call `add_numbers`."""
    async with Client(url) as client:
        await client.list_tools()
        await client.call_tool("add_numbers", {"a": 5, "b": 3})


async def standard_headers(url: str, context: dict[str, Any]) -> None:
    """Do one of everything that is mirrored, and the lists."""
    async with Client(url) as client:
        tools = [tool async for tool in client.tools()]
        for tool in tools:
            await client.call_tool(tool.name, {})
        resources = [resource async for resource in client.resources()]
        for resource in resources:
            await client.read_resource(resource.uri)
        prompts = [prompt async for prompt in client.prompts()]
        for prompt in prompts:
            await client.get_prompt(prompt.name)


async def custom_headers(url: str, context: dict[str, Any]) -> None:
    """List, and make the calls of the context."""
    async with Client(url) as client:
        await client.list_tools()
        for call in context["toolCalls"]:
            await client.call_tool(call["name"], call["arguments"])


async def every_tool(url: str, context: dict[str, Any]) -> None:
    """List, and call every tool that is left, with a value for each parameter."""
    async with Client(url) as client:
        async for tool in client.tools():
            values = {"string": "x", "integer": 1, "number": 1.5, "boolean": True}
            properties = tool.input_schema.get("properties", {})
            arguments = {name: values.get(node.get("type"), "x") for name, node in properties.items()}
            await client.call_tool(tool.name, arguments)


async def request_state(url: str, context: dict[str, Any]) -> None:
    """Call the four tools about round trips, the unrelated one while another is asked."""
    unrelated: list[Any] = []

    async with Client(url, elicitation_callback=lambda *_: _meanwhile(client, unrelated)) as client:
        await client.list_tools()
        await client.call_tool("test_mrtr_echo_state", {})
        await client.call_tool("test_mrtr_unrelated", {})
        await client.call_tool("test_mrtr_no_state", {})
        await client.call_tool("test_mrtr_no_result_type", {})


async def _meanwhile(client: Client, unrelated: list[Any]) -> ElicitResult:
    if not unrelated:
        unrelated.append(await client.call_tool("test_mrtr_unrelated", {}))
    return ElicitResult(action="accept", content={"confirmed": True})


async def defaults(url: str, context: dict[str, Any]) -> None:
    """Answer an elicitation of an earlier protocol version with nothing but its defaults."""
    async with Client(url, elicitation_callback=accept) as client:
        await client.list_tools()
        await client.call_tool("test_client_elicitation_defaults", {})


async def reconnect(url: str, context: dict[str, Any]) -> None:
    """Have a stream closed, and resume it."""
    async with Client(url) as client:
        await client.list_tools()
        await client.call_tool("test_reconnection", {})


async def preserved_schema(url: str, context: dict[str, Any]) -> None:
    """Send back the schema that was received."""
    async with Client(url) as client:
        schemas = {tool.name: tool.input_schema async for tool in client.tools()}
        await client.call_tool("json_schema_echo", {"schema": schemas["json_schema_2020_12_tool"]})


SCENARIOS: dict[str, Scenario] = {
    "initialize": list_tools,
    "request-metadata": list_tools,
    "json-schema-ref-no-deref": list_tools,
    "tools_call": call_tools,
    "http-standard-headers": standard_headers,
    "http-custom-headers": custom_headers,
    "http-invalid-tool-headers": every_tool,
    "sep-2322-client-request-state": request_state,
    "elicitation-sep1034-client-defaults": defaults,
    "sse-retry": reconnect,
    "json-schema-2020-12-preservation": preserved_schema,
}


def main() -> int:
    """Play the scenario that the suite asks for."""
    name = os.environ.get("MCP_CONFORMANCE_SCENARIO", "")
    scenario = SCENARIOS.get(name)
    if name.startswith("auth/"):
        from tests.conformance import client_auth  # its modules are for these scenarios only

        scenario = client_auth.find(name)
    if scenario is None:
        print(f"no scenario {name!r} here", file=sys.stderr)
        return 2
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
    try:
        asyncio.run(_play(scenario(sys.argv[1], context)))
    except MCPError as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 1
    return 0


async def _play(scenario: Awaitable[None]) -> None:
    await scenario


if __name__ == "__main__":
    sys.exit(main())
