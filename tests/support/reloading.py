"""A server that `leanmcp run --reload` watches: its files, and what its process says on standard error."""

from __future__ import annotations

import os
import select
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from .processes import DEADLINE, call, encode, end, environment, http
from .spec import read

SERVER = """
import asyncio, os
from leanmcp import MCPServer
import helper
mcp = MCPServer("demo")

@mcp.tool
def version() -> str:
    "The version of the code."
    return helper.VERSION

@mcp.tool
def pid() -> int:
    "The process."
    return os.getpid()

@mcp.tool
async def slow(seconds: float) -> str:
    "Take a while."
    await asyncio.sleep(seconds)
    return helper.VERSION

@mcp.tool
def crash() -> None:
    "End the process."
    os._exit(3)
"""


class Project:
    """A folder with `server.py`, which imports `helper.py`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.server = folder / "server.py"
        self.helper = folder / "helper.py"
        self.server.write_text(SERVER)
        self.save(0)

    def save(self, version: int) -> None:
        """Change what `version` returns, without changing how long the file is."""
        self.helper.write_text(f'VERSION = "{version:04}"\n')


class Lines:
    """What a process writes to one of its pipes, line by line."""

    def __init__(self, pipe: IO[bytes] | None) -> None:
        assert pipe is not None
        self._fd = pipe.fileno()
        self._data = b""

    def line(self) -> str:
        """Return the next line, empty at the end."""
        deadline = time.monotonic() + DEADLINE
        while b"\n" not in self._data:
            ready, _, _ = select.select([self._fd], [], [], max(deadline - time.monotonic(), 0))
            if not ready:
                raise AssertionError(f"no further line: {self._data!r}")
            piece = os.read(self._fd, 65536)
            if not piece:
                break
            self._data += piece
        line, _, self._data = self._data.partition(b"\n")
        return line.decode()

    def until(self, text: str) -> list[str]:
        """Return the lines up to the one that has a text."""
        lines = [self.line()]
        while text not in lines[-1]:
            if not lines[-1]:
                raise AssertionError(f"{text!r} was never said: {lines}")
            lines.append(self.line())
        return lines


@contextmanager
def reloading(
    target: Path, *options: str, cwd: Path | None = None, **variables: str
) -> Iterator[tuple[subprocess.Popen[bytes], Lines]]:
    """Run `leanmcp run TARGET --reload` with pipes while the block runs."""
    with running(target, "--reload", *options, cwd=cwd, **variables) as run:
        yield run


@contextmanager
def running(
    target: Path, *options: str, cwd: Path | None = None, **variables: str
) -> Iterator[tuple[subprocess.Popen[bytes], Lines]]:
    """Run `leanmcp run TARGET` with pipes while the block runs."""
    command = [sys.executable, "-m", "leanmcp", "run", str(target), *options]
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        command, stdin=pipe, stdout=pipe, stderr=pipe, env=environment() | variables, cwd=cwd or target.parent
    )
    try:
        yield process, Lines(process.stderr)
    finally:
        end(process, patience=DEADLINE)


def port_of(line: str) -> int:
    """Return the port of a start line."""
    return int(line.split("http://127.0.0.1:")[1].split("/")[0])


def ask(port: int, tool: str, **arguments: Any) -> Any:
    """Call a tool on a connection of its own, and return its result."""
    with socket.create_connection(("127.0.0.1", port), DEADLINE) as client:
        client.sendall(http(call(tool, arguments), connection="close"))
        head, _, body = client.makefile("rb").read().partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 "), head
    return read(body)["result"]["structuredContent"]["result"]


class Client:
    """A client on stdio, which looks at each answer."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        self._input, self._output = process.stdin, Lines(process.stdout)

    def send(self, *messages: dict[str, Any]) -> None:
        """Write messages."""
        self._input.write(b"".join(encode(message) + b"\n" for message in messages))
        self._input.flush()

    def receive(self) -> dict[str, Any]:
        """Return the next message."""
        message: dict[str, Any] = read(self._output.line().encode())
        return message

    def ask(self, tool: str, request_id: int = 1, **arguments: Any) -> Any:
        """Call a tool and return its result."""
        self.send(call(tool, arguments, request_id))
        answer = self.receive()
        assert answer["id"] == request_id, answer
        return answer["result"]["structuredContent"]["result"]
