"""`run_child`: what a child reads and prints, and that nothing of it outlives its call; on both event loops."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

import pytest
import uvloop

from leanmcp import run_child
from leanmcp.children import ChildResult
from tests.support.processes import DEADLINE

T = TypeVar("T")
Run = Callable[[Coroutine[Any, Any, T]], T]


@pytest.fixture(params=["uvloop", "asyncio"])
def run(request: pytest.FixtureRequest) -> Run[Any]:
    """Run a coroutine on one of the event loops that servers run on."""

    def on_loop(coroutine: Coroutine[Any, Any, T]) -> T:
        factory = uvloop.new_event_loop if request.param == "uvloop" else asyncio.new_event_loop
        with asyncio.Runner(loop_factory=factory) as runner:
            return runner.run(asyncio.wait_for(coroutine, DEADLINE))

    return on_loop


def python(script: str) -> tuple[str, ...]:
    """Return the command that runs a script."""
    return sys.executable, "-c", script


def shell(script: str) -> tuple[str, ...]:
    """Return the command that runs a line of shell."""
    return "sh", "-c", script


@pytest.mark.parametrize(
    ("script", "code"), [("exit 0", 0), ("exit 3", 3), ("kill -9 $$", -9), ("kill -15 $$", -15), ("exit 255", 255)]
)
def test_exit_code_and_output_come_back(run: Run[ChildResult], script: str, code: int) -> None:
    """Ours: standard output and standard error apart; a negative code names the signal."""
    result = run(run_child(*shell(f"echo out; echo err >&2; {script}")))
    assert result == (code, b"out\n", b"err\n")


def test_a_child_reads_the_end_of_its_input_at_once(run: Run[ChildResult]) -> None:
    """Ours: FIELD 12; git and ssh ask questions, and would take octets of the protocol for the answer."""
    assert run(run_child(*python("import sys; print(repr(sys.stdin.read()))"))).stdout == b"''\n"


@pytest.mark.parametrize("data", [b"", b"x", b"x" * 5_000_000])
def test_a_child_reads_what_it_is_given(run: Run[ChildResult], data: bytes) -> None:
    """Ours: of any size, while its own output is read."""
    assert run(run_child("cat", input=data)) == (0, data, b"")


def test_large_outputs_of_both_kinds_come_back_whole(run: Run[ChildResult]) -> None:
    """Ours: neither pipe may fill while the other is read."""
    script = "import sys\nfor _ in range(100):\n sys.stdout.write('o' * 30_000); sys.stderr.write('e' * 30_000)"
    result = run(run_child(*python(script)))
    assert (result.stdout, result.stderr) == (b"o" * 3_000_000, b"e" * 3_000_000)


@pytest.mark.parametrize("stream", ["1", "2"])
def test_child_that_prints_without_end_is_ended(run: Run[ChildResult], stream: str) -> None:
    """Ours: its output is kept in memory; as much as was allowed is no fault."""
    whole = run(run_child(*shell(f"printf 12345678 >&{stream}"), max_output=8))
    assert (whole.returncode, whole.stdout + whole.stderr) == (0, b"12345678")
    with pytest.raises(ValueError, match=r"^'sh' printed more than 100000 bytes \(max_output\)$"):
        run(run_child(*shell(f"trap '' TERM; yes >&{stream}"), max_output=100_000, grace=0.1))


def test_a_child_that_does_not_read_its_input_is_no_error(run: Run[ChildResult]) -> None:
    """Ours: as in `subprocess.run`."""
    assert run(run_child("true", input=b"x" * 5_000_000)) == (0, b"", b"")


def test_folder_and_environment_are_the_childs(run: Run[ChildResult], tmp_path: Path) -> None:
    """Ours: `env` is the whole environment."""
    script = "import os; print(os.getcwd(), os.environ.get('HOME'), os.environ['COLOUR'])"
    result = run(run_child(*python(script), cwd=tmp_path, env={"COLOUR": "blue"}))
    assert result.stdout.decode() == f"{tmp_path.resolve()} None blue\n"


def test_a_program_that_cannot_be_started_is_an_error(run: Run[Any]) -> None:
    """Ours: OSError, as ever."""
    with pytest.raises(FileNotFoundError):
        run(run_child("no-such-program-anywhere"))


def test_whoever_a_program_leaves_behind_ends_with_it(run: Run[ChildResult], tmp_path: Path) -> None:
    """Ours: FIELD 14; a grandchild that holds the output open does not hold the call up either."""
    path = tmp_path / "id"
    started = time.monotonic()
    result = run(run_child(*shell(f"sleep 60 & echo $! > {path}; echo done")))
    assert result.stdout == b"done\n"
    assert time.monotonic() - started < 5
    assert has_ended(int(path.read_text()))


def test_a_process_that_left_the_group_holds_nobody_up(run: Run[ChildResult]) -> None:
    """Ours: what a daemon prints is read for `grace` seconds more, not for ever."""
    script = (
        "import os, sys, time\nprint('done', flush=True)\nif os.fork() == 0:\n os.setsid()\n time.sleep(3)\n"
        "else:\n time.sleep(.3)"
    )
    started = time.monotonic()
    assert run(run_child(*python(script), grace=0.1)).stdout == b"done\n"
    assert time.monotonic() - started < 2


@pytest.mark.parametrize("how", ["timeout", "cancel"])
@pytest.mark.parametrize("stubborn", [False, True])
def test_timeout_and_cancellation_end_the_whole_group(run: Run[None], tmp_path: Path, how: str, stubborn: bool) -> None:
    """Ours: SIGTERM, and SIGKILL after the grace for those that do not go."""
    path = tmp_path / "ids"
    trap = "trap '' TERM; " if stubborn else ""
    command = shell(f"{trap}sleep 60 & echo $! $$ > {path}; wait; sleep 60")

    async def main() -> None:
        started = time.monotonic()
        if how == "timeout":
            with pytest.raises(TimeoutError):
                await run_child(*command, timeout=0.3, grace=0.2)
        else:
            task = asyncio.ensure_future(run_child(*command, grace=0.2))
            while not (path.exists() and path.read_text().endswith("\n")):
                await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        took = time.monotonic() - started
        assert took < 5
        if stubborn:
            assert took >= 0.2

    run(main())
    assert all(map(has_ended, map(int, path.read_text().split())))


def test_sigterm_comes_first(run: Run[None], tmp_path: Path) -> None:
    """Ours: a program may tidy up."""
    path = tmp_path / "said"
    script = f"trap 'echo bye > {path}; exit 0' TERM; echo ready > {path}; while :; do sleep 0.05; done"

    async def main() -> None:
        task = asyncio.ensure_future(run_child(*shell(script)))
        while not (path.exists() and path.read_text() == "ready\n"):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run(main())
    assert path.read_text() == "bye\n"


def test_no_descriptor_is_left(run: Run[int]) -> None:
    """Ours: however the children ended."""

    async def main() -> int:
        await run_child("true")
        before = len(os.listdir("/dev/fd"))
        for _ in range(5):
            await run_child("true", input=b"x")
            with pytest.raises(TimeoutError):
                await run_child("sleep", "60", timeout=0.01)
        await asyncio.sleep(0)
        return len(os.listdir("/dev/fd")) - before

    assert run(main()) <= 0


def has_ended(pid: int) -> bool:
    """Return whether a process is gone, or waits to be collected by a parent that is not us."""
    deadline = time.monotonic() + DEADLINE
    while time.monotonic() < deadline:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if state == "Z":
            return True
    return False
