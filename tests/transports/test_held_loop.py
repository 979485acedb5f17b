"""Signals to a server while a coroutine holds its event loop: they must not wait for its end, which may never come."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.support.processes import DEADLINE, call, encode, environment

SERVER = """
import asyncio, sys, time
from leanmcp import MCPServer

mcp = MCPServer("held")

@mcp.tool
async def hold() -> None:
    "Hold the event loop."
    print("held", file=sys.stderr, flush=True)
    time.sleep(60)

"""
WAYS = {
    "run": "mcp.run(drain={})",
    "asyncio": "sys.modules['uvloop'] = None; mcp.run(drain={})",
    "own loop": "asyncio.run(mcp.run_async(drain={}))",
}


@contextmanager
def held(folder: Path, way: str, drain: float) -> Iterator[subprocess.Popen[bytes]]:
    """Run a server whose loop is held."""
    file = folder / "server.py"
    file.write_text(SERVER + WAYS[way].format(drain))
    pipe = subprocess.PIPE
    process = subprocess.Popen([sys.executable, str(file)], stdin=pipe, stdout=pipe, stderr=pipe, env=environment())
    try:
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write(encode(call("hold")) + b"\n")
        process.stdin.flush()
        assert process.stderr.readline() == b"held\n"
        yield process
    finally:
        process.kill()
        process.communicate(timeout=DEADLINE)


@pytest.mark.parametrize("way", WAYS)
def test_a_second_signal_ends_the_process_at_once(tmp_path: Path, way: str) -> None:
    """Ours: Ctrl-C, and once more; it says nothing, as it does in time."""
    with held(tmp_path, way, DEADLINE) as process:
        for _ in range(100):  # two that come together are one
            process.send_signal(signal.SIGTERM)
            with suppress(subprocess.TimeoutExpired):
                process.wait(0.1)
                break
        assert process.returncode == 128 + signal.SIGTERM
        assert b"ends without it" not in process.communicate(timeout=DEADLINE)[1]


@pytest.mark.parametrize(("way", "code"), [*((way, 128 + signal.SIGINT) for way in WAYS), ("run", 1), ("asyncio", 1)])
def test_the_process_ends_without_a_tool_that_goes_on(tmp_path: Path, way: str, code: int) -> None:
    """Ours: RELIABILITY, exit at `drain`, of a signal or, with 1, of the end of input; it says whose fault it is."""
    with held(tmp_path, way, 0.1) as process:
        if code > 1:
            process.send_signal(signal.SIGINT)
            process.wait(DEADLINE)
        log = process.communicate(timeout=DEADLINE)[1]
        assert process.returncode == code
        assert b"tool 'hold' (at " in log.splitlines()[-1]
        assert log.endswith(b" still holds the event loop; the process ends without it\n")


PROGRAM = """
import asyncio, contextlib, sys, time
from leanmcp import MCPServer

started = asyncio.Event()

@contextlib.asynccontextmanager
async def lifespan(server):
    started.set()
    yield

async def main():
    serving = asyncio.create_task(MCPServer("part", lifespan=lifespan).run_async(drain=0.1))
    await started.wait()
    await asyncio.sleep(0.1)
    print("busy", file=sys.stderr, flush=True)
    time.sleep(2)
    sys.exit(7)

asyncio.run(main())
"""


def test_a_program_with_a_loop_of_its_own_comes_to_its_own_end(tmp_path: Path) -> None:
    """Ours: the host has left, but what the program does meanwhile is not ours to break off."""
    command, pipe = [sys.executable, "-c", PROGRAM], subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=environment()) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == b"busy\n"
        process.communicate(timeout=DEADLINE)
    assert process.returncode == 7
