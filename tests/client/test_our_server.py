"""Our client and our server over real HTTP: the fixture of the conformance suite has something of everything."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from leanmcp.client import Client, PromptsListChanged, SubscriptionLost, ToolsListChanged
from leanmcp.errors import CannotConnect, MissingRequiredClientCapability, UnknownResource
from leanmcp.types import AudioContent, EmbeddedResource, ImageContent, PromptReference, TextContent
from tests.support.processes import DEADLINE, HTTPProcess, http_server

FIXTURE = Path(__file__).parents[1] / "conformance" / "fixture.py"
CALLBACKS = {
    "sampling/createMessage": lambda *_: {
        "role": "assistant",
        "content": {"type": "text", "text": "Paris"},
        "model": "m",
    },
    "roots/list": lambda *_: {"roots": [{"uri": "file:///home"}]},
}


@pytest.fixture(scope="module")
def server() -> Iterator[HTTPProcess]:
    """A running server."""
    with http_server(FIXTURE) as process:
        yield process


def run(url: str, use: Any, **options: Any) -> Any:
    """Return what `use` makes of a client."""

    async def main() -> Any:
        async with asyncio.timeout(DEADLINE), Client(url, **options) as client:
            return await use(client)

    return asyncio.run(main())


def answer(_: Any, params: Any) -> dict[str, Any]:
    """Fill in a form with what it asks for."""
    values = {"string": "Ada", "integer": 7, "number": 7, "boolean": True}
    nodes = params.requested_schema["properties"].items()
    return {"action": "accept", "content": {name: values[node["type"]] for name, node in nodes}}


def test_everything_can_be_asked_for(server: HTTPProcess) -> None:
    """Ours: lists, calls with media and headers, progress, resources, prompts, completion."""
    told: list[Any] = []

    async def use(client: Client) -> None:
        names = [tool.name async for tool in client.tools()]
        assert names[0] == "test_simple_text"
        result = await client.call_tool("test_multiple_content_types")
        assert {type(block) for block in result.content} == {TextContent, ImageContent, EmbeddedResource}
        assert isinstance((await client.call_tool("test_audio_content")).content[0], AudioContent)
        for region in ("eu", "größer", " x ", "=?base64?eA==?="):
            assert not (await client.call_tool("test_x_mcp_header", {"region": region})).is_error
        await client.call_tool("test_tool_with_progress", progress_callback=lambda *report: told.append(report[0]))
        assert (await client.call_tool("test_error_handling")).is_error
        with pytest.raises(MissingRequiredClientCapability):
            await client.call_tool("test_missing_capability")
        assert [found.uri async for found in client.resources()]
        assert [found.uri_template async for found in client.resource_templates()]
        assert (await client.read_resource("test://static-text")).contents
        with pytest.raises(UnknownResource):
            await client.read_resource("test://nothing")
        assert [found.name async for found in client.prompts()]
        assert (await client.get_prompt("test_simple_prompt")).messages
        reference = PromptReference(name="test_prompt_with_arguments")
        assert (await client.complete(reference, {"name": "arg1", "value": ""})).completion.values

    run(server.url, use)
    assert told == sorted(told)
    assert len(told) >= 3


def test_a_call_of_a_tool_that_was_not_listed_finds_its_headers(server: HTTPProcess) -> None:
    """Spec: basic/transports/streamable-http, "Client Behavior"."""

    async def use(client: Client) -> None:
        assert not (await client.call_tool("test_x_mcp_header", {"region": "eu"})).is_error

    run(server.url, use)


def test_rounds_come_to_an_end(server: HTTPProcess) -> None:
    """Spec: basic/patterns/mrtr: forms, several rounds, sealed state, sampling and roots by raw callbacks."""

    async def use(client: Client) -> None:
        for tool in (
            "test_input_required_result_elicitation",
            "test_input_required_result_multi_round",
            "test_input_required_result_request_state",
            "test_input_required_result_sampling",
            "test_input_required_result_list_roots",
            "test_input_required_result_multiple_inputs",
        ):
            result = await client.call_tool(tool)
            assert not result.is_error, (tool, result)
        assert (await client.get_prompt("test_input_required_result_prompt")).messages

    run(server.url, use, elicitation_callback=answer, input_callbacks=CALLBACKS)


def test_changes_are_told_on_several_subscriptions(server: HTTPProcess) -> None:
    """Spec: basic/patterns/subscriptions, "Multiple Concurrent Subscriptions"."""

    async def use(client: Client) -> None:
        async with (
            client.listen(tools_list_changed=True) as tools,
            client.listen(prompts_list_changed=True) as prompts,
        ):
            await client.call_tool("test_trigger_tool_change")
            await client.call_tool("test_trigger_prompt_change")
            assert await anext(tools) == ToolsListChanged()
            assert await anext(prompts) == PromptsListChanged()

    run(server.url, use)


def test_calls_at_once_and_clients_at_once(server: HTTPProcess) -> None:
    """Ours."""

    async def use(client: Client) -> None:
        async with Client(server.url) as other:
            calls = [one.call_tool("test_simple_text") for one in (client, other) * 30]
            assert not any(result.is_error for result in await asyncio.gather(*calls))

    run(server.url, use)


def test_the_end_of_a_server_is_told() -> None:
    """Spec: basic/patterns/subscriptions, "Graceful Closure"; ours: FIELD 135, within its bound."""

    async def main() -> None:
        with http_server(FIXTURE) as process:
            async with asyncio.timeout(DEADLINE), Client(process.url) as client:
                async with client.listen(tools_list_changed=True) as subscription:
                    process.process.terminate()
                    assert [event async for event in subscription] == []
                    assert subscription.state == "ended"
                await asyncio.to_thread(process.process.wait)
                with pytest.raises(CannotConnect, match="refused"):
                    await client.list_tools()

        with http_server(FIXTURE) as process:
            async with (
                asyncio.timeout(DEADLINE),
                Client(process.url) as client,
                client.listen(tools_list_changed=True) as subscription,
            ):
                process.process.kill()
                with pytest.raises(SubscriptionLost):
                    await anext(subscription)

    asyncio.run(main())
