"""The load generator: `python -m benchmarks.generator JOB`, started by the suite; see `job`."""

from __future__ import annotations

import asyncio
import os
import resource
import sys
from collections.abc import Callable, Coroutine
from typing import Any

import msgspec
import uvloop

from benchmarks.generator import held_load, http_load, line_load
from benchmarks.generator.answers import WrongAnswer
from benchmarks.generator.job import Job, Sample

_HTTP: dict[str, Callable[[Job], Coroutine[Any, Any, Sample]]] = {
    "closed": http_load.closed,
    "open": http_load.opened,
    "fresh": http_load.fresh,
    "idle": held_load.idle,
    "listen": held_load.listen,
}
_LINES: dict[str, Callable[[Job], Sample]] = {"closed": line_load.closed, "open": line_load.opened}


def main() -> int:
    """Do the job of the command line."""
    job = msgspec.json.decode(sys.argv[1], type=Job)
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    cores, taken = os.sched_getaffinity(0), os.sched_getaffinity(job.pid)
    if cores - taken:
        os.sched_setaffinity(0, cores - taken)
    try:
        if job.transport == "stdio":
            sample = _LINES[job.mode](job)
        else:
            with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
                sample = runner.run(_HTTP[job.mode](job))
    except WrongAnswer as error:
        print(error, file=sys.stderr)
        return 1
    except (TimeoutError, OSError) as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 1
    _hand_back(msgspec.json.encode(sample))
    return 0


def _hand_back(data: bytes) -> None:
    """Write to standard output until all is written.

    `sys.stdout.buffer.write` now and then stops in the middle of a large text where an uvloop has run before (seen in
    4 of 40 runs with 3 MB), and returns how far it came.
    """
    while data:
        try:
            data = data[os.write(1, data) :]
        except BlockingIOError:
            os.set_blocking(1, True)


if __name__ == "__main__":
    sys.exit(main())
