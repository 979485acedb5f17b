"""A transport to a scripted stdio server, on either event loop, and what must be left of both: nothing."""

from __future__ import annotations

import asyncio
import os
import sys
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import pytest
import uvloop

from leanmcp import StdioServerParameters
from leanmcp.transports.stdio_client import StdioTransport

from . import bad_stdio_server
from .bad_stdio_server import Step, script
from .outgoing import decoded, outgoing
from .processes import DEADLINE

T = TypeVar("T")
LOOPS: dict[str, Callable[[], asyncio.AbstractEventLoop]] = {
    "uvloop": uvloop.new_event_loop,
    "asyncio": asyncio.new_event_loop,
}
both_loops = pytest.mark.parametrize("loop", LOOPS)


def run(loop: str, main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine; afterwards there are no more tasks and no more descriptors than before, and no callback failed.

    There may be less: what earlier tests left to the garbage collector goes when it likes.
    """

    async def bounded() -> T:
        before = _descriptors()
        faults: list[Any] = []
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: faults.append(context))
        result = await asyncio.wait_for(main, DEADLINE)
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        assert not tasks
        assert not _descriptors() - before
        assert not faults
        return result

    with asyncio.Runner(loop_factory=LOOPS[loop]) as runner:
        return runner.run(bounded())


def _descriptors() -> Counter[str]:
    """Return what is open, without the null device, of which libuv keeps a copy from its first pipe on."""
    found: Counter[str] = Counter()
    for name in os.listdir("/proc/self/fd"):
        with suppress(FileNotFoundError):  # the listing itself
            found[os.readlink(f"/proc/self/fd/{name}")] += 1
    del found[os.devnull]
    return found


def parameters(
    *answers: list[Step],
    start: list[Step] | None = None,
    end: list[Step] | None = None,
    state: Path | None = None,
    **options: Any,
) -> StdioServerParameters:
    """Return the command of a scripted server."""
    text = script(*answers, start=start, end=end)
    args = [bad_stdio_server.__file__, text, *([] if state is None else [str(state)])]
    return StdioServerParameters(command=sys.executable, args=args, **{"stderr": "capture", **options})


@asynccontextmanager
async def talking(*answers: list[Step], **options: Any) -> AsyncIterator[StdioTransport]:
    """Start a scripted server and a transport to it; options as `parameters`."""
    transport = StdioTransport(parameters(*answers, **options))
    await transport.start()
    try:
        yield transport
    finally:
        await transport.close()


async def text(answer: Awaitable[bytes]) -> str:
    """Return the text of an answer."""
    found: str = decoded(await answer)["result"]["content"][0]["text"]
    return found


async def ask(transport: StdioTransport, request_id: int = 1, **members: Any) -> str:
    """Send a request and return the text of its answer."""
    return await text(transport.request(outgoing(request_id=request_id, **members)))


def pids(state: Path) -> list[int]:
    """Return the ids of the processes that a scripted server has noted."""
    return [int(line.split()[1]) for line in state.read_text().splitlines() if line.startswith("pid ")]


def received(state: Path) -> list[Any]:
    """Return the messages that a scripted server has read."""
    return [decoded(line.encode()) for line in state.read_text().splitlines() if line.startswith("{")]


async def noted(state: Path, condition: Callable[[str], bool]) -> None:
    """Wait until a scripted server has noted something."""
    while not (state.exists() and condition(state.read_text())):
        await asyncio.sleep(0.002)


def has_ended(pid: int) -> bool:
    """Return whether a process is gone, or waits only for its parent to take note of it."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True
