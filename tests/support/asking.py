"""Forms that the tests of questions fill in."""

from __future__ import annotations

from typing import Any

from leanmcp import Field, MCPServer, Model


class Quantity(Model):
    """How many."""

    count: int = Field(ge=1, le=9)


class Word(Model):
    """Some text."""

    word: str


def server(**options: Any) -> MCPServer:
    return MCPServer("rounds", **options)
