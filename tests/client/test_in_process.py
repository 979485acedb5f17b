"""A client and its server in one process: the testing story."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from leanmcp import Context, MCPServer, ToolError
from leanmcp.client import Client, ToolsListChanged
from leanmcp.errors import CallTimeout, ConnectionLost, InternalError, InvalidParams, InvalidRequest, UnknownResource
from leanmcp.server import Extension, MethodBinding
from leanmcp.types import PromptReference

WAIT = 10.0


def run(mcp: MCPServer, use: Any, **options: Any) -> Any:
    """Return what `use` makes of a client."""

    async def main() -> Any:
        async with asyncio.timeout(WAIT), Client(mcp, **options) as client:
            return await use(client)

    return asyncio.run(main())


def shop() -> MCPServer:
    """Return a server with something of everything."""
    mcp = MCPServer("shop", version="2", instructions="buy", page_size=2)

    @mcp.tool
    async def add(a: int, b: int) -> int:
        """Add."""
        return a + b

    @mcp.tool
    def slow() -> str:
        """Run in a thread."""
        return "slow"

    @mcp.tool
    async def count(ctx: Context, to: int) -> str:
        """Count with progress."""
        for number in range(to):
            await ctx.report_progress(number, to, f"at {number}")
        return "done"

    @mcp.tool
    async def refuse() -> str:
        """Fail on purpose."""
        raise ToolError("sold out")

    @mcp.tool
    async def crash() -> str:
        """Fail by mistake."""
        raise ZeroDivisionError("by mistake")

    @mcp.resource("shop://{item}")
    async def item(item: str) -> str:
        """Describe an item."""
        return f"an {item}"

    @mcp.resource("shop://crash")
    async def crashing() -> str:
        """Fail by mistake."""
        raise ZeroDivisionError("resource")

    @mcp.prompt
    async def advise(product: str) -> str:
        """Ask for advice."""
        return f"Is {product} good?"

    @mcp.completion("advise", "product")
    async def products(value: str) -> list[str]:
        return [name for name in ("apple", "pear") if name.startswith(value)]

    return mcp


def test_everything_a_server_has_can_be_asked_for() -> None:
    """Ours: the whole surface, against our own server."""

    async def use(client: Any) -> None:
        assert client.server_info.name == "shop"
        assert client.instructions == "buy"
        assert client.protocol_version == "2026-07-28"
        assert {"tools", "resources", "prompts"} <= client.server_capabilities.keys()
        assert (await client.discover()).supported_versions == ["2026-07-28"]
        assert [tool.name async for tool in client.tools()] == ["add", "slow", "count", "refuse", "crash"]
        assert len((await client.list_tools()).tools) == 2
        assert [found.uri async for found in client.resources()] == ["shop://crash"]
        assert [found.uri_template async for found in client.resource_templates()] == ["shop://{item}"]
        assert [found.name async for found in client.prompts()] == ["advise"]
        assert (await client.read_resource("shop://apple")).contents[0].text == "an apple"
        with pytest.raises(UnknownResource):
            await client.read_resource("other://x")
        prompt = await client.get_prompt("advise", {"product": "tea"})
        assert prompt.messages[0].content.text == "Is tea good?"
        found = await client.complete(PromptReference(name="advise"), {"name": "product", "value": "p"})
        assert found.completion.values == ["pear"]
        assert await client.call_tool("add", {"a": 1, "b": 2}, type=int) == 3
        assert await client.call_tool("slow", type=str) == "slow"
        assert (await client.call_tool("refuse")).content[0].text == "sold out"
        assert (await client.call_tool("add", {"a": "x"})).is_error
        with pytest.raises(InvalidParams, match="did you mean 'add'"):
            await client.call_tool("ad")

    run(shop(), use)


def test_progress_is_told_in_order() -> None:
    """Spec: basic/patterns/progress."""
    told: list[Any] = []

    async def use(client: Any) -> None:
        await client.call_tool("count", {"to": 3}, progress_callback=lambda *report: told.append(report))

    run(shop(), use)
    assert told == [(0, 3, "at 0"), (1, 3, "at 1"), (2, 3, "at 2")]


def test_exceptions_are_hidden_unless_a_test_wants_them() -> None:
    """Ours: raise_exceptions= raises the server's own exception; what a tool says on purpose stays a result."""

    async def hidden(client: Any) -> None:
        result = await client.call_tool("crash")
        assert result.is_error
        assert "by mistake" not in result.content[0].text
        with pytest.raises(InternalError):
            await client.read_resource("shop://crash")

    async def raised(client: Any) -> None:
        for _ in range(2):
            with pytest.raises(ZeroDivisionError, match="by mistake"):
                await client.call_tool("crash")
        with pytest.raises(ZeroDivisionError, match="resource"):
            await client.read_resource("shop://crash")
        assert (await client.call_tool("refuse")).is_error
        assert await client.call_tool("add", {"a": 1, "b": 2}, type=int) == 3
        calls = (client.call_tool("crash") if number % 2 else client.call_tool("slow") for number in range(6))
        found = await asyncio.gather(*calls, return_exceptions=True)
        assert [type(one).__name__ for one in found] == ["CallToolResult", "ZeroDivisionError"] * 3

    run(shop(), hidden)
    run(shop(), raised, raise_exceptions=True)


