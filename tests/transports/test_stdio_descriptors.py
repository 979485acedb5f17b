"""Descriptors of a stdio server: each is closed once, whichever event loop closes it."""

from __future__ import annotations

import asyncio
import io
import os
from collections.abc import Callable
from typing import Any, cast

import pytest
import uvloop

from leanmcp import Limits
from leanmcp.transports.standard_streams import StandardStreams
from leanmcp.transports.stdio_server import LineServer
from tests.support.processes import DEADLINE


class Streams:
    """A pipe for input and one for output, in place of the standard ones."""

    def __init__(self) -> None:
        self.input, self.writer = os.pipe()
        self.reader, self.output = os.pipe()


class Receiver:
    """Takes lines and calls nothing."""

    def __init__(self) -> None:
        self.calls: dict[int, object] = {}
        self.lines: list[bytes | None] = []

    def receive(self, line: bytes | None) -> None:
        self.lines.append(line)

    def cancel(self, line: bytes) -> bool:
        return False

    def output_stalled(self, stalled: bool) -> None:
        self.lines.append(b"stalled" if stalled else b"going on")


@pytest.mark.parametrize("factory", [uvloop.new_event_loop, asyncio.new_event_loop])
def test_no_descriptor_is_closed_twice(
    factory: Callable[[], asyncio.AbstractEventLoop], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: between the two, a tool's thread may have opened another file under the same number."""
    files: list[io.FileIO] = []
    open_file = os.fdopen

    def fdopen(*args: Any, **options: Any) -> Any:
        files.append(open_file(*args, **options))
        return files[-1]

    monkeypatch.setattr(os, "fdopen", fdopen)

    async def main() -> None:
        streams, receiver = Streams(), Receiver()
        server = LineServer(Limits(), cast("StandardStreams", streams))
        await server.start(receiver)
        os.write(streams.writer, b"one\ntwo\n")
        os.close(streams.writer)
        await asyncio.wait_for(server.ended, DEADLINE)
        assert receiver.lines == [b"one", b"two"]
        server.send([b"answer"])
        await server.close()
        assert os.read(streams.reader, 100) == b"answer\n"
        for fd in (streams.input, streams.output, streams.reader):
            os.close(fd)

    with asyncio.Runner(loop_factory=factory) as runner:
        runner.run(main())
    assert len(files) == 2
    assert not any(file.closefd for file in files)
