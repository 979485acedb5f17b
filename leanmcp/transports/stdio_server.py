"""Standard input and output as a message channel.

In: lines from fd 0. Out: lines to fd 1, by private copies of both (see `standard_streams`).
Pipes and sockets are polled by the loop; files, terminals and the null device, which it cannot poll (or whose flags
other programs share), are read by a thread and written directly.
Spec 2026-07-28: basic/transports/stdio.
"""

from __future__ import annotations

import asyncio
import os
import select
import socket
import threading
from collections import deque
from collections.abc import Callable, Sized
from contextlib import suppress
from typing import Protocol

from ..limits import Limits
from ..protocol.jsonrpc import Segments
from ..protocol.lines import LineReader
from .standard_streams import StandardStreams, can_poll, is_one_socket, widen

_READ_SIZE = 64 * 1024
_READ_AHEAD = 1024 * 1024  # bytes of lines that wait for their turn before reading stops
_LINE_COST = 64  # bytes that a line takes besides its own; blank lines must not be free
_LAST_READS = 0.1  # seconds of reading after a signal, for what was written before it
_PATIENCE = 1.0  # seconds that a peer which reads slowly may take nothing of the last answers, at end of input
_SHORT_PATIENCE = 0.4  # seconds, the same after a signal
_JOIN_SIZE = 64 * 1024  # bytes; larger batches are handed over in pieces instead of being copied into one


class Receiver(Protocol):
    """What the transport hands its lines to."""

    @property
    def calls(self) -> Sized:
        """The calls that have no answer yet."""

    def receive(self, line: bytes | None, /) -> None:
        """Take one line, None for one over the limit."""

    def cancel(self, line: bytes, /) -> bool:
        """Take a line before its turn if it cancels a call in flight; return whether it did.

        If not, it will be received in its turn; it cancels a call that begins before that.
        """

    def output_stalled(self, stalled: bool, /) -> None:
        """Note that the peer stopped or went on reading."""


