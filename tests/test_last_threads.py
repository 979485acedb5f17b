"""The end of a process in which tools have left threads behind."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.support.processes import DEADLINE, ROOT, environment

LEFT = """
import asyncio, atexit, sys, threading
from concurrent.futures import ThreadPoolExecutor
from leanmcp.last_threads import end_in_time
from leanmcp.logs import log_to_stderr

log_to_stderr("INFO")
atexit.register(print, "at exit", flush=True)
stays, begun = threading.Event(), threading.Event()

def stay():
    begun.set()
    stays.wait(60)

pool = ThreadPoolExecutor(1, "worker")
"""
KINDS = {
    "thread": "threading.Thread(target=stay, name='worker_0').start()\n",
    "executor": "pool.submit(stay)\n",
}


def run(script: str) -> subprocess.CompletedProcess[str]:
    """Run a script in a process of its own."""
    command = [sys.executable, "-c", LEFT + script]
    return subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE, env=environment(), cwd=ROOT)


@pytest.mark.parametrize("kind", KINDS)
def test_a_thread_that_runs_on_does_not_keep_the_process(kind: str) -> None:
    """Ours: FIELD 25; a server whose client has gone would stay for as long as its slowest `asyncio.to_thread`."""
    done = run(KINDS[kind] + "begun.wait(20)\nend_in_time(7)\nprint('end of the program', flush=True)\n")
    assert done.stdout == "end of the program\nat exit\n"
    assert done.returncode == 7
    assert done.stderr.count("\n") == 1
    assert "threads still run: worker_0; end them in lifespan=" in done.stderr


@pytest.mark.parametrize("kind", KINDS)
def test_a_thread_that_ends_is_waited_for(kind: str) -> None:
    """Ours: the process ends as it does without us, with the code of its program."""
    done = run(KINDS[kind] + "end_in_time(7)\nbegun.wait(20)\nstays.set()\nsys.exit(3)\n")
    assert (done.stdout, done.stderr, done.returncode) == ("at exit\n", "", 3)


def test_a_program_that_goes_on_is_not_cut() -> None:
    """Ours: what stands behind `mcp.run()` has all the time that it wants, threads of its own included."""
    script = KINDS["thread"] + (
        "end_in_time(7)\n"
        "waits = threading.Event()\n"
        "waits.wait(1)\n"  # longer than threads have at the end
        "stays.set()\n"
        "print('end of the program')\n"
    )
    done = run(script)
    assert (done.stdout, done.stderr, done.returncode) == ("end of the program\nat exit\n", "", 0)
