"""Requests as they go out over HTTP, answers as they come in, and what ends them early."""

from __future__ import annotations

import asyncio
import gc
import re
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import pytest
import uvloop

from leanmcp import logs
from leanmcp.client import Client
from leanmcp.errors import ConnectionLost, MCPError, NotFound, TransportError
from leanmcp.limits import HTTPClientLimits
from leanmcp.protocol.headers import plan_params
from leanmcp.protocol.mirror import mirror_params
from leanmcp.transports.http_client import HTTPTransport
from tests.support.bad_http_server import (
    MUTE,
    STREAM,
    WAIT,
    answer,
    bad_server,
    chunk,
    error,
    event,
    note,
    result,
)
from tests.support.outgoing import decoded, outgoing, talking
from tests.support.processes import DEADLINE, VERSION, HTTPProcess

# --- on the wire --------------------------------------------------------------------------------------------------


def test_request_carries_its_headers() -> None:
    """Spec: basic/transports/streamable-http, "Sending Messages" 2, "Standard Request Headers"."""

    async def main() -> None:
        async with talking(headers={"Authorization": "Bearer t", "X-Trace": "a b"}, user_agent="me/1") as (
            client,
            server,
        ):
            await client.request(outgoing())
            await client.request(outgoing("tools/list", request_id=2))
        call, listing = server.requests
        assert call.line == listing.line == "POST /mcp HTTP/1.1"
        assert {name: value for name, value in call.fields.items() if name != "content-length"} == {
            "host": f"127.0.0.1:{server.port}",
            "user-agent": "me/1",
            "authorization": "Bearer t",
            "x-trace": "a b",
            "accept": "application/json, text/event-stream",
            "content-type": "application/json",
            "mcp-protocol-version": VERSION,
            "mcp-method": "tools/call",
            "mcp-name": "echo",
        }
        assert (listing.fields["mcp-method"], "mcp-name" in listing.fields) == ("tools/list", False)
        assert listing.body["method"] == "tools/list"

    asyncio.run(main())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("résumé", "=?base64?csOpc3Vtw6k=?="),
        ("file:///a", "file:///a"),
        ("x\r\nEvil: 1", "=?base64?eA0KRXZpbDogMQ==?="),
    ],
)
def test_name_is_encoded(name: str, value: str) -> None:
    """Spec: "Value Encoding"; a name never breaks out of its header."""

    async def main() -> None:
        async with talking() as (client, server):
            await client.request(outgoing("resources/read", {"uri": name}, name=name))
        assert server.requests[0].fields["mcp-name"] == value

    asyncio.run(main())


def test_own_server_reads_what_is_mirrored(server: HTTPProcess) -> None:
    """Spec: "Server Validation"; names, arguments and the tool's own header, with text that needs base64."""
    node = {"type": "string", "x-mcp-header": "Region"}
    plan = plan_params({"type": "object", "properties": {"region": node}}).params
    arguments = {"region": " Île-de-France\n"}

    async def main() -> None:
        async with asyncio.timeout(DEADLINE):
            transport = HTTPTransport(server.url)
            call = outgoing(
                "tools/call",
                {"name": "region", "arguments": arguments},
                name="region",
                headers=mirror_params(plan, arguments),
            )
            assert decoded(await transport.request(call))["result"]["content"][0]["text"] == " Île-de-France\n 0"
            refused = outgoing("tools/call", {"name": "region", "arguments": arguments}, name="region")
            assert decoded(await transport.request(refused))["error"]["code"] == -32020
            await transport.close()

    asyncio.run(main())


@pytest.mark.parametrize(
    ("headers", "text"),
    [
        ({"Mcp-Name": "x"}, "'Mcp-Name' belongs to the protocol"),
        ({"mcp-session-id": "x"}, "belongs to the protocol"),
        ({"Host": "x"}, "belongs to the protocol"),
        ({"Connection": "close"}, "belongs to the protocol"),
        ({"Transfer-Encoding": "chunked"}, "belongs to the protocol"),
        ({"Content-Length": "0"}, "belongs to the protocol"),
        ({"Proxy-Authorization": "x"}, "belongs to the protocol"),
        ({"X": "a\r\nb"}, "must be one line"),
        ({"X": " a"}, "must be one line"),
        ({"X": "жук"}, "must be one line of Latin-1"),
        ({"X": 1}, "must be one line"),
        ({"X Y": "a"}, "'X Y' is no header name"),
        ({"": "a"}, "'' is no header name"),
    ],
)
def test_headers_that_are_not_the_users_are_refused(headers: Any, text: str) -> None:
    """Ours: at once, and with the reason."""
    with pytest.raises(ValueError, match=re.escape(text)):
        HTTPTransport("http://localhost/mcp", headers=headers)


