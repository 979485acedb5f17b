"""The floor of a stdio server: a line in, the same line out, one write each.

`floor_stdio.py [SIZE]`; SIZE is the length of the line, where it is not to be that of an echo.
"""

from __future__ import annotations

import sys

ANSWER = (
    b'{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[{"type":"text","text":"hello"}],'
    b'"structuredContent":{"result":"hello"},"isError":false,'
    b'"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"echo","version":"1.0"}}}}\n'
)


def main() -> None:
    """Answer until end of input."""
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    answer = ANSWER.replace(b'"text":"hello"', b'"text":"hello%s"' % (b"x" * max(0, size - len(ANSWER))), 1)
    write, flush = sys.stdout.buffer.write, sys.stdout.buffer.flush
    for _ in sys.stdin.buffer:
        write(answer)
        flush()


if __name__ == "__main__":
    main()
