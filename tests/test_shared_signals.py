"""Servers inside a program of one's own: SIGTERM and SIGINT end them, and then the program."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.processes import DEADLINE, call, encode, environment, http
from tests.support.wire import Wire

SERVERS = """
import asyncio, signal, sys
from leanmcp import MCPServer

def make(name):
    mcp = MCPServer(name)
    @mcp.tool
    async def slow(seconds: float) -> str:
        "Wait."
        print("began", file=sys.stderr, flush=True)
        await asyncio.sleep(seconds)
        return "done"
    @mcp.tool
    def fork() -> int:
        "Return how a worker ended that was told to end."
        import multiprocessing, time
        worker = multiprocessing.get_context("fork").Process(target=time.sleep, args=(60,))
        worker.start()
        worker.terminate()
        worker.join()
        return worker.exitcode
    return mcp

def told(*names):
    print(*names, file=sys.stderr, flush=True)
"""
ONE = "asyncio.run(make('one').run_async('http', port=0)); told('went on')"
BEHIND = """
async def main():
    await make('one').run_async('http', port=0)
    await asyncio.sleep(0)
    told('cleaned up')
asyncio.run(main())
"""
UVLOOP = BEHIND.replace("asyncio.run(", "import uvloop; uvloop.run(")
TWO = """
async def main():
    await asyncio.gather(make('one').run_async('http', port=0), make('two').run_async('http', port=0))
    told('cleaned up')
asyncio.run(main())
"""
BESIDE = """
import leanmcp.shared_signals
leanmcp.shared_signals._PATIENCE = 0.1
async def beside():
    try:
        await asyncio.Event().wait()
    finally:
        told('beside ended')
async def main():
    await asyncio.gather(make('one').run_async('http', port=0), beside())
asyncio.run(main())
"""
OWN = """
async def main():
    ended = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    server = asyncio.create_task(make('one').run_async('http', port=0))
    await ended.wait()
    told('mine')
    server.cancel()
    await asyncio.wait([server])
asyncio.run(main())
"""
LATE = """
async def main():
    ended = asyncio.Event()
    server = asyncio.create_task(make('one').run_async('http', port=0))
    while signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        await asyncio.sleep(0)
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    server.cancel()
    await asyncio.wait([server])
    told('http://127.0.0.1:0/')
    await ended.wait()
    told('mine')
asyncio.run(main())
"""
IN_A_THREAD = """
import threading
thread = threading.Thread(target=lambda: asyncio.run(make('one').run_async('http', port=0)))
thread.start()
thread.join()
"""
LEFT = """
loop = asyncio.new_event_loop()
server = loop.create_task(make('one').run_async('http', port=0))
while signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
    loop.run_until_complete(asyncio.sleep(0))
loop.close()
told('http://127.0.0.1:0/')
while True:
    signal.pause()
