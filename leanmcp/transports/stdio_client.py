"""Standard streams from the client's side: the server is a child process, all messages share two pipes.

In: whole JSON-RPC requests. Out: whole responses, and the notifications that came before them.
Spec 2026-07-28: basic/transports/stdio; basic/patterns/cancellation (a notification cancels).
"""

from __future__ import annotations

import asyncio
import random

from ..errors import ConnectionLost
from ..parameters import StdioServerParameters
from ..protocol.outgoing import Asked, Notified, OutgoingRequest, Renew, cancelled
from .pending import Pending
from .stdio_client_command import shown_command
from .stdio_client_process import ServerProcess

__all__ = ["StdioTransport"]

_FIRST_DELAY = 0.1  # seconds before the second start in a row without an answer; doubled each time
_MOST_DELAY = 5.0
_pause = asyncio.sleep
_NEVER_CANCELLED = "initialize"  # 2025-11-25: basic/utilities/cancellation, "Behavior Requirements" 2


class StdioTransport:
    """Carries requests to a server that it starts, and ends.

    Args:
        parameters: the command.

    Attributes:
        where: the command.
        starts: how often the server has been started; more than before means that it remembers nothing.

    Not tried on Windows, which has no process groups of this kind.
    """

    def __init__(self, parameters: StdioServerParameters) -> None:
        self.where = shown_command(parameters)
        self.starts = 0
        self._parameters = parameters
        self._pending = Pending(self.where)
        self._process: ServerProcess | None = None
        self._life: asyncio.Task[None] | None = None
        self._starting: asyncio.Task[ServerProcess] | None = None
        self._spawning: asyncio.Task[ServerProcess] | None = None
        self._closing: asyncio.Task[None] | None = None
        self._unanswered = 0  # starts in a row

    def hear(self, told: Notified) -> None:
        """Hand notifications that belong to no request to `told`."""
        self._pending.told = told

    @property
    def excuse(self) -> str:
        """What may be why no answer comes, as the rest of a sentence, or empty."""
        return "" if self._process is None else self._process.babble()

    @property
    def stderr(self) -> str:
        """The end of what the server has printed on standard error, at most 64 KiB; empty with `stderr=None`."""
        return "" if self._process is None else self._process.errors.captured()

    async def start(self) -> None:
        """Start the server, unless it runs; again, where it has ended and `restart` allows it.

        Raises:
            CannotConnect: the command cannot be started.
            ConnectionLost: closed meanwhile, or ended and not to be started again.
        """
        is_first = self.starts == 0
        try:
            await self._running()
        except asyncio.CancelledError:
            if is_first:  # nobody has a client yet that could be closed
                await self.close()
            raise

    async def request(self, request: OutgoingRequest, /) -> bytes:
        """Send a request and return the response; when cancelled, tell the server, and drop a late answer.

        Raises:
            ConnectionLost: the server ended; the text holds its exit code and the end of its standard error.
            CannotConnect: it cannot be started again.
            AnswerTooLarge: over `max_line_size`.
            InvalidResult: the answer is no UTF-8, or no JSON.
        """
        process = await self._running()
        answer = self._pending.add(request)
        sent = False
        try:
            sent = await process.send(request.message)
            if not sent and not answer.done():  # it went before this request was among those that are told
                await process.farewell()
                raise self._lost(process)
            response = await answer
        except BaseException:
            if answer.done() and not answer.cancelled():
                answer.exception()  # seen, also where a cancellation was faster
            raise
        finally:
            if self._pending.forget(request) and sent and request.method != _NEVER_CANCELLED:
                process.write(cancelled(request.id))
        self._unanswered = 0
        return response

    async def send(self, message: bytes, /) -> None:
        """Send a notification, or, in protocol versions up to 2025-11-25, a response.

        Raises:
            ConnectionLost: the server is not there any more.
        """
        process = self._process
        self._pending.has_notified = True
        if process is None or not await process.send(message):
            raise ConnectionLost(f"{self.where} is not running", self.where)

    def legacy(self, asked: Asked, told: Notified, renew: Renew) -> LegacyStdio:
        """Return what speaks to servers of protocol versions up to 2025-11-25."""
        self._pending.asked, self._pending.told = asked, told
        return LegacyStdio(self, renew)

    async def close(self) -> None:
        """End the server: close its input, wait, SIGTERM, SIGKILL, to all that it has started.

        Legal at any time, from any task of the loop, more than once; a second cancellation skips the waits.
        """
        if self._closing is None:
            self._closing = asyncio.get_running_loop().create_task(self._close())
        try:
            await asyncio.shield(self._closing)
        except asyncio.CancelledError:
            if self._process is not None:
                self._process.kill()
            await asyncio.wait((self._closing,))
            raise

    # --- the process --------------------------------------------------------------------------------------------------

    async def _running(self) -> ServerProcess:
        """Return the server's process; where there is none, start it, once for all who ask."""
        if self._closing is not None:
            raise ConnectionLost(f"{self.where} was closed by this client", self.where)
        process = self._process
        if process is not None and not process.leaving.is_set():
            return process
        if self._starting is None:
            self._starting = asyncio.get_running_loop().create_task(self._start())
            self._starting.add_done_callback(self._started)
        try:
            return await asyncio.shield(self._starting)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if self._closing is None or (task is not None and task.cancelling()):
                raise
            raise ConnectionLost(f"{self.where} was closed by this client while it started", self.where) from None

    def _started(self, task: asyncio.Task[ServerProcess]) -> None:
        self._starting = None
        if not task.cancelled():
            task.exception()  # raised to those who wait; there may be none left

    async def _start(self) -> ServerProcess:
        """Start the server: the first time at once, and then with growing pauses until it answers something."""
        if self._process is not None and self._life is not None:
            await self._mourn(self._process, self._life)
        if self._unanswered:
            delay = min(_MOST_DELAY, _FIRST_DELAY * 2.0 ** (self._unanswered - 1))
            await _pause(delay * random.uniform(0.5, 1))  # noqa: S311  so that many clients do not move in step
        self._unanswered += 1
        loop = asyncio.get_running_loop()
        self._spawning = loop.create_task(ServerProcess.start(self._parameters, self.where, self._pending))
        process = self._process = await asyncio.shield(self._spawning)
        self._spawning = None
        self.starts += 1
        self._life = loop.create_task(self._live(process))
        return process

    async def _mourn(self, process: ServerProcess, life: asyncio.Task[None]) -> None:
        """Wait for the end of a server that has gone.

        Raises:
            ConnectionLost: it is not to be started again.
        """
        if not self._parameters.restart:
            await process.farewell()
            remark = "; restart=True would start it again for the next request"
            raise ConnectionLost(f"{self.where} {process.obituary(remark)}", self.where)
        await asyncio.wait((life,))
        if self._unanswered >= self._parameters.max_starts:
            raise ConnectionLost(
                f"{self.where} was started {self._unanswered} times in a row without answering anything, and is not "
                f"started again (max_starts); the last time it {process.obituary()}",
                self.where,
            )

    async def _live(self, process: ServerProcess) -> None:
        """Tell those who wait when the server has gone, and end what is left of it."""
        await process.farewell()
        self._pending.fail(self._lost(process))
        await process.end()

    def _lost(self, process: ServerProcess) -> ConnectionLost:
        remark = " before it had answered"
        if process.exit_code == 0 and any(word.endswith(".py") for word in self._parameters.args or ()):
            remark += '; does it call mcp.run() under `if __name__ == "__main__":`?'
        return ConnectionLost(f"{self.where} {process.obituary(remark)}", self.where)

    async def _close(self) -> None:
        self._pending.fail(ConnectionLost(f"{self.where} was closed by this client before it had answered", self.where))
        if self._starting is not None:
            self._starting.cancel()  # during a pause; a process that is just being started is waited for
            await asyncio.wait((self._starting,))
        if self._spawning is not None:
            await asyncio.wait((self._spawning,))
            if not self._spawning.cancelled() and self._spawning.exception() is None:
                self._process = self._spawning.result()
        if self._process is not None:
            await self._process.end()
        if self._life is not None:
            await self._life


