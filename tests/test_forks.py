"""Processes that tools fork: what a signal to one of them ends, and how a fork ends that leaves its tool."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.support.processes import DEADLINE, ROOT, call, encode, environment, run_stdio

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


ENDS = {"return": 0, "exit": 0, "exit 3": 3, "exit text": 1, "raise": 1}


@pytest.mark.parametrize(
    ("tool", "ends"),
    [("fork", {**ENDS, "await": 1}), ("fork_in_thread", ENDS), ("fork_on_loop", ENDS), ("fork_in_dependency", ENDS)],
    ids=["coroutine", "thread", "loop", "dependency"],
)
def test_a_fork_that_leaves_its_tool_ends(tool: str, ends: dict[str, int]) -> None:
    """Ours: FIELD 12; it would be a second server on the same descriptors, and its parent would wait for ever."""
    calls = [call(tool, {"end": end}, number) for number, end in enumerate(ends)]
    lines = b"".join(encode(one) + b"\n" for one in calls)
    messages, log, _ = run_stdio("tests/fixtures/leftovers.py", lines, PYTHONWARNINGS="ignore")
    results = sorted((message["id"], message["result"]["structuredContent"]["result"]) for message in messages)
    assert results == list(enumerate(ends.values()))
    assert "ValueError: raise" in log
    assert ("a forked process cannot await" in log) == ("await" in ends)
