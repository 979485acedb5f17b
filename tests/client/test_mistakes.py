"""Mistakes of those who write a client, each told at once and with the right spelling."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Callable
from typing import Any

import pytest

import leanmcp
from leanmcp import Client, ClientGroup, MCPError, MCPServer, StdioServerParameters, SyncClient, elsewhere
from leanmcp.client.answers import Answers, ClientRequestContext
from leanmcp.connect import transport_to
from leanmcp.errors import CannotConnect, MethodNotFound
from leanmcp.types import ElicitResult
from tests.support.scripted import DONE, Scripted, only

WAIT = 10.0
ENTER = "enter it first: `async with client.listen(...) as changes:`, and inside of it `async for event in changes:`"
EVERY = "write `async for entry in client.tools()`, or `[entry async for entry in client.tools()]`"


def run(use: Callable[[Any], Any], mcp: MCPServer | None = None) -> Any:
    """Return what `use` makes of a client."""

    async def main() -> Any:
        async with asyncio.timeout(WAIT), Client(mcp or MCPServer("x")) as client:
            return await use(client)

    return asyncio.run(main())


# --- spelling ---------------------------------------------------------------------------------------------------------


async def listen_unentered(client: Any) -> None:
    async for _ in client.listen(tools_list_changed=True):
        pass


async def next_unentered(client: Any) -> None:
    await anext(client.listen(tools_list_changed=True))


async def await_listen(client: Any) -> None:
    await client.listen(tools_list_changed=True)


async def await_tools(client: Any) -> None:
    await client.tools()


async def loop_over_tools(client: Any) -> None:
    for _ in client.tools():
        pass


async def loop_over_page(client: Any) -> None:
    for _ in await client.list_tools():
        pass


async def loop_over_templates(client: Any) -> None:
    list(await client.list_resource_templates())


@pytest.mark.parametrize(
    ("use", "kind", "text"),
    [
        (listen_unentered, RuntimeError, ENTER),
        (next_unentered, RuntimeError, ENTER),
        (await_listen, TypeError, ENTER),
        (await_tools, TypeError, f"tools() has nothing to await: {EVERY}"),
        (loop_over_tools, TypeError, f"tools() has pages to wait for: {EVERY}"),
        (
            loop_over_page,
            TypeError,
            "a ListToolsResult is one page: `for entry in page.tools`; for all, `async for` over `tools()`",
        ),
        (
            loop_over_templates,
            TypeError,
            "a ListResourceTemplatesResult is one page: `for entry in page.resource_templates`; for all, `async for` "
            "over `resource_templates()`",
        ),
    ],
)
def test_wrong_loop_is_told_at_once(use: Callable[[Any], Any], kind: type[Exception], text: str) -> None:
    """Ours: no hang, and the right spelling."""
    with pytest.raises(kind) as caught:
        run(use)
    assert str(caught.value) == text


def test_wrong_with_is_told() -> None:
    """Ours: `with Client`, `async with SyncClient`."""
    client: Any = Client(MCPServer("x"))
    with pytest.raises(TypeError) as caught, client:
        raise AssertionError
    assert str(caught.value) == "use `async with Client(...) as client`; a program without async uses SyncClient"

    async def main() -> None:
        client: Any = SyncClient(MCPServer("x"))
        async with client:
            raise AssertionError

    with pytest.raises(TypeError) as caught:
        asyncio.run(main())
    expected = "use `with SyncClient(...) as client`; inside of `async def`, `async with Client(...)`"
    assert str(caught.value) == expected


# --- options ----------------------------------------------------------------------------------------------------------

ON_CALL = "on_call=3: give a function: `def on_call(tool, arguments)`, which returns True, False or a dict"
GROUP = "give the servers by label, such as {'books': 'https://books.example.com/mcp', 'films': mcp}"


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (
            {"auth": "token"},
            "auth=...: give a provider of leanmcp.oauth, or an object with `headers` and `challenged`; for a token, "
            "headers={'Authorization': 'Bearer ...'}, not a str",
        ),
        ({"trust": "yes"}, "trust='yes': give a Policy of leanmcp.client"),
        ({"pin": 3}, "pin=3: give a path, a dict, or Pins of leanmcp.client"),
        ({"audit": 3}, "audit=3: give a path, a function that takes records, or an Audit of leanmcp.client"),
        ({"on_call": 3}, ON_CALL),
        ({"headers": "x"}, "headers=...: give a dict of texts, {'Authorization': 'Bearer ...'}, not a str"),
        ({"headers": {"x": 1}}, "headers=...: give a dict of texts, {'Authorization': 'Bearer ...'}, not a dict"),
        ({"client_info": "x"}, "client_info='x': give Implementation(name=..., version=...) of leanmcp.types"),
        ({"check": "yes"}, "check='yes': give True, False or ResultChecks of leanmcp.client"),
        ({"cache": "no"}, "cache='no': give True, False or a ResponseCache"),
    ],
)
def test_option_of_a_wrong_kind_is_refused(options: dict[str, Any], text: str) -> None:
    """Ours: where it was given, and without what may be a secret."""
    for kind in (Client, SyncClient):
        with pytest.raises(TypeError) as caught:
            kind("http://127.0.0.1/mcp", **options)
        assert str(caught.value) == text


COMMAND = StdioServerParameters(command="server")
CHILD = "a child process is reached without HTTP; hand secrets to it as StdioServerParameters(env={...})"
HERE = "a server in this process is reached without HTTP; leave it out"
MADE = "a transport made by hand takes that itself, as in HTTPTransport(url, headers=..., auth=...)"
AWAY = "what a function raises in another process stays there; leave it out"
OWN = "a transport made by hand takes that itself; give the MCPServer to the client instead"


class Tokens:
    """Supplies headers."""

    async def headers(self, method: str, url: str) -> dict[str, str]:
        raise AssertionError

    async def challenged(self, *_: object) -> bool:
        raise AssertionError


@pytest.mark.parametrize(
    ("server", "name", "value", "text"),
    [
        (MCPServer("x"), "headers", {"Authorization": "Bearer t"}, f"Client(<MCPServer>, headers=...): {HERE}"),
        (MCPServer("x"), "auth", Tokens(), f"Client(<MCPServer>, auth=...): {HERE}"),
        (COMMAND, "headers", {"X": "y"}, f"Client(<StdioServerParameters>, headers=...): {CHILD}"),
        (COMMAND, "auth", Tokens(), f"Client(<StdioServerParameters>, auth=...): {CHILD}"),
        (COMMAND, "raise_exceptions", True, f"Client(<StdioServerParameters>, raise_exceptions=...): {AWAY}"),
        (Scripted(only()), "headers", {"X": "y"}, f"Client(<Scripted>, headers=...): {MADE}"),
        (Scripted(only()), "auth", Tokens(), f"Client(<Scripted>, auth=...): {MADE}"),
        (Scripted(only()), "raise_exceptions", True, f"Client(<Scripted>, raise_exceptions=...): {OWN}"),
        ("http://h/mcp?key=s", "raise_exceptions", True, f"Client(<URL>, raise_exceptions=...): {AWAY}"),
        ("unix:/run/mcp", "raise_exceptions", True, f"Client(<URL>, raise_exceptions=...): {AWAY}"),
    ],
)
def test_option_that_the_server_has_no_use_for_is_refused(server: Any, name: str, value: Any, text: str) -> None:
    """Ours: where it was given; what is dropped in silence, such as a token, is missed much later."""
    for kind in (Client, SyncClient):
        with pytest.raises(TypeError) as caught:
            kind(server, **{name: value})
        assert str(caught.value) == text
    with pytest.raises(TypeError) as caught:
        transport_to(server, **{name: value})
    assert str(caught.value) == text


@pytest.mark.parametrize("method", ["call_tool", "call_tool_once", "read_resource", "get_prompt"], ids=str)
@pytest.mark.parametrize(
    ("option", "meant"), [("metta", "meta"), ("input_response", "input_responses"), ("requestState", "request_state")]
)
def test_option_of_a_request_that_there_is_not_is_refused(method: str, option: str, meant: str) -> None:
    """Ours: with the one that was probably meant; nothing is sent."""
    with pytest.raises(TypeError) as caught:
        run(lambda client: getattr(client, method)("x", **{option: {}}))
    assert str(caught.value) == f"{method}: unknown option {option!r}; did you mean {meant!r}?"


def test_option_of_a_group_names_the_server_that_has_no_use_for_it() -> None:
    """Ours: options of a group are those of each of its clients; one of its own takes precedence."""
    url = "http://127.0.0.1/mcp"
    with pytest.raises(TypeError) as caught:
        ClientGroup({"shop": url, "here": MCPServer("x")}, headers={"X": "y"})
    assert str(caught.value) == f"Client(<MCPServer>, label='here', headers=...): {HERE}"
    ClientGroup({"shop": Client(url, headers={"X": "y"}), "here": MCPServer("x")})


@pytest.mark.parametrize("server", [MCPServer("x"), COMMAND, Scripted(only()), "http://127.0.0.1/mcp"])
def test_option_that_says_nothing_is_no_mistake(server: Any) -> None:
    """Ours: what a program hands on without having been given any."""
    Client(server, headers=None, auth=None, raise_exceptions=False)
    Client(server, headers={})


@pytest.mark.parametrize(
    ("make", "kind", "text"),
    [
        (lambda: ClientGroup([MCPServer("x")]), TypeError, f"ClientGroup(<list>): {GROUP}"),  # type: ignore[arg-type]
        (lambda: ClientGroup(MCPServer("x")), TypeError, f"ClientGroup(<MCPServer>): {GROUP}"),  # type: ignore[arg-type]
        (
            lambda: ElicitResult(action="yes"),  # type: ignore[arg-type]
            ValueError,
            "action='yes': give 'accept', 'decline' or 'cancel'",
        ),
    ],
)
def test_argument_of_a_wrong_kind_is_refused(make: Callable[[], Any], kind: type[Exception], text: str) -> None:
    """Ours: with what to give."""
    with pytest.raises(kind) as caught:
        make()
    assert str(caught.value) == text


def test_answer_with_an_action_that_there_is_not_is_told() -> None:
    """Ours: a dict in place of an ElicitResult."""

    async def yes(context: Any, params: Any) -> Any:
        return {"action": "yes"}

    asked = {"message": "m", "requestedSchema": {"type": "object", "properties": {}}}
    with pytest.raises(TypeError) as caught:
        asyncio.run(Answers(yes).answer(ClientRequestContext("there", 1), "elicitation/create", asked))
    assert str(caught.value).startswith(
        "elicitation_callback returned {'action': 'yes'}: give {'action': 'accept', 'content': {...}}, or 'decline' or "
        "'cancel' ("
    )


# --- event loops ------------------------------------------------------------------------------------------------------


async def begin_to_listen(client: Any) -> None:
    async with client.listen(tools_list_changed=True):
        raise AssertionError


@pytest.mark.parametrize(
    "use", [lambda client: client.call_tool("t"), lambda client: client.list_tools(), begin_to_listen]
)
def test_client_of_another_event_loop_is_told(use: Callable[[Any], Any]) -> None:
    """Ours: requests, lists that may be kept, and subscriptions."""
    client = Scripted(only(tools_call=DONE)).client()
    asyncio.run(client.__aenter__())
    with pytest.raises(RuntimeError) as caught:
        asyncio.run(use(client))
    assert str(caught.value) == (
        "the client of the scripted server was connected on another event loop; connect and use it inside of one "
        "asyncio.run(), or use SyncClient, which may be used everywhere"
    )


# --- what a server lacks ----------------------------------------------------------------------------------------------


def test_lists_of_what_a_server_lacks_are_empty() -> None:
    """Ours: as those of the official SDK's servers; what it has later is found."""
    mcp = MCPServer("bare")

    async def use(client: Client) -> None:
        assert (await client.list_prompts()).prompts == []
        assert (await client.list_resource_templates()).resource_templates == []
        assert [entry async for entry in client.resources()] == []
        mcp.add_resource(lambda: "x", "x://late", name="late")
        assert [entry.name async for entry in client.resources()] == ["late"]

    run(use, mcp)


