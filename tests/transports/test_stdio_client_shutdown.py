"""How a client ends its server: gently first, the whole group, whatever happens meanwhile; on both event loops."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from leanmcp import logs
from leanmcp.errors import CannotConnect, ConnectionLost
from leanmcp.transports import stdio_client_process
from leanmcp.transports.stdio_client import StdioTransport
from tests.support.bad_stdio_server import DEAF, FORK, MUTE, READ, Step, complain, leave
from tests.support.processes import DEADLINE, ROOT, environment
from tests.support.stdio_talk import ask, both_loops, has_ended, noted, parameters, pids, received, run, talking

SHORT: dict[str, Any] = {"shutdown_timeout": 0.1, "terminate_timeout": 0.1}
ENDED: list[Step] = [complain("ended by itself")]


def ending(transport: StdioTransport) -> str:
    """Return how the server of a closed transport ended."""
    assert transport._process is not None
    return transport._process.obituary()


@both_loops
def test_end_of_input_comes_first(loop: str) -> None:
    """Spec: basic/transports/stdio, "Shutdown" 1 and 2."""

    async def main() -> None:
        async with talking(end=ENDED) as transport:
            await ask(transport)
        assert ending(transport) == "exited with code 0; its standard error ends:\nended by itself"

    run(loop, main())


@both_loops
@pytest.mark.parametrize(("start", "how"), [([], "SIGTERM"), ([DEAF], "SIGKILL")])
def test_signals_come_next(loop: str, start: list[Step], how: str) -> None:
    """Spec: basic/transports/stdio, "Shutdown" 3; SIGTERM, then SIGKILL."""

    async def main() -> None:
        async with talking(start=start, end=[MUTE], **SHORT) as transport:
            await ask(transport)
        assert ending(transport) == f"was ended by {how}"

    run(loop, main())


@both_loops
@pytest.mark.parametrize(
    "options",
    [{}, {"end": [MUTE]}, {"end": [leave(3)]}],
    ids=["input", "signal", "code"],
)
def test_what_the_server_has_started_ends_too(loop: str, options: dict[str, Any], tmp_path: Path) -> None:
    """Ours: FIELD 140; a grandchild that ignores SIGTERM and holds the pipes neither stays nor holds us up."""
    state = tmp_path / "state"

    async def main() -> None:
        async with talking(start=[FORK], state=state, **options, **SHORT) as transport:
            await ask(transport)

    run(loop, main())
    assert len(pids(state)) == 2
    assert all(has_ended(pid) for pid in pids(state))


@both_loops
@pytest.mark.parametrize("reads", [True, False])
def test_daemon_that_left_the_group_holds_nobody_up(loop: str, reads: bool, tmp_path: Path) -> None:
    """Ours: it keeps the pipes open, and lives on by its own choice; what nobody reads is given up."""
    code = (
        "import os, sys, time\nif os.fork() == 0:\n os.setsid()\n open(sys.argv[1], 'w').write(str(os.getpid()))\n"
        f" time.sleep(20)\nelse:\n {'sys.stdin.read()' if reads else 'time.sleep(20)'}"
    )
    path = tmp_path / "pid"
    found = parameters(**SHORT)
    changed = type(found)(command=found.command, args=["-c", code, str(path)], **SHORT)

    async def main() -> None:
        transport = StdioTransport(changed)
        await transport.start()
        await noted(path, bool)
        await transport.send(b"x" * 1_000_000)
        await transport.close()

    started = time.monotonic()
    try:
        run(loop, main())
        assert time.monotonic() - started < DEADLINE / 2
    finally:
        os.kill(int(path.read_text()), signal.SIGKILL)


@both_loops
def test_input_that_a_daemon_holds_open_is_closed_once(loop: str) -> None:
    """Ours: asyncio logs a fault of its own where a pipe is aborted that is closing already."""
    daemon = "subprocess.Popen(['sleep', '20'], stdout=-3, stderr=-3, start_new_session=True)"

    async def main() -> int:
        transport = StdioTransport(type(found)(command=found.command, args=["-c", code], stderr="capture"))
        await transport.start()
        assert transport._process is not None
        await transport._process._heard.wait()
        await transport.close()
        return int(transport.stderr)

    code = f"import os, subprocess\nos.write(2, b'%d' % {daemon}.pid)\nos._exit(0)"
    found = parameters()
    os.kill(run(loop, main()), signal.SIGKILL)


@both_loops
def test_what_is_under_way_is_written_before_the_end(loop: str, tmp_path: Path) -> None:
    """Ours: a notification sent just before closing arrives, however large."""
    state = tmp_path / "state"
    note = '{"jsonrpc":"2.0","method":"notifications/x","params":{"text":"' + "x" * 2_000_000 + '"}}'

    async def main() -> None:
        async with talking(state=state) as transport:
            await transport.send(note.encode())

    run(loop, main())
    assert [message["method"] for message in received(state)] == ["notifications/x"]


@both_loops
def test_closing_twice_and_from_several_tasks_is_once(loop: str) -> None:
    """Ours: legal at any time, also before the start and after the end of the server."""

    async def main() -> None:
        async with talking() as transport:
            await asyncio.gather(*[transport.close() for _ in range(5)])
            await transport.close()
            for use in (transport.start(), ask(transport), transport.send(b"{}")):
                with pytest.raises(ConnectionLost):
                    await use
        async with talking(start=[leave(1)]) as transport:
            with pytest.raises(ConnectionLost):
                await ask(transport)
        never = StdioTransport(parameters())
        await never.close()
        with pytest.raises(ConnectionLost, match="was closed by this client"):
            await never.start()

    run(loop, main())


@both_loops
def test_closing_fails_what_waits(loop: str, tmp_path: Path) -> None:
    """Ours: at once, before the server has ended."""
    state = tmp_path / "state"

    async def main() -> None:
        async with talking([READ, MUTE], state=state, **SHORT) as transport:
            tasks = [asyncio.create_task(ask(transport, number)) for number in range(3)]
            await noted(state, lambda notes: '"id":0' in notes)
            await transport.close()
            for task in tasks:
                with pytest.raises(ConnectionLost, match="closed by this client before it had answered"):
                    await task

    run(loop, main())


@both_loops
@pytest.mark.parametrize("turns", [0, 1, 2, 3, 5, 8])
def test_closing_while_it_starts_leaves_nothing(loop: str, turns: int, tmp_path: Path) -> None:
    """Ours: whoever starts is told."""
    state = tmp_path / "state"

    async def main() -> None:
        transport = StdioTransport(parameters(state=state, **SHORT))
        start = asyncio.create_task(transport.start())
        for _ in range(turns):
            await asyncio.sleep(0)
        await transport.close()
        [outcome] = await asyncio.gather(start, return_exceptions=True)
        assert outcome is None or isinstance(outcome, ConnectionLost)

    run(loop, main())
    assert not state.exists() or all(has_ended(pid) for pid in pids(state))


@both_loops
@pytest.mark.parametrize("turns", [1, 2, 3, 5])
def test_start_that_is_cancelled_leaves_nothing(loop: str, turns: int, tmp_path: Path) -> None:
    """Ours: `async with` never gave anybody a client that could be closed."""
    state = tmp_path / "state"

    async def main() -> None:
        start = asyncio.create_task(StdioTransport(parameters(state=state, **SHORT)).start())
        for _ in range(turns):
            await asyncio.sleep(0)
        start.cancel()
        await asyncio.wait((start,))

    run(loop, main())
    assert not state.exists() or all(has_ended(pid) for pid in pids(state))


@both_loops
def test_cancelled_close_skips_the_waits(loop: str, tmp_path: Path) -> None:
    """Ours: whoever has no time left still leaves no process behind."""
    state = tmp_path / "state"

    async def main() -> None:
        async with talking(start=[DEAF, FORK], end=[MUTE], state=state, shutdown_timeout=600) as transport:
            await ask(transport)
            closing = asyncio.create_task(transport.close())
            await asyncio.sleep(0)
            closing.cancel()
            with pytest.raises(asyncio.CancelledError):
                await closing
        assert ending(transport) == "was ended by SIGKILL"

    run(loop, main())
    assert all(has_ended(pid) for pid in pids(state))


@both_loops
def test_server_has_a_session_of_its_own(loop: str, tmp_path: Path) -> None:
    """Ours: Ctrl-C in our terminal goes to the process group in its foreground, which is not the server's."""
    state = tmp_path / "state"

    async def main() -> None:
        async with talking(state=state) as transport:
            await ask(transport)
            [pid] = pids(state)
            assert os.getsid(pid) == os.getpgid(pid) == pid

    run(loop, main())


