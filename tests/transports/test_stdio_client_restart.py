"""A server that has ended is started again for the next request, where that is asked for."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from leanmcp.errors import CannotConnect, ConnectionLost
from leanmcp.transports import stdio_client
from leanmcp.transports.stdio_client import StdioTransport
from tests.support.bad_stdio_server import MUTE, READ, answer, close, complain, leave, say
from tests.support.outgoing import outgoing
from tests.support.stdio_talk import ask, both_loops, noted, parameters, pids, received, run, talking


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stdio_client, "_FIRST_DELAY", 0.001)


@both_loops
def test_next_request_goes_to_a_new_process(loop: str, tmp_path: Path) -> None:
    """Spec: basic/transports/stdio, "Unexpected Termination"; requests in flight are lost, listening ones too."""
    state = tmp_path / "state"

    async def main() -> None:
        async with talking([READ, leave(1)], state=state, restart=True) as transport:
            listening = asyncio.create_task(ask(transport, 1, method="subscriptions/listen", params={}))
            await noted(state, lambda notes: '"id":1' in notes)
            for task in (ask(transport, 2), listening):
                with pytest.raises(ConnectionLost, match="exited with code 1 before it had answered"):
                    await task
            lost = await asyncio.gather(*[ask(transport, number) for number in (3, 4)], return_exceptions=True)
            assert [type(error) for error in lost] == [ConnectionLost, ConnectionLost]
            assert transport.starts == 2

    run(loop, main())
    assert len(set(pids(state))) == 2


@both_loops
def test_server_that_ends_between_requests_goes_unnoticed(loop: str, tmp_path: Path) -> None:
    """Ours: an idle server may leave; pauses are for those that never answer."""

    async def main() -> None:
        async with talking([answer(), leave(0)], restart=True, max_starts=1) as transport:
            for number in range(4):
                assert await ask(transport, number) == "fine"
                assert transport._process is not None
                await transport._process.leaving.wait()
            assert transport.starts == 4

    run(loop, main())


@both_loops
def test_the_old_server_has_ended_before_the_new_one_starts(loop: str, tmp_path: Path) -> None:
    """Ours: two at once might fight for a port or a file."""
    state = tmp_path / "state"

    async def main() -> None:
        options: dict[str, Any] = {"restart": True, "shutdown_timeout": 0.1, "state": state}
        async with talking([answer(), close(1), MUTE], **options) as transport:
            assert await ask(transport) == "fine"
            assert transport._process is not None
            first = transport._process
            await first.leaving.wait()
            assert await ask(transport, 2) == "fine"
            assert first.obituary() == "was ended by SIGTERM"

    run(loop, main())


@both_loops
def test_crash_loop_ends(loop: str) -> None:
    """Ours: FIELD 141; after `max_starts` starts without an answer, with the reason that the server gave."""

    async def main() -> None:
        async with talking(start=[complain("no database"), leave(1)], restart=True, max_starts=3) as transport:
            for number in range(3):
                with pytest.raises(ConnectionLost, match="exited with code 1 before it had answered"):
                    await ask(transport, number)
            for number in range(2):
                with pytest.raises(ConnectionLost, match=r"started 3 times in a row without (?s:.*)no database$"):
                    await ask(transport, number)
            assert transport.starts == 3

    run(loop, main())


def test_pauses_grow_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: with jitter, so that many clients of one broken host do not move in step."""
    pauses: list[float] = []

    async def note(seconds: float) -> None:
        pauses.append(seconds)

    async def main() -> None:
        async with talking(start=[leave(1)], restart=True, max_starts=9) as transport:
            for number in range(9):
                with pytest.raises(ConnectionLost):
                    await ask(transport, number)

    monkeypatch.setattr(stdio_client, "_FIRST_DELAY", 0.1)
    monkeypatch.setattr(stdio_client, "_pause", note)
    run("uvloop", main())
    assert len(pauses) == 8
    for number, pause in enumerate(pauses):
        most = min(5.0, 0.1 * 2**number)
        assert most / 2 <= pause <= most


def test_closing_ends_a_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: nobody waits for a server that will not be asked."""
    monkeypatch.setattr(stdio_client, "_FIRST_DELAY", 3600.0)
    monkeypatch.setattr(stdio_client, "_MOST_DELAY", 3600.0)

    async def main() -> None:
        pausing = asyncio.Event()

        async def pause(seconds: float) -> None:
            pausing.set()
            await asyncio.sleep(seconds)

        monkeypatch.setattr(stdio_client, "_pause", pause)
        async with talking(start=[leave(1)], restart=True) as transport:
            with pytest.raises(ConnectionLost):
                await ask(transport)
            waiting = asyncio.create_task(ask(transport, 2))
            await pausing.wait()
            await transport.close()
            with pytest.raises(ConnectionLost, match="closed by this client"):
                await waiting

    run("uvloop", main())


def test_giving_up_during_a_pause_starts_nothing_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: the others who wait for the same start get it."""

    async def main() -> None:
        async with talking([leave(1)], restart=True) as transport:
            with pytest.raises(ConnectionLost):
                await ask(transport)
            tasks = [asyncio.create_task(ask(transport, number)) for number in (2, 3)]
            await asyncio.sleep(0)
            tasks[0].cancel()
            with pytest.raises(ConnectionLost):
                await tasks[1]
            assert transport.starts == 2

    run("uvloop", main())


