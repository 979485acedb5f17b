"""What holds for every test: no example of a property is held against a clock; and what tests of two folders share."""

from __future__ import annotations

import signal

import pytest
from hypothesis import HealthCheck, settings

from leanmcp import Limits
from leanmcp.protocol import jsonrpc

# On top of what hypothesis chooses where CI is set.
settings.register_profile("untimed", settings.default, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")

# A shell that runs the tests in the background (`pytest &`) has Ctrl-C ignored, by them and by all that they start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Note every message that is decoded."""
    messages: list[bytes] = []
    decode = jsonrpc.decode

    def noting(message: bytes, limits: Limits) -> jsonrpc.Envelope:
        messages.append(message)
        return decode(message, limits)

    monkeypatch.setattr(jsonrpc, "decode", noting)
    return messages