class LegacyStdio:
    """Speaks protocol versions up to 2025-11-25 to the same process, in both directions.

    Args:
        transport: started.
        renew: makes the handshake again, for a server that has been started again.

    Attributes:
        where: the command.
        version: the version agreed on, None before.
    """

    def __init__(self, transport: StdioTransport, renew: Renew) -> None:
        self.where = transport.where
        self.version: str | None = None
        self._transport = transport
        self._renew = renew
        self._greeted = 0
        self._renewing = asyncio.Lock()

    @property
    def excuse(self) -> str:
        """As of `StdioTransport`."""
        return self._transport.excuse

    async def request(self, request: OutgoingRequest, /) -> bytes:
        """As `StdioTransport.request`; a server that was started again is greeted first."""
        if request.method == "initialize":
            response = await self._transport.request(request)
            self._greeted = self._transport.starts
            return response
        await self._transport._running()
        if self._greeted != self._transport.starts:
            async with self._renewing:
                if self._greeted != self._transport.starts:
                    await self._renew()
        return await self._transport.request(request)

    async def send(self, message: bytes, /) -> None:
        """Send a notification or a response."""
        await self._transport.send(message)

    async def listen(self) -> None:
        """Do nothing: what the server sends on its own shares the pipe with everything else."""

    async def end(self) -> None:
        """Do nothing: the session is the process."""
