"""The end of blocking clients: of their threads, their servers, and the programs that use them."""

from __future__ import annotations

import asyncio
import gc
import os
import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from leanmcp import MCPServer, SyncClient
from leanmcp.errors import MCPError
from tests.support.processes import DEADLINE, ROOT, environment, http_server
from tests.support.strange_server import StrangeServer, tool

FORKED = """
import os, signal, sys, warnings
warnings.simplefilter("ignore", DeprecationWarning)  # of os.fork beside threads
from leanmcp import MCPServer, SyncClient
mcp = MCPServer("here")
client = SyncClient(mcp)
client.list_tools()
child = os.fork()
if not child:
    signal.alarm(20)
    try:
        client.list_tools()
    except RuntimeError as error:
        print(error, flush=True)
        client.close()
        with SyncClient(mcp) as own:
            print(len(own.list_tools().tools), flush=True)
    sys.exit(0)
print(os.waitpid(child, 0)[1], flush=True)
print(len(client.list_tools().tools))
"""


PROGRAM = """
import sys
from leanmcp import MCPServer, StdioServerParameters, SyncClient
client = SyncClient(%s)
print([tool.name for tool in client.tools()])
%s
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_forked_process_is_told_to_make_its_own() -> None:
    """Ours: `multiprocessing` on Linux; the thread that would answer is the parent's, which goes on with it."""
    done = subprocess.run(
        [sys.executable, "-c", FORKED], capture_output=True, text=True, timeout=DEADLINE, env=environment(), check=False
    )
    told = "this SyncClient was connected before the process forked; make another one in each process"
    assert done.stdout.splitlines() == [told, "0", "0", "0"], done.stderr
    assert done.stderr == ""


def test_client_that_cannot_connect_leaves_nothing() -> None:
    """Ours: the error is raised by the first use, and its thread ends."""
    with pytest.raises(MCPError), SyncClient("http://127.0.0.1:1/mcp"):
        pass
    assert "leanmcp-sync-client" not in [thread.name for thread in threading.enumerate()]


def _homes() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name == "leanmcp-sync-client"}


def test_loop_that_cannot_be_made_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: the thread ends before there is anything to wait for, as where no file descriptors are left."""

    def refuse() -> None:
        raise OSError("too many open files")

    monkeypatch.setattr(asyncio.events, "new_event_loop", refuse)
    with pytest.raises(OSError, match="too many open files"):
        SyncClient(MCPServer("there")).list_tools()


def test_server_that_fails_to_end_keeps_no_thread(caplog: pytest.LogCaptureFixture) -> None:
    """Ours: what its lifespan raises is logged, and the client's thread ends all the same."""

    @asynccontextmanager
    async def lifespan(server: MCPServer) -> AsyncIterator[None]:
        yield
        raise ValueError("cannot end")

    client = SyncClient(MCPServer("Broken", lifespan=lifespan))
    before = _homes()
    assert client.list_tools().tools == []
    [thread] = _homes() - before
    client.close()
    assert not thread.is_alive()
    assert "a client could not be closed: ValueError: cannot end" in caplog.text


def test_end_of_a_block_raises_what_the_server_raises_at_its_end(caplog: pytest.LogCaptureFixture) -> None:
    """Ours: as that of Client does, unless another exception is on its way, which is the cause more often than not."""

    @asynccontextmanager
    async def lifespan(server: MCPServer) -> AsyncIterator[None]:
        yield
        raise ValueError("cannot end")

    before = _homes()
    with pytest.raises(ValueError, match="cannot end"), SyncClient(MCPServer("Broken", lifespan=lifespan)):
        pass
    assert "could not be closed" not in caplog.text
    with pytest.raises(KeyError, match="mine"), SyncClient(MCPServer("Broken", lifespan=lifespan)):
        raise KeyError("mine")
    assert "a client could not be closed: ValueError: cannot end" in caplog.text
    assert _homes() == before


def test_client_that_is_forgotten_is_closed() -> None:
    """Ours: a notebook cell that is run again."""
    closed = threading.Event()

    class There(StrangeServer):
        async def close(self) -> None:
            closed.set()

    client: Any = SyncClient(There(tool("get")))
    assert len(list(client.tools())) == 1
    del client
    gc.collect()
    assert closed.wait(DEADLINE)


@pytest.mark.parametrize("end", ["", "sys.exit(3)", "raise KeyboardInterrupt"])
@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_program_ends_without_close(transport: str, end: str) -> None:
    """Ours: no hang at the end of the interpreter, and no server left behind."""
    target = ROOT / "examples" / "bookshop" / "server.py"
    if transport == "stdio":
        path = {"PYTHONPATH": str(ROOT)}
        _ends(f"StdioServerParameters(command=sys.executable, args=[{str(target)!r}], env={path})", end)
        return
    with http_server(target) as server:
        _ends(repr(server.url), end)


def _ends(server: str, end: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM % (server, end)],
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        env=environment(),
    )
    assert done.stdout == "['search_books', 'add_book', 'check_stock']\n", done.stderr
    assert ("Traceback" in done.stderr) == (end == "raise KeyboardInterrupt"), done.stderr
