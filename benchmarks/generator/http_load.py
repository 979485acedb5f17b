"""Load on HTTP: closed and open loops, fresh connections, held connections and streams; on uvloop, raw protocols."""

from __future__ import annotations

import asyncio
import os
from collections import deque
from collections.abc import Callable
from typing import cast

from benchmarks.generator.answers import Model, Reader, WrongAnswer, reply
from benchmarks.generator.job import FIRST_ID, LEAST, Job, Meter, Sample, clock, memory, percentile

PATIENCE = 20.0  # seconds that anything may take besides the timed part
_GRACE = 2.0  # seconds after the timed part of an open loop, for answers that are late

Answered = Callable[["Connection", bytes], None]


class Connection(asyncio.Protocol):
    """One connection with at most one request in flight.

    Attributes:
        number: the id of its last request.
        due: when that was sent, or should have been.
    """

    write: Callable[[bytes], None]

    def __init__(self, load: Load, answered: Answered) -> None:
        self._load = load
        self.answered = answered
        self._reader = Reader()
        self.number = b""
        self.due = 0.0
        self.second = False
        self.transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        self.write = self.transport.write

    def data_received(self, data: bytes) -> None:
        try:
            body = self._reader.feed(data)
            if body is not None:
                self.answered(self, body)
        except (WrongAnswer, ValueError) as error:
            self._load.fail(f"{error} (HTTP {self._reader.status})")

    def connection_lost(self, error: Exception | None) -> None:
        if self._load.meter.running and not self._load.may_close:
            self._load.fail("the server closed a connection")

    def send(self, due: float) -> None:
        """Send the next request."""
        self.number = b"%d" % self._load.next_id()
        self.due = due
        self.write(self._load.start + self.number + self._load.job.suffix)


