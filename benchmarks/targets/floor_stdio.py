"""The floor of a stdio server: a line in, the same line out, one write each."""

from __future__ import annotations

import sys

ANSWER = (
    b'{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[{"type":"text","text":"hello"}],'
    b'"structuredContent":{"result":"hello"},"isError":false,'
    b'"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"echo","version":"1.0"}}}}\n'
)


def main() -> None:
    """Answer until end of input."""
    write, flush = sys.stdout.buffer.write, sys.stdout.buffer.flush
    for _ in sys.stdin.buffer:
        write(ANSWER)
        flush()


if __name__ == "__main__":
    main()