def test_token_over_plain_http_is_warned_of(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: safe by default; the loopback is not a network."""
    monkeypatch.setattr(logs, "_said", {})  # by another test a moment ago
    HTTPTransport("http://127.0.0.1/mcp", headers={"Authorization": "Bearer t"})
    HTTPTransport("https://example.com/mcp", headers={"Authorization": "Bearer t"})
    assert "unencrypted" not in caplog.text
    HTTPTransport("http://example.com/mcp", headers={"Authorization": "Bearer t"})
    assert "http://example.com/mcp: the token travels unencrypted" in caplog.text


# --- answers ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("run", [asyncio.run, uvloop.run], ids=["asyncio", "uvloop"])
def test_client_calls_by_url(server: HTTPProcess, run: Callable[[Any], None]) -> None:
    """Spec: basic/transports/streamable-http; JSON and event streams, small and large, and errors."""

    async def main() -> None:
        async with asyncio.timeout(DEADLINE), Client(server.url, mode=VERSION) as client:
            assert VERSION in (await client.discover()).supported_versions
            assert (await client.list_tools()).tools[0].name == "echo"
            for text in ("hello", "ж" * 500_000, ""):
                found = await client.call_tool("echo", {"text": text}, progress_callback=lambda *_: None)
                assert found.structured_content == {"result": text}
            blob = await client.call_tool("blob", {"size": 3_000_000})
            assert blob.structured_content == {"result": "x" * 3_000_000}
            with pytest.raises(MCPError, match="ecko") as failed:
                await client.call_tool("ecko")
            assert failed.value.code == -32602
            who = (await client.call_tool("whoami")).structured_content
            assert re.fullmatch(r"leanmcp/[0-9.]+", (who or {})["agent"])

    run(main())


def test_calls_run_side_by_side_and_keep_their_answers(server: HTTPProcess) -> None:
    """Ours: more calls than connections; nothing is mixed up, nothing waits for ever."""

    async def main() -> None:
        transport = HTTPTransport(server.url, limits=HTTPClientLimits(max_connections=7))
        async with asyncio.timeout(DEADLINE), Client(transport, mode=VERSION) as client:
            calls = (client.call_tool("echo", {"text": str(number)}) for number in range(200))
            answered = [found.structured_content for found in await asyncio.gather(*calls)]
            assert answered == [{"result": str(number)} for number in range(200)]
            assert len(transport._pool._idle[transport._target.origin]) == 7
            assert transport._pool._taken == 0

    asyncio.run(main())


def test_notifications_come_in_order_and_before_the_response() -> None:
    """Spec: "Receiving Messages"."""
    told: list[Any] = []

    async def main() -> None:
        pieces = [
            chunk(event(note("notifications/progress", progressToken=1, progress=number))) for number in range(20)
        ]
        script = [STREAM, *pieces, chunk(event(result())), chunk()]
        async with talking(script) as (client, _):
            await client.request(outgoing(notified=lambda method, params: told.append((method, params["progress"]))))
            assert told == [("notifications/progress", number) for number in range(20)]

    asyncio.run(main())


def test_stream_that_stays_open_is_one_request_among_others() -> None:
    """Spec: basic/patterns/subscriptions; comments keep it alive, and its result ends it."""
    told: list[str] = []

    async def main() -> None:
        first = [
            STREAM,
            chunk(event(note("notifications/subscriptions/acknowledged", notifications={}))),
            chunk(b":\n\n"),
        ]
        rest = [
            chunk(b":\n\n"),
            chunk(event(note("notifications/tools/list_changed"))),
            chunk(event(result())),
            chunk(),
        ]
        async with talking([*first, WAIT, *rest]) as (client, server):
            request = outgoing("subscriptions/listen", {}, notified=lambda method, _: told.append(method))
            listening = asyncio.ensure_future(client.request(request))
            while not told:
                await asyncio.sleep(0)
            assert decoded(await client.request(outgoing(request_id=2)))["id"] == 2
            server.go.set()
            assert decoded(await listening)["id"] == 1
            assert [kind.rpartition("/")[2] for kind in told] == ["acknowledged", "list_changed"]

    asyncio.run(main())


@pytest.mark.parametrize(
    ("status", "code"),
    [
        ("400 Bad Request", -32022),
        ("404 Not Found", -32601),
        ("400 Bad Request", -32600),
        ("500 Internal Server Error", -32603),
    ],
)
def test_error_status_with_a_json_rpc_error_is_an_answer_with_a_status(status: str, code: int) -> None:
    """Spec: "Backward Compatibility": what is in the body of a 400 tells the eras apart, so both reach the caller."""
    told: list[tuple[int, Mapping[str, str]]] = []

    async def main() -> None:
        script = [answer(error(code, "no"), "application/json", status, "Mcp-Session-Id: s1", "X-Two: a", "x-two: b")]
        async with talking(script) as (client, server):
            response = await client.request(outgoing(answered=lambda status, fields: told.append((status, fields))))
            assert decoded(response)["error"] == {"code": code, "message": "no"}
            await client.request(outgoing(request_id=2))
            assert server.connections == 1

    asyncio.run(main())
    [(number, fields)] = told
    assert (str(number), fields["mcp-session-id"], fields["x-two"]) == (status.split()[0], "s1", "a, b")


def test_wrong_path_is_told_with_the_right_one(server: HTTPProcess) -> None:
    """Ours: U13; the commonest mistake of all."""

    async def main() -> None:
        async with asyncio.timeout(DEADLINE):
            transport = HTTPTransport(f"http://127.0.0.1:{server.port}")
            text = rf"404 Not Found: .* try http://127\.0\.0\.1:{server.port}/mcp\. It says: Nothing is served at /"
            with pytest.raises(NotFound, match=text):
                await transport.request(outgoing())
            await transport.close()

    asyncio.run(main())


# --- ends before the answer ---------------------------------------------------------------------------------------


def test_cancelling_a_request_closes_its_connection() -> None:
    """Spec: basic/patterns/cancellation; other requests do not notice."""

    async def main() -> None:
        async with talking([STREAM, MUTE]) as (client, server):
            running = asyncio.ensure_future(client.request(outgoing()))
            while not server.requests:
                await asyncio.sleep(0)
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
            await server.left.wait()
            assert decoded(await client.request(outgoing(request_id=2)))["id"] == 2

    asyncio.run(main())


def test_cancelled_call_is_cancelled_at_our_server(server: HTTPProcess) -> None:
    """Spec: "Cancellation"; the tool's task sees it."""

    async def main() -> None:
        async with asyncio.timeout(DEADLINE), Client(server.url, mode=VERSION) as client:
            with pytest.raises(TransportError):
                await client.call_tool("slow", {"seconds": 60}, read_timeout_seconds=0.1)
            assert server.process.stderr is not None
            line = await asyncio.to_thread(server.process.stderr.readline)
            assert b"slow was cancelled" in line

    asyncio.run(main())


def test_cancelled_waiters_give_their_turn_on() -> None:
    """Ours: a request that is given up while it waits for a connection takes none away."""

    async def main() -> None:
        async with talking([WAIT, answer(result(1))], limits=HTTPClientLimits(max_connections=1)) as (client, server):
            first = asyncio.ensure_future(client.request(outgoing()))
            while not server.requests:
                await asyncio.sleep(0)
            others = [asyncio.ensure_future(client.request(outgoing(request_id=number))) for number in (2, 3, 4)]
            await asyncio.sleep(0)
            others[0].cancel()
            server.go.set()
            assert decoded(await first)["id"] == 1
            others[1].cancel()  # perhaps just after it was given the turn
            assert decoded(await others[2])["id"] == 4
            await asyncio.gather(*others, return_exceptions=True)
            assert client._pool._taken == 0

    asyncio.run(main())


@pytest.mark.parametrize("run", [asyncio.run, uvloop.run], ids=["asyncio", "uvloop"])
def test_close_ends_what_runs_and_leaves_nothing(run: Callable[[Any], None]) -> None:
    """Ours: py#3375; from another task, twice, while requests run, wait for a turn, and connect."""

    async def main() -> None:
        limits = HTTPClientLimits(max_connections=2)
        async with asyncio.timeout(DEADLINE), bad_server([MUTE], [STREAM, MUTE]) as server:
            before = asyncio.all_tasks()
            client = HTTPTransport(server.url, limits=limits)
            running = [asyncio.ensure_future(client.request(outgoing(request_id=number))) for number in range(5)]
            while len(server.requests) < 2:
                await asyncio.sleep(0)
            await asyncio.gather(asyncio.create_task(client.close()), asyncio.create_task(client.close()))
            for outcome in await asyncio.gather(*running, return_exceptions=True):
                assert isinstance(outcome, ConnectionLost)
                assert "closed by this client before the answer" in str(outcome)
            await client.close()
            with pytest.raises(ConnectionLost, match="closed by this client"):
                await client.request(outgoing())
            assert {task for task in asyncio.all_tasks() if "serve" not in repr(task)} <= before

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(main())
        gc.collect()


def test_close_ends_a_connection_that_is_being_made() -> None:
    """Ours: a peer that never finishes its handshake holds nobody up."""

    async def main() -> None:
        async with asyncio.timeout(DEADLINE), bad_server() as server:
            client = HTTPTransport(server.url.replace("http:", "https:"))
            starting = asyncio.ensure_future(client.start())
            while not server.open:
                await asyncio.sleep(0)
            await client.close()
            with pytest.raises(ConnectionLost, match="closed by this client"):
                await starting

    asyncio.run(main())