class Load:
    """The work of one job."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.meter = Meter(job)
        self.start = _start(job.head, job.prefix, job.suffix)
        self.may_close = False
        self.connections: list[Connection] = []
        self.model: Model | None = None
        self._loop = asyncio.get_running_loop()
        self._failed: asyncio.Future[None] = self._loop.create_future()
        self._id = FIRST_ID

    def next_id(self) -> int:
        """Return an id that no request has had."""
        self._id += 1
        return self._id

    def fail(self, text: str) -> None:
        """End the run."""
        if not self._failed.done():
            self._failed.set_exception(WrongAnswer(text))

    async def connect(self, answered: Answered) -> Connection:
        """Open a connection."""
        connection = Connection(self, answered)
        await self._loop.create_connection(lambda: connection, "127.0.0.1", self.job.port)
        return connection

    async def ask(self) -> bytes:
        """Send one request, or two of a round trip, before anything is measured; its answer becomes the model."""
        answer: asyncio.Future[bytes] = self._loop.create_future()

        def answered(connection: Connection, body: bytes) -> None:
            if self.job.rounds and not connection.second:
                self.reply(connection, body)
            elif not answer.done():
                answer.set_result(body)

        connection = await self.connect(answered)
        connection.send(clock())
        async with asyncio.timeout(PATIENCE):
            done, _ = await asyncio.wait((answer, self._failed), return_when=asyncio.FIRST_COMPLETED)
        for future in done:
            future.result()
        body = answer.result()
        self.model = Model(body, echoes=self.job.echoes)
        connection.answered = self.again
        connection.second = False
        self.connections.append(connection)
        return body

    def drop(self) -> None:
        """Close the connection that `ask` has opened."""
        connection = self.connections.pop()
        connection.connection_lost = _ignore  # type: ignore[method-assign]
        connection.transport.abort()

    def reply(self, connection: Connection, body: bytes) -> None:
        """Send the second request of a round trip; its latency is counted from the first."""
        connection.second = True
        connection.number = b"%d" % self.next_id()
        suffix = self.job.suffix.removesuffix(b"}}") + reply(body) + b"}}"
        connection.write(_start(self.job.head, self.job.prefix, suffix) + connection.number + suffix)

    def again(self, connection: Connection, body: bytes) -> None:
        """Take an answer of a closed loop and send the next request."""
        if self.job.rounds and not connection.second:
            return self.reply(connection, body)
        connection.second = False
        self.check(connection, body)
        now = clock()
        self.meter.latencies.append(now - connection.due)
        if self.meter.running:
            connection.send(now)

    def check(self, connection: Connection, body: bytes) -> None:
        """Hold an answer against the first one."""
        assert self.model is not None
        self.model.check(body, connection.number)

    async def wait(self, seconds: float) -> None:
        """Let time pass; raise what failed meanwhile."""
        until = clock() + seconds
        while (left := until - clock()) > 0 and not self.meter.full:
            await asyncio.wait((self._failed,), timeout=min(left, 0.05 if self.job.calls else left))
            self.raise_failure()

    def raise_failure(self) -> None:
        """Raise what has failed, if anything has."""
        if self._failed.done():
            self._failed.result()


def _ignore(error: Exception | None) -> None:
    """Take it that a connection is closed."""


def _start(head: bytes, prefix: bytes, suffix: bytes) -> bytes:
    return head + b"%d\r\n\r\n" % (len(prefix) + 10 + len(suffix)) + prefix


async def closed(job: Job) -> Sample:
    """Keep one request in flight on each connection."""
    load = Load(job)
    answer = await load.ask()
    while len(load.connections) < job.connections:
        load.connections.append(await load.connect(load.again))
    for connection in load.connections:
        connection.send(clock())
    await load.wait(job.warm_up)
    load.meter.start()
    assert load.model is not None
    load.model.notes = 0
    await load.wait(job.seconds)
    while len(load.meter.latencies) < LEAST and clock() < load.meter.started + job.seconds + PATIENCE:
        await load.wait(0.05)
    sample = load.meter.stop(answer)
    if load.model.notes:
        sample.figures["notes"] = load.model.notes / max(sample.calls, 1)
    return sample


async def fresh(job: Job) -> Sample:
    """As `closed`, each request on a connection of its own."""
    load = Load(job)
    load.may_close = True
    answer = await load.ask()
    load.drop()

    async def one() -> None:
        while load.meter.running:
            begun = clock()
            done: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
            connection = await load.connect(lambda _, body, done=done: done.set_result(body))  # type: ignore[misc]
            connection.send(begun)
            body = await done
            connection.transport.close()
            load.check(connection, body)
            load.meter.latencies.append(clock() - begun)

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(one()) for _ in range(job.connections)]
        await load.wait(job.warm_up)
        load.meter.start()
        await load.wait(job.seconds)
        sample = load.meter.stop(answer)
        for task in tasks:
            task.cancel()
    return sample


async def opened(job: Job) -> Sample:
    """Send at a fixed rate; a latency begins when its request was due, however late it could leave."""
    load = Load(job)
    answer = await load.ask()
    lags: list[float] = []
    free: deque[Connection] = deque(load.connections)
    rate = job.rate

    def answered(connection: Connection, body: bytes) -> None:
        load.check(connection, body)
        if connection.due >= begin:
            load.meter.latencies.append(clock() - connection.due)
        free.append(connection)

    load.connections[0].answered = answered
    while len(load.connections) < job.connections:
        load.connections.append(await load.connect(answered))
        free.append(load.connections[-1])
    started = clock()
    begin, end = started + job.warm_up, started + job.warm_up + job.seconds
    sent = 0
    # Where the server has a core of its own, this one spins: a timer would add up to a millisecond of its own.
    pause = 0.0 if os.cpu_count() != 1 else 0.0005
    while (now := clock()) < end:
        if not load.meter.timed and now >= begin:
            load.meter.start()
        due = started + sent / rate
        late = len(free) < job.connections and not free
        while due <= now and free:
            if due >= begin and not late:
                lags.append(clock() - due)
            free.popleft().send(due)
            sent += 1
            due = started + sent / rate
        await asyncio.sleep(pause)
        load.raise_failure()
    async with asyncio.timeout(_GRACE + PATIENCE):
        while len(free) < job.connections and clock() < end + _GRACE:
            await asyncio.sleep(0.001)
    # What was due and is not answered by now counts as answered now: leaving it out would flatter the server.
    now = clock()
    unanswered = [started + number / rate for number in range(sent, int((end - started) * rate))]
    unanswered += [connection.due for connection in set(load.connections) - set(free) if connection.due >= begin]
    load.meter.latencies += [now - due for due in unanswered if due >= begin]
    lags.sort()
    answered_calls = len(load.meter.latencies) - len(unanswered)
    sample = load.meter.stop(answer, lag_p99_us=percentile(lags, 0.99) * 1e6, rate=rate)
    sample.figures["calls_per_s"] = answered_calls / job.seconds
    return sample


def held_memory(job: Job, before: int, count: int) -> float:
    """Return KiB of each of the held things."""
    return (memory(job.pid) - before) / 1024 / max(count, 1)
