"""Load on stdio: a window of requests in flight on one pair of pipes, refilled as answers come in, or a fixed rate."""

from __future__ import annotations

import os
import select
from collections import deque

from benchmarks.generator.answers import Model, WrongAnswer, reply
from benchmarks.generator.job import FIRST_ID, LEAST, Job, Meter, Sample, clock, percentile

_READ_SIZE = 1024 * 1024
_PATIENCE = 20.0  # seconds without an answer
_GRACE = 2.0


class Pipes:
    """The two ends that the server leaves us."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._rest = bytearray()
        os.set_blocking(job.reads, False)
        os.set_blocking(job.writes, False)
        self._unsent = b""
        self._poll = select.poll()
        self._poll.register(job.reads, select.POLLIN | select.POLLHUP)

    def write(self, data: bytes) -> None:
        """Send; what the pipe does not take yet is sent later."""
        self._unsent += data
        self._flush()

    def _flush(self) -> None:
        while self._unsent:
            try:
                sent = os.write(self._job.writes, self._unsent)
            except BlockingIOError:
                return
            self._unsent = self._unsent[sent:]

    def lines(self, timeout: float) -> list[bytes]:
        """Return the lines that have come within `timeout` seconds.

        Raises:
            WrongAnswer: the server has closed its output.
        """
        until = clock() + timeout
        while True:
            if self._unsent:
                self._flush()
            wait = max(0.0, until - clock())
            if not self._poll.poll((min(wait, 0.001) if self._unsent else wait) * 1e3):
                if clock() >= until:
                    return []
                continue
            data = os.read(self._job.reads, _READ_SIZE)
            if not data:
                raise WrongAnswer(f"the server closed its output behind {bytes(self._rest[-300:])!r}")
            if b"\n" in data:
                break
            self._rest += data
        *lines, rest = (bytes(self._rest) + data if self._rest else data).split(b"\n")
        self._rest = bytearray(rest)
        return lines


class Load:
    """The work of one job."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.meter = Meter(job)
        self._pipes = Pipes(job)
        self._id = FIRST_ID
        self._due: dict[bytes, float] = {}  # by id, in the order of sending
        self._first: dict[bytes, bool] = {}  # rounds: ids of first requests
        self._notes: list[bytes] = []  # of the one call in flight, before there is a model
        self.seen_notes = 0
        self.model: Model | None = None

    @property
    def waiting(self) -> int:
        """How many requests are in flight."""
        return len(self._due)

    @property
    def overdue(self) -> list[float]:
        """When the requests in flight were due."""
        return list(self._due.values())

    def send(self, due: list[float]) -> None:
        """Send a request for each of `due`."""
        numbers = [b"%d" % number for number in range(self._id, self._id + len(due))]
        self._id += len(due)
        self._due.update(zip(numbers, due, strict=True))
        if self.job.rounds:
            self._first.update(dict.fromkeys(numbers, True))
        prefix, suffix = self.job.prefix, self.job.suffix
        self._pipes.write(b"".join([b"%b%b%b\n" % (prefix, number, suffix) for number in numbers]))

    def receive(self, timeout: float) -> int:
        """Take what comes within `timeout` seconds; return how many calls are answered by it."""
        answered = 0
        for line in self._pipes.lines(timeout):
            answered += self._take(line)
        return answered

    def ask(self) -> bytes:
        """Make one call before anything is measured; its answer becomes the model."""
        self.send([clock()])
        until = clock() + _PATIENCE
        while self.model is None or self._due:
            if clock() > until:
                raise WrongAnswer("no answer")
            self.receive(1.0)
        return b"\n".join((*self._notes, self.model.body))

    def _take(self, line: bytes) -> int:
        if self.job.echoes:
            number = self._number(line)
            if number is None:
                return 0
        else:
            number = next(iter(self._due))
        if self.job.rounds and self._first.pop(number, False):
            self._answer(number, line)
            return 0
        if self.model is None:
            self.model = Model(line, echoes=self.job.echoes)
        self.model.check(line, number)
        self.meter.latencies.append(clock() - self._due.pop(number))
        return 1

    def _number(self, line: bytes) -> bytes | None:
        """Return the id of an answer, None for a notification."""
        if self.model is not None:
            begin = self.model.id_at
            number = line[begin : begin + 10]
            if number in self._due:
                return number
        found = Model(line, echoes=True).number
        if found is None:
            if b'"method"' not in line:
                raise WrongAnswer(f"neither an answer nor a notification: {line[:500]!r}")
            self.seen_notes += 1
            if self.model is None:
                self._notes.append(line)
            return None
        if found not in self._due:
            raise WrongAnswer(f"an answer to nothing: {line[:500]!r}")
        return found

    def _answer(self, number: bytes, line: bytes) -> None:
        """Send the second request of a round trip; its latency is counted from the first."""
        second = b"%d" % self._id
        self._id += 1
        self._due[second] = self._due.pop(number)
        suffix = self.job.suffix.removesuffix(b"}}") + reply(line) + b"}}"
        self._pipes.write(self.job.prefix + second + suffix + b"\n")


def closed(job: Job) -> Sample:
    """Keep the window full."""
    load = Load(job)
    answer = load.ask()
    begin = clock() + job.warm_up
    missing, calls = job.window, 1
    while True:
        now = clock()
        over = now >= load.meter.started + job.seconds and len(load.meter.latencies) >= LEAST
        if load.meter.timed and (over or load.meter.full):
            sample = load.meter.stop(answer)
            if load.seen_notes:
                sample.figures["notes"] = load.seen_notes / calls
            return sample
        if not load.meter.timed and now >= begin:
            load.meter.start()
        load.send([now] * missing)
        missing = load.receive(_PATIENCE)
        calls += missing
        if missing == 0 and clock() - now >= _PATIENCE:
            raise WrongAnswer(f"no answer for {_PATIENCE:g} s")


def opened(job: Job) -> Sample:
    """Send at a fixed rate; a latency begins when its request was due."""
    load = Load(job)
    answer = load.ask()
    lags: deque[float] = deque()
    started = clock()
    begin, end = started + job.warm_up, started + job.warm_up + job.seconds
    sent, early = 0, 0
    while (now := clock()) < end:
        if not load.meter.timed and now >= begin:
            early = load.waiting
            load.meter.start()
        count = int((now - started) * job.rate) - sent
        if count > 0:
            due = [started + number / job.rate for number in range(sent, sent + count)]
            load.send(due)
            sent += count
            if load.meter.timed:
                lags.append(clock() - due[0])
        load.receive(0 if os.cpu_count() != 1 else 0.0005)
    while load.waiting and clock() < end + _GRACE:
        load.receive(0.01)
    del load.meter.latencies[:early]  # due before the timed part
    answered = len(load.meter.latencies)
    now = clock()
    load.meter.latencies += [now - due for due in load.overdue]
    sample = load.meter.stop(answer, lag_p99_us=percentile(sorted(lags), 0.99) * 1e6, rate=job.rate)
    sample.figures["calls_per_s"] = answered / job.seconds
    return sample