class LineServer(asyncio.Protocol):
    """Joins standard input and output with a Receiver; answers of one turn of the loop leave in one write.

    Lines wait while `max_in_flight` calls run or the peer does not read its answers. What follows is read some way
    ahead, because a cancellation may be in it that frees a place, and because many a client writes all its requests
    before it reads an answer; then reading stops, so that a fast writer is held back by its own pipe.
    """

    _cancel: Callable[[bytes], bool]
    _tell_stalled: Callable[[bool], None]

    def __init__(self, limits: Limits, streams: StandardStreams) -> None:
        self._loop = asyncio.get_running_loop()
        self._reader = LineReader(limits)
        self._max_in_flight = limits.max_in_flight
        self._streams = streams
        self._is_one_socket = False
        self._receive: Callable[[bytes | None], None] | None = None
        self._calls: Sized = ()
        self._input: asyncio.ReadTransport | None = None
        self._output: asyncio.WriteTransport | None = None
        self._answers: list[bytes] = []
        self._flushing = False
        self._lines: deque[bytes | None] = deque()
        self._waiting = 0  # bytes that `_lines` takes
        self._stalled = False
        self._paused = False
        self._may_read = threading.Event()
        self._draining = False
        self.first_answered: Callable[[], None] | None = None
        """Called once, when the first answer has been written, and before anything that comes after it is handed on."""
        self._has_answered = False
        self._answered: asyncio.Event | None = None
        self._output_closed = asyncio.Event()
        self.ended: asyncio.Future[None] = self._loop.create_future()
        """Done when the input has ended or the output cannot be written any more."""

    async def start(self, receiver: Receiver) -> None:
        """Begin to read."""
        self._receive, self._cancel, self._calls = receiver.receive, receiver.cancel, receiver.calls
        self._tell_stalled = receiver.output_stalled
        self._is_one_socket = is_one_socket(self._streams)
        if self._is_one_socket:
            # A write pipe would take the octets that arrive for the end of its reader.
            sock = socket.socket(fileno=os.dup(self._streams.input))
            self._input = self._output = (await self._loop.connect_accepted_socket(lambda: self, sock))[0]
            return
        # `closefd=False`: uvloop closes the descriptor, and then the file; a thread may have the number again by then.
        if can_poll(self._streams.output):
            widen(self._streams.output)
            target = os.fdopen(os.dup(self._streams.output), "wb", 0, closefd=False)
            self._output, _ = await self._loop.connect_write_pipe(lambda: _Output(self), target)
        if can_poll(self._streams.input):
            source = os.fdopen(os.dup(self._streams.input), "rb", 0, closefd=False)
            self._input, _ = await self._loop.connect_read_pipe(lambda: self, source)
        else:
            threading.Thread(target=self._read_file, name="leanmcp-stdin", daemon=True).start()

    def send(self, segments: Segments) -> None:
        """Queue one message."""
        self._answers += segments
        self._answers.append(b"\n")
        if not self._flushing:  # as `flush_soon`, without a function entry for each answer
            self._flushing = True
            self._loop.call_soon(self._flush)

    def flush_soon(self) -> None:
        """Write what is queued, and go on with what waits: also where a call has ended without an answer."""
        if not self._flushing:
            self._flushing = True
            self._loop.call_soon(self._flush)

    def tell(self, segments: Segments) -> None:
        """Queue a notification, unless the peer is behind: it is only worth something while it is news."""
        if not self._stalled:
            self.send(segments)

    def note_first_answer(self) -> None:
        """Do what waits for the first answer, unless that has been done."""
        self._has_answered = False
        first_answered, self.first_answered = self.first_answered, None
        if first_answered is not None:
            first_answered()

    async def drain(self, timeout: float) -> None:
        """Wait until everything that was read is answered, at most `timeout` seconds.

        After a signal reading stops soon. At end of input, lines that wait for a peer which reads its answers slowly
        get as much time again, as long as there are fewer and fewer of them.
        """
        answered = self._answered = asyncio.Event()
        last_reads = self._loop.call_later(_LAST_READS, self._stop_reading)
        deadline, waiting = self._loop.time() + timeout, len(self._lines)
        while self._calls or self._lines:
            answered.clear()
            try:
                async with asyncio.timeout_at(deadline):
                    await answered.wait()
            except TimeoutError:
                if not self.ended.done() or not 0 < len(self._lines) < waiting:
                    break
                deadline, waiting = deadline + timeout, len(self._lines)
        last_reads.cancel()

    def _stop_reading(self) -> None:
        self._draining = True
        self._pause()

    async def close(self) -> None:
        """Write what is queued, as long as the peer reads it, and let go of the streams."""
        self._receive = None
        self._flush()
        if self._input is not None:
            self._input.close()
        if self._output is not None:
            self._output.close()
            await self._wait_for_reader(self._output)
        for fd in (self._streams.input, self._streams.output):
            # The loop made them non-blocking for everybody who shares them, a shell for one.
            with suppress(OSError):
                os.set_blocking(fd, True)

    async def _wait_for_reader(self, output: asyncio.WriteTransport) -> None:
        """Wait until the output is closed behind the last answer, or the peer takes nothing any more."""
        patience = _PATIENCE if self.ended.done() else _SHORT_PATIENCE
        unread = -1
        while not self._output_closed.is_set() and output.get_write_buffer_size() != unread:
            unread = output.get_write_buffer_size()
            with suppress(TimeoutError):
                async with asyncio.timeout(patience):
                    await self._output_closed.wait()

    # --- input ------------------------------------------------------------------------------------------------------

    def data_received(self, data: bytes) -> None:
        if self._has_answered:
            self.note_first_answer()
        lines = self._reader.feed(data)
        if self._lines:
            self._keep(lines)
        else:
            self._take(lines)

    def eof_received(self) -> bool:
        last = self._reader.end()
        if last != b"":
            self._keep([last])
        self._end()
        self._resume()
        return self._is_one_socket  # one socket stays open for the answers

    def connection_lost(self, error: Exception | None) -> None:
        if self._is_one_socket:
            self._output_closed.set()
        self._end()

    def pause_writing(self) -> None:
        self.output_stalled(True)

    def resume_writing(self) -> None:
        self.output_stalled(False)

    def _take(self, lines: list[bytes | None]) -> None:
        """Hand lines over until too much is under way; keep the rest."""
        receive, calls, most = self._receive, self._calls, self._max_in_flight
        if receive is None:
            return
        for number, line in enumerate(lines):
            if self._stalled or len(calls) >= most:
                return self._keep(lines[number:])
            if number >= most:  # that many answers are written before there are more
                self.flush_soon()
                return self._keep(lines[number:])
            receive(line)
        return None

    def _keep(self, lines: list[bytes | None]) -> None:
        """Let lines wait, but for those that cancel what runs."""
        for line in lines:
            if line is None or not self._cancel(line):
                self._lines.append(line)
                self._waiting += len(line or b"") + _LINE_COST
        if self._waiting > _READ_AHEAD:
            self._pause()

    def _pause(self) -> None:
        if not self._paused:
            self._paused = True
            self._may_read.clear()
            if self._input is not None and not self._input.is_closing():
                self._input.pause_reading()

    def _resume(self) -> None:
        """Hand over what waits, as far as possible now, and read on."""
        receive, lines, handed = self._receive, self._lines, 0
        while lines and receive is not None and not self._stalled and len(self._calls) < self._max_in_flight:
            if handed >= self._max_in_flight:
                self.flush_soon()
                break
            line = lines.popleft()
            self._waiting -= len(line or b"") + _LINE_COST
            receive(line)
            handed += 1
        if handed and self._answered is not None:  # no answer may come of them that would tell `drain`
            self._answered.set()
        if self._paused and self._waiting <= _READ_AHEAD and not (self._draining or self.ended.done()):
            self._paused = False
            self._may_read.set()
            if self._input is not None and not self._input.is_closing():
                self._input.resume_reading()

    def _end(self) -> None:
        if not self.ended.done():
            self.ended.set_result(None)

    def _read_file(self) -> None:
        """Thread: read what the loop cannot poll, one piece at a time."""
        with suppress(RuntimeError):  # the loop has ended
            while data := self._read_piece():
                self._may_read.clear()
                self._loop.call_soon_threadsafe(self._data_read, data)
                self._may_read.wait()
            self._loop.call_soon_threadsafe(self.eof_received)

    def _read_piece(self) -> bytes:
        """Thread: return the next piece of input; empty at its end, which is also what an unreadable input has."""
        while True:
            try:
                return os.read(self._streams.input, _READ_SIZE)
            except BlockingIOError:  # another program that shares the terminal made it non-blocking
                select.select((self._streams.input,), (), ())
            except OSError:
                return b""

    def _data_read(self, data: bytes) -> None:
        self.data_received(data)
        if not self._paused:
            self._may_read.set()

    # --- output -----------------------------------------------------------------------------------------------------

    def _flush(self) -> None:
        self._flushing = False
        answers, self._answers = self._answers, []
        try:
            if self._output is None:
                self._write_file(answers)
            elif sum(map(len, answers)) <= _JOIN_SIZE:
                self._output.write(b"".join(answers))
            else:
                self._output.writelines(answers)
        except RuntimeError:  # uvloop's, once nobody reads any more, where asyncio drops what is written
            self._lose_output()
        if self._paused or self._lines:
            self._resume()
        if self.first_answered is not None and answers and not self._has_answered:
            self._has_answered = True
            self._loop.call_soon(self.note_first_answer)  # the loop writes at the end of this turn
        if self._answered is not None:
            self._answered.set()

    def _write_file(self, answers: list[bytes]) -> None:
        data = memoryview(b"".join(answers))
        while data:
            try:
                data = data[os.write(self._streams.output, data) :]
            except BlockingIOError:  # as in `_read_piece`
                select.select((), (self._streams.output,), ())
            except OSError:
                return self._lose_output()

    def output_stalled(self, stalled: bool) -> None:
        """Note that the peer stopped or went on reading its answers."""
        self._stalled = stalled
        self._tell_stalled(stalled)
        if not stalled:
            self._resume()

    def output_lost(self) -> None:
        """Note that nobody can read answers any more."""
        self._output_closed.set()
        self._lose_output()

    def _lose_output(self) -> None:
        """End: nothing more is called whose answer nobody would get."""
        self._receive = None
        self._lines.clear()
        self._end()


class _Output(asyncio.BaseProtocol):
    """Tells the LineServer how its output fares."""

    def __init__(self, server: LineServer) -> None:
        self._server = server

    def pause_writing(self) -> None:
        self._server.output_stalled(True)

    def resume_writing(self) -> None:
        self._server.output_stalled(False)

    def connection_lost(self, error: Exception | None) -> None:
        self._server.output_lost()
