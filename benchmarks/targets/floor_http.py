"""The floor of an HTTP server on uvloop: each piece of input is answered by the same octets.

`floor_http.py PORT [SIZE]`; SIZE is the length of the body, where it is not to be that of an echo.
"""

from __future__ import annotations

import asyncio
import sys
from typing import cast

import uvloop

BODY = (
    b'{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[{"type":"text","text":"hello"}],'
    b'"structuredContent":{"result":"hello"},"isError":false,'
    b'"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"echo","version":"1.0"}}}}'
)


def answer(size: int) -> bytes:
    """Return the whole answer, its text filled up to a body of `size` octets; 0 leaves it as it is."""
    body = BODY.replace(b'"text":"hello"', b'"text":"hello%s"' % (b"x" * max(0, size - len(BODY))), 1)
    return b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)


ANSWER = answer(int(sys.argv[2]) if len(sys.argv) > 2 else 0)


class Floor(asyncio.Protocol):
    """Answers without looking."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._write = cast("asyncio.Transport", transport).write

    def data_received(self, data: bytes) -> None:
        self._write(ANSWER)


async def _serve(port: int) -> None:
    listener = await asyncio.get_running_loop().create_server(Floor, "127.0.0.1", port)
    await listener.serve_forever()


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_serve(int(sys.argv[1])))
