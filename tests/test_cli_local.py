"""Commands with a server in their own process: none of its code keeps them longer than `--timeout` and Ctrl-C say."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.mistakes import codes_of
from tests.support.processes import DEADLINE, end, environment
from tests.support.reloading import Lines
from tests.support.shell import leanmcp

START = """\
import asyncio, os, threading, time
from contextlib import asynccontextmanager
from leanmcp import Context, MCPServer
"""
TOOL = """\
mcp = MCPServer("demo", lifespan=lifespan)
@mcp.tool
async def hi() -> str:
    "Hi."
    return "hi"
"""
FILES = {
    "held.py": """\
lock = threading.Lock()
mcp = MCPServer("demo")
@mcp.tool
async def wait() -> str:
    "Wait."
    with lock, lock:
        return "never"
@mcp.tool
async def pause(seconds: float) -> str:
    "Pause."
    time.sleep(seconds)
    return "done"
""",
    "entering.py": """\
@asynccontextmanager
async def lifespan(server):
    await asyncio.sleep(1000)
    yield
""",
    "blocking.py": """\
@asynccontextmanager
async def lifespan(server):
    time.sleep(1000)
    yield
""",
    "leaving.py": """\
@asynccontextmanager
async def lifespan(server):
    yield
    await asyncio.sleep(1000)
""",
    "stubborn.py": """\
@asynccontextmanager
async def lifespan(server):
    yield
    while True:
        try:
            await asyncio.sleep(1000)
        except BaseException:
            pass
""",
}
HOLDS = (
    "holds the event loop for more than 1 s, and every other request with it; make it a plain `def` (it then runs in "
    "a thread), or await what it waits for [LM513]"
)
MORE = "did not answer within 1 seconds; give it more with --timeout [LM625]"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with servers that take their time."""
    folder = tmp_path_factory.mktemp("local")
    for name, content in FILES.items():
        (folder / name).write_text(START + content + ("" if "MCPServer" in content else TOOL))
    return folder


def test_a_tool_that_holds_the_loop_for_ever_ends_in_time(folder: Path) -> None:
    """Ours: `--timeout` is of every target; who holds the loop is named before."""
    done = leanmcp("call", "held.py", "wait", "--timeout", "1", cwd=folder)
    where = f"tool 'wait' (at {folder}/held.py:9)"
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == f"WARNING {where} {HOLDS}\nleanmcp: {where} holds the event loop, and {MORE}\n"


def test_a_tool_that_holds_the_loop_for_a_while_is_told_of(folder: Path) -> None:
    """Ours: as a server says; the call is answered."""
    done = leanmcp("call", "held.py", "pause", "seconds=2.2", cwd=folder)
    assert (done.returncode, done.stdout) == (0, "done\n")
    assert done.stderr.splitlines()[0] == f"WARNING tool 'pause' (at {folder}/held.py:14) {HOLDS}"


def test_a_tool_that_is_quick_enough_is_not_told_of(folder: Path) -> None:
    """Ours: and `--timeout 0` waits for ever."""
    done = leanmcp("call", "held.py", "pause", "seconds=0.1", "--timeout", "0", cwd=folder)
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")


def test_a_lifespan_that_never_yields_ends_in_time(folder: Path) -> None:
    """Ours: `--timeout` counts for it, whether it waits or blocks."""
    done = leanmcp("call", "entering.py", "hi", "--timeout", "1", cwd=folder)
    text = f"lifespan ({folder}/entering.py:4) has not yielded; the server {MORE}"
    assert (done.returncode, done.stdout, done.stderr) == (3, "", f"leanmcp: {text}\n")
    done = leanmcp("list", "blocking.py", "--timeout", "1", cwd=folder)
    text = f"code outside of tools (at {folder}/blocking.py:6) holds the event loop, and {MORE}"
    assert (done.returncode, done.stdout, done.stderr) == (3, "", f"leanmcp: {text}\n")


@pytest.mark.parametrize("name", ["leaving", "stubborn"])
def test_a_lifespan_that_does_not_end_keeps_no_result(folder: Path, name: str) -> None:
    """Ours: it was printed before; the clean-up has as long as a request has."""
    done = leanmcp("call", f"{name}.py", "hi", "--timeout", "1", cwd=folder)
    text = f"lifespan ({folder}/{name}.py:4) did not end within 1 seconds, and is cancelled"
    assert (done.returncode, done.stdout) == (0, "hi\n")
    assert done.stderr.splitlines()[0] == f"leanmcp: {text} [LM418]"
    assert codes_of(text) == ["LM418"]


@pytest.mark.parametrize(
    ("words", "begun"),
    [
        (["call", "held.py", "wait"], HOLDS),
        (["call", "entering.py", "hi"], "has not yielded for 5 s; the server starts when it has [LM418]"),
        (["call", "leaving.py", "hi"], "has not ended for 5 s; the server ends when it has, or at Ctrl-C [LM418]"),
    ],
    ids=lambda value: value[1] if isinstance(value, list) else "",
)
def test_the_first_ctrl_c_ends_it(folder: Path, words: list[str], begun: str) -> None:
    """Ours: U9; a loop that is held would not hear of it, and a lifespan that waits is told of after some seconds."""
    command = [sys.executable, "-m", "leanmcp", *words]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdout=pipe, stderr=pipe, env=environment(), cwd=folder)
    try:
        errors = Lines(process.stderr)
        errors.until(begun)
        process.send_signal(signal.SIGINT)
        assert process.wait(DEADLINE) == 130
        assert errors.until("interrupted")[-1] == "leanmcp: interrupted"
    finally:
        end(process, patience=DEADLINE)


def test_ctrl_c_ends_a_server_whose_lifespan_does_not_yield(folder: Path) -> None:
    """Ours: it is told of after some seconds, where it stands, and ends without a traceback."""
    command = [sys.executable, "-m", "leanmcp", "run", "entering.py", "--http", "--port", "0"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, env=environment(), cwd=folder)
    try:
        errors = Lines(process.stderr)
        text = (
            f"WARNING lifespan ({folder}/entering.py:6) has not yielded for 5 s; the server starts when it has [LM418]"
        )
        assert errors.line() == text
        process.send_signal(signal.SIGINT)
        assert process.wait(DEADLINE) == 130
        assert errors.line() == ""
    finally:
        end(process, patience=DEADLINE)
