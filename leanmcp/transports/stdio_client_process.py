"""One run of a server's command: pipes, process group, and the end of both.

In: messages. Out: lines for Pending; what the process said last and how it ended.
Not by `asyncio.create_subprocess_exec`: uvloop leaves copies of the pipes open in the child, so that their end is never
seen, and an event loop that reaps a process frees its number before the rest of its group has been told to end.
Spec 2026-07-28: basic/transports/stdio, "Sending Messages", "Receiving Messages" and "Shutdown".
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import threading
from collections.abc import Callable
from contextlib import suppress

from ..limits import Limits
from ..logs import logger, warn_seldom
from ..parameters import StdioServerParameters
from ..protocol.lines import LineReader
from .pending import Pending
from .stdio_client_command import environment, find_program, start_failed
from .stdio_client_stderr import ChildErrors

_EXIT_TIME = 2.0  # seconds for the exit of a server that has closed its input or output; more than a busy machine needs
_LAST_WORDS = 0.5  # seconds for the last answers and the last lines of a server that goes
_REAP_TIME = 2.0  # seconds for SIGKILL to do what it does
_GROUP_POLL = 0.02  # seconds
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class ServerProcess(asyncio.BaseProtocol):
    """A child process in a session of its own, so that Ctrl-C in our terminal does not reach it before we do.

    Args:
        parameters: the command.
        where: the command in texts.
        pending: takes its messages.

    Attributes:
        leaving: set at the first sign of its end: it has exited, or closed its input or its output.
        errors: its standard error.
    """

    _child: subprocess.Popen[bytes]
    _stdin: asyncio.WriteTransport

    def __init__(self, parameters: StdioServerParameters, where: str, pending: Pending) -> None:
        self._parameters = parameters
        self._where = where
        self._pending = pending
        self._loop = asyncio.get_running_loop()
        self._lines = LineReader(Limits(max_line_size=parameters.max_line_size))
        self.errors = ChildErrors(parameters.stderr, where)
        self.leaving = asyncio.Event()
        self._exited = asyncio.Event()
        self._heard = asyncio.Event()  # it has exited, and all that it printed has been read
        self._closed = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()
        self._open: dict[int, asyncio.BaseTransport] = {}
        self._exit_code: int | None = None
        self._group_ended = False
        self._ending: asyncio.Task[None] | None = None
        pending.begin()

    @classmethod
    async def start(cls, parameters: StdioServerParameters, where: str, pending: Pending) -> ServerProcess:
        """Start the command; not to be cancelled, for the process would be left behind.

        Raises:
            CannotConnect: it cannot be started; the text says why.
        """
        variables = environment(parameters)
        program = find_program(parameters, variables, where)
        process = cls(parameters, where, pending)
        try:
            process._child = subprocess.Popen(  # noqa: S603, ASYNC220  the command is the user's; spawning takes 1 ms
                [program, *parameters.args],
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL if parameters.stderr is None else subprocess.PIPE,
                cwd=parameters.cwd,
                env=variables,
                start_new_session=True,
            )
        except (OSError, ValueError) as fault:
            raise start_failed(fault, program, where) from None
        try:
            await process._connect(process._child)
        except BaseException as fault:
            process.kill()
            process._child.wait()
            for pipe in (process._child.stdin, process._child.stdout, process._child.stderr):
                if pipe is not None:
                    pipe.close()
            if isinstance(fault, OSError):
                raise start_failed(fault, program, where) from None
            raise
        threading.Thread(target=process._watch, name="leanmcp-child", daemon=True).start()
        return process

    async def _connect(self, child: subprocess.Popen[bytes]) -> None:
        loop = self._loop
        stdout = _Output(self._take_output, lambda: self._output_ended(1))
        stderr = _Output(self.errors.feed, lambda: self._output_ended(2))
        self._stdin, _ = await loop.connect_write_pipe(lambda: self, child.stdin)
        self._open[0] = self._stdin
        self._open[1], _ = await loop.connect_read_pipe(lambda: stdout, child.stdout)
        if child.stderr is not None:
            self._open[2], _ = await loop.connect_read_pipe(lambda: stderr, child.stderr)

    # --- messages -----------------------------------------------------------------------------------------------------

    async def send(self, message: bytes) -> bool:
        """Write a message as soon as the server reads; return False if it is not there any more."""
        while not self.leaving.is_set() and not self._room.is_set():
            await self._room.wait()
        return self.write(message)

    def write(self, message: bytes) -> bool:
        """Write a small message without waiting, behind those that are under way; return False as `send` does."""
        # A pipe that has just broken tells so in the next turn; until then uvloop refuses to write with a RuntimeError.
        if self.leaving.is_set() or self._ending is not None or self._stdin.is_closing():
            return False
        self._stdin.write(message + b"\n")
        return True

    def pause_writing(self) -> None:
        """Hold the callers of `send` back: the server does not read."""
        self._room.clear()

    def resume_writing(self) -> None:
        """Let them go on."""
        self._room.set()

    def _take_output(self, data: bytes) -> None:
        for line in self._lines.feed(data):
            self._take(line)

    def _take(self, line: bytes | None) -> None:
        try:
            if line is None:
                self._pending.skipped(*self._lines.skipped, self._parameters.max_line_size)
                return
            line = line.removeprefix(_BYTE_ORDER_MARK)
            if self._parameters.encoding_error_handler != "strict" and not line.isascii():
                line = line.decode(errors=self._parameters.encoding_error_handler).encode()
            if line and not line.isspace():
                self._pending.receive(line)
        except Exception:
            # A callback's fault must not cost the others their answers: uvloop closes a pipe whose reader raises.
            logger.exception("a message of %s could not be handed on", self._where)

    # --- signs of its end ---------------------------------------------------------------------------------------------

    def connection_lost(self, exc: Exception | None) -> None:
        """Note that its input is closed."""
        self._forget(0)
        self._leave()

    def _output_ended(self, fd: int) -> None:
        self._forget(fd)
        if fd == 1:
            self._take(self._lines.end())
            self._leave()
        else:
            self.errors.finish()
        self._note_heard()

    def _forget(self, fd: int) -> None:
        self._open.pop(fd, None)
        if not self._open:
            self._closed.set()

    def _watch(self) -> None:
        """Wait for the exit of the process, in a thread of its own: event loops differ in how they do that."""
        code: int | None = None
        try:
            if hasattr(os, "waitid"):
                # Not reaped yet, so that its number, which names the group, cannot become anybody else's.
                ended = os.waitid(os.P_PID, self._child.pid, os.WEXITED | os.WNOWAIT)
                if ended is not None:
                    code = ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status
            else:  # macOS before Python 3.13
                code = self._child.wait()
        except ChildProcessError:  # somebody else waits for all processes, and was faster
            pass
        with suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(self._has_exited, code)

    def _has_exited(self, code: int | None) -> None:
        self._exit_code = code
        self._exited.set()
        self._leave()
        self._note_heard()

    def _leave(self) -> None:
        self.leaving.set()
        self._room.set()

    def _note_heard(self) -> None:
        if self._exited.is_set() and not self._open.keys() & {1, 2}:
            self._heard.set()

    async def farewell(self) -> None:
        """Wait until the server goes, and a little for its last words."""
        await self.leaving.wait()
        await _within(self._exited, _EXIT_TIME)
        await _within(self._heard, _LAST_WORDS)

    @property
    def exit_code(self) -> int | None:
        """Its exit code; None while it runs."""
        return self._exit_code if self._exited.is_set() else None

    def babble(self) -> str:
        """Return what it has printed in place of messages, as the rest of a sentence; empty once there was one."""
        return self._pending.remark(self._lines.start)

    def obituary(self, remark: str = "") -> str:
        """Return how the server ended, a remark, and the end of its standard error, as the rest of a sentence."""
        code = self._exit_code
        if not self._exited.is_set():
            text = f"closed its standard {'input' if 1 in self._open else 'output'} but went on running"
        elif code is None:
            text = "exited"
        else:
            text = f"was ended by {_signal_name(-code)}" if code < 0 else f"exited with code {code}"
        tail = self.errors.tail()
        return text + remark + self.babble() + (f"; its standard error ends:\n{tail}" if tail else "")

    # --- ending it ----------------------------------------------------------------------------------------------------

    def end(self) -> asyncio.Task[None]:
        """End the server and all that it has started; the task is bounded, and the same one every time."""
        if self._ending is None:
            self._ending = self._loop.create_task(self._end())
        return self._ending

    def kill(self) -> None:
        """Skip the waits of `end`."""
        self._signal(signal.SIGKILL)

    async def _end(self) -> None:
        """Close its input, wait, SIGTERM, wait, SIGKILL ("Shutdown"), the signals to the whole group."""
        try:
            self._stdin.close()  # behind what is under way
            await _within(self._exited, self._parameters.shutdown_timeout)
            self._signal(signal.SIGTERM)
            await self._group_ends(self._parameters.terminate_timeout)
        finally:
            self._signal(signal.SIGKILL)
            await self._group_ends(_REAP_TIME)
            if not self._exited.is_set():
                logger.warning("%s (process %d) survived SIGKILL", self._where, self._child.pid)
            await _within(self._heard, _LAST_WORDS)
            if self._stdin.get_write_buffer_size():
                self._stdin.abort()  # with what was never read; where there is nothing, `close` has done it
            for transport in list(self._open.values()):  # somebody who left the group holds the other end
                transport.close()
            await _within(self._closed, _REAP_TIME)

    async def _group_ends(self, seconds: float) -> None:
        end = self._loop.time() + seconds
        if await _within(self._exited, seconds):
            self._child.wait()  # at once; only then it does not count as one of its group any more
        # Nobody tells when a group has ended, and in a container whose first process reaps nobody it never does.
        while self._signal(0) and _is_alive(self._child.pid) and self._loop.time() < end:  # noqa: ASYNC110
            await asyncio.sleep(_GROUP_POLL)

    def _signal(self, number: int) -> bool:
        """Send a signal to the group; return whether there is one. Its number is free for others once it has ended."""
        if self._group_ended:
            return False
        try:
            os.killpg(self._child.pid, number)
        except ProcessLookupError:
            self._group_ended = True
            return False
        except PermissionError as fault:  # zombies only (macOS), or a process that has changed its user
            if not self._exited.is_set():
                warn_seldom("%s cannot be signalled: %s", self._where, fault)
            return not self._exited.is_set()
        return True


class _Output(asyncio.Protocol):
    """One pipe that the server writes to."""

    def __init__(self, take: Callable[[bytes], None], ended: Callable[[], None]) -> None:
        self._take = take
        self._ended = ended

    def data_received(self, data: bytes) -> None:
        self._take(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._ended()


async def _within(event: asyncio.Event, seconds: float) -> bool:
    """Wait for an event, but not for long; return whether it came."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
    return event.is_set()


def _is_alive(group: int) -> bool:
    """Return whether a process group has more than zombies; True where the system does not say."""
    if not os.path.isdir("/proc/self"):
        return True
    for name in os.listdir("/proc"):
        if name.isdigit():
            with suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:  # which may end meanwhile
                state, _, its_group = file.read().rpartition(b")")[2].split()[:3]
                if int(its_group) == group and state not in (b"Z", b"X"):
                    return True
    return False


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