def _stalling() -> tuple[MCPServer, dict[str, asyncio.Event]]:
    """Return a server whose tools hang, and what happens to them."""
    mcp, events = MCPServer("stalling"), {"begun": asyncio.Event(), "ended": asyncio.Event()}

    @mcp.tool
    async def hang() -> str:
        """Wait for ever."""
        events["begun"].set()
        try:
            await asyncio.Event().wait()
        finally:
            events["ended"].set()
        return ""

    @mcp.tool
    async def stubborn() -> str:
        """Refuse to be cancelled."""
        events["begun"].set()
        while not events["ended"].is_set():
            try:
                await events["ended"].wait()
            except asyncio.CancelledError:
                continue
        return ""

    @mcp.tool
    async def suicide() -> str:
        """Cancel itself."""
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(0)
        return ""

    return mcp, events


def test_a_timeout_cancels_the_tool() -> None:
    """Spec: basic/patterns/cancellation; the next call works."""

    async def main() -> None:
        mcp, events = _stalling()
        async with asyncio.timeout(WAIT), Client(mcp, read_timeout_seconds=0.4) as client:
            with pytest.raises(CallTimeout):
                await client.call_tool("hang")
            await events["ended"].wait()
            events["ended"].clear()
            with pytest.raises(CallTimeout):
                await client.call_tool("stubborn")
            events["ended"].set()
            with pytest.raises(InternalError, match="cancelled its own call"):
                await client.call_tool("suicide", read_timeout_seconds=5)

    asyncio.run(main())


def test_cancelling_the_task_cancels_the_tool() -> None:
    """Ours."""

    async def main() -> None:
        mcp, events = _stalling()
        async with asyncio.timeout(WAIT), Client(mcp) as client:
            task = asyncio.ensure_future(client.call_tool("hang"))
            await events["begun"].wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await events["ended"].wait()

    asyncio.run(main())


def test_closing_ends_calls_and_leaves_the_lifespan_from_any_task() -> None:
    """Ours: the lifespan is left in the task that entered it, whoever closes."""
    trace: list[str] = []
    tasks: list[Any] = []

    async def main() -> None:
        mcp, events = _stalling()

        @asynccontextmanager
        async def lifespan(_: MCPServer) -> AsyncIterator[str]:
            tasks.append(asyncio.current_task())
            trace.append("in")
            yield "value"
            tasks.append(asyncio.current_task())
            trace.append("out")

        mcp.lifespan = lifespan
        client = Client(mcp)
        async with asyncio.timeout(WAIT):
            await client.__aenter__()
            call = asyncio.ensure_future(client.call_tool("hang"))
            await events["begun"].wait()
            await asyncio.create_task(client.close())
            with pytest.raises(ConnectionLost, match="was closed before"):
                await call
            assert events["ended"].is_set()
            await client.close()
            async with client:
                assert (await client.list_tools()).tools[0].name == "hang"

    asyncio.run(main())
    assert trace == ["in", "out", "in", "out"]
    assert tasks[0] is tasks[1]


def test_what_the_server_refuses_before_the_tool_is_told() -> None:
    """Ours: the checks of stdio hold in the same process too."""

    async def use(client: Any) -> None:
        with pytest.raises(InvalidParams, match="_meta"):
            await client.call_tool("add", {"a": 1, "b": 2}, meta={"io.modelcontextprotocol/logLevel": "loud"})
        deep: Any = 1
        for _ in range(600):
            deep = [deep]
        with pytest.raises(InvalidRequest, match="nested deeper"):
            await client.call_tool("add", {"a": deep})
        assert await client.call_tool("add", {"a": 1, "b": 2}, type=int) == 3

    run(shop(), use)


def test_changes_are_told() -> None:
    """Spec: basic/patterns/subscriptions."""

    async def main() -> None:
        mcp = shop()
        async with asyncio.timeout(WAIT), Client(mcp) as client, client.listen(tools_list_changed=True) as sub:
            assert sub.honored.tools_list_changed
            mcp.remove_tool("slow")
            assert await anext(sub) == ToolsListChanged()
            await client.close()
            with pytest.raises(Exception, match=r"closed|lost"):
                await anext(sub)

    asyncio.run(main())


def test_parallel_calls_get_their_own_answers() -> None:
    """Ours."""

    async def use(client: Any) -> None:
        found = await asyncio.gather(*(client.call_tool("add", {"a": n, "b": n}, type=int) for n in range(200)))
        assert found == [2 * n for n in range(200)]

    run(shop(), use)


class Jobs(Extension):
    """Tells of what it does while it does it."""

    identifier = "com.example/jobs"
    notifications = ("com.example/begun",)

    def methods(self) -> list[MethodBinding]:
        return [MethodBinding("com.example/start", dict, self.start)]

    async def start(self, ctx: Context, params: dict[str, Any]) -> dict[str, Any]:
        return {"told": await ctx.notify("com.example/begun", {"job": 1})}


@pytest.mark.parametrize("raises", [False, True])
def test_notifications_of_methods_and_tools_reach_the_client(raises: bool) -> None:
    """Ours: over HTTP each request has a stream for them; here they share a channel, without a request's id."""
    mcp = MCPServer("jobs", extensions=[Jobs()])
    got: list[tuple[str, dict[str, Any]]] = []

    @mcp.tool
    async def begin(ctx: Context) -> bool:
        return await ctx.notify("com.example/begun", {"job": 2})

    async def use(client: Client) -> None:
        assert (await client.request("com.example/start"))["told"] is True
        assert await client.call_tool("begin", type=bool)

    run(
        mcp,
        use,
        capabilities={"extensions": {"com.example/jobs": {}}},
        notification_callback=lambda method, params: got.append((method, params)),
        raise_exceptions=raises,
    )
    assert got == [("com.example/begun", {"job": 1}), ("com.example/begun", {"job": 2})]
