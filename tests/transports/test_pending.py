"""What arrives on a channel that all requests share, held against those who wait."""

from __future__ import annotations

import asyncio
import logging

import pytest

from leanmcp import logs
from leanmcp.errors import NotAnMCPServer
from leanmcp.protocol.outgoing import OutgoingRequest
from leanmcp.transports.pending import Pending


@pytest.mark.parametrize(
    "message",
    [
        b'{"jsonrpc":"2.0","id":1,"method":"a\\n\\u001b[2Jb"}',
        b'{"jsonrpc":"2.0","id":1,"method":"' + b"a" * 100_000 + b'"}',
        b'{"jsonrpc":"2.0","id":"a\\n\\u001b[2J' + b"b" * 100_000 + b'","result":{}}',
        b'{"jsonrpc":"2.0","result":"\x1b[2J\xc2\x9b"}',
        b"\x1b[2J\xff\xc2\x9b" + b"a" * 100_000,
    ],
)
def test_what_nobody_waits_for_is_logged_on_one_short_line(message: bytes, caplog: pytest.LogCaptureFixture) -> None:
    """Ours: a server must not write into a terminal, or lines of its own into a log."""
    logs._said.clear()
    with caplog.at_level(logging.WARNING, "leanmcp"):
        Pending("there").receive(message)
    (record,) = caplog.records
    assert record.message.startswith("there sent ")
    assert record.message.isprintable()
    assert len(record.message) < 600


def test_one_line_escapes_what_does_not_show() -> None:
    """Ours: errors of servers stand in logs."""
    assert logs.one_line(ValueError("a\nb\x1b[2J\u202e\ud800 \u00e4")) == "a\\nb\\x1b[2J\\u202e\\ud800 \u00e4"
    assert len(logs.one_line("x" * 10_000)) == 500


@pytest.mark.parametrize(
    ("method", "echo", "ends"),
    [
        ("tools/list", b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}', True),
        ("tools/list", b'{"jsonrpc":"2.0","id":1,"method":"roots/list"}', False),
        ("ping", b'{"jsonrpc":"2.0","id":1,"method":"ping"}', False),
    ],
)
def test_only_a_request_of_our_own_that_comes_back_ends_all(method: str, echo: bytes, ends: bool) -> None:
    """Ours: earlier protocol versions have requests from servers, with ids of their own, and pings look the same."""

    async def main() -> None:
        pending = Pending("there")
        asked: list[str] = []
        pending.asked = lambda number, name, params: asked.append(name)
        message = b'{"jsonrpc":"2.0","id":1,"method":"%b"}' % method.encode()
        answer = pending.add(OutgoingRequest(id=1, method=method, version="2026-07-28", message=message))
        pending.receive(echo)
        assert (answer.done(), bool(asked)) == (ends, not ends)
        if ends:
            with pytest.raises(NotAnMCPServer, match=r"^there does not speak MCP: it sends back what it is sent"):
                await answer

    asyncio.run(main())
