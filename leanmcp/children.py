"""A child process that ends with the call that started it, its own children included."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Mapping
from contextlib import suppress
from typing import NamedTuple

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
) -> ChildResult:
    """Run a program to its end, in a process group of its own.

    Whatever ends the call (its end, a cancellation, the timeout) ends the whole group: SIGTERM first where the program
    still runs, SIGKILL `grace` seconds later. The program reads the end of its input at once, never the protocol.

    Args:
        command: program and arguments; no shell is involved.
        input: bytes for its standard input.
        cwd: its working directory.
        env: its whole environment; default: this process's.
        timeout: seconds it may run.
        grace: seconds between SIGTERM and SIGKILL.

    Raises:
        TimeoutError: it ran longer than `timeout`.
        OSError: it cannot be started.
    """
    child = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.DEVNULL if input is None else asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=cwd,
        env=env,
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(timeout):
            stdout, stderr = await child.communicate(input)
    except BaseException:
        await asyncio.shield(asyncio.ensure_future(_end(child, grace)))
        raise
    _signal(child, signal.SIGKILL)  # whoever the program left behind
    return ChildResult(child.returncode or 0, stdout, stderr)


async def _end(child: asyncio.subprocess.Process, grace: float) -> None:
    if child.returncode is None:
        _signal(child, signal.SIGTERM)
        with suppress(TimeoutError):
            async with asyncio.timeout(grace):
                await child.wait()
    _signal(child, signal.SIGKILL)
    await child.wait()


def _signal(child: asyncio.subprocess.Process, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, number)
