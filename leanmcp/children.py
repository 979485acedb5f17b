"""A child process that ends with the call that started it, its own children included.

In: a command, and bytes for its standard input. Out: its exit code, and what it printed.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, NamedTuple, cast

__all__ = ["ChildResult", "run_child"]


class ChildResult(NamedTuple):
    """How a child process ended: its exit code (negative: the signal) and what it printed."""

    returncode: int
    stdout: bytes
    stderr: bytes


async def run_child(
    *command: str | os.PathLike[str],
    input: bytes | None = None,  # noqa: A002  the name that subprocess uses
    cwd: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
    timeout: float | None = None,
    grace: float = 2.0,
    max_output: int = 64 * 1024 * 1024,
) -> ChildResult:
    """Run a program to its end, in a process group of its own.

    Whatever ends the call (its end, a cancellation, a limit) ends the whole group: SIGTERM first where the program
    still runs, SIGKILL `grace` seconds later. The program reads the end of its input at once, never the protocol.

    Args:
        command: program and arguments; no shell is involved.
        input: bytes for its standard input.
        cwd: its working directory.
        env: its whole environment; default: this process's.
        timeout: seconds it may run.
        grace: seconds between SIGTERM and SIGKILL; also what a process that left the group may still print.
        max_output: bytes that it may print, on standard output and as many on standard error.

    Raises:
        ValueError: it printed more than `max_output`.
        TimeoutError: it ran longer than `timeout`.
        OSError: it cannot be started.
    """
    child = _Child(grace, max_output)
    starting = asyncio.ensure_future(
        asyncio.get_running_loop().subprocess_exec(
            lambda: child,
            *command,
            stdin=asyncio.subprocess.DEVNULL if input is None else asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=cwd,
            env=env,
            start_new_session=True,
        )
    )
    try:
        # Shielded: an event loop that is stopped while it starts a program ends the program, but not its children.
        transport, _ = await asyncio.shield(starting)
        if input is not None:
            stdin: Any = transport.get_pipe_transport(0)
            if not stdin.is_closing():  # a program that reads nothing may have ended by now
                stdin.write(input)
                stdin.write_eof()
        async with asyncio.timeout(timeout):
            await asyncio.shield(child.done)
        if child.is_full:
            raise ValueError(f"{os.fspath(command[0])!r} printed more than {max_output} bytes (max_output)")
    except BaseException:
        await asyncio.shield(asyncio.ensure_future(_end(starting, child)))
        raise
    return ChildResult(transport.get_returncode() or 0, bytes(child.output[1]), bytes(child.output[2]))


async def _end(starting: asyncio.Future[Any], child: _Child) -> None:
    """End a child as soon as it has been started."""
    await asyncio.wait((starting,))
    if not starting.cancelled() and starting.exception() is None:
        await child.end()


class _Child(asyncio.SubprocessProtocol):
    """Collects what a child prints, and ends its group when it has ended itself."""

    _transport: asyncio.SubprocessTransport

    def __init__(self, grace: float, max_output: int) -> None:
        self.output = {1: bytearray(), 2: bytearray()}
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()  # or too much was printed
        self.is_full = False
        self._grace = grace
        self._max_output = max_output
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.SubprocessTransport", transport)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if len(self.output[fd]) + len(data) <= self._max_output:
            self.output[fd] += data
        else:
            self.is_full = True
            _set(self.done)

    def process_exited(self) -> None:
        # Whoever it left behind may hold its output open, and the end of that is what `connection_lost` waits for.
        self._signal(signal.SIGKILL)
        self._timer = asyncio.get_running_loop().call_later(self._grace, self._transport.close)

    def connection_lost(self, error: Exception | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._transport.close()
        _set(self.ended)
        _set(self.done)

    async def end(self) -> None:
        """End the group: SIGTERM, and SIGKILL for what is left after the grace."""
        try:
            self._signal(signal.SIGTERM)
            async with asyncio.timeout(self._grace):
                await asyncio.shield(self.ended)
        except TimeoutError:
            pass
        finally:  # also where the loop is being closed
            self._signal(signal.SIGKILL)
        await self.ended

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._transport.get_pid(), number)


def _set(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
