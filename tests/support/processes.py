"""Servers under test as real child processes, on free loopback ports, ended by their own handle."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from .spec import read

ROOT = Path(__file__).resolve().parents[2]
VERSION = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientCapabilities": {},
}
DEADLINE = 20.0  # seconds; no wait of a test is longer


def environment() -> dict[str, str]:
    """Return the environment of a child: this one, and the project importable."""
    return {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}


def request(method: str, params: dict[str, Any] | None = None, request_id: int | str = 1) -> dict[str, Any]:
    """Return a request with the `_meta` that every request carries."""
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": {"_meta": META, **(params or {})}}


def call(tool: str, arguments: dict[str, Any] | None = None, request_id: int | str = 1) -> dict[str, Any]:
    """Return a tools/call request."""
    return request("tools/call", {"name": tool, "arguments": arguments or {}}, request_id)


def encode(message: dict[str, Any]) -> bytes:
    """Return a message as JSON."""
    return msgspec.json.encode(message)


def http(message: dict[str, Any] | bytes, *, host: str = "127.0.0.1", path: str = "/mcp", **fields: str) -> bytes:
    """Return a POST that carries `message`, with its mirrored headers; `fields` (underscores for dashes) override.

    An empty value leaves a field out.
    """
    body = message if isinstance(message, bytes) else encode(message)
    headers = {
        "host": host,
        "content-type": "application/json",
        "mcp-protocol-version": VERSION,
        "content-length": str(len(body)),
    }
    if isinstance(message, dict):
        headers["mcp-method"] = message["method"]
        params = message.get("params", {})
        name = params.get("uri") if message["method"] == "resources/read" else params.get("name")
        if name is not None:
            headers["mcp-name"] = name
    headers |= {name.replace("_", "-"): value for name, value in fields.items()}
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items() if value)
    return f"POST {path} HTTP/1.1\r\n{head}\r\n".encode("latin-1") + body


@contextmanager
def http_server(target: str | Path, *options: str, **variables: str) -> Iterator[HTTPProcess]:
    """Run `leanmcp run TARGET --http` on a free port while the block runs."""
    command = [sys.executable, "-m", "leanmcp", "run", str(target), "--http", "--port", "0", *options]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, env=environment() | variables, cwd=ROOT)
    try:
        assert process.stderr is not None
        started, match = "", None
        while match is None and (line := process.stderr.readline().decode()):
            started += line
            match = re.search(r"http://127\.0\.0\.1:(\d+)", line)
        if match is None:
            raise AssertionError(f"the server did not start: {started}")
        yield HTTPProcess(process, int(match[1]), started)
    finally:
        end(process)


class HTTPProcess:
    """A running HTTP server: its handle, its port and what it printed up to its start line."""

    def __init__(self, process: subprocess.Popen[bytes], port: int, started: str) -> None:
        self.process = process
        self.port = port
        self.started = started

    @property
    def url(self) -> str:
        """The URL of the endpoint."""
        return f"http://127.0.0.1:{self.port}/mcp"


def stdio_command(target: str | Path) -> list[str]:
    """Return the command that serves TARGET on stdio."""
    return [sys.executable, "-m", "leanmcp", "run", str(target)]


@contextmanager
def stdio_server(target: str | Path, **variables: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run `leanmcp run TARGET` with pipes while the block runs."""
    process = subprocess.Popen(
        stdio_command(target),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment() | variables,
        cwd=ROOT,
    )
    try:
        yield process
    finally:
        end(process)


def end(process: subprocess.Popen[bytes], patience: float = 1.0) -> None:
    """End a server the way its host does, so that it can write what it measured; kill one that does not end."""
    if process.poll() is None:
        process.terminate()
    try:
        process.communicate(timeout=patience)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate(timeout=DEADLINE)


def run_stdio(target: str | Path, data: bytes, **variables: str) -> tuple[list[dict[str, Any]], str, int]:
    """Pipe `data` into a stdio server; return its messages, its standard error and its exit code.

    Each message is held against the specification's schema.
    """
    done = subprocess.run(
        stdio_command(target),
        input=data,
        capture_output=True,
        timeout=DEADLINE,
        env=environment() | variables,
        cwd=ROOT,
    )
    messages = [read(line) for line in done.stdout.splitlines()]
    return messages, done.stderr.decode(), done.returncode
