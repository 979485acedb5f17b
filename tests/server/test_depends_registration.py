"""Dependencies that cannot be, those of prompts and resources, and overrides for tests."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from typing import Annotated, Any

import pytest

from leanmcp import Depends, Limits, MCPServer
from leanmcp.elicit import Resolve
from tests.support.depends import plain, resources, result_of
from tests.support.lines import Lines, call_once, run, text_of
from tests.support.processes import request


@pytest.fixture
def mcp() -> MCPServer:
    """A server whose cancelled calls have a short time for their clean-up."""
    return MCPServer("depends", limits=Limits(cleanup_grace=0.5))


async def wants_isbn(isbn: str) -> str:
    return isbn


async def wants_it_too(book: Annotated[str, Depends(wants_isbn)]) -> str:
    return book


async def egg(hen: Annotated[str, Depends(lambda: hen)]) -> str:
    return hen


async def hen(egg: "Annotated[str, Depends(rooster)]") -> str:  # noqa: UP037
    return egg


async def rooster(hen: Annotated[str, Depends(hen)]) -> str:
    return hen


# --- registration -----------------------------------------------------------------------------------------------------


def test_a_parameter_that_nothing_satisfies_is_refused(mcp: MCPServer) -> None:
    """Ours: at registration, with the names of dependency and parameter."""

    async def tool(title: str, /, book: Annotated[str, Depends(wants_it_too)]) -> str:
        return book

    with pytest.raises(TypeError, match=r"tool 'tool': dependency wants_isbn wants 'isbn', but the function has no"):
        mcp.add_tool(tool)

    async def positional(isbn: str, /, book: Annotated[str, Depends(wants_isbn)]) -> str:
        return book

    with pytest.raises(TypeError, match="wants 'isbn'"):
        mcp.add_tool(positional)


def test_a_circle_is_refused(mcp: MCPServer) -> None:
    """Ours: at registration, with the way around."""

    async def tool(bird: Annotated[str, Depends(hen)]) -> str:
        return bird

    with pytest.raises(TypeError, match="dependencies run in a circle: hen -> rooster -> hen"):
        mcp.add_tool(tool)


def test_a_circle_through_dependencies_and_resolvers_is_refused(mcp: MCPServer) -> None:
    """Ours: as one of dependencies alone is."""

    def egg(bird: Any) -> str:
        return str(bird)

    def bird(egg: Any) -> str:
        return str(egg)

    def tool(bird: Any) -> str:
        return str(bird)

    egg.__annotations__["bird"] = tool.__annotations__["bird"] = Annotated[str, Depends(bird)]
    bird.__annotations__["egg"] = Annotated[str, Resolve(egg)]
    with pytest.raises(TypeError, match="tool 'tool': dependencies run in a circle: bird -> egg -> bird"):
        mcp.add_tool(tool)


def test_what_cannot_be_called_is_refused(mcp: MCPServer) -> None:
    """Ours: the mistake is a pair of brackets, mostly."""
    with pytest.raises(TypeError, match="give the function itself, without calling it"):
        Depends("plain")  # type: ignore[arg-type]

    async def starred(*numbers: int) -> int:
        return 1

    async def tool(number: Annotated[int, Depends(starred)]) -> int:
        return number

    with pytest.raises(TypeError, match=r"starred.*parameter 'numbers'"):
        mcp.add_tool(tool)

    async def behind(number: int, /) -> int:
        return number

    async def second(number: int, twice: Annotated[int, Depends(behind)]) -> int:
        return twice

    with pytest.raises(TypeError, match=r"behind.*parameter 'number' is passed by name; move it behind the /"):
        mcp.add_tool(second)

    async def third(twice: Annotated[int, Depends(plain)], /) -> int:
        return twice

    with pytest.raises(TypeError, match="passed by name"):
        mcp.add_tool(third)


# --- prompts, and tests of one's own ----------------------------------------------------------------------------------


def test_prompts_have_dependencies_too(mcp: MCPServer) -> None:
    """Ours: whatever calls a user's function; the clean-up runs there, too."""
    seen: list[str] = []
    *_, d = resources(seen)

    async def tone(name: str) -> str:
        return name.upper()

    @mcp.prompt
    async def greet(name: str, tone: Annotated[str, Depends(tone)], d: Annotated[str, Depends(d)]) -> str:
        return f"{tone} {d}"

    async def conversation(lines: Lines) -> None:
        listed = await lines.send(request("prompts/list", {}, 1)).answer(1)
        [prompt] = listed["result"]["prompts"]
        assert [argument["name"] for argument in prompt["arguments"]] == ["name"]
        got = await lines.send(request("prompts/get", {"name": "greet", "arguments": {"name": "anna"}}, 2)).answer(2)
        assert got["result"]["messages"][0]["content"]["text"] == "ANNA d"

    run(mcp, conversation)
    assert seen == ["d -", "c -", "b -", "a -"]


def test_resources_have_dependencies_too(mcp: MCPServer) -> None:
    """Ours: variables of the template by name; clean-up runs behind the reading."""
    seen: list[str] = []
    *_, d = resources(seen)

    async def shout(name: str) -> str:
        return name.upper()

    @mcp.resource("greet://{name}")
    async def greet(name: str, shout: Annotated[str, Depends(shout)], d: Annotated[str, Depends(d)]) -> str:
        return f"{shout} {d}"

    async def conversation(lines: Lines) -> None:
        read = await lines.send(request("resources/read", {"uri": "greet://anna"}, 1)).answer(1)
        assert read["result"]["contents"][0]["text"] == "ANNA d"

    run(mcp, conversation)
    assert seen == ["d -", "c -", "b -", "a -"]


def test_override_puts_a_fake_in_place(mcp: MCPServer) -> None:
    """Ours: wherever the function stands, as deep as it may be; nested overrides end one by one."""

    async def connect() -> str:
        raise AssertionError

    async def user(connection: Annotated[str, Depends(connect)]) -> str:
        return f"user of {connection}"

    @mcp.tool
    async def tool(name: str, user: Annotated[str, Depends(user)], again: Annotated[str, Depends(connect)]) -> str:
        return f"{user}, {again}"

    async def by_name(name: str) -> AsyncIterator[str]:
        yield f"fake of {name}"

    with mcp.override(connect, lambda: "fake"):
        assert result_of(mcp, "tool", {"name": "a"}) == "user of fake, fake"
        with mcp.override(connect, by_name):
            assert result_of(mcp, "tool", {"name": "a"}) == "user of fake of a, fake of a"
        with mcp.override(user, lambda: "nobody"):
            assert result_of(mcp, "tool", {"name": "a"}) == "nobody, fake"
        assert result_of(mcp, "tool", {"name": "a"}) == "user of fake, fake"
    assert "failed unexpectedly" in text_of(call_once(mcp, "tool", {"name": "a"}).messages[0])


def test_an_override_that_wants_too_much_is_told(mcp: MCPServer, caplog: pytest.LogCaptureFixture) -> None:
    """Ours: which argument is missing stands in the log; a value in place of a function is refused at once."""

    @mcp.tool
    async def tool(value: Annotated[str, Depends(plain)]) -> str:
        return value

    with caplog.at_level(logging.ERROR, "leanmcp"), mcp.override(plain, wants_isbn):
        assert "failed unexpectedly" in text_of(call_once(mcp, "tool").messages[0])
    assert "dependency wants_isbn wants the argument 'isbn', which was not given" in caplog.text
    with pytest.raises(TypeError, match="give the function itself"), mcp.override(plain, "fake"):  # type: ignore[arg-type]
        raise AssertionError
    assert result_of(mcp, "tool") == "plain True"
