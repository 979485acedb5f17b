"""Calls of tools with dependencies."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from leanmcp import Context, Depends, MCPServer
from tests.support.lines import call_once

Ctx = Context[None]
LOOP_THREAD = threading.main_thread()


def result_of(mcp: MCPServer, tool: str, arguments: dict[str, Any] | None = None) -> Any:
    """Return the value that a tool returned."""
    [answer] = call_once(mcp, tool, arguments).messages
    assert answer["result"]["isError"] is False, answer
    return answer["result"]["structuredContent"]["result"]


def plain() -> str:
    return f"plain {threading.current_thread() is not LOOP_THREAD}"


def generator() -> Iterator[str]:
    yield f"generator {threading.current_thread() is not LOOP_THREAD}"


def resources(seen: list[str], names: str = "abcd") -> list[Callable[..., Any]]:
    """Return a dependency of each kind that notes how it is left."""

    def note(name: str, error: BaseException | None = None) -> None:
        seen.append(f"{name} {'-' if error is None else type(error).__name__}")

    async def a() -> AsyncIterator[str]:
        try:
            yield "a"
        except BaseException as error:
            note("a", error)
            raise
        else:
            note("a")

    def b(a: str = Depends(a)) -> Iterator[str]:
        try:
            yield "b"
        except BaseException as error:
            note("b", error)
            raise
        else:
            note("b")

    @asynccontextmanager
    async def c(b: str = Depends(b)) -> AsyncIterator[str]:
        try:
            yield "c"
        finally:
            note("c")

    @contextmanager
    def d(c: str = Depends(c)) -> Iterator[str]:
        try:
            yield "d"
        finally:
            note("d")

    return [function for function in (a, b, c, d) if function.__name__ in names]