@both_loops
def test_server_that_goes_between_its_start_and_the_request(loop: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: nobody waits for a process whose end has been told already."""
    running = StdioTransport._running

    async def late(transport: StdioTransport) -> Any:
        process = await running(transport)
        assert transport._life is not None
        await asyncio.wait((transport._life,))
        return process

    async def main() -> None:
        async with talking(start=[leave(6)]) as transport:
            monkeypatch.setattr(StdioTransport, "_running", late)
            with pytest.raises(ConnectionLost, match="exited with code 6 before it had answered"):
                await ask(transport)

    run(loop, main())


def test_command_that_has_vanished_is_told(tmp_path: Path) -> None:
    """Ours: a restart may fail like a start."""
    program = tmp_path / "server"
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)

    async def main() -> None:
        transport = StdioTransport(type(parameters())(command=str(program), restart=True))
        await transport.start()
        with pytest.raises(ConnectionLost):
            await ask(transport)
        program.unlink()
        for _ in range(2):
            with pytest.raises(CannotConnect, match="there is no file"):
                await ask(transport)
        await transport.close()

    run("uvloop", main())


# --- earlier protocol versions ----------------------------------------------------------------------------------------


def _never(*given: Any) -> Any:
    raise AssertionError(given)


@both_loops
def test_new_process_is_greeted_before_the_next_request(loop: str, tmp_path: Path) -> None:
    """Ours: a session of 2025-11-25 ends with its process; the handshake is made again, once for all who wait."""
    state = tmp_path / "state"

    async def main() -> None:
        async with talking([answer("hello")], [READ, leave(1)], state=state, restart=True) as transport:

            async def greet() -> None:
                await carrier.request(outgoing("initialize", {}, 100 + transport.starts))
                await carrier.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')

            carrier = transport.legacy(_never, _never, greet)
            await greet()
            lost = await asyncio.gather(
                *[carrier.request(outgoing(request_id=number)) for number in (1, 2)], return_exceptions=True
            )
            assert [type(error) for error in lost] == [ConnectionLost, ConnectionLost]
            lost = await asyncio.gather(
                *[carrier.request(outgoing(request_id=number)) for number in (3, 4)], return_exceptions=True
            )
            assert [type(error) for error in lost] == [ConnectionLost, ConnectionLost]

    run(loop, main())
    assert [message.get("id", message["method"]) for message in received(state)] == [
        *[101, "notifications/initialized", 1, 2],
        *[102, "notifications/initialized", 3, 4],
    ]


@both_loops
def test_requests_of_the_server_reach_whoever_speaks_its_version(loop: str, tmp_path: Path) -> None:
    """Ours: 2025-11-25, basic/lifecycle; answers go back on the same pipe."""
    state = tmp_path / "state"
    asked: list[Any] = []
    request = '{"jsonrpc":"2.0","id":"q-$ID","method":"elicitation/create","params":{"message":"name?"}}'

    async def main() -> None:
        async with talking([say(request), READ, answer()], state=state) as transport:

            def take(request_id: int | str, method: str, params: dict[str, Any]) -> None:
                asked.append((request_id, method, params))
                sending.append(asyncio.create_task(carrier.send(b'{"jsonrpc":"2.0","id":"q-1","result":{}}')))

            sending: list[asyncio.Task[None]] = []
            carrier = transport.legacy(take, _never, lambda: asyncio.sleep(0))
            await carrier.listen()
            await carrier.request(outgoing())
            await asyncio.gather(*sending)
            await carrier.end()

    run(loop, main())
    assert asked == [("q-1", "elicitation/create", {"message": "name?"})]
    assert received(state)[-1] == {"jsonrpc": "2.0", "id": "q-1", "result": {}}


@both_loops
def test_handshake_is_never_cancelled(loop: str, tmp_path: Path) -> None:
    """Spec: 2025-11-25, basic/utilities/cancellation: "The initialize request MUST NOT be cancelled by clients"."""
    state = tmp_path / "state"

    async def main() -> None:
        async with talking([], state=state) as transport:
            task = asyncio.create_task(transport.request(outgoing("initialize", {})))
            await noted(state, lambda notes: "initialize" in notes)
            task.cancel()
            await asyncio.wait((task,))
            await ask(transport, 2)

    run(loop, main())
    assert [message["method"] for message in received(state)] == ["initialize", "tools/call"]
