"""What the HTTP endpoint keeps: nothing of a request that is over."""

from __future__ import annotations

import asyncio
import gc
import sys
import weakref
from typing import Any, cast

import pytest

from leanmcp import MCPServer
from leanmcp.errors import InvalidParams
from leanmcp.limits import DEFAULT_LIMITS
from leanmcp.logs import logger
from leanmcp.protocol.http11 import Head, Request
from leanmcp.protocol.response import Response
from leanmcp.server.http_endpoint import HTTPEndpoint
from tests.support.processes import call, encode, http, request


@pytest.mark.parametrize("fields", [{"mcp_name": "=?base64?!!?="}, {"mcp_method": "other"}, {"mcp_method": ""}])
def test_refusals_keep_no_request_alive(fields: dict[str, str]) -> None:
    """Ours: a head that is wrong is refused again and again on one connection; nothing of its bodies stays."""
    head = http(request("tools/list"), **fields).partition(b"\r\n\r\n")[0] + b"\r\n\r\n"
    body = encode(request("tools/list"))

    async def main() -> None:
        endpoint, parsed = HTTPEndpoint(MCPServer("x")), Head(head, DEFAULT_LIMITS)
        for _ in range(50):
            answer = endpoint.respond(Request(parsed, body), cast("Any", None))
            assert cast("Response", answer).status == 400

    before = sys.getrefcount(body)
    asyncio.run(main())
    gc.collect()
    assert sys.getrefcount(body) == before


def test_kept_heads_of_answers_are_bounded() -> None:
    """Ours: with CORS, the fields of an answer hold what strangers send."""
    from leanmcp.protocol.response import HeadEncoder

    heads = HeadEncoder()
    for number in range(1000):
        heads.encode(Response(200, [], fields=b"X: %d\r\n" % number), 0, close=False)
    assert len(heads._kept) <= 64


class _Fault(Exception):
    """A fault inside."""


@pytest.mark.parametrize("kind", [InvalidParams, _Fault])
def test_faults_of_calls_are_freed_at_once(kind: type[Exception], monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: what a tool held when it failed does not wait for the garbage collector."""
    monkeypatch.setattr(logger, "disabled", True)  # pytest keeps what is logged
    head, _, body = http(call("echo")).partition(b"\r\n\r\n")
    failed = Request(Head(head + b"\r\n\r\n", DEFAULT_LIMITS), body)
    endpoint, answers = HTTPEndpoint(MCPServer("x")), list[bytes]()

    def fail() -> weakref.ref[Exception]:
        try:
            raise kind("a fault")
        except kind as fault:
            answers.append(endpoint.failure(fault, failed).body[0])
            return weakref.ref(fault)

    gc.collect()
    gc.disable()
    try:
        assert fail()() is None
        assert b'"error"' in answers[0]
    finally:
        gc.enable()
