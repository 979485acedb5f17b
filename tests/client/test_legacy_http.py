"""Sessions of earlier protocol versions over HTTP, with servers that do as they please."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest

from leanmcp.client import Client
from leanmcp.errors import (
    CallTimeout,
    ConnectionLost,
    HTTPStatusError,
    InvalidResult,
    NotAnMCPServer,
    NotFound,
    TransportError,
)
from leanmcp.transports import http_legacy
from leanmcp.types import TextContent
from tests.support.bad_http_server import (
    CLOSE,
    MUTE,
    STREAM,
    WAIT,
    BadServer,
    Script,
    answer,
    bad_server,
    chunk,
    error,
    event,
    note,
    result,
)
from tests.support.processes import DEADLINE

INITIALIZED = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "old", "version": "1"}}
ACCEPTED = answer(b"", status="202 Accepted")
NO_STREAM = answer(b"", status="405 Method Not Allowed")
GONE = answer(error(-32600, "Session not found"), "application/json", "404 Not Found")
ENDED = answer(b"", status="200 OK")
TEXT = [{"type": "text", "text": "done"}]


def greeting(request_id: int, session: str | None = "one") -> list[Script]:
    """Return the answers to a handshake."""
    fields = [] if session is None else [f"Mcp-Session-Id: {session}"]
    return [[answer(result(request_id, **INITIALIZED), "application/json", "200 OK", *fields)], [ACCEPTED]]


def done(request_id: int) -> bytes:
    """Return the response to a call."""
    return result(request_id, content=TEXT)


@asynccontextmanager
async def connected(
    *scripts: Script, get: Script = (NO_STREAM,), **options: Any
) -> AsyncIterator[tuple[Client, BadServer]]:
    """Make a handshake with a server that goes on with `scripts`."""
    async with asyncio.timeout(DEADLINE), bad_server(*greeting(1), get, *scripts) as server:
        async with Client(server.url, mode="legacy", **options) as client:
            yield client, server
        server.scripts.clear()


def run(main: Any) -> None:
    """Run a test."""
    asyncio.run(main())


def shapes(server: BadServer) -> list[str]:
    """Return what came: HTTP method and method."""
    return [f"{one.line.split()[0]} {(one.body or {}).get('method', '')}".strip() for one in server.requests]


def test_session_and_version_go_with_every_message() -> None:
    """Spec 2025-11-25: basic/transports, "Session Management", "Protocol Version Header"; DELETE ends the session."""

    async def main() -> None:
        async with connected([answer(done(2))], [ENDED]) as (client, server):
            assert (await client.call_tool("t")).content == [TextContent(text="done")]
        first, *others = server.requests
        assert "mcp-session-id" not in first.fields
        assert "mcp-protocol-version" not in first.fields
        assert shapes(server) == [
            "POST initialize",
            "POST notifications/initialized",
            "GET",
            "POST tools/call",
            "DELETE",
        ]
        for request in others:
            assert request.fields["mcp-session-id"] == "one"
            assert request.fields["mcp-protocol-version"] == "2025-11-25"
        assert "application/json" in others[0].fields["accept"]
        assert "text/event-stream" in others[0].fields["accept"]

    run(main)


def test_a_server_without_sessions_is_told_of_no_end() -> None:
    """Spec 2025-11-25: sessions are optional."""

    async def main() -> None:
        async with asyncio.timeout(DEADLINE), bad_server(*greeting(1, None), [NO_STREAM], [answer(done(2))]) as server:
            async with Client(server.url, mode="legacy") as client:
                await client.call_tool("t")
            assert "DELETE" not in shapes(server)

    run(main)


@pytest.mark.parametrize("end", [answer(b"", status="405 Method Not Allowed"), answer(b"", status="500 No")])
def test_an_end_that_the_server_does_not_want_is_no_error(end: bytes) -> None:
    """Spec 2025-11-25: 405 where clients may not end sessions."""

    async def main() -> None:
        async with connected([end]) as (_, server):
            pass
        assert shapes(server)[-1] == "DELETE"

    run(main)


def test_a_forgotten_session_is_begun_again_once_for_all() -> None:
    """Spec 2025-11-25: "Session Management" 4; the request is sent again, since the server has not had it."""

    async def main() -> None:
        scripts = [[GONE], *greeting(3, "two"), [NO_STREAM], [answer(done(2))], [ENDED]]
        async with connected(*scripts) as (client, server):
            assert not (await client.call_tool("t")).is_error
        assert shapes(server)[3:] == [
            "POST tools/call",
            "POST initialize",
            "POST notifications/initialized",
            "GET",
            "POST tools/call",
            "DELETE",
        ]
        assert [request.fields.get("mcp-session-id") for request in server.requests[3:]] == [
            "one",
            None,
            *["two"] * 4,
        ]

    run(main)


def test_a_session_that_is_forgotten_again_is_told() -> None:
    """Ours: once, no loop."""

    async def main() -> None:
        scripts = [[GONE], *greeting(3, "two"), [NO_STREAM], [GONE], [ENDED]]
        async with connected(*scripts) as (client, _):
            with pytest.raises(NotFound):
                await client.call_tool("t")

    run(main)


# --- streams ------------------------------------------------------------------------------------------------------


def sse(*parts: bytes, end: bool = True) -> Script:
    """Return an event stream."""
    return [STREAM, *(chunk(part) for part in parts), *([chunk()] if end else [CLOSE])]


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_legacy, "_FIRST_PAUSE", 0.001)
    monkeypatch.setattr(http_legacy, "_LEAST_PAUSE", 0.001)


def test_a_stream_is_resumed_from_the_last_event() -> None:
    """Spec 2025-11-25: basic/transports, "Resumability and Redelivery"; closed or broken off."""

    async def main() -> None:
        for ends in (True, False):
            first = sse(b"id: e1\nretry: 1\ndata:\n\n", b"id: e2\n" + event(note("notifications/message")), end=ends)
            scripts = [first, sse(b"id: e3\ndata:\n\n"), sse(event(done(2))), [ENDED]]
            async with connected(*scripts) as (client, server):
                assert not (await client.call_tool("t")).is_error
            resumed = [request for request in server.requests if "last-event-id" in request.fields]
            assert [request.fields["last-event-id"] for request in resumed] == ["e2", "e3"]
            assert all(request.line.startswith("GET ") for request in resumed)
            assert all(request.fields["accept"] == "text/event-stream" for request in resumed)

    run(main)


@pytest.mark.parametrize(("asked", "pause"), [(b"7500", 7.5), (b"0", 0.05), (b"9" * 15, 300)])
def test_the_server_says_when_to_come_back(asked: bytes, pause: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Spec 2025-11-25: "The client MUST respect the `retry` field"; ours: not at once again and again or next year."""
    slept: list[float] = []
    sleep = asyncio.sleep

    async def note_it(seconds: float) -> None:
        slept.append(seconds)
        await sleep(0)

    async def main() -> None:
        first = sse(b"id: e1\nretry: %b\ndata:\n\n" % asked)
        async with connected(first, sse(event(done(2))), [ENDED]) as (client, _):
            monkeypatch.setattr(http_legacy, "_LEAST_PAUSE", 0.05)
            monkeypatch.setattr(asyncio, "sleep", note_it)
            await client.call_tool("t")
        assert pause in slept

    run(main)


