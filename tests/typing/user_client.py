"""A program that calls servers, as a user writes it: clean under strict type checkers, and it runs.

`test_user_server.py` checks and runs it.
"""

from __future__ import annotations

import asyncio
from typing import Any, assert_type

from leanmcp import Client, ClientGroup, MCPError, MCPServer, StdioServerParameters, SyncClient, ToolError
from leanmcp.client import (
    Audit,
    Call,
    CallDenied,
    Change,
    ClientRequestContext,
    Gate,
    Hints,
    InvalidResult,
    Pins,
    Policy,
    PromptsListChanged,
    Question,
    ResourcesListChanged,
    ResourceUpdated,
    ResponseCache,
    ResultChecks,
    Subscription,
    SubscriptionLost,
    ToolChanged,
    ToolsListChanged,
    hints_of,
    safe_icons,
    uri_fault,
)
from leanmcp.errors import CallTimeout, CannotConnect, TransportError
from leanmcp.types import (
    CallToolResult,
    ElicitRequestFormParams,
    ElicitRequestParams,
    ElicitResult,
    Icon,
    Implementation,
    InputRequiredResult,
    PromptReference,
    TextContent,
    TextResourceContents,
    Tool,
)
from tests.typing.user_features import Seats, mcp

CHILD = StdioServerParameters(
    command="python", args=["server.py"], env={"KEY": "x"}, cwd=".", stderr="capture", restart=True
)
TYPED = StdioServerParameters.from_command("python server.py", stderr=print)


async def answer(context: ClientRequestContext, question: ElicitRequestParams) -> ElicitResult:
    if isinstance(question, ElicitRequestFormParams) and context.method == "tools/call":
        return ElicitResult(action="accept", content={"count": 2})
    return ElicitResult(action="decline")


def told(progress: float, total: float | None, message: str | None) -> None:
    print(progress, total, message)


async def told_later(progress: float, total: float | None, message: str | None) -> None:
    print(progress, total, message)


def on_call(tool: str, arguments: dict[str, Any]) -> bool | dict[str, Any] | None:
    return {**arguments} if tool == "reserve" else None


def ask(question: Question) -> bool:
    return not question.hints.destructive or question.tool == "reserve"


async def ask_later(question: Question) -> str:
    return question.reason


def report(change: Change) -> None:
    print(change.kind, change.diff)


class Slow(Gate):
    async def before(self, call: Call) -> Call:
        call.flags.append(call.tool)
        return call

    async def after(self, call: Call, result: CallToolResult) -> CallToolResult:
        return result


def clients(records: list[dict[str, Any]]) -> Client:
    return Client(
        mcp,
        mode="auto",
        read_timeout_seconds=5,
        max_total_seconds=10,
        reset_on_progress=True,
        elicitation_callback=answer,
        elicitation_modes=["form"],
        input_callbacks={"roots/list": lambda context, params: {"roots": []}},
        input_required_max_rounds=3,
        capabilities={"extensions": {"com.example/counting": {}}},
        notification_callback=lambda method, params: None,
        cache=ResponseCache(max_entries=10),
        raise_exceptions=True,
        client_info=Implementation(name="user", version="1"),
        on_call=on_call,
        trust=Policy(ask, allow=["note", "hand"], deny=["drop_*"], believe=["features"], remember="session"),
        audit=Audit(records.append, redact=lambda tool, arguments: arguments),
        pin=Pins({}, on_change="drop", on_report=report),
        check=ResultChecks(hidden_text="strip"),
        gates=[Slow()],
        label="features",
    )


async def everything(client: Client) -> list[str]:
    tools = [tool async for tool in client.tools()]
    assert_type(tools, list[Tool])
    assert_type(hints_of(tools[0], believed=True), Hints)
    assert_type(safe_icons(tools[0].icons or [], None), list[Icon])
    result = await client.call_tool("reserve", {"show": "Faust"}, progress_callback=told)
    assert_type(result, CallToolResult)
    texts = [block.text for block in result.content if isinstance(block, TextContent)]
    text = await client.call_tool("reserve", {"show": "Faust"}, 5, told_later, type=str)
    assert_type(text, str)
    counts = await client.call_tool("note", {"owner": "anna"}, type=list[str])
    assert_type(counts, list[str])
    once = await client.call_tool_once("hand")
    if isinstance(once, InputRequiredResult):
        state = once.request_state
        once = await client.call_tool_once("hand", input_responses={"seats": {"action": "cancel"}}, request_state=state)
    contents = (await client.read_resource("library://hours", cache_mode="refresh")).contents
    texts += [content.text for content in contents if isinstance(content, TextResourceContents)]
    prompt = await client.get_prompt("review", {"code": "x = 1"})
    completion = await client.complete(PromptReference(name="review"), {"name": "focus", "value": "b"})
    page = await client.list_resources(cursor=None)
    raw = await client.request("com.example/count", {"to": 2}, read_timeout_seconds=5)
    return [
        *texts,
        text,
        prompt.messages[0].role,
        *completion.completion.values,
        str(page.next_cursor),
        str(raw["counted"]),
    ]


async def changes(client: Client) -> str:
    async with client.listen(resources_list_changed=True, resource_subscriptions=["library://hours"]) as events:
        assert_type(events, Subscription)
        mcp.notify_resource_updated("library://hours")
        async for event in events:
            match event:
                case ResourceUpdated(uri=uri):
                    return uri
                case ToolsListChanged() | PromptsListChanged() | ResourcesListChanged():
                    continue
    return ""


async def groups(other: MCPServer) -> list[str]:
    async with ClientGroup({"one": mcp, "two": Client(other)}, connect_timeout=5, elicitation_callback=answer) as group:
        names = [tool.name async for tool in group.tools()]
        text = await group.call_tool("one.reserve", {"show": "Faust"}, type=str)
        assert_type(text, str)
        assert_type(await group.call_tool("two.ping"), CallToolResult)
        return [*names, text, *group.failures]


async def failures() -> list[str]:
    found = []
    try:
        async with Client("http://127.0.0.1:9/mcp", headers={"X-User": "anna"}) as client:
            await client.call_tool("x", raise_on_error=True)
    except CannotConnect as error:
        found.append(f"{error.where} {error.status}")
    except (CallTimeout, InvalidResult, CallDenied, ToolChanged, SubscriptionLost, TransportError, ToolError) as error:
        found.append(str(error))
    except MCPError as error:
        found.append(f"{error.code} {error.message} {error.data}")
    return found


def waiting() -> list[str]:
    with SyncClient(mcp, elicitation_callback=answer) as client:
        names = [tool.name for tool in client.tools()]
        text = client.call_tool("reserve", {"show": "Faust"}, type=str)
        assert_type(text, str)
        assert_type(client.call_tool("reserve", {"show": "Faust"}), CallToolResult)
        hours = client.read_resource("library://hours").contents[0]
        with client.listen(tools_list_changed=True) as events:
            mcp.notify_tools_changed()
            event = events.get(timeout=5)
        return [names[0], text, hours.uri, type(event).__name__]


async def main() -> list[str]:
    records: list[dict[str, Any]] = []
    other = MCPServer("Other")

    @other.tool
    def ping() -> str:
        return "pong"

    async with clients(records) as client:
        said = await everything(client)
        assert_type(client.protocol_version, str)
        assert_type(client.server_info, Implementation | None)
        said.append(await changes(client))
    fault = uri_fault("javascript:x")
    assert_type(fault, str | None)
    said += [*await groups(other), *await failures(), str(len(records))]
    return said


if __name__ == "__main__":
    print(asyncio.run(main()), waiting(), Seats(count=1))
