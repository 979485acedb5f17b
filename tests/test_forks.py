"""Processes that tools fork: what a signal to one of them ends, and how a fork ends that leaves its tool."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable

import pytest

from leanmcp.server.threads import ThreadPool
from tests.support.processes import DEADLINE, ROOT, environment

SIGNALLED = """
import asyncio, os, signal, sys
import uvloop
from leanmcp.forks import serve_here

async def main():
    told = []
    loop = asyncio.get_running_loop()
    for one in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(one, told.append, one)
    serve_here(True)
    reading, writing = os.pipe()
    for one in (signal.SIGTERM, signal.SIGINT):
        child = os.fork()
        if child == 0:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            try:
                os.write(writing, b"x")
                while True:
                    pass
            finally:
                os._exit(7)
        os.read(reading, 1)
        os.kill(child, one)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status))
    os.kill(os.getpid(), signal.SIGTERM)
    while signal.SIGTERM not in told:
        await asyncio.sleep(0)
    print(*map(int, told))

asyncio.Runner(loop_factory=getattr(sys.modules[sys.argv[1]], "new_event_loop")).run(main())
"""


@pytest.mark.parametrize("loop", ["asyncio", "uvloop"])
def test_a_signal_to_a_fork_ends_the_fork_and_not_the_server(loop: str) -> None:
    """Ours: FIELD 31; `multiprocessing.Pool` ends its workers by SIGTERM, which Python tells the server's loop."""
    command = [sys.executable, "-c", SIGNALLED, loop]
    done = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE, env=environment(), cwd=ROOT)
    # By the signal itself; by the KeyboardInterrupt that it raises; and the server hears its own SIGTERM only.
    assert done.stdout.split("\n") == ["-15", "7", "15", ""], done.stderr


EARLY = """
import asyncio, os, signal
from leanmcp.forks import serve_here

async def main():
    told = []
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, told.append, 1)
    # The first thing that the fork does, before the hook that gives it its signals back: hooks run in order there.
    os.register_at_fork(after_in_child=lambda: os.kill(os.getpid(), signal.SIGTERM))
    serve_here(True)
    child = os.fork()
    if child == 0:
        os._exit(7)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    await asyncio.sleep(0)
    print(told, *signal.pthread_sigmask(signal.SIG_BLOCK, []))

asyncio.run(main())
"""


def test_a_signal_that_comes_before_the_fork_is_ready_waits() -> None:
    """Ours: a pool that ends at once finds workers that have not run a line of Python yet."""
    command = [sys.executable, "-c", EARLY]
    done = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE, env=environment(), cwd=ROOT)
    assert (done.stdout, done.stderr) == ("-15\n[]\n", "")


@pytest.mark.parametrize(
    ("end", "code"),
    [
        (lambda: None, 0),
        (lambda: sys.exit(), 0),
        (lambda: sys.exit(3), 3),
        (lambda: sys.exit("a text"), 1),
        (lambda: 1 // 0, 1),
    ],
    ids=["return", "exit", "exit 3", "exit text", "raise"],
)
def test_a_fork_that_leaves_its_tool_ends(end: Callable[[], object], code: int) -> None:
    """Ours: FIELD 12; it would be a second server on the same descriptors, and its parent would wait for ever."""

    def tool() -> int:
        child = os.fork()
        if child == 0:
            end()
            return -1
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    async def main() -> int:
        async with asyncio.timeout(DEADLINE):
            status: int = await ThreadPool(1).run(tool, (), {}, lambda: None)
        return status

    assert asyncio.run(main()) == code
