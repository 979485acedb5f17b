"""Mistakes of those who write a client: each one raises one exception, word for word, with a page about it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from leanmcp import Client, ClientGroup, MCPServer, StdioServerParameters, SyncClient
from tests.support.mistakes import FOREIGN, codes_of

WAIT = 10.0
Use = Callable[[Any], Any]
KINDS = "give an MCPServer, a URL, StdioServerParameters or 'unix:/path'"


def demo() -> MCPServer:
    mcp = MCPServer("demo")

    @mcp.tool
    async def add(a: int, b: int = 1) -> int:
        """Add."""
        return a + b

    return mcp


async def _unentered(client: Client) -> None:
    await client.call_tool("add", {"a": 1})


async def _left(client: Client) -> None:
    async with client:
        pass
    await client.list_tools()


async def _twice(client: Client) -> None:
    async with client, client:
        pass


def inside(use: Use) -> Use:
    async def entered(client: Client) -> None:
        async with client:
            await use(client)

    return entered


def _connecting(target: Any) -> Use:
    async def connect(_: Client) -> None:
        async with Client(target):
            pass

    return connect


def made(**options: Any) -> Use:
    async def make(_: Client) -> None:
        Client(MCPServer("x"), **options)

    return make


def connecting_to(make: Callable[[], Any]) -> Use:
    async def connect(_: Client) -> None:
        async with Client(make()):
            pass

    return connect


def result(use: Use) -> Use:
    async def called(client: Client) -> None:
        async with client:
            use(await client.call_tool("add", {"a": 1}))

    return called


async def _awaited(client: Any) -> None:
    await client


async def _async_loop(client: Any) -> None:
    async for _ in await client.list_tools():
        pass


async def one_value(params: Any) -> None:
    """Stand for a callback that forgot a parameter."""


def tool() -> None:
    """Stand for a function that is given instead of a name."""


NOT_CONNECTED = "the client is not connected; use it as `async with Client(...) as client`"
PARAMETERS: Any = StdioServerParameters
GROUP: Any = ClientGroup
SYNC: Any = SyncClient
NO_DICT = "CallToolResult is no dict and no list: "
MISTAKES: list[tuple[str, Use, type[Exception], str]] = [
    ("LM701", _unentered, RuntimeError, NOT_CONNECTED),
    ("LM701", _left, RuntimeError, NOT_CONNECTED),
    (
        "LM702",
        _twice,
        RuntimeError,
        "this client is connected already; make another one, or leave the block first",
    ),
    ("LM703", _connecting(3), TypeError, f"Client(3): {KINDS}"),
    (
        "LM703",
        _connecting(MCPServer),
        TypeError,
        "Client(MCPServer): give an MCPServer, a URL or parameters, not the class; call it",
    ),
    (
        "LM703",
        _connecting("server.py"),
        TypeError,
        "Client('server.py'): a URL is expected of a text; to start a server, give "
        "StdioServerParameters(command='python', args=['server.py'])",
    ),
    (
        "LM611",
        _connecting("localhost:8000"),
        ValueError,
        "'localhost:8000' is no URL; did you mean 'http://localhost:8000/mcp'?",
    ),
    ("LM203", made(timeout=3), TypeError, "Client: unknown option 'timeout'; did you mean 'read_timeout_seconds'?"),
    ("LM203", made(heders={}), TypeError, "Client: unknown option 'heders'; did you mean 'headers'?"),
    ("LM203", made(zzz=1), TypeError, "Client: unknown option 'zzz'"),
    (
        "LM705",
        made(read_timeout_seconds="3"),
        ValueError,
        "read_timeout_seconds='3': give seconds, or None for no limit",
    ),
    (
        "LM706",
        made(headers={"x": "y"}),
        TypeError,
        "Client(<MCPServer>, headers=...): a server in this process is reached without HTTP; leave it out",
    ),
    (
        "LM709",
        inside(lambda client: client.call_tool("add", [1, 2])),
        TypeError,
        "call_tool('add'): arguments=[1, 2]: give a dict, such as {'name': value}",
    ),
    (
        "LM709",
        inside(lambda client: client.call_tool("add", '{"a": 1}')),
        TypeError,
        "call_tool('add'): arguments='{\"a\": 1}': give a dict, such as {'name': value}",
    ),
    (
        "LM709",
        inside(lambda client: client.call_tool("add", {"a": object(), "b": 1})),
        TypeError,
        "call_tool('add'): arguments that have no JSON form: 'a' (object)",
    ),
    (
        "LM709",
        inside(lambda client: client.call_tool(3)),
        TypeError,
        "call_tool(3): give the name of the tool, a text",
    ),
    (
        "LM203",
        inside(lambda client: client.call_tool("add", a=1, b=2)),
        TypeError,
        "call_tool: unknown option 'a'; arguments are one dict behind the name: {'a': ..., 'b': ...}",
    ),
    (
        "LM203",
        inside(lambda client: client.call_tool("add", timeout=3)),
        TypeError,
        "call_tool: unknown option 'timeout'; did you mean 'read_timeout_seconds'?",
    ),
    (
        "LM203",
        inside(lambda client: client.call_tool("add", argument={"a": 1})),
        TypeError,
        "call_tool: unknown option 'argument'; did you mean 'arguments'?",
    ),
    (
        "LM203",
        inside(lambda client: client.get_prompt("greet", who="Anna")),
        TypeError,
        "get_prompt: unknown option 'who'; arguments are one dict behind the name: {'who': ...}",
    ),
    (
        "LM203",
        inside(lambda client: client.read_resource("a://b", x=1)),
        TypeError,
        "read_resource: unknown option 'x'",
    ),
    (
        "LM203",
        connecting_to(lambda: PARAMETERS(comand="x")),
        TypeError,
        "StdioServerParameters: unknown option 'comand'; did you mean 'command'?",
    ),
    (
        "LM703",
        _connecting({"mcpServers": {"films": {"command": "python"}}}),
        TypeError,
        "Client(<dict>): several servers are a ClientGroup, by label: ClientGroup({'books': "
        "'https://books.example.com/mcp', 'films': StdioServerParameters(command='python', args=['films.py'])})",
    ),
    (
        "LM703",
        _connecting({"command": "python", "env": {"KEY": "secret"}}),
        TypeError,
        "Client(<dict>): to start a server, give StdioServerParameters(command=..., args=[...], env={...})",
    ),
    (
        "LM703",
        _connecting({"url": "https://example.com/mcp"}),
        TypeError,
        "Client(<dict>): a URL is expected, not settings with one: Client(url, headers={...})",
    ),
    (
        "LM704",
        connecting_to(lambda: PARAMETERS("python server.py")),
        TypeError,
        "StdioServerParameters: write StdioServerParameters.from_command('python server.py')",
    ),
    (
        "LM704",
        connecting_to(lambda: PARAMETERS("python", ["server.py", "-v"])),
        TypeError,
        "StdioServerParameters: name the values: command='python', args=['server.py', '-v']",
    ),
    (
        "LM704",
        connecting_to(lambda: PARAMETERS(["python", "server.py"])),
        TypeError,
        "StdioServerParameters: name the values: command='python', args=['server.py']",
    ),
    (
        "LM704",
        connecting_to(lambda: PARAMETERS([])),
        TypeError,
        "StdioServerParameters: name the values: command='python', args=['server.py']",
    ),
    (
        "LM705",
        made(elicitation_callback=one_value),
        TypeError,
        "elicitation_callback=one_value(params): give a function: `async def answer(context, params) -> ElicitResult`",
    ),
    (
        "LM705",
        made(input_callbacks={"roots/list": one_value}),
        TypeError,
        "input_callbacks['roots/list']=one_value(params): give a function: `async def answer(context, params)`",
    ),
    (
        "LM705",
        made(on_call=one_value),
        TypeError,
        "on_call=one_value(params): give a function: `def on_call(tool, arguments)`, which returns True, False or a "
        "dict",
    ),
    (
        "LM705",
        made(notification_callback=one_value),
        TypeError,
        "notification_callback=one_value(params): give a function: `def told(method, params)`",
    ),
    (
        "LM707",
        _awaited,
        TypeError,
        "a client is entered, not awaited: use `async with Client(...) as client`",
    ),
    (
        "LM708",
        inside(_async_loop),
        TypeError,
        "a ListToolsResult is one page: `for entry in page.tools`; for all, `async for` over `tools()`",
    ),
    ("LM711", result(lambda result: result["content"]), TypeError, f"{NO_DICT}write `.content`"),
    ("LM711", result(lambda result: result["structuredContent"]), TypeError, f"{NO_DICT}write `.structured_content`"),
    ("LM711", result(lambda result: result["is_error"]), TypeError, f"{NO_DICT}write `.is_error`"),
    ("LM711", result(lambda result: result[0]), TypeError, f"{NO_DICT}its list is `.content`"),
    (
        "LM711",
        result(lambda result: result["total"]),
        TypeError,
        f"{NO_DICT}what the tool returned is `.structured_content`, or the result of call_tool(..., type=dict)",
    ),
    (
        "LM711",
        result(lambda result: result.content[0]["text"]),
        TypeError,
        "TextContent is no dict and no list: write `.text`",
    ),
    (
        "LM711",
        result(lambda result: result.content[0]["txt"]),
        TypeError,
        "TextContent is no dict and no list: it has annotations, meta, text",
    ),
    (
        "LM711",
        result(lambda result: result.text),
        AttributeError,
        "CallToolResult has no 'text'; `result.content` is a list: `result.content[0].text`; the value: "
        "call_tool(..., type=str)",
    ),
    (
        "LM711",
        result(lambda result: result.data),
        AttributeError,
        "CallToolResult has no 'data'; the value is `result.structured_content`, or the result of "
        "call_tool(..., type=...)",
    ),
    (
        "LM712",
        inside(lambda client: client.connect()),
        AttributeError,
        "Client has no 'connect'; it connects when its block is entered: `async with Client(...) as client`",
    ),
    (
        "LM712",
        inside(lambda client: client.session.list_tools()),
        AttributeError,
        "Client has no 'session'; its methods are the client's own, as in `await client.call_tool(...)`",
    ),
    ("LM519", inside(lambda client: client.call_tool("ad", {})), Exception, "Unknown tool: 'ad'; did you mean 'add'?"),
    (
        "LM620",
        _connecting("http://127.0.0.1:1/mcp"),
        Exception,
        "Cannot connect to http://127.0.0.1:1/mcp: connection refused, nobody listens on port 1; start the server or "
        "correct the address",
    ),
    (
        "LM627",
        _connecting(StdioServerParameters(command="no-such-program-here")),
        Exception,
        "no-such-program-here cannot be started: there is no program 'no-such-program-here' in PATH; give its whole "
        "path",
    ),
]


@pytest.mark.parametrize(
    ("code", "use", "kind", "text"), MISTAKES, ids=lambda value: value if isinstance(value, str) else ""
)
def test_a_mistake_raises_one_exception_with_a_page(code: str, use: Use, kind: type[Exception], text: str) -> None:
    """Ours: goals U9, U10, U13; never an exception group."""

    async def main() -> None:
        async with asyncio.timeout(WAIT):
            await use(Client(demo()))

    with pytest.raises(kind) as caught:
        asyncio.run(main())
    assert not isinstance(caught.value, BaseExceptionGroup)
    assert str(caught.value) == text
    assert codes_of(text) == [code]
    assert not FOREIGN.sub("", text).count("msgspec")


def test_a_function_in_place_of_a_name_is_taken_for_its_name() -> None:
    """Ours: with what was meant."""

    async def main() -> None:
        async with Client(demo()) as client:
            wrong: Any = tool
            await client.call_tool(wrong)

    with pytest.raises(TypeError) as caught:
        asyncio.run(main())
    assert str(caught.value).endswith(">): give the name of the tool, a text; did you mean 'tool'?")


def test_the_other_client_says_the_same() -> None:
    """Ours: SyncClient has the options of Client."""
    with pytest.raises(TypeError) as caught:
        SyncClient(demo(), timeout=3)
    assert "unknown option 'timeout'" in str(caught.value)


@pytest.mark.parametrize(
    ("use", "text"),
    [
        (lambda: SyncClient(demo(), on_call=one_value), "on_call=one_value(params): give a function: "),
        (lambda: SyncClient(demo(), elicitation_callback=lambda: None), "elicitation_callback=<lambda>(): give a "),
        (lambda: SYNC(demo()).connect(), "SyncClient has no 'connect'; it connects when its block is "),
        (lambda: GROUP().connect(), "ClientGroup has no 'connect'; its block connects, `async with ClientGr"),
        (lambda: list(GROUP()), "a group is no list: its clients by label are `group.clients`, its tools "),
        (lambda: GROUP()["x"], "\"no server 'x' in this group; there is none\""),
        (lambda: GROUP().__enter__(), "use `async with ClientGroup(...) as group`"),
        (lambda: GROUP().__await__(), "a group is entered, not awaited: use `async with ClientGroup(...)"),
    ],
)
def test_other_clients_say_what_to_write(use: Callable[[], Any], text: str) -> None:
    """Ours: goal U13."""
    with pytest.raises((TypeError, AttributeError, KeyError)) as caught:
        use()
    assert str(caught.value).startswith(text)
