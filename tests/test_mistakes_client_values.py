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
