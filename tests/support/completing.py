"""A shop with completions, and requests for them."""

from __future__ import annotations

import enum
from typing import Any, Literal

from leanmcp import MCPServer
from tests.support.prompting import ask

Result = dict[str, Any]


class Size(enum.Enum):
    SMALL = "small"
    LARGE = "large"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 20


def shop() -> MCPServer:
    """Return a server with one prompt; nothing of it is completed by a function."""
    mcp = MCPServer("x")

    @mcp.prompt
    def order(
        item: str,
        size: Size = Size.SMALL,
        level: Level | None = None,
        gift: bool = False,
        colour: Literal["red", "Green", "dark red", 7] | None = None,
        theme: Literal["auto"] | str = "auto",
        count: int = 1,
    ) -> str:
        return item

    return mcp


def complete(mcp: MCPServer, argument: str, value: str = "", ref: str = "order", **more: Any) -> Result:
    """Return the response to completion/complete for an argument of a prompt."""
    params = {"ref": {"type": "ref/prompt", "name": ref}, "argument": {"name": argument, "value": value}, **more}
    return ask(mcp, "completion/complete", **params)


def values(response: Result) -> Any:
    """Return the values, whose number the result must tell right."""
    completion = response["result"]["completion"]
    assert completion["total"] == len(completion["values"])
    assert completion["hasMore"] is False
    return completion["values"]
