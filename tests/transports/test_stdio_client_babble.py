"""Servers that print what is no message: each line is told of, and errors say what came in place of an answer."""

from __future__ import annotations

import logging
import re
import sys
from pathlib import Path

import pytest

from leanmcp import Client, StdioServerParameters, logs
from leanmcp.errors import CallTimeout, ConnectionLost, MCPError, NotAnMCPServer
from leanmcp.transports import pending
from tests.support.bad_stdio_server import MUTE, READ, Step, answer, good, leave, print_raw, say
from tests.support.outgoing import outgoing
from tests.support.processes import VERSION
from tests.support.stdio_talk import ask, both_loops, noted, parameters, run, talking


@pytest.fixture(autouse=True)
def _all_warnings(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(logs, "_said", {})
    caplog.set_level(logging.WARNING, "leanmcp")


BABBLE: dict[str, tuple[list[Step], str]] = {
    "banner": ([say("Welcome"), say(""), say("to Foo")], "'Welcome', 'to Foo'"),
    "many lines": ([say(f"line {number}") for number in range(9)], "'line 0', 'line 1', 'line 2'"),
    "prompt": ([say("Login"), print_raw("Password: ")], "'Login', 'Password: '"),
    "log of JSON": ([say('{"level":"info","msg":"up"}')], """'{"level":"info","msg":"up"}'"""),
    "long line": ([print_raw("x" * 100_000)], f"'{'x' * 80}'"),
    "no text": ([say("\xff\x00\x1b[2J")], r"'\ufffd\\x00\\x1b[2J'"),
}


@both_loops
@pytest.mark.parametrize("babble", BABBLE)
def test_end_says_what_was_printed(loop: str, babble: str) -> None:
    """Ours: the reason is often there, on the wrong stream."""
    steps, shown = BABBLE[babble]

    async def main() -> None:
        async with talking(start=[*steps, READ, leave(3)]) as transport:
            with pytest.raises(ConnectionLost, match="exited with code 3 before") as caught:
                await transport.request(outgoing())
            said = caught.value.message.replace("\\ufffd", "\ufffd")
            assert said.endswith(
                f"; on its standard output came no MCP message, but {shown}".replace("\\ufffd", "\ufffd")
            )

    run(loop, main())


@pytest.mark.parametrize("mode", [VERSION, "legacy"])
def test_timeout_says_what_was_printed(mode: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Ours: and the log has said it as soon as it came."""
    state = tmp_path / "state"
    server = parameters([say("Starting Foo"), MUTE], state=state, shutdown_timeout=0.01)

    async def main() -> None:
        with pytest.raises(CallTimeout, match=r"did not answer .* but 'Starting Foo'$"):
            async with Client(server, mode=mode, read_timeout_seconds=0.5) as client:
                await client.call_tool("echo")

    run("uvloop", main())
    assert re.search("sent a line that is no JSON-RPC message .* b'Starting Foo'", caplog.text)


@both_loops
def test_server_that_has_answered_is_not_suspected(loop: str) -> None:
    """Ours: its lines are told in the log alone."""

    async def main() -> None:
        async with talking([say("debug"), answer()], [say("debug"), leave(3)]) as transport:
            assert await ask(transport) == "fine"
            with pytest.raises(ConnectionLost) as caught:
                await ask(transport, 2)
            assert "standard output" not in caught.value.message

    run(loop, main())


@both_loops
def test_lines_without_end_are_no_server(loop: str) -> None:
    """Ours: `yes`, a log, another program; nobody waits for its timeout."""
    lines: list[Step] = [say("hello")] * pending._MAX_BABBLE

    async def main() -> None:
        async with talking([*lines, MUTE], shutdown_timeout=0.01) as transport:
            with pytest.raises(NotAnMCPServer, match=r"does not speak MCP: it has printed 1000 lines; .* 'hello', 'he"):
                await transport.request(outgoing())

    run(loop, main())


@both_loops
def test_lines_among_messages_are_borne(loop: str) -> None:
    """Ours: a server that prints much is one all the same."""
    lines: list[Step] = [say("hello")] * pending._MAX_BABBLE

    async def main() -> None:
        async with talking([answer()], [*lines, answer("second")]) as transport:
            assert await ask(transport) == "fine"
            assert await ask(transport, 2) == "second"

    run(loop, main())


@both_loops
@pytest.mark.parametrize("front", ["Loading...", "\r 50%|##  | ", "{'a': 1} ", "\xff\x00"])
def test_print_in_front_of_an_answer_is_dropped_alone(loop: str, front: str) -> None:
    """Ours: `print(".", end="")` in a tool."""

    async def main() -> None:
        async with talking([say(front + good())]) as transport:
            assert await ask(transport) == "fine"

    run(loop, main())


@both_loops
@pytest.mark.parametrize(
    "line",
    [
        'got {"jsonrpc":"2.0","method":"tools/call","id":$ID}',
        'got {"jsonrpc":"2.0","id":$ID,"method":"tools/call"}',
        'DEBUG {"result":{"text":"cut...,"jsonrpc":"2.0","id":$ID}',
        'DEBUG {"id":$ID}',
        'DEBUG {"jsonrpc":"2.0","id":[1],"result":{}}',
    ],
)
def test_log_of_messages_answers_nobody(loop: str, line: str) -> None:
    """Ours: servers print what they read and write; the answer still comes."""

    async def main() -> None:
        async with talking([say(line), answer()]) as transport:
            assert await ask(transport) == "fine"

    run(loop, main())


# --- errors that name no request ----------------------------------------------------------------------------------

NAMELESS = ['{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"what?"}}', '{"error":{"code":-32600}}']


@both_loops
@pytest.mark.parametrize("line", NAMELESS)
def test_error_without_an_id_is_about_the_only_request(loop: str, line: str) -> None:
    """Spec: basic/index, "Responses": the id is left out where it could not be read. Ours: it was the only one."""

    async def main() -> None:
        async with talking([say(line)]) as transport:
            assert await transport.request(outgoing()) == line.encode()
            assert await ask(transport, 2) == "fine"

    run(loop, main())


@both_loops
@pytest.mark.parametrize("line", NAMELESS)
def test_error_without_an_id_may_be_about_a_notification(loop: str, line: str, tmp_path: Path) -> None:
    """Ours: servers of a simple kind answer notifications, with an error."""
    state = tmp_path / "state"

    async def main() -> None:
        async with talking(start=[READ, say(line)], state=state) as transport:
            await transport.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
            await noted(state, lambda notes: "initialized" in notes)
            assert await ask(transport) == "fine"

    run(loop, main())


def test_server_that_cannot_read_discover_is_asked_for_the_handshake_at_once() -> None:
    """Ours: it is of an earlier version, whose requests it knows; nobody waits ten seconds for that."""
    program = (
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    message = json.loads(line)\n"
        "    known = {'initialize': {'protocolVersion': '2025-11-25', 'capabilities': {}, 'serverInfo': {'name': 'x',"
        " 'version': '1'}}, 'tools/call': {'content': []}}.get(message['method'])\n"
        "    if known is not None:\n"
        "        print(json.dumps({'jsonrpc': '2.0', 'id': message['id'], 'result': known}), flush=True)\n"
        "    elif 'id' in message:\n"
        "        print(json.dumps({'jsonrpc': '2.0', 'error': {'code': -32700, 'message': 'x'}}), flush=True)\n"
    )
    server = StdioServerParameters(command=sys.executable, args=["-c", program])

    async def main() -> None:
        async with Client(server, read_timeout_seconds=8) as client:  # below the time of the probe
            assert client.protocol_version == "2025-11-25"
            assert (await client.call_tool("x")).content == []
            with pytest.raises(MCPError):
                await client.list_tools()

    run("uvloop", main())
