"""What servers do wrong, each with the error it gives; the next call works all the same."""

from __future__ import annotations

import asyncio
import logging
import re
from typing import Any

import pytest

from leanmcp.client import Client
from leanmcp.errors import (
    AnswerTooLarge,
    CallTimeout,
    ConnectionLost,
    Forbidden,
    HTTPStatusError,
    InvalidResult,
    MCPError,
    NotAnMCPServer,
    NotFound,
    TransportError,
    Unauthorized,
)
from leanmcp.limits import HTTPClientLimits
from tests.support.bad_http_server import (
    CLOSE,
    MUTE,
    RESET,
    STREAM,
    WAIT,
    Script,
    answer,
    bad_server,
    chunk,
    error,
    event,
    note,
    result,
)
from tests.support.outgoing import decoded, outgoing, talking
from tests.support.processes import DEADLINE, VERSION

HTML = (
    b"<!DOCTYPE html><html><head><title>502 Bad Gateway</title><style>p {}</style></head>\n<body>nginx &amp; co</body>"
)
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
EVENTS = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
GOOD_EVENT = chunk(event(result()))


FAULTS: dict[str, tuple[Script, type[MCPError], str]] = {
    "death before the answer": ([CLOSE], ConnectionLost, "closed the connection before it had answered"),
    "reset before the answer": ([RESET], ConnectionLost, "the connection before it had answered"),
    "death in the status line": ([b"HTTP/1.1 20", CLOSE], ConnectionLost, "before it had answered"),
    "death in the head": ([HEAD, CLOSE], ConnectionLost, "before it had answered"),
    "death in a JSON body": ([answer(result())[:-3], CLOSE], ConnectionLost, "in the middle of its answer"),
    "reset in a JSON body": ([answer(result())[:-3], RESET], ConnectionLost, "in the middle of its answer"),
    "death in a chunk": (
        [HEAD + b"Transfer-Encoding: chunked\r\n\r\n40\r\n{", CLOSE],
        ConnectionLost,
        "in the middle of its answer",
    ),
    "death in an event": ([STREAM + chunk(event(result())[:20]), CLOSE], ConnectionLost, "in the middle of its answer"),
    "death between events": ([STREAM + chunk(b":\n\n"), CLOSE], ConnectionLost, "in the middle of its answer"),
    "stream ends without response": (
        [STREAM + chunk(event(note("notifications/message", level="info", data=1))) + chunk()],
        ConnectionLost,
        "ended the event stream of tools/call without a response to request 1",
    ),
    "stream cut in the response": (
        [STREAM + chunk(event(result())[:-1]) + chunk()],
        ConnectionLost,
        "ended the event stream",
    ),
    "unframed stream ends": ([EVENTS + b"\r\n" + event(result())[:30], CLOSE], ConnectionLost, "ended the event"),
    "garbled chunk": (
        [HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n"],
        ConnectionLost,
        "whose framing breaks off: no chunk begins with",
    ),
    "id of another": ([answer(result(2))], InvalidResult, "answered request 1 with id 2"),
    "id of another type": ([answer(result("1"))], InvalidResult, 'answered request 1 with id "1"'),
    "id as a fraction": ([answer(result(1.5))], InvalidResult, "answered request 1 with id 1.5"),
    "id true": ([answer(result(True))], InvalidResult, "answered request 1 with id true"),
    "no id": (
        [answer(b'{"jsonrpc":"2.0","result":{}}')],
        NotAnMCPServer,
        "a message that is no response",
    ),
    "result of an unreadable id": ([answer(result(None))], InvalidResult, "with id null"),
    "notification as the answer": ([answer(note("notifications/message"))], NotAnMCPServer, "no response"),
    "request as the answer": (
        [answer(b'{"jsonrpc":"2.0","id":1,"method":"ping"}')],
        NotAnMCPServer,
        "no response",
    ),
    "neither result nor error": ([answer(b'{"jsonrpc":"2.0","id":1}')], InvalidResult, "neither a result nor an error"),
    "batch": ([answer(b"[" + result() + b"]")], NotAnMCPServer, "no JSON-RPC message"),
    "other JSON": ([answer(b'{"status": "ok"}')], NotAnMCPServer, 'no JSON-RPC message: {"status": "ok"}'),
    "no JSON": ([answer(b"<p>hello</p>")], NotAnMCPServer, "no JSON-RPC message: hello"),
    "empty JSON": ([answer(b"")], NotAnMCPServer, r"no JSON-RPC message: \(nothing\)"),
    "HTML instead": (
        [answer(b"<h1>Welcome</h1>", "text/html; charset=utf-8")],
        NotAnMCPServer,
        "does not speak MCP: it answered 200 OK with text/html; charset=utf-8 .* It says: Welcome",
    ),
    "no content type": (
        [b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"],
        NotAnMCPServer,
        "200 OK with no Content-Type",
    ),
    "no content": ([b"HTTP/1.1 204 No Content\r\n\r\n"], NotAnMCPServer, "204 No Content with no Content-Type"),
    "accepted": ([answer(b"", status="202 Accepted")], NotAnMCPServer, "202 Accepted to a request"),
    "compressed": (
        [answer(b"\x1f\x8b", "application/json", "200 OK", "Content-Encoding: gzip")],
        NotAnMCPServer,
        "Content-Encoding 'gzip'",
    ),
    "no HTTP": ([b"220 mail.example ESMTP\r\n"], NotAnMCPServer, "does not answer in HTTP"),
    "TLS": ([b"\x15\x03\x01\x00\x02\x02\x46"], NotAnMCPServer, "speaks TLS on this port; use https://"),
    "two lengths": (
        [HEAD + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}"],
        NotAnMCPServer,
        "does not answer in HTTP: Content-Length comes twice",
    ),
    "endless head": ([HEAD] + [b"X-Pad: %b\r\n" % (b"x" * 500)] * 200, AnswerTooLarge, "max_head_size"),
    "endless field": ([HEAD + b"X-Pad: "] + [b"x" * 500] * 200, AnswerTooLarge, "max_head_size"),
    "endless interim answers": ([b"HTTP/1.1 103 Early Hints\r\n\r\n"] * 200, NotAnMCPServer, "one interim answer"),
    "huge length": ([HEAD + b"Content-Length: 99999999999\r\n\r\n{"], AnswerTooLarge, "more than 2000 bytes"),
    "huge chunked body": (
        [HEAD + b"Transfer-Encoding: chunked\r\n\r\n"] + [chunk(b"x" * 900)] * 20,
        AnswerTooLarge,
        "more than 2000 bytes as one answer; raise HTTPClientLimits.max_answer_size",
    ),
    "huge event": ([STREAM + chunk(b"data: ")] + [chunk(b"x" * 900)] * 20, AnswerTooLarge, "more than 2000 bytes"),
    "502 of a proxy": (
        [answer(HTML, "text/html", "502 Bad Gateway")],
        HTTPStatusError,
        r"answered 502 Bad Gateway: 502 Bad Gateway nginx & co$",
    ),
    "503": (
        [answer(b"busy", "text/plain", "503 Service Unavailable", "Retry-After: 7")],
        HTTPStatusError,
        r"answered 503 Service Unavailable: busy \(retry after 7\)",
    ),
    "status of its own": ([answer(b"?", "text/plain", "599 Odd")], HTTPStatusError, "answered 599: "),
    "error status with other JSON": (
        [answer(b'{"error": {"code": 500, "message": "x"}}', status="500 Internal Server Error")],
        HTTPStatusError,
        "answered 500",
    ),
    "error status, death in the body": (
        [answer(b"broken", "text/plain", "500 Internal Server Error")[:-3], CLOSE],
        HTTPStatusError,
        "answered 500 Internal Server Error: bro",
    ),
    "compressed 502": (
        [answer(b"\x1f\x8b", "text/html", "502 Bad Gateway", "Content-Encoding: gzip")],
        HTTPStatusError,
        r"answered 502 Bad Gateway: \(compressed\)",
    ),
    "401": (
        [answer(b"", status="401 Unauthorized")],
        Unauthorized,
        r"wants to know who calls; pass headers=\{'Authorization': 'Bearer <token>'\} or auth=",
    ),
    "401 with a JSON-RPC error": (
        [answer(error(-32001, "token please", None), status="401 Unauthorized")],
        Unauthorized,
        "It says: token please",
    ),
    "403": ([answer(error(-32600, "Origin", None), status="403 Forbidden")], Forbidden, "not allowed .* says: Origin"),
    "404": ([answer(b"Not Found", "text/plain", "404 Not Found")], NotFound, "MCP is not at this path; ask who runs"),
    "redirect elsewhere": (
        [answer(b"", "text/plain", "307 Temporary Redirect", "Location: http://127.0.0.1:1/mcp?token=x")],
        HTTPStatusError,
        r"answered 307 Temporary Redirect to http://127.0.0.1:1/mcp; only 307 and 308 within the origin",
    ),
    "redirect that makes it a GET": (
        [answer(b"", "text/plain", "302 Found", "Location: /other")],
        HTTPStatusError,
        "answered 302 Found to /other;",
    ),
    "redirect to nowhere": ([answer(b"", status="308 Permanent Redirect")], HTTPStatusError, "Permanent Redirect to"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("connection", ["fresh", "kept"])
def test_fault_has_its_error_and_the_next_call_works(fault: str, connection: str) -> None:
    """Spec: basic/transports/streamable-http, "Receiving Messages"; the class, the text and the recovery are ours."""
    script, kind, text = FAULTS[fault]

    async def main() -> None:
        async with talking(*([script] if connection == "fresh" else [[], script])) as (transport, server):
            if connection == "kept":
                server.scripts.pop(0)
                server.scripts.insert(0, [answer(result(0))])
                await transport.request(outgoing(request_id=0))
            with pytest.raises(kind, match=text) as failed:
                await transport.request(outgoing())
            assert type(failed.value) is kind
            assert server.url in str(failed.value)
            assert decoded(await transport.request(outgoing(request_id=3)))["id"] == 3
            sent = [request.body["id"] for request in server.requests]
            assert sent == ([1, 3] if connection == "fresh" else [0, 1, 3])  # nothing was sent twice

    asyncio.run(main())


STATUSES = {"502 of a proxy": 502, "401": 401, "403": 403, "404": 404, "redirect elsewhere": 307, "accepted": 202}


@pytest.mark.parametrize("fault", STATUSES)
def test_error_holds_status_and_place(fault: str) -> None:
    """Ours: U13; a program tells errors apart without reading their text."""

    async def main() -> None:
        async with talking(FAULTS[fault][0]) as (transport, server):
            with pytest.raises(TransportError) as failed:
                await transport.request(outgoing())
            assert (failed.value.status, failed.value.where) == (STATUSES[fault], server.url)

    asyncio.run(main())


def test_long_page_is_cut() -> None:
    """Ours: an error text is one line of a sane length, without control characters."""

    async def main() -> None:
        page = b"<p>" + b"\x1b[31m\r\nword \x00" * 5000
        async with talking([answer(page, "text/html", "500 Internal Server Error")], limits=HTTPClientLimits()) as (
            transport,
            _,
        ):
            with pytest.raises(HTTPStatusError) as failed:
                await transport.request(outgoing())
            text = str(failed.value)
            assert len(text) < 300
            assert text.endswith("...")
            assert text.isprintable()

    asyncio.run(main())


# --- event streams that go on all the same ------------------------------------------------------------------------


def test_stream_skips_what_is_not_for_it(caplog: pytest.LogCaptureFixture) -> None:
    """Spec: "Receiving Messages": comments are no events; no request may come; other ids and bad lines are logged."""
    told: list[tuple[str, dict[str, Any]]] = []
    pieces = [
        chunk(b":\n\n", b": ping\r\n\r\n"),
        chunk(b"id: 1\ndata:\n\n"),
        chunk(event(note("notifications/progress", progressToken=1, progress=1))),
        chunk(event(b"{broken")),
        chunk(event(b'"\xff"')),
        chunk(event(result(2))),
        chunk(event(result("1"))),
        chunk(event(b'{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{}}')),
        chunk(event(note("notifications/message", level="info", data="hi"))),
        chunk(b"event: ping\ndata: " + result() + b"\n\n"),
        chunk(b'data: {"jsonrpc":"2.0",\ndata: "id":1,"result":{"content":[]}}\n\n'),
        chunk(event(note("notifications/message", level="info", data="late"))),
        chunk(),
    ]

    async def main() -> None:
        async with talking([STREAM, *pieces]) as (transport, _):
            response = await transport.request(outgoing(notified=lambda method, params: told.append((method, params))))
            assert decoded(response) == {"jsonrpc": "2.0", "id": 1, "result": {"content": []}}
            assert decoded(await transport.request(outgoing(request_id=4)))["id"] == 4

    with caplog.at_level(logging.WARNING, "leanmcp"):
        asyncio.run(main())
    assert told == [
        ("notifications/progress", {"progressToken": 1, "progress": 1}),
        ("notifications/message", {"level": "info", "data": "hi"}),
    ]
    assert "no JSON-RPC message" in caplog.text
    assert "a response to id" in caplog.text
    assert "sampling/createMessage" in caplog.text


def test_byte_order_mark_does_not_spoil_an_answer() -> None:
    """Ours: RFC 8259 8.1 lets a reader ignore it; some encoders write it."""

    async def main() -> None:
        async with talking([answer(b"\xef\xbb\xbf" + result())]) as (transport, _):
            assert await transport.request(outgoing()) == result()

    asyncio.run(main())


def test_error_without_an_id_answers_the_request_of_its_stream() -> None:
    """Spec: basic/index, "Responses"; a server that could not read the id leaves it out."""

    async def main() -> None:
        async with talking([STREAM + chunk(event(error(-32700, "what?", None))) + chunk()]) as (transport, _):
            assert decoded(await transport.request(outgoing()))["error"]["message"] == "what?"

    asyncio.run(main())


@pytest.mark.parametrize(
    "ending", [[chunk()], [CLOSE], [MUTE], [chunk(b":\n\n"), MUTE]], ids=["end", "close", "mute", "more"]
)
def test_response_is_there_before_the_end_of_its_stream(ending: Script) -> None:
    """Spec: "Receiving Messages": the response SHOULD end the stream; who does not end it holds nobody up."""

    async def main() -> None:
        async with talking([STREAM + GOOD_EVENT, *ending]) as (transport, _):
            assert decoded(await transport.request(outgoing()))["id"] == 1
            assert decoded(await transport.request(outgoing(request_id=2)))["id"] == 2

    asyncio.run(main())


def test_stream_whose_end_comes_later_keeps_its_connection() -> None:
    """Ours: servers end the stream a little after the response; a connection for each call would cost more than it."""

    async def main() -> None:
        async with talking([STREAM + GOOD_EVENT, WAIT, chunk()]) as (transport, server):
            assert decoded(await transport.request(outgoing()))["id"] == 1
            assert not transport._pool._idle
            server.go.set()
            while not transport._pool._idle:
                await asyncio.sleep(0)
            assert decoded(await transport.request(outgoing(request_id=2)))["id"] == 2
            assert server.connections == 1

    asyncio.run(main())


# --- silence ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "script",
    [[MUTE], [HEAD, MUTE], [answer(result())[:-1], MUTE], [STREAM, MUTE], [STREAM, chunk(b":\n\n"), MUTE]],
    ids=["nothing", "half a head", "half a body", "no event", "comments"],
)
def test_mute_server_is_given_up_in_time_and_told(script: Script) -> None:
    """Spec: basic/patterns/cancellation: the connection closes, which is the cancellation; the next call works."""

    async def main() -> None:
        async with asyncio.timeout(DEADLINE), bad_server(script) as server, Client(server.url, mode=VERSION) as client:
            with pytest.raises(CallTimeout, match=re.escape(server.url)):
                await client.call_tool("echo", read_timeout_seconds=0.05)
            await server.left.wait()
            assert (await client.call_tool("echo")).content == []

    asyncio.run(main())


def test_answer_may_dribble() -> None:
    """Ours: octet by octet is slow, not wrong."""

    async def main() -> None:
        stream = STREAM + chunk(event(note("notifications/message", level="info", data=1))) + GOOD_EVENT + chunk()
        for whole in (answer(result()), stream):
            async with talking([whole[at : at + 1] for at in range(len(whole))]) as (transport, _):
                assert decoded(await transport.request(outgoing()))["id"] == 1

    asyncio.run(main())