def test_a_list_that_was_declared_but_is_not_served_is_an_error() -> None:
    """Ours: nor is it an empty one where nobody was asked what there is."""
    mcp = MCPServer("bare")

    async def main() -> None:
        async with asyncio.timeout(WAIT), Client(mcp, mode="2026-07-28") as client:
            with pytest.raises(MethodNotFound):
                await client.list_prompts()

    asyncio.run(main())


def test_what_a_server_lacks_is_named() -> None:
    """Ours: the server has none, which says more than that a method is unknown."""

    async def use(client: Client) -> None:
        with pytest.raises(MethodNotFound) as caught:
            await client.read_resource("x://y")
        assert str(caught.value) == ("server 'x' in this process has no resources: Method not found: 'resources/read'")
        with pytest.raises(MethodNotFound) as caught:
            await client.get_prompt("y")
        assert str(caught.value) == "server 'x' in this process has no prompts: Method not found: 'prompts/get'"

    run(use)


# --- errors -----------------------------------------------------------------------------------------------------------


def test_errors_have_the_alias_of_the_official_sdk() -> None:
    """Ours: people change one import line."""
    error = MCPError(4, "no", {"a": 1})
    assert (error.error.code, error.error.message, error.error.data) == (4, "no", {"a": 1})


def test_an_error_of_connecting_has_no_chain() -> None:
    """Ours: what was tried inside tells the reader nothing."""

    async def main() -> None:
        async with asyncio.timeout(WAIT), Client("http://127.0.0.1:1/mcp"):
            raise AssertionError

    with pytest.raises(CannotConnect) as caught:
        asyncio.run(main())
    shown = "".join(traceback.format_exception(caught.value))
    assert shown.count("Traceback") == 1
    files = [frame.filename for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert sum("leanmcp/" in file and "/tests/" not in file for file in files) == 1


# --- names ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "where"),
    [
        ("Elicit", "it is in leanmcp.elicit: from leanmcp.elicit import Elicit"),
        ("Policy", "it is in leanmcp.client: from leanmcp.client import Policy"),
        ("TextContent", "it is in leanmcp.types: from leanmcp.types import TextContent"),
        ("CannotConnect", "it is in leanmcp.errors: from leanmcp.errors import CannotConnect"),
        ("FastMCP", "the server is MCPServer: from leanmcp import MCPServer"),
        ("Clinet", "did you mean 'Client'?"),
    ],
)
def test_name_that_lives_elsewhere_is_found(name: str, where: str) -> None:
    """Ours: in both ways to look for it."""
    with pytest.raises(AttributeError) as missing:
        getattr(leanmcp, name)
    assert str(missing.value) == f"module 'leanmcp' has no attribute {name!r}; {where}"
    with pytest.raises(ImportError) as failed:
        exec(f"from leanmcp import {name}")
    assert str(failed.value) == f"cannot import {name!r} from 'leanmcp'; {where}"


def test_table_of_names_is_right() -> None:
    """Ours: each name is where it is said to be, and nowhere else."""
    from importlib import import_module

    for name, home in elsewhere.OTHERS.items():
        assert hasattr(import_module(home), name), (name, home)
        assert name not in leanmcp.__all__