"""


@contextmanager
def program(folder: Path, text: str, servers: int = 1) -> Iterator[tuple[subprocess.Popen[str], list[int]]]:
    """Run a program; yield it and the ports of its servers."""
    file = folder / "program.py"
    file.write_text(SERVERS + text)
    process = subprocess.Popen(
        [sys.executable, str(file)], env=environment(), stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    try:
        lines = [process.stderr.readline() for _ in range(servers)]
        yield process, [int(line.partition("127.0.0.1:")[2].partition("/")[0]) for line in lines]
    finally:
        process.kill()
        process.communicate(timeout=DEADLINE)


def rest(process: subprocess.Popen[str]) -> tuple[str, int]:
    """Return what a program says until its end, and its exit code."""
    _, errors = process.communicate(timeout=DEADLINE)
    return errors, process.returncode


@pytest.mark.parametrize(
    ("text", "said"),
    [(ONE, "went on"), (BEHIND, "cleaned up"), (UVLOOP, "cleaned up")],
    ids=["one", "behind", "uvloop"],
)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_running_call_is_answered_and_the_program_goes_on(
    tmp_path: Path, text: str, said: str, number: signal.Signals
) -> None:
    """Ours: no traceback, no call cut off; `run_async` returns."""
    with program(tmp_path, text) as (process, ports), Wire(ports[0]) as wire:
        wire.send(http(call("slow", {"seconds": 0.3})))
        assert process.stderr is not None
        assert process.stderr.readline() == "began\n"
        process.send_signal(number)
        assert wire.answer().text == "done"
        assert rest(process) == (f"{said}\n", 0)


def test_all_servers_of_a_program_end(tmp_path: Path) -> None:
    """Ours."""
    with program(tmp_path, TWO, servers=2) as (process, ports), Wire(ports[0]) as one, Wire(ports[1]) as two:
        for wire in (one, two):
            wire.send(http(call("slow", {"seconds": 0.3})))
            assert process.stderr is not None
            assert process.stderr.readline() == "began\n"
        process.send_signal(signal.SIGTERM)
        assert [one.answer().text, two.answer().text] == ["done", "done"]
        assert rest(process) == ("cleaned up\n", 0)


def test_second_signal_ends_the_program_at_once(tmp_path: Path) -> None:
    """Ours: as under `run`."""
    with program(tmp_path, BEHIND) as (process, ports), Wire(ports[0]) as wire:
        wire.send(http(call("slow", {"seconds": 60})))
        assert process.stderr is not None
        assert process.stderr.readline() == "began\n"
        process.send_signal(signal.SIGTERM)
        while True:  # until it accepts no more, the first one has not arrived
            try:
                socket.create_connection(("127.0.0.1", ports[0]), timeout=DEADLINE).close()
            except ConnectionRefusedError:
                break
        process.send_signal(signal.SIGTERM)
        assert rest(process) == ("", 128 + signal.SIGTERM)


def test_rest_of_the_program_gets_the_signal(tmp_path: Path) -> None:
    """Ours: as it would without a server, once that has ended."""
    with program(tmp_path, BESIDE) as (process, _):
        process.send_signal(signal.SIGTERM)
        assert rest(process) == ("", -signal.SIGTERM)
    with program(tmp_path, BESIDE) as (process, _):
        process.send_signal(signal.SIGINT)
        errors, code = rest(process)
        assert errors.startswith("beside ended\n")
        assert errors.endswith("KeyboardInterrupt\n")
        assert code in (-signal.SIGINT, 128 + signal.SIGINT)


def test_handlers_of_the_program_stay(tmp_path: Path) -> None:
    """Ours."""
    with program(tmp_path, LATE) as (process, _):
        process.send_signal(signal.SIGTERM)
        assert rest(process) == ("mine\n", 0)
    with program(tmp_path, OWN) as (process, _):
        process.send_signal(signal.SIGTERM)
        assert rest(process) == ("mine\n", 0)


@pytest.mark.parametrize("text", [IN_A_THREAD, LEFT], ids=["thread", "closed loop"])
def test_server_that_cannot_be_told_leaves_signals_to_the_program(tmp_path: Path, text: str) -> None:
    """Ours: of a thread of its own, or of a loop that the program has closed."""
    with program(tmp_path, text) as (process, _):
        process.send_signal(signal.SIGTERM)
        assert rest(process)[1] == -signal.SIGTERM


def test_forks_have_their_own_signals(tmp_path: Path) -> None:
    """Ours: what ends a worker of a pool does not end the server."""
    with program(tmp_path, BEHIND) as (process, ports), Wire(ports[0]) as wire:
        assert wire.send(http(call("fork"))).answer().text == str(-signal.SIGTERM)
        assert wire.send(http(call("slow", {"seconds": 0}))).answer().text == "done"
        process.send_signal(signal.SIGTERM)
        assert rest(process) == ("began\ncleaned up\n", 0)


def test_stdio_ends_too(tmp_path: Path) -> None:
    """Ours: what was asked before the signal is answered."""
    file = tmp_path / "program.py"
    file.write_text(SERVERS + "asyncio.run(make('one').run_async()); told('went on')")
    with subprocess.Popen(
        [sys.executable, str(file)],
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write(encode(call("slow", {"seconds": 0.3})) + b"\n")
        process.stdin.flush()
        assert process.stderr.readline() == b"began\n"
        process.send_signal(signal.SIGTERM)
        output, errors = process.communicate(timeout=DEADLINE)
        assert b'"text":"done"' in output
        assert (errors, process.returncode) == (b"went on\n", 0)
