"""Load on HTTP that is held: idle connections, and listen streams that one change must reach.

Spec 2026-07-28: basic/utilities/subscriptions.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import cast

from benchmarks.generator.answers import Reader, WrongAnswer
from benchmarks.generator.http_load import PATIENCE, Load, held_memory
from benchmarks.generator.job import FIRST_ID, Job, Sample, clock, cpu_seconds, memory

_BATCH = 100  # connections opened at a time
_SETTLE = 0.5  # seconds, for a server that does more behind an answer
_ACKNOWLEDGED, _CHANGED = b"subscriptions/acknowledged", b"notifications/resources/updated"


async def idle(job: Job) -> Sample:
    """Hold connections that have made one call each; then load the server through one of them."""
    load = Load(job)
    answer = await load.ask()
    load.drop()
    before = memory(job.pid)
    for begin in range(0, job.connections, _BATCH):
        await asyncio.gather(*(_greet(load) for _ in range(begin, min(begin + _BATCH, job.connections))))
    await load.wait(_SETTLE)
    kib = held_memory(job, before, job.connections)
    for connection in load.connections[:1]:
        connection.send(clock())
    await load.wait(job.warm_up)
    load.meter.start()
    await load.wait(job.seconds)
    return load.meter.stop(answer, held=job.connections, held_kib=kib)


async def _greet(load: Load) -> None:
    answered: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
    connection = await load.connect(lambda _, body: answered.set_result(body))
    connection.send(clock())
    async with asyncio.timeout(PATIENCE):
        load.check(connection, await answered)
    connection.answered = load.again
    load.connections.append(connection)


class Stream(asyncio.Protocol):
    """One listen stream: opened, acknowledged, told."""

    def __init__(self, request: bytes, told: Callable[[Stream], None]) -> None:
        self._request = request
        self._told = told
        self._reader = Reader()
        self._text = b""
        self.acknowledged: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.changes = 0
        self.transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        self.transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        try:
            self._text += self._reader.pieces(data)
            if self._reader.status != 200 and self._text:
                raise WrongAnswer(f"HTTP {self._reader.status}: {self._text[:300]!r}")
        except (WrongAnswer, ValueError) as error:
            return self._fail(error)
        if not self.acknowledged.done() and _ACKNOWLEDGED in self._text:
            self.acknowledged.set_result(None)
        changes = self._text.count(_CHANGED)
        if changes > self.changes:
            self.changes = changes
            self._told(self)

    def connection_lost(self, error: Exception | None) -> None:
        self._fail(WrongAnswer("the server closed a stream"))

    def _fail(self, error: Exception) -> None:
        if not self.acknowledged.done():
            self.acknowledged.set_exception(error)


async def listen(job: Job) -> Sample:
    """Hold listen streams, make one change, and wait until each has been told of it."""
    load = Load(job)
    waiting = job.connections
    reached: asyncio.Future[float] = asyncio.get_running_loop().create_future()

    def told(_: Stream) -> None:
        nonlocal waiting
        waiting -= 1
        if waiting == 0 and not reached.done():
            reached.set_result(clock())

    loop = asyncio.get_running_loop()
    streams: list[Stream] = []
    before = memory(job.pid)
    for begin in range(0, job.connections, _BATCH):
        batch = []
        for number in range(begin, min(begin + _BATCH, job.connections)):
            body = job.held_prefix + b"%d" % (FIRST_ID + 500_000_000 + number) + job.held_suffix
            stream = Stream(job.held_head + b"%d\r\n\r\n" % len(body) + body, told)
            await loop.create_connection(lambda stream=stream: stream, "127.0.0.1", job.port)  # type: ignore[misc]
            batch.append(stream)
        async with asyncio.timeout(PATIENCE):
            await asyncio.gather(*(stream.acknowledged for stream in batch))
        streams += batch
    await load.wait(_SETTLE)
    kib = held_memory(job, before, job.connections)
    load.meter.start()
    cpu, begun = cpu_seconds(job.pid), clock()
    answer = await load.ask()
    try:
        async with asyncio.timeout(PATIENCE):
            seconds = await reached - begun
    except TimeoutError:
        raise WrongAnswer(f"{waiting} of {job.connections} streams were not told within {PATIENCE:g} s") from None
    await load.wait(_SETTLE)
    if any(stream.changes != 1 for stream in streams):
        raise WrongAnswer("a stream was told more than once of one change")
    spent = (cpu_seconds(job.pid) - cpu) / job.connections * 1e6
    sample = load.meter.stop(answer, held=job.connections, held_kib=kib, reach_ms=seconds * 1e3, told_cpu_us=spent)
    return Sample(answer, 1, {name: sample.figures[name] for name in _LISTENED})


_LISTENED = ("held", "held_kib", "reach_ms", "told_cpu_us", "memory_mb")
