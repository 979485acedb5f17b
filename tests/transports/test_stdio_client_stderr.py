"""A child's standard error: read at all times, passed on, and its end kept for error texts."""

from __future__ import annotations

import logging
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from leanmcp import logs
from leanmcp.errors import ConnectionLost
from tests.support.bad_stdio_server import FLOOD, answer, complain, complain_raw, leave
from tests.support.stdio_talk import ask, both_loops, run, talking


@pytest.fixture(autouse=True)
def _all_warnings(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(logs, "_said", {})
    caplog.set_level(logging.WARNING, "leanmcp")


@both_loops
@pytest.mark.parametrize("sink", ["forward", "capture", None, "function"])
def test_standard_error_never_holds_a_server_up(
    loop: str, sink: Any, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Spec: basic/transports/stdio, "capture, forward, or ignore"; ours: read at all times, kept up to a limit."""
    lines: list[str] = []

    async def main() -> None:
        async with talking([FLOOD, answer()], stderr=lines.append if sink == "function" else sink) as transport:
            assert await ask(transport) == "fine"
            assert len(transport.stderr) <= 64 * 1024
            assert (transport.stderr == "") == (sink is None)

    run(loop, main())
    assert len(lines) == (5000 if sink == "function" else 0)
    assert capsys.readouterr().err.count("\n") == (5000 if sink == "forward" else 0)


def test_function_for_standard_error_may_fail(caplog: pytest.LogCaptureFixture) -> None:
    """Ours: it is told of, and costs no answer; a last line without its end arrives too."""
    lines: list[str] = []

    def take(line: str) -> None:
        lines.append(line)
        raise LookupError("no such place")

    async def main() -> None:
        async with talking([complain("one\r\ntwo"), answer(), complain_raw("thr\xe9e")], stderr=take) as transport:
            assert await ask(transport) == "fine"

    run("uvloop", main())
    assert lines == ["one", "two", "thr\ufffde"]
    assert "no such place" in caplog.text


def test_long_standard_error_is_clipped_in_texts() -> None:
    """Ours: the end says most."""

    async def main() -> None:
        async with talking([FLOOD, complain("the reason"), leave(1)]) as transport:
            with pytest.raises(ConnectionLost, match=r"the reason$") as caught:
                await ask(transport)
            assert len(caught.value.message) < 3000

    run("uvloop", main())


@pytest.mark.parametrize("closed", [False, True])
def test_own_standard_error_may_be_gone(closed: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Ours: a program without one, or with a closed one, is served all the same."""
    stream = None
    if closed:
        with open(tmp_path / "log", "w") as stream:
            pass

    async def main() -> None:
        async with talking([complain("hello"), answer()], stderr="forward") as transport:
            assert await ask(transport) == "fine"

    monkeypatch.setattr(sys, "stderr", stream)
    run("uvloop", main())


def test_own_standard_error_that_nobody_reads_holds_nothing_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: what a full pipe does not take is dropped, and counted once it is read again."""
    source, sink = os.pipe()
    stream = open(sink, "w")  # noqa: SIM115  closed below

    async def main() -> None:
        async with talking([FLOOD, answer()], [complain("after"), answer()], stderr="forward") as transport:
            assert await ask(transport) == "fine"
            taken = os.read(source, 1 << 20)
            assert len(taken) < 1_000_000
            assert await ask(transport, 2) == "fine"

    monkeypatch.setattr(sys, "stderr", stream)
    run("uvloop", main())
    stream.close()
    with open(source, "rb") as rest:
        said = rest.read().decode()
    assert re.search(r"\[leanmcp: [0-9]{7} bytes of .*bad_stdio_server.* were dropped\]\nafter\n$", said)