def test_a_stream_that_cannot_be_resumed_is_lost() -> None:
    """Ours: no event id, no second stream, or nothing on it: bounded, and told."""

    async def main() -> None:
        begun = sse(b"id: e1\nretry: 0\ndata:\n\n")
        for scripts in (
            [sse(b": nothing\n\n")],
            [sse(event(note("notifications/message")), end=False)],
            [begun, [NO_STREAM]],
            [begun, *[[STREAM, CLOSE]] * http_legacy._MAX_FAILURES],
        ):
            async with connected(*scripts, [answer(done(3))], [ENDED]) as (client, _):
                with pytest.raises(ConnectionLost, match=r"tools/call|in the middle"):
                    await client.call_tool("t")
                assert not (await client.call_tool("t")).is_error

    run(main)


def test_questions_on_the_stream_of_a_call_are_answered() -> None:
    """Spec 2025-11-25: servers may send requests before the response."""
    form = {"type": "object", "properties": {"name": {"type": "string"}}}

    async def main() -> None:
        question = {
            "jsonrpc": "2.0",
            "id": "q",
            "method": "elicitation/create",
            "params": {"message": "who", "requestedSchema": form},
        }
        progress = note("notifications/progress", progressToken=2, progress=1)
        call: Script = [
            STREAM,
            chunk(event(msgspec.json.encode(question)), event(progress), event(b"no json")),
            WAIT,
            chunk(event(result(99)), event(done(2))),
            chunk(),
        ]
        told: list[Any] = []

        async def ada(context: Any, params: Any) -> dict[str, Any]:
            server.go.set()
            return {"action": "accept", "content": {"name": "Ada"}}

        async with connected(call, [ACCEPTED], [ENDED], elicitation_callback=ada) as (client, server):
            await client.call_tool("t", progress_callback=lambda *report: told.append(report))
            while len(server.requests) < 5:
                await asyncio.sleep(0)
        sent = next(request.body for request in server.requests if request.body and "result" in request.body)
        assert sent == {"jsonrpc": "2.0", "id": "q", "result": {"action": "accept", "content": {"name": "Ada"}}}
        assert told == [(1, None, None)]

    run(main)


def test_the_servers_own_stream_brings_requests_changes_and_late_responses() -> None:
    """Spec 2025-11-25: basic/transports, "Listening for Messages from the Server"."""
    told: list[Any] = []

    async def main() -> None:
        ping = msgspec.json.encode({"jsonrpc": "2.0", "id": 5, "method": "ping"})
        own: Script = [
            STREAM,
            chunk(event(note("notifications/tools/list_changed")), event(ping), event(b"[1]"), event(result(77))),
            WAIT,
            chunk(event(done(2))),
            MUTE,
        ]

        def hear(method: str, params: Any) -> None:
            told.append(method)

        async with connected([ACCEPTED], sse(b": waiting\n\n", end=True), get=own, notification_callback=hear) as (
            client,
            server,
        ):
            while len(server.requests) < 4:
                await asyncio.sleep(0)
            server.scripts.insert(0, [STREAM, MUTE])
            call = asyncio.ensure_future(client.call_tool("t"))
            while len(server.requests) < 5:
                await asyncio.sleep(0)
            server.go.set()
            assert not (await call).is_error
        assert server.requests[3].body == {"jsonrpc": "2.0", "id": 5, "result": {}}
        assert told == ["notifications/tools/list_changed"]

    run(main)