@both_loops
def test_other_threads_have_servers_too(loop: str) -> None:
    """Ours: an event loop outside of the main thread can start, talk to and end a server."""
    faults: list[BaseException] = []

    async def main() -> None:
        async with talking() as transport:
            assert await ask(transport) == "fine"
        assert ending(transport) == "exited with code 0"

    def work() -> None:
        try:
            asyncio.run(asyncio.wait_for(main(), DEADLINE))
        except BaseException as fault:
            faults.append(fault)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(DEADLINE)
    assert not faults
    run(loop, main())


@pytest.mark.parametrize("waits", ["waitid", "wait", "stolen"])
def test_every_way_to_wait_for_a_process(waits: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: systems without waitid, and programs that reap all children themselves, so that the code is lost."""

    def be_late(kind: int, pid: int, options: int) -> None:
        os.waitpid(pid, 0)
        raise ChildProcessError

    if waits == "wait":
        monkeypatch.delattr(os, "waitid")
    if waits == "stolen":
        monkeypatch.setattr(os, "waitid", be_late)

    async def main() -> None:
        async with talking(end=[leave(7)]) as transport:
            await ask(transport)
        assert ending(transport) == ("exited" if waits == "stolen" else "exited with code 7")

    run("uvloop", main())


@both_loops
def test_process_that_cannot_be_signalled_is_told_of(
    loop: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Ours: one that has changed its user; closing ends all the same."""

    monkeypatch.setattr(logs, "_said", {})

    def refuse(group: int, number: int) -> None:
        raise PermissionError("Operation not permitted")

    async def main() -> None:
        async with talking(end=[MUTE], **SHORT) as transport:
            await ask(transport)
            monkeypatch.setattr(stdio_client_process, "_REAP_TIME", 0.01)
            monkeypatch.setattr(os, "killpg", refuse)
        assert transport._process is not None
        transport._process._child.kill()
        transport._process._child.wait()

    run(loop, main())
    assert "cannot be signalled" in caplog.text
    assert "survived SIGKILL" in caplog.text


@both_loops
@pytest.mark.parametrize("fault", [OSError(24, "Too many open files"), RuntimeError("a bug")])
def test_start_that_breaks_off_leaves_nothing(
    loop: str, fault: Exception, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Ours: the process is there already when its pipes cannot be used."""
    state = tmp_path / "state"

    async def fail(process: Any, child: Any) -> None:
        await noted(state, bool)
        raise fault

    async def main() -> None:
        monkeypatch.setattr(stdio_client_process.ServerProcess, "_connect", fail)
        transport = StdioTransport(parameters(state=state))
        with pytest.raises(CannotConnect if isinstance(fault, OSError) else RuntimeError):
            await transport.start()
        await transport.close()

    run(loop, main())
    assert all(has_ended(pid) for pid in pids(state))


SCRIPT = """
import asyncio, gc, sys
from tests.support.stdio_talk import ask, talking
from tests.support.bad_stdio_server import FORK, leave
from leanmcp.errors import ConnectionLost

async def main():
    async with talking() as transport:
        await ask(transport)
    async with talking([FORK, leave(1)], state=sys.argv[1], terminate_timeout=0.1) as transport:
        try:
            await ask(transport)
        except ConnectionLost:
            print("lost")

asyncio.run(main())
gc.collect()
print("done")
"""


def test_nothing_is_left_to_the_garbage_collector(tmp_path: Path) -> None:
    """Ours: ResourceWarning is an error here, and an unretrieved exception would be on standard error."""
    command = [sys.executable, "-X", "dev", "-W", "error", "-c", SCRIPT, str(tmp_path / "state")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE, env=environment(), cwd=ROOT)
    assert (done.stdout, done.stderr, done.returncode) == ("lost\ndone\n", "", 0)
