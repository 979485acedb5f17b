"""A server on a real port while a test runs, for test runners of every kind.

In: an MCPServer. Out: its URL. It is served in a thread with an event loop of its own, and ends with the block.
Ours. With pytest, the fixture `mcp_url` does this; see `leanmcp.pytest_plugin`.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from typing import Any

from .errors import no_other
from .run import Stop, serve
from .server.app import MCPServer

__all__ = ["serving"]

_PATIENCE = 30.0  # seconds that a lifespan may take to begin, and to end


@contextmanager
def serving(server: MCPServer, **options: Any) -> Iterator[str]:
    """Serve on a free port of 127.0.0.1 while the block runs, and yield the URL.

        with serving(mcp) as url, SyncClient(url) as client:
            assert client.call_tool("add", {"a": 1, "b": 2}, type=int) == 3

    Calls that run when the block ends have 1.5 s to finish. What the server's lifespan raises is raised here.

    Args:
        server: what to serve; it is not served anywhere else meanwhile.
        options: see `leanmcp.listen.HTTPOptions`.

    Raises:
        RuntimeError: the server runs already.
        TimeoutError: its lifespan began or ended nothing within 30 s.
    """
    if server.serving_loop is not None:
        raise RuntimeError(
            f"server {server.name!r} runs already; a test uses it in this process or on a port, not both"
        )
    thread = _Thread(server, {"port": 0, **options})
    try:
        yield thread.start()
    finally:
        thread.end()


class _Thread:
    """The thread and the event loop of one server."""

    def __init__(self, server: MCPServer, options: dict[str, Any]) -> None:
        self._server = server
        self._options = options
        self._url: Future[str] = Future()
        self._ended: Future[None] = Future()
        self._thread = threading.Thread(target=self._run, name=f"leanmcp-serving-{server.name}", daemon=True)

    def start(self) -> str:
        """Begin to serve and return the URL."""
        self._thread.start()
        return self._url.result(_PATIENCE)

    def end(self) -> None:
        """Stop serving; what the end of the lifespan raises is raised here, unless the beginning has raised it."""
        if not self._url.done() or self._url.exception() is not None:
            return
        with suppress(RuntimeError):  # the loop is closed: the server has failed, which `_ended` tells
            self._loop.call_soon_threadsafe(self._stop.now)
        self._ended.result(_PATIENCE)
        self._thread.join(_PATIENCE)

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as error:
            future: Future[Any] = self._ended if self._url.done() else self._url
            future.set_exception(error)
        else:
            self._ended.set_result(None)

    async def _serve(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), Stop()
        await serve(self._server, "http", _stop=self._stop, _started=self._url.set_result, **self._options)


__getattr__ = no_other(__name__, __all__)