def test_the_servers_own_stream_is_opened_again() -> None:
    """Spec 2025-11-25: from the last event, after the time that the server says."""

    async def main() -> None:
        own = sse(b"id: g1\nretry: 1\n" + event(note("notifications/prompts/list_changed")))
        async with connected([NO_STREAM], [answer(done(2))], get=own) as (client, server):
            while len(server.requests) < 4:
                await asyncio.sleep(0)
            assert server.requests[3].fields["last-event-id"] == "g1"
            assert not (await client.call_tool("t")).is_error

    run(main)


# --- failures -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("script", "kind"),
    [
        ([answer(done(7))], InvalidResult),
        ([answer(result("2", content=[]))], InvalidResult),
        ([answer(b"<html>", "text/html", "502 Bad Gateway")], HTTPStatusError),
        ([answer(b"<html>", "text/html")], NotAnMCPServer),
        ([answer(b"", status="202 Accepted")], NotAnMCPServer),
        ([CLOSE], ConnectionLost),
        ([answer(b"\xff")], NotAnMCPServer),
    ],
)
def test_bad_answers_are_told_apart_and_the_next_call_works(script: Script, kind: type[Exception]) -> None:
    """Ours: acceptance D, in earlier versions."""

    async def main() -> None:
        async with connected(script, [answer(done(3))], [ENDED]) as (client, _):
            with pytest.raises(kind):
                await client.call_tool("t")
            assert not (await client.call_tool("t")).is_error

    run(main)


def test_a_timeout_is_told_to_the_server() -> None:
    """Spec 2025-11-25: basic/utilities/cancellation: closing the stream is not enough."""

    async def main() -> None:
        async with connected([STREAM, MUTE], [ACCEPTED], [answer(done(3))], [ENDED]) as (client, server):
            with pytest.raises(CallTimeout):
                await client.call_tool("t", read_timeout_seconds=0.4)
            while len(server.requests) < 5:
                await asyncio.sleep(0)
            assert server.requests[4].body["method"] == "notifications/cancelled"
            assert server.requests[4].body["params"] == {"requestId": 2}
            assert not (await client.call_tool("t")).is_error

    run(main)


def test_a_handshake_that_fails_is_told_and_nothing_stays_open() -> None:
    """Ours."""

    async def main() -> None:
        async with asyncio.timeout(DEADLINE), bad_server([answer(error(-32602, "no version"))]) as server:
            with pytest.raises(Exception, match="no version"):
                async with Client(server.url, mode="legacy"):
                    raise AssertionError

    run(main)


@pytest.mark.parametrize(
    ("last", "kind", "text"),
    [
        (
            [answer(b"oops", "text/plain", "500 Oops")],
            HTTPStatusError,
            "answered 500 to a message that needs no answer",
        ),
        ([MUTE], CallTimeout, "did not take notifications/initialized in 0.5 seconds"),
    ],
)
def test_a_handshake_that_breaks_off_is_told_by_its_own_fault(last: Script, kind: type[Exception], text: str) -> None:
    """Ours: that the server did not know the probe says nothing any more, once it has greeted."""
    first: Script = [answer(error(-32601, "what?"))]

    async def main() -> None:
        async with asyncio.timeout(DEADLINE), bad_server(first, greeting(1)[0], last, [ENDED]) as server:
            with pytest.raises(kind, match=text):
                async with Client(server.url, read_timeout_seconds=0.5):
                    raise AssertionError

    run(main)


def test_a_message_that_is_never_taken_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: every wait is bounded, also of a client that waits for answers for ever."""
    monkeypatch.setattr(http_legacy, "_SEND_TIME", 0.05)

    async def main() -> None:
        async with asyncio.timeout(DEADLINE), bad_server(greeting(1)[0], [MUTE], [ENDED]) as server:
            with pytest.raises(TransportError, match=r"did not answer within 0\.05 seconds"):
                async with Client(server.url, mode="legacy", read_timeout_seconds=None):
                    raise AssertionError

    run(main)


def test_a_server_that_only_knows_the_handshake_may_get_that_wrong() -> None:
    """Ours: the answer to it tells more than that to the probe."""

    async def main() -> None:
        wrong: Script = [answer(result(1, protocolVersion=5))]
        async with asyncio.timeout(DEADLINE), bad_server([answer(error(-32601, "what?"))], wrong) as server:
            with pytest.raises(InvalidResult, match=r"initialize is invalid: .*protocolVersion"):
                async with Client(server.url):
                    raise AssertionError

    run(main)
