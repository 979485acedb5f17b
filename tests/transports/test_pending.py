"""What arrives on a channel that all requests share, held against those who wait."""

from __future__ import annotations

import logging

import pytest

from leanmcp import logs
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
