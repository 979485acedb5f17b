"""The blocking client: for scripts, notebooks and threads."""

from __future__ import annotations

import asyncio
import inspect
import signal
import threading
from _thread import interrupt_main
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from leanmcp import Context, MCPServer, SyncClient
from leanmcp.client import Client, Policy, Question, ToolsListChanged
from leanmcp.client.sync import SyncSubscription
from leanmcp.elicit import Accepted
from leanmcp.errors import CallDenied, ConnectionLost, MCPError
from leanmcp.types import CallToolResult, ElicitResult
from tests.support.processes import DEADLINE
from tests.support.strange_server import StrangeServer, text, tool


def make() -> MCPServer:
    mcp = MCPServer("Blocking", instructions="Wait.")

    @mcp.tool
    async def add(a: int, b: int) -> int:
        """Add."""
        return a + b

    @mcp.tool
    async def count(ctx: Context[None]) -> str:
        """Report progress."""
        for number in range(3):
            await ctx.report_progress(number, 3, f"step {number}")
        return "counted"

    @mcp.tool
    async def who(ctx: Context[None]) -> str:
        """Ask."""
        answer = await ctx.elicit("Who?", Name)
        return answer.data.name if isinstance(answer, Accepted) else "nobody"

    @mcp.resource("info://about")
    async def about() -> str:
        """About."""
        return "about"

    @mcp.prompt
    async def greet(name: str) -> str:
        """Greet."""
        return f"Hello {name}"

    return mcp


class Name(msgspec.Struct):
    name: str


def test_methods_return_results() -> None:
    """Ours: API.md, `SyncClient`: the same names, without `await`."""
    with SyncClient(make()) as client:
        assert client.call_tool("add", {"a": 1, "b": 2}).structured_content == {"result": 3}
        assert client.call_tool("add", {"a": 1, "b": 2}, type=int) == 3
        assert isinstance(client.call_tool_once("add", {"a": 1, "b": 2}), CallToolResult)
        assert [entry.name for entry in client.list_tools().tools] == ["add", "count", "who"]
        assert [entry.name for entry in client.tools()] == ["add", "count", "who"]
        assert [entry.uri for entry in client.resources()] == ["info://about"]
        assert [entry.name for entry in client.prompts()] == ["greet"]
        assert list(client.resource_templates()) == []
        assert client.read_resource("info://about").contents[0].text == "about"  # type: ignore[union-attr]
        assert client.get_prompt("greet", {"name": "Anna"}).messages[0].content.text == "Hello Anna"  # type: ignore[union-attr]
        assert client.discover().supported_versions
        assert client.request("tools/list")["resultType"] == "complete"
        assert client.protocol_version == "2026-07-28"
        assert client.server_info is not None
        assert client.server_info.name == "Blocking"
        assert "tools" in client.server_capabilities
        assert client.instructions == "Wait."
        with pytest.raises(MCPError):
            client.call_tool("nothing")


def test_every_public_method_of_the_client_is_there_with_its_signature() -> None:
    """Ours: what is added to Client is added here."""
    public = {name for name in dir(Client) if not name.startswith("_") and hasattr(Client, name)} - {"set_label"}
    assert public <= set(dir(SyncClient)) | {"label"}
    for name in sorted(public - {"label", "close"}):
        ours, theirs = getattr(SyncClient, name), getattr(Client, name)
        if isinstance(theirs, property):
            assert isinstance(ours, property)
            continue
        assert list(inspect.signature(ours).parameters) == list(inspect.signature(theirs).parameters), name
        assert ours.__doc__ == theirs.__doc__


def test_it_connects_with_the_first_call_and_closes_twice() -> None:
    """Ours: notebooks have no `with` around all cells."""
    client = SyncClient(make())
    assert client.call_tool("add", {"a": 1, "b": 1}, type=int) == 2
    client.close()
    client.close()
    with pytest.raises(RuntimeError, match="closed"):
        client.call_tool("add", {"a": 1, "b": 1})
    assert "leanmcp-sync-client" not in [thread.name for thread in threading.enumerate()]


def test_it_works_inside_of_a_running_loop() -> None:
    """Ours: Jupyter runs cells inside of one."""

    async def cell() -> int:
        with SyncClient(make()) as client:
            return client.call_tool("add", {"a": 1, "b": 2}, type=int)

    assert asyncio.run(cell()) == 3


