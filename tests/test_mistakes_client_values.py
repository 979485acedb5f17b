"""Values that a client cannot use, and members that its results do not have: word for word, with a page."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from leanmcp import Client, StdioServerParameters
from leanmcp.types import Tool
from tests.support.mistakes import codes_of
from tests.test_mistakes_client import WAIT, Use, connecting_to, demo, inside, made, result

PARAMETERS: Any = StdioServerParameters
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
