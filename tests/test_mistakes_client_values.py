"""Values that a client cannot use, and members that its results do not have, with a page; and what it takes."""

from __future__ import annotations

import asyncio
import copy
import functools
import pickle
from collections.abc import Callable, Iterable
from typing import Any
from unittest.mock import Mock

import pytest

from leanmcp import Client, StdioServerParameters, SyncClient
from leanmcp.types import CallToolResult, TextContent, Tool
from tests.support.mistakes import codes_of
from tests.test_mistakes_client import WAIT, Use, connecting_to, demo, inside, made, result

PARAMETERS: Any = StdioServerParameters
ANY_CLIENT: Any = Client
ANY_TOOL: Any = Tool


def _of_result(name: str) -> Use:
    return result(lambda result: getattr(result, name))


def _of_client(name: str) -> Use:
    return inside(lambda client: getattr(client, name))


def _to(target: str) -> Use:
    return connecting_to(lambda: target)


MISTAKES: list[tuple[str, Use, type[Exception], str]] = [
    (
        "LM709",
        inside(lambda client: client.call_tool("add", {"a": float("nan")})),
        TypeError,
        "call_tool('add'): arguments that have no JSON form: 'a' (nan)",
    ),
    (
        "LM709",
        inside(lambda client: client.call_tool("add", {"a": {"rows": [1.0, float("-inf")]}})),
        TypeError,
        "call_tool('add'): arguments that have no JSON form: 'a' (dict)",
    ),
    (
        "LM709",
        inside(lambda client: client.call_tool(Tool(name="add", input_schema={}), {"a": 1})),
        TypeError,
        "call_tool(<Tool>): give the name of the tool, a text; did you mean 'add'?",
    ),
    (
        "LM709",
        inside(lambda client: client.call_tool("add", {"a": 1}, type="int")),
        TypeError,
        "call_tool('add'): type='int': give the type itself, such as int",
    ),
    (
        "LM705",
        inside(lambda client: client.call_tool("add", {"a": 1}, progress_callback="told")),
        TypeError,
        "call_tool('add'): progress_callback='told': give a function: `def told(progress, total, message)`",
    ),
    (
        "LM705",
        inside(lambda client: client.call_tool("add", {"a": 1}, meta="x")),
        TypeError,
        "call_tool: meta='x': give a dict of members of `_meta`",
    ),
    ("LM705", made(label=5), TypeError, "label=5: give a text"),
    (
        "LM203",
        inside(lambda client: ANY_CLIENT.list_tools(client, limit=5)),
        TypeError,
        "list_tools: unknown option 'limit'; there is cursor, meta, cache_mode",
    ),
    (
        "LM203",
        inside(lambda client: ANY_CLIENT.listen(client, tool_list_changed=True)),
        TypeError,
        "listen: unknown option 'tool_list_changed'; did you mean 'tools_list_changed'?",
    ),
    (
        "LM705",
        made(input_required_max_rounds=-1),
        TypeError,
        "input_required_max_rounds=-1: give the number of rounds of questions, 0 or more",
    ),
    (
        "LM711",
        result(lambda result: result.isError),
        AttributeError,
        "CallToolResult has no 'isError'; write `.is_error`",
    ),
    (
        "LM711",
        result(lambda result: result.content[0].model_dump()),
        AttributeError,
        "TextContent has no 'model_dump'; write `msgspec.to_builtins(value)`",
    ),
    (
        "LM712",
        inside(lambda client: client.ping()),
        AttributeError,
        "Client has no 'ping'; there is none; `client.discover(cache_mode='bypass')` asks whether the server answers",
    ),
    *[
        (
            "LM711",
            _of_result(name),
            AttributeError,
            f"CallToolResult has no {said}",
        )
        for name, said in (
            ("value", "'value'; the value is `result.structured_content`, or the result of call_tool(..., type=...)"),
            ("contents", "'contents'; write `.content`"),
            ("error", "'error'; write `.is_error`; the text is in `.content`"),
        )
    ],
    ("LM711", connecting_to(lambda: ANY_TOOL.schema), AttributeError, "Tool has no 'schema'; write `.input_schema`"),
    *[
        (
            "LM712",
            _of_client(name),
            AttributeError,
            f"{start} {name!r}{advice}",
        )
        for start, name, advice in (
            ("'Client' object has no attribute", "call_tools", "; did you mean 'call_tool'?"),
            ("'Client' object has no attribute", "upload", ""),
        )
    ],
    *[
        (
            "LM712",
            _of_client(name),
            AttributeError,
            f"Client has no {name!r}; {advice}",
        )
        for name, advice in (
            ("invoke", "write `client.call_tool(name, {...})`"),
            ("get_resource", "write `client.read_resource(uri)`"),
            ("serverInfo", "it is `client.server_info`, or client.discover()"),
            ("session", "its methods are the client's own, as in `await client.call_tool(...)`"),
        )
    ],
    (
        "LM709",
        inside(lambda client: client.read_resource(5)),
        TypeError,
        "read_resource(5): give the URI of the resource, a text",
    ),
    (
        "LM709",
        inside(lambda client: client.request("tools/list", [1])),
        TypeError,
        "request('tools/list'): params=[1]: give a dict, such as {'name': value}",
    ),
    (
        "LM232",
        connecting_to(lambda: ANY_CLIENT(url="x")),
        TypeError,
        "Client() missing 1 required positional argument: 'server'; it is called as Client(server, ...)",
    ),
    (
        "LM232",
        connecting_to(lambda: PARAMETERS()),
        TypeError,
        "StdioServerParameters: command= is missing; it is called as StdioServerParameters(command=...)",
    ),
    *[
        ("LM203", made(**{name: "x"}), TypeError, f"Client: unknown option {name!r}; {advice}")
        for name, advice in (
            ("token", "give headers={'Authorization': 'Bearer ...'}"),
            ("elicitation_handler", "give elicitation_callback="),
            ("protocol_version", "give mode="),
        )
    ],
    *[
        (
            "LM611",
            _to(text),
            ValueError,
            f"{text!r} is no URL; {advice}",
        )
        for text, advice in (
            ("8000", "did you mean 'http://localhost:8000/mcp'?"),
            ("stdio", "give one such as 'http://localhost:8000/mcp', or StdioServerParameters(...)"),
            ("mcp.json", "give one such as 'http://localhost:8000/mcp', or StdioServerParameters(...)"),
        )
    ],
    (
        "LM203",
        made(verify=False),
        TypeError,
        "Client: unknown option 'verify'; give an HTTPTransport(url, ssl=...) of leanmcp.transports.http_client in "
        "place of the URL",
    ),
    (
        "LM203",
        made(log_handler=print),
        TypeError,
        "Client: unknown option 'log_handler'; give notification_callback=, which is told method and params",
    ),
    (
        "LM705",
        connecting_to(lambda: PARAMETERS(command="python", env=["A=1"])),
        TypeError,
        "env=<list>: give a dict of texts, {'NAME': 'value'}",
    ),
    (
        "LM705",
        connecting_to(lambda: PARAMETERS(command="python", cwd=5)),
        TypeError,
        "cwd=5: give the path of a folder",
    ),
    (
        "LM206",
        connecting_to(lambda: PARAMETERS(command="python", restart="yes")),
        TypeError,
        "restart='yes': give True or False",
    ),
    (
        "LM704",
        connecting_to(lambda: PARAMETERS.from_command('python "my server.py')),
        ValueError,
        "command 'python \"my server.py': a quotation mark has no partner",
    ),
]