def test_threads_share_one() -> None:
    """Ours: calls of several threads run side by side."""
    results: list[int] = []
    with SyncClient(make()) as client:

        def work(number: int) -> None:
            results.append(client.call_tool("add", {"a": number, "b": 0}, type=int))

        threads = [threading.Thread(target=work, args=(number,)) for number in range(10)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(DEADLINE)
    assert sorted(results) == list(range(10))


def test_callbacks_run_in_the_thread_that_waits_and_may_use_the_client() -> None:
    """Ours: so that `input()`, debuggers and user interfaces work as around the call."""
    here = threading.get_ident()
    seen: dict[str, int] = {}
    steps: list[str | None] = []
    records: list[dict[str, Any]] = []

    def on_call(name: str, arguments: dict[str, Any]) -> None:
        seen["on_call"] = threading.get_ident()

    def ask(question: Question) -> bool:
        seen["ask"] = threading.get_ident()
        seen["nested"] = client.call_tool("add", {"a": 20, "b": 1}, type=int)
        return True

    def elicit(context: Any, params: Any) -> ElicitResult:
        seen["elicit"] = threading.get_ident()
        return ElicitResult(action="accept", content={"name": "Anna"})

    def told(progress: float, total: float | None, message: str | None) -> None:
        seen["progress"] = threading.get_ident()
        steps.append(message)

    def audit(record: dict[str, Any]) -> None:
        seen["audit"] = threading.get_ident()
        records.append(record)

    policy = Policy(ask, allow=["add", "count"])
    with SyncClient(make(), on_call=on_call, trust=policy, audit=audit, elicitation_callback=elicit) as client:
        assert client.call_tool("who", type=str) == "Anna"
        assert client.call_tool("count", progress_callback=told, type=str) == "counted"
    assert seen.pop("nested") == 21
    assert seen == dict.fromkeys(["on_call", "ask", "elicit", "progress", "audit"], here)
    assert steps == ["step 0", "step 1", "step 2"]
    assert [record["tool"] for record in records] == ["add", "who", "count"]


def test_async_callbacks_run_on_the_clients_loop() -> None:
    """Ours: `async def` ones; they must not use the blocking client, which is told."""
    threads: list[str] = []

    async def on_call(name: str, arguments: dict[str, Any]) -> None:
        threads.append(threading.current_thread().name)
        with pytest.raises(RuntimeError, match="use Client in `async def` callbacks"):
            client.call_tool("add", {"a": 1, "b": 1})

    with SyncClient(make(), on_call=on_call) as client:
        client.call_tool("add", {"a": 1, "b": 1})
    assert threads == ["leanmcp-sync-client"]


def test_exceptions_of_callbacks_reach_the_caller() -> None:
    """Ours: and a denied call is denied."""

    def on_call(name: str, arguments: dict[str, Any]) -> bool:
        if name == "count":
            raise LookupError("no such budget")
        return False

    with SyncClient(make(), on_call=on_call) as client:
        with pytest.raises(LookupError, match="no such budget"):
            client.call_tool("count")
        with pytest.raises(CallDenied):
            client.call_tool("add", {"a": 1, "b": 1})


def test_events_are_iterated() -> None:
    """Spec: basic/patterns/subscriptions; here without `async`."""
    mcp = make()
    with SyncClient(mcp) as client, client.listen(tools_list_changed=True) as events:
        assert isinstance(events, SyncSubscription)
        assert events.honored is not None
        with pytest.raises(TimeoutError):
            events.get(timeout=0.01)
        mcp.notify_tools_changed()
        assert events.get(timeout=DEADLINE) == ToolsListChanged()
        mcp.notify_tools_changed()
        for event in events:
            assert event == ToolsListChanged()
            break


class Mute(StrangeServer):
    """A server that does not answer calls, and says when one has come and when it was cancelled."""

    def __init__(self) -> None:
        super().__init__(tool("get"), results={"get": text("never")})
        self.came = threading.Event()
        self.cancelled = threading.Event()

    async def request(self, request: Any) -> bytes:
        if request.method == "tools/call":
            self.came.set()
            try:
                await asyncio.Event().wait()
            finally:
                self.cancelled.set()
        return await super().request(request)


@pytest.mark.parametrize(
    "interrupt", [lambda: signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT), interrupt_main]
)
def test_interrupt_ends_the_wait_and_cancels_the_call(interrupt: Callable[[], None]) -> None:
    """Ours: Ctrl-C in a cell, also where it wakes no thread that sleeps already; the next call works."""
    there = Mute()

    def press() -> None:
        assert there.came.wait(DEADLINE)
        interrupt()
        if not there.cancelled.wait(DEADLINE):
            client.close()

    with SyncClient(there) as client:
        thread = threading.Thread(target=press)
        thread.start()
        with pytest.raises(KeyboardInterrupt):
            client.call_tool("get")
        thread.join()
        assert there.cancelled.is_set()
        assert [entry.name for entry in client.tools()] == ["get"]


def test_interrupt_in_a_callback_is_not_swallowed() -> None:
    """Ours: Ctrl-C at a prompt."""

    def ask(question: Question) -> bool:
        raise KeyboardInterrupt

    with SyncClient(make(), trust=Policy(ask, allow=["count"])) as client:
        with pytest.raises(KeyboardInterrupt):
            client.call_tool("add", {"a": 1, "b": 1})
        assert client.call_tool("count", type=str) == "counted"


def test_close_from_another_thread_ends_what_is_running() -> None:
    """Ours: no call hangs on a client that is closed."""
    there = Mute()
    client = SyncClient(there)
    raised: list[BaseException] = []

    def work() -> None:
        try:
            client.call_tool("get")
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    assert there.came.wait(DEADLINE)
    client.close()
    thread.join(DEADLINE)
    assert not thread.is_alive()
    assert isinstance(raised[0], MCPError | RuntimeError)


class Slow(StrangeServer):
    """A server that never lets anybody in, and says when somebody has come."""

    def __init__(self) -> None:
        super().__init__(tool("get"))
        self.came = threading.Event()

    async def start(self) -> None:
        self.came.set()
        await asyncio.Event().wait()


def test_close_from_another_thread_ends_connecting() -> None:
    """Ours: closing does not wait for a server that does not answer, and the thread that connects is let go."""
    there = Slow()
    client = SyncClient(there)
    raised: list[BaseException] = []

    def work() -> None:
        try:
            client.call_tool("get")
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    assert there.came.wait(DEADLINE)
    client.close()
    thread.join(DEADLINE)
    assert not thread.is_alive()
    assert isinstance(raised[0], ConnectionLost)
    with pytest.raises(RuntimeError, match="this client is closed"):
        client.list_tools()
