"""The watchdog names the tool that holds the event loop, and nobody else."""

from __future__ import annotations

import asyncio
import functools
import logging
import re
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from leanmcp import MCPServer
from leanmcp.logs import logger
from leanmcp.watchdog import LoopWatchdog
from tests.support.lines import Lines, run
from tests.support.processes import DEADLINE, call

THRESHOLD = 0.1  # seconds; the default is 1
told = threading.Event()


class Listener(logging.Handler):
    """Notes that the watchdog has spoken."""

    def emit(self, record: logging.LogRecord) -> None:
        told.set()


def hold() -> None:
    """Hold the loop, here, until the watchdog has told so: its thread may come late, as when it collects garbage."""
    told.clear()
    end = time.monotonic() + DEADLINE
    time.sleep(4 * THRESHOLD)
    while not told.is_set() and time.monotonic() < end:
        time.sleep(THRESHOLD)


def watched(mcp: MCPServer, caplog: pytest.LogCaptureFixture, *tools: str) -> list[str]:
    """Call tools one after the other under a watchdog; return what it logged."""

    async def conversation(lines: Lines) -> None:
        watchdog = LoopWatchdog(mcp.tool_codes, THRESHOLD)
        watchdog.start()
        for number, tool in enumerate(tools):
            assert "result" in await lines.send(call(tool, {}, number)).answer(number)
            while watchdog._culprit is not None:  # the next beat tells how long it was
                await asyncio.sleep(0)
        watchdog.stop()

    listener = Listener()
    logger.addHandler(listener)
    try:
        with caplog.at_level(logging.WARNING):
            run(mcp, conversation)
    finally:
        logger.removeHandler(listener)
    return list(caplog.messages)


def _wrapped(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    async def wrapper() -> str:
        text: str = await function()
        return text

    return wrapper


async def sleepy() -> str:
    """Block, some frames below the tool."""

    def deeper() -> None:
        hold()

    deeper()
    return "slept"


class Methods:
    """Tools may be methods."""

    async def sleepy(self) -> str:
        """Block."""
        hold()
        return "slept"


@pytest.mark.parametrize(
    ("function", "options"),
    [
        (sleepy, {}),
        (_wrapped(sleepy), {}),
        (functools.partial(sleepy), {}),
        (Methods().sleepy, {}),
        (lambda: hold(), {"thread": False}),
    ],
)
def test_a_tool_that_holds_the_loop_is_named_with_the_time(
    caplog: pytest.LogCaptureFixture, function: Callable[..., Any], options: dict[str, Any]
) -> None:
    """Ours: FIELD 11; while it holds it, and once more with the time when it has let go."""
    mcp = MCPServer("watched")
    mcp.add_tool(function, "culprit", **options)
    began = time.monotonic()
    holds, held = watched(mcp, caplog, "culprit")
    elapsed = time.monotonic() - began
    assert re.match(r"tool 'culprit' \(at \S+test_watchdog\.py:\d+\) holds the event loop for more than 0\.1 s", holds)
    assert "make it a plain `def`" in holds
    match = re.match(r"tool 'culprit' \(.*\) held the event loop for (\d\.\d) s", held)
    assert match is not None
    assert 3 * THRESHOLD <= float(match[1]) <= elapsed + 0.1


def test_a_tool_is_named_each_time_and_only_once_for_each(caplog: pytest.LogCaptureFixture) -> None:
    """Ours: two lines for each time, however long it is."""
    mcp = MCPServer("watched")
    mcp.add_tool(sleepy, "culprit")
    assert len(watched(mcp, caplog, "culprit", "culprit")) == 4


def test_tools_in_threads_and_tools_that_wait_are_never_blamed(caplog: pytest.LogCaptureFixture) -> None:
    """Ours: they hold nobody up."""
    mcp = MCPServer("watched")

    @mcp.tool
    def in_thread() -> str:
        time.sleep(5 * THRESHOLD)
        return "slept"

    @mcp.tool
    async def waiting() -> str:
        await asyncio.sleep(5 * THRESHOLD)
        return "slept"

    assert not [message for message in watched(mcp, caplog, "in_thread", "waiting") if message.startswith("tool")]


def test_a_callback_is_not_blamed_on_a_tool(caplog: pytest.LogCaptureFixture) -> None:
    """Ours: what is no tool is named by its place."""
    mcp = MCPServer("watched")

    @mcp.tool
    async def innocent() -> str:
        asyncio.get_running_loop().call_soon(time.sleep, 4 * THRESHOLD)
        await asyncio.sleep(0)
        return "ok"

    messages = watched(mcp, caplog, "innocent")
    assert len(messages) == 2
    assert all(message.startswith("code outside of tools") for message in messages)


def test_a_watchdog_that_was_stopped_says_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """Ours: neither its timer nor its thread is left."""

    async def main() -> None:
        watchdog = LoopWatchdog(dict, THRESHOLD)
        watchdog.start()
        watchdog.stop()
        time.sleep(3 * THRESHOLD)
        await asyncio.sleep(0)

    with caplog.at_level(logging.WARNING):
        asyncio.run(main())
    assert caplog.messages == []


def test_nobody_is_blamed_while_somebody_looks_through_a_debugger(caplog: pytest.LogCaptureFixture) -> None:
    """Ours: at the prompt of `breakpoint()` people take their time."""
    inside: dict[str, Any] = {"__name__": "pdb", "wait": functools.partial(_pause)}
    exec("def prompt(): wait()", inside)
    mcp = MCPServer("t")

    @mcp.tool
    async def looked_at() -> str:
        inside["prompt"]()
        return "done"

    assert watched(mcp, caplog, "looked_at") == []


def _pause() -> None:
    time.sleep(THRESHOLD * 4)