@pytest.mark.parametrize(
    ("code", "use", "kind", "text"), MISTAKES, ids=[f"{code} {text[:40]}" for code, _, _, text in MISTAKES]
)
def test_a_value_that_cannot_be_is_refused_with_a_page(code: str, use: Use, kind: type[Exception], text: str) -> None:
    """Ours: goals U9, U10, U13: before anything is sent; NaN would have been null at the server."""

    async def main() -> None:
        async with asyncio.timeout(WAIT):
            await use(Client(demo()))

    with pytest.raises(kind) as caught:
        asyncio.run(main())
    assert str(caught.value) == text
    assert codes_of(text) == [code]


def test_null_is_sent_as_it_is() -> None:
    """Ours: only numbers that JSON lacks are refused."""

    async def main() -> Any:
        async with asyncio.timeout(WAIT), Client(demo()) as client:
            return await client.call_tool("add", {"a": 1, "b": None})

    assert "b: Input should be a valid integer, got null" in asyncio.run(main()).content[0].text


def test_advice_about_mistakes_changes_nothing_else() -> None:
    """Ours: what looks at results and clients by their protocols sees what there is."""
    sum_of_two = CallToolResult(content=[TextContent(text="3")])
    assert not isinstance(sum_of_two, Iterable)
    assert not hasattr(sum_of_two, "text")
    assert not hasattr(Client(demo()), "connect")
    assert copy.deepcopy(sum_of_two) == copy.copy(sum_of_two) == pickle.loads(pickle.dumps(sum_of_two)) == sum_of_two
    with pytest.raises(TypeError, match="is not iterable"):
        iter(sum_of_two)  # type: ignore[call-overload]
    parameters = StdioServerParameters(command="python", args=["server.py"])
    assert copy.deepcopy(parameters) == pickle.loads(pickle.dumps(parameters)) == parameters


def test_callbacks_of_every_kind_are_taken() -> None:
    """Ours: only what cannot take two values is refused."""

    def decorated(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def call(*args: Any) -> Any:
            return function(*args, "database")

        return call

    def more(context: Any, params: Any, database: Any) -> None: ...

    class Answers:
        def __call__(self, context: Any, params: Any) -> None: ...

        def answer(self, context: Any, params: Any, more: int = 3) -> None: ...

    callback: Any
    for callback in (decorated(more), Answers(), Answers().answer, functools.partial(more, database=3), print, Mock()):
        Client(demo(), elicitation_callback=callback, on_call=callback, notification_callback=callback)
        SyncClient(demo(), elicitation_callback=callback, input_callbacks={"roots/list": callback})
